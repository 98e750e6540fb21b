// Whether the first bytes of a stream are binary: a NUL among them, or over
// 30 % of them neither printable UTF-8 nor a control that terminals use.
#ifndef TERSE_INTERCEPT_SNIFF_H
#define TERSE_INTERCEPT_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

#define SNIFF_LEN 1024

/* Looks at the first SNIFF_LEN of `len` bytes. */
bool sniff_is_binary(const char *data, size_t len);

#endif
