// terse signal ID [SIGNAL]: ends a running command, or sends it a signal.

#include "config/option.h"
#include "lib/buffer.h"
#include "lib/guard.h"
#include "lib/io.h"
#include "lib/json_read.h"
#include "supervisor/command/command.h"
#include "supervisor/command/live_run.h"
#include "supervisor/command/recording.h"
#include "supervisor/command/svg.h"
#include "supervisor/command/verb.h"
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
	struct control_packet p;
	while (client_receive(v, &p, 0) >= 0 || errno == EAGAIN)
		;
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
	int sig = count == 2 ? parse_signal(operands[1]) : 0;
	if (sig < 0) {
		verb_error(argv[0], "%s: no such signal", operands[1]);
		return EXIT_TERSE;
	}
	struct client v;
	char id[ID_LEN + 1];
	if (live_run_open(c->settings, session, argv[0], operands[0], &v, id) < 0)
		return 1;
	int status = 0;
	bool own = live_run_is_own(c->settings, session, id);
	if (client_ask(&v, CONTROL_SIGNAL, (uint32_t)sig, own, NULL, 0, NULL) < 0) {
		live_run_failed(c->settings, argv[0], id, errno);
		status = 1;
	} else if (sig == 0) {
		signal_wait_for_end(&v);
	}
	client_close(&v);
	return status;
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
	struct client v;
	char id[ID_LEN + 1];
	if (live_run_open(c->settings, session, argv[0], name, &v, id) < 0)
		return 1;
	struct buffer reply = BUFFER_INIT;
	int status = 1;
	if (client_ask(&v, CONTROL_PICTURE, svg != NULL, 0, NULL, 0, &reply) < 0)
		live_run_failed(c->settings, argv[0], id, errno);
	else if (svg && snapshot_draw(&reply, svg) < 0)
		verb_error(argv[0], "%s: %m", svg);
	else if (!svg && (json ? snapshot_print_json(&reply) : snapshot_print_text(&reply)) < 0)
		verb_error(argv[0], "%s: %m", id);
	else
		status = 0;
	buffer_release(&reply);
	client_close(&v);
	return status;
}

// terse send ID TEXT|--key KEY|--eof|--file FILE ... [--await]: types into a running command, and
// waits for its response.

/* Milliseconds between two tries while the supervisor's queue is full. */
#define AGAIN_MS 20

struct sender {
	const struct settings *settings;
	const char *verb;
	const char *session;
	char id[ID_LEN + 1];
	struct client client;
	bool awaits;
	struct typed typed;
	char **after; /* the arguments of `await`; the ID is the last one */
	int after_count;
};

static int send_ask(struct sender *s, enum control_kind kind, uint32_t a, const char *data,
		    size_t len)
{
	while (client_ask(&s->client, kind, a, 0, data, len, NULL) < 0) {
		if (errno != EAGAIN) {
			live_run_failed(s->settings, s->verb, s->id, errno);
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
		size_t n = len < CONTROL_REQUEST_DATA ? len : CONTROL_REQUEST_DATA;
		if (send_ask(s, CONTROL_TYPE, 0, data, n) < 0)
			return -1;
		data += n;
		len -= n;
	}
	return 0;
}

static int send_key(struct sender *s, const char *name)
{
	struct key_bytes key;
	if (key_parse(name, &key) < 0)
		return -1;
	if (s->awaits)
		buffer_append(&s->typed.text, key.data, 1);
	return send_ask(s, CONTROL_TYPE, key.cursor, key.data, key.len);
}

static int send_file(struct sender *s, const char *name)
{
	char data[CONTROL_REQUEST_DATA];
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
		verb_error(s->verb, "--file: %s: %m", name);
	if (!standard)
		io_close(&fd);
	return n == 0 ? 0 : -1;
}

static int send_bad_usage(const char *verb, const char *what, const char *why)
{
	verb_error(verb, "%s: %s (see terse help send)", what, why);
	return -1;
}

enum item_kind { ITEM_TEXT, ITEM_KEY, ITEM_FILE, ITEM_EOF };

/* One thing to type. */
struct item {
	enum item_kind kind;
	const char *value;
};

static const struct {
	const char *name;
	enum item_kind kind;
	bool takes; /* a value */
} options[] = {
	{"--key", ITEM_KEY, true},
	{"--file", ITEM_FILE, true},
	{"--eof", ITEM_EOF, false},
};

#define OPTIONS (sizeof(options) / sizeof(*options))

/* Options that are passed on to `await`. */
static bool send_is_for_await(const char *name)
{
	return strcmp(name, "--timeout") == 0 || strcmp(name, "--for") == 0 ||
	       strcmp(name, "--idle") == 0;
}

/* Reads the option at argv[*i] and its value. Returns 0, 1 if it types nothing, or -1 after saying
   what is wrong. */
static int send_read_option(struct sender *s, int argc, char **argv, int *i, struct item *item)
{
	const char *name = argv[*i];
	bool session = strcmp(name, "--session") == 0;
	if (strcmp(name, "--await") == 0) {
		s->awaits = true;
		return 1;
	}
	if (send_is_for_await(name)) {
		s->after[s->after_count++] = argv[*i];
		if (*i + 1 < argc)
			s->after[s->after_count++] = argv[++*i];
		return 1;
	}
	size_t at = 0;
	while (at < OPTIONS && strcmp(options[at].name, name) != 0)
		at++;
	if (at == OPTIONS && !session)
		return send_bad_usage(s->verb, name, "no such option");
	bool takes = session || options[at].takes;
	if (takes && *i + 1 >= argc)
		return send_bad_usage(s->verb, name, "needs a value");
	const char *value = takes ? argv[++*i] : "";
	if (session)
		s->session = value;
	else
		*item = (struct item){options[at].kind, value};
	struct key_bytes key;
	if (!session && options[at].kind == ITEM_KEY && key_parse(value, &key) < 0)
		return send_bad_usage(s->verb, value, "no such key");
	return session ? 1 : 0;
}

/* The ID and the things to type, in their order. `items` has room for argc of them. Returns how
   many, or -1 after saying what is wrong. */
static int send_parse(struct sender *s, int argc, char **argv, const char **name,
		      struct item *items)
{
	int count = 0;
	bool text_only = false;
	for (int i = 1; i < argc; i++) {
		bool is_option = !text_only && argv[i][0] == '-' && argv[i][1];
		if (is_option && strcmp(argv[i], "--") == 0) {
			text_only = true;
		} else if (is_option) {
			int used = send_read_option(s, argc, argv, &i, &items[count]);
			if (used < 0)
				return -1;
			count += used == 0;
		} else if (!*name) {
			*name = argv[i];
		} else {
			items[count++] = (struct item){ITEM_TEXT, argv[i]};
		}
	}
	return count;
}

/* Notes where the text ends before anything is typed. */
static int send_mark(struct sender *s)
{
	struct client reader;
	struct live_status now = {.bytes = 0};
	struct buffer json = BUFFER_INIT;
	if (live_run_open(s->settings, s->session, s->verb, s->id, &reader, s->id) < 0)
		return -1;
	int result = client_ask(&reader, CONTROL_WATCH, 0, 0, NULL, 0, &json);
	if (result == 0)
		result = live_status_parse(json.data ? json.data : "", json.len, &now);
	if (result < 0)
		live_run_failed(s->settings, s->verb, s->id, errno);
	s->typed.from = now.bytes;
	client_close(&reader);
	buffer_release(&json);
	return result;
}

static int send_item(struct sender *s, const struct item *item)
{
	switch (item->kind) {
	case ITEM_KEY: return send_key(s, item->value);
	case ITEM_FILE: return send_file(s, item->value);
	case ITEM_EOF: return send_ask(s, CONTROL_CLOSE, 0, NULL, 0);
	default: return send_text(s, item->value, strlen(item->value));
	}
}

int command_send(struct command_context *c, int argc, char **argv)
{
	struct sender s = {.settings = c->settings, .verb = argv[0], .client = {.fd = -1}};
	const char *name = NULL;
	int status = EXIT_TERSE;
	struct item *items = calloc((size_t)argc, sizeof(*items));
	s.after = calloc((size_t)argc + 5, sizeof(*s.after));
	int count = -1;
	if (items && s.after) {
		s.after[s.after_count++] = (char *)"await";
		count = send_parse(&s, argc, argv, &name, items);
	} else {
		verb_error(argv[0], "%m");
	}
	if (count > 0 && s.after_count > 1 && !s.awaits)
		count = send_bad_usage(argv[0], s.after[1], "needs --await");
	if (count == 0 || (count > 0 && !name))
		verb_error(argv[0], "usage: terse send ID TEXT --key enter (see terse help send)");
	if (count <= 0 || !name)
		goto out;
	status = 1;
	if (live_run_open(c->settings, s.session, argv[0], name, &s.client, s.id) < 0)
		goto out;
	status = s.awaits && send_mark(&s) < 0;
	for (int i = 0; i < count && status == 0; i++)
		status = send_item(&s, &items[i]) < 0;
	client_close(&s.client);
	if (status == 0 && s.awaits) {
		if (s.session) {
			s.after[s.after_count++] = (char *)"--session";
			s.after[s.after_count++] = (char *)s.session;
		}
		s.after[s.after_count++] = s.id;
		status = await_typed(c, s.after_count, s.after,
				     buffer_check(&s.typed.text) == 0 ? &s.typed : NULL);
	}
out:
	client_close(&s.client);
	buffer_release(&s.typed.text);
	free(s.after);
	free(items);
	return status;
}
