// The sample terse.ini, written from the table. See option_write_sample() in option.h.

#include "config/assign.h"
#include "config/wrap.h"

#include "supervisor/base/buffer.h"

#include <string.h>

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
	if (buffer_printf(out, "# %s%s%s; %s; %s\n", option_range(o, range), *unit ? " " : "", unit,
			  o->flag, o->variable) < 0)
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
