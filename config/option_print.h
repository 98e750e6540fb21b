// Text in lines of a given width, for help and sample.
#ifndef TERSE_CONFIG_OPTION_PRINT_H
#define TERSE_CONFIG_OPTION_PRINT_H

#include "config/option.h"

#include <stddef.h>

struct buffer;

// The settings as text: `terse config` and its completion script.

/* All functions append to `out` and return 0, or -1 with ENOMEM. `profile`: the one that was
   applied to the settings (profile_name()), or NULL. */

/* Every option with its value, and behind it as a comment where that comes from. Not quoted: values
   with newlines or longer than an ini's line can't be read back. */
int show_settings(const struct settings *s, const char *profile, struct buffer *out);

/* The option's value alone; of a list each item on a line. */
int show_value(const struct settings *s, const struct option *o, struct buffer *out);

/* A script that makes bash complete terse's verbs, its flags and their values. */
int show_completion(struct buffer *out);

#endif
