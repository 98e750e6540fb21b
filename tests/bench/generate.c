// Writes the text that is measured with: log lines as servers write them, the
// same at every call, and the same words in every form.
//   generate plain|colour|progress|blocks|soup|endless SIZE
// SIZE is in bytes, or with K, M or G behind it; the last lines may go beyond it.
//
//   plain     lines of 60 to 280 bytes, some UTF-8
//   colour    those lines with six colour changes each
//   progress  before each line a bar that is drawn twenty times, with '\r'
//   blocks    four bars one below the other, drawn twenty times by moving the cursor
//             up; then four lines in their place
//   soup      words between random control sequences of all kinds
//   endless   bars drawn with '\r' in one line that never ends

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 20

#define BLOCK 4

struct line {
	uint64_t number; /* from 1 */
	char time[32], worker[16], text[320];
	int level;
};

static const struct {
	const char *name;
	int colour;
} levels[] = {
	{"DEBUG", 34}, {"INFO", 32}, {"INFO", 32}, {"INFO", 32},
	{"INFO", 32},  {"INFO", 32}, {"WARN", 33}, {"ERROR", 31},
};

/* xorshift64*; see Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static uint64_t next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void make_text(char *out, size_t cap, uint64_t number, uint64_t *state)
{
	uint64_t r = next(state);
	unsigned a = r % 100000, b = (r >> 20) % 5000, c = (r >> 40) % 700;
	switch ((r >> 50) % 16) {
	case 0:
		snprintf(out, cap, "pool: %u connections, %u idle, %u waiting", b, c, a % 17);
		break;
	case 1:
		snprintf(out, cap, "cache miss key=user:%u:profile loaded from replica-%u in %u µs",
			 a, c % 5, b);
		break;
	case 2:
		snprintf(out, cap,
			 "slow query (%u ms): SELECT o.id, o.total, c.name, c.email FROM orders o "
			 "JOIN customers c ON c.id = o.customer_id WHERE o.created_at > "
			 "'2024-03-%02u' AND o.status IN ('open', 'paid', 'shipped') ORDER BY "
			 "o.total DESC LIMIT %u",
			 b, 1 + c % 28, c);
		break;
	case 3:
		snprintf(out, cap, "    at handler.process (/srv/app/lib/handler.js:%u:%u)", b,
			 c % 80);
		break;
	case 4: snprintf(out, cap, "✓ job %u done → queue %u", a, c); break;
	default:
		snprintf(out, cap, "GET /api/v2/items/%u?page=%u HTTP/1.1 %u %u ms trace=%08x%08x",
			 a, b, 200 + c % 5, c, (unsigned)r, (unsigned)number);
	}
}

static void make_line(struct line *l, uint64_t number, uint64_t *state)
{
	uint64_t r = next(state);
	l->number = number;
	unsigned ms = (unsigned)(number * 7 % 86400000);
	snprintf(l->time, sizeof(l->time), "2024-03-01T%02u:%02u:%02u.%03uZ", ms / 3600000 % 24,
		 ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
	snprintf(l->worker, sizeof(l->worker), "[worker-%u]", (unsigned)(r % 12));
	l->level = (int)((r >> 32) % (sizeof(levels) / sizeof(*levels)));
	make_text(l->text, sizeof(l->text), number, state);
}

static int print_plain(const struct line *l)
{
	return printf("%s %-5s %s %s\n", l->time, levels[l->level].name, l->worker, l->text);
}

static int print_colour(const struct line *l)
{
	return printf("\033[2m%s\033[0m \033[1;%dm%-5s\033[0m \033[36m%s\033[0m %s\n", l->time,
		      levels[l->level].colour, levels[l->level].name, l->worker, l->text);
}

static const char bar[] = "####################";

static int print_bar(const char *before, int i, const char *behind)
{
	return printf("%s%3d%% [%-20.*s] eta %2d%s", before, i * 100 / FRAMES, i, bar, FRAMES - i,
		      behind);
}

/* No frame is longer than the line that overwrites the last one. */
static int print_progress(const struct line *l)
{
	int total = 0;
	for (int i = 1; i <= FRAMES; i++)
		total += print_bar("\r", i, "");
	total += printf("\r");
	return total + print_plain(l);
}

/* The first line of a block comes behind the frames that all of its lines overwrite. */
static int print_blocks(const struct line *l)
{
	int total = 0;
	for (int i = 1; l->number % BLOCK == 1 && i <= FRAMES; i++) {
		for (int k = 0; k < BLOCK; k++)
			total += print_bar("\033[2K", i, "\n");
		total += printf("\033[%dA", BLOCK);
	}
	total += printf("\033[2K");
	return total + print_plain(l);
}

static int print_soup(const struct line *l)
{
	/* Final bytes of sequences with up to two numbers. */
	static const char finals[] = "ABCDEFGHJKLMPSTX@`abdefhlmrsu";
	static const char *const others[] = {
		"\r",       "\b",     "\t",       "\n",
		"\n",       "\033M",  "\033D",    "\0337",
		"\0338",    "\033[r", "\033[?7h", "\033[4l",
		"\033[?6l", "\033(0", "\033(B",   "\033]0;title\007",
	};
	uint64_t state = l->number * UINT64_C(0x9E3779B97F4A7C15);
	const char *word = l->text;
	int total = 0;
	while (*word) {
		uint64_t r = next(&state);
		int len = 1 + (int)(r % 12);
		total += printf("%.*s", len, word);
		word += strnlen(word, (size_t)len);
		if ((r >> 8) % 4 == 0)
			total += printf("%s",
					others[(r >> 16) % (sizeof(others) / sizeof(*others))]);
		else
			total += printf("\033[%u;%u%c", (unsigned)(r >> 16) % 40,
					(unsigned)(r >> 32) % 120,
					finals[(r >> 48) % (sizeof(finals) - 1)]);
	}
	return total + printf("\r\n");
}

static int print_endless(const struct line *l)
{
	return print_bar("\r", (int)(l->number % FRAMES), "");
}

static const struct form {
	const char *name;
	int (*print)(const struct line *l);
} forms[] = {
	{"plain", print_plain},   {"colour", print_colour}, {"progress", print_progress},
	{"blocks", print_blocks}, {"soup", print_soup},     {"endless", print_endless},
};

#define FORMS (sizeof(forms) / sizeof(*forms))

static uint64_t parse_size(const char *text)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t size = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	return unit ? size << (10 * (unit - units + 1)) : size;
}

int main(int argc, char **argv)
{
	static char buffer[65536];
	size_t form = 0;
	while (argc == 3 && form < FORMS && strcmp(argv[1], forms[form].name) != 0)
		form++;
	if (argc != 3 || form == FORMS) {
		fputs("usage: generate plain|colour|progress|blocks|soup|endless SIZE\n", stderr);
		return 2;
	}
	uint64_t size = parse_size(argv[2]), written = 0, state = UINT64_C(0x9E3779B97F4A7C15);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	/* A block is not left half drawn. */
	for (uint64_t number = 1; written < size || number % BLOCK != 1; number++) {
		struct line line;
		make_line(&line, number, &state);
		int n = forms[form].print(&line);
		if (n < 0)
			return 1;
		written += (uint64_t)n;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
