// terse agent CMD...: starts an agent with libterse-shim.so, so that its tool calls are run
// through terse-sh.

#include "config/pattern.h"
#include "lib/active.h"
#include "lib/exec.h"
#include "shim/exec_call.h"
#include "supervisor/agents/probe.h"
#include "supervisor/agents/rule.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Puts the library first, so that it is the first to see a call. */
static int agent_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char list[2 * PATH_MAX];
	if (!others || !*others)
		return setenv("LD_PRELOAD", library, 1);
	if ((size_t)snprintf(list, sizeof(list), "%s:%s", library, others) >= sizeof(list)) {
		errno = E2BIG;
		return -1;
	}
	return setenv("LD_PRELOAD", list, 1);
}

/* TERSE_AGENT is for rules of agents that set no variable of their own. Sets what some need
   besides: the variable that names their shell, and for Codex, which is linked statically, the file
   that the bash below it reads first. */
static int agent_prepare_by_name(const struct place *place, const char *program)
{
	const char *name = shell_call_name(program);
	if (strcmp(name, "claude") == 0 && !strstr(place->shell, " -"))
		return setenv("CLAUDE_CODE_SHELL_PREFIX", place->shell, 0);
	if (strcmp(name, "codex") == 0 && *place->bash_env)
		return setenv("BASH_ENV", place->bash_env, 0);
	return 0;
}

static int agent_prepare(const struct place *place, const char *program)
{
	if (unsetenv(ACTIVE_NAME) < 0 || setenv("TERSE_SHIM_SHELL", place->shell, 1) < 0 ||
	    setenv(RULE_AGENT, shell_call_name(program), 1) < 0)
		return -1;
	return agent_preload(place->library) < 0 ? -1 : agent_prepare_by_name(place, program);
}

/* The agent starts even if something is missing. */
static void agent_activate(const struct place *place, const char *program)
{
	if (!*place->library || !*place->shell)
		verb_error("agent", "%s is not there: %s runs without terse (see terse doctor)",
			   *place->library ? "terse-sh" : "libterse-shim.so", program);
	/* Blanks and colons end a name in LD_PRELOAD. */
	else if (strpbrk(place->library, ": "))
		verb_error("agent",
			   "%s: a path with a blank or colon can't be preloaded: %s runs without "
			   "terse",
			   place->library, program);
	else if (agent_prepare(place, program) < 0)
		verb_error("agent", "%s: %s runs without terse", strerror(errno), program);
}

/* A shell is no agent, and terse probe knows that no rule does. */
static void agent_tell_if_unknown(const struct settings *s, char *const command[])
{
	const char *probed = getenv(PROBE_VARIABLE), *name = *command;
	char found[PATH_MAX];
	bool there = strchr(name, '/') ? access(name, X_OK) == 0 : hints_find_program(name, found);
	bool known = !there || (probed && *probed);
	for (; command && !known; command = wrapper_inner(command)) {
		name = *command;
		known = wrapper_is_shell(command) || rule_knows(s, command);
	}
	if (!known)
		verb_error("agent",
			   "no rule knows %s: its own commands run without terse (terse probe %s "
			   "makes a rule)",
			   name, name);
}

/* Finds terse's files; its shell is the launcher if that starts this terse, since terse may be
   replaced while the agent runs. */
static void agent_find_place(struct place *p)
{
	struct place launcher;
	char program[PATH_MAX], version[PLACE_VERSION_LEN];
	place_find(p);
	if (place_check(p, program, version) != PLACE_GOOD)
		return;
	place_wired(&launcher, p);
	memcpy(p->shell, launcher.shell, sizeof(p->shell));
}

int agent_run(struct verb_call *c)
{
	struct place place;
	const char *off = getenv("TERSE");
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	char **command = c->operands;
	agent_find_place(&place);
	if (!off || strcmp(off, "0") != 0) {
		agent_tell_if_unknown(c->settings, command);
		agent_activate(&place, *command);
	}
	int error = exec_search(*command, command);
	verb_error("agent", "%s: %s", *command, strerror(error));
	return error == ENOENT ? 127 : 126;
}

const struct verb verb_agent = {
	.name = "agent",
	.purpose = "start an agent whose shell commands run through terse",
	.forms = "COMMAND [ARG...]",
	.text = "Starts an agent with libterse-shim.so in LD_PRELOAD, so that its shell commands\n"
		"run through terse. terse config --agents lists those it knows; terse probe finds "
		"out\n"
		"about others. If the library is missing, the agent starts without it. It is said "
		"if\n"
		"no rule knows COMMAND, so that its own commands run without terse.\n",
	.least = 1,
	.most = -1,
	.command = true,
	.run = agent_run,
};
