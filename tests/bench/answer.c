// How much CPU time the answer takes once the last byte is there: feeds standard input to a preview
// in mode smart and prints, for each of some budgets, the milliseconds of the best of some choices.

#include "supervisor/preview/preview.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static size_t marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	(void)ctx;
	return (size_t)snprintf(out, cap, "[... %llu lines: terse read cmd-1m7vwf5bqe9c]\n",
				(unsigned long long)(piece->to - piece->from + 1));
}

static double cpu_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double choose(struct preview *p)
{
	struct preview_ask ask = {.status = 1, .marker = marker};
	const struct preview_piece *pieces;
	double best = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		double start = cpu_ms(), ms;
		if (preview_choose(p, &ask, &pieces) < 0)
			exit(1);
		ms = cpu_ms() - start;
		best = ms < best ? ms : best;
	}
	return best;
}

int main(void)
{
	static const size_t budgets[] = {2048, 4096, 8192, 30720};
	enum { COUNT = sizeof(budgets) / sizeof(*budgets), CHUNK = 256 * 1024 };
	static char chunk[CHUNK];
	struct preview *previews[COUNT];
	ssize_t n;

	for (size_t i = 0; i < COUNT; i++) {
		const struct preview_options options = {.limit.fold = FOLD_OVERFLOW,
							.limit.bytes = budgets[i],
							.limit.head_share = 5,
							.limit.end_share = 8,
							.limit.max_line = 500};
		previews[i] = preview_new(&options);
		if (!previews[i])
			return 1;
	}
	while ((n = read(STDIN_FILENO, chunk, CHUNK)) > 0) {
		for (size_t i = 0; i < COUNT; i++)
			preview_feed(previews[i], chunk, (size_t)n);
	}
	for (size_t i = 0; i < COUNT; i++) {
		printf("%8zu bytes: %5.2f ms of CPU for the answer\n", budgets[i],
		       choose(previews[i]));
		preview_free(previews[i]);
	}
	return n < 0;
}
