// Rows of the table of options, and their values. See option.h.

#include "config/option.h"

#include "config/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct option *option_by_key(const char *section, const char *key)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		if (strcmp(o->key, key) == 0 && strcmp(o->section, section) == 0)
			return o;
	}
	return NULL;
}

const char *option_flag(const struct option *o, size_t i, char out[FLAG_LEN])
{
	if (!o->flag || i == 0)
		return o->flag;
	if (option_is_switch(o) && i == 1)
		snprintf(out, FLAG_LEN, "--no-%s", o->flag + 2);
	else if (o->choices_are_flags && o->choices[i])
		snprintf(out, FLAG_LEN, "--%s", o->choices[i]);
	else
		return NULL;
	return out;
}

const struct option *option_by_flag(const char *flag, size_t len, const char **implied)
{
	char room[FLAG_LEN];
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		const char *name;
		for (size_t i = 0; (name = option_flag(o, i, room)); i++) {
			if (strlen(name) != len || memcmp(name, flag, len) != 0)
				continue;
			*implied = option_is_switch(o) ? (i ? "no" : "yes")
				   : i                 ? o->choices[i]
						       : NULL;
			return o;
		}
	}
	return NULL;
}

/* --- values --------------------------------------------------------------------- */

static const char *const bool_words[] = {"yes", "no", NULL};
static const char *const tristate_words[] = {"auto", "yes", "no", NULL};

/* The words that are read as values. Each row has one word for every value, in the order of the
   values. */
static const char *const bool_read[] = {"no", "yes", "false", "true", "off", "on", "0", "1", NULL};
static const char *const tristate_read[] = {"auto", "yes", "no",   "auto", "true", "false", "auto",
					    "on",   "off", "auto", "1",    "0",    NULL};

static char *format_count(char out[VALUE_LEN], int64_t n)
{
	snprintf(out, VALUE_LEN, "%" PRId64, n);
	return out;
}

/* The numeric types. A type without `format` has words: `words`, or the option's choices. */
static const struct {
	int (*parse)(const char *value, int64_t *out);
	char *(*format)(char out[VALUE_LEN], int64_t n);
	const char *const *words, *const *read;
	int64_t values; /* in a row of `read` */
	const char *reason;
} types[OPTION_TYPES] = {
	[OPTION_BOOL] = {.words = bool_words, .read = bool_read, .values = 2},
	[OPTION_TRISTATE] = {.words = tristate_words, .read = tristate_read, .values = 3},
	[OPTION_COUNT] = {value_parse_count, format_count, .reason = "not a whole number"},
	[OPTION_SIZE] = {value_parse_size, value_format_size,
			 .reason = "not a size (like 4096, 4KB or 1000tok)"},
	[OPTION_DURATION] = {value_parse_duration, value_format_duration,
			     .reason = "not a duration (like 500ms, 2s, 5m or 1h)"},
};

static const char *const *option_words(const struct option *o)
{
	return o->choices ? o->choices : types[o->type].words;
}

__attribute__((format(printf, 2, 3))) static int option_refuse(struct option_error *error,
							       const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	errno = EINVAL;
	return -1;
}

const char *option_range(const struct option *o, char out[RANGE_LEN])
{
	const char *const *words = option_words(o);
	char min[VALUE_LEN], max[VALUE_LEN];
	size_t len = 0;
	for (size_t i = 0; words && words[i]; i++) {
		const char *between = i == 0 ? "" : words[i + 1] ? ", " : " or ";
		len += (size_t)snprintf(out + len, RANGE_LEN - len, "%s%s", between, words[i]);
	}
	if (words)
		return out;
	if (!option_is_number(o)) {
		snprintf(out, RANGE_LEN, "%s", o->unit);
		return out;
	}
	types[o->type].format(max, o->max);
	if (o->type == OPTION_DURATION && o->min == 0)
		snprintf(out, RANGE_LEN, "up to %s, or off", max);
	else
		snprintf(out, RANGE_LEN, "%s to %s%s", types[o->type].format(min, o->min), max,
			 o->or_zero ? ", or 0" : "");
	return out;
}

int option_parse(const struct option *o, const char *value, int64_t *out,
		 struct option_error *error)
{
	const char *const *read = o->choices ? o->choices : types[o->type].read;
	char range[RANGE_LEN];
	int64_t parsed = 0;
	while (read && read[parsed] && strcasecmp(read[parsed], value) != 0)
		parsed++;
	if (read && !read[parsed])
		return option_refuse(error, "not %s", option_range(o, range));
	if (!read && types[o->type].parse(value, &parsed) < 0)
		return option_refuse(error, "%s", types[o->type].reason);
	if (!read && (parsed < o->min || parsed > o->max) && !(parsed == 0 && o->or_zero))
		return option_refuse(error, "out of range (%s)", option_range(o, range));
	*out = o->choices || !read ? parsed : parsed % types[o->type].values;
	return 0;
}

const char *option_number_text(const struct option *o, int64_t value, char out[VALUE_LEN])
{
	if (o->type == OPTION_BOOL)
		return value ? "yes" : "no";
	if (option_words(o))
		return option_words(o)[value];
	return types[o->type].format(out, value);
}

const char *option_default(const struct option *o, char out[VALUE_LEN])
{
	return option_is_number(o) ? option_number_text(o, o->initial, out) : o->preset;
}

/* Checks the text of a string or item: 0, or -1 with EINVAL and *error. */
static int check_text(const struct option *o, const char *text, struct option_error *error)
{
	if (strlen(text) > (uint64_t)o->max)
		return option_refuse(error, "longer than %" PRId64 " bytes", o->max);
	const char *reason = o->refuse ? o->refuse(text) : NULL;
	return reason ? option_refuse(error, "%s", reason) : 0;
}

/* Appends a copy of an item. The array's capacity is a power of two; its last pointer is NULL. */
static int strings_add(struct strings *list, const struct option *o, const char *value, size_t len,
		       struct option_error *error)
{
	if (error && o->most > 0 && list->count >= o->most)
		return option_refuse(error, "more than %zu", o->most);
	char *item = strndup(value, len);
	if (!item)
		return -1;
	if (error && (check_text(o, item, error) < 0 ||
		      (len == 0 && option_refuse(error, "must not be empty") < 0)))
		goto fail;
	if ((list->count & (list->count + 1)) == 0) {
		char **items = realloc(list->items, 2 * (list->count + 1) * sizeof(*items));
		if (!items)
			goto fail;
		list->items = items;
	}
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
	return 0;
fail:
	free(item);
	return -1;
}

static void strings_release(struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct strings){NULL, 0};
}

int option_set(struct settings *s, const struct option *o, const char *value,
	       struct option_error *error)
{
	void *field = (char *)s + o->offset;
	struct strings list = {NULL, 0};
	if (option_is_number(o))
		return option_parse(o, value, field, error);
	if (o->type == OPTION_STRING) {
		char *copy = NULL;
		if (*value && error && check_text(o, value, error) < 0)
			return -1;
		if (*value && !(copy = strdup(value)))
			return -1;
		free(*(char **)field);
		*(char **)field = copy;
		return 0;
	}
	for (size_t len; *value; value += len + (value[len] == '\n')) {
		len = strcspn(value, "\n");
		if (len > 0 && strings_add(&list, o, value, len, error) < 0) {
			strings_release(&list);
			return -1;
		}
	}
	strings_release(field);
	*(struct strings *)field = list;
	return 0;
}

int option_append(struct settings *s, const struct option *o, const char *item,
		  struct option_error *error)
{
	void *list = (char *)s + o->offset;
	return strings_add(list, o, item, strlen(item), error);
}
