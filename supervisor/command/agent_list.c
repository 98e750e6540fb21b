// See agent_list.h.

#include "supervisor/command/agent_list.h"

#include "supervisor/agents/document.h"
#include "supervisor/agents/wiring.h"

#include <stdio.h>
#include <string.h>

void agent_list_find(struct agent_list *l)
{
	char found[PATH_MAX];
	*l = (struct agent_list){.count = 0};
	for (const struct wiring *w = wirings; w->agent && l->count < AGENTS_MAX; w++) {
		if (hints_find_program(w->programs, found))
			l->items[l->count++] = w;
	}
}

/* How much of the wiring is in one file. */
static enum wiring_state state_of_file(const struct wiring_file *file, const struct place *place,
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

/* The state of an agent by the files of the user, or of the project. */
static enum wiring_state state_of(const struct wiring *w, const struct place *place,
				  const char *project)
{
	size_t same = 0, files = 0;
	bool other = false;
	for (size_t i = 0; i < WIRING_FILES_MAX && w->files[i].folder.project; i++) {
		enum wiring_state state = state_of_file(&w->files[i], place, project);
		files++;
		same += state == WIRING_SAME;
		other = other || state == WIRING_OTHER;
	}
	if (files > 0 && same == files)
		return WIRING_SAME;
	return other || same > 0 ? WIRING_OTHER : WIRING_NONE;
}

static const char *state_text(const struct wiring *w, const struct place *place,
			      const char *project)
{
	enum wiring_state own = state_of(w, place, NULL);
	enum wiring_state here = project ? state_of(w, place, project) : WIRING_NONE;
	if (w->start)
		return "by terse agent";
	if (own == WIRING_SAME || here == WIRING_SAME)
		return own == WIRING_SAME ? "wired" : "wired here";
	return own == WIRING_OTHER || here == WIRING_OTHER ? "wired in part" : "not wired";
}

void agent_list_print(struct buffer *out, const struct agent_list *l, const struct place *place,
		      const char *project)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct wiring *w = l->items[i];
		char found[PATH_MAX];
		bool there = hints_find_program(w->programs, found);
		buffer_printf(out, "%-9s %-14s %s\n", w->agent, state_text(w, place, project),
			      there ? found : "not in PATH");
	}
}

static bool keep_one(const struct agent_list *from, struct agent_list *to, const char *name)
{
	for (size_t i = 0; i < from->count; i++) {
		if (strcmp(from->items[i]->agent, name) == 0) {
			to->items[to->count++] = from->items[i];
			return true;
		}
	}
	return false;
}

int agent_list_ask(struct agent_list *l, const char **wrong)
{
	static char line[512];
	static const char blanks[] = " ,\t\n";
	struct agent_list picked = {.count = 0};
	char *rest = line;
	fputs("Wire up which? Names, or all; nothing: none. ", stdout);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		*line = '\0';
	for (const char *word; (word = strtok_r(rest, blanks, &rest)) != NULL;) {
		if (strcmp(word, "all") == 0)
			return 0;
		*wrong = word;
		if (picked.count == AGENTS_MAX || !keep_one(l, &picked, word))
			return -1;
	}
	*l = picked;
	return 0;
}
