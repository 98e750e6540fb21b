// See wiring.h; the agents are in wiring_table.c.

#include "supervisor/agents/wiring.h"

#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/agents/document.h"
#include "supervisor/agents/outline.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One item of a wiring that is put into the text of a file, or taken out of it. The functions that
   do it append the text `t` with the item, or without it; 0, or -1 with errno as wiring_apply(). */
struct step {
	const struct wiring_item *item;
	const struct place *place;
	bool toml;
	const char *original; /* taking out: the text before terse, or NULL */
	size_t original_len;
	struct wiring_error *error;
};

/* Fills in the error for a place in the text (line 1 where that has none); -1 with errno. */
__attribute__((format(printf, 5, 6))) static int
step_refuse(const struct step *s, const char *text, size_t at, int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(s->error->text, sizeof(s->error->text), format, args);
	va_end(args);
	s->error->line = outline_line(text, at);
	errno = error;
	return -1;
}

/* --- what an item's value is ------------------------------------------------------------ */

/* Appends a string as JSON has it. Returns 0, or -1 with errno: EILSEQ, not UTF-8; ENOMEM. */
static int step_quote(struct buffer *out, const char *string)
{
	uint32_t cp;
	for (size_t left = strlen(string), at = 0, n; left > 0; at += n, left -= n) {
		/* JSON has no way to write such a path. */
		if (!utf8_next(string + at, left, &cp, &n)) {
			errno = EILSEQ;
			return -1;
		}
	}
	buffer_append(out, "\"", 1);
	json_text_piece(out, string, strlen(string));
	json_end_text(out);
	return buffer_check(out);
}

/* What a string may name: a member of struct place, how its paths end, and what is behind them. */
struct place_member {
	const char *name, *end, *behind;
	size_t offset;
};

static const struct place_member *wiring_find_member(const struct wiring_item *item)
{
	static const struct place_member members[] = {
		{"library", "/libterse-shim.so", "", offsetof(struct place, library)},
		{"shell", "/terse-sh", "", offsetof(struct place, shell)},
		{"bash_env", "/bash-env" PLACE_UNLESS_VERBOSE, PLACE_UNLESS_VERBOSE,
		 offsetof(struct place, bash_env)},
	};
	const struct place_member *m = members;
	while (strcmp(m->name, item->value) != 0)
		m++;
	return m;
}

char *wiring_place(const struct place *place, const struct wiring_item *item)
{
	return (char *)place + wiring_find_member(item)->offset;
}

/* The string by which an item names terse, as JSON has it: a file of terse's, or `terse hook ...`
   as a shell reads it. NUL-terminated. */
static int step_own(struct buffer *out, const struct step *s)
{
	struct buffer string = BUFFER_INIT;
	if (s->item->kind == WIRING_HOOK) {
		quote_append(&string, s->place->program);
		buffer_printf(&string, " hook %s", s->item->hook);
	} else if (s->item->kind == WIRING_STRING) {
		buffer_append_string(&string, wiring_place(s->place, s->item));
		buffer_append_string(&string, wiring_find_member(s->item)->behind);
	} else {
		buffer_append_string(&string, s->place->program);
	}
	int status = buffer_string(&string) ? step_quote(out, string.data) : -1;
	buffer_release(&string);
	return status == 0 && buffer_string(out) ? 0 : -1;
}

/* The value as it stands in the file; NUL-terminated. */
static int step_value(struct buffer *out, const struct step *s)
{
	const char *value = s->item->value, *at;
	switch (s->item->kind) {
	case WIRING_STRING: return step_own(out, s);
	case WIRING_HOOK:
	case WIRING_MEMBER:
	case WIRING_FILE:
		at = strstr(value, "%s");
		buffer_append(out, value, at ? (size_t)(at - value) : strlen(value));
		if (at && step_own(out, s) < 0)
			return -1;
		buffer_append_string(out, at ? at + 2 : "");
		break;
	case WIRING_LINES: buffer_printf(out, LINES_BEGIN "\n%s" LINES_END "\n", value); break;
	case WIRING_PRESENT: buffer_append_string(out, value); break;
	}
	return buffer_string(out) ? 0 : -1;
}

/* --- lines for a model, and whole files ------------------------------------------------ */

static const char *find_marker(const struct buffer *t, const char *from, const char *marker)
{
	return memmem(from, t->len - (size_t)(from - t->data), marker, strlen(marker));
}

/* The block between the markers: its start and the end of its last line. A marker that somebody
   left without its other half is not one of them. */
static bool find_lines(const struct buffer *t, size_t *from, size_t *to)
{
	const char *begin = find_marker(t, t->data, LINES_BEGIN);
	const char *end = begin ? find_marker(t, begin, LINES_END) : NULL;
	if (!end)
		return false;
	for (const char *next = begin; next && next < end;
	     next = find_marker(t, begin + 1, LINES_BEGIN))
		begin = next;
	*from = (size_t)(begin - t->data);
	*to = (size_t)(end - t->data) + strlen(LINES_END);
	*to += *to < t->len && t->data[*to] == '\r';
	*to += *to < t->len && t->data[*to] == '\n';
	return true;
}

static int step_add_lines(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct buffer value = BUFFER_INIT;
	size_t from = t->len, to = from;
	bool there = find_lines(t, &from, &to);
	/* Lines end as the first one does. */
	const char *first = t->len ? memchr(t->data, '\n', t->len) : NULL;
	const char *end = first && first > t->data && first[-1] == '\r' ? "\r\n" : "\n";
	int status = step_value(&value, s);
	buffer_append(out, t->data, from);
	if (!there && from && t->data[from - 1] != '\n')
		buffer_append_string(out, end);
	if (!there && from)
		buffer_append_string(out, end);
	for (const char *line = status == 0 ? value.data : ""; *line;
	     line = strchr(line, '\n') + 1) {
		buffer_append(out, line, strcspn(line, "\n"));
		buffer_append_string(out, end);
	}
	buffer_append(out, t->data + to, t->len - to);
	buffer_release(&value);
	return status;
}

static void step_drop_lines(struct buffer *out, const struct buffer *t)
{
	size_t from, to;
	if (!find_lines(t, &from, &to))
		from = to = t->len;
	else if (from >= 4 && memcmp(t->data + from - 4, "\r\n\r\n", 4) == 0)
		from -= 2;
	else if (from >= 2 && memcmp(t->data + from - 2, "\n\n", 2) == 0)
		from--;
	buffer_append(out, t->data, from);
	buffer_append(out, t->data + to, t->len - to);
}

/* Whether the file is one of terse's: by its first line. */
static bool is_own_file(const struct buffer *t, const struct wiring_item *item)
{
	size_t line = strcspn(item->value, "\n");
	return t->len > line && memcmp(t->data, item->value, line) == 0;
}

/* --- items in JSON and TOML ------------------------------------------------------------ */

static int step_parse(struct outline *o, const struct step *s, const struct buffer *t)
{
	if (outline_parse(o, s->toml, t->data ? t->data : "", t->len) == 0)
		return 0;
	return errno == EINVAL ? step_refuse(s, o->text, o->at, EINVAL, "%s", o->reason) : -1;
}

/* The string that terse wrote as the node, or of other items somewhere in it, wherever terse was
   then; or -1. */
static int find_own(const struct outline *o, const struct step *s, int node)
{
	char end[64] = "/terse";
	bool string = s->item->kind == WIRING_STRING;
	if (s->item->kind == WIRING_HOOK)
		snprintf(end, sizeof(end), " hook %s", s->item->hook);
	else if (string)
		snprintf(end, sizeof(end), "%s", wiring_find_member(s->item)->end);
	size_t end_len = strlen(end);
	for (int i = node; i < (string ? node + 1 : (int)o->count); i++) {
		char *value = outline_is_within(o, i, node) ? outline_string(o, i) : NULL;
		size_t len = value ? strlen(value) : 0;
		bool found = len >= end_len && strcmp(value + len - end_len, end) == 0;
		free(value);
		if (found)
			return i;
	}
	return -1;
}

/* Puts the item where nothing of it is, or renews the path of terse in it. */
static int step_add_value(struct buffer *out, const struct buffer *t, const struct step *s)
{
	const struct wiring_item *item = s->item;
	bool hook = item->kind == WIRING_HOOK;
	struct buffer wanted = BUFFER_INIT, own = BUFFER_INIT;
	struct outline o;
	int status = step_parse(&o, s, t);
	if (status < 0 || step_value(&wanted, s) < 0) {
		status = -1;
		goto out;
	}
	int node = outline_find(&o, item->path), found = node < 0 ? -1 : find_own(&o, s, node);
	/* terse has not all of its files everywhere. */
	bool nothing = item->kind == WIRING_STRING && !*wiring_place(s->place, item);
	if (nothing || (node >= 0 && item->kind == WIRING_PRESENT)) {
		buffer_add(out, t);
	} else if (found >= 0) {
		status = step_own(&own, s);
		if (status == 0)
			status = outline_replace(out, &o, found, own.data);
	} else if (node >= 0 && !hook) {
		size_t last = 0;
		while (item->path[last + 1])
			last++;
		const struct outline_node *n = &o.nodes[node];
		status = step_refuse(s, o.text, n->start, EEXIST,
				     "\"%s\" is %.*s already; terse would be: %s", item->path[last],
				     (int)(n->end - n->start), o.text + n->start, wanted.data);
	} else {
		status = outline_add(out, &o, item->path, wanted.data, hook);
		if (status < 0 && errno == ENOTDIR)
			step_refuse(s, o.text, 0, EEXIST,
				    "\"%s\" is not what the agent expects there", item->path[0]);
	}
out:
	buffer_release(&wanted);
	buffer_release(&own);
	outline_release(&o);
	return status;
}

/* The number of keys that lead to the node, if all of them are the item's; else 0. */
static size_t depth_of(const struct outline *o, const struct wiring_item *item, int node)
{
	const char *part[WIRING_PATH_MAX + 1] = {NULL};
	for (size_t i = 0; i < WIRING_PATH_MAX && item->path[i]; i++) {
		part[i] = item->path[i];
		if (outline_find(o, part) == node)
			return i + 1;
	}
	return 0;
}

/* Whether the original had a node at the first `depth` keys. */
static bool was_there(const struct step *s, size_t depth)
{
	const char *part[WIRING_PATH_MAX + 1] = {NULL};
	struct outline o;
	bool found;
	if (!s->original)
		return false;
	memcpy(part, s->item->path, depth * sizeof(*part));
	found = outline_parse(&o, s->toml, s->original, s->original_len) == 0 &&
		outline_find(&o, part) >= 0;
	outline_release(&o);
	return found;
}

/* From what terse wrote upwards: the outermost node that goes with it. A table without a header
   goes by itself. */
static int outermost(const struct outline *o, const struct step *s, int node)
{
	if (s->item->kind == WIRING_HOOK)
		node = o->nodes[node].parent;
	for (;;) {
		int up = o->nodes[node].parent;
		size_t depth = depth_of(o, s->item, up);
		/* The pattern for which tools a hook is does not count where terse made it. */
		int matcher = depth == 0 && up >= 0 ? outline_member(o, up, "matcher") : -1;
		bool others = up <= 0 || !o->nodes[up].end;
		for (int i = -1; !others && (i = outline_next(o, up, i)) >= 0;)
			others = i != node && i != matcher;
		if (others || (depth > 0 && was_there(s, depth)))
			return node;
		node = up;
	}
}

static int step_drop_value(struct buffer *out, const struct buffer *t, const struct step *s)
{
	const struct wiring_item *item = s->item;
	struct outline o;
	int status = step_parse(&o, s, t);
	if (status == 0) {
		int node = outline_find(&o, item->path);
		int own = node < 0 ? -1 : find_own(&o, s, node);
		if (item->kind == WIRING_PRESENT && node >= 0 && !was_there(s, 1) &&
		    o.nodes[node].end - o.nodes[node].start == strlen(item->value))
			own = node;
		if (own >= 0 && item->kind == WIRING_MEMBER)
			own = node;
		if (own >= 0)
			outline_remove(out, &o, outermost(&o, s, own));
		else
			buffer_add(out, t);
	}
	outline_release(&o);
	return status;
}

/* --- an agent ---------------------------------------------------------------------------- */

const struct wiring *wiring_find(const struct wiring *table, const char *agent)
{
	for (const struct wiring *w = table; w->agent; w++) {
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
	else if (f->home && !*f->home && home && *home == '/')
		snprintf(folder, sizeof(folder), "%s", home);
	else if (f->home && home && *home == '/')
		snprintf(folder, sizeof(folder), "%s/%s", home, f->home);
	else {
		errno = ENOENT;
		return -1;
	}
	return wiring_choose(folder, f->below, out);
}

/* --- all of a file --------------------------------------------------------------------------- */

bool wiring_is_toml(const struct wiring_file *file)
{
	return file->folder.project && strstr(file->folder.project, ".toml");
}

/* Takes the text through every item, the last one first when they are taken away. */
static int walk(const struct wiring_file *file, struct step *s, bool back, const char *text,
		size_t len, struct buffer *out)
{
	struct buffer now = BUFFER_INIT;
	size_t count = 0;
	int status = 0;
	buffer_append(&now, text, len);
	*s->error = (struct wiring_error){.line = 0};
	while (count < WIRING_ITEMS_MAX && (file->items[count].path[0] || file->items[count].value))
		count++;
	for (size_t i = 0; i < count && status == 0; i++) {
		/* NUL-terminated, so that there is memory even for nothing. */
		if (!buffer_string(&now)) {
			status = -1;
			break;
		}
		struct buffer next = BUFFER_INIT;
		s->item = &file->items[back ? count - 1 - i : i];
		switch (s->item->kind) {
		case WIRING_FILE:
			if (!back && now.len && !is_own_file(&now, s->item))
				status = step_refuse(s, "", 0, EEXIST,
						     "there is such a file already");
			else if (!back)
				status = step_value(&next, s);
			else if (!is_own_file(&now, s->item))
				buffer_add(&next, &now);
			break;
		case WIRING_LINES:
			if (back)
				step_drop_lines(&next, &now);
			else
				status = step_add_lines(&next, &now, s);
			break;
		default:
			status = back ? step_drop_value(&next, &now, s)
				      : step_add_value(&next, &now, s);
		}
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
	struct step s = {.place = place, .toml = wiring_is_toml(file), .error = error};
	return walk(file, &s, false, text, len, out);
}

int wiring_revoke(const struct wiring_file *file, const char *original, size_t original_len,
		  const char *text, size_t len, struct buffer *out, struct wiring_error *error)
{
	static const struct place nowhere;
	struct step s = {.place = &nowhere,
			 .toml = wiring_is_toml(file),
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
	    !buffer_is(&without, text, len))
		state = WIRING_OTHER;
	if (state == WIRING_OTHER && wiring_apply(file, place, text, len, &with, &error) == 0 &&
	    buffer_is(&with, text, len))
		state = WIRING_SAME;
	buffer_release(&with);
	buffer_release(&without);
	return state;
}

enum wiring_state wiring_look(const struct wiring_file *file, const struct place *place,
			      const char *project)
{
	enum wiring_state state = WIRING_NONE;
	struct document d;
	char path[PATH_MAX];
	if (!file->folder.project || wiring_path(&file->folder, project, path) < 0)
		return state;
	if (document_read(&d, path, project) == 0 && d.exists)
		state = wiring_check(file, place, d.text.data ? d.text.data : "", d.text.len);
	document_release(&d);
	return state;
}

/* --- hints ------------------------------------------------------------------------------ */

bool hints_find_program(const char *names, char found[PATH_MAX])
{
	const char *path = getenv("PATH");
	for (size_t len;; names += len + 1) {
		len = strcspn(names, "|");
		for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;) {
			size_t folder = strcspn(at, ":");
			int n = snprintf(found, PATH_MAX, "%.*s/%.*s", (int)folder, at, (int)len,
					 names);
			if (folder && n < PATH_MAX && access(found, X_OK) == 0)
				return true;
			at = at[folder] ? at + folder + 1 : NULL;
		}
		if (!names[len])
			return false;
	}
}

void hints_patterns(struct buffer *out, const struct wiring *w, const char *path,
		    const struct buffer *text)
{
	/* Behind these a pattern lets terse run whatever it is given. */
	static const char *const rests[] = {"terse:*)", "terse *)", "terse*)",
					    "terse *",  "terse*",   "terse)"};
	if (!w->pattern)
		return;
	size_t len = strlen(w->pattern);
	char *example = NULL;
	struct outline j;
	bool known = outline_parse(&j, false, text->data ? text->data : "", text->len) == 0;
	for (size_t i = 0; known && i < sizeof(w->patterns) / sizeof(*w->patterns); i++) {
		int list = *w->patterns[i] ? outline_find(&j, w->patterns[i]) : -1, k = -1;
		while (list >= 0 && (k = outline_next(&j, list, k)) >= 0) {
			/* An element, or the key of a member. */
			const struct outline_node *n = &j.nodes[k];
			char *pattern =
				n->key_end ? strndup(j.text + n->key + 1, n->key_end - n->key - 2)
					   : outline_string(&j, k);
			bool meant = pattern && strncmp(pattern, w->pattern, len) == 0;
			bool all = false;
			for (size_t r = 0; meant && r < sizeof(rests) / sizeof(*rests); r++)
				all = all || strcmp(pattern + len, rests[r]) == 0;
			if (all)
				buffer_printf(out,
					      "warning: %s:%zu: \"%s\" is a pattern for every "
					      "command: terse runs whatever it is given\n",
					      path, outline_line(j.text, n->start), pattern);
			if (meant && !all && !example && strcmp(pattern, "*") != 0)
				example = pattern;
			else
				free(pattern);
		}
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
		bool kept = item->kind != WIRING_STRING || !item->value;
		for (int k = -1; !kept && (k = outline_next(&o, array, k)) >= 0;) {
			char *pattern = outline_string(&o, k);
			kept = pattern && fnmatch(pattern, item->path[2], FNM_CASEFOLD) == 0;
			free(pattern);
		}
		if (kept)
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

void hints_append(struct buffer *out, const struct wiring *w, const struct place *place)
{
	char found[PATH_MAX], real[PATH_MAX];
	for (const char *line = w->note; line && *line; line += strcspn(line, "\n") + 1)
		buffer_printf(out, "%s: %.*s\n", w->agent, (int)strcspn(line, "\n"), line);
	if (w->start)
		buffer_printf(out,
			      "%s: start it so: %s; for good, in your shell's start-up file: alias "
			      "%s='%s'\n",
			      w->agent, w->start, w->programs, w->start);
	if (!hints_find_program(w->programs, found))
		buffer_printf(out, "note: %s is not in PATH here\n", w->agent);
	/* The lines for the model name `terse read ...`. */
	const char *slash = strrchr(place->program, '/');
	if (!hints_find_program("terse", found))
		buffer_printf(
			out,
			"warning: terse is not in PATH, so the commands that its notices name "
			"would not be found: add %.*s\n",
			slash ? (int)(slash - place->program) : 0, place->program);
	else if (realpath(found, real) && strcmp(real, place->program) != 0)
		buffer_printf(out, "warning: terse in PATH is another one: %s\n", found);
	/* A build keeps all its files in one directory. */
	size_t len = slash ? (size_t)(slash - place->program) + 1 : 0;
	if (len && *place->library && strncmp(place->program, place->library, len) == 0 &&
	    !strchr(place->library + len, '/'))
		buffer_printf(out,
			      "warning: terse is not installed, and agents run %s from now on: run "
			      "make install first, or keep that build\n",
			      place->program);
}
