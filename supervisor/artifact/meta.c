// See meta.h.

#include "supervisor/artifact/meta.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "lib/utf8.h"
#include "supervisor/artifact/removal.h"
#include "supervisor/artifact/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Arguments of at most 128 KB: escaped six-fold they still are under META_MAX. */
#define COMMAND_BUDGET (128 * 1024)

/* Bytes of the names of an agent and of a profile that are kept. */
#define NAME_SHOWN ((size_t)24)

/* Each argument also takes two quotes and a comma. */
#define ARGUMENT_EXTRA 3

/* Overwrites the file, which needs no room on a full disk as long as the text fits into its blocks.
   A reader may see a mixture for a moment. */
static int overwrite(int dir, const char *name, const struct buffer *text)
{
	struct stat st;
	int result = -1, fd = store_open_file(dir, name, O_WRONLY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 >= text->len)
		result = io_write_at(fd, text->data, text->len, 0);
	else
		errno = ENOSPC;
	if (result == 0)
		result = ftruncate(fd, (off_t)text->len);
	io_close(&fd);
	return result;
}

static int meta_replace(int dir, const char *name, const struct buffer *text)
{
	char temporary[ID_LEN + 7];
	snprintf(temporary, sizeof(temporary), ".%s", name);
	int fd = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0 && errno == EEXIST && unlinkat(dir, temporary, 0) == 0)
		fd = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return -1;
	bool written = io_write(fd, text->data, text->len) == 0;
	int result = written ? renameat(dir, temporary, dir, name) : -1;
	if (result < 0) {
		int saved = errno;
		unlinkat(dir, temporary, 0);
		errno = saved;
	}
	io_close(&fd);
	return result;
}

struct gaps meta_gaps(const struct meta_stream *s)
{
	struct gaps gaps = {.count = 0};
	if (s->gap_from)
		gaps.items[gaps.count++] =
			(struct gap){.from = s->gap_from, .to = s->gap_to, .bytes = s->gap_bytes};
	if (s->lost_from)
		gaps.items[gaps.count++] = (struct gap){.from = s->lost_from,
							.to = s->lines,
							.bytes = s->lost_bytes,
							.error = s->error};
	return gaps;
}

struct gaps meta_raw_gaps(const struct meta *m)
{
	return (struct gaps){.items = {{.bytes = m->raw_lost, .error = m->raw_error}},
			     .count = m->raw_lost > 0};
}

int meta_write(int dir, const struct meta *m)
{
	char name[ID_LEN + 6];
	snprintf(name, sizeof(name), "%s.json", m->id);
	struct buffer text = BUFFER_INIT;
	bool encoded = meta_encode(&text, m, COMMAND_BUDGET) == 0;
	int result = encoded ? meta_replace(dir, name, &text) : -1, error = errno;
	/* Writing in place may work where that failed. */
	if (encoded && result < 0) {
		result = overwrite(dir, name, &text);
		errno = error;
	}
	buffer_release(&text);
	return result;
}

int meta_append_history(int dir, const struct meta *m)
{
	struct buffer line = BUFFER_INIT;
	/* The length that escaping adds is known only afterwards. */
	for (size_t budget = META_HISTORY_MAX;; budget /= 2) {
		buffer_clear(&line);
		meta_encode(&line, m, budget);
		buffer_append(&line, "\n", 1);
		if (line.len <= META_HISTORY_MAX || budget == 0)
			break;
	}
	int result = buffer_check(&line);
	if (result == 0)
		result = journal_append(dir, META_HISTORY, line.data, line.len);
	buffer_release(&line);
	return result;
}

/* The start time in a history line, or -1. The key can stand nowhere else in it, since quotes in
   strings are escaped. */
static int64_t started_in(const char *line, size_t len)
{
	static const char key[] = "\"started_ms\":";
	const char *at = memmem(line, len, key, sizeof(key) - 1);
	char digits[24];
	if (!at)
		return -1;
	at += sizeof(key) - 1;
	size_t left = (size_t)(line + len - at);
	snprintf(digits, sizeof(digits), "%.*s", (int)(left < 20 ? left : 20), at);
	return strtoll(digits, NULL, 10);
}

struct span_of_time {
	int64_t from_ms, to_ms;
};

static size_t keep_others(void *ctx, const char *line, size_t len)
{
	const struct span_of_time *span = ctx;
	int64_t started = started_in(line, len);
	return started >= span->from_ms && started < span->to_ms ? 0 : len;
}

long meta_forget_history(int dir, int64_t from_ms, int64_t to_ms)
{
	struct span_of_time span = {from_ms, to_ms};
	journal_filter(dir, USAGE_READS, keep_others, &span);
	return journal_filter(dir, META_HISTORY, keep_others, &span);
}

int64_t meta_first_in_history(int dir)
{
	char line[META_HISTORY_MAX];
	int fd = store_open_file(dir, META_HISTORY, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : io_read_at(fd, line, sizeof(line), 0);
	io_close(&fd);
	const char *newline = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
	return newline ? started_in(line, (size_t)(newline - line)) : -1;
}

bool meta_is_held(int text_fd)
{
	if (flock(text_fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(text_fd, LOCK_UN);
	return false;
}

static int read_json(int dir, const char *id, struct meta *m)
{
	char *text = NULL;
	struct stat st;
	int result = -1;
	*m = (struct meta){0};
	int fd = id_open_file(dir, id, ".json", O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		goto out;
	errno = EBADMSG;
	if (st.st_size > META_MAX)
		goto out;
	text = malloc((size_t)st.st_size + 1);
	ssize_t n = text ? io_read(fd, text, (size_t)st.st_size) : -1;
	if (n < 0 || meta_parse(text, (size_t)n, m) < 0)
		goto out;
	if (strcmp(m->id, id) != 0) {
		meta_release(m);
		errno = EBADMSG;
		goto out;
	}
	result = 0;
out:
	free(text);
	io_close(&fd);
	return result;
}

/* Sizes that the metadata of an unfinished run can't know. */
static void update_stream(int dir, const char *id, const char *suffix, struct meta_stream *s)
{
	char name[ID_LEN + 9];
	struct stat st;
	snprintf(name, sizeof(name), "%s%s", id, suffix);
	if (s->error || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	s->present = true;
	s->bytes = (uint64_t)st.st_size;
	s->lines = 0;
}

/* The run ended when its text was last written. */
static void interrupt(struct meta *m, int fd)
{
	struct stat st;
	m->state = META_INTERRUPTED;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	m->ended_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	if (m->ended_ms > m->started_ms)
		m->duration_ms = m->ended_ms - m->started_ms;
}

int meta_read(int dir, const char *id, struct meta *m)
{
	if (read_json(dir, id, m) < 0)
		return -1;
	if (m->state != META_RUNNING)
		return 0;
	int fd = id_open_file(dir, id, ".txt", O_RDONLY);
	bool was_running = true;
	if (fd < 0 || !meta_is_held(fd)) {
		/* The supervisor is gone. It may have finished between the two looks. */
		struct meta again;
		if (read_json(dir, id, &again) == 0) {
			meta_release(m);
			*m = again;
		}
		was_running = m->state == META_RUNNING;
		if (was_running)
			interrupt(m, fd);
	}
	io_close(&fd);
	if (was_running) {
		update_stream(dir, id, ".txt", &m->out);
		update_stream(dir, id, ".err.txt", &m->err);
	}
	return 0;
}

void meta_release(struct meta *m)
{
	free(m->owned);
	*m = (struct meta){0};
}

#define VERSION 1

#define STATES       3
#define STDERR_MODES 3

static const char *const state_names[STATES] = {
	[META_RUNNING] = "running", [META_DONE] = "done", [META_INTERRUPTED] = "interrupted"};

static const char *const stderr_names[STDERR_MODES] = {[META_STDERR_MERGED] = "merged",
						       [META_STDERR_APART] = "apart",
						       [META_STDERR_ELSEWHERE] = "elsewhere"};

bool meta_has_failed(const struct meta *m)
{
	return m->state != META_DONE || m->exit_code != 0;
}

const char *meta_state_name(enum meta_state state)
{
	return state_names[state];
}

/* A string of at most `budget` bytes of `text`. */
static void meta_json_add_string(struct buffer *out, const char *key, const char *text,
				 size_t budget)
{
	size_t len = strlen(text);
	json_add_text(out, key, text, len > budget ? utf8_floor(text, len, budget) : len);
}

static void meta_json_add_stream(struct buffer *out, const char *key, const struct meta_stream *s)
{
	if (!s->present)
		return;
	json_begin_object(out, key);
	json_add_count(out, "bytes", s->bytes);
	json_add_count(out, "lines", s->lines);
	if (s->gap_from) {
		json_begin_object(out, "gap");
		json_add_count(out, "from", s->gap_from);
		json_add_count(out, "to", s->gap_to);
		json_add_count(out, "offset", s->gap_offset);
		json_add_count(out, "bytes", s->gap_bytes);
		json_end_object(out);
	}
	if (s->error)
		json_add_number(out, "error", s->error);
	if (s->lost_from) {
		json_begin_object(out, "lost");
		json_add_count(out, "from", s->lost_from);
		json_add_count(out, "bytes", s->lost_bytes);
		json_end_object(out);
	}
	json_end_object(out);
}

static void meta_json_add_holders(struct buffer *out, const struct meta *m)
{
	if (m->holders == 0)
		return;
	json_begin_array(out, "held_by");
	for (int i = 0; i < m->holders; i++) {
		json_begin_object(out, NULL);
		json_add_number(out, "pid", m->held_by[i].pid);
		meta_json_add_string(out, "name", m->held_by[i].name, sizeof(m->held_by[i].name));
		json_end_object(out);
	}
	json_end_array(out);
}

/* How the command was started and has ended. */
static void meta_json_add_run(struct buffer *out, const struct meta *m, size_t budget)
{
	bool cut = json_add_command(out, "command", m->argv, budget, ARGUMENT_EXTRA);
	if (cut || m->cut)
		json_add_bool(out, "command_cut", true);
	meta_json_add_string(out, "cwd", m->cwd ? m->cwd : "", budget / 4);
	json_add_string(out, "state", state_names[m->state]);
	json_add_number(out, "started_ms", m->started_ms);
	json_add_number(out, "ended_ms", m->ended_ms);
	json_add_number(out, "duration_ms", m->duration_ms);
	json_add_known(out, "exit_code", m->exit_code >= 0, (uint64_t)m->exit_code);
	json_add_known(out, "signal", m->signal > 0, (uint64_t)m->signal);
	json_add_bool(out, "timed_out", m->timed_out);
	json_add_bool(out, "binary", m->binary);
	json_add_count(out, "cols", m->cols);
	json_add_count(out, "rows", m->rows);
	json_add_number(out, "supervisor", m->supervisor);
	json_add_number(out, "command_pid", m->command);
}

static void meta_json_add_shown(struct buffer *out, const struct meta *m)
{
	const uint64_t shown[] = {m->shown.bytes, m->shown.tokens, m->shown.text, m->shown.own};
	if (m->shown.bytes) {
		json_begin_array(out, "shown");
		for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
			json_add_count(out, NULL, shown[i]);
		json_end_array(out);
	}
	if (m->agent)
		meta_json_add_string(out, "agent", m->agent, NAME_SHOWN);
	if (m->profile)
		meta_json_add_string(out, "profile", m->profile, NAME_SHOWN);
}

static const char *const file_keys[2] = {"stdout_file", "stderr_file"};

void meta_add_files(struct buffer *out, const struct meta *m, size_t budget)
{
	for (int i = 0; i < 2; i++) {
		if (m->files[i])
			meta_json_add_string(out, file_keys[i], m->files[i], budget);
	}
}

int meta_encode(struct buffer *out, const struct meta *m, size_t budget)
{
	json_begin_object(out, NULL);
	json_add_count(out, "version", VERSION);
	json_add_string(out, "id", m->id);
	meta_json_add_string(out, "session", m->session ? m->session : "", NAME_MAX);
	meta_json_add_run(out, m, budget);
	if (m->standard_error)
		json_add_string(out, "streams", stderr_names[m->standard_error]);
	meta_add_files(out, m, budget / 4);
	if (m->unkept)
		json_add_bool(out, "unkept", true);
	if (m->reported)
		json_add_count(out, "told", m->reported);
	if (m->wanted)
		json_add_bool(out, "wanted", true);
	meta_json_add_stream(out, "stdout", &m->out);
	meta_json_add_stream(out, "stderr", &m->err);
	meta_json_add_shown(out, m);
	meta_json_add_holders(out, m);
	if (m->raw_lost) {
		json_add_count(out, "raw_lost", m->raw_lost);
		json_add_number(out, "raw_error", m->raw_error);
	}
	json_add_count(out, "raw_bytes", m->raw_bytes);
	json_end_object(out);
	return buffer_check(out);
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

static bool meta_json_get_bool(struct reader *r, const char *key)
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
	struct reader lost = {.object = json_object_get(in.object, "lost")};
	if (lost.object) {
		s->lost_from = get_count(&lost, "from");
		s->lost_bytes = get_count(&lost, "bytes");
		lost.bad |= s->lost_from > s->lines || !json_is_object(lost.object);
	}
	r->bad |= in.bad || gap.bad || lost.bad || !json_is_object(in.object);
}

static void get_holders(struct reader *r, struct meta *m)
{
	const json_t *list = json_object_get(r->object, "held_by"), *one;
	size_t i;
	r->bad |= list && !json_is_array(list);
	json_array_foreach(list, i, one)
	{
		struct reader in = {.object = one, .bad = !json_is_object(one)};
		if (m->holders == META_HOLDERS)
			break;
		struct meta_holder *h = &m->held_by[m->holders++];
		h->pid = (pid_t)get_integer(&in, "pid", 1, INT_MAX, 0);
		snprintf(h->name, sizeof(h->name), "%s", get_string(&in, "name"));
		r->bad |= in.bad;
	}
}

/* The place in `names` of a string's value; 0 for one that is not there. */
static unsigned get_name(struct reader *r, const char *key, const char *const *names,
			 unsigned count, bool required)
{
	const char *value = get_string(r, key);
	for (unsigned i = 0; i < count; i++) {
		if (strcmp(value, names[i]) == 0)
			return i;
	}
	r->bad |= required || *value;
	return 0;
}

/* Copies the strings into one block: the argument vector, then the texts. */
static int get_strings(struct reader *r, struct meta *m)
{
	const json_t *command = json_object_get(r->object, "command"), *argument;
	const struct {
		const char **to, *text;
	} texts[] = {
		{&m->cwd, get_string(r, "cwd")},
		{&m->session, get_string(r, "session")},
		{&m->agent, get_string(r, "agent")},
		{&m->files[0], get_string(r, file_keys[0])},
		{&m->files[1], get_string(r, file_keys[1])},
	};
	const size_t text_count = sizeof(texts) / sizeof(*texts);
	size_t i, count = json_array_size(command), size = (count + 1) * sizeof(char *);
	r->bad |= command && !json_is_array(command);
	json_array_foreach(command, i, argument)
	{
		if (json_is_string(argument))
			size += json_string_length(argument) + 1;
		else
			r->bad = true;
	}
	for (i = 0; i < text_count; i++)
		size += strlen(texts[i].text) + 1;
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
		m->argv[i] = to;
		to = stpcpy(to, json_string_value(argument)) + 1;
	}
	m->argv[count] = NULL;
	for (i = 0; i < text_count; i++) {
		*texts[i].to = to;
		to = stpcpy(to, texts[i].text) + 1;
	}
	for (i = 0; i < 2; i++) {
		if (!*m->files[i])
			m->files[i] = NULL;
	}
	if (!*m->agent)
		m->agent = NULL;
	return 0;
}

int meta_parse(const char *data, size_t len, struct meta *m)
{
	*m = (struct meta){0};
	json_error_t error;
	json_t *root = json_read(data, len, 0, &error);
	/* jansson describes an error in the text, but rarely a lack of memory. */
	if (!root && *error.text == '\0') {
		errno = ENOMEM;
		return -1;
	}
	struct reader r = {.object = root, .bad = !json_is_object(root)};
	const char *id = get_string(&r, "id");
	if (id_is_valid(id) || !*id)
		memcpy(m->id, id, strlen(id) + 1);
	else
		r.bad = true;
	m->state = get_name(&r, "state", state_names, STATES, true);
	m->started_ms = get_integer(&r, "started_ms", 0, INT64_MAX, 0);
	m->ended_ms = get_integer(&r, "ended_ms", 0, INT64_MAX, 0);
	m->duration_ms = get_integer(&r, "duration_ms", 0, INT64_MAX, 0);
	m->exit_code = (int)get_integer(&r, "exit_code", 0, 255, -1);
	m->signal = (int)get_integer(&r, "signal", 0, 127, 0);
	m->timed_out = meta_json_get_bool(&r, "timed_out");
	m->binary = meta_json_get_bool(&r, "binary");
	m->cut = meta_json_get_bool(&r, "command_cut");
	m->unkept = meta_json_get_bool(&r, "unkept");
	m->standard_error = get_name(&r, "streams", stderr_names, STDERR_MODES, false);
	m->cols = (unsigned)get_integer(&r, "cols", 0, INT_MAX, 0);
	m->rows = (unsigned)get_integer(&r, "rows", 0, INT_MAX, 0);
	m->supervisor = (pid_t)get_integer(&r, "supervisor", 0, INT_MAX, 0);
	m->command = (pid_t)get_integer(&r, "command_pid", 0, INT_MAX, 0);
	m->reported = get_count(&r, "told");
	m->wanted = meta_json_get_bool(&r, "wanted");
	m->raw_bytes = get_count(&r, "raw_bytes");
	m->raw_lost = get_count(&r, "raw_lost");
	m->raw_error = (int)get_integer(&r, "raw_error", 0, 4095, 0);
	get_stream(&r, "stdout", &m->out);
	get_stream(&r, "stderr", &m->err);
	get_holders(&r, m);
	int result = get_strings(&r, m);
	json_decref(root);
	return result;
}
