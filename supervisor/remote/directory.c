// See remote.h.

#include "supervisor/remote/remote.h"

#include "lib/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)1024 * 1024 * 1024)

/* After this many failures in a row the directory counts as full, or away. */
#define FAILURES_MOST 3

int directory_walk(const char *path, size_t top,
		   int (*each)(void *ctx, const char *file, const char *below), void *ctx)
{
	top = top ? top : strlen(path) + 1;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result = 0;
	struct dirent *e;
	DIR *d = io_list(fd);
	/* A missing directory has no files. */
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
			result = directory_walk(file, top, each, ctx);
		else if (S_ISREG(st.st_mode))
			result = each(ctx, file, file + top);
	}
	if (result == 0 && errno)
		result = -1;
	closedir(d);
	return result;
}

static int directory_count_file(void *ctx, const char *file, const char *below)
{
	(void)file, (void)below;
	++*(int64_t *)ctx;
	return 0;
}

int64_t directory_count(const char *path)
{
	int64_t count = 0;
	return directory_walk(path, 0, directory_count_file, &count) < 0 ? -1 : count;
}

/* Copies a file into a new one. Returns 0, or -1 with errno. */
static int directory_copy(int from, int to)
{
	ssize_t n = from < 0 || to < 0 ? -1 : 1;
	while (n > 0)
		n = sendfile(to, from, NULL, BLOCK);
	return (int)n;
}

struct directory_job {
	const struct remote_call *call;
	int top; /* the directory ... */
	mode_t mode;
	char folder[PATH_MAX]; /* where listed objects are copied to */
	int failures, error;
};

/* Opens the directory of the object key/below, and makes missing directories. *name: the last part
   of the key. Others may write there, so no step follows a link. */
static int directory_open_parent(const struct directory_job *j, const char *below,
				 char name[NAME_MAX + 1])
{
	char path[PATH_MAX], *rest = path, *slash;
	mode_t mode = j->mode & 07777;
	int at = dup(j->top);
	snprintf(path, sizeof(path), "%s/%s", j->call->key, below);
	for (; at >= 0 && (slash = strchr(rest, '/')) != NULL; rest = slash + 1) {
		*slash = '\0';
		if (mkdirat(at, rest, mode) == 0)
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
	errno = j->error;
	return ++j->failures >= FAILURES_MOST ? -1 : 0;
}

/* Moves a file to its object. */
static int directory_push(void *ctx, const char *file, const char *below)
{
	struct directory_job *j = ctx;
	char name[NAME_MAX + 1], temporary[NAME_MAX + 1], host[REMOTE_HOST_LEN + 1];
	int from = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), to = -1, result = -1;
	int dir = from < 0 ? -1 : directory_open_parent(j, below, name);
	/* Only one process of a machine pushes at a time, so a file of this name was left by one
	   that was killed. */
	remote_host(host);
	snprintf(temporary, sizeof(temporary), ".%.180s.%s", name, host);
	if (dir >= 0) {
		unlinkat(dir, temporary, 0);
		to = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
	}
	/* A file server reports a full disk only at fsync(2). */
	if (directory_copy(from, to) == 0 && fchmod(to, j->mode & 0666) == 0 && fsync(to) == 0 &&
	    renameat(dir, temporary, dir, name) == 0)
		result = unlink(file);
	if (result < 0 && to >= 0)
		io_unlink(dir, temporary);
	io_close(&to);
	io_close(&dir);
	io_close(&from);
	j->failures = result == 0 ? 0 : j->failures;
	return result == 0 ? 0 : directory_fail(j, below);
}

static int directory_pull(const char *object, const char *file)
{
	int from = open(object, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to = -1;
	if (from >= 0)
		to = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int result = directory_copy(from, to);
	io_close(&to);
	io_close(&from);
	return result;
}

static int directory_list(void *ctx, const char *object, const char *below)
{
	const struct directory_job *j = ctx;
	char file[PATH_MAX];
	if (strncmp(below, j->call->host, strlen(j->call->host)) != 0 || strchr(below, '/') ||
	    snprintf(file, sizeof(file), "%s/%s", j->folder, below) >= PATH_MAX)
		return 0;
	mkdir(j->folder, 0700);
	/* The object may have been removed meanwhile. */
	return directory_pull(object, file) < 0 && errno != ENOENT ? -1 : 0;
}

int directory_run(const char *directory, const struct remote_call *call)
{
	struct directory_job j = {.call = call};
	struct stat st;
	char path[PATH_MAX];
	int result = 0;
	j.top = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j.top < 0 || fstat(j.top, &st) < 0) {
		directory_fail(&j, directory);
		errno = EIO;
		return -1;
	}
	j.mode = st.st_mode;
	snprintf(path, sizeof(path), "%s/%s", directory, call->key);
	if (call->work == REMOTE_MOVE)
		result = directory_walk(call->local, 0, directory_push, &j);
	else if (call->work == REMOTE_FETCH)
		result = directory_pull(path, call->local);
	for (int hour = 0; call->work == REMOTE_LIST && hour < 24 && result == 0; hour++) {
		snprintf(path, sizeof(path), "%s/%s/%02d", directory, call->key, hour);
		snprintf(j.folder, sizeof(j.folder), "%s/%02d", call->local, hour);
		if (call->hours >> hour & 1)
			result = directory_walk(path, 0, directory_list, &j);
	}
	if (result < 0 && !j.error && errno != ENOENT)
		directory_fail(&j, call->key);
	if (j.error)
		errno = EIO;
	return j.error ? -1 : result;
}
