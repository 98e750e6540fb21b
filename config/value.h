// Values as they are written in ini files, variables and flags: numbers, sizes, durations, words,
// times, keys, and the phrases of a preview.
//
// Every parser returns 0, or -1 with errno EINVAL. A number that is too large for its type is
// saturated, so that the caller's range check refuses it; a negative one stays negative. Words and
// units may be in upper or lower case.
#ifndef TERSE_CONFIG_VALUE_H
#define TERSE_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A phrase in the settings `patterns` and `ignore` of [preview] matches anywhere in a line. ASCII
   letters match in either case; "*" stands for any bytes of the line. A phrase needs PHRASE_LEAST
   bytes in a row without a star: a fast search looks for them first. */
enum {
	PHRASE_MAX = 150,  /* bytes */
	PHRASE_COUNT = 32, /* in a list */
	PHRASE_LEAST = 4,  /* bytes in a row */
};

/* Returns NULL for a valid phrase, else the reason why it is invalid. */
const char *phrase_refuse(const char *text);

/* A whole number: "50". */
int value_parse_count(const char *text, int64_t *count);

/* A range as terse's notices write it: "330-412", or "7" alone, or "330-", which has no end (*to is
   INT64_MAX). *to is never below *from. */
int value_parse_range(const char *text, int64_t *from, int64_t *to);

/* Bytes: "4096", "4KB", "1.5 MB" (B, K, KB, KiB, M ... PB, PiB by 1,024), "1000tok" (4 bytes a
   token), "small", "medium", "large" (2, 4, 8 KB). Rounds up. */
int value_parse_size(const char *text, int64_t *bytes);

/* Milliseconds: "500ms", "1.5s", "5m" or "5min", "1h", "1d"; a bare number is seconds; "off"
   is 0. Rounds up. */
int value_parse_duration(const char *text, int64_t *ms);

#define VALUE_LEN 32

/* Write the shortest exact form that the parser reads back ("16MB", "500"; "12h", "1ms", "off")
   into `out` and return it. */
char *value_format_size(char out[VALUE_LEN], int64_t bytes);
char *value_format_duration(char out[VALUE_LEN], int64_t ms);

/* Milliseconds since 1970: "30m" or "2h" (that long ago), "14:05" or "14:05:30" (today, local
   time), "2026-11-20", "2026-11-20 14:05[:30]" (or a T between them; a Z after it: UTC),
   "@SECONDS". Returns 0, or -1 with errno EINVAL. */
int value_parse_time(const char *text, int64_t now_ms, int64_t *ms);

/* The bytes that a terminal (xterm) sends for a key. */
struct key_bytes {
	char data[16];
	size_t len;
	bool cursor; /* ESC [ X, or ESC O X if the program has set DECCKM */
};

/* "enter", "ctrl-c", "alt-x", "shift-tab", "up", "f1", "space", "a" ...; upper and lower case are
   alike. */
int key_parse(const char *name, struct key_bytes *key);

#endif
