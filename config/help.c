// The flags as `terse help run` lists them. See option_write_help() in option.h.

#include "config/assign.h"
#include "config/wrap.h"

#include "supervisor/base/buffer.h"

#include <stdio.h>
#include <string.h>

/* Flags of this width and less have their help beside them. */
enum { FLAG_WIDTH = 27, HELP_COLUMN = FLAG_WIDTH + 1, WIDTH = 80 };

/* A flag and what it takes: "--cols COLUMNS", "--[no-]pty", "--mode smart|head". */
static int write_synopsis(struct buffer *out, const struct option *o)
{
	static const char *const takes[OPTION_TYPES] = {
		[OPTION_COUNT] = " N",
		[OPTION_SIZE] = " SIZE",
		[OPTION_DURATION] = " DURATION",
	};

	if (o->negated)
		return buffer_printf(out, "  --[no-]%s", o->flag + 2);
	if (buffer_printf(out, "  %s", o->flag) < 0)
		return -1;
	if (takes[o->type])
		return buffer_append_string(out, takes[o->type]);
	if (!o->choices)
		return buffer_printf(out, " %s", o->unit);
	for (size_t i = 0; o->choices[i]; i++) {
		if (buffer_printf(out, "%s%s", i == 0 ? " " : "|", o->choices[i]) < 0)
			return -1;
	}
	return 0;
}

/* `start` is where the flag's line begins in `out`. */
static int write_beside(struct buffer *out, size_t start, const char *help)
{
	char column[HELP_COLUMN + 1];
	size_t width = out->len - start;

	snprintf(column, sizeof(column), "%*s", HELP_COLUMN, "");
	if (width > FLAG_WIDTH && buffer_append_string(out, "\n") < 0)
		return -1;
	width = width > FLAG_WIDTH ? 0 : width;
	if (buffer_append_string(out, column + width) < 0)
		return -1;
	return wrap_text(out, help, WIDTH - HELP_COLUMN, column);
}

static int help_write_option(struct buffer *out, const struct option *o)
{
	size_t start = out->len;
	struct buffer help = BUFFER_INIT;
	int result = write_synopsis(out, o);

	if (result == 0)
		result = buffer_append_string(&help, o->help);
	if (result == 0 && o->type == OPTION_LIST)
		result = buffer_append_string(&help, " May be given several times.");
	else if (result == 0 && o->preset)
		result = buffer_printf(&help, " Default: %s.", o->preset);
	if (result == 0)
		result = buffer_string(&help) ? write_beside(out, start, help.data) : -1;
	buffer_release(&help);
	return result;
}

static int write_shorthands(struct buffer *out, const struct option *o)
{
	for (size_t i = 0; i < option_shorthand_count; i++) {
		const struct option_shorthand *h = &option_shorthands[i];
		size_t start = out->len;

		if (option_by_key(h->section, h->key) != o)
			continue;
		if (buffer_printf(out, "  %s", h->flag) < 0 ||
		    write_beside(out, start, h->help) < 0)
			return -1;
	}
	return 0;
}

int option_write_help(struct buffer *out)
{
	const char *section = "";

	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (strcmp(section, o->section) != 0 &&
		    buffer_printf(out, "%s[%s]\n", i == 0 ? "" : "\n", o->section) < 0)
			return -1;
		section = o->section;
		if (help_write_option(out, o) < 0 || write_shorthands(out, o) < 0)
			return -1;
	}
	return 0;
}
