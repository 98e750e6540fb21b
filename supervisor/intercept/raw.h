// Keeps the raw bytes of a stream until it is known whether they are wanted.
//
// They are wanted beside a spilled text when rendering dropped more than
// colours. Up to RAW_HOLD bytes wait in memory for that to show; if the text has not spilled or
// nothing was dropped by then, they are let go, since keeping gigabytes twice
// just in case would cost every plain log double. But where a picture, or what looks like one, has
// swallowed so much, the owner lets the text spill: see terminal_is_swallowing().
#ifndef TERSE_INTERCEPT_RAW_H
#define TERSE_INTERCEPT_RAW_H

#include "supervisor/artifact/artifact.h"
#include "supervisor/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

#define RAW_HOLD ((size_t)256 * 1024)

enum raw_state { RAW_HOLDING, RAW_STREAMING, RAW_OFF };

struct raw {
	enum raw_state state;
	struct buffer held;
};

/* The next bytes; `artifact` is NULL until the text spills. `wanted`: more than colours was
 * dropped. */
void raw_feed(struct raw *r, const char *data, size_t len, struct artifact *artifact, bool wanted);

/* Writes what is held to the artifact and passes on everything from here. */
void raw_start(struct raw *r, struct artifact *artifact);

void raw_release(struct raw *r);

#endif
