// deny CALL=ERRNO... -- COMMAND...: runs a command for which some system calls fail, as in a
// sandbox or when the machine has no room left. ERRNO is a number or a name below. The
// call `fork` stands for every way to make a process (threads are let through).

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	int number;
} calls[] = {
	{"clone3", SYS_clone3},
	{"close_range", SYS_close_range},
	{"faccessat2", SYS_faccessat2},
	{"fallocate", SYS_fallocate},
	{"flock", SYS_flock},
	{"getrandom", SYS_getrandom},
	{"kcmp", SYS_kcmp},
	{"memfd_create", SYS_memfd_create},
	{"pidfd_open", SYS_pidfd_open},
	{"pipe2", SYS_pipe2},
#ifdef SYS_poll
	{"poll", SYS_poll},
#endif
	{"prctl", SYS_prctl},
	{"recvfrom", SYS_recvfrom},
	{"sendmsg", SYS_sendmsg},
	{"setpgid", SYS_setpgid},
	{"setsid", SYS_setsid},
	{"signalfd4", SYS_signalfd4},
	{"socketpair", SYS_socketpair},
	{"symlinkat", SYS_symlinkat},
};

static const struct {
	const char *name;
	int number;
} errors[] = {
	{"EAGAIN", EAGAIN}, {"EINVAL", EINVAL}, {"EMFILE", EMFILE},
	{"ENOMEM", ENOMEM}, {"ENOSYS", ENOSYS}, {"EPERM", EPERM},
};

#define COUNT(a)  (sizeof(a) / sizeof(*(a)))
#define RULES_MAX 256

struct program {
	struct sock_filter rules[RULES_MAX];
	unsigned short len;
};

static void add(struct program *p, struct sock_filter rule)
{
	if (p->len == RULES_MAX)
		exit(125);
	p->rules[p->len++] = rule;
}

static void load(struct program *p, size_t offset)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void fail_with(struct program *p, int error)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error));
}

static void deny_call(struct program *p, int number, int error)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1));
	fail_with(p, error);
}

static void deny_fork(struct program *p, int error)
{
#ifdef SYS_fork
	deny_call(p, SYS_fork, error);
	deny_call(p, SYS_vfork, error);
#endif
	/* Its flags are behind a pointer; libraries fall back to clone. */
	deny_call(p, SYS_clone3, ENOSYS);
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
	load(p, offsetof(struct seccomp_data, args[0]));
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
	fail_with(p, error);
	load(p, offsetof(struct seccomp_data, nr));
}

static int find_error(const char *name)
{
	for (size_t i = 0; i < COUNT(errors); i++) {
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].number;
	}
	return (int)strtol(name, NULL, 10);
}

/* Adds "CALL=ERRNO". Returns 0, or -1 if there is no such call. */
static int deny(struct program *p, const char *rule)
{
	const char *equal = strchr(rule, '=');
	if (!equal)
		return -1;
	size_t len = (size_t)(equal - rule);
	int error = find_error(equal + 1);
	if (len == 4 && strncmp(rule, "fork", len) == 0) {
		deny_fork(p, error);
		return 0;
	}
	for (size_t i = 0; i < COUNT(calls); i++) {
		if (strlen(calls[i].name) == len && strncmp(calls[i].name, rule, len) == 0) {
			deny_call(p, calls[i].number, error);
			return 0;
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct program p = {.len = 0};
	int i = 1;
	load(&p, offsetof(struct seccomp_data, nr));
	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (deny(&p, argv[i]) < 0) {
			fprintf(stderr, "deny: %s: unknown\n", argv[i]);
			return 125;
		}
	}
	if (i + 1 >= argc)
		return 125;
	add(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	const struct sock_fprog filter = {.len = p.len, .filter = p.rules};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0) {
		perror("deny");
		return 125;
	}
	execvp(argv[i + 1], argv + i + 1);
	perror("deny");
	return 127;
}
