#include "supervisor/preview/sketch.h"

static unsigned slot(uint32_t shape, int row)
{
	static const uint32_t factors[] = {2654435769u, 2246822519u};

	return (shape * factors[row]) >> (32 - SKETCH_BITS);
}

unsigned sketch_count(const struct sketch *s, uint32_t shape)
{
	unsigned a = s->rows[0][slot(shape, 0)];
	unsigned b = s->rows[1][slot(shape, 1)];

	return a < b ? a : b;
}

unsigned sketch_add(struct sketch *s, uint32_t shape)
{
	unsigned least = sketch_count(s, shape);

	if (least == UINT16_MAX)
		return least;
	/* Only the lower one grows: the other has collided. */
	for (int row = 0; row < 2; row++) {
		uint16_t *count = &s->rows[row][slot(shape, row)];

		if (*count == least)
			(*count)++;
	}
	return least + 1;
}
