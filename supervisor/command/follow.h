// Looking for a pattern in the text of a run that grows.
//
// A line counts as it can be read at the moment, finished or not, so also one that is
// redrawn later. What is final is looked at once.
#ifndef TERSE_COMMAND_FOLLOW_H
#define TERSE_COMMAND_FOLLOW_H

#include "supervisor/base/buffer.h"

#include <stdint.h>

struct matcher;

struct follow {
	struct matcher *matcher; /* not owned */
	int fd;                  /* of the text; owned */
	uint64_t offset;         /* where the first line starts that is not final */
	char *block;
	struct buffer found; /* the line that matched, clean */
};

/* `offset`: the beginning of the line to start with. Takes the descriptor over. Returns 0, or -1
   with errno. */
int follow_init(struct follow *f, struct matcher *matcher, int fd, uint64_t offset);

/* Looks at what is new, of which the first `settled` bytes of the file are final. Returns 1 if a
   line matches, 0, or -1 with errno (EINVAL: the pattern takes too long: matcher_reason()). */
int follow_look(struct follow *f, uint64_t settled);

void follow_release(struct follow *f);

#endif
