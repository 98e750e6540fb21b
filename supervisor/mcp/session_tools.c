// See server.h: the tools of sessions, which need no child.

#include "lib/human.h"
#include "lib/json.h"
#include "supervisor/mcp/server.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void session_tools_begin(struct server *s, const struct arguments_of *a, const char *id)
{
	const char *name = argument_text(a, "session"), *cwd = argument_text(a, "cwd");
	struct buffer text = BUFFER_INIT, directory = BUFFER_INIT;
	const struct session *made = NULL;
	struct stat st;
	shell_state_resolve(&s->start, cwd ? cwd : s->start.directory, &directory);
	const char *path = buffer_string(&directory);
	bool there = path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (there)
		made = sessions_begin(&s->sessions, name, path, s->start.env);
	if (path && !there) {
		answer_wrong(s, id, "new_session: cwd: %s: not a directory", path);
	} else if (made) {
		buffer_printf(&text, "session %s begins in %s\n", made->name,
			      made->state.directory);
		answer_text(s, id, &text, false);
	} else if (errno == EEXIST) {
		answer_wrong(s, id, "new_session: there is a session %s already", name);
	} else if (errno == EINVAL) {
		answer_wrong(
			s, id,
			"new_session: session: must be letters, digits, '.', '_' or '-', %d at "
			"most",
			SESSIONS_NAME_MAX);
	} else if (errno == ENFILE) {
		answer_wrong(s, id, "new_session: there are %d sessions already; end one",
			     SESSIONS_MAX);
	} else {
		answer_wrong(s, id, "new_session: %s", strerror(errno));
	}
	buffer_release(&text);
	buffer_release(&directory);
}

static void session_tools_end(struct server *s, const struct arguments_of *a, const char *id)
{
	const char *name = argument_text(a, "session");
	struct buffer text = BUFFER_INIT;
	bool is_default = strcmp(name, SESSIONS_DEFAULT) == 0;
	if (sessions_end(&s->sessions, name, s->start.directory, s->start.env) < 0) {
		answer_wrong(s, id, "end_session: session: %s",
			     errno == ENOENT ? "there is none of that name; list_sessions lists all"
					     : strerror(errno));
		return;
	}
	buffer_printf(&text, is_default ? "session %s begins anew\n" : "session %s has ended\n",
		      name);
	answer_text(s, id, &text, false);
	buffer_release(&text);
}

static void session_tools_list(struct server *s, const char *id)
{
	struct buffer text = BUFFER_INIT;
	int64_t now_ms = clock_monotonic_ms();
	if (s->structured) {
		json_begin_object(&text, NULL);
		sessions_list_json(&s->sessions, &text, now_ms);
		json_end_object(&text);
		answer_json(s, id, &text, false);
	} else {
		sessions_list(&s->sessions, &text, now_ms);
		answer_text(s, id, &text, false);
	}
	buffer_release(&text);
}

bool session_tools_answer(struct server *s, const struct arguments_of *a, const char *id)
{
	switch (a->tool - tools) {
	case TOOL_NEW_SESSION: session_tools_begin(s, a, id); return true;
	case TOOL_END_SESSION: session_tools_end(s, a, id); return true;
	case TOOL_LIST_SESSIONS: session_tools_list(s, id); return true;
	default: return false;
	}
}
