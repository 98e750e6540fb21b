// Sections that have a name of their own, such as [profile NAME] and [agent NAME],
// as one ini text says them: lists of texts, and values of options.
//
// Layers are linked: the uppermost is the file that was read last, the lowest is
// what is built in. A section of one name is the same in all.
#ifndef TERSE_CONFIG_LAYER_H
#define TERSE_CONFIG_LAYER_H

#include "config/option.h"

/* The word, a blank and the name have to fit into inih's 49 bytes of a section. */
enum { LAYER_NAME_MAX = 40 };

/* So that a hostile file can't make a run slow. */
enum { LAYER_LINES_MAX = 1000 };

/* A key whose value is a list of texts. */
struct layer_key {
	const char *name;
	const char *(*refuse)(const char *text); /* a reason if it is no good, else NULL */
	bool adds; /* to what lower layers say; else the uppermost layer that has the key decides */
	bool unsafe; /* a project's file may not have it */
};

/* What a kind of section has. */
struct layer_form {
	const char *word;             /* "profile" of [profile NAME] */
	const struct layer_key *keys; /* ends with a NULL name; the other keys are options */
	const struct layer *builtin;
};

enum { LAYER_KEYS_MAX = 12 };

enum layer_kind {
	LAYER_NAME,  /* what follows belongs to the section `text` */
	LAYER_TEXT,  /* an item of the key `key`; "" just tells that the key is there */
	LAYER_VALUE, /* `value` for the option that is at `offset` */
};

struct layer_entry {
	enum layer_kind kind;
	unsigned line;   /* where the file says so */
	const char *key; /* of a struct layer_key */
	const char *text;
	size_t offset; /* the option's */
	int64_t value;
};

struct layer {
	const struct layer *below;   /* earlier files, then what is built in */
	enum origin by;              /* which file says it */
	struct layer_entry *entries; /* as in the file; own their text */
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

/* A reason if `name` can't be one, else NULL. */
const char *layer_refuse_name(const char *name);

/* NULL with ENOMEM. */
struct layer *layer_new(enum origin by, const struct layer *below);

/* Frees the layers from this one on, but not the built-in one. May be NULL. */
void layer_free(struct layer *l);

/* Frees this one. May be NULL. */
void layer_drop(struct layer *l);

/* Add an entry. Return 0, or -1 with errno ENOMEM, or E2BIG: there are LAYER_LINES_MAX. `key` is
   not copied. */
int layer_add_name(struct layer *l, unsigned line, const char *name);
int layer_add_text(struct layer *l, unsigned line, const char *key, const char *text);
int layer_add_value(struct layer *l, unsigned line, const struct option *o, int64_t value);

/* The names in all layers, each once: the `index`th, those of the lowest layer first; NULL: there
   are no more. */
const char *layer_name(const struct layer *l, size_t index);

/* Whether any layer has a section of this name. */
bool layer_has(const struct layer *l, const char *name);

/* What the layers say about an option in the section `name`: the entry, with *layer the layer it is
   in, or NULL. */
const struct layer_entry *layer_value(const struct layer *l, const char *name,
				      const struct option *o, const struct layer **layer);

/* In this layer alone: the first item of the key in the section, or the next one behind `after`
   (not NULL); NULL: there are no more. */
const struct layer_entry *layer_next(const struct layer *l, const char *name, const char *key,
				     const struct layer_entry *after);

/* The uppermost layer that has the key in the section, or NULL. */
const struct layer *layer_with(const struct layer *l, const char *name, const char *key);

/* Appends all sections of the form, with what files say, in ini syntax. Returns 0, or -1 with
   ENOMEM. */
int layer_write(struct buffer *out, const struct settings *s, const struct layer_form *form,
		const struct layer *top);

#endif
