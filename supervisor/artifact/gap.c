// See gap.h.

#include "supervisor/artifact/gap.h"

#include "supervisor/base/human.h"
#include "supervisor/base/json_member.h"

#include <stdio.h>
#include <string.h>

size_t gap_announce(char out[GAP_ANNOUNCE_MAX], uint64_t from, uint64_t to, uint64_t bytes,
		    int error)
{
	char first[HUMAN_LEN], last[HUMAN_LEN], count[HUMAN_LEN], size[HUMAN_LEN];
	human_count(first, from);
	human_count(last, to);
	human_count(count, to - from + 1);
	human_size(size, bytes);
	const char *reason = error ? strerror(error) : "over the disk cap ([spill] max_artifact)";
	int n;
	if (from == to)
		n = snprintf(out, GAP_ANNOUNCE_MAX, "[... %s of line %s not kept: %.50s]\n", size,
			     first, reason);
	else
		n = snprintf(out, GAP_ANNOUNCE_MAX, "[... lines %s-%s (%s, %s) not kept: %.50s]\n",
			     first, last, count, size, reason);
	return (size_t)n;
}

int gap_append_json(struct buffer *out, uint64_t from, uint64_t to, uint64_t bytes, int error)
{
	if (json_member_count(out, "from", from) < 0 || json_member_count(out, "to", to) < 0 ||
	    json_member_count(out, "bytes", bytes) < 0)
		return -1;
	return json_member_string(out, "reason", error ? strerror(error) : "disk cap");
}
