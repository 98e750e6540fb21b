#include "supervisor/preview/internal.h"

#include <string.h>

static bool is_of_name(char c)
{
	return is_letter(c) || is_digit(c) || is_one_of(c, "_-./");
}

/* The length of a number, or a time, perhaps behind a date: digits and what is between them. */
static size_t number_len(const char *text, size_t len)
{
	size_t n = skip_digits(text, len, 0);
	while (n + 1 < len && is_one_of(text[n], ":.-TZ") && is_digit(text[n + 1]))
		n = skip_digits(text, len, n + 1);
	return n + (n < len && text[n] == 'Z' && memchr(text, ':', n));
}

bool shape_counts_on(const struct line *before, const struct line *line)
{
	const char *a = before->front, *b = line->front;
	size_t a_len = before->front_len, b_len = line->front_len, i = 0, k = 0;
	bool counted = false, words = false;
	if (!line_is_whole(before) || !line_is_whole(line))
		return false;
	while (i < a_len && k < b_len) {
		words |= is_letter(a[i]);
		if (!is_digit(a[i]) || !is_digit(b[k])) {
			if (a[i++] != b[k++])
				return false;
			continue;
		}
		size_t n = number_len(a + i, a_len - i), m = number_len(b + k, b_len - k);
		size_t end = k + m;
		if ((n != m || memcmp(a + i, b + k, n) != 0) &&
		    !(memchr(a + i, ':', n) && memchr(b + k, ':', m))) {
			/* No time: the first counter, which stands for itself and is no part of a
			   name as in "part_3.log". */
			bool is_part =
				(k > 0 && is_of_name(b[k - 1])) ||
				(end + 1 < b_len && is_of_name(b[end]) && is_of_name(b[end + 1]) &&
				 !(b[end] == '/' && is_digit(b[end + 1])));
			bool is_greater = m > n || (m == n && memcmp(b + k, a + i, n) > 0);
			if (counted || is_part || !is_greater)
				return false;
			counted = true;
		}
		i += n;
		k = end;
	}
	return words && i == a_len && k == b_len;
}

/* Whether a word takes back what the others say, as in "✓ adds (1 failed)", "checking for x... no",
   "ok 3 # TODO". */
static bool takes_back(const char *text, size_t len)
{
	static const char words[] = " # FAIL FAILED failed ERROR no No NO not Not NOT none skipped "
				    "Skipped SKIPPED skipping Skipping SKIP pending retrying ";
	for (size_t at = 0, end; at < len; at = end + 1) {
		for (end = at; end < len && !is_blank(text[end]) && !is_one_of(text[end], "(),:");)
			end++;
		/* "3 of 4 passed" */
		bool counts = at > 1 && end + 1 < len && is_digit(text[at - 2]) &&
			      is_digit(text[end + 1]) && starts_with(text + at, end - at, "of");
		if (counts || word_is_of(words, text + at, end - at))
			return true;
	}
	return false;
}

bool shape_is_progress(const struct line *line, const struct score *score)
{
	/* Behind what a tool begins with when it goes on. */
	static const char goes_on[] =
		" Get Hit Fetched Downloaded Requirement Task Start RUN PASS"
		" CC CXX CCLD LD AR GEN cc gcc clang"
		" Adding Applying Building Bundling Checking Collecting Compiling Configuring"
		" Copying Creating Detecting Determining Downloading Emitting Extracting Fetching"
		" Generating Getting Installing Linking Loading Looking Packing Performing"
		" Preparing Processing Pulling Reading Removing Resolving Running Scanning"
		" Selecting Setting Transforming Unpacking Updating Using Writing"
		" adding building checking compiling copying creating extracting generating"
		" inflating installing linking processing reading removing running updating"
		" writing ";
	const char *text = line->front;
	size_t len = line->front_len - line->ended, at = 0;
	bool plain = score->kind == SCORE_PLAIN && !score->alarms && score->score < SCORE_TELLING;
	bool share = false;
	if ((!plain && score->kind != SCORE_PASS) || takes_back(text, len))
		return false;
	if (!plain || ends_with(text, len, " 0 errors") || ends_with(text, len, " no errors") ||
	    ends_with(text, len, " 0 failures"))
		return true;
	/* Behind a level or a share: "[INFO] ", "[ 3/10] ", "-- ". */
	while (at < len && !is_letter(text[at])) {
		bool level = text[at] == '[' && at + 1 < len && is_letter(text[at + 1]);
		const char *end = level ? memchr(text + at, ']', len - at) : NULL;
		share |= at > 0 && text[at] == ']' && is_one_of(text[at - 1], "0123456789%");
		at = end ? (size_t)(end - text) + 1 : at + 1;
	}
	size_t end = at;
	while (end < len && is_letter(text[end]))
		end++;
	return (end == len || is_blank(text[end]) || is_one_of(text[end], ":+")) &&
	       (share || word_is_of(goes_on, text + at, end - at));
}

static unsigned slot(uint32_t shape, int row)
{
	static const uint32_t factors[] = {2654435769u, 2246822519u};
	return (shape * factors[row]) >> (32 - SKETCH_BITS);
}

unsigned sketch_count(const struct sketch *s, uint32_t shape)
{
	unsigned a = s->rows[0][slot(shape, 0)];
	unsigned b = s->rows[1][slot(shape, 1)];
	return a < b ? a : b;
}

unsigned sketch_add(struct sketch *s, uint32_t shape)
{
	unsigned least = sketch_count(s, shape);
	if (least == UINT16_MAX)
		return least;
	/* Only the lower one grows: the other has collided. */
	for (int row = 0; row < 2; row++) {
		uint16_t *count = &s->rows[row][slot(shape, row)];
		if (*count == least)
			(*count)++;
	}
	return least + 1;
}
