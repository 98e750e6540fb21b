// What the files of `terse read` share: verb_read.c takes the arguments, read_output.c prints for
// people and agents, read_output.c for programs.
#ifndef TERSE_COMMAND_READ_H
#define TERSE_COMMAND_READ_H

#include "lib/buffer.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/sink.h"
#include "supervisor/reading/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;

/* Bytes that --bytes asks for, if it does not say. */
#define READ_LENGTH ((uint64_t)32 * 1024)

struct read {
	struct verb verb;
	struct settings *settings; /* with flags given for a preview */
	int exit_code;             /* for a preview, -1: the run's own */
	const char *name;          /* as it was given */
	enum sink sink;

	/* What is asked for: lines, or bytes. */
	struct page_request lines;
	bool by_bytes;
	uint64_t from, length; /* 0: not given */
	bool preview;

	struct text text;
	struct hint_place place;
	struct buffer quoted; /* its name */
};

/* Print what is asked for, a page of it at most. Return the exit status; what is wrong has been
   said. */
int read_print_page(struct read *r);
int read_print_slice(struct read *r);
int read_json_page(struct read *r);
int read_json_slice(struct read *r);

/* Says that there is no such line or byte. Return the exit status. */
int read_past_lines(const struct read *r, uint64_t total);
int read_past_bytes(const struct read *r);

/* Says that it could not be read, or printed, with errno. Returns the exit status. */
int read_failed(const struct read *r);

#endif
