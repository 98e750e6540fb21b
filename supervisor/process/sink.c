// See sink.h.

#include "supervisor/process/sink.h"

#include "supervisor/base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Deeper than any real chain of shells; ends a loop that races with exits. */
#define ANCESTORS_MAX 32

enum sink sink_of(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return SINK_CLOSED;
	switch (st.st_mode & S_IFMT) {
	case S_IFSOCK: return SINK_AGENT;
	case S_IFIFO: return SINK_PIPE;
	case S_IFCHR: return isatty(fd) ? SINK_PERSON : SINK_FILE;
	default: return SINK_FILE;
	}
}

bool sink_is_same(int a, int b)
{
	struct stat x, y;
	if (fstat(a, &x) < 0 || fstat(b, &y) < 0)
		return false;
	if (x.st_dev != y.st_dev || x.st_ino != y.st_ino)
		return false;
	/* Two opens of one regular file have a position each. */
	if (S_ISREG(x.st_mode)) {
		pid_t self = getpid();
		return syscall(SYS_kcmp, self, self, KCMP_FILE, a, b) == 0;
	}
	return true;
}

/* Reads the parent and the name of a process. Returns 0 or -1. */
static int read_process(pid_t pid, pid_t *parent, char name[64])
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return -1;
	/* "PID (NAME) STATE PPID ...": the name may hold anything, so look from the end. */
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (!open || !close || close < open)
		return -1;
	snprintf(name, 64, "%.*s", (int)(close - open - 1), open + 1);
	int ppid;
	if (sscanf(close + 1, " %*c %d", &ppid) != 1)
		return -1;
	*parent = ppid;
	return 0;
}

static bool is_shell(const char *name)
{
	static const char *const shells[] = {"sh",   "bash", "dash", "zsh",     "ksh",     "mksh",
					     "fish", "ash",  "yash", "busybox", "terse-sh"};
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(name, shells[i]) == 0)
			return true;
	}
	return false;
}

/* Whether the open file `fd` of the process can be read from. */
static bool is_readable(pid_t pid, const char *fd)
{
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", (int)pid, fd);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	const char *flags = strstr(text, "flags:");
	return flags && (strtoul(flags + 6, NULL, 8) & O_ACCMODE) != O_WRONLY;
}

static bool reads_pipe(pid_t pid, const char *link)
{
	char path[64], target[64];
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	if (!dir)
		return false;
	const struct dirent *entry;
	while (!found && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		found = strcmp(target, link) == 0 && is_readable(pid, entry->d_name);
	}
	closedir(dir);
	return found;
}

/* Whether a child of `parent`, other than `except`, reads the pipe. */
static bool child_reads_pipe(pid_t parent, pid_t except, const char *link)
{
	char path[64];
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	DIR *tasks = opendir(path);
	if (!tasks)
		return false;
	const struct dirent *entry;
	while (!found && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)parent,
			 entry->d_name);
		FILE *children = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!children)
			continue;
		int child;
		while (!found && fscanf(children, "%d", &child) == 1)
			found = child != except && reads_pipe(child, link);
		fclose(children);
	}
	closedir(tasks);
	return found;
}

enum sink sink_of_pipe(int fd, pid_t writer)
{
	char path[64], link[64], name[64];
	pid_t at = writer, parent;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0 || read_process(at, &parent, name) < 0)
		return SINK_PROGRAM;
	link[n] = '\0';
	for (int i = 0; i < ANCESTORS_MAX && parent > 1; i++) {
		if (child_reads_pipe(parent, at, link))
			return SINK_PROGRAM;
		at = parent;
		if (read_process(at, &parent, name) < 0)
			break;
		if (!is_shell(name))
			break;
		if (reads_pipe(at, link))
			return SINK_PROGRAM;
	}
	return SINK_AGENT;
}
