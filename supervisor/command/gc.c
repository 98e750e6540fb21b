// terse gc: cleans the stores up; with $TERSE_HOME set this one alone.

#include "supervisor/artifact/gc.h"

#include "config/option.h"
#include "supervisor/command/cleanup.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/visit.h"

#include <errno.h>
#include <string.h>

/* Takes --dry-run and the flags of settings. Returns 0, or -1 after saying what is wrong. */
static int verb_gc_parse(struct settings *settings, int argc, char **argv, bool *dry)
{
	struct option_error error = {""};
	for (int i = 1; i < argc;) {
		if (strcmp(argv[i], "--dry-run") == 0) {
			*dry = true;
			i++;
			continue;
		}
		int taken = settings_take_flag(settings, argc, argv, &i, &error);
		if (taken < 0)
			verb_error(argv[0], "%s", error.text);
		else if (taken == 0)
			verb_error(argv[0], "%s: no such option (see terse help gc)", argv[i]);
		if (taken <= 0)
			return -1;
	}
	return 0;
}

int command_gc(struct command_context *c, int argc, char **argv)
{
	bool dry = false;
	if (verb_gc_parse(c->settings, argc, argv, &dry) < 0)
		return EXIT_TERSE;
	struct store stores[STORE_MAX];
	struct cleanup cleanup = {.dry = dry};
	struct gc_result sum = {0};
	int status = 0, count = verb_open_stores(argv[0], stores, &status);
	for (int i = 0; i < count; i++) {
		struct gc gc = cleanup_begin(&cleanup, c->settings, &stores[i], dry);
		if (gc_run(&gc) < 0) {
			gc.result.error = errno;
			gc.result.failed++;
			verb_error(argv[0], "%s: %m", stores[i].path);
		}
		gc.result.leftovers += dry ? 0 : visit_sweep(&stores[i]);
		cleanup_add(&sum, &gc.result);
		store_close(&stores[i]);
	}
	return cleanup_end(&cleanup, argv[0], &sum) | status;
}
