// terse signal ID [SIGNAL]: a signal to a command that runs, or its end.

#include "supervisor/command/command.h"
#include "supervisor/command/reach.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "INT", "SIGINT" or "2"; -1: none. */
static int parse_signal(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);
	if (*text && !*end)
		return number > 0 && number < NSIG ? (int)number : -1;
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	for (int sig = 1; sig < NSIG; sig++) {
		const char *name = sigabbrev_np(sig);
		if (name && strcasecmp(name, text) == 0)
			return sig;
	}
	return -1;
}

/* Until the keeper has gone: then nothing of the run is left. */
static void signal_wait_for_end(const struct visit *v)
{
	struct control_packet p;
	while (visit_receive(v, &p, 0) >= 0 || errno == EAGAIN)
		;
}

int command_signal(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *operands[2];
	const struct verb_option table[] = {
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	int count = verb_parse(table, argc, argv, operands, 2);
	if (count < 0)
		return EXIT_TERSE;
	if (count == 0) {
		verb_error(argv[0], "what? terse signal ID [SIGNAL]");
		return EXIT_TERSE;
	}
	int sig = count == 2 ? parse_signal(operands[1]) : 0;
	if (sig < 0) {
		verb_error(argv[0], "%s: no such signal", operands[1]);
		return EXIT_TERSE;
	}
	struct visit v;
	char id[ID_LEN + 1];
	if (reach_live(c->settings, session, argv[0], operands[0], &v, id) < 0)
		return 1;
	int status = 0;
	if (visit_ask(&v, CONTROL_SIGNAL, (uint32_t)sig, 0, NULL, 0, NULL) < 0) {
		reach_failed(argv[0], id, errno);
		status = 1;
	} else if (sig == 0) {
		signal_wait_for_end(&v);
	}
	visit_close(&v);
	return status;
}
