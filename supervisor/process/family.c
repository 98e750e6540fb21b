// See family.h.

#include "supervisor/process/family.h"
#include "shim/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

/* How soon TERM follows HUP, and how often it is looked whether all have gone: less and
   less often where KILL does not help (a process that hangs in the kernel). */
#define HUP_GRACE_MS 100
#define LOOK_MS      20
#define LOOK_MOST_MS 1000

static bool is_member(pid_t pid, const struct family_end *e)
{
	struct process p;
	return process_read(pid, &p) == 0 && (p.session == e->session || pid == e->command) &&
	       p.state != 'Z' && p.state != 'X';
}

/* By pidfd, so that who gets the number of a member that has just ended is left alone. */
static void send_one(pid_t pid, const struct family_end *e, int sig, bool resume)
{
	int fd = pidfd_open(pid, 0);
	if (fd < 0) {
		/* Too old a kernel, or forbidden. */
		if (errno != ESRCH && kill(pid, sig) == 0 && resume)
			kill(pid, SIGCONT);
		return;
	}
	if (is_member(pid, e) && pidfd_send_signal(fd, sig, NULL, 0) == 0 && resume)
		pidfd_send_signal(fd, SIGCONT, NULL, 0);
	close(fd);
}

/* Where /proc tells nothing the command's process group has to do. */
static int send_to_group(pid_t group, int sig, bool resume)
{
	if (group <= 1 || kill(-group, sig) < 0)
		return 0;
	if (resume)
		kill(-group, SIGCONT);
	return 1;
}

/* `resume`: stopped ones are continued, so that they get the signal. */
static int send_to_all(const struct family_end *e, int sig, bool resume)
{
	DIR *proc = opendir("/proc");
	if (!proc)
		return send_to_group(e->group, sig, resume);
	int count = 0, seen = 0;
	pid_t self = getpid();
	const struct dirent *entry;
	while ((entry = readdir(proc))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);
		if (*end || pid <= 0)
			continue;
		seen++;
		if (pid == 1 || pid == e->session || pid == self || !is_member((pid_t)pid, e))
			continue;
		count++;
		if (sig)
			send_one((pid_t)pid, e, sig, resume);
	}
	closedir(proc);
	return seen ? count : send_to_group(e->group, sig, resume);
}

int family_signal(pid_t session, int sig)
{
	const struct family_end e = {.session = session};
	return send_to_all(&e, sig, false);
}

static int take_step(struct family_end *e, int64_t now_ms)
{
	switch (e->step) {
	case FAMILY_HUP: e->next_ms = now_ms + HUP_GRACE_MS; return send_to_all(e, SIGHUP, true);
	case FAMILY_TERM: e->next_ms = now_ms + e->grace_ms; return send_to_all(e, SIGTERM, true);
	default:
		e->pause_ms = e->pause_ms ? e->pause_ms * 2 : LOOK_MS;
		if (e->pause_ms > LOOK_MOST_MS)
			e->pause_ms = LOOK_MOST_MS;
		e->next_ms = now_ms + e->pause_ms;
		return send_to_all(e, SIGKILL, false);
	}
}

bool family_end_step(struct family_end *e, int first, int64_t now_ms)
{
	int left;
	if (e->step < first) {
		e->step = first;
		left = take_step(e, now_ms);
	} else if (now_ms >= e->next_ms) {
		if (e->step < FAMILY_KILL)
			e->step++;
		left = take_step(e, now_ms);
	} else if (now_ms >= e->look_ms) {
		left = send_to_all(e, 0, false);
	} else {
		return true;
	}
	e->look_ms = now_ms + LOOK_MS;
	if (e->step == FAMILY_KILL)
		e->look_ms = e->next_ms;
	return left > 0;
}
