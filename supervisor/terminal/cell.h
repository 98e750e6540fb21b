// One cell of the grid: a code point, its width and two flags in 32 bits.
//
// The value 0 is a blank cell nothing was written to, and an ASCII character is
// its own value, so that runs of ASCII are widened without looking at them. A
// wide character takes two cells; the second is a stub: no character, no width.
#ifndef TERSE_TERMINAL_CELL_H
#define TERSE_TERMINAL_CELL_H

#include <stdbool.h>
#include <stdint.h>

#define CELL_TEXT      0x1FFFFFu           /* the code point, or the number of a cluster */
#define CELL_ZERO      (UINT32_C(1) << 21) /* takes no column: a stub or a lone mark */
#define CELL_WIDE      (UINT32_C(1) << 22)
#define CELL_CLUSTER   (UINT32_C(1) << 23) /* CELL_TEXT numbers a cluster */
#define CELL_PROTECTED (UINT32_C(1) << 24) /* DECSCA: selective erase spares it */

/* Bytes that are no valid UTF-8 stand in the grid as CELL_INVALID + the byte. */
#define CELL_INVALID 0x110000u

static inline unsigned cell_width(uint32_t cell)
{
	if (cell & CELL_WIDE)
		return 2;
	return cell & CELL_ZERO ? 0 : 1;
}

static inline bool cell_has_text(uint32_t cell)
{
	return (cell & (CELL_TEXT | CELL_CLUSTER)) != 0;
}

/* The second half of a wide character (or what is left of it). */
static inline bool cell_is_stub(uint32_t cell)
{
	return (cell & CELL_ZERO) && !cell_has_text(cell);
}

#endif
