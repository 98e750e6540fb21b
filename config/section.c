// See section.h.

#include "config/section.h"

#include "lib/buffer.h"
#include "lib/quote.h"

#include <stdlib.h>
#include <string.h>

const char *section_refuse_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t len = strlen(name);
	if (len == 0 || len > SECTION_NAME_MAX || strspn(name, allowed) != len)
		return "a name is 1 to 40 letters, digits, _ . or -";
	return NULL;
}

const struct section_entry *section_entry_at(const struct settings *s,
					     const struct section_form *form, size_t i)
{
	if (i < form->builtin_count)
		return &form->builtin[i];
	i -= form->builtin_count;
	const struct sections *read = s ? (const void *)((const char *)s + form->offset) : NULL;
	return read && i < read->count ? &read->entries[i] : NULL;
}

const char *section_name(const struct settings *s, const struct section_form *form, size_t index)
{
	const struct section_entry *e, *before;
	for (size_t i = 0; (e = section_entry_at(s, form, i)) != NULL; i++) {
		bool is_first = e->kind == SECTION_NAME;
		/* Built-in names need no search: none of them occurs twice. */
		for (size_t k = 0; is_first && i >= form->builtin_count && k < i; k++) {
			before = section_entry_at(s, form, k);
			is_first =
				before->kind != SECTION_NAME || strcmp(before->text, e->text) != 0;
		}
		if (is_first && index-- == 0)
			return e->text;
	}
	return NULL;
}

void section_values(const struct settings *s, const struct section_form *form, const char *name,
		    const struct section_entry *values[SETTING_SLOTS])
{
	const struct section_entry *e;
	bool here = false;
	memset(values, 0, SETTING_SLOTS * sizeof(*values));
	for (size_t i = 0; (e = section_entry_at(s, form, i)) != NULL; i++) {
		if (e->kind == SECTION_NAME)
			here = strcmp(e->text, name) == 0;
		else if (here && e->kind == SECTION_VALUE)
			values[SETTING_SLOT(e->offset)] = e;
	}
}

const struct section_entry *section_next(const struct settings *s, const struct section_form *form,
					 const char *name, const char *key, size_t *at)
{
	const struct section_entry *e, *found = NULL;
	bool here = *at > 0;
	const bool any = here || form->adds;
	for (size_t i = *at; !(found && any) && (e = section_entry_at(s, form, i)) != NULL; i++) {
		/* Most names differ in the first byte. */
		if (e->kind == SECTION_NAME)
			here = *e->text == *name && strcmp(e->text, name) == 0;
		if (!here || e->kind != SECTION_TEXT || strcmp(e->key, key) != 0 ||
		    (found && found->by == e->by))
			continue;
		found = e;
		*at = i + 1;
		/* Goes on to the last file that has the key. The built-in sections are one file. */
		if (i < form->builtin_count)
			i = form->builtin_count - 1;
	}
	return found;
}

/* --- sections as an ini text ----------------------------------------------------------- */

/* Appends the end of a line, with the file and line that the entry is from as a comment. */
static void section_write_origin(struct buffer *out, const struct settings *s,
				 const struct section_entry *e)
{
	const char *file = e->by == ORIGIN_BUILT_IN ? NULL : s->files[e->by];
	if (file) {
		buffer_append_string(out, " ; ");
		quote_text(out, file, strlen(file), 0);
		buffer_printf(out, ":%u", e->line);
	}
	buffer_append_string(out, "\n");
}

int section_write(struct buffer *out, const struct settings *s, const struct section_form *form)
{
	const struct section_entry *values[SETTING_SLOTS], *e;
	const char *name;
	char text[VALUE_LEN];
	for (size_t i = 0; (name = section_name(s, form, i)) != NULL; i++) {
		buffer_printf(out, "%s[%s %s]\n", out->len > 0 ? "\n" : "", form->word, name);
		for (const struct option *o = form->keys; o->key; o++) {
			size_t at = 0;
			e = section_next(s, form, name, o->key, &at);
			if (e || form->adds)
				buffer_printf(out, "%s =\n", o->key);
			for (; e; e = section_next(s, form, name, o->key, &at)) {
				if (!*e->text)
					continue;
				buffer_append_string(out, "\t");
				quote_text(out, e->text, strlen(e->text), 0);
				section_write_origin(out, s, e);
			}
		}
		section_values(s, form, name, values);
		for (const struct option *o = option_table; o < option_table + option_count; o++) {
			e = values[SETTING_SLOT(o->offset)];
			if (!e)
				continue;
			buffer_printf(out, "%s = %s", o->key,
				      option_number_text(o, e->value, text));
			section_write_origin(out, s, e);
		}
	}
	return buffer_check(out);
}

void section_release(struct sections *read)
{
	for (size_t i = 0; i < read->count; i++)
		free((char *)read->entries[i].text);
	free(read->entries);
	*read = (struct sections){.entries = NULL};
}
