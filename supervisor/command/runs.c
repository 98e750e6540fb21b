// See runs.h. What is printed is in runs_output.c.

#include "supervisor/command/runs.h"

#include "supervisor/artifact/session.h"
#include "supervisor/base/clock.h"
#include "supervisor/command/command.h"
#include "supervisor/command/moment.h"
#include "supervisor/command/reader.h"
#include "supervisor/command/row.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Enough to find a recent run; the time to list them must not depend on how many there are. */
#define ROWS 30

/* Columns of a row where there is no terminal to ask. */
#define WIDTH 120

static int bad_value(const struct runs *r, const char *option, const char *value, const char *why)
{
	verb_fail(&r->verb, ENVELOPE_USAGE, "%s: %s: must be %s", option, value, why);
	return -1;
}

static int parse_state(struct runs *r)
{
	r->want_state = -1;
	for (int state = META_RUNNING; r->state && state <= META_INTERRUPTED; state++) {
		if (strcmp(r->state, meta_state_name((enum meta_state)state)) == 0)
			r->want_state = state;
	}
	if (r->state && r->want_state < 0)
		return bad_value(r, "--state", r->state, "running, done or interrupted");
	return 0;
}

static int parse_exit(struct runs *r)
{
	char *end;
	r->want_exit = -1;
	if (!r->exit)
		return 0;
	r->want_failed = strcmp(r->exit, "failed") == 0;
	if (r->want_failed)
		return 0;
	long code = strtol(r->exit, &end, 10);
	if (!*r->exit || *end || code < 0 || code > 255)
		return bad_value(r, "--exit", r->exit, "a number from 0 to 255, or failed");
	r->want_exit = (int)code;
	return 0;
}

static int parse_times(struct runs *r)
{
	static const char why[] = "how long ago (2h) or when (14:05, 2026-11-20)";
	int64_t now = clock_real_ms();
	r->from_ms = INT64_MIN;
	r->to_ms = INT64_MAX;
	if (r->since && moment_parse(r->since, now, &r->from_ms) < 0)
		return bad_value(r, "--since", r->since, why);
	if (r->until && moment_parse(r->until, now, &r->to_ms) < 0)
		return bad_value(r, "--until", r->until, why);
	return 0;
}

int runs_parse(struct runs *r, const struct settings *settings, int argc, char **argv)
{
	const struct verb_option table[] = {
		{"--all", VERB_FLAG, &r->all},
		{"--session", VERB_TEXT, &r->session},
		{"--command", VERB_TEXT, &r->command},
		{"--state", VERB_TEXT, &r->state},
		{"--exit", VERB_TEXT, &r->exit},
		{"--since", VERB_TEXT, &r->since},
		{"--until", VERB_TEXT, &r->until},
		{"--limit", VERB_COUNT, &r->limit},
		{"--json", VERB_FLAG, &r->verb.json},
		/* The last ones are list's alone. */
		{r->history ? NULL : "--live", VERB_FLAG, &r->live},
		{"--watch", VERB_FLAG, &r->watch},
		{NULL, VERB_FLAG, NULL},
	};
	struct winsize size;
	r->verb.name = argv[0];
	r->settings = settings;
	if (verb_parse(table, argc, argv, NULL, 0) < 0 || parse_state(r) < 0 || parse_exit(r) < 0 ||
	    parse_times(r) < 0)
		return EXIT_TERSE;
	if (!verb_has_session(&r->verb, settings, r->session))
		return 1;
	verb_session(settings, r->session, r->directory);
	r->sink = reader_find();
	r->width = WIDTH;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		r->width = size.ws_col;
	if (!r->limit)
		r->limit = r->sink == SINK_PROGRAM && !r->verb.json ? UINT64_MAX : ROWS;
	return 0;
}

bool runs_is_choosy(const struct runs *r)
{
	return r->command || r->state || r->exit || r->since || r->until;
}

static bool is_failed(const struct meta *m)
{
	return m->state == META_DONE && m->exit_code != 0;
}

static bool has_exit(const struct meta *m, int code)
{
	/* As a shell tells it. */
	int exit_code = m->signal ? 128 + m->signal : m->exit_code;
	return m->state != META_RUNNING && exit_code == code;
}

bool runs_match(const struct runs *r, const struct meta *m)
{
	struct buffer words = BUFFER_INIT;
	if ((r->want_state >= 0 && (int)m->state != r->want_state) ||
	    (r->want_failed && !is_failed(m)) ||
	    (r->want_exit >= 0 && !has_exit(m, r->want_exit)) || m->started_ms < r->from_ms ||
	    m->started_ms > r->to_ms)
		return false;
	if (!r->command)
		return true;
	bool found = row_add_command(&words, m) == 0 && buffer_string(&words) &&
		     strstr(words.data, r->command);
	buffer_release(&words);
	return found;
}

bool runs_is_full(const struct runs *r)
{
	return r->rows >= r->limit;
}

void runs_release(struct runs *r)
{
	buffer_release(&r->out);
}
