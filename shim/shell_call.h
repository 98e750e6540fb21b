// A program and its arguments: is that a shell that runs a string?
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.
#ifndef TERSE_SHIM_SHELL_CALL_H
#define TERSE_SHIM_SHELL_CALL_H

#include <stdbool.h>

/* What follows the last slash. */
const char *shell_call_name(const char *path);

/* Whether a file of that name (the last component of a path) is taken for a shell. */
bool shell_call_is_shell(const char *name);

/* The string that a shell runs which is called with these arguments (`-c STRING`, `-lc STRING`,
   `-euo pipefail -c -- STRING` ...): one of argv's. NULL if it runs none, or if the string is
   missing, or if argv is NULL or empty. */
const char *shell_call_script(char *const *argv);

#endif
