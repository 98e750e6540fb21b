// terse list: the artifacts of the caller's session, newest first.

#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/recent.h"
#include "supervisor/artifact/text.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/clock.h"
#include "supervisor/base/human.h"
#include "supervisor/base/io.h"
#include "supervisor/command/command.h"
#include "supervisor/command/live_list.h"
#include "supervisor/command/row.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Enough to find a recent run; the time to list them must not depend on how many there are. */
#define ROWS 30

/* Columns of a row where there is no terminal to ask. */
#define WIDTH 120

struct row {
	char state[24], lines[HUMAN_LEN], size[HUMAN_LEN], age[HUMAN_LEN];
};

static void describe_state(const struct meta *m, char out[24])
{
	if (m->state == META_RUNNING)
		snprintf(out, 24, "running");
	else if (m->state == META_INTERRUPTED)
		snprintf(out, 24, "interrupted");
	else if (m->timed_out)
		snprintf(out, 24, "timed out");
	else if (m->signal && sigabbrev_np(m->signal))
		snprintf(out, 24, "SIG%s", sigabbrev_np(m->signal));
	else if (m->signal)
		snprintf(out, 24, "signal %d", m->signal);
	else
		snprintf(out, 24, "exit %d", m->exit_code);
}

/* What the metadata of a run that has not ended can't tell. */
static void count_lines(int dir, const char *id, struct meta *m)
{
	struct text text;
	if (m->out.lines > 0 || m->out.bytes == 0 || text_open(&text, dir, id, ARTIFACT_OUT) < 0)
		return;
	uint64_t lines;
	if (text_lines(&text, &lines) == 0)
		m->out.lines = lines;
	m->out.bytes = text.size;
	text_close(&text);
}

/* Adds the row of one artifact; one that is gone by now is left out. */
static int add_row(struct buffer *out, const struct id_found *found, bool all, size_t width)
{
	int dir = store_open_session(found->store, found->session, false);
	if (dir < 0)
		return 0;
	struct meta m = {0};
	struct row row = {.state = "?", .lines = "?", .size = "?", .age = "?"};
	struct buffer command = BUFFER_INIT;
	int result = -1;
	size_t start = out->len;
	if (meta_read(dir, found->id, &m) == 0) {
		count_lines(dir, found->id, &m);
		describe_state(&m, row.state);
		human_count(row.lines, m.out.lines + m.err.lines);
		human_size(row.size, m.out.bytes + m.err.bytes);
		human_age(row.age, clock_real_ms() - m.started_ms);
		if (row_add_command(&command, &m) < 0)
			goto out;
	} else if (errno == ENOENT) {
		result = 0;
		goto out;
	} else if (buffer_printf(&command, "(metadata: %m)") < 0) {
		goto out;
	}
	if (buffer_printf(out, "%s  %-11s  %10s  %8s  %7s  ", found->id, row.state, row.lines,
			  row.size, row.age) < 0)
		goto out;
	if (all) {
		size_t before = out->len;
		if (row_add_cell(out, found->session, strlen(found->session), 24) < 0 ||
		    buffer_printf(out, "%*s  ", (int)(24 - (out->len - before)), "") < 0)
			goto out;
	}
	size_t left = width > out->len - start + 10 ? width - (out->len - start) : 10;
	if (row_add_cell(out, command.data, command.len, left) < 0)
		goto out;
	result = buffer_append(out, "\n", 1);
out:
	meta_release(&m);
	buffer_release(&command);
	io_close(&dir);
	return result;
}

static int add_rows(struct buffer *out, struct recent *r, bool all, uint64_t limit)
{
	struct winsize size;
	size_t width = WIDTH;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		width = size.ws_col;
	struct id_found found;
	int got;
	uint64_t rows = 0;
	while ((got = recent_next(r, &found)) == 1) {
		if (rows == limit)
			return buffer_printf(out,
					     "[newest %" PRIu64
					     " shown; more: terse list%s --limit %" PRIu64 "]\n",
					     limit, all ? " --all" : "", limit * 10);
		if (rows == 0 &&
		    buffer_printf(out, "%-16s  %-11s  %10s  %8s  %7s  %s%sCOMMAND\n", "ID", "STATE",
				  "LINES", "SIZE", "AGE", all ? "SESSION" : "",
				  all ? "                   " : "") < 0)
			return -1;
		size_t before = out->len;
		if (add_row(out, &found, all, width) < 0)
			return -1;
		rows += out->len > before;
	}
	return got;
}

int command_list(struct command_context *c, int argc, char **argv)
{
	bool all = false, live = false, watch = false;
	uint64_t limit = ROWS;
	const char *session = NULL;
	const struct verb_option table[] = {
		{"--all", VERB_FLAG, &all},         {"--limit", VERB_COUNT, &limit},
		{"--session", VERB_TEXT, &session}, {"--live", VERB_FLAG, &live},
		{"--watch", VERB_FLAG, &watch},     {NULL, VERB_FLAG, NULL},
	};
	if (verb_parse(table, argc, argv, NULL, 0) < 0)
		return EXIT_TERSE;
	if (live || watch)
		return live_list(argv[0], watch);

	char directory[STORE_SESSION_LEN + 1];
	verb_session(c->settings, session, directory);
	struct store stores[STORE_MAX];
	struct buffer out = BUFFER_INIT;
	int count = store_open_all(stores), status = 1;
	struct recent *r = recent_open(stores, count, all ? NULL : directory);
	if (!r || add_rows(&out, r, all, limit) < 0 ||
	    io_write(STDOUT_FILENO, out.data, out.len) < 0)
		verb_error(argv[0], "%m");
	else
		status = 0;
	if (status == 0 && out.len == 0 && isatty(STDERR_FILENO))
		verb_error(argv[0], "nothing in session %s (--all for every session)", directory);
	if (r)
		recent_close(r);
	buffer_release(&out);
	while (count > 0)
		store_close(&stores[--count]);
	return status;
}
