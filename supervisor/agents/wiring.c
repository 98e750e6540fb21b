// See wiring.h; the agents are in wiring_table.c.

#include "supervisor/agents/wiring.h"

#include "lib/bytes.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/agents/outline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Notes the reason of a failure, with its place in the text, unless there is one already. Returns
   -1 with errno. */
__attribute__((format(printf, 4, 5))) static int edit_refuse(struct wiring_edit *e, size_t at,
							     int error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (!*e->reason) {
		vsnprintf(e->reason, sizeof(e->reason), format, args);
		e->line = 1 + (size_t)newline_count(e->text.data, at);
	}
	va_end(args);
	errno = error;
	return -1;
}

/* --- what an item's value is ------------------------------------------------------------ */

/* A name in an item: the member of struct place that it stands for, the end of that member's paths,
   and what is written after the path. */
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
		{"program", "/terse", "", offsetof(struct place, program)},
	};
	const struct place_member *m = members;
	while (strcmp(m->name, item->kind == WIRING_STRING ? item->value : "program") != 0)
		m++;
	return m;
}

/* Like strchr(), returns a pointer into its argument without `const`: a caller whose struct is not
   constant may write there. */
static char *wiring_place(const struct place *place, const struct wiring_item *item)
{
	return (char *)place + wiring_find_member(item)->offset;
}

/* The last of an item's keys. */
static const char *key_of(const struct wiring_item *item)
{
	const char *const *key = item->path;
	while (key[1])
		key++;
	return *key;
}

/* Appends the string by which an item names terse, as JSON and TOML have it: a file of terse's, or
   `terse hook ...` as a shell reads it. Returns 0, or -1 with errno: EILSEQ, not UTF-8; ENOMEM. */
static int append_terse(struct buffer *out, const struct wiring_edit *e,
			const struct wiring_item *item)
{
	const char *path = wiring_place(e->place, item);
	struct buffer string = BUFFER_INIT;
	if (item->kind == WIRING_HOOK) {
		quote_append(&string, path);
		buffer_printf(&string, " hook %s", item->hook);
	} else {
		buffer_printf(&string, "%s%s", path, wiring_find_member(item)->behind);
	}
	/* JSON can't hold bytes that are not UTF-8. */
	bool good = buffer_string(&string) && utf8_all_clean(string.data, string.len);
	if (good) {
		buffer_append(out, "\"", 1);
		json_text_piece(out, string.data, string.len);
		json_end(out, '"');
	} else {
		errno = string.failed ? ENOMEM : EILSEQ;
	}
	buffer_release(&string);
	return good && buffer_string(out) ? 0 : -1;
}

/* Appends the value in the form that it has in the file. */
static int append_value(struct buffer *out, const struct wiring_edit *e,
			const struct wiring_item *item)
{
	const char *value = item->kind == WIRING_STRING ? "%s" : item->value;
	for (const char *at; (at = strstr(value, "%s")) != NULL; value = at + 2) {
		buffer_append(out, value, (size_t)(at - value));
		if (item->kind == WIRING_LINE)
			quote_append(out, wiring_place(e->place, item));
		else if (append_terse(out, e, item) < 0)
			return -1;
	}
	buffer_append_string(out, value);
	return buffer_string(out) ? 0 : -1;
}

/* --- items: each makes a change that puts the item in, or takes it out ---------------------- */

static int edit_file(struct wiring_edit *e, const struct wiring_item *item, struct splice *s)
{
	/* The first line shows whether the file is terse's own. */
	size_t line = strcspn(item->value, "\n");
	bool own = e->text.len > line && memcmp(e->text.data, item->value, line) == 0;
	e->own += own;
	if (e->place && e->text.len && !own)
		return edit_refuse(e, 0, EEXIST, "there is such a file already");
	s->to = own ? e->text.len : 0;
	return e->place ? append_value(&s->text, e, item) : 0;
}

/* Whether terse wrote the string. Only the end of the string counts, since terse may have been in
   another directory. */
static bool is_own(const struct wiring_item *item, const char *text, size_t len)
{
	char end[64];
	int n = item->kind == WIRING_HOOK
			? snprintf(end, sizeof(end), " hook %s", item->hook)
			: snprintf(end, sizeof(end), "%s", wiring_find_member(item)->end);
	return len >= (size_t)n && memcmp(text + len - (size_t)n, end, (size_t)n) == 0;
}

/* The end of a line shows whether it is terse's own. */
static int edit_line(struct wiring_edit *e, const struct wiring_item *item, struct splice *s)
{
	const char *text = e->text.data, *end = strrchr(item->value, '%') + 2;
	const char *own = strstr(text, end);
	const char *before = own ? memrchr(text, '\n', (size_t)(own - text)) : NULL;
	s->from = before ? (size_t)(before - text) + 1 : 0;
	s->to = own ? (size_t)(own - text) + strlen(end) : 0;
	e->own += own != NULL;
	return e->place ? append_value(&s->text, e, item) : 0;
}

static int refuse_other(struct wiring_edit *e, const struct wiring_item *item, size_t from,
			size_t to)
{
	struct buffer wanted = BUFFER_INIT;
	int status = append_value(&wanted, e, item);
	if (status == 0)
		status = edit_refuse(e, from, EEXIST, "\"%s\" is %.*s already; terse would be: %s",
				     key_of(item), (int)(to - from), e->text.data + from,
				     wanted.data);
	buffer_release(&wanted);
	return status;
}

/* Finds the node to remove in order to remove `own`, which terse wrote: the outermost one with
   nothing else in it, not even a comment. `nodes`: the nodes on the item's path. */
static int outermost(const struct outline *o, int own, const int *nodes, size_t count)
{
	for (;;) {
		int up = o->nodes[own].parent;
		size_t depth = count;
		if (up <= 0)
			return own;
		while (depth > 0 && nodes[depth - 1] != up)
			depth--;
		/* The matcher beside a hook does not count, since terse wrote it, too. */
		int matcher = depth ? -1 : outline_member(o, up, "matcher");
		for (size_t at = o->nodes[up].start + 1; at < o->nodes[up].end - 1; at++) {
			if (at == o->nodes[own].begin)
				at = o->nodes[own].end - 1;
			else if (matcher >= 0 && at == o->nodes[matcher].begin)
				at = o->nodes[matcher].end - 1;
			else if (!strchr(" \t\r\n,", o->text[at]))
				return own;
		}
		own = up;
	}
}

static int edit_json(struct wiring_edit *e, const struct wiring_item *item, struct splice *s)
{
	bool hook = item->kind == WIRING_HOOK;
	struct buffer value = BUFFER_INIT;
	struct outline o;
	int nodes[WIRING_PATH_MAX], own = -1;
	int status = outline_parse(&o, e->text.data, e->text.len);
	if (status < 0) {
		if (errno == EINVAL)
			edit_refuse(e, o.at, EINVAL, "%s", o.reason);
		goto out;
	}
	size_t count = outline_find(&o, item->path, nodes);
	bool there = !item->path[count];
	int node = there ? nodes[count - 1] : -1;
	/* Looks for the string that terse wrote: the node itself, or for some items one inside
	   it. */
	for (int i = node; there && own < 0 && i < (int)o.count; i++) {
		const struct outline_node *n = &o.nodes[i];
		if (n->start >= o.nodes[node].end || (item->kind == WIRING_STRING && i > node))
			break;
		if (n->kind == OUTLINE_STRING &&
		    is_own(item, o.text + n->start + 1, n->end - n->start - 2))
			own = i;
	}
	e->own += own >= 0;
	if (!e->place) {
		/* Also removes nodes that existed only for terse's node. */
		if ((own >= 0 && item->kind == WIRING_MEMBER) ||
		    (there && item->kind == WIRING_PRESENT && e->own && o.count == 2))
			own = node;
		else if (own >= 0 && hook)
			own = o.nodes[own].parent;
		if (own >= 0)
			outline_remove(s, &o, outermost(&o, own, nodes, count));
	} else if (!*wiring_place(e->place, item) || (there && item->kind == WIRING_PRESENT)) {
		/* Leaves the item out: this installation of terse lacks the file, or the member
		   exists already. */
		status = 0;
	} else if (own >= 0) {
		s->from = o.nodes[own].start;
		s->to = o.nodes[own].end;
		status = append_terse(&s->text, e, item);
	} else if (there && !hook) {
		status = refuse_other(e, item, o.nodes[node].start, o.nodes[node].end);
	} else if ((status = append_value(&value, e, item)) == 0) {
		status = outline_add(s, &o, item->path, value.data, hook);
		if (status < 0 && errno == ENOTDIR)
			edit_refuse(e, 0, EEXIST, "\"%s\" is not what the agent expects there",
				    item->path[0]);
	}
out:
	buffer_release(&value);
	outline_release(&o);
	return status;
}

/* Refuses to change a table that is written in another form, and says which lines to add to it. */
static int refuse_foreign(struct wiring_edit *e, const struct toml *t)
{
	struct buffer lines = BUFFER_INIT;
	const struct wiring_item *item = e->file->items;
	int status = 0;
	for (; status == 0 && e->place && item->value; item++) {
		if (!*wiring_place(e->place, item))
			continue;
		buffer_printf(&lines, "%s%s = ", lines.len ? ", " : ": ", key_of(item));
		status = append_value(&lines, e, item);
	}
	item = e->file->items;
	if (status == 0)
		status = edit_refuse(e, t->foreign - 1, EEXIST,
				     "%s.%s is not a table with a line for each key: %s by hand%s",
				     item->path[0], item->path[1],
				     e->place ? "add" : "take out what names terse",
				     lines.len ? lines.data : "");
	buffer_release(&lines);
	return status;
}

static int edit_toml(struct wiring_edit *e, const struct wiring_item *item, struct splice *s)
{
	const struct buffer *text = &e->text;
	struct toml t;
	if (toml_find(&t, text->data, text->len, item->path) < 0)
		return errno == EINVAL ? edit_refuse(e, t.at, EINVAL, "%s", t.reason) : -1;
	const char *end = wiring_find_member(item)->end;
	size_t len = t.value_end - t.value;
	bool string = item->kind == WIRING_STRING, there = t.end > 0;
	bool own = there && string && len > 2 && is_own(item, text->data + t.value + 1, len - 2);
	bool by_hand = t.foreign && memmem(text->data, text->len, end, strlen(end));
	e->own += own || by_hand;
	if (!e->place && by_hand)
		return refuse_foreign(e, &t);
	if (!e->place) {
		if (own || (there && !string && e->own && len == strlen(item->value)))
			toml_remove(s, &t, text->data);
		return 0;
	}
	if (by_hand || (there && !string) || !*wiring_place(e->place, item))
		return 0;
	if (own) {
		s->from = t.value;
		s->to = t.value_end;
		return append_terse(&s->text, e, item);
	}
	if (there)
		return refuse_other(e, item, t.value, t.value_end);
	if (t.foreign)
		return refuse_foreign(e, &t);
	struct buffer value = BUFFER_INIT;
	int status = append_value(&value, e, item);
	if (status == 0)
		toml_add(s, &t, text->data, text->len, item->path, value.data);
	buffer_release(&value);
	return status;
}

int wiring_edit(struct wiring_edit *e)
{
	size_t count = 0;
	int error = 0;
	while (count < WIRING_ITEMS_MAX && e->file->items[count].value)
		count++;
	for (size_t i = 0; i < count; i++) {
		const struct wiring_item *item = &e->file->items[e->place ? i : count - 1 - i];
		struct splice s = {.from = 0};
		/* Terminated by a NUL, so that even an empty text has memory. */
		int status = buffer_string(&e->text) ? 0 : -1;
		if (status == 0)
			status = item->kind == WIRING_FILE   ? edit_file(e, item, &s)
				 : item->kind == WIRING_LINE ? edit_line(e, item, &s)
				 : wiring_is_toml(e->file)   ? edit_toml(e, item, &s)
							     : edit_json(e, item, &s);
		if ((status < 0 || splice_make(&s, &e->text) < 0) && !error)
			error = errno;
		buffer_release(&s.text);
	}
	errno = error;
	return error ? -1 : 0;
}

/* --- where the files are -------------------------------------------------------------- */

const struct wiring *wiring_find(const struct wiring *table, const char *agent)
{
	for (const struct wiring *w = table; w->agent; w++) {
		if (strcmp(w->agent, agent) == 0)
			return w;
	}
	return NULL;
}

bool wiring_is_toml(const struct wiring_file *file)
{
	return strstr(file->folder.below, ".toml");
}

int wiring_path(const struct wiring_folder *f, const char *project, char out[PATH_MAX])
{
	const char *set = f->variable ? getenv(f->variable) : NULL, *names = f->below;
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	char folder[PATH_MAX];
	int n;
	errno = ENOENT;
	if (project && !f->project)
		return -1;
	if (project) {
		n = snprintf(folder, sizeof(folder), "%s", project);
		names = f->project;
	} else if (set && *set == '/') {
		n = snprintf(folder, sizeof(folder), "%s", set);
	} else if (f->home && strncmp(f->home, ".config/", 8) == 0 && config && *config == '/') {
		n = snprintf(folder, sizeof(folder), "%s/%s", config, f->home + 8);
	} else if (f->home && home && *home == '/') {
		n = snprintf(folder, sizeof(folder), "%s%s%s", home, *f->home ? "/" : "", f->home);
	} else {
		return -1;
	}
	for (size_t len; n < PATH_MAX; names += len + 1) {
		len = strcspn(names, "|");
		n = snprintf(out, PATH_MAX, "%s/%.*s", folder, (int)len, names);
		if (n < PATH_MAX && (names[len] == '\0' || access(out, F_OK) == 0))
			return 0;
	}
	errno = ENAMETOOLONG;
	return -1;
}

/* --- all of a file --------------------------------------------------------------------------- */

/* Whether a text consists of blanks, and of an empty object at most. */
static bool is_nothing(const struct buffer *text)
{
	const char *left = "{}";
	for (size_t i = 0; i < text->len; i++) {
		if (*left && text->data[i] == *left)
			left++;
		else if (!memchr(" \t\r\n", text->data[i], 4))
			return false;
	}
	return *left != '}';
}

static int plan_fail(struct wiring_plan *p)
{
	int error = errno;
	snprintf(p->reason, sizeof(p->reason), "%s: %s", p->now.path,
		 p->now.reason ? p->now.reason : strerror(errno));
	errno = error;
	return -1;
}

int wiring_plan(struct wiring_plan *p, const struct wiring_file *file, const struct place *place,
		const char *path, const char *project, bool undo)
{
	struct wiring_edit e = {.file = file, .place = undo ? NULL : place};
	char link[1];
	*p = (struct wiring_plan){.changes = false};
	if (document_read(&p->now, path, project) < 0)
		return plan_fail(p);
	const struct buffer *now = &p->now.text;
	buffer_add(&e.text, now);
	int status = wiring_edit(&e), error = errno;
	if (status < 0 && *e.reason)
		snprintf(p->reason, sizeof(p->reason), "%s:%zu: %s", path, e.line, e.reason);
	else if (status < 0)
		plan_fail(p);
	errno = error;
	p->next = e.text;
	p->changes = !p->now.exists || !buffer_is(&p->next, now->data, now->len);
	if (!undo) {
		p->state = e.own == 0                   ? WIRING_NONE
			   : status == 0 && !p->changes ? WIRING_SAME
							: WIRING_OTHER;
		p->done = p->now.exists ? "changed" : "written";
		return status;
	}
	p->changes = status == 0 && p->changes && p->now.exists;
	/* A symbolic link is not removed. */
	p->remove = p->changes && is_nothing(&p->next) && readlink(path, link, sizeof(link)) < 0;
	p->done = p->remove ? "removed" : "what terse init added is removed; the rest stays";
	return status;
}

/* Removes the file, and the directories below `top` that become empty (NULL: no directories). */
static int document_remove(const struct document *d, const char *top)
{
	char folder[PATH_MAX];
	size_t len = top ? strlen(top) : 0;
	char *slash;
	if (unlink(d->real) < 0)
		return -1;
	memcpy(folder, d->path, sizeof(folder));
	while (len && strncmp(folder, top, len) == 0 && (slash = strrchr(folder, '/')) != NULL &&
	       slash > folder + len) {
		*slash = '\0';
		if (rmdir(folder) < 0)
			break;
	}
	return 0;
}

int wiring_carry_out(struct wiring_plan *p, const char *top)
{
	if ((p->remove ? document_remove(&p->now, top)
		       : document_write(&p->now, p->next.data, p->next.len)) == 0)
		return 0;
	if (errno == EAGAIN)
		p->now.reason = "was changed meanwhile; run the command again";
	return plan_fail(p);
}

void wiring_plan_release(struct wiring_plan *p)
{
	document_release(&p->now);
	buffer_release(&p->next);
}

void wiring_look(struct wiring_look *l, const struct wiring_file files[WIRING_FILES_MAX],
		 const struct place *place, const char *project)
{
	*l = (struct wiring_look){.state = WIRING_NONE};
	bool looked = false, differs = false;
	for (size_t i = 0; i < WIRING_FILES_MAX && files[i].folder.below; i++) {
		char path[PATH_MAX], user[PATH_MAX];
		struct wiring_plan p;
		/* If the project is the home directory, its file may be the user's file, too. */
		if (wiring_path(&files[i].folder, project, path) < 0 ||
		    (project && wiring_path(&files[i].folder, NULL, user) == 0 &&
		     strcmp(path, user) == 0))
			continue;
		int error = wiring_plan(&p, &files[i], place, path, project, false) < 0 ? errno : 0;
		/* A path that can't be written as JSON does not matter where nothing is wired
		   up. */
		if (error && (p.now.exists || error != EILSEQ)) {
			l->error = error;
			memcpy(l->reason, p.reason, sizeof(l->reason));
		}
		differs |= looked && p.state != l->state;
		if (!looked || p.state != WIRING_SAME)
			memcpy(l->path, path, sizeof(l->path));
		l->state = differs ? WIRING_OTHER : p.state;
		looked = true;
		wiring_plan_release(&p);
	}
}

/* --- hints ------------------------------------------------------------------------------ */

bool hints_find_program(const char *names, char found[PATH_MAX])
{
	const char *path = getenv("PATH");
	struct stat st;
	for (size_t len;; names += len + 1) {
		len = strcspn(names, "|");
		bool is_path = memchr(names, '/', len);
		for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;) {
			size_t folder = strcspn(at, ":");
			int n = snprintf(found, PATH_MAX, "%.*s%s%.*s", is_path ? 0 : (int)folder,
					 at, is_path ? "" : "/", (int)len, names);
			if ((folder || is_path) && n < PATH_MAX && access(found, X_OK) == 0 &&
			    stat(found, &st) == 0 && S_ISREG(st.st_mode))
				return true;
			at = at[folder] && !is_path ? at + folder + 1 : NULL;
		}
		if (!names[len])
			return false;
	}
}
