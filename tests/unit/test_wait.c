// Whether processes wait for input, looked at from outside.

#include "lib/buffer.h"
#include "lib/human.h"
#include "supervisor/process/supervisor_internal.h"
#include "supervisor/terminal/terminal.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <utmp.h>

#include "tests/unit/child.h"
#include "tests/unit/unit.h"

struct run {
	int master;
	dev_t device;
	pid_t pid;
};

/* Starts a process in the foreground of a terminal of its own. */
static void start(struct run *r, void (*body)(void))
{
	int slave;
	struct stat st;
	assert_int_equal(openpty(&r->master, &slave, NULL, NULL, NULL), 0);
	assert_int_equal(fstat(slave, &st), 0);
	r->device = st.st_rdev;
	r->pid = fork();
	if (r->pid == 0) {
		close(r->master);
		login_tty(slave);
		body();
		_exit(0);
	}
	close(slave);
}

static void end(struct run *r)
{
	kill(r->pid, SIGKILL);
	child_wait(r->pid);
	close(r->master);
}

static enum wait_input look(pid_t group, dev_t device)
{
	struct wait w;
	wait_look(&w, device, group);
	return w.input;
}

static void assert_becomes(const struct run *r, enum wait_input expected)
{
	enum wait_input seen = INPUT_NONE;
	/* It may not have come so far. */
	for (int i = 0; i < 3000; i++) {
		seen = look(r->pid, r->device);
		if (seen == expected)
			return;
		poll(NULL, 0, 10);
	}
	assert_int_equal(seen, expected);
}

static void read_terminal(void)
{
	char byte;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static void poll_terminal(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	poll(&p, 1, -1);
}

static void read_pipe(void)
{
	int ends[2];
	char byte;
	if (pipe(ends) == 0 && read(ends[0], &byte, 1) < 0)
		_exit(1);
}

static void pause_for_ever(void)
{
	for (;;)
		pause();
}

static void spin(void)
{
	volatile unsigned i = 0;
	for (;;)
		i++;
}

/* The leader waits for one that reads. */
static void wait_for_reader(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		read_terminal();
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

TEST(what_processes_do)
{
	static const struct {
		void (*body)(void);
		enum wait_input seen;
	} cases[] = {{read_terminal, INPUT_READ},
		     {wait_for_reader, INPUT_READ},
		     {poll_terminal, INPUT_POLLED}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r;
		start(&r, cases[i].body);
		assert_becomes(&r, cases[i].seen);
		end(&r);
	}
}

/* A process that works or waits for something else is never taken for one that waits for input. */
TEST(who_does_not_wait_for_input)
{
	static void (*const bodies[])(void) = {read_pipe, pause_for_ever, spin};
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		struct run r;
		start(&r, bodies[i]);
		for (int j = 0; j < 20; j++) {
			enum wait_input seen = look(r.pid, r.device);
			assert_true(seen == INPUT_NONE || seen == INPUT_HIDDEN);
			poll(NULL, 0, 1);
		}
		end(&r);
	}
}

TEST(of_another_terminal)
{
	struct run r;
	start(&r, read_terminal);
	assert_becomes(&r, INPUT_READ);
	assert_int_equal(look(r.pid, r.device + 1000), INPUT_NONE);
	assert_int_equal(look(r.pid + 1, r.device), INPUT_NONE);
	end(&r);
}

static void ignore(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
}

static struct terminal *make_terminal(const char *text)
{
	const struct terminal_options options = {.cols = 80, .rows = 5, .onlcr = true};
	const struct terminal_events events = {.text = ignore};
	struct terminal *t = terminal_new(&options, &events);
	assert_non_null(t);
	terminal_feed(t, text, strlen(text));
	return t;
}

TEST(two_looks_agree)
{
	struct run r;
	struct terminal *t = make_terminal("Name? ");
	start(&r, read_terminal);
	assert_becomes(&r, INPUT_READ);
	struct looks l = {.master = r.master, .device = r.device, .first_ms = LOOK_PROMPT_MS};
	int64_t now = 1000;
	looks_touch(&l, now);
	assert_false(looks_find_prompt(&l, t, now));
	now = l.at;
	assert_false(looks_find_prompt(&l, t, now));
	assert_int_equal(l.agreed, 1);
	now = l.at;
	assert_true(looks_find_prompt(&l, t, now));
	assert_true(l.prompts);
	/* Reported once, and again after something was written or typed. */
	now = l.at;
	assert_false(looks_find_prompt(&l, t, now));
	assert_true(l.prompts);
	looks_touch(&l, now);
	assert_false(l.prompts);
	end(&r);
	terminal_free(t);
}

/* In poll with line editing on, or on a blank screen: it may wait for anything. */
TEST(polling_alone_is_not_waiting)
{
	struct run r;
	struct terminal *asks = make_terminal("Name? "), *blank = make_terminal("done\n");
	struct termios modes;
	start(&r, poll_terminal);
	assert_becomes(&r, INPUT_POLLED);
	for (int raw = 0; raw <= 1; raw++) {
		assert_int_equal(tcgetattr(r.master, &modes), 0);
		if (raw)
			cfmakeraw(&modes);
		assert_int_equal(tcsetattr(r.master, TCSANOW, &modes), 0);
		/* It was woken up by that. */
		assert_becomes(&r, INPUT_POLLED);
		for (int asking = 0; asking <= 1; asking++) {
			struct looks l = {
				.master = r.master, .device = r.device, .first_ms = LOOK_PROMPT_MS};
			looks_touch(&l, 0);
			for (int64_t now = 0; now < 10000; now += 50)
				looks_find_prompt(&l, asking ? asks : blank, now);
			assert_int_equal(l.prompts, raw && asking);
		}
	}
	end(&r);
	terminal_free(asks);
	terminal_free(blank);
}

static void assert_text(const char *screen, const char *expected)
{
	struct terminal *t = make_terminal(screen);
	struct buffer text = BUFFER_INIT;
	assert_int_equal(prompt_text(t, &text), 0);
	assert_int_equal(text.len, strlen(expected));
	if (text.len > 0)
		assert_memory_equal(text.data, expected, text.len);
	buffer_release(&text);
	terminal_free(t);
}

TEST(what_is_asked)
{
	assert_text("", "");
	assert_text("done\n", "");
	assert_text("Name? ", "Name? ");
	assert_text("Name?", "Name?");
	assert_text("1\n2\n3\n4\n5\n6\n\033[1;32mGo on?\033[m [Y/n] ", "Go on? [Y/n] ");
	assert_text("Old\rNew: ", "New: ");
	assert_text("\xC3\x9C\xE4\xB8\xAD: ", "\xC3\x9C\xE4\xB8\xAD: ");
	assert_text("a\xFF: ", "a\xEF\xBF\xBD: ");
	assert_text("\033[?1049h\033[2;2Hform: ", "");
}

TEST_MAIN(NULL, NULL)
