// Every line that terse itself prints around a command's text. They are an
// interface for agents: short, exact, stable, with the next command spelled out.
// tests/unit/test_wording.c holds them word for word.
//
// Functions append to a buffer, which remembers a lack of memory.
#ifndef TERSE_REPORT_WORDING_H
#define TERSE_REPORT_WORDING_H

#include "config/limit.h"
#include "config/settings.h"
#include "lib/gap.h"

#include <stdbool.h>
#include <stdint.h>

struct buffer;
struct preview_piece;

/* The words of a reader for what it can do next: commands for one that has a shell, calls for one
   that has the tools of terse mcp ([report] words). A line is made of them; none is edited. */
struct vocabulary {
	/* With a run's name behind them. */
	const char *read, *search;
	/* With the name as %s. */
	const char *raw_bytes, *wait, *look, *answer;
	/* Parts of a text, behind its name. */
	const char *standard_error, *raw, *any_lines;
	/* Arguments, and what is between one and its value. */
	const char *offset, *limit, *lines, *bytes, *pattern, *is;
	/* For the reader of a line that names the run already. */
	const char *read_it, *screen_also, *type_also, *answer_also, *end_it;
	const char *list, *keys, *check_project;
};
extern const struct vocabulary vocabularies[]; /* by enum next_words */

/* The place of the whole text. */
struct wording_place {
	const char *id;        /* or a file, quoted for a shell. NULL: it could not be kept, or
				  (error 0) the reader has it already */
	int error;             /* why not (errno) */
	bool is_stderr;        /* the text of standard error, kept apart ... */
	bool is_raw;           /* ... or the raw bytes */
	bool binary, json;     /* it is read with -a, with --json */
	bool numbered;         /* lines, with -n */
	enum next_words words; /* the reader's */
	struct gaps gaps;      /* what of it could not be kept */
};

/* "terse read cmd-1m5zq8k3x7f --stderr", and with what is wanted of it: "... --offset 31 --limit
   1204", `count` 0: all from there on; "... --bytes 0-29999", `length` 0: as many as a page holds.
   For a reader with tools "read_command_output artifact_id=cmd-1m5zq8k3x7f stream=stderr", "...
   offset=31 limit=1204", "... bytes=0-29999". */
void wording_read_lines(struct buffer *out, const struct wording_place *place, uint64_t first,
			uint64_t count);
void wording_read_bytes(struct buffer *out, const struct wording_place *place, uint64_t from,
			uint64_t length);

/* On a page: "[... 1,204 lines omitted: terse read ID --offset 31 --limit 1204]\n". */
void wording_omitted(struct buffer *out, const struct wording_place *place, uint64_t first,
		     uint64_t count);

/* "[... bytes 29488-4998999 omitted: terse read ID --bytes 29488-4998999]\n"; for a line whose
   beginning is omitted "[... bytes 29488-4998999 of line 9 omitted: ...]\n", else `line` is 0. */
void wording_cut(struct buffer *out, const struct wording_place *place, uint64_t at, uint64_t bytes,
		 uint64_t line);

/* "[... lines 31-1234 omitted, 61.0 KB]\n"; if the piece is spelled "[... lines 31-1234 omitted,
   61.0 KB: terse read cmd-1m5zq8k3x7f --lines 31-1234]\n". For a fold "[... lines 12-421
   repeat the line above]\n", for lines that are alike "[... lines 12-421 like this, 21.0 KB; last:
   Downloading part 421]\n", for several forms "... 12-421 like the 2 above, 21.0 KB; last: ...". In
   front of lines that do not follow: "[... back to line 31, omitted above]\n" and then
   "[... continues with line 1235]\n". */
void wording_marker(struct buffer *out, const struct preview_piece *piece,
		    const struct wording_place *place);

/* "terse read cmd-1m5zq8k3x7f --bytes ", in front of a range; nothing without a place. */
void wording_read_some_bytes(struct buffer *out, const struct wording_place *place);

/* All lines below are those for a command line. */

/* The thing that a silent run waits for. The later in this list, the more it explains. */
enum wait_kind {
	WAIT_UNKNOWN, /* something runs, or it can't be seen */
	WAIT_ALONE,   /* the one process polls what it has from nobody else */
	WAIT_SLEEP,
	WAIT_SOCKET, /* for data on one */
	WAIT_LOCK,   /* of a file */
	WAIT_STDIN,  /* for data on its standard input, a pipe or socket */
	WAIT_KEYS,   /* to read the terminal, where nobody can type */
	WAIT_SCREEN, /* for nothing: it draws on a screen of its own */
	WAIT_PERSON, /* for a person's answer */
	WAIT_SECRET, /* for one that must not be seen: the terminal does not echo */
};

enum wording_state {
	WORDING_ENDED,
	WORDING_INTERRUPTED,
	WORDING_RUNNING,
	WORDING_FILE, /* not a run, so it has no end */
};

/* How the last run of the same command ended, compared with this one. */
struct wording_since {
	char id[24];           /* "": there is nothing to say */
	int exit_code, signal; /* as in struct wording_ending */
	int64_t age_ms;
	bool identical;  /* the texts are the same in every byte */
	char tests[448]; /* "failed: 2 (new: test_a; fixed: test_c)", or "" */
};

struct wording_ending {
	enum wording_state state;
	bool timed_out;
	/* Who still writes to the artifact: "tee still writes"; "": somebody who can't be seen;
	   NULL: nobody. */
	const char *background;
	bool project_ignored;   /* the project's .terse.ini has errors */
	const char *by_project; /* what it sets of a preview: "size, mode"; NULL or "": nothing */
	int exit_code;          /* -1: by signal */
	int signal;
	int64_t duration_ms;
	uint64_t lines, bytes;
	/* The prompt of a run that waits for input, or that was ended because it waited; "": it
	   shows none; NULL: it does not wait. */
	const char *prompt;
	enum wait_kind asked; /* WAIT_PERSON, WAIT_SECRET: and it is for a person */
	bool typing;          /* it can be typed into */
	bool handed_over;     /* it goes on since its agent would have ended it */
	bool hung_up;         /* it waited for keys, and was ended for that */
	bool picture;         /* the text ends with the last picture of its own screen */
	const char *found;    /* the line that was waited for, or NULL */
	const char *missed;   /* the pattern that was waited for in vain, or NULL */
	int64_t waited_ms;    /* how long that, or anything, was waited for; 0: not reported */
	struct limit limit;   /* of which `broken` was over first */
	enum limit_part broken;
	const struct wording_since *since; /* NULL: not compared */
	bool omits;                        /* lines are left out ... */
	bool cuts;                         /* ... or bytes of lines */
	bool brief; /* the line ends an answer to its reader, who knows the ID and the verbs */
};

/* "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; full text: terse read cmd-… [--lines FROM-TO],
   terse search cmd-… REGEX]\n": a reader of any marker, which names lines or bytes alone, knows by
   that how to read them; where lines are cut "[--lines FROM-TO | --bytes FROM-TO]". A limit other
   than that of bytes is named: "... 8,432 lines, 473 KB (limit 100 lines); full text ...". If the
   text was not kept whole: "... 8,432 lines, 473 KB; lines 4,001-8,000 (4,000, 220 KB) not kept: No
   space left on device; the rest: terse read cmd-..."; where the project's file has errors, ";
   .terse.ini is ignored: terse config check" follows the size. Of a run with `since`: "[terse: exit
   1 after 12.3 s, as cmd-… 3 min ago; 8,432 lines, ...", "[terse: exit 0 after 12.3 s; cmd-… 3 min
   ago: exit 1; ...", "[terse: exit 0 after 12.3 s; same text as cmd-… 3 min ago; ...", "[terse:
   exit 1 after 12.3 s, as cmd-… 3 min ago; failed: 2 (new: test_a; fixed: test_c); ...". If the run
   goes on: "[terse: running after 10.0 s; 12 lines, 340 B; wait: terse await cmd-…; with that ID:
   terse read ID --lines FROM-TO, terse send ID TEXT, terse snapshot, terse signal (ends it)]\n" (no
   read if nothing is left out), "[terse: waiting for input: \"Password: \"; answer: terse send
   cmd-… TEXT --key enter
   --await; with that ID: terse snapshot, terse signal (ends it)]\n", "[terse: handed over
   after 28.0 s, it goes on: terse await cmd-…]\n" (where lines are left out, "; with that ID: terse
   read ID
   --lines FROM-TO, terse signal (ends it)" follows), "[terse: not found in 2.0 s:
   \"ready\"; running ...]\n". A brief one has the last WORDING_BRIEF bytes of a question, or the
   first of a line that was found: "[terse: waiting for input: \"(gdb) \"]\n", "[terse: not found
   in 2.0 s; running; 12 lines, 340 B]\n". For a person, brief or not, and in the words of a shell
   for any reader: "[terse: a secret is asked for; a person has to run: terse attach cmd-…]\n",
   "[terse: a person is asked: \"Unlock? \"; a person has to run: terse attach cmd-…]\n". */
#define WORDING_BRIEF 29
void wording_footer(struct buffer *out, const struct wording_ending *ending,
		    const struct wording_place *place);

struct wording_head {
	uint64_t lines, units, total_units; /* printed; of all there are */
	uint64_t cut;                       /* lines that are not whole */
	bool with_status;                   /* says the exit status of a success, too */
};

/* The line behind the first part of a text, by whole lines, which replaces markers and footer
   (`ending` has the totals and the limit that ended it; if it omits nothing, all lines are there,
   though not all of them whole): "[terse: lines 1-571 of 8,432 shown (limit 30 KB): terse read
   cmd-… --offset 572]\n",
   "[terse: exit 2; 100 matches of 2,431 shown, 3 long lines cut to 500 bytes: terse read cmd-…
   --offset 101, or narrow the pattern; cut bytes: terse read cmd-… --bytes FROM-TO]\n". */
void wording_head(struct buffer *out, const struct wording_head *head,
		  const struct wording_ending *ending, const struct wording_place *place);

/* "a secret is asked for; a person has to run: terse attach cmd-…" */
void wording_asked(struct buffer *out, enum wait_kind asked, const char *prompt, const char *id);

/* "exit 1 after 12.3 s", without a newline */
void wording_end(struct buffer *out, const struct wording_ending *ending);

/* "[terse: exit 4]\n" for agents that don't tell the model the exit status; "[terse: exit 3; tee
   still writes: terse read cmd-…]\n". */
void wording_status(struct buffer *out, const struct wording_ending *ending,
		    const struct wording_place *place);

/* "[terse: still running after 1 min 0 s; 812 lines, 47.0 KB so far: terse read cmd-…]\n", and if
   the process `who` is known to wait "... cmd-…; flock waits for a lock]\n"; for a person, who is
   asked `who`, the line of wording_footer() */
void wording_heartbeat(struct buffer *out, int64_t elapsed_ms, uint64_t lines, uint64_t bytes,
		       enum wait_kind wait, const char *who, const struct wording_place *place);

/* "[terse: exit 0 after 3 ms; 12.3 MB of binary output (gzip): terse path --raw cmd-…]\n" */
void wording_binary(struct buffer *out, const struct wording_ending *ending, const char *kind,
		    const struct wording_place *place);

/* A person at a terminal saw everything: "[terse: 8,432 lines, 473 KB: terse read cmd-…]\n" */
void wording_person(struct buffer *out, const struct wording_ending *ending,
		    const struct wording_place *place);

/* "[terse: cmd-… still listens on port 3000: terse read cmd-…, or terse signal to end it]\n":
   behind the report of the same command, which has failed. */
void wording_listens(struct buffer *out, const char *id, unsigned port, enum next_words words);

/* A run was not done again, since an earlier one answers:
   [terse: not run again: this is cmd-1m7vwf5bqe9c, 2 min old (--cached)] */
void wording_cached(struct buffer *out, const char *id, const char *age);

/* "terse: standard output could not be written: No space left on device; full text: terse read
   cmd-…\n"; ETIMEDOUT: its reader takes nothing. */
void wording_not_printed(struct buffer *out, int error, const struct wording_place *place);

#endif
