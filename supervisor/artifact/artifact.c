// See artifact.h.

#include "supervisor/artifact/artifact.h"

#include "lib/io.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/stream.h"
#include "supervisor/artifact/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

const struct artifact_files artifact_files[ARTIFACT_PARTS] = {
	[ARTIFACT_OUT] = {".txt", ".idx"},
	[ARTIFACT_ERR] = {".err.txt", ".err.idx"},
	[ARTIFACT_RAW] = {".raw", NULL},
	[ARTIFACT_CAST] = {".cast", NULL},
};

/* The size of ID.json, unless the command is very long. */
#define META_RESERVE ((size_t)8 * 1024)

struct artifact {
	struct meta *meta;
	uint64_t max_bytes, min_free;
	int dir;
	bool used[ARTIFACT_PARTS];
	struct stream parts[ARTIFACT_PARTS]; /* open where used and fd >= 0 */
	void *reserve;                       /* memory for the metadata of the end */
	char path[PATH_MAX];
};

static void artifact_describe(struct artifact *a)
{
	struct meta *m = a->meta;
	if (a->used[ARTIFACT_OUT])
		stream_describe(&a->parts[ARTIFACT_OUT], &m->out);
	if (a->used[ARTIFACT_ERR])
		stream_describe(&a->parts[ARTIFACT_ERR], &m->err);
	if (a->used[ARTIFACT_RAW]) {
		m->raw_bytes = stream_bytes(&a->parts[ARTIFACT_RAW]);
		m->raw_lost = stream_lost(&a->parts[ARTIFACT_RAW]);
		m->raw_error = a->parts[ARTIFACT_RAW].error;
	}
}

static void gap_moved(void *ctx)
{
	struct artifact *a = ctx;
	artifact_describe(a);
	meta_write(a->dir, a->meta);
}

static int artifact_open_part(struct artifact *a, enum artifact_part part)
{
	struct stream_options options = {
		.dir = a->dir,
		.id = a->meta->id,
		.suffix = artifact_files[part].suffix,
		.idx = artifact_files[part].idx,
		.max_bytes = a->max_bytes,
		.min_free = a->min_free,
		.gap_moved = gap_moved,
		.ctx = a,
	};
	a->used[part] = true;
	return stream_open(&a->parts[part], &options);
}

/* The stream of a part, made on first use. One that can't be made only counts. */
static struct stream *use_part(struct artifact *a, enum artifact_part part)
{
	struct stream *s = &a->parts[part];
	if (!a->used[part] && artifact_open_part(a, part) < 0) {
		s->error = errno;
		s->keeping = false;
	}
	return s;
}

/* Claims and creates in one store; leaves nothing behind when it fails. */
static int create_in(struct artifact *a, const struct store *store, const char *session)
{
	struct meta *m = a->meta;
	a->dir = store_open_session(store, session, true);
	if (a->dir < 0)
		return -1;
	if (!stream_has_room(a->dir, a->min_free))
		goto close_dir;
	/* The caller may have claimed it before, in any store. */
	bool again = m->id[0];
	int claimed = again ? id_claim_exact(store, session, m->id)
			    : id_claim(store, session, m->started_ms, m->id);
	if (claimed < 0 && (!again || errno != EEXIST))
		goto close_dir;
	int n = snprintf(a->path, sizeof(a->path), "%s/sessions/%s/%s.txt", store->path, session,
			 m->id);
	if ((size_t)n >= sizeof(a->path)) {
		errno = ENAMETOOLONG;
		goto release;
	}
	if (artifact_open_part(a, ARTIFACT_OUT) < 0)
		goto release;
	/* By this lock others see that the run lives. A reader that is testing it (meta_is_held)
	   has it for a moment. Without locks in the file system the run only looks interrupted. */
	store_lock(a->parts[ARTIFACT_OUT].fd, LOCK_EX);
	artifact_describe(a);
	if (meta_write(a->dir, m) < 0 || journal_add_made(a->dir, m->id) < 0)
		goto close_part;
	return 0;
close_part:
	stream_close(&a->parts[ARTIFACT_OUT]);
	a->used[ARTIFACT_OUT] = false;
	id_remove_files(a->dir, m->id);
release:
	id_release(store, m->id);
close_dir:
	io_close(&a->dir);
	return -1;
}

struct artifact *artifact_create(struct meta *meta, uint64_t max_bytes, uint64_t min_free)
{
	struct artifact *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	/* Best effort. */
	a->reserve = malloc(META_RESERVE);
	a->meta = meta;
	a->max_bytes = max_bytes;
	a->min_free = min_free;
	char session[STORE_SESSION_LEN + 1];
	store_session_name(meta->session, session);
	struct store store;
	int next = 0, error = 0;
	while (store_open_next(&store, &next) == 0) {
		int result = create_in(a, &store, session);
		store_close(&store);
		if (result == 0)
			return a;
		error = errno;
	}
	if (!error)
		error = errno;
	meta->id[0] = '\0';
	free(a->reserve);
	free(a);
	errno = error;
	return NULL;
}

int artifact_append(struct artifact *a, enum artifact_part part, const char *data, size_t len)
{
	if (len == 0)
		return a->used[part] && a->parts[part].error ? -1 : 0;
	return stream_append(use_part(a, part), data, len);
}

void artifact_use(struct artifact *a, enum artifact_part part)
{
	use_part(a, part);
}

int artifact_set_live(struct artifact *a, enum artifact_part part, const char *data, size_t len)
{
	/* Writing zero bytes does not create the file. */
	if (len == 0 && !a->used[part])
		return 0;
	return stream_set_live(use_part(a, part), data, len);
}

int artifact_end_recording(struct artifact *a, enum artifact_part part, const char *why)
{
	return stream_end_recording(use_part(a, part), why);
}

int artifact_flush(struct artifact *a)
{
	for (int i = 0; i < ARTIFACT_PARTS; i++) {
		if (a->used[i])
			stream_flush(&a->parts[i]);
	}
	return artifact_error(a) ? -1 : 0;
}

int artifact_error(const struct artifact *a)
{
	for (int i = 0; i < ARTIFACT_PARTS; i++) {
		if (a->used[i] && a->parts[i].error)
			return a->parts[i].error;
	}
	return 0;
}

int artifact_update(struct artifact *a)
{
	artifact_flush(a);
	artifact_describe(a);
	int result = meta_write(a->dir, a->meta);
	if (result < 0 && errno == ENOMEM && a->reserve) {
		free(a->reserve);
		a->reserve = NULL;
		result = meta_write(a->dir, a->meta);
	}
	return result;
}

int artifact_directory(const struct artifact *a)
{
	return a->dir;
}

const char *artifact_id(const struct artifact *a)
{
	return a->meta->id;
}

const char *artifact_path(const struct artifact *a)
{
	return a->path;
}

bool artifact_part_path(const struct artifact *a, enum artifact_part part, char out[PATH_MAX])
{
	int len = (int)(strlen(a->path) - strlen(artifact_files[ARTIFACT_OUT].suffix));
	bool there = a->used[part] && a->parts[part].fd >= 0;
	return there && snprintf(out, PATH_MAX, "%.*s%s", len, a->path,
				 artifact_files[part].suffix) < PATH_MAX;
}

int artifact_open_text(const struct artifact *a, enum artifact_part part, struct text *text)
{
	return text_open(text, a->dir, a->meta->id, part);
}

int artifact_keep_shown(const struct artifact *a, const char *data, size_t len)
{
	int fd = id_open_file(a->dir, a->meta->id, ARTIFACT_SHOWN, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd < 0)
		return -1;
	int result = stream_has_room(a->dir, a->min_free) ? io_write(fd, data, len) : -1;
	io_close(&fd);
	return result;
}

void artifact_close(struct artifact *a)
{
	if (!a)
		return;
	for (int i = 0; i < ARTIFACT_PARTS; i++) {
		if (a->used[i])
			stream_close(&a->parts[i]);
	}
	io_close(&a->dir);
	free(a->reserve);
	free(a);
}
