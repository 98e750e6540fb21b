// See holder.h.

#include "supervisor/process/holder.h"

#include "shim/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Channels at most: standard output and error. */
#define CHANNELS 2

/* What /proc/PID/fd shows for an open end. */
struct end {
	char link[64];
};

/* What the command's side of a channel is called. Both ends of a pipe have one name. */
static bool name_end(int fd, struct end *end)
{
	struct stat st;
	int number;
	*end->link = '\0';
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (S_ISFIFO(st.st_mode))
		snprintf(end->link, sizeof(end->link), "pipe:[%llu]",
			 (unsigned long long)st.st_ino);
	else if (ioctl(fd, TIOCGPTN, &number) == 0)
		snprintf(end->link, sizeof(end->link), "/dev/pts/%d", number);
	return *end->link;
}

static bool holders_holds(pid_t pid, const struct end *ends, int count)
{
	char path[64], link[sizeof(ends->link)];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	bool found = false;
	const struct dirent *entry;
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = '\0';
		for (int i = 0; i < count; i++)
			found |= *ends[i].link && strcmp(ends[i].link, link) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

int holder_find(const int *fds, int count, struct holder *found, int most)
{
	struct end ends[CHANNELS];
	int known = 0, there = 0;
	for (int i = 0; i < count && known < CHANNELS; i++)
		known += name_end(fds[i], &ends[known]);
	DIR *proc = known > 0 ? opendir("/proc") : NULL;
	const struct dirent *entry;
	while (proc && (entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);
		struct process p;
		if (*end || pid <= 0 || pid == getpid() ||
		    !holders_holds((pid_t)pid, ends, known) || process_read((pid_t)pid, &p) < 0)
			continue;
		if (there < most) {
			found[there] = (struct holder){.pid = p.pid, .session = p.session};
			memcpy(found[there].name, p.name, sizeof(found->name));
		}
		there++;
	}
	if (proc)
		closedir(proc);
	return there;
}
