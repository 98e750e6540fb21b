// See internal.h.

#include "supervisor/command/internal.h"

#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAGS (O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY)

/* Makes a new file beside the open one, to replace it later. Returns 0, or -1 if the old file
   itself has to be overwritten, because a new one would have another owner or can't be made. */
static int output_go_beside(struct output *o, const struct stat *st)
{
	if (st->st_uid != geteuid() || !realpath(o->name, o->target) ||
	    snprintf(o->temporary, PATH_MAX, "%s.%ld.tmp", o->target, (long)getpid()) >= PATH_MAX)
		goto none;
	int fd = open(o->temporary, FLAGS | O_EXCL, 0600);
	if (fd < 0)
		goto none;
	if (fchmod(fd, st->st_mode & 0777) < 0) {
		unlink(o->temporary);
		io_close(&fd);
		goto none;
	}
	io_close(&o->fd);
	o->fd = fd;
	return 0;
none:
	*o->temporary = '\0';
	return -1;
}

int output_open(struct output *o, const char *name, bool replace)
{
	struct stat st;
	*o = (struct output){.name = name, .fd = STDOUT_FILENO};
	if (strcmp(name, "-") == 0)
		return 0;
	o->fd = open(name, FLAGS | O_EXCL, 0600);
	o->made = o->fd >= 0;
	if (o->made || errno != EEXIST)
		return o->made ? 0 : -1;
	/* A dangling link exists too. */
	o->fd = open(name, replace ? FLAGS : FLAGS & ~O_CREAT, 0600);
	if (o->fd < 0)
		return -1;
	if (fstat(o->fd, &st) < 0)
		goto fail;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (!replace)
		errno = EEXIST;
	else if (output_go_beside(o, &st) == 0 || ftruncate(o->fd, 0) == 0)
		return 0;
fail:
	io_close(&o->fd);
	return -1;
}

int output_close(struct output *o, int result)
{
	struct stat st;
	int error = errno;
	if (o->fd == STDOUT_FILENO || o->fd < 0)
		return result;
	if (fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode))
		o->size = (uint64_t)st.st_size;
	io_close(&o->fd);
	if (result == 0 && *o->temporary) {
		result = rename(o->temporary, o->target);
		error = errno;
	}
	if (result < 0 && (*o->temporary || o->made))
		unlink(*o->temporary ? o->temporary : o->name);
	errno = error;
	return result;
}
