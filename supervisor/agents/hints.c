// See hints.h.

#include "supervisor/agents/hints.h"

#include "lib/buffer.h"
#include "supervisor/agents/outline.h"
#include "supervisor/agents/wiring.h"

#include <fnmatch.h>
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
static char *pattern_of(const struct outline *j, int node)
{
	const struct outline_node *n = &j->nodes[node];
	if (n->key_end)
		return strndup(j->text + n->key + 1, n->key_end - n->key - 2);
	return outline_string(j, node);
}

/* Warns about patterns that let everything through; stores another one in *example. */
static void look_through(struct buffer *out, const struct wiring *w, const char *path,
			 const struct outline *j, int list, char **example)
{
	for (int i = outline_next(j, list, -1); i >= 0; i = outline_next(j, list, i)) {
		char *pattern = pattern_of(j, i);
		if (pattern && allows_all(w, pattern)) {
			buffer_printf(
				out,
				"warning: %s:%zu: \"%s\" is a pattern for every command: terse "
				"runs whatever it is given\n",
				path, outline_line(j->text, j->nodes[i].start), pattern);
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
	struct outline j;
	bool known = outline_parse(&j, false, text->data ? text->data : "", text->len) == 0;
	for (size_t i = 0; known && i < sizeof(w->patterns) / sizeof(*w->patterns); i++) {
		const char *const *keys = w->patterns[i];
		int list = *keys ? outline_find(&j, keys) : -1;
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
	outline_release(&j);
}

/* --- variables that do not arrive -------------------------------------------------------- */

/* Whether one of the patterns in an array is for the variable. */
static bool array_matches(const struct outline *o, int array, const char *variable)
{
	bool found = false;
	for (int i = outline_next(o, array, -1); i >= 0 && !found; i = outline_next(o, array, i)) {
		char *pattern = outline_string(o, i);
		found = pattern && fnmatch(pattern, variable, FNM_CASEFOLD) == 0;
		free(pattern);
	}
	return found;
}

bool hints_variables(struct buffer *out, const struct wiring_file *file, const char *path,
		     const struct buffer *text, struct place *place)
{
	static const char *const list[] = {"shell_environment_policy", "include_only", NULL};
	struct buffer names = BUFFER_INIT;
	struct outline o;
	if (!wiring_is_toml(file))
		return false;
	bool read = outline_parse(&o, true, text->data ? text->data : "", text->len) == 0;
	int array = read ? outline_find(&o, list) : -1;
	for (size_t i = 0; array >= 0 && i < WIRING_ITEMS_MAX; i++) {
		const struct wiring_item *item = &file->items[i];
		if (item->kind != WIRING_STRING || !item->value ||
		    array_matches(&o, array, item->path[2]))
			continue;
		buffer_printf(&names, "%s\"%s\"", names.len ? ", " : "", item->path[2]);
		if (place)
			*wiring_place(place, item) = '\0';
	}
	bool any = names.len > 0;
	if (any && buffer_string(&names))
		buffer_printf(out,
			      "%s:%zu: include_only keeps terse's variables from its commands: add "
			      "%s to it\n",
			      path, outline_line(o.text, o.nodes[array].start), names.data);
	outline_release(&o);
	buffer_release(&names);
	return any;
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

/* A build keeps all its files in one directory. */
static void check_installed(struct buffer *out, const struct place *place)
{
	const char *end = strrchr(place->program, '/');
	size_t len = end ? (size_t)(end - place->program) + 1 : 0;
	if (len && *place->library && strncmp(place->program, place->library, len) == 0 &&
	    !strchr(place->library + len, '/'))
		buffer_printf(out,
			      "warning: terse is not installed, and agents run %s from now on: run "
			      "make install first, or keep that build\n",
			      place->program);
}

void hints_append(struct buffer *out, const struct wiring *w, const struct place *place)
{
	char found[PATH_MAX];
	for (const char *line = w->note; line && *line; line += strcspn(line, "\n") + 1)
		buffer_printf(out, "%s: %.*s\n", w->agent, (int)strcspn(line, "\n"), line);
	if (w->start)
		buffer_printf(out,
			      "%s: start it so: %s; for good, in your shell's start-up file: alias "
			      "%s='%s'\n",
			      w->agent, w->start, w->programs, w->start);
	if (!hints_find_program(w->programs, found))
		buffer_printf(out, "note: %s is not in PATH here\n", w->agent);
	check_path(out, place);
	check_installed(out, place);
}
