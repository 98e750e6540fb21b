// See verb.h.

#include "config/option.h"
#include "config/value.h"
#include "lib/active.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/short.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"
#include "supervisor/redact/redactor.h"
#include "supervisor/remote/remote.h"
#include "supervisor/report/file_type.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum sink reader_find(const struct settings *s)
{
	struct stat st;
	enum sink sink = sink_of(STDOUT_FILENO, &st);
	return sink == SINK_PIPE ? sink_of_pipe(s, STDOUT_FILENO, getpid(), getppid()) : sink;
}

enum sink reader_of_text(const struct verb_call *c)
{
	enum sink sink = c->json ? SINK_AGENT : reader_find(c->settings);
	struct stat out, err;
	if (sink != SINK_FILE)
		return sink;
	sink_of(STDOUT_FILENO, &out);
	sink_of(STDERR_FILENO, &err);
	return sink_is_same(STDOUT_FILENO, &out, STDERR_FILENO, &err) ? SINK_FILE : SINK_PROGRAM;
}

/* Whether standard output is coloured without --color (https://no-color.org,
   https://bixense.com/clicolors). */
static bool paint_by_default(void)
{
	static const struct settings unset;
	const char *none = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
	const char *term = getenv("TERM");
	if (none && *none)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return reader_find(&unset) != SINK_AGENT;
	return isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

int reader_notice(enum sink sink, const struct buffer *text)
{
	bool colour = sink == SINK_PERSON && paint_by_default();
	struct buffer out = BUFFER_INIT;
	int result = buffer_check(text);
	if (result < 0 || text->len == 0)
		return result;
	if (sink == SINK_PROGRAM) {
		io_write(STDERR_FILENO, text->data, text->len);
		return 0;
	}
	buffer_append_string(&out, paint_code(colour, PAINT_NOTICE));
	buffer_add(&out, text);
	buffer_append_string(&out, paint_none(colour));
	result = verb_write(&out);
	buffer_release(&out);
	return result;
}

void followup_add(struct followup *f, const char *data, size_t len)
{
	if (!f->is_counted)
		return;
	f->bytes += len;
	tokens_feed(&f->tokens, data, len);
}

void followup_keep(const struct followup *f, int dir, const char *id)
{
	const char *active = getenv(ACTIVE_NAME);
	struct journal_read read = {.at_ms = clock_real_ms(),
				    .inside = active && active_is_inside(active)};
	bool inside_person = read.inside && active_has_person(active);
	if (!*id || isatty(STDOUT_FILENO) || inside_person)
		return;
	memcpy(read.id, id, sizeof(read.id));
	read.bytes = f->bytes;
	read.tokens = tokens_estimate(&f->tokens);
	/* Ignores errors: only statistics would be lost. */
	journal_add_read(dir, &read);
}

void envelope_begin(struct buffer *out)
{
	buffer_append_string(out, "{\"ok\":true,\"data\":{");
}

void envelope_end(struct buffer *out)
{
	buffer_append_string(out, "}}\n");
}

int verb_write(struct buffer *text)
{
	int result = buffer_check(text) < 0 ? -1 : io_write(STDOUT_FILENO, text->data, text->len);
	buffer_clear(text);
	return result;
}

int verb_print(const struct verb_call *c, struct buffer *text)
{
	int result = verb_write(text);
	bool failed = result < 0 && errno != EPIPE;
	if (failed)
		verb_fail(c, ENVELOPE_UNREADABLE, c ? "%m" : "standard output: %m");
	buffer_release(text);
	return failed;
}

static void verb_report(const struct verb_call *c, enum envelope_code code, const char *format,
			va_list args)
{
	static const char *const names[ENVELOPE_CODES] = {
		[ENVELOPE_USAGE] = "usage",
		[ENVELOPE_UNKNOWN_ARTIFACT] = "unknown_artifact",
		[ENVELOPE_UNKNOWN_SESSION] = "unknown_session",
		[ENVELOPE_BAD_PATTERN] = "bad_pattern",
		[ENVELOPE_BAD_RANGE] = "bad_range",
		[ENVELOPE_UNREADABLE] = "unreadable",
		[ENVELOPE_BINARY] = "binary",
	};
	struct buffer text = BUFFER_INIT, line = BUFFER_INIT;
	if (c && c->error && code == ENVELOPE_USAGE) {
		vsnprintf(c->error->text, sizeof(c->error->text), format, args);
		return;
	}
	buffer_vprintf(&text, format, args);
	if (c && c->json) {
		buffer_append_string(&line, "{\"ok\":false,\"error\":{");
		json_add_string(&line, "code", names[code]);
		json_add_text(&line, "message", text.data, text.len);
		envelope_end(&line);
		if (verb_write(&line) < 0 && errno != EPIPE)
			verb_error(c->verb->name, "%m");
	} else {
		if (!c || !c->verb || !c->verb->name)
			buffer_append_string(&line, "terse: ");
		else
			buffer_printf(&line, "terse %s: ", c->verb->name);
		quote_text(&line, text.data, text.len, 0);
		buffer_append_string(&line, "\n");
		if (buffer_check(&line) == 0)
			io_write(STDERR_FILENO, line.data, line.len);
	}
	buffer_release(&text);
	buffer_release(&line);
}

int verb_fail(const struct verb_call *c, enum envelope_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	verb_report(c, code, format, args);
	va_end(args);
	return code == ENVELOPE_USAGE || code == ENVELOPE_BAD_PATTERN ? EXIT_TERSE : 1;
}

int verb_error(const char *verb, const char *format, ...)
{
	const struct verb v = {.name = verb};
	va_list args;
	va_start(args, format);
	verb_report(&(struct verb_call){.verb = &v}, ENVELOPE_UNREADABLE, format, args);
	va_end(args);
	return 1;
}

const char *verb_reason(int error)
{
	return error == EBADMSG ? "damaged on disk" : strerror(error);
}

const struct verb *verb_named(const char *name)
{
	for (size_t i = 0; verbs[i]; i++) {
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
		for (size_t k = 0; k < 3 && verbs[i]->also[k]; k++) {
			if (strcmp(verbs[i]->also[k], name) == 0)
				return verbs[i];
		}
	}
	return NULL;
}

const struct verb_option *verb_option_named(const struct verb *v, const char *name, size_t len)
{
	for (const struct verb_option *o = v->options; o && o->name; o++) {
		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
			return o;
		if (len == 2 && name[0] == '-' && o->letter == name[1])
			return o;
	}
	return NULL;
}

/* Reports bad usage. Its value is -1. */
#define verb_misuse(c, ...) (verb_fail((c), ENVELOPE_USAGE, __VA_ARGS__), -1)

int verb_tell_usage(const struct verb_call *c)
{
	struct buffer text = BUFFER_INIT;
	const char *joint = "usage: ";
	for (const char *form = c->verb->forms; *form; joint = ", or ") {
		size_t len = strcspn(form, "\n");
		buffer_printf(&text, "%sterse %s %.*s", joint, c->verb->name, (int)len, form);
		form += len + (form[len] == '\n');
	}
	verb_fail(c, ENVELOPE_USAGE, "%s", buffer_string(&text) ? text.data : strerror(errno));
	buffer_release(&text);
	return EXIT_TERSE;
}

/* Returns the index of `text` among words that are separated by | (NULL: no words), or -1. */
static int verb_parse_word(const char *words, const char *text)
{
	for (int i = 0; words; i++) {
		size_t len = strcspn(words, "|");
		if (strlen(text) == len && memcmp(text, words, len) == 0)
			return i;
		words = words[len] ? words + len + 1 : NULL;
	}
	return -1;
}

static int verb_no_such_option(const struct verb_call *c, const char *arg, size_t len)
{
	char name[64], room[FLAG_LEN];
	struct nearest n;
	snprintf(name, sizeof(name), "%.*s", (int)len, arg);
	nearest_init(&n, name);
	nearest_offer(&n, "--help");
	/* `terse` alone also has --version. */
	if (c->verb == verbs[0])
		nearest_offer(&n, "--version");
	for (const struct verb_option *o = c->verb->options; o && o->name; o++)
		nearest_offer(&n, o->name);
	const struct option *end = option_table + (c->verb->settings ? option_count : 0);
	for (const struct option *o = option_table; o < end; o++) {
		const char *flag;
		for (size_t i = 0; (flag = option_flag(o, i, room)); i++)
			nearest_offer(&n, flag);
	}
	if (n.best && arg[1] == '-')
		return verb_misuse(c, "%.*s: no such option (did you mean %s?)", (int)len, arg,
				   n.best);
	return verb_misuse(c, "%.*s: no such option (see terse help %s)", (int)len, arg,
			   c->verb->name);
}

/* Stores a number of this kind. Returns NULL, or a phrase that says what the number has to be. */
static const char *verb_store_number(enum verb_kind kind, const char *text, void *at)
{
	static const struct {
		int64_t least, most; /* larger numbers are read as INT64_MAX */
		const char *what;
	} numbers[] = {
		[VERB_COUNT] = {1, INT64_MAX - 1, "a number from 1 on"},
		[VERB_NUMBER] = {0, INT64_MAX - 1, "a number from 0 on"},
		[VERB_LINE] = {1, INT64_MAX - 1, "a number from 1 on, or below 0 from the end"},
		[VERB_STATUS] = {0, 255, "a number from 0 to 255"},
	};
	bool negative = kind == VERB_LINE && *text == '-';
	const char *digits = text + negative;
	int64_t n;
	if (strspn(digits, "0123456789") != strlen(digits) || value_parse_count(digits, &n) < 0 ||
	    n < numbers[kind].least || n > numbers[kind].most)
		return numbers[kind].what;
	if (kind == VERB_STATUS)
		*(int *)at = (int)n;
	else
		*(int64_t *)at = negative ? -n : n;
	return NULL;
}

/* Stores an option's value ("" if it has none) according to the option's kind. `as`: the option as
   it was typed. Returns 0, or -1 after printing an error. */
static int verb_store(struct verb_call *c, void *into, const struct verb_option *o, const char *as,
		      const char *text)
{
	void *at = o->kind == VERB_SESSION ? (char *)&c->session : (char *)into + o->at;
	struct verb_when *when = at;
	const char *why = NULL;
	int position;
	switch (o->kind) {
	case VERB_FLAG: *(bool *)at = true; break;
	case VERB_JSON: c->json = true; break;
	case VERB_COUNT:
	case VERB_NUMBER:
	case VERB_LINE:
	case VERB_STATUS: why = verb_store_number(o->kind, text, at); break;
	case VERB_TIME:
		if (value_parse_duration(text, at) < 0 || *(int64_t *)at <= 0)
			why = "a time: 500ms, 2s, 5m";
		break;
	case VERB_WHEN:
		if (when->text)
			return verb_misuse(c, "%s: given twice", as);
		when->text = text;
		if (value_parse_time(text, clock_real_ms(), &when->ms) < 0)
			why = "how long ago (2h) or when (14:05, 2026-11-20)";
		break;
	case VERB_TEXT:
	case VERB_STRING:
	case VERB_SESSION:
		if (*(const char **)at)
			return verb_misuse(c, "%s: given twice", as);
		*(const char **)at = text;
		break;
	case VERB_WORD:
	case VERB_COLOR:
		position = verb_parse_word(o->value, text);
		if (position < 0)
			why = o->value;
		else if (o->kind == VERB_WORD)
			*(int *)at = position;
		else
			c->colour = position == 2 ? paint_by_default() : position == 0;
		break;
	case VERB_TAKE:
		why = c->verb->take(into, o, text);
		return why ? verb_misuse(c, "%s%s%s: %s", as, *as ? ": " : "", text, why) : 0;
	}
	return why ? verb_misuse(c, "%s: %s: must be %s", as, text, why) : 0;
}

/* Reads the word argv[*i]: an option, or several option letters, the last of which may have a
   value. Moves *i to the last word that was used. Returns 0; 1 if options end after that word; or
   -1 after printing an error. */
static int verb_read_option(struct verb_call *c, void *into, int *i)
{
	const char *arg = c->argv[*i], *equals = strchr(arg, '=');
	bool word = arg[1] == '-';
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	for (const char *letter = arg + 1; *letter; letter++) {
		const char name[] = {'-', *letter, '\0'};
		const struct verb_option *o =
			verb_option_named(c->verb, word ? arg : name, word ? len : 2);
		if (!o && word) {
			/* If the verb takes settings, the word may be the flag of a setting. */
			struct option_error error = {""};
			int used = c->verb->settings ? settings_take_flag(c->settings, c->argc,
									  c->argv, i, &error)
						     : 0;
			if (used < 0)
				return verb_misuse(c, "%s",
						   *error.text ? error.text : strerror(errno));
			if (used == 0)
				return verb_no_such_option(c, arg, len);
			c->setting = arg;
			--*i;
			return 0;
		}
		if (!o)
			return verb_no_such_option(c, arg, strlen(arg));
		const char *value = word        ? (equals ? equals + 1 : NULL)
				    : letter[1] ? letter + 1
						: NULL;
		if (!o->value && word && equals)
			return verb_misuse(c, "%s: takes no value", o->name);
		if (!o->value && verb_store(c, into, o, o->name, "") < 0)
			return -1;
		if (o->value && !value && *i + 1 >= c->argc)
			return verb_misuse(c, "%s: needs a value", word ? o->name : name);
		if (o->value) {
			value = value ? value : c->argv[++*i];
			return verb_store(c, into, o, word ? o->name : name, value) < 0
				       ? -1
				       : o->kind == VERB_STRING;
		}
		if (word)
			return 0;
	}
	return 0;
}

int verb_parse(struct verb_call *c, void *into)
{
	const struct verb_option *each = verb_option_named(c->verb, "", 0);
	bool options = true, coloured = verb_option_named(c->verb, "--color", 7);
	int count = 0, i = 1;
	/* With --json, errors are JSON too, even those about arguments before it. */
	const struct verb_option *json = verb_option_named(c->verb, "--json", 6);
	c->json = false;
	for (int k = 1; json && json->kind == VERB_JSON && k < c->argc && !c->json; k++) {
		if (strcmp(c->argv[k], "--") == 0)
			break;
		c->json = strcmp(c->argv[k], json->name) == 0;
	}
	c->colour = coloured && paint_by_default();
	for (; i < c->argc && (options || !c->verb->command); i++) {
		char *arg = c->argv[i];
		if (options && strcmp(arg, "--") == 0) {
			options = false;
			c->plain = true;
		} else if (options && (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)) {
			exit(verb_print_help(c->verb));
		} else if (options && arg[0] == '-' && arg[1]) {
			int used = verb_read_option(c, into, &i);
			if (used < 0)
				return -1;
			options = used == 0;
		} else if (c->verb->command) {
			break;
		} else if (each) {
			if (verb_store(c, into, each, "", arg) < 0)
				return -1;
		} else if (c->verb->more >= 0 && count == c->verb->least + c->verb->more) {
			return verb_misuse(c, "%s: one argument too many (see terse help %s)", arg,
					   c->verb->name);
		} else {
			c->argv[++count] = arg;
		}
	}
	c->operands = c->argv + (c->verb->command ? i : 1);
	c->operand_count = c->verb->command ? c->argc - i : count;
	if (!c->verb->command)
		c->argv[1 + count] = NULL;
	c->colour &= !c->json;
	if (c->operand_count >= c->verb->least)
		return 0;
	verb_tell_usage(c);
	return -1;
}

void verb_session_name(const struct settings *settings, const char *session,
		       char directory[STORE_SESSION_LEN + 1])
{
	char room[SESSION_ROOM];
	const char *name = session ? session : session_name(settings, getppid(), room);
	struct secrets *secrets = secrets_new(settings);
	if (secrets) {
		snprintf(room, sizeof(room), "%s", name);
		redactor_inside(secrets, room, sizeof(room));
		name = room;
	}
	store_session_name(name, directory);
	secrets_free(secrets);
}

int verb_open_stores(const struct verb_call *c, struct store stores[STORE_MAX], int *status)
{
	int count = store_open_all(stores);
	if (errno) {
		verb_error(c->verb->name,
			   "a directory of artifacts can't be opened: %m (terse doctor)");
		*status = 1;
	}
	return count;
}

bool verb_owns(const struct verb_call *c, const struct store *stores, int count, const char *id)
{
	char directory[STORE_SESSION_LEN + 1];
	verb_session_name(c->settings, c->session, directory);
	return id_is_of(stores, count, id, directory);
}

bool verb_reaches(const struct verb_call *c, const struct store *stores, int count,
		  const char *name)
{
	if (c->settings->reach == REACH_FILES || strncmp(name, "last", 4) == 0)
		return true;
	return id_is_valid(name) &&
	       (c->settings->reach == REACH_STORE || verb_owns(c, stores, count, name));
}

int verb_find(const struct verb_call *c, const char *name, struct store stores[STORE_MAX],
	      int *count, struct id_found *found)
{
	char directory[STORE_SESSION_LEN + 1] = "", id[ID_LEN + 1];
	bool whole = id_is_whole(name, id);
	*count = whole ? store_open_everywhere(stores) : store_open_all(stores);
	*found = (struct id_found){.store = NULL};
	/* A whole ID is looked for in all sessions. */
	if (!whole)
		verb_session_name(c->settings, c->session, directory);
	if (verb_reaches(c, stores, *count, name))
		return id_find(stores, *count, directory, name, found);
	errno = ENOENT;
	return -1;
}

void verb_not_found(const struct verb_call *c, const char *name, int error)
{
	struct nearest n;
	nearest_init(&n, name);
	nearest_offer(&n, "last");
	if (error == LAST_UNKEPT)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: that run is not kept (%s shows what is)",
			  name, vocabularies[c->settings->words].list);
	else if (error == EEXIST)
		verb_fail(c, ENVELOPE_UNKNOWN_ARTIFACT,
			  "%s: several artifacts begin like this: give more of the ID", name);
	else if (error == EINVAL && n.best)
		verb_fail(c, ENVELOPE_UNKNOWN_ARTIFACT, "%s: no such artifact (did you mean %s?)",
			  name, n.best);
	else if (error == ENOENT || error == EINVAL)
		verb_fail(c, ENVELOPE_UNKNOWN_ARTIFACT,
			  "%s: no such artifact (%s shows what there is)", name,
			  vocabularies[c->settings->words].list);
	else
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %s", name, strerror(error));
}

bool verb_has_session(const struct verb_call *c, char directory[STORE_SESSION_LEN + 1])
{
	struct store stores[STORE_MAX];
	bool has = !c->session;
	verb_session_name(c->settings, c->session, directory);
	for (int count = has ? 0 : store_open_all(stores); count > 0;) {
		int dir = store_open_session(&stores[--count], directory, false);
		has |= dir >= 0;
		io_close(&dir);
		store_close(&stores[count]);
	}
	if (!has)
		verb_fail(c, ENVELOPE_UNKNOWN_SESSION,
			  "%s: no such session (terse list --all shows what there is)", c->session);
	return has;
}

/* Opens the session directory of an artifact. Looks for the artifact as verb_find() does. If a live
   run has not written it yet, asks the run to do so. Then looks in the remote, but only for a whole
   ID, and with `or_file` only if no file has this name. Stores the directory's path, unless `path`
   is NULL. Returns the descriptor; -1 with errno if there is no artifact; or -1 with errno 0 after
   printing an error. */
static int verb_resolve(const struct verb_call *c, const char *name, bool or_file,
			struct id_found *found, char path[PATH_MAX])
{
	const struct settings *settings = c->settings;
	struct store stores[STORE_MAX];
	char directory[STORE_SESSION_LEN + 1], id[ID_LEN + 1];
	int count = 0, dir = -1, why = 0;
	if (c->session && !verb_has_session(c, directory))
		goto out;
	why = verb_find(c, name, stores, &count, found) < 0 ? errno : 0;
	if (why == LAST_UNKEPT) {
		/* If TERSE_HOME had no room, the artifact is in another store. */
		memcpy(id, found->id, sizeof(id));
		store_close_all(stores, count);
		why = verb_find(c, id, stores, &count, found) < 0 ? LAST_UNKEPT : 0;
	}
	if (why == ENOENT && id_is_valid(name) && verb_reaches(c, stores, count, name)) {
		struct live_status now;
		int run = client_open(stores, count, name);
		if (run >= 0 && client_status(run, FRAME_WATCH, &now) == 0) {
			store_close_all(stores, count);
			why = verb_find(c, name, stores, &count, found) < 0 ? ENOENT : 0;
		}
		io_close(&run);
	}
	if (why == ENOENT && id_is_valid(name) && settings->remote &&
	    !(or_file && io_is_there(AT_FDCWD, name))) {
		char reason[REMOTE_WHY];
		int missing = fetch_artifact(settings, name, reason);
		why = 0;
		if (missing > 0)
			verb_fail(c, ENVELOPE_UNKNOWN_ARTIFACT,
				  "%s: no such artifact, here or in %s", name, settings->remote);
		else if (missing < 0)
			verb_fail(c, ENVELOPE_UNREADABLE, "%s: not here, and %s: %s", name,
				  settings->remote, reason);
		if (missing)
			goto out;
		store_close_all(stores, count);
		why = verb_find(c, name, stores, &count, found) < 0 ? errno : 0;
	}
	if (why)
		goto out;
	dir = store_open_session(found->store, found->session, false);
	bool fits = !path || snprintf(path, PATH_MAX, "%s/sessions/%s", found->store->path,
				      found->session) < PATH_MAX;
	if (!fits)
		errno = ENAMETOOLONG;
	/* The caller uses the artifact's files, so a short text is unpacked. */
	if (dir >= 0 && (!fits || (path && short_unpack(dir, found->id) < 0)))
		io_close(&dir);
	if (dir < 0)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %s", found->id, verb_reason(errno));
out:
	store_close_all(stores, count);
	found->store = NULL;
	errno = why;
	return dir;
}

int verb_find_directory(const struct verb_call *c, const char *name, struct id_found *found,
			char path[PATH_MAX])
{
	int dir = verb_resolve(c, name, false, found, path), why = errno;
	if (dir >= 0 || !why)
		return dir;
	verb_not_found(c, name, why);
	return -1;
}

bool verb_fail_part(const struct verb_call *c, enum artifact_part part, int dir, const char *id,
		    int error)
{
	static const char *const reasons[] = {
		[META_STDERR_MERGED] = "was not kept apart: it is in the text",
		[META_STDERR_APART] = "was not kept",
		[META_STDERR_ELSEWHERE] = "did not pass through terse",
	};
	struct meta m = {.standard_error = META_STDERR_MERGED};
	bool raw = part == ARTIFACT_RAW,
	     known = (!error || error == ENOENT) && !raw && meta_read(dir, id, &m) == 0;
	const char *file = known ? m.files[part == ARTIFACT_ERR] : NULL;
	if (file)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: the command wrote its standard %s to %s", id,
			  part == ARTIFACT_ERR ? "error" : "output", file);
	else if (error == ENOENT && part == ARTIFACT_ERR)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: standard error %s", id,
			  reasons[known ? m.standard_error : META_STDERR_MERGED]);
	else if (error == ENOENT && part == ARTIFACT_CAST)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: was not recorded (run it with --record)",
			  id);
	else if (error == ENOENT && raw)
		verb_fail(c, ENVELOPE_UNREADABLE,
			  "%s: its raw bytes were not kept (--keep-raw keeps them)", id);
	else if (error)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %s", id, verb_reason(error));
	meta_release(&m);
	return error || file;
}

int verb_open(const struct verb_call *c, enum artifact_part part, const char *name,
	      struct text *text)
{
	struct id_found found = {.store = NULL};
	bool files = c->settings->reach == REACH_FILES;
	int dir = verb_resolve(c, name, files, &found, NULL), why = errno;
	if (dir >= 0) {
		bool opened = text_open(text, dir, found.id, part) == 0;
		bool failed = (!opened || text->size == 0) &&
			      verb_fail_part(c, part, dir, found.id, opened ? 0 : errno);
		if (opened && failed)
			text_close(text);
		io_close(&dir);
		return failed ? -1 : 0;
	}
	if (!why)
		return -1;
	/* No artifact has this name, so it names a file. */
	if (!files || why == EEXIST || why == LAST_UNKEPT) {
		verb_not_found(c, name, why);
		return -1;
	}
	if (text_open_file(text, name) < 0) {
		if (errno == ENOENT && strchr(name, '/'))
			verb_fail(c, ENVELOPE_UNKNOWN_ARTIFACT, "%s: %m", name);
		else if (errno == ENOENT || why != EINVAL)
			verb_not_found(c, name, why);
		else
			verb_fail(c, ENVELOPE_UNREADABLE, "%s: %s", name,
				  errno == EINVAL ? "not a regular file" : strerror(errno));
		return -1;
	}
	if (part == ARTIFACT_OUT)
		return 0;
	verb_fail(c, ENVELOPE_USAGE, "%s: --%s is for artifacts, this is a file", name,
		  part == ARTIFACT_ERR ? "stderr" : "raw");
	text_close(text);
	return -1;
}

int verb_place(const struct verb_call *c, const struct text *text, const char *path,
	       struct buffer *quoted, struct wording_place *place)
{
	const char *name = *text->id ? text->id : path;
	if (*name == '-')
		buffer_append_string(quoted, "./");
	quote_append(quoted, name);
	place->id = buffer_string(quoted);
	place->is_stderr = text->part == ARTIFACT_ERR;
	place->is_raw = text->part == ARTIFACT_RAW;
	place->json = c->json;
	place->words = c->settings->words;
	return place->id ? 0 : -1;
}

void verb_json_place(struct buffer *out, const struct text *t, const char *path)
{
	static const char *const parts[] = {
		[ARTIFACT_OUT] = "stdout", [ARTIFACT_ERR] = "stderr", [ARTIFACT_RAW] = "raw"};
	if (!*t->id) {
		json_add_string(out, "path", path);
		return;
	}
	json_add_string(out, "artifact", t->id);
	json_add_string(out, "stream", parts[t->part]);
	json_add_bool(out, "running", t->held);
}

bool verb_is_binary(const struct text *text, const char **kind)
{
	char head[SNIFF_MOST];
	size_t len = text->size < sizeof(head) ? (size_t)text->size : sizeof(head);
	ssize_t n = text_read(text, head, len, 0);
	return n > 0 && sniff_is_binary(head, (size_t)n, kind);
}
