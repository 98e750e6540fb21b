// One item of a wiring put into a file's text, or taken out of it: what the parts of
// wiring.c share.
#ifndef TERSE_WIRING_STEP_H
#define TERSE_WIRING_STEP_H

#include "supervisor/wiring/wiring.h"

struct step {
	const struct wiring_item *item;
	const struct place *place;
	const char *original; /* taking out: the text before terse, or NULL */
	size_t original_len;
	struct wiring_error *error;
};

/* Fills in the error for a place in the text (line 1 where that has none); -1 with errno. */
int step_refuse(const struct step *s, const char *text, size_t at, int error, const char *format,
		...) __attribute__((format(printf, 5, 6)));

/* Appends a string as JSON has it. */
int step_quote(struct buffer *out, const char *string);

/* Appends `terse hook ...` as a shell reads it. */
int step_command(struct buffer *out, const struct step *s);

/* Appends the value as it stands in the file; NUL-terminated. */
int step_value(struct buffer *out, const struct step *s);

/* TOML: the path that is the value; "" where there is no such file. */
const char *step_place(const struct step *s);

/* Whether a string of the file is one that terse wrote, wherever it was then. */
bool step_is_own(const struct step *s, const char *value);

/* Each appends the text `t` with the item, or without it; 0, or -1 with errno as wiring_apply(). */
int step_add_json(struct buffer *out, const struct buffer *t, const struct step *s);
int step_drop_json(struct buffer *out, const struct buffer *t, const struct step *s);
int step_add_toml(struct buffer *out, const struct buffer *t, const struct step *s);
int step_drop_toml(struct buffer *out, const struct buffer *t, const struct step *s);
int step_add_lines(struct buffer *out, const struct buffer *t, const struct step *s);
int step_drop_lines(struct buffer *out, const struct buffer *t);
int step_add_file(struct buffer *out, const struct buffer *t, const struct step *s);
int step_drop_file(struct buffer *out, const struct buffer *t, const struct step *s);

#endif
