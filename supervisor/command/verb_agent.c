// terse agent CMD...: starts an agent with libterse-shim.so preloaded, so that its tool calls run
// through terse-sh.

#include "config/pattern.h"
#include "lib/active.h"
#include "lib/exec.h"
#include "shim/exec_call.h"
#include "supervisor/agents/probe.h"
#include "supervisor/agents/rule.h"
#include "supervisor/agents/session.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sets the environment for the agent `name`. If something is missing, prints that; the agent starts
   anyway. */
static void agent_activate(const struct settings *s, const char *program, const char *name)
{
	struct place own, launcher;
	char started[PATH_MAX], list[2 * PATH_MAX];
	char script[PATH_MAX + sizeof(PLACE_UNLESS_VERBOSE)];
	place_find(&own);
	/* If the launcher starts this terse, the agent's shell is the launcher, which works even if
	   terse is replaced while the agent runs. */
	if (place_check(&own, started) == PLACE_GOOD) {
		place_wired(&launcher, &own);
		memcpy(own.shell, launcher.shell, sizeof(own.shell));
	}
	if (!*own.library || !*own.shell) {
		verb_error("agent", "%s is not there: %s runs without terse (see terse doctor)",
			   *own.library ? "terse-sh" : "libterse-shim.so", program);
		return;
	}
	/* Blanks and colons end a name in LD_PRELOAD. */
	if (strpbrk(own.library, ": ")) {
		verb_error("agent",
			   "%s: a path with a blank or colon can't be preloaded: %s runs without "
			   "terse",
			   own.library, program);
		return;
	}
	/* Puts the library first in LD_PRELOAD, so that it sees each call first. */
	const char *others = getenv("LD_PRELOAD"), *probed = getenv(PROBE_VARIABLE);
	/* Whether the library looks at executed files too: the agent types into a shell, runs
	   files, or is probed. */
	const bool types = rule_types(s, name);
	const bool files = types || (probed && *probed) ||
			   rule_knows(s, (char *[]){(char *)name, NULL}, RULE_FILE);
	bool fits =
		(size_t)snprintf(list, sizeof(list), "%s%s%s", own.library,
				 others && *others ? ":" : "", others ? others : "") < sizeof(list);
	snprintf(script, sizeof(script), "%s" PLACE_UNLESS_VERBOSE, own.bash_env);
	errno = E2BIG;
	/* TERSE_AGENT lets rules recognise agents that set no variable of their own. Some agents
	   also need a variable that names their shell. Codex is linked statically, so it needs a
	   file that its bash reads first. */
	if (!fits || unsetenv(ACTIVE_NAME) < 0 || setenv("TERSE_SHIM_SHELL", own.shell, 1) < 0 ||
	    setenv(RULE_AGENT, name, 1) < 0 || setenv("LD_PRELOAD", list, 1) < 0 ||
	    (files && setenv(SHIM_FILES, "1", 1) < 0) ||
	    (types && setenv(option_by_key("shim", "interactive")->variable, "yes", 1) < 0) ||
	    (strcmp(name, "claude") == 0 && !strstr(own.shell, " -") &&
	     setenv("CLAUDE_CODE_SHELL_PREFIX", own.shell, 0) < 0) ||
	    (strcmp(name, "codex") == 0 && *own.bash_env && setenv("BASH_ENV", script, 0) < 0))
		verb_error("agent", "%s: %s runs without terse", strerror(errno), program);
}

/* Prints a warning if no rule knows the agent. Prints none for a shell, which is not an agent, and
   none under terse probe, which is about to write a rule. */
static void agent_tell_if_unknown(const struct settings *s, char *const command[])
{
	const char *probed = getenv(PROBE_VARIABLE), *name = *command;
	char found[PATH_MAX];
	bool known = !hints_find_program(name, found) || (probed && *probed);
	while (!known) {
		name = *command;
		known = wrapper_is_shell(command) || rule_knows(s, command, NULL);
		command = wrapper_inner(command);
		if (!command)
			break;
	}
	if (!known)
		verb_error("agent",
			   "no rule knows %s: its own commands run without terse (terse probe %s "
			   "makes a rule)",
			   name, name);
}

struct agent_call {
	const char *as; /* the agent's name, if its program has another name */
};

int agent_run(struct verb_call *c)
{
	const char *off = getenv("TERSE");
	struct agent_call call = {.as = NULL};
	if (verb_parse(c, &call) < 0)
		return EXIT_TERSE;
	char **command = c->operands, *as[] = {(char *)call.as, NULL}, room[SESSION_ROOM];
	if (call.as && !rule_knows(c->settings, as, NULL) && !wiring_find(wirings, call.as))
		return verb_fail(c, ENVELOPE_USAGE, "--as: no rule knows %s", call.as);
	if (!off || strcmp(off, "0") != 0) {
		/* No rule knows the program by its name, so the session is named here. */
		if (call.as && !rule_first(c->settings, call.as, RULE_SESSION))
			setenv(option_by_key("session", "name")->variable,
			       session_of_process(call.as, room), 0);
		if (!call.as)
			agent_tell_if_unknown(c->settings, command);
		agent_activate(c->settings, *command,
			       call.as ? call.as : shell_call_name(*command));
	}
	int error = exec_search(*command, command);
	verb_error("agent", "%s: %s", *command, strerror(error));
	return error == ENOENT ? 127 : 126;
}

static const struct verb_option agent_options[] = {
	{"--as", 0, VERB_TEXT, offsetof(struct agent_call, as), "NAME",
	 "the agent's name, if its program has another name"},
	VERB_END_ROW,
};

const struct verb verb_agent = {
	.name = "agent",
	.purpose = "start an agent whose shell commands run through terse",
	.forms = "COMMAND [ARG...]",
	.text = "Starts an agent with libterse-shim.so in LD_PRELOAD, so that its shell\n"
		"commands run through terse. terse config --agents lists those it knows; terse\n"
		"probe finds out about others. If the library is missing, the agent starts\n"
		"without it. If no rule knows COMMAND, its shell commands run without terse, and\n"
		"a warning says so.\n",
	.options = agent_options,
	.least = 1,
	.more = -1,
	.command = true,
	.run = agent_run,
};
