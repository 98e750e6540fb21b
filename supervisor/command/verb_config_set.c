// terse config get KEY, terse config set KEY VALUE...

#include "config/assign.h"
#include "config/error.h"
#include "config/ini.h"
#include "config/option_print.h"
#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/agents/document.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_named(const struct option *o, const char *name)
{
	size_t len = strlen(o->section);
	return (o->flag && strcmp(o->flag, name) == 0) || strcmp(o->variable, name) == 0 ||
	       (strncmp(o->section, name, len) == 0 && name[len] == '.' &&
		strcmp(o->key, name + len + 1) == 0);
}

/* SECTION.KEY, KEY where there is one of it, the flag or the variable; NULL after saying what is
   wrong. */
static const struct option *config_set_find(const char *name)
{
	const struct option *found = NULL, *other = NULL;
	char reason[NEAREST_LEN];
	struct nearest n;
	nearest_init(&n, name);
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		if (is_named(o, name))
			return o;
		if (strcmp(o->key, name) == 0) {
			other = found;
			found = o;
		}
		nearest_offer(&n, o->key);
		if (o->flag)
			nearest_offer(&n, o->flag);
		nearest_offer(&n, o->variable);
	}
	if (other)
		verb_error("config", "%s: %s.%s or %s.%s?", name, other->section, name,
			   found->section, name);
	else if (!found)
		verb_error("config", "%s: %s", name, nearest_reason(reason, "key", n.best));
	return other ? NULL : found;
}

/* What is in `text`, which may hold anything, and `end`. Returns the verb's status. */
static int config_set_print(const struct buffer *text, const char *end)
{
	struct buffer out = BUFFER_INIT;
	int status = EXIT_TERSE;
	if (utf8_clean(&out, text->data, text->len) == 0 && buffer_append_string(&out, end) == 0 &&
	    (io_write(STDOUT_FILENO, out.data, out.len) == 0 || errno == EPIPE))
		status = 0;
	else
		verb_error("config", "%s", strerror(errno));
	buffer_release(&out);
	return status;
}

int config_get(const struct settings *s, int count, char **words)
{
	struct buffer text = BUFFER_INIT;
	if (count != 1) {
		verb_error("config", "which key? terse config get KEY");
		return EXIT_TERSE;
	}
	const struct option *o = config_set_find(words[0]);
	if (!o)
		return EXIT_TERSE;
	int status = show_value(s, o, &text) == 0
			     ? config_set_print(&text, o->type == OPTION_LIST ? "" : "\n")
			     : EXIT_TERSE;
	buffer_release(&text);
	return status;
}

/* Whether the option takes the values; says why not. */
static bool are_good(const struct option *o, char **values, int count)
{
	struct settings s = {0};
	struct option_error error = {""}, message;
	int i = 0, result = o->type == OPTION_LIST || count == 1 ? 0 : -1;
	if (result < 0)
		snprintf(error.text, sizeof(error.text), "takes one value");
	for (; result == 0 && i < count; i++)
		result = o->type == OPTION_LIST ? option_append(&s, o, values[i], &error)
						: option_set(&s, o, values[i], &error);
	if (result < 0) {
		config_error_write(&(struct config_error){.where = o->key,
							  .value = i ? values[i - 1] : NULL,
							  .reason = error.text},
				   &message);
		verb_error("config", "%s", message.text);
	}
	option_clear(&s, o);
	return result == 0;
}

static void config_set_tell(void *ctx, const char *message)
{
	verb_error(ctx, "%s", message);
}

/* Returns the verb's status. */
static int config_set_write_file(const char *path, const struct option *o, char **values, int count)
{
	struct document d;
	struct buffer next = BUFFER_INIT, line = BUFFER_INIT;
	const char *why = NULL;
	int status = EXIT_TERSE;
	if (document_read(&d, path, NULL) < 0) {
		why = d.reason ? d.reason : strerror(errno);
	} else if (settings_check_text(ORIGIN_USER, path, d.text.len ? d.text.data : "", d.text.len,
				       config_set_tell, (char *)"config") != 0) {
		why = "has errors, and is left as it is";
	} else if (ini_set(&next, d.text.len ? d.text.data : "", d.text.len, o->section, o->key,
			   values, (size_t)count) < 0) {
		why = errno == EINVAL ? "an ini file can't hold that value" : strerror(errno);
	} else if (document_write(&d, next.data, next.len) < 0) {
		why = strerror(errno);
	} else if (buffer_printf(&line, "%s: [%s] %s =", path, o->section, o->key) == 0) {
		for (int i = 0; i < count; i++)
			buffer_printf(&line, " %s", values[i]);
		status = config_set_print(&line, "\n");
	}
	if (why)
		verb_error("config", "%s: %s", path, why);
	document_release(&d);
	buffer_release(&next);
	buffer_release(&line);
	return status;
}

int config_set(int count, char **words)
{
	char room[PATH_MAX];
	bool named;
	if (count < 2) {
		verb_error("config", "what? terse config set KEY VALUE");
		return EXIT_TERSE;
	}
	const struct option *o = config_set_find(words[0]);
	if (!o || !are_good(o, words + 1, count - 1))
		return EXIT_TERSE;
	const char *path = settings_user_file(room, &named);
	if (!path) {
		verb_error("config", "set: no home directory, or TERSE_CONFIG is empty");
		return EXIT_TERSE;
	}
	return config_set_write_file(path, o, words + 1, count - 1);
}
