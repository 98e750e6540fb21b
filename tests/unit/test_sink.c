// Who reads a descriptor, with real process trees: this program runs itself as the
// command ("probe FILE") below shells, pipelines and other programs.

#include "supervisor/process/sink.h"
#include "tests/unit/child.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <linux/capability.h>
#include <linux/futex.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static const struct settings settings;
static char dir[24];
static char program[4096];

static const char *const names[] = {
	[SINK_PERSON] = "person", [SINK_AGENT] = "agent", [SINK_PROGRAM] = "program",
	[SINK_FILE] = "file",     [SINK_PIPE] = "pipe",   [SINK_CLOSED] = "closed",
};

static struct stat looked;

/* The command: prints who reads its standard output. */
static int probe(const char *file)
{
	FILE *f = fopen(file, "w");
	if (!f)
		return 1;
	enum sink sink = sink_of(STDOUT_FILENO, &looked);
	if (sink == SINK_PIPE)
		sink = sink_of_pipe(&settings, STDOUT_FILENO, getpid(), getppid());
	fputs(names[sink], f);
	fclose(f);
	puts("output");
	return 0;
}

/* Runs `argv` with stdout connected to a pipe that this process reads to its end. */
static void run_and_read(char *const *argv)
{
	char data[4096];
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	while (read(ends[0], data, sizeof(data)) > 0)
		;
	close(ends[0]);
	assert_int_equal(child_wait(pid), 0);
}

static void found(const char *want)
{
	char path[64], text[32] = "";
	snprintf(path, sizeof(path), "%s/out", dir);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	unlink(path);
	assert_string_equal(text, want);
}

/* Runs a shell string in which $P is the probe; its own standard output is read by this process,
   as an agent would. */
static void shell_with(const char *shell, const char *string, const char *want)
{
	char *const argv[] = {(char *)shell, (char *)"-c", (char *)string, NULL};
	run_and_read(argv);
	found(want);
}

static void shell(const char *string, const char *want)
{
	shell_with("sh", string, want);
	if (access("/bin/bash", X_OK) == 0)
		shell_with("bash", string, want);
}

TEST(kinds_of_descriptors)
{
	int pipe_ends[2], pair[2], master, slave, fd;
	assert_int_equal(pipe(pipe_ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	assert_int_equal(sink_of(pipe_ends[1], &looked), SINK_PIPE);
	assert_int_equal(sink_of(pair[0], &looked), SINK_AGENT);
	assert_int_equal(sink_of(slave, &looked), SINK_PERSON);
	fd = open("/dev/null", O_WRONLY);
	assert_int_equal(sink_of(fd, &looked), SINK_FILE);
	close(fd);
	assert_int_equal(sink_of(fd, &looked), SINK_CLOSED);
	fd = memfd_create("test", 0);
	assert_int_equal(sink_of(fd, &looked), SINK_FILE);
	close(fd);
	close(pipe_ends[0]), close(pipe_ends[1]), close(pair[0]), close(pair[1]);
	close(master), close(slave);
}

TEST(an_agent_reads)
{
	char out[64];
	char *const direct[] = {program, (char *)"probe", out, NULL};
	snprintf(out, sizeof(out), "%s/out", dir);
	/* This test is the parent, and no shell. */
	run_and_read(direct);
	found("agent");
	shell("$P; true", "agent");
	shell("true && (cd / && $P; true); true", "agent");
	shell("timeout 20 $P; true", "agent");
	shell("true | $P; true", "agent");
	shell("x=$(echo); $P 2>/dev/null; true", "agent");
	/* A shell that does not read it is in between; so is a job that only runs beside it. */
	shell("sleep 20 & $P; kill $!; wait $! 2>/dev/null; true", "agent");
}

TEST(a_pipeline_reads)
{
	shell("$P | cat", "program");
	shell("$P | cat >/dev/null; true", "program");
	shell("true | $P | cat | cat", "program");
	shell("$P 2>&1 | cat", "program");
	shell("{ $P; true; } | cat", "program");
	shell("(cd /; { $P; true; }; true) | (cat; true)", "program");
	shell("timeout 20 $P | cat", "program");
	shell("true | xargs $P | cat", "program");
	shell("for i in 1; do $P; done | while read x; do echo $x; done", "program");
}

TEST(a_shell_reads)
{
	shell("x=$($P); echo $x", "program");
	shell("x=$(cd / && { $P; true; }); echo $x", "program");
	shell("x=`$P`; true", "program");
	shell("x=$(timeout 20 $P); true", "program");
	shell("x=$(sh -c '$P; true'); true", "program");
	shell("x=$(env A=b $P; true); true", "program");
	if (access("/bin/bash", X_OK) == 0)
		shell_with("bash", "while read x; do echo $x; done < <($P; true)", "program");
}

/* A script's process has the script's name, not the shell's. */
TEST(a_script_reads)
{
	char script[64];
	char *const argv[] = {script, NULL};
	snprintf(script, sizeof(script), "%s/build", dir);
	FILE *f = fopen(script, "w");
	assert_non_null(f);
	fputs("#!/bin/sh\nx=$($P)\necho $x\n", f);
	fclose(f);
	assert_int_equal(chmod(script, 0700), 0);
	run_and_read(argv);
	found("program");
	unlink(script);
}

/* An agent that connects two children of its own. */
TEST(a_sibling_reads)
{
	char out[64];
	int ends[2];
	snprintf(out, sizeof(out), "%s/out", dir);
	for (int forgotten = 0; forgotten <= 1; forgotten++) {
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		pid_t reader = fork();
		if (reader == 0) {
			dup2(ends[0], STDIN_FILENO);
			int null = open("/dev/null", O_WRONLY);
			dup2(null, STDOUT_FILENO);
			execlp("cat", "cat", (char *)NULL);
			_exit(127);
		}
		/* The agent may still hold the end that only its child reads. */
		if (!forgotten)
			close(ends[0]);
		pid_t writer = fork();
		if (writer == 0) {
			dup2(ends[1], STDOUT_FILENO);
			execl(program, program, "probe", out, (char *)NULL);
			_exit(127);
		}
		close(ends[1]);
		assert_int_equal(child_wait(writer), 0);
		if (forgotten)
			close(ends[0]);
		assert_int_equal(child_wait(reader), 0);
		found("program");
	}
}

/* As zsh does it: the shell becomes the last program of the pipeline, the others are its
   children. */
TEST(the_last_of_a_pipeline_reads)
{
	char out[64];
	snprintf(out, sizeof(out), "%s/out", dir);
	pid_t shell_pid = fork();
	if (shell_pid == 0) {
		int ends[2], null = open("/dev/null", O_WRONLY);
		CHECK(pipe2(ends, O_CLOEXEC) == 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
		if (fork() == 0) {
			dup2(ends[1], STDOUT_FILENO);
			execl(program, program, "probe", out, (char *)NULL);
			_exit(127);
		}
		dup2(null, STDOUT_FILENO);
		execlp("cat", "cat", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(child_wait(shell_pid), 0);
	found("program");
}

/* Children that read some other pipe, or hold only the end that is written, do not count. */
TEST(a_sibling_reads_something_else)
{
	char out[64];
	char *const direct[] = {program, (char *)"probe", out, NULL};
	int other[2];
	snprintf(out, sizeof(out), "%s/out", dir);
	assert_int_equal(pipe2(other, O_CLOEXEC), 0);
	pid_t reader = fork();
	if (reader == 0) {
		dup2(other[0], STDIN_FILENO);
		execlp("cat", "cat", (char *)NULL);
		_exit(127);
	}
	close(other[0]);
	run_and_read(direct);
	found("agent");
	close(other[1]);
	assert_int_equal(child_wait(reader), 0);
	shell("sleep 20 >&1 & $P; kill $!; wait $! 2>/dev/null; true", "agent");
}

/* The steps of two processes that wait for each other. */
struct steps {
	atomic_int child, parent;
};

static void step_take(atomic_int *at, int step)
{
	atomic_store(at, step);
	syscall(SYS_futex, at, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void step_wait(atomic_int *at, int step)
{
	for (int now; (now = atomic_load(at)) < step;)
		syscall(SYS_futex, at, FUTEX_WAIT, now, NULL, NULL, 0);
}

enum { MOVES = 500 / RANDOM_STEP };

/* A child on its way to exec: the reading end moves to standard input while the parent looks. */
static void move_end(struct steps *s, int reading)
{
	uint32_t random = random_start(1);
	int null = open("/dev/null", O_RDONLY);
	for (int move = 0; move < MOVES; move++) {
		CHECK(dup2(null, STDIN_FILENO) == STDIN_FILENO);
		step_take(&s->child, 2 * move + 1);
		step_wait(&s->parent, 2 * move + 1);
		random = random * 1664525 + 1013904223;
		for (volatile uint32_t i = random >> 14; i > 0; i--)
			;
		CHECK(dup2(reading, STDIN_FILENO) == STDIN_FILENO && close(reading) == 0);
		step_take(&s->child, 2 * move + 2);
		step_wait(&s->parent, 2 * move + 2);
		CHECK(dup2(STDIN_FILENO, reading) == reading);
	}
}

TEST(an_end_that_moves_is_found)
{
	int ends[2], agents = 0;
	struct steps *s =
		mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(s != MAP_FAILED);
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		move_end(s, ends[0]);
		_exit(0);
	}
	close(ends[0]);
	for (int move = 0; move < MOVES; move++) {
		step_wait(&s->child, 2 * move + 1);
		step_take(&s->parent, 2 * move + 1);
		do
			agents += sink_of_pipe(&settings, ends[1], getpid(), getppid()) !=
				  SINK_PROGRAM;
		while (atomic_load(&s->child) < 2 * move + 2);
		step_take(&s->parent, 2 * move + 2);
	}
	assert_int_equal(child_wait(pid), 0);
	assert_int_equal(agents, 0);
	close(ends[1]);
	munmap(s, sizeof(*s));
}

TEST(who_is_gone_can_not_be_asked)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	child_wait(pid);
	assert_int_equal(sink_of_pipe(&settings, ends[1], pid, getppid()), SINK_PROGRAM);
	close(ends[0]), close(ends[1]);
	assert_int_equal(sink_of_pipe(&settings, ends[1], getpid(), getppid()), SINK_PROGRAM);
}

/* --- many siblings --- */

enum { CROWD = 40 };

/* Children that sleep; the one at `reader` has the pipe's end as that descriptor. Returns the
   writer, one of them. */
static pid_t gather(pid_t pids[CROWD], int writer, int reader, int descriptor, const int ends[2])
{
	for (int i = 0; i < CROWD; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (int fd = 3; fd <= ends[1] && i != reader; fd++)
				close(fd);
			CHECK(i != reader || dup2(ends[0], descriptor) == descriptor);
			CHECK(i != reader || descriptor == ends[0] || close(ends[0]) == 0);
			raise(SIGSTOP);
			_exit(0);
		}
		assert_int_equal(waitpid(pids[i], NULL, WUNTRACED), pids[i]);
	}
	return pids[writer];
}

static void scatter(const pid_t pids[CROWD])
{
	for (int i = 0; i < CROWD; i++) {
		kill(pids[i], SIGKILL);
		child_wait(pids[i]);
	}
}

/* Whether few of the others have numbers nearer to the writer's than the reader has: what the
   machine starts meanwhile comes between them. */
static bool is_near(const pid_t pids[CROWD], int writer, int reader)
{
	int nearer = 0;
	for (int i = 0; i < CROWD; i++)
		nearer += i != writer &&
			  abs(pids[i] - pids[writer]) <= abs(pids[reader] - pids[writer]);
	return nearer <= 4;
}

TEST(among_many_siblings_only_a_known_agent_reads)
{
	static const struct {
		const char *name;
		int reader, descriptor;
		enum sink want;
	} cases[] = {
		{"claude", -1, 0, SINK_AGENT},    /* it holds the end itself */
		{"claude", 19, 0, SINK_PROGRAM},  /* close to the writer */
		{"claude", 19, 30, SINK_PROGRAM}, /* by another descriptor, too */
		{"claude", 0, 0, SINK_PROGRAM},   /* as far as can be */
		{"unknown", -1, 0, SINK_PROGRAM}, /* nobody could say who */
	};
	char own[16];
	assert_int_equal(prctl(PR_GET_NAME, own), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		pid_t pids[CROWD];
		int ends[2];
		assert_int_equal(pipe(ends), 0);
		prctl(PR_SET_NAME, cases[i].name);
		pid_t writer = gather(pids, 20, cases[i].reader, cases[i].descriptor, ends);
		while (cases[i].descriptor > 0 && !is_near(pids, 20, cases[i].reader)) {
			scatter(pids);
			writer = gather(pids, 20, cases[i].reader, cases[i].descriptor, ends);
		}
		assert_int_equal(sink_of_pipe(&settings, ends[1], writer, getpid()), cases[i].want);
		scatter(pids);
		close(ends[0]), close(ends[1]);
	}
	prctl(PR_SET_NAME, own);
}

/* One whose descriptors can't be seen is taken for the reader, and its children can't be seen. */
TEST(a_hidden_parent_reads)
{
	pid_t pids[CROWD];
	int ends[2];
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(ends), 0);
	gather(pids, 0, -1, 0, ends);
	for (int listed = 0; listed <= 1; listed++) {
		pid_t writer = fork();
		if (writer == 0) {
			/* Root without capabilities may list them. */
			struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
			struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
			if (listed)
				CHECK(syscall(SYS_capset, &head, none) == 0);
			else
				CHECK(setgid(65534) == 0 && setuid(65534) == 0 &&
				      prctl(PR_SET_DUMPABLE, 1) == 0);
			_exit(sink_of_pipe(&settings, ends[1], getpid(), getppid()) != SINK_AGENT);
		}
		assert_int_equal(child_wait(writer), 0);
	}
	scatter(pids);
	close(ends[0]), close(ends[1]);
}

static void no_proc(const void *ctx)
{
	const int *ends = ctx;
	CHECK(child_deny(SYS_openat, EACCES) == 0);
	CHECK(sink_of_pipe(&settings, ends[1], getpid(), getppid()) == SINK_PROGRAM);
}

TEST(without_proc_it_is_a_program)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(child_run(no_proc, ends), 0);
	close(ends[0]), close(ends[1]);
}

/* --- one open file or two --- */

static bool is_same(int a, int b)
{
	struct stat x, y;
	sink_of(a, &x);
	sink_of(b, &y);
	return sink_is_same(a, &x, b, &y);
}

static void check_same(const void *ctx)
{
	char path[64];
	int ends[2], pair[2];
	(void)ctx;
	snprintf(path, sizeof(path), "%s/log", dir);
	int a = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), b = open(path, O_WRONLY);
	int dup_a = dup(a), append = open(path, O_WRONLY | O_APPEND);
	CHECK(a >= 0 && b >= 0 && append >= 0);
	CHECK(write(a, "text", 4) == 4);
	CHECK(is_same(a, dup_a) && is_same(a, a));
	CHECK(!is_same(a, b) && !is_same(a, append));
	CHECK(is_same(append, open(path, O_RDWR | O_APPEND)));
	CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	int dup_pipe = dup(ends[1]), dup_socket = dup(pair[0]);
	CHECK(is_same(ends[1], dup_pipe) && is_same(pair[0], dup_socket));
	CHECK(!is_same(ends[1], a) && !is_same(pair[0], pair[1]));
	CHECK(pipe(pair) == 0 && !is_same(ends[1], pair[1]));
	close(a);
	CHECK(!is_same(a, b) && !is_same(b, a) && !is_same(a, a));
	unlink(path);
}

static void check_same_without_kcmp(const void *ctx)
{
	CHECK(child_deny(SYS_kcmp, EPERM) == 0);
	check_same(ctx);
}

TEST(same_open_file)
{
	assert_int_equal(child_run(check_same, NULL), 0);
	assert_int_equal(child_run(check_same_without_kcmp, NULL), 0);
}

static int set_up(void **state)
{
	char command[4200];
	(void)state;
	strcpy(dir, "/tmp/terse-test-XXXXXX");
	if (!mkdtemp(dir) || readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return -1;
	snprintf(command, sizeof(command), "%s probe %s/out", program, dir);
	return setenv("P", command, 1);
}

static int tear_down(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(int argc, char **argv)
{
	if (argc >= 3 && strcmp(argv[1], "probe") == 0)
		return probe(argv[2]);
	return unit_run(set_up, tear_down);
}
