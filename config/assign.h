// One value into one field of the settings (see option_set() in option.h), and
// what to say about the values an option takes.
#ifndef TERSE_CONFIG_ASSIGN_H
#define TERSE_CONFIG_ASSIGN_H

#include "config/option.h"
#include "config/value.h"

/* Parses the value of an option that holds a number into *out. Returns 0, or -1 with EINVAL and the
   bare reason in error->text. */
int option_parse(const struct option *o, const char *value, int64_t *out,
		 struct option_error *error);

/* The value of an option that holds a number as option_parse() reads it. Writes into `out` or
   returns a constant. */
const char *option_number_text(const struct option *o, int64_t value, char out[VALUE_LEN]);

/* Frees what the option's field owns (numbers own nothing) and leaves it empty. */
void option_clear(struct settings *s, const struct option *o);

/* Leaves it empty without freeing anything: other settings own it. */
void option_disown(struct settings *s, const struct option *o);

/* Enough for every option's range. */
#define RANGE_LEN 96

/* "20 to 1000", "64 to 16MB", "up to 365d, or off", "smart, head, tail or ends",
   "NAME=VALUE". Writes into `out` and returns it. */
const char *option_range(const struct option *o, char out[RANGE_LEN]);

#endif
