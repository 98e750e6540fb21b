// How the streams of one run are connected: what the command gets as its
// standard input, output and error, and who reads what comes back.
//
//   a person at a terminal   one pty, controlling terminal of the command; raw pass-through,
//                            the front end reads the keyboard
//   an agent                 a pty without controlling terminal, so that prompts on /dev/tty
//                            fail at once instead of waiting; stdin is handed through
//   a program or file        a pipe, so that the command does what it does without terse
//
// Both streams share one channel when they are one open file or both are read by an agent.
// A person's pipeline (`terse git log | less`) needs nothing of terse: the command is run directly.
#ifndef TERSE_PROCESS_LAYOUT_H
#define TERSE_PROCESS_LAYOUT_H

#include "config/settings.h"
#include "supervisor/process/sink.h"

#include <stdbool.h>

enum channel {
	CHANNEL_PTY,
	CHANNEL_PIPE,
	CHANNEL_INHERIT, /* the descriptor terse was given */
	CHANNEL_MERGED,  /* stderr: together with stdout */
};

struct layout {
	bool direct;      /* exec the command, there is nothing to do */
	bool person;      /* pass-through: a person sees what the command writes */
	bool controlling; /* the pty is the command's controlling terminal */
	bool stdin_pty;   /* stdin of the command is the pty; else what terse was given */
	int keyboard;     /* the person's terminal, read by the front end; -1: none */
	enum channel channel[2];
	enum sink sink[2]; /* of stdout and stderr; SINK_PIPE: not looked into yet */
};

/* Decides from the descriptors 0, 1, 2 and the settings. May open /dev/tty for the
   keyboard (close-on-exec). */
void layout_decide(struct layout *l, const struct settings *s);

#endif
