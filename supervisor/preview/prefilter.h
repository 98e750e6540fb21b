// The fragments of words that tell of failures, for a search at the speed of memory.
#ifndef TERSE_PREVIEW_PREFILTER_H
#define TERSE_PREVIEW_PREFILTER_H

#include "lib/bytes.h"

void prefilter_init(struct literals *s);

/* Adds the first LITERAL_LEN bytes of `text`; nothing when there are too many. */
void prefilter_add(struct literals *s, const char *text);

#endif
