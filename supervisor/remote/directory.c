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

static int directory_fail(const char *what, const char *path)
{
	int error = errno;
	fprintf(stderr, "%s%s%s: %s\n", what, *what ? "/" : "", path, strerror(error));
	errno = error;
	return -1;
}

static int directory_copy(int from, int to)
{
	char *block = malloc(BLOCK);
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

/* Opens the directory of `key` below `top`, and makes what is missing. *name: its last part. */
static int directory_open_parent(int top, const char *key, mode_t mode, const char **name)
{
	int at = dup(top);
	const char *slash;
	char part[NAME_MAX + 1];
	for (; at >= 0 && (slash = strchr(key, '/')) != NULL; key = slash + 1) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - key), key);
		if (mode && mkdirat(at, part, mode) == 0)
			fchmodat(at, part, mode, 0);
		int next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		io_close(&at);
		at = next;
	}
	*name = key;
	return at;
}

static int directory_push(int top, mode_t mode, const struct remote_object *o)
{
	char temporary[NAME_MAX + 1];
	const char *name;
	int result = -1, dir = directory_open_parent(top, o->key, mode & 07777, &name);
	int from = dir < 0 ? -1 : open(o->file, O_RDONLY | O_CLOEXEC), to = -1;
	if (from < 0)
		goto out;
	/* One process pushes an object; what a killed one left goes. */
	snprintf(temporary, sizeof(temporary), ".%s.%s", name, o->host);
	unlinkat(dir, temporary, 0);
	to = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		goto out;
	result = directory_copy(from, to);
	if (result == 0)
		result = fchmod(to, mode & 0666);
	/* A file server reports a full disk only then. */
	if (result == 0)
		result = fsync(to);
	if (result == 0)
		result = renameat(dir, temporary, dir, name);
	if (result < 0) {
		int error = errno;
		unlinkat(dir, temporary, 0);
		errno = error;
	}
out:
	io_close(&to);
	io_close(&from);
	io_close(&dir);
	return result;
}

static int directory_pull(int dir, const char *name, const char *file)
{
	int from = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int to = from < 0 ? -1 : open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int result = to < 0 ? -1 : directory_copy(from, to);
	io_close(&to);
	io_close(&from);
	return result;
}

/* Copies the files whose names begin with `host` into the directory `into`. */
static int directory_list(int dir, const char *host, const char *into)
{
	struct dirent *e;
	int result = 0;
	DIR *d = io_list(dir);
	while (d && result == 0 && (errno = 0, e = readdir(d)) != NULL) {
		char file[PATH_MAX];
		struct stat st;
		if (*e->d_name == '.' || strncmp(e->d_name, host, strlen(host)) != 0 ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		snprintf(file, sizeof(file), "%s/%s", into, e->d_name);
		result = directory_pull(dir, e->d_name, file);
		/* It was removed meanwhile. */
		result = result < 0 && errno == ENOENT ? 0 : result;
	}
	if (d)
		closedir(d);
	return d ? result : -1;
}

/* What is wanted of the directory that is there. */
static int directory_work(int top, enum remote_work work, const struct remote_object *o)
{
	struct stat st;
	const char *name;
	if (fstat(top, &st) < 0)
		return -1;
	if (work == REMOTE_PUSH)
		return directory_push(top, st.st_mode, o);
	int dir = directory_open_parent(top, o->key, 0, &name);
	int result = -1;
	if (dir >= 0 && work == REMOTE_PULL) {
		result = directory_pull(dir, name, o->file);
	} else if (dir >= 0) {
		int folder = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		result = folder < 0 ? -1 : directory_list(folder, o->host, o->file);
		io_close(&folder);
	}
	io_close(&dir);
	return result;
}

int directory_move(const char *directory, enum remote_work work, const struct remote_object *o)
{
	int top = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0) {
		directory_fail("", directory);
		errno = EIO;
		return -1;
	}
	int result = directory_work(top, work, o);
	if (result < 0)
		directory_fail(directory, o->key);
	io_close(&top);
	return result;
}
