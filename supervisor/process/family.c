// See family.h.

#include "supervisor/process/family.h"

#include "supervisor/base/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How soon TERM follows HUP, and how often it is looked whether all have gone. */
#define HUP_GRACE_MS 100
#define LOOK_MS      20

static bool is_member(const char *pid, pid_t session)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	const char *rest = strrchr(text, ')');
	char state;
	int sid;
	if (!rest || sscanf(rest + 1, " %c %*d %*d %d", &state, &sid) != 2)
		return false;
	return sid == session && state != 'Z' && state != 'X';
}

int family_signal(pid_t session, int sig)
{
	DIR *proc = opendir("/proc");
	if (!proc)
		return 0;
	int count = 0;
	pid_t self = getpid();
	const struct dirent *entry;
	while ((entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);
		if (*end || pid <= 1 || pid == session || pid == self)
			continue;
		if (!is_member(entry->d_name, session))
			continue;
		count++;
		if (sig)
			kill((pid_t)pid, sig);
	}
	closedir(proc);
	return count;
}

static void step(struct family_end *e, int64_t now_ms)
{
	switch (e->step) {
	case FAMILY_HUP:
		family_signal(e->session, SIGHUP);
		family_signal(e->session, SIGCONT);
		e->next_ms = now_ms + HUP_GRACE_MS;
		break;
	case FAMILY_TERM:
		family_signal(e->session, SIGTERM);
		family_signal(e->session, SIGCONT);
		e->next_ms = now_ms + e->grace_ms;
		break;
	default: family_signal(e->session, SIGKILL); e->next_ms = now_ms + LOOK_MS;
	}
}

bool family_end_step(struct family_end *e, int first, int64_t now_ms)
{
	if (e->step < first) {
		e->step = first;
		step(e, now_ms);
	} else if (now_ms >= e->next_ms) {
		if (e->step < FAMILY_KILL)
			e->step++;
		step(e, now_ms);
	}
	return family_signal(e->session, 0) > 0;
}
