// What the files of loading share (load.c: where settings come from; load_text.c:
// one ini text), and loading with the system's file named, for tests.
// settings_load() in option.h is what everybody else calls.
#ifndef TERSE_CONFIG_LOAD_H
#define TERSE_CONFIG_LOAD_H

#include "config/option.h"

#define SETTINGS_SYSTEM_FILE "/etc/terse.ini"

/* settings_load() with another file in place of /etc/terse.ini. */
int settings_load_after(struct settings *s, const char *system_file, struct option_error *error);

/* settings_load_text() for a text that comes from `by`. Of a project's, options that are not safe
   are errors. */
int settings_load_text_by(struct settings *s, enum origin by, const char *path, const char *text,
			  size_t len, struct option_error *error);

/* Tells of every error in a text, and returns how many there are, or -1 with ENOMEM. */
int settings_check_text(enum origin by, const char *path, const char *text, size_t len,
			void (*tell)(void *ctx, const char *message), void *ctx);

/* Appends a file's text as it is read from there. Returns 0, or -1 with errno; EINVAL: it is not
   read, and *error says why. */
int settings_read_file(enum origin by, const char *path, struct buffer *text,
		       struct option_error *error);

/* The path of the user's file, there or not: the one that TERSE_CONFIG names (*named), or the usual
   one, written into `room` (PATH_MAX bytes). NULL: there is none. */
const char *settings_user_file(char *room, bool *named);

#endif
