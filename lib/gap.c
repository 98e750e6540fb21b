// See gap.h.

#include "lib/gap.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/json.h"

#include <stdio.h>
#include <string.h>

size_t gap_describe(char out[GAP_ANNOUNCE_MAX], const struct gap *g)
{
	char first[HUMAN_LEN], last[HUMAN_LEN], count[HUMAN_LEN], size[HUMAN_LEN];
	const char *reason =
		g->error ? strerror(g->error) : "over the disk cap ([spill] max_artifact)";
	int n;
	human_count(first, g->from);
	human_count(last, g->to);
	human_count(count, g->to - g->from + 1);
	human_size(size, g->bytes);
	if (g->from == 0)
		n = snprintf(out, GAP_ANNOUNCE_MAX, "the last %s not kept: %.50s", size, reason);
	else if (g->from == g->to)
		n = snprintf(out, GAP_ANNOUNCE_MAX, "%s of line %s not kept: %.50s", size, first,
			     reason);
	else
		n = snprintf(out, GAP_ANNOUNCE_MAX, "lines %s-%s (%s, %s) not kept: %.50s", first,
			     last, count, size, reason);
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

size_t gap_announce_end(char out[GAP_ANNOUNCE_MAX], const char *why)
{
	return (size_t)snprintf(out, GAP_ANNOUNCE_MAX,
				"[... recording ended: %.80s; what background processes write "
				"later is not kept]\n",
				why);
}

int gap_begin_json(struct buffer *out, const struct gap *g)
{
	if (json_begin_object(out, NULL) < 0 ||
	    (g->from && json_add_count(out, "from", g->from) < 0) ||
	    (g->from && json_add_count(out, "to", g->to) < 0) ||
	    json_add_count(out, "bytes", g->bytes) < 0)
		return -1;
	return json_add_string(out, "reason", g->error ? strerror(g->error) : "disk cap");
}

static int gap_append_json(struct buffer *out, const struct gap *g)
{
	return gap_begin_json(out, g) < 0 ? -1 : buffer_append_string(out, "}");
}

int gap_append_member(struct buffer *out, const struct gaps *gaps)
{
	if (gaps->count == 0)
		return 0;
	if (json_begin_array(out, "gaps") < 0)
		return -1;
	for (int i = 0; i < gaps->count; i++) {
		if (gap_append_json(out, &gaps->items[i]) < 0)
			return -1;
	}
	return buffer_append_string(out, "]");
}
