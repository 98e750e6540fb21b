// libterse-shim.so: an agent that was started with this library in LD_PRELOAD runs its shell
// strings through terse-sh and does not know it.
//
// What it does
//
// In every function of libc that executes a program, a shell that runs a string (`sh -c STRING`,
// see shim/exec_call.h) becomes terse-sh; every other call goes on as it came. It does not ask
// whose string it is: terse-sh does, by rules, and supervises it or executes the shell that was
// meant. terse-sh gets
//
// - the caller's arguments, argv[0] included (so it knows itself by AT_EXECFN, not by argv[0]),
// - the caller's environment, but
//   LD_PRELOAD           without this library (not there if nothing else was in it)
//   TERSE_SHIM_PROGRAM   the absolute path of the shell that was to be executed
//   TERSE_SHIM_PRELOAD   what LD_PRELOAD was; absent if this library was not in it
//
// so with these two it can execute exactly what was meant; it takes both out of the environment
// of whatever it runs.
//
// One level
//
// This library works in the agent, not in what the agent's commands start. It takes itself, and
// nothing else, out of LD_PRELOAD where it puts terse-sh in a shell's place, so nothing that a
// supervised command runs has it loaded. Everything else that the agent starts keeps it: agents
// are launched by scripts (`#!/usr/bin/env node`, a shell script around a binary), work in
// processes of their own, and may be static themselves (Codex), with shells below them that are
// not. terse-sh puts it back (TERSE_SHIM_PRELOAD) when it passes a string on, since that may be a
// launcher, too (npx runs `sh -c codex`). Where the agent executes terse-sh itself, as
// terse-SOMETHING or by the name of a shell, since it was told to use it as its shell, the
// environment is changed in the same way, but TERSE_SHIM_PROGRAM stays as it is (bash-env sets it).
//
// Where it does nothing
//
// - in the session of a run that captures and lives (TERSE_ACTIVE, see shim/active.h); elsewhere
//   terse-sh finds out whether it is inside one;
// - where there is no terse-sh: TERSE_SHIM_SHELL, an absolute path set by `terse agent`, else
//   terse-sh in the directory of this library; one that can't be executed now (removed, another
//   root) counts as none;
// - where the call would fail or would not mean what it seems to: no arguments or environment,
//   no such shell, not a file, not executable, neither a binary nor a #! script, a path that is
//   relative (to a directory that the child may have left by then);
// - where much of a stack would be needed, since a thread's may be 16 KB: more than 8.6 KB for the
//   environment (over 1024 variables, or a long LD_PRELOAD), the path that is searched for and the
//   arguments of execl() and its kind, or 8 KB for a string of system() or popen();
// - if terse-sh could not be executed after all, the original call follows.
//
// How
//
// Calls are made in vfork children, signal handlers and small threads. So there is no heap, no
// lock, no lazy binding and no write to anything but the stack after the constructor; errno is
// the original call's; a posix_spawn() has the caller's file actions and attributes, and returns
// its error. There is no DT_NEEDED and no symbol version, since a preloaded library whose needs
// are not met kills every process: what is called is in glibc from 2.34 on and in musl.
#ifndef TERSE_LIBRARY_H
#define TERSE_LIBRARY_H

#include <features.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct call;

#define SHIM_PROGRAM "TERSE_SHIM_PROGRAM"
#define SHIM_PRELOAD "TERSE_SHIM_PRELOAD"

// What this library knows about itself in a process: found by its constructor, read only after it.
//
// Before the constructor, and for ever in a process in which it has nothing to do, it is not
// armed, and every call goes through untouched.

/* The file name of this library: how it finds itself in LD_PRELOAD. */
#define SELF_NAME "libterse-shim.so"

/* The absolute path of terse-sh. NULL: not armed. */
const char *self_shell(void);

// The functions that this library's stand before: libc's, or those of a library preloaded after it.

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

// Which file a call executes, and whether that is going to work.
//
// Nothing here is a cancellation point or sets more than errno.

struct locate_file {
	uint64_t inode;
	uint32_t major, minor;
};

/* Whether `path` is a file that may be executed, and which file that is. */
bool locate_executable(const char *path, struct locate_file *file);

/* Whether execve() knows what to do with it: a binary or a script with #!. */
bool locate_has_format(const char *path);

/* Bytes for any path that locate_in_path() may try; at most PATH_MAX. */
size_t locate_room(const char *file);

/* Writes to `path` (`size` bytes) where execvp() would find `file`. */
bool locate_in_path(char *path, size_t size, const char *file);

/* Writes to `path` (`size` bytes) what the descriptor was opened as; false if that is longer. */
bool locate_open_file(char *path, size_t size, int fd);

// One call of a function that executes a program.

/* 0 if something was started; as the libc function says otherwise. */
typedef int call_next(const struct call *call);

struct call {
	call_next *next;   /* makes the call as it came */
	call_next *direct; /* makes it for a path that needs no search */
	const char *program;
	int fd;      /* what is executed if `program` is NULL */
	bool search; /* `program` is searched for in PATH */
	char *const *argv, *const *envp;
	size_t used; /* bytes of the stack for argv */
	/* Of a spawn only. */
	next_spawn *spawn, *spawn_direct;
	int *pid;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
};

/* Makes the call, to terse-sh if it is a shell's with a string. Returns what the libc function
   returns. */
int call_run(const struct call *call);

#endif
