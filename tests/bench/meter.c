// Runs commands and measures them as the user who waits for them would: from the start until the
// command has ended and its output is closed.
//
//   meter pair NAME LIMIT RUNS [in=FILE] [out=socket|sockets|pipe|null] [clean=DIR] [first=COMMAND]
//              [crowd=N|siblings=N] [each=N] -- A... [-- B...]
//       runs A and B by turns and prints the processor time, user and system, that all processes of
//       each have taken: medians, the value that is held against the limit, and the same of the
//       shortest ones (what a busy machine disturbs least) and of the times by the clock
//   meter peak NAME BUDGET_MB -- A...
//       prints the peak memory of the processes that A started
//   meter delay NAME BUDGET_MS RUNS line|prompt WORD...
//       how late the text of a command that goes on reaches its reader: the command prints the
//       time, and the reader compares it with its own. By turns below the program WORD..., whose
//       output an agent's socket takes, and at a bare pty; the longest time is held against the
//       budget. prompt: the text is no whole line
//
// A and B may begin with variables for their environment: NAME=VALUE true.
//
// LIMIT: of the ratio A/B; "+MS": of the milliseconds that A takes more than B; "=MS": of those of
// A. BENCH_BEFORE=BUILD: A also runs with the programs of an older build, and the ratio of both is
// printed.
//
// in: standard input, /dev/null otherwise. out: where standard output and error
// go; an agent that gives its commands one socket for both, or one for each, and
// reads them. clean: what is below DIR is removed after each run. first: a command of a shell
// before each run. crowd: A runs among so many processes that it has nothing to do with. siblings:
// so many that have its parent. each: the times are of one of so many things that a run does.
//
// A budget of 0 is none. Everything that A or B leave running is waited for before the next run.
// Exit status 1: a command failed, so there is nothing to compare.

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARMUPS 1

struct setup {
	const char *in;
	const char *clean, *first;
	const char *before; /* the older build */
	int sockets;        /* 0: output goes to /dev/null */
	bool pipe;          /* the one is a pipe */
	int crowd, siblings, each;
};

/* Who runs: A, B, or A of the older build. */
enum side { NEW, PEER, OLD, SIDES };

struct outcome {
	double ms, cpu_ms;
	bool failed;
	/* The times of all processes; `own`: the sum over those that nobody else waited for. */
	long largest_kb, own_kb;
};

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "meter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double ms_of(const struct timeval *t)
{
	return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

static void note(struct outcome *o, int status, const struct rusage *usage, bool is_command)
{
	o->cpu_ms += ms_of(&usage->ru_utime) + ms_of(&usage->ru_stime);
	if (is_command && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
		o->failed = true;
	/* A process's own peak, or that of a child it has waited for if that is higher. */
	o->own_kb += usage->ru_maxrss;
	if (usage->ru_maxrss > o->largest_kb)
		o->largest_kb = usage->ru_maxrss;
}

/* Reads until all are closed. */
static void drain(int count, const int *fds)
{
	static char data[65536];
	struct pollfd polled[2];
	int open = count;
	for (int i = 0; i < count; i++)
		polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	while (open > 0) {
		if (poll(polled, (nfds_t)count, -1) < 0)
			fail("poll");
		for (int i = 0; i < count; i++) {
			if (polled[i].fd < 0 || !polled[i].revents)
				continue;
			if (read(polled[i].fd, data, sizeof(data)) <= 0) {
				close(polled[i].fd);
				polled[i].fd = -1;
				open--;
			}
		}
	}
}

static bool is_given(char **given, int count, const char *variable)
{
	for (int i = 0; i < count; i++) {
		if (strncmp(given[i], variable, strcspn(given[i], "=") + 1) == 0)
			return true;
	}
	return false;
}

/* The environment, changed by the variables that argv begins with. Returns how many. */
static int add_variables(char **argv, char ***envp)
{
	int count = 0, given = 0;
	while (argv[given] && strchr(argv[given], '='))
		given++;
	while (environ[count])
		count++;
	*envp = calloc((size_t)(given + count + 1), sizeof(**envp));
	if (!*envp || !argv[given])
		fail("command");
	memcpy(*envp, argv, sizeof(*argv) * (size_t)given);
	count = given;
	for (char **variable = environ; *variable; variable++) {
		if (!is_given(argv, given, *variable))
			(*envp)[count++] = *variable;
	}
	return given;
}

/* Starts processes that sleep, below one that leads their group. */
static pid_t gather(int count)
{
	int ends[2];
	char byte;
	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("pipe");
	pid_t leader = fork();
	if (leader == 0) {
		setpgid(0, 0);
		for (int i = 0; i < count; i++) {
			pid_t pid = fork();
			if (pid < 0)
				_exit(1);
			while (pid == 0)
				pause();
		}
		if (write(ends[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (leader < 0 || read(ends[0], &byte, 1) != 1)
		fail("crowd");
	close(ends[0]);
	return leader;
}

/* Starts them as children of this process, in a group of their own. Returns its number. */
static pid_t gather_siblings(int count)
{
	pid_t leader = 0;
	while (count-- > 0) {
		pid_t pid = fork();
		if (pid < 0)
			fail("siblings");
		while (pid == 0)
			pause();
		setpgid(pid, leader);
		leader = leader ? leader : pid;
	}
	return leader;
}

static struct outcome run(const struct setup *s, char **argv, enum side side)
{
	struct outcome o = {0};
	char **envp, *path = strdup(getenv("PATH")), older[8192];
	/* posix_spawnp() looks there for the program. */
	if (side == OLD) {
		snprintf(older, sizeof(older), "%s:%s", s->before, path);
		setenv("PATH", older, 1);
	}
	argv += add_variables(argv, &envp);
	posix_spawn_file_actions_t actions;
	int ours[2], theirs[2], status;
	struct rusage usage;
	pid_t pid, leader = side == PEER  ? 0
			    : s->crowd    ? gather(s->crowd)
			    : s->siblings ? gather_siblings(s->siblings)
					  : 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, s->in ? s->in : "/dev/null", O_RDONLY, 0);
	for (int i = 0; i < s->sockets; i++) {
		int pair[2];
		if (s->pipe ? pipe2(pair, O_CLOEXEC) < 0
			    : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			fail("socketpair");
		ours[i] = pair[0];
		theirs[i] = pair[1];
	}
	for (int fd = 1; fd <= 2; fd++) {
		if (s->sockets == 0)
			posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
		else
			posix_spawn_file_actions_adddup2(&actions,
							 theirs[s->sockets == 2 ? fd - 1 : 0], fd);
	}
	double start = now_ms();
	errno = posix_spawnp(&pid, argv[0], &actions, NULL, argv, envp);
	if (errno)
		fail(argv[0]);
	for (int i = 0; i < s->sockets; i++)
		close(theirs[i]);
	drain(s->sockets, ours);
	if (wait4(pid, &status, 0, &usage) < 0)
		fail("wait4");
	o.ms = now_ms() - start;
	note(&o, status, &usage, true);
	if (leader)
		kill(-leader, SIGKILL);
	while (leader && waitpid(-leader, NULL, 0) > 0)
		;
	while (wait4(-1, &status, 0, &usage) > 0)
		note(&o, status, &usage, false);
	setenv("PATH", path, 1);
	free(path);
	posix_spawn_file_actions_destroy(&actions);
	free(envp);
	return o;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st, (void)type;
	return place->level > 0 ? remove(path) : 0;
}

static struct outcome measure(const struct setup *s, char **argv, enum side side)
{
	if (s->first && system(s->first) != 0)
		fail(s->first);
	struct outcome o = run(s, argv, side);
	if (o.failed) {
		fprintf(stderr, "meter: %s failed\n", argv[0]);
		exit(1);
	}
	if (s->clean && nftw(s->clean, remove_entry, 16, FTW_DEPTH | FTW_PHYS) < 0)
		fail(s->clean);
	return o;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* `kind`: '+' and '=' stand before milliseconds. */
static void print_verdict(double value, double limit, char kind)
{
	char text[32];
	snprintf(text, sizeof(text), kind == '+' ? "+%g" : "%g", limit);
	printf(" %6s  %s\n", limit > 0 ? text : "-",
	       limit <= 0       ? ""
	       : value <= limit ? "ok"
				: "OVER");
	fflush(stdout);
}

/* Ends the command at argv[0] before the next "--". Returns what follows, or NULL. */
static char **split(char **argv)
{
	for (; *argv; argv++) {
		if (strcmp(*argv, "--") == 0) {
			*argv = NULL;
			return argv + 1;
		}
	}
	return NULL;
}

/* What is held against the limit. */
static double value_of(char kind, double a, double b)
{
	return kind == '+' ? a - b : kind == '=' ? a : a / b;
}

static double median_of(double *ms, int runs)
{
	qsort(ms, (size_t)runs, sizeof(*ms), compare);
	return (ms[(runs - 1) / 2] + ms[runs / 2]) / 2;
}

static void pair(const char *name, const char *limit, int runs, const struct setup *s, char **a,
		 char **b)
{
	char **const argv[SIDES] = {a, b, s->before ? a : NULL};
	const char kind = *limit;
	double *cpu[SIDES], *ms[SIDES], median[SIDES] = {0}, clock[SIDES] = {0};
	for (int side = 0; side < SIDES; side++) {
		cpu[side] = calloc((size_t)runs, sizeof(double));
		ms[side] = calloc((size_t)runs, sizeof(double));
		if (!cpu[side] || !ms[side])
			fail("memory");
	}
	for (int i = -WARMUPS; i < runs; i++) {
		for (int side = 0; side < SIDES; side++) {
			if (!argv[side])
				continue;
			struct outcome o = measure(s, argv[side], (enum side)side);
			if (i < 0)
				continue;
			cpu[side][i] = o.cpu_ms / s->each;
			ms[side][i] = o.ms / s->each;
		}
	}
	printf("%-16s", name);
	for (int side = 0; side < SIDES; side++) {
		median[side] = median_of(cpu[side], runs);
		clock[side] = median_of(ms[side], runs);
		if (argv[side] && side < OLD)
			printf(" %10.3f", median[side]);
		else if (side < OLD)
			printf(" %10s", "-");
	}
	double value = value_of(kind, median[NEW], median[PEER]);
	printf(" %8.3f %8.3f %8.3f", value, value_of(kind, cpu[NEW][0], cpu[PEER][0]),
	       value_of(kind, clock[NEW], clock[PEER]));
	if (s->before)
		printf(" %8.3f", median[NEW] / median[OLD]);
	else
		printf(" %8s", "-");
	print_verdict(value, strtod(limit + (kind == '='), NULL), kind);
	for (int side = 0; side < SIDES; side++) {
		free(cpu[side]);
		free(ms[side]);
	}
}

static void peak(const char *name, double budget, char **argv)
{
	const struct setup s = {.sockets = 1};
	struct outcome o = run(&s, argv, NEW);
	if (o.failed) {
		fprintf(stderr, "meter: %s failed\n", argv[0]);
		exit(1);
	}
	printf("%-16s %10.2f %10s %8s %8s %8s %8s", name, (double)o.own_kb / 1024, "-", "MB", "",
	       "", "");
	print_verdict((double)o.own_kb / 1024, budget, '=');
}

/* The command ends when this is closed. */
#define GATE 3

static int say(const char *what)
{
	char byte;
	dprintf(STDOUT_FILENO, "came at %.3f;%s", now_ms(), strcmp(what, "line") == 0 ? "\n" : " ");
	while (read(GATE, &byte, 1) > 0)
		;
	return 0;
}

/* Reads until the text is there, and returns how old it is then. */
static double read_age(int fd)
{
	static const char mark[] = "came at ";
	char text[4096];
	size_t len = 0;
	for (ssize_t n; (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0;) {
		double now = now_ms();
		len += (size_t)n;
		text[len] = '\0';
		const char *at = strstr(text, mark);
		if (at && strchr(at, ';'))
			return now - strtod(at + strlen(mark), NULL);
	}
	errno = ENODATA;
	fail("no text");
}

/* One run; `bare`: at a pty that this process reads, else with a socket for its output. */
static double measure_age(char **argv, bool bare)
{
	int gate[2], ends[2], status;
	if (pipe2(gate, O_CLOEXEC) < 0 ||
	    (bare ? openpty(&ends[0], &ends[1], NULL, NULL, NULL) < 0
		  : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0))
		fail("pty");
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDONLY);
		dup2(gate[0], GATE);
		dup2(null, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		fcntl(GATE, F_SETFD, 0);
		execvp(argv[0], argv);
		fail(argv[0]);
	}
	close(gate[0]);
	close(ends[1]);
	double age = read_age(ends[0]);
	close(gate[1]);
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fail("wait");
	return age;
}

/* The text of the command below the program WORD..., by turns with the same at a bare pty. */
static void delay(const char *name, double budget, int runs, char *kind, char *program,
		  char **words)
{
	static char flag[] = "--say";
	char *bare[] = {program, flag, kind, NULL};
	double *ms[2] = {calloc((size_t)runs, sizeof(double)),
			 calloc((size_t)runs, sizeof(double))};
	size_t count = 0;
	while (words[count])
		count++;
	char **below = calloc(count + 4, sizeof(*below));
	if (!below || !ms[0] || !ms[1])
		fail("memory");
	memcpy(below, words, sizeof(*below) * count);
	memcpy(below + count, bare, sizeof(bare));
	for (int i = 0; i < runs; i++) {
		ms[0][i] = measure_age(below, false);
		ms[1][i] = measure_age(bare, true);
	}
	printf("%-16s %10.3f %10.3f", name, median_of(ms[0], runs), median_of(ms[1], runs));
	printf(" %8s %8s %8.3f %8s", "longest", "", ms[0][runs - 1], "");
	print_verdict(ms[0][runs - 1], budget, '=');
	free(below);
	free(ms[0]);
	free(ms[1]);
}

static int usage(void)
{
	fputs("usage: meter pair NAME LIMIT RUNS [in=FILE] [out=socket|sockets|pipe|null] "
	      "[clean=DIR] [first=COMMAND] [crowd=N|siblings=N] [each=N] -- A... [-- B...]\n"
	      "       meter peak NAME BUDGET_MB -- A...\n"
	      "       meter delay NAME BUDGET_MS RUNS line|prompt WORD...\n",
	      stderr);
	return 2;
}

static bool take_word(struct setup *s, const char *word)
{
	static const char *const outs[] = {"out=null", "out=socket", "out=sockets", "out=pipe"};
	for (int i = 0; i < 4; i++) {
		if (strcmp(word, outs[i]) == 0) {
			s->pipe = i == 3;
			s->sockets = s->pipe ? 1 : i;
			return true;
		}
	}
	if (strncmp(word, "in=", 3) == 0)
		s->in = word + 3;
	else if (strncmp(word, "clean=", 6) == 0)
		s->clean = word + 6;
	else if (strncmp(word, "first=", 6) == 0)
		s->first = word + 6;
	else if (strncmp(word, "each=", 5) == 0)
		s->each = atoi(word + 5) > 0 ? atoi(word + 5) : 1;
	else if (strncmp(word, "crowd=", 6) == 0)
		s->crowd = (int)strtol(word + 6, NULL, 10);
	else if (strncmp(word, "siblings=", 9) == 0)
		s->siblings = (int)strtol(word + 9, NULL, 10);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct setup s = {.sockets = 1, .each = 1, .before = getenv("BENCH_BEFORE")};
	if (argc == 3 && strcmp(argv[1], "--say") == 0)
		return say(argv[2]);
	if (argc > 6 && strcmp(argv[1], "delay") == 0 && atoi(argv[4]) > 0) {
		delay(argv[2], strtod(argv[3], NULL), atoi(argv[4]), argv[5], argv[0], argv + 6);
		return 0;
	}
	char **a = split(argv), **b = a ? split(a) : NULL;
	/* A process that outlives its parent becomes a child of this process. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		fail("prctl");
	if (!a || !*a || argc < 6)
		return usage();
	if (strcmp(argv[1], "peak") == 0 && !b) {
		peak(argv[2], strtod(argv[3], NULL), a);
		return 0;
	}
	int runs = argv[4] ? (int)strtol(argv[4], NULL, 10) : 0;
	if (strcmp(argv[1], "pair") != 0 || (b ? !*b : *argv[3] != '=') || runs < 1)
		return usage();
	for (char **word = argv + 5; *word; word++) {
		if (!take_word(&s, *word))
			return usage();
	}
	if (s.before && !*s.before)
		s.before = NULL;
	pair(argv[2], argv[3], runs, &s, a, b);
	return 0;
}
