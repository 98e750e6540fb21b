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

/* --- one ini text, all or nothing ------------------------------------------------------ */

/* The kinds of sections with a name of their own. */
static const struct named {
	const struct layer_form *form;
	size_t offset; /* of their uppermost layer in the settings */
	const char *what;
	bool safe; /* a project's file may have them */
} named_sections[] = {
	{&profiles_form, offsetof(struct settings, profiles), "a profile", true},
	{&rules_form, offsetof(struct settings, agents), "an agent", false},
};

enum { NAMED = sizeof(named_sections) / sizeof(*named_sections) };

/* The text's values go into `now`, which begins as a shallow copy of the settings. Options that the
   text sets own their strings there; the others are the settings' own. */
struct load {
	struct settings now;
	unsigned lines[OPTION_LIMIT]; /* where the text sets each option; 0: nowhere */
	struct layer *layers[NAMED];  /* what the text defines; NULL: nothing so far */
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

	/* Called for every error, unless NULL. */
	void (*report)(void *ctx, const char *message);
	void *ctx;
};

static int ini_load_fail(struct load *l, int failure)
{
	l->failure = failure;
	return -1;
}

static int ini_load_complain(struct load *l, const struct ini_line *line, const char *value,
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
	ini_load_fail(l, EINVAL);
	if (!l->report)
		return -1;
	l->report(l->ctx, l->error->text);
	return 0;
}

static int already_set(struct load *l, const struct ini_line *line, unsigned first)
{
	char reason[64];
	snprintf(reason, sizeof(reason), "already set on line %u", first);
	return ini_load_complain(l, line, NULL, reason);
}

/* Adds an entry to the layer of the current kind of section. */
static int ini_load_add(struct load *l, const struct ini_line *line, struct layer_entry entry)
{
	entry.line = line->number;
	if (layer_add(l->layers[l->kind], entry) == 0)
		return 0;
	return errno == E2BIG
		       ? ini_load_complain(l, line, NULL, "more than 1,000 lines of such sections")
		       : ini_load_fail(l, errno);
}

static const char unsafe[] = "not allowed in a project's file";

/* Why a project's file may not set this value, or NULL: it may show more than others, not less.
   Writes into `reason` or returns a constant. */
static const char *value_refusal(const struct load *l, const struct option *o, int64_t value,
				 char reason[VALUE_LEN + sizeof(unsafe)])
{
	char least[VALUE_LEN];
	if (l->by != ORIGIN_PROJECT)
		return NULL;
	if (o->safe_never)
		return strcmp(o->choices[value], o->safe_never) == 0 ? unsafe : NULL;
	if (value >= o->safe_min || (value == 0 && (o->or_zero || o->min == 0)))
		return NULL;
	snprintf(reason, VALUE_LEN + sizeof(unsafe), "under %s: %s",
		 option_number_text(o, o->safe_min, least), unsafe);
	return reason;
}

/* Complains of a section or a key that is not known. */
static int ini_load_unknown(struct load *l, const struct ini_line *line)
{
	const struct named *named = l->section == NAMED_SECTION ? &named_sections[l->kind] : NULL;
	char reason[NEAREST_LEN], what[32];
	struct nearest n;
	nearest_init(&n, line->key ? line->key : line->section);
	for (const struct layer_key *k = named ? named->form->keys : NULL; k && k->name; k++)
		nearest_offer(&n, k->name);
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		bool here = named ? option_by_section_key(o->key) == o
				  : strcmp(o->section, line->section) == 0;
		if (!line->key || here) {
			nearest_offer(&n, line->key ? o->key : o->section);
		} else if (!named && strcmp(o->key, line->key) == 0) {
			snprintf(reason, sizeof(reason), "no such key (did you mean [%s] %s?)",
				 o->section, o->key);
			return ini_load_complain(l, line, NULL, reason);
		}
	}
	snprintf(what, sizeof(what), "%s%s%s", line->key ? "key" : "section", named ? " of " : "",
		 named ? named->what : "");
	return ini_load_complain(l, line, NULL, nearest_reason(reason, what, n.best));
}

/* --- sections -------------------------------------------------------------- */

/* NAME and the kind of [profile NAME] and the like, or NULL. */
static const char *ini_load_find_name(const char *section, size_t *kind)
{
	for (size_t i = 0; i < NAMED; i++) {
		size_t len = strlen(named_sections[i].form->word);
		if (strncmp(section, named_sections[i].form->word, len) == 0 &&
		    strchr(" \t", section[len])) {
			*kind = i;
			return section + len + strspn(section + len, " \t");
		}
	}
	return NULL;
}

/* The uppermost layer of this kind of section; NULL: only the built-in one. */
static struct layer **named_layer(struct settings *s, size_t kind)
{
	return (struct layer **)(void *)((char *)s + named_sections[kind].offset);
}

static const struct layer *layer_below(struct load *l, size_t kind)
{
	const struct layer *below = *named_layer(&l->now, kind);
	return below ? below : named_sections[kind].form->builtin;
}

static int load_named(struct load *l, const struct ini_line *line, const char *name, size_t kind)
{
	const char *reason = layer_refuse_name(name);
	struct layer **layer = &l->layers[kind];
	/* What has the profile of terse's own commands may print notices. */
	if (l->by == ORIGIN_PROJECT &&
	    (!named_sections[kind].safe || strcmp(name, PROFILE_TERSE) == 0))
		reason = unsafe;
	if (reason)
		return ini_load_complain(l, line, NULL, reason);
	if (!*layer) {
		*layer = malloc(sizeof(**layer));
		if (!*layer)
			return ini_load_fail(l, ENOMEM);
		**layer = (struct layer){.by = l->by, .below = layer_below(l, kind)};
	}
	l->section = NAMED_SECTION;
	l->kind = kind;
	size_t count = (*layer)->count;
	int result = ini_load_add(l, line, (struct layer_entry){.kind = LAYER_NAME, .text = name});
	if ((*layer)->count > count)
		l->name = (*layer)->entries[count].text;
	return result;
}

static int load_section(struct load *l, const struct ini_line *line)
{
	size_t kind;
	const char *name = ini_load_find_name(line->section, &kind);
	l->section = BAD_SECTION;
	l->current = NULL;
	l->key = NULL;
	memset(l->key_lines, 0, sizeof(l->key_lines));
	if (name)
		return load_named(l, line, name, kind);
	if (!option_has_section(line->section))
		return ini_load_unknown(l, line);
	l->section = OPTIONS;
	return 0;
}

/* --- keys ------------------------------------------------------------------- */

/* Reports the error of an option's function. */
static int ini_load_check(struct load *l, const struct ini_line *line, int result)
{
	if (result == 0)
		return 0;
	return errno == EINVAL ? ini_load_complain(l, line, line->value, l->error->text)
			       : ini_load_fail(l, errno);
}

/* Loads one item of the section's own key. */
static int load_item(struct load *l, const struct ini_line *line)
{
	const char *reason = *line->value ? l->key->refuse(line->value) : NULL;
	if (*line->value == '\0' && l->key->adds)
		return 0;
	if (reason)
		return ini_load_complain(l, line, line->value, reason);
	return ini_load_add(
		l, line,
		(struct layer_entry){.kind = LAYER_TEXT, .key = l->key->name, .text = line->value});
}

/* Sets an option, in the settings or in the section of a layer. */
static int load_option(struct load *l, const struct ini_line *line)
{
	bool named = l->section == NAMED_SECTION;
	const struct option *o =
		named ? option_by_section_key(line->key) : option_by_key(line->section, line->key);
	char reason[VALUE_LEN + sizeof(unsafe)];
	const struct layer *layer = NULL;
	int64_t value;
	if (!o)
		return ini_load_unknown(l, line);
	const struct layer_entry *there =
		named ? layer_value(l->layers[l->kind], l->name, o, &layer) : NULL;
	unsigned *at = &l->lines[o - option_table], before = named ? 0 : *at;
	if (there && layer == l->layers[l->kind])
		before = there->line;
	if (before)
		return already_set(l, line, before);
	l->current = o;
	if (!named) {
		*at = line->number;
		option_disown(&l->now, o);
	}
	if (l->by == ORIGIN_PROJECT && !o->safe)
		return ini_load_complain(l, line, NULL, unsafe);
	if (!named)
		*option_source(&l->now, o) =
			(struct setting_source){.by = l->by, .line = line->number};
	if (!option_is_number(o))
		return ini_load_check(l, line, option_set(&l->now, o, line->value, l->error));
	if (option_parse(o, line->value, &value, l->error) < 0)
		return ini_load_complain(l, line, line->value, l->error->text);
	const char *why = value_refusal(l, o, value, reason);
	if (why)
		return ini_load_complain(l, line, line->value, why);
	if (named)
		return ini_load_add(l, line,
				    (struct layer_entry){.kind = LAYER_VALUE,
							 .offset = o->offset,
							 .value = value});
	*option_number(&l->now, o) = value;
	return 0;
}

static int load_key(struct load *l, const struct ini_line *line)
{
	l->current = NULL;
	l->key = NULL;
	if (l->section == NO_SECTION)
		return ini_load_complain(l, line, NULL, "a key before the first [section]");
	if (l->section == BAD_SECTION)
		return 0;
	const struct layer_key *keys =
		l->section == NAMED_SECTION ? named_sections[l->kind].form->keys : NULL;
	for (size_t i = 0; keys && keys[i].name; i++) {
		if (strcmp(keys[i].name, line->key) != 0)
			continue;
		if (l->key_lines[i] != 0)
			return already_set(l, line, l->key_lines[i]);
		l->key_lines[i] = line->number;
		if (l->by == ORIGIN_PROJECT && keys[i].unsafe)
			return ini_load_complain(l, line, NULL, unsafe);
		l->key = &keys[i];
		return load_item(l, line);
	}
	return load_option(l, line);
}

/* --- lines ------------------------------------------------------------------ */

static int load_more(struct load *l, const struct ini_line *line)
{
	if (l->key)
		return load_item(l, line);
	if (!l->current)
		return 0; /* its key was refused */
	if (l->current->type != OPTION_LIST)
		return ini_load_complain(
			l, line, line->value,
			"an indented line adds to a list, and this takes one value");
	return ini_load_check(l, line, option_append(&l->now, l->current, line->value, l->error));
}

static int load_line(void *ctx, const struct ini_line *line)
{
	struct load *l = ctx;
	switch (line->kind) {
	case INI_SECTION: return load_section(l, line);
	case INI_KEY: return load_key(l, line);
	case INI_MORE: return load_more(l, line);
	case INI_MALFORMED: break;
	}
	if (line->value && *line->value == '[')
		l->section = BAD_SECTION;
	return ini_load_complain(l, line, line->value, line->reason);
}

/* Frees the text's values if it failed, else the settings that they replace. */
static void ini_load_settle(struct load *l, struct settings *s)
{
	for (size_t i = 0; i < option_count; i++) {
		if (l->lines[i] != 0)
			option_clear(l->failure ? &l->now : s, &option_table[i]);
	}
	for (size_t i = 0; i < NAMED; i++) {
		if (l->failure)
			layer_free(l->layers[i], layer_below(l, i));
		else if (l->layers[i])
			*named_layer(&l->now, i) = l->layers[i];
	}
	if (!l->failure)
		*s = l->now;
}

int settings_load_text(struct settings *s, enum origin by, const char *path, const char *text,
		       size_t len, struct option_error *error)
{
	struct load l = {.now = *s, .by = by, .path = path, .error = error};
	ini_visit(text, len, load_line, &l);
	ini_load_settle(&l, s);
	if (l.failure == 0)
		return 0;
	errno = l.failure;
	return -1;
}

int settings_check_text(enum origin by, const char *path, const char *text, size_t len,
			void (*report)(void *ctx, const char *message), void *ctx)
{
	struct option_error error;
	struct settings s = {0};
	struct load l = {.by = by, .path = path, .error = &error, .report = report, .ctx = ctx};
	ini_visit(text, len, load_line, &l);
	ini_load_settle(&l, &s);
	settings_release(&s);
	if (l.failure == ENOMEM) {
		errno = ENOMEM;
		return -1;
	}
	return l.errors;
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

/* --- a command's last comment ------------------------------------------------------------ */

#define BLANKS " \t\r,"

static bool comment_takes(struct comment *c, const char *word, size_t len)
{
	static const char *const names[] = {"yield=", "timeout=", "size="};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strncmp(word, names[i], strlen(names[i])) != 0)
			continue;
		if (c->count == COMMENT_MAX || len >= COMMENT_LEN - 2)
			return false;
		snprintf(c->flags[c->count++], COMMENT_LEN, "--%.*s", (int)len, word);
		return true;
	}
	return false;
}

/* The flags, whatever their values. */
static void comment_find(struct comment *c, const char *command)
{
	struct words w;
	if (!strstr(command, COMMENT_MARK) || words_parse(&w, command) < 0)
		return;
	const char *at = w.comment ? w.comment + 1 : "";
	bool good = w.count > 0;
	words_release(&w);
	at += strspn(at, BLANKS);
	if (!good || strncmp(at, COMMENT_MARK, strlen(COMMENT_MARK)) != 0)
		return;
	for (at += strlen(COMMENT_MARK); good && *(at += strspn(at, BLANKS "\n"));) {
		size_t len = strcspn(at, BLANKS "\n");
		good = comment_takes(c, at, len);
		at += len;
	}
	if (!good)
		c->count = 0;
}

int comment_read(struct comment *c, const char *command, struct settings *s,
		 struct option_error *error)
{
	size_t found;
	c->count = 0;
	comment_find(c, command);
	found = c->count;
	c->count = 0;
	for (size_t i = 0; i < found; i++) {
		char *const argv[] = {c->flags[i], NULL};
		int index = 0;
		if (settings_take_flag(s, 1, argv, &index, error) == 1)
			memmove(c->flags[c->count++], c->flags[i], COMMENT_LEN);
	}
	return c->count == found ? 0 : -1;
}

/* --- sources in their order ---------------------------------------------------------- */

/* Every variable begins with it. */
#define PREFIX     "TERSE_"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

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
	for (size_t i = 0; i < option_count; i++) {
		if (option_initialize(s, &option_table[i]) < 0) {
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
	int result = settings_load_file(s, by, path, &error);
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
	char path[PATH_MAX];
	bool named;
	*error->text = '\0';
	if (settings_init(s) < 0)
		return -1;
	int result = load_if_there(s, ORIGIN_SYSTEM, system_file, false, error);
	const char *user_file = settings_user_file(path, &named);
	if (result == 0 && user_file)
		result = load_if_there(s, ORIGIN_USER, user_file, named, error);
	if (result == 0 && project_find(path))
		result = load_if_there(s, ORIGIN_PROJECT, path, false, error);
	if (result == 0)
		result = load_variables(s, error);
	if (result < 0) {
		settings_release(s);
		errno = ENOMEM;
	}
	return result;
}

int settings_load(struct settings *s, struct option_error *error)
{
	return settings_load_after(s, SETTINGS_SYSTEM_FILE, error);
}
