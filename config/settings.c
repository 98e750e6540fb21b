// See settings.h.

#include "config/settings.h"

#include "config/agents.h"
#include "config/error.h"
#include "config/option.h"
#include "config/profile.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the directory path[0..len) has an entry `name`, whose path it leaves in `path`. */
static bool project_has(char *path, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	if (len + name_len + 2 > PATH_MAX)
		return false;
	if (len == 0 || path[len - 1] != '/')
		path[len++] = '/';
	memcpy(path + len, name, name_len + 1);
	return access(path, F_OK) == 0;
}

bool project_find(char *path)
{
	char probe[PATH_MAX];
	size_t len, found = 0;
	if (!getcwd(probe, sizeof(probe)) || *probe != '/')
		return false;
	len = strlen(probe);
	if (project_has(probe, len, PROJECT_FILE)) {
		memcpy(path, probe, strlen(probe) + 1);
		return true;
	}
	for (;;) {
		if (project_has(probe, len, ".git"))
			break;
		if (len <= 1)
			return false;
		while (len > 1 && probe[len - 1] != '/')
			len--;
		while (len > 1 && probe[len - 1] == '/')
			len--;
		if (found == 0 && project_has(probe, len, PROJECT_FILE)) {
			found = len;
			memcpy(path, probe, strlen(probe) + 1);
		}
	}
	return found > 0;
}

/* --- reading a file ------------------------------------------------------------------ */

/* Larger files are refused. */
#define FILE_MAX ((size_t)1 << 20)

static int settings_refuse_file(const char *path, const char *reason, struct option_error *error)
{
	config_error_write(&(struct config_error){.where = path, .reason = reason}, error);
	errno = EINVAL;
	return -1;
}

static int project_check(int fd, const char *path, struct option_error *error)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return settings_refuse_file(path, "not read: not a plain file", error);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return settings_refuse_file(path, "not read: it belongs to another user", error);
	if (st.st_mode & S_IWOTH)
		return settings_refuse_file(path, "not read: everybody can write to it", error);
	return 0;
}

static int read_descriptor(int fd, const char *path, struct buffer *text,
			   struct option_error *error)
{
	size_t start = text->len;
	ssize_t n;
	do {
		if (buffer_reserve(text, 4096) < 0)
			return -1;
		n = read(fd, text->data + text->len, text->cap - text->len);
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0)
			text->len += (size_t)n;
		if (text->len - start > FILE_MAX)
			return settings_refuse_file(path, "larger than 1 MB", error);
	} while (n != 0);
	return 0;
}

int settings_read_file(enum origin by, const char *path, struct buffer *text,
		       struct option_error *error)
{
	bool project = by == ORIGIN_PROJECT;
	*error->text = '\0';
	int fd = open(path,
		      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (project ? O_NOFOLLOW : 0));
	if (fd < 0 && project && errno == ELOOP)
		return settings_refuse_file(path, "not read: a symbolic link", error);
	int result = fd < 0 ? -1 : 0;
	if (result == 0 && project)
		result = project_check(fd, path, error);
	if (result == 0)
		result = read_descriptor(fd, path, text, error);
	/* The file system's own EINVAL has no message. */
	if (result < 0 && errno == EINVAL && *error->text == '\0')
		errno = EIO;
	io_close(&fd);
	return result;
}

/* --- flags ------------------------------------------------------------------------- */

/* The value in "FLAG=VALUE", the end of "FLAG", or NULL if `arg` is neither. */
static const char *flag_match(const char *arg, const char *flag)
{
	size_t len = strlen(flag);
	if (strncmp(arg, flag, len) != 0)
		return NULL;
	if (arg[len] == '=')
		return arg + len + 1;
	return arg[len] == '\0' ? arg + len : NULL;
}

/* A flag on the command line. */
struct found {
	const struct option *option;
	const char *flag;
	const char *word;  /* its value if none is given; NULL: one must be */
	bool fixed;        /* takes no value */
	const char *value; /* behind '=', or the end of the argument */
};

static bool find_flag(const char *arg, struct found *f)
{
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		*f = (struct found){.option = o, .flag = o->flag};
		f->word = option_is_switch(o) ? "yes" : NULL;
		f->value = o->flag ? flag_match(arg, o->flag) : NULL;
		if (f->value)
			return true;
		*f = (struct found){.option = o, .flag = o->negated, .word = "no", .fixed = true};
		f->value = o->negated ? flag_match(arg, o->negated) : NULL;
		if (f->value)
			return true;
	}
	for (size_t i = 0; i < option_shorthand_count; i++) {
		const struct option_shorthand *h = &option_shorthands[i];
		*f = (struct found){.option = option_by_key(h->section, h->key),
				    .flag = h->flag,
				    .word = h->value,
				    .fixed = true,
				    .value = flag_match(arg, h->flag)};
		if (f->value)
			return true;
	}
	return false;
}

static int flag_complain(const struct found *f, const char *value, const char *reason,
			 struct option_error *error)
{
	config_error_write(
		&(struct config_error){.where = f->flag, .value = value, .reason = reason}, error);
	errno = EINVAL;
	return -1;
}

int settings_take_flag(struct settings *s, int argc, char *const argv[], int *index,
		       struct option_error *error)
{
	struct found f;
	bool attached;
	int taken = 1, result;
	if (*index >= argc || strncmp(argv[*index], "--", 2) != 0 || !find_flag(argv[*index], &f))
		return 0;
	attached = f.value[-1] == '=';
	if (attached && f.fixed)
		return flag_complain(&f, f.value, "takes no value", error);
	if (!attached && f.word) {
		f.value = f.word;
	} else if (!attached) {
		if (*index + 1 >= argc) {
			char range[RANGE_LEN], reason[RANGE_LEN + 32];
			snprintf(reason, sizeof(reason), "needs a value (%s)",
				 option_range(f.option, range));
			return flag_complain(&f, NULL, reason, error);
		}
		f.value = argv[*index + 1];
		taken = 2;
	}
	result = f.option->type == OPTION_LIST ? option_append(s, f.option, f.value, error)
					       : option_set(s, f.option, f.value, error);
	if (result < 0)
		return errno == EINVAL ? flag_complain(&f, f.value, error->text, error) : -1;
	*option_source(s, f.option) = (struct setting_source){.by = ORIGIN_FLAG};
	*index += taken;
	return 1;
}

/* --- sources in their order ---------------------------------------------------------- */

/* Every variable begins with it. */
#define PREFIX     "TERSE_"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

static int load_file(struct settings *s, enum origin by, const char *path,
		     struct option_error *error)
{
	struct buffer text = BUFFER_INIT;
	char *name = strdup(path);
	int result = name ? settings_read_file(by, path, &text, error) : -1;
	if (result == 0)
		result = settings_load_text_by(s, by, path, text.data, text.len, error);
	if (result == 0) {
		free(s->files[by]);
		s->files[by] = name;
		name = NULL;
	}
	int failure = errno;
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
	layer_free(s->profiles, &profiles_builtin);
	layer_free(s->agents, &rules_builtin);
	s->profiles = s->agents = NULL;
}

/* Keeps the first error. */
static void load_note(struct option_error *first, const struct config_error *c)
{
	if (*first->text == '\0')
		config_error_write(c, first);
}

/* Returns 0, or -1 when out of memory. */
static int load_if_there(struct settings *s, enum origin by, const char *path, bool named,
			 struct option_error *first)
{
	struct option_error error;
	/* Few files exist, and access() is cheaper than open(). */
	if (!named && access(path, F_OK) < 0)
		return 0;
	int result = load_file(s, by, path, &error);
	TRACE(CONFIG, "file %s: %s", path, result == 0 ? "read" : strerror(errno));
	if (result == 0)
		return 0;
	if (errno == ENOMEM)
		return -1;
	if (errno == EINVAL && *first->text == '\0') {
		*first = error;
		s->project_is_wrong = by == ORIGIN_PROJECT;
	} else if (errno != EINVAL && named)
		load_note(first, &(struct config_error){.where = "TERSE_CONFIG",
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

/* Reports a variable that is probably a misspelled one of terse's. */
static void note_unknown(struct option_error *first, const char *name, size_t len)
{
	static const char *const others[] = {
		"TERSE_HOME",         "TERSE_CONFIG",       "TERSE_ACTIVE",   "TERSE_SHIM_SHELL",
		"TERSE_SHIM_PROGRAM", "TERSE_SHIM_PRELOAD", "TERSE_BASH_ENV", "TERSE_DEBUG",
		"TERSE_AGENT",        "TERSE_PROBE"};
	char word[64], reason[NEAREST_LEN];
	struct nearest n;
	if (len >= sizeof(word))
		return;
	memcpy(word, name, len);
	word[len] = '\0';
	nearest_init(&n, word + PREFIX_LEN);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		nearest_offer(&n, others[i] + PREFIX_LEN);
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].variable)
			nearest_offer(&n, option_table[i].variable + PREFIX_LEN);
	}
	if (!n.best || strcmp(n.best, n.word) == 0)
		return;
	nearest_reason(reason, "variable", n.best - PREFIX_LEN);
	load_note(first, &(struct config_error){.where = word, .reason = reason});
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
			TRACE(CONFIG, "variable %s", o->variable);
			*option_source(s, o) = (struct setting_source){.by = ORIGIN_VARIABLE};
			continue;
		}
		if (errno == ENOMEM)
			return -1;
		load_note(first, &(struct config_error){.where = o->variable,
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
