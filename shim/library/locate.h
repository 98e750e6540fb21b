// Which file a call executes, and whether that is going to work.
//
// Nothing here is a cancellation point or sets more than errno.
#ifndef TERSE_SHIM_LIBRARY_LOCATE_H
#define TERSE_SHIM_LIBRARY_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct locate_file {
	uint64_t inode;
	uint32_t major, minor;
};

/* Whether `path` is a file that may be executed, and which file that is. */
bool locate_executable(const char *path, struct locate_file *file);

/* Whether execve() knows what to do with it: a binary or a script with #!. */
bool locate_has_format(const char *path);

/* Bytes for any path that locate_in_path() may try; at most PATH_MAX. */
size_t locate_room(const char *file);

/* Writes to `path` (`size` bytes) where execvp() would find `file`. */
bool locate_in_path(char *path, size_t size, const char *file);

/* Writes to `path` (`size` bytes) what the descriptor was opened as; false if that is longer. */
bool locate_open_file(char *path, size_t size, int fd);

#endif
