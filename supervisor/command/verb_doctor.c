// terse doctor: checks that everything is in place. A run works without some of these things and
// does not report that they are missing.

#include "lib/active.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/trace.h"
#include "shim/shell.h"
#include "supervisor/agents/rule.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/internal.h"
#include "supervisor/process/spawn.h"
#include "supervisor/remote/outbox.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum state { GOOD, BAD, NOTE };

struct doctor {
	const struct verb_call *call;
	const char *only; /* the only agent that is checked; NULL: everything is */
	int problems;
	bool store_found;
	struct place own, place; /* terse's own files; the files that agents' files have to name */
	struct buffer checks;    /* the elements of an array in JSON, with --json */
};

__attribute__((format(printf, 4, 5))) static void
doctor_report(struct doctor *d, enum state state, const char *what, const char *format, ...)
{
	static const char *const shown[] = {"ok", "PROBLEM", "-"};
	static const char *const named[] = {"ok", "problem", "note"};
	static const enum paint paints[] = {PAINT_GOOD, PAINT_BAD};
	struct buffer text = BUFFER_INIT, clean = BUFFER_INIT;
	va_list args;
	va_start(args, format);
	buffer_vprintf(&text, format, args);
	va_end(args);
	quote_text(&clean, text.data, text.len, 0);
	const char *detail = buffer_string(&clean);
	d->problems += state == BAD;
	if (!d->call->json) {
		printf("%s%-8s%s %s: %s\n",
		       state == NOTE ? "" : paint_code(d->call->colour, paints[state]),
		       shown[state], state == NOTE ? "" : paint_none(d->call->colour), what,
		       detail ? detail : "");
	} else {
		json_begin(&d->checks, NULL, '{');
		json_add_string(&d->checks, "state", named[state]);
		json_add_string(&d->checks, "what", what);
		json_add_string(&d->checks, "detail", detail ? detail : "");
		json_end(&d->checks, '}');
	}
	buffer_release(&text);
	buffer_release(&clean);
}

/* Reports a store, unless a usable one was found before. */
static void doctor_on_store(void *ctx, const char *path, const char *origin, int error)
{
	struct doctor *d = ctx;
	if (d->store_found || (error == ENOENT && !*path))
		return;
	if (error && !*path)
		doctor_report(d, NOTE, "store", "%s is ignored: %s", origin,
			      error == EINVAL ? "not an absolute path" : strerror(error));
	else if (error)
		doctor_report(d, NOTE, "store", "%s (%s): %s", path, origin, strerror(error));
	else
		doctor_report(d, GOOD, "store", "%s (%s)", path, origin);
	d->store_found = error == 0;
}

/* Checks what every run needs. */
static void doctor_check_needs(struct doctor *d, const struct settings *s)
{
	struct pty pty;
	struct settings settings = {0};
	struct option_error error = {""};
	if (pty_open(&pty, 80, 24, PTY_WRITTEN, NULL) < 0) {
		doctor_report(d, BAD, "pseudo-terminal", "%s", strerror(errno));
	} else {
		doctor_report(d, GOOD, "pseudo-terminal", "can be opened");
		io_close(&pty.master);
		io_close(&pty.slave);
	}
	if (access("/proc/self/stat", R_OK) == 0)
		doctor_report(d, GOOD, "/proc", "readable");
	else
		doctor_report(d, BAD, "/proc",
			      "missing: readers of pipes get the whole text, never a preview");
	store_explain((uint64_t)s->min_free, doctor_on_store, d);
	if (!d->store_found)
		doctor_report(d, BAD, "store", "none can be written: long output can't be kept");
	if (settings_load(&settings, SETTINGS_SYSTEM_FILE, &error) == 0) {
		doctor_report(d, *error.text ? BAD : GOOD, "configuration", "%s",
			      *error.text ? error.text : "no errors");
		settings_release(&settings);
	}
	const char *shell = shell_find(s->shell);
	bool good = access(shell, X_OK) == 0;
	doctor_report(d, good ? GOOD : BAD, "shell", "%s", good ? shell : strerror(errno));
}

/* Reports the environment of this call. */
static void doctor_check_here(struct doctor *d)
{
	static const char *const names[] = {
		[SINK_PERSON] = "a person at a terminal; output is passed through",
		[SINK_AGENT] = "an agent; long output becomes a preview",
		[SINK_PROGRAM] = "a program; it gets the whole text",
		[SINK_FILE] = "a file; it gets the whole text",
		[SINK_CLOSED] = "nobody; it is closed",
	};
	const char *off = getenv("TERSE"), *traced = getenv(TRACE_VARIABLE);
	const char *active = getenv(ACTIVE_NAME);
	doctor_report(d, NOTE, "standard output", "goes to %s",
		      names[reader_find(d->call->settings)]);
	if (off && strcmp(off, "0") == 0)
		doctor_report(d, NOTE, "TERSE=0", "commands are run without terse");
	if (active && active_is_inside(active))
		doctor_report(d, NOTE, "this shell is inside terse",
			      "commands are run as they are");
	if (!traced || !*traced)
		doctor_report(d, NOTE, "trace",
			      "off; " TRACE_VARIABLE
			      "=/FILE has each run write down what it decides");
	else if (trace_fd >= 0 || trace_open(traced, "terse doctor") == 0)
		doctor_report(d, NOTE, "trace", "%s", traced);
	else
		doctor_report(d, BAD, "trace", TRACE_VARIABLE "=%s: %s", traced,
			      errno == EINVAL ? "not an absolute path" : strerror(errno));
}

/* --- the remote -------------------------------------------------------------------------- */

static void doctor_check_remote(struct doctor *d, const struct settings *settings)
{
	struct store stores[STORE_MAX];
	char found[PATH_MAX];
	if (!settings->remote)
		return;
	const char *directory = remote_directory(settings);
	if (directory && access(directory, R_OK | X_OK) < 0)
		doctor_report(d, BAD, "remote", "%s: %s", directory, strerror(errno));
	else if (!directory && !hints_find_program("rclone", found))
		doctor_report(d, BAD, "remote", "%s: the program rclone is not there",
			      settings->remote);
	else
		doctor_report(d, GOOD, "remote", "%s", settings->remote);
	int count = store_open_all(stores);
	for (int i = 0; i < count; i++) {
		struct outbox outbox;
		if (outbox_open(&outbox, &stores[i], false) < 0)
			continue;
		/* Reports what the store has to push. */
		struct outbox_state state = outbox_look(&outbox);
		struct buffer text = BUFFER_INIT;
		bool waits = state.waiting > 0 || state.index_left;
		bool fails = waits && state.failures > 0;
		if (state.waiting > 0)
			buffer_printf(
				&text, "waiting: %s, %s, the oldest for %s",
				HUMAN_COUNT(state.waiting), HUMAN_SIZE(state.bytes),
				human_age((char[HUMAN_LEN]){0}, clock_real_ms() - state.oldest_ms));
		else
			buffer_append_string(&text, waits ? "waiting: the index" : "nothing waits");
		if (fails)
			buffer_printf(&text, "; failures: %s%s%s", HUMAN_COUNT(state.failures),
				      *state.why ? ", the last: " : "", state.why);
		if (waits)
			buffer_append_string(&text, " (terse push tries now)");
		doctor_report(d,
			      fails   ? BAD
			      : waits ? NOTE
				      : GOOD,
			      "push", "%s", buffer_string(&text) ? text.data : strerror(errno));
		if (state.dropped.a > 0)
			doctor_report(d, BAD, "push",
				      "dropped, unpushed: %s, %s ([remote] outbox_max)",
				      HUMAN_COUNT(state.dropped.a), HUMAN_SIZE(state.dropped.b));
		buffer_release(&text);
		outbox_close(&outbox);
	}
	store_close_all(stores, count);
}

/* --- agents ------------------------------------------------------------------------------ */

/* Checks terse's own files. */
static void doctor_check_place(struct doctor *d)
{
	const struct place *own = &d->own;
	char found[PATH_MAX], real[PATH_MAX], program[PATH_MAX], version[PLACE_VERSION_LEN];
	doctor_report(d, *own->shell ? GOOD : NOTE, "terse-sh", "%s",
		      *own->shell ? own->shell : "not found: terse init and terse agent need it");
	/* If library and program differ in version, only one of them was replaced. */
	if (!*own->library)
		doctor_report(d, NOTE, "libterse-shim.so",
			      "not found: terse agent and Codex need it");
	else if (strcmp(place_version(own->library, version), TERSE_VERSION) != 0)
		doctor_report(d, BAD, "libterse-shim.so",
			      "%s is of terse %s, this is " TERSE_VERSION
			      ": install both from the same package",
			      own->library, *version ? version : "(unknown)");
	else
		doctor_report(d, GOOD, "libterse-shim.so", "%s", own->library);
	enum place_health health = place_check(own, program);
	if (health == PLACE_GOOD)
		doctor_report(d, GOOD, "launcher", "starts %s", program);
	else if (health == PLACE_ABSENT)
		doctor_report(d, NOTE, "launcher", "%s",
			      *own->launcher ? "not installed: terse init does"
					     : "terse-launcher is not there: terse init names "
					       "terse's own files");
	else if (health == PLACE_OLD)
		doctor_report(d, NOTE, "launcher",
			      "not the one of this terse: terse init AGENT renews it");
	else if (*program)
		doctor_report(d, NOTE, "launcher",
			      "agents run another terse, %s: terse init AGENT changes that",
			      program);
	else
		doctor_report(d, BAD, "launcher",
			      "does not know where terse is: terse init AGENT tells it");
	/* Agents type `terse read`, so they run the terse in PATH. */
	if (!hints_find_program("terse", found))
		doctor_report(d, NOTE, "PATH",
			      "terse is not in it: agents that type terse read "
			      "do not find it");
	else if (realpath(found, real) && strcmp(real, own->program) != 0 &&
		 strcmp(place_version(real, version), TERSE_VERSION) != 0 && *version)
		doctor_report(d, NOTE, "PATH",
			      "%s is terse %s, this is " TERSE_VERSION
			      ": remove the one that you do not use",
			      found, version);
}

/* The most runs that are looked at to find the last one of an agent. */
enum { RUNS_MAX = 10000 };

#define WEEK_MS ((int64_t)7 * 24 * 60 * 60 * 1000)

/* Reports when an agent last ran a command through terse. Nothing else shows that the wiring works,
   since that also depends on the agent's version and on its other files. */
static void doctor_report_wired(struct doctor *d, const char *agent, const char *path)
{
	struct store stores[STORE_MAX];
	int count = store_open_all(stores);
	struct journal *j = journal_open(stores, count, NULL, JOURNAL_RUN);
	struct meta run;
	bool found = false;
	for (int i = 0; j && !found && i < RUNS_MAX && journal_next_run(j, &run) > 0; i++)
		found = run.agent && strcmp(run.agent, agent) == 0;
	int64_t age = found ? clock_real_ms() - run.ended_ms : 0;
	if (found)
		doctor_report(d, age < WEEK_MS ? GOOD : NOTE, agent,
			      "%s: %s; the last run through it: %s ago, in %s",
			      age < WEEK_MS ? "wired" : "wired, and not used for a week", path,
			      human_age((char[HUMAN_LEN]){0}, age), run.cwd);
	else
		doctor_report(d, NOTE, agent, "%s names terse; no run through it was seen", path);
	journal_close(j);
	store_close_all(stores, count);
}

/* Reports how an agent is wired by the files of the user or of a project. `overrides`: the
   project's files override the user's. */
static enum wiring_state doctor_look(struct doctor *d, const struct wiring *w,
				     const struct wiring_file *files, const char *project,
				     bool overrides)
{
	struct wiring_look l;
	wiring_look(&l, files, w->shell ? &d->own : &d->place, project);
	/* Text in these files that terse has not written matters only if it overrides terse's
	   text. */
	if (l.error && (l.error != EEXIST || overrides)) {
		doctor_report(d, BAD, w->agent, "%s", l.reason);
		return l.error == EEXIST ? WIRING_OTHER : l.state;
	}
	if (l.state == WIRING_SAME && w->start)
		doctor_report(
			d, NOTE, w->agent,
			"%s ends its sessions; its commands run under terse only if it is started "
			"as %s",
			l.path, w->start);
	/* The store does not show which runs came through a shell, so only a trial shows whether
	   the wiring of a shell works. */
	else if (l.state == WIRING_SAME && !w->shell)
		doctor_report_wired(d, w->agent, l.path);
	else if (l.state == WIRING_OTHER)
		doctor_report(d, BAD, w->agent,
			      "%s: wired to other paths, or not all of it: terse init %s%s", l.path,
			      w->agent, project ? " --project" : "");
	return l.state;
}

/* Runs a command as the agent would, and reports what the agent would see. `start`: the command
   that starts the agent, or NULL. */
static void doctor_try(struct doctor *d, const char *agent, const char *start)
{
	struct self_test t = {.string = NULL};
	int tried = self_test_run(&t, d->call->settings, agent, SELF_TEST_LONG, &d->place);
	const char *text = tried != 0 && t.out.data ? t.out.data : "";
	const char *before = start ? ", started as " : "";
	if (tried > 0 && self_test_is_preview(&t))
		doctor_report(d, GOOD, agent,
			      SELF_TEST_LONG " run its way%s%s: %s became %s with both ends and "
					     "the ID, in %s",
			      before, start ? start : "", HUMAN_SIZE(SELF_TEST_BYTES),
			      HUMAN_SIZE(t.out.len), HUMAN_DURATION(t.ms));
	else if (tried > 0 && strstr(text, "\"updated_input\""))
		doctor_report(d, GOOD, agent, "its hook rewrites a command, in %s",
			      HUMAN_DURATION(t.ms));
	else if (tried == 0)
		doctor_report(d, NOTE, agent, "how it runs commands is not known");
	else
		/* The first line of the text is the reason. */
		doctor_report(d, BAD, agent, SELF_TEST_LONG " run its way is not previewed: %.*s",
			      (int)strcspn(text, "\n"), text);
	buffer_release(&t.out);
}

static void doctor_check_agent(struct doctor *d, const struct wiring *w, const char *here)
{
	char found[PATH_MAX];
	enum wiring_state user = doctor_look(d, w, w->files, NULL, false);
	const bool overrides = user == WIRING_SAME;
	enum wiring_state project =
		here ? doctor_look(d, w, w->files, here, overrides) : WIRING_NONE;
	/* Also looks at a file of the project that terse never writes. */
	if (here && overrides && project == WIRING_NONE && w->shared) {
		struct wiring_file shared[WIRING_FILES_MAX] = {w->files[0]};
		shared[0].folder.project = w->shared;
		project = doctor_look(d, w, shared, here, true);
	}
	bool none = user == WIRING_NONE && project == WIRING_NONE;
	bool there = none && (d->only || !w->shell) && hints_find_program(w->programs, found);
	bool by_start = none && (there || d->only) && !w->files[0].folder.below;
	if (by_start && there)
		doctor_report(d, NOTE, w->agent,
			      "%s; its commands run under terse only if it is started as %s", found,
			      w->start);
	/* The project's files override the user's. */
	if (by_start || project == WIRING_SAME || (user == WIRING_SAME && project == WIRING_NONE))
		doctor_try(d, w->agent, w->start);
	else if (there || d->only)
		doctor_report(d, NOTE, w->agent, "%s, not wired: terse init %s",
			      there ? found : "not in PATH", w->agent);
}

/* Checks the agent that was named. Returns 0, or -1 after printing that it is not known. */
static int doctor_check_one(struct doctor *d, const char *here)
{
	const struct wiring *w = wiring_find(wirings, d->only);
	const char *name;
	char start[64];
	if (w) {
		doctor_check_agent(d, w, here);
		return 0;
	}
	for (size_t i = 0; (name = section_name(d->call->settings, &rules_form, i)) != NULL; i++) {
		if (strcmp(name, d->only) == 0) {
			snprintf(start, sizeof(start), "terse agent --as %s", name);
			doctor_try(d, name, start);
			return 0;
		}
	}
	verb_error("doctor", "%s: no such agent (terse config --agents lists them)", d->only);
	return -1;
}

static int doctor_run(struct verb_call *c)
{
	struct doctor d = {.call = c};
	char here[PATH_MAX];
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	d.only = c->operand_count > 0 ? c->operands[0] : NULL;
	place_find(&d.own);
	place_wired(&d.place, &d.own);
	const char *project = getcwd(here, sizeof(here));
	if (d.only && doctor_check_one(&d, project) < 0)
		return EXIT_TERSE;
	if (!d.only) {
		if (!c->json)
			puts("terse " TERSE_VERSION);
		doctor_check_needs(&d, c->settings);
		doctor_check_remote(&d, c->settings);
		doctor_check_place(&d);
		for (const struct wiring *w = wirings; w->agent; w++)
			doctor_check_agent(&d, w, project);
		doctor_check_here(&d);
	}
	if (!c->json)
		return d.problems > 0;
	struct buffer out = BUFFER_INIT;
	envelope_begin(&out);
	json_add_string(&out, "version", TERSE_VERSION);
	json_add_number(&out, "problems", d.problems);
	json_begin(&out, "checks", '[');
	buffer_add(&out, &d.checks);
	json_end(&out, ']');
	envelope_end(&out);
	buffer_release(&d.checks);
	return verb_print(c, &out) || d.problems > 0;
}

static const struct verb_option doctor_options[] = {
	VERB_JSON_ROW,
	VERB_COLOR_ROW,
	VERB_END_ROW,
};

const struct verb verb_doctor = {
	.name = "doctor",
	.purpose = "check that everything is in place",
	.forms = "[AGENT]",
	.text = "Checks that everything terse needs is in place, and how agents are wired up:\n"
		"runs a command as each of these agents would, or as AGENT would, and says what\n"
		"it saw.\n",
	.more = 1,
	.options = doctor_options,
	.run = doctor_run,
};
