// render --cols C --rows R [OPTIONS] < stream > text
//
// Runs a terminal over a recorded stream, for the tests of this folder.
//   --onlcr yes|no  LF implies CR (no)
//   --split SEED    feeds the stream in pieces of random length (0: single bytes)
//   --grid          the append gear stays off
//   --scan NAME     with this variant of the scanner
//   --replies       prints the answers to queries instead of the text
//   --picture       prints the picture of the last moment and the cursor's place
//   --commit        hands every line on as soon as it is complete
//   --resize C,R    changes the size half way
//   --batch         many streams: each line of stdin is
//                   "STREAM<TAB>TEXT<TAB>COLS<TAB>ROWS", two files and a size

#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/terminal/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	struct terminal_options options;
	const char *scan;
	unsigned new_cols, new_rows;
	uint32_t seed;
	bool split, picture, commit, replies, batch;
};

/* Where the output goes. */
struct sink {
	FILE *file; /* NULL: nowhere */
	bool replies;
};

static void write_text(void *ctx, const char *data, size_t len)
{
	struct sink *sink = ctx;
	if (sink->file && !sink->replies)
		fwrite(data, 1, len, sink->file);
}

static void write_reply(void *ctx, const char *data, size_t len)
{
	struct sink *sink = ctx;
	if (sink->file && sink->replies)
		fwrite(data, 1, len, sink->file);
}

/* xorshift: the same pieces for the same seed everywhere. */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static size_t piece(uint32_t *state, bool split, size_t left)
{
	size_t n = left;
	if (split)
		n = *state ? 1 + next_random(state) % (next_random(state) % 8 ? 12 : 4000) : 1;
	return n < left ? n : left;
}

static int read_all(int fd, struct buffer *in)
{
	ssize_t n;
	do {
		if (buffer_reserve(in, 65536) < 0)
			return -1;
		n = io_read(fd, in->data + in->len, 65536);
		if (n < 0)
			return -1;
		in->len += (size_t)n;
	} while (n > 0);
	return 0;
}

static void feed_all(struct terminal *t, const struct request *request, const struct buffer *in)
{
	uint32_t state = request->seed;
	size_t at = 0;
	while (at < in->len) {
		size_t n = piece(&state, request->split, in->len - at);
		if (request->new_cols && at < in->len / 2 && at + n >= in->len / 2) {
			n = in->len / 2 - at;
			terminal_feed(t, in->data + at, n);
			terminal_resize(t, request->new_cols, request->new_rows);
		} else {
			terminal_feed(t, in->data + at, n);
		}
		at += n;
		if (request->commit)
			terminal_commit(t);
	}
}

static int print_picture(struct terminal *t, FILE *file)
{
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	if (terminal_picture(t, &picture, &row, &col) < 0)
		return -1;
	fwrite(picture.data, 1, picture.len, file);
	fprintf(file, "%u,%u\n", row, col);
	buffer_release(&picture);
	return 0;
}

/* Renders what `fd` gives to `file`. */
static int render(const struct request *request, int fd, FILE *file)
{
	struct sink sink = {request->picture ? NULL : file, request->replies};
	struct terminal_events events = {.text = write_text, .reply = write_reply, .ctx = &sink};
	struct terminal *t = terminal_new(&request->options, &events);
	struct buffer in = BUFFER_INIT;
	const struct scan *const *variant;
	int rc = -1;
	if (!t || read_all(fd, &in) < 0)
		goto out;
	for (variant = scan_variants(); request->scan && *variant; variant++)
		if (strcmp((*variant)->name, request->scan) == 0)
			t->scan = *variant;
	feed_all(t, request, &in);
	if (request->picture && print_picture(t, file) < 0)
		goto out;
	terminal_finish(t);
	rc = 0;
out:
	buffer_release(&in);
	terminal_free(t);
	return rc;
}

static int render_files(const struct request *request, char *line)
{
	struct request one = *request;
	char *names = line;
	char *stream = strsep(&names, "\t");
	char *text = strsep(&names, "\t");
	FILE *file;
	int fd, rc = -1;
	if (!text || sscanf(names, "%u\t%u", &one.options.cols, &one.options.rows) != 2) {
		errno = EINVAL;
		return -1;
	}
	fd = open(stream, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	file = fopen(text, "we");
	if (file) {
		rc = render(&one, fd, file);
		if (fclose(file) != 0)
			rc = -1;
	}
	io_close(&fd);
	return rc;
}

static int render_batch(const struct request *request)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc = 0;
	while (rc == 0 && (len = getline(&line, &cap, stdin)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		rc = render_files(request, line);
	}
	free(line);
	return rc;
}

static int usage(void)
{
	fprintf(stderr, "usage: render --cols C --rows R [OPTIONS] < stream\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = {
		{"cols", required_argument, NULL, 'c'},  {"rows", required_argument, NULL, 'r'},
		{"onlcr", required_argument, NULL, 'o'}, {"split", required_argument, NULL, 's'},
		{"grid", no_argument, NULL, 'g'},        {"scan", required_argument, NULL, 'n'},
		{"replies", no_argument, NULL, 'q'},     {"picture", no_argument, NULL, 'p'},
		{"commit", no_argument, NULL, 'm'},      {"resize", required_argument, NULL, 'z'},
		{"batch", no_argument, NULL, 'b'},       {NULL, 0, NULL, 0},
	};
	struct request request = {.options = {.cols = 80, .rows = 24}};
	int c, rc;
	while ((c = getopt_long(argc, argv, "", longopts, NULL)) >= 0) {
		switch (c) {
		case 'c': request.options.cols = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'r': request.options.rows = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'o': request.options.onlcr = strcmp(optarg, "yes") == 0; break;
		case 's':
			request.split = true;
			request.seed = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'g': request.options.cells = true; break;
		case 'n': request.scan = optarg; break;
		case 'q': request.replies = true; break;
		case 'p': request.picture = true; break;
		case 'm': request.commit = true; break;
		case 'b': request.batch = true; break;
		case 'z':
			if (sscanf(optarg, "%u,%u", &request.new_cols, &request.new_rows) != 2)
				return usage();
			break;
		default: return usage();
		}
	}
	rc = request.batch ? render_batch(&request) : render(&request, STDIN_FILENO, stdout);
	if (rc < 0 || fflush(stdout) != 0) {
		fprintf(stderr, "render: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}
