// See transfer.h.

#include "supervisor/remote/transfer.h"

#include "lib/exec.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/remote/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Looks at the children of a wait that no event ends, such as one whose child has passed its
   standard error on. */
#define LOOK_MS 200

/* The file beside an object's that a filter writes or reads. */
#define FILTERED ".filtered"

/* --- in the child ------------------------------------------------------------------- */

_Noreturn static void transfer_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	_exit(1);
}

/* The caller's signals are terse's own, not the program's. */
static void transfer_reset_signals(void)
{
	sigset_t none;
	struct sigaction preset = {.sa_handler = SIG_DFL};
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &preset, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void transfer_bind(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

_Noreturn static void transfer_exec(const struct words *command, const struct remote_object *object)
{
	char **argv = remote_arguments(command, object);
	if (argv)
		errno = exec_search(argv[0], argv);
	transfer_fail(argv ? argv[0] : "memory");
}

/* Runs a program from file to file, or with NULL without redirection. Ends this process unless it
   succeeds. */
static void transfer_step(const struct words *command, const struct remote_object *object,
			  const char *from, const char *to)
{
	pid_t parent = getpid(), pid = fork();
	int status = 0;
	if (pid < 0)
		transfer_fail("fork");
	if (pid == 0) {
		transfer_bind(parent);
		int in = from ? open(from, O_RDONLY | O_CLOEXEC) : -1;
		int out = to ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
		if ((from && (in < 0 || dup2(in, STDIN_FILENO) < 0)) ||
		    (to && (out < 0 || dup2(out, STDOUT_FILENO) < 0)))
			transfer_fail(in < 0 ? from : to);
		transfer_exec(command, object);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == 0)
		return;
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	fprintf(stderr, "killed by %s\n", HUMAN_SIGNAL(WTERMSIG(status)));
	_exit(1);
}

/* Moves the object as it is, by a program or, with `directory`, by terse. */
static void transfer_move(const struct remote *r, enum remote_work work,
			  const struct remote_object *object)
{
	if (r->commands[work].count > 0)
		transfer_step(&r->commands[work], object, NULL, NULL);
	else if (directory_move(r->directory, work, object) < 0)
		_exit(errno == ENOENT ? REMOTE_NO_OBJECT : 1);
	/* rclone takes an S3 object that is not there for an empty directory. */
	if (work == REMOTE_PULL && r->absent && !*r->absent && access(object->file, F_OK) < 0 &&
	    errno == ENOENT)
		_exit(REMOTE_NO_OBJECT);
}

/* Decrypts each file of a directory in its place. */
static void transfer_decrypt_all(const struct remote *r, const struct remote_object *object)
{
	struct dirent *e;
	DIR *d = opendir(object->file);
	if (!d)
		transfer_fail(object->file);
	while ((e = readdir(d)) != NULL) {
		char from[PATH_MAX], to[PATH_MAX];
		if (*e->d_name == '.' || strstr(e->d_name, FILTERED) ||
		    snprintf(from, sizeof(from), "%s/%s", object->file, e->d_name) >= PATH_MAX ||
		    snprintf(to, sizeof(to), "%s/%s" FILTERED, object->file, e->d_name) >= PATH_MAX)
			continue;
		transfer_step(&r->decrypt, object, from, to);
		if (rename(to, from) < 0)
			transfer_fail(to);
	}
	closedir(d);
}

_Noreturn static void transfer_child(const struct remote *r, enum remote_work work,
				     const struct remote_object *object)
{
	struct remote_object filtered = *object;
	char file[PATH_MAX];
	snprintf(file, sizeof(file), "%s" FILTERED, object->file);
	filtered.file = file;
	if (work == REMOTE_PUSH && r->encrypt.count > 0) {
		transfer_step(&r->encrypt, object, object->file, file);
		transfer_move(r, work, &filtered);
		unlink(file);
	} else if (work == REMOTE_PULL && r->decrypt.count > 0) {
		transfer_move(r, work, &filtered);
		transfer_step(&r->decrypt, object, file, object->file);
		unlink(file);
	} else {
		transfer_move(r, work, object);
		if (work == REMOTE_LIST && r->decrypt.count > 0)
			transfer_decrypt_all(r, object);
	}
	_exit(0);
}

_Noreturn static void transfer_begin_child(const struct remote *r, enum remote_work work,
					   const struct remote_object *object, pid_t parent,
					   int errors, int64_t most)
{
	const struct rlimit limit = {(rlim_t)most, (rlim_t)most};
	setpgid(0, 0);
	transfer_bind(parent);
	if (dup2(errors, STDERR_FILENO) < 0)
		_exit(1);
	io_null(STDIN_FILENO, STDOUT_FILENO);
	io_close_others(STDERR_FILENO + 1, NULL, 0);
	transfer_reset_signals();
	/* A write beyond is an error that the program reports, and no core. */
	signal(SIGXFSZ, SIG_IGN);
	if (most > 0)
		setrlimit(RLIMIT_FSIZE, &limit);
	setenv("TERSE", "0", 1);
	transfer_child(r, work, object);
}

/* --- in the parent ------------------------------------------------------------------ */

int transfer_start(struct transfer *t, const struct remote *r, enum remote_work work,
		   const struct remote_object *object, int64_t most)
{
	int ends[2];
	pid_t parent = getpid();
	*t = (struct transfer){.errors = -1, .absent = work == REMOTE_PULL ? r->absent : NULL};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	/* The child's end waits for us, as a program expects. */
	fcntl(ends[1], F_SETFL, 0);
	t->pid = fork();
	if (t->pid == 0)
		transfer_begin_child(r, work, object, parent, io_above_standard(ends[1]), most);
	int error = errno;
	close(ends[1]);
	t->errors = io_above_standard(ends[0]);
	t->deadline_ms = clock_monotonic_ms() + r->settings->transfer_time;
	if (t->pid > 0)
		return 0;
	t->pid = 0;
	io_close(&t->errors);
	errno = error;
	return -1;
}

/* Reads what it says and keeps the end. */
static void transfer_listen(struct transfer *t)
{
	char chunk[4096];
	ssize_t n;
	while (t->errors >= 0 && (n = read(t->errors, chunk, sizeof(chunk))) != -1) {
		if (n == 0) {
			io_close(&t->errors);
			break;
		}
		size_t add = (size_t)n < sizeof(t->tail) ? (size_t)n : sizeof(t->tail);
		size_t keep =
			sizeof(t->tail) - add < t->tail_len ? sizeof(t->tail) - add : t->tail_len;
		memmove(t->tail, t->tail + t->tail_len - keep, keep);
		memcpy(t->tail + keep, chunk + n - add, add);
		t->tail_len = keep + add;
	}
}

void transfer_cancel(struct transfer *t)
{
	if (t->pid <= 0)
		return;
	kill(-t->pid, SIGKILL);
	kill(t->pid, SIGKILL);
	while (waitpid(t->pid, &t->status, 0) < 0 && errno == EINTR)
		;
	t->pid = 0;
	transfer_listen(t);
	io_close(&t->errors);
}

bool transfer_is_over(struct transfer *t)
{
	if (t->pid <= 0)
		return true;
	transfer_listen(t);
	pid_t pid = waitpid(t->pid, &t->status, WNOHANG);
	if (pid == t->pid || (pid < 0 && errno == ECHILD)) {
		t->pid = 0;
		transfer_listen(t);
		io_close(&t->errors);
		return true;
	}
	t->late = clock_monotonic_ms() >= t->deadline_ms;
	if (t->late)
		transfer_cancel(t);
	return t->late;
}

void transfers_wait(struct transfer *t, size_t count, int64_t until_ms)
{
	struct pollfd fds[64];
	size_t n = 0;
	int64_t wait = LOOK_MS;
	for (size_t i = 0; i < count && n < sizeof(fds) / sizeof(*fds); i++) {
		if (t[i].pid <= 0)
			continue;
		/* One whose standard error is closed is about to end. */
		if (t[i].errors < 0)
			wait = 2;
		fds[n++] = (struct pollfd){.fd = t[i].errors, .events = POLLIN};
	}
	int64_t now = clock_monotonic_ms();
	if (until_ms && until_ms < now + wait)
		wait = until_ms > now ? until_ms - now : 0;
	if (n > 0)
		io_poll(fds, n, (int)wait);
}

/* The last line that it said, without what a log puts in front. */
static void transfer_say(const struct transfer *t, char why[TRANSFER_WHY])
{
	size_t end = t->tail_len;
	while (end > 0 && (unsigned char)t->tail[end - 1] <= ' ')
		end--;
	size_t start = end;
	while (start > 0 && t->tail[start - 1] != '\n')
		start--;
	size_t len = end - start < TRANSFER_WHY ? end - start : TRANSFER_WHY - 1;
	memcpy(why, t->tail + end - len, len);
	why[len] = '\0';
}

int transfer_result(const struct transfer *t, char why[TRANSFER_WHY])
{
	int code = WIFEXITED(t->status) ? WEXITSTATUS(t->status) : -1;
	*why = '\0';
	if (t->late) {
		snprintf(why, TRANSFER_WHY, "took too long ([remote] transfer_time)");
		return -1;
	}
	if (code == 0)
		return 0;
	transfer_say(t, why);
	if (code == REMOTE_NO_DIRECTORY || code == REMOTE_NO_OBJECT ||
	    (code > 0 && t->absent && *t->absent && strstr(why, t->absent)))
		return 1;
	if (!*why && code > 0)
		snprintf(why, TRANSFER_WHY, "status %d", code);
	else if (!*why)
		snprintf(why, TRANSFER_WHY, "killed by %s", HUMAN_SIGNAL(WTERMSIG(t->status)));
	return -1;
}

int transfer_run(const struct remote *r, enum remote_work work, const struct remote_object *object,
		 int64_t most, int64_t until_ms, char why[TRANSFER_WHY])
{
	struct transfer t;
	if (transfer_start(&t, r, work, object, most) < 0) {
		snprintf(why, TRANSFER_WHY, "%s", strerror(errno));
		return -1;
	}
	while (!transfer_is_over(&t)) {
		if (until_ms && clock_monotonic_ms() >= until_ms) {
			transfer_cancel(&t);
			snprintf(why, TRANSFER_WHY, "the time was over");
			return -1;
		}
		transfers_wait(&t, 1, until_ms);
	}
	return transfer_result(&t, why);
}
