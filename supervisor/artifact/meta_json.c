// See meta_json.h.

#include "supervisor/artifact/meta_json.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

static const char *const state_names[] = {
	[META_RUNNING] = "running", [META_DONE] = "done", [META_INTERRUPTED] = "interrupted"};

#define STATE_COUNT (sizeof(state_names) / sizeof(*state_names))

/* A string of at most `budget` bytes of `text`; *cut is set when that was not all. */
static json_t *make_string(const char *text, size_t budget, bool *cut)
{
	size_t len = strlen(text);
	if (len > budget) {
		len = utf8_floor(text, len, budget);
		*cut = true;
	}
	json_t *string = json_stringn(text, len);
	if (string)
		return string;
	/* Not UTF-8 (or no memory, then this fails too). */
	struct buffer fixed = BUFFER_INIT;
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		char encoded[4];
		i += utf8_decode(text + i, len - i, &cp);
		if (buffer_append(&fixed, encoded, utf8_put(cp, encoded)) < 0)
			goto out;
	}
	string = json_stringn(fixed.data, fixed.len);
out:
	buffer_release(&fixed);
	return string;
}

static json_t *make_command(char *const *argv, size_t budget, bool *cut)
{
	json_t *command = json_array();
	for (; command && argv && *argv; argv++) {
		if (*cut) /* by the argument before */
			break;
		size_t len = strlen(*argv);
		if (json_array_append_new(command, make_string(*argv, budget, cut)) < 0) {
			json_decref(command);
			return NULL;
		}
		/* Each argument also takes two quotes and a comma. */
		size_t used = len + 3;
		if (used >= budget && argv[1])
			*cut = true;
		budget -= used < budget ? used : budget;
	}
	return command;
}

static json_t *make_stream(const struct meta_stream *s)
{
	json_t *stream = json_pack("{s:I, s:I}", "bytes", (json_int_t)s->bytes, "lines",
				   (json_int_t)s->lines);
	int bad = 0;
	if (stream && s->gap_from)
		bad |= json_object_set_new(
			stream, "gap",
			json_pack("{s:I, s:I, s:I, s:I}", "from", (json_int_t)s->gap_from, "to",
				  (json_int_t)s->gap_to, "offset", (json_int_t)s->gap_offset,
				  "bytes", (json_int_t)s->gap_bytes));
	if (stream && s->error)
		bad |= json_object_set_new(stream, "error", json_integer(s->error));
	if (bad) {
		json_decref(stream);
		return NULL;
	}
	return stream;
}

char *meta_encode(const struct meta *m, size_t budget)
{
	bool cut = m->cut, cwd_cut = false;
	json_t *root = json_object();
	char *text = NULL;
	int bad = !root;
	const struct {
		const char *key;
		json_t *value;
		bool optional;
	} fields[] = {
		{"version", json_integer(VERSION), false},
		{"id", json_string(m->id), false},
		{"session", make_string(m->session ? m->session : "", NAME_MAX, &cwd_cut), false},
		{"command", make_command(m->argv, budget, &cut), false},
		{"command_cut", cut ? json_true() : NULL, true},
		{"cwd", make_string(m->cwd ? m->cwd : "", budget / 4, &cwd_cut), false},
		{"state", json_string(state_names[m->state]), false},
		{"started_ms", json_integer(m->started_ms), false},
		{"ended_ms", json_integer(m->ended_ms), false},
		{"duration_ms", json_integer(m->duration_ms), false},
		{"exit_code", m->exit_code < 0 ? json_null() : json_integer(m->exit_code), false},
		{"signal", m->signal ? json_integer(m->signal) : json_null(), false},
		{"timed_out", json_boolean(m->timed_out), false},
		{"binary", json_boolean(m->binary), false},
		{"cols", json_integer(m->cols), false},
		{"rows", json_integer(m->rows), false},
		{"keeper", json_integer(m->keeper), false},
		{"command_pid", json_integer(m->command), false},
		{"stdout", m->out.present ? make_stream(&m->out) : NULL, true},
		{"stderr", m->err.present ? make_stream(&m->err) : NULL, true},
		{"raw_bytes", json_integer((json_int_t)m->raw_bytes), false},
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		/* Takes the value over, also when it fails. */
		if (fields[i].value || !fields[i].optional)
			bad |= json_object_set_new(root, fields[i].key, fields[i].value);
	}
	if (!bad)
		text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	if (!text)
		errno = ENOMEM;
	return text;
}

/* The reading side: a field that is missing keeps its preset, one of the wrong kind or
   out of range makes the whole damaged. */
struct reader {
	const json_t *object;
	bool bad;
};

static json_int_t get_integer(struct reader *r, const char *key, json_int_t min, json_int_t max,
			      json_int_t preset)
{
	const json_t *v = json_object_get(r->object, key);
	if (!v || json_is_null(v))
		return preset;
	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max) {
		r->bad = true;
		return preset;
	}
	return json_integer_value(v);
}

static uint64_t get_count(struct reader *r, const char *key)
{
	return (uint64_t)get_integer(r, key, 0, INT64_MAX, 0);
}

static bool get_bool(struct reader *r, const char *key)
{
	const json_t *v = json_object_get(r->object, key);
	r->bad |= v && !json_is_boolean(v);
	return json_is_true(v);
}

static const char *get_string(struct reader *r, const char *key)
{
	const json_t *v = json_object_get(r->object, key);
	r->bad |= v && !json_is_string(v);
	return json_is_string(v) ? json_string_value(v) : "";
}

static void get_stream(struct reader *r, const char *key, struct meta_stream *s)
{
	struct reader in = {.object = json_object_get(r->object, key)};
	if (!in.object)
		return;
	s->present = true;
	s->bytes = get_count(&in, "bytes");
	s->lines = get_count(&in, "lines");
	s->error = (int)get_integer(&in, "error", 0, 4095, 0);
	struct reader gap = {.object = json_object_get(in.object, "gap")};
	if (gap.object) {
		s->gap_from = get_count(&gap, "from");
		s->gap_to = get_count(&gap, "to");
		s->gap_offset = get_count(&gap, "offset");
		s->gap_bytes = get_count(&gap, "bytes");
		gap.bad |= s->gap_from == 0 || s->gap_to < s->gap_from ||
			   s->gap_bytes > INT64_MAX - s->gap_offset || !json_is_object(gap.object);
	}
	r->bad |= in.bad || gap.bad || !json_is_object(in.object);
}

static enum meta_state get_state(struct reader *r)
{
	const char *name = get_string(r, "state");
	for (size_t i = 0; i < STATE_COUNT; i++) {
		if (strcmp(name, state_names[i]) == 0)
			return (enum meta_state)i;
	}
	r->bad = true;
	return META_RUNNING;
}

static char *copy_string(char **to, const char *text)
{
	char *at = *to;
	size_t size = strlen(text) + 1;
	memcpy(at, text, size);
	*to += size;
	return at;
}

/* Copies the strings into one block: the argument vector, then the texts. */
static int get_strings(struct reader *r, struct meta *m)
{
	const json_t *command = json_object_get(r->object, "command"), *argument;
	const char *cwd = get_string(r, "cwd"), *session = get_string(r, "session");
	size_t i, count = json_array_size(command);
	size_t size = (count + 1) * sizeof(char *) + strlen(cwd) + strlen(session) + 2;
	r->bad |= command && !json_is_array(command);
	json_array_foreach(command, i, argument)
	{
		if (json_is_string(argument))
			size += json_string_length(argument) + 1;
		else
			r->bad = true;
	}
	if (r->bad) {
		errno = EBADMSG;
		return -1;
	}
	m->owned = malloc(size);
	if (!m->owned)
		return -1;
	m->argv = m->owned;
	char *to = (char *)(m->argv + count + 1);
	json_array_foreach(command, i, argument)
	{
		m->argv[i] = copy_string(&to, json_string_value(argument));
	}
	m->argv[count] = NULL;
	m->cwd = copy_string(&to, cwd);
	m->session = copy_string(&to, session);
	return 0;
}

int meta_parse(const char *data, size_t len, struct meta *m)
{
	*m = (struct meta){0};
	json_t *root = json_loadb(data, len, 0, NULL);
	struct reader r = {.object = root, .bad = !json_is_object(root)};
	const char *id = get_string(&r, "id");
	if (id_is_valid(id) || !*id)
		memcpy(m->id, id, strlen(id) + 1);
	else
		r.bad = true;
	m->state = get_state(&r);
	m->started_ms = get_integer(&r, "started_ms", 0, INT64_MAX, 0);
	m->ended_ms = get_integer(&r, "ended_ms", 0, INT64_MAX, 0);
	m->duration_ms = get_integer(&r, "duration_ms", 0, INT64_MAX, 0);
	m->exit_code = (int)get_integer(&r, "exit_code", 0, 255, -1);
	m->signal = (int)get_integer(&r, "signal", 0, 127, 0);
	m->timed_out = get_bool(&r, "timed_out");
	m->binary = get_bool(&r, "binary");
	m->cut = get_bool(&r, "command_cut");
	m->cols = (unsigned)get_integer(&r, "cols", 0, INT_MAX, 0);
	m->rows = (unsigned)get_integer(&r, "rows", 0, INT_MAX, 0);
	m->keeper = (pid_t)get_integer(&r, "keeper", 0, INT_MAX, 0);
	m->command = (pid_t)get_integer(&r, "command_pid", 0, INT_MAX, 0);
	m->raw_bytes = get_count(&r, "raw_bytes");
	get_stream(&r, "stdout", &m->out);
	get_stream(&r, "stderr", &m->err);
	int result = get_strings(&r, m);
	json_decref(root);
	return result;
}
