// The launcher: the program that `terse init` makes an agent execute, so that its shell works even
// where terse does not.
//
// A small static program without libc, in a directory of the user's:
//
//   ~/.local/lib/terse-launcher/
//     terse-sh         the launcher (`make` builds it as terse-launcher)
//     terse-bash       a link to it, for agents that want "bash" in a shell's name
//     terse            a link to it, for hooks and terse init --undo
//     target           where terse is, and how it was when it last worked (target.h)
//     libterse-shim.so, bash-env   copies, for agents that need them (Codex)
//     undo             a copy of terse, and terse-launcher, a link by which it finds the launcher
//
// The directory is neither that of the store, which people remove, nor an installation's, which may
// be in ~/.local as well. A link in place of a file is replaced, never written through. The
// launcher needs nothing outside the directory: if terse was removed, moved, replaced or damaged,
// or even `target` is missing, commands run without terse. Agents use it by its absolute path, also
// with another HOME, in a sandbox that shows the home directory read-only, and with another version
// of terse. Each user has one directory; its launcher starts the terse that last ran `terse init`.
// The directory and its files are writable by the user only. terse init rewrites all files, each
// atomically. Nothing removes the directory, since running agents, and projects, may still use it.
//
// Its steps, under the names terse-sh and terse-bash:
//
//  1. It reads `target` in the directory of /proc/self/exe, or of AT_EXECFN.
//  2. If the program still has the size and time that it had when it last worked, it executes the
//     shell named there with the arguments, environment, descriptors and signals that it was given.
//     That is all in the usual case: five system calls.
//  3. Otherwise it runs `terse version`, for at most LAUNCHER_TRY_MS, and notes the outcome. A
//     terse that failed is tried again when its file has changed, and every LAUNCHER_RETRY_S
//     seconds. It does not matter whether the caller ignores or blocks SIGCHLD.
//  4. If terse is not usable, it executes the shell that terse-sh would execute (shell.h): the one
//     that was meant (TERSE_SHIM_PROGRAM), `real`, SHELL, bash, sh. The arguments are those that
//     terse-sh would give it, and the variables of the preloaded library are undone. Before that,
//     it reports the problem in one line on standard error, but only once in LAUNCHER_SAY_S
//     seconds, and only if it can record that it has done so and if writing the line can't block.
//
// Under the name terse it executes the program in step 2. In step 4 it executes the copy for `init`
// with --undo, answers `hook AGENT EVENT` as a hook that has nothing to say, and fails with 127 for
// anything else.
//
// The shell inherits no process, open file, handler or pending signal from it. The status is 127 if
// there is no shell at all, and 126 if none could be executed.
#ifndef TERSE_LAUNCHER_H
#define TERSE_LAUNCHER_H

enum {
	LAUNCHER_TRY_MS = 2000,
	LAUNCHER_RETRY_S = 60,
	LAUNCHER_SAY_S = 24 * 60 * 60,
};

/* The first function of the process. `stack`: what the kernel has put on the stack: the number of
   arguments, then the arguments, the environment and the auxiliary vector, each of these three with
   a NULL after it. The function overwrites parts of it. */
_Noreturn void launcher_main(unsigned long *stack);

#endif
