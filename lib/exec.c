// See exec.h.

#include "lib/exec.h"

#include "lib/io.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns errno. If the kernel can't execute the file, sh runs it, unless its first line shows that
   it is a binary for another machine. */
static int exec_file(const char *path, char *const *argv)
{
	execve(path, argv, environ);
	int error = errno;
	if (error != ENOEXEC)
		return error;
	char start[128];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, start, sizeof(start));
	io_close(&fd);
	const char *line = n > 0 ? memchr(start, '\n', (size_t)n) : NULL;
	size_t len = line ? (size_t)(line - start) : n > 0 ? (size_t)n : 0, count = 0;
	if (len > 0 && memchr(start, '\0', len))
		return error;
	while (argv[count])
		count++;
	/* On the stack: memory that a child of vfork() allocates would leak in its parent. */
	/* cppcheck-suppress allocaCalled */
	const char **args = alloca((count + 3) * sizeof(*args)), **next = args;
	*next++ = "/bin/sh";
	*next++ = path;
	for (size_t i = 1; i < count; i++)
		*next++ = argv[i];
	*next = NULL;
	execve(args[0], (char *const *)args, environ);
	return error;
}

/* Whether the search continues after execve(2) has failed with this error. */
static bool is_passed_over(int error)
{
	return error == EACCES || error == ENOENT || error == ENOTDIR || error == ESTALE ||
	       error == ENODEV || error == ETIMEDOUT;
}

int exec_search(const char *file, char *const *argv)
{
	char path[PATH_MAX];
	const char *entry = getenv("PATH");
	int error = ENOENT;
	bool denied = false;
	if (strchr(file, '/'))
		return exec_file(file, argv);
	if (!entry)
		entry = "/bin:/usr/bin";
	while (entry && *file && is_passed_over(error)) {
		size_t len = strcspn(entry, ":");
		int size = snprintf(path, sizeof(path), "%.*s%s%s", (int)len, entry, len ? "/" : "",
				    file);
		if (size < (int)sizeof(path))
			error = exec_file(path, argv);
		denied |= error == EACCES;
		entry = entry[len] ? entry + len + 1 : NULL;
	}
	return denied && is_passed_over(error) ? EACCES : error;
}
