// See active.h.

#include "lib/active.h"

#include "lib/proc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bounds the walk up the ancestors, whose PIDs may be reused while it runs. */
#define ANCESTORS_MAX 256

static const char person_mark[] = "-person";

void active_name(char entry[ACTIVE_SIZE], pid_t supervisor, bool person)
{
	const unsigned long long per_second = (unsigned long long)sysconf(_SC_CLK_TCK);
	struct timespec now = {0, 0};
	clock_gettime(CLOCK_BOOTTIME, &now);
	snprintf(entry, ACTIVE_SIZE, ACTIVE_NAME "=%d-%llu%s", (int)supervisor,
		 (unsigned long long)now.tv_sec * per_second +
			 (unsigned long long)now.tv_nsec * per_second / 1000000000,
		 person ? person_mark : "");
}

bool active_has_person(const char *value)
{
	size_t len = strlen(value), mark = sizeof(person_mark) - 1;
	return len > mark && strcmp(value + len - mark, person_mark) == 0;
}

/* The inode number of the initial PID namespace, which no other one contains. */
#define FIRST_NAMESPACE 0xEFFFFFFC

bool active_is_inside(const char *value)
{
	unsigned long long then;
	struct process p;
	struct stat st;
	char self[16] = "";
	int supervisor;
	if (sscanf(value, "%d-%llu", &supervisor, &then) != 2 || supervisor <= 0)
		return false;
	/* In the supervisor's session no search is needed. */
	pid_t pid = getsid(0) == supervisor ? supervisor : getppid();
	/* /proc may belong to another PID namespace. */
	if (pid == 0 || readlink("/proc/self", self, sizeof(self) - 1) <= 0 ||
	    strtol(self, NULL, 10) != getpid())
		return true;
	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++) {
		if (process_read(pid, &p) < 0)
			return kill(pid, 0) == 0 || errno != ESRCH;
		if (pid == supervisor)
			return p.started <= then && process_is_alive(&p);
		/* This is the init of a PID namespace. It is younger than the run, so the namespace
		   was made inside the run. */
		if (p.parent == 0 && p.started >= then)
			return stat("/proc/self/ns/pid", &st) < 0 || st.st_ino != FIRST_NAMESPACE;
		pid = p.parent;
	}
	return false;
}
