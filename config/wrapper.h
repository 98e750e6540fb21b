// Programs that run another one: sudo, env, timeout, xargs ...
#ifndef TERSE_CONFIG_WRAPPER_H
#define TERSE_CONFIG_WRAPPER_H

/* The words of the command that words[0] runs (a later part of `words`), or NULL: words[0] is no
   such program, or runs nothing here. */
char *const *wrapper_inner(char *const words[]);

/* The shell string that words[0] runs, as in bash -lc STRING and eval STRING, or NULL. */
const char *wrapper_string(char *const words[]);

#endif
