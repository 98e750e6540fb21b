// terse list --live: the live runs of every session.

#include "lib/buffer.h"
#include "lib/human.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/protocol.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Columns of a row if standard output is no terminal. */
#define WIDTH 120

/* At most so many runs are listed. */
#define ROWS_MOST 200

struct rows {
	struct store *stores;
	int count;
	char ids[ROWS_MOST][ID_LEN + 1];
	int found;
	bool more;
};

static int live_list_collect(void *ctx, const char *id)
{
	struct rows *r = ctx;
	if (r->found == ROWS_MOST) {
		r->more = true;
		return 1;
	}
	memcpy(r->ids[r->found++], id, ID_LEN + 1);
	return 0;
}

static int live_list_newest_first(const void *a, const void *b)
{
	return strcmp(b, a);
}

/* Who keeps the output of a run open whose command has ended. */
static void live_list_add_holders(struct buffer *out, const struct meta *m)
{
	for (int i = 0; i < m->holders; i++) {
		const struct meta_holder *h = &m->held_by[i];
		buffer_append_string(out, i == 0 ? "    held by " : ", ");
		row_add_cell(out, h->name, strlen(h->name), sizeof(h->name));
		buffer_printf(out, " (%d)", (int)h->pid);
	}
	if (m->holders)
		buffer_append_string(out, "\n");
}

/* Reads what was kept of a run so far. Returns whether there is anything. */
static bool live_list_read_meta(struct rows *r, const char *id, struct meta *m)
{
	struct id_found found;
	*m = (struct meta){0};
	return id_find(r->stores, r->count, "default", id, &found) == 0 &&
	       verb_read_meta(&found, m) == 0;
}

/* The rest of a row that begins at `start`: the command it runs; below, who holds it. */
static void live_list_add_command(struct buffer *out, const struct meta *m, size_t start,
				  size_t width)
{
	struct buffer command = BUFFER_INIT;
	size_t used = out->len - start;
	row_add_command(&command, m);
	row_add_cell(out, command.data, command.len, width > used + 10 ? width - used : 10);
	buffer_append_string(out, "\n");
	live_list_add_holders(out, m);
	out->failed |= command.failed;
	buffer_release(&command);
}

/* The same as the supervisor reports it, if no metadata were kept. */
static void live_list_add_reported(struct buffer *out, struct live_status *c, size_t start,
				   size_t width)
{
	char *argv[LIVE_ARGV / 2 + 1];
	size_t count = 0, i = 0;
	for (; i < c->argv_len && count < sizeof(argv) / sizeof(*argv) - 1;
	     i += strlen(c->argv + i) + 1)
		argv[count++] = c->argv + i;
	argv[count] = NULL;
	const struct meta m = {.argv = argv, .cut = c->argv_cut || i < c->argv_len};
	live_list_add_command(out, &m, start, width);
}

/* Its last line, or what it asks. */
static void live_list_add_line(struct buffer *out, const struct live_status *c, size_t width)
{
	bool asks = c->state == LIVE_WAITING && *c->prompt;
	const char *line = asks ? c->prompt : c->last_line;
	if (!*line)
		return;
	buffer_append_string(out, "    ");
	row_add_cell(out, line, strlen(line), width > 14 ? width - 4 : 10);
	buffer_append_string(out, "\n");
}

/* Adds a run whose supervisor does not answer. */
static void live_list_add_silent(struct buffer *out, struct rows *r, const char *id, size_t width,
				 const char *why)
{
	struct meta m;
	char elapsed[HUMAN_LEN] = "-";
	size_t start = out->len;
	if (live_list_read_meta(r, id, &m))
		human_duration(elapsed, clock_real_ms() - m.started_ms);
	buffer_printf(out, "%s  %-7s  %10s  %10s  %8s  ", id, "?", elapsed, "-", "-");
	live_list_add_command(out, &m, start, width);
	buffer_printf(out, "    does not answer%s\n", why);
	meta_release(&m);
}

static const char *const state_names[LIVE_STATES] = {[LIVE_RUNNING] = "running",
						     [LIVE_WAITING] = "waiting",
						     [LIVE_STOPPED] = "stopped",
						     [LIVE_ENDED] = "ended"};

static void live_list_add_row(struct buffer *out, struct rows *r, const char *id, size_t width)
{
	struct client v;
	struct live_status c;
	struct meta m;
	char elapsed[HUMAN_LEN], lines[HUMAN_LEN], size[HUMAN_LEN];
	if (client_open(&v, r->stores, r->count, id) < 0) {
		/* ENOENT: it has ended. */
		if (errno != ENOENT)
			live_list_add_silent(out, r, id, width, "");
		return;
	}
	int answered = client_status(&v, FRAME_STATUS, &c), error = errno;
	client_close(&v);
	if (answered < 0) {
		if (error != EPIPE)
			live_list_add_silent(out, r, id, width,
					     error == EBUSY ? ": too many clients"
					     : error == EPROTONOSUPPORT
						     ? ": another version of terse"
						     : "");
		return;
	}
	size_t start = out->len;
	buffer_printf(out, "%s  %-7s  %10s  %10s  %8s  ", id, state_names[c.state],
		      human_duration(elapsed, c.elapsed_ms), human_count(lines, c.lines),
		      human_size(size, c.bytes));
	if (live_list_read_meta(r, id, &m))
		live_list_add_command(out, &m, start, width);
	else
		live_list_add_reported(out, &c, start, width);
	meta_release(&m);
	live_list_add_line(out, &c, width);
}

/* Returns 0, or -1 with ENOMEM. */
static int live_list_add_rows(struct buffer *out, size_t width)
{
	struct store stores[STORE_MAX];
	struct rows *r = calloc(1, sizeof(*r));
	if (!r)
		return -1;
	r->stores = stores;
	r->count = store_open_all(stores);
	client_each(stores, r->count, live_list_collect, r);
	qsort(r->ids, (size_t)r->found, sizeof(r->ids[0]), live_list_newest_first);
	size_t head = out->len;
	buffer_printf(out, "%-16s  %-7s  %10s  %10s  %8s  COMMAND\n", "ID", "STATE", "ELAPSED",
		      "LINES", "SIZE");
	size_t empty = out->len;
	for (int i = 0; i < r->found; i++)
		live_list_add_row(out, r, r->ids[i], width);
	if (out->len == empty)
		buffer_truncate(out, head);
	if (r->more)
		buffer_printf(out, "[%d shown, there are more]\n", ROWS_MOST);
	store_close_all(stores, r->count);
	free(r);
	return buffer_check(out);
}

size_t row_window_width(void)
{
	struct winsize size;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
									       : WIDTH;
}

int live_list(const struct verb_call *c)
{
	struct buffer out = BUFFER_INIT;
	int result = live_list_add_rows(&out, row_window_width());
	if (result == 0 && out.len == 0)
		verb_error(c->verb->name, "nothing runs");
	if (result == 0)
		return verb_print(c, &out);
	verb_error(c->verb->name, "%m");
	buffer_release(&out);
	return 1;
}
