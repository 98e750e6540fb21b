// See lingering.h.

#include "supervisor/process/lingering.h"

#include "supervisor/base/human.h"
#include "supervisor/process/holder.h"

#include <stdio.h>
#include <unistd.h>

/* More of them are there than can be looked at: they count as no daemons. */
#define HOLDERS 64

void lingering_begin(struct lingering *l, const struct settings *settings, int64_t now_ms)
{
	l->settings = settings;
	l->end_at = settings->linger ? now_ms + settings->linger : 0;
	l->idle_at = settings->linger_idle ? now_ms + settings->linger_idle : 0;
}

void lingering_came(struct lingering *l, uint64_t bytes, int64_t now_ms)
{
	if (!l->settings || bytes == 0)
		return;
	pace_take(&l->pace, bytes, now_ms);
	if (l->idle_at)
		l->idle_at = now_ms + l->settings->linger_idle;
}

bool lingering_is_paused(const struct lingering *l, int64_t now_ms)
{
	return pace_wait(&l->pace, now_ms) > 0;
}

void lingering_end(struct lingering *l)
{
	snprintf(l->why, sizeof(l->why), "terse signal ended the run");
}

int64_t lingering_due(const struct lingering *l, int64_t now_ms)
{
	int64_t pause = pace_wait(&l->pace, now_ms), due = l->end_at;
	if (l->idle_at && (!due || l->idle_at < due))
		due = l->idle_at;
	if (pause && (!due || now_ms + pause < due))
		due = now_ms + pause;
	return due;
}

/* What made a session of its own needs no terminal: for its sake nobody stays. */
static bool is_held_by_daemons(const int fds[2])
{
	struct holder found[HOLDERS];
	int count = holder_find(fds, 2, found, HOLDERS), daemons = 0;
	for (int i = 0; i < count && i < HOLDERS; i++)
		daemons += found[i].session != getpid();
	return count > 0 && daemons == count;
}

bool lingering_is_over(struct lingering *l, const int fds[2], int64_t now_ms)
{
	char time[HUMAN_LEN];
	if (*l->why)
		return true;
	if (l->end_at && now_ms >= l->end_at) {
		snprintf(l->why, sizeof(l->why), "%s after the command ([run] linger)",
			 human_duration(time, l->settings->linger));
	} else if (l->idle_at && now_ms >= l->idle_at) {
		l->idle_at = now_ms + l->settings->linger_idle;
		if (is_held_by_daemons(fds))
			snprintf(l->why, sizeof(l->why), "silent for %s ([run] linger_idle)",
				 human_duration(time, l->settings->linger_idle));
	}
	return *l->why;
}
