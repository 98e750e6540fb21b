// See document.h.

#include "supervisor/wiring/document.h"

#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int document_refuse(struct document *d, int error, const char *reason)
{
	d->reason = reason;
	errno = error;
	return -1;
}

/* Whether the path, or the part of it that is there, leads out of the directory through a link. */
static bool leads_out(const char *path, const char *root)
{
	char top[PATH_MAX], real[PATH_MAX], part[PATH_MAX];
	char *slash;
	size_t len;

	if (!root || !realpath(root, top))
		return false;
	snprintf(part, sizeof(part), "%s", path);
	while (!realpath(part, real)) {
		slash = strrchr(part, '/');
		if (!slash || slash == part)
			return false;
		*slash = '\0';
	}
	len = strlen(top);
	return strncmp(real, top, len) != 0 || (real[len] != '\0' && real[len] != '/' && len > 1);
}

/* The path without links, as far as it is there. */
static int resolve(struct document *d, const char *root)
{
	struct stat st;

	if (leads_out(d->path, root))
		return document_refuse(d, ELOOP, "a symbolic link leads out of the project");
	if (lstat(d->path, &st) < 0) {
		memcpy(d->real, d->path, sizeof(d->real));
		return errno == ENOENT ? 0 : -1;
	}
	if (!realpath(d->path, d->real))
		return S_ISLNK(st.st_mode) && errno == ENOENT
			       ? document_refuse(d, ENOENT, "a symbolic link to nothing")
			       : -1;
	return 0;
}

static int read_text(struct document *d, int fd)
{
	ssize_t n;

	if (fstat(fd, &d->stat) < 0)
		return -1;
	d->mode = d->stat.st_mode & 07777;
	if (!S_ISREG(d->stat.st_mode))
		return document_refuse(d, EINVAL, "not a file");
	if (d->stat.st_size > DOCUMENT_MAX)
		return document_refuse(d, EFBIG, NULL);
	if (buffer_reserve(&d->text, (size_t)d->stat.st_size + 1) < 0)
		return -1;
	n = io_read(fd, d->text.data, (size_t)d->stat.st_size);
	if (n < 0)
		return -1;
	d->text.len = (size_t)n;
	return 0;
}

int document_read(struct document *d, const char *path, const char *root)
{
	int fd, status;

	*d = (struct document){.mode = 0600};
	if ((size_t)snprintf(d->path, sizeof(d->path), "%s", path) >= sizeof(d->path))
		return document_refuse(d, ENAMETOOLONG, NULL);
	if (resolve(d, root) < 0)
		return -1;
	fd = open(d->real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	d->exists = true;
	status = read_text(d, fd);
	io_close(&fd);
	return status;
}

void document_release(struct document *d)
{
	buffer_release(&d->text);
}

static int make_folders(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s", path);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return 0;
}

static bool is_unchanged(const struct document *d)
{
	struct stat now;

	if (stat(d->real, &now) < 0)
		return errno == ENOENT && !d->exists;
	return d->exists && now.st_ino == d->stat.st_ino && now.st_size == d->stat.st_size &&
	       now.st_mtim.tv_sec == d->stat.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == d->stat.st_mtim.tv_nsec;
}

static int document_fill(const struct document *d, int fd, const char *text, size_t len)
{
	if (io_write(fd, text, len) < 0)
		return -1;
	/* Only root can keep another owner. */
	if (d->exists && fchown(fd, d->stat.st_uid, d->stat.st_gid) < 0 && geteuid() == 0)
		return -1;
	if (fchmod(fd, d->mode) < 0)
		return -1;
	return fsync(fd);
}

int document_write(const struct document *d, const char *text, size_t len)
{
	char temporary[PATH_MAX + 16];
	int fd, status, error;

	if (make_folders(d->real) < 0)
		return -1;
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", d->real);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -1;
	status = document_fill(d, fd, text, len);
	if (status == 0 && !is_unchanged(d)) {
		errno = EAGAIN;
		status = -1;
	}
	if (status == 0)
		status = rename(temporary, d->real);
	error = errno;
	io_close(&fd);
	if (status < 0)
		unlink(temporary);
	errno = error;
	return status;
}

int document_remove(const struct document *d, const char *top)
{
	char folder[PATH_MAX];
	size_t len = top ? strlen(top) : 0;
	char *slash;

	if (unlink(d->real) < 0)
		return -1;
	memcpy(folder, d->path, sizeof(folder));
	while (len && strncmp(folder, top, len) == 0 && (slash = strrchr(folder, '/')) != NULL &&
	       slash > folder + len) {
		*slash = '\0';
		if (rmdir(folder) < 0)
			break;
	}
	return 0;
}
