// See packing.h.

#include "supervisor/remote/packing.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/json_read.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/stream.h"
#include "supervisor/remote/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The lock of who adds an archive, or takes one back. */
#define LOCK "spool"

/* A session and 16 labels, at six bytes for each. */
#define WANTED_MAX ((int64_t)64 * 1024)

/* What a run has noted of itself. */
struct packing_note {
	char session[STORE_SESSION_LEN + 1], host[REMOTE_HOST_LEN + 1];
	struct buffer labels;
};

/* Splits "SESSION/HOST". */
static void packing_read_place(struct packing_note *note, const char *place)
{
	size_t len = strcspn(place, "/");
	snprintf(note->session, sizeof(note->session), "%.*s", (int)len, place);
	remote_clean_name(place[len] ? place + len + 1 : "", note->host, sizeof(note->host));
	if (!*note->host)
		remote_host(note->host);
}

/* Takes the labels. They become a part of a line, so what is no object is {}. */
static void packing_read_labels(struct packing_note *note, const char *text, size_t len)
{
	json_t *object = len > 0 ? json_read(text, len, 0, NULL) : NULL;
	note->labels.failed |= len > 0 && !object && errno == ENOMEM;
	if (json_is_object(object))
		buffer_append(&note->labels, text, len);
	else
		buffer_append_string(&note->labels, "{}");
	json_decref(object);
}

/* Reads what spool_want() has noted. Returns 0, or -1 with errno. */
static int packing_read_note(const struct spool *s, const char *id, struct packing_note *note)
{
	char place[SPOOL_PLACE_LEN + 1];
	struct buffer text = BUFFER_INIT;
	ssize_t n = readlinkat(s->dir, id, place, sizeof(place));
	if (n < 0 && (errno != EINVAL || spool_read_file(s->dir, id, WANTED_MAX, &text) < 0)) {
		buffer_release(&text);
		return -1;
	}
	const char *newline = text.len > 0 ? memchr(text.data, '\n', text.len) : NULL;
	size_t len = newline ? (size_t)(newline - text.data) : 0;
	if (newline && len < sizeof(place))
		memcpy(place, text.data, len);
	else
		len = n > 0 ? (size_t)n : 0;
	place[len < sizeof(place) ? len : 0] = '\0';
	packing_read_place(note, place);
	packing_read_labels(note, newline ? newline + 1 : "",
			    newline ? text.len - (size_t)(newline + 1 - text.data) : 0);
	buffer_release(&text);
	return buffer_check(&note->labels);
}

/* Opens the directory of a session in the store that has the artifact: -1 if none has. */
static int packing_open_session(const char *session, const char *id)
{
	struct store stores[STORE_MAX];
	int dir = -1, count = store_open_everywhere(stores);
	for (int i = 0; i < count && dir < 0; i++) {
		dir = store_open_session(&stores[i], session, false);
		if (dir >= 0 && !id_has_file(dir, id, ".txt"))
			io_close(&dir);
	}
	store_close_all(stores, count);
	return dir;
}

/* Throws out the oldest archives until there is room for `bytes` more. Returns whether there is. */
static bool packing_make_room(const struct spool *s, uint64_t bytes, uint64_t most)
{
	struct spool_item *items;
	size_t count;
	uint64_t total = bytes;
	struct spool_numbers dropped = spool_read(s, SPOOL_DROPPED), before = dropped;
	bool fits = bytes <= most;
	if (!fits) {
		dropped.a++;
		dropped.b += bytes;
	} else if (spool_list(s, &items, &count) == 0) {
		for (size_t i = 0; i < count; i++)
			total += items[i].bytes;
		for (size_t i = 0; i < count && total > most; i++) {
			char id[ID_LEN + 1];
			id_unpack(items[i].id, id);
			spool_done(s, id);
			total -= items[i].bytes;
			dropped.a++;
			dropped.b += items[i].bytes;
		}
		free(items);
	}
	if (dropped.a > before.a)
		spool_write(s, SPOOL_DROPPED, dropped, "");
	return fits;
}

/* Keeps others from adding. Without locks two may add at a time: then spool_max is exceeded a
   little. */
static int packing_lock(const struct spool *s)
{
	int lock = store_open_file(s->dir, LOCK, O_RDWR | O_CREAT);
	if (lock >= 0)
		flock(lock, LOCK_EX);
	return lock;
}

bool packing_drop(const struct spool *s, const char *id)
{
	int lock = packing_lock(s);
	bool waited = io_is_there(s->dir, id) || spool_has_archive(s, id);
	spool_forget(s, id);
	spool_done(s, id);
	io_close(&lock);
	return waited;
}

/* A wanted run that has ended. */
struct packing_run {
	const char *id;
	const struct meta *meta;
	const struct packing_note *note;
};

/* Writes the line for the index. */
static int packing_write_entry(const struct spool *s, const struct packing_run *run, uint64_t bytes)
{
	char name[SPOOL_ENTRY_LEN + 1];
	struct buffer line = BUFFER_INIT;
	int result = -1, fd = -1;
	spool_entry(run->id, name);
	if (catalog_encode(&line, run->meta, &run->note->labels, run->note->host, bytes) == 0)
		fd = store_open_file(s->dir, name, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd >= 0)
		result = io_write(fd, line.data, line.len);
	buffer_release(&line);
	io_close(&fd);
	return result;
}

/* The archive is written: it takes its place behind its line for the index, if the run is still
   wanted and no other process was first. */
static int packing_add_archive(const struct spool *s, const struct settings *settings,
			       const struct packing_run *run, const char *temporary, int fd)
{
	const char *id = run->id;
	char name[SPOOL_ARCHIVE_LEN + 1];
	struct stat st;
	int result = -1, lock = packing_lock(s);
	spool_archive_name(id, name);
	if (fstat(fd, &st) < 0)
		goto out;
	uint64_t bytes = (uint64_t)st.st_size;
	if (!io_is_there(s->dir, id) || io_is_there(s->dir, name) ||
	    !packing_make_room(s, bytes, (uint64_t)settings->spool_max))
		result = unlinkat(s->dir, temporary, 0);
	else if (packing_write_entry(s, run, bytes) == 0)
		result = renameat(s->dir, temporary, s->dir, name);
	if (result == 0)
		spool_forget(s, id);
out:
	io_close(&lock);
	return result;
}

/* Writes the archive of a run that has ended. Returns 0, or -1 with errno (EBUSY: it goes on). */
static int packing_pack_artifact(const struct spool *s, const struct settings *settings,
				 int session, const struct packing_run *run)
{
	char temporary[SPOOL_TEMPORARY_LEN];
	int fd = spool_open_temporary(s, run->id, temporary);
	if (fd < 0)
		return -1;
	int result = stream_has_room(fd, (uint64_t)settings->min_free) ? 0 : -1;
	if (result == 0)
		result = archive_write(session, run->id, fd, NULL, NULL);
	if (result == 0)
		result = packing_add_archive(s, settings, run, temporary, fd);
	int error = errno;
	if (result < 0)
		unlinkat(s->dir, temporary, 0);
	io_close(&fd);
	errno = error;
	return result;
}

/* Packs the run of an artifact that is there. Returns as packing_pack_one(). */
static int packing_pack_found(const struct spool *s, const struct settings *settings, int session,
			      const char *id, const struct packing_note *note)
{
	struct meta m;
	int result = 0;
	if (meta_read(session, id, &m) < 0)
		return -1;
	if (m.state == META_RUNNING)
		result = 1;
	else if (!spool_is_wanted(settings, &m))
		spool_forget(s, id);
	else
		result = packing_pack_artifact(
			s, settings, session,
			&(struct packing_run){.id = id, .meta = &m, .note = note});
	int error = errno;
	meta_release(&m);
	errno = error;
	return result < 0 && errno == EBUSY ? 1 : result;
}

/* Returns 0 if it is dealt with, 1 if its run goes on, or -1 with errno. */
static int packing_pack_one(const struct spool *s, const struct settings *settings, const char *id)
{
	struct packing_note note = {.labels = BUFFER_INIT};
	int result = -1, dir = -1;
	if (packing_read_note(s, id, &note) < 0) {
		/* Another process was first, or it is nothing that a run has made. */
		if (errno == EPERM || errno == EFBIG)
			spool_forget(s, id);
		result = errno == ENOENT || errno == EPERM || errno == EFBIG ? 0 : -1;
		goto out;
	}
	dir = packing_open_session(note.session, id);
	if (dir >= 0) {
		result = packing_pack_found(s, settings, dir, id, &note);
	} else if (!store_is_short(errno)) {
		/* It was removed. */
		spool_forget(s, id);
		result = 0;
	}
out:;
	int error = errno;
	buffer_release(&note.labels);
	io_close(&dir);
	errno = error;
	return result;
}

unsigned packing_all(const struct spool *s, const struct settings *settings)
{
	struct spool_item *items;
	size_t count;
	unsigned failed = 0;
	int error = 0;
	if (spool_list_wanted(s, &items, &count) < 0)
		return 1;
	for (size_t i = 0; i < count; i++) {
		char id[ID_LEN + 1];
		id_unpack(items[i].id, id);
		if (packing_pack_one(s, settings, id) < 0) {
			error = errno;
			failed++;
		}
	}
	free(items);
	errno = error;
	return failed;
}
