// The functions that this library's stand before: libc's, or those of a library preloaded after it.
#ifndef TERSE_SHIM_LIBRARY_NEXT_H
#define TERSE_SHIM_LIBRARY_NEXT_H

#include <features.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/types.h>

/* pidfd_spawn() and pidfd_spawnp(): glibc 2.39. Where they are absent they must stay so, since
   programs look whether they are there. */
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 39)
#define NEXT_HAS_PIDFD 1
#endif
#endif

typedef int next_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *argv, char *const *envp);

/* execv() and its kind are execve() and execvpe() with environ, as in libc; so fewer names have
   to be looked up in every process that is started. */
struct next {
	int (*execve)(const char *path, char *const *argv, char *const *envp);
	int (*execvpe)(const char *file, char *const *argv, char *const *envp);
	int (*fexecve)(int fd, char *const *argv, char *const *envp);
	int (*execveat)(int fd, const char *path, char *const *argv, char *const *envp, int flags);
	next_spawn *posix_spawn, *posix_spawnp;
#ifdef NEXT_HAS_PIDFD
	next_spawn *pidfd_spawn, *pidfd_spawnp;
#endif
	int (*system)(const char *command);
	FILE *(*popen)(const char *command, const char *mode);
};

/* Never NULL; found by the library's constructor. A call before that (from another library's
   constructor) finds them itself: then there is no second thread and no vfork child yet. */
const struct next *next_functions(void);

#endif
