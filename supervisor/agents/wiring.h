// Wiring: the changes to its files that make an agent run its commands through terse.
//
// The agent's own permission rules stay in force: it applies a prefix or a shell only after it
// decided about the command that the model wrote. A hook that rewrites commands never answers
// "allow".
#ifndef TERSE_AGENTS_WIRING_H
#define TERSE_AGENTS_WIRING_H

#include "lib/buffer.h"
#include "supervisor/agents/document.h"
#include "supervisor/agents/place.h"

#include <limits.h>
#include <stdbool.h>

// The markers around terse's lines in a file for a model.

#define LINES_BEGIN "<!-- terse: begin -->"
#define LINES_END   "<!-- terse: end -->"

enum wiring_kind {
	WIRING_STRING,  /* a member that is the path of one of terse's files */
	WIRING_PRESENT, /* a member that has to be there, with this value if it is not; first */
	WIRING_HOOK,    /* an element that calls `terse hook ...` */
	WIRING_MEMBER,  /* a member that is an object with the path of terse */
	WIRING_FILE,    /* a whole file of terse's own */
	WIRING_LINES,   /* lines between two markers, in a file for the model */
};

enum { WIRING_PATH_MAX = 4, WIRING_ITEMS_MAX = 4, WIRING_FILES_MAX = 2 };

struct wiring_item {
	enum wiring_kind kind;
	const char *path[WIRING_PATH_MAX]; /* keys, from the outermost on, and NULL */
	/* STRING: "library", "shell", "bash_env" or "program", a member of struct place. PRESENT:
	   JSON.
	   MEMBER: JSON, with %s for the path of terse. HOOK: the element, with %s for the quoted
	   command. FILE, LINES: the text, with %s for the path of terse. */
	const char *value;
	const char *hook; /* HOOK: what follows `terse hook ` */
};

/* The first directory that is set, then `below` it: a variable's value, else one of the user's. */
struct wiring_folder {
	const char *variable; /* or NULL */
	const char *home;     /* below the home directory */
	const char *below;    /* file names; the first one that is there, else the last. With | */
	const char *project;  /* the same below the project's directory */
};

/* A file of TOML (by its name) has items of one table, STRING and PRESENT. */
struct wiring_file {
	struct wiring_folder folder;
	struct wiring_item items[WIRING_ITEMS_MAX];
};

struct wiring {
	const char *agent;
	const char *programs; /* names of it in PATH, with | */
	struct wiring_file files[WIRING_FILES_MAX];
	const char
		*shared; /* a file of a project that counts, and is not terse's to write; or NULL */
	bool comment;    /* its rules judge a command as they would without a comment at its end */
	struct wiring_folder lines; /* the file that its model reads */
	const char *allow;          /* how one allows `terse read` there, or NULL */
	const char *note;           /* further notes, one line each */
	/* How the agent has to be started, where its files do not make its commands run under
	   terse; else NULL. */
	const char *start;
};

extern const struct wiring wirings[];
/* For the model; with what a comment asks (config/settings.h), where `comment` is set. */
extern const char wiring_lines[], wiring_lines_with_comment[];

/* The same for agents that get terse as a server of tools (terse mcp) and nothing else: `programs`,
   one file and a note. */
extern const struct wiring wirings_mcp[];
extern const char wiring_mcp_names[];

/* NULL: no such agent in the table. */
const struct wiring *wiring_find(const struct wiring *table, const char *agent);

/* The names of the agents, for people. */
extern const char wiring_names[];

/* The path of a file. `project`: the project's directory, or NULL for the user's. Returns 0, or -1:
   no home directory. */
int wiring_path(const struct wiring_folder *folder, const char *project, char out[PATH_MAX]);

/* Whether it is TOML; else JSON, or text. */
bool wiring_is_toml(const struct wiring_file *file);

/* A text with all items of a file in it, or without them. */
struct wiring_edit {
	const struct wiring_file *file;
	const struct place *place; /* NULL: the items are taken out, and what is empty then */
	struct buffer text;        /* is changed, but for items that failed; the caller's */
	size_t own;                /* the items of terse's that were there */
	size_t line;               /* of the failure */
	char reason[1024];         /* "": errno says it */
};

/* Returns 0, or -1 with errno: EINVAL: it can't be read; EEXIST: something of the user's is in the
   way. */
int wiring_edit(struct wiring_edit *e);

enum wiring_state {
	WIRING_NONE,  /* nothing of it is there */
	WIRING_SAME,  /* all as it should be */
	WIRING_OTHER, /* terse's, but with other paths, or not all of it */
};

/* A file of an agent's, and what is to become of it. */
struct wiring_plan {
	struct document now;
	struct buffer next;           /* the text as it is to be ... */
	bool changes;                 /* ... which differs */
	bool remove;                  /* the whole file instead */
	const char *done;             /* what that does to the file, in words */
	enum wiring_state state;      /* of `now`, unless it is undone */
	char reason[PATH_MAX + 1100]; /* of a failure, with the path */
};

/* Makes the plan for the file at `path` (wiring_path()), which no link of the project's may lead
   out of. Returns 0, or -1 with errno, as wiring_edit(), and the reason. To be released in any
   case. */
int wiring_plan(struct wiring_plan *p, const struct wiring_file *file, const struct place *place,
		const char *path, const char *project, bool undo);
void wiring_plan_release(struct wiring_plan *p);

/* Writes the file, or removes it and directories below `top` that are empty then. Returns 0, or -1
   with the reason. */
int wiring_carry_out(struct wiring_plan *p, const char *top);

/* The state of the file of the user, or of a project's directory. */
enum wiring_state wiring_look(const struct wiring_file *file, const struct place *place,
			      const char *project);

// Hints for somebody who wires an agent up.

/* Appends that the settings keep variables of the wiring from the agent's commands (Codex's
   shell_environment_policy.include_only), and takes what they name out of *place, as the commands
   do not see it (NULL: not wanted). Returns whether there are such. */
bool hints_variables(struct buffer *out, const struct wiring_file *file, const char *path,
		     const struct buffer *text, struct place *place);

/* Appends facts about the agent, and whether its commands find terse. */
void hints_append(struct buffer *out, const struct wiring *w, const struct place *place);

/* Whether a program of that name, of several with | between them, is in PATH. `found`: its path. */
bool hints_find_program(const char *names, char found[PATH_MAX]);

// Running a command as an agent would through its wiring, to check that terse gets it
// (self_test.c).

/* Returns 1 if the command was previewed (a hook: rewritten), 0 if there is nothing to try for this
   agent, -1 if not, with `reason` (of 256 bytes). Takes at most 10 s; leaves nothing behind. */
int self_test_run(const char *agent, const struct place *place, char reason[256]);

#endif
