// terse config, and what its --json prints:
//
//   {"profile":"search","agent":null,"files":["/etc/terse.ini"],"settings":[
//     {"section":"report","key":"size","value":30720,"unit":"bytes","text":"30KB","default":"4KB",
//      "origin":{"by":"profile"}}, ...]}
//
// origin.by is one of default, system, user, project (these with path and line), agent, profile,
// variable and flag (these with name). Sizes are bytes, durations milliseconds.
//
//   {"profiles":[{"name":"read","match":["cat|tac"],"settings":{"size":"30KB", ...}}, ...]}
//   {"agents":[{"name":"codex","environment":["CODEX_THREAD_ID"], ...,"settings":{...}}, ...]}
#ifndef TERSE_COMMAND_CONFIG_H
#define TERSE_COMMAND_CONFIG_H

struct command_context;
struct layer;
struct layer_form;
struct settings;

/* The verb; see command.h. */
int command_config(struct command_context *c, int argc, char **argv);

/* terse config get KEY, with the settings in force, and terse config set KEY VALUE..., in the
   user's file (config_set.c). `words` are behind get or set. Both return the verb's status. */
int config_get(const struct settings *s, int count, char **words);
int config_set(int count, char **words);

/* `profile`: the one that was applied, or NULL. Both return a string to free(), or NULL with
   ENOMEM. */
char *config_encode(const struct settings *s, const char *profile);
char *config_encode_sections(const struct layer_form *form, const struct layer *top);

#endif
