// terse doctor: is everything in place here? What a run would silently do
// without is told here.

#include "config/option.h"
#include "shim/shell.h"
#include "supervisor/artifact/store.h"
#include "supervisor/base/io.h"
#include "supervisor/command/command.h"
#include "supervisor/process/environment.h"
#include "supervisor/process/pty.h"
#include "supervisor/process/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct doctor {
	int problems;
	bool store_found;
};

static void tell(struct doctor *d, bool good, const char *what, const char *detail)
{
	printf("%-8s %s: %s\n", good ? "ok" : "PROBLEM", what, detail);
	if (!good)
		d->problems++;
}

static void check_pty(struct doctor *d)
{
	struct pty pty;
	if (pty_open(&pty, 80, 24, false, NULL) < 0) {
		tell(d, false, "pseudo-terminal", strerror(errno));
		return;
	}
	tell(d, true, "pseudo-terminal", "can be opened");
	io_close(&pty.master);
	io_close(&pty.slave);
}

static void check_proc(struct doctor *d)
{
	bool good = access("/proc/self/stat", R_OK) == 0;
	tell(d, good, "/proc",
	     good ? "readable" : "missing: readers of pipes get the whole text, never a preview");
}

/* The first usable store is the one; those before it are told as well. */
static void on_store(void *ctx, const char *path, const char *origin, int error)
{
	struct doctor *d = ctx;
	if (d->store_found)
		return;
	if (error)
		printf("%-8s store: %s (%s): %s\n", "-", path, origin, strerror(error));
	else
		printf("%-8s store: %s (%s)\n", "ok", path, origin);
	d->store_found = error == 0;
}

static void check_configuration(struct doctor *d)
{
	struct settings settings;
	struct option_error error = {""};
	if (settings_init(&settings) < 0)
		return;
	settings_load(&settings, &error);
	tell(d, !*error.text, "configuration", *error.text ? error.text : "no errors");
	settings_release(&settings);
}

static void check_shell(struct doctor *d, const struct settings *s)
{
	const char *shell = shell_find(s->shell);
	bool good = access(shell, X_OK) == 0;
	tell(d, good, "shell", good ? shell : strerror(errno));
}

static void check_reader(void)
{
	static const char *const names[] = {
		[SINK_PERSON] = "a person at a terminal; output is passed through",
		[SINK_AGENT] = "an agent; long output becomes a preview",
		[SINK_PROGRAM] = "a program; it gets the whole text",
		[SINK_FILE] = "a file; it gets the whole text",
		[SINK_CLOSED] = "nobody; it is closed",
	};
	enum sink sink = sink_of(STDOUT_FILENO);
	if (sink == SINK_PIPE)
		sink = sink_of_pipe(STDOUT_FILENO, getpid(), getppid(), false);
	printf("%-8s standard output goes to %s\n", "-", names[sink]);
}

static void check_switches(void)
{
	const char *off = getenv("TERSE"), *active = getenv(ENVIRONMENT_ACTIVE);
	if (off && strcmp(off, "0") == 0)
		printf("%-8s TERSE=0: commands are run without terse\n", "-");
	if (active && *active)
		printf("%-8s this shell is inside terse: commands are run as they are\n", "-");
}

int command_doctor(struct command_context *c, int argc, char **argv)
{
	struct doctor d = {0, false};
	if (argc > 1) {
		fprintf(stderr, "terse doctor: %s: no arguments are taken\n", argv[1]);
		return EXIT_TERSE;
	}
	puts("terse " TERSE_VERSION);
	check_pty(&d);
	check_proc(&d);
	store_explain(on_store, &d);
	if (!d.store_found)
		tell(&d, false, "store", "none can be written: long output can't be kept");
	check_configuration(&d);
	check_shell(&d, c->settings);
	check_reader();
	check_switches();
	return d.problems > 0;
}
