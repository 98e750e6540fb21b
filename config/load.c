// Where settings come from and in which order. See load.h and settings_load() in option.h.

#include "config/load.h"

#include "config/assign.h"
#include "config/complaint.h"
#include "config/ini.h"
#include "config/nearest.h"

#include "supervisor/base/buffer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One file on its way into the settings. `now` starts as a plain copy of `base` and borrows its
   strings; options with a line in the file have their own ones there. */
struct load {
	struct settings *base;
	struct settings now;
	unsigned lines[OPTION_LIMIT]; /* where the file sets the option; 0: it does not */
	const char *path;
	const struct option *current; /* what an indented line goes on with */
	struct option_error *error;
	int failure; /* errno, 0 while all is well */
};

static int fail(struct load *l, int failure)
{
	l->failure = failure;
	return -1;
}

static int complain(struct load *l, const struct ini_line *line, const char *value,
		    const char *reason)
{
	bool nowhere = line->key && *line->section == '\0';
	const struct complaint c = {
		.where = l->path,
		.line = line->number,
		.section = nowhere ? NULL : line->section,
		.key = line->key,
		.value = value,
		.reason = reason,
	};

	complaint_write(&c, l->error);
	return fail(l, EINVAL);
}

static int unknown_section(struct load *l, const struct ini_line *line)
{
	char reason[96] = "no such section";
	struct nearest n;

	nearest_init(&n, line->section);
	for (size_t i = 0; i < option_count; i++)
		nearest_offer(&n, option_table[i].section);
	if (n.best)
		snprintf(reason, sizeof(reason), "no such section (did you mean %s?)", n.best);
	return complain(l, line, NULL, reason);
}

static int unknown_key(struct load *l, const struct ini_line *line)
{
	char reason[96] = "no such key";
	struct nearest n;

	nearest_init(&n, line->key);
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (strcmp(o->section, line->section) == 0) {
			nearest_offer(&n, o->key);
		} else if (strcmp(o->key, line->key) == 0) {
			snprintf(reason, sizeof(reason), "no such key (did you mean [%s] %s?)",
				 o->section, o->key);
			return complain(l, line, NULL, reason);
		}
	}
	if (n.best)
		snprintf(reason, sizeof(reason), "no such key (did you mean %s?)", n.best);
	return complain(l, line, NULL, reason);
}

/* After option_set() or option_append(): explains what they refused. */
static int check(struct load *l, const struct ini_line *line, int result)
{
	if (result == 0)
		return 0;
	return errno == EINVAL ? complain(l, line, line->value, l->error->text) : fail(l, errno);
}

static int load_key(struct load *l, const struct ini_line *line)
{
	const struct option *o = option_by_key(line->section, line->key);
	unsigned *first;

	if (*line->section == '\0')
		return complain(l, line, NULL, "a key before the first [section]");
	if (!o)
		return unknown_key(l, line);
	first = &l->lines[o - option_table];
	if (*first != 0) {
		char reason[64];

		snprintf(reason, sizeof(reason), "already set on line %u", *first);
		return complain(l, line, NULL, reason);
	}
	*first = line->number;
	l->current = o;
	option_disown(&l->now, o);
	return check(l, line, option_set(&l->now, o, line->value, l->error));
}

static int load_more(struct load *l, const struct ini_line *line)
{
	if (l->current->type != OPTION_LIST)
		return complain(l, line, line->value,
				"an indented line adds to a list, and this takes one value");
	return check(l, line, option_append(&l->now, l->current, line->value, l->error));
}

static int load_line(void *ctx, const struct ini_line *line)
{
	struct load *l = ctx;

	switch (line->kind) {
	case INI_SECTION: return option_has_section(line->section) ? 0 : unknown_section(l, line);
	case INI_KEY: return load_key(l, line);
	case INI_MORE: return load_more(l, line);
	case INI_MALFORMED: break;
	}
	return complain(l, line, line->value, line->reason);
}

int settings_load_text(struct settings *s, const char *path, const char *text, size_t len,
		       struct option_error *error)
{
	struct load l = {.base = s, .now = *s, .path = path, .error = error};

	ini_visit(text, len, load_line, &l);
	for (size_t i = 0; i < option_count; i++) {
		if (l.lines[i] != 0)
			option_clear(l.failure ? &l.now : s, &option_table[i]);
	}
	if (l.failure) {
		errno = l.failure;
		return -1;
	}
	*s = l.now;
	return 0;
}

int settings_load_file(struct settings *s, const char *path, struct option_error *error)
{
	struct buffer text = BUFFER_INIT;
	int result = ini_read_file(path, &text), failure;

	if (result == 0) {
		result = settings_load_text(s, path, text.data, text.len, error);
	} else if (errno == EFBIG) {
		complaint_write(&(struct complaint){.where = path, .reason = "larger than 1 MB"},
				error);
		errno = EINVAL;
	} else if (errno == EINVAL) {
		errno = EIO; /* the file system's, and there is nothing in *error */
	}
	failure = errno;
	buffer_release(&text);
	errno = failure;
	return result;
}

int settings_init(struct settings *s)
{
	struct option_error error;

	*s = (struct settings){0};
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (o->preset && option_set(s, o, o->preset, &error) < 0) {
			settings_release(s);
			return -1;
		}
	}
	return 0;
}

void settings_release(struct settings *s)
{
	for (size_t i = 0; i < option_count; i++)
		option_clear(s, &option_table[i]);
}

/* Keeps the first of all errors. */
static void note(struct option_error *first, const struct complaint *c)
{
	if (*first->text == '\0')
		complaint_write(c, first);
}

/* Returns 0, or -1 when out of memory. */
static int load_if_there(struct settings *s, const char *path, bool named,
			 struct option_error *first)
{
	struct option_error error;

	if (settings_load_file(s, path, &error) == 0)
		return 0;
	if (errno == ENOMEM)
		return -1;
	if (errno == EINVAL && *first->text == '\0')
		*first = error;
	else if (errno != EINVAL && named)
		note(first, &(struct complaint){.where = "TERSE_CONFIG",
						.value = path,
						.reason = strerror(errno)});
	return 0;
}

static int load_user_file(struct settings *s, struct option_error *first)
{
	const char *named = getenv("TERSE_CONFIG"), *base = getenv("XDG_CONFIG_HOME");
	const char *below = "terse/terse.ini";
	char path[PATH_MAX];
	int n;

	if (named)
		return *named == '\0' ? 0 : load_if_there(s, named, true, first);
	if (!base || *base != '/') {
		base = getenv("HOME");
		below = ".config/terse/terse.ini";
	}
	if (!base || *base != '/')
		return 0;
	n = snprintf(path, sizeof(path), "%s/%s", base, below);
	return n < (int)sizeof(path) ? load_if_there(s, path, false, first) : 0;
}

static int load_variables(struct settings *s, struct option_error *first)
{
	for (char **entry = environ; entry && *entry; entry++) {
		struct option_error error;
		const struct option *o;
		const char *value;

		if (strncmp(*entry, "TERSE_", 6) != 0)
			continue;
		value = strchr(*entry, '=');
		if (!value || value[1] == '\0')
			continue;
		o = option_by_variable(*entry, (size_t)(value - *entry));
		value++;
		if (!o || option_set(s, o, value, &error) == 0)
			continue;
		if (errno == ENOMEM)
			return -1;
		note(first, &(struct complaint){
				    .where = o->variable, .value = value, .reason = error.text});
	}
	return 0;
}

int settings_load_after(struct settings *s, const char *system_file, struct option_error *error)
{
	*error->text = '\0';
	if (settings_init(s) < 0)
		return -1;
	if (load_if_there(s, system_file, false, error) < 0 || load_user_file(s, error) < 0 ||
	    load_variables(s, error) < 0) {
		settings_release(s);
		errno = ENOMEM;
		return -1;
	}
	return 0;
}

int settings_load(struct settings *s, struct option_error *error)
{
	return settings_load_after(s, "/etc/terse.ini", error);
}
