// Who keeps the other end of a channel open when the command has ended: background processes, and
// daemons that took it along.
#ifndef TERSE_PROCESS_HOLDER_H
#define TERSE_PROCESS_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct holder {
	pid_t pid, session;
	char name[64]; /* as the process has set it: may hold anything */
};

/* Looks through /proc for processes, but for the caller, that hold the other end of one of `fds`
   (our end of a pty or pipe, or -1). Puts up to `most` of them into `found`, in the order of /proc.
   Returns how many there are; what belongs to other users is not seen. */
int holder_find(const int *fds, int count, struct holder *found, int most);

#endif
