// fault REPORT EXE CALL=ERRNO N -- COMMAND...: runs a command and lets the N-th system call CALL
// that processes of the program EXE make fail with ERRNO: a number or a name below; KILL ends the
// process at that point instead, KILL-FIRST the one that COMMAND was started in, whoever makes the
// call, +NUMBER is returned without making the call; HOLD makes the file REPORT.held and the call
// once that is removed. CALL is a name below, a group of them, or `any`. Processes that the command
// starts are watched, too, until the last of them has ended. N = 0 only counts.
//
// Writes one line to the file REPORT: "COUNT NAME(FIRST ARGUMENT) PID" of the call that was made
// to fail, or "COUNT" if there were only COUNT such calls. Ends with the status of COMMAND.
//
// The calls are held by a seccomp filter and answered by this process, since that works for static
// programs, too, and reaches what is done between fork and exec.

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define KILL       (-1)
#define KILL_FIRST (-2)
#define HOLD       (-3)
#define COUNT(a)   (sizeof(a) / sizeof(*(a)))

static const struct {
	const char *group, *name;
	int number;
} calls[] = {
	{"open", "openat", SYS_openat},
#ifdef SYS_open
	{"open", "open", SYS_open},
	{"stat", "access", SYS_access},
	{"stat", "stat", SYS_stat},
	{"stat", "readlink", SYS_readlink},
	{"change", "mkdir", SYS_mkdir},
	{"change", "rename", SYS_rename},
	{"change", "unlink", SYS_unlink},
	{"fork", "fork", SYS_fork},
	{"fork", "vfork", SYS_vfork},
	{"pipe", "pipe", SYS_pipe},
	{"wait", "poll", SYS_poll},
#endif
	{"stat", "fstat", SYS_fstat},
	{"stat", "newfstatat", SYS_newfstatat},
	{"stat", "faccessat", SYS_faccessat},
	{"stat", "readlinkat", SYS_readlinkat},
	{"stat", "getdents64", SYS_getdents64},
	{"stat", "statfs", SYS_statfs},
	{"stat", "fstatfs", SYS_fstatfs},
	{"change", "mkdirat", SYS_mkdirat},
	{"change", "renameat", SYS_renameat},
	{"change", "renameat2", SYS_renameat2},
	{"change", "linkat", SYS_linkat},
	{"change", "symlinkat", SYS_symlinkat},
	{"change", "unlinkat", SYS_unlinkat},
	{"change", "ftruncate", SYS_ftruncate},
	{"change", "fallocate", SYS_fallocate},
	{"change", "fchmod", SYS_fchmod},
	{"change", "fsync", SYS_fsync},
	{"write", "write", SYS_write},
	{"write", "pwrite64", SYS_pwrite64},
	{"write", "writev", SYS_writev},
	{"socket", "sendmsg", SYS_sendmsg},
	{"socket", "sendto", SYS_sendto},
	{"read", "read", SYS_read},
	{"read", "pread64", SYS_pread64},
	{"socket", "recvmsg", SYS_recvmsg},
	{"socket", "recvfrom", SYS_recvfrom},
	{"fork", "clone", SYS_clone},
	{"fork", "clone3", SYS_clone3},
	/* Not brk: it has no way to fail that a library would understand from here. */
	{"memory", "mmap", SYS_mmap},
	{"memory", "mremap", SYS_mremap},
	{"ioctl", "ioctl", SYS_ioctl},
	{"pipe", "pipe2", SYS_pipe2},
	{"pipe", "socketpair", SYS_socketpair},
	{"pipe", "socket", SYS_socket},
	{"pipe", "bind", SYS_bind},
	{"pipe", "signalfd4", SYS_signalfd4},
	{"pipe", "pidfd_open", SYS_pidfd_open},
	{"pipe", "memfd_create", SYS_memfd_create},
	{"fd", "fcntl", SYS_fcntl},
	{"fd", "dup", SYS_dup},
	{"fd", "dup3", SYS_dup3},
	{"fd", "flock", SYS_flock},
	{"fd", "lseek", SYS_lseek},
	{"process", "setsid", SYS_setsid},
	{"process", "setpgid", SYS_setpgid},
	{"process", "prctl", SYS_prctl},
	{"process", "kcmp", SYS_kcmp},
	{"wait", "ppoll", SYS_ppoll},
	{"wait", "wait4", SYS_wait4},
	{"wait", "waitid", SYS_waitid},
	{"wait", "nanosleep", SYS_nanosleep},
	{"wait", "clock_nanosleep", SYS_clock_nanosleep},
};

static const struct {
	const char *name;
	int number;
} errors[] = {
	{"EACCES", EACCES},         {"EAGAIN", EAGAIN}, {"EINTR", EINTR},
	{"EINVAL", EINVAL},         {"EIO", EIO},       {"EMFILE", EMFILE},
	{"ENOENT", ENOENT},         {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC},
	{"ENOSYS", ENOSYS},         {"EPERM", EPERM},   {"KILL", KILL},
	{"KILL-FIRST", KILL_FIRST}, {"HOLD", HOLD},
};

struct fault {
	const char *report, *exe, *call;
	int error;
	int64_t result; /* -1: it fails */
	uint64_t at, count;
	int failed; /* number of the call, -1: none */
	uint64_t arg;
	pid_t pid, first; /* who made it; who was started */
};

static bool is_meant(const char *call, size_t i)
{
	return strcmp(call, calls[i].group) == 0 || strcmp(call, calls[i].name) == 0;
}

/* A filter that asks about the calls. Returns its length, 0 if there is no such call. */
static unsigned short make_filter(struct sock_filter *rules, const char *call)
{
	unsigned short len = 0, found = 0;
	const struct sock_filter ask = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	rules[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(calls); i++) {
		if (!is_meant(call, i))
			continue;
		rules[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							    (unsigned)calls[i].number, 0, 1);
		rules[len++] = ask;
		found++;
	}
	if (strcmp(call, "any") == 0) {
		/* execve would end what is being set up in the child. */
		rules[len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0);
		rules[len++] = ask;
		found++;
	}
	rules[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return found ? len : 0;
}

/* Shares the descriptors of its parent until it is executed, so that the one that answers is there
   before the first call is held. */
_Noreturn static void become(const struct sock_fprog *filter, volatile int *listener, char **argv)
{
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long fd = -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, filter);
		if (fd < 0)
			fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter);
	}
	*listener = fd < 0 ? -2 : (int)fd;
	if (fd >= 0)
		execvp(argv[0], argv);
	_exit(125);
}

static bool runs(pid_t pid, const char *exe)
{
	char link[32], path[4096];
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	if (len < 0)
		return false;
	path[len] = '\0';
	return strcmp(path, exe) == 0;
}

/* Waits until somebody lets the call go on. */
static void hold(const struct fault *f)
{
	char held[4096];
	snprintf(held, sizeof(held), "%s.held", f->report);
	int fd = open(held, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (fd >= 0 && access(held, F_OK) == 0)
		nanosleep(&(const struct timespec){.tv_nsec = 1000000}, NULL);
	close(fd);
}

/* Answers one call. */
static void answer(struct fault *f, int listener, struct seccomp_notif *asked,
		   struct seccomp_notif_resp *said)
{
	said->id = asked->id;
	said->val = 0;
	said->error = 0;
	said->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (runs((pid_t)asked->pid, f->exe) && ++f->count == f->at) {
		f->failed = asked->data.nr;
		f->arg = asked->data.args[0];
		f->pid = (pid_t)asked->pid;
		if (f->error == KILL || f->error == KILL_FIRST) {
			kill(f->error == KILL ? f->pid : f->first, SIGKILL);
		} else if (f->error == HOLD) {
			hold(f);
		} else {
			said->error = f->result < 0 ? -f->error : 0;
			said->val = f->result < 0 ? 0 : f->result;
			said->flags = 0;
		}
	}
	/* It may have been killed by now. */
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, said);
}

static int serve(struct fault *f, int listener)
{
	struct seccomp_notif_sizes sizes;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return -1;
	struct seccomp_notif *asked = malloc(sizes.seccomp_notif);
	struct seccomp_notif_resp *said = calloc(1, sizes.seccomp_notif_resp);
	if (!asked || !said)
		return -1;
	for (;;) {
		struct pollfd fd = {.fd = listener, .events = POLLIN};
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return -1;
		if (fd.revents & POLLIN) {
			memset(asked, 0, sizes.seccomp_notif);
			if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked) == 0)
				answer(f, listener, asked, said);
		} else if (fd.revents & (POLLHUP | POLLERR)) {
			break; /* nobody is left */
		}
	}
	free(asked);
	free(said);
	return 0;
}

static int write_report(const struct fault *f)
{
	FILE *file = fopen(f->report, "we");
	if (!file)
		return -1;
	fprintf(file, "%llu", (unsigned long long)f->count);
	if (f->failed >= 0) {
		const char *name = "call";
		for (size_t i = 0; i < COUNT(calls); i++) {
			if (calls[i].number == f->failed)
				name = calls[i].name;
		}
		fprintf(file, " %s(%lld) %d", name, (long long)(int64_t)f->arg, (int)f->pid);
	}
	fputc('\n', file);
	return fclose(file);
}

static int parse(struct fault *f, char **argv)
{
	char *equal = strchr(argv[3], '=');
	if (!equal)
		return -1;
	*equal = '\0';
	*f = (struct fault){.report = argv[1], .exe = argv[2], .call = argv[3], .failed = -1};
	f->at = strtoull(argv[4], NULL, 10);
	f->error = (int)strtol(equal + 1, NULL, 10);
	f->result = equal[1] == '+' ? f->error : -1;
	for (size_t i = 0; i < COUNT(errors); i++) {
		if (strcmp(errors[i].name, equal + 1) == 0)
			f->error = errors[i].number;
	}
	return f->error == 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct fault f;
	struct sock_filter rules[2 * COUNT(calls) + 4];
	if (argc < 7 || strcmp(argv[5], "--") != 0 || parse(&f, argv) < 0) {
		fprintf(stderr, "fault: usage: fault REPORT EXE CALL=ERRNO N -- COMMAND...\n");
		return 125;
	}
	const struct sock_fprog filter = {.len = make_filter(rules, f.call), .filter = rules};
	volatile int *listener = mmap(NULL, sizeof(*listener), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (filter.len == 0 || listener == MAP_FAILED) {
		fprintf(stderr, "fault: %s: no such call\n", f.call);
		return 125;
	}
	*listener = -1;
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		become(&filter, listener, argv + 6);
	while (pid > 0 && *listener == -1)
		nanosleep(&(const struct timespec){.tv_nsec = 100000}, NULL);
	f.first = pid;
	int status;
	if (pid < 0 || *listener < 0 || serve(&f, *listener) < 0 || write_report(&f) < 0 ||
	    waitpid(pid, &status, 0) != pid) {
		perror("fault");
		return 125;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
