// The output of one command line in a shell that somebody types into (terse shell), from the mark
// before the output to the mark after it, on its way to the reader's terminal:
//
//   HEAD ──► HELD     the first part passes unchanged as it comes; longer output becomes text,
//     │       │       which is kept and, at the end, previewed like that of a run
//     └──► AS IT IS   a program reads keys, or the text can't be kept: the bytes pass unchanged
//
// The last lines pass unchanged, too, after the preview: they contain the word by which the reader
// knows that the command has ended. Memory is bounded. If anything fails, the bytes pass unchanged.
#ifndef TERSE_PROCESS_PASSAGE_H
#define TERSE_PROCESS_PASSAGE_H

#include "supervisor/process/output_queue.h"
#include "supervisor/process/record.h"

struct passage {
	/* Set by the owner, who keeps what they point to. */
	struct job *job; /* settings, secrets, `shown`: what was typed */
	struct output_queue *out;
	int master; /* of the shell's terminal */
	pid_t shell;

	enum { PASSAGE_CLOSED, PASSAGE_AS_IT_IS, PASSAGE_HEAD, PASSAGE_HELD } state;
	struct settings settings; /* with the typed command's profile, once text is held */
	struct record record;
	struct interceptor *text;
	struct buffer line; /* the start of an unfinished line of the head */
	struct buffer tail; /* the last lines, which `text` does not have */
	size_t passed, head_most, tail_most;
	bool ended_line; /* the last byte printed was a newline */
	int64_t came_ms; /* when the last byte came; times are monotonic */
	int64_t heartbeat_at, heartbeat_ms;
};

/* Call it at the mark before the output. */
void passage_begin(struct passage *p);

/* Takes the next bytes of the output. Bytes outside a passage are printed as they are. */
void passage_feed(struct passage *p, const char *data, size_t len);

/* Call it at the mark after the output, with the command's exit status; -1: the end was not seen.
   Prints the rest of what the reader gets. Does nothing if no passage is open. */
void passage_end(struct passage *p, int status);

/* Call it when somebody types keys: the rest passes unchanged. */
void passage_let_go(struct passage *p);

/* When passage_on_time() is due; 0: not before more comes. */
int64_t passage_due(const struct passage *p);

/* Prints the held lines that a waiting reader should have by now. */
void passage_on_time(struct passage *p, int64_t now_ms);

/* Whether the terminal's foreground process reads single keys: with `shell`, the shell at its
   prompt; else a program with a full screen or a line editor. */
bool passage_reads_keys(const struct passage *p, bool shell);

#endif
