// Named sections, [profile NAME] and [agent NAME]: lists of texts, and values of options.
//
// The entries of all sections of a form are one sequence: first the built-in ones, then those of
// each file, in the order in which the files are read. Sections of the same name are one section.
#ifndef TERSE_CONFIG_SECTION_H
#define TERSE_CONFIG_SECTION_H

#include "config/option.h"

/* The word, a blank and the name fit into inih's 49 bytes for a section. */
enum { SECTION_NAME_MAX = 40 };

/* The most lines that one file may have in named sections, which bounds the time for a hostile
   file. */
enum { SECTION_LINES_MAX = 1000 };

enum section_kind {
	SECTION_NAME,  /* the entries after it belong to the section `text` */
	SECTION_TEXT,  /* an item of the list `key`; "": the key without an item */
	SECTION_VALUE, /* `value` for the option at `offset` */
};

struct section_entry {
	enum section_kind kind;
	enum origin by;  /* the file */
	unsigned line;   /* in it */
	const char *key; /* of the list */
	const char *text;
	size_t offset; /* of the option */
	int64_t value;
};

/* A kind of section. Its keys are the lists in `keys`, and the numeric options of a run. */
struct section_form {
	const char *word;          /* "profile" of [profile NAME] */
	const char *what;          /* "a profile" */
	const struct option *keys; /* the lists; ends with a NULL key */
	const char *shim;          /* the option of [shim] that its sections may set, or NULL */
	bool adds;       /* items of a file add to those of earlier files; false: only the last file
			    that has the key counts */
	bool in_project; /* a project's file may have such sections */
	const struct section_entry *builtin;
	size_t builtin_count;
	size_t offset; /* of the struct sections in the settings */
};

/* Built-in entries. */
#define SECTION_BEGIN(name)                          \
	{                                            \
		.kind = SECTION_NAME, .text = (name) \
	}
#define SECTION_ITEM(of, item)                                    \
	{                                                         \
		.kind = SECTION_TEXT, .key = (of), .text = (item) \
	}
#define SECTION_SET(field, is)                                                                   \
	{                                                                                        \
		.kind = SECTION_VALUE, .offset = offsetof(struct settings, field), .value = (is) \
	}

/* The row of a list. */
#define SECTION_LIST(name, refuse_) .key = (name), .type = OPTION_LIST, .refuse = (refuse_)

/* A reason if `name` can't be a section's name, else NULL. */
const char *section_refuse_name(const char *name);

// Reading the sections of a form. If `s` is NULL, there are only the built-in ones.

/* The `i`th entry; NULL: there are no more. */
const struct section_entry *section_entry_at(const struct settings *s,
					     const struct section_form *form, size_t i);

/* The `index`th different name; NULL: there are no more. */
const char *section_name(const struct settings *s, const struct section_form *form, size_t index);

/* Finds the values of options in the section `name`, by SETTING_SLOT(); NULL: no value. */
void section_values(const struct settings *s, const struct section_form *form, const char *name,
		    const struct section_entry *values[SETTING_SLOTS]);

/* The next item of the key in the section. *at is 0 for the first one, and moves on. NULL: there
   are no more. */
const struct section_entry *section_next(const struct settings *s, const struct section_form *form,
					 const char *name, const char *key, size_t *at);

/* Appends all sections in ini syntax, with comments that name the file and line an entry is from.
   Returns 0, or -1 with ENOMEM. */
int section_write(struct buffer *out, const struct settings *s, const struct section_form *form);

void section_release(struct sections *read);

#endif
