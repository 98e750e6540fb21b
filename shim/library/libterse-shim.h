// libterse-shim.so: an agent that was started with this library in LD_PRELOAD runs its shell
// strings through terse-sh and does not know it.
//
// What it does
//
// In every function of libc that executes a program, a shell that runs a string (`sh -c STRING`,
// see shim/shell_call.h) becomes terse-sh; every other call goes on as it came. It does not ask
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
#ifndef TERSE_SHIM_LIBRARY_LIBTERSE_SHIM_H
#define TERSE_SHIM_LIBRARY_LIBTERSE_SHIM_H

#define SHIM_PROGRAM "TERSE_SHIM_PROGRAM"
#define SHIM_PRELOAD "TERSE_SHIM_PRELOAD"

#endif
