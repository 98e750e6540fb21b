// Reading a recording of a run: an asciicast of version 2 (process/record.h).
#ifndef TERSE_COMMAND_RECORDING_H
#define TERSE_COMMAND_RECORDING_H

#include "lib/buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct terminal;

/* Seconds: no recording is so long. */
#define RECORDING_END_MOST 1e9

/* Zeroed but for `fd`, which stays the caller's. */
struct recording {
	int fd;
	struct buffer buffer; /* to be released */
	size_t used;          /* bytes of returned lines */
};

struct recording_event {
	json_t *array; /* owns `data`; the caller lets it go with json_decref() */
	double at;     /* seconds since the start, below RECORDING_END_MOST */
	char kind;     /* 'o': output, 'r': a size, as "80x24" */
	const char *data;
	size_t len;
};

/* The header. NULL with errno EBADMSG: it is none; ENODATA: there is nothing. */
json_t *recording_header(struct recording *l);

/* Makes a terminal of the size in a header, which keeps styles; the caller frees it. NULL with
   errno. */
struct terminal *recording_terminal(const json_t *header);

/* Gives a terminal what an event is about. */
void recording_feed(struct terminal *t, const struct recording_event *e);

/* The last screen of the recording on a descriptor, with its styles; the caller frees it. NULL with
   errno as above. */
struct terminal *recording_last(int fd);

/* The next event. Returns 1, 0 at the end, or -1 with errno. */
int recording_next(struct recording *l, struct recording_event *e);

#endif
