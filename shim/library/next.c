// See next.h.

#include "shim/library/next.h"

#include <dlfcn.h>
#include <stdlib.h>

static struct next next;

/* A function pointer from an object pointer, as POSIX promises for dlsym(). */
#define FIND(member)                                                   \
	do {                                                           \
		void *found = dlsym(RTLD_NEXT, #member);               \
		__builtin_memcpy(&next.member, &found, sizeof(found)); \
	} while (0)

static __attribute__((constructor)) void next_find(void)
{
	FIND(execvpe);
	FIND(fexecve);
	FIND(execveat);
	FIND(posix_spawn);
	FIND(posix_spawnp);
#ifdef NEXT_HAS_PIDFD
	FIND(pidfd_spawn);
	FIND(pidfd_spawnp);
#endif
	FIND(system);
	FIND(popen);
	/* The last one, which says that the others are there. */
	FIND(execve);
}

const struct next *next_functions(void)
{
	if (!next.execve)
		next_find();
	return &next;
}
