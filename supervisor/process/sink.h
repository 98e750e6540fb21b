// Who reads what is printed on a descriptor: a person, an agent, a program or
// a file. Decides between pass-through, preview and the whole text.
#ifndef TERSE_PROCESS_SINK_H
#define TERSE_PROCESS_SINK_H

#include <stdbool.h>
#include <sys/types.h>

struct kin;

enum sink {
	SINK_PERSON,  /* a terminal */
	SINK_AGENT,   /* a socket; a pipe that is read by none of these: */
	SINK_PROGRAM, /* a pipe that a sibling or a shell above reads */
	SINK_FILE,    /* anything else: a regular file, /dev/null, a device */
	SINK_PIPE,    /* a pipe, not looked into: see sink_of_pipe() */
	SINK_CLOSED,
};

/* By the descriptor alone; a pipe is SINK_PIPE. */
enum sink sink_of(int fd);

/* Who reads the pipe that process `writer`, a child of `parent`, was started with: looks at the
   processes above it, up to the one that reads, and then at what they have started, and at nobody
   else. SINK_PROGRAM where /proc can't tell, since a program must never get a preview. `kin`:
   zeroed, and released afterwards. */
enum sink sink_of_pipe(int fd, pid_t writer, pid_t parent, struct kin *kin);

/* Whether both descriptors are one open file, so that what is written to either
   comes out in order. */
bool sink_is_same(int a, int b);

#endif
