// One step of a wiring, for the files that carry it out: wiring.c (JSON, lines, whole files) and
// wiring_toml.c.
#ifndef TERSE_AGENTS_WIRING_STEP_H
#define TERSE_AGENTS_WIRING_STEP_H

#include "supervisor/agents/wiring.h"

/* One item of a wiring that is put into the text of a file, or taken out of it. The functions that
   do it append the text `t` with the item, or without it; 0, or -1 with errno as wiring_apply(). */
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

bool step_ends_with(const char *text, const char *end);

/* Whether a string of the file is one that terse wrote, wherever it was then. */
bool step_is_own(const struct step *s, const char *value);

/* Items of the kinds WIRING_TOML and WIRING_TOML_ARRAY. */
int step_add_toml(struct buffer *out, const struct buffer *t, const struct step *s);
int step_drop_toml(struct buffer *out, const struct buffer *t, const struct step *s);
int step_add_toml_array(struct buffer *out, const struct buffer *t, const struct step *s);
int step_drop_toml_array(struct buffer *out, const struct buffer *t, const struct step *s);

#endif
