// See bare.h. The process begins here.

#include "shim/launcher/bare.h"

#include "shim/launcher/launcher.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
__asm__(".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call launcher_main\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x0, sp\n"
	"	bl launcher_main\n");
#endif

#ifndef __clang__
/* Without this, gcc would replace the loop in memcpy() with a call of memcpy(). */
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

int access(const char *path, int mode)
{
	return BARE(faccessat, AT_FDCWD, path, mode, 0) < 0 ? -1 : 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((char *)to)[i] = (char)byte;
	return to;
}

size_t strlen(const char *text)
{
	size_t len = 0;
	while (text[len])
		len++;
	return len;
}

int strncmp(const char *a, const char *b, size_t len)
{
	size_t i = 0;
	while (i < len && a[i] && a[i] == b[i])
		i++;
	return i == len ? 0 : (unsigned char)a[i] - (unsigned char)b[i];
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, (size_t)-1);
}

char *strchr(const char *text, int wanted)
{
	for (; *text != (char)wanted; text++) {
		if (!*text)
			return NULL;
	}
	return (char *)text;
}

char *strrchr(const char *text, int wanted)
{
	const char *found = NULL;
	for (const char *at = text; (at = strchr(at, wanted)) != NULL; at++) {
		found = at;
		if (!*at)
			break;
	}
	return (char *)found;
}

char *strpbrk(const char *text, const char *wanted)
{
	for (; *text; text++) {
		if (strchr(wanted, *text))
			return (char *)text;
	}
	return NULL;
}
