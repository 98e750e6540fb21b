// See id.h.

#include "supervisor/artifact/id.h"

#include "config/profile.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/short.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX      "cmd-"
#define PREFIX_LEN  4
#define RANDOM_BITS 15 /* ID_DRAWS */
#define TIME_BITS   45

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

bool id_is_valid(const char *text)
{
	return strncmp(text, PREFIX, PREFIX_LEN) == 0 &&
	       strspn(text + PREFIX_LEN, digits) == ID_LEN - PREFIX_LEN && text[ID_LEN] == '\0';
}

uint64_t id_pack(const char *id)
{
	uint64_t packed = 0;
	for (int i = PREFIX_LEN; i < ID_LEN; i++)
		packed = packed << 5 | (uint64_t)(strchr(digits, id[i]) - digits);
	return packed;
}

void id_unpack(uint64_t packed, char id[ID_LEN + 1])
{
	memcpy(id, PREFIX, PREFIX_LEN);
	for (int i = ID_LEN - 1; i >= PREFIX_LEN; i--) {
		id[i] = digits[packed & 31];
		packed >>= 5;
	}
	id[ID_LEN] = '\0';
}

int id_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

int64_t id_time_ms(uint64_t packed)
{
	return (int64_t)(packed >> RANDOM_BITS);
}

uint64_t id_first_at(int64_t ms)
{
	return ms > 0 ? ((uint64_t)ms & ((1ULL << TIME_BITS) - 1)) << RANDOM_BITS : 0;
}

const char *const artifact_suffixes[ARTIFACT_FILES] = {
	[ARTIFACT_OUT] = ".txt",       [ARTIFACT_ERR] = ".err.txt",       [ARTIFACT_RAW] = ".raw",
	[ARTIFACT_CAST] = ".cast",     [ARTIFACT_SHOWN] = ".shown",       [ARTIFACT_JSON] = ".json",
	[ARTIFACT_OUT_INDEX] = ".idx", [ARTIFACT_ERR_INDEX] = ".err.idx",
};

void id_file_name(const char *prefix, const char *id, enum artifact_part part,
		  char name[ID_FILE_NAME])
{
	snprintf(name, ID_FILE_NAME, "%s%s%s", prefix, id, artifact_suffixes[part]);
}

int id_open_file(int dir, const char *id, enum artifact_part part, int flags)
{
	char name[ID_FILE_NAME];
	id_file_name("", id, part, name);
	return store_open_file(dir, name, flags);
}

int id_open_text(int dir, const char *id, enum artifact_part part)
{
	struct short_part found;
	int fd = id_open_file(dir, id, part, O_RDONLY);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (short_read(dir, id, part, &found) == 0)
		fd = io_above_standard(memfd_create(id, MFD_CLOEXEC));
	if (fd >= 0 && io_write_at(fd, found.data, found.len, 0) < 0)
		io_close(&fd);
	buffer_release(&found.record);
	return fd;
}

int id_remove_files(int dir, const char *id, uint64_t *freed)
{
	int there = 0;
	for (int i = 0; i < 2 * ARTIFACT_FILES; i++) {
		char name[ID_FILE_NAME];
		struct stat st;
		id_file_name(i % 2 ? "." : "", id, i / 2, name);
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    unlinkat(dir, name, 0) == 0) {
			there |= i == 0;
			*freed += st.st_nlink == 1 ? (uint64_t)st.st_blocks * 512 : 0;
		} else if (i == 0 && errno != ENOENT) {
			return -1;
		}
	}
	return there;
}

bool id_has_file(int dir, const char *id, enum artifact_part part)
{
	char name[ID_FILE_NAME];
	id_file_name("", id, part, name);
	return io_is_there(dir, name);
}

bool id_is_kept(int dir, const char *id)
{
	return short_is(dir, id) || id_has_file(dir, id, ARTIFACT_OUT);
}

enum artifact_part id_of_file(const char *name, char id[ID_LEN + 1])
{
	enum artifact_part part = ARTIFACT_OUT;
	snprintf(id, ID_LEN + 1, "%s", name);
	if (!id_is_valid(id))
		return ARTIFACT_FILES;
	while (part < ARTIFACT_FILES && strcmp(name + ID_LEN, artifact_suffixes[part]) != 0)
		part++;
	return part;
}

int id_draw(int64_t started_ms, char id[ID_LEN + 1])
{
	uint16_t draw;
	ssize_t n;
	do {
		n = getrandom(&draw, sizeof(draw), 0);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(draw))
		return -1;
	id_unpack(id_first_at(started_ms) | draw % ID_DRAWS, id);
	return 0;
}

int id_claim(const struct store *s, const char *session, int64_t started_ms, char id[ID_LEN + 1])
{
	const bool given = *id;
	int ids = store_open_folder(s, STORE_IDS, true);
	if (ids < 0)
		return -1;
	int result = -1;
	/* If several IDs are taken, tries IDs of the next millisecond, so that a stopped clock does
	   not exhaust the IDs. */
	for (int attempt = 0; attempt < 4096; attempt++) {
		if (!given && id_draw(started_ms + attempt / 16, id) < 0)
			break;
		result = symlinkat(session, ids, id);
		if (result == 0 || errno != EEXIST || given)
			break;
	}
	io_close(&ids);
	return result;
}

void id_release(const struct store *s, const char *id)
{
	int saved = errno, ids = store_open_folder(s, STORE_IDS, false);
	if (ids >= 0)
		unlinkat(ids, id, 0);
	io_close(&ids);
	errno = saved;
}

/* Finds the session that claimed an ID ("": none did). Returns 0 if the artifact exists, or -1 with
   errno: ENOENT if it certainly does not. */
static int id_look(const struct store *s, const char *id, char session[STORE_SESSION_LEN + 1])
{
	int ids = store_open_folder(s, STORE_IDS, false), dir = -1;
	struct short_place place = {.session = ""};
	bool found = ids >= 0 && short_follow(ids, id, &place) == 0;
	memcpy(session, place.session, sizeof(place.session));
	/* Refuses any text that is not the name of a session, such as "../x". */
	if (found)
		dir = store_open_session(s, session, false);
	int result = dir >= 0 && (place.is_short || id_has_file(dir, id, ARTIFACT_OUT)) ? 0 : -1;
	io_close(&dir);
	io_close(&ids);
	if (result < 0 && errno != EACCES && !store_is_short(errno))
		errno = ENOENT;
	return result;
}

bool id_is_of(const struct store *stores, int count, const char *id, const char *session)
{
	char owner[STORE_SESSION_LEN + 1] = "";
	for (int i = 0; i < count && !*owner; i++)
		id_look(&stores[i], id, owner);
	return strcmp(owner, session) == 0;
}

bool id_exists(const struct store *s, const char *id)
{
	char session[STORE_SESSION_LEN + 1];
	/* An artifact counts as gone only if that is certain. */
	return id_look(s, id, session) == 0 || errno != ENOENT;
}

static int find_prefix(struct store *stores, int count, const char *prefix, struct id_found *found)
{
	int matches = 0; /* different artifacts, up to two */
	size_t len = strlen(prefix);
	for (int i = 0; i < count; i++) {
		DIR *d = io_list(store_open_folder(&stores[i], STORE_IDS, false));
		if (!d && errno == ENOENT)
			continue;
		if (!d)
			return -1;
		struct dirent *e = NULL;
		while (matches < 2 && (errno = 0, e = readdir(d))) {
			struct id_found candidate = {.store = &stores[i]};
			if (strncmp(e->d_name, prefix, len) != 0 || !id_is_valid(e->d_name) ||
			    (id_look(&stores[i], e->d_name, candidate.session) < 0 &&
			     errno == ENOENT) ||
			    (matches == 1 && strcmp(found->id, e->d_name) == 0))
				continue;
			memcpy(candidate.id, e->d_name, sizeof(candidate.id));
			if (matches++ == 0)
				*found = candidate;
		}
		bool failed = !e && errno && matches < 2;
		closedir(d);
		if (failed)
			return -1;
	}
	errno = matches ? EEXIST : ENOENT;
	return matches == 1 ? 0 : -1;
}

bool id_is_whole(const char *name, char id[ID_LEN + 1])
{
	if (id_is_valid(name)) {
		memcpy(id, name, ID_LEN + 1);
		return true;
	}
	const char *slash = strrchr(name, '/');
	return id_of_file(slash ? slash + 1 : name, id) < ARTIFACT_FILES;
}

/* Journal lines are not in the order of the runs' starts, since a run makes its artifact when its
   text spills. If a run started this long before another, its line is assumed to precede the
   other's. */
#define LATE_MS 60000

struct last_run {
	int64_t started_ms;
	struct id_found found; /* id "": the run has made no artifact */
	int64_t ended_ms;      /* 0: not known */
};

/* Reads a run from its journal line, or from its artifact's metadata. Returns whether the run
   counts. */
static bool last_read(const struct journal_line *line, struct last_run *run)
{
	struct meta m = {.owned = NULL};
	const char *id = line->of.id;
	*run = (struct last_run){.found = line->of};
	if (line->kind == JOURNAL_RUN)
		meta_parse(line->text, line->len, &m);
	else if (!id_exists(line->of.store, id))
		return false;
	else
		meta_read_found(&line->of, &m);
	bool counts = m.owned ? !profile_is_own(m.argv) : *id;
	run->started_ms = m.owned ? m.started_ms : *id ? id_time_ms(id_pack(id)) : 0;
	run->ended_ms = line->kind == JOURNAL_RUN ? m.ended_ms : 0;
	meta_release(&m);
	return counts;
}

/* Finds the artifact of the run that is `back` runs before the last one. Reads the journal
   backwards until more than `back` of the runs found have started long enough (LATE_MS) after the
   current line: all lines before that line are of runs that started earlier. */
static int last_find(struct store *stores, int count, const char *session, unsigned long back,
		     struct id_found *found)
{
	struct journal *j =
		journal_open(stores, count, session, JOURNAL_RUN | JOURNAL_MADE | JOURNAL_UNSEEN);
	struct last_run *runs = NULL, run; /* the one that started last comes first */
	size_t known = 0, room = 0;
	struct journal_line line;
	int result = -1, got = j ? 1 : -1;
	bool enough = false;
	while (got == 1 && !enough && (got = journal_next(j, &line)) == 1) {
		/* A run can have two lines, which are close together. */
		size_t at = known;
		while (at > 0 && (!*line.of.id || strcmp(runs[at - 1].found.id, line.of.id) != 0))
			at--;
		if (at > 0) {
			at--;
		} else {
			if (!last_read(&line, &run))
				continue;
			if (!array_add(&runs, &known, &room, sizeof(*runs))) {
				got = -1;
				break;
			}
			for (at = known - 1; at > 0 && runs[at - 1].started_ms < run.started_ms;
			     at--)
				runs[at] = runs[at - 1];
			runs[at] = run;
		}
		int64_t ended_ms = runs[at].ended_ms;
		int64_t then = line.kind == JOURNAL_MADE ? runs[at].started_ms + LATE_MS
			       : ended_ms                ? ended_ms
							 : INT64_MAX;
		enough = back < known && runs[back].started_ms >= then;
	}
	if (got >= 0) {
		const struct last_run *last = back < known ? &runs[back] : NULL;
		if (last)
			*found = last->found;
		/* The run's artifact may be in another store. */
		for (int i = 0; last && *found->id && i < count && result < 0; i++) {
			found->store = &stores[i];
			result = id_exists(found->store, found->id) ? 0 : -1;
		}
		errno = last ? LAST_UNKEPT : ENOENT;
	}
	journal_close(j);
	free(runs);
	return result;
}

int id_find(struct store *stores, int count, const char *session, const char *name,
	    struct id_found *found)
{
	char id[ID_LEN + 1];
	size_t len = strlen(name);
	unsigned long back = 0;
	bool goes_back = strncmp(name, "last-", 5) == 0 && name[5] &&
			 !name[5 + strspn(name + 5, "0123456789")];
	errno = 0;
	if (goes_back)
		back = strtoul(name + 5, NULL, 10);
	if (strcmp(name, "last") == 0 || (goes_back && errno == 0))
		return last_find(stores, count, session, back, found);
	if (id_is_whole(name, id)) {
		int error = ENOENT;
		for (int i = 0; i < count; i++) {
			found->store = &stores[i];
			memcpy(found->id, id, sizeof(found->id));
			if (id_look(&stores[i], id, found->session) == 0)
				return 0;
			error = errno == ENOENT ? error : errno;
		}
		errno = error;
		return -1;
	}
	if (len > PREFIX_LEN && len < ID_LEN && strncmp(name, PREFIX, PREFIX_LEN) == 0 &&
	    strspn(name + PREFIX_LEN, digits) == len - PREFIX_LEN)
		return find_prefix(stores, count, name, found);
	errno = EINVAL;
	return -1;
}
