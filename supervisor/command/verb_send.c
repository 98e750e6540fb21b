// terse signal ID [SIGNAL]: ends a running command, or sends it a signal.

#include "config/option.h"
#include "config/value.h"
#include "lib/buffer.h"
#include "lib/guard.h"
#include "lib/io.h"
#include "lib/json_read.h"
#include "supervisor/command/command.h"
#include "supervisor/command/live_run.h"
#include "supervisor/command/recording.h"
#include "supervisor/command/svg.h"
#include "supervisor/command/verb.h"
#include "supervisor/report/wording.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* "INT", "SIGINT" or "2"; -1: none. */
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

/* Waits until the supervisor has gone, the last process of the run. */
static void signal_wait_for_end(const struct client *v)
{
	struct frame p;
	while (client_receive(v, &p, 0) >= 0 || errno == EAGAIN)
		;
}

int signal_answer(const struct settings *settings, const char *verb, const char *session,
		  const char *name, const char *signal)
{
	int sig = signal ? parse_signal(signal) : 0, status = 0;
	if (sig < 0) {
		verb_error(verb, "%s: no such signal", signal);
		return EXIT_TERSE;
	}
	struct client v;
	char id[ID_LEN + 1];
	if (live_run_open(settings, session, verb, name, &v, id) < 0)
		return 1;
	bool own = live_run_is_own(settings, session, id);
	if (client_ask(&v, FRAME_SIGNAL, sig, own, NULL, 0, NULL) < 0) {
		live_run_failed(settings, verb, id, errno);
		status = 1;
	} else if (sig == 0) {
		signal_wait_for_end(&v);
	}
	client_close(&v);
	return status;
}

int command_signal(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *operands[2];
	const struct verb_option table[] = {
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	int count = verb_parse(table, argc, argv, operands, 2);
	if (count < 0)
		return EXIT_TERSE;
	if (count == 0) {
		verb_error(argv[0], "usage: terse signal ID [SIGNAL]");
		return EXIT_TERSE;
	}
	return signal_answer(c->settings, argv[0], session, operands[0],
			     count == 2 ? operands[1] : NULL);
}

// terse snapshot ID [--json]: prints the screen of a running command.

/* Prints the rows up to the last one that is not empty. */
static int snapshot_print_text(const struct buffer *json)
{
	json_t *root = json_read(json->data, json->len, 0, NULL);
	const json_t *text = json_object_get(root, "text");
	int result = -1;
	if (json_is_string(text)) {
		const char *rows = json_string_value(text);
		size_t len = json_string_length(text);
		while (len > 1 && rows[len - 1] == '\n' && rows[len - 2] == '\n')
			len--;
		if (len == 1 && rows[0] == '\n')
			len = 0;
		struct buffer shown = BUFFER_INIT;
		guard_text(&shown, rows, len, GUARD_LINE);
		result = verb_write(&shown);
		buffer_release(&shown);
	} else {
		errno = EPROTO;
	}
	json_decref(root);
	return result;
}

static int snapshot_print_json(struct buffer *json)
{
	buffer_append_string(json, "\n");
	return verb_write(json);
}

/* Draws the screen. Returns 0, or -1 with errno. */
static int snapshot_draw(const struct buffer *json, const char *path)
{
	json_t *root = json_read(json->data, json->len, 0, NULL);
	const json_t *paint = json_object_get(root, "paint");
	/* A recording has such a header. */
	json_t *header = json_pack("{sO sO}", "width", json_object_get(root, "cols"), "height",
				   json_object_get(root, "rows"));
	struct terminal *t = header && json_is_string(paint) ? recording_terminal(header) : NULL;
	int result = -1;
	if (t) {
		terminal_feed(t, json_string_value(paint), json_string_length(paint));
		result = svg_write(path, t);
	} else {
		errno = EPROTO;
	}
	terminal_free(t);
	json_decref(header);
	json_decref(root);
	return result;
}

int snapshot_answer(const struct settings *settings, const char *verb, const char *session,
		    const char *name, bool json, const char *svg)
{
	struct client v;
	char id[ID_LEN + 1];
	if (live_run_open(settings, session, verb, name, &v, id) < 0)
		return 1;
	struct buffer reply = BUFFER_INIT;
	int status = 1;
	if (client_ask(&v, FRAME_PICTURE, svg != NULL, 0, NULL, 0, &reply) < 0)
		live_run_failed(settings, verb, id, errno);
	else if (svg && snapshot_draw(&reply, svg) < 0)
		verb_error(verb, "%s: %m", svg);
	else if (!svg && (json ? snapshot_print_json(&reply) : snapshot_print_text(&reply)) < 0)
		verb_error(verb, "%s: %m", id);
	else
		status = 0;
	buffer_release(&reply);
	client_close(&v);
	return status;
}

int command_snapshot(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *name, *svg = NULL;
	bool json = false;
	const struct verb_option table[] = {
		{"--json", VERB_FLAG, &json},
		{"--svg", VERB_TEXT, &svg},
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	if (verb_parse_one(table, argc, argv, &name, "usage: terse snapshot ID") < 0)
		return EXIT_TERSE;
	if (json && svg) {
		verb_error(argv[0], "--svg does not go with --json");
		return EXIT_TERSE;
	}
	return snapshot_answer(c->settings, argv[0], session, name, json, svg);
}

// terse send ID TEXT|--key KEY|--eof|--file FILE ... [--await]: types into a running command, and
// waits for its response.

/* Milliseconds between two tries while the supervisor's queue is full. */
#define AGAIN_MS 20

struct sender {
	const struct settings *settings;
	const struct await *a;
	char id[ID_LEN + 1];
	struct client client;
	bool awaits;
	struct typed typed;
};

static int send_ask(struct sender *s, enum frame_kind kind, int a, const char *data, size_t len)
{
	while (client_ask(&s->client, kind, a, 0, data, len, NULL) < 0) {
		if (errno != EAGAIN) {
			live_run_failed(s->settings, s->a->verb, s->id, errno);
			return -1;
		}
		poll(NULL, 0, AGAIN_MS);
	}
	return 0;
}

/* More of what was typed is not looked for in its echo. */
#define TYPED_MOST ((size_t)64 * 1024)

static int send_text(struct sender *s, const char *data, size_t len)
{
	if (s->awaits && s->typed.text.len < TYPED_MOST)
		buffer_append(&s->typed.text, data, len);
	while (len > 0) {
		size_t n = len < FRAME_REQUEST ? len : FRAME_REQUEST;
		if (send_ask(s, FRAME_TYPE, 0, data, n) < 0)
			return -1;
		data += n;
		len -= n;
	}
	return 0;
}

static int send_key(struct sender *s, const char *name)
{
	struct key_bytes key;
	if (key_parse(name, &key) < 0) /* they were checked */
		return -1;
	if (s->awaits)
		buffer_append(&s->typed.text, key.data, 1);
	return send_ask(s, FRAME_TYPE, key.cursor, key.data, key.len);
}

static int send_file(struct sender *s, const char *name)
{
	char data[FRAME_REQUEST];
	bool standard = strcmp(name, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = -1;
	if (fd >= 0) {
		while ((n = io_read(fd, data, sizeof(data))) > 0) {
			if (send_text(s, data, (size_t)n) < 0)
				break;
		}
	}
	if (n < 0)
		verb_error(s->a->verb, "--file: %s: %m", name);
	if (!standard)
		io_close(&fd);
	return n == 0 ? 0 : -1;
}

static int send_bad_usage(const char *verb, const char *what, const char *why)
{
	verb_error(verb, "%s: %s (see terse help send)", what, why);
	return -1;
}

static const struct {
	const char *name;
	enum send_kind kind;
	bool takes; /* a value */
} options[] = {
	{"--key", SEND_KEY, true},
	{"--file", SEND_FILE, true},
	{"--eof", SEND_EOF, false},
};

#define OPTIONS (sizeof(options) / sizeof(*options))

/* The options of await, and what they say. */
struct send_after {
	const char *name;
	const char **text; /* or */
	int64_t *ms;
};

/* Reads the option at argv[*i] and its value. Returns 0, 1 if it types nothing, or -1 after saying
   what is wrong. */
static int send_read_option(struct await *a, bool *awaits, const char **after, int argc,
			    char **argv, int *i, struct send_item *item)
{
	const struct send_after passed[] = {
		{"--session", &a->session, NULL},
		{"--for", &a->pattern, NULL},
		{"--timeout", NULL, &a->timeout},
		{"--idle", NULL, &a->idle},
	};
	const char *name = argv[*i], *value;
	if (strcmp(name, "--await") == 0) {
		*awaits = true;
		return 1;
	}
	size_t at = 0, own = 0;
	while (at < 4 && strcmp(passed[at].name, name) != 0)
		at++;
	while (own < OPTIONS && strcmp(options[own].name, name) != 0)
		own++;
	if (at == 4 && own == OPTIONS)
		return send_bad_usage(a->verb, name, "no such option");
	if (at == 4 && !options[own].takes) {
		*item = (struct send_item){.kind = options[own].kind};
		return 0;
	}
	value = *i + 1 < argc ? argv[++*i] : NULL;
	if (!value)
		return send_bad_usage(a->verb, name, "needs a value");
	if (at == 4) {
		*item = (struct send_item){options[own].kind, value, 0};
		return 0;
	}
	if (at > 0 && !*after)
		*after = name;
	if (passed[at].text)
		*passed[at].text = value;
	else if (value_parse_duration(value, passed[at].ms) < 0 || *passed[at].ms <= 0)
		return send_bad_usage(a->verb, name, "must be a time: 500ms, 2s, 5m");
	return 1;
}

/* The ID and the things to type, in their order. `items` has room for argc of them. Returns how
   many, or -1 after saying what is wrong. */
static int send_parse(struct await *a, bool *awaits, int argc, char **argv, struct send_item *items)
{
	int count = 0;
	bool text_only = false;
	const char *after = NULL;
	for (int i = 1; i < argc; i++) {
		bool is_option = !text_only && argv[i][0] == '-' && argv[i][1];
		if (is_option && strcmp(argv[i], "--") == 0) {
			text_only = true;
		} else if (is_option) {
			int used =
				send_read_option(a, awaits, &after, argc, argv, &i, &items[count]);
			if (used < 0)
				return -1;
			count += used == 0;
		} else if (!a->name) {
			a->name = argv[i];
		} else {
			items[count++] = (struct send_item){SEND_TEXT, argv[i], strlen(argv[i])};
		}
	}
	if (count > 0 && after && !*awaits)
		return send_bad_usage(a->verb, after, "needs --await");
	if (count > 0 && a->name)
		return count;
	verb_error(a->verb, "usage: terse send ID TEXT --key enter (see terse help send)");
	return -1;
}

/* Notes where the text ends before anything is typed. */
static int send_mark(struct sender *s)
{
	struct client reader;
	struct live_status now = {.bytes = 0};
	if (live_run_open(s->settings, s->a->session, s->a->verb, s->id, &reader, s->id) < 0)
		return -1;
	int result = client_status(&reader, FRAME_WATCH, &now);
	if (result < 0)
		live_run_failed(s->settings, s->a->verb, s->id, errno);
	s->typed.from = now.bytes;
	client_close(&reader);
	return result;
}

static int send_one(struct sender *s, const struct send_item *item)
{
	switch (item->kind) {
	case SEND_KEY: return send_key(s, item->value);
	case SEND_FILE: return send_file(s, item->value);
	case SEND_EOF: return send_ask(s, FRAME_CLOSE, 0, NULL, 0);
	default: return send_text(s, item->value, item->len);
	}
}

int send_answer(const struct settings *settings, const struct send_item *items, size_t count,
		bool awaits, struct await *a)
{
	struct sender s = {.settings = settings, .a = a, .client = {.fd = -1}, .awaits = awaits};
	struct key_bytes key;
	for (size_t i = 0; i < count; i++) {
		if (items[i].kind == SEND_KEY && key_parse(items[i].value, &key) < 0) {
			verb_error(a->verb, "%s: no such key (%s)", items[i].value,
				   vocabularies[settings->words].keys);
			return EXIT_TERSE;
		}
	}
	if (live_run_open(settings, a->session, a->verb, a->name, &s.client, s.id) < 0)
		return 1;
	int status = awaits && send_mark(&s) < 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = send_one(&s, &items[i]) < 0;
	client_close(&s.client);
	if (status == 0 && awaits) {
		a->name = s.id;
		a->answers = true;
		a->typed = buffer_check(&s.typed.text) == 0 ? &s.typed : NULL;
		status = await_answer(settings, a);
	}
	buffer_release(&s.typed.text);
	return status;
}

int command_send(struct command_context *c, int argc, char **argv)
{
	struct await a = {.verb = argv[0], .from = 1};
	bool awaits = false;
	struct send_item *items = calloc((size_t)argc, sizeof(*items));
	if (!items)
		verb_error(argv[0], "%m");
	int count = items ? send_parse(&a, &awaits, argc, argv, items) : -1;
	int status =
		count < 0 ? EXIT_TERSE : send_answer(c->settings, items, (size_t)count, awaits, &a);
	free(items);
	return status;
}
