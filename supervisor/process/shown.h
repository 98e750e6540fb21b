// What the reader of a run was shown: counted for `terse stats`, and kept beside the artifact as it
// was, for `terse report`.
//
// Only what an agent may read counts. What a program, a file or a person gets is not shown to a
// model.
#ifndef TERSE_PROCESS_SHOWN_H
#define TERSE_PROCESS_SHOWN_H

#include "lib/buffer.h"
#include "lib/tokens.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/intercept/interceptor.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct shown {
	uint64_t bytes;        /* printed for the reader, terse's own lines included */
	uint64_t unseen;       /* of them, those that turned out to have another reader */
	struct tokens tokens;  /* of the first SHOWN_MOST of them */
	struct buffer printed; /* the first SHOWN_MOST of them */
	uint64_t text, lines;  /* of the texts that they are about */
	struct buffer ranges;  /* of lines, as the head of ID.shown has them */
};

/* These bytes were printed. */
void shown_add(struct shown *w, const char *data, size_t len);

/* It was no agent that read so many of them after all. When nobody else has read any, all are
   forgotten. */
void shown_forget(struct shown *w, uint64_t bytes);

/* A text was reported: its size and the lines of it that were shown, if it was shown to an
   agent. */
void shown_text(struct shown *w, const struct interceptor *text, bool is_stderr);

/* Writes ID.shown beside an artifact (NULL: there is none), once. */
void shown_keep(struct shown *w, struct artifact *a);

/* Fills in what the history keeps of it. */
void shown_sum(const struct shown *w, const struct settings *s, struct meta *m);

void shown_release(struct shown *w);

#endif
