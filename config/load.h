// Loading with the system's file named, for tests; settings_load() in option.h
// is what everybody else calls.
#ifndef TERSE_CONFIG_LOAD_H
#define TERSE_CONFIG_LOAD_H

#include "config/option.h"

/* settings_load() with another file in place of /etc/terse.ini. */
int settings_load_after(struct settings *s, const char *system_file, struct option_error *error);

#endif
