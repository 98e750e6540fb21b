// System calls for a program without libc. Each returns what the kernel does: -errno if it fails.
// The functions of string.h that the launcher uses, and access(), are in bare.c, too.
#ifndef TERSE_LAUNCHER_BARE_H
#define TERSE_LAUNCHER_BARE_H

#include <sys/syscall.h>

static inline long bare_call(long number, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
	register long fourth __asm__("r10") = d;
	register long fifth __asm__("r8") = e;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long which __asm__("x8") = number;
	register long first __asm__("x0") = a;
	register long second __asm__("x1") = b;
	register long third __asm__("x2") = c;
	register long fourth __asm__("x3") = d;
	register long fifth __asm__("x4") = e;
	__asm__ volatile("svc 0"
			 : "+r"(first)
			 : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
			 : "memory");
	return first;
#else
#error "the launcher knows the system calls of x86_64 and aarch64 only"
#endif
}

#define BARE(name, a, b, c, d) bare_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0)

_Noreturn static inline void bare_exit(int status)
{
	for (;;)
		BARE(exit_group, status, 0, 0, 0);
}

#endif
