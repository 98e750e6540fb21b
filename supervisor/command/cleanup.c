// See cleanup.h.

#include "supervisor/command/cleanup.h"

#include "lib/human.h"
#include "supervisor/command/verb.h"

#include <string.h>

static const char *const reasons[RETENTION_REASONS] = {
	[RETENTION_STAYS] = "",
	[RETENTION_ENDED] = "its session has ended",
	[RETENTION_AGE] = "[gc] max_age",
	[RETENTION_SESSION_COUNT] = "[gc] session_count",
	[RETENTION_SESSION_SIZE] = "[gc] session_size",
	[RETENTION_COUNT] = "[gc] max_count",
	[RETENTION_SIZE] = "[gc] max_size",
};

static void on_removed(void *ctx, const struct inventory_session *session,
		       const struct retention_item *item)
{
	struct cleanup *c = ctx;
	char id[ID_LEN + 1], size[HUMAN_LEN], age[HUMAN_LEN];
	progress_tell(&c->progress, "%s artifacts", HUMAN_COUNT(++c->listed));
	if (c->listed > CLEANUP_LINES)
		return;
	id_unpack(item->id, id);
	buffer_printf(&c->out, "%s  %8s  %7s  session %s%s%s\n", id, human_size(size, item->bytes),
		      human_age(age, c->now_ms - item->last_ms), session->name,
		      item->why ? ": " : "", reasons[item->why]);
}

struct gc cleanup_begin(struct cleanup *c, const struct settings *settings,
			const struct store *store, bool dry)
{
	if (!c->now_ms) {
		c->now_ms = clock_real_ms();
		progress_begin(&c->progress);
	}
	c->dry = dry;
	return (struct gc){
		.store = store,
		.limits = gc_limits(settings),
		.now_ms = c->now_ms,
		.dry = dry,
		.removed = on_removed,
		.ctx = c,
	};
}

void cleanup_add(struct gc_result *sum, const struct gc_result *one)
{
	if (!sum->failed)
		sum->error = one->error;
	sum->artifacts += one->artifacts;
	sum->bytes += one->bytes;
	sum->sessions += one->sessions;
	sum->leftovers += one->leftovers;
	sum->failed += one->failed;
}

/* "12 artifacts", with what joins it to what goes before. */
static void cleanup_add_count(struct buffer *out, const char **joint, uint64_t n, const char *what)
{
	char count[HUMAN_LEN];
	if (n == 0)
		return;
	buffer_printf(out, "%s%s %s%s", *joint, human_count(count, n), what, n == 1 ? "" : "s");
	*joint = ", ";
}

int cleanup_end(struct cleanup *c, const struct verb_call *call, const struct gc_result *sum)
{
	char count[HUMAN_LEN], size[HUMAN_LEN];
	const char *joint = c->dry ? "would remove " : "removed ";
	int status = sum->failed ? 1 : 0;
	progress_end(&c->progress);
	if (c->listed > CLEANUP_LINES)
		buffer_printf(&c->out, "[... and %s more]\n",
			      human_count(count, c->listed - CLEANUP_LINES));
	if (sum->artifacts + sum->sessions + sum->leftovers == 0) {
		buffer_append_string(&c->out, "nothing to remove\n");
	} else {
		cleanup_add_count(&c->out, &joint, sum->artifacts, "artifact");
		cleanup_add_count(&c->out, &joint, sum->sessions, "session");
		cleanup_add_count(&c->out, &joint, sum->leftovers, "leftover");
		buffer_printf(&c->out, "; %s %s\n", c->dry ? "would free" : "freed",
			      human_size(size, sum->bytes));
	}
	status |= verb_print(call, &c->out);
	if (sum->failed)
		verb_error(call->verb->name, "%s could not be removed: %s",
			   human_count(count, sum->failed), strerror(sum->error));
	return status;
}
