// How the streams are connected, for what a person, an agent or a program starts.

#include "lib/io.h"
#include "supervisor/process/sink.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* The things that a standard stream can be connected to. */
enum to { CLOSED, A, B, PROGRAM, OTHER_PROGRAM, SOCKET, FILE_A, FILE_B, DEV_NULL, TTY, KINDS };

static int kinds[KINDS] = {-1};
static int master, socket_end;
static pid_t reader;

struct set_up {
	enum to to[3];
	const struct settings *settings;
	const char *want;
	bool captured, jobs;
};

/* "CHANNEL CHANNEL, SINK SINK", and what else is decided. */
static void describe(const struct channels *l, char *text, size_t cap)
{
	static const char *const channels[] = {
		[CHANNEL_PTY] = "pty",
		[CHANNEL_PIPE] = "pipe",
		[CHANNEL_INHERIT] = "inherit",
		[CHANNEL_MERGED] = "merged",
	};
	static const char *const sinks[] = {
		[SINK_PERSON] = "person", [SINK_AGENT] = "agent", [SINK_PROGRAM] = "program",
		[SINK_FILE] = "file",     [SINK_PIPE] = "pipe",   [SINK_CLOSED] = "closed",
	};
	if (l->direct)
		snprintf(text, cap, "direct");
	else
		snprintf(text, cap, "%s %s, %s %s%s%s%s%s%s", channels[l->channel[0]],
			 channels[l->channel[1]], sinks[l->sink[0]], sinks[l->sink[1]],
			 l->person ? ", person" : "", l->controlling ? ", controlling" : "",
			 l->jobs ? ", jobs" : "", l->stdin_pty ? ", stdin" : "",
			 l->keyboard == STDIN_FILENO ? ", keys from stdin"
			 : l->keyboard >= 0          ? ", keys"
						     : "");
}

static void decide(const void *ctx)
{
	const struct set_up *u = ctx;
	struct channels l;
	char text[128];
	int log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
	/* No terminal behind /dev/tty, unless it is the person's. */
	CHECK(setsid() >= 0);
	if (u->to[0] == TTY || u->to[1] == TTY)
		CHECK(ioctl(kinds[TTY], TIOCSCTTY, 0) == 0);
	for (int i = 0; i < 3; i++) {
		if (u->to[i] == CLOSED)
			close(i);
		else
			CHECK(dup2(kinds[u->to[i]], i) == i);
	}
	channels_look(&l);
	channels_decide(&l, u->settings, u->captured, u->jobs);
	dup2(log, STDERR_FILENO);
	describe(&l, text, sizeof(text));
	if (strcmp(text, u->want) != 0)
		dprintf(STDERR_FILENO, "is \"%s\", not \"%s\"\n", text, u->want);
	CHECK(strcmp(text, u->want) == 0);
	/* Descriptors that terse opens are above the standard streams and not inherited. */
	CHECK(l.keyboard <= 0 || (l.keyboard > 2 && fcntl(l.keyboard, F_GETFD) == FD_CLOEXEC));
}

/* `captured`: the terminal is that of a run around this one. `jobs`: the command is to have job
   control. */
static void is_with(bool captured, bool jobs, enum to in, enum to out, enum to err,
		    const struct settings *s, const char *want)
{
	const struct set_up u = {{in, out, err}, s, want, captured, jobs};
	assert_int_equal(child_run(decide, &u), 0);
}

#define is(...)          is_with(false, false, __VA_ARGS__)
#define is_captured(...) is_with(true, false, __VA_ARGS__)
#define is_for_jobs(...) is_with(false, true, __VA_ARGS__)

static const struct settings plain = {0};
static const struct settings split = {.streams = STREAMS_SPLIT};
static const struct settings merged = {.streams = STREAMS_MERGED};
static const struct settings pty = {.pty = TRI_YES};
static const struct settings no_pty = {.pty = TRI_NO};
static const struct settings tty = {.tty = TRI_YES};
static const struct settings no_tty = {.tty = TRI_NO};
static const struct settings tty_no_pty = {.tty = TRI_YES, .pty = TRI_NO};
static const struct settings preview = {.print = PRINT_PREVIEW};
static const struct settings detach = {.detach = 1};
static const struct settings yields = {.yield = 1000};
static const struct settings yields_no_tty = {.yield = 1000, .tty = TRI_NO};
static const struct settings timeout = {.timeout = 1000};

TEST(one_pipe_to_an_agent)
{
	/* One open file: who reads it need not be known yet. */
	is(DEV_NULL, A, A, &plain, "pty merged, pipe pipe");
	is(A, SOCKET, SOCKET, &plain, "pty merged, agent agent");
	is(DEV_NULL, A, A, &split, "pty pty, pipe pipe");
	is(DEV_NULL, A, A, &no_pty, "pipe merged, pipe pipe");
}

TEST(a_person_for_an_agent)
{
	struct settings s = {.person = (char[]){"."}};
	is(DEV_NULL, A, A, &s, "pty merged, pipe pipe");
	s.agent = "claude";
	is(DEV_NULL, A, A, &s, "pty merged, pipe pipe, controlling");
	is(DEV_NULL, PROGRAM, A, &s, "pipe pty, program agent");
	s.yield = 1000;
	is(DEV_NULL, A, A, &s, "pty merged, pipe pipe, controlling, stdin");
	s.tty = TRI_NO;
	is(DEV_NULL, A, A, &s, "pty merged, pipe pipe");
}

TEST(two_pipes_to_an_agent)
{
	is(DEV_NULL, A, B, &plain, "pty merged, agent agent");
	is(DEV_NULL, A, SOCKET, &plain, "pty merged, agent agent");
	is(DEV_NULL, A, B, &split, "pty pty, pipe pipe");
}

/* `| grep` and `> file` behind the command: what is read by no agent stays apart. */
TEST(programs_and_files)
{
	is(DEV_NULL, PROGRAM, A, &plain, "pipe pty, program agent");
	is(DEV_NULL, PROGRAM, OTHER_PROGRAM, &plain, "pipe pipe, program program");
	is(DEV_NULL, FILE_A, A, &plain, "inherit pty, file agent");
	is(DEV_NULL, A, DEV_NULL, &plain, "pty inherit, agent file");
	is(DEV_NULL, FILE_A, FILE_A, &plain, "inherit merged, file file");
	is(DEV_NULL, FILE_A, FILE_B, &plain, "inherit inherit, file file");
	/* Told by hand. */
	is(DEV_NULL, FILE_A, A, &pty, "pty pty, file agent");
	is(DEV_NULL, FILE_A, A, &preview, "pty merged, agent agent");
	is(DEV_NULL, FILE_A, B, &merged, "inherit merged, file pipe");
}

TEST(closed_streams)
{
	is(CLOSED, A, A, &plain, "pty merged, pipe pipe");
	is(DEV_NULL, CLOSED, A, &plain, "inherit pty, closed agent");
	is(DEV_NULL, A, CLOSED, &plain, "pty inherit, agent closed");
	is(CLOSED, CLOSED, CLOSED, &plain, "inherit inherit, closed closed");
	is(CLOSED, CLOSED, CLOSED, &preview, "inherit inherit, closed closed");
}

TEST(a_person)
{
	is(TTY, TTY, TTY, &plain,
	   "pty merged, person person, person, controlling, stdin, keys from stdin");
	/* `echo x | terse less`: the keys come from the terminal all the same. */
	is(A, TTY, TTY, &plain, "pty merged, person person, person, controlling, keys");
	is(TTY, TTY, FILE_A, &plain,
	   "pty inherit, person file, person, controlling, stdin, keys from stdin");
	is(TTY, TTY, TTY, &no_tty, "pty merged, person person, person");
	is(TTY, TTY, TTY, &no_pty, "pipe merged, person person, person");
}

/* A person's own pipeline or redirection does not need terse, except for a time limit. */
TEST(a_person_with_a_pipeline)
{
	is(TTY, PROGRAM, TTY, &plain, "direct");
	is(TTY, FILE_A, TTY, &plain, "direct");
	is(TTY, FILE_A, TTY, &timeout, "inherit inherit, file person");
	is(TTY, FILE_A, TTY, &preview, "pty merged, agent agent");
}

/* --tty: prompts can be answered, so standard input is the terminal unless something is in it. */
TEST(asked_for_a_terminal)
{
	is(DEV_NULL, A, A, &tty, "pty merged, pipe pipe, controlling, stdin");
	is(B, A, A, &tty, "pty merged, pipe pipe, controlling");
	/* For a shell's job control alone, on its standard error, unless somebody types. */
	is_for_jobs(DEV_NULL, A, A, &plain, "pty merged, pipe pipe, jobs");
	is_for_jobs(DEV_NULL, FILE_A, A, &plain, "inherit pty, file agent, jobs");
	is_for_jobs(DEV_NULL, A, FILE_A, &plain, "pty inherit, agent file");
	is_for_jobs(DEV_NULL, A, A, &tty, "pty merged, pipe pipe, controlling, stdin");
	is(DEV_NULL, A, A, &tty_no_pty, "pipe merged, pipe pipe");
}

/* --yield, --detach: it can be typed to later, whoever reads now. */
TEST(a_command_that_goes_on)
{
	is(DEV_NULL, A, A, &yields, "pty merged, pipe pipe, controlling, stdin");
	is(B, A, A, &yields, "pty merged, pipe pipe, controlling");
	is(DEV_NULL, PROGRAM, A, &yields, "pty pty, program agent, controlling, stdin");
	is(DEV_NULL, A, A, &yields_no_tty, "pty merged, pipe pipe");
	is(TTY, TTY, TTY, &yields,
	   "pty merged, person person, person, controlling, stdin, keys from stdin");
	is(DEV_NULL, FILE_A, A, &detach, "pty merged, file pipe, controlling, stdin");
	/* The person types elsewhere from now on. */
	is(TTY, TTY, TTY, &detach, "pty merged, person person, controlling, stdin");
	is(TTY, FILE_A, TTY, &detach, "pty merged, file person, controlling, stdin");
}

/* A socket through which an agent could write but has not gives way, a pipe does not. */
TEST(a_socket_on_stdin)
{
	is(SOCKET, A, A, &yields, "pty merged, pipe pipe, controlling, stdin");
	is(SOCKET, A, A, &tty, "pty merged, pipe pipe, controlling");
	assert_int_equal(write(socket_end, "x", 1), 1);
	is(SOCKET, A, A, &yields, "pty merged, pipe pipe, controlling");
}

static int open_kinds(void **state)
{
	int ends[2], programs[2][2], ready[2];
	char byte;
	(void)state;
	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (pipe2(ends, O_CLOEXEC) < 0 || pipe2(programs[i], O_CLOEXEC) < 0)
			return -1;
		kinds[A + i] = ends[1];
		kinds[PROGRAM + i] = programs[i][1];
	}
	/* A sibling that reads both of them. The ends of A and B stay with this process, the
	   agent. */
	reader = fork();
	if (reader == 0) {
		const int keep[] = {programs[0][0], programs[1][0], ready[1]};
		io_close_others(3, keep, 3);
		CHECK(write(ready[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	if (reader < 0 || read(ready[0], &byte, 1) != 1)
		return -1;
	close(programs[0][0]), close(programs[1][0]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	kinds[SOCKET] = ends[0];
	socket_end = ends[1];
	kinds[FILE_A] = memfd_create("a", MFD_CLOEXEC);
	kinds[FILE_B] = memfd_create("b", MFD_CLOEXEC);
	kinds[DEV_NULL] = open("/dev/null", O_RDWR | O_CLOEXEC);
	return openpty(&master, &kinds[TTY], NULL, NULL, NULL);
}

static int end_reader(void **state)
{
	(void)state;
	kill(reader, SIGKILL);
	child_wait(reader);
	return 0;
}

/* `terse --yield` typed by an agent whose commands run under terse. */
TEST(inside_of_a_run)
{
	is_captured(DEV_NULL, TTY, TTY, &yields, "pty merged, agent agent, controlling, stdin");
	is_captured(TTY, TTY, TTY, &tty, "pty merged, agent agent, controlling, stdin");
	is_captured(DEV_NULL, PROGRAM, TTY, &yields, "pty pty, program agent, controlling, stdin");
}

int main(void)
{
	child_default_signals();
	return unit_run(open_kinds, end_reader);
}
