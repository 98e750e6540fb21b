// Wiring: the changes to an agent's files that make it run its commands through terse.
//
// The agent's own permission rules stay in force: it uses a prefix or a shell only after it has
// decided about the command that the model wrote. A hook that rewrites commands never answers
// "allow".
#ifndef TERSE_AGENTS_WIRING_H
#define TERSE_AGENTS_WIRING_H

#include "lib/buffer.h"
#include "supervisor/agents/document.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct settings;

/* --- places ----------------------------------------------------------------------------------- */

// Where terse's own files are, and where the user's directory with the launcher is. Agents are made
// to execute the launcher (shim/launcher/launcher.h).

/* This is appended to the path in BASH_ENV. It expands to nothing, except under bash -v, which
   would print the file while reading it. There it expands to a suffix, so that no file has the
   path. */
#define PLACE_UNLESS_VERBOSE "${-//[!v]}"

struct place {
	/* Absolute paths; "": there is no such file. */
	char program[PATH_MAX];
	char shell[PATH_MAX];    /* terse-sh, if it is executable */
	char library[PATH_MAX];  /* libterse-shim.so */
	char bash_env[PATH_MAX]; /* bash started by Codex reads this first */
	char launcher[PATH_MAX]; /* terse-launcher, to be installed */
};

/* Finds the files of the running terse: beside the program (a build), or where they are
   installed. */
void place_find(struct place *p);

/* Finds the user's directory with the launcher. Returns 0, or -1 without a home directory. */
int place_folder(char out[PATH_MAX]);

/* Finds the paths that an agent's files have to name: the copies in the launcher's directory, which
   need not exist yet. They name terse's own file where there is no copy or where the copy can't be
   used (the path of a preloaded library must not have a blank or colon), and always if `own` has no
   launcher or there is no home directory. */
void place_of_launcher(struct place *p, const struct place *own);

/* Fills in the paths of place_of_launcher() if the launcher exists and can be executed, else those
   of terse's own files. */
void place_wired(struct place *p, const struct place *own);

/* Writes the launcher and the files beside it, or replaces them; follows no link. `real`: [shim]
   shell, or NULL. Returns 0, or -1 with errno and the path that failed. */
int place_install(const struct place *own, const char *real, char failed[PATH_MAX]);

/* Notes, in the file `wired` beside the launcher, that the file at `path` is wired up and how to
   undo that. If the argument `wired` is false, removes the note. `options`: the options of `terse
   init`; `project`: the directory to call it in, or NULL. The noted command names the launcher, so
   it works even without terse. The notes are for people and for `make uninstall`. Failures are
   ignored. */
void place_note(const char *path, const char *options, const char *project, bool wired);

/* Room for a version. */
enum { PLACE_VERSION_LEN = 32 };

/* Reads the version from a file that is terse's program or library, without executing it. Returns
   `out`; "" if the file has none. */
char *place_version(const char *path, char out[PLACE_VERSION_LEN]);

/* The state of the installed launcher. */
enum place_health {
	PLACE_ABSENT, /* it is not installed */
	PLACE_OLD,    /* its files are not from this version of terse */
	PLACE_OTHER,  /* it starts another terse */
	PLACE_GOOD,
};

/* `program`: the program that the launcher starts, or "". */
enum place_health place_check(const struct place *own, char program[PATH_MAX]);

/* --- wiring ----------------------------------------------------------------------------------- */

enum wiring_kind {
	WIRING_STRING,  /* a member that is the path of one of terse's files */
	WIRING_PRESENT, /* a member that has to exist; if missing, it is added with this value; the
			   first item of its file */
	WIRING_HOOK,    /* an element that calls `terse hook ...` */
	WIRING_MEMBER,  /* a member that is an object with the path of terse */
	WIRING_FILE,    /* a whole file of terse's own */
	WIRING_LINE,    /* the first line of a shell's start-up file */
};

enum { WIRING_PATH_MAX = 4, WIRING_ITEMS_MAX = 4, WIRING_FILES_MAX = 2 };

struct wiring_item {
	enum wiring_kind kind;
	const char *path[WIRING_PATH_MAX]; /* keys, from the outermost on, and NULL */
	/* STRING: "library", "shell", "bash_env" or "program", a member of struct place. PRESENT:
	   JSON. MEMBER: JSON, with %s for the path of terse. HOOK: the element, with %s for the
	   quoted command. FILE: the text, with %s for the path of terse. LINE: the same, for a
	   shell; the text after the last %s identifies the line. */
	const char *value;
	const char *hook; /* HOOK: what follows `terse hook ` */
};

/* Where a file is: the directory is the value of `variable` if that is set, else `home`; the file
   is `below` it. */
struct wiring_folder {
	const char *variable; /* or NULL */
	const char *home;     /* below the home directory */
	const char *below;    /* file names with | between them: the first one that exists counts,
				 else the last */
	const char *project;  /* the file below the project's directory, or NULL */
};

/* A file with ".toml" in its name has only STRING and PRESENT items, all in one table. */
struct wiring_file {
	struct wiring_folder folder;
	struct wiring_item items[WIRING_ITEMS_MAX];
};

struct wiring {
	const char *agent;
	const char *programs; /* its names in PATH, separated by | */
	struct wiring_file files[WIRING_FILES_MAX];
	const char *shared; /* a file of a project that the agent reads, too, but that terse does
			       not write; or NULL */
	bool comment;       /* its permission rules ignore a comment at a command's end */
	const char *allow;  /* how the user allows `terse read` in this agent, or NULL */
	const char *note;   /* further notes, one line each */
	/* How to start the agent if its files can't make its commands run under terse; else
	   NULL. */
	const char *start;
	bool shell; /* this is a shell that agents type into, not an agent */
};

extern const struct wiring wirings[];
/* Notes for the model. The second text, for agents with `comment`, also explains what a comment can
   set. */
extern const char wiring_lines[], wiring_lines_with_comment[];

/* The table of agents that get terse as a server of tools (terse mcp) and nothing else. Their rows
   have `programs`, one file and a note. */
extern const struct wiring wirings_mcp[];

/* NULL: no such agent in the table. */
const struct wiring *wiring_find(const struct wiring *table, const char *agent);

/* Finds the path of a file. `project`: the project's directory, or NULL for the user's file.
   Returns 0, or -1 if there is no home directory, or if the agent has no such file for a
   project. */
int wiring_path(const struct wiring_folder *folder, const char *project, char out[PATH_MAX]);

/* Whether the file is TOML; else it is JSON, or text. */
bool wiring_is_toml(const struct wiring_file *file);

/* Makes a text that has all items of a file, or none of them. */
struct wiring_edit {
	const struct wiring_file *file;
	const struct place *place; /* NULL: removes the items, and nodes that become empty */
	struct buffer text;        /* the text to change, owned by the caller; an item that fails
				      does not change it */
	size_t own;                /* how many of terse's items were there */
	size_t line;               /* line of the failure */
	char reason[1024];         /* "": errno says it */
};

/* Returns 0, or -1 with errno; EINVAL: the text can't be parsed; EEXIST: something of the user's is
   in the way. */
int wiring_edit(struct wiring_edit *e);

enum wiring_state {
	WIRING_NONE,  /* the file has no part of the wiring */
	WIRING_SAME,  /* all as it should be */
	WIRING_OTHER, /* terse's wiring, but incomplete or with other paths */
};

/* A file of an agent's, and the text that it is to get. */
struct wiring_plan {
	struct document now;
	struct buffer next;           /* the text after the change */
	bool changes;                 /* `next` differs from the current text */
	bool remove;                  /* the file is to be removed */
	const char *done;             /* what the plan does to the file, in words */
	enum wiring_state state;      /* of the current file, unless the plan undoes the wiring */
	char reason[PATH_MAX + 1100]; /* of a failure, with the path */
};

/* Makes the plan for the file at `path` (wiring_path()). No link in a project may lead out of the
   project. Returns 0, or -1 with the reason and an errno like that of wiring_edit(). Release the
   plan even after a failure. */
int wiring_plan(struct wiring_plan *p, const struct wiring_file *file, const struct place *place,
		const char *path, const char *project, bool undo);
void wiring_plan_release(struct wiring_plan *p);

/* Writes the file, or removes it and those directories below `top` that become empty. Returns 0, or
   -1 with the reason. */
int wiring_carry_out(struct wiring_plan *p, const char *top);

/* An agent's files as they are. */
struct wiring_look {
	enum wiring_state state; /* of all the files together */
	char path[PATH_MAX];     /* a file that is not as it should be, or else any of the files, or
				    "" */
	int error;               /* errno of wiring_plan(): why a file could not be looked at, or
				    0 */
	char reason[PATH_MAX + 1100]; /* the same in words */
};

/* Looks at the files of the user, or of a project; leaves out files of the project that are also
   files of the user. */
void wiring_look(struct wiring_look *l, const struct wiring_file files[WIRING_FILES_MAX],
		 const struct place *place, const char *project);

// Hints for somebody who wires an agent up.

/* Whether one of the program names in `names`, which are separated by |, is in PATH, or is a file
   if it is a path. `found`: its path. */
bool hints_find_program(const char *names, char found[PATH_MAX]);

// Runs a command as an agent would, according to the agent's section and wiring, to check that
// terse gets the command (self_test.c).

struct self_test {
	const char *string; /* a shell string of the agent that contains PROBE_COMMAND, owned by the
			       caller; NULL: one is made from the templates of the agent's
			       section */
	struct buffer out;  /* what the agent would read, or why there is nothing; the caller
			       releases it */
	int status;         /* the exit status, or -1 */
	int64_t ms;
};

/* A command with a long output of SELF_TEST_BYTES. self_test_is_preview(): whether `out` has both
   ends of that output, and an ID. */
#define SELF_TEST_LONG "seq 5000"
enum { SELF_TEST_BYTES = 23893 };
bool self_test_is_preview(const struct self_test *t);

/* Runs the command as the agent would, according to its section in `s` or to the table `wirings`.
   For an agent with a hook it asks the hook about the command instead. Returns 1; 0 if it is not
   known how the agent runs commands; -1 if that can't be tried. Takes at most 10 s; leaves nothing
   behind. */
int self_test_run(struct self_test *t, const struct settings *s, const char *agent,
		  const char *command, const struct place *place);

#endif
