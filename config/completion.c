// The completion script for bash. See show_completion() in show.h.

#include "config/profiles.h"
#include "config/show.h"

#include "supervisor/base/buffer.h"

#include <string.h>

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
		if (completion_write_value(out, &option_table[i]) < 0)
			return -1;
	}
	if (buffer_append_string(out, middle) < 0)
		return -1;
	for (size_t i = 0; i < option_count; i++) {
		if (write_flag(out, &option_table[i]) < 0)
			return -1;
	}
	for (size_t i = 0; i < option_shorthand_count; i++) {
		if (buffer_printf(out, "%s ", option_shorthands[i].flag) < 0)
			return -1;
	}
	return buffer_append_string(out, end);
}
