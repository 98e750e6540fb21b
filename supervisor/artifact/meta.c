// See meta.h.

#include "supervisor/artifact/meta.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/members.h"
#include "lib/utf8.h"
#include "supervisor/artifact/short.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each argument takes two quotes and a comma besides its bytes. */
#define ARGUMENT_EXTRA 3

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
	char name[ID_FILE_NAME], temporary[ID_FILE_NAME];
	struct buffer text = BUFFER_INIT;
	struct stat st;
	int result = -1, error;
	id_file_name("", m->id, ARTIFACT_JSON, name);
	id_file_name(".", m->id, ARTIFACT_JSON, temporary);
	/* Tries again if there is no memory, so that a run's end is not lost. */
	for (int tries = 0; (result = meta_encode(&text, m, META_COMMAND)) < 0 && tries < 2;
	     tries++)
		buffer_release(&text);
	if (result < 0)
		goto out;
	result = -1;
	int fd = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0 && errno == EEXIST && unlinkat(dir, temporary, 0) == 0)
		fd = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (fd >= 0 && io_write(fd, text.data, text.len) == 0)
		result = renameat(dir, temporary, dir, name);
	error = errno;
	if (fd >= 0 && result < 0)
		unlinkat(dir, temporary, 0);
	io_close(&fd);
	if (result < 0) {
		/* Writing in place needs no room on a full disk, as long as the text fits into the
		   file's blocks. For a moment a reader may see a mixture. */
		fd = store_open_file(dir, name, O_WRONLY);
		if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 >= text.len &&
		    io_write_at(fd, text.data, text.len, 0) == 0)
			result = ftruncate(fd, (off_t)text.len);
		io_close(&fd);
	}
	errno = error;
out:
	buffer_release(&text);
	return result;
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
	struct short_part text = {.len = 0};
	*m = (struct meta){0};
	int fd = id_open_file(dir, id, ARTIFACT_JSON, O_RDONLY), result;
	if (fd >= 0) {
		result = io_read_all(fd, &text.record, META_MAX);
		text.data = text.record.data;
		text.len = text.record.len;
	} else {
		result = errno == ENOENT ? short_read(dir, id, ARTIFACT_JSON, &text) : -1;
	}
	bool is_bad = result < 0 && errno == EFBIG;
	if (result == 0)
		result = meta_parse(text.data, text.len, m);
	if (is_bad || (result == 0 && strcmp(m->id, id) != 0)) {
		meta_release(m);
		errno = EBADMSG;
		result = -1;
	}
	buffer_release(&text.record);
	io_close(&fd);
	return result;
}

int meta_read(int dir, const char *id, struct meta *m)
{
	if (read_json(dir, id, m) < 0)
		return -1;
	if (m->state != META_RUNNING)
		return 0;
	struct stat st;
	int fd = id_open_file(dir, id, ARTIFACT_OUT, O_RDONLY);
	if (fd < 0 || !meta_is_held(fd)) {
		/* The supervisor is gone. It may have written the end between reading ID.json and
		   testing the lock. */
		struct meta again;
		if (read_json(dir, id, &again) == 0) {
			meta_release(m);
			*m = again;
		}
		if (m->state != META_RUNNING) {
			io_close(&fd);
			return 0;
		}
		m->state = META_INTERRUPTED;
		/* The run ended when its text was last written. */
		if (fd >= 0 && fstat(fd, &st) == 0) {
			m->ended_ms = clock_ms(&st.st_mtim);
			if (m->ended_ms > m->started_ms)
				m->duration_ms = m->ended_ms - m->started_ms;
		}
	}
	io_close(&fd);
	/* Takes the sizes from the files, since the metadata of an unfinished run do not have
	   them. */
	struct meta_stream *const texts[] = {&m->out, &m->err};
	for (enum artifact_part part = ARTIFACT_OUT; part <= ARTIFACT_ERR; part++) {
		char name[ID_FILE_NAME];
		id_file_name("", id, part, name);
		if (texts[part]->error || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		texts[part]->present = true;
		texts[part]->bytes = (uint64_t)st.st_size;
		texts[part]->lines = 0;
	}
	return 0;
}

int meta_read_found(const struct id_found *found, struct meta *m)
{
	*m = (struct meta){0};
	int dir = store_open_session(found->store, found->session, false);
	int result = dir < 0 ? -1 : meta_read(dir, found->id, m);
	io_close(&dir);
	return result;
}

void meta_release(struct meta *m)
{
	if (m->owned)
		free(m->argv);
	free(m->owned);
	*m = (struct meta){0};
} /* NOLINT(clang-analyzer-unix.Malloc): `argv` was allocated only if `owned` was */

/* --- as JSON ---------------------------------------------------------------------------- */

static const char *const states[] = {"running", "done", "interrupted", NULL};
static const char *const stderrs[] = {"merged", "apart", "elsewhere", NULL};

bool meta_has_failed(const struct meta *m)
{
	return m->state != META_DONE || m->exit_code != 0;
}

const char *meta_state_name(enum meta_state state)
{
	return states[state];
}

#define NS_PER_MS 1000000

enum kind {
	KIND_WORDS,   /* char **, and whether it is cut */
	KIND_TEXT,    /* const char *, at most `most` bytes */
	KIND_CHARS,   /* char[], `most` bytes; always written */
	KIND_NAME,    /* an enum */
	KIND_FLAG,    /* bool */
	KIND_INTEGER, /* int, 0 to `most` */
	KIND_COUNT,   /* uint64_t, or int64_t that is not negative */
	KIND_TIME,    /* like KIND_COUNT; milliseconds in the struct, nanoseconds in JSON */
	KIND_STREAM,  /* struct meta_stream, if it is present */
	KIND_GROUP,   /* members of the same struct, which are written if the first one is not 0 */
	KIND_HOLDERS,
	KIND_OBJECT, /* const char *: JSON */
};

/* A member. A member whose value is 0, empty, or `preset` is left out, unless `always` is set:
   database engines that read the index have to find every column of a query. */
struct field {
	const char *key;
	enum kind kind;
	size_t at;
	unsigned most; /* KIND_TEXT: 0 means a quarter of the budget */
	int preset;
	bool always; /* write null in place of `preset` */
	const char *const *names;
	const struct field *members;
};

#define IN_STREAM(member) .at = offsetof(struct meta_stream, member)
#define IN_META(member)   .at = offsetof(struct meta, member)

static const struct field gap_fields[] = {
	{"from", KIND_COUNT, IN_STREAM(gap_from)},
	{"to", KIND_COUNT, IN_STREAM(gap_to)},
	{"offset", KIND_COUNT, IN_STREAM(gap_offset)},
	{"bytes", KIND_COUNT, IN_STREAM(gap_bytes)},
	{.key = NULL},
};

static const struct field lost_fields[] = {
	{"from", KIND_COUNT, IN_STREAM(lost_from)},
	{"bytes", KIND_COUNT, IN_STREAM(lost_bytes)},
	{.key = NULL},
};

static const struct field stream_fields[] = {
	{"bytes", KIND_COUNT, IN_STREAM(bytes)},
	{"lines", KIND_COUNT, IN_STREAM(lines)},
	{"gap", KIND_GROUP, .members = gap_fields},
	{"error", KIND_INTEGER, IN_STREAM(error), .most = 4095},
	{"lost", KIND_GROUP, .members = lost_fields},
	{.key = NULL},
};

static const struct field holder_fields[] = {
	{"pid", KIND_INTEGER, .at = offsetof(struct meta_holder, pid), .most = INT_MAX},
	{"name", KIND_CHARS, .at = offsetof(struct meta_holder, name), .most = META_HOLDER_NAME},
	{.key = NULL},
};

static const struct field shown_fields[] = {
	{"bytes", KIND_COUNT, IN_META(shown.bytes)},
	{"tokens", KIND_COUNT, IN_META(shown.tokens)},
	{"text", KIND_COUNT, IN_META(shown.text)},
	{"own", KIND_COUNT, IN_META(shown.own)},
	{.key = NULL},
};

static const struct field waits_fields[] = {
	{"count", KIND_COUNT, IN_META(waits.count)},
	{"startTimeUnixNano", KIND_TIME, IN_META(waits.from_ms)},
	{"endTimeUnixNano", KIND_TIME, IN_META(waits.to_ms)},
	{"duration_ns", KIND_TIME, IN_META(waits.ms)},
	{"question", KIND_TEXT, IN_META(waits.question), .most = META_DESCRIPTION},
	{.key = NULL},
};

/* The ID comes first: readers of the journal look for it there. */
static const struct field fields[] = {
	{"id", KIND_CHARS, IN_META(id), .most = sizeof(((struct meta *)0)->id)},
	{"session.id", KIND_TEXT, IN_META(session), .most = NAME_MAX},
	{"service", KIND_TEXT, IN_META(service), .most = NAME_MAX},
	{"description", KIND_TEXT, IN_META(description), .most = META_DESCRIPTION},
	{"process.command_args", KIND_WORDS, IN_META(argv)},
	{"command_cut", KIND_FLAG, IN_META(cut)},
	{"process.working_directory", KIND_TEXT, IN_META(cwd)},
	{"environment_hash", KIND_COUNT, IN_META(environment)},
	{"state", KIND_NAME, IN_META(state), .preset = -1, .names = states},
	{"startTimeUnixNano", KIND_TIME, IN_META(started_ms)},
	{"endTimeUnixNano", KIND_TIME, IN_META(ended_ms)},
	{"duration_ns", KIND_TIME, IN_META(duration_ms), .always = true},
	{"process.exit.code", KIND_INTEGER, IN_META(exit_code), .most = 255, .preset = -1,
	 .always = true},
	{"signal", KIND_INTEGER, IN_META(signal), .most = 127},
	{"timed_out", KIND_FLAG, IN_META(timed_out)},
	{"binary", KIND_FLAG, IN_META(binary)},
	{"wanted", KIND_FLAG, IN_META(wanted)},
	{"cols", KIND_INTEGER, IN_META(cols), .most = INT_MAX},
	{"rows", KIND_INTEGER, IN_META(rows), .most = INT_MAX},
	{"process.parent_pid", KIND_INTEGER, IN_META(supervisor), .most = INT_MAX},
	{"process.pid", KIND_INTEGER, IN_META(command), .most = INT_MAX},
	{"streams", KIND_NAME, IN_META(standard_error), .names = stderrs},
	{"stdout_file", KIND_TEXT, IN_META(files[0])},
	{"stderr_file", KIND_TEXT, IN_META(files[1])},
	{"waits", KIND_GROUP, .members = waits_fields},
	{"told", KIND_COUNT, IN_META(reported)},
	{"stdout", KIND_STREAM, IN_META(out), .members = stream_fields},
	{"stderr", KIND_STREAM, IN_META(err), .members = stream_fields},
	{"raw_bytes", KIND_COUNT, IN_META(raw_bytes)},
	{"raw_lost", KIND_COUNT, IN_META(raw_lost)},
	{"raw_error", KIND_INTEGER, IN_META(raw_error), .most = 4095},
	{"shown", KIND_GROUP, .members = shown_fields},
	{"gen_ai.agent.name", KIND_TEXT, IN_META(agent), .most = META_NAME},
	{"profile", KIND_TEXT, IN_META(profile), .most = META_NAME},
	{"held_by", KIND_HOLDERS, IN_META(held_by)},
	{"host.name", KIND_TEXT, IN_META(host), .most = NAME_MAX},
	{"labels", KIND_OBJECT, IN_META(labels)},
	{"object_bytes", KIND_COUNT, IN_META(object_bytes)},
	{.key = NULL},
};

static void add_fields(struct buffer *out, const struct field *f, const char *base, size_t budget)
{
	for (; f->key; f++) {
		const void *at = base + f->at;
		const bool points = f->kind == KIND_TEXT || f->kind == KIND_OBJECT;
		const char *text = points ? *(const char *const *)at : at;
		const size_t most = f->most ? f->most : budget / 4;
		const struct meta *m = (const void *)base;
		size_t len;
		switch (f->kind) {
		case KIND_WORDS:
			if (json_add_command(out, f->key, m->argv, budget, ARGUMENT_EXTRA) &&
			    !m->cut)
				json_add_bool(out, "command_cut", true);
			break;
		case KIND_TEXT:
			if (!text || !*text)
				break;
			/* fallthrough */
		case KIND_CHARS:
			len = strlen(text);
			if (len > most)
				len = utf8_floor(text, len, most);
			json_add_text(out, f->key, text, len);
			break;
		case KIND_NAME:
			if (*(const int *)at != f->preset)
				json_add_string(out, f->key, f->names[*(const unsigned *)at]);
			break;
		case KIND_FLAG:
			if (*(const bool *)at)
				json_add_bool(out, f->key, true);
			break;
		case KIND_INTEGER:
			if (*(const int *)at != f->preset || f->always)
				json_add_known(out, f->key, *(const int *)at != f->preset,
					       (uint64_t) * (const int *)at);
			break;
		case KIND_COUNT:
			if (*(const uint64_t *)at || f->always)
				json_add_count(out, f->key, *(const uint64_t *)at);
			break;
		case KIND_TIME:
			if (*(const uint64_t *)at || f->always)
				json_add_count(out, f->key, NS_PER_MS * *(const uint64_t *)at);
			break;
		case KIND_STREAM:
		case KIND_GROUP:
			if (f->kind == KIND_STREAM ? !((const struct meta_stream *)at)->present
						   : !*(const uint64_t *)(base + f->members->at))
				break;
			json_begin(out, f->key, '{');
			add_fields(out, f->members, at, budget);
			json_end(out, '}');
			break;
		case KIND_HOLDERS:
			if (m->holders == 0)
				break;
			json_begin(out, f->key, '[');
			for (int i = 0; i < m->holders; i++) {
				json_begin(out, NULL, '{');
				add_fields(out, holder_fields, (const char *)&m->held_by[i], 0);
				json_end(out, '}');
			}
			json_end(out, ']');
			break;
		case KIND_OBJECT:
			if (text)
				json_add_raw(out, f->key, text, strlen(text));
			break;
		}
	}
}

int meta_encode(struct buffer *out, const struct meta *m, size_t budget)
{
	json_begin(out, NULL, '{');
	json_add_string(out, "eventName", "terse.run");
	add_fields(out, fields, (const char *)m, budget);
	json_end(out, '}');
	return buffer_check(out);
}

static bool read_fields(const struct member_value *v, const struct field *table, char *base,
			char **to);

/* The words point into the bytes that are written to *to. */
static bool read_words(const struct member_value *v, struct meta *m, char **to)
{
	struct members list;
	members_begin(&list, v->data, v->len);
	if (!list.is_list || m->argv)
		return false;
	/* A word takes three bytes at least. */
	m->argv = calloc(v->len / 3 + 2, sizeof(*m->argv));
	for (size_t i = 0; m->argv && *to && members_next(&list); i++) {
		m->argv[i] = *to;
		*to = member_text(&list.value, *to);
	}
	return m->argv && *to && !list.bad;
}

static bool read_holders(const struct member_value *v, struct meta *m, char **to)
{
	struct members list;
	members_begin(&list, v->data, v->len);
	bool good = list.is_list;
	while (good && m->holders < META_HOLDERS && members_next(&list)) {
		struct meta_holder *h = &m->held_by[m->holders++];
		good = read_fields(&list.value, holder_fields, (char *)h, to) && h->pid > 0;
	}
	return good && !list.bad;
}

/* A value of another kind, or out of range, counts as missing. */
static bool read_field(const struct member_value *v, const struct field *f, char *base, char **to)
{
	void *at = base + f->at;
	char *text = *to;
	uint64_t n = 0;
	struct members list;
	if (member_is(v, "null"))
		return true;
	switch (f->kind) {
	case KIND_WORDS: return read_words(v, (struct meta *)base, to);
	case KIND_TEXT:
		*to = member_text(v, text);
		if (*to && *text)
			*(const char **)at = text;
		return *to;
	case KIND_CHARS:
		*to = member_text(v, text);
		return *to && (size_t)snprintf(at, f->most, "%s", text) < f->most;
	case KIND_NAME:
		*to = member_text(v, text);
		while (*to && f->names[n] && strcmp(f->names[n], text) != 0)
			n++;
		*(unsigned *)at = (unsigned)n;
		return *to && f->names[n];
	case KIND_FLAG:
		*(bool *)at = member_is(v, "true");
		return *(bool *)at || member_is(v, "false");
	case KIND_INTEGER:
		if (!member_number(v, f->most, &n))
			return false;
		*(int *)at = (int)n;
		return true;
	case KIND_COUNT: return member_number(v, INT64_MAX, at);
	case KIND_TIME:
		if (!member_number(v, INT64_MAX, &n))
			return false;
		*(int64_t *)at = (int64_t)(n / NS_PER_MS);
		return true;
	case KIND_STREAM: {
		struct meta_stream *s = at;
		s->present = true;
		return read_fields(v, f->members, at, to) && s->lost_from <= s->lines;
	}
	case KIND_GROUP: {
		struct meta_stream *s = at;
		return read_fields(v, f->members, at, to) &&
		       (f->members != gap_fields || (s->gap_from > 0 && s->gap_to >= s->gap_from &&
						     s->gap_bytes <= INT64_MAX - s->gap_offset));
	}
	case KIND_HOLDERS: return read_holders(v, (struct meta *)base, to);
	case KIND_OBJECT:
		members_begin(&list, v->data, v->len);
		/* The object is kept as text, since it is only written again. */
		if (list.bad || list.is_list || memchr(v->data, '\0', v->len))
			return false;
		memcpy(text, v->data, v->len);
		text[v->len] = '\0';
		*to = text + v->len + 1;
		*(const char **)at = text;
		return true;
	}
	return false;
}

/* Members are usually in the order of the table. Unknown members are passed over. */
static bool read_fields(const struct member_value *v, const struct field *table, char *base,
			char **to)
{
	struct members m;
	const struct field *next = table;
	members_begin(&m, v->data, v->len);
	if (m.is_list)
		return false;
	while (members_next(&m)) {
		const struct field *f = next;
		while (f->key && !member_is(&m.key, f->key))
			f++;
		if (!f->key) {
			for (f = table; f->key && !member_is(&m.key, f->key);)
				f++;
		}
		if (f->key && !read_field(&m.value, f, base, to))
			return false;
		next = f->key ? f + 1 : next;
	}
	return !m.bad;
}

int meta_parse(const char *data, size_t len, struct meta *m)
{
	const enum meta_state none = (enum meta_state) - 1;
	const struct member_value all = {data, len};
	*m = (struct meta){.state = none, .exit_code = -1, .cwd = "", .session = ""};
	char *to = m->owned = malloc(len + 1);
	errno = to ? EBADMSG : ENOMEM;
	if (to && read_fields(&all, fields, (char *)m, &to) && m->state != none &&
	    (!*m->id || id_is_valid(m->id))) {
		if (!m->argv)
			m->argv = calloc(1, sizeof(*m->argv));
		if (m->argv)
			return 0;
	}
	meta_release(m);
	return -1;
}
