// See pause.h.

#include "supervisor/intercept/pause.h"

void pause_note(struct pause *p, uint64_t lines, int64_t now_ms)
{
	p->is_touched = true;
	p->byte_at = now_ms;
	if (lines <= p->lines)
		return;
	p->lines = lines;
	p->is_fresh = true;
	p->line_at = now_ms;
}

/* When the lines are due; 0: there are no new ones. */
static int64_t lines_due(const struct pause *p)
{
	int64_t at = p->line_at + PAUSE_MS;
	if (!p->is_fresh)
		return 0;
	return at > p->not_before ? at : p->not_before;
}

int64_t pause_due(const struct pause *p)
{
	int64_t lines = lines_due(p), bytes = p->is_touched ? p->byte_at + PAUSE_MS : 0;
	return lines && (!bytes || lines < bytes) ? lines : bytes;
}

bool pause_is_quiet(const struct pause *p, int64_t now_ms)
{
	int64_t due = lines_due(p);
	return due && now_ms >= due;
}

bool pause_is_silent(const struct pause *p, int64_t now_ms)
{
	return now_ms >= p->byte_at + PAUSE_MS;
}

void pause_again(struct pause *p, int64_t at_ms)
{
	p->is_fresh = true;
	if (p->not_before < at_ms)
		p->not_before = at_ms;
}

void pause_pass(struct pause *p)
{
	p->is_fresh = false;
	p->is_touched = false;
}

void pause_printed(struct pause *p, int64_t now_ms, bool omits)
{
	p->is_fresh = false;
	if (!omits)
		return;
	p->distance = p->distance ? 2 * p->distance : PAUSE_DISTANCE_MS;
	p->not_before = now_ms + p->distance;
}

size_t share_budget(size_t budget, size_t ceiling)
{
	size_t most = ceiling - ceiling / 3;
	return ceiling && budget > most ? most : budget;
}

static size_t lesser_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The most that is printed in all. Notices leave the preview half of a budget. */
static size_t share_most(const struct share *s, size_t budget)
{
	size_t most = budget < SIZE_MAX - budget / 2 ? budget + budget / 2 : SIZE_MAX;
	size_t below = s->ceiling > s->notices ? s->ceiling - s->notices : 0;
	if (s->ceiling == 0 || below >= most)
		return most;
	size_t least = lesser_of(s->printed + s->budget / 2, s->ceiling);
	return lesser_of(most, below > least ? below : least);
}

size_t share_whole(const struct share *s)
{
	if (s->budget == SIZE_MAX)
		return SIZE_MAX;
	return share_most(s, s->budget) - s->budget / 2;
}

size_t share_tail(const struct share *s, bool words)
{
	size_t whole = share_whole(s), share = s->budget / 2;
	size_t left = share > s->tails ? share - s->tails : 0;
	size_t most = whole > s->printed ? whole - s->printed : 0;
	size_t room = words || left / 2 < s->least ? left : left / 2;
	if (room > most)
		room = most;
	return room < s->least ? 0 : room;
}

size_t share_end(const struct share *s, size_t budget)
{
	if (budget == SIZE_MAX)
		return SIZE_MAX;
	size_t most = share_most(s, budget), half = budget / 2;
	return lesser_of(budget + lesser_of(s->live, half), most);
}

void share_notice(struct share *s, size_t printed)
{
	s->notices += printed;
}

void share_take(struct share *s, size_t printed, bool omits)
{
	s->printed += printed;
	s->live += printed;
	if (omits)
		s->tails += printed;
}
