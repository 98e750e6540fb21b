// terse hook AGENT EVENT: the program that terse init puts into an agent's files. See
// agents/hook.h.

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/proc.h"
#include "supervisor/agents/hook.h"
#include "supervisor/command/verb.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* `terse session end`, in a process of its own and without output, since the agent must read only
   the answer of the hook. */
static void hook_mark_ended(const struct hook_outcome *o, const char *program)
{
	char *argv[] = {(char *)"terse", (char *)"session", (char *)"end",
			*o->session ? (char *)o->session : NULL, NULL};
	pid_t pid = fork();
	if (pid == 0) {
		io_null(STDIN_FILENO, STDERR_FILENO);
		if (!o->mark || setenv(o->mark, "1", 0) == 0)
			execv(program, argv);
		_exit(EXIT_TERSE);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static bool hook_is_verb(const char *word)
{
	return verb_named(word);
}

static int hook_run(struct verb_call *c)
{
	struct buffer input = BUFFER_INIT, answer = BUFFER_INIT;
	struct hook_outcome outcome;
	char program[PATH_MAX];
	const struct hook_terse terse = {
		.program = program, .is_verb = hook_is_verb, .in_front = c->settings->in_front};
	int status;
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	process_link(0, program, sizeof(program), "exe");
	/* What is too long to be an event, or can't be read, is none. */
	if (io_read_all(STDIN_FILENO, &input, HOOK_INPUT_MAX) < 0)
		input.len = 0;
	status = hook_answer(c->operands[0], c->operands[1], input.data ? input.data : "",
			     input.len, &terse, &answer, &outcome);
	/* Whatever is wrong, the agent goes on. */
	if (status == 0 && answer.len)
		io_write(STDOUT_FILENO, answer.data, answer.len);
	if (status == 0 && outcome.ends)
		hook_mark_ended(&outcome, program);
	buffer_release(&input);
	buffer_release(&answer);
	return 0;
}

const struct verb verb_hook = {
	.name = "hook",
	.purpose = "the program that terse init puts into an agent's files",
	.forms = "AGENT EVENT",
	.text = "Agents call this: it reads an event from standard input, and ends the session of\n"
		"a conversation that has ended, or rewrites a command (cursor).\n",
	.least = 2,
	.most = 2,
	.run = hook_run,
};
