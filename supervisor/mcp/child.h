// A child of the server: this program again, with one of its verbs. What it prints is collected, up
// to what fits, while the server does other things.
//
// Nothing here blocks. The server polls the descriptors and calls child_read(); it reaps every
// child on SIGCHLD and calls child_end().
#ifndef TERSE_MCP_CHILD_H
#define TERSE_MCP_CHILD_H

#include "lib/buffer.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Bytes that a child may print: far above every limit of the verbs. The rest is dropped. */
#define CHILD_OUTPUT_MAX ((size_t)4 * 1024 * 1024)

/* The words of a command line, and what its process gets. */
struct child_start {
	char **argv; /* argv[0] is "terse"; NULL-terminated */
	char **envp;
	const char *directory; /* NULL: the server's */
	const char *input;     /* its standard input; NULL: /dev/null */
	size_t input_len;
	bool caller;             /* it gets a socket as descriptor 3 (terse run --leash 3) */
	const sigset_t *signals; /* its signal mask */
};

struct child {
	pid_t pid; /* 0: reaped */
	int out, err;
	int caller; /* the server's end of that socket, or -1 */
	int status; /* as waitpid(2) gives it, once it is reaped */
	struct buffer output, errors;
};

/* Returns 0, or -1 with errno and nothing to end. */
int child_start(struct child *c, const struct child_start *start);

/* Reads what there is. */
void child_read(struct child *c);

/* It was reaped with this status: reads the rest and closes its output. */
void child_end(struct child *c, int status);

/* Its exit status, as a shell reports it. */
int child_exit_code(const struct child *c);

/* Closes and frees everything; does not wait. */
void child_release(struct child *c);

#endif
