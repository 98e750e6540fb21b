// The table of options as help and sample. See option.h.

#include "config/option.h"
#include "lib/buffer.h"

#include <stdio.h>
#include <string.h>

/* Appends `text` (plain ASCII words, one blank between them) and a newline. Lines break at blanks,
   so that they are at most `width` bytes wide, or one word. Every line but the first starts with
   `prefix`, which the width does not count. */
static void wrap_text(struct buffer *out, const char *text, size_t width, const char *prefix)
{
	for (;;) {
		size_t len = strcspn(text, " ");
		while (text[len]) {
			size_t next = len + 1 + strcspn(text + len + 1, " ");
			if (next > width)
				break;
			len = next;
		}
		buffer_printf(out, "%.*s\n", (int)len, text);
		if (text[len] == '\0')
			return;
		text += len + 1;
		buffer_append_string(out, prefix);
	}
}

/* Prints each line of `lines` with `prefix` before it. */
static void option_print_lines(struct buffer *out, const char *lines, const char *prefix)
{
	for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		buffer_printf(out, "%s%.*s\n", len ? prefix : "#", (int)len, lines);
	}
}

/* --- terse help run: the flags --------------------------------------------------------- */

/* Flags of this width and less have their help beside them. */
enum { FLAG_WIDTH = 27, HELP_COLUMN = FLAG_WIDTH + 1, HELP_WIDTH = 80 - HELP_COLUMN };

void option_print_beside(struct buffer *out, size_t start, const char *help)
{
	char column[HELP_COLUMN + 1];
	size_t width = out->len - start;
	snprintf(column, sizeof(column), "%*s", HELP_COLUMN, "");
	if (width > FLAG_WIDTH) {
		buffer_append_string(out, "\n");
		width = 0;
	}
	buffer_append_string(out, column + width);
	wrap_text(out, help, HELP_WIDTH, column);
}

void option_print_help(struct buffer *out, const char *only)
{
	static const char *const values[OPTION_TYPES] = {
		[OPTION_COUNT] = "N",
		[OPTION_SIZE] = "SIZE",
		[OPTION_DURATION] = "DURATION",
	};
	const char *section = NULL;
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (!o->flag || (*only && strcmp(only, o->section) != 0))
			continue;
		if (*only)
			section = o->section;
		if (!section || strcmp(section, o->section) != 0)
			buffer_printf(out, "%s[%s]\n", section ? "\n" : "", o->section);
		section = o->section;
		/* A flag and its value ("--cols N", "--[no-]pty", "--mode smart|head"), its help
		   and default. */
		char initial[VALUE_LEN];
		size_t line = out->len;
		const char *preset = option_default(o, initial);
		struct buffer help = BUFFER_INIT;
		buffer_printf(out, option_is_switch(o) ? "  --[no-]%s" : "  --%s", o->flag + 2);
		for (size_t i = 0; o->choices && o->choices[i]; i++)
			buffer_printf(out, "%c%s", i == 0 ? ' ' : '|', o->choices[i]);
		if (!option_is_switch(o) && !o->choices)
			buffer_printf(out, " %s", values[o->type] ? values[o->type] : o->unit);
		buffer_append_string(&help, o->help);
		if (o->type == OPTION_LIST)
			buffer_append_string(&help, " May be given several times.");
		else if (preset)
			buffer_printf(&help, " Default: %s.", preset);
		if (buffer_string(&help))
			option_print_beside(out, line, help.data);
		out->failed |= help.failed;
		buffer_release(&help);
		for (size_t i = 1; o->choices_are_flags && o->choices[i]; i++) {
			char text[64];
			line = out->len;
			buffer_printf(out, "  --%s", o->choices[i]);
			snprintf(text, sizeof(text), "Short for %s %s.", o->flag, o->choices[i]);
			option_print_beside(out, line, text);
		}
	}
}

/* --- terse config init: the sample ------------------------------------------------------ */

/* The text in front of the sample; tests/docs-check writes the manual page terse.ini(5) from the
   sample. */
__asm__(".pushsection .rodata\n"
	"option_introduction:\n.incbin \"config/introduction.txt\"\n.byte 0\n"
	".popsection\n");
extern const char introduction[] __asm__("option_introduction");

int option_print_sample(struct buffer *out)
{
	const char *section = "";
	char range[RANGE_LEN], room[VALUE_LEN], name[FLAG_LEN];
	option_print_lines(out, introduction, "# ");
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		const char *flag, *preset;
		if (strcmp(section, o->section) != 0)
			buffer_printf(out, "\n[%s]\n", o->section);
		section = o->section;
		buffer_append_string(out, "\n# ");
		wrap_text(out, o->help, 78, "# ");
		buffer_printf(out, "# %s%s", o->type == OPTION_LIST ? "list of " : "",
			      option_range(o, range));
		if (o->type == OPTION_COUNT)
			buffer_printf(out, " %s", o->unit);
		for (size_t i = 0; (flag = option_flag(o, i, name)); i++)
			buffer_printf(out, "%s %s", i == 0 ? ";" : ",", flag);
		buffer_printf(out, "; %s",
			      o->variable ? o->variable : "only in your file or the system's");
		if (o->project_least)
			buffer_append_string(out, "; also in .terse.ini");
		if (o->project_least > PROJECT_ANY)
			buffer_printf(out, ", from %s",
				      option_number_text(o, o->project_least, room));
		if (o->project_never)
			buffer_printf(out, ", but not %s", o->project_never);
		preset = option_default(o, room);
		buffer_printf(out, "\n#%s =", o->key);
		if (preset && o->type != OPTION_LIST)
			buffer_printf(out, " %s", preset);
		buffer_append_string(out, "\n");
		if (preset && o->type == OPTION_LIST)
			option_print_lines(out, preset, "#\t");
	}
	return buffer_check(out);
}
