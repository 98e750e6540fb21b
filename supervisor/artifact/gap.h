// How a part of a text that is not on disk is announced, in the file and by `read`.
#ifndef TERSE_ARTIFACT_GAP_H
#define TERSE_ARTIFACT_GAP_H

#include <stddef.h>
#include <stdint.h>

#define GAP_ANNOUNCE_MAX 192

/* Writes one line (newline included, NUL-terminated) about lines from..to, `bytes` of
   them; `error` is the errno of the write they were lost by, 0 when it was the disk cap.
   Returns its length, under GAP_ANNOUNCE_MAX. */
size_t gap_announce(char out[GAP_ANNOUNCE_MAX], uint64_t from, uint64_t to, uint64_t bytes,
		    int error);

#endif
