// Walking through texts of many blocks: every way of going through them tells the same
// lines, with their numbers, as the text itself.

#include "lib/buffer.h"
#include "supervisor/reading/walk.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>

/* A text and which of its lines have a "w" in them, as 1-based numbers. */
struct sample {
	struct buffer text;
	struct buffer starts; /* size_t each: of every line, and the end */
	struct buffer wanted; /* bool each */
	uint64_t lines;
};

static void add_line(struct sample *s, size_t len, bool wanted)
{
	size_t start = s->text.len;
	buffer_append(&s->starts, &start, sizeof(start));
	buffer_append(&s->wanted, &wanted, sizeof(wanted));
	assert_int_equal(buffer_reserve(&s->text, len + 1), 0);
	memset(s->text.data + start, 'a', len);
	if (wanted)
		s->text.data[start + random_below((uint32_t)len)] = 'w';
	s->text.data[start + len] = '\n';
	s->text.len += len + 1;
	s->lines++;
}

/* `length`: of most lines; a few are much longer. */
static void make_sample(struct sample *s, size_t size, uint32_t length, uint32_t one_in)
{
	*s = (struct sample){.lines = 0};
	while (s->text.len < size) {
		bool wanted = random_below(one_in) == 0;
		size_t len = random_below(200) == 0 && length > 10 ? random_below(300000)
								   : random_below(length);
		add_line(s, len + wanted, wanted);
	}
	/* The last one may have no newline; an empty one would be none then. */
	add_line(s, 5, random_below(2));
	s->text.len -= random_below(2);
	buffer_append(&s->starts, &s->text.len, sizeof(s->text.len));
}

static void release_sample(struct sample *s)
{
	buffer_release(&s->text);
	buffer_release(&s->starts);
	buffer_release(&s->wanted);
}

static size_t start_of(const struct sample *s, uint64_t number)
{
	size_t start;
	memcpy(&start, s->starts.data + (number - 1) * sizeof(start), sizeof(start));
	return start;
}

static bool is_wanted(const struct sample *s, uint64_t number, bool invert)
{
	return s->wanted.data[number - 1] != invert;
}

static void check_line(const struct sample *s, const struct walk_line *line, bool invert)
{
	assert_true(line->number >= 1 && line->number <= s->lines);
	size_t start = start_of(s, line->number), len = start_of(s, line->number + 1) - start;
	if (len > 0 && s->text.data[start + len - 1] == '\n')
		len--;
	assert_int_equal(line->len, len);
	assert_memory_equal(line->data, s->text.data + start, len);
	assert_int_equal(line->wanted, is_wanted(s, line->number, invert));
	assert_false(line->more_before || line->more_behind);
}

/* Lines behind the begin of a block that all have their context checked. */
#define FRESH_LINES 64

/* Lines before the one that came last. */
static void check_before(const struct sample *s, struct walk *w, uint64_t number, uint64_t max,
			 uint64_t from)
{
	struct walk_line line;
	uint64_t have = walk_before_count(w, max);
	assert_true(have <= max && have < number);
	/* Short ones are there. */
	for (uint64_t back = 1; back <= max && number - back >= from && number > back; back++) {
		if (start_of(s, number) - start_of(s, number - back) < 100000)
			assert_true(have >= back);
	}
	for (uint64_t back = 1; back <= have; back++) {
		walk_before(w, back, &line);
		assert_int_equal(line.number, number - back);
		size_t start = start_of(s, line.number);
		assert_int_equal(line.len, start_of(s, line.number + 1) - start - 1);
		assert_memory_equal(line.data, s->text.data + start, line.len);
	}
}

struct walked {
	struct text text;
	struct matcher *matcher;
	struct walk *walk;
	uint64_t long_line;
};

static void begin(struct walked *w, int fd, const char *pattern, struct walk_options how)
{
	const struct matcher_options options = {.ignore_case = false};
	struct matcher_error error;
	char path[64];
	w->long_line = 0;
	how.long_line = &w->long_line;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(text_open_file(&w->text, path), 0);
	w->matcher = matcher_new(pattern, &options, &error);
	assert_non_null(w->matcher);
	w->walk = walk_new(&w->text, w->matcher, &how);
	assert_non_null(w->walk);
}

/* The rest has so many wanted lines; the last line of the text is `last`. */
static void finish(struct walked *w, uint64_t wanted, uint64_t last)
{
	struct walk_line line;
	enum walk_kind kind;
	while ((kind = walk_next(w->walk, &line)) == WALK_LINE && wanted-- > 0)
		;
	assert_int_equal(kind, WALK_END);
	assert_int_equal(wanted, 0);
	assert_int_equal(line.number, last + 1);
	assert_int_equal(walk_step(w->walk, &line), WALK_END);
	assert_int_equal(w->long_line, 0);
	walk_free(w->walk);
	matcher_free(w->matcher);
	text_close(&w->text);
}

static void check(const struct sample *s, int fd, const char *pattern, bool invert, uint64_t from)
{
	const struct walk_options how = {
		.invert = invert, .context = random_below(5), .from = from};
	struct walked walked;
	begin(&walked, fd, pattern, how);
	struct walk *w = walked.walk;
	struct walk_line line;
	enum walk_kind kind;
	uint64_t number = from, stop = from + random_below((uint32_t)s->lines), rest = 0,
		 fresh = from;
	const char *last = NULL;
	/* Now one way, now the other. */
	while (number <= stop) {
		bool step = random_below(3) == 0;
		kind = step ? walk_step(w, &line) : walk_next(w, &line);
		if (!step) {
			while (number <= s->lines && !is_wanted(s, number, invert))
				number++;
		}
		if (number > s->lines) {
			assert_int_equal(kind, WALK_END);
			break;
		}
		assert_int_equal(kind, WALK_LINE);
		assert_int_equal(line.number, number);
		check_line(s, &line, invert);
		/* Context can be lost where a new block begins, which puts lines at lower
		   addresses. A sample of the other lines is enough. */
		if (line.data < last)
			fresh = number;
		last = line.data;
		if (number < fresh + FRESH_LINES || random_below(64) == 0)
			check_before(s, w, number, how.context, from);
		number++;
	}
	for (; number <= s->lines; number++)
		rest += is_wanted(s, number, invert);
	finish(&walked, rest, s->lines);
}

TEST(test_same_lines)
{
	static const uint32_t lengths[] = {1, 3, 60, 2000};
	/* By a string, by blocks, line by line. */
	static const char *const patterns[] = {"w", "[v-z]", "[^a\\x0d]"};
	/* With a sanitizer each fifth: they come to all lengths. */
	for (int round = 0; round < 48; round += RANDOM_STEP == 1 ? 1 : 5) {
		struct sample s;
		make_sample(&s, 200000 + random_below(600000), lengths[round % 4],
			    round % 3 ? 1 + random_below(100) : 1 + random_below(3));
		int fd = memfd_create("text", MFD_CLOEXEC);
		assert_int_equal(write(fd, s.text.data, s.text.len), s.text.len);
		for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
			check(&s, fd, patterns[i], false, 1);
			check(&s, fd, patterns[i], true, 1);
			check(&s, fd, patterns[i], random_below(2),
			      1 + random_below((uint32_t)s.lines));
		}
		check(&s, fd, "w", false, s.lines);
		close(fd);
		release_sample(&s);
	}
}

TEST(test_counts)
{
	static const struct {
		const char *text;
		uint64_t wanted, lines;
	} cases[] = {
		{"", 0, 0},    {"\n", 0, 1},    {"w", 1, 1},    {"w\n", 1, 1},
		{"\nw", 1, 2}, {"w\n\n", 1, 2}, {"a\nb", 0, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int invert = 0; invert < 2; invert++) {
			size_t len = strlen(cases[i].text);
			struct walked w;
			int fd = memfd_create("text", MFD_CLOEXEC);
			assert_int_equal(write(fd, cases[i].text, len), len);
			begin(&w, fd, "w", (struct walk_options){.invert = invert, .from = 1});
			finish(&w, invert ? cases[i].lines - cases[i].wanted : cases[i].wanted,
			       cases[i].lines);
			close(fd);
		}
	}
}

TEST_MAIN(NULL, NULL)
