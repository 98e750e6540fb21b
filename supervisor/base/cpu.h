// Whether the processor has the instructions of AVX2 (with BMI and POPCNT).
//
// Asked of the C library, which has looked at start-up: the compiler's own
// __builtin_cpu_supports() asks the processor once more in every process, and that
// is slow in a virtual machine.
#ifndef TERSE_BASE_CPU_H
#define TERSE_BASE_CPU_H

#include <stdbool.h>

bool cpu_has_avx2(void);

#endif
