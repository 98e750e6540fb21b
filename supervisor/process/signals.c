// See signals.h.

#include "supervisor/process/signals.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* `forwarded`: what a person, a shell or an agent sends to a command. (TTOU is blocked with them,
   so that a front end in the background can still put terminal modes back.) `changed`: what terse
   changes the disposition of, in one of its processes. */
static const struct {
	int sig;
	bool forwarded, changed;
} table[] = {
	{SIGHUP, true, true},    {SIGINT, true, true},   {SIGQUIT, true, true},
	{SIGTERM, true, true},   {SIGUSR1, true, false}, {SIGUSR2, true, false},
	{SIGALRM, true, false},  {SIGTSTP, true, false}, {SIGTTIN, true, false},
	{SIGTTOU, true, false},  {SIGCONT, true, false}, {SIGVTALRM, true, false},
	{SIGPROF, true, false},  {SIGIO, true, false},   {SIGPWR, true, false},
	{SIGWINCH, true, false}, {SIGURG, true, false},  {SIGPIPE, false, true},
	{SIGXFSZ, false, true},  {SIGCHLD, false, true},
};

#define COUNT (sizeof(table) / sizeof(*table))

void signals_take(struct signals *saved)
{
	sigset_t block;
	struct sigaction action;
	sigemptyset(&block);
	sigemptyset(&saved->ignored);
	for (size_t i = 0; i < COUNT; i++) {
		if (table[i].forwarded)
			sigaddset(&block, table[i].sig);
		if (sigaction(table[i].sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&saved->ignored, table[i].sig);
	}
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &saved->mask);
	/* With SIGCHLD ignored the kernel reaps by itself and the status is lost. */
	if (sigismember(&saved->ignored, SIGCHLD))
		signal(SIGCHLD, SIG_DFL);
}

void signals_restore(const struct signals *saved)
{
	for (size_t i = 0; i < COUNT; i++) {
		bool ignored = sigismember(&saved->ignored, table[i].sig);
		if (table[i].changed)
			signal(table[i].sig, ignored ? SIG_IGN : SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

void signals_forwarded(const struct signals *saved, sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < COUNT; i++) {
		if (table[i].forwarded && !sigismember(&saved->ignored, table[i].sig))
			sigaddset(set, table[i].sig);
	}
}

_Noreturn void signals_end_like(int status)
{
	if (WIFSIGNALED(status)) {
		const struct rlimit none = {0, 0};
		int sig = WTERMSIG(status);
		sigset_t set;
		setrlimit(RLIMIT_CORE, &none);
		/* A core handler behind a pipe ignores the limit. */
		prctl(PR_SET_DUMPABLE, 0);
		signal(sig, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, sig);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		kill(getpid(), sig);
		/* Not fatal here after all: what a shell would report. */
		_exit(128 + sig);
	}
	_exit(WEXITSTATUS(status));
}
