// See human.h.

#include "lib/human.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int64_t clock_ms(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

int64_t clock_monotonic_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return clock_ms(&now);
}

int64_t clock_real_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return clock_ms(&now);
}

/* A preview formats numbers hundreds of times, and printf is many times slower. */
char *human_number(char out[HUMAN_LEN], uint64_t n, bool commas)
{
	char digits[HUMAN_LEN];
	size_t from = sizeof(digits), count = 0;
	digits[--from] = '\0';
	do {
		if (commas && count > 0 && count % 3 == 0)
			digits[--from] = ',';
		digits[--from] = (char)('0' + n % 10);
		count++;
		n /= 10;
	} while (n > 0);
	return memcpy(out, digits + from, sizeof(digits) - from);
}

/* n / 2^shift, rounded to nearest, ties to even. */
static uint64_t round_shifted(unsigned __int128 n, unsigned shift)
{
	unsigned __int128 below_half = ((unsigned __int128)1 << (shift - 1)) - 1;
	return (uint64_t)((n + below_half + (n >> shift & 1)) >> shift);
}

char *human_size(char out[HUMAN_LEN], uint64_t bytes)
{
	static const char units[][4] = {" B", " KB", " MB", " GB", " TB", " PB", " EB"};
	unsigned unit = bytes >= 1024, shift = 10 * unit;
	/* Use the next unit as soon as rounding would show 1024 of this one. */
	while (unit > 0 && unit + 1 < sizeof(units) / sizeof(*units) &&
	       (unsigned __int128)bytes * 2 >= (unsigned __int128)2047 << shift) {
		unit++;
		shift += 10;
	}
	if (unit == 0) {
		human_number(out, bytes, false);
	} else if ((unsigned __int128)bytes * 100 >= (unsigned __int128)9995 << shift) {
		human_number(out, round_shifted(bytes, shift), false);
	} else {
		uint64_t tenths = round_shifted((unsigned __int128)bytes * 10, shift);
		human_number(out, tenths / 10, false);
		char *end = out + strlen(out);
		*end++ = '.';
		*end++ = (char)('0' + tenths % 10);
		*end = '\0';
	}
	memcpy(out + strlen(out), units[unit], sizeof(units[unit]));
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

char *human_time(char out[HUMAN_LEN], int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	if (!localtime_r(&seconds, &tm) || !strftime(out, HUMAN_LEN, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(out, HUMAN_LEN, "?");
	return out;
}
