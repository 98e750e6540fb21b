// The forms in which the table of options is printed.
#ifndef TERSE_CONFIG_OPTION_PRINT_H
#define TERSE_CONFIG_OPTION_PRINT_H

struct buffer;
struct option;
struct settings;

/* All functions append to `out`, which remembers a failure. Two ask it: 0, or -1 with ENOMEM. */

/* Every option with its value, and as a comment where the value comes from. `profile`: the one that
   was applied to the settings (profile_name()), or NULL. A value that has newlines or is longer
   than a line of an ini file can't be read back. */
void option_print_settings(struct buffer *out, const struct settings *s, const char *profile);

/* The option's value alone; the items of a list on a line each. */
void option_print_value(struct buffer *out, const struct option *o, const struct settings *s);

/* The flags with their help, by section. */
int option_print_help(struct buffer *out);

/* A terse.ini with every key, its help, range and default. Settings are lines that start with '#'
   and no blank behind it. */
int option_print_sample(struct buffer *out);

/* The manual page terse.ini(5), in mdoc. */
void option_print_manual(struct buffer *out);

#endif
