// Where settings come from and in which order. See load.h and settings_load() in option.h.

#include "config/load.h"

#include "config/assign.h"
#include "config/complaint.h"
#include "config/ini.h"
#include "config/nearest.h"
#include "config/profiles.h"
#include "config/project.h"

#include "supervisor/base/buffer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of every variable. */
#define PREFIX     "TERSE_"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

int settings_read_file(enum origin by, const char *path, struct buffer *text,
		       struct option_error *error)
{
	if (by == ORIGIN_PROJECT)
		return project_read(path, text, error);
	if (ini_read_file(path, text) == 0)
		return 0;
	if (errno == EFBIG) {
		complaint_write(&(struct complaint){.where = path, .reason = "larger than 1 MB"},
				error);
		errno = EINVAL;
	} else if (errno == EINVAL) {
		errno = EIO; /* the file system's, and there is nothing in *error */
	}
	return -1;
}

static int load_file(struct settings *s, enum origin by, const char *path,
		     struct option_error *error)
{
	struct buffer text = BUFFER_INIT;
	char *name = NULL;
	int result = settings_read_file(by, path, &text, error), failure;

	if (result < 0)
		goto out;
	name = strdup(path);
	result = name ? settings_load_text_by(s, by, path, text.data, text.len, error) : -1;
	if (result == 0) {
		free(s->files[by]);
		s->files[by] = name;
		name = NULL;
	}
out:
	failure = errno;
	buffer_release(&text);
	free(name);
	errno = failure;
	return result;
}

int settings_load_file(struct settings *s, const char *path, struct option_error *error)
{
	return load_file(s, ORIGIN_USER, path, error);
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
	for (size_t i = 0; i < sizeof(s->files) / sizeof(*s->files); i++) {
		free(s->files[i]);
		s->files[i] = NULL;
	}
	layer_free(s->profiles);
	layer_free(s->agents);
	s->profiles = s->agents = NULL;
}

/* Keeps the first of all errors. */
static void load_note(struct option_error *first, const struct complaint *c)
{
	if (*first->text == '\0')
		complaint_write(c, first);
}

/* Returns 0, or -1 when out of memory. */
static int load_if_there(struct settings *s, enum origin by, const char *path, bool named,
			 struct option_error *first)
{
	struct option_error error;

	/* Mostly it is not there, and asking for that is cheaper than opening. */
	if (!named && access(path, F_OK) < 0)
		return 0;
	if (load_file(s, by, path, &error) == 0)
		return 0;
	if (errno == ENOMEM)
		return -1;
	if (errno == EINVAL && *first->text == '\0') {
		*first = error;
		s->project_is_wrong = by == ORIGIN_PROJECT;
	} else if (errno != EINVAL && named)
		load_note(first, &(struct complaint){.where = "TERSE_CONFIG",
						     .value = path,
						     .reason = strerror(errno)});
	return 0;
}

const char *settings_user_file(char *room, bool *named)
{
	const char *config = getenv("TERSE_CONFIG"), *base = getenv("XDG_CONFIG_HOME");
	const char *below = "terse/terse.ini";

	*named = config != NULL;
	if (config)
		return *config == '\0' ? NULL : config;
	if (!base || *base != '/') {
		base = getenv("HOME");
		below = ".config/terse/terse.ini";
	}
	if (!base || *base != '/')
		return NULL;
	return snprintf(room, PATH_MAX, "%s/%s", base, below) < PATH_MAX ? room : NULL;
}

static int load_files(struct settings *s, const char *system_file, struct option_error *first)
{
	char path[PATH_MAX];
	const char *user_file;
	bool named;

	if (load_if_there(s, ORIGIN_SYSTEM, system_file, false, first) < 0)
		return -1;
	user_file = settings_user_file(path, &named);
	if (user_file && load_if_there(s, ORIGIN_USER, user_file, named, first) < 0)
		return -1;
	return project_find(path) ? load_if_there(s, ORIGIN_PROJECT, path, false, first) : 0;
}

/* Says which variable is meant by one that is none of terse's. */
static void note_unknown(struct option_error *first, const char *name, size_t len)
{
	static const char *const others[] = {
		"TERSE_HOME",         "TERSE_CONFIG",       "TERSE_ACTIVE",  "TERSE_SHIM_SHELL",
		"TERSE_SHIM_PROGRAM", "TERSE_SHIM_PRELOAD", "TERSE_BASH_ENV"};
	char word[64], reason[NEAREST_LEN];
	struct nearest n;

	if (len >= sizeof(word))
		return;
	memcpy(word, name, len);
	word[len] = '\0';
	nearest_init(&n, word + PREFIX_LEN);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		nearest_offer(&n, others[i] + PREFIX_LEN);
	for (size_t i = 0; i < option_count; i++)
		nearest_offer(&n, option_table[i].variable + PREFIX_LEN);
	if (!n.best || strcmp(n.best, n.word) == 0)
		return;
	nearest_reason(reason, "variable", n.best - PREFIX_LEN);
	load_note(first, &(struct complaint){.where = word, .reason = reason});
}

static int load_variables(struct settings *s, struct option_error *first)
{
	for (char **entry = environ; entry && *entry; entry++) {
		struct option_error error;
		const struct option *o;
		const char *value;

		if (strncmp(*entry, PREFIX, PREFIX_LEN) != 0)
			continue;
		value = strchr(*entry, '=');
		if (!value || value[1] == '\0')
			continue;
		o = option_by_variable(*entry, (size_t)(value - *entry));
		if (!o) {
			note_unknown(first, *entry, (size_t)(value - *entry));
			continue;
		}
		value++;
		if (option_set(s, o, value, &error) == 0) {
			*option_source(s, o) = (struct setting_source){.by = ORIGIN_VARIABLE};
			continue;
		}
		if (errno == ENOMEM)
			return -1;
		load_note(first, &(struct complaint){.where = o->variable,
						     .value = value,
						     .reason = error.text});
	}
	return 0;
}

int settings_load_after(struct settings *s, const char *system_file, struct option_error *error)
{
	*error->text = '\0';
	if (settings_init(s) < 0)
		return -1;
	if (load_files(s, system_file, error) < 0 || load_variables(s, error) < 0) {
		settings_release(s);
		errno = ENOMEM;
		return -1;
	}
	return 0;
}

int settings_load(struct settings *s, struct option_error *error)
{
	return settings_load_after(s, SETTINGS_SYSTEM_FILE, error);
}
