// terse shell: an interactive shell on a terminal that terse makes, for programs that type commands
// into a shell and read what it prints.
//
// Hooks of bash and zsh write marks around the output of a command line:
//
//   ESC ] 7770 ; NONCE ; < BEL      before it: PS0, preexec
//   ESC ] 7770 ; NONCE ; > 0 BEL    after it, with the status: PROMPT_COMMAND, precmd
//
// Only the shell knows the nonce. Marks count once one of the second kind has come, so the output
// of a shell that lacks a hook passes unchanged. So does everything outside the marks.

#include "config/option.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "lib/trace.h"
#include "shim/exec_call.h"
#include "shim/shell.h"
#include "supervisor/agents/rule.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/passage.h"
#include "supervisor/process/source.h"
#include "supervisor/redact/redactor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* The start of a mark is plain output if its rest doesn't follow within this many ms. */
#define REST_MS 50

/* When the shell has ended, terse stops waiting for a reader that reads nothing for this many
   ms. */
#define STALL_MS 1000

/* The most bytes of input that wait for the shell; no more are read. */
#define INPUT_MOST ((size_t)64 * 1024)

/* The most bytes of input that are kept as the run's command. */
#define TYPED_MOST ((size_t)4096)

struct typing {
	struct job job;
	struct passage passage;
	struct output_queue out;
	struct redactor redactor;
	char mark[48];         /* the start of every mark */
	struct buffer unread;  /* output from the start of a possible mark on */
	struct buffer input;   /* input for the shell */
	struct buffer typed;   /* input since the last prompt */
	bool taken;            /* `typed` was the command of a passage */
	struct buffer command; /* that command, without secrets */
	bool armed;            /* marks count */
	int64_t rest_at;
	char *shown[4];
	struct loop loop;
	char chunk[SOURCE_CHUNK];
};

static void typing_on_mark(struct typing *t, const char *what)
{
	if (*what == '>') {
		t->armed = t->taken = true;
		passage_end(&t->passage, (int)strtol(what + 1, NULL, 10));
	} else if (*what == '<' && t->armed) {
		passage_end(&t->passage, -1);
		/* The command does not have the newlines at its end. */
		while (t->typed.len > 0 && strchr("\r\n", t->typed.data[t->typed.len - 1]))
			buffer_truncate(&t->typed, t->typed.len - 1);
		buffer_clear(&t->command);
		if (!t->job.secrets)
			buffer_add(&t->command, &t->typed);
		else if (buffer_string(&t->typed))
			redactor_string(t->job.secrets, t->typed.data, &t->command);
		const char *command = buffer_string(&t->command);
		t->shown[2] = (char *)(command ? command : "");
		t->taken = true;
		passage_begin(&t->passage);
	}
}

/* Finds marks in the output and takes them out. `end`: a mark at the end of the output is not
   continued. */
static void typing_scan(struct typing *t, bool end)
{
	struct buffer *b = &t->unread;
	const size_t prefix = strlen(t->mark);
	size_t at = 0, from = 0;
	while (at < b->len) {
		const char *escape = memchr(b->data + at, '\033', b->len - at);
		at = escape ? (size_t)(escape - b->data) : b->len;
		size_t left = b->len - at, compared = left < prefix ? left : prefix;
		if (left == 0)
			break;
		if (memcmp(b->data + at, t->mark, compared) != 0) {
			at++;
			continue;
		}
		char *bell = left > prefix ? memchr(b->data + at, '\a', left) : NULL;
		if (!bell && !end && left < sizeof(t->chunk))
			break;
		if (!bell) {
			at++;
			continue;
		}
		passage_feed(&t->passage, b->data + from, at - from);
		*bell = '\0';
		typing_on_mark(t, b->data + at + prefix);
		from = at = (size_t)(bell - b->data) + 1;
	}
	if (at > from)
		passage_feed(&t->passage, b->data + from, at - from);
	buffer_consume(b, at);
}

static void typing_on_output(void *ctx, const char *data, size_t len)
{
	struct typing *t = ctx;
	if (buffer_try_append(&t->unread, data, len) == 0) {
		typing_scan(t, false);
		return;
	}
	typing_scan(t, true);
	passage_feed(&t->passage, data, len);
}

/* Reads the output of the shell's terminal. `end`: even if the reader's queue is full. */
static void typing_read_output(struct typing *t, bool end)
{
	int error;
	for (size_t got = 0, n; got < SOURCE_TURN && (end || !output_queue_is_full(&t->out));
	     got += n) {
		n = source_read_once(t->passage.master, false, t->chunk, sizeof(t->chunk), &error);
		if (n == 0)
			break;
		if (t->job.secrets)
			redactor_feed(&t->redactor, t->chunk, n);
		else
			typing_on_output(t, t->chunk, n);
	}
	t->rest_at = t->unread.len > 0 || t->passage.state != PASSAGE_CLOSED
			     ? clock_monotonic_ms() + REST_MS
			     : 0;
}

/* Reads input for the shell. Returns false when no more can come. */
static bool typing_read_input(struct typing *t)
{
	char data[4096];
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0)
		return false;
	buffer_append(&t->input, data, (size_t)n);
	if (t->taken)
		buffer_clear(&t->typed);
	t->taken = false;
	if (t->typed.len < TYPED_MOST)
		buffer_append(&t->typed, data, (size_t)n);
	return buffer_check(&t->input) == 0;
}

/* Gives the shell's terminal the size of the reader's terminal. Rendering uses that size within its
   limits. */
static void typing_resize(struct typing *t, int master)
{
	struct winsize size = {.ws_col = 0};
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0)
		ioctl(master, TIOCSWINSZ, &size);
	t->job.cols = size.ws_col < 2 ? 80 : size.ws_col > 1000 ? 1000 : size.ws_col;
	t->job.rows = size.ws_row < 2 ? 24 : size.ws_row > 500 ? 500 : size.ws_row;
}

/* Passes a signal on. Returns false when the shell has ended; *status then has its wait status. */
static bool typing_on_signal(struct typing *t, int signals, int *status)
{
	struct signalfd_siginfo info;
	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return true;
	int sig = (int)info.ssi_signo;
	if (sig == SIGWINCH)
		typing_resize(t, t->passage.master);
	else if (sig != SIGCHLD && sig != SIGCONT && sig != SIGTSTP && sig != SIGTTIN &&
		 sig != SIGTTOU)
		kill(t->passage.shell, sig);
	pid_t pid;
	while ((pid = waitpid(-1, status, WNOHANG)) > 0) {
		if (pid == t->passage.shell)
			return false;
	}
	return true;
}

/* Prints the start of a mark whose rest has not come. If the shell already reads the next line
   although its mark has not come, prints everything. */
static void typing_on_time(struct typing *t, int64_t now_ms)
{
	if (t->rest_at && now_ms >= t->rest_at) {
		t->rest_at = 0;
		typing_scan(t, true);
		if (t->passage.state != PASSAGE_CLOSED && passage_reads_keys(&t->passage, true))
			passage_let_go(&t->passage);
	}
	int64_t due = passage_due(&t->passage);
	if (due && now_ms >= due)
		passage_on_time(&t->passage, now_ms);
}

/* Runs until the shell has ended, or nobody reads its output any more. Returns the shell's wait
   status, or -1. */
static int typing_loop(struct typing *t, int signals)
{
	struct loop *l = &t->loop;
	bool lives = true;
	int status = 0;
	while (lives && !t->out.error) {
		bool comes = false, typed = false, takes = false, signalled = false;
		int64_t due = passage_due(&t->passage);
		loop_watch(l, signals, POLLIN, loop_note, &signalled);
		if (!output_queue_is_full(&t->out))
			loop_watch(l, t->passage.master, POLLIN, loop_note, &comes);
		if (t->input.len < INPUT_MOST)
			loop_watch(l, STDIN_FILENO, POLLIN, loop_note, &typed);
		if (t->input.len > 0)
			loop_watch(l, t->passage.master, POLLOUT, loop_note, &takes);
		if (t->out.queue.len > 0)
			loop_watch(l, output_queue_poll_fd(&t->out), POLLOUT, NULL, NULL);
		loop_until(l, t->rest_at && (!due || t->rest_at < due) ? t->rest_at : due);
		loop_turn(l);
		output_queue_pump(&t->out);
		/* A new size takes effect before input that is typed after it. */
		lives = !signalled || typing_on_signal(t, signals, &status);
		if (comes)
			typing_read_output(t, false);
		if (typed && !typing_read_input(t))
			return -1;
		ssize_t n =
			takes || typed ? write(t->passage.master, t->input.data, t->input.len) : 0;
		if (n > 0)
			buffer_consume(&t->input, (size_t)n);
		typing_on_time(t, clock_monotonic_ms());
	}
	return t->out.error ? -1 : status;
}

/* Sets the variables that give the shell its hooks. bash stops exporting them at its first prompt.
   The hook in PROMPT_COMMAND has a large index, so it comes after the elements that others set.
   That hook and the one in PS0 restore each other. */
static void typing_set_hooks(const struct typing *t, const char *shell)
{
	static const char hook[] = "{ \\builtin printf '%s>%%s\\a%%.0s' \"$?\" "
				   "\"${PS0:=$TERSE_PS0}\" >/dev/tty || :; } "
				   "2>/dev/null";
	static const char first[] = "\n\\builtin export -n PS0 TERSE_PS0 TERSE_HOOK 2>/dev/null\n"
				    "TERSE_HOOK=${TERSE_HOOK%%$'\\n'*} "
				    "PROMPT_COMMAND[7770]=${TERSE_HOOK%%$'\\n'*}";
	struct buffer value = BUFFER_INIT;
	struct place own;
	/* terse read prints like any command, without a pager. */
	setenv("TERSE_PAGER", "cat", 0);
	if (strcmp(shell, "zsh") == 0) {
		const char *before = getenv("ZDOTDIR");
		place_find(&own);
		char *slash = strrchr(own.bash_env, '/');
		if (!slash)
			return;
		buffer_printf(&value, "%.*s/zsh", (int)(slash - own.bash_env), own.bash_env);
		setenv("TERSE_ZDOTDIR", before ? before : "", 1);
		setenv("TERSE_MARK", t->mark, 1);
		if (buffer_string(&value))
			setenv("ZDOTDIR", value.data, 1);
	} else {
		const char *before = getenv("PS0");
		buffer_printf(&value, hook, t->mark);
		buffer_append_string(&value, first);
		if (buffer_string(&value))
			setenv("TERSE_HOOK", value.data, 1);
		buffer_clear(&value);
		buffer_printf(&value, "%s<${PROMPT_COMMAND[7770]:=$TERSE_HOOK}\\a%s", t->mark,
			      before ? before : "");
		if (buffer_string(&value)) {
			setenv("TERSE_PS0", value.data, 1);
			setenv("PS0", value.data, 1);
		}
	}
	buffer_release(&value);
}

/* Starts the shell on a new terminal. The slave side is kept open here too, so reading does not
   fail when no process of the shell has it open. Returns the pid, or -1 with errno. */
static pid_t typing_start(struct typing *t, const char *shell)
{
	struct pty pty;
	unsigned long long nonce;
	if (tcgetattr(STDIN_FILENO, &t->job.modes) < 0 ||
	    getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce) ||
	    pty_open(&pty, 80, 24, PTY_TYPED, &t->job.modes) < 0)
		return -1;
	typing_resize(t, pty.master);
	snprintf(t->mark, sizeof(t->mark), "\033]7770;%016llx;", nonce);
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		ioctl(pty.slave, TIOCSCTTY, 0);
		for (int fd = 0; fd < 3; fd++)
			dup2(pty.slave, fd);
		typing_set_hooks(t, shell);
		signals_restore(&t->job.signals);
		_exit(run_tell_exec_error(&t->job, spawn_exec(&t->job, environ)));
	}
	t->passage.master = pty.master;
	t->passage.shell = pid;
	return pid;
}

int typed_run(struct settings *s, const char *program, char **argv)
{
	struct job job = {.program = program,
			  .argv = argv,
			  .settings = s,
			  .parent = getppid(),
			  .channels = {.channel = {CHANNEL_PTY, CHANNEL_MERGED}}};
	/* The struct is large, and a stack may be small where memory is limited. */
	struct typing *t = NULL;
	const char *name = shell_call_name(argv[0]);
	sigset_t all;
	name += *name == '-';
	bool hooks = strcmp(name, "bash") == 0 || strcmp(name, "zsh") == 0;
	/* A start-up file may execute terse shell only once, even if terse shell then only executes
	   the shell. */
	if (hooks)
		setenv(option_by_key("shim", "interactive")->variable, "no", 1);
	errno = 0;
	if (!hooks || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || run_is_bypassed(s) ||
	    (!(job.secrets = secrets_new(s)) && errno) || !(t = calloc(1, sizeof(*t))))
		return run_tell_exec_error(&job, spawn_exec(&job, environ));
	t->job = job;
	t->job.shown = t->shown;
	t->shown[0] = argv[0];
	t->shown[1] = (char *)"-c";
	const char *agent = rule_agent(s);
	if (agent)
		rule_apply(s, agent);
	signals_take(&t->job.signals);
	if (typing_start(t, name) < 0) {
		signals_restore(&t->job.signals);
		return run_tell_exec_error(&t->job, spawn_exec(&t->job, environ));
	}
	t->redactor =
		(struct redactor){.secrets = t->job.secrets, .out = typing_on_output, .ctx = t};
	t->passage.job = &t->job;
	t->passage.out = &t->out;
	output_queue_init(&t->out, STDOUT_FILENO);
	t->job.raw = t->job.modes;
	cfmakeraw(&t->job.raw);
	tcsetattr(STDIN_FILENO, TCSANOW, &t->job.raw);
	sigfillset(&all);
	int signals = io_above_standard(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
	int status = typing_loop(t, signals);
	/* Prints the shell's last output, as far as its reader reads it. */
	if (status >= 0) {
		typing_read_output(t, true);
		redactor_finish(&t->redactor);
		typing_scan(t, true);
	}
	passage_end(&t->passage, status < 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	/* If the reader is gone, this hangs up the shell. */
	io_close(&t->passage.master);
	output_queue_pump(&t->out);
	for (size_t left = SIZE_MAX, now; (now = t->out.queue.len - t->out.sent) > 0 && now < left;
	     left = now) {
		loop_watch(&t->loop, output_queue_poll_fd(&t->out), POLLOUT, NULL, NULL);
		loop_until(&t->loop, clock_monotonic_ms() + STALL_MS);
		loop_turn(&t->loop);
		output_queue_pump(&t->out);
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &t->job.modes);
	trace_close();
	signals_end_like(status < 0 ? SIGHUP : status);
}

static int typed_verb_run(struct verb_call *c)
{
	static char *user[2];
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	if (c->operand_count == 0)
		user[0] = (char *)shell_real(c->settings->shell, false);
	return typed_run(c->settings, NULL, c->operand_count ? c->operands : user);
}

const struct verb verb_shell = {
	.name = "shell",
	.purpose = "a shell to type into, whose long outputs become previews",
	.forms = "[SHELL [ARG...]]",
	.text = "Starts bash or zsh on a terminal of its own, for programs that type commands\n"
		"into one shell. What a command line prints passes as it comes; when it is too\n"
		"long, the rest is kept as an artifact and previewed before the next prompt.\n"
		"Another shell, or one that is not started on a terminal, is just executed.\n",
	.more = -1,
	.command = true,
	.run = typed_verb_run,
};
