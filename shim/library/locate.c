// See locate.h.

#include "shim/library/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool may_execute(const char *path)
{
	/* The system call behind the flag is refused by older container runtimes. */
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ||
	       (errno == EPERM && syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0);
}

/* The system call: libc's stat() has been a symbol of its own only since glibc 2.33. */
bool locate_executable(const char *path, struct locate_file *file)
{
	struct statx st;
	if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_TYPE | STATX_INO, &st) < 0 ||
	    !S_ISREG(st.stx_mode) || !may_execute(path))
		return false;
	file->inode = st.stx_ino;
	file->major = st.stx_dev_major;
	file->minor = st.stx_dev_minor;
	return true;
}

/* System calls: libc's functions are cancellation points. What can't be read can't be looked at;
   it may be executed, so it is believed. */
bool locate_has_format(const char *path)
{
	char start[4];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return true;
	ssize_t len = syscall(SYS_read, fd, start, sizeof(start));
	syscall(SYS_close, fd);
	return (len >= 2 && strncmp(start, "#!", 2) == 0) ||
	       (len == 4 && strncmp(start, "\177ELF", 4) == 0);
}

size_t locate_room(const char *file)
{
	const char *entry = getenv("PATH");
	size_t longest = 0, room;
	while (entry && *entry) {
		size_t len = strcspn(entry, ":");
		longest = len > longest ? len : longest;
		entry += len + (entry[len] == ':');
	}
	room = longest + strlen(file) + 2;
	return room < PATH_MAX ? room : PATH_MAX;
}

bool locate_in_path(char *path, size_t size, const char *file)
{
	const char *entry = getenv("PATH");
	size_t file_len = strlen(file);
	struct locate_file found;
	/* Without PATH it is up to libc. */
	for (; entry; entry = *entry ? entry + 1 : NULL) {
		size_t len = strcspn(entry, ":");
		if (len + file_len + 2 <= size) {
			memcpy(path, entry, len);
			path[len] = '/';
			memcpy(path + len + (len > 0), file, file_len + 1);
			if (locate_executable(path, &found))
				return true;
		}
		entry += len;
	}
	return false;
}

bool locate_open_file(char *path, size_t size, int fd)
{
	char name[32] = "/proc/self/fd/";
	size_t at = strlen(name) + 1;
	if (fd < 0)
		return false;
	for (int rest = fd; rest > 9; rest /= 10)
		at++;
	do
		name[--at] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	ssize_t len = syscall(SYS_readlinkat, AT_FDCWD, name, path, size);
	if (len < 0 || (size_t)len == size)
		return false;
	path[len] = '\0';
	return true;
}
