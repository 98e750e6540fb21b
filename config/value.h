// A text that marks lines as telling, or as not telling, for a preview: what
// [preview] patterns and ignore consist of.
//
// It is found anywhere in a line, letters of ASCII in either case; "*" stands for
// any bytes of the line. Some bytes in a row have to be given, so that a fast
// search can look for them in a text of any size.
#ifndef TERSE_CONFIG_VALUE_H
#define TERSE_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PHRASE_MAX = 150,  /* bytes of one */
	PHRASE_COUNT = 32, /* in a list */
	PHRASE_LEAST = 4,  /* bytes that have to stand in a row in each */
};

/* A reason if `text` can't be one, else NULL. */
const char *phrase_refuse(const char *text);

// Regular expressions as values.

/* Why it is none (PCRE2), or NULL. */
const char *expression_refuse(const char *value);

// Values as they are written in an ini file, a variable or a flag: numbers,
// sizes, durations and words.
//
// Every parser returns 0, or -1 with errno EINVAL when the text is not such a
// value. A number too large for the type is saturated, so that the caller's
// range check refuses it; a negative one stays negative. Words and units are
// taken in upper and lower case.

/* A whole number: "50". */
int value_parse_count(const char *text, int64_t *count);

/* Bytes: "4096", "4KB", "1.5 MB" (B, K, KB, KiB, M ... PB, PiB by 1,024), "1000tok" (4 bytes a
   token), "small", "medium", "large" (2, 4, 8 KB). A part of a byte counts as a whole one. */
int value_parse_size(const char *text, int64_t *bytes);

/* Milliseconds: "500ms", "1.5s", "5m" or "5min", "1h", "1d"; a bare number is seconds; "off"
   is 0. A part of a millisecond counts as a whole one. */
int value_parse_duration(const char *text, int64_t *ms);

/* yes true on 1, no false off 0 */
int value_parse_bool(const char *text, int64_t *yes);

/* The position of `text` in `words` (NULL-terminated). */
int value_parse_word(const char *text, const char *const *words, int64_t *position);

#define VALUE_LEN 32

/* The shortest exact form that the parser reads back: "16MB", "500"; "12h", "1ms", "off".
   Write into `out` and return it. */
char *value_format_size(char out[VALUE_LEN], int64_t bytes);
char *value_format_duration(char out[VALUE_LEN], int64_t ms);

// A moment as people write it.

/* Milliseconds since 1970: "30m" or "2h" (that long ago), "14:05" or "14:05:30" (today, local
   time), "2026-11-20", "2026-11-20 14:05[:30]" (or a T between them; a Z behind it: UTC),
   "@SECONDS". Returns 0, or -1 with errno EINVAL. */
int value_parse_time(const char *text, int64_t now_ms, int64_t *ms);

// Names of keys and what a terminal (xterm) sends for them.

struct key_bytes {
	char data[16];
	size_t len;
	bool cursor; /* ESC [ X, which is ESC O X where the program has asked for it (DECCKM) */
};

/* "enter", "ctrl-c", "alt-x", "shift-tab", "up", "f1", "space", "a" ...; in any case. Returns 0, or
   -1 with errno EINVAL. */
int key_parse(const char *name, struct key_bytes *key);

#endif
