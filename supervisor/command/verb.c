// See verb.h.

#include "supervisor/command/verb.h"

#include "supervisor/artifact/session.h"
#include "supervisor/artifact/text.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/io.h"
#include "supervisor/base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void verb_error(const char *verb, const char *format, ...)
{
	struct buffer text = BUFFER_INIT, line = BUFFER_INIT;
	va_list args;
	va_start(args, format);
	if (buffer_vprintf(&text, format, args) == 0 &&
	    buffer_printf(&line, "terse %s: ", verb) == 0 &&
	    utf8_clean(&line, text.data, text.len) == 0 && buffer_append(&line, "\n", 1) == 0)
		io_write(STDERR_FILENO, line.data, line.len);
	va_end(args);
	buffer_release(&text);
	buffer_release(&line);
}

static const struct verb_option *find_option(const struct verb_option *table, const char *arg,
					     size_t len)
{
	for (; table->name; table++) {
		if (strlen(table->name) == len && memcmp(table->name, arg, len) == 0)
			return table;
	}
	return NULL;
}

static bool parse_count(const char *text, uint64_t least, uint64_t *value)
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

static int no_such_option(const char *verb, const char *arg, size_t len)
{
	verb_error(verb, "%.*s: no such option (see terse help %s)", (int)len, arg, verb);
	return -1;
}

static int set_value(const char *verb, const struct verb_option *o, const char *value)
{
	uint64_t least = o->kind == VERB_COUNT;
	if (!value) {
		verb_error(verb, "%s: needs a value", o->name);
		return -1;
	}
	if (o->kind == VERB_TEXT) {
		if (*(const char **)o->value) {
			verb_error(verb, "%s: given twice", o->name);
			return -1;
		}
		*(const char **)o->value = value;
	} else if (!parse_count(value, least, o->value)) {
		verb_error(verb, "%s: %s: must be a number from %d on", o->name, value, (int)least);
		return -1;
	}
	return 0;
}

/* Takes the option at argv[*i]; moves *i to its value if that is the next argument. */
static int take_option(const struct verb_option *table, int argc, char **argv, int *i)
{
	const char *verb = argv[0], *arg = argv[*i];
	const char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct verb_option *o = find_option(table, arg, len);
	if (!o)
		return no_such_option(verb, arg, len);
	if (o->kind == VERB_FLAG) {
		if (equals) {
			verb_error(verb, "%s: takes no value", o->name);
			return -1;
		}
		*(bool *)o->value = true;
		return 0;
	}
	return set_value(verb, o, equals ? equals + 1 : ++*i < argc ? argv[*i] : NULL);
}

/* Takes the letters at argv[*i]; the last one may take a value. */
static int take_letters(const struct verb_option *table, int argc, char **argv, int *i)
{
	for (const char *letter = argv[*i] + 1; *letter; letter++) {
		const char name[3] = {'-', *letter, '\0'};
		const struct verb_option *o = find_option(table, name, 2);
		if (!o)
			return no_such_option(argv[0], argv[*i], strlen(argv[*i]));
		if (o->kind != VERB_FLAG)
			return set_value(argv[0], o,
					 letter[1]     ? letter + 1
					 : ++*i < argc ? argv[*i]
						       : NULL);
		*(bool *)o->value = true;
	}
	return 0;
}

int verb_parse(const struct verb_option *table, int argc, char **argv, const char **operands,
	       int max)
{
	int count = 0;
	bool options = true;
	for (int i = 1; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
		} else if (options && argv[i][0] == '-' && argv[i][1]) {
			int taken = argv[i][1] == '-' ? take_option(table, argc, argv, &i)
						      : take_letters(table, argc, argv, &i);
			if (taken < 0)
				return -1;
		} else if (count == max) {
			verb_error(argv[0], "%s: one argument too many (see terse help %s)",
				   argv[i], argv[0]);
			return -1;
		} else {
			operands[count++] = argv[i];
		}
	}
	return count;
}

void verb_session(const struct settings *settings, const char *session,
		  char directory[STORE_SESSION_LEN + 1])
{
	char room[SESSION_ROOM];
	store_session_name(session ? session : session_name(settings, getppid(), room), directory);
}

int verb_find(const struct settings *settings, const char *session, const char *name,
	      struct store stores[STORE_MAX], int *count, struct id_found *found)
{
	char directory[STORE_SESSION_LEN + 1];
	verb_session(settings, session, directory);
	*count = store_open_all(stores);
	return id_find(stores, *count, directory, name, found);
}

void verb_not_found(const char *verb, const char *name, int error)
{
	if (error == EEXIST)
		verb_error(verb, "%s: several artifacts begin so: give more of the ID", name);
	else if (error == ENOENT || error == EINVAL)
		verb_error(verb, "%s: no such artifact (terse list shows what there is)", name);
	else
		verb_error(verb, "%s: %s", name, strerror(error));
}

int verb_open_found(const struct id_found *found, bool standard_error, struct text *text)
{
	int dir = store_open_session(found->store, found->session, false);
	if (dir < 0)
		return -1;
	int result = text_open(text, dir, found->id, standard_error ? ARTIFACT_ERR : ARTIFACT_OUT);
	io_close(&dir);
	return result;
}

/* No artifact has this name, `why` being the reason. */
static int open_file(bool standard_error, const char *verb, const char *name, int why,
		     struct text *text)
{
	if (why == EEXIST) {
		verb_not_found(verb, name, why);
		return -1;
	}
	if (text_open_file(text, name) < 0) {
		if (errno == ENOENT || why != EINVAL)
			verb_not_found(verb, name, why);
		else
			verb_error(verb, "%s: %s", name,
				   errno == EINVAL ? "not a regular file" : strerror(errno));
		return -1;
	}
	if (!standard_error)
		return 0;
	verb_error(verb, "%s: --stderr is for artifacts, this is a file", name);
	text_close(text);
	return -1;
}

int verb_open(const struct settings *settings, const char *session, bool standard_error,
	      const char *verb, const char *name, struct text *text)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	int result = verb_find(settings, session, name, stores, &count, &found);
	if (result < 0) {
		result = open_file(standard_error, verb, name, errno, text);
	} else if ((result = verb_open_found(&found, standard_error, text)) < 0) {
		if (errno == ENOENT && standard_error)
			verb_error(verb, "%s: standard error was not kept apart: it is in the text",
				   found.id);
		else
			verb_error(verb, "%s: %m", found.id);
	}
	while (count > 0)
		store_close(&stores[--count]);
	return result;
}
