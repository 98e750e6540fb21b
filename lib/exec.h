// Replacing this process by a program that is searched for in PATH. As glibc's execvp(3), with
// every libc: musl's does not execute a script without #!.
#ifndef TERSE_LIB_EXEC_H
#define TERSE_LIB_EXEC_H

/* The PATH is that of `environ`, which the program gets. A file that the kernel can't execute is a
 * script of sh, unless it is a binary of another machine (ENOEXEC). Returns errno only on failure.
 * Only system calls, so it may be called behind vfork(). */
int exec_search(const char *file, char *const *argv);

#endif
