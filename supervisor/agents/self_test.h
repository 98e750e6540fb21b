// Runs a command as an agent would through its wiring, to check that terse gets it.
#ifndef TERSE_AGENTS_SELF_TEST_H
#define TERSE_AGENTS_SELF_TEST_H

#include "supervisor/agents/wiring.h"

/* Returns 1 if the command was previewed (a hook: rewritten), 0 if there is nothing to try for this
   agent, -1 if not, with `reason` (of 256 bytes). Takes at most 10 s; leaves nothing behind. */
int self_test_run(const char *agent, const struct place *place, char reason[256]);

#endif
