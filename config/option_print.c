// See option_print.h.

#include "config/option_print.h"

#include "config/assign.h"
#include "config/profile.h"
#include "lib/buffer.h"

#include <stdio.h>
#include <string.h>

/* How much of `text` goes on one line. */
static size_t line_length(const char *text, size_t width)
{
	size_t len = strcspn(text, " "), next;

	while (text[len] != '\0') {
		next = len + 1 + strcspn(text + len + 1, " ");
		if (next > width)
			break;
		len = next;
	}
	return len;
}

/* Appends `text` (plain ASCII words, one blank between them) and a newline. Lines break at blanks
   so that they are at most `width` bytes wide, or one word; every line but the first starts with
   `prefix`, which the width does not count. Returns 0, or -1 with ENOMEM. */
static int wrap_text(struct buffer *out, const char *text, size_t width, const char *prefix)
{
	for (;;) {
		size_t len = line_length(text, width);

		if (buffer_printf(out, "%.*s\n", (int)len, text) < 0)
			return -1;
		if (text[len] == '\0')
			return 0;
		text += len + 1;
		if (buffer_append_string(out, prefix) < 0)
			return -1;
	}
}

/* Where the comments start. */
enum { ORIGIN_COLUMN = 32 };

/* built in, /etc/terse.ini:7, agent codex, profile read, TERSE_COLS, --cols */
static int show_origin(const struct settings *s, const struct option *o, const char *profile,
		       struct buffer *out)
{
	const struct setting_source *source = &s->sources[o - option_table];

	switch (source->by) {
	case ORIGIN_SYSTEM:
	case ORIGIN_USER:
	case ORIGIN_PROJECT:
		return buffer_printf(out, "%s:%u",
				     s->files[source->by] ? s->files[source->by] : "terse.ini",
				     source->line);
	case ORIGIN_AGENT: return buffer_printf(out, "agent %s", s->agent ? s->agent : "");
	case ORIGIN_PROFILE: return buffer_printf(out, "profile %s", profile ? profile : "");
	case ORIGIN_VARIABLE: return buffer_append_string(out, o->variable);
	case ORIGIN_FLAG: return buffer_append_string(out, o->flag);
	case ORIGIN_BUILT_IN: break;
	}
	return buffer_append_string(out, "built in");
}

/* A value with a newline in it, as a variable can have one, stays one line. */
static int show_add_line(struct buffer *out, const char *value)
{
	size_t len = strcspn(value, "\n");

	if (buffer_append(out, value, len) < 0)
		return -1;
	return value[len] && buffer_append_string(out, "\\n") == 0
		       ? show_add_line(out, value + len + 1)
		       : 0;
}

static int show_write_items(const struct settings *s, const struct option *o, const char *indent,
			    struct buffer *out)
{
	const struct strings *list = (const void *)((const char *)s + o->offset);

	for (size_t i = 0; o->type == OPTION_LIST && i < list->count; i++) {
		if (buffer_append_string(out, indent) < 0 ||
		    show_add_line(out, list->items[i]) < 0 || buffer_append(out, "\n", 1) < 0)
			return -1;
	}
	return 0;
}

int show_value(const struct settings *s, const struct option *o, struct buffer *out)
{
	const void *field = (const char *)s + o->offset;
	char text[VALUE_LEN];
	const char *value;

	if (o->type == OPTION_LIST)
		return show_write_items(s, o, "", out);
	value = option_is_number(o) ? option_number_text(o, *(const int64_t *)field, text)
				    : *(char *const *)field;
	return value ? show_add_line(out, value) : 0;
}

static int show_write_option(const struct settings *s, const struct option *o, const char *profile,
			     struct buffer *out)
{
	size_t start = out->len, width;

	if (buffer_printf(out, "%s = ", o->key) < 0 ||
	    (o->type != OPTION_LIST && show_value(s, o, out) < 0))
		return -1;
	out->len -= out->data[out->len - 1] == ' ';
	width = out->len - start;
	if (buffer_printf(out, "%*s ; ", width < ORIGIN_COLUMN ? (int)(ORIGIN_COLUMN - width) : 0,
			  "") < 0 ||
	    show_origin(s, o, profile, out) < 0 || buffer_append_string(out, "\n") < 0)
		return -1;
	return show_write_items(s, o, "\t", out);
}

int show_settings(const struct settings *s, const char *profile, struct buffer *out)
{
	const char *section = "";

	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (strcmp(section, o->section) != 0 &&
		    buffer_printf(out, "%s[%s]\n", i == 0 ? "" : "\n", o->section) < 0)
			return -1;
		section = o->section;
		if (show_write_option(s, o, profile, out) < 0)
			return -1;
	}
	return 0;
}

// The flags as `terse help run` lists them. See option_write_help() in option.h.

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
		if (o->flag && (help_write_option(out, o) < 0 || write_shorthands(out, o) < 0))
			return -1;
	}
	return 0;
}

// The sample terse.ini, written from the table. See option_write_sample() in option.h.

static const char head[] =
	"# terse.ini: every setting with its default.\n"
	"#\n"
	"# Read from /etc/terse.ini, then from $XDG_CONFIG_HOME/terse/terse.ini (that is\n"
	"# ~/.config/terse/terse.ini) or the file that TERSE_CONFIG names, then from the\n"
	"# project's .terse.ini, which may only set what can do no harm. The profile of the\n"
	"# command wins over files, TERSE_* variables win over that, and flags over all.\n"
	"# terse config tells what is in effect and why. To change a setting, take away the\n"
	"# # in front of it. A file with an error in it counts as absent as a whole; terse\n"
	"# says why and goes on (terse config check FILE tells of all errors).\n"
	"#\n"
	"# Sizes:     4096, 4KB, 1.5MB, 1GB (by 1,024), 1000tok (4 bytes a token),\n"
	"#            small, medium, large (2, 4, 8 KB)\n"
	"# Durations: 500ms, 2s, 5m, 1h, 1d; a bare number is seconds; off\n"
	"# Yes or no: yes, true, on, 1; no, false, off, 0\n"
	"# Lists:     one item on an indented line of its own; a list replaces the default\n"
	"#\n"
	"# A line has at most 199 bytes. A ; behind a blank starts a comment.\n"
	"#\n"
	"# A profile is for the commands that match its patterns, and sets any key of [run],\n"
	"# [terminal], [report], [preview] and [spill] that is not a text. terse config\n"
	"# --profiles lists the built-in ones (read, search, find, list, log ...); match,\n"
	"# patterns and ignore add to what is there, and the other keys replace it:\n"
	"#\n"
	"# [profile read]\n"
	"# match =\n"
	"#     mdcat|glow\n"
	"#     kubectl get|describe\n"
	"# size = 16KB\n"
	"#\n"
	"# A pattern names a program, then its subcommands, then options: git log -p|--patch.\n"
	"# | separates alternatives, and * stands for any characters. The pattern of the most\n"
	"# words decides, and of such the last one; [profile default] takes commands away from\n"
	"# the others.\n"
	"#\n"
	"# [agent NAME] sections tell terse-sh an agent's tool calls from what else that runs,\n"
	"# and set the same keys for its commands. terse config --agents lists the built-in\n"
	"# ones (claude, codex, opencode, pi, gemini); a list takes the place of theirs:\n"
	"#\n"
	"# [agent mine]\n"
	"# environment = MY_AGENT\n"
	"# string = {command}\n"
	"# process = my-agent\n"
	"# ceiling = 20KB\n";

/* A list's items go on lines of their own below it. */
static int write_preset(struct buffer *out, const struct option *o)
{
	const char *p = o->preset ? o->preset : "";

	if (buffer_printf(out, "#%s =", o->key) < 0)
		return -1;
	if (o->type != OPTION_LIST)
		return buffer_printf(out, "%s%s\n", *p ? " " : "", p);
	while (*p != '\0') {
		size_t len = strcspn(p, "\n");

		if (buffer_printf(out, "\n#\t%.*s", (int)len, p) < 0)
			return -1;
		p += len;
		if (*p == '\n')
			p++;
	}
	return buffer_append_string(out, "\n");
}

static int sample_write_option(struct buffer *out, const struct option *o)
{
	char range[RANGE_LEN];
	const char *unit = o->type == OPTION_COUNT ? o->unit : "";

	if (buffer_append_string(out, "\n# ") < 0 || wrap_text(out, o->help, 78, "# ") < 0)
		return -1;
	if (buffer_printf(out, "# %s%s%s; %s%s%s\n", option_range(o, range), *unit ? " " : "", unit,
			  o->flag ? o->flag : "", o->flag ? "; " : "", o->variable) < 0)
		return -1;
	return write_preset(out, o);
}

int option_write_sample(struct buffer *out)
{
	const char *section = "";

	if (buffer_append_string(out, head) < 0)
		return -1;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (strcmp(section, o->section) != 0 &&
		    buffer_printf(out, "\n[%s]\n", o->section) < 0)
			return -1;
		section = o->section;
		if (sample_write_option(out, o) < 0)
			return -1;
	}
	return 0;
}

// The completion script for bash. See show_completion() in option_print.h.

static const char begin[] =
	"# Completion of terse for bash, written by: terse config completion\n"
	"\n"
	"_terse_words() {\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\" | awk '!told[$0]++')\n"
	"}\n"
	"\n"
	"# The values of the flag before the cursor. Fails if that is no flag with a value.\n"
	"_terse_value() {\n"
	"\tcase $1 in\n";

static const char middle[] =
	"\t--cwd) _terse_words -d ;;\n"
	"\t-c) ;;\n"
	"\t*) return 1 ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_terse() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=run at=1 verbs\n"
	"\tCOMPREPLY=()\n"
	"\tverbs=$(terse help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \\([a-z]*\\) .*/\\1/p')\n"
	"\tif [[ $COMP_CWORD -gt 1 && \" \"$verbs\" \" == "
	"*[[:space:]]\"${COMP_WORDS[1]}\"[[:space:]]* "
	"]]; then\n"
	"\t\tverb=${COMP_WORDS[1]} at=2\n"
	"\tfi\n"
	"\tif [[ $verb != run && $verb != filter ]]; then\n"
	"\t\tif [[ $cur == -* ]]; then\n"
	"\t\t\t_terse_words -W \"$(terse help \"$verb\" 2>/dev/null | grep -oE -- '--[a-z-]+')\"\n"
	"\t\tfi\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t# Where the command starts.\n"
	"\twhile [[ $at -lt $COMP_CWORD && ${COMP_WORDS[at]} == -* ]]; do\n"
	"\t\tif [[ ${COMP_WORDS[at + 1]} == = ]]; then\n"
	"\t\t\tat=$((at + 3))\n"
	"\t\telif _terse_value \"${COMP_WORDS[at]}\" >/dev/null; then\n"
	"\t\t\tat=$((at + 2))\n"
	"\t\telse\n"
	"\t\t\tat=$((at + 1))\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $at -gt $COMP_CWORD ]]; then\n"
	"\t\t[[ $cur != = ]] || cur=\n"
	"\t\t_terse_value \"${COMP_WORDS[at - 2]}\" || _terse_value \"${COMP_WORDS[at - 3]}\"\n"
	"\telif [[ $at -lt $COMP_CWORD ]]; then\n"
	"\t\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t\t_command_offset \"$at\"\n"
	"\t\tfi\n"
	"\telif [[ $cur == -* ]]; then\n"
	"\t\t_terse_words -W '";

static const char end[] = "--cwd -c'\n"
			  "\telif [[ $at == 1 ]]; then\n"
			  "\t\t_terse_words -W \"$verbs\" -c\n"
			  "\telse\n"
			  "\t\t_terse_words -c\n"
			  "\tfi\n"
			  "}\n"
			  "\n"
			  "complete -o bashdefault -o default -F _terse terse\n";

static bool completion_is_yes_or_no(const struct option *o)
{
	return o->type == OPTION_BOOL || o->type == OPTION_TRISTATE;
}

static int write_profiles(struct buffer *out)
{
	const struct layer *p = &profiles_builtin;

	for (size_t i = 0; i < p->count; i++) {
		if (p->entries[i].kind == LAYER_NAME &&
		    buffer_printf(out, "%s ", p->entries[i].text) < 0)
			return -1;
	}
	return buffer_append_string(out, "default");
}

/* The words that a flag's value may be, with blanks between them. */
static int write_words(struct buffer *out, const struct option *o)
{
	if (strcmp(o->flag, "--profile") == 0)
		return write_profiles(out);
	for (size_t i = 0; o->choices && o->choices[i]; i++) {
		if (buffer_printf(out, "%s%s", i == 0 ? "" : " ", o->choices[i]) < 0)
			return -1;
	}
	return o->type == OPTION_SIZE ? buffer_append_string(out, "small medium large") : 0;
}

/* A line of the case in _terse_value(). */
static int completion_write_value(struct buffer *out, const struct option *o)
{
	struct buffer words = BUFFER_INIT;
	int result;

	if (completion_is_yes_or_no(o))
		return 0;
	if (strcmp(o->flag, "--shell") == 0)
		return buffer_append_string(out, "\t--shell) _terse_words -c ;;\n");
	result = write_words(&words, o);
	if (result == 0 && words.len > 0)
		result = buffer_printf(out, "\t%s) _terse_words -W '%.*s' ;;\n", o->flag,
				       (int)words.len, words.data);
	else if (result == 0)
		result = buffer_printf(out, "\t%s) ;;\n", o->flag);
	buffer_release(&words);
	return result;
}

static int write_flag(struct buffer *out, const struct option *o)
{
	return buffer_printf(out, "%s %s%s", o->flag, o->negated ? o->negated : "",
			     o->negated ? " " : "");
}

int show_completion(struct buffer *out)
{
	if (buffer_append_string(out, begin) < 0)
		return -1;
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].flag && completion_write_value(out, &option_table[i]) < 0)
			return -1;
	}
	if (buffer_append_string(out, middle) < 0)
		return -1;
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].flag && write_flag(out, &option_table[i]) < 0)
			return -1;
	}
	for (size_t i = 0; i < option_shorthand_count; i++) {
		if (buffer_printf(out, "%s ", option_shorthands[i].flag) < 0)
			return -1;
	}
	return buffer_append_string(out, end);
}
