// The table of all options: ini key, flag, environment variable, type, range, default, unit and
// help of each. Files, variables, the command line, help, sample and manual page (made from the
// sample) are derived from it.
//
// Later wins: the defaults, /etc/terse.ini, $XDG_CONFIG_HOME/terse/terse.ini
// (~/.config/terse/terse.ini), the project's .terse.ini (settings.h), the agent's
// section (supervisor/agents/rule.h), the command's profile (profile.h), TERSE_* variables, flags.
#ifndef TERSE_CONFIG_OPTION_H
#define TERSE_CONFIG_OPTION_H

#include "config/settings.h"
#include "config/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
	OPTION_BOOL,     /* yes no true false on off 1 0 -> int64_t */
	OPTION_TRISTATE, /* the same or auto -> enum tristate */
	OPTION_COUNT,    /* whole number */
	OPTION_SIZE,     /* bytes: 4096, 4KB, 1.5MB (by 1,024), 1000tok, small medium large */
	OPTION_DURATION, /* ms: 500ms, 2s, 1m, 1h, 1d, off; a bare number is seconds */
	OPTION_ENUM,     /* one of `choices` -> its position */
	OPTION_STRING,   /* char *; "" is NULL */
	OPTION_LIST,     /* struct strings; one item a line (in an ini file, on indented lines) */
	OPTION_TYPES,    /* their number */
};

struct option {
	const char *section, *key;
	enum option_type type;
	size_t offset;              /* in struct settings */
	int64_t min, max;           /* in the unit of the type; for texts the length */
	bool or_zero;               /* 0 is valid below `min`, too */
	int64_t initial;            /* the default of a number */
	const char *preset;         /* of a text, as option_set() takes it; NULL: empty */
	const char *const *choices; /* OPTION_ENUM: NULL-terminated, in the order of the C enum */
	const char *unit;           /* "columns"; for texts what they are: "NAME=VALUE" */
	const char *flag;           /* "--cols"; NULL: none. Yes-or-no types have --no-pty, too */
	bool choices_are_flags;     /* each choice but the first is a flag, too: --full is --print
				       full */
	const char *variable;       /* "TERSE_COLS"; NULL: only the user's and the system's file */
	int64_t project_least; /* the smallest value that a project's .terse.ini (settings.h) may
				  set, besides 0 where that is valid; 0: it may set none. Options
				  that it may set can change how the text looks; they can't start,
				  end or send anything, or keep more on disk */
	const char *project_never; /* the choice that a project's file may not set; NULL: none */
	bool in_profile;           /* OPTION_LIST: profiles add items to it */
	size_t most;               /* OPTION_LIST: largest number of items; 0: no limit */
	const char *help;          /* one sentence */
	const char *(*refuse)(const char *value); /* texts: a reason, or NULL if good */
};

#define PROJECT_ANY 1

extern const struct option option_table[];
extern const size_t option_count;

const struct option *option_by_key(const char *section, const char *key);

#define FLAG_LEN 32

/* Returns the `i`th flag of an option: `flag`, then --no-FLAG or a flag for each choice (--full);
   NULL: there are no more. Writes into `out` or returns a constant. */
const char *option_flag(const struct option *o, size_t i, char out[FLAG_LEN]);

/* The option with this flag of `len` bytes, or NULL. *implied: the value that the flag stands for;
   NULL: a value has to follow. */
const struct option *option_by_flag(const char *flag, size_t len, const char **implied);

/* Whether its field in the settings is an int64_t. */
static inline bool option_is_number(const struct option *o)
{
	return o->type != OPTION_STRING && o->type != OPTION_LIST;
}

/* Whether its flag needs no value. */
static inline bool option_is_switch(const struct option *o)
{
	return o->type == OPTION_BOOL || o->type == OPTION_TRISTATE;
}

/* The field of a numeric option. */
static inline int64_t *option_number(struct settings *s, const struct option *o)
{
	return (int64_t *)(void *)((char *)s + o->offset);
}

/* The origin of the option's value. */
static inline struct setting_source *option_source(struct settings *s, const struct option *o)
{
	return &s->sources[SETTING_SLOT(o->offset)];
}

/* Sets the option. Returns 0, or -1 with the settings unchanged and errno: EINVAL (error->text is
   the bare reason) or ENOMEM. Without `error` a text is not checked. */
int option_set(struct settings *s, const struct option *o, const char *value,
	       struct option_error *error);

/* The same, but adds one item to an OPTION_LIST. */
int option_append(struct settings *s, const struct option *o, const char *item,
		  struct option_error *error);

/* Parses a value of a numeric option. Returns 0, or -1 with EINVAL and the bare reason in
   error->text. */
int option_parse(const struct option *o, const char *value, int64_t *out,
		 struct option_error *error);

/* The text of a value, as option_parse() reads it. Writes into `out` or returns a constant. */
const char *option_number_text(const struct option *o, int64_t value, char out[VALUE_LEN]);

/* The default as a text; NULL: empty. Writes into `out` or returns a constant. */
const char *option_default(const struct option *o, char out[VALUE_LEN]);

/* Enough for every option's range. */
#define RANGE_LEN 96

/* "20 to 1000", "64 to 16MB", "up to 365d, or off", "smart, head, tail or ends",
   "NAME=VALUE". Writes into `out` and returns it. */
const char *option_range(const struct option *o, char out[RANGE_LEN]);

// The table as help and sample (option_print.c).

struct buffer;

/* These functions append to `out`, which fails if there is no memory. */

/* Appends the help beside a flag, whose line begins at `start` in `out`. */
void option_print_beside(struct buffer *out, size_t start, const char *help);

/* Appends the flags with their help, by section: the flags of section `only`, or all flags if that
   is "". */
void option_print_help(struct buffer *out, const char *only);

/* A terse.ini with every key, its help, range and default. A '#' without a blank after it comments
   a setting out. Returns 0, or -1 with ENOMEM. */
int option_print_sample(struct buffer *out);

#endif
