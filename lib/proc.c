// See proc.h.

#include "lib/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The start of a small file, with a NUL behind it. Returns the length, or -1. */
static ssize_t read_start(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	do
		n = read(fd, text, size - 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

int process_read(pid_t pid, struct process *p)
{
	char text[1024];

	if (read_start(pid, "stat", text, sizeof(text)) <= 0)
		return -1;
	/* "PID (NAME) STATE PPID ...": the name may hold anything, so look from the end. */
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (!open || !close || close < open)
		return -1;
	p->pid = pid;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(close - open - 1), open + 1);
	return sscanf(close + 1,
		      " %c %d %d %d %*d %d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		      "%llu",
		      &p->state, &p->parent, &p->group, &p->session, &p->foreground,
		      &p->started) == 6
		       ? 0
		       : -1;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_interpreter(const char *name)
{
	static const char *const names[] = {"node", "nodejs", "bun", "deno", "python", "python3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

const char *process_program(pid_t pid, char *room, size_t size)
{
	ssize_t len = read_start(pid, "cmdline", room, size);
	const char *end = room + len, *word = room;

	if (len <= 0 || !*word)
		return NULL;
	if (!is_interpreter(base_name(word)))
		return base_name(word);
	/* The first argument that is no option. */
	for (word += strlen(word) + 1; word < end && *word == '-'; word += strlen(word) + 1)
		;
	return word < end && *word ? base_name(word) : base_name(room);
}
