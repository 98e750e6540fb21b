// See fit.h.

#include "supervisor/reading/fit.h"

#include "supervisor/base/utf8.h"

#include <stdint.h>

/* The bytes of the first character; *cost is what it takes. */
static size_t fit_measure(const char *data, size_t len, bool json, size_t *cost)
{
	uint32_t cp;
	if (len > 1 && data[0] == '\r' && data[1] == '\n') {
		*cost = json ? 4 : 2;
		return 2;
	}
	size_t step = utf8_decode(data, len, &cp);
	*cost = step;
	if (cp == UTF8_REPLACEMENT)
		*cost = 3;
	else if (json && (cp == '"' || cp == '\\' || cp == '\n' || cp == '\t' || cp == '\r'))
		*cost = 2;
	else if (!utf8_is_clean(cp))
		*cost = !json ? 3 : cp < 0x10000 ? 6 : 12;
	return step;
}

size_t fit_cost(const char *data, size_t len, bool json)
{
	size_t total = 0, cost;
	for (size_t at = 0; at < len;) {
		at += fit_measure(data + at, len - at, json, &cost);
		total += cost;
	}
	return total;
}

size_t fit_front(const char *data, size_t len, size_t room, bool json)
{
	size_t at = 0, used = 0;
	while (at < len) {
		size_t cost, step = fit_measure(data + at, len - at, json, &cost);
		if (used + cost > room)
			break;
		used += cost;
		at += step;
	}
	return at;
}

size_t fit_back(const char *data, size_t len, size_t room, bool json)
{
	size_t total = fit_cost(data, len, json), from = 0, cost;
	while (total > room) {
		from += fit_measure(data + from, len - from, json, &cost);
		total -= cost;
	}
	return len - from;
}

size_t fit_floor(const char *data, size_t len, size_t at)
{
	uint32_t cp;
	if (at > 0 && at < len && data[at - 1] == '\r' && data[at] == '\n')
		return at - 1;
	for (size_t back = 1; back <= 3 && back <= at; back++) {
		if (utf8_decode(data + at - back, len - at + back, &cp) > back)
			return at - back;
	}
	return at;
}
