// See remote.h.

#include "supervisor/remote/remote.h"

#include "lib/exec.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "lib/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_KIND   "file:"
#define RCLONE_KIND "rclone:"

/* rclone's exit statuses for a missing directory, and for a missing object. */
enum { STATUS_NO_DIRECTORY = 3, STATUS_NO_OBJECT = 4 };

/* Interval between looks at a child if the kernel has no pidfd_open(2), which would report the
   child's end. */
#define LOOK_MS 200

/* The most bytes that are read of a program's messages. */
#define SAID_MOST ((size_t)16 * 1024)

/* The most arguments of rclone: one for each of 24 hours, and the others. */
#define ARGUMENTS 48

const char *remote_directory(const struct settings *s)
{
	size_t len = strlen(FILE_KIND);
	return strncmp(s->remote, FILE_KIND, len) == 0 ? s->remote + len : NULL;
}

void remote_hour(int64_t ms, char hour[REMOTE_HOUR_LEN + 1])
{
	struct tm tm = {0};
	time_t seconds = (time_t)(ms / 1000);
	gmtime_r(&seconds, &tm);
	strftime(hour, REMOTE_HOUR_LEN + 1, "%Y/%m/%d/%H", &tm);
}

void remote_key(const char *id, char key[REMOTE_KEY_LEN])
{
	char hour[REMOTE_HOUR_LEN + 1];
	remote_hour(id_time_ms(id_pack(id)), hour);
	snprintf(key, REMOTE_KEY_LEN, REMOTE_ARTIFACTS "/%s/%s.tar.zst", hour, id);
}

void remote_host(char host[REMOTE_HOST_LEN + 1])
{
	struct utsname name;
	store_clean_name(uname(&name) == 0 ? name.nodename : "", host, REMOTE_HOST_LEN + 1);
	if (!*host)
		snprintf(host, REMOTE_HOST_LEN + 1, "unknown");
}

/* Executes rclone. terse itself retries. rclone checks a copied file before it removes the local
   one. */
_Noreturn static void remote_exec(const struct settings *s, const struct remote_call *call)
{
	static const char *const common[] = {
		"--retries", "1",   "--low-level-retries",  "3",      "--contimeout", "10s",
		"--timeout", "60s", "--s3-no-check-bucket", "--quiet"};
	static const char *const verbs[] = {"move", "copyto", "copy"};
	const char *argv[ARGUMENTS] = {"rclone", verbs[call->work]}, *place = s->remote;
	char there[2048], includes[24][32 + REMOTE_HOST_LEN];
	int n = 2, len;
	place += strlen(RCLONE_KIND);
	for (len = (int)strlen(place); len > 0 && place[len - 1] == '/';)
		len--;
	/* A remote is NAME: or NAME:PATH; a key follows the colon directly, or a slash. */
	snprintf(there, sizeof(there), "%.*s%s%s", len, place, place[len - 1] == ':' ? "" : "/",
		 call->key);
	argv[n++] = call->work == REMOTE_MOVE ? call->local : there;
	argv[n++] = call->work == REMOTE_MOVE ? there : call->local;
	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		argv[n++] = common[i];
	if (call->work == REMOTE_MOVE)
		argv[n++] = "--no-traverse";
	if (call->work == REMOTE_LIST) {
		/* An hour may have an object from each of many thousand machines. */
		argv[n++] = "--transfers=32";
		argv[n++] = "--no-check-dest";
		argv[n++] = "--use-server-modtime";
	}
	for (int hour = 0; hour < 24; hour++) {
		if (!(call->hours >> hour & 1))
			continue;
		snprintf(includes[hour], sizeof(includes[hour]), "--include=/%02d/%s*", hour,
			 call->host);
		argv[n++] = includes[hour];
	}
	errno = exec_search(argv[0], (char *const *)argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(1);
}

_Noreturn static void remote_child(const struct settings *s, const struct remote_call *call,
				   pid_t parent, int errors)
{
	const struct rlimit limit = {(rlim_t)call->most, (rlim_t)call->most};
	const struct sigaction preset = {.sa_handler = SIG_DFL};
	sigset_t none;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(errors, STDERR_FILENO) < 0)
		_exit(1);
	io_null(STDIN_FILENO, STDOUT_FILENO);
	io_close_others(STDERR_FILENO + 1, NULL, 0);
	/* Resets the signals, whose settings are for terse, not for the program. */
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &preset, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A write beyond RLIMIT_FSIZE becomes an error that the program reports, and does not dump
	   core. */
	signal(SIGXFSZ, SIG_IGN);
	if (call->most > 0)
		setrlimit(RLIMIT_FSIZE, &limit);
	setenv("TERSE", "0", 1);
	if (!remote_directory(s))
		remote_exec(s, call);
	if (directory_run(remote_directory(s), call) < 0)
		_exit(errno == ENOENT ? STATUS_NO_OBJECT : 1);
	_exit(0);
}

const char *remote_cause(char *said)
{
	const char *last = "";
	char *next;
	for (char *line = said; line; line = next) {
		int year, end = 0;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		/* 2026/11/22 07:00:00 ERROR : NAME: why */
		sscanf(line, "%4d/%*2d/%*2d %*2d:%*2d:%*2d %n", &year, &end);
		line += end;
		size_t level = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		size_t blank = level + strspn(line + level, " ");
		bool notice = false;
		if (level > 2 && line[blank] == ':') {
			bool failed = strstr(line, "Failed") != NULL;
			notice = !failed && strchr("NIDW", *line); /* NOTICE, INFO, ... */
			line += blank + 1;
			line += strspn(line, " :");
		}
		if (line[strspn(line, " \t")] == '\0')
			continue;
		last = line;
		if (!notice)
			break;
	}
	return last;
}

/* Waits for the child. Returns its wait status, or -1 and `why` if its time is over. */
static int remote_wait(const struct settings *s, struct remote_call *call, pid_t pid)
{
	int status = 0, end = pidfd_open(pid, 0);
	int64_t deadline = clock_monotonic_ms() + s->transfer_time;
	bool moves = call->work == REMOTE_MOVE;
	int64_t before = moves ? directory_count(call->local) : 0;
	struct loop l;
	loop_begin(&l);
	for (;;) {
		pid_t ended = waitpid(pid, &status, WNOHANG);
		if (ended == pid || (ended < 0 && errno == ECHILD))
			break;
		int64_t now = clock_monotonic_ms();
		bool over = call->until_ms && now >= call->until_ms;
		if (now >= deadline && !over) {
			int64_t after = moves ? directory_count(call->local) : before;
			if (after != before)
				deadline = now + s->transfer_time;
			over = after == before;
			before = after;
		}
		if (over) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			snprintf(call->why, sizeof(call->why), "%s",
				 now >= deadline ? "took too long ([remote] transfer_time)"
						 : "the time was over");
			status = -1;
			break;
		}
		loop_watch(&l, end, POLLIN, NULL, NULL);
		loop_until(&l, deadline);
		loop_until(&l, call->until_ms);
		loop_until(&l, end < 0 ? now + LOOK_MS : 0);
		loop_turn(&l);
	}
	io_close(&end);
	return status;
}

int remote_run(const struct settings *s, struct remote_call *call)
{
	char said[SAID_MOST];
	pid_t parent = getpid();
	/* The messages go to memory, so that the child never waits for a reader. */
	int errors = io_above_standard(memfd_create("said", MFD_CLOEXEC)), status = -1;
	pid_t pid = errors < 0 ? -1 : fork();
	*call->why = '\0';
	if (pid == 0)
		remote_child(s, call, parent, errors);
	if (pid < 0)
		snprintf(call->why, sizeof(call->why), "%s", strerror(errno));
	else
		status = remote_wait(s, call, pid);
	ssize_t len = io_read_at(errors, said, sizeof(said) - 1, 0);
	said[len > 0 ? len : 0] = '\0';
	io_close(&errors);
	if (status == -1)
		return -1;
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	TRACE(PROCESS, "remote: %s: status %d, %s", call->key, code, said);
	/* rclone reports success for a missing S3 object, as for an empty directory. */
	if (code == 0)
		return call->work == REMOTE_FETCH && access(call->local, F_OK) < 0 &&
		       errno == ENOENT;
	if (call->work != REMOTE_MOVE && (code == STATUS_NO_DIRECTORY || code == STATUS_NO_OBJECT))
		return 1;
	const char *cause = remote_cause(said);
	if (*cause)
		snprintf(call->why, sizeof(call->why), "%s", cause);
	else if (code > 0)
		snprintf(call->why, sizeof(call->why), "status %d", code);
	else
		snprintf(call->why, sizeof(call->why), "killed by %s",
			 HUMAN_SIGNAL(WTERMSIG(status)));
	return -1;
}
