// terse stats: how much runs have shown, how much was read later, and how much the agents would
// have shown without terse.

#include "lib/human.h"
#include "lib/json.h"
#include "supervisor/command/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct stats_call {
	struct verb_call *call;
	bool all;
	struct verb_when since;
	char directory[STORE_SESSION_LEN + 1];
	struct stats stats;
	struct buffer out;
};

/* --- for people and agents -------------------------------------------------------------- */

/* The start of a line in the list of sums. */
#define LABEL "  %-15s  "

static void add_tokens(struct buffer *out, uint64_t tokens)
{
	buffer_printf(out, ", about %s token%s", HUMAN_COUNT(tokens), tokens == 1 ? "" : "s");
}

/* "1.2 MB, about 410,000 tokens" */
static void add_size(struct buffer *out, const struct stats_size *size)
{
	buffer_append_string(out, HUMAN_SIZE(size->bytes));
	add_tokens(out, size->tokens);
}

/* Whether no agent was shown anything. */
static bool shows_nothing(const struct stats_sum *s)
{
	return s->shown.bytes + s->own.bytes + s->read.bytes == 0;
}

/* Appends what was saved for `agent`; NULL: for all agents. */
static void add_saved(struct buffer *out, bool colour, const struct stats_sum *s, const char *agent)
{
	/* Tokens are printed only if they have the same sign as the bytes. */
	int64_t tokens, bytes = stats_saved(s, &tokens);
	bool none = shows_nothing(s);
	buffer_printf(out, "saved%s%s: %s", agent ? " for " : "", agent ? agent : "",
		      none ? "" : paint_code(colour, bytes < 0 ? PAINT_BAD : PAINT_GOOD));
	if (none) {
		buffer_append_string(out, "nothing; no agent was shown anything\n");
		return;
	}
	if (bytes > 0)
		buffer_append_string(out, HUMAN_SIZE((uint64_t)bytes));
	else
		buffer_append_string(out, "nothing");
	if (bytes > 0 && tokens >= 0)
		add_tokens(out, (uint64_t)tokens);
	if (bytes > 0)
		buffer_printf(out, ": %" PRIu64 " %% of what %s would have shown by %s",
			      (uint64_t)bytes * 100 / s->own.bytes, agent ? "it" : "agents",
			      agent ? "itself" : "themselves");
	if (bytes < 0)
		buffer_printf(out, "; %s more than %s would have shown by %s",
			      HUMAN_SIZE(-(uint64_t)bytes), agent ? "it" : "agents",
			      agent ? "itself" : "themselves");
	buffer_printf(out, "%s\n", paint_none(colour));
}

static void add_sum(struct buffer *out, const struct stats_sum *s)
{
	buffer_printf(out, LABEL "%s, %s failed, %s in all\n", "runs", HUMAN_COUNT(s->runs),
		      HUMAN_COUNT(s->failed), HUMAN_DURATION(s->duration_ms));
	if (shows_nothing(s))
		return;
	buffer_printf(out, LABEL "%s\n", "written", HUMAN_SIZE(s->text));
	buffer_printf(out, LABEL, "shown");
	add_size(out, &s->shown);
	buffer_printf(out, "\n" LABEL, "read back");
	if (s->reads == 0 && s->read.bytes == 0)
		buffer_append_string(out, "nothing");
	else
		add_size(out, &s->read);
	if (s->reads > 0)
		buffer_printf(out, "; %s %s", HUMAN_COUNT(s->reads),
			      s->reads == 1 ? "read or search" : "reads or searches");
	buffer_printf(out, "\n" LABEL, "without terse");
	add_size(out, &s->own);
	buffer_append_string(
		out, "\nTokens are estimated from the kind of text; the median error is 7 %.\n");
}

static void stats_add_text(struct stats_call *c)
{
	struct buffer *out = &c->out;
	const struct stats_sum *all = &c->stats.all;
	int64_t since_ms = c->since.text ? c->stats.from_ms : c->stats.first_ms;
	const struct stats_agent *agents = c->stats.agents;
	const size_t count = c->stats.agent_count;
	for (size_t i = 0; count > 1 && i < count; i++) {
		if (!shows_nothing(&agents[i].sum))
			add_saved(out, c->call->colour, &agents[i].sum,
				  *agents[i].name ? agents[i].name : "an unknown agent");
	}
	if (count > 0)
		add_saved(out, c->call->colour, all,
			  count == 1 && *agents->name ? agents->name : NULL);
	buffer_printf(out, "%s%s", c->all ? "all sessions" : "session ",
		      c->all ? "" : c->directory);
	if (since_ms)
		buffer_printf(out, ", since %.16s", HUMAN_TIME(since_ms)); /* to the minute */
	if (all->runs + all->reads == 0) {
		buffer_append_string(out, ": no runs\n");
		return;
	}
	buffer_append_string(out, "\n");
	add_sum(out, all);
}

/* --- JSON ------------------------------------------------------------------------------- */

static void add_json(struct stats_call *c)
{
	struct buffer *out = &c->out;
	const struct stats *s = &c->stats;
	envelope_begin(out);
	json_add_string(out, "session", c->all ? NULL : c->directory);
	json_add_time(out, "since", s->from_ms);
	json_add_time(out, "first", s->first_ms);
	stats_append_json(out, &s->all);
	json_begin(out, "agents", '[');
	for (size_t i = 0; i < s->agent_count; i++) {
		json_begin(out, NULL, '{');
		json_add_string(out, "name", *s->agents[i].name ? s->agents[i].name : NULL);
		stats_append_json(out, &s->agents[i].sum);
		json_end(out, '}');
	}
	json_end(out, ']');
	json_add_count(out, "damaged_lines", s->damaged);
	envelope_end(out);
}

/* --- the verb --------------------------------------------------------------------------- */

static int stats_run(struct verb_call *context)
{
	struct stats_call c = {.call = context};
	struct store stores[STORE_MAX];
	struct journal_session *sessions;
	size_t found;
	int status = 0;
	if (verb_parse(context, &c) < 0)
		return EXIT_TERSE;
	c.stats.from_ms = c.since.ms;
	if (!verb_has_session(context, c.directory))
		return 1;
	int count = verb_open_stores(context, stores, &status);
	int result = journal_sessions(stores, count, c.all ? NULL : c.directory, &sessions, &found);
	for (size_t i = 0; result == 0 && i < found; i++)
		result = stats_add_session(&c.stats, sessions[i].store, sessions[i].name);
	free(sessions);
	if (result < 0) {
		status = verb_fail(c.call, ENVELOPE_UNREADABLE, "%m");
	} else if (context->json) {
		add_json(&c);
	} else {
		stats_add_text(&c);
		if (c.stats.damaged > 0)
			verb_error(c.call->verb->name, "damaged lines skipped: %s",
				   HUMAN_COUNT(c.stats.damaged));
	}
	if (result == 0 && verb_print(c.call, &c.out) != 0)
		status = 1;
	store_close_all(stores, count);
	stats_release(&c.stats);
	return status;
}

static const struct verb_option stats_options[] = {
	{"--all", 0, VERB_FLAG, offsetof(struct stats_call, all), NULL, "of all sessions"},
	VERB_SESSION_ROW("of session NAME"),
	{"--since", 0, VERB_WHEN, offsetof(struct stats_call, since), "WHEN",
	 "since: 2h (ago), 14:05, 2026-11-20"},
	VERB_JSON_ROW,
	VERB_COLOR_ROW,
	VERB_END_ROW,
};

const struct verb verb_stats = {
	.name = "stats",
	.purpose = "sum up what runs showed and what terse saved",
	.forms = "",
	.text = "What was saved for the session's agent, and the sums behind it: what commands\n"
		"wrote, what the agent was shown of it, what was read back later, and what it\n"
		"would have shown on its own, without terse. Saved is the last of these minus\n"
		"the two before it, and may be negative.\n",
	.options = stats_options,
	.run = stats_run,
};
