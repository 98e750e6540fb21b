// terse config, and what its --json prints:
//
//   {"profile":"search","files":["/etc/terse.ini"],"settings":[
//     {"section":"report","key":"size","value":30720,"unit":"bytes","text":"30KB","default":"4KB",
//      "origin":{"by":"profile"}}, ...]}
//
// origin.by is one of default, system, user, project (these with path and line), profile, variable
// and flag (these with name). Sizes are bytes, durations milliseconds.
//
//   {"profiles":[{"name":"read","match":["cat|tac"],"settings":{"size":"30KB", ...}}, ...]}
#ifndef TERSE_COMMAND_CONFIG_H
#define TERSE_COMMAND_CONFIG_H

struct command_context;
struct settings;

/* The verb; see command.h. */
int command_config(struct command_context *c, int argc, char **argv);

/* `profile`: the one that was applied, or NULL. Both return a string to free(), or NULL with
   ENOMEM. */
char *config_encode(const struct settings *s, const char *profile);
char *config_encode_profiles(const struct settings *s);

#endif
