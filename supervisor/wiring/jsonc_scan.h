// What reading and changing JSON share.
#ifndef TERSE_WIRING_JSONC_SCAN_H
#define TERSE_WIRING_JSONC_SCAN_H

#include <stddef.h>

/* Where blanks, line ends and comments from `at` on end. A comment that is not closed is not
   skipped. */
size_t jsonc_skip(const char *text, size_t len, size_t at);

#endif
