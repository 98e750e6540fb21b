// The one form of every message about a setting:
//
//   /etc/terse.ini:7: [report] size: 4XB: not a size (like 4096, 4KB or 1000tok)
//   --cols: 7: out of range (20 to 1000)
#ifndef TERSE_CONFIG_COMPLAINT_H
#define TERSE_CONFIG_COMPLAINT_H

#include "config/option.h"

/* A message's parts; those that are NULL (0) are left out, and so is an empty value. */
struct complaint {
	const char *where; /* a file, a variable or a flag; of a long one the end is shown */
	unsigned line;
	const char *section, *key;
	const char *value; /* cut at 60 bytes, as are section and key */
	const char *reason;
};

/* Writes the message, cleaned of everything that is not printable. The parts may lie
   in error->text. */
void complaint_write(const struct complaint *c, struct option_error *error);

#endif
