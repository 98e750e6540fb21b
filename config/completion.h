// Completion of terse in shells.
//
// The scripts know nothing of verbs and options: they ask `terse __complete`
// (supervisor/command/verb_complete.c), which completes by the texts of `terse help` and the table
// of options. So a script serves every version of terse.
#ifndef TERSE_CONFIG_COMPLETION_H
#define TERSE_CONFIG_COMPLETION_H

/* The script for "bash", "zsh" or "fish"; NULL: no such shell. */
const char *completion_script(const char *shell);

#endif
