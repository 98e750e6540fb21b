// Time in milliseconds.
#ifndef TERSE_BASE_CLOCK_H
#define TERSE_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some fixed point; never steps. For durations and deadlines. */
int64_t clock_monotonic_ms(void);

/* Milliseconds since 1970-01-01 UTC. For what is shown and stored. */
int64_t clock_real_ms(void);

#endif
