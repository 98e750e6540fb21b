// See catalog.h.

#include "supervisor/remote/catalog.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "supervisor/artifact/store.h"
#include "supervisor/remote/origin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME   "name"
#define INDEX  "index."
#define DIRTY  "dirty."
#define PREFIX 6 /* of both */

/* "2026-11-22.07" */
#define HOUR_LEN 13
#define HOUR_MS  ((int64_t)60 * 60 * 1000)

/* The command in a line; with its directory and all else the line stays below CATALOG_LINE. */
#define COMMAND_MAX ((size_t)1024)

/* An index object: an hour of a store that pushes 20,000 runs in it. */
#define OBJECT_MAX ((int64_t)32 * 1024 * 1024)

static void catalog_hour(int64_t ms, char hour[HOUR_LEN + 1])
{
	struct tm tm = {0};
	time_t seconds = (time_t)(ms / 1000);
	gmtime_r(&seconds, &tm);
	strftime(hour, HOUR_LEN + 1, "%Y-%m-%d.%H", &tm);
}

static void catalog_name(const char *prefix, const char *hour, char name[PREFIX + HOUR_LEN + 1])
{
	snprintf(name, PREFIX + HOUR_LEN + 1, "%s%s", prefix, hour);
}

/* --- writing ------------------------------------------------------------------------ */

int catalog_encode(struct buffer *out, const struct meta *m, const struct buffer *labels,
		   const char *host, uint64_t object_bytes)
{
	struct buffer run = BUFFER_INIT;
	meta_encode(&run, m, COMMAND_MAX);
	json_begin_object(out, NULL);
	json_add_raw(out, "run", run.data, run.len);
	out->failed |= run.failed;
	origin_encode(out, host, labels);
	json_add_count(out, "object_bytes", object_bytes);
	json_end_object(out);
	buffer_release(&run);
	return buffer_check(out);
}

/* Appends a line to an hour, behind a newline if a process was killed in the middle of one. */
static int catalog_append(const struct spool *s, const char *name, const struct buffer *before,
			  struct buffer *line)
{
	bool inside = before->len > 0 && before->data[before->len - 1] != '\n';
	struct buffer text = BUFFER_INIT;
	int result = -1, fd = store_open_file(s->dir, name, O_WRONLY | O_CREAT | O_APPEND);
	buffer_append_string(&text, inside ? "\n" : "");
	buffer_add(&text, line);
	buffer_append_string(&text, "\n");
	if (fd >= 0 && buffer_check(&text) == 0)
		result = io_write(fd, text.data, text.len);
	int error = errno;
	/* A part of the line would be taken for all of it when it is tried again. */
	if (result < 0 && fd >= 0 && ftruncate(fd, (off_t)before->len) < 0)
		result = -1;
	buffer_release(&text);
	io_close(&fd);
	errno = error;
	return result;
}

/* The entry of an archive, "" if there is none. */
static int catalog_read_entry(const struct spool *s, const char *id, struct buffer *entry)
{
	char name[SPOOL_ENTRY_LEN + 1];
	spool_entry(id, name);
	return spool_read_file(s->dir, name, CATALOG_LINE, entry);
}

int catalog_add(const struct spool *s, const char *id, int64_t now_ms)
{
	char hour[HOUR_LEN + 1], name[PREFIX + HOUR_LEN + 1], mark[PREFIX + HOUR_LEN + 1];
	char key[ID_LEN + 16];
	struct buffer entry = BUFFER_INIT, before = BUFFER_INIT;
	int result = 0;
	if (catalog_read_entry(s, id, &entry) < 0) {
		result = store_is_short(errno) ? -1 : 0;
		goto out;
	}
	catalog_hour(now_ms, hour);
	catalog_name(INDEX, hour, name);
	catalog_name(DIRTY, hour, mark);
	result = spool_read_file(s->dir, name, OBJECT_MAX, &before);
	if (result < 0 && errno != ENOENT) {
		/* The hour is full: nobody reads more of one. */
		result = errno == EFBIG ? 0 : -1;
		goto out;
	}
	int len = snprintf(key, sizeof(key), "\"id\":\"%s\"", id);
	result = 0;
	if (before.len > 0 && memmem(before.data, before.len, key, (size_t)len))
		goto out;
	/* First, so that a line that is there is pushed, too, whenever this process is killed. */
	int fd = store_open_file(s->dir, mark, O_WRONLY | O_CREAT);
	result = fd < 0 ? -1 : catalog_append(s, name, &before, &entry);
	io_close(&fd);
out:
	buffer_release(&entry);
	buffer_release(&before);
	return result;
}

int catalog_session(const struct spool *s, const char *id, char session[STORE_SESSION_LEN + 1])
{
	struct buffer entry = BUFFER_INIT;
	json_t *line = NULL;
	if (catalog_read_entry(s, id, &entry) == 0)
		line = json_read(entry.data, entry.len, 0, NULL);
	int result = !line && errno == ENOMEM ? -1 : 0;
	store_session_name(
		json_string_value(json_object_get(json_object_get(line, "run"), "session")),
		session);
	json_decref(line);
	buffer_release(&entry);
	if (result < 0)
		errno = ENOMEM;
	return result;
}

/* --- pushing ------------------------------------------------------------------------ */

/* Calls `each` with the hours of the files that begin with `prefix`, until it returns other than
   0. Returns that, or -1 with errno. */
static int catalog_each_hour(const struct spool *s, const char *prefix,
			     int (*each)(void *ctx, const char *hour), void *ctx)
{
	struct dirent *e;
	int result = 0;
	DIR *d = io_list(s->dir);
	while (d && result == 0 && (e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, prefix, PREFIX) == 0 &&
		    strlen(e->d_name) == PREFIX + HOUR_LEN)
			result = each(ctx, e->d_name + PREFIX);
	}
	if (d)
		closedir(d);
	return d ? result : -1;
}

static int catalog_found(void *ctx, const char *hour)
{
	(void)ctx, (void)hour;
	return 1;
}

bool catalog_is_dirty(const struct spool *s)
{
	return catalog_each_hour(s, DIRTY, catalog_found, NULL) != 0;
}

/* The store's own part of a name: made once, by the holder of the lock. */
#define STORE_DIGITS 8

static void catalog_store_name(const struct spool *s, char name[STORE_DIGITS + 1])
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	ssize_t n = io_read_file(s->dir, NAME, name, STORE_DIGITS + 1);
	if (n == STORE_DIGITS && strspn(name, digits) == STORE_DIGITS)
		return;
	if (getrandom(name, STORE_DIGITS, 0) != STORE_DIGITS)
		memset(name, 0, STORE_DIGITS);
	for (int i = 0; i < STORE_DIGITS; i++)
		name[i] = digits[name[i] & 31];
	name[STORE_DIGITS] = '\0';
	int fd = store_open_file(s->dir, NAME, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd >= 0)
		io_write(fd, name, STORE_DIGITS);
	io_close(&fd);
}

struct catalog_pushing {
	const struct spool *spool;
	const struct remote *remote;
	char store[STORE_DIGITS + 1], now[HOUR_LEN + 1];
	int64_t until_ms;
	char *why;
};

static int catalog_push_hour(void *ctx, const char *hour)
{
	const struct catalog_pushing *p = ctx;
	char name[PREFIX + HOUR_LEN + 1], key[REMOTE_KEY_LEN], file[PATH_MAX], id[96];
	catalog_name(INDEX, hour, name);
	snprintf(id, sizeof(id), "%s-%s", p->remote->host, p->store);
	snprintf(key, sizeof(key), "index/%.10s/%s/%s.jsonl", hour, hour + 11, id);
	snprintf(file, sizeof(file), "%s/%s", p->spool->path, name);
	const struct remote_object object = {
		.file = file, .key = key, .id = id, .host = p->remote->host};
	if (transfer_run(p->remote, REMOTE_PUSH, &object, 0, p->until_ms, p->why) != 0)
		return -1;
	catalog_name(DIRTY, hour, name);
	spool_remove(p->spool, name);
	return 0;
}

/* Removes an hour that is over and pushed. */
static int catalog_drop_hour(void *ctx, const char *hour)
{
	const struct catalog_pushing *p = ctx;
	char name[PREFIX + HOUR_LEN + 1];
	catalog_name(DIRTY, hour, name);
	if (strcmp(hour, p->now) == 0 || io_is_there(p->spool->dir, name))
		return 0;
	catalog_name(INDEX, hour, name);
	spool_remove(p->spool, name);
	return 0;
}

int catalog_push(const struct spool *s, const struct remote *r, int64_t now_ms, int64_t until_ms,
		 char why[TRANSFER_WHY])
{
	struct catalog_pushing p = {.spool = s, .remote = r, .until_ms = until_ms, .why = why};
	catalog_hour(now_ms, p.now);
	catalog_store_name(s, p.store);
	*why = '\0';
	errno = 0;
	if (catalog_each_hour(s, DIRTY, catalog_push_hour, &p) == 0 &&
	    catalog_each_hour(s, INDEX, catalog_drop_hour, &p) == 0)
		return 0;
	if (!*why)
		snprintf(why, TRANSFER_WHY, "%s", strerror(errno));
	return -1;
}

/* --- reading ------------------------------------------------------------------------ */

/* "job=4812 team=a"; what is no string is taken out of the object. */
static void catalog_add_labels(struct buffer *out, json_t *labels)
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
static int catalog_take(struct catalog_reader *reader, const char *text, size_t len)
{
	struct buffer labels = BUFFER_INIT;
	char *encoded = NULL;
	struct catalog_run run = {.host = ""};
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
	catalog_add_labels(&labels, named);
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

/* Reads one index object line by line. Returns 0, or what each() returned. */
static int catalog_read_object(struct catalog_reader *reader, int dir, const char *name)
{
	struct buffer text = BUFFER_INIT;
	int result = 0;
	reader->objects++;
	if (spool_read_file(dir, name, OBJECT_MAX, &text) < 0) {
		reader->damaged++;
		result = errno == ENOMEM ? -1 : 0;
	}
	for (size_t at = 0; at < text.len && result == 0;) {
		const char *line = text.data + at;
		const char *newline = memchr(line, '\n', text.len - at);
		size_t len = newline ? (size_t)(newline - line) : text.len - at;
		int taken = len <= CATALOG_LINE ? catalog_take(reader, line, len) : 1;
		reader->damaged += taken == 1;
		result = taken == 1 ? 0 : taken;
		at += len + 1;
	}
	buffer_release(&text);
	return result;
}

/* Reads the objects in a directory, and removes them. Returns 0, or -1 with errno. */
static int catalog_read_objects(struct catalog_reader *reader, const char *path)
{
	struct dirent *e;
	int result = 0;
	DIR *d = opendir(path);
	while (d && (e = readdir(d)) != NULL) {
		if (*e->d_name == '.')
			continue;
		if (result == 0)
			result = catalog_read_object(reader, dirfd(d), e->d_name);
		unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
	rmdir(path);
	return d ? result : -1;
}

/* One hour on its way. */
struct catalog_fetch {
	char key[REMOTE_KEY_LEN], path[PATH_MAX];
};

#define FETCHES 8

struct catalog_fetches {
	const struct remote *remote;
	struct catalog_reader *reader;
	struct transfer transfers[FETCHES];
	struct catalog_fetch hours[FETCHES];
	int64_t next_ms;
	char top[PATH_MAX - 64];
	bool failed;
};

static void catalog_begin_hour(struct catalog_fetches *f, size_t i)
{
	struct catalog_fetch *h = &f->hours[i];
	char hour[HOUR_LEN + 1];
	catalog_hour(f->next_ms, hour);
	f->next_ms += HOUR_MS;
	snprintf(h->key, sizeof(h->key), "index/%.10s/%s", hour, hour + 11);
	snprintf(h->path, sizeof(h->path), "%s/%s", f->top, hour);
	const struct remote_object object = {
		.file = h->path, .key = h->key, .id = "", .host = f->reader->host};
	if (mkdir(h->path, 0700) == 0 &&
	    transfer_start(&f->transfers[i], f->remote, REMOTE_LIST, &object, OBJECT_MAX) == 0)
		return;
	snprintf(f->reader->why, sizeof(f->reader->why), "%s", strerror(errno));
	rmdir(h->path);
	f->failed = true;
}

static void catalog_end_hour(struct catalog_fetches *f, size_t i)
{
	char why[TRANSFER_WHY];
	/* An hour in which nothing was pushed is none. */
	if (transfer_result(&f->transfers[i], why) < 0) {
		memcpy(f->reader->why, why, sizeof(why));
		f->failed = true;
	}
	if (catalog_read_objects(f->reader, f->hours[i].path) < 0)
		f->failed = true;
}

static void catalog_fetch_all(struct catalog_fetches *f)
{
	for (size_t busy = 1; busy > 0;) {
		busy = 0;
		for (size_t i = 0; i < FETCHES; i++) {
			if (f->transfers[i].pid > 0 && transfer_is_over(&f->transfers[i]))
				catalog_end_hour(f, i);
			if (f->transfers[i].pid <= 0 && !f->failed &&
			    f->next_ms <= f->reader->to_ms)
				catalog_begin_hour(f, i);
			busy += f->transfers[i].pid > 0;
		}
		transfers_wait(f->transfers, FETCHES, 0);
	}
}

int catalog_read(const struct remote *r, struct catalog_reader *reader)
{
	struct catalog_fetches f = {.remote = r,
				    .reader = reader,
				    .next_ms = reader->from_ms - reader->from_ms % HOUR_MS};
	const char *tmp = getenv("TMPDIR");
	snprintf(f.top, sizeof(f.top), "%s/terse-index-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(f.top)) {
		snprintf(reader->why, sizeof(reader->why), "a temporary directory: %s",
			 strerror(errno));
		return -1;
	}
	catalog_fetch_all(&f);
	rmdir(f.top);
	return f.failed ? -1 : 0;
}
