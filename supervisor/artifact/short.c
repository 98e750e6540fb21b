// See short.h.

#include "supervisor/artifact/short.h"

#include "lib/buffer.h"
#include "lib/fingerprint.h"
#include "lib/io.h"
#include "supervisor/artifact/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS  ".texts"
#define LINK     ".link"
#define NAME_LEN 8 /* of the part of an ID that begins the file's name */

/* The length of a part that a record does not have. */
#define ABSENT UINT32_MAX

/* Records begin at multiples of this, so that a reader finds the next one after damaged bytes. */
#define CELL ((uint64_t)64)

/* A file system gives a file room in multiples of this. */
#define ROOM ((uint64_t)4096)

/* Bytes of one read. */
#define BLOCK ((size_t)4096)

/* A longer record was not written by terse. */
#define RECORD_MOST ((uint64_t)4 * META_MAX)

/* How often another ID is tried when a run has the ID already. */
#define TRIES 100

/* The offset of a record modulo this many bytes follows from its ID. */
#define STEP (ID_DRAWS * CELL)

/* Bytes of the name of a file with records, or of its link. */
#define SHORT_NAME (NAME_LEN + sizeof(RECORDS))

/* Relative to the directory of a session. */
#define IDS      "../../" STORE_IDS
#define LINK_LEN (sizeof(IDS) + 2 + ID_LEN)

struct short_head {
	uint64_t check; /* checksum of everything after this member */
	uint64_t mark;  /* checksum of the rest of the head */
	uint64_t offset;
	char id[ID_LEN];
	uint32_t sizes[ARTIFACT_ARCHIVED]; /* lengths of the parts, which follow in this order */
};

_Static_assert(sizeof(struct short_head) == CELL, "a head is never written in part");

static uint64_t short_check(const struct buffer *record)
{
	return fingerprint_exact(record->data + sizeof(uint64_t), record->len - sizeof(uint64_t));
}

static uint64_t short_mark(const struct short_head *head)
{
	const size_t from = offsetof(struct short_head, offset);
	return fingerprint_exact((const char *)head + from, sizeof(*head) - from);
}

/* The length of the record with this head; 0: this is not the head of a record. */
static uint64_t short_len(const struct short_head *head, uint64_t at)
{
	uint64_t len = sizeof(*head);
	for (enum artifact_part part = 0; part < ARTIFACT_ARCHIVED; part++)
		len += head->sizes[part] == ABSENT ? 0 : head->sizes[part];
	return head->offset == at && head->mark == short_mark(head) && len <= RECORD_MOST ? len : 0;
}

int short_follow(int ids, const char *id, struct short_place *place)
{
	char link[SHORT_LINK + 1];
	ssize_t n = readlinkat(ids, id, link, SHORT_LINK);
	if (n < 0)
		return -1;
	link[n] = '\0';
	const size_t name = strcspn(link, "+");
	int end = 0;
	*place = (struct short_place){.is_short = link[name]};
	if (name <= STORE_SESSION_LEN)
		memcpy(place->session, link, name);
	place->is_whole = link[name] &&
			  sscanf(link + name + 1, "%" SCNu64 "%n", &place->base, &end) == 1 &&
			  !link[name + 1 + (size_t)end] && place->base < ID_DRAWS;
	return 0;
}

/* The first offset at which the record of an ID may begin; the others follow at multiples of
   STEP. */
static uint64_t short_begin(const struct short_place *place, const char *id)
{
	return (id_pack(id) - place->base) % ID_DRAWS * CELL;
}

static int short_find(int dir, const char *id, struct short_place *place)
{
	char name[LINK_LEN];
	snprintf(name, sizeof(name), IDS "/%s", id);
	if (short_follow(dir, name, place) < 0)
		return -1;
	errno = ENOENT;
	return place->is_short ? 0 : -1;
}

bool short_is(int dir, const char *id)
{
	struct short_place place;
	return short_find(dir, id, &place) == 0;
}

/* The name of the records of an ID, or of their link. */
static void short_name(const char *id, const char *suffix, char name[SHORT_NAME])
{
	snprintf(name, SHORT_NAME, "%.*s%s", NAME_LEN, id, suffix);
}

/* Finds the record of a short text. Returns its file, and in `begin` up to BLOCK bytes of the
   record, or -1 with errno (ENOENT: the run has no short text; EBADMSG: the record is not
   there). */
static int short_open(int dir, const char *id, struct short_head *head, struct buffer *begin)
{
	struct short_place place;
	char name[SHORT_NAME];
	ssize_t n = 0;
	short_name(id, RECORDS, name);
	int fd = short_find(dir, id, &place) < 0 ? -1 : store_open_file(dir, name, O_RDONLY);
	if (fd < 0)
		return -1;
	for (uint64_t at = short_begin(&place, id); place.is_whole; at += STEP) {
		n = buffer_reserve(begin, BLOCK) < 0
			    ? -1
			    : io_read_at(fd, begin->data, BLOCK, (off_t)at);
		if (n < (ssize_t)sizeof(*head))
			break;
		memcpy(head, begin->data, sizeof(*head));
		if (short_len(head, at) > 0 && memcmp(head->id, id, ID_LEN) == 0) {
			begin->len = (size_t)n;
			return fd;
		}
	}
	io_close(&fd);
	buffer_release(begin);
	if (n >= 0 && short_is(dir, id)) /* it may have been removed just now */
		errno = EBADMSG;
	return -1;
}

/* Makes STORE/ids/ID, so that the ID leads to the new record. `text`: the text of the link; `has`:
   the link beside the records has the same text. */
static int short_link(int dir, const char *id, const char *text, bool has)
{
	char name[LINK_LEN], link[SHORT_NAME];
	snprintf(name, sizeof(name), IDS "/%s", id);
	short_name(id, LINK, link);
	int result = has ? linkat(dir, link, dir, name, 0) : -1;
	/* This is the first record, or the link has as many names as the file system allows. */
	if (result < 0 && (!has || errno != EEXIST)) {
		mkdirat(dir, IDS, 0700);
		unlinkat(dir, link, 0);
		if (symlinkat(text, dir, link) < 0)
			return symlinkat(text, dir, name);
		result = linkat(dir, link, dir, name, 0);
	}
	/* Some file systems allow no hard links to a symbolic link. */
	return result < 0 && errno != EEXIST ? symlinkat(text, dir, name) : result;
}

/* Replaces the link of an ID. */
static int short_relink(int dir, const char *id, const char *text)
{
	char name[LINK_LEN], temporary[LINK_LEN];
	snprintf(name, sizeof(name), IDS "/%s", id);
	snprintf(temporary, sizeof(temporary), IDS "/.%s", id);
	unlinkat(dir, temporary, 0);
	return symlinkat(text, dir, temporary) < 0 ? -1 : renameat(dir, temporary, dir, name);
}

/* Writes the record. A run without an ID gets one of this millisecond. */
static int short_write(int dir, struct meta *m, int64_t ms, uint64_t min_free,
		       const struct buffer *const parts[ARTIFACT_JSON])
{
	const bool claimed = m->id[0];
	struct buffer record = BUFFER_INIT;
	char session[STORE_SESSION_LEN + 1], link[SHORT_LINK + 1], name[SHORT_NAME];
	struct short_place place;
	struct stat st;
	bool has = false;
	if (!claimed)
		id_unpack(id_first_at(ms), m->id);
	short_name(m->id, RECORDS, name);
	/* This lock protects the link beside the records, too. */
	int result = -1, fd = store_open_locked(dir, name, O_RDWR | O_CREAT, LOCK_EX, &st);
	if (fd < 0)
		goto out;
	store_session_name(m->session, session);
	const uint64_t cells = ((uint64_t)st.st_size + CELL - 1) / CELL;
	struct short_head head = {.offset = cells * CELL};
	uint64_t base = (id_pack(m->id) - cells) % ID_DRAWS;
	if (!claimed) {
		short_name(m->id, LINK, name);
		has = short_follow(dir, name, &place) == 0 && place.is_whole &&
		      strcmp(place.session, session) == 0;
		if (!has && id_draw(ms, m->id) < 0)
			goto out;
		base = has ? place.base : id_pack(m->id) % ID_DRAWS;
		id_unpack(id_first_at(ms) + (base + cells) % ID_DRAWS, m->id);
	}
	snprintf(link, sizeof(link), "%s+%" PRIu64, session, base);
	memcpy(head.id, m->id, ID_LEN);
	buffer_append(&record, &head, sizeof(head));
	for (enum artifact_part part = 0; part < ARTIFACT_ARCHIVED; part++) {
		size_t before = record.len;
		if (part == ARTIFACT_JSON)
			meta_encode(&record, m, META_COMMAND);
		else if (parts[part])
			buffer_add(&record, parts[part]);
		bool is_there = part == ARTIFACT_JSON || parts[part];
		head.sizes[part] = is_there ? (uint32_t)(record.len - before) : ABSENT;
	}
	/* Bytes that fit into the file's last block take no room. */
	bool fits = (head.offset + record.len - 1) / ROOM == ((uint64_t)st.st_size - 1) / ROOM;
	if (buffer_check(&record) < 0 || (!fits && !store_has_room(fd, min_free)))
		goto out;
	head.mark = short_mark(&head);
	memcpy(record.data, &head, sizeof(head));
	head.check = short_check(&record);
	memcpy(record.data, &head.check, sizeof(head.check));
	result = io_write_at(fd, record.data, record.len, (off_t)head.offset);
	if (result == 0)
		result = claimed ? short_relink(dir, m->id, link)
				 : short_link(dir, m->id, link, has);
	int error = errno;
	if (result < 0)
		ftruncate(fd, st.st_size);
	errno = error;
out:
	if (result < 0 && !claimed)
		m->id[0] = '\0';
	buffer_release(&record);
	io_close(&fd);
	return result;
}

int short_add(int dir, struct meta *m, uint64_t min_free,
	      const struct buffer *const parts[ARTIFACT_JSON])
{
	int result = -1;
	/* If a run of another session has the ID, this run gets an ID of the next millisecond. */
	errno = EEXIST;
	for (int i = 0; result < 0 && errno == EEXIST && i < TRIES; i++)
		result = short_write(dir, m, m->started_ms + i, min_free, parts);
	return result;
}

int short_read(int dir, const char *id, enum artifact_part part, struct short_part *found)
{
	struct buffer *record = &found->record;
	struct short_head head;
	*record = (struct buffer)BUFFER_INIT;
	int result = -1, fd = short_open(dir, id, &head, record);
	if (fd < 0)
		return -1;
	const size_t len = (size_t)short_len(&head, head.offset);
	const size_t begun = record->len < len ? record->len : len, rest = len - begun;
	buffer_truncate(record, begun);
	ssize_t n = buffer_reserve(record, rest) < 0 ? -1
						     : io_read_at(fd, record->data + begun, rest,
								  (off_t)(head.offset + begun));
	if (n < 0)
		goto out;
	record->len += (size_t)n;
	size_t at = sizeof(head), from = 0;
	for (enum artifact_part p = 0; p < ARTIFACT_ARCHIVED; p++) {
		from = p == part ? at : from;
		at += head.sizes[p] == ABSENT ? 0 : head.sizes[p];
	}
	if (record->len == len && head.check == short_check(record)) {
		bool is_there = part < ARTIFACT_ARCHIVED && head.sizes[part] != ABSENT;
		found->len = is_there ? head.sizes[part] : 0;
		const char *data = record->data + from;
		const size_t out =
			head.sizes[ARTIFACT_OUT] == ABSENT ? 0 : head.sizes[ARTIFACT_OUT];
		/* ID.shown is a line and the printed bytes; a record has only the line if these
		   bytes are the text. */
		if (is_there && part == ARTIFACT_SHOWN &&
		    memchr(data, '\n', found->len) == data + found->len - 1 &&
		    buffer_reserve(record, found->len + out) == 0) {
			buffer_append(record, record->data + from, found->len);
			buffer_append(record, record->data + sizeof(head), out);
			from = at;
			found->len += out;
		}
		found->data = record->data + from;
		errno = ENOENT;
		result = is_there ? 0 : -1;
	} else { /* it may have been removed just now */
		errno = short_is(dir, id) ? EBADMSG : ENOENT;
	}
out:
	io_close(&fd);
	return result;
}

/* Makes a file of a part. Returns 0, even if there is none. */
static int short_unpack_part(int dir, const char *id, enum artifact_part part)
{
	struct short_part found;
	char name[ID_FILE_NAME], temporary[ID_FILE_NAME];
	int to = -1, result = short_read(dir, id, part, &found);
	if (result < 0) {
		result = errno == ENOENT ? 0 : -1;
		goto out;
	}
	id_file_name("", id, part, name);
	id_file_name(".", id, part, temporary);
	result = -1;
	to = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_TRUNC);
	if (to >= 0 && io_write(to, found.data, found.len) == 0)
		result = renameat(dir, temporary, dir, name);
	if (to >= 0 && result < 0)
		io_unlink(dir, temporary);
out:
	io_close(&to);
	buffer_release(&found.record);
	return result;
}

uint64_t short_bytes(int dir, const char *id)
{
	struct short_part found;
	short_read(dir, id, ARTIFACT_OUT, &found);
	const uint64_t bytes = found.record.len;
	buffer_release(&found.record);
	return bytes;
}

int short_lock(int dir, const char *id)
{
	char name[SHORT_NAME];
	struct stat st;
	short_name(id, RECORDS, name);
	return store_open_locked(dir, name, O_RDWR, LOCK_EX, &st);
}

int short_unpack(int dir, const char *id)
{
	struct short_place place;
	int lock = short_lock(dir, id), result = lock < 0 && errno != ENOENT ? -1 : 0;
	bool is_short = result == 0 && short_find(dir, id, &place) == 0;
	if (result == 0 && !is_short && errno != ENOENT)
		result = -1;
	/* The text is made last: the artifact exists as soon as its text does. */
	for (int part = ARTIFACT_ARCHIVED - 1; is_short && part >= 0 && result == 0; part--)
		result = short_unpack_part(dir, id, (enum artifact_part)part);
	if (is_short && result == 0)
		result = short_relink(dir, id, place.session);
	io_close(&lock);
	return is_short && result == 0 ? short_sweep(dir, place.session) : result;
}

/* --- what is removed ---------------------------------------------------------------------- */

bool short_is_file(const char *name)
{
	return strlen(name) == NAME_LEN + strlen(RECORDS) && strcmp(name + NAME_LEN, RECORDS) == 0;
}

/* Whether a link leads to the record that may begin here. Returns 1, 0, or -1 with errno. */
static int short_is_live(int dir, const char *session, const struct short_head *head, uint64_t at)
{
	char id[ID_LEN + 1] = "";
	struct short_place place;
	memcpy(id, head->id, ID_LEN);
	if (short_len(head, at) == 0 || !id_is_valid(id))
		return 0;
	if (short_find(dir, id, &place) < 0)
		return store_is_short(errno) ? -1 : 0;
	return place.is_whole && short_begin(&place, id) == at % STEP &&
	       strcmp(place.session, session) == 0;
}

int short_walk(int dir, const char *session, const char *name, bool sweeps,
	       int (*each)(void *ctx, const char *id, uint64_t bytes), void *ctx)
{
	static const char zeros[CELL];
	char block[BLOCK], id[ID_LEN + 1] = "", link[SHORT_NAME];
	uint64_t from = 0, end = 0;
	ssize_t n = 0;
	struct stat st;
	/* Locks the file, so that nobody writes a record and its link meanwhile. */
	int fd = sweeps ? store_open_locked(dir, name, O_RDWR, LOCK_EX, &st)
			: store_open_file(dir, name, O_RDONLY);
	int result = fd < 0 ? -1 : 0;
	for (uint64_t at = 0; result == 0; at += CELL) {
		struct short_head head = {0};
		if (at >= from + (uint64_t)n) {
			n = io_read_at(fd, block, sizeof(block), (off_t)at);
			from = at;
			result = n < 0 ? -1 : 0;
		}
		if (n <= 0)
			break;
		size_t left = (size_t)n - (size_t)(at - from), len = left < CELL ? left : CELL;
		memcpy(&head, block + (at - from), len);
		int live = short_is_live(dir, session, &head, at);
		if (live == 1) {
			const uint64_t bytes = short_len(&head, at);
			memcpy(id, head.id, ID_LEN);
			end = at + bytes;
			at = (end - 1) / CELL * CELL;
			result = each ? each(ctx, id, bytes) : 0;
		} else if (live < 0 || (sweeps && memcmp(&head, zeros, len) != 0)) {
			result = live < 0 ? -1 : io_write_at(fd, zeros, len, (off_t)at);
		}
	}
	if (result == 0 && sweeps && end == 0) {
		short_name(name, LINK, link);
		unlinkat(dir, link, 0);
		result = unlinkat(dir, name, 0);
	} else if (result == 0 && sweeps) {
		result = ftruncate(fd, (off_t)end);
	}
	io_close(&fd);
	return result;
}

int short_sweep(int dir, const char *session)
{
	DIR *d = io_list(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int result = d ? 0 : -1, error = errno;
	for (struct dirent *e; d && (e = readdir(d));) {
		if (short_is_file(e->d_name) &&
		    short_walk(dir, session, e->d_name, true, NULL, NULL) < 0 && errno != ENOENT) {
			error = errno;
			result = -1;
		}
	}
	if (d)
		closedir(d);
	errno = error;
	return result;
}
