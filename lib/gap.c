// See gap.h.

#include "lib/gap.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/json.h"

#include <stdio.h>
#include <string.h>

const char *gap_reason(int error)
{
	return error == 0           ? "over the disk cap ([spill] max_artifact)"
	       : error == GAP_NEVER ? "[spill] when is never"
				    : strerror(error);
}

size_t gap_describe(char out[GAP_ANNOUNCE_MAX], const struct gap *g)
{
	const char *reason = gap_reason(g->error);
	int n;
	const char *first = HUMAN_COUNT(g->from), *size = HUMAN_SIZE(g->bytes);
	if (g->from == 0)
		n = snprintf(out, GAP_ANNOUNCE_MAX, "the last %s not kept: %.50s", size, reason);
	else if (g->from == g->to)
		n = snprintf(out, GAP_ANNOUNCE_MAX, "%s of line %s not kept: %.50s", size, first,
			     reason);
	else
		n = snprintf(out, GAP_ANNOUNCE_MAX, "lines %s-%s (%s, %s) not kept: %.50s", first,
			     HUMAN_COUNT(g->to), HUMAN_COUNT(g->to - g->from + 1), size, reason);
	return (size_t)n;
}

size_t gap_announce(char out[GAP_ANNOUNCE_MAX], const struct gap *g)
{
	static const char before[] = "[... ", behind[] = "]\n";
	char words[GAP_ANNOUNCE_MAX];
	gap_describe(words, g);
	return (size_t)snprintf(out, GAP_ANNOUNCE_MAX, "%s%.*s%s", before,
				(int)(GAP_ANNOUNCE_MAX - sizeof(before) - sizeof(behind)), words,
				behind);
}

void gap_begin_json(struct buffer *out, const struct gap *g)
{
	json_begin(out, NULL, '{');
	if (g->from) {
		json_add_count(out, "from", g->from);
		json_add_count(out, "to", g->to);
	}
	json_add_count(out, "bytes", g->bytes);
	json_add_string(out, "reason", g->error ? gap_reason(g->error) : "disk cap");
}

void gap_append_member(struct buffer *out, const struct gaps *gaps)
{
	if (gaps->count == 0)
		return;
	json_begin(out, "gaps", '[');
	for (int i = 0; i < gaps->count; i++) {
		gap_begin_json(out, &gaps->items[i]);
		json_end(out, '}');
	}
	json_end(out, ']');
}
