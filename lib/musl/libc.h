// The parts of glibc that terse uses and musl lacks. A build with musl (`make dist`) includes this
// first into every file.
#ifndef TERSE_LIB_MUSL_LIBC_H
#define TERSE_LIB_MUSL_LIBC_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/* A wait status. */
#define W_EXITCODE(code, sig) ((code) << 8 | (sig))

/* "TERM", or NULL. */
const char *sigabbrev_np(int sig);

int close_range(unsigned first, unsigned last, int flags);
int pidfd_open(pid_t pid, unsigned flags);
int pidfd_getfd(int pidfd, int fd, unsigned flags);
int pidfd_send_signal(int pidfd, int sig, siginfo_t *info, unsigned flags);

/* glibc's first real-time signal. musl uses it internally when threads change their user, which
   terse never does; but other programs send it, so terse blocks it, waits for it and passes it on
   like all others. */
#undef SIGRTMIN
#define SIGRTMIN 34

int musl_sigaddset(sigset_t *set, int sig);
int musl_sigfillset(sigset_t *set);
int musl_sigprocmask(int how, const sigset_t *set, sigset_t *before);
#define sigaddset   musl_sigaddset
#define sigfillset  musl_sigfillset
#define sigprocmask musl_sigprocmask

/* musl returns freed memory to the system by itself. */
int malloc_trim(size_t pad);

#endif
