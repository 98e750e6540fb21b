// See stats.h: terse stats --advise.

#include "lib/human.h"
#include "supervisor/command/stats.h"

#include <inttypes.h>
#include <string.h>

/* Fewer artifacts of a command tell nothing. */
#define LEAST_READ   3
#define LEAST_UNREAD 10

/* The limits that are advised: no smaller than KB, and no larger than what a read shows. */
#define KB         ((uint64_t)1024)
#define MOST_SIZE  (30 * KB)
#define LEAST_SIZE KB

/* What a run of this command showed on average. */
static uint64_t average_shown(const struct stats_sum *s)
{
	return s->runs ? s->shown.bytes / s->runs : 0;
}

/* A name of a section, and a pattern, have no other characters. */
static bool is_simple(const char *name)
{
	return strspn(name,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+ ") ==
	       strlen(name);
}

static void add_section(struct buffer *out, const char *name, uint64_t size)
{
	buffer_append_string(out, "[profile ");
	for (const char *at = name; *at; at++)
		buffer_append(out, *at == ' ' ? "-" : at, 1);
	buffer_printf(out, "]\nmatch = %s\nsize = %" PRIu64 "KB\n\n", name, size / KB);
}

/* Most of its texts were read on, and more of each than the preview had. */
static bool advise_more(struct buffer *out, const struct stats_group *g)
{
	const struct stats_sum *s = &g->sum;
	uint64_t each = s->followed ? s->followed_bytes / s->followed : 0;
	if (s->followed < LEAST_READ || s->followed * 2 < s->kept || each < average_shown(s))
		return false;
	uint64_t size = (average_shown(s) + each + KB - 1) / KB * KB;
	if (size > MOST_SIZE)
		size = MOST_SIZE;
	buffer_printf(out, "# %s: %" PRIu64 " of %" PRIu64 " kept texts were read on, %s of each\n",
		      g->name, s->followed, s->kept, HUMAN_SIZE(each));
	add_section(out, g->name, size);
	return true;
}

/* No text was read on. */
static bool advise_less(struct buffer *out, const struct stats_group *g)
{
	const struct stats_sum *s = &g->sum;
	if (s->kept < LEAST_UNREAD || s->followed > 0)
		return false;
	uint64_t each = average_shown(s), size = (each + KB) / 2 / KB * KB;
	if (size < LEAST_SIZE)
		return false;
	buffer_printf(out,
		      "# %s: none of %" PRIu64 " kept texts was read on; %s shown of each run\n",
		      g->name, s->kept, HUMAN_SIZE(each));
	add_section(out, g->name, size);
	return true;
}

int stats_advise(struct buffer *out, const struct stats *s)
{
	int count = 0;
	for (size_t i = 0; i < s->group_count; i++) {
		const struct stats_group *g = &s->groups[i];
		if (is_simple(g->name))
			count += advise_more(out, g) || advise_less(out, g);
	}
	return count;
}
