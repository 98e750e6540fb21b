// Cases that are text: tests/unit/NAME.cases. A line that begins with a tab is a case, and the last
// line without one is what comes of it. "\n", "\r", "\t", "\\" and "\xHH" are known in both. Lines
// that are empty or begin with # are comments.
#ifndef TERSE_TESTS_CASES_H
#define TERSE_TESTS_CASES_H

#include "tests/unit/unit.h"

/* In place. */
static inline void cases_unescape(char *text)
{
	static const char names[] = "nrt\\", bytes[] = "\n\r\t\\";
	char *out = text;
	unsigned byte;
	for (; *text; text++) {
		const char *name = *text == '\\' && text[1] ? strchr(names, text[1]) : NULL;
		if (*text == '\\' && sscanf(text + 1, "x%2x", &byte) == 1) {
			*out++ = (char)byte;
			text += 3;
		} else {
			*out++ = name ? bytes[name - names] : *text;
			text += name != NULL;
		}
	}
	*out = '\0';
}

/* Calls `check` for each case. */
static inline void cases_each(const char *path, void (*check)(const char *text, const char *wanted))
{
	char *line = NULL, *wanted = NULL;
	size_t cap = 0, count = 0;
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while (getline(&line, &cap, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		const bool is_case = *line == '\t';
		cases_unescape(line);
		if (is_case) {
			assert_non_null(wanted);
			check(line + 1, wanted);
			count++;
		} else {
			free(wanted);
			wanted = strdup(line);
		}
	}
	free(line);
	free(wanted);
	fclose(file);
	assert_true(count > 0);
}

#endif
