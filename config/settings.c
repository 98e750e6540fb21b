// See settings.h.

#include "config/settings.h"

#include "config/agents.h"
#include "config/error.h"
#include "config/ini.h"
#include "config/option.h"
#include "config/profile.h"
#include "config/words.h"
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

bool project_find(char *path)
{
	static const char file[] = "/" PROJECT_FILE, git[] = "/.git";
	char probe[PATH_MAX + sizeof(file)];
	bool found = false, here = true;
	if (!getcwd(probe, PATH_MAX) || *probe != '/')
		return false;
	for (size_t len = strlen(probe);; len--, here = false) {
		/* Without the slash behind it, so none of the root is left. */
		while (len > 0 && probe[len - 1] == '/')
			len--;
		memcpy(probe + len, file, sizeof(file));
		if (!found && len + sizeof(file) <= PATH_MAX && access(probe, F_OK) == 0) {
			found = true;
			memcpy(path, probe, len + sizeof(file));
			if (here)
				return true;
		}
		memcpy(probe + len, git, sizeof(git));
		if (access(probe, F_OK) == 0)
			return found;
		while (len > 0 && probe[len - 1] != '/')
			len--;
		if (len == 0)
			return false;
	}
}

/* --- one ini text, all or nothing ------------------------------------------------------ */

/* The kinds of sections with a name of their own. */
static const struct layer_form *const named_sections[] = {&profiles_form, &rules_form};

enum { NAMED = sizeof(named_sections) / sizeof(*named_sections) };

/* A text is read twice: into empty settings, where it shows its errors, and then into those that it
   is for. */
struct load {
	struct settings *s;
	unsigned lines[OPTION_LIMIT]; /* where the text sets each option; 0: nowhere */
	struct layer *layers[NAMED];  /* what the text defines; the settings own it */
	enum { NO_SECTION, BAD_SECTION, OPTIONS, NAMED_SECTION } section;
	size_t kind;                        /* of a NAMED_SECTION ... */
	const char *name;                   /* ... and its name, in the layer */
	unsigned key_lines[LAYER_KEYS_MAX]; /* where it sets each of its own keys; 0: nowhere */
	const struct option *current;       /* that an indented line continues ... */
	const struct layer_key *key;        /* ... or the section's own key; else NULL */
	enum origin by;
	const char *path;
	struct option_error *error;
	int failure; /* errno, 0 while all is well */
	int errors;
	bool all;                /* goes on after an error, and ... */
	struct buffer *messages; /* ... notes each here, unless NULL */
};

static int load_complain(struct load *l, const struct ini_line *line, const char *value,
			 const char *reason)
{
	bool nowhere = line->key && *line->section == '\0';
	const struct config_error c = {
		.where = l->path,
		.line = line->number,
		.section = nowhere ? NULL : line->section,
		.key = line->key,
		.value = value,
		.reason = reason,
	};
	config_error_write(&c, l->error);
	l->errors++;
	l->failure = EINVAL;
	if (l->messages)
		buffer_printf(l->messages, "%s\n", l->error->text);
	return l->all ? 0 : -1;
}

/* The same for an error of the value, which l->error tells, or of memory. */
static int load_fail(struct load *l, const struct ini_line *line)
{
	if (errno == EINVAL)
		return load_complain(l, line, line->value, l->error->text);
	l->failure = errno;
	return -1;
}

/* Adds an entry to the layer of the current kind of section; copies its text, not its key. */
static int load_add(struct load *l, const struct ini_line *line, struct layer_entry entry)
{
	struct layer *layer = l->layers[l->kind];
	char *text = entry.text ? strdup(entry.text) : NULL;
	if (entry.text && !text)
		return load_fail(l, line);
	if (layer->count == LAYER_LINES_MAX) {
		free(text);
		return load_complain(l, line, NULL, "more than 1,000 lines of such sections");
	}
	struct layer_entry *added =
		array_add(&layer->entries, &layer->count, &layer->room, sizeof(*added));
	if (!added) {
		free(text);
		return load_fail(l, line);
	}
	*added = entry;
	added->line = line->number;
	added->text = text;
	return 0;
}

static const char unsafe[] = "not allowed in a project's file";

/* The option that a key of [profile NAME] or [agent NAME] sets: one that is about a run, and holds
   a number. */
static const struct option *load_named_option(const char *key)
{
	static const char *const sections[] = {"run", "terminal", "report", "preview", "spill"};
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (!option_is_number(o) || strcmp(o->key, key) != 0)
			continue;
		for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
			if (strcmp(sections[i], o->section) == 0)
				return o;
		}
	}
	return NULL;
}

/* Complains of a section or a key that is not known. */
static int load_unknown(struct load *l, const struct ini_line *line)
{
	const struct layer_form *named =
		l->section == NAMED_SECTION ? named_sections[l->kind] : NULL;
	char reason[NEAREST_LEN], what[32];
	struct nearest n;
	nearest_init(&n, line->key ? line->key : line->section);
	for (const struct layer_key *k = named ? named->keys : NULL; k && k->name; k++)
		nearest_offer(&n, k->name);
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		bool here = named ? load_named_option(o->key) == o
				  : strcmp(o->section, line->section) == 0;
		if (!line->key || here) {
			nearest_offer(&n, line->key ? o->key : o->section);
		} else if (!named && strcmp(o->key, line->key) == 0) {
			snprintf(reason, sizeof(reason), "no such key (did you mean [%s] %s?)",
				 o->section, o->key);
			return load_complain(l, line, NULL, reason);
		}
	}
	snprintf(what, sizeof(what), "%s%s%s", line->key ? "key" : "section", named ? " of " : "",
		 named ? named->what : "");
	return load_complain(l, line, NULL, nearest_reason(reason, what, n.best));
}

static int load_section(struct load *l, const struct ini_line *line)
{
	size_t kind = 0, len = 0;
	l->section = BAD_SECTION;
	memset(l->key_lines, 0, sizeof(l->key_lines));
	for (; kind < NAMED; kind++) {
		const char *word = named_sections[kind]->word;
		len = strlen(word);
		if (strncmp(line->section, word, len) == 0 && strchr(" \t", line->section[len]))
			break;
	}
	if (kind == NAMED) {
		for (size_t i = 0; i < option_count; i++) {
			if (strcmp(option_table[i].section, line->section) == 0)
				l->section = OPTIONS;
		}
		return l->section == OPTIONS ? 0 : load_unknown(l, line);
	}
	const struct layer_form *named = named_sections[kind];
	const char *name = line->section + len + strspn(line->section + len, " \t");
	const char *reason = layer_refuse_name(name);
	/* What has the profile of terse's own commands may print notices. */
	if (l->by == ORIGIN_PROJECT && (!named->safe || strcmp(name, PROFILE_TERSE) == 0))
		reason = unsafe;
	if (reason)
		return load_complain(l, line, NULL, reason);
	struct layer *layer = l->layers[kind];
	if (!layer) {
		struct layer **top = (struct layer **)(void *)((char *)l->s + named->offset);
		layer = malloc(sizeof(*layer));
		if (!layer)
			return load_fail(l, line);
		*layer = (struct layer){.by = l->by, .below = *top ? *top : named->builtin};
		*top = l->layers[kind] = layer;
	}
	l->section = NAMED_SECTION;
	l->kind = kind;
	size_t count = layer->count;
	int result = load_add(l, line, (struct layer_entry){.kind = LAYER_NAME, .text = name});
	if (layer->count > count)
		l->name = layer->entries[count].text;
	return result;
}

/* Loads one item of the section's own key. */
static int load_item(struct load *l, const struct ini_line *line)
{
	const char *reason = *line->value ? l->key->refuse(line->value) : NULL;
	if (*line->value == '\0' && l->key->adds)
		return 0;
	if (reason)
		return load_complain(l, line, line->value, reason);
	return load_add(
		l, line,
		(struct layer_entry){.kind = LAYER_TEXT, .key = l->key->name, .text = line->value});
}

static int load_key(struct load *l, const struct ini_line *line)
{
	char reason[VALUE_LEN + sizeof(unsafe)], least[VALUE_LEN];
	bool named = l->section == NAMED_SECTION;
	const struct layer_key *key = named ? named_sections[l->kind]->keys : NULL;
	const struct option *o = NULL;
	unsigned first = 0, *at;
	l->current = NULL;
	l->key = NULL;
	if (l->section == NO_SECTION)
		return load_complain(l, line, NULL, "a key before the first [section]");
	if (l->section == BAD_SECTION)
		return 0;
	while (key && key->name && strcmp(key->name, line->key) != 0)
		key++;
	if (key && key->name) {
		at = &l->key_lines[key - named_sections[l->kind]->keys];
		first = *at;
	} else {
		o = named ? load_named_option(line->key) : option_by_key(line->section, line->key);
		if (!o)
			return load_unknown(l, line);
		at = &l->lines[o - option_table];
		if (named) {
			struct layer_values there;
			layer_read_values(l->layers[l->kind], l->name, &there);
			size_t slot = SETTING_SLOT(o->offset);
			if (there.from[slot] == l->layers[l->kind])
				first = there.entry[slot]->line;
		} else {
			first = *at;
		}
	}
	if (first) {
		snprintf(reason, sizeof(reason), "already set on line %u", first);
		return load_complain(l, line, NULL, reason);
	}
	if (!o || !named)
		*at = line->number;
	if (l->by == ORIGIN_PROJECT && (o ? !o->safe : key->unsafe)) {
		l->current = o;
		return load_complain(l, line, NULL, unsafe);
	}
	if (!o) {
		l->key = key;
		return load_item(l, line);
	}
	l->current = o;
	if (!named)
		*option_source(l->s, o) =
			(struct setting_source){.by = l->by, .line = line->number};
	if (!option_is_number(o))
		return option_set(l->s, o, line->value, l->error) == 0 ? 0 : load_fail(l, line);
	int64_t value;
	if (option_parse(o, line->value, &value, l->error) < 0)
		return load_fail(l, line);
	/* A project's file may show more than others, not less. */
	if (l->by == ORIGIN_PROJECT && o->safe_never) {
		if (strcmp(o->choices[value], o->safe_never) == 0)
			return load_complain(l, line, line->value, unsafe);
	} else if (l->by == ORIGIN_PROJECT && value < o->safe &&
		   (value != 0 || (!o->or_zero && o->min != 0))) {
		snprintf(reason, sizeof(reason), "under %s: %s",
			 option_number_text(o, o->safe, least), unsafe);
		return load_complain(l, line, line->value, reason);
	}
	if (named)
		return load_add(l, line,
				(struct layer_entry){
					.kind = LAYER_VALUE, .offset = o->offset, .value = value});
	*option_number(l->s, o) = value;
	return 0;
}

static int load_line(void *ctx, const struct ini_line *line)
{
	struct load *l = ctx;
	switch (line->kind) {
	case INI_SECTION: return load_section(l, line);
	case INI_KEY: return load_key(l, line);
	case INI_MORE:
		if (l->key)
			return load_item(l, line);
		if (!l->current)
			return 0; /* its key was refused */
		if (l->current->type != OPTION_LIST)
			return load_complain(
				l, line, line->value,
				"an indented line adds to a list, and this takes one value");
		if (option_append(l->s, l->current, line->value, l->error) < 0)
			return load_fail(l, line);
		return 0;
	case INI_MALFORMED: break;
	}
	if (line->value && *line->value == '[')
		l->section = BAD_SECTION;
	return load_complain(l, line, line->value, line->reason);
}

/* Returns the number of errors, of which `error` holds the last one, or -1 with errno. */
static int load_check(struct load *l, const char *text, size_t len)
{
	struct settings s = {0};
	l->s = &s;
	ini_visit(text, len, load_line, l);
	l->s = NULL;
	settings_release(&s);
	if (l->failure == 0 || l->failure == EINVAL)
		return l->errors;
	errno = l->failure;
	return -1;
}

int settings_load_text(struct settings *s, enum origin by, const char *path, const char *text,
		       size_t len, struct option_error *error)
{
	struct load trial = {.by = by, .path = path, .error = error};
	struct load l = {.s = s, .by = by, .path = path, .error = error};
	int errors = load_check(&trial, text, len);
	if (errors == 0)
		ini_visit(text, len, load_line, &l);
	if (errors > 0 || l.failure)
		errno = errors > 0 ? EINVAL : l.failure;
	return errors == 0 && l.failure == 0 ? 0 : -1;
}

int settings_check_text(enum origin by, const char *path, const char *text, size_t len,
			struct buffer *messages)
{
	struct option_error error;
	struct load l = {
		.by = by, .path = path, .error = &error, .all = true, .messages = messages};
	return load_check(&l, text, len);
}

/* --- reading a file ------------------------------------------------------------------ */

/* Larger files are refused. */
#define FILE_MAX ((size_t)1 << 20)

int settings_read_file(enum origin by, const char *path, struct buffer *text,
		       struct option_error *error)
{
	bool project = by == ORIGIN_PROJECT;
	const char *reason = NULL;
	size_t start = text->len;
	ssize_t n = -1;
	struct stat st;
	*error->text = '\0';
	int fd = open(path,
		      O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (project ? O_NOFOLLOW : 0));
	if (fd < 0 && project && errno == ELOOP)
		reason = "not read: a symbolic link";
	if (fd < 0 || (project && fstat(fd, &st) < 0))
		goto out;
	if (project && !S_ISREG(st.st_mode))
		reason = "not read: not a plain file";
	else if (project && st.st_uid != geteuid() && st.st_uid != 0)
		reason = "not read: it belongs to another user";
	else if (project && st.st_mode & S_IWOTH)
		reason = "not read: everybody can write to it";
	while (!reason && n != 0) {
		n = buffer_reserve(text, 4096) < 0
			    ? -1
			    : read(fd, text->data + text->len, text->cap - text->len);
		if (n < 0 && errno != EINTR)
			break;
		text->len += n > 0 ? (size_t)n : 0;
		if (text->len - start > FILE_MAX)
			reason = "larger than 1 MB";
	}
out:
	/* The file system's own EINVAL has no message. */
	if (n < 0 && errno == EINVAL)
		errno = EIO;
	if (reason) {
		config_error_write(&(struct config_error){.where = path, .reason = reason}, error);
		errno = EINVAL;
	}
	io_close(&fd);
	return reason || n < 0 ? -1 : 0;
}

/* --- flags ------------------------------------------------------------------------- */

int settings_take_flag(struct settings *s, int argc, char *const argv[], int *index,
		       struct option_error *error)
{
	const char *arg = *index < argc ? argv[*index] : "", *implied = NULL, *reason = NULL;
	size_t len = strcspn(arg, "=");
	const struct option *o = option_by_flag(arg, len, &implied);
	char flag[FLAG_LEN], range[RANGE_LEN], why[RANGE_LEN + 32];
	if (!o)
		return 0;
	snprintf(flag, sizeof(flag), "%.*s", (int)len, arg);
	const char *value = arg[len] ? arg + len + 1 : implied;
	int taken = 1;
	if (arg[len] && implied && strcmp(flag, o->flag) != 0) {
		reason = "takes no value";
	} else if (!value && *index + 1 < argc) {
		value = argv[*index + 1];
		taken = 2;
	} else if (!value) {
		snprintf(why, sizeof(why), "needs a value (%s)", option_range(o, range));
		reason = why;
	}
	if (!reason && (o->type == OPTION_LIST ? option_append(s, o, value, error)
					       : option_set(s, o, value, error)) < 0) {
		if (errno != EINVAL)
			return -1;
		reason = error->text;
	}
	if (reason) {
		config_error_write(
			&(struct config_error){.where = flag, .value = value, .reason = reason},
			error);
		errno = EINVAL;
		return -1;
	}
	*option_source(s, o) = (struct setting_source){.by = ORIGIN_FLAG};
	*index += taken;
	return 1;
}

/* --- a command's last comment ------------------------------------------------------------ */

#define BLANKS " \t\r,"

int comment_read(struct comment *c, const char *command, struct settings *s,
		 struct option_error *error)
{
	static const char *const names[] = {"yield=", "timeout=", "size="};
	enum { NAMES = sizeof(names) / sizeof(*names) };
	struct words w;
	size_t found = 0;
	c->count = 0;
	if (!strstr(command, COMMENT_MARK) || words_parse(&w, command) < 0)
		return 0;
	const char *at = w.comment && w.count > 0 ? w.comment + 1 : "";
	words_release(&w);
	at += strspn(at, BLANKS);
	if (strncmp(at, COMMENT_MARK, strlen(COMMENT_MARK)) != 0)
		return 0;
	/* The flags, whatever their values. */
	for (at += strlen(COMMENT_MARK); *(at += strspn(at, BLANKS "\n"));) {
		size_t len = strcspn(at, BLANKS "\n"), name = 0;
		while (name < NAMES && strncmp(at, names[name], strlen(names[name])) != 0)
			name++;
		if (name == NAMES || found == COMMENT_MAX || len >= COMMENT_LEN - 2)
			return 0;
		snprintf(c->flags[found++], COMMENT_LEN, "--%.*s", (int)len, at);
		at += len;
	}
	for (size_t i = 0; i < found; i++) {
		char *const argv[] = {c->flags[i], NULL};
		int index = 0;
		if (settings_take_flag(s, 1, argv, &index, error) == 1)
			memmove(c->flags[c->count++], c->flags[i], COMMENT_LEN);
	}
	return c->count == found ? 0 : -1;
}

/* --- sources in their order ---------------------------------------------------------- */

int settings_load_file(struct settings *s, enum origin by, const char *path,
		       struct option_error *error)
{
	struct buffer text = BUFFER_INIT;
	char *name = strdup(path);
	int result = name ? settings_read_file(by, path, &text, error) : -1;
	if (result == 0)
		result = settings_load_text(s, by, path, text.data, text.len, error);
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

int settings_init(struct settings *s)
{
	*s = (struct settings){0};
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (option_is_number(o)) {
			*option_number(s, o) = o->initial;
		} else if (o->preset && option_set(s, o, o->preset, NULL) < 0) {
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

int settings_load(struct settings *s, const char *system_file, struct option_error *error)
{
	char user[PATH_MAX], project[PATH_MAX];
	bool named;
	int result = settings_init(s);
	*error->text = '\0';
	if (result < 0)
		return -1;
	const char *const files[] = {
		[ORIGIN_SYSTEM] = system_file,
		[ORIGIN_USER] = settings_user_file(user, &named),
		[ORIGIN_PROJECT] = project_find(project) ? project : NULL,
	};
	for (enum origin by = ORIGIN_SYSTEM; by <= ORIGIN_PROJECT && result == 0; by++) {
		const char *file = files[by];
		bool must = named && by == ORIGIN_USER;
		struct option_error why;
		/* Few files exist, and access() is cheaper than open(). */
		if (!file || (!must && access(file, F_OK) < 0))
			continue;
		int loaded = settings_load_file(s, by, file, &why);
		TRACE(CONFIG, "file %s: %s", file, loaded == 0 ? "read" : strerror(errno));
		if (loaded == 0)
			continue;
		if (errno == ENOMEM) {
			result = -1;
		} else if (errno == EINVAL && *error->text == '\0') {
			*error = why;
			s->project_is_wrong = by == ORIGIN_PROJECT;
		} else if (errno != EINVAL && must && *error->text == '\0') {
			config_error_write(&(struct config_error){.where = "TERSE_CONFIG",
								  .value = file,
								  .reason = strerror(errno)},
					   error);
		}
	}
	for (char **entry = environ; entry && *entry && result == 0; entry++) {
		size_t len = strcspn(*entry, "=");
		const char *value = *entry + len + 1;
		/* Every variable begins with it. */
		if (strncmp(*entry, "TERSE_", 6) != 0 || !(*entry)[len] || !*value)
			continue;
		for (const struct option *o = option_table; o < option_table + option_count; o++) {
			struct option_error why;
			if (!o->variable || strncmp(o->variable, *entry, len) != 0 ||
			    o->variable[len])
				continue;
			if (option_set(s, o, value, &why) == 0) {
				TRACE(CONFIG, "variable %s", o->variable);
				*option_source(s, o) =
					(struct setting_source){.by = ORIGIN_VARIABLE};
			} else if (errno == ENOMEM) {
				result = -1;
			} else if (*error->text == '\0') {
				config_error_write(&(struct config_error){.where = o->variable,
									  .value = value,
									  .reason = why.text},
						   error);
			}
		}
	}
	if (result < 0) {
		settings_release(s);
		errno = ENOMEM;
	}
	return result;
}
