// See wiring.h.

#include "supervisor/agents/wiring.h"

#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/agents/jsonc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first of these that is there, below the directory of the program. */
static void command_place_find(char out[PATH_MAX], const char *folder, const char *const *names,
			       int mode)
{
	char path[PATH_MAX + 64], real[PATH_MAX];

	for (*out = '\0'; *names; names++) {
		snprintf(path, sizeof(path), "%s/%s", folder, *names);
		if (access(path, mode) < 0)
			continue;
		/* Without the "..", but terse-sh stays the link it is. */
		if (strncmp(*names, "../", 3) == 0 && realpath(path, real))
			snprintf(out, PATH_MAX, "%s", real);
		else
			snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, path);
		return;
	}
}

void place_find(struct place *p)
{
	static const char *const shells[] = {"terse-sh", NULL};
	static const char *const libraries[] = {"libterse-shim.so", "../lib/terse/libterse-shim.so",
						NULL};
	static const char *const scripts[] = {"../lib/terse/bash-env", "../shim/bash-env", NULL};
	ssize_t len = readlink("/proc/self/exe", p->program, sizeof(p->program) - 1);
	char folder[PATH_MAX];

	p->program[len < 0 ? 0 : len] = '\0';
	snprintf(folder, sizeof(folder), "%s", p->program);
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	command_place_find(p->shell, folder, shells, X_OK);
	command_place_find(p->library, folder, libraries, R_OK);
	command_place_find(p->bash_env, folder, scripts, R_OK);
	size_t path_len = strlen(p->bash_env);
	if (path_len > 0)
		snprintf(p->bash_env + path_len, PATH_MAX - path_len, PLACE_UNLESS_VERBOSE);
}

int step_refuse(const struct step *s, const char *text, size_t at, int error, const char *format,
		...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->error->text, sizeof(s->error->text), format, args);
	va_end(args);
	s->error->line = jsonc_line(text, at);
	errno = error;
	return -1;
}

/* --- what an item's value is ------------------------------------------------------------ */

int step_quote(struct buffer *out, const char *string)
{
	uint32_t cp;
	for (size_t left = strlen(string), at = 0, n; left > 0; at += n, left -= n) {
		/* JSON has no way to write such a path. */
		if (!utf8_next(string + at, left, &cp, &n)) {
			errno = EILSEQ;
			return -1;
		}
	}
	return json_add_string(out, NULL, string);
}

/* `terse hook ...` as a shell reads it. */
void step_command(struct buffer *out, const struct step *s)
{
	quote_append(out, s->place->program);
	buffer_printf(out, " hook %s", s->item->hook);
}

/* Puts a string, as JSON has it, where the template has %s. */
static int step_fill(struct buffer *out, const char *template, const char *string)
{
	const char *at = strstr(template, "%s");
	buffer_append(out, template, at ? (size_t)(at - template) : strlen(template));
	if (!string || (at && step_quote(out, string) < 0))
		return -1;
	return buffer_append_string(out, at ? at + 2 : "");
}

/* The value as it stands in the file; NUL-terminated. */
int step_value(struct buffer *out, const struct step *s)
{
	const struct wiring_item *item = s->item;
	struct buffer command = BUFFER_INIT;
	int status = 0;
	switch (item->kind) {
	case WIRING_STRING: status = step_quote(out, s->place->shell); break;
	case WIRING_HOOK:
		step_command(&command, s);
		status = step_fill(out, item->value, buffer_string(&command));
		break;
	case WIRING_FILE: status = step_fill(out, item->value, s->place->program); break;
	case WIRING_LINES:
		buffer_printf(out, LINES_BEGIN "\n%s" LINES_END "\n", wiring_lines);
		break;
	case WIRING_PRESENT:
	case WIRING_TOML: buffer_append_string(out, item->value); break;
	}
	buffer_release(&command);
	return status == 0 && buffer_string(out) ? 0 : -1;
}

const char *step_place(const struct step *s)
{
	if (strcmp(s->item->value, "library") == 0)
		return s->place->library;
	return strcmp(s->item->value, "shell") == 0 ? s->place->shell : s->place->bash_env;
}

static bool step_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Whether a string of the file is one that terse wrote, wherever it was then. */
bool step_is_own(const struct step *s, const char *value)
{
	char end[64];

	if (s->item->kind == WIRING_HOOK) {
		snprintf(end, sizeof(end), " hook %s", s->item->hook);
		return step_ends_with(value, end);
	}
	if (s->item->kind == WIRING_TOML) {
		const char *name = strcmp(s->item->value, "library") == 0 ? "/libterse-shim.so"
				   : strcmp(s->item->value, "shell") == 0
					   ? "/terse-sh"
					   : "/bash-env" PLACE_UNLESS_VERBOSE;
		return step_ends_with(value, name);
	}
	return step_ends_with(value, "/terse-sh");
}

// See wiring.h; the agents are in wiring_table.c.

const struct wiring *wiring_find(const char *agent)
{
	for (const struct wiring *w = wirings; w->agent; w++) {
		if (strcmp(w->agent, agent) == 0)
			return w;
	}
	return NULL;
}

/* --- where the files are -------------------------------------------------------------- */

/* The first of the names that is there, else the last one. */
static int wiring_choose(const char *folder, const char *names, char out[PATH_MAX])
{
	for (;;) {
		size_t len = strcspn(names, "|");
		int n = snprintf(out, PATH_MAX, "%s/%.*s", folder, (int)len, names);

		if (n < 0 || n >= PATH_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (names[len] == '\0' || access(out, F_OK) == 0)
			return 0;
		names += len + 1;
	}
}

int wiring_path(const struct wiring_folder *f, const char *project, char out[PATH_MAX])
{
	const char *set = f->variable ? getenv(f->variable) : NULL;
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	char folder[PATH_MAX];
	bool below = f->home && strncmp(f->home, ".config/", 8) == 0;

	if (project)
		return wiring_choose(project, f->project, out);
	if (set && *set == '/')
		snprintf(folder, sizeof(folder), "%s", set);
	else if (f->home && below && config && *config == '/')
		snprintf(folder, sizeof(folder), "%s/%s", config, f->home + 8);
	else if (f->home && home && *home == '/')
		snprintf(folder, sizeof(folder), "%s/%s", home, f->home);
	else {
		errno = ENOENT;
		return -1;
	}
	return wiring_choose(folder, f->below, out);
}

/* --- all of a file --------------------------------------------------------------------------- */

static int wiring_add_item(struct buffer *out, const struct buffer *t, const struct step *s)
{
	switch (s->item->kind) {
	case WIRING_TOML: return step_add_toml(out, t, s);
	case WIRING_FILE: return step_add_file(out, t, s);
	case WIRING_LINES: return step_add_lines(out, t, s);
	case WIRING_STRING:
	case WIRING_PRESENT:
	case WIRING_HOOK: break;
	}
	return step_add_json(out, t, s);
}

static int drop_item(struct buffer *out, const struct buffer *t, const struct step *s)
{
	switch (s->item->kind) {
	case WIRING_TOML: return step_drop_toml(out, t, s);
	case WIRING_FILE: return step_drop_file(out, t, s);
	case WIRING_LINES: return step_drop_lines(out, t);
	case WIRING_STRING:
	case WIRING_PRESENT:
	case WIRING_HOOK: break;
	}
	return step_drop_json(out, t, s);
}

static bool is_item(const struct wiring_file *file, size_t i)
{
	return i < WIRING_ITEMS_MAX && (file->items[i].path[0] || file->items[i].value);
}

/* Takes the text through every item, the last one first when they are taken away. */
static int walk(const struct wiring_file *file, struct step *s, bool back, const char *text,
		size_t len, struct buffer *out)
{
	struct buffer now = BUFFER_INIT;
	size_t count = 0;
	/* NUL-terminated, so that there is memory even for nothing. */
	int status = 0;
	buffer_append(&now, text, len);

	*s->error = (struct wiring_error){.line = 0};
	while (is_item(file, count))
		count++;
	for (size_t i = 0; i < count && status == 0; i++) {
		if (!buffer_string(&now)) {
			status = -1;
			break;
		}
		struct buffer next = BUFFER_INIT;

		s->item = &file->items[back ? count - 1 - i : i];
		status = back ? drop_item(&next, &now, s) : wiring_add_item(&next, &now, s);
		buffer_release(&now);
		now = next;
	}
	if (status == 0)
		status = buffer_check(&now);
	if (status == 0)
		*out = now;
	else
		buffer_release(&now);
	return status;
}

int wiring_apply(const struct wiring_file *file, const struct place *place, const char *text,
		 size_t len, struct buffer *out, struct wiring_error *error)
{
	struct step s = {.place = place, .error = error};

	return walk(file, &s, false, text, len, out);
}

int wiring_revoke(const struct wiring_file *file, const char *original, size_t original_len,
		  const char *text, size_t len, struct buffer *out, struct wiring_error *error)
{
	static const struct place nowhere;
	struct step s = {.place = &nowhere,
			 .original = original,
			 .original_len = original_len,
			 .error = error};

	return walk(file, &s, true, text, len, out);
}

enum wiring_state wiring_check(const struct wiring_file *file, const struct place *place,
			       const char *text, size_t len)
{
	struct wiring_error error;
	struct buffer with = BUFFER_INIT, without = BUFFER_INIT;
	enum wiring_state state = WIRING_NONE;

	if (wiring_revoke(file, text, len, text, len, &without, &error) == 0 &&
	    (without.len != len || (len && memcmp(without.data, text, len) != 0)))
		state = WIRING_OTHER;
	if (state == WIRING_OTHER && wiring_apply(file, place, text, len, &with, &error) == 0 &&
	    with.len == len && memcmp(with.data, text, len) == 0)
		state = WIRING_SAME;
	buffer_release(&with);
	buffer_release(&without);
	return state;
}

bool wiring_is_empty(const char *text, size_t len)
{
	static const char nothing[] = "{}";
	size_t found = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] && strchr(" \t\r\n", text[i]))
			continue;
		if (found == sizeof(nothing) - 1 || text[i] != nothing[found])
			return false;
		found++;
	}
	return found != 1;
}
