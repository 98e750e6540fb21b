// Replaces this process with a program that is searched for in PATH, as glibc's execvp(3) does.
// musl's execvp() does not execute a script without #!.
#ifndef TERSE_LIB_EXEC_H
#define TERSE_LIB_EXEC_H

/* Searches the PATH in `environ`; the program gets `environ` as its environment. A file that the
   kernel can't execute runs as a script of sh, unless it is a binary for another machine (ENOEXEC).
   Returns only on failure, with an errno. It makes only system calls, so it may be called after
   vfork(). */
int exec_search(const char *file, char *const *argv);

#endif
