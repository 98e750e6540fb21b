// terse push: pushes the waiting artifacts to the remote now.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/json.h"
#include "supervisor/command/verb.h"
#include "supervisor/remote/outbox.h"

#include <string.h>

static int push_run(struct verb_call *c)
{
	struct store stores[STORE_MAX];
	struct outbox_state r = {.pushed = 0};
	struct buffer out = BUFFER_INIT;
	int64_t wait_ms = -1;
	if (verb_parse(c, &wait_ms) < 0)
		return EXIT_TERSE;
	if (!c->settings->remote)
		return verb_fail(c, ENVELOPE_USAGE,
				 "there is no remote: [remote] of your terse.ini names one");
	int64_t until_ms = wait_ms < 0 ? 0 : clock_monotonic_ms() + wait_ms;
	int status = 0, count = verb_open_stores(c, stores, &status);
	for (int i = 0; i < count; i++) {
		struct outbox outbox;
		if (outbox_open(&outbox, &stores[i], false) < 0)
			continue;
		struct outbox_state one = outbox_push(&outbox, c->settings, until_ms);
		/* The dropped artifacts are reported here, so they need not be reported again. */
		outbox_forgive(&outbox);
		r.pushed += one.pushed;
		r.waiting += one.waiting;
		r.dropped.a += one.dropped.a;
		r.dropped.b += one.dropped.b;
		r.index_left |= one.index_left;
		if (*one.why)
			memcpy(r.why, one.why, sizeof(r.why));
		outbox_close(&outbox);
	}
	store_close_all(stores, count);
	bool left = r.waiting > 0 || r.index_left;
	if (c->json) {
		envelope_begin(&out);
		json_add_count(&out, "pushed", r.pushed);
		json_add_count(&out, "left", r.waiting);
		json_add_count(&out, "dropped", r.dropped.a);
		json_add_string(&out, "reason", *r.why ? r.why : NULL);
		envelope_end(&out);
		return verb_print(c, &out) || status || left;
	}
	buffer_printf(&out, "%s pushed to %s\n", HUMAN_COUNT(r.pushed), c->settings->remote);
	status |= verb_print(c, &out);
	if (r.dropped.a > 0)
		verb_error("push", "dropped before, unpushed: %s, %s ([remote] outbox_max)",
			   HUMAN_COUNT(r.dropped.a), HUMAN_SIZE(r.dropped.b));
	if (left)
		verb_error("push", "left: %s%s%s",
			   r.waiting > 0 ? HUMAN_COUNT(r.waiting) : "the index", *r.why ? ": " : "",
			   r.why);
	return status || left;
}

static const struct verb_option push_options[] = {
	{"--wait", 0, VERB_TIME, 0, "TIME", "keep trying for at most this long (10s)"},
	VERB_JSON_ROW,
	VERB_END_ROW,
};

const struct verb verb_push = {
	.name = "push",
	.purpose = "push artifacts that wait to the remote now",
	.forms = "",
	.text = "Pushes the waiting artifacts to the remote ([remote] in the ini file). Each run\n"
		"pushes its own artifact when it has ended; this pushes what is left, such as in\n"
		"the stop hook of a container. Exits with 1 if something is still left.\n",
	.options = push_options,
	.run = push_run,
};
