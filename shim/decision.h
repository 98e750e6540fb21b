// terse-sh: what a call of it asks for, and whether that is an agent's tool call.
//
//   terse-sh [-l] -c SCRIPT [args]   as a shell; -lc, -ic, -euo pipefail -c, -- as well
//   terse-sh SCRIPT                  one argument that is no file, or any one argument under
//                                    CLAUDE_CODE_SHELL_PREFIX: a shell string
//   terse-sh FILE [args], terse-sh   as a shell
//
// It stands for the user's real shell (shell_real() in shell.h), which gets exactly
// these arguments. libterse-shim.so starts it with the arguments of the shell that
// an agent meant, argv[0] included, and with
//
//   TERSE_SHIM_PROGRAM   that shell's path
//   TERSE_SHIM_PRELOAD   what LD_PRELOAD was, for a shell that is passed on
//
// which are gone from the environment afterwards.
#ifndef TERSE_SHIM_DECISION_H
#define TERSE_SHIM_DECISION_H

#include "config/settings.h"

#include <limits.h>
#include <stdbool.h>

struct decision {
	const char *program; /* the real shell's path ... */
	char **argv;         /* ... and its arguments */
	const char *agent;   /* whose tool call it is; NULL: nobody's, to be passed on */
	char *command;       /* the part that the model wrote */
	char room[PATH_MAX]; /* of program */
	char **made;         /* argv, unless there was no memory for it ... */
	char *base;          /* ... and what argv[0] is in */
	char *plain[4];      /* what it is then */
};

/* Whether this process was started as terse-sh: by the name of the file that was executed, or by
   argv[0]. */
bool decision_is_shell(const char *name);

/* Decides. `ask`: rules are asked; else it is passed on in any case. Returns 0, or -1 with ENOMEM;
   program and argv are good then, too. Changes the environment. */
int decision_make(struct decision *d, const struct settings *s, char **argv, bool ask);

void decision_release(struct decision *d);

#endif
