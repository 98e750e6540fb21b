// The exported functions. Each describes the call for call_run(); see library.h.

#include "shim/exec_call.h"
#include "shim/library/library.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Longest string of system() or popen() with its detour. */
#define DETOUR_MAX 8192

/* --- exec -------------------------------------------------------------------- */

/* For terse doctor (place_version()). */
__attribute__((used, retain)) static const char version_mark[] = "terse-version=" TERSE_VERSION;

/* `used`: bytes of the stack for argv. */
static int entry_exec(bool search, const char *program, char *const *argv, char *const *envp,
		      size_t used)
{
	const struct call c = {search, program, argv, envp, .used = used};
	return call_run(&c);
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return entry_exec(false, path, argv, envp, 0);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return entry_exec(true, file, argv, envp, 0);
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* --- exec with a list of arguments ------------------------------------------- */

/* The arguments are on the stack twice: as the caller's, and in the array. */

/* Makes the array, as libc's own functions do. Afterwards `list` is past the NULL, and the caller
   has to call va_end(). */
#define TAKE_LIST(argv, list, arg)                                      \
	va_list list;                                                   \
	size_t argv##_count = 0;                                        \
	va_start(list, arg);                                            \
	for (const char *next = arg; next; next = va_arg(list, char *)) \
		argv##_count++;                                         \
	va_end(list);                                                   \
	char *argv[argv##_count + 1];                                   \
	va_start(list, arg);                                            \
	argv[0] = (char *)(uintptr_t)(arg);                             \
	for (size_t i = 1; i <= argv##_count; i++)                      \
	argv[i] = va_arg(list, char *)

EXPORT int execl(const char *path, const char *arg, ...)
{
	TAKE_LIST(argv, list, arg);
	va_end(list);
	return entry_exec(false, path, argv, environ, 2 * sizeof(argv));
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	TAKE_LIST(argv, list, arg);
	va_end(list);
	return entry_exec(true, file, argv, environ, 2 * sizeof(argv));
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	TAKE_LIST(argv, list, arg);
	char *const *envp = va_arg(list, char *const *);
	va_end(list);
	return entry_exec(false, path, argv, envp, 2 * sizeof(argv));
}

/* --- spawn ------------------------------------------------------------------- */

/* pid_t is an int. */
#define SPAWN(name, without_search)                                                               \
	EXPORT int name(int *restrict pid, const char *restrict program,                          \
			const posix_spawn_file_actions_t *restrict actions,                       \
			const posix_spawnattr_t *restrict attributes, char *const argv[restrict], \
			char *const envp[restrict])                                               \
	{                                                                                         \
		const struct next *next = next_functions();                                       \
		const struct call c = {                                                           \
			.search = next->name != next->without_search,                             \
			.program = program,                                                       \
			.argv = argv,                                                             \
			.envp = envp,                                                             \
			.spawn = next->name,                                                      \
			.spawn_path = next->without_search,                                       \
			.pid = pid,                                                               \
			.actions = actions,                                                       \
			.attributes = attributes,                                                 \
		};                                                                                \
		return call_run(&c);                                                              \
	}

SPAWN(posix_spawn, posix_spawn)
SPAWN(posix_spawnp, posix_spawn)
#ifdef NEXT_HAS_PIDFD
SPAWN(pidfd_spawn, pidfd_spawn)
SPAWN(pidfd_spawnp, pidfd_spawn)
#endif

/* --- system and popen: see shim/exec_call.h ------------------------------------- */

/* Bytes for the detour of `command`; 0: none. */
static size_t detour_wanted(const char *command)
{
	if (!self_shell() || !command)
		return 0;
	size_t size = detour_size(command);
	return size <= DETOUR_MAX ? size : 0;
}

EXPORT int system(const char *command)
{
	size_t size = detour_wanted(command);
	if (size == 0)
		return next_functions()->system(command);
	char detour[size];
	detour_write(detour, command);
	return next_functions()->system(detour);
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	size_t size = detour_wanted(command);
	if (size == 0)
		return next_functions()->popen(command, mode);
	char detour[size];
	detour_write(detour, command);
	return next_functions()->popen(detour, mode);
}
