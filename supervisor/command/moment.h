// A moment as people write it.
#ifndef TERSE_COMMAND_MOMENT_H
#define TERSE_COMMAND_MOMENT_H

#include <stdint.h>

/* Milliseconds since 1970: "30m" or "2h" (that long ago), "14:05" or "14:05:30" (today, local
   time), "2026-11-20", "2026-11-20 14:05[:30]" (or a T between them; a Z behind it: UTC),
   "@SECONDS". Returns 0, or -1 with errno EINVAL. */
int moment_parse(const char *text, int64_t now_ms, int64_t *ms);

#endif
