// See cpu.h.

#include "supervisor/base/cpu.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)

#include <sys/platform/x86.h>

bool cpu_has_avx2(void)
{
	return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(POPCNT);
}

#elif defined(__x86_64__)

bool cpu_has_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("popcnt");
}

#else

bool cpu_has_avx2(void)
{
	return false;
}

#endif
