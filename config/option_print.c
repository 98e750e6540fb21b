// The table of options as settings, help, sample and manual page. See option.h.

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

/* Prints each line of `lines` behind `prefix`. */
static void option_print_lines(struct buffer *out, const char *lines, const char *prefix)
{
	for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		buffer_printf(out, "%s%.*s\n", prefix, (int)len, lines);
	}
}

/* --- terse config: values and where they come from ---------------------------------- */

enum { ORIGIN_COLUMN = 32 };

/* Newlines, which a variable's value can hold, become "\n". */
static void settings_print_line(struct buffer *out, const char *value)
{
	for (;;) {
		size_t len = strcspn(value, "\n");
		buffer_append(out, value, len);
		if (!value[len])
			return;
		buffer_append_string(out, "\\n");
		value += len + 1;
	}
}

static void settings_print_items(struct buffer *out, const struct option *o,
				 const struct settings *s, const char *indent)
{
	const struct strings *list = (const void *)((const char *)s + o->offset);
	for (size_t i = 0; o->type == OPTION_LIST && i < list->count; i++) {
		buffer_append_string(out, indent);
		settings_print_line(out, list->items[i]);
		buffer_append_string(out, "\n");
	}
}

void option_print_value(struct buffer *out, const struct option *o, const struct settings *s)
{
	const void *field = (const char *)s + o->offset;
	char text[VALUE_LEN];
	if (o->type == OPTION_LIST) {
		settings_print_items(out, o, s, "");
		return;
	}
	const char *value = option_is_number(o)
				    ? option_number_text(o, *(const int64_t *)field, text)
				    : *(char *const *)field;
	if (value)
		settings_print_line(out, value);
}

void option_print_settings(struct buffer *out, const struct settings *s, const char *profile)
{
	const char *section = NULL;
	for (const struct option *row = option_table; row < option_table + option_count; row++) {
		if (!section || strcmp(section, row->section) != 0)
			buffer_printf(out, "%s[%s]\n", section ? "\n" : "", row->section);
		section = row->section;
		const struct option *o = option_in_force(s, row);
		size_t start = out->len;
		buffer_printf(out, "%s = ", row->key);
		size_t bare = out->len;
		if (o->type != OPTION_LIST)
			option_print_value(out, o, s);
		if (out->len == bare && bare > start)
			buffer_truncate(out, bare - 1);
		/* The origins start in a column of their own. */
		size_t width = out->len - start;
		buffer_printf(out, "%*s ; ",
			      width < ORIGIN_COLUMN ? (int)(ORIGIN_COLUMN - width) : 0, "");
		/* built in, /etc/terse.ini:7, agent codex, profile read, TERSE_COLS, --cols */
		const struct setting_source *source = &s->sources[o - option_table];
		const char *file = NULL;
		switch (source->by) {
		case ORIGIN_SYSTEM:
		case ORIGIN_USER:
		case ORIGIN_PROJECT:
			file = s->files[source->by];
			buffer_printf(out, "%s:%u", file ? file : "terse.ini", source->line);
			break;
		case ORIGIN_AGENT: buffer_printf(out, "agent %s", s->agent ? s->agent : ""); break;
		case ORIGIN_PROFILE:
			buffer_printf(out, "profile %s", profile ? profile : "");
			break;
		case ORIGIN_VARIABLE: buffer_append_string(out, o->variable); break;
		case ORIGIN_FLAG: buffer_append_string(out, o->flag); break;
		case ORIGIN_BUILT_IN: buffer_append_string(out, "built in"); break;
		}
		buffer_append_string(out, "\n");
		settings_print_items(out, o, s, "\t");
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
		buffer_printf(out, o->negated ? "  --[no-]%s" : "  --%s", o->flag + 2);
		for (size_t i = 0; o->choices && o->choices[i]; i++)
			buffer_printf(out, "%c%s", i == 0 ? ' ' : '|', o->choices[i]);
		if (!o->negated && !o->choices)
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
		for (size_t i = 0; i < option_shorthand_count; i++) {
			const struct option_shorthand *h = &option_shorthands[i];
			size_t start = out->len;
			if (option_by_key(h->section, h->key) != o)
				continue;
			buffer_printf(out, "  %s", h->flag);
			option_print_beside(out, start, h->help);
		}
	}
}

/* --- terse config init: the sample ------------------------------------------------------ */

/* The sample and the manual page begin with these paragraphs. */
static const struct {
	const char *text;
	bool literal; /* lines that must not be filled */
} introduction[] = {
	{"Settings come from /etc/terse.ini, then from $XDG_CONFIG_HOME/terse/terse.ini\n"
	 "(~/.config/terse/terse.ini) or the file that TERSE_CONFIG names, then from the\n"
	 "project's .terse.ini, which can set only what does no harm. The profile of the\n"
	 "command wins over files, TERSE_* variables win over the profile, and flags over\n"
	 "all. terse config prints the settings in force and their origins. To change a\n"
	 "setting, remove the # in front of it. A file with an error is ignored as a whole;\n"
	 "terse reports the error and continues (terse config check FILE lists all errors).\n",
	 false},
	{"Sizes:     4096, 4KB, 1.5MB, 1GB (by 1,024), 1000tok (4 bytes a token),\n"
	 "           small, medium, large (2, 4, 8 KB)\n"
	 "Durations: 500ms, 2s, 5m, 1h, 1d; a bare number is seconds; off\n"
	 "Yes or no: yes, true, on, 1; no, false, off, 0\n"
	 "Lists:     one item on an indented line of its own; a list replaces the default\n",
	 true},
	{"A line has at most 198 bytes. A ; behind a blank starts a comment.\n", false},
	{"A profile applies to the commands that match its patterns. It can set any key of\n"
	 "[run], [terminal], [report], [preview] and [spill] that is not a text. terse config\n"
	 "--profiles lists the built-in ones (read, search, find, list, log ...); match,\n"
	 "patterns and ignore add to them, the other keys replace their values:\n",
	 false},
	{"[profile read]\n"
	 "match =\n"
	 "    mdcat|glow\n"
	 "    terraform show|output\n"
	 "size = 16KB\n",
	 true},
	{"A pattern names a program, then its subcommands, then options: git log -p|--patch.\n"
	 "| separates alternatives, * stands for any characters. The matching pattern with\n"
	 "the most words counts, and the last one of equals. One word\n"
	 "does not match a program that runs another: env is not env A=1 make. [profile\n"
	 "default] takes commands away from the others.\n",
	 false},
	{"[agent NAME] sections help terse-sh to recognise an agent's tool calls, and set the\n"
	 "same keys for its commands. terse config --agents lists the built-in ones (claude,\n"
	 "codex, opencode, pi, gemini); a list replaces theirs:\n",
	 false},
	{"[agent mine]\n"
	 "environment = MY_AGENT\n"
	 "string = {command}\n"
	 "process = my-agent\n"
	 "ceiling = 20KB\n",
	 true},
};

enum { PARAGRAPHS = sizeof(introduction) / sizeof(*introduction) };

int option_print_sample(struct buffer *out)
{
	const char *section = "";
	char range[RANGE_LEN], initial[VALUE_LEN];
	buffer_append_string(out, "# terse.ini: every setting with its default.\n");
	for (size_t i = 0; i < PARAGRAPHS; i++) {
		buffer_append_string(out, "#\n");
		option_print_lines(out, introduction[i].text, "# ");
	}
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		const char *preset = option_default(o, initial);
		if (strcmp(section, o->section) != 0)
			buffer_printf(out, "\n[%s]\n", o->section);
		section = o->section;
		buffer_append_string(out, "\n# ");
		wrap_text(out, o->help, 78, "# ");
		buffer_printf(out, "# %s", option_range(o, range));
		if (o->type == OPTION_COUNT)
			buffer_printf(out, " %s", o->unit);
		if (o->flag)
			buffer_printf(out, "; %s", o->flag);
		if (o->variable)
			buffer_printf(out, "; %s", o->variable);
		buffer_printf(out, "\n#%s =", o->key);
		if (preset && o->type != OPTION_LIST)
			buffer_printf(out, " %s", preset);
		buffer_append_string(out, "\n");
		if (preset && o->type == OPTION_LIST)
			option_print_lines(out, preset, "#\t");
	}
	return buffer_check(out);
}

/* --- terse config --man: terse.ini(5) ---------------------------------------------------- */

/* Characters for mdoc(7) that start a line or follow a blank. */
static void manual_print_chars(struct buffer *out, const char *text, size_t len)
{
	static const char *const escapes[256] = {
		['\\'] = "\\e", ['~'] = "\\(ti", ['^'] = "\\(ha", ['`'] = "\\(ga"};
	char before = '\n';
	for (const char *end = text + len; text < end; before = *text++) {
		const char *escape = escapes[(unsigned char)*text];
		if (before == '\n' && (*text == '.' || *text == '\''))
			buffer_append_string(out, "\\&");
		if (*text == '-' && strchr(" \n-[|", before))
			escape = "\\-";
		if (escape)
			buffer_append_string(out, escape);
		else
			buffer_append(out, text, 1);
	}
}

/* Source lines are as short as mandoc's linter wants them. */
enum { MANUAL_WIDTH = 80 };

/* A paragraph, which has to start a line. A new sentence starts a new one. */
static void manual_print_text(struct buffer *out, const char *text)
{
	size_t line = out->len;
	bool ends = false;
	for (size_t len, first = line; text += strspn(text, " \n"), *text; text += len) {
		len = strcspn(text, " \n");
		size_t gap = out->len;
		if (gap > first)
			buffer_append_string(out, ends ? "\n" : " ");
		line = ends ? out->len : line;
		manual_print_chars(out, text, len);
		if (gap > first && out->len - line > MANUAL_WIDTH && out->len > gap) {
			out->data[gap] = '\n';
			line = gap + 1;
		}
		ends = strchr(".!?", text[len - 1]) != NULL;
	}
}

static void manual_print_literal(struct buffer *out, const char *lines)
{
	buffer_append_string(out, ".Bd -literal -offset indent -compact\n");
	manual_print_chars(out, lines, strlen(lines));
	if (lines[strlen(lines) - 1] != '\n')
		buffer_append_string(out, "\n");
	buffer_append_string(out, ".Ed\n");
}

static void manual_print_option(struct buffer *out, const struct option *o)
{
	static const char *const types[OPTION_TYPES] = {
		[OPTION_BOOL] = "",        [OPTION_TRISTATE] = "",
		[OPTION_ENUM] = "",        [OPTION_COUNT] = "number ",
		[OPTION_SIZE] = "size ",   [OPTION_LIST] = "list of ",
		[OPTION_STRING] = "text ", [OPTION_DURATION] = "duration ",
	};
	char range[RANGE_LEN], initial[VALUE_LEN];
	const char *preset = option_default(o, initial);
	buffer_printf(out, ".It Cm %s\n", o->key);
	manual_print_text(out, o->help);
	buffer_printf(out, "\n.br\n%s%s", types[o->type], option_range(o, range));
	if (o->type == OPTION_COUNT)
		buffer_printf(out, " %s", o->unit);
	buffer_append_string(out, "; default");
	if (preset && o->type != OPTION_LIST) {
		buffer_append_string(out, "\n.Li ");
		manual_print_chars(out, preset, strlen(preset));
		buffer_append_string(out, " ;\n");
	} else if (preset) {
		buffer_append_string(out, "\n");
		manual_print_literal(out, preset);
	} else {
		buffer_append_string(out, " empty;\n");
	}
	/* Its other names. */
	if (!o->variable) {
		buffer_append_string(out, "only in your file or the system's\n");
		return;
	}
	buffer_printf(out, ".Ev %s", o->variable);
	if (o->flag)
		buffer_printf(out, " ;\n.Fl %s", o->flag + 1);
	if (o->negated)
		buffer_printf(out, " , Fl %s", o->negated + 1);
	buffer_append_string(out, o->safe ? " ;\nalso in .terse.ini" : "");
	if (o->safe_min)
		buffer_printf(out, ", from %s", option_number_text(o, o->safe_min, initial));
	if (o->safe_never)
		buffer_printf(out, ", but not %s", o->safe_never);
	buffer_append_string(out, "\n");
	for (size_t i = 0; i < option_shorthand_count; i++) {
		const struct option_shorthand *h = &option_shorthands[i];
		if (option_by_key(h->section, h->key) != o)
			continue;
		buffer_printf(out, ".br\n.Fl %s :\n", h->flag + 1);
		manual_print_text(out, h->help);
		buffer_append_string(out, "\n");
	}
}

void option_print_manual(struct buffer *out)
{
	const char *section = NULL;
	buffer_append_string(out,
			     ".\\\" Written from config/option_table.c by terse config --man.\n"
			     ".Dd November 22, 2026\n.Dt TERSE.INI 5\n.Os\n"
			     ".Sh NAME\n.Nm terse.ini\n.Nd settings of terse\n"
			     ".Sh DESCRIPTION\n");
	for (size_t i = 0; i < PARAGRAPHS; i++) {
		if (i > 0)
			buffer_append_string(out, ".Pp\n");
		if (introduction[i].literal)
			manual_print_literal(out, introduction[i].text);
		else
			manual_print_text(out, introduction[i].text);
		if (!introduction[i].literal)
			buffer_append_string(out, "\n");
	}
	buffer_append_string(out, ".Sh SETTINGS\n");
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (!section || strcmp(section, o->section) != 0)
			buffer_printf(out, "%s.Ss Section [%s]\\&\n.Bl -tag -width Ds\n",
				      section ? ".El\n" : "", o->section);
		section = o->section;
		manual_print_option(out, o);
	}
	buffer_append_string(out, ".El\n"
				  ".Sh FILES\n"
				  ".Pa /etc/terse.ini ,\n"
				  ".Pa ~/.config/terse/terse.ini ,\n"
				  ".Pa .terse.ini\n"
				  ".Sh SEE ALSO\n"
				  ".Xr terse 1 ,\n"
				  ".Xr terse-agents 7\n");
}
