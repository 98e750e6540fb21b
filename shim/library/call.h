// One call of a function that executes a program.
#ifndef TERSE_SHIM_LIBRARY_CALL_H
#define TERSE_SHIM_LIBRARY_CALL_H

#include "shim/library/next.h"

#include <stdbool.h>

struct call;
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
