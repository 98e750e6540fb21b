// Sections with a name of their own, [profile NAME] and [agent NAME], as one ini text has them:
// lists of texts, and values of options.
//
// Layers are linked: the uppermost is the file that was read last, the lowest is built in. Sections
// of the same name in several layers are one section.
#ifndef TERSE_CONFIG_LAYER_H
#define TERSE_CONFIG_LAYER_H

#include "config/option.h"

/* The word, a blank and the name fit into inih's 49 bytes for a section. */
enum { LAYER_NAME_MAX = 40 };

/* Limits the time that a hostile file can cost a run. */
enum { LAYER_LINES_MAX = 1000 };

/* A key whose value is a list of texts. */
struct layer_key {
	const char *name;
	const char *(*refuse)(const char *text); /* a reason, or NULL if it is good */
	bool adds;           /* to lower layers; else the uppermost layer that has the key counts */
	bool not_in_project; /* a project's file may not have it */
};

/* A kind of section. */
struct layer_form {
	const char *word;             /* "profile" of [profile NAME] */
	const char *what;             /* "a profile" */
	const struct layer_key *keys; /* ends with a NULL name; the other keys are options */
	const struct layer *builtin;
	size_t offset;   /* of the uppermost layer in the settings */
	bool in_project; /* a project's file may have them */
};

enum layer_kind {
	LAYER_NAME,  /* the entries behind it belong to the section `text` */
	LAYER_TEXT,  /* an item of the key `key`; "": the key is there */
	LAYER_VALUE, /* `value` for the option at `offset` */
};

struct layer_entry {
	enum layer_kind kind;
	unsigned line;   /* in the file */
	const char *key; /* of a struct layer_key */
	const char *text;
	size_t offset; /* the option's */
	int64_t value;
};

struct layer {
	const struct layer *below;   /* earlier files, then the built-in one */
	enum origin by;              /* the file */
	struct layer_entry *entries; /* in the order of the file; own their text */
	size_t count, room;
};

/* Entries of a built-in layer. */
#define LAYER_SECTION(name)                        \
	{                                          \
		.kind = LAYER_NAME, .text = (name) \
	}
#define LAYER_ITEM(of, item)                                    \
	{                                                       \
		.kind = LAYER_TEXT, .key = (of), .text = (item) \
	}
#define LAYER_SET(field, is)                                                                   \
	{                                                                                      \
		.kind = LAYER_VALUE, .offset = offsetof(struct settings, field), .value = (is) \
	}

/* A reason if `name` can't be a section's name, else NULL. */
const char *layer_refuse_name(const char *name);

/* Frees the layers from this one down to, but not, `end`. Both may be NULL. */
void layer_free(struct layer *l, const struct layer *end);

/* The `index`th of the names in all layers, each counted once, the lowest layer first; NULL: there
   are no more. */
const char *layer_name(const struct layer *l, size_t index);

/* The entry of each value, and the layer that has it, by SETTING_SLOT(); NULL: no value. */
struct layer_values {
	const struct layer_entry *entry[SETTING_SLOTS];
	const struct layer *from[SETTING_SLOTS];
};

/* All values of options in the section `name`. */
void layer_read_values(const struct layer *l, const char *name, struct layer_values *v);

/* The first item of the key in the section in this layer alone, or the next one behind `after` (not
   NULL); NULL: there are no more. */
const struct layer_entry *layer_next(const struct layer *l, const char *name, const char *key,
				     const struct layer_entry *after);

/* Appends all sections of the form in ini syntax, and as comments where files set them. Returns 0,
   or -1 with ENOMEM. */
int layer_write(struct buffer *out, const struct settings *s, const struct layer_form *form);

#endif
