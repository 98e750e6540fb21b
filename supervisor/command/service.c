// See internal.h.

#include "lib/io.h"
#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- finding one ------------------------------------------------------------------------------ */

/* Whether the run `id` is live and is the wanted one. */
static bool service_is(const struct service *wanted, struct store *stores, int count,
		       const char *cwd, const char *id)
{
	struct live_status now;
	struct id_found found;
	struct meta m = {0};
	struct buffer words = BUFFER_INIT;
	int run = client_open(stores, count, id);
	bool is_it =
		run >= 0 && client_status(run, FRAME_STATUS, &now) == 0 && now.state != LIVE_ENDED;
	if (is_it && !wanted->name) {
		for (char *const *arg = wanted->argv; *arg; arg++) {
			utf8_clean(&words, *arg, strlen(*arg));
			buffer_append(&words, "", 1);
		}
		/* FRAME_WATCH makes the run keep an artifact, whose metadata have its directory. */
		is_it = !words.failed && !now.argv_cut &&
			buffer_is(&words, now.argv, now.argv_len) &&
			client_status(run, FRAME_WATCH, &now) == 0;
		buffer_release(&words);
	}
	io_close(&run);
	if (is_it)
		is_it = id_find(stores, count, "default", id, &found) == 0 &&
			meta_read_found(&found, &m) == 0 && strcmp(m.cwd, cwd) == 0 &&
			(!wanted->name || (m.service && strcmp(m.service, wanted->name) == 0));
	meta_release(&m);
	return is_it;
}

bool service_find(const struct service *wanted, struct store *stores, int count,
		  char id[ID_LEN + 1])
{
	char cwd[PATH_MAX], (*ids)[ID_LEN + 1];
	size_t found, i = 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return false;
	client_list(stores, count, &ids, &found);
	while (i < found && !service_is(wanted, stores, count, cwd, ids[i]))
		i++;
	if (i < found)
		memcpy(id, ids[i], sizeof(*ids));
	free(ids);
	return i < found;
}

/* --- starting one ----------------------------------------------------------------------------- */

/* Starts the run. Returns 0 once other callers can find it, or the exit status after printing an
   error. Returns -1 in the child, which has to run the command; *caller is its connection to the
   parent. */
static int service_start(const struct verb_call *c, int *caller, char id[ID_LEN + 1])
{
	int ways[2] = {-1, -1}, said[2] = {-1, -1}, status = EXIT_TERSE, ended;
	struct live_status now;
	struct buffer text = BUFFER_INIT;
	bool starts = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ways) == 0 &&
		      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, said) == 0;
	pid_t pid = starts ? fork() : -1;
	if (pid == 0) {
		dup2(said[1], STDOUT_FILENO);
		dup2(said[1], STDERR_FILENO);
		c->settings->detach = true;
		*caller = ways[1];
		return -1;
	}
	if (pid < 0)
		verb_error("run", "%m");
	io_close(&ways[1]);
	io_close(&said[1]);
	if (pid > 0 && client_status(ways[0], FRAME_WATCH, &now) == 0) {
		memcpy(id, now.id, sizeof(now.id));
		status = 0;
	}
	if (pid > 0) {
		io_read_all(said[0], &text, 65536);
		while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
			;
		if (status && WIFEXITED(ended) && WEXITSTATUS(ended))
			status = WEXITSTATUS(ended);
		if (status)
			io_write(STDERR_FILENO, text.data, text.len);
	}
	io_close(&ways[0]);
	io_close(&said[0]);
	buffer_release(&text);
	return status;
}

int service_run(const struct verb_call *c, const struct service *s, int *caller, int *held)
{
	struct store stores[STORE_MAX], own;
	char id[ID_LEN + 1];
	int status = -1, lock = -1;
	/* Under this lock, only one caller at a time looks for a run or starts one. */
	if (store_open_write(&own) == 0) {
		lock = store_open_folder(&own, STORE_LIVE, true);
		store_close(&own);
	}
	int count = store_open_all(stores);
	while (lock >= 0 && flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
	bool lives = service_find(s, stores, count, id);
	if (lives && s->restart) {
		int run = client_open(stores, count, id);
		live_run_signal(run, 0, true);
		io_close(&run);
		lives = false;
	}
	if (!lives && s->name)
		status = service_start(c, caller, id);
	if (lives || s->name)
		io_close(&lock);
	else
		*held = lock;
	TRACE(PROCESS, "%s %s", lives ? "joins" : "started", lives || !status ? id : "none");
	store_close_all(stores, count);
	if (!lives && status)
		return status;
	struct await a = s->ready;
	a.name = id;
	a.from = 1;
	a.at_once = s->name && !a.pattern;
	a.whole = !s->name;
	return await_answer(c, &a);
}
