// How fast the output of background processes is taken once the command has ended: as fast as it
// comes, until it is a flood. Then they wait in their writes, and nobody pays for it with a
// processor or a disk.
#ifndef TERSE_PROCESS_PACE_H
#define TERSE_PROCESS_PACE_H

#include <stdint.h>

/* So much at once, and then so much a second. */
#define PACE_BURST ((int64_t)16 * 1024 * 1024)
#define PACE_RATE  ((int64_t)1024 * 1024)

/* Zeroed: nothing was taken yet. */
struct pace {
	int64_t taken; /* bytes that count against the burst ... */
	int64_t at_ms; /* ... at this monotonic time */
};

/* So many bytes were taken. */
void pace_take(struct pace *p, uint64_t bytes, int64_t now_ms);

/* Milliseconds until more may be taken; 0: now. */
int64_t pace_wait(const struct pace *p, int64_t now_ms);

#endif
