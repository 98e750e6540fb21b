// terse signal and terse send: requests to a running command.

#include "config/value.h"
#include "lib/io.h"
#include "lib/tool_names.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

// terse signal ID [SIGNAL]: ends a running command, or sends it a signal.

/* Returns the number of "INT", "SIGINT" or "2"; -1 for anything else. */
static int parse_signal(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);
	if (*text && !*end)
		return number > 0 && number < NSIG ? (int)number : -1;
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	for (int sig = 1; sig < NSIG; sig++) {
		const char *name = sigabbrev_np(sig);
		if (name && strcasecmp(name, text) == 0)
			return sig;
	}
	return -1;
}

static int signal_run(struct verb_call *c)
{
	int run, status = 0;
	char id[ID_LEN + 1];
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	const char *name = c->operands[0], *signal = c->operands[1];
	int sig = signal ? parse_signal(signal) : 0;
	if (sig < 0)
		return verb_fail(c, ENVELOPE_USAGE, "%s: no such signal", signal);
	if (live_run_find(c, name, &run, id, false) < 0)
		return 1;
	if (live_run_signal(run, sig, live_run_is_own(c, id)) < 0) {
		live_run_failed(c, id, errno);
		status = 1;
	} else if (c->settings->words == WORDS_TOOLS)
		dprintf(STDOUT_FILENO,
			"[terse: %s; what was not shown yet: " TOOL_AWAIT TOOL_ID "%s]\n",
			sig ? "sent" : "ended", name);
	io_close(&run);
	return status;
}

static const struct verb_option signal_options[] = {
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_signal = {
	.name = "signal",
	.purpose = "end a running command, or send it a signal",
	.forms = "ID [SIGNAL]",
	.text = "Ends a running command and all that it has started: SIGTERM, then SIGKILL after\n"
		"the grace time. Processes with a session of their own (daemons) are left alone.\n"
		"With SIGNAL: sends that to the command's process group.\n",
	.options = signal_options,
	.least = 1,
	.more = 1,
	.live = true,
	.run = signal_run,
};

// terse send ID TEXT|--key KEY|--eof|--file FILE ... [--await]: types into a running command, and
// waits for its response.

/* While the supervisor's queue is full, the request is repeated at this interval. */
#define AGAIN_MS 20

/* A piece of input. */
struct send_item {
	enum { SEND_TEXT, SEND_KEY, SEND_FILE, SEND_EOF } kind;
	const char *value;
};

struct send {
	const struct verb_call *call;
	struct await wait;
	bool awaits;
	bool secret;             /* the input may be a secret, so its echo is not searched for */
	struct send_item *items; /* room for each argument */
	size_t count;
	char id[ID_LEN + 1];
	int run;            /* the connection to the run */
	struct typed typed; /* the input whose answer is waited for */
};

/* Sends a request, and waits while the queue is full. `may`: types even if the terminal does not
   echo. Returns 0, or -1 after printing an error. */
static int send_ask(struct send *s, enum frame_kind kind, int a, bool may, const char *data,
		    size_t len)
{
	while (client_ask(s->run, kind, a, may, data, len, NULL) < 0) {
		if (errno != EAGAIN) {
			live_run_failed(s->call, s->id, errno);
			return -1;
		}
		poll(NULL, 0, AGAIN_MS);
	}
	return 0;
}

/* The most bytes of the input whose echo is searched for. */
#define TYPED_MOST ((size_t)64 * 1024)

static int send_text(struct send *s, const char *data, size_t len)
{
	if (s->awaits && !s->secret && s->typed.text.len < TYPED_MOST)
		buffer_append(&s->typed.text, data, len);
	while (len > 0) {
		size_t n = len < FRAME_REQUEST ? len : FRAME_REQUEST;
		if (send_ask(s, FRAME_TYPE, 0, s->secret, data, n) < 0)
			return -1;
		data += n;
		len -= n;
	}
	return 0;
}

/* Types one piece of input. Returns 0, or -1 after printing an error. */
static int send_one(struct send *s, const struct send_item *item)
{
	char data[FRAME_REQUEST];
	struct key_bytes key;
	bool may;
	ssize_t n = -1;
	switch (item->kind) {
	case SEND_TEXT: return send_text(s, item->value, strlen(item->value));
	case SEND_EOF: return send_ask(s, FRAME_CLOSE, 0, true, NULL, 0);
	case SEND_KEY:
		if (key_parse(item->value, &key) < 0) /* can't happen: keys were checked */
			return -1;
		if (s->awaits)
			buffer_append(&s->typed.text, key.data, 1);
		/* Keys that are not characters are typed even if the terminal does not echo. */
		may = s->secret || (unsigned char)key.data[0] < ' ';
		return send_ask(s, FRAME_TYPE, key.cursor, may, key.data, key.len);
	case SEND_FILE: break;
	}
	bool standard = strcmp(item->value, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(item->value, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	while (fd >= 0 && (n = io_read(fd, data, sizeof(data))) > 0) {
		if (send_text(s, data, (size_t)n) < 0)
			break;
	}
	if (n < 0)
		verb_error(s->call->verb->name, "--file: %s: %m", item->value);
	if (!standard)
		io_close(&fd);
	return n == 0 ? 0 : -1;
}

/* The first operand is the run. The others are typed, in order with the options. */
static const char *send_take(void *into, const struct verb_option *o, const char *value)
{
	struct send *s = into;
	if (!*o->name && !s->wait.name)
		s->wait.name = value;
	else
		s->items[s->count++] = (struct send_item){o->at, value};
	return NULL;
}

static int send_run(struct verb_call *c)
{
	struct send s = {.call = c, .wait = {.from = 1}, .run = -1};
	struct live_status now = {.bytes = 0};
	struct key_bytes key;
	int status = EXIT_TERSE;
	s.items = calloc((size_t)c->argc, sizeof(*s.items));
	if (!s.items)
		verb_error("send", "%m");
	if (!s.items || verb_parse(c, &s) < 0)
		goto out;
	const char *alone = s.awaits         ? NULL
			    : s.wait.timeout ? "--timeout"
			    : s.wait.pattern ? "--for"
			    : s.wait.idle    ? "--idle"
					     : NULL;
	size_t i = 0;
	while (i < s.count &&
	       (s.items[i].kind != SEND_KEY || key_parse(s.items[i].value, &key) == 0))
		i++;
	if (s.count == 0)
		verb_error("send", "usage: terse send ID TEXT --key enter (see terse help send)");
	else if (alone)
		verb_error("send", "%s: needs --await (see terse help send)", alone);
	else if (i < s.count)
		verb_error("send", "%s: no such key (%s)", s.items[i].value,
			   vocabularies[c->settings->words].keys);
	else
		status = live_run_find(c, s.wait.name, &s.run, s.id, false) < 0;
	/* Notes the size of the text before anything is typed. */
	if (status == 0 && s.awaits && client_status(s.run, FRAME_STATUS, &now) < 0) {
		live_run_failed(c, s.id, errno);
		status = 1;
	}
	s.typed.from = now.bytes;
	for (i = 0; i < s.count && status == 0; i++)
		status = send_one(&s, &s.items[i]) < 0;
	io_close(&s.run);
	if (status == 0 && s.awaits) {
		s.wait.name = s.id;
		s.wait.answers = true;
		s.wait.typed = buffer_check(&s.typed.text) == 0 ? &s.typed : NULL;
		status = await_answer(c, &s.wait);
	}
out:
	buffer_release(&s.typed.text);
	free(s.items);
	return status;
}

static const struct verb_option send_options[] = {
	{"", 0, VERB_TAKE, SEND_TEXT, "", NULL},
	/* For terse mcp: TEXT may begin with "-". */
	{"--text", 0, VERB_TAKE, SEND_TEXT, "TEXT", NULL},
	{"--key", 0, VERB_TAKE, SEND_KEY, "KEY",
	 "enter tab escape space backspace up down left right home end insert delete pageup "
	 "pagedown f1 to f12 ctrl-c alt-x shift-tab, or a character"},
	{"--eof", 0, VERB_TAKE, SEND_EOF, NULL, "end of input"},
	{"--file", 0, VERB_TAKE, SEND_FILE, "FILE", "the contents of FILE (-: of standard input)"},
	{"--secret", 0, VERB_FLAG, offsetof(struct send, secret), NULL,
	 "type even where the terminal does not echo, which a person should do (terse attach)"},
	{"--await", 0, VERB_FLAG, offsetof(struct send, awaits), NULL,
	 "then wait as terse await does, with these options:"},
	{"--timeout", 0, VERB_TIME, offsetof(struct send, wait.timeout), "TIME",
	 "wait at most this long, and exit with 124"},
	{"--for", 0, VERB_TEXT, offsetof(struct send, wait.pattern), "REGEX",
	 "until a line after what was typed matches"},
	{"--idle", 0, VERB_TIME, offsetof(struct send, wait.idle), "TIME",
	 "until there was no output and no input for this long"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_send = {
	.name = "send",
	.purpose = "type into a running command",
	.forms = "ID [TEXT...]",
	.text = "Types into a running command that has a terminal (run --yield, --detach, --tty),\n"
		"in the order given. TEXT is typed as it is; --key enter ends a line.\n",
	.options = send_options,
	.live = true,
	.take = send_take,
	.run = send_run,
};
