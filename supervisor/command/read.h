// terse read without its command line, for terse mcp.
#ifndef TERSE_COMMAND_READ_H
#define TERSE_COMMAND_READ_H

#include "lib/buffer.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/followup.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/sink.h"
#include "supervisor/reading/page.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;

struct read {
	struct verb_call *call; /* its settings with the options of --preview */
	int exit_code;          /* for a preview, -1: the run's own */
	const char *name;       /* as it was given */
	enum sink sink;

	/* The request: lines, or bytes; as words, which are NULL if they are not given. */
	const char *range, *bytes;
	bool standard_error, raw;
	struct page_request lines;
	const char *option;    /* that names the first line */
	uint64_t from, length; /* 0: not given */
	bool preview, follow;

	struct text text;
	enum artifact_part part;
	struct wording_place place;
	const struct vocabulary *words; /* the reader's */
	struct buffer quoted;           /* its name */
	struct followup followup;
};

/* Answers a request: call, range, bytes, standard_error, raw, exit_code, name, lines, sink,
   preview, follow and place.binary are set. Returns the exit status. */
int read_answer(struct read *r);

#endif
