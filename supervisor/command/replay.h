// A recorded run (process/cast.h) as other formats.
#ifndef TERSE_COMMAND_REPLAY_H
#define TERSE_COMMAND_REPLAY_H

#include "supervisor/artifact/id.h"

/* Opens the recording of an artifact. Returns a descriptor, or -1 after saying why not. */
int replay_open(const char *verb, const struct id_found *found);

/* Says that a recording could not be read. */
void replay_failed(const char *verb, const char *name, int error);

/* Writes the asciicast in `from` (a descriptor) to `to` as version 2, or 3 (intervals, terminal in
   an object). Returns 0, or -1 with errno; EBADMSG: not an asciicast. */
int replay_write_cast(int from, int to, int version);

#endif
