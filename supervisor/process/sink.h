// The reader of a descriptor: a person, an agent, a program or a file. Decides between
// pass-through, preview and the whole text.
#ifndef TERSE_PROCESS_SINK_H
#define TERSE_PROCESS_SINK_H

#include "config/settings.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

enum sink {
	SINK_PERSON,  /* a terminal */
	SINK_AGENT,   /* a socket, or a pipe that is not SINK_PROGRAM */
	SINK_PROGRAM, /* a pipe that a sibling, or a shell above, reads */
	SINK_FILE,    /* anything else: a regular file, /dev/null, a device */
	SINK_PIPE,    /* a pipe whose reader is not known yet: see sink_of_pipe() */
	SINK_CLOSED,
};

/* Looks only at the descriptor; a pipe is SINK_PIPE. st->st_mode is 0 if fstat(2) fails. */
enum sink sink_of(int fd, struct stat *st);

/* Finds out who reads the pipe that process `writer`, a child of `parent`, was started with. Looks
   at the ancestors of the writer, up to the one that has the reading end, then at their children,
   and at no others. Returns SINK_PROGRAM if /proc hides the reader, since a program must never get
   a preview, and if one of these ancestors has more than 32 other children. If the ancestor with
   the reading end is an agent that a rule knows, there is no such limit: all descriptors of its
   nearest children are looked at, and of the others whether their standard input is that end. */
enum sink sink_of_pipe(const struct settings *s, int fd, pid_t writer, pid_t parent);

/* Whether both descriptors share one open file (`x` and `y` are from sink_of()), so that writes to
   both stay in order. */
bool sink_is_same(int a, const struct stat *x, int b, const struct stat *y);

// How the streams of one run are connected: the command's standard input, output and error, and who
// reads them.
//
//   a person at a terminal   one pty, controlling terminal of the command; raw pass-through,
//                            the front end reads the keyboard
//   an agent                 a pty without controlling terminal, so that prompts on /dev/tty
//                            fail at once instead of waiting; stdin is handed through. An
//                            interactive shell (bash -i) uses the pty for job control if it would
//                            have job control without terse; reading /dev/tty then ends at once.
//                            With [prompt] person an agent that a rule knows gets a controlling
//                            terminal
//   a program                a pipe, so that the command does what it does without terse
//   a file, /dev/null        the descriptor itself, or a pipe if a setting needs the text
//                            (redaction, --record, --pty, --full, --yield, --detach)
//
// Both streams share one channel when they are one open file or both are read by an agent.
// A person's pipeline (`terse git log | less`) does not need terse: the command is executed
// directly.

enum channel {
	CHANNEL_PTY,
	CHANNEL_PIPE,
	CHANNEL_INHERIT, /* the descriptor that terse was given */
	CHANNEL_MERGED,  /* stderr: together with stdout */
};

struct channels {
	bool direct;      /* only execute the command */
	bool person;      /* pass-through: a person sees what the command writes */
	bool controlling; /* the pty is the command's controlling terminal */
	bool called;    /* an agent's run is `controlling`, so that a person can be called to answer
			   questions; for questions that are not for a person the input ends at once */
	bool jobs;      /* the pty exists for a shell's job control alone: nobody types into it */
	bool stdin_pty; /* the command's stdin is the pty; else terse's own */
	bool stdin_held; /* terse has to close its own stdin once the command has it, since it is
			    neither the keyboard nor /dev/null */
	int keyboard;    /* the person's terminal, read by the front end; -1: none */
	enum channel channel[2];
	enum sink sink[2];    /* of stdout and stderr; SINK_PIPE: not known yet */
	struct stat given[3]; /* the descriptors 0, 1, 2; st_mode 0: not open */
	bool typed;           /* standard input is a terminal */
};

/* Looks at the descriptors 0, 1, 2 alone: sets `given`, `typed` and `sink`. */
void channels_look(struct channels *l);

/* Decides everything else, for which it also uses the settings. `captured`: another run reads the
   terminal, not a person. `jobs`: the command should get job control. May open /dev/tty for the
   keyboard (close-on-exec). */
void channels_decide(struct channels *l, const struct settings *s, bool captured, bool jobs);

#endif
