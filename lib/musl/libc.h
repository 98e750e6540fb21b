// What terse uses of glibc and musl does not have. Included first into every file of a build with
// musl (`make dist` makes such ones), and only there.
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

/* musl gives memory back itself. */
int malloc_trim(size_t pad);

#endif
