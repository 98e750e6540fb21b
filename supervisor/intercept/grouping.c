// See grouping.h.

#include "supervisor/intercept/grouping.h"

#include "supervisor/preview/chars.h"

#include <stdbool.h>
#include <string.h>

/* Longer names are none. */
#define NAME_MAX_LEN ((size_t)1024)

/* So many of ten lines are matches in a list of them. */
#define MATCHES_OF_TEN 9

/* At least this part of the text is saved. */
#define SAVED_PART 8

/* "2026-11-22T05" of 2026-11-22T05:12:33, where a log begins. */
static bool name_is_time(const char *name, size_t len)
{
	return len >= 4 && name[len - 3] == 'T' && is_digit(name[len - 4]) &&
	       is_digit(name[len - 2]) && is_digit(name[len - 1]);
}

/* Whether `name` can be a file's. Words of code and of messages have other characters, so that a
   text which is no list of matches is left alone. */
static bool name_is_file(const char *name, size_t len, bool is_plain)
{
	bool has_letter = false, is_path = false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] <= ' ' || strchr("\"'`()<>{};,=$|*&?", name[i]))
			return false;
		has_letter |= is_letter(name[i]) || (unsigned char)name[i] >= 0x80;
		is_path |= name[i] == '/' || name[i] == '.';
	}
	return has_letter && (is_path || !is_plain) && !name_is_time(name, len);
}

/* The place of the first ":12:" in a line; `len`: there is none. */
static size_t find_number(const char *line, size_t len)
{
	const char *at = line, *end = line + len;
	while ((at = memchr(at, ':', (size_t)(end - at)))) {
		const char *digit = at + 1;
		while (digit < end && is_digit(*digit))
			digit++;
		if (digit > at + 1 && digit < end && *digit == ':')
			return (size_t)(at - line);
		at++;
	}
	return len;
}

size_t grouping_name(enum grouping_form form, const char *line, size_t len)
{
	size_t most = len < NAME_MAX_LEN ? len : NAME_MAX_LEN, name;
	if (form == GROUPING_NONE)
		return 0;
	if (form == GROUPING_NUMBERED) {
		name = find_number(line, most);
	} else {
		const char *colon = memchr(line, ':', most);
		name = colon ? (size_t)(colon - line) : most;
		/* std::string; and a blank line would end the group. */
		if (name + 1 >= len || line[name + 1] == ':')
			return 0;
	}
	return name < most && name_is_file(line, name, form == GROUPING_PLAIN) ? name : 0;
}

/* The lines of a text in one form. */
struct grouping_count {
	size_t lines, matches, files;
	size_t saved, added; /* bytes */
};

static struct grouping_count count_matches(enum grouping_form form, const char *text, size_t len)
{
	struct grouping_count count = {.lines = 0};
	const char *before = text, *newline;
	size_t before_len = 0;
	for (; (newline = memchr(text, '\n', len)); text = newline + 1) {
		size_t line = (size_t)(newline - text), name = grouping_name(form, text, line);
		count.lines += line > 0;
		count.matches += name > 0;
		if (name > 0 && name == before_len && memcmp(text, before, name) == 0) {
			count.saved += name + 1;
		} else if (name > 0) {
			count.files++;
			count.added++;
		}
		before = text;
		before_len = name;
		len -= line + 1;
	}
	return count;
}

enum grouping_form grouping_find_form(const char *text, size_t len)
{
	static const enum grouping_form forms[] = {GROUPING_NUMBERED, GROUPING_PLAIN};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct grouping_count c = count_matches(forms[i], text, len);
		bool is_list = c.lines > 0 && c.matches * 10 >= c.lines * MATCHES_OF_TEN;
		/* Without numbers a name before a colon may be anything. */
		bool is_sure = forms[i] == GROUPING_NUMBERED || c.files > 1;
		if (is_list && is_sure && c.saved >= c.added + len / SAVED_PART)
			return forms[i];
	}
	return GROUPING_NONE;
}
