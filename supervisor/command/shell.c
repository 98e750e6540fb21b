// terse-sh: terse as a shell. See shim/decision.h.

#include "config/option.h"
#include "shim/decision.h"
#include "shim/rule.h"
#include "supervisor/base/clock.h"
#include "supervisor/command/command.h"
#include "supervisor/command/run.h"
#include "supervisor/process/frontend.h"

#include <stddef.h>

static int pass_on(const struct settings *s, const struct decision *d)
{
	const struct job job = {.settings = s, .program = d->program, .argv = d->argv};
	return run_tell_exec_error(&job, frontend_exec(&job));
}

static void set_unless_decided(struct settings *s, const char *section, const char *key,
			       int64_t value)
{
	const struct option *o = option_by_key(section, key);
	if (option_source(s, o)->by < ORIGIN_VARIABLE)
		*option_number(s, o) = value;
}

static int supervise(struct settings *s, struct decision *d)
{
	char *shown[] = {(char *)d->program, (char *)"-c", d->command, NULL};
	struct job job = {.program = d->program,
			  .argv = d->argv,
			  .shown = shown,
			  .started_ms = clock_real_ms(),
			  .begun_ms = clock_monotonic_ms()};
	rule_apply(s, d->agent);
	/* The agent reads what is printed, whatever it is printed to, and joins both streams. */
	set_unless_decided(s, "report", "print", PRINT_PREVIEW);
	set_unless_decided(s, "run", "streams", STREAMS_MERGED);
	return run_supervised(&job, s, NULL, d->command);
}

int command_shell(char **argv)
{
	struct settings settings = {0};
	struct option_error error;
	struct decision d;
	bool loaded = settings_load(&settings, &error) == 0;
	int made = decision_make(&d, &settings, argv, loaded && !run_is_bypassed(&settings));
	int status = made == 0 && d.agent ? supervise(&settings, &d) : pass_on(&settings, &d);
	decision_release(&d);
	settings_release(&settings);
	return status;
}
