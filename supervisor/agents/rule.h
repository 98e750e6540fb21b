// Rules: they distinguish an agent's tool calls from everything else that it runs through a shell,
// find the part of the shell string that the model wrote, and hold facts about the agent.
//
// A rule is a section [agent NAME] of an ini file (config/section.h). These keys are
// lists; a file's list replaces the built-in one:
//
//   environment  variables that show that the agent started the process: NAME, or
//                NAME=VALUE with a template (pattern.h); one of them is enough. None: the
//                agent's process is looked for among the ancestors
//   string       templates of its shell strings; {command} or {word} is what the model wrote
//   file         templates of script files: sh FILE, bash FILE or python FILE is a tool call
//   pass         templates of shell strings, or of files, that are not tool calls although they
//                match
//   shell        patterns (config/pattern.h) of the shell and its options; none: any
//   stdin        templates of what standard input is, as /proc/self/fd/0 names it; none: any
//   parent       names of the parent process; none: any
//   process      names of the agent's own process
//   session      variables that name the conversation; the first that is set is taken
//   output       templates of files in which the agent collects output
//   ends         variables: if none of them is set, the agent does not end calls. Without this key
//                it ends each call after [run] hand_over
//   limit        variables with a number of milliseconds that replaces hand_over
//   background   templates of files that the agent has open while its own tool runs a command in
//                the background, which it does not end
//
// The other keys are numeric options, as in a profile.
#ifndef TERSE_AGENTS_RULE_H
#define TERSE_AGENTS_RULE_H

#include "config/agents.h"
#include "lib/proc.h"

/* Finds the agent that started this process: the one whose variables are in the environment; if
   several are, the one whose process is the nearest ancestor. Reads /proc only to decide between
   several, and for rules that name no variables. Returns its name, which lives as long as the
   settings; NULL: no rule fits. */
const char *rule_agent(const struct settings *s);

/* Finds the nearest process, from `pid` upwards, that is the agent's, or any agent's if `name` is
   NULL. Fills in *p and returns the agent's name, or NULL. */
const char *rule_ancestor(const struct settings *s, const char *name, pid_t pid, struct process *p);

/* Like rule_ancestor(), but finds the outermost of the agent's processes, which outlives the
   others. */
const char *rule_outermost(const struct settings *s, const char *name, pid_t pid,
			   struct process *p);

/* The first item of the list `key` in the agent's section, or NULL. */
const char *rule_first(const struct settings *s, const char *name, const char *key);

/* Whether the agent types its commands into one shell that keeps running. */
bool rule_types(const struct settings *s, const char *name);

/* The conversation that the agent's environment names, or NULL. */
const char *rule_session(const struct settings *s, const char *name);

/* Whether a template of this list matches the file on descriptor `fd`. RULE_OUTPUT: a regular file
   in which the agent collects output. */
bool rule_has_file(const struct settings *s, const char *name, const char *key, int fd);

/* Whether a call of a shell or of python is a tool call. `argv`: its arguments; `string`: what
   follows a shell's -c, or NULL. Returns the agent's name and sets *command, which the caller
   frees, to the part that the model wrote, or to the path of the script file. NULL: no tool call,
   or no memory. */
const char *rule_call(const struct settings *s, char *const argv[], const char *string,
		      char **command);

/* Whether the program of a command may be an agent: a rule names such a process, or says that
   `terse agent` starts this program. Unless `key` is NULL, only rules with that list count. */
bool rule_knows(const struct settings *s, char *const words[], const char *key);

// Shortly before the agent would end a call, the front end returns, and the run continues in the
// background.

/* The exit status of a front end that has left its run. It is not 0, so that a harness does not
   believe that the command has succeeded. */
#define EXIT_HANDED_OVER 75

struct hand_over {
	int64_t after; /* ms; 0: never */
	int status;    /* EXIT_HANDED_OVER, or [run] yield_status if that is set */
};

/* Returns how long a run of this agent holds its call before it continues in the background. For a
   caller that no rule knows (NULL) the option alone decides. */
struct hand_over rule_hand_over(const struct settings *s, const char *name);

/* Whether a run may continue after its call has ended. `pid`: the front end. The agent's process
   must be visible, since otherwise the call may be in a namespace that ends with it; and the agent
   must not run the command in its own background. True for a caller that no rule knows (NULL): that
   caller has asked for it with an option. */
bool rule_lets_go(const struct settings *s, const char *name, pid_t pid);

/* Applies the agent's section, which overrides what files set. */
void rule_apply(struct settings *s, const char *name);

#endif
