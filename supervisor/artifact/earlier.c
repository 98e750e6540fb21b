// See earlier.h.

#include "supervisor/artifact/earlier.h"

#include "lib/buffer.h"
#include "lib/fingerprint.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/history.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Artifacts that are looked at, each of which costs reading a file. */
#define LOOKS 5000

bool earlier_is_same(const struct meta *a, const struct meta *b)
{
	char *const *x = a->argv, *const *y = b->argv;
	if (!x || !y || !a->cwd || !b->cwd || strcmp(a->cwd, b->cwd) != 0)
		return false;
	while (*x && *y && strcmp(*x, *y) == 0) {
		x++;
		y++;
	}
	return !*x && !*y;
}

/* Returns 1 if the artifact is an earlier run of the same command, 0, or -1 without memory. */
static int earlier_look(const struct id_found *found, const struct meta *m)
{
	struct meta other;
	int dir = store_open_session(found->store, found->session, false);
	int result = dir < 0 ? -1 : meta_read(dir, found->id, &other);
	int error = errno;
	io_close(&dir);
	if (result < 0)
		return error == ENOMEM ? -1 : 0;
	result = earlier_is_same(&other, m);
	meta_release(&other);
	return result;
}

static int earlier_walk(struct store *stores, int count, const char *session, const struct meta *m,
			struct id_found *found)
{
	struct recent *r = recent_open(stores, count, session);
	int looks = 0, got = r ? 1 : -1;
	while (got == 1 && looks < LOOKS && (got = recent_next(r, found)) == 1) {
		if (strcmp(found->id, m->id) >= 0)
			continue;
		looks++;
		int is = earlier_look(found, m);
		if (is) {
			got = is;
			goto out;
		}
	}
	got = got < 0 ? -1 : 0;
out:
	if (r)
		recent_close(r);
	return got;
}

int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 struct id_found *found)
{
	int got = earlier_walk(stores, count, session, m, found);
	return got ? got : earlier_walk(stores, count, NULL, m, found);
}

/* Bytes of a history's end that are looked through: some two hundred runs. */
#define HISTORY_END ((size_t)128 * 1024)

/* Appends the words and the directory as a line of the history has them: as long as they are not
   cut there, the same bytes in the lines of all runs of the command. */
static void add_identity(struct buffer *out, const struct meta *m)
{
	static const char from[] = "\"command\":", to[] = ",\"state\":";
	struct buffer line = BUFFER_INIT;
	meta_encode(&line, m, META_HISTORY_MAX);
	const char *start = line.len ? memmem(line.data, line.len, from, strlen(from)) : NULL;
	const char *end =
		start ? memmem(start, (size_t)(line.data + line.len - start), to, strlen(to))
		      : NULL;
	if (end)
		buffer_append(out, start, (size_t)(end - start) + strlen(to));
	buffer_release(&line);
}

/* The ID in a line of the history; "" for a run without an artifact. */
static void take_id_of_line(const char *line, size_t len, char id[ID_LEN + 1])
{
	static const char key[] = "\"id\":\"";
	const char *at = memmem(line, len, key, strlen(key));
	id[0] = '\0';
	if (!at || (size_t)(line + len - at) < strlen(key) + ID_LEN)
		return;
	memcpy(id, at + strlen(key), ID_LEN);
	id[ID_LEN] = '\0';
	if (!id_is_valid(id))
		id[0] = '\0';
}

/* Finds the newest older artifact of the command in the end of a history. */
static bool find_in_history(const char *text, size_t len, const struct buffer *identity,
			    const struct meta *m, char id[ID_LEN + 1])
{
	while (len > 0) {
		const char *newline = memrchr(text, '\n', len - 1);
		const char *line = newline ? newline + 1 : text;
		size_t line_len = (size_t)(text + len - line);
		take_id_of_line(line, line_len, id);
		if (id[0] && (!m->id[0] || strcmp(id, m->id) < 0) &&
		    memmem(line, line_len, identity->data, identity->len))
			return true;
		len -= line_len;
	}
	return false;
}

static bool look_in_history(int dir, const struct meta *m, char id[ID_LEN + 1])
{
	struct buffer identity = BUFFER_INIT;
	struct stat st;
	char *text = malloc(HISTORY_END);
	int fd = text ? store_open_file(dir, META_HISTORY, O_RDONLY) : -1;
	bool found = false;
	if (fd < 0 || fstat(fd, &st) < 0)
		goto out;
	size_t len = (uint64_t)st.st_size < HISTORY_END ? (size_t)st.st_size : HISTORY_END;
	add_identity(&identity, m);
	if (buffer_check(&identity) == 0 && identity.len > 0 &&
	    io_read_whole(fd, text, len, st.st_size - (off_t)len) == 0)
		found = find_in_history(text, len, &identity, m, id);
out:
	io_close(&fd);
	free(text);
	buffer_release(&identity);
	return found;
}

/* The name of a command's link. */
static void name_link(const struct meta *m, bool success, char name[24])
{
	uint64_t hash = fingerprint_exact(m->cwd, strlen(m->cwd));
	for (char **arg = m->argv; arg && *arg; arg++)
		hash = (hash << 7 | hash >> 57) ^ fingerprint_exact(*arg, strlen(*arg));
	snprintf(name, 24, "%016" PRIx64 "%s", hash, success ? ".ok" : "");
}

/* Reads "SESSION/ID". */
static bool read_link(int dir, const char *name, char session[STORE_SESSION_LEN + 1],
		      char id[ID_LEN + 1])
{
	char text[STORE_SESSION_LEN + ID_LEN + 2];
	ssize_t n = readlinkat(dir, name, text, sizeof(text));
	if (n <= ID_LEN + 1 || n == (ssize_t)sizeof(text) || text[n - ID_LEN - 1] != '/')
		return false;
	memcpy(id, text + n - ID_LEN, ID_LEN);
	id[ID_LEN] = '\0';
	text[n - ID_LEN - 1] = '\0';
	store_session_name(text, session);
	return id_is_valid(id) && strcmp(text, session) == 0;
}

static bool look_at_link(const struct store *s, const struct meta *m, bool success,
			 struct id_found *found)
{
	char name[24];
	int dir = store_open_commands(s, false);
	name_link(m, success, name);
	bool is = dir >= 0 && read_link(dir, name, found->session, found->id);
	io_close(&dir);
	return is && strcmp(found->id, m->id) != 0;
}

/* Whether the artifact that was found is there, and of the command. */
static bool check_found(const struct id_found *found, const struct meta *m, struct meta *other)
{
	int dir = store_open_session(found->store, found->session, false);
	bool is = dir >= 0 && id_has_file(dir, found->id, ".txt") &&
		  meta_read(dir, found->id, other) == 0;
	io_close(&dir);
	if (is && (!earlier_is_same(other, m) || other->state == META_RUNNING)) {
		meta_release(other);
		is = false;
	}
	return is;
}

bool earlier_look_up(struct store *s, const char *session, int dir, const struct meta *m,
		     bool success, struct id_found *found, struct meta *other)
{
	*found = (struct id_found){.store = s};
	snprintf(found->session, sizeof(found->session), "%s", session);
	if (!success && look_in_history(dir, m, found->id) && check_found(found, m, other))
		return true;
	return look_at_link(s, m, success, found) && check_found(found, m, other);
}

static int replace_link(int dir, const char *name, const char *target)
{
	char temporary[48];
	snprintf(temporary, sizeof(temporary), ".%s.%ld", name, (long)getpid());
	if (symlinkat(target, dir, temporary) < 0 &&
	    (errno != EEXIST || unlinkat(dir, temporary, 0) < 0 ||
	     symlinkat(target, dir, temporary) < 0))
		return -1;
	int result = renameat(dir, temporary, dir, name);
	if (result < 0)
		unlinkat(dir, temporary, 0);
	return result;
}

int earlier_note(const struct store *s, const char *session, const struct meta *m)
{
	char name[24], target[STORE_SESSION_LEN + ID_LEN + 2];
	int dir = store_open_commands(s, true);
	if (dir < 0)
		return -1;
	snprintf(target, sizeof(target), "%s/%s", session, m->id);
	name_link(m, false, name);
	int result = replace_link(dir, name, target);
	if (result == 0 && m->state == META_DONE && m->exit_code == 0) {
		name_link(m, true, name);
		result = replace_link(dir, name, target);
	}
	io_close(&dir);
	return result;
}

/* Whether a temporary link was left by a crash. */
static bool is_left(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) &&
	       clock_real_ms() / 1000 - st.st_ctim.tv_sec > STORE_SETTLED_S;
}

void earlier_sweep(const struct store *s)
{
	int dir = store_open_commands(s, false);
	DIR *d = io_list_opened(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		char session[STORE_SESSION_LEN + 1], id[ID_LEN + 1];
		bool goes = e->d_name[0] == '.'
				    ? is_left(dir, e->d_name)
				    : !read_link(dir, e->d_name, session, id) || !id_exists(s, id);
		if (goes)
			unlinkat(dir, e->d_name, 0);
	}
	if (d)
		closedir(d);
}

#define FAILURES_MAGIC "tersefa1"

/* More fingerprints than a preview knows lines. */
#define FAILURES_MOST ((size_t)8192)

int failures_write(int dir, const char *id, const uint64_t *prints, size_t count)
{
	struct buffer out = BUFFER_INIT;
	buffer_append(&out, FAILURES_MAGIC, 8);
	for (size_t i = 0; i < count; i++) {
		uint64_t print = htole64(prints[i]);
		buffer_append(&out, &print, sizeof(print));
	}
	int fd = id_open_file(dir, id, ".fail", O_WRONLY | O_CREAT | O_TRUNC);
	int result = fd < 0 || buffer_check(&out) < 0 ? -1 : io_write(fd, out.data, out.len);
	io_close(&fd);
	buffer_release(&out);
	return result;
}

int failures_read(int dir, const char *id, uint64_t **prints, size_t *count)
{
	struct stat st;
	uint64_t *data = NULL;
	int result = -1, fd = id_open_file(dir, id, ".fail", O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		goto out;
	errno = EBADMSG;
	size_t len = (size_t)st.st_size;
	if (len < 8 || len % 8 || len / 8 > FAILURES_MOST)
		goto out;
	data = malloc(len);
	if (!data || io_read_whole(fd, data, len, 0) < 0)
		goto out;
	errno = EBADMSG;
	if (memcmp(data, FAILURES_MAGIC, 8) != 0)
		goto out;
	*count = len / 8 - 1;
	memmove(data, data + 1, *count * sizeof(*data));
	for (size_t i = 0; i < *count; i++) {
		data[i] = le64toh(data[i]);
		if (i > 0 && data[i] <= data[i - 1])
			goto out;
	}
	*prints = data;
	data = NULL;
	result = 0;
out:
	free(data);
	io_close(&fd);
	return result;
}
