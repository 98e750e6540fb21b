// See live_status.h.

#include "supervisor/process/live_status.h"

#include "lib/buffer.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "lib/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>

static const char *const state_names[] = {[LIVE_RUNNING] = "running",
					  [LIVE_WAITING] = "waiting",
					  [LIVE_STOPPED] = "stopped",
					  [LIVE_ENDED] = "ended"};

const char *live_status_state_name(enum live_status_state state)
{
	return state_names[state];
}

void live_status_set_text(char out[LIVE_TEXT], const char *text, size_t len)
{
	size_t n = utf8_floor(text, len, len < LIVE_TEXT ? len : LIVE_TEXT - 1);
	memcpy(out, text, n);
	out[n] = '\0';
}

void live_status_set_argv(struct live_status *c, char *const *argv)
{
	for (c->argv_len = 0; argv && *argv; argv++) {
		size_t room = LIVE_ARGV - c->argv_len, len = strlen(*argv) + 1;
		if (len > room) {
			/* The start of a long word. */
			len = room > 1 ? utf8_floor(*argv, len - 1, room - 1) : 0;
			memcpy(c->argv + c->argv_len, *argv, len);
			c->argv_len += len;
			c->argv_cut = true;
			if (len > 0)
				c->argv[c->argv_len++] = '\0';
			return;
		}
		memcpy(c->argv + c->argv_len, *argv, len);
		c->argv_len += len;
	}
}

/* Arguments may hold any bytes: invalid UTF-8 becomes U+FFFD. */
static void live_status_add_argv(struct buffer *out, const struct live_status *c)
{
	struct buffer clean = BUFFER_INIT;
	json_begin_array(out, "argv");
	for (size_t i = 0; i < c->argv_len; i += strlen(c->argv + i) + 1) {
		buffer_clear(&clean);
		utf8_clean(&clean, c->argv + i, strlen(c->argv + i));
		out->failed |= clean.failed;
		json_add_text(out, NULL, clean.data, clean.len);
	}
	json_end_array(out);
	buffer_release(&clean);
}

static void live_status_parse_argv(const json_t *list, struct live_status *c)
{
	char *argv[LIVE_ARGV / 2 + 1] = {NULL};
	size_t count = json_array_size(list), most = sizeof(argv) / sizeof(*argv) - 1;
	for (size_t i = 0; i < count && i < most; i++) {
		const char *word = json_string_value(json_array_get(list, i));
		argv[i] = (char *)(word ? word : "");
	}
	live_status_set_argv(c, argv);
}

int live_status_encode(struct buffer *out, const struct live_status *c)
{
	json_begin_object(out, NULL);
	json_add_string(out, "id", c->id);
	json_add_string(out, "state", state_names[c->state]);
	json_add_string(out, "prompt", c->prompt);
	json_add_bool(out, "screen", c->screen);
	json_add_number(out, "pid", c->pid);
	json_add_number(out, "elapsed_ms", c->elapsed_ms);
	json_add_number(out, "quiet_ms", c->quiet_ms);
	json_add_count(out, "lines", c->lines);
	json_add_count(out, "bytes", c->bytes);
	json_add_count(out, "settled", c->settled);
	json_add_count(out, "told", c->reported);
	json_add_count(out, "cols", c->cols);
	json_add_count(out, "rows", c->rows);
	json_add_bool(out, "terminal", c->terminal);
	json_add_number(out, "attached", c->attached);
	json_add_number(out, "exit_code", c->exit_code);
	json_add_number(out, "signal", c->signal);
	json_add_bool(out, "timed_out", c->timed_out);
	json_add_string(out, "last_line", c->last_line);
	live_status_add_argv(out, c);
	json_add_bool(out, "argv_cut", c->argv_cut);
	json_end_object(out);
	return buffer_check(out);
}

static json_int_t live_status_get_number(const json_t *root, const char *key, json_int_t min,
					 json_int_t max, bool *bad)
{
	const json_t *v = json_object_get(root, key);
	json_int_t n = json_integer_value(v);
	if (!json_is_integer(v) || n < min || n > max) {
		*bad = true;
		return min;
	}
	return n;
}

static bool live_status_get_bool(const json_t *root, const char *key)
{
	return json_is_true(json_object_get(root, key));
}

static void live_status_get_text(const json_t *root, const char *key, char out[LIVE_TEXT],
				 bool *bad)
{
	const json_t *v = json_object_get(root, key);
	if (json_is_string(v))
		live_status_set_text(out, json_string_value(v), json_string_length(v));
	else
		*bad = true;
}

static enum live_status_state live_status_get_state(const json_t *root, bool *bad)
{
	const char *name = json_string_value(json_object_get(root, "state"));
	for (size_t i = 0; name && i < sizeof(state_names) / sizeof(*state_names); i++) {
		if (strcmp(name, state_names[i]) == 0)
			return (enum live_status_state)i;
	}
	*bad = true;
	return LIVE_RUNNING;
}

int live_status_parse(const char *json, size_t len, struct live_status *c)
{
	json_t *root = json_read(json, len, 0, NULL);
	bool bad = !json_is_object(root);
	const char *id = json_string_value(json_object_get(root, "id"));
	*c = (struct live_status){0};
	if (id && id_is_valid(id))
		memcpy(c->id, id, sizeof(c->id));
	else
		bad = true;
	c->state = live_status_get_state(root, &bad);
	live_status_get_text(root, "prompt", c->prompt, &bad);
	c->screen = live_status_get_bool(root, "screen");
	c->pid = (pid_t)live_status_get_number(root, "pid", 0, INT_MAX, &bad);
	c->elapsed_ms = live_status_get_number(root, "elapsed_ms", 0, INT64_MAX, &bad);
	c->quiet_ms = live_status_get_number(root, "quiet_ms", 0, INT64_MAX, &bad);
	c->lines = (uint64_t)live_status_get_number(root, "lines", 0, INT64_MAX, &bad);
	c->bytes = (uint64_t)live_status_get_number(root, "bytes", 0, INT64_MAX, &bad);
	c->settled = (uint64_t)live_status_get_number(root, "settled", 0, INT64_MAX, &bad);
	c->reported = (uint64_t)live_status_get_number(root, "told", 0, INT64_MAX, &bad);
	c->cols = (unsigned)live_status_get_number(root, "cols", 0, 65535, &bad);
	c->rows = (unsigned)live_status_get_number(root, "rows", 0, 65535, &bad);
	c->terminal = live_status_get_bool(root, "terminal");
	c->attached = (int)live_status_get_number(root, "attached", 0, INT_MAX, &bad);
	c->exit_code = (int)live_status_get_number(root, "exit_code", -1, 255, &bad);
	c->signal = (int)live_status_get_number(root, "signal", 0, 127, &bad);
	c->timed_out = live_status_get_bool(root, "timed_out");
	live_status_get_text(root, "last_line", c->last_line, &bad);
	live_status_parse_argv(json_object_get(root, "argv"), c);
	c->argv_cut |= live_status_get_bool(root, "argv_cut");
	json_decref(root);
	errno = bad ? EPROTO : 0;
	return bad ? -1 : 0;
}
