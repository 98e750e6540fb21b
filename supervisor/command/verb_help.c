// terse help [VERB], which prints the verb's rows; terse version.

#include "config/option.h"
#include "lib/buffer.h"
#include "supervisor/command/verb.h"

#include <stdio.h>
#include <string.h>

const struct verb *verb_nearest(const char *word)
{
	struct nearest n;
	if (strlen(word) < 4)
		return NULL;
	nearest_init(&n, word);
	for (size_t i = 0; verbs[i]; i++) {
		if (verbs[i]->purpose)
			nearest_offer(&n, verbs[i]->name);
	}
	return n.best ? verb_named(n.best) : NULL;
}

static const char overview[] =
	"terse runs a command and prints what a person would have seen of it, in a few\n"
	"kilobytes. Longer output is kept on disk and can be read piece by piece.\n\n"
	"  terse COMMAND [ARG...]      run a command\n"
	"  terse 'cd x && make'        run a shell string\n"
	"  terse read ID --offset N    read more of what a run printed\n\nVerbs:\n";
static const char overview_end[] =
	"\nterse VERB --help prints more. `terse -- NAME` runs a command that has a verb's name.\n"
	"TERSE=0 in the environment switches terse off.\n";

int verb_print_help(const struct verb *v)
{
	struct buffer out = BUFFER_INIT;
	if (!v) {
		buffer_append_string(&out, overview);
		for (size_t i = 0; verbs[i]; i++) {
			if (verbs[i]->purpose)
				buffer_printf(&out, "  %-10s %s\n", verbs[i]->name,
					      verbs[i]->purpose);
		}
		buffer_append_string(&out, overview_end);
		return verb_print(NULL, &out);
	}
	const char *options = v->options || v->settings ? " [OPTIONS]" : "", *form = v->forms;
	do {
		size_t len = strcspn(form, "\n");
		buffer_append_string(&out, form == v->forms ? "Usage: terse " : "       terse ");
		buffer_printf(&out, v == verbs[0] ? "[%s]" : "%s", v->name);
		buffer_printf(&out, "%s%s%.*s\n", options, len ? " " : "", (int)len, form);
		form += len + (form[len] == '\n');
	} while (*form);
	buffer_printf(&out, "\n%s", v->text);
	for (const struct verb_option *o = v->options; o && o->name; o++) {
		if (o == v->options)
			buffer_append_string(&out, "\n");
		if (!o->help)
			continue;
		/* " -o, --output FILE", and its description beside it. */
		size_t start = out.len;
		buffer_append_string(&out, "  ");
		if (o->letter)
			buffer_printf(&out, "-%c, ", o->letter);
		buffer_printf(&out, o->value ? "%s %s" : "%s", o->name, o->value);
		option_print_beside(&out, start, o->help);
	}
	if (v->lists_settings)
		option_print_help(&out, v->settings);
	return verb_print(NULL, &out);
}

static int help_run(struct verb_call *c)
{
	const struct verb *v = c->argc > 1 ? verb_named(c->argv[1]) : NULL;
	if (c->argc < 2 || v)
		return verb_print_help(v);
	v = verb_nearest(c->argv[1]);
	return v ? verb_fail(c, ENVELOPE_USAGE, "%s: no such verb (did you mean %s?)", c->argv[1],
			     v->name)
		 : verb_fail(c, ENVELOPE_USAGE, "%s: no such verb (terse help lists them)",
			     c->argv[1]);
}

const struct verb verb_help = {
	.name = "help",
	.also = {"--help", "-h"},
	.purpose = "print this text, or what VERB does",
	.forms = "[VERB]",
	.text = "Prints the list of verbs, or what VERB does.\n",
	.run = help_run,
};

/* The commit that was built, from the Makefile; "" if it is not known. */
#ifndef TERSE_COMMIT
#define TERSE_COMMIT ""
#endif

static int version_run(struct verb_call *c)
{
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	printf("terse %s%s\n", TERSE_VERSION, *TERSE_COMMIT ? " (" TERSE_COMMIT ")" : "");
	return 0;
}

const struct verb verb_version = {
	.name = "version",
	.also = {"--version", "-V", "-v"},
	.purpose = "print the version",
	.forms = "",
	.text = "Prints the version and the commit it was built from.\n",
	.run = version_run,
};
