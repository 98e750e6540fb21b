// terse push: artifacts that wait for the remote, now.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/json.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"
#include "supervisor/remote/pusher.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Adds the result of one store. */
static void push_add(struct pusher_result *sum, const struct pusher_result *one)
{
	sum->pushed += one->pushed;
	sum->left += one->left;
	sum->dropped.a += one->dropped.a;
	sum->dropped.b += one->dropped.b;
	sum->unpacked += one->unpacked;
	sum->error = one->unpacked ? one->error : sum->error;
	sum->busy |= one->busy;
	sum->late |= one->late;
	sum->index_left |= one->index_left;
	if (*one->why)
		memcpy(sum->why, one->why, sizeof(sum->why));
}

/* Says why something is left. */
static const char *push_reason(const struct pusher_result *r)
{
	return *r->why       ? r->why
	       : r->unpacked ? strerror(r->error)
	       : r->busy     ? "another process still pushes"
	       : r->late     ? "the time was over"
			     : NULL;
}

static int push_print_json(const struct verb *v, const struct pusher_result *r)
{
	struct buffer out = BUFFER_INIT;
	envelope_begin(&out);
	json_add_count(&out, "pushed", r->pushed);
	json_add_count(&out, "left", r->left + r->unpacked);
	json_add_count(&out, "dropped", r->dropped.a);
	json_add_string(&out, "reason", push_reason(r));
	envelope_end(&out);
	return verb_print(v, &out);
}

static int push_print(const struct verb *v, const struct remote *remote,
		      const struct pusher_result *r)
{
	uint64_t left = r->left + r->unpacked;
	if (v->json) {
		int failed = push_print_json(v, r);
		return failed || left > 0 || r->index_left;
	}
	struct buffer out = BUFFER_INIT;
	buffer_printf(&out, "%s pushed to %s\n", HUMAN_COUNT(r->pushed), remote_name(remote));
	int status = verb_print(v, &out);
	if (r->dropped.a > 0)
		verb_error(v->name, "dropped before, unpushed: %s, %s ([remote] spool_max)",
			   HUMAN_COUNT(r->dropped.a), HUMAN_SIZE(r->dropped.b));
	if (left > 0)
		verb_error(v->name, "left: %s%s%s", HUMAN_COUNT(left), push_reason(r) ? ": " : "",
			   push_reason(r) ? push_reason(r) : "");
	else if (r->index_left)
		verb_error(v->name, "left: the index%s%s", push_reason(r) ? ": " : "",
			   push_reason(r) ? push_reason(r) : "");
	return status || left > 0 || r->index_left;
}

/* Pushes what one store has, if it has a spool. */
static int push_store(const struct verb *v, const struct settings *settings,
		      const struct store *store, int64_t until_ms, struct pusher_result *sum)
{
	struct spool spool;
	struct pusher_result one = {0};
	if (spool_open(&spool, store, false) < 0)
		return 0;
	int result = pusher_run(&spool, settings, until_ms, &one);
	if (result == 0) {
		push_add(sum, &one);
		/* It is said now. */
		spool_remove(&spool, SPOOL_DROPPED);
	} else {
		verb_fail(v, ENVELOPE_UNREADABLE, "%m");
	}
	spool_close(&spool);
	return result;
}

int command_push(struct command_context *c, int argc, char **argv)
{
	struct verb v = {.name = argv[0]};
	int64_t wait_ms = -1;
	const struct verb_option table[] = {
		{"--wait", VERB_TIME, &wait_ms},
		{"--json", VERB_FLAG, &v.json},
		{NULL, VERB_FLAG, NULL},
	};
	if (verb_parse(table, argc, argv, NULL, 0) < 0)
		return EXIT_TERSE;
	struct remote remote;
	if (remote_init(&remote, c->settings) < 0 || !remote_can(&remote, REMOTE_PUSH)) {
		verb_fail(&v, ENVELOPE_USAGE,
			  "there is no remote: [remote] of your terse.ini names one");
		return EXIT_TERSE;
	}
	struct store stores[STORE_MAX];
	struct pusher_result sum = {0};
	int64_t until_ms = wait_ms < 0 ? 0 : clock_monotonic_ms() + wait_ms;
	int status = 0, count = verb_open_stores(v.name, stores, &status);
	for (int i = 0; i < count; i++)
		status |= push_store(&v, c->settings, &stores[i], until_ms, &sum) < 0;
	status |= push_print(&v, &remote, &sum);
	store_close_all(stores, count);
	remote_release(&remote);
	return status;
}
