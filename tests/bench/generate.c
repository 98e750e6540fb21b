// Writes the text that is measured with: log lines as servers write them, the
// same at every call, and the same words in every form.
//   generate plain|colour|progress SIZE
// SIZE is in bytes, or with K, M or G behind it; the last line may go beyond it.
//
//   plain     lines of 60 to 280 bytes, some UTF-8
//   colour    those lines with six colour changes each
//   progress  before each line a bar that is drawn twenty times, with '\r'

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 20

enum form { PLAIN, COLOUR, PROGRESS, FORMS };

static const char *const form_names[FORMS] = {"plain", "colour", "progress"};

struct line {
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

/* No frame is longer than the line that overwrites the last one. */
static int print_progress(const struct line *l)
{
	static const char bar[] = "####################";
	int total = 0;
	for (int i = 1; i <= FRAMES; i++)
		total += printf("\r%3d%% [%-20.*s] eta %2d", i * 100 / FRAMES, i, bar, FRAMES - i);
	total += printf("\r");
	return total + print_plain(l);
}

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
	static int (*const print[FORMS])(const struct line *) = {print_plain, print_colour,
								 print_progress};
	enum form form = PLAIN;
	while (argc == 3 && form < FORMS && strcmp(argv[1], form_names[form]) != 0)
		form++;
	if (argc != 3 || form == FORMS) {
		fputs("usage: generate plain|colour|progress SIZE\n", stderr);
		return 2;
	}
	uint64_t size = parse_size(argv[2]), written = 0, state = UINT64_C(0x9E3779B97F4A7C15);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (uint64_t number = 1; written < size; number++) {
		struct line line;
		make_line(&line, number, &state);
		int n = print[form](&line);
		if (n < 0)
			return 1;
		written += (uint64_t)n;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
