// See wiring.h; the agents are in wirings.c.

#include "supervisor/wiring/wiring.h"

#include "supervisor/wiring/step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	int status = len ? buffer_append(&now, text, len) : 0;

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
		if (status < 0) {
			buffer_release(&next);
			break;
		}
		buffer_release(&now);
		now = next;
	}
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
