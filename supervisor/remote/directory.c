// See directory.h.

#include "supervisor/remote/directory.h"

#include "lib/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)256 * 1024)

/* So many failures one after the other: the directory is full, or away. */
#define FAILURES_MOST 3

static int directory_walk_from(const char *path, size_t top,
			       int (*each)(void *ctx, const char *file, const char *below),
			       void *ctx)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result = 0;
	struct dirent *e;
	DIR *d = io_list_opened(fd);
	/* It was removed meanwhile. */
	if (!d)
		return errno == ENOENT ? 0 : -1;
	while (result == 0 && (errno = 0, e = readdir(d)) != NULL) {
		char file[PATH_MAX];
		struct stat st;
		if (*e->d_name == '.' ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    snprintf(file, sizeof(file), "%s/%s", path, e->d_name) >= PATH_MAX)
			continue;
		if (S_ISDIR(st.st_mode))
			result = directory_walk_from(file, top, each, ctx);
		else if (S_ISREG(st.st_mode))
			result = each(ctx, file, file + top);
	}
	if (result == 0 && errno)
		result = -1;
	closedir(d);
	return result;
}

int directory_walk(const char *path, int (*each)(void *ctx, const char *file, const char *below),
		   void *ctx)
{
	return directory_walk_from(path, strlen(path) + 1, each, ctx);
}

/* Copies into a file that is made. Returns 0, or -1 with errno. */
static int directory_copy(int from, int to)
{
	char *block = from < 0 || to < 0 ? NULL : malloc(BLOCK);
	ssize_t n = -1;
	while (block && (n = io_read(from, block, BLOCK)) > 0) {
		if (io_write(to, block, (size_t)n) < 0) {
			n = -1;
			break;
		}
	}
	int error = errno;
	free(block);
	errno = error;
	return n < 0 ? -1 : 0;
}

struct directory_job {
	int top;
	mode_t mode;
	const struct remote_call *call;
	int failures, error;
};

/* Opens the directory of key/below, makes what is missing with `mode` (0: nothing). *name: the last
   part. */
static int directory_open_parent(int top, mode_t mode, const char *key, const char *below,
				 char name[NAME_MAX + 1])
{
	char path[PATH_MAX], *rest = path, *slash;
	int at = dup(top);
	snprintf(path, sizeof(path), "%s%s%s", key, *below ? "/" : "", below);
	for (; at >= 0 && (slash = strchr(rest, '/')) != NULL; rest = slash + 1) {
		*slash = '\0';
		if (mode && mkdirat(at, rest, mode) == 0)
			fchmodat(at, rest, mode, 0);
		int next = openat(at, rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		io_close(&at);
		at = next;
	}
	snprintf(name, NAME_MAX + 1, "%.255s", rest);
	return at;
}

static int directory_fail(struct directory_job *j, const char *path)
{
	j->error = errno;
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return ++j->failures >= FAILURES_MOST ? -1 : 0;
}

/* A file becomes an object. */
static int directory_push(void *ctx, const char *file, const char *below)
{
	struct directory_job *j = ctx;
	char name[NAME_MAX + 1], temporary[NAME_MAX + 1], host[REMOTE_HOST_LEN + 1];
	int from = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), to = -1, result = -1;
	int dir = directory_open_parent(j->top, j->mode & 07777, j->call->key, below, name);
	/* One process of a machine pushes an object; what a killed one left goes. */
	remote_host(host);
	snprintf(temporary, sizeof(temporary), ".%.180s.%s", name, host);
	if (from >= 0 && dir >= 0) {
		unlinkat(dir, temporary, 0);
		to = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
	}
	/* A file server reports a full disk only at fsync(2). */
	if (directory_copy(from, to) == 0 && fchmod(to, j->mode & 0666) == 0 && fsync(to) == 0)
		result = renameat(dir, temporary, dir, name);
	if (result == 0)
		result = unlink(file);
	int error = errno;
	if (result < 0 && to >= 0)
		unlinkat(dir, temporary, 0);
	io_close(&to);
	io_close(&dir);
	io_close(&from);
	errno = error;
	if (result == 0) {
		j->failures = 0;
		return 0;
	}
	return directory_fail(j, below);
}

static int directory_pull(int dir, const char *name, const char *file)
{
	int from = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to = -1;
	if (from >= 0)
		to = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int result = directory_copy(from, to);
	io_close(&to);
	io_close(&from);
	return result;
}

/* Copies the objects of an hour that begin as they should. Returns 0, or -1 with errno. */
static int directory_list(const struct directory_job *j, int day, int hour)
{
	char name[8], path[PATH_MAX];
	struct dirent *e;
	int result = 0;
	snprintf(name, sizeof(name), "%02d", hour);
	int fd = openat(day, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = io_list_opened(fd);
	if (!d)
		return errno == ENOENT ? 0 : -1;
	snprintf(path, sizeof(path), "%s/%s", j->call->local, name);
	mkdir(path, 0700);
	while (result == 0 && (errno = 0, e = readdir(d)) != NULL) {
		struct stat st;
		size_t len = strlen(j->call->host);
		if (*e->d_name == '.' || strncmp(e->d_name, j->call->host, len) != 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) ||
		    snprintf(path, sizeof(path), "%s/%s/%s", j->call->local, name, e->d_name) >=
			    PATH_MAX)
			continue;
		result = directory_pull(dirfd(d), e->d_name, path);
		/* It was removed meanwhile. */
		result = result < 0 && errno == ENOENT ? 0 : result;
	}
	closedir(d);
	return result;
}

int directory_run(const char *directory, const struct remote_call *call)
{
	struct directory_job j = {.call = call};
	struct stat st;
	char name[NAME_MAX + 1];
	int result = -1, dir = -1;
	j.top = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j.top < 0 || fstat(j.top, &st) < 0) {
		directory_fail(&j, directory);
		errno = EIO;
		return -1;
	}
	j.mode = st.st_mode;
	if (call->work == REMOTE_MOVE) {
		result = directory_walk(call->local, directory_push, &j);
		errno = j.error ? EIO : errno;
		return j.error ? -1 : result;
	}
	dir = directory_open_parent(j.top, 0, call->key, call->work == REMOTE_LIST ? "." : "",
				    name);
	if (dir >= 0 && call->work == REMOTE_FETCH)
		result = directory_pull(dir, name, call->local);
	for (int hour = 0; dir >= 0 && call->work == REMOTE_LIST && hour < 24; hour++) {
		result = call->hours >> hour & 1 ? directory_list(&j, dir, hour) : 0;
		if (result < 0)
			break;
	}
	if (result < 0 && errno != ENOENT)
		directory_fail(&j, call->key);
	return result;
}
