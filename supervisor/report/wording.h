// Every line that terse itself prints around a command's text. The lines are an interface for
// agents: short, exact, stable, and they spell out the next command. tests/unit/test_wording.c
// compares them word for word.
//
// The functions append to a buffer; buffer_check() says whether memory was enough.
#ifndef TERSE_REPORT_WORDING_H
#define TERSE_REPORT_WORDING_H

#include "config/limit.h"
#include "config/settings.h"
#include "lib/gap.h"

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct preview_piece;

/* How the next steps are spelled for a reader ([report] words): as commands for one that has a
   shell, as calls for one that has the tools of terse mcp. Lines are built from these words. */
struct vocabulary {
	/* The run's ID follows. */
	const char *read, *search;
	/* The run's ID is their %s. */
	const char *raw_bytes, *wait, *look, *answer;
	/* After the ID: which part of the text. */
	const char *standard_error, *raw, *any_lines;
	/* Names of arguments; `is` stands between a name and its value. */
	const char *offset, *limit, *lines, *bytes, *pattern, *is;
	/* Without an ID, for a line that has named it already. */
	const char *read_it, *screen_also, *type_also, *answer_also, *end_it;
	const char *list, *keys, *check_project;
};
extern const struct vocabulary vocabularies[]; /* by enum next_words */

/* Where the whole text is. */
struct wording_place {
	const char *id;        /* the artifact, or a file, quoted for a shell; NULL: the text was
				  not kept, or (error 0) the reader has it */
	int error;             /* why it was not kept (errno) */
	bool is_stderr;        /* it is the separate text of standard error */
	bool is_raw;           /* it is the raw bytes */
	bool binary, json;     /* commands get -a; --json */
	bool numbered;         /* commands for lines get -n */
	enum next_words words; /* the reader's vocabulary */
	struct gaps gaps;      /* parts that were not kept */
};

/* Append the command that reads a part of a text:
     "terse read cmd-1m5zq8k3x7f --stderr --offset 31 --limit 1204"; `count` 0: no limit
     "terse read cmd-1m5zq8k3x7f --stderr --bytes 0-29999"; `length` 0: "--bytes 0"
   In the vocabulary of tools:
     "read_command_output artifact_id=cmd-1m5zq8k3x7f stream=stderr offset=31 limit=1204" */
void wording_read_lines(struct buffer *out, const struct wording_place *place, uint64_t first,
			uint64_t count);
void wording_read_bytes(struct buffer *out, const struct wording_place *place, uint64_t from,
			uint64_t length);

/* On a page: "[... 1,204 lines: terse read ID --offset 31 --limit 1204]\n". */
void wording_omitted(struct buffer *out, const struct wording_place *place, uint64_t first,
		     uint64_t count);

/* On a page, for a part of a line: "[... bytes 29488-4998999: terse read ID --bytes
   29488-4998999]\n". With `line`, which is 0 otherwise: "[... bytes 29488-4998999 of line 9:
   …]\n". */
void wording_cut(struct buffer *out, const struct wording_place *place, uint64_t at, uint64_t bytes,
		 uint64_t line);

/* The line that stands for a piece of a preview. Its forms: "[... lines 31-234]\n"; with the size
   from 10 KB on: "[... lines 31-1234, 61.0 KB]\n" "[... lines 120-618, 49 threads, 18.6 KB]\n" if
   the lines name threads "[... lines 31-234: terse read cmd-1m5zq8k3x7f --lines 31-234]\n" if
   piece->spelled "[... lines 12-421 repeat the line above]\n" "[... lines 12-421 like this; last:
   Downloading part 421]\n" "[... lines 12-421 alike]\n" "[... back to line 31]\n", and "[...
   continues with line 1235]\n": the next line is not the one that follows in the text */
void wording_marker(struct buffer *out, const struct preview_piece *piece,
		    const struct wording_place *place);

/* "terse read cmd-1m5zq8k3x7f --bytes ", to which the caller appends a range; nothing if place->id
   is NULL. */
void wording_read_some_bytes(struct buffer *out, const struct wording_place *place);

/* The lines below are given as a shell's reader gets them. */

/* Kinds of waiting of a silent run. If its processes differ, the kind that comes last in this list
   counts. */
enum wait_kind {
	WAIT_UNKNOWN, /* some process runs, or nothing is known */
	WAIT_ALONE,   /* its only process polls descriptors that nobody else has */
	WAIT_SLEEP,
	WAIT_SOCKET, /* for data on a socket */
	WAIT_LOCK,   /* for a lock on a file */
	WAIT_STDIN,  /* for data on its standard input, a pipe or socket */
	WAIT_KEYS,   /* to read the terminal, where nobody can type */
	WAIT_SCREEN, /* for nothing: it draws on the alternate screen */
	WAIT_PERSON, /* for a person's answer */
	WAIT_SECRET, /* for a password: the terminal does not echo */
};

enum wording_state {
	WORDING_ENDED,
	WORDING_INTERRUPTED,
	WORDING_RUNNING,
	WORDING_FILE, /* the text is a file, not a run's */
};

/* How the last run of the same command ended, compared with this one. */
struct wording_since {
	char id[24];           /* the last run; "": there was none */
	int exit_code, signal; /* as in struct wording_ending */
	int64_t age_ms;
	bool identical;  /* both texts are identical */
	char tests[448]; /* "failed: 2 (new: test_a; fixed: test_c)", or "" */
};

struct wording_ending {
	enum wording_state state;
	bool timed_out;
	/* Who still writes to the artifact: "tee still writes"; "": an unknown process; NULL:
	   nobody. */
	const char *background;
	bool project_ignored;   /* the project's .terse.ini has errors */
	const char *by_project; /* the settings of previews in it: "size, mode"; NULL or "": none */
	int exit_code;          /* -1: killed by `signal` */
	int signal;
	int64_t duration_ms;
	uint64_t lines, bytes;
	/* The prompt of a run that waits for input, or was ended because it waited. "": there is no
	   prompt. NULL: it does not wait. */
	const char *prompt;
	enum wait_kind asked; /* WAIT_PERSON or WAIT_SECRET if it waits for a person */
	bool typing;          /* the run can be typed into */
	bool handed_over;     /* its agent's time limit has come, and it continues in the
				 background */
	bool hung_up;         /* it was ended because it waited for keys */
	bool picture;         /* the text ends with the last state of the alternate screen */
	const char *found;    /* the line that was waited for, or NULL */
	const char *missed;   /* the pattern that was waited for and not found, or NULL */
	int64_t waited_ms;    /* how long was waited; 0: not reported */
	struct limit limit;   /* `broken`: which part of it was exceeded */
	enum limit_part broken;
	const struct wording_since *since; /* NULL: no earlier run was looked for */
	bool omits;                        /* lines are left out */
	bool cuts;                         /* lines are cut */
	bool brief; /* the reader knows the ID and what can be done: see wording_footer() */
};

/* The last line of a text that is not printed whole. Its forms:

   The run has ended:
     "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB: terse read cmd-… [--lines FROM-TO], terse
     search ID REGEX]\n"
   If lines are cut, "[--lines|--bytes FROM-TO]". Where they apply, these follow the size:
     " (limit 100 lines)": the limit that was exceeded, unless it is that of bytes;
     "; .terse.ini is ignored: terse config check; full text": the project's file has errors;
     "; lines 4,001-8,000 (4,000, 220 KB) not kept: No space left on device; the rest: terse read
     cmd-…".
   With `since`, one of these follows the time:
     ", as cmd-… 3 min ago", "; cmd-… 3 min ago: exit 1", "; same text as cmd-… 3 min ago",
   and then, if that is known, "; failed: 2 (new: test_a; fixed: test_c)".

   The run goes on:
     "[terse: running after 10.0 s; 12 lines, 340 B; wait: terse await cmd-…; with that ID: terse
     read ID --lines FROM-TO, terse send ID TEXT, terse snapshot, terse signal (ends it)]\n" (no
     "terse read" if nothing is left out)
     "[terse: not found in 2.0 s: \"ready\"; running after …": an await has ended
     "[terse: waiting for input: \"Password: \"; answer: terse send cmd-… TEXT --key enter --await;
     with that ID: terse snapshot, terse signal (ends it)]\n"
     "[terse: handed over after 28.0 s, it goes on: terse await cmd-…]\n" ("; with that ID: terse
     read ID --lines FROM-TO, terse signal (ends it)" if lines are left out)

   `brief`: the ID is left out. A question is cut to its last WORDING_BRIEF bytes, a line that was
   found to its first ones:
     "[terse: waiting for input: \"(gdb) \"]\n"
     "[terse: not found in 2.0 s; running; 12 lines, 340 B]\n"

   A person is asked. These two are the same if `brief`, and name a command even in the vocabulary
   of tools:
     "[terse: a secret is asked for; a person has to run: terse attach cmd-…]\n"
     "[terse: a person is asked: \"Unlock? \"; a person has to run: terse attach cmd-…]\n" */
#define WORDING_BRIEF 29
void wording_footer(struct buffer *out, const struct wording_ending *ending,
		    const struct wording_place *place);

struct wording_head {
	uint64_t lines, units, total_units; /* printed lines; printed units of the limit, and all */
	uint64_t cut;                       /* printed lines that are cut */
	bool with_status;                   /* names the exit status even of a success */
};

/* The last line of a text of which only the first part is shown, in place of markers and footer.
   `ending` has the totals and the limit that was exceeded; without `omits` all lines are there, but
   some are cut. "[terse: lines 1-571 of 8,432 shown (limit 30 KB): terse read cmd-… --offset
   572]\n" "[terse: exit 2; 100 matches of 2,431 shown, 3 long lines cut to 500 bytes: terse read
   cmd-… --offset 101, or narrow the pattern; cut bytes: terse read cmd-… --bytes FROM-TO]\n" */
void wording_head(struct buffer *out, const struct wording_head *head,
		  const struct wording_ending *ending, const struct wording_place *place);

/* "a secret is asked for; a person has to run: terse attach cmd-…" */
void wording_asked(struct buffer *out, enum wait_kind asked, const char *prompt, const char *id);

/* "exit 1 after 12.3 s", without a newline */
void wording_end(struct buffer *out, const struct wording_ending *ending);

/* "[terse: exit 4]\n", for agents that don't tell the model the exit status; "[terse: exit 3; tee
   still writes: terse read cmd-…]\n". */
void wording_status(struct buffer *out, const struct wording_ending *ending,
		    const struct wording_place *place);

/* "[terse: still running after 1 min 0 s; 812 lines, 47.0 KB so far: terse read cmd-…]\n". If it is
   known that the process `who` waits: "… cmd-…; flock waits for a lock]\n". If a person is asked,
   `who` is the question, and the line is that of wording_footer(). */
void wording_heartbeat(struct buffer *out, int64_t elapsed_ms, uint64_t lines, uint64_t bytes,
		       enum wait_kind wait, const char *who, const struct wording_place *place);

/* "[terse: exit 0 after 3 ms; 12.3 MB of binary output (gzip): terse path --raw cmd-…]\n" */
void wording_binary(struct buffer *out, const struct wording_ending *ending, const char *kind,
		    const struct wording_place *place);

/* For a person at a terminal, who saw the whole text: "[terse: 8,432 lines, 473 KB: terse read
   cmd-…]\n". */
void wording_person(struct buffer *out, const struct wording_ending *ending,
		    const struct wording_place *place);

/* "[terse: cmd-… still listens on port 3000: terse read cmd-…, or terse signal to end it]\n":
   printed after the report of a later run of the same command, which has failed. */
void wording_listens(struct buffer *out, const char *id, unsigned port, enum next_words words);

/* Printed in front of an earlier run's text (--cached): "[terse: not run again: this is
   cmd-1m7vwf5bqe9c, 2 min old (--cached)]\n". */
void wording_cached(struct buffer *out, const char *id, const char *age);

/* "terse: standard output could not be written: No space left on device; full text: terse read
   cmd-…\n"; for ETIMEDOUT, "its reader takes nothing". */
void wording_not_printed(struct buffer *out, int error, const struct wording_place *place);

#endif
