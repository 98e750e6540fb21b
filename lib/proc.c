// See proc.h.

#include "lib/proc.h"

#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 96

static void proc_path(char path[PATH_SIZE], pid_t pid, const char *format, va_list args)
{
	int n = pid ? snprintf(path, PATH_SIZE, "/proc/%d/", (int)pid)
		    : snprintf(path, PATH_SIZE, "/proc/self/");
	vsnprintf(path + n, PATH_SIZE - (size_t)n, format, args);
}

int process_open(pid_t pid, const char *format, ...)
{
	char path[PATH_SIZE];
	va_list args;
	va_start(args, format);
	proc_path(path, pid, format, args);
	va_end(args);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

ssize_t process_file(pid_t pid, char *text, size_t size, const char *format, ...)
{
	char path[PATH_SIZE];
	ssize_t n;
	va_list args;
	va_start(args, format);
	proc_path(path, pid, format, args);
	va_end(args);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	do
		n = read(fd, text, size - 1);
	while (n < 0 && errno == EINTR);
	io_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

ssize_t process_link(pid_t pid, char *target, size_t size, const char *format, ...)
{
	char path[PATH_SIZE];
	va_list args;
	va_start(args, format);
	proc_path(path, pid, format, args);
	va_end(args);
	ssize_t n = readlink(path, target, size - 1);
	target[n > 0 ? n : 0] = '\0';
	return n;
}

/* Two of the kernel's flags of a process: PF_FORKNOEXEC, PF_EXITING. */
#define FORKED 0x40u
#define ENDING 0x4u

int process_read(pid_t pid, struct process *p)
{
	char text[1024];
	if (process_file(pid, text, sizeof(text), "stat") <= 0)
		return -1;
	/* "PID (NAME) STATE PPID ...": the name may have brackets itself, so the last one
	   counts. */
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (!open || !close || close < open)
		return -1;
	unsigned flags = 0;
	p->pid = pid;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(close - open - 1), open + 1);
	int count = sscanf(close + 1,
			   " %c %d %d %d %*d %d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
			   "%llu",
			   &p->state, &p->parent, &p->group, &p->session, &p->foreground, &flags,
			   &p->started);
	p->forked = flags & FORKED;
	p->ending = flags & ENDING;
	return count == 7 ? 0 : -1;
}

bool process_is_alive(const struct process *p)
{
	return p->state != 'Z' && p->state != 'X';
}

const char *process_program(pid_t pid, char *room, size_t size)
{
	static const char *const interpreters[] = {"node", "nodejs", "bun",
						   "deno", "python", "python3"};
	ssize_t len = process_file(pid, room, size, "cmdline");
	const char *end = room + len, *word = room;
	if (len <= 0 || !*word)
		return NULL;
	const char *slash = strrchr(room, '/'), *name = slash ? slash + 1 : room;
	size_t i = 0, count = sizeof(interpreters) / sizeof(*interpreters);
	while (i < count && strcmp(name, interpreters[i]) != 0)
		i++;
	if (i == count)
		return name;
	/* The first argument that is not an option. */
	for (word += strlen(word) + 1; word < end && *word == '-'; word += strlen(word) + 1)
		;
	if (word >= end || !*word)
		return name;
	slash = strrchr(word, '/');
	return slash ? slash + 1 : word;
}

int process_stat(pid_t pid, unsigned long fd, struct stat *st)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "/proc/%d/fd/%lu", (int)pid, fd);
	return stat(path, st);
}

bool process_can_read(pid_t pid, unsigned long fd, bool *until_exec)
{
	char text[512] = "";
	ssize_t len = process_file(pid, text, sizeof(text), "fdinfo/%lu", fd);
	const char *found = len < 0 ? NULL : strstr(text, "flags:");
	/* The flags of open(2); -1: not known. */
	long flags = found ? strtol(found + 6, NULL, 8) : -1;
	if (until_exec)
		*until_exec = flags >= 0 && (flags & O_CLOEXEC);
	return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

int process_call(pid_t pid, long thread, struct process_call *call)
{
	char text[256];
	if (process_file(pid, text, sizeof(text), "task/%ld/syscall", thread) < 0)
		return -1;
	*call = (struct process_call){.number = -1, .runs = strncmp(text, "running", 7) == 0};
	unsigned long *a = call->args;
	sscanf(text, "%ld %lx %lx %lx %lx %lx", &call->number, &a[0], &a[1], &a[2], &a[3], &a[4]);
	return 0;
}

long process_walk(struct process_walk *w, enum process_list list, pid_t pid)
{
	static const char *const names[] = {
		[PROCESS_THREADS] = "task", [PROCESS_DESCRIPTORS] = "fd"};
	char path[PATH_SIZE] = "/proc";
	if (names[list])
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, names[list]);
	w->dir = opendir(path);
	return process_walk_next(w);
}

long process_walk_next(struct process_walk *w)
{
	const struct dirent *entry;
	while (w->dir && (entry = readdir(w->dir))) {
		char *end;
		long number = strtol(entry->d_name, &end, 10);
		if (!*end && end > entry->d_name && number >= 0)
			return number;
	}
	return -1;
}

void process_walk_end(struct process_walk *w)
{
	if (w->dir)
		closedir(w->dir);
}

bool process_walk_link(const struct process_walk *w, long fd, char *link, size_t size)
{
	char name[24];
	snprintf(name, sizeof(name), "%ld", fd);
	ssize_t n = readlinkat(dirfd(w->dir), name, link, size - 1);
	link[n > 0 ? n : 0] = '\0';
	return n > 0;
}
