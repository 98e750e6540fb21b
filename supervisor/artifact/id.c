// See id.h.

#include "supervisor/artifact/id.h"

#include "lib/io.h"
#include "supervisor/artifact/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PREFIX      "cmd-"
#define PREFIX_LEN  4
#define RANDOM_BITS 15
#define TIME_BITS   45

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

static int digit_value(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

bool id_is_valid(const char *text)
{
	if (strncmp(text, PREFIX, PREFIX_LEN) != 0)
		return false;
	for (int i = PREFIX_LEN; i < ID_LEN; i++) {
		if (digit_value(text[i]) < 0)
			return false;
	}
	return text[ID_LEN] == '\0';
}

uint64_t id_pack(const char *id)
{
	uint64_t packed = 0;
	for (int i = PREFIX_LEN; i < ID_LEN; i++)
		packed = packed << 5 | (uint64_t)digit_value(id[i]);
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

int64_t id_time_ms(uint64_t packed)
{
	return (int64_t)(packed >> RANDOM_BITS);
}

uint64_t id_first_at(int64_t ms)
{
	return ms > 0 ? ((uint64_t)ms & ((1ULL << TIME_BITS) - 1)) << RANDOM_BITS : 0;
}

uint64_t id_last_at(int64_t ms)
{
	return id_first_at(ms) | ((1u << RANDOM_BITS) - 1);
}

const char *const id_suffixes[] = {".txt", ".err.txt", ".raw",  ".json",
				   ".idx", ".err.idx", ".cast", NULL};

/* The longest suffix is ".err.txt". */
#define FILE_NAME_LEN (ID_LEN + 8)

int id_open_file(int dir, const char *id, const char *suffix, int flags)
{
	char name[FILE_NAME_LEN + 1];
	snprintf(name, sizeof(name), "%s%s", id, suffix);
	return store_open_file(dir, name, flags);
}

bool id_has_file(int dir, const char *id, const char *suffix)
{
	char name[FILE_NAME_LEN + 1];
	snprintf(name, sizeof(name), "%s%s", id, suffix);
	return io_is_there(dir, name);
}

bool id_of_file(const char *name, char id[ID_LEN + 1])
{
	if (strlen(name) <= ID_LEN)
		return false;
	memcpy(id, name, ID_LEN);
	id[ID_LEN] = '\0';
	if (!id_is_valid(id))
		return false;
	for (size_t i = 0; id_suffixes[i]; i++) {
		if (strcmp(name + ID_LEN, id_suffixes[i]) == 0)
			return true;
	}
	return false;
}

int id_claim(const struct store *s, const char *session, int64_t started_ms, char id[ID_LEN + 1])
{
	int ids = store_open_ids(s, true);
	if (ids < 0)
		return -1;
	uint64_t first = id_first_at(started_ms);
	int result = -1;
	/* 32,768 IDs per millisecond: after some misses the next millisecond is tried, so
	   that even a clock that stands still never runs out of them. */
	for (int attempt = 1; attempt <= 4096; attempt++) {
		uint16_t draw;
		if (getrandom(&draw, sizeof(draw), 0) != (ssize_t)sizeof(draw)) {
			if (errno == EINTR)
				continue;
			break;
		}
		id_unpack(first | (draw & ((1u << RANDOM_BITS) - 1)), id);
		result = symlinkat(session, ids, id);
		if (result == 0 || errno != EEXIST)
			break;
		if (attempt % 16 == 0)
			first += 1u << RANDOM_BITS;
	}
	io_close(&ids);
	return result;
}

int id_claim_exact(const struct store *s, const char *session, const char *id)
{
	int ids = store_open_ids(s, true);
	if (ids < 0)
		return -1;
	int result = symlinkat(session, ids, id);
	io_close(&ids);
	return result;
}

int id_claim_again(const struct store *s, const char *session, const char *id)
{
	int result = id_claim_exact(s, session, id);
	return result < 0 && errno == EEXIST ? 0 : result;
}

void id_release(const struct store *s, const char *id)
{
	int ids = store_open_ids(s, false);
	if (ids < 0)
		return;
	unlinkat(ids, id, 0);
	io_close(&ids);
}

/* Whether the artifact that the link ids/ID stands for is there, and in which session. */
static bool is_there(const struct store *s, int ids, const char *id,
		     char session[STORE_SESSION_LEN + 1])
{
	ssize_t n = readlinkat(ids, id, session, STORE_SESSION_LEN + 1);
	session[n > 0 && n <= STORE_SESSION_LEN ? n : 0] = '\0';
	if (n <= 0 || n > STORE_SESSION_LEN)
		return n < 0 && store_is_short(errno);
	/* Refuses what is no session's name, so also "../x". */
	int dir = store_open_session(s, session, false);
	if (dir < 0)
		return store_is_short(errno);
	bool there = id_has_file(dir, id, ".txt");
	io_close(&dir);
	return there;
}

bool id_exists(const struct store *s, const char *id)
{
	char session[STORE_SESSION_LEN + 1];
	int ids = store_open_ids(s, false);
	/* Unless that is known it is not gone. */
	bool there = ids < 0 ? errno != ENOENT : is_there(s, ids, id, session);
	io_close(&ids);
	return there;
}

static bool id_look_up(struct store *s, int ids, const char *id, struct id_found *found)
{
	if (!is_there(s, ids, id, found->session))
		return false;
	found->store = s;
	memcpy(found->id, id, ID_LEN + 1);
	return true;
}

static int find_whole(struct store *stores, int count, const char *id, struct id_found *found)
{
	bool there = false;
	int error = ENOENT;
	for (int i = 0; i < count && !there; i++) {
		int ids = store_open_ids(&stores[i], false);
		if (ids < 0) {
			error = errno == ENOENT ? error : errno;
			continue;
		}
		there = id_look_up(&stores[i], ids, id, found);
		io_close(&ids);
	}
	errno = error;
	return there ? 0 : -1;
}

/* Looks through one store; *matches counts up to two different artifacts. */
static int find_prefix_in(struct store *s, const char *prefix, struct id_found *found, int *matches)
{
	int ids = store_open_ids(s, false);
	DIR *d = io_list_opened(ids);
	if (!d)
		return errno == ENOENT ? 0 : -1;
	size_t len = strlen(prefix);
	struct dirent *e = NULL;
	while (*matches < 2 && (errno = 0, e = readdir(d))) {
		struct id_found candidate;
		if (strncmp(e->d_name, prefix, len) != 0 || !id_is_valid(e->d_name) ||
		    !id_look_up(s, ids, e->d_name, &candidate))
			continue;
		if (*matches == 1 && strcmp(found->id, candidate.id) == 0)
			continue;
		if ((*matches)++ == 0)
			*found = candidate;
	}
	bool failed = !e && errno && *matches < 2;
	closedir(d);
	return failed ? -1 : 0;
}

static int find_prefix(struct store *stores, int count, const char *prefix, struct id_found *found)
{
	int matches = 0;
	for (int i = 0; i < count; i++) {
		if (find_prefix_in(&stores[i], prefix, found, &matches) < 0)
			return -1;
	}
	if (matches == 1)
		return 0;
	errno = matches ? EEXIST : ENOENT;
	return -1;
}

static bool is_prefix(const char *name)
{
	size_t len = strlen(name);
	if (len <= PREFIX_LEN || len >= ID_LEN || strncmp(name, PREFIX, PREFIX_LEN) != 0)
		return false;
	for (size_t i = PREFIX_LEN; i < len; i++) {
		if (digit_value(name[i]) < 0)
			return false;
	}
	return true;
}

/* The ID in a name that has a whole one. */
static bool take_whole(const char *name, char id[ID_LEN + 1])
{
	const char *slash = strrchr(name, '/');
	if (id_of_file(slash ? slash + 1 : name, id))
		return true;
	if (id_is_valid(name))
		memcpy(id, name, ID_LEN + 1);
	return id_is_valid(name);
}

bool id_is_whole(const char *name)
{
	char id[ID_LEN + 1];
	return take_whole(name, id);
}

int id_find(struct store *stores, int count, const char *session, const char *name,
	    struct id_found *found)
{
	unsigned long back;
	if (last_is(name, &back))
		return last_find(stores, count, session, back, found);
	char id[ID_LEN + 1];
	if (take_whole(name, id))
		return find_whole(stores, count, id, found);
	if (is_prefix(name))
		return find_prefix(stores, count, name, found);
	errno = EINVAL;
	return -1;
}
