// How late the text of a command that goes on reaches its reader: the command prints the time, and
// the reader compares it with its own.
//
//     delay NAME BUDGET_MS RUNS line|prompt WORD...
//
// By turns below the program WORD..., whose output an agent's socket takes, and at a bare pty.
// `prompt`: the text is no whole line. Prints median and worst time of both, and the worst of the
// first against the budget (0: none). Exit status 1: no text came.

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The command ends when this is closed. */
#define GATE 3

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
	exit(1);
}

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
static double measure(char **argv, bool bare)
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

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	double *ms[2];
	if (argc == 3 && strcmp(argv[1], "--say") == 0)
		return say(argv[2]);
	int runs = argc > 5 ? atoi(argv[3]) : 0;
	if (runs < 1) {
		fputs("usage: delay NAME BUDGET_MS RUNS line|prompt WORD...\n", stderr);
		return 2;
	}
	char flag[] = "--say", *bare[] = {argv[0], flag, argv[4], NULL};
	char **below = calloc((size_t)argc, sizeof(*below));
	ms[0] = calloc((size_t)runs, sizeof(double));
	ms[1] = calloc((size_t)runs, sizeof(double));
	if (!below || !ms[0] || !ms[1])
		fail("memory");
	memcpy(below, argv + 5, sizeof(*below) * (size_t)(argc - 5));
	memcpy(below + argc - 5, bare, sizeof(bare));
	for (int i = 0; i < runs; i++) {
		ms[0][i] = measure(below, false);
		ms[1][i] = measure(bare, true);
	}
	printf("%-16s", argv[1]);
	for (int side = 0; side < 2; side++) {
		char worst[48];
		qsort(ms[side], (size_t)runs, sizeof(double), compare);
		snprintf(worst, sizeof(worst), "(worst %.2f)", ms[side][runs - 1]);
		printf(" %9.2f ms %-20s", ms[side][runs / 2], worst);
	}
	double budget = strtod(argv[2], NULL), worst = ms[0][runs - 1];
	printf(" %7s %7s", "", "");
	if (budget > 0)
		printf(" %7.0f  %s\n", budget, worst <= budget ? "ok" : "OVER");
	else
		printf("       -\n");
	return 0;
}
