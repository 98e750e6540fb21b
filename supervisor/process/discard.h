// Reads what background processes still write when nobody records it any more, so that a write of
// theirs does not fail or wait for ever, and drops it.
#ifndef TERSE_PROCESS_DISCARD_H
#define TERSE_PROCESS_DISCARD_H

/* Until the last of `fds` (non-blocking pty masters or pipes, or -1) is closed by the other side;
   closes them. To be called when all else was let go: it needs no memory. */
void discard_all(int fds[2]);

#endif
