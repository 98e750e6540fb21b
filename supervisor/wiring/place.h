// Where terse's own files are: beside the program that runs (a build) or as installed.
#ifndef TERSE_WIRING_PLACE_H
#define TERSE_WIRING_PLACE_H

#include <limits.h>

/* Behind the path in BASH_ENV: nothing, but with -v, for which bash would print the file as it
   reads it, the end of a name that no file has. */
#define PLACE_UNLESS_VERBOSE "${-//[!v]}"

struct place {
	/* Absolute paths; "" where there is none. */
	char program[PATH_MAX];
	char shell[PATH_MAX];    /* terse-sh; can be executed */
	char library[PATH_MAX];  /* libterse-shim.so */
	char bash_env[PATH_MAX]; /* what BASH_ENV is set to for Codex */
};

void place_find(struct place *p);

#endif
