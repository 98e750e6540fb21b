// terse init AGENT: makes an agent run its commands through terse. See agents/wiring.h.

#include "lib/io.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/agents/document.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERB "init"

enum { AGENTS_MAX = 16 };

struct init {
	const struct wiring *wiring;
	struct place own, place; /* terse's own files; those that the agent's files name */
	bool project, dry_run, undo, instructions, all;
	bool mcp;                                /* --mcp: wires the agent to a server of tools */
	const struct wiring *agents[AGENTS_MAX]; /* the agents that are wired */
	size_t count;
	char here[PATH_MAX];
	const char *root; /* of the project; NULL: the user's files are changed */
	struct buffer out;
	bool failed;
};

static void init_say(struct init *i, const char *path, const char *what)
{
	quote_text(&i->out, path, strlen(path), 0);
	buffer_printf(&i->out, ": %s\n", what);
}

static int init_fail(struct init *i, const char *path, const char *reason)
{
	verb_error(VERB, "%s: %s", path, reason ? reason : strerror(errno));
	i->failed = true;
	return -1;
}

/* Appends the change of a file as a unified diff. Returns 0, or -1 with the reason. */
static int init_show(struct init *i, struct wiring_plan *p)
{
	const char *before = p->now.exists ? p->now.path : "/dev/null", *after = p->now.path;
	struct buffer command = BUFFER_INIT;
	int fd = memfd_create("terse", 0), status = -1;
	buffer_append_string(&command, "exec diff -u -L ");
	quote_append(&command, before);
	buffer_append_string(&command, " -L ");
	quote_append(&command, p->remove ? "/dev/null" : after);
	buffer_append(&command, " ", 1);
	quote_append(&command, before);
	buffer_printf(&command, " /proc/self/fd/%d", fd);
	if (fd >= 0 && buffer_string(&command) &&
	    (p->remove || io_write(fd, p->next.data, p->next.len) == 0)) {
		FILE *diff = popen(command.data, "re");
		int got = diff ? io_read_all(fileno(diff), &i->out, SIZE_MAX) : -1;
		int ended = diff ? pclose(diff) : -1;
		status = got == 0 && WIFEXITED(ended) && WEXITSTATUS(ended) <= 1 ? 0 : -1;
	}
	if (status < 0)
		snprintf(p->reason, sizeof(p->reason), "diff: can't show the change");
	io_close(&fd);
	buffer_release(&command);
	return status;
}

static void init_change_file(struct init *i, const struct wiring_file *file)
{
	struct wiring_plan p;
	char path[PATH_MAX], options[128];
	if (wiring_path(&file->folder, i->root, path) < 0) {
		init_fail(
			i, i->wiring->agent,
			i->root ? "it has no file of a project's"
			: file->folder.project
				? "there is no home directory; --project writes into this directory"
				: "there is no home directory");
		return;
	}
	int status = wiring_plan(&p, file, &i->place, path, i->root, i->undo);
	if (status == 0 && !p.changes) {
		init_say(i, path, i->undo ? "nothing of terse in it" : "needs no change");
	} else if (status == 0 && i->dry_run) {
		status = init_show(i, &p);
	} else if (status == 0) {
		status = wiring_carry_out(&p, i->root ? i->root : getenv("HOME"));
		if (status == 0)
			init_say(i, path, p.done);
		/* Records that this file names the launcher, and the options that undo this. */
		snprintf(options, sizeof(options), "%s%s%s", i->wiring->agent,
			 i->mcp ? " --mcp" : "", i->project ? " --project" : "");
		if (status == 0)
			place_note(path, options, i->root, !i->undo);
	}
	if (status < 0) {
		verb_error(VERB, "%s", p.reason);
		i->failed = true;
	}
	wiring_plan_release(&p);
}

static void init_warn_of_own(struct init *i, const char *launcher, const char *reason)
{
	buffer_printf(&i->out,
		      "warning: %s %s, so terse's own files are named: the agent's shell is gone "
		      "when they are\n",
		      launcher, reason);
}

/* Finds the files that the agent's files have to name. Installs the launcher, unless the change is
   only shown, or undone. */
static int init_prepare(struct init *i, const char *real)
{
	char failed[PATH_MAX];
	place_find(&i->own);
	place_wired(&i->place, &i->own);
	/* An agent's server of tools, and a shell's start-up line, name terse itself. A launcher
	   would be useless to them: if terse is gone, the server can't work, and the line does
	   nothing. */
	const bool itself = i->mcp || i->wiring->shell;
	if (itself)
		i->place = i->own;
	if (i->undo || itself)
		return 0;
	bool codex = strcmp(i->wiring->agent, "codex") == 0, usable = false;
	place_of_launcher(&i->place, &i->own);
	if (!*i->own.shell)
		verb_error(VERB, "terse-sh is not beside %s: make install puts it there",
			   *i->own.program ? i->own.program : "terse");
	else if (codex && !*i->own.library)
		verb_error(VERB, "libterse-shim.so is not there: make install puts it there");
	/* Claude Code cuts off the end of a shell prefix from its last " -" on. */
	else if (strstr(i->place.shell, " -"))
		verb_error(VERB, "%s: agents can't use a path that contains \" -\"",
			   i->place.shell);
	else if (codex && strpbrk(i->place.library, ": "))
		verb_error(VERB, "%s: a path with a blank or colon can't be preloaded",
			   i->place.library);
	else
		usable = true;
	if (!usable)
		return -1;
	/* Some agents have no file that could name the launcher. Without a home directory there is
	   no place for it. */
	if (!i->wiring->files[0].folder.below)
		return 0;
	if (!*i->own.launcher)
		init_warn_of_own(i, "terse-launcher", "is not there");
	if (i->dry_run || strcmp(i->place.shell, i->own.shell) == 0)
		return 0;
	if (place_install(&i->own, real, failed) < 0)
		return init_fail(i, failed, errno == EINVAL ? "not a file" : NULL);
	place_wired(&i->place, &i->own);
	if (strcmp(i->place.shell, i->own.shell) == 0)
		init_warn_of_own(i, failed, "can't be executed");
	return 0;
}

static int init_parse(struct init *i, struct verb_call *c)
{
	if (verb_parse(c, i) < 0)
		return -1;
	const struct wiring *table = i->mcp ? wirings_mcp : wirings, *w;
	/* If any of the names is unknown, nothing is changed for any agent. */
	for (; (int)i->count < c->operand_count; i->count++) {
		const char *name = c->operands[i->count];
		struct nearest n;
		i->agents[i->count] = wiring_find(table, name);
		if (i->agents[i->count])
			continue;
		nearest_init(&n, name);
		for (w = table; w->agent; w++)
			nearest_offer(&n, w->agent);
		if (i->mcp && strcmp(name, "pi") == 0)
			verb_error(VERB, "pi takes no server of tools; terse init pi wires up its "
					 "shell");
		else if (n.best)
			verb_error(VERB, "%s: no such agent (did you mean %s?)", name, n.best);
		else
			verb_error(VERB, "%s: no such agent (terse init --help names them)", name);
		return -1;
	}
	bool some = i->undo || i->dry_run || i->project;
	if (i->mcp && (!i->count || i->instructions))
		verb_error(VERB, "--mcp goes with an agent, and without --instructions");
	else if (i->count && i->all)
		verb_error(VERB, "%s: --all means every agent that is found", c->operands[0]);
	else if (!i->count && !i->all && some)
		verb_error(VERB, "which agent? terse init AGENT, or --all");
	else if (i->project && !(i->root = getcwd(i->here, sizeof(i->here))))
		verb_error(VERB, "the current directory: %s", strerror(errno));
	else
		return 0;
	return -1;
}

/* Appends notes on the agent, and a warning if its commands would not find terse. */
static void hints_append(struct buffer *out, const struct wiring *w, const struct place *place)
{
	char found[PATH_MAX];
	for (const char *line = w->note; line && *line; line += strcspn(line, "\n") + 1)
		buffer_printf(out, "%s: %.*s\n", w->agent, (int)strcspn(line, "\n"), line);
	if (w->allow)
		buffer_printf(out,
			      "%s: to let it read on without being asked, allow %s and no more of "
			      "terse\n",
			      w->agent, w->allow);
	if (w->start)
		buffer_printf(out,
			      "%s: start it so: %s; for good, in your shell's start-up file: alias "
			      "%s='%s'\n",
			      w->agent, w->start, w->programs, w->start);
	if (!hints_find_program(w->programs, found))
		buffer_printf(out, "note: %s is not in PATH here\n", w->agent);
	if (!w->shell)
		buffer_printf(out,
			      "%s: lines for the file that its model reads: terse init %s "
			      "--instructions\n",
			      w->agent, w->agent);
	const char *slash = strrchr(place->program, '/');
	if (!hints_find_program("terse", found))
		buffer_printf(
			out,
			"warning: terse is not in PATH, so the commands that its notices name "
			"would not be found: add %.*s\n",
			slash ? (int)(slash - place->program) : 0, place->program);
}

/* Changes the files of one agent. */
static void init_change_agent(struct init *i, const char *real)
{
	if (init_prepare(i, real) < 0) {
		i->failed = true;
		return;
	}
	for (size_t k = 0; k < WIRING_FILES_MAX && i->wiring->files[k].folder.below; k++) {
		/* Stops at the first error, since a part of a wiring is useless. An undo continues
		   with the other files. */
		if (!i->failed || i->undo)
			init_change_file(i, &i->wiring->files[k]);
	}
	if (!i->undo && !i->dry_run && !i->failed && !i->mcp)
		hints_append(&i->out, i->wiring, &i->own);
	if (!i->undo && !i->dry_run && !i->failed && i->mcp && i->wiring->note)
		buffer_append_string(&i->out, i->wiring->note);
}

/* Lists the agents, one a line: the name, how the user's or the project's files wire it, the path
   of its program. */
static void init_list(struct init *i)
{
	char here[PATH_MAX], found[PATH_MAX];
	place_find(&i->own);
	place_wired(&i->place, &i->own);
	const char *project = getcwd(here, sizeof(here));
	for (size_t k = 0; k < i->count; k++) {
		const struct wiring *w = i->agents[k];
		struct wiring_look user, own = {.state = WIRING_NONE};
		const char *text = "not wired";
		wiring_look(&user, w->files, &i->place, NULL);
		if (project)
			wiring_look(&own, w->files, &i->place, project);
		if (w->start)
			text = "by terse agent";
		else if (user.state == WIRING_SAME || own.state == WIRING_SAME)
			text = user.state == WIRING_SAME ? "wired" : "wired here";
		else if (user.state == WIRING_OTHER || own.state == WIRING_OTHER)
			text = "wired in part";
		buffer_printf(&i->out, "%-9s %-14s %s\n", w->agent, text,
			      hints_find_program(w->programs, found) ? found : "not in PATH");
	}
	if (i->count == 0)
		buffer_append_string(&i->out, "no agent that can be wired up is in PATH\n");
	else
		buffer_append_string(&i->out, "to wire one up: terse init NAME; all of them: terse "
					      "init --all\n");
}

static int init_run(struct verb_call *c)
{
	struct init i = {.wiring = NULL};
	struct buffer clean = BUFFER_INIT;
	bool failed = false;
	char folder[PATH_MAX];
	if (init_parse(&i, c) < 0)
		return EXIT_TERSE;
	bool named = i.count > 0, comment = named;
	for (size_t k = 0; k < i.count; k++)
		comment = comment && i.agents[k]->comment;
	if (i.instructions) {
		buffer_append_string(&i.out, comment ? wiring_lines_with_comment : wiring_lines);
		return verb_print(c, &i.out);
	}
	/* Takes the agents whose programs are in PATH, in the order of the table. */
	for (const struct wiring *w = wirings; !named && w->agent && i.count < AGENTS_MAX; w++) {
		if (!w->shell && hints_find_program(w->programs, folder))
			i.agents[i.count++] = w;
	}
	bool lists = i.count == 0 || (!named && !i.all);
	if (lists)
		init_list(&i);
	for (size_t k = 0; !lists && k < i.count; k++) {
		i.wiring = i.agents[k];
		i.failed = false;
		init_change_agent(&i, c->settings->shell);
		failed = failed || i.failed;
	}
	bool undone = !lists && i.undo && !i.dry_run && !failed && !i.mcp;
	if (undone && place_folder(folder) == 0 && access(folder, F_OK) == 0)
		init_say(&i, folder,
			 "stays for agents that still run and for other files that name it");
	utf8_clean(&clean, i.out.data ? i.out.data : "", i.out.len);
	clean.failed |= i.out.failed;
	buffer_release(&i.out);
	return verb_print(c, &clean) || failed;
}

static const struct verb_option init_options[] = {
	{"--all", 0, VERB_FLAG, offsetof(struct init, all), NULL, "every agent that is in PATH"},
	{"--mcp", 0, VERB_FLAG, offsetof(struct init, mcp), NULL,
	 "give terse mcp to the agent as a server of tools instead: claude, codex, opencode, kilo, "
	 "gemini, qwen, copilot, cursor, crush, vscode"},
	{"--project", 0, VERB_FLAG, offsetof(struct init, project), NULL,
	 "for the project in this directory, not for all your projects"},
	{"--instructions", 0, VERB_FLAG, offsetof(struct init, instructions), NULL,
	 "only print lines for the file that its model reads (CLAUDE.md, AGENTS.md ...)"},
	{"--dry-run", 0, VERB_FLAG, offsetof(struct init, dry_run), NULL, "only print the changes"},
	{"--undo", 0, VERB_FLAG, offsetof(struct init, undo), NULL, "restore the files"},
	VERB_END_ROW,
};

const struct verb verb_init = {
	.name = "init",
	.purpose = "wire an agent up in its own configuration",
	.forms = "[AGENT...]",
	.text = "Makes agents run their commands through terse, in their own configuration.\n"
		"AGENT: claude, codex, opencode, kilo, pi, gemini, qwen, copilot, grok, cursor,\n"
		"crush, aider, goose, mini; or bash or zsh, for programs that type into one.\n"
		"The rest of their files stays. Alone: lists the agents that are in PATH, and\n"
		"whether they are wired up.\n",
	.options = init_options,
	.more = AGENTS_MAX,
	.run = init_run,
};
