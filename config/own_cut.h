// How much of a command's output each agent would show its model by itself: terse's savings are
// counted against that, never against all that the command wrote.
//
// The figures are those that agents.c names its sources for. Characters count as bytes, so the
// answer is rather too small than too large.
#ifndef TERSE_CONFIG_OWN_CUT_H
#define TERSE_CONFIG_OWN_CUT_H

#include "config/settings.h"

#include <stdbool.h>
#include <stdint.h>

/* The bytes that are assumed of an agent that nothing is known of. */
#define OWN_CUT_ASSUMED 10000

/* Returns how many of `bytes` bytes in `lines` lines the agent that is set in `s` would show. */
uint64_t own_cut(const struct settings *s, bool failed, uint64_t bytes, uint64_t lines);

#endif
