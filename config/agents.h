// The sections [agent NAME] of ini files (layer.h), and the built-in ones. supervisor/agents/rule.h
// explains their keys.
#ifndef TERSE_CONFIG_AGENTS_H
#define TERSE_CONFIG_AGENTS_H

#include "config/layer.h"

/* The variable by which terse agent names the program that it starts. */
#define RULE_AGENT "TERSE_AGENT"

#define RULE_ENVIRONMENT "environment"
#define RULE_STRING      "string"
#define RULE_PASS        "pass"
#define RULE_SHELL       "shell"
#define RULE_STDIN       "stdin"
#define RULE_PARENT      "parent"
#define RULE_PROCESS     "process"
#define RULE_SESSION     "session"
#define RULE_OUTPUT      "output"

extern const struct layer_form rules_form;
extern const struct layer rules_builtin;

/* The uppermost layer. */
static inline const struct layer *rules_of(const struct settings *s)
{
	return s->agents ? s->agents : &rules_builtin;
}

#endif
