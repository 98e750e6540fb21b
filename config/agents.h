// The sections [agent NAME] of ini files (section.h), and the built-in ones.
// supervisor/agents/rule.h explains their keys.
#ifndef TERSE_CONFIG_AGENTS_H
#define TERSE_CONFIG_AGENTS_H

#include "config/section.h"

/* The variable in which terse agent names the program that it starts. */
#define RULE_AGENT "TERSE_AGENT"

#define RULE_ENVIRONMENT "environment"
#define RULE_STRING      "string"
#define RULE_FILE        "file"
#define RULE_PASS        "pass"
#define RULE_SHELL       "shell"
#define RULE_STDIN       "stdin"
#define RULE_PARENT      "parent"
#define RULE_PROCESS     "process"
#define RULE_SESSION     "session"
#define RULE_OUTPUT      "output"
#define RULE_ENDS        "ends"
#define RULE_LIMIT       "limit"
#define RULE_BACKGROUND  "background"

extern const struct section_form rules_form;

// How much of a command's output each agent would show its model without terse. terse's savings are
// counted against that figure, not against the whole output.
//
// The figures have the same sources as the ceilings in agents.c. Characters count as bytes, so the
// answer may be too small, but not too large.

/* How many bytes an unknown agent is assumed to show. */
#define AGENT_SHOWS_ASSUMED 10000

/* Returns how many bytes of a text of `bytes` bytes and `lines` lines the agent of `s` would
   show. */
uint64_t agent_would_show(const struct settings *s, bool failed, uint64_t bytes, uint64_t lines);

#endif
