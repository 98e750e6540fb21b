// See retention.h.

#include "supervisor/artifact/retention.h"

/* Takes one more into account. Returns whether it is too much. */
static bool retention_is_over(uint64_t *sum, uint64_t more, uint64_t most)
{
	*sum = *sum + more < *sum ? UINT64_MAX : *sum + more;
	return most && *sum > most;
}

static enum retention_why decide_by_time(const struct retention_item *item,
					 const struct retention_session *session,
					 const struct retention_limits *l, int64_t now_ms)
{
	if (item->running)
		return RETENTION_STAYS;
	if (session->ended_ms && now_ms - session->ended_ms >= l->keep_ms)
		return RETENTION_ENDED;
	if (l->max_age_ms && now_ms - item->last_ms > l->max_age_ms)
		return RETENTION_AGE;
	return RETENTION_STAYS;
}

void retention_decide(struct retention_item *items, size_t count,
		      struct retention_session *sessions, const struct retention_limits *l,
		      int64_t now_ms)
{
	uint64_t all_count = 0, all_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		struct retention_session *s = &sessions[items[i].session];
		items[i].why = decide_by_time(&items[i], s, l, now_ms);
		s->count = s->bytes = 0;
	}
	/* Those that stay in any case have their share first. */
	for (size_t i = 0; i < count; i++) {
		struct retention_session *s = &sessions[items[i].session];
		if (!items[i].running)
			continue;
		s->count++;
		retention_is_over(&s->bytes, items[i].bytes, 0);
		all_count++;
		retention_is_over(&all_bytes, items[i].bytes, 0);
	}
	for (size_t i = count; i-- > 0;) {
		struct retention_item *item = &items[i];
		struct retention_session *s = &sessions[item->session];
		if (item->running || item->why != RETENTION_STAYS)
			continue;
		bool many = retention_is_over(&s->count, 1, l->session_count);
		bool large = retention_is_over(&s->bytes, item->bytes, l->session_bytes);
		if (many || large) {
			item->why = many ? RETENTION_SESSION_COUNT : RETENTION_SESSION_SIZE;
			continue;
		}
		many = retention_is_over(&all_count, 1, l->max_count);
		large = retention_is_over(&all_bytes, item->bytes, l->max_bytes);
		if (many || large)
			item->why = many ? RETENTION_COUNT : RETENTION_SIZE;
	}
}
