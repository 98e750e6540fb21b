// See signals.h.

#include "supervisor/process/signals.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a person, a shell or an agent sends to a command. */
static const int forwarded[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,  SIGUSR1, SIGUSR2,
				SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU,  SIGCONT, SIGVTALRM,
				SIGPROF, SIGIO,   SIGPWR,  SIGWINCH, SIGURG};

/* What terse changes the disposition of, in one of its processes. */
static const int changed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ, SIGCHLD};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

void signals_take(struct signals *saved)
{
	sigset_t block;
	struct sigaction action;
	sigemptyset(&block);
	sigemptyset(&saved->ignored);
	for (size_t i = 0; i < COUNT(forwarded); i++) {
		sigaddset(&block, forwarded[i]);
		if (sigaction(forwarded[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&saved->ignored, forwarded[i]);
	}
	for (size_t i = 0; i < COUNT(changed); i++) {
		if (sigaction(changed[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&saved->ignored, changed[i]);
	}
	sigaddset(&block, SIGCHLD);
	/* So that a front end in the background can still put terminal modes back. */
	sigaddset(&block, SIGTTOU);
	sigprocmask(SIG_BLOCK, &block, &saved->mask);
	/* With SIGCHLD ignored the kernel reaps by itself and the status is lost. */
	if (sigismember(&saved->ignored, SIGCHLD))
		signal(SIGCHLD, SIG_DFL);
}

void signals_restore(const struct signals *saved)
{
	for (size_t i = 0; i < COUNT(changed); i++)
		signal(changed[i], sigismember(&saved->ignored, changed[i]) ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

void signals_forwarded(const struct signals *saved, sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < COUNT(forwarded); i++) {
		if (!sigismember(&saved->ignored, forwarded[i]))
			sigaddset(set, forwarded[i]);
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
