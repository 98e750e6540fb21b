// See value.h.

#include "config/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

const char *phrase_refuse(const char *text)
{
	if (strlen(text) > PHRASE_MAX)
		return "longer than 150 bytes";
	while (*text) {
		size_t len = strcspn(text, "*");
		if (len >= PHRASE_LEAST)
			return NULL;
		text += len;
		text += *text == '*';
	}
	return "needs 4 characters in a row that are not *";
}

/* A unit's name and how many of the smallest unit it holds. */
struct unit {
	const char *name;
	int64_t scale;
};

#define KB ((int64_t)1 << 10)
#define MB ((int64_t)1 << 20)
#define GB ((int64_t)1 << 30)
#define TB ((int64_t)1 << 40)
#define PB ((int64_t)1 << 50)

/* The units that terse also writes come first, the largest first. After a NULL come words that
   stand for a number, and another NULL. */
static const struct unit size_units[] = {
	{"PB", PB},         {"TB", TB},        {"GB", GB},  {"MB", MB},
	{"KB", KB},         {"", 1},           {"B", 1},    {"K", KB},
	{"M", MB},          {"G", GB},         {"T", TB},   {"P", PB},
	{"KiB", KB},        {"MiB", MB},       {"GiB", GB}, {"TiB", TB},
	{"PiB", PB},        {"tok", 4},        {NULL, 0},   {"small", 2 * KB},
	{"medium", 4 * KB}, {"large", 8 * KB}, {NULL, 0},
};

static const struct unit duration_units[] = {
	{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
	{"min", 60000},  {"", 1000},     {NULL, 0},    {"off", 0},  {NULL, 0},
};

/* A saturated number with at most three decimals. */
struct decimal {
	int64_t whole;
	int thousandths;
	bool negative;
};

/* Returns the end of the number, or NULL if there is none. */
static const char *parse_decimal(const char *p, struct decimal *d)
{
	char *end;
	*d = (struct decimal){.negative = *p == '-'};
	p += d->negative;
	if (!isdigit((unsigned char)*p))
		return NULL;
	d->whole = strtoll(p, &end, 10);
	if (*end != '.')
		return end;
	size_t digits = strspn(++end, "0123456789");
	for (size_t i = 0; i < 3; i++)
		d->thousandths = 10 * d->thousandths + (i < digits ? end[i] - '0' : 0);
	return digits > 0 && digits <= 3 ? end + digits : NULL;
}

/* The decimal times `scale`, rounded up, so that only 0 becomes 0. `scale` is at most 1 PB, so the
   thousandths can't overflow. */
static int64_t scale_decimal(const struct decimal *d, int64_t scale)
{
	int64_t part = (d->thousandths * scale + 999) / 1000;
	int64_t result;
	if (__builtin_mul_overflow(d->whole, scale, &result) ||
	    __builtin_add_overflow(result, part, &result))
		result = INT64_MAX;
	return d->negative ? -result : result;
}

static int value_refuse(void)
{
	errno = EINVAL;
	return -1;
}

static int parse_units(const char *text, const struct unit *units, int64_t *out)
{
	struct decimal number;
	const char *name = parse_decimal(text, &number);
	if (!name) {
		number = (struct decimal){.whole = 1};
		name = text;
		while (units++->name)
			;
	} else if (name[0] == ' ' && name[1] != '\0') {
		name++;
	}
	while (units->name && strcasecmp(units->name, name) != 0)
		units++;
	if (!units->name)
		return value_refuse();
	*out = scale_decimal(&number, units->scale);
	return 0;
}

/* Returns the end of a whole number, or NULL. */
static const char *parse_whole(const char *text, int64_t *n)
{
	struct decimal number;
	text = parse_decimal(text, &number);
	*n = text ? scale_decimal(&number, 1) : 0;
	return number.thousandths == 0 ? text : NULL;
}

int value_parse_count(const char *text, int64_t *count)
{
	text = parse_whole(text, count);
	return text && *text == '\0' ? 0 : value_refuse();
}

int value_parse_range(const char *text, int64_t *from, int64_t *to)
{
	text = parse_whole(text, from);
	*to = *from;
	if (text && strcmp(text, "-") == 0) {
		*to = INT64_MAX;
		text++;
	} else if (text && *text == '-') {
		text = parse_whole(text + 1, to);
	}
	return text && *text == '\0' && *from >= 0 && *to >= *from ? 0 : value_refuse();
}

int value_parse_size(const char *text, int64_t *bytes)
{
	return parse_units(text, size_units, bytes);
}

int value_parse_duration(const char *text, int64_t *ms)
{
	return parse_units(text, duration_units, ms);
}

static char *format_units(char out[VALUE_LEN], int64_t n, const struct unit *units,
			  const char *zero)
{
	while (n % units->scale != 0)
		units++;
	if (n == 0)
		snprintf(out, VALUE_LEN, "%s", zero);
	else
		snprintf(out, VALUE_LEN, "%" PRId64 "%s", n / units->scale, units->name);
	return out;
}

char *value_format_size(char out[VALUE_LEN], int64_t bytes)
{
	return format_units(out, bytes, size_units, "0");
}

char *value_format_duration(char out[VALUE_LEN], int64_t ms)
{
	return format_units(out, ms, duration_units, "off");
}

static const char *const forms[] = {
	"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
	"%Y-%m-%d",          "%H:%M:%S",          "%H:%M",
};

int value_parse_time(const char *text, int64_t now_ms, int64_t *ms)
{
	int64_t ago;
	if (*text == '@') {
		if (value_parse_count(text + 1, ms) < 0 || *ms < 0 || *ms > INT64_MAX / 1000)
			return value_refuse();
		*ms *= 1000;
		return 0;
	}
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
	/* value_parse_duration() would accept "off". */
	if (*text < '0' || *text > '9' || value_parse_duration(text, &ago) < 0 || ago > now_ms)
		return value_refuse();
	*ms = now_ms - ago;
	return 0;
}

/* --- keys ----------------------------------------------------------------------- */

/* ctlseqs, "PC-Style Function Keys". */
static const struct {
	const char *name, *bytes;
} keys[] = {
	{"enter", "\r"},       {"return", "\r"},        {"tab", "\t"},
	{"escape", "\033"},    {"esc", "\033"},         {"space", " "},
	{"backspace", "\177"}, {"up", "\033[A"},        {"down", "\033[B"},
	{"right", "\033[C"},   {"left", "\033[D"},      {"home", "\033[H"},
	{"end", "\033[F"},     {"insert", "\033[2~"},   {"delete", "\033[3~"},
	{"pageup", "\033[5~"}, {"pagedown", "\033[6~"}, {"shift-tab", "\033[Z"},
	{"f1", "\033OP"},      {"f2", "\033OQ"},        {"f3", "\033OR"},
	{"f4", "\033OS"},      {"f5", "\033[15~"},      {"f6", "\033[17~"},
	{"f7", "\033[18~"},    {"f8", "\033[19~"},      {"f9", "\033[20~"},
	{"f10", "\033[21~"},   {"f11", "\033[23~"},     {"f12", "\033[24~"},
};

int key_parse(const char *name, struct key_bytes *key)
{
	*key = (struct key_bytes){.len = 0};
	if (strncasecmp(name, "ctrl-", 5) == 0) {
		name = strcasecmp(name + 5, "space") == 0 ? "@" : name + 5;
		bool letter = (*name >= '@' && *name <= '_') || (*name >= 'a' && *name <= 'z');
		if (!*name || name[1] || (*name != '?' && !letter))
			return value_refuse();
		key->data[0] = *name == '?' ? '\177' : (char)(*name & 0x1F);
		key->len = 1;
		return 0;
	}
	if (strncasecmp(name, "alt-", 4) == 0) {
		struct key_bytes plain;
		if (key_parse(name + 4, &plain) < 0 || plain.len + 1 > sizeof(key->data))
			return value_refuse();
		key->data[0] = '\033';
		memcpy(key->data + 1, plain.data, plain.len);
		key->len = plain.len + 1;
		return 0;
	}
	const char *bytes = name[0] > ' ' && name[0] < 0x7F && !name[1] ? name : NULL;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcasecmp(name, keys[i].name) == 0)
			bytes = keys[i].bytes;
	}
	if (!bytes)
		return value_refuse();
	key->len = strlen(bytes);
	memcpy(key->data, bytes, key->len);
	key->cursor = key->len == 3 && bytes[1] == '[' && strchr("ABCDHF", bytes[2]);
	return 0;
}
