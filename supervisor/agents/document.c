// See document.h.

#include "supervisor/agents/document.h"

#include "lib/buffer.h"
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

/* Whether a link in the existing part of the path leads out of the directory. */
static bool leads_out(const char *path, const char *root)
{
	char top[PATH_MAX], real[PATH_MAX], part[PATH_MAX];
	if (!root || !realpath(root, top))
		return false;
	snprintf(part, sizeof(part), "%s", path);
	while (!realpath(part, real)) {
		char *slash = strrchr(part, '/');
		if (!slash || slash == part)
			return false;
		*slash = '\0';
	}
	size_t len = strlen(top);
	return strncmp(real, top, len) != 0 || (real[len] != '\0' && real[len] != '/' && len > 1);
}

int document_read(struct document *d, const char *path, const char *root)
{
	struct stat st;
	*d = (struct document){.mode = 0600};
	if ((size_t)snprintf(d->path, sizeof(d->path), "%s", path) >= sizeof(d->path))
		return document_refuse(d, ENAMETOOLONG, NULL);
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
	int fd = open(d->real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW), status = -1;
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	d->exists = true;
	if (fstat(fd, &d->stat) == 0) {
		d->mode = d->stat.st_mode & 07777;
		status = S_ISREG(d->stat.st_mode) ? io_read_all(fd, &d->text, DOCUMENT_MAX)
						  : document_refuse(d, EINVAL, "not a file");
	}
	io_close(&fd);
	return status;
}

void document_release(struct document *d)
{
	buffer_release(&d->text);
}

int document_write(const struct document *d, const char *text, size_t len)
{
	char temporary[PATH_MAX + 16];
	snprintf(temporary, sizeof(temporary), "%s", d->real);
	for (char *slash = strchr(temporary + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(temporary, 0777) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", d->real);
	int fd = mkostemp(temporary, O_CLOEXEC), status = -1;
	struct stat now;
	if (fd < 0)
		return -1;
	if (io_write(fd, text, len) < 0)
		goto out;
	/* Only root can set another owner, so a failure counts only for root. */
	if (d->exists && fchown(fd, d->stat.st_uid, d->stat.st_gid) < 0 && geteuid() == 0)
		goto out;
	if (fchmod(fd, d->mode) < 0 || fsync(fd) < 0)
		goto out;
	/* The file must not have changed since it was read. */
	bool there = stat(d->real, &now) == 0;
	bool same = there ? d->exists && now.st_ino == d->stat.st_ino &&
				    now.st_size == d->stat.st_size &&
				    now.st_mtim.tv_sec == d->stat.st_mtim.tv_sec &&
				    now.st_mtim.tv_nsec == d->stat.st_mtim.tv_nsec
			  : errno == ENOENT && !d->exists;
	if (same)
		status = rename(temporary, d->real);
	else
		errno = EAGAIN;
out:;
	int error = errno;
	io_close(&fd);
	if (status < 0)
		unlink(temporary);
	errno = error;
	return status;
}
