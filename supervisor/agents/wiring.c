// See wiring.h; the agents are in wiring_table.c.

#include "supervisor/agents/wiring.h"

#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/agents/jsonc.h"
#include "supervisor/agents/wiring_step.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* `terse hook ...` as a shell reads it. */
static void step_command(struct buffer *out, const struct step *s)
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
	buffer_append_string(out, at ? at + 2 : "");
	return 0;
}

/* The value as it stands in the file; NUL-terminated. */
static int step_value(struct buffer *out, const struct step *s)
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
	case WIRING_MEMBER:
	case WIRING_FILE: status = step_fill(out, item->value, s->place->program); break;
	case WIRING_LINES:
		buffer_printf(out, LINES_BEGIN "\n%s" LINES_END "\n", item->value);
		break;
	case WIRING_PRESENT:
	case WIRING_TOML_ARRAY:
	case WIRING_TOML: buffer_append_string(out, item->value); break;
	}
	buffer_release(&command);
	return status == 0 && buffer_string(out) ? 0 : -1;
}

/* What a TOML item may name: a member of struct place, and how its paths end. */
struct place_member {
	const char *name, *end;
	size_t offset;
};

static const struct place_member *find_member(const struct wiring_item *item)
{
	static const struct place_member members[] = {
		{"library", "/libterse-shim.so", offsetof(struct place, library)},
		{"shell", "/terse-sh", offsetof(struct place, shell)},
		{"program", "/terse", offsetof(struct place, program)},
		{"bash_env", "/bash-env" PLACE_UNLESS_VERBOSE, offsetof(struct place, bash_env)},
	};
	const struct place_member *m = members;
	while (strcmp(m->name, item->value) != 0)
		m++;
	return m;
}

char *wiring_place(const struct place *place, const struct wiring_item *item)
{
	return (char *)place + find_member(item)->offset;
}

bool step_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);
	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

bool step_is_own(const struct step *s, const char *value)
{
	char end[64];
	if (s->item->kind == WIRING_HOOK) {
		snprintf(end, sizeof(end), " hook %s", s->item->hook);
		return step_ends_with(value, end);
	}
	if (s->item->kind == WIRING_TOML)
		return step_ends_with(value, find_member(s->item)->end);
	return step_ends_with(value, s->item->kind == WIRING_MEMBER ? "/terse" : "/terse-sh");
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

/* How the lines of the text end, by its first one. */
static const char *line_end_of(const struct buffer *t)
{
	const char *end = t->len ? memchr(t->data, '\n', t->len) : NULL;
	return end && end > t->data && end[-1] == '\r' ? "\r\n" : "\n";
}

static int step_add_lines(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct buffer value = BUFFER_INIT;
	size_t from = t->len, to = from;
	bool there = find_lines(t, &from, &to);
	const char *end = line_end_of(t);
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

static int step_add_file(struct buffer *out, const struct buffer *t, const struct step *s)
{
	if (t->len && !is_own_file(t, s->item))
		return step_refuse(s, "", 0, EEXIST, "there is such a file already");
	return step_value(out, s);
}

static void step_drop_file(struct buffer *out, const struct buffer *t, const struct step *s)
{
	if (!is_own_file(t, s->item))
		buffer_append(out, t->data, t->len);
}

/* --- items in JSON -------------------------------------------------------------------- */

static int parse_json(struct jsonc *j, const struct step *s, const struct buffer *t)
{
	if (jsonc_parse(j, t->data ? t->data : "", t->len) == 0)
		return 0;
	return errno == EINVAL ? step_refuse(s, j->text, j->at, EINVAL, "%s", j->reason) : -1;
}

/* The string that terse wrote somewhere below the node, or -1. */
static int find_hook(const struct jsonc *j, const struct step *s, int below)
{
	for (size_t i = (size_t)below + 1; below >= 0 && i < j->count; i++) {
		int up = j->nodes[i].parent;
		while (up > below)
			up = j->nodes[up].parent;
		char *value = up == below ? jsonc_string(j, (int)i) : NULL;
		bool found = value && step_is_own(s, value);

		free(value);
		if (found)
			return (int)i;
	}
	return -1;
}

/* The node that terse wrote for the item, or -1. */
static int find_item(const struct jsonc *j, const struct step *s)
{
	int node = jsonc_find(j, s->item->path);
	return s->item->kind == WIRING_HOOK ? find_hook(j, s, node) : node;
}

/* Appends what the node has to be, as it stands in the file. */
static int write_wanted(struct buffer *out, const struct step *s)
{
	if (s->item->kind != WIRING_HOOK)
		return step_value(out, s);
	struct buffer command = BUFFER_INIT;
	step_command(&command, s);
	int status = buffer_string(&command) ? step_quote(out, command.data) : -1;
	buffer_release(&command);
	return status == 0 && buffer_string(out) ? 0 : -1;
}

/* The server is there, with a path of terse in it: only that is made the present one. */
static int renew_member(struct buffer *out, const struct jsonc *j, const struct step *s, int own)
{
	struct buffer path = BUFFER_INIT;
	int status = step_quote(&path, s->place->program);
	if (status == 0 && buffer_string(&path))
		jsonc_replace(out, j, own, path.data);
	buffer_release(&path);
	return status;
}

/* A value is there; it is terse's, of another path perhaps, or it is in the way. */
static int renew(struct buffer *out, const struct jsonc *j, const struct step *s, int node)
{
	struct buffer wanted = BUFFER_INIT;
	char *value = jsonc_string(j, node);
	bool member = s->item->kind == WIRING_MEMBER;
	int status = write_wanted(&wanted, s), own = member ? find_hook(j, s, node) : -1;
	if (status == 0 && own >= 0)
		status = renew_member(out, j, s, own);
	else if (status == 0 && s->item->kind == WIRING_PRESENT)
		buffer_append(out, j->text, j->len);
	else if (status == 0 && value && !member && step_is_own(s, value))
		jsonc_replace(out, j, node, wanted.data);
	else if (status == 0)
		status = step_refuse(s, j->text, j->nodes[node].start, EEXIST,
				     "\"%s\" is %.*s already; terse would be: %s",
				     s->item->path[s->item->path[1] ? 1 : 0],
				     (int)(j->nodes[node].end - j->nodes[node].start),
				     j->text + j->nodes[node].start, wanted.data);
	free(value);
	buffer_release(&wanted);
	return status;
}

static int step_add_json(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct buffer value = BUFFER_INIT;
	struct jsonc j;
	int status = parse_json(&j, s, t);
	if (status == 0) {
		int node = find_item(&j, s);
		if (node >= 0) {
			status = renew(out, &j, s, node);
		} else {
			status = step_value(&value, s);
			if (status == 0)
				status = jsonc_add(out, &j, s->item->path, value.data,
						   s->item->kind == WIRING_HOOK);
			if (status < 0 && errno == ENOTDIR)
				step_refuse(s, j.text, 0, EEXIST,
					    "\"%s\" is not what the agent expects there",
					    s->item->path[0]);
		}
	}
	buffer_release(&value);
	jsonc_release(&j);
	return status;
}

/* The number of keys that lead to the node, if all of them are the item's; else 0. */
static size_t depth_of(const struct jsonc *j, const struct wiring_item *item, int node)
{
	const char *part[WIRING_PATH_MAX + 1] = {NULL};
	for (size_t i = 0; i < WIRING_PATH_MAX && item->path[i]; i++) {
		part[i] = item->path[i];
		if (jsonc_find(j, part) == node)
			return i + 1;
	}
	return 0;
}

/* Whether the original had a node at the first `depth` keys. */
static bool was_there(const struct step *s, size_t depth)
{
	const char *part[WIRING_PATH_MAX + 1] = {NULL};
	struct jsonc j;
	bool found;
	if (!s->original)
		return false;
	memcpy(part, s->item->path, depth * sizeof(*part));
	found = jsonc_parse(&j, s->original, s->original_len) == 0 && jsonc_find(&j, part) >= 0;
	jsonc_release(&j);
	return found;
}

/* Whether something is in `up` beside the node. The pattern for which tools a hook is does not
   count where terse made it. */
static bool has_others(const struct jsonc *j, int up, int node, bool made)
{
	int matcher = made ? jsonc_member(j, up, "matcher") : -1;
	for (int i = jsonc_next(j, up, -1); i >= 0; i = jsonc_next(j, up, i)) {
		if (i != node && i != matcher)
			return true;
	}
	return false;
}

/* From what terse wrote upwards: the outermost node that goes with it. */
static int outermost(const struct jsonc *j, const struct step *s, int node)
{
	if (s->item->kind == WIRING_HOOK)
		node = j->nodes[node].parent;
	for (;;) {
		int up = j->nodes[node].parent;
		size_t depth = depth_of(j, s->item, up);
		if (up <= 0 || has_others(j, up, node, depth == 0) ||
		    (depth > 0 && was_there(s, depth)))
			return node;
		node = up;
	}
}

static int step_drop_json(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct jsonc j;
	int status = parse_json(&j, s, t);
	if (status == 0) {
		int node = find_item(&j, s);
		char *value = node >= 0 ? jsonc_string(&j, node) : NULL;
		bool own = s->item->kind == WIRING_PRESENT
				   ? node >= 0 && !was_there(s, 1) &&
					     j.nodes[node].end - j.nodes[node].start ==
						     strlen(s->item->value)
			   : s->item->kind == WIRING_MEMBER
				   ? node >= 0 && find_hook(&j, s, node) >= 0
				   : value && step_is_own(s, value);
		if (own)
			jsonc_remove(out, &j, outermost(&j, s, node));
		else
			buffer_add(out, t);
		free(value);
	}
	jsonc_release(&j);
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

static int wiring_add_item(struct buffer *out, const struct buffer *t, const struct step *s)
{
	switch (s->item->kind) {
	case WIRING_TOML: return step_add_toml(out, t, s);
	case WIRING_TOML_ARRAY: return step_add_toml_array(out, t, s);
	case WIRING_FILE: return step_add_file(out, t, s);
	case WIRING_LINES: return step_add_lines(out, t, s);
	case WIRING_STRING:
	case WIRING_PRESENT:
	case WIRING_MEMBER:
	case WIRING_HOOK: break;
	}
	return step_add_json(out, t, s);
}

static int drop_item(struct buffer *out, const struct buffer *t, const struct step *s)
{
	switch (s->item->kind) {
	case WIRING_TOML: return step_drop_toml(out, t, s);
	case WIRING_TOML_ARRAY: return step_drop_toml_array(out, t, s);
	case WIRING_FILE: step_drop_file(out, t, s); return 0;
	case WIRING_LINES: step_drop_lines(out, t); return 0;
	case WIRING_STRING:
	case WIRING_PRESENT:
	case WIRING_MEMBER:
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
	int status = 0;
	buffer_append(&now, text, len);
	*s->error = (struct wiring_error){.line = 0};
	while (is_item(file, count))
		count++;
	for (size_t i = 0; i < count && status == 0; i++) {
		/* NUL-terminated, so that there is memory even for nothing. */
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
	    !buffer_is(&without, text, len))
		state = WIRING_OTHER;
	if (state == WIRING_OTHER && wiring_apply(file, place, text, len, &with, &error) == 0 &&
	    buffer_is(&with, text, len))
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
