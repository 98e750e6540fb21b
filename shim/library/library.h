// libterse-shim.so: an agent with this library in LD_PRELOAD runs its shell strings through
// terse-sh, without knowing it.
//
// The library interposes every function of libc that executes a program, except execveat() and
// fexecve(), with which no agent starts a shell. If the program is a shell that runs a string (`sh
// -c STRING`, see shim/exec_call.h), the library starts terse-sh instead; if TERSE_SHIM_FILES is
// set, it starts terse-sh for every shell and python. All other calls pass unchanged. The library
// does not check whose string it is: terse-sh checks that by rules, and supervises the string or
// executes the original shell. terse-sh gets
//
// - the caller's arguments, argv[0] included (it recognises itself by AT_EXECFN instead),
// - the caller's environment, except
//   LD_PRELOAD           without this library; absent if nothing else was in it
//   TERSE_SHIM_PROGRAM   the absolute path of the original shell
//   TERSE_SHIM_PRELOAD   the original LD_PRELOAD; absent if this library was not in it
//
// With the last two terse-sh can execute exactly the original call. It removes both from the
// environment of the programs that it starts.
//
// One level
//
// The library works in the agent, not below the agent's commands. Where it substitutes terse-sh, it
// removes itself, and nothing else, from LD_PRELOAD, so no program of a supervised command loads
// it. All other processes that the agent starts keep the library: agents have launchers
// (`#!/usr/bin/env node`, a shell script around a binary) and worker processes, and may be static
// themselves (Codex) with dynamic shells below them. When terse-sh passes a string on, it restores
// LD_PRELOAD (TERSE_SHIM_PRELOAD), since the string may start a launcher, too (npx runs `sh -c
// codex`). If the agent itself executes terse-sh as its shell, under the name terse-SOMETHING or
// that of a shell, the environment changes in the same way, but TERSE_SHIM_PROGRAM stays (bash-env
// sets it).
//
// The library does nothing
//
// - in the session of a live run that captures (TERSE_ACTIVE, see lib/active.h); terse-sh checks
//   other sessions itself;
// - without an executable terse-sh: TERSE_SHIM_SHELL, an absolute path set by `terse agent`, else
//   terse-sh in the directory of this library;
// - if the call would fail, or would mean something else: no arguments or environment, no such
//   shell, not a file, not executable, neither a binary nor a #! script, or a relative path (the
//   child may have left the directory by then);
// - if it would need much stack, since a thread may have only 16 KB of it: more than 8.6 KB for the
//   environment (over 1024 variables, or a long LD_PRELOAD) and the arguments of the execl()
//   family, half a KB for the searched path, or 8 KB for a string of system() or popen().
//
// If terse-sh can't be executed after all, the original call follows.
//
// Constraints
//
// Callers are vfork children, signal handlers and small threads. So the library uses no heap, no
// lock and no lazy binding, and after the constructor writes only to the stack; errno is the
// original call's; a posix_spawn() uses the caller's file actions and attributes, and returns its
// own error. There is no DT_NEEDED and no symbol version, since a preloaded library with unmet
// needs kills every process: everything it calls is in glibc from 2.17 on and in musl.
#ifndef TERSE_LIBRARY_H
#define TERSE_LIBRARY_H

#include <features.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SHIM_PROGRAM "TERSE_SHIM_PROGRAM"
#define SHIM_PRELOAD "TERSE_SHIM_PRELOAD"

/* The library's file name in LD_PRELOAD. */
#define SELF_NAME "libterse-shim.so"

/* The absolute path of terse-sh, which the constructor sets. NULL before the constructor has run,
   and in processes in which the library does nothing: every call then passes unchanged. */
const char *self_shell(void);

// The interposed functions: libc's, or those of a library that is preloaded after this one.

/* pidfd_spawn() and pidfd_spawnp() are in glibc from 2.39 on. Programs check whether these
   functions exist, so the library must not export them where libc has none. */
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 39)
#define NEXT_HAS_PIDFD 1
#endif
#endif

typedef int next_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *argv, char *const *envp);

/* The library's execv(), execvp() and execl() family call execve() and execvpe() with environ, as
   libc's own do. So fewer symbols have to be looked up in every process. */
struct next {
	int (*execve)(const char *path, char *const *argv, char *const *envp);
	int (*execvpe)(const char *file, char *const *argv, char *const *envp);
	next_spawn *posix_spawn, *posix_spawnp;
#ifdef NEXT_HAS_PIDFD
	next_spawn *pidfd_spawn, *pidfd_spawnp;
#endif
	int (*system)(const char *command);
	FILE *(*popen)(const char *command, const char *mode);
};

/* The functions of libc, never NULL. The constructor looks them up. A call before that, from
   another library's constructor, looks them up itself: there is no second thread and no vfork child
   yet. */
const struct next *next_functions(void);

// One call of a function that executes a program.

struct call {
	bool search; /* search PATH for the program */
	const char *program;
	char *const *argv, *const *envp;
	size_t used; /* bytes of the stack for argv */
	/* For a spawn only: the function that was called, and the variant that does not search. */
	next_spawn *spawn, *spawn_path;
	int *pid;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
};

/* Makes the call, with terse-sh if it runs a shell with a string. Returns what the libc function
   returns. */
int call_run(const struct call *call);

#endif
