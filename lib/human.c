// See human.h.

#include "lib/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_monotonic_ms(void)
{
	return now(CLOCK_MONOTONIC);
}

int64_t clock_real_ms(void)
{
	return now(CLOCK_REALTIME);
}

char *human_count(char out[HUMAN_LEN], uint64_t n)
{
	char digits[HUMAN_LEN];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *o = out;
	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			*o++ = ',';
		*o++ = digits[i];
	}
	*o = '\0';
	return out;
}

char *human_size(char out[HUMAN_LEN], uint64_t bytes)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
	if (bytes < 1024) {
		snprintf(out, HUMAN_LEN, "%" PRIu64 " B", bytes);
		return out;
	}
	/* Use the next unit as soon as rounding would show 1024 of this one. */
	double value = (double)bytes / 1024;
	unsigned unit = 0;
	while (value >= 1023.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
		value /= 1024;
		unit++;
	}
	snprintf(out, HUMAN_LEN, value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return out;
}

char *human_duration(char out[HUMAN_LEN], int64_t ms)
{
	int64_t s = ms / 1000;
	if (ms < 1000)
		snprintf(out, HUMAN_LEN, "%" PRId64 " ms", ms);
	else if (s < 60)
		snprintf(out, HUMAN_LEN, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
	else if (s < 3600)
		snprintf(out, HUMAN_LEN, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else
		snprintf(out, HUMAN_LEN, "%" PRId64 " h %" PRId64 " min", s / 3600, s % 3600 / 60);
	return out;
}

char *human_signal(char out[HUMAN_LEN], int sig)
{
	const char *name = sigabbrev_np(sig);
	snprintf(out, HUMAN_LEN, name ? "SIG%s" : "%s%d", name ? name : "", sig);
	return out;
}

char *human_age(char out[HUMAN_LEN], int64_t ms)
{
	static const struct {
		int64_t from, unit;
		const char *name;
	} units[] = {
		{172800, 86400, "d"},
		{7200, 3600, "h"},
		{120, 60, "min"},
		{0, 1, "s"},
	};
	int64_t s = ms > 0 ? ms / 1000 : 0;
	size_t i = 0;
	while (s < units[i].from)
		i++;
	snprintf(out, HUMAN_LEN, "%" PRId64 " %s", s / units[i].unit, units[i].name);
	return out;
}
