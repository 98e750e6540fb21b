// See verb.h.

#include "supervisor/command/verb.h"

#include "config/error.h"
#include "config/option.h"
#include "config/value.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/live_run.h"
#include "supervisor/command/paint.h"
#include "supervisor/process/process_tree.h"
#include "supervisor/redact/redactor.h"
#include "supervisor/redact/secrets.h"
#include "supervisor/remote/fetch.h"
#include "supervisor/report/file_type.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum sink reader_find(void)
{
	enum sink sink = sink_of(STDOUT_FILENO);
	struct process_tree process_tree = {.passes = false};
	return sink == SINK_PIPE ? sink_of_pipe(STDOUT_FILENO, getpid(), getppid(), &process_tree)
				 : sink;
}

enum sink reader_of_text(void)
{
	enum sink sink = reader_find();
	bool apart = sink == SINK_FILE && !sink_is_same(STDOUT_FILENO, STDERR_FILENO);
	return apart ? SINK_PROGRAM : sink;
}

int reader_notice(enum sink sink, const struct buffer *text)
{
	bool colour = sink == SINK_PERSON && paint_by_default();
	if (buffer_check(text) < 0)
		return -1;
	if (text->len == 0)
		return 0;
	if (sink == SINK_PROGRAM) {
		io_write(STDERR_FILENO, text->data, text->len);
		return 0;
	}
	if ((colour && io_write(STDOUT_FILENO, paint_code(true, PAINT_NOTICE), 5) < 0) ||
	    io_write(STDOUT_FILENO, text->data, text->len) < 0 ||
	    (colour && io_write(STDOUT_FILENO, "\033[m", 3) < 0))
		return -1;
	return 0;
}

static const char *const names[ENVELOPE_CODES] = {
	[ENVELOPE_USAGE] = "usage",
	[ENVELOPE_UNKNOWN_ARTIFACT] = "unknown_artifact",
	[ENVELOPE_UNKNOWN_SESSION] = "unknown_session",
	[ENVELOPE_BAD_PATTERN] = "bad_pattern",
	[ENVELOPE_BAD_RANGE] = "bad_range",
	[ENVELOPE_UNREADABLE] = "unreadable",
	[ENVELOPE_BINARY] = "binary",
};

void envelope_begin(struct buffer *out)
{
	buffer_append_string(out, "{\"ok\":true,\"data\":{");
}

void envelope_end(struct buffer *out)
{
	buffer_append_string(out, "}}\n");
}

void envelope_fail(struct buffer *out, enum envelope_code code, const char *message, size_t len)
{
	buffer_append_string(out, "{\"ok\":false,\"error\":{");
	json_add_string(out, "code", names[code]);
	json_add_text(out, "message", message, len);
	envelope_end(out);
}

int verb_write(const struct buffer *text)
{
	return buffer_check(text) < 0 ? -1 : io_write(STDOUT_FILENO, text->data, text->len);
}

int verb_print(const struct verb *v, struct buffer *text)
{
	int result = verb_write(text);
	bool failed = result < 0 && errno != EPIPE;
	if (failed)
		verb_fail(v, ENVELOPE_UNREADABLE, "%m");
	buffer_release(text);
	return failed;
}

static void verb_report(const struct verb *v, enum envelope_code code, const char *format,
			va_list args)
{
	struct buffer text = BUFFER_INIT, line = BUFFER_INIT;
	buffer_vprintf(&text, format, args);
	if (v->failed)
		*v->failed = true;
	if (v->json) {
		envelope_fail(&line, code, text.data, text.len);
	} else {
		if (!v->name)
			buffer_append_string(&line, "terse: ");
		else if (*v->name)
			buffer_printf(&line, "terse %s: ", v->name);
		quote_text(&line, text.data, text.len, 0);
		buffer_append_string(&line, "\n");
	}
	line.failed |= text.failed;
	if (!v->json && buffer_check(&line) == 0)
		io_write(STDERR_FILENO, line.data, line.len);
	else if (v->json && verb_write(&line) < 0 && errno != EPIPE)
		verb_error(v->name, "%m");
	buffer_release(&text);
	buffer_release(&line);
}

void verb_fail(const struct verb *v, enum envelope_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	verb_report(v, code, format, args);
	va_end(args);
}

void verb_error(const char *verb, const char *format, ...)
{
	const struct verb v = {.name = verb};
	va_list args;
	va_start(args, format);
	verb_report(&v, ENVELOPE_UNREADABLE, format, args);
	va_end(args);
}

static const struct verb_option *verb_find_option(const struct verb_option *table, const char *arg,
						  size_t len)
{
	for (; table->name; table++) {
		if (strlen(table->name) == len && memcmp(table->name, arg, len) == 0)
			return table;
	}
	return NULL;
}

static bool verb_parse_count(const char *text, uint64_t least, uint64_t *value)
{
	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	unsigned long long n = strtoull(text, NULL, 10);
	if (errno || n < least || n > INT64_MAX)
		return false;
	*value = n;
	return true;
}

static bool verb_parse_line(const char *text, int64_t *value)
{
	uint64_t n;
	if (!verb_parse_count(text + (*text == '-'), 1, &n))
		return false;
	*value = *text == '-' ? -(int64_t)n : (int64_t)n;
	return true;
}

static int verb_no_such_option(const struct verb *v, const struct verb_option *table,
			       const char *arg, size_t len)
{
	static const char *const none[] = {NULL};
	char name[64];
	struct nearest n;
	snprintf(name, sizeof(name), "%.*s", (int)len, arg);
	nearest_init(&n, name);
	nearest_offer(&n, "--help");
	for (; table->name; table++) {
		const char *flag = table->kind == VERB_SETTINGS ? option_nearest_flag(name, none)
								: table->name;
		if (flag)
			nearest_offer(&n, flag);
	}
	if (n.best && arg[1] == '-')
		verb_fail(v, ENVELOPE_USAGE, "%.*s: no such option (did you mean %s?)", (int)len,
			  arg, n.best);
	else
		verb_fail(v, ENVELOPE_USAGE, "%.*s: no such option (see terse help %s)", (int)len,
			  arg, v->name);
	return -1;
}

/* Stores a value as its kind asks for. Returns NULL, or what it must be. */
static const char *verb_store_value(const struct verb_option *o, const char *text)
{
	uint64_t n;
	switch (o->kind) {
	case VERB_LINE:
		return verb_parse_line(text, o->value)
			       ? NULL
			       : "a number from 1 on, or below 0 from the end";
	case VERB_TIME:
		return value_parse_duration(text, o->value) == 0 && *(int64_t *)o->value > 0
			       ? NULL
			       : "a time: 500ms, 2s, 5m";
	case VERB_STATUS:
		if (!verb_parse_count(text, 0, &n) || n > 255)
			return "a number from 0 to 255";
		*(int *)o->value = (int)n;
		return NULL;
	case VERB_COUNT: return verb_parse_count(text, 1, o->value) ? NULL : "a number from 1 on";
	case VERB_NUMBER: return verb_parse_count(text, 0, o->value) ? NULL : "a number from 0 on";
	default: *(const char **)o->value = text; return NULL;
	}
}

static int verb_set_value(const struct verb *v, const struct verb_option *o, const char *value)
{
	const char *why = NULL;
	if (!value)
		verb_fail(v, ENVELOPE_USAGE, "%s: needs a value", o->name);
	else if (o->kind == VERB_TEXT && *(const char **)o->value)
		verb_fail(v, ENVELOPE_USAGE, "%s: given twice", o->name);
	else if ((why = verb_store_value(o, value)) != NULL)
		verb_fail(v, ENVELOPE_USAGE, "%s: %s: must be %s", o->name, value, why);
	else
		return 0;
	return -1;
}

/* Reads a flag of the settings, if the verb has those. */
static int verb_read_setting(const struct verb *v, const struct verb_option *table, int argc,
			     char **argv, int *i)
{
	const char *arg = argv[*i];
	struct option_error error = {""};
	const struct verb_option *o = table;
	while (o->name && o->kind != VERB_SETTINGS)
		o++;
	struct verb_settings *s = o->name ? o->value : NULL;
	int used = s ? settings_take_flag(s->settings, argc, argv, i, &error) : 0;
	if (used < 0)
		verb_fail(v, ENVELOPE_USAGE, "%s", *error.text ? error.text : strerror(errno));
	if (used == 0)
		return verb_no_such_option(v, table, arg, strcspn(arg, "="));
	if (used > 0) {
		s->flag = arg;
		--*i;
	}
	return used < 0 ? -1 : 0;
}

/* Reads the option at argv[*i]; moves *i to its value if that is the next argument. */
static int verb_read_option(const struct verb *v, const struct verb_option *table, int argc,
			    char **argv, int *i)
{
	const char *arg = argv[*i];
	const char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct verb_option *o = verb_find_option(table, arg, len);
	if (!o)
		return verb_read_setting(v, table, argc, argv, i);
	if (o->kind == VERB_FLAG) {
		if (equals) {
			verb_fail(v, ENVELOPE_USAGE, "%s: takes no value", o->name);
			return -1;
		}
		*(bool *)o->value = true;
		return 0;
	}
	return verb_set_value(v, o, equals ? equals + 1 : ++*i < argc ? argv[*i] : NULL);
}

/* Reads the letters at argv[*i]; the last one may have a value. */
static int verb_read_letters(const struct verb *v, const struct verb_option *table, int argc,
			     char **argv, int *i)
{
	for (const char *letter = argv[*i] + 1; *letter; letter++) {
		const char name[3] = {'-', *letter, '\0'};
		const struct verb_option *o = verb_find_option(table, name, 2);
		if (!o)
			return verb_no_such_option(v, table, argv[*i], strlen(argv[*i]));
		if (o->kind != VERB_FLAG)
			return verb_set_value(v, o,
					      letter[1]     ? letter + 1
					      : ++*i < argc ? argv[*i]
							    : NULL);
		*(bool *)o->value = true;
	}
	return 0;
}

/* Whether the arguments ask for JSON, in which errors in them are reported, too. */
static bool verb_wants_json(const struct verb_option *table, int argc, char **argv)
{
	static const char flag[] = "--json";
	if (!verb_find_option(table, flag, strlen(flag)))
		return false;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], flag) == 0)
			return true;
	}
	return false;
}

int verb_parse(const struct verb_option *table, int argc, char **argv, const char **operands,
	       int max)
{
	const struct verb v = {.name = argv[0], .json = verb_wants_json(table, argc, argv)};
	int count = 0;
	bool options = true;
	for (int i = 1; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
		} else if (options && argv[i][0] == '-' && argv[i][1]) {
			int used = argv[i][1] == '-' ? verb_read_option(&v, table, argc, argv, &i)
						     : verb_read_letters(&v, table, argc, argv, &i);
			if (used < 0)
				return -1;
		} else if (count == max) {
			verb_fail(&v, ENVELOPE_USAGE,
				  "%s: one argument too many (see terse help %s)", argv[i], v.name);
			return -1;
		} else {
			operands[count++] = argv[i];
		}
	}
	return count;
}

int verb_parse_one(const struct verb_option *table, int argc, char **argv, const char **operand,
		   const char *missing)
{
	const struct verb v = {.name = argv[0], .json = verb_wants_json(table, argc, argv)};
	int count = verb_parse(table, argc, argv, operand, 1);
	if (count == 0)
		verb_fail(&v, ENVELOPE_USAGE, "%s", missing);
	return count == 1 ? 0 : -1;
}

void verb_session(const struct settings *settings, const char *session,
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

int verb_open_stores(const char *verb, struct store stores[STORE_MAX], int *status)
{
	int count = store_open_all(stores);
	if (errno) {
		verb_error(verb, "a directory of artifacts can't be opened: %m (terse doctor)");
		*status = 1;
	}
	return count;
}

bool verb_reaches(const struct settings *settings, const char *session, const struct store *stores,
		  int count, const char *name)
{
	char directory[STORE_SESSION_LEN + 1], owner[STORE_SESSION_LEN + 1];
	if (settings->reach == REACH_FILES || strncmp(name, "last", 4) == 0)
		return true;
	if (!id_is_valid(name) || settings->reach == REACH_STORE)
		return id_is_valid(name);
	verb_session(settings, session, directory);
	return id_session(stores, count, name, owner) == 0 && strcmp(owner, directory) == 0;
}

/* Looks an artifact up among those that can be reached. */
static int verb_look_up(const struct settings *settings, const char *session, const char *name,
			struct store *stores, int count, struct id_found *found)
{
	char directory[STORE_SESSION_LEN + 1];
	verb_session(settings, session, directory);
	if (verb_reaches(settings, session, stores, count, name))
		return id_find(stores, count, directory, name, found);
	found->id[0] = '\0';
	errno = ENOENT;
	return -1;
}

int verb_find(const struct settings *settings, const char *session, const char *name,
	      struct store stores[STORE_MAX], int *count, struct id_found *found)
{
	*count = id_is_whole(name) ? store_open_everywhere(stores) : store_open_all(stores);
	return verb_look_up(settings, session, name, stores, *count, found);
}

/* Appends how the run ended, if `error` says why it has no artifact (else nothing is known of it).
   Returns whether it does. */
static bool verb_add_last(struct buffer *out, const char *name, int error,
			  const struct id_found *found)
{
	static const struct {
		int error;
		const char *what;
	} reasons[] = {
		{LAST_PRINTED, "was printed whole and not kept"},
		{LAST_UNKEPT, "could not be kept"},
		{LAST_REMOVED, "is not in this store"},
	};
	size_t i = 0, count = sizeof(reasons) / sizeof(*reasons);
	while (i < count && reasons[i].error != error)
		i++;
	if (i == count)
		return false;
	const struct wording_ending end = {
		.state = found->end.interrupted ? WORDING_INTERRUPTED : WORDING_ENDED,
		.timed_out = found->end.timed_out,
		.exit_code = found->end.exit_code,
		.signal = found->end.signal,
		.duration_ms = found->end.duration_ms,
	};
	buffer_printf(out, "%s: ", name);
	wording_end(out, &end);
	buffer_printf(out, "; its text %s", reasons[i].what);
	return true;
}

/* Reports that, and the artifact before. */
static bool verb_fail_last(const struct verb *v, const struct settings *settings, const char *name,
			   int error, const struct id_found *found)
{
	struct buffer text = BUFFER_INIT;
	char age[HUMAN_LEN];
	bool is = verb_add_last(&text, name, error, found);
	if (is && found->id[0]) {
		buffer_printf(&text, "; the one kept before is %s old: ",
			      human_age(age, clock_real_ms() - id_time_ms(id_pack(found->id))));
		if (settings->words == WORDS_TOOLS)
			buffer_printf(&text, "artifact_id=%s", found->id);
		else
			buffer_printf(&text, "terse %s %s", v->name, found->id);
	}
	if (is)
		verb_fail(v, ENVELOPE_UNREADABLE, "%s",
			  buffer_string(&text) ? text.data : strerror(errno));
	buffer_release(&text);
	return is;
}

bool verb_tell_last(const struct verb *v, const char *name, int error, const struct id_found *found)
{
	const struct last_end *e = &found->end;
	struct buffer text = BUFFER_INIT, json = BUFFER_INIT;
	bool is = verb_add_last(&text, name, error, found);
	if (!is)
		return false;
	if (v->json) {
		envelope_begin(&json);
		json_add_null(&json, "id");
		json_add_string(&json, "state",
				meta_state_name(e->interrupted ? META_INTERRUPTED : META_DONE));
		json_add_known(&json, "exit_code", e->exit_code >= 0, (uint64_t)e->exit_code);
		json_add_signal(&json, "signal", e->signal);
		json_add_bool(&json, "timed_out", e->timed_out);
		json_add_count(&json, "duration_ms", (uint64_t)e->duration_ms);
		json_add_made(&json, "message", &text);
		envelope_end(&json);
	} else {
		buffer_append_string(&text, "\n");
	}
	verb_print(v, v->json ? &json : &text);
	buffer_release(&text);
	return true;
}

static void verb_fail_found(const struct verb *v, const struct settings *settings, const char *name,
			    int error, const struct id_found *found)
{
	struct nearest n;
	if (verb_fail_last(v, settings, name, error, found))
		return;
	nearest_init(&n, name);
	nearest_offer(&n, "last");
	if (error == EEXIST)
		verb_fail(v, ENVELOPE_UNKNOWN_ARTIFACT,
			  "%s: several artifacts begin like this: give more of the ID", name);
	else if (error == EINVAL && n.best)
		verb_fail(v, ENVELOPE_UNKNOWN_ARTIFACT, "%s: no such artifact (did you mean %s?)",
			  name, n.best);
	else if (error == ENOENT || error == EINVAL)
		verb_fail(v, ENVELOPE_UNKNOWN_ARTIFACT,
			  "%s: no such artifact (%s shows what there is)", name,
			  vocabularies[settings->words].list);
	else
		verb_fail(v, ENVELOPE_UNREADABLE, "%s: %s", name, strerror(error));
}

void verb_not_found(const char *verb, const struct settings *settings, const char *name, int error,
		    const struct id_found *found)
{
	const struct verb v = {.name = verb};
	verb_fail_found(&v, settings, name, error, found);
}

bool verb_has_session(const struct verb *v, const struct settings *settings, const char *session)
{
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	bool has = false;
	if (!session)
		return true;
	verb_session(settings, session, directory);
	for (int count = store_open_all(stores); count > 0; store_close(&stores[--count])) {
		int dir = store_open_session(&stores[count - 1], directory, false);
		has |= dir >= 0;
		io_close(&dir);
	}
	if (!has)
		verb_fail(v, ENVELOPE_UNKNOWN_SESSION,
			  "%s: no such session (terse list --all shows what there is)", session);
	return has;
}

/* Asks the remote for an artifact that is not here: only for a whole ID as it is printed. Returns 0
   and fills in *found, 1 if the remote is not asked, or -1 after saying why not. */
static int verb_fetch(const struct verb *v, const struct settings *settings, const char *session,
		      const char *name, struct store stores[STORE_MAX], int *count,
		      struct id_found *found)
{
	struct fetched fetched;
	int result = -1;
	if (!id_is_valid(name) || !remote_is_set(settings))
		return 1;
	switch (fetch_artifact(settings, name, &fetched)) {
	case FETCH_DONE:
		store_close_all(stores, *count);
		*count = store_open_everywhere(stores);
		result = verb_look_up(settings, session, name, stores, *count, found);
		if (result < 0)
			verb_fail_found(v, settings, name, errno, found);
		else if (fetched.bytes > 0 && !v->json)
			verb_error(v->name, "%s was fetched from %s (%s)", name, settings->remote,
				   HUMAN_SIZE(fetched.bytes));
		break;
	case FETCH_NONE:
		verb_fail(v, ENVELOPE_UNKNOWN_ARTIFACT, "%s: no such artifact, here or in %s", name,
			  settings->remote);
		break;
	case FETCH_FAILED:
		verb_fail(v, ENVELOPE_UNREADABLE, "%s: not here, and %s: %s", name,
			  settings->remote, fetched.why);
		break;
	}
	return result;
}

int verb_find_directory(const struct verb *v, const struct settings *settings, const char *session,
			const char *name, struct id_found *found, char path[PATH_MAX], bool *told)
{
	struct store stores[STORE_MAX];
	int count, dir = -1;
	if (!verb_has_session(v, settings, session))
		return -1;
	int result = verb_find(settings, session, name, stores, &count, found), why = errno;
	if (result < 0 && why == ENOENT)
		result = verb_fetch(v, settings, session, name, stores, &count, found);
	else if (result < 0)
		result = 1;
	if (result > 0 && told && verb_tell_last(v, name, why, found)) {
		*told = true;
	} else if (result > 0) {
		verb_fail_found(v, settings, name, why, found);
	} else if (result < 0) {
		dir = -1;
	} else if ((dir = store_open_session(found->store, found->session, false)) < 0) {
		verb_fail(v, ENVELOPE_UNREADABLE, "%s: %m", found->id);
	} else if (snprintf(path, PATH_MAX, "%s/sessions/%s", found->store->path, found->session) >=
		   PATH_MAX) {
		verb_fail(v, ENVELOPE_UNREADABLE, "%s: %s", found->id, strerror(ENAMETOOLONG));
		io_close(&dir);
	}
	store_close_all(stores, count);
	found->store = NULL;
	return dir;
}

int verb_read_meta(const struct id_found *found, struct meta *m)
{
	*m = (struct meta){0};
	int dir = store_open_session(found->store, found->session, false);
	int result = dir < 0 ? -1 : meta_read(dir, found->id, m);
	io_close(&dir);
	return result;
}

int verb_open_found(const struct id_found *found, enum artifact_part part, struct text *text)
{
	int dir = store_open_session(found->store, found->session, false);
	if (dir < 0)
		return -1;
	int result = text_open(text, dir, found->id, part);
	io_close(&dir);
	return result;
}

/* Opens a file, since no artifact has this name, for the reason `why`. */
static int verb_open_file(const struct verb *v, const struct settings *settings,
			  enum artifact_part part, const char *name, int why,
			  const struct id_found *found, struct text *text)
{
	if (why == EEXIST) {
		verb_fail_found(v, settings, name, why, found);
		return -1;
	}
	if (verb_fail_last(v, settings, name, why, found))
		return -1;
	if (text_open_file(text, name) < 0) {
		if (errno == ENOENT && strchr(name, '/'))
			verb_fail(v, ENVELOPE_UNKNOWN_ARTIFACT, "%s: %m", name);
		else if (errno == ENOENT || why != EINVAL)
			verb_fail_found(v, settings, name, why, found);
		else
			verb_fail(v, ENVELOPE_UNREADABLE, "%s: %s", name,
				  errno == EINVAL ? "not a regular file" : strerror(errno));
		return -1;
	}
	if (part == ARTIFACT_OUT)
		return 0;
	verb_fail(v, ENVELOPE_USAGE, "%s: --%s is for artifacts, this is a file", name,
		  part == ARTIFACT_ERR ? "stderr" : "raw");
	text_close(text);
	return -1;
}

/* Says that the command wrote the text to a file itself, if it did. Returns whether it did. */
static bool verb_fail_filed(const struct verb *v, enum artifact_part part, int dir, const char *id)
{
	struct meta m = {.exit_code = 0};
	int error = errno;
	const char *file = part < ARTIFACT_RAW && meta_read(dir, id, &m) == 0
				   ? m.files[part == ARTIFACT_ERR]
				   : NULL;
	if (file)
		verb_fail(v, ENVELOPE_UNREADABLE, "%s: the command wrote its standard %s to %s", id,
			  part == ARTIFACT_ERR ? "error" : "output", file);
	meta_release(&m);
	errno = error;
	return file;
}

/* Says why there is no text of standard error. */
static const char *verb_explain_stderr(int dir, const char *id)
{
	static const char *const reasons[] = {
		[META_STDERR_MERGED] = "was not kept apart: it is in the text",
		[META_STDERR_APART] = "fitted and was printed",
		[META_STDERR_ELSEWHERE] = "did not pass through terse",
	};
	struct meta m = {.standard_error = META_STDERR_MERGED};
	enum meta_stderr where = META_STDERR_MERGED;
	if (meta_read(dir, id, &m) == 0)
		where = m.standard_error;
	meta_release(&m);
	return reasons[where];
}

void verb_fail_part(const struct verb *v, enum artifact_part part, int dir, const char *id)
{
	if (errno == ENOENT && verb_fail_filed(v, part, dir, id))
		return;
	if (errno == ENOENT && part == ARTIFACT_ERR)
		verb_fail(v, ENVELOPE_UNREADABLE, "%s: standard error %s", id,
			  verb_explain_stderr(dir, id));
	else if (errno == ENOENT && part == ARTIFACT_RAW)
		verb_fail(v, ENVELOPE_UNREADABLE,
			  "%s: its raw bytes were not kept (--keep-raw keeps them)", id);
	else
		verb_fail(v, ENVELOPE_UNREADABLE, "%s: %m", id);
}

static void verb_fail_found_part(const struct verb *v, enum artifact_part part,
				 const struct id_found *found)
{
	int error = errno, dir = store_open_session(found->store, found->session, false);
	errno = error;
	verb_fail_part(v, part, dir, found->id);
	io_close(&dir);
}

int verb_open(const struct verb *v, const struct settings *settings, const char *session,
	      enum artifact_part part, const char *name, struct text *text)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	if (!verb_has_session(v, settings, session))
		return -1;
	int result = verb_find(settings, session, name, stores, &count, &found);
	int why = errno;
	bool files = settings->reach == REACH_FILES;
	if (result < 0 && why == ENOENT &&
	    live_run_text(settings, session, stores, count, name) == 0)
		result = verb_look_up(settings, session, name, stores, count, &found);
	bool asks = result < 0 && why == ENOENT && !(files && io_is_there(AT_FDCWD, name));
	if (result < 0)
		result = asks ? verb_fetch(v, settings, session, name, stores, &count, &found) : 1;
	if (result > 0 && files) {
		result = verb_open_file(v, settings, part, name, why, &found, text);
	} else if (result > 0) {
		verb_fail_found(v, settings, name, why, &found);
		result = -1;
	} else if (result == 0 && (result = verb_open_found(&found, part, text)) < 0) {
		verb_fail_found_part(v, part, &found);
	} else if (result == 0 && *text->id && text->size == 0 &&
		   verb_fail_filed(v, part, text->dir, text->id)) {
		text_close(text);
		result = -1;
	}
	store_close_all(stores, count);
	return result;
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

bool verb_is_binary(const struct text *text, struct kind *kind)
{
	char *head = malloc(FILE_TYPE_LEN);
	ssize_t n = head ? io_read_at(text->fd, head, FILE_TYPE_LEN, 0) : 0;
	bool is = n > 0 && sniff_is_binary(head, (size_t)n, kind);
	free(head);
	return is;
}
