// See own_cut.h.

#include "config/own_cut.h"

#include <string.h>

static const struct own_cut_row {
	const char *agent;
	uint64_t whole, failed; /* bytes that it shows uncut of a success, and of a failure */
	uint64_t cut;           /* bytes of a longer success; of a longer failure `failed` */
	uint64_t lines;         /* 0: no limit */
} rows[] = {
	{"claude", 30000, 10000, 2000, 0},
	{"codex", 10000, 10000, 10000, 0},
	{"opencode", 51200, 51200, 51200, 2000},
	{"kilo", 51200, 51200, 51200, 2000},
	{"pi", 51200, 51200, 51200, 2000},
	{"gemini", 40000, 40000, 40000, 0},
	{"qwen", 25000, 4400, 4400, 0},
	{"copilot", 20000, 500, 500, 0},
	/* All that Node's exec() takes; of what is longer or fails, nothing of standard output. */
	{"grok", 1048576, 0, 0, 0},
};

/* For an agent of the user's, whose section may tell its ceilings. */
static struct own_cut_row own_cut_by_settings(const struct settings *s)
{
	uint64_t whole = s->ceiling > 0 ? (uint64_t)s->ceiling : OWN_CUT_ASSUMED;
	uint64_t failed = s->failure_ceiling > 0 ? (uint64_t)s->failure_ceiling : whole;
	return (struct own_cut_row){NULL, whole, failed, whole, (uint64_t)s->line_ceiling};
}

uint64_t own_cut(const struct settings *s, bool failed, uint64_t bytes, uint64_t lines)
{
	struct own_cut_row row = own_cut_by_settings(s);
	for (size_t i = 0; s->agent && i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(rows[i].agent, s->agent) == 0)
			row = rows[i];
	}
	if (row.lines && lines > row.lines)
		bytes = (uint64_t)((double)bytes * (double)row.lines / (double)lines);
	uint64_t most = failed ? row.failed : row.whole;
	if (bytes <= most)
		return bytes;
	return failed ? row.failed : row.cut;
}
