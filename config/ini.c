// An ini text as settings, all or nothing. See settings.h.
//
// inih asks a reader for one line at a time, and calls back for each line that gives a key a value.
// The reader here counts the lines, withholds those that inih would misread (they are longer than
// its buffer, or have a NUL byte or text after a section's name), and notices those that inih
// skipped (they are neither section, key nor comment).

#include "config/agents.h"
#include "config/error.h"
#include "config/option.h"
#include "config/profile.h"
#include "lib/buffer.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of sections with a name of their own. */
static const struct section_form *const named_sections[] = {&profiles_form, &rules_form};

/* A text is read twice: into empty settings, to find its errors, and then into the caller's
   settings. */
struct load {
	struct settings *s;
	enum origin by;
	const char *path;
	const char *next, *end; /* the part of the text that is still to be read */

	unsigned number;  /* of inih's line, from 1 ... */
	const char *text; /* ... the text of that line, without blanks around it */
	size_t len;
	const char *section, *key; /* of that line, while it is looked at; else NULL */
	bool keyed;                /* the section has a key, so an indented line continues it */
	bool more;                 /* inih's line continues a key */
	bool due; /* inih must call load_pair() for its line, or the line is malformed */

	bool skips;                      /* the section is bad: its lines are skipped */
	const struct section_form *form; /* of a section with a name of its own; NULL: of options */
	const struct option *current;    /* the option that an indented line continues; else NULL */
	size_t entries;                  /* of sections with a name of their own */

	struct option_error *error; /* the first one goes here, unless NULL */
	int errors;
	bool failed;             /* no memory */
	struct buffer *messages; /* each error goes here, unless NULL */
};

/* Notes an error; returns -1. */
static int load_complain(struct load *l, const char *value, const char *reason)
{
	const struct config_error c = {
		.where = l->path,
		.line = l->number,
		.section = l->section && *l->section == '\0' && l->key ? NULL : l->section,
		.key = l->key,
		.value = value,
		.reason = reason,
	};
	struct option_error error;
	config_error_write(&c, &error);
	if (l->errors++ == 0 && l->error)
		*l->error = error;
	if (l->messages)
		buffer_printf(l->messages, "%s\n", error.text);
	return -1;
}

/* Adds an entry to the sections of the form; copies its text, not its key. */
static void load_add(struct load *l, struct section_entry entry)
{
	struct sections *read = (void *)((char *)l->s + l->form->offset);
	if (++l->entries > SECTION_LINES_MAX) {
		load_complain(l, NULL, "more than 1,000 lines of such sections");
		return;
	}
	char *text = entry.text ? strdup(entry.text) : NULL;
	struct section_entry *added = NULL;
	if (text || !entry.text)
		added = array_add(&read->entries, &read->count, &read->room, sizeof(*added));
	if (!added) {
		free(text);
		l->failed = true;
		return;
	}
	*added = entry;
	added->by = l->by;
	added->line = l->number;
	added->text = text;
}

static const char not_allowed[] = "not allowed in a project's file";

/* Finds the key of a section of the form: one of its lists, or a numeric option of a run. */
static const struct option *load_named_key(const struct section_form *form, const char *key)
{
	static const char *const sections[] = {"run", "terminal", "report", "preview", "spill"};
	for (const struct option *o = form->keys; o->key; o++) {
		if (strcmp(o->key, key) == 0)
			return o;
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		const struct option *o = option_by_key(sections[i], key);
		if (o && option_is_number(o))
			return o;
	}
	return form->shim && strcmp(form->shim, key) == 0 ? option_by_key("shim", key) : NULL;
}

static int load_unknown(struct load *l)
{
	char reason[NEAREST_LEN], what[32];
	struct nearest n;
	nearest_init(&n, l->key ? l->key : l->section);
	for (const struct option *o = l->form ? l->form->keys : NULL; o && o->key; o++)
		nearest_offer(&n, o->key);
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		bool here = l->form ? load_named_key(l->form, o->key) == o
				    : strcmp(o->section, l->section) == 0;
		if (!l->key || here) {
			nearest_offer(&n, l->key ? o->key : o->section);
		} else if (!l->form && strcmp(o->key, l->key) == 0) {
			snprintf(reason, sizeof(reason), "no such key (did you mean [%s] %s?)",
				 o->section, o->key);
			return load_complain(l, NULL, reason);
		}
	}
	snprintf(what, sizeof(what), "%s%s%s", l->key ? "key" : "section", l->form ? " of " : "",
		 l->form ? l->form->what : "");
	return load_complain(l, NULL, nearest_reason(reason, what, n.best));
}

static int load_section(struct load *l)
{
	l->form = NULL;
	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, l->section) == 0)
			return 0;
	}
	for (size_t i = 0; i < sizeof(named_sections) / sizeof(*named_sections); i++) {
		const struct section_form *form = named_sections[i];
		size_t len = strlen(form->word);
		if (strncmp(l->section, form->word, len) != 0 || !strchr(" \t", l->section[len]))
			continue;
		const char *name = l->section + len + strspn(l->section + len, " \t");
		const char *reason = section_refuse_name(name);
		/* Commands of PROFILE_TERSE may print terse's own notices, so a project may not add
		   commands to it. */
		if (l->by == ORIGIN_PROJECT &&
		    (!form->in_project || strcmp(name, PROFILE_TERSE) == 0))
			reason = not_allowed;
		if (reason)
			return load_complain(l, NULL, reason);
		l->form = form;
		load_add(l, (struct section_entry){.kind = SECTION_NAME, .text = name});
		return 0;
	}
	return load_unknown(l);
}

/* Sets the current option, or adds to it. */
static void load_value(struct load *l, const char *value)
{
	const struct option *o = l->current;
	const bool is_number = option_is_number(o);
	char room[VALUE_LEN + sizeof(not_allowed) + 8], least[VALUE_LEN];
	const char *reason = NULL;
	struct option_error error = {""};
	int64_t number = 0;
	int result = 0;
	if (l->more && o->type != OPTION_LIST)
		reason = "an indented line adds to a list, and this takes one value";
	else if (is_number)
		result = option_parse(o, value, &number, &error);
	else if (l->form)
		reason = *value ? o->refuse(value) : NULL;
	else if (l->more)
		result = option_append(l->s, o, value, &error);
	else
		result = option_set(l->s, o, value, &error);
	if (result < 0 && errno != EINVAL) {
		l->failed = true;
		return;
	}
	if (result < 0) {
		reason = error.text;
	} else if (!reason && is_number && l->by == ORIGIN_PROJECT) {
		/* A project's file may let previews show more than `project_least`, but not
		   less. */
		if (o->project_never && strcmp(o->choices[number], o->project_never) == 0) {
			reason = not_allowed;
		} else if (number < o->project_least && !o->project_never &&
			   (number != 0 || (!o->or_zero && o->min != 0))) {
			snprintf(room, sizeof(room), "under %s: %s",
				 option_number_text(o, o->project_least, least), not_allowed);
			reason = room;
		}
	}
	if (reason)
		load_complain(l, value, reason);
	else if (is_number && !l->form)
		*option_number(l->s, o) = number;
	else if (is_number)
		load_add(l, (struct section_entry){
				    .kind = SECTION_VALUE, .offset = o->offset, .value = number});
	else if (l->form && (*value || !l->form->adds))
		load_add(l, (struct section_entry){
				    .kind = SECTION_TEXT, .key = o->key, .text = value});
}

static void load_key(struct load *l, const char *value)
{
	if (*l->section == '\0') {
		load_complain(l, NULL, "a key before the first [section]");
		return;
	}
	l->current = l->form ? load_named_key(l->form, l->key) : option_by_key(l->section, l->key);
	if (!l->current) {
		load_unknown(l);
	} else if (l->by == ORIGIN_PROJECT && !l->current->project_least) {
		load_complain(l, NULL, not_allowed);
		l->current = NULL;
	} else {
		if (!l->form)
			*option_source(l->s, l->current) =
				(struct setting_source){.by = l->by, .line = l->number};
		load_value(l, value);
	}
}

/* --- lines ------------------------------------------------------------------------- */

static void load_malformed(struct load *l, const char *reason)
{
	char shown[128];
	snprintf(shown, sizeof(shown), "%.*s", (int)l->len, l->text);
	l->current = NULL;
	l->skips |= *shown == '[';
	load_complain(l, shown, reason);
}

/* inih's reader: like fgets(), but without the newline. inih gets an empty line in place of one
   that it must not see. A line never fills the room: inih 56 would take it for the start of a
   longer one, and skip the next line. */
static char *load_line(char *out, int room, void *stream)
{
	struct load *l = stream;
	if (l->due)
		load_malformed(l, "neither [section] nor key = value");
	l->due = false;
	*out = '\0';
	if (l->next == l->end)
		return NULL;
	const char *line = l->next, *newline = memchr(line, '\n', (size_t)(l->end - line));
	const char *start = line, *end = newline ? newline : l->end, *wrong = NULL;
	l->next = newline ? newline + 1 : end;
	l->number++;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	if (l->number == 1 && end - line >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0)
		start += 3;
	while (start < end && isspace((unsigned char)*start))
		start++;
	l->text = start;
	l->len = (size_t)(end - start);
	bool comment = start == end || *start == '#' || *start == ';';
	l->more = l->keyed && start > line;
	const char *close = NULL;
	if (memchr(start, '\0', l->len)) {
		wrong = "a NUL byte; is this a text file?";
	} else if (comment) {
		return out;
	} else if (end - line > room - 2) {
		wrong = "a line has at most 198 bytes; more values go on indented lines below";
	} else if (*start == '[' && !l->more) {
		close = memchr(start, ']', l->len);
		const char *behind = close ? close + 1 : start;
		while (behind < end && isspace((unsigned char)*behind))
			behind++;
		if (behind < end && *behind != ';' && *behind != '#')
			wrong = "a section is [NAME] on a line of its own";
	}
	if (wrong) {
		load_malformed(l, wrong);
		return out;
	}
	if (close) {
		char name[256];
		snprintf(name, sizeof(name), "%.*s", (int)(close - start - 1), start + 1);
		l->section = name;
		l->current = NULL;
		l->skips = load_section(l) < 0;
		l->section = NULL;
		l->keyed = false;
	} else {
		l->due = true;
		/* inih 55 does not remove comments from continuation lines. */
		for (const char *p = start + 1; l->more && p < end; p++) {
			if (*p == ';' && isspace((unsigned char)p[-1]))
				end = p;
		}
	}
	memcpy(out, line, (size_t)(end - line));
	out[end - line] = '\0';
	return out;
}

/* inih's handler. */
static int load_pair(void *ctx, const char *section, const char *key, const char *value)
{
	struct load *l = ctx;
	l->keyed = *key != '\0';
	l->due = !l->keyed;
	l->section = section;
	l->key = key;
	if (l->keyed && !l->more) {
		l->current = NULL;
		if (!l->skips)
			load_key(l, value);
	} else if (l->keyed && l->current) {
		load_value(l, value);
	}
	l->section = l->key = NULL;
	return 1;
}

int settings_check_text(enum origin by, const char *path, const char *text, size_t len,
			struct buffer *messages, struct option_error *error)
{
	struct settings s = {0};
	struct load l = {.s = &s,
			 .by = by,
			 .path = path,
			 .next = text,
			 .end = text + len,
			 .error = error,
			 .messages = messages};
	ini_parse_stream(load_line, &l, load_pair, &l);
	settings_release(&s);
	if (!l.failed)
		return l.errors;
	errno = ENOMEM;
	return -1;
}

int settings_load_text(struct settings *s, enum origin by, const char *path, const char *text,
		       size_t len, struct option_error *error)
{
	struct load l = {.s = s, .by = by, .path = path, .next = text, .end = text + len};
	int errors = settings_check_text(by, path, text, len, NULL, error);
	if (errors == 0)
		ini_parse_stream(load_line, &l, load_pair, &l);
	errno = errors > 0 ? EINVAL : ENOMEM;
	return errors == 0 && !l.failed ? 0 : -1;
}
