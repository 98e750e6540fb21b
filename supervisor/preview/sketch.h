// How often each shape of line occurred, in constant memory: never too low, and
// too high only when shapes collide in both rows.
#ifndef TERSE_PREVIEW_SKETCH_H
#define TERSE_PREVIEW_SKETCH_H

#include <stdint.h>

enum { SKETCH_BITS = 14 };

struct sketch {
	uint16_t rows[2][1 << SKETCH_BITS];
};

/* Counts one more and returns the count so far, at most 65535. */
unsigned sketch_add(struct sketch *s, uint32_t shape);
unsigned sketch_count(const struct sketch *s, uint32_t shape);

#endif
