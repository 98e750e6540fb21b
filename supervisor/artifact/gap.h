// How a part of a text that is not on disk is announced, in the file and by `read`.
#ifndef TERSE_ARTIFACT_GAP_H
#define TERSE_ARTIFACT_GAP_H

#include <stddef.h>
#include <stdint.h>

struct buffer;

#define GAP_ANNOUNCE_MAX 192

/* Writes one line (newline included, NUL-terminated) about lines from..to, `bytes` of
   them; `error` is the errno of the write they were lost by, 0 when it was the disk cap.
   Returns its length, under GAP_ANNOUNCE_MAX. */
size_t gap_announce(char out[GAP_ANNOUNCE_MAX], uint64_t from, uint64_t to, uint64_t bytes,
		    int error);

/* Appends it as the members from, to, bytes and reason of a JSON object. Returns 0, or -1 with
   ENOMEM. */
int gap_append_json(struct buffer *out, uint64_t from, uint64_t to, uint64_t bytes, int error);

#endif
