// The choice of what is printed: properties that hold for any text, and cases.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/preview/internal.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <inttypes.h>

/* A marker as the program prints it, or a short one for small budgets. */
static size_t marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	const char *id = ctx;
	char lines[HUMAN_LEN], bytes[HUMAN_LEN];
	uint64_t count = piece->to - piece->from + 1;
	int n;
	human_number(lines, count, true);
	human_size(bytes, piece->bytes);
	if (piece->kind == PREVIEW_ALIKE)
		n = snprintf(out, cap, "[~ %" PRIu64 " %s%.*s]\n", count, piece->spelled ? id : "",
			     (int)piece->len, piece->text);
	else if (!*id)
		n = snprintf(out, cap, "[%c %" PRIu64 "]\n",
			     piece->kind == PREVIEW_FOLD ? '=' : '-', count);
	else if (piece->kind == PREVIEW_FOLD)
		n = snprintf(out, cap, "[... the line above %s more times]\n", lines);
	else
		n = snprintf(out, cap,
			     piece->spelled ? "[... lines %" PRIu64 "-%" PRIu64
					      ", %s: terse read %s --lines %" PRIu64 "-%" PRIu64
					      "]\n"
					    : "[... lines %" PRIu64 "-%" PRIu64 ", %s]\n",
			     piece->from, piece->to, bytes, id, piece->from, piece->to);
	return (size_t)n;
}

static const enum mode modes[] = {MODE_SMART, MODE_TAIL, MODE_ENDS};

static uint64_t random_state;

static uint32_t rnd(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

/* A text of lines of all kinds; `clean` keeps it printable UTF-8. */
static void random_text(struct buffer *b, bool clean)
{
	static const char *const words[] = {
		"ok",
		"Compiling",
		"error: nothing",
		"  at x (y.js:3:4)",
		"\t",
		"ünïcødé",
		"日本語",
		"🙂",
		"FAIL",
		"Traceback (most recent",
		"a/b/c.o",
		"0x7f3c",
		"warning:",
		"[terse: exit 0]",
		"[... ",
	};
	uint32_t lines = rnd(10) ? rnd(80) : rnd(3000);
	size_t start = 0;
	for (uint32_t i = 0; i < lines; i++) {
		uint32_t kind = rnd(20);
		if (kind == 7) {
			/* Lines that differ in numbers and paths only. */
			for (uint32_t k = rnd(30), m = rnd(500); k > 0; k--)
				buffer_printf(b, "%serror %u of ünï in /a/%u%s\n",
					      m % 5 ? "" : "  ", m + k, k * m,
					      m % 7 ? "" : " again and again");
			start = b->len;
			continue;
		}
		if (kind < 4 && b->len > start) {
			/* The line before, again and again. */
			for (uint32_t k = rnd(6); k > 0; k--) {
				size_t len = b->len - start;
				assert_int_equal(buffer_reserve(b, len), 0);
				memcpy(b->data + b->len, b->data + start, len);
				start = b->len;
				b->len += len;
			}
			continue;
		}
		start = b->len;
		if (kind == 4) {
			uint32_t n = rnd(10) ? rnd(400) : rnd(4000);
			while (n-- > 0)
				buffer_append_string(b, rnd(9) ? "x" : rnd(50) ? "é" : " error: é");
		} else if (kind == 5 && !clean) {
			for (uint32_t n = rnd(60); n > 0; n--) {
				char c = (char)rnd(256);
				buffer_append(b, &c, 1);
			}
		} else if (kind > 6) {
			for (uint32_t n = rnd(9); n > 0; n--) {
				const char *word = words[rnd(sizeof(words) / sizeof(*words))];
				buffer_printf(b, "%s %u ", word, rnd(300));
			}
		}
		if (i + 1 < lines || rnd(2))
			buffer_append_string(b, "\n");
	}
}

static void feed(struct preview *p, const struct buffer *text)
{
	/* Tiny pieces of a long text take long and show nothing more. */
	bool tiny = rnd(3) == 0 && text->len <= 20000;
	uint32_t most = tiny ? 1 + rnd(7) : 1 + rnd(5000);
	for (size_t at = 0; at < text->len;) {
		size_t n = 1 + rnd(most);
		if (n > text->len - at)
			n = text->len - at;
		preview_feed(p, text->data + at, n);
		at += n;
	}
}

/* Lines of a text: their starts, and one behind the last. */
struct lines {
	size_t *start;
	size_t count;
};

static struct lines split(const struct buffer *text)
{
	struct lines l = {.start = malloc((text->len + 2) * sizeof(size_t))};
	assert_non_null(l.start);
	l.start[0] = 0;
	for (size_t i = 0; i < text->len; i++) {
		if (text->data[i] == '\n' || i + 1 == text->len)
			l.start[++l.count] = i + 1;
	}
	return l;
}

/* The command that prints bytes, as the first omission names it. */
#define COMMAND "terse read cmd-1m5zq8k3x7f01 --bytes "

/* Checks that `shown` is the line at `offset`, whole or cut with true notes, or bare a part of
   it. */
static void check_line(const char *line, size_t len, size_t offset, const char *shown,
		       size_t shown_len, size_t max_line, bool bare)
{
	static const char command[] = ": " COMMAND;
	static const char open[] = "[... byte";
	size_t at = 0, from = 0;
	if (shown_len == len && memcmp(line, shown, len) == 0)
		return;
	const char *told = memmem(shown, shown_len, COMMAND, strlen(COMMAND));
	assert_true(shown_len <= max_line + (told ? strlen(command) + 24 : 0));
	assert_int_equal(shown[shown_len - 1] == '\n', line[len - 1] == '\n');
	if (bare) {
		shown_len -= shown[shown_len - 1] == '\n';
		assert_non_null(memmem(line, len, shown, shown_len));
		return;
	}
	while (from < shown_len) {
		const char *note = memmem(shown + from, shown_len - from, open, strlen(open));
		size_t part = note ? (size_t)(note - shown) - from : shown_len - from;
		size_t first, last;
		char *end;
		assert_true(at + part <= len);
		assert_memory_equal(line + at, shown + from, part);
		at += part;
		from += part;
		if (!note)
			break;
		bool many = note[strlen(open)] == 's';
		first = last = strtoul(note + strlen(open) + many, &end, 10);
		assert_int_equal(*end == '-', many);
		if (many)
			last = strtoul(end + 1, &end, 10);
		if (strncmp(end, command, strlen(command)) == 0) {
			const char *range = note + strlen(open) + many + 1;
			size_t range_len = (size_t)(end - range);
			end += strlen(command);
			assert_memory_equal(end, range, range_len);
			end += range_len;
		}
		assert_int_equal(*end, ']');
		from = (size_t)(end - shown) + 1;
		assert_int_equal(first, offset + at);
		assert_true(last > first || !many);
		at = last + 1 - offset;
	}
	assert_int_equal(at, len);
}

/* Prints the pieces as the program would. */
static void render(struct buffer *out, bool bare, const struct preview_ask *ask,
		   const struct preview_piece *pieces, int count)
{
	char mark[512];
	for (int i = 0; i < count; i++) {
		const struct preview_piece *piece = &pieces[i];
		uint64_t number = piece->from;
		if (piece->kind != PREVIEW_TEXT && bare)
			continue;
		if (piece->kind != PREVIEW_TEXT) {
			size_t len = ask->marker(ask->ctx, piece, mark, sizeof(mark));
			buffer_append(out, mark, len);
			continue;
		}
		for (size_t at = 0; at < piece->len; number++) {
			const char *newline = memchr(piece->text + at, '\n', piece->len - at);
			size_t end = newline ? (size_t)(newline - piece->text) + 1 : piece->len;
			utf8_clean(out, piece->text + at, end - at);
			at = end;
		}
		assert_int_equal(number, piece->to + 1);
	}
}

static uint32_t shape_at(const struct buffer *text, const struct lines *lines, uint64_t number)
{
	struct preview_judge *judge = preview_judge_new();
	struct score score;
	size_t start = lines->start[number - 1], end = lines->start[number];
	struct line line = {.front = text->data + start, .front_len = end - start};
	line.ended = text->data[end - 1] == '\n';
	line.length = line.front_len;
	score_judge(judge, &line, &score);
	free(judge);
	return score.shape;
}

/* The last of lines that are alike is given without its newline. */
static void check_last(const char *line, size_t len, size_t offset,
		       const struct preview_piece *piece)
{
	struct buffer shown = BUFFER_INIT;
	assert_null(memchr(piece->text, '\n', piece->len));
	buffer_append(&shown, piece->text, piece->len);
	if (line[len - 1] == '\n')
		buffer_append(&shown, "\n", 1);
	check_line(line, len, offset, buffer_string(&shown), shown.len, 200, false);
	buffer_release(&shown);
}

/* A marker costs less than what it stands for, if that is at hand. */
static void check_gap(const struct buffer *text, const struct lines *lines,
		      const struct preview_options *options, const struct preview_ask *ask,
		      const struct preview_piece *piece)
{
	struct preview_piece unspelled = *piece;
	char mark[512];
	size_t cost = 0;
	if (options->bare || options->limit.count || text->len > 2 * options->limit.bytes)
		return;
	unspelled.spelled = false;
	for (uint64_t n = piece->from; n <= piece->to; n++) {
		const char *line = text->data + lines->start[n - 1];
		size_t len = lines->start[n] - lines->start[n - 1];
		/* It may be too short to be cut. */
		if (len > options->limit.max_line)
			return;
		cost += guard_text(NULL, line, len,
				   options->limit.own_words ? GUARD_NONE : GUARD_LINE);
	}
	assert_true(cost > ask->marker(ask->ctx, &unspelled, mark, sizeof(mark)));
}

/* The first omission, and no other one, has the command. */
static void check_spelled(const struct buffer *out, const struct preview_ask *ask,
			  const struct preview_piece *pieces, int count, bool bare)
{
	int omissions = 0, spelled = 0;
	const char *end = out->data + out->len;
	for (int i = 0; i < count; i++) {
		bool lines = pieces[i].kind == PREVIEW_GAP || pieces[i].kind == PREVIEW_ALIKE;
		omissions += lines || (ask->command && !bare && pieces[i].cut);
		spelled += pieces[i].spelled;
		assert_true(!pieces[i].spelled || lines);
	}
	for (const char *at = out->data; out->len > 0; at += strlen(COMMAND), spelled++) {
		at = memmem(at, (size_t)(end - at), COMMAND, strlen(COMMAND));
		if (!at)
			break;
	}
	assert_int_equal(spelled, omissions > 0);
}

static void check_pieces(const struct buffer *text, const struct preview_options *options,
			 const struct preview_ask *ask, const struct preview_piece *pieces,
			 int count, bool clean)
{
	struct lines lines = split(text);
	struct buffer out = BUFFER_INIT;
	uint64_t next = ask->printed_lines + 1;
	for (int i = 0; i < count; i++) {
		const struct preview_piece *piece = &pieces[i];
		const char *shown = piece->text;
		assert_int_equal(piece->from, next);
		assert_true(piece->to >= piece->from && piece->to <= lines.count);
		next = piece->to + 1;
		assert_int_equal(piece->bytes,
				 lines.start[piece->to] - lines.start[piece->from - 1]);
		if (piece->kind == PREVIEW_GAP)
			check_gap(text, &lines, options, ask, piece);
		if (piece->kind == PREVIEW_FOLD) {
			assert_true(i > 0 && pieces[i - 1].kind == PREVIEW_TEXT);
			for (uint64_t n = piece->from; n <= piece->to; n++)
				assert_memory_equal(text->data + lines.start[n - 1],
						    text->data + lines.start[piece->from - 2],
						    lines.start[n] - lines.start[n - 1]);
		}
		if (piece->kind == PREVIEW_ALIKE) {
			assert_true(i > 0 && pieces[i - 1].kind == PREVIEW_TEXT);
			for (uint64_t n = piece->from; n <= piece->to; n++)
				assert_int_equal(shape_at(text, &lines, n),
						 shape_at(text, &lines, piece->from - 1));
			check_last(text->data + lines.start[piece->to - 1],
				   lines.start[piece->to] - lines.start[piece->to - 1],
				   lines.start[piece->to - 1] + ask->bytes_before, piece);
		}
		if (piece->kind != PREVIEW_TEXT)
			continue;
		if (clean)
			assert_true(utf8_all_clean(piece->text, piece->len));
		uint64_t whole = 0;
		for (uint64_t n = piece->from; n <= piece->to; n++) {
			size_t left = piece->len - (size_t)(shown - piece->text);
			const char *newline = memchr(shown, '\n', left);
			size_t len = newline ? (size_t)(newline - shown) + 1 : left;
			check_line(text->data + lines.start[n - 1],
				   lines.start[n] - lines.start[n - 1],
				   lines.start[n - 1] + ask->bytes_before, shown, len,
				   options->limit.grow ? options->limit.bytes
						       : options->limit.max_line,
				   options->bare);
			whole += len == lines.start[n] - lines.start[n - 1];
			shown += len;
		}
		assert_int_equal(shown - piece->text, piece->len);
		/* A cut line can be as long as it was: its note took the place of what it says. */
		assert_true(piece->cut <= piece->to - piece->from + 1 &&
			    piece->cut >= piece->cut_last);
		if (options->bare)
			assert_int_equal(piece->cut, piece->to - piece->from + 1 - whole);
	}
	assert_int_equal(next, lines.count + 1);
	render(&out, options->bare, ask, pieces, count);
	/* An omission is announced even where its marker alone is too long. */
	if (!(count == 1 && pieces[0].kind == PREVIEW_GAP))
		assert_true(out.len + ask->printed_bytes <= options->limit.bytes);
	check_spelled(&out, ask, pieces, count, options->bare);
	buffer_release(&out);
	free(lines.start);
}

/* The part that was printed live: whole lines up to the head's budget. */
static void print_live(struct preview_ask *ask, const struct buffer *text, size_t budget)
{
	struct lines lines = split(text);
	uint32_t wanted = rnd(1 + (uint32_t)lines.count);
	for (size_t i = 0; i < lines.count && i < wanted && lines.start[i + 1] <= budget; i++) {
		if (text->data[lines.start[i + 1] - 1] != '\n')
			break;
		ask->printed_lines = ask->used_lines = i + 1;
		ask->printed_bytes = ask->used = lines.start[i + 1];
	}
	free(lines.start);
}

TEST(test_properties)
{
	static char empty[] = "", id[] = "cmd-1m5zq8k3x7f01";
	for (uint32_t round = 0; round < 6000; round += RANDOM_STEP) {
		struct buffer text = BUFFER_INIT, first = BUFFER_INIT, second = BUFFER_INIT;
		const struct preview_piece *pieces;
		struct preview_options options;
		struct preview_ask ask = {.marker = marker};
		bool clean;
		random_state = random_start(round);
		clean = rnd(3);
		random_text(&text, clean);
		options = (struct preview_options){
			.limit.mode = modes[rnd(3)],
			.limit.fold = FOLD_OVERFLOW,
			.limit.bytes = rnd(2) ? 64 + rnd(400) : 64 + rnd(12000),
			.limit.head_share = rnd(101),
			.limit.end_share = rnd(101),
			.limit.max_line = rnd(2) ? 1 + rnd(300) : 2000,
			.limit.count = rnd(4) ? 0 : rnd(100),
			.bare = rnd(4) == 0,
			.limit.grow = rnd(2),
			.limit.own_words = rnd(2),
		};
		ask.bytes_before = rnd(2) ? 0 : rnd(100000);
		ask.command = rnd(2) ? COMMAND : NULL;
		ask.status = (int)rnd(3) - 1;
		ask.ctx = rnd(2) ? id : empty;
		for (int pass = 0; pass < 2; pass++) {
			struct preview *p = preview_new(&options);
			uint32_t keep;
			int count;
			assert_non_null(p);
			feed(p, &text);
			if (pass == 0 && rnd(2) && !options.limit.count)
				print_live(&ask, &text, preview_live_limit(p).bytes);
			keep = rnd(3);
			while (keep-- > 0)
				assert_true(preview_choose(p, &ask, &pieces) >= 0);
			count = preview_choose(p, &ask, &pieces);
			assert_true(count >= 0);
			check_pieces(&text, &options, &ask, pieces, count, clean);
			render(pass ? &second : &first, options.bare, &ask, pieces, count);
			preview_free(p);
		}
		assert_int_equal(first.len, second.len);
		if (first.len)
			assert_memory_equal(first.data, second.data, first.len);
		buffer_release(&text);
		buffer_release(&first);
		buffer_release(&second);
	}
}

/* Feeds `text` and compares what is printed. */
static void check_shown(const struct preview_options *options, uint64_t printed_lines,
			const char *text, const char *expected)
{
	static char empty[] = "";
	struct preview_ask ask = {.marker = marker, .ctx = empty, .status = 1};
	struct preview *p = preview_new(options);
	const struct preview_piece *pieces;
	struct buffer out = BUFFER_INIT;
	int count;
	assert_non_null(p);
	preview_feed(p, text, strlen(text));
	for (; ask.printed_lines < printed_lines; ask.printed_lines++)
		ask.printed_bytes = (uint64_t)(strchr(text + ask.printed_bytes, '\n') - text) + 1;
	ask.used = ask.printed_bytes;
	ask.used_lines = ask.printed_lines;
	count = preview_choose(p, &ask, &pieces);
	assert_true(count >= 0);
	render(&out, false, &ask, pieces, count);
	assert_string_equal(buffer_string(&out), expected);
	buffer_release(&out);
	preview_free(p);
}

/* The lines 1 to n. */
static const char *sequence(struct buffer *b, int n)
{
	for (int i = 1; i <= n; i++)
		buffer_printf(b, "%d\n", i);
	return buffer_string(b);
}

TEST(test_modes)
{
	struct buffer text = BUFFER_INIT;
	const char *numbers = sequence(&text, 1000);
	struct preview_options o = {.limit.fold = FOLD_OVERFLOW,
				    .limit.bytes = 64,
				    .limit.head_share = 25,
				    .limit.max_line = 2000};
	o.limit.mode = MODE_TAIL;
	check_shown(&o, 0, numbers,
		    "[- 987]\n988\n989\n990\n991\n992\n993\n994\n995\n996\n997\n998\n999\n1000\n");
	o.limit.mode = MODE_ENDS;
	check_shown(&o, 0, numbers,
		    "1\n2\n3\n4\n5\n6\n7\n8\n9\n[- "
		    "982]\n992\n993\n994\n995\n996\n997\n998\n999\n1000\n");
	/* Text that was printed live is not repeated. */
	check_shown(&o, 3, numbers,
		    "4\n5\n6\n7\n8\n9\n[- 982]\n992\n993\n994\n995\n996\n997\n998\n999\n1000\n");
	o.limit.count = 4;
	check_shown(&o, 0, numbers, "1\n[- 996]\n998\n999\n1000\n");
	o.limit.count = 0;
	check_shown(&o, 0, "a\nb\n\nc", "a\nb\n\nc");
	check_shown(&o, 0, "", "");
	check_shown(&o, 0, "\n", "\n");
	buffer_release(&text);
}

TEST(test_folds)
{
	struct preview_options o = {.limit.mode = MODE_ENDS,
				    .limit.fold = FOLD_OVERFLOW,
				    .limit.bytes = 64,
				    .limit.head_share = 25,
				    .limit.max_line = 2000};
	check_shown(&o, 0, "start\nagain\nagain\nagain\nagain\nend\n",
		    "start\nagain\n[= 3]\nend\n");
	/* Nothing is folded if that would be longer. */
	check_shown(&o, 0, "start\nx\nx\nx\nend\n", "start\nx\nx\nx\nend\n");
}

/* Lines that differ in numbers only make room for those that tell something. */
TEST(test_alike)
{
	struct preview_options o = {.limit.mode = MODE_SMART,
				    .limit.fold = FOLD_OVERFLOW,
				    .limit.bytes = 100,
				    .limit.head_share = 30,
				    .limit.max_line = 2000};
	struct buffer text = BUFFER_INIT;
	buffer_append_string(&text, "start\n");
	for (int i = 1; i <= 300; i++)
		buffer_printf(&text, "part %d of 300\n", i);
	buffer_append_string(&text, "error: no more parts\n");
	check_shown(&o, 0, buffer_string(&text),
		    "start\npart 1 of 300\npart 2 of 300\n[~ 298 part 300 of 300]\n"
		    "error: no more parts\n");
	/* The last line is shown as it is. */
	o.limit.end_share = 50;
	buffer_clear(&text);
	for (int i = 1; i <= 300; i++)
		buffer_printf(&text, "part %d of 300\n", i);
	check_shown(&o, 0, buffer_string(&text),
		    "part 1 of 300\npart 2 of 300\n[~ 297 part 299 of 300]\n"
		    "part 300 of 300\n");
	buffer_release(&text);
}

/* One fold, and not two with a gap between, however long. */
TEST(test_streaks)
{
	struct preview_options o = {.limit.mode = MODE_SMART,
				    .limit.fold = FOLD_OVERFLOW,
				    .limit.bytes = 128,
				    .limit.head_share = 15,
				    .limit.max_line = 2000};
	struct buffer text = BUFFER_INIT;
	buffer_append_string(&text, "start\n");
	for (int i = 0; i < 200000; i++)
		buffer_append_string(&text, "waiting for a lock\n");
	buffer_append_string(&text, "error: no lock\nend\n");
	check_shown(&o, 0, buffer_string(&text),
		    "start\nwaiting for a lock\n[= 199999]\nerror: no lock\nend\n");
	buffer_release(&text);
}

/* A line is not cut to make room for a note that is as long as what it replaces. */
TEST(test_barely_long_lines)
{
	struct preview_options o = {
		.limit.mode = MODE_ENDS, .limit.fold = FOLD_OVERFLOW, .limit.bytes = 128};
	struct buffer text = BUFFER_INIT;
	for (int i = 10; i < 45; i++)
		buffer_printf(&text, "%d ", i);
	/* It is longer than the limit by less than a note would replace. */
	o.limit.max_line = 66;
	check_shown(&o, 0, buffer_string(&text), buffer_string(&text));
	o.limit.max_line = 60;
	buffer_append_string(&text, "45 46 47 48 49 50 51 52 53\n");
	check_shown(&o, 0, buffer_string(&text),
		    "10 11 12 13 1[... bytes 13-103] 45 46 47 48 49 50 51 52 53\n");
	/* Too little of the line would be left to say something. */
	o.limit.max_line = 45;
	check_shown(&o, 0, buffer_string(&text), "[- 1]\n");
	buffer_release(&text);
}

TEST(test_long_lines)
{
	struct buffer text = BUFFER_INIT;
	struct preview_options o = {.limit.mode = MODE_ENDS,
				    .limit.fold = FOLD_OVERFLOW,
				    .limit.bytes = 128,
				    .limit.head_share = 50,
				    .limit.max_line = 60};
	for (int i = 0; i < 1000; i++)
		buffer_printf(&text, "%04d ", i);
	/* A last line keeps its end, another one its start. */
	check_shown(&o, 0, buffer_string(&text),
		    "0000 0001 000[... bytes 13-4973] 0995 0996 0997 0998 0999 ");
	buffer_append_string(&text, "\nend\n");
	check_shown(&o, 0, buffer_string(&text),
		    "0000 0001 0002 0003 0004 0005 00[... bytes 32-4993] 0999 \nend\n");
	text.len = 0;
	buffer_append_string(&text, "é");
	while (text.len < 200)
		buffer_append_string(&text, "éé");
	o.limit.max_line = 61;
	check_shown(&o, 0, buffer_string(&text), "ééééééé[... bytes 14-173]éééééééééééééé");
	buffer_release(&text);
}

/* The bytes of a long line that neither end holds are gone, the counts are not. */
TEST(test_huge_lines)
{
	struct preview_options o = {.limit.mode = MODE_ENDS,
				    .limit.fold = FOLD_OVERFLOW,
				    .limit.bytes = 256,
				    .limit.head_share = 50,
				    .limit.max_line = 70};
	static char empty[] = "", block[65536];
	struct preview_ask ask = {.marker = marker, .ctx = empty};
	struct preview *p = preview_new(&o);
	const struct preview_piece *pieces;
	struct buffer out = BUFFER_INIT;
	int count;
	assert_non_null(p);
	memset(block, 'x', sizeof(block));
	preview_feed(p, "first ", 6);
	for (int i = 0; i < 100; i++)
		preview_feed(p, block, sizeof(block));
	preview_feed(p, " mid\nlast ", 10);
	for (int i = 0; i < 100; i++)
		preview_feed(p, block, sizeof(block));
	preview_feed(p, " end", 4);
	assert_int_equal(preview_facts(p).lines, 2);
	assert_int_equal(preview_facts(p).bytes, 200 * sizeof(block) + 20);
	count = preview_choose(p, &ask, &pieces);
	assert_true(count >= 0);
	render(&out, false, &ask, pieces, count);
	assert_string_equal(
		buffer_string(&out),
		"first xxxxxxxxxxxxxxxxxxxxxxxxxxxxx[... bytes 35-6553602]xxx mid\n"
		"last xxxxxxxx[... bytes 6553624-13107191]xxxxxxxxxxxxxxxxxxxxxxxx end");
	buffer_release(&out);
	preview_free(p);
}

/* How much of a text is printed, of `count` lines of `length` bytes and an `end`. */
static size_t shown_of(const struct preview_options *o, int count, int length, int end)
{
	static char empty[] = "";
	const struct preview_ask ask = {.marker = marker, .ctx = empty, .status = 1};
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct preview *p = preview_new(o);
	const struct preview_piece *pieces;
	size_t len;
	assert_non_null(p);
	for (int i = 0; i <= count; i++)
		buffer_printf(&text, "%c%0*d\n", 'a' + i % 26, (i < count ? length : end) - 2, i);
	preview_feed(p, text.data, text.len);
	int pieces_count = preview_choose(p, &ask, &pieces);
	render(&out, o->bare, &ask, pieces, pieces_count);
	len = out.len;
	buffer_release(&out);
	buffer_release(&text);
	preview_free(p);
	return len;
}

/* The chosen lines take the rest of the budget, unless max_line keeps them from it. */
TEST(test_growing_lines)
{
	static const struct {
		int count, length, end;
	} texts[] = {
		{0, 0, 5000},    {0, 0, 50000},    {2, 20000, 20000}, {2000, 9, 20000},
		{3, 9, 3000000}, {60, 3000, 3000}, {60, 3000, 9},     {300, 700, 9},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (int k = 0; k < 12; k++) {
			struct preview_options o = {.limit.mode = modes[k % 3],
						    .limit.fold = FOLD_OVERFLOW,
						    .limit.bytes = k < 6 ? 4096 : 30720,
						    .limit.head_share = 15,
						    .limit.end_share = 8,
						    .limit.max_line = 500,
						    .limit.grow = true,
						    .bare = k % 2};
			size_t len = shown_of(&o, texts[i].count, texts[i].length, texts[i].end);
			size_t all = (size_t)texts[i].count * (size_t)texts[i].length +
				     (size_t)texts[i].end;
			if (len < all && (len < o.limit.bytes * 96 / 100 || len > o.limit.bytes))
				fail_msg("text %zu, mode %d, budget %zu: %zu bytes", i, k % 3,
					 o.limit.bytes, len);
			o.limit.grow = false;
			if (texts[i].count < 4)
				assert_true(shown_of(&o, texts[i].count, texts[i].length,
						     texts[i].end) < 2000);
		}
	}
}

TEST(test_options)
{
	struct preview_options o = {.limit.mode = MODE_ENDS,
				    .limit.fold = FOLD_OVERFLOW,
				    .limit.bytes = 63,
				    .limit.max_line = 100};
	assert_null(preview_new(&o));
	o.limit.bytes = 64;
	o.limit.head_share = 101;
	assert_null(preview_new(&o));
	o.limit.head_share = 100;
	o.limit.max_line = 0;
	assert_null(preview_new(&o));
}

TEST_MAIN(NULL, NULL)
