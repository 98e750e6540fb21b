// The disk cap: what stays, what is said about the rest, and that reading agrees.

#include "lib/buffer.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/text.h"
#include "tests/unit/kept.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <sys/syscall.h>

/* How many holes can be made before the file system says no; -1: any number. */
static int punches_left = -1;
static int punch_error;
static int punches;

int fallocate(int fd, int mode, off_t offset, off_t len)
{
	if (punches_left == 0) {
		errno = punch_error;
		return -1;
	}
	punches++;
	punches_left -= punches_left > 0;
	return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

static int setup(void **state)
{
	punches_left = -1;
	punches = 0;
	return home_setup(state);
}

static char *command[] = {(char *)"make", NULL};
static struct meta meta;
static int dir;

static struct artifact *create(uint64_t max_bytes)
{
	meta = (struct meta){.argv = command,
			     .cwd = "/",
			     .session = "x",
			     .started_ms = 1760000000000,
			     .exit_code = -1};
	struct artifact *a = artifact_create(&meta, max_bytes, 0);
	assert_non_null(a);
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	dir = store_open_session(&s, "x", false);
	store_close(&s);
	return a;
}

static void finish(struct artifact *a)
{
	artifact_close(a);
	close(dir);
}

/* The whole text, and where its lines start. */
struct whole {
	struct buffer text;
	uint64_t *starts;
	size_t lines, cap;
};

static void note_line(struct whole *w)
{
	if (w->lines == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 1024;
		w->starts = realloc(w->starts, w->cap * sizeof(*w->starts));
		assert_non_null(w->starts);
	}
	w->starts[w->lines++] = w->text.len;
}

/* Lines of up to `longest` characters of `unit`, up to `size` bytes in all. */
static void make_whole(struct whole *w, size_t size, size_t longest, const char *unit)
{
	*w = (struct whole){.text = BUFFER_INIT};
	while (w->text.len < size) {
		note_line(w);
		buffer_printf(&w->text, "%zu:", w->lines);
		for (size_t n = (size_t)random_below(longest); n > 0; n--)
			buffer_append_string(&w->text, unit);
		buffer_append(&w->text, "\n", 1);
	}
}

static void release_whole(struct whole *w)
{
	buffer_release(&w->text);
	free(w->starts);
}

/* The number of the line that the byte at `offset` is in. */
static uint64_t line_at(const struct whole *w, uint64_t offset)
{
	size_t low = 0, high = w->lines;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		if (w->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low + 1;
}

static void check_gap(const struct whole *w, uint64_t at, uint64_t size,
		      const struct text_piece *gap)
{
	const char *data = w->text.data;
	uint64_t end = at + gap->gap.bytes;
	assert_true(gap->gap.bytes > 0 && end <= size);
	assert_int_equal(gap->gap.from, line_at(w, at));
	assert_true(at == w->text.len || (data[at] & 0xC0) != 0x80);
	assert_true(end == w->text.len || (data[end] & 0xC0) != 0x80);
	assert_int_equal(gap->gap.to, line_at(w, end - 1));
	assert_int_equal(gap->goes_on, data[end - 1] != '\n' && end < size);
}

struct seen {
	uint64_t kept, gap_bytes, gap_at;
	uint64_t from, to;
};

/* An open line is believed at once if it has stood for long. */
static void age(void)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
	char name[ID_LEN + 5];
	snprintf(name, sizeof(name), "%s.txt", meta.id);
	assert_int_equal(utimensat(dir, name, times, 0), 0);
}

/* Reads what is on disk: it must be the first `size` bytes of the whole, with gaps announced. */
static struct seen check_text(const struct whole *w, uint64_t size)
{
	struct text t;
	struct text_piece piece;
	struct seen seen = {0};
	static char block[10000];
	uint64_t at = 0, lines;
	age();
	assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_OUT), 0);
	assert_int_equal(text_lines(&t, &lines), 0);
	if (size > 0)
		assert_int_equal(lines, line_at(w, size - 1));
	for (;;) {
		assert_int_equal(
			text_next(&t, block, 1 + (size_t)random_below(sizeof(block)), &piece), 0);
		if (piece.kind == TEXT_END)
			break;
		if (piece.kind == TEXT_GAP) {
			check_gap(w, at, size, &piece);
			seen.gap_at = at;
			seen.gap_bytes += piece.gap.bytes;
			seen.from = piece.gap.from;
			seen.to = piece.gap.to;
			at += piece.gap.bytes;
			continue;
		}
		assert_true(at + piece.len <= size);
		assert_memory_equal(block, w->text.data + at, piece.len);
		at += piece.len;
		seen.kept += piece.len;
	}
	assert_int_equal(at, size);
	text_close(&t);
	return seen;
}

/* Goes to random lines: each is found where it is, or in the gap. */
static void check_seeks(const struct whole *w, uint64_t size, const struct seen *seen)
{
	struct text t;
	struct text_piece piece;
	char block[64];
	assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_OUT), 0);
	uint64_t last = line_at(w, size - 1), lines;
	for (int i = 0; i < 200; i++) {
		uint64_t line = 1 + random_below(last + 1);
		if (i < 4 && seen->from)
			line = i < 2 ? seen->from + (uint64_t)i : seen->to + (uint64_t)i - 2;
		int result = text_seek(&t, line, &lines);
		if (line > last) {
			assert_int_equal(result, 1);
			assert_int_equal(lines, last);
			continue;
		}
		assert_int_equal(result, 0);
		assert_int_equal(text_next(&t, block, sizeof(block), &piece), 0);
		uint64_t start = w->starts[line - 1];
		if (start >= seen->gap_at && start < seen->gap_at + seen->gap_bytes) {
			assert_int_equal(piece.kind, TEXT_GAP);
			assert_int_equal(piece.gap.from, seen->from);
			assert_int_equal(piece.gap.to, seen->to);
		} else {
			assert_int_equal(piece.kind, TEXT_BYTES);
			assert_memory_equal(block, w->text.data + start, piece.len);
		}
	}
	text_close(&t);
}

static uint64_t allocated(const struct artifact *a)
{
	struct stat st;
	assert_int_equal(stat(kept_path(a), &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* Writes the whole in pieces, looking at all sides of it now and then. */
static struct seen write_whole(struct artifact *a, const struct whole *w, uint64_t max)
{
	struct seen seen = {0};
	size_t len = w->text.len;
	for (size_t at = 0; at < len;) {
		size_t n = 1 + (size_t)random_below(random_below(3) == 0 ? 100000 : 3000);
		if (n > len - at)
			n = len - at;
		assert_int_equal(artifact_append(a, ARTIFACT_OUT, w->text.data + at, n), 0);
		at += n;
		if (random_below(50) != 0 && at < len)
			continue;
		size_t live = (size_t)random_below(3000);
		if (live > len - at)
			live = len - at;
		assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, w->text.data + at, live), 0);
		seen = check_text(w, at + live);
		check_seeks(w, at + live, &seen);
		/* The live part and the partial blocks at the ends of the hole come on top. */
		assert_true(allocated(a) <= max + 3000 + 4 * 4096);
	}
	meta.state = META_DONE;
	meta.exit_code = 0;
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(meta.out.bytes, len);
	assert_int_equal(meta.out.lines, w->lines);
	seen = check_text(w, len);
	check_seeks(w, len, &seen);
	return seen;
}

TEST_IN(test_under_the_cap, setup, home_teardown)
{
	struct whole w;
	make_whole(&w, 60000, 80, "x");
	struct artifact *a = create(1 << 16);
	struct seen seen = write_whole(a, &w, 1 << 16);
	assert_int_equal(seen.gap_bytes, 0);
	assert_int_equal(punches, 0);
	finish(a);
	release_whole(&w);
}

/* 64 MB of cap and gigabytes of text, at a scale of 1 to 256. */
TEST_IN(test_rolling_tail, setup, home_teardown)
{
	static const size_t longest[] = {2, 80, 2000};
	for (size_t i = 0; i < sizeof(longest) / sizeof(*longest); i++) {
		struct whole w;
		uint64_t max = 256 * 1024;
		make_whole(&w, 8000000, longest[i], "x");
		struct artifact *a = create(max);
		struct seen seen = write_whole(a, &w, max);
		assert_true(seen.kept <= max);
		assert_true(seen.kept >= max * 7 / 8);
		/* Whole lines on both sides. */
		assert_int_equal(w.starts[seen.from - 1], seen.gap_at);
		assert_true(seen.gap_at > max / 2 - 3000);
		assert_int_equal(w.starts[seen.to], seen.gap_at + seen.gap_bytes);
		finish(a);
		release_whole(&w);
	}
}

TEST_IN(test_long_lines, setup, home_teardown)
{
	static const char *const units[] = {"x", "\xC3\xA9", "\xF0\x9F\x98\x80"};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		struct whole w;
		uint64_t max = 64 * 1024;
		make_whole(&w, 3000000, 60000 / (i + 1), units[i]);
		struct artifact *a = create(max);
		struct seen seen = write_whole(a, &w, max);
		assert_true(seen.kept <= max);
		assert_true(seen.kept >= max / 2);
		finish(a);
		release_whole(&w);
	}
}

TEST_IN(test_one_line, setup, home_teardown)
{
	struct whole w = {.text = BUFFER_INIT};
	note_line(&w);
	for (int i = 0; i < 400000; i++)
		buffer_append_string(&w.text, "\xE2\x82\xAC");
	uint64_t max = 64 * 1024;
	struct artifact *a = create(max);
	struct seen seen = write_whole(a, &w, max);
	assert_int_equal(seen.from, 1);
	assert_int_equal(seen.to, 1);
	assert_true(seen.kept >= max * 3 / 4);
	finish(a);
	release_whole(&w);
}

TEST_IN(test_smallest_cap, setup, home_teardown)
{
	static const size_t longest[] = {3, 100, 10000};
	for (size_t i = 0; i < sizeof(longest) / sizeof(*longest); i++) {
		struct whole w;
		make_whole(&w, 300000, longest[i], "x");
		struct artifact *a = create(1);
		struct seen seen = write_whole(a, &w, 4096);
		assert_true(seen.kept <= 4096);
		finish(a);
		release_whole(&w);
	}
}

static char *read_file(const struct artifact *a, size_t *len)
{
	struct stat st;
	assert_int_equal(stat(kept_path(a), &st), 0);
	char *data = malloc((size_t)st.st_size + 1);
	int fd = open(kept_path(a), O_RDONLY);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*len = (size_t)st.st_size;
	data[*len] = '\0';
	return data;
}

/* A reader of the file without terse sees a line about the gap, and whole lines behind it. */
TEST_IN(test_gap_in_the_file, setup, home_teardown)
{
	struct whole w;
	make_whole(&w, 1000000, 80, "x");
	struct artifact *a = create(64 * 1024);
	struct seen seen = write_whole(a, &w, 64 * 1024);
	size_t len;
	char *data = read_file(a, &len);
	assert_int_equal(len, w.text.len);
	const char *line = data + seen.gap_at;
	assert_int_equal(line[-1], '\n');
	char expected[64];
	snprintf(expected, sizeof(expected), "[... lines %d,%03d-", (int)seen.from / 1000,
		 (int)seen.from % 1000);
	assert_memory_equal(line, seen.from < 1000 ? "[... lines " : expected, 11);
	const char *end = strchr(line, '\n');
	assert_non_null(end);
	assert_non_null(strstr(line, "disk cap ([spill] max_artifact)]\n"));
	/* Then nothing but NULs up to the newline before the tail. */
	for (const char *at = end + 1; at < data + seen.gap_at + seen.gap_bytes - 1; at++)
		assert_int_equal(*at, '\0');
	assert_int_equal(data[seen.gap_at + seen.gap_bytes - 1], '\n');
	free(data);
	finish(a);
	release_whole(&w);
}

/* The file system makes no holes, or only for a while: reported as a failed write, with the lost
   bytes. */
TEST_IN(test_holes_end, setup, home_teardown)
{
	static const struct {
		int punches, error, want;
		size_t longest;
	} cases[] = {{0, EOPNOTSUPP, EFBIG, 80}, {0, EOPNOTSUPP, EFBIG, 50000}, {5, EIO, EIO, 80}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct whole w;
		make_whole(&w, 1000000, cases[i].longest, "x");
		punches_left = cases[i].punches;
		punch_error = cases[i].error;
		struct artifact *a = create(64 * 1024);
		int result = 0;
		for (size_t at = 0; at < w.text.len; at += 1000) {
			size_t n = w.text.len - at < 1000 ? w.text.len - at : 1000;
			result = artifact_append(a, ARTIFACT_OUT, w.text.data + at, n);
		}
		assert_int_equal(result, -1);
		assert_int_equal(artifact_error(a), cases[i].want);
		meta.state = META_DONE;
		meta.exit_code = 0;
		assert_int_equal(artifact_update(a), 0);
		assert_true(allocated(a) <= 64 * 1024 + 4096);
		struct text t;
		struct text_piece piece;
		static char block[65536];
		uint64_t at = 0;
		int gaps = 0, want = cases[i].punches ? 2 : 1;
		assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_OUT), 0);
		while (text_next(&t, block, sizeof(block), &piece) == 0 && piece.kind != TEXT_END) {
			if (piece.kind == TEXT_GAP) {
				gaps++;
				check_gap(&w, at, w.text.len, &piece);
				assert_int_equal(piece.gap.error, gaps == want ? cases[i].want : 0);
				at += piece.gap.bytes;
				continue;
			}
			assert_memory_equal(block, w.text.data + at, piece.len);
			at += piece.len;
		}
		assert_int_equal(at, w.text.len);
		assert_int_equal(gaps, want);
		text_close(&t);
		finish(a);
		release_whole(&w);
	}
}

TEST_IN(test_raw_keeps_its_head, setup, home_teardown)
{
	struct whole w;
	make_whole(&w, 500000, 80, "x");
	struct artifact *a = create(100000);
	for (size_t at = 0; at < w.text.len; at += 1000) {
		size_t n = w.text.len - at < 1000 ? w.text.len - at : 1000;
		assert_int_equal(artifact_append(a, ARTIFACT_RAW, w.text.data + at, n), 0);
	}
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(meta.raw_bytes, w.text.len);
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s", kept_path(a));
	snprintf(path + strlen(path) - 4, 5, ".raw");
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= 100000 && st.st_size >= 90000);
	char *data = malloc((size_t)st.st_size);
	int fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	assert_memory_equal(data, w.text.data, (size_t)st.st_size);
	close(fd);
	free(data);
	finish(a);
	release_whole(&w);
}

/* A reader that is in the middle of what the cap then releases. */
TEST_IN(test_gap_moves_under_a_reader, setup, home_teardown)
{
	struct whole w;
	make_whole(&w, 1000000, 80, "x");
	struct artifact *a = create(64 * 1024);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, w.text.data, 60000), 0);
	artifact_update(a);
	struct text t, late, seeking;
	uint64_t lines;
	assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_OUT), 0);
	assert_int_equal(text_open(&seeking, dir, meta.id, ARTIFACT_OUT), 0);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, w.text.data + 60000, 500000), 0);
	artifact_update(a);
	assert_int_equal(text_open(&late, dir, meta.id, ARTIFACT_OUT), 0);
	assert_true(late.gap.end > late.gap.begin);
	assert_int_equal(
		artifact_append(a, ARTIFACT_OUT, w.text.data + 560000, w.text.len - 560000), 0);
	artifact_update(a);
	/* A line that was there when the text was opened. */
	uint64_t line = line_at(&w, 50000);
	struct text_piece gap;
	char byte;
	assert_int_equal(text_seek(&seeking, line, &lines), 0);
	assert_int_equal(text_next(&seeking, &byte, 1, &gap), 0);
	assert_int_equal(gap.kind, TEXT_GAP);
	assert_true(gap.gap.from <= line && gap.gap.to >= line);
	text_close(&seeking);
	struct text *const readers[] = {&t, &late};
	for (size_t i = 0; i < 2; i++) {
		static char block[4096];
		struct text_piece piece;
		uint64_t at = 0;
		int gaps = 0;
		while (text_next(readers[i], block, sizeof(block), &piece) == 0 &&
		       piece.kind != TEXT_END) {
			if (piece.kind == TEXT_BYTES) {
				assert_memory_equal(block, w.text.data + at, piece.len);
				at += piece.len;
			} else {
				assert_int_equal(piece.gap.to,
						 line_at(&w, at + piece.gap.bytes - 1));
				at += piece.gap.bytes;
				gaps++;
			}
		}
		assert_int_equal(gaps, 1);
		text_close(readers[i]);
	}
	finish(a);
	release_whole(&w);
}

TEST_MAIN(NULL, NULL)
