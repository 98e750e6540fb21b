// Rules: they tell an agent's tool calls from everything else that it runs through a shell, find
// the part of the shell string that the model wrote, and hold what is known of the agent.
//
// A rule is a section [agent NAME] of an ini file (config/section.h). Its keys that are
// lists, where a file's list takes the place of the built-in one:
//
//   environment  variables by which a process knows that the agent started it: NAME, or
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
//   ends         variables, of which one is set where the agent ends a call after [run] hand_over;
//                none: it always does
//   limit        variables that say after how many milliseconds, in place of hand_over
//   background   templates of files that the agent has open while its own tool runs a command in
//                the background, which it does not end
//
// The other keys are options that hold a number, as in a profile.
#ifndef TERSE_AGENTS_RULE_H
#define TERSE_AGENTS_RULE_H

#include "config/agents.h"
#include "lib/proc.h"

/* The agent that started this process: the one whose variables are in the environment; of several
   the one whose process is the nearest ancestor. Reads /proc only for that, and for rules that name
   no variables. NULL: no agent that a rule knows. Lives as long as the settings. */
const char *rule_agent(const struct settings *s);

/* The nearest process from `pid` on upwards that is one of the agent's, or of any agent's if `name`
   is NULL. Fills in *p and returns the agent's name, or NULL. */
const char *rule_ancestor(const struct settings *s, const char *name, pid_t pid, struct process *p);

/* The agent's outermost such process, which outlives its helpers. As rule_ancestor(). */
const char *rule_outermost(const struct settings *s, const char *name, pid_t pid,
			   struct process *p);

/* The first item of a list of the agent's, or NULL. */
const char *rule_first(const struct settings *s, const char *name, const char *key);

/* Whether it types into a shell that stays. */
bool rule_types(const struct settings *s, const char *name);

/* The conversation that the agent's environment names, or NULL. */
const char *rule_session(const struct settings *s, const char *name);

/* Whether what is on descriptor `fd` is in that list of templates: RULE_OUTPUT, for a regular file
   in which the agent collects output. */
bool rule_has_file(const struct settings *s, const char *name, const char *key, int fd);

/* Whether a call of a shell or python (argv as it gets it, `string` what follows a shell's -c, or
   NULL) is a tool call: the agent's name, with *command the part that the model wrote, or the path
   of its file, to be freed. NULL: it is not, or there is no memory. */
const char *rule_call(const struct settings *s, char *const argv[], const char *string,
		      char **command);

/* Whether a rule, one that has the list `key` unless that is NULL, may be about the program of a
   command: by the names of the agent's process, if it has any, or by what terse agent sets. */
bool rule_knows(const struct settings *s, char *const words[], const char *key);

// A run that the agent would end goes on in the background instead, shortly before.

/* The status of what was the run's front end: a harness must not take the command for passed. */
#define EXIT_HANDED_OVER 75

struct hand_over {
	int64_t after; /* ms; 0: never */
	int status;    /* that, or what was set as [run] yield_status */
};

/* When that is for a call of this agent, or of a caller that no rule knows (NULL), which has to set
   the option itself. */
struct hand_over rule_hand_over(const struct settings *s, const char *name);

/* Whether the agent that called the process `pid` lets a run go on: its process is there, outside
   of any namespace that ends with the call, and it does not run the command in its background. A
   caller that no rule knows (NULL) has said so itself. */
bool rule_lets_go(const struct settings *s, const char *name, pid_t pid);

/* The agent's section overrides what files set. */
void rule_apply(struct settings *s, const char *name);

#endif
