// See index.h.

#include "supervisor/remote/index.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "supervisor/remote/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The command in a line; with its directory and all else the line stays below INDEX_LINE. */
#define COMMAND_MAX ((size_t)1024)

/* A segment ends behind so many bytes: 16,000 runs; of others no more is read. */
#define SEGMENT_MAX ((uint64_t)8 * 1024 * 1024)
#define READ_MAX    ((int64_t)32 * 1024 * 1024)

/* --- writing ------------------------------------------------------------------------ */

int index_encode(struct buffer *out, const struct meta *m, json_t *note, uint64_t object_bytes)
{
	struct buffer run = BUFFER_INIT;
	char host[REMOTE_HOST_LEN + 1];
	const char *noted = json_string_value(json_object_get(note, "host"));
	json_t *labels = json_object_get(note, "labels");
	char *encoded = json_is_object(labels)
				? json_dumps(labels, JSON_COMPACT | JSON_ENSURE_ASCII)
				: NULL;
	remote_clean_name(noted ? noted : "", host, sizeof(host));
	if (!*host)
		remote_host(host);
	meta_encode(&run, m, COMMAND_MAX);
	json_begin_object(out, NULL);
	json_add_raw(out, "run", run.data, run.len);
	json_add_string(out, "host", host);
	json_add_string(out, "container", json_string_value(json_object_get(note, "container")));
	json_add_raw(out, "labels", encoded ? encoded : "{}", encoded ? strlen(encoded) : 2);
	json_add_count(out, "object_bytes", object_bytes);
	json_end_object(out);
	buffer_append_string(out, "\n");
	out->failed |= run.failed || (json_is_object(labels) && !encoded);
	buffer_release(&run);
	free(encoded);
	return buffer_check(out);
}

/* Where a segment has the first ID of a line: behind this. */
#define ID_KEY "\"id\":\""

/* A process was killed when a segment had taken its place: its lines go. */
static int index_drop_lines(void *ctx, const char *file, const char *below)
{
	const struct outbox *o = ctx;
	struct buffer text = BUFFER_INIT;
	const char *at = NULL;
	(void)below;
	if (outbox_read_file(AT_FDCWD, file, READ_MAX, &text) == 0)
		at = buffer_string(&text);
	while (at && *at) {
		char path[OUTBOX_LINE_LEN + 1];
		const char *id = strstr(at, ID_KEY), *end = strchr(at, '\n');
		outbox_line(id ? id + strlen(ID_KEY) : "", path);
		unlinkat(o->dir, path, 0);
		at = end ? end + 1 : NULL;
	}
	buffer_release(&text);
	return 0;
}

static int index_count(void *ctx, const char *file, const char *below)
{
	(void)file, (void)below;
	++*(uint64_t *)ctx;
	return 0;
}

static void index_path(const struct outbox *o, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/new/" REMOTE_INDEX, o->path);
}

uint64_t index_waits(const struct outbox *o)
{
	char path[PATH_MAX];
	uint64_t count = 0;
	index_path(o, path);
	directory_walk(path, index_count, &count);
	return count;
}

/* Makes a segment of the first of these. Returns how many lines it has, 0 with errno if it can't be
   made; *used is how many were looked at. */
static uint64_t index_make_one(const struct outbox *o, const struct outbox_item *items,
			       size_t count, int64_t now_ms, size_t *used)
{
	char first[ID_LEN + 1] = "", temporary[OUTBOX_TEMPORARY_LEN], host[REMOTE_HOST_LEN + 1];
	char path[256], hour[REMOTE_HOUR_LEN + 1];
	struct buffer line = BUFFER_INIT;
	uint64_t lines = 0, bytes = 0;
	int fd = -1, result = 0;
	size_t i;
	for (i = 0; i < count && result == 0 && bytes < SEGMENT_MAX; i++) {
		char id[ID_LEN + 1];
		id_unpack(items[i].id, id);
		outbox_line(id, path);
		buffer_clear(&line);
		if (!items[i].moved)
			continue;
		/* One that can't be read, however often, is given up. */
		if (outbox_read_file(o->dir, path, INDEX_LINE, &line) < 0) {
			result = store_is_short(errno) ? -1 : 0;
			continue;
		}
		if (!*first) {
			memcpy(first, id, sizeof(first));
			fd = outbox_begin_file(o, first, temporary);
		}
		result = fd < 0 ? -1 : io_write(fd, line.data, line.len);
		bytes += line.len;
		lines++;
	}
	*used = i;
	if (lines > 0) {
		remote_hour(now_ms, hour);
		remote_host(host);
		snprintf(path, sizeof(path), "new/" REMOTE_INDEX "/%s/%s-%s-%" PRIu64 ".jsonl",
			 hour, host, first, lines);
		result = outbox_end_file(o, result, &fd, temporary, path);
	}
	for (size_t k = 0; k < i && result == 0; k++) {
		char id[ID_LEN + 1];
		id_unpack(items[k].id, id);
		outbox_line(id, path);
		if (items[k].moved)
			unlinkat(o->dir, path, 0);
	}
	int error = result < 0 ? errno : 0;
	buffer_release(&line);
	errno = error;
	return result < 0 ? 0 : lines;
}

uint64_t index_make(const struct outbox *o, int64_t now_ms, int *error)
{
	char path[PATH_MAX];
	struct outbox_item *items;
	size_t count, used;
	uint64_t lines = 0;
	index_path(o, path);
	*error = 0;
	if (outbox_look(o).moved > 0)
		directory_walk(path, index_drop_lines, (void *)o);
	if (outbox_list(o, &items, &count) < 0) {
		*error = errno;
		return 0;
	}
	for (size_t at = 0; at < count && !*error; at += used) {
		errno = 0;
		lines += index_make_one(o, items + at, count - at, now_ms, &used);
		*error = errno;
	}
	free(items);
	return lines;
}

/* --- reading ------------------------------------------------------------------------ */

/* "job=4812 team=a"; what is no string is taken out of the object. */
static void index_add_labels(struct buffer *out, json_t *labels)
{
	const char *name;
	json_t *value;
	void *next;
	json_object_foreach_safe(labels, next, name, value)
	{
		if (json_is_string(value))
			buffer_printf(out, "%s%s=%s", out->len > 0 ? " " : "", name,
				      json_string_value(value));
		else
			json_object_del(labels, name);
	}
}

/* Deals with a line. Returns 1 if it is none, 0, what each() returned, or -1: no memory. */
static int index_take(struct index_reader *reader, const char *text, size_t len)
{
	struct buffer labels = BUFFER_INIT;
	char *encoded = NULL;
	struct index_run run = {.host = ""};
	json_t *line = json_read(text, len, 0, NULL);
	int result = !line && errno == ENOMEM ? -1 : 1;
	json_t *object = json_object_get(line, "run"), *named = json_object_get(line, "labels");
	char *meta = json_is_object(object) ? json_dumps(object, JSON_COMPACT) : NULL;
	bool parsed = meta && meta_parse(meta, strlen(meta), &run.meta) == 0;
	if (json_is_object(object) && !parsed && (!meta || errno == ENOMEM))
		result = -1;
	if (!parsed || !id_is_valid(run.meta.id))
		goto out;
	const char *host = json_string_value(json_object_get(line, "host"));
	run.host = host ? host : "";
	run.container = json_string_value(json_object_get(line, "container"));
	run.object_bytes = (uint64_t)json_integer_value(json_object_get(line, "object_bytes"));
	index_add_labels(&labels, named);
	run.labels = buffer_string(&labels);
	if (json_is_object(named))
		encoded = json_dumps(named, JSON_COMPACT | JSON_ENSURE_ASCII);
	run.labels_json = encoded ? encoded : "{}";
	bool whole = run.labels && (encoded || !json_is_object(named));
	result = whole ? reader->each(reader->ctx, &run) : -1;
out:
	if (parsed)
		meta_release(&run.meta);
	buffer_release(&labels);
	free(encoded);
	free(meta);
	json_decref(line);
	return result;
}

/* Reads a segment line by line, and removes it. Returns 0, or what each() returned. */
static int index_read_segment(void *ctx, const char *file, const char *below)
{
	struct index_reader *reader = ctx;
	struct buffer text = BUFFER_INIT;
	int result = 0;
	(void)below;
	if (outbox_read_file(AT_FDCWD, file, READ_MAX, &text) < 0) {
		reader->damaged++;
		result = errno == ENOMEM ? -1 : 0;
	}
	unlink(file);
	for (size_t at = 0; at < text.len && result == 0;) {
		const char *line = text.data + at;
		const char *newline = memchr(line, '\n', text.len - at);
		size_t len = newline ? (size_t)(newline - line) : text.len - at;
		int taken = len <= INDEX_LINE ? index_take(reader, line, len) : 1;
		reader->damaged += taken == 1;
		result = taken == 1 ? 0 : taken;
		at += len + 1;
	}
	buffer_release(&text);
	return result;
}

static int index_remove(void *ctx, const char *file, const char *below)
{
	(void)ctx, (void)below;
	return unlink(file);
}

/* Reads hours `least` to `most` (since 1970) of one day. */
static int index_read_hours(const struct settings *s, struct index_reader *reader, const char *top,
			    int64_t least, int64_t most)
{
	char hour[REMOTE_HOUR_LEN + 1], host[REMOTE_HOST_LEN + 1], key[REMOTE_KEY_LEN],
		path[PATH_MAX];
	/* Names of objects are clean, so their beginnings are. */
	remote_clean_name(reader->host, host, sizeof(host));
	remote_hour(most * REMOTE_HOUR_MS, hour);
	snprintf(key, sizeof(key), REMOTE_INDEX "/%.10s", hour);
	struct remote_call call = {
		.work = REMOTE_LIST, .key = key, .local = top, .host = host, .most = READ_MAX};
	for (int64_t at = least; at <= most; at++)
		call.hours |= UINT32_C(1) << at % 24;
	/* A day on which nothing was pushed is none. */
	int result = remote_run(s, &call) < 0 ? -1 : 0;
	if (result == 0)
		result = directory_walk(top, index_read_segment, reader);
	else
		memcpy(reader->why, call.why, sizeof(call.why));
	directory_walk(top, index_remove, NULL);
	for (int i = 0; i < 24; i++) {
		snprintf(path, sizeof(path), "%s/%02d", top, i);
		rmdir(path);
	}
	return result;
}

int index_read(const struct settings *s, struct index_reader *reader)
{
	char top[PATH_MAX - 64];
	const char *tmp = getenv("TMPDIR");
	int64_t hour = reader->to_ms / REMOTE_HOUR_MS;
	int64_t first = reader->from_ms > 0 ? reader->from_ms / REMOTE_HOUR_MS : 0;
	int result = 0;
	snprintf(top, sizeof(top), "%s/terse-index-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(top)) {
		snprintf(reader->why, sizeof(reader->why), "a temporary directory: %s",
			 strerror(errno));
		return -1;
	}
	/* Two hours, then four, eight, ... of a day in one go. */
	for (int64_t span = 2; hour >= first && result == 0; span *= 2) {
		int64_t least = hour - span + 1 > first ? hour - span + 1 : first;
		least = least > hour - hour % 24 ? least : hour - hour % 24;
		result = index_read_hours(s, reader, top, least, hour);
		hour = least - 1;
		span = span < 24 ? span : 24;
		if (result == 0 && reader->enough(reader->ctx, least * REMOTE_HOUR_MS))
			break;
	}
	rmdir(top);
	return result;
}
