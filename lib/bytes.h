// Whether the processor has the instructions of AVX2 (with BMI and POPCNT).
//
// Asked of the C library, which has looked at start-up: the compiler's own
// __builtin_cpu_supports() asks the processor once more in every process, and that
// is slow in a virtual machine.
#ifndef TERSE_LIB_BYTES_H
#define TERSE_LIB_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool cpu_has_avx2(void);

// Counting newlines, at memory speed: everything that is written passes here.

/* How many newlines there are. */
uint64_t newline_count(const char *data, size_t len);

/* Passes up to *n newlines and lowers *n by those passed. Returns the offset behind the
   last of them if *n reached 0, else `len`. */
size_t newline_skip(const char *data, size_t len, uint64_t *n);

#endif
