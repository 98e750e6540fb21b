// A pseudo-terminal for a command: size and line settings are made before the
// command starts, both ends are close-on-exec, the master does not block.
#ifndef TERSE_PROCESS_PTY_H
#define TERSE_PROCESS_PTY_H

#include <stdbool.h>
#include <termios.h>

struct pty {
	int master;
	int slave; /* to be closed once the command has it: else the end of output never comes */
};

/* Opens one. `cooked`: with a person or an input queue behind it, so echo and CR NL output stay on
   (settings are taken from *like when it is not NULL); otherwise output bytes pass unchanged,
   nothing is echoed, and the slave can only be written to. Returns 0, or -1 with errno. */
int pty_open(struct pty *p, unsigned cols, unsigned rows, bool cooked, const struct termios *like);

int pty_resize(int master, unsigned cols, unsigned rows);

/* Whether the command reads its terminal raw (no line editing), so that the answer to
   a query reaches it and is not echoed. */
bool pty_is_raw(int master);

#endif
