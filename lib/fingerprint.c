// See fingerprint.h.

#include "lib/fingerprint.h"

#include <stdbool.h>
#include <string.h>

#define SEED 0x9E3779B97F4A7C15u
#define STEP 0xD6E8FEB86659FD93u

/* The shortest hash: a shorter word of hexadecimal digits may be a name. */
#define HASH_LEAST 7

#define UNIT_LEN 7

/* The bytes that stand for masked parts. */
#define NUMBER 1 /* a number or a hash */
#define PLACE  2

enum class { OTHER, LETTER = 1, DIGIT = 2, HEX = 4, SEPARATOR = 8 };

static const uint8_t classes[256] = {
	['0' ... '9'] = DIGIT | HEX,
	['a' ... 'f'] = LETTER | HEX,
	['g' ... 'z'] = LETTER,
	['A' ... 'F'] = LETTER | HEX,
	['G' ... 'Z'] = LETTER,
	['_'] = LETTER,
	['.'] = SEPARATOR,
	[','] = SEPARATOR,
	[':'] = SEPARATOR,
	/* Every other character counts as a letter. */
	[0x80 ... 0xff] = LETTER,
};

static unsigned class_of(char c)
{
	return classes[(unsigned char)c];
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * STEP;
	return hash ^ hash >> 32;
}

static uint64_t mix_bytes(uint64_t hash, const char *data, size_t len)
{
	uint64_t word;
	for (; len >= sizeof(word); data += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, data, sizeof(word));
		hash = mix(hash, word);
	}
	word = 0;
	memcpy(&word, data, len);
	return mix(hash, word ^ (uint64_t)len << 56);
}

/* Returns the end of the unit at `at`, which one blank may precede; `at` if there is no unit. */
static size_t unit_end(const char *line, size_t len, size_t at)
{
	static const char units[][UNIT_LEN + 1] = {
		"ms", "s",  "us", "ns", "min", "m",   "h",   "sec",  "secs", "seconds",
		"kB", "KB", "MB", "GB", "KiB", "MiB", "GiB", "kB/s", "MB/s"};
	char unit[UNIT_LEN + 1] = "";
	size_t from = at + (at < len && line[at] == ' '), to = from;
	for (; to < len && (class_of(line[to]) & LETTER || line[to] == '/'); to++) {
		if (to - from == UNIT_LEN)
			return at;
		unit[to - from] = line[to];
	}
	for (size_t i = 0; to > from && i < sizeof(units) / sizeof(*units); i++) {
		if (memcmp(units[i], unit, sizeof(unit)) == 0)
			return to;
	}
	return at;
}

/* If the name of a directory of temporary files starts at `at`, returns its end; else `at`. */
static size_t temporary_end(const char *line, size_t len, size_t at)
{
	static const char *const places[] = {"/tmp/", "/var/tmp/", "/dev/shm/", "/var/folders/"};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		size_t n = strlen(places[i]);
		if (len - at > n && memcmp(line + at, places[i], n) == 0)
			return at + n;
	}
	return at;
}

/* Mixes in the word at `at`, masked where it is a number or a hash. Returns its end. */
static size_t mix_word(uint64_t *hash, const char *line, size_t len, size_t at)
{
	unsigned all = HEX, any = 0;
	size_t end = at;
	for (; end < len && class_of(line[end]) & (LETTER | DIGIT); end++) {
		all &= class_of(line[end]);
		any |= class_of(line[end]);
	}
	if (class_of(line[at]) & DIGIT) {
		/* Words that follow separators and begin with a digit belong to the number. */
		while (end + 1 < len && class_of(line[end]) & SEPARATOR &&
		       class_of(line[end + 1]) & DIGIT) {
			for (end++; end < len && class_of(line[end]) & (LETTER | DIGIT);)
				end++;
		}
		size_t unit = unit_end(line, len, end);
		bool zero = unit == at + 1 && line[at] == '0';
		*hash = mix(*hash, zero ? '0' : NUMBER);
		return unit;
	}
	if (any & DIGIT && all & HEX && end - at >= HASH_LEAST)
		*hash = mix(*hash, NUMBER);
	else
		*hash = mix_bytes(*hash, line + at, end - at);
	return end;
}

/* The first digit or slash from `at` on. '/' is next to '0' in ASCII, so one range test finds both,
   eight bytes at once. */
static size_t find_sign(const char *line, size_t len, size_t at)
{
	const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
	for (uint64_t word; at + sizeof(word) <= len; at += sizeof(word)) {
		memcpy(&word, line + at, sizeof(word));
		uint64_t low = word & ~high;
		/* In `above` the high bit of a byte means that the byte is above '9'; in `least`,
		   that it is '/' or above. */
		uint64_t above = low + ones * (127 - '9'), least = low + ones * (128 - '/');
		if (~above & least & ~word & high)
			break;
	}
	while (at < len && (line[at] < '/' || line[at] > '9'))
		at++;
	return at;
}

uint64_t fingerprint_masked(const char *line, size_t len)
{
	uint64_t hash = SEED;
	size_t done = 0; /* mixed in up to here */
	for (size_t at = find_sign(line, len, 0); at < len; at = find_sign(line, len, at)) {
		size_t start = at, end;
		if (line[at] == '/') {
			char before = at > 0 ? line[at - 1] : ' ';
			bool path = !(class_of(before) & (LETTER | DIGIT)) && before != '.' &&
				    before != '-' && before != '/';
			end = path ? temporary_end(line, len, at) : at;
			if (end == at++)
				continue;
			while (end < len && !(line[end] && strchr("/ \t:\"')],>", line[end])))
				end++;
			hash = mix(mix_bytes(hash, line + done, start - done), PLACE);
		} else {
			while (start > done && class_of(line[start - 1]) & (LETTER | DIGIT))
				start--;
			hash = mix_bytes(hash, line + done, start - done);
			end = mix_word(&hash, line, len, start);
		}
		done = at = end;
	}
	return mix_bytes(hash, line + done, len - done) | 1;
}

uint64_t fingerprint_exact(const char *line, size_t len)
{
	return mix_bytes(SEED, line, len) | 1;
}
