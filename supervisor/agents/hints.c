// See hints.h.

#include "supervisor/agents/hints.h"

#include "lib/buffer.h"
#include "supervisor/agents/jsonc.h"
#include "supervisor/agents/wiring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool hints_find_one(const char *name, size_t len, char found[PATH_MAX])
{
	const char *path = getenv("PATH");
	for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;) {
		size_t folder = strcspn(at, ":");
		if (folder &&
		    (size_t)snprintf(found, PATH_MAX, "%.*s/%.*s", (int)folder, at, (int)len,
				     name) < PATH_MAX &&
		    access(found, X_OK) == 0)
			return true;
		at = at[folder] ? at + folder + 1 : NULL;
	}
	return false;
}

bool hints_find_program(const char *names, char found[PATH_MAX])
{
	for (;;) {
		size_t len = strcspn(names, "|");
		if (hints_find_one(names, len, found))
			return true;
		if (!names[len])
			return false;
		names += len + 1;
	}
}

/* A pattern that lets terse run whatever it is given. */
static bool allows_all(const struct wiring *w, const char *pattern)
{
	static const char *const rests[] = {"terse:*)", "terse *)", "terse*)",
					    "terse *",  "terse*",   "terse)"};
	size_t len = strlen(w->pattern);
	if (strncmp(pattern, w->pattern, len) != 0)
		return false;
	for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
		if (strcmp(pattern + len, rests[i]) == 0)
			return true;
	}
	return false;
}

/* A pattern: an element, or the key of a member. */
static char *pattern_of(const struct jsonc *j, int node)
{
	const struct jsonc_node *n = &j->nodes[node];
	if (n->key_end)
		return strndup(j->text + n->key + 1, n->key_end - n->key - 2);
	return jsonc_string(j, node);
}

/* Warns about patterns that let everything through; stores another one in *example. */
static void look_through(struct buffer *out, const struct wiring *w, const char *path,
			 const struct jsonc *j, int list, char **example)
{
	for (int i = jsonc_next(j, list, -1); i >= 0; i = jsonc_next(j, list, i)) {
		char *pattern = pattern_of(j, i);
		if (pattern && allows_all(w, pattern)) {
			buffer_printf(
				out,
				"warning: %s:%zu: \"%s\" is a pattern for every command: terse "
				"runs whatever it is given\n",
				path, jsonc_line(j->text, j->nodes[i].start), pattern);
		} else if (pattern && !*example && strcmp(pattern, "*") != 0 &&
			   strncmp(pattern, w->pattern, strlen(w->pattern)) == 0) {
			*example = pattern;
			continue;
		}
		free(pattern);
	}
}

void hints_patterns(struct buffer *out, const struct wiring *w, const char *path,
		    const struct buffer *text)
{
	if (!w->pattern)
		return;
	char *example = NULL;
	struct jsonc j;
	bool known = jsonc_parse(&j, text->data ? text->data : "", text->len) == 0;
	for (size_t i = 0; known && i < sizeof(w->patterns) / sizeof(*w->patterns); i++) {
		const char *const *keys = w->patterns[i];
		int list = *keys ? jsonc_find(&j, keys) : -1;
		if (list >= 0)
			look_through(out, w, path, &j, list, &example);
	}
	if (example)
		buffer_printf(
			out,
			"warning: %s: patterns like \"%s\" do not match where the model types "
			"terse before the command; to let it read on without being asked, allow "
			"%s and no more of terse\n",
			path, example, w->allow);
	free(example);
	jsonc_release(&j);
}

/* The lines for the model name `terse read ...`. */
static void check_path(struct buffer *out, const struct place *place)
{
	char found[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(place->program, '/');
	if (!hints_find_program("terse", found))
		buffer_printf(
			out,
			"warning: terse is not in PATH, so the commands that its notices name "
			"would not be found: add %.*s\n",
			slash ? (int)(slash - place->program) : 0, place->program);
	else if (realpath(found, real) && strcmp(real, place->program) != 0)
		buffer_printf(out, "warning: terse in PATH is another one: %s\n", found);
}

void hints_append(struct buffer *out, const struct wiring *w, const struct place *place)
{
	char found[PATH_MAX];
	for (const char *line = w->note; line && *line; line += strcspn(line, "\n") + 1)
		buffer_printf(out, "%s: %.*s\n", w->agent, (int)strcspn(line, "\n"), line);
	if (!hints_find_program(w->programs, found))
		buffer_printf(out, "note: %s is not in PATH here\n", w->agent);
	check_path(out, place);
}
