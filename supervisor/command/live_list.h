// terse list --live: the runs that live, of every session.
#ifndef TERSE_COMMAND_LIVE_LIST_H
#define TERSE_COMMAND_LIVE_LIST_H

#include <stdbool.h>

/* Prints a row for each; with `watch`, on a terminal, again and again until a key is pressed.
   Returns the exit status of the verb. */
int live_list(const char *verb, bool watch);

#endif
