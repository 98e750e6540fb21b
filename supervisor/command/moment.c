// See moment.h.

#include "supervisor/command/moment.h"

#include "config/value.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const forms[] = {
	"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
	"%Y-%m-%d",          "%H:%M:%S",          "%H:%M",
};

static int parse_seconds(const char *text, int64_t *ms)
{
	char *end;
	errno = 0;
	long long s = strtoll(text, &end, 10);
	if (errno || end == text || *end || s < 0 || s > INT64_MAX / 1000) {
		errno = EINVAL;
		return -1;
	}
	*ms = s * 1000;
	return 0;
}

int moment_parse(const char *text, int64_t now_ms, int64_t *ms)
{
	int64_t ago;
	if (*text == '@')
		return parse_seconds(text + 1, ms);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm;
		time_t now = (time_t)(now_ms / 1000);
		localtime_r(&now, &tm);
		tm.tm_sec = 0;
		if (forms[i][1] == 'Y')
			tm.tm_hour = tm.tm_min = 0;
		const char *end = strptime(text, forms[i], &tm);
		if (!end)
			continue;
		bool utc = strcmp(end, "Z") == 0;
		if (*end && !utc)
			continue;
		tm.tm_isdst = -1;
		time_t t = utc ? timegm(&tm) : mktime(&tm);
		*ms = (int64_t)t * 1000;
		return 0;
	}
	/* "off" is a duration elsewhere. */
	if (*text < '0' || *text > '9' || value_parse_duration(text, &ago) < 0 || ago > now_ms) {
		errno = EINVAL;
		return -1;
	}
	*ms = now_ms - ago;
	return 0;
}
