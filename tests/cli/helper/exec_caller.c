// Calls one of libc's functions that execute a program, and prints the result.
//
//   exec_caller ENTRY HOW PATH [ARG...]
//
// ENTRY: the function. HOW: plain, vfork (in a vfork
// child), threads (each of several, several times) or sizes (in a thread, once with each number of
// variables up to SIZES, which are LD_PRELOAD, STAND_IN_REPORT and V=). The arguments are argv from
// its first element on; none: argv is NULL; the one argument "EMPTY": argv is empty. system() and
// popen() run the last one; popen_to writes to it. An envp is the environment and CALLER=given, or,
// with CALLER_ENVP=null in the environment, NULL. Spawns give file actions (9 is a copy of 1) and
// attributes (SIGUSR1 blocked).
//
// Prints "returned R, errno E" where the function returns (errno was 4242), "status S" as
// waitpid() tells it, and a line each if the use of the heap and if the preloaded library's data
// changed meanwhile.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTOUCHED 4242
#define THREADS   6
#define ROUNDS    5
#define SIZES     1100

/* Weak references show which of these there are: musl and older libcs lack some. */
extern int pidfd_spawn(int *, const char *, const posix_spawn_file_actions_t *,
		       const posix_spawnattr_t *, char *const[], char *const[])
	__attribute__((weak));
extern int pidfd_spawnp(int *, const char *, const posix_spawn_file_actions_t *,
			const posix_spawnattr_t *, char *const[], char *const[])
	__attribute__((weak));

struct outcome {
	int returned, error, status;
	bool has_returned, has_status;
	bool search;    /* a spawn in PATH: libc leaves errno as the last failure there set it */
	char text[256]; /* what popen() read */
};

struct entry {
	const char *name;
	bool is_exec; /* replaces the process */
	void (*call)(struct outcome *o);
};

static const char *path;
static char *const *arguments;
static char **environment;
static int argument_count;
static const struct entry *entry;

static int call_list(int (*list)(const char *, const char *, ...))
{
	char *const *a = arguments;
	const char *none = NULL;
	switch (argument_count) {
	case 1: return list(path, a[0], none, environment);
	case 2: return list(path, a[0], a[1], none, environment);
	case 3: return list(path, a[0], a[1], a[2], none, environment);
	case 4: return list(path, a[0], a[1], a[2], a[3], none, environment);
	default: return list(path, a[0], a[1], a[2], a[3], a[4], none, environment);
	}
}

static void returned(struct outcome *o, int result)
{
	o->error = errno;
	o->returned = result;
	o->has_returned = true;
}

static void call_execve(struct outcome *o)
{
	returned(o, execve(path, arguments, environment));
}
static void call_execv(struct outcome *o)
{
	returned(o, execv(path, arguments));
}
static void call_execvp(struct outcome *o)
{
	returned(o, execvp(path, arguments));
}
static void call_execvpe(struct outcome *o)
{
	returned(o, execvpe(path, arguments, environment));
}
static void call_execl(struct outcome *o)
{
	returned(o, call_list(execl));
}
static void call_execlp(struct outcome *o)
{
	returned(o, call_list(execlp));
}
static void call_execle(struct outcome *o)
{
	returned(o, call_list(execle));
}

static void wait_for(struct outcome *o, pid_t pid)
{
	int status;
	if (waitpid(pid, &status, 0) == pid && !o->has_status) {
		o->status = status;
		o->has_status = true;
	}
}

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const[], char *const[]);

static void call_spawn(struct outcome *o, spawn_function *spawn, bool gives_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t blocked;
	int id = -1;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 1, 9);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &blocked);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	errno = UNTOUCHED;
#ifdef __GLIBC__
	o->search = !strchr(path, '/');
#else
	o->search = true; /* musl leaves errno as its child set it */
#endif
	returned(o, spawn(&id, path, &actions, &attributes, arguments, environment));
	if (o->returned == 0 && gives_fd) {
		siginfo_t info = {0};
		o->has_status = waitid(P_PIDFD, (id_t)id, &info, WEXITED) == 0;
		o->status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
		close(id);
	} else if (o->returned == 0) {
		wait_for(o, id);
	}
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
}

static void call_posix_spawn(struct outcome *o)
{
	call_spawn(o, posix_spawn, false);
}
static void call_posix_spawnp(struct outcome *o)
{
	call_spawn(o, posix_spawnp, false);
}
static void call_pidfd_spawn(struct outcome *o)
{
	call_spawn(o, pidfd_spawn, true);
}
static void call_pidfd_spawnp(struct outcome *o)
{
	call_spawn(o, pidfd_spawnp, true);
}

static const char *command(void)
{
	return arguments ? arguments[argument_count - 1] : NULL;
}

static void call_system(struct outcome *o)
{
	errno = UNTOUCHED;
	returned(o, system(command()));
}

/* Stays closed on exec, is read from, and gives the status when it is closed. */
static void call_popen(struct outcome *o)
{
	errno = UNTOUCHED;
	FILE *in = popen(command(), "re");

	returned(o, in ? fcntl(fileno(in), F_GETFD) : -1);
	if (!in)
		return;
	size_t len = fread(o->text, 1, sizeof(o->text) - 1, in);

	o->text[len] = '\0';
	o->status = pclose(in);
	o->has_status = true;
}

static void call_popen_to(struct outcome *o)
{
	errno = UNTOUCHED;
	FILE *out = popen(command(), "w");

	returned(o, out ? fcntl(fileno(out), F_GETFD) : -1);
	if (!out)
		return;
	fputs("written\n", out);
	o->status = pclose(out);
	o->has_status = true;
}

#define TEN(x) x, x, x, x, x, x, x, x, x, x

/* More arguments than anybody's fixed array. */
static void call_execl_long(struct outcome *o)
{
	const char *x = "x";
	returned(o, execl(path, arguments[0], arguments[1], arguments[2], TEN(TEN(x)), TEN(TEN(x)),
			  TEN(TEN(x)), (char *)NULL));
}

static const struct entry entries[] = {
	{"execve", true, call_execve},
	{"execv", true, call_execv},
	{"execvp", true, call_execvp},
	{"execvpe", true, call_execvpe},
	{"execl", true, call_execl},
	{"execl_long", true, call_execl_long},
	{"execlp", true, call_execlp},
	{"execle", true, call_execle},
	{"posix_spawn", false, call_posix_spawn},
	{"posix_spawnp", false, call_posix_spawnp},
	{"pidfd_spawn", false, call_pidfd_spawn},
	{"pidfd_spawnp", false, call_pidfd_spawnp},
	{"system", false, call_system},
	{"popen", false, call_popen},
	{"popen_to", false, call_popen_to},
};

static void print(const struct outcome *o)
{
	if (*o->text)
		printf("read %s\n", o->text);
	if (o->has_returned && o->search)
		printf("returned %d\n", o->returned);
	else if (o->has_returned)
		printf("returned %d, errno %d\n", o->returned, o->error);
	if (o->has_status)
		printf("status %d\n", o->status);
	fflush(stdout);
}

/* The outcome is written by the child, which has this process's memory. */
static void call_in_vfork(struct outcome *o)
{
	errno = UNTOUCHED;
	pid_t pid = vfork();

	if (pid == 0) {
		entry->call(o);
		_exit(0);
	}
	wait_for(o, pid);
}

static void *run_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct outcome o = {0};
		if (entry->is_exec)
			call_in_vfork(&o);
		else
			entry->call(&o);
		print(&o);
	}
	return NULL;
}

/* The entry of the environment that begins so; else one that means nothing. */
static char *find_variable(const char *start)
{
	static char other[] = "V=";
	for (char **v = environ; *v; v++) {
		if (strncmp(*v, start, strlen(start)) == 0)
			return *v;
	}
	return other;
}

/* Reports only the calls that went wrong. */
static void *run_sizes(void *unused)
{
	static char *variables[SIZES + 1];
	char *given[] = {find_variable("LD_PRELOAD="), find_variable("STAND_IN_REPORT=")};
	(void)unused;
	for (int i = 0; i < SIZES; i++)
		variables[i] = find_variable("V=");
	for (int size = 0; size <= SIZES; size++) {
		struct outcome o = {0};
		environment = variables + SIZES - size;
		for (int i = 0; i < 2 && i < size; i++)
			environment[i] = given[i];
		if (entry->is_exec)
			call_in_vfork(&o);
		else
			entry->call(&o);
		if (!o.has_status || o.status != 0)
			printf("%d variables: status %d\n", size, o.has_status ? o.status : -1);
		for (int i = 0; i < 2 && i < size; i++)
			environment[i] = find_variable("V=");
	}
	return NULL;
}

/* With the smallest stack that glibc allows. */
static int run_threads(int count, void *(*run)(void *))
{
	pthread_t threads[THREADS];
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes,
				  (size_t)(PTHREAD_STACK_MIN < 16384 ? 16384 : PTHREAD_STACK_MIN));
	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], &attributes, run, NULL) != 0)
			return 98;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* A sum over what the library can write. */
static int add_object(struct dl_phdr_info *info, size_t size, void *sum)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libterse-shim"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const unsigned char *at = (const unsigned char *)info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		for (size_t j = 0; j < p->p_memsz; j++)
			*(uint64_t *)sum = *(uint64_t *)sum * 31 + at[j];
	}
	return 0;
}

static uint64_t library_sum(void)
{
	uint64_t sum = 0;
	dl_iterate_phdr(add_object, &sum);
	return sum;
}

/* musl does not tell. */
static size_t heap_in_use(void)
{
#ifdef __GLIBC__
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

static int run_once(bool in_vfork)
{
	struct outcome o = {0};
	size_t heap = heap_in_use();
	uint64_t sum = library_sum();
	errno = UNTOUCHED;
	if (in_vfork)
		call_in_vfork(&o);
	else
		entry->call(&o);
	if (heap_in_use() != heap)
		printf("%zd bytes of the heap\n", (ssize_t)(heap_in_use() - heap));
	if (library_sum() != sum)
		puts("the library's data changed");
	print(&o);
	return 0;
}

/* The environment and one more variable. */
static char **make_environment(void)
{
	static char given[] = "CALLER=given";
	size_t count = 0;
	while (environ[count])
		count++;
	char **copy = calloc(count + 2, sizeof(*copy));

	if (!copy)
		exit(98);
	memcpy(copy, environ, count * sizeof(*copy));
	copy[count] = given;
	return copy;
}

int main(int argc, char **argv)
{
	static char *nothing[] = {NULL};
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		if (argc > 1 && strcmp(entries[i].name, argv[1]) == 0)
			entry = &entries[i];
	}
	if (argc == 2 && strcmp(argv[1], "libc") == 0) {
#ifdef __GLIBC__
		puts("glibc");
#else
		puts("musl");
#endif
		return 0;
	}
	if (!entry || argc < 4) {
		fprintf(stderr, "exec_caller ENTRY HOW PATH [ARG...] | libc\n");
		return 2;
	}
	if ((entry->call == call_pidfd_spawn && !pidfd_spawn) ||
	    (entry->call == call_pidfd_spawnp && !pidfd_spawnp)) {
		puts("not there");
		return 77;
	}
	path = argv[3];
	argument_count = argc - 4;
	arguments = argument_count == 0 ? NULL : argv + 4;
	if (argument_count == 1 && strcmp(argv[4], "EMPTY") == 0) {
		arguments = nothing;
		argument_count = 0;
	}
	environment = getenv("CALLER_ENVP") ? NULL : make_environment();
	if (strcmp(argv[2], "threads") == 0)
		return run_threads(THREADS, run_thread);
	if (strcmp(argv[2], "sizes") == 0)
		return run_threads(1, run_sizes);
	return run_once(strcmp(argv[2], "vfork") == 0);
}
