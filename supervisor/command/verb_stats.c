// terse stats: what runs showed, what was read back of it, and what the agents would have shown by
// themselves.

#include "config/section.h"
#include "lib/human.h"
#include "lib/json.h"
#include "supervisor/command/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a table without --limit. */
#define ROWS 20

/* Runs of a session that are looked at for its agent. */
#define RUNS_MAX 100

/* Columns of a group's name. */
#define NAME_WIDTH ((size_t)28)

struct stats_call {
	struct verb_call *call;
	bool all;
	struct verb_when since;
	uint64_t limit;
	char directory[STORE_SESSION_LEN + 1];
	char agent[SECTION_NAME_MAX + 1]; /* of the session's last run that has one, or "" */
	struct stats stats;
	struct buffer out;
};

static const char *const by_names[] = {
	[STATS_BY_COMMAND] = "command",
	[STATS_BY_AGENT] = "agent",
};

/* --- for people and agents -------------------------------------------------------------- */

/* A line of the sums begins so. */
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

/* What was saved, and for whom: NULL if that is not known, or several. */
static void add_saved(struct buffer *out, bool colour, const struct stats_sum *s, const char *agent)
{
	/* Bytes decide; tokens of the other sign would only confuse. */
	int64_t tokens, bytes = stats_saved(s, &tokens);
	bool none = s->shown.bytes + s->own.bytes + s->read.bytes == 0;
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
	if (s->shown.bytes + s->own.bytes + s->read.bytes == 0)
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
	if (s->kept > 0)
		buffer_printf(out, "; %s of %s kept text%s followed up", HUMAN_COUNT(s->followed),
			      HUMAN_COUNT(s->kept), s->kept == 1 ? "" : "s");
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
	if (all->runs + all->reads > 0)
		add_saved(out, c->call->colour, all, *c->agent ? c->agent : NULL);
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
	if (c->stats.by == STATS_BY_NOTHING)
		return;
	const struct stats *s = &c->stats;
	size_t most = c->limit < s->group_count ? (size_t)c->limit : s->group_count;
	buffer_printf(out, "\n%-*s %6s %6s %9s %9s %9s %9s %9s\n", (int)NAME_WIDTH,
		      by_names[c->stats.by], "runs", "failed", "written", "shown", "read back",
		      "own cut", "saved");
	for (size_t i = 0; i < most; i++) {
		const struct stats_group *g = s->groups[i];
		const int64_t cells[] = {(int64_t)g->sum.text, (int64_t)g->sum.shown.bytes,
					 (int64_t)g->sum.read.bytes, (int64_t)g->sum.own.bytes,
					 stats_saved(&g->sum, NULL)};
		struct buffer name = BUFFER_INIT;
		row_add_cell(&name, g->name, strlen(g->name), NAME_WIDTH);
		if (buffer_string(&name))
			buffer_printf(out, "%-*s", (int)NAME_WIDTH, name.data);
		buffer_release(&name);
		buffer_printf(out, " %6" PRIu64 " %6" PRIu64, g->sum.runs, g->sum.failed);
		for (size_t k = 0; k < sizeof(cells) / sizeof(*cells); k++) {
			char text[HUMAN_LEN + 1] = "-";
			bool below = cells[k] < 0;
			human_size(text + below, (uint64_t)(below ? -cells[k] : cells[k]));
			buffer_printf(out, " %9s", text);
		}
		buffer_append_string(out, "\n");
	}
	if (most < s->group_count)
		buffer_printf(out, "[%zu of %zu shown: --limit %zu]\n", most, s->group_count,
			      s->group_count);
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
	if (s->by != STATS_BY_NOTHING) {
		json_add_string(out, "by", by_names[c->stats.by]);
		json_begin(out, "groups", '[');
		for (size_t i = 0; i < s->group_count; i++) {
			json_begin(out, NULL, '{');
			json_add_string(out, "name", s->groups[i]->name);
			stats_append_json(out, &s->groups[i]->sum);
			json_end(out, '}');
		}
		json_end(out, ']');
	}
	json_add_count(out, "damaged_lines", s->damaged);
	envelope_end(out);
}

/* --- the verb --------------------------------------------------------------------------- */

/* Those that took most of the readers' room first. */
static int compare_room(const void *a, const void *b)
{
	const struct stats_group *x = *(struct stats_group *const *)a,
				 *y = *(struct stats_group *const *)b;
	uint64_t of_x = x->sum.shown.bytes + x->sum.read.bytes;
	uint64_t of_y = y->sum.shown.bytes + y->sum.read.bytes;
	return of_x == of_y ? strcmp(x->name, y->name) : of_x < of_y ? 1 : -1;
}

static int stats_run(struct verb_call *context)
{
	struct stats_call c = {.call = context, .stats.by = STATS_BY_NOTHING};
	struct store stores[STORE_MAX];
	struct journal_session *sessions;
	size_t found;
	int status = 0, result = 0;
	if (verb_parse(context, &c) < 0)
		return EXIT_TERSE;
	c.stats.from_ms = c.since.ms;
	c.limit = c.limit ? c.limit : ROWS;
	if (!verb_has_session(context, c.directory))
		return 1;
	int count = verb_open_stores(context, stores, &status);
	if (journal_sessions(stores, count, c.all ? NULL : c.directory, &sessions, &found) < 0)
		result = -1;
	for (size_t i = 0; i < found && result == 0; i++)
		result = stats_add_session(&c.stats, sessions[i].store, sessions[i].name);
	free(sessions);
	struct journal *j = c.all ? NULL : journal_open(stores, count, c.directory, JOURNAL_RUN);
	struct meta run;
	for (int i = 0; j && !*c.agent && i < RUNS_MAX && journal_next_run(j, &run) > 0; i++)
		snprintf(c.agent, sizeof(c.agent), "%s", run.agent ? run.agent : "");
	journal_close(j);
	if (result < 0) {
		status = verb_fail(c.call, ENVELOPE_UNREADABLE, "%m");
	} else {
		if (c.stats.group_count > 0)
			qsort(c.stats.groups, c.stats.group_count, sizeof(*c.stats.groups),
			      compare_room);
		if (context->json)
			add_json(&c);
		else
			stats_add_text(&c);
		if (c.stats.damaged > 0 && !c.call->json)
			verb_error(c.call->verb->name, "damaged lines skipped: %s",
				   HUMAN_COUNT(c.stats.damaged));
		if (verb_print(c.call, &c.out) != 0)
			status = 1;
	}
	buffer_release(&c.out);
	store_close_all(stores, count);
	stats_release(&c.stats);
	return status;
}

static const struct verb_option stats_options[] = {
	{"--all", 0, VERB_FLAG, offsetof(struct stats_call, all), NULL, "of all sessions"},
	VERB_SESSION_ROW("of session NAME"),
	{"--since", 0, VERB_WHEN, offsetof(struct stats_call, since), "WHEN",
	 "since: 2h (ago), 14:05, 2026-11-20"},
	/* As enum stats_by has them. */
	{"--by", 0, VERB_WORD, offsetof(struct stats_call, stats.by), "command|agent",
	 "a row for each"},
	{"--limit", 0, VERB_COUNT, offsetof(struct stats_call, limit), "N", "at most N rows (20)"},
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
		"would have shown by itself, without terse. Saved is the last less the two "
		"before,\n"
		"and may be less than nothing.\n",
	.options = stats_options,
	.run = stats_run,
};
