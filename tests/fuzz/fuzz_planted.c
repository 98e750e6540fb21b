// Secrets are planted among controls, strings, broken sequences and text: none of them is in what
// is printed, nor in any file of the store, nor on the screen.
//
// After two bytes of options each byte of the input is text (below 0x80), a piece of the table, or
// a secret, behind something that ends a word: in one piece, in any state of the terminal, or with
// something in it that a terminal does not show.

#include "config/option.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/supervisor_internal.h"
#include "supervisor/redact/redactor.h"
#include "tests/fuzz/fuzz.h"

/* The text that reveals a leak, in either case: nothing else contains it. */
static const char mark[] = "planted";

static const char *const secrets_planted[][2] = {
	{"AKIA", "PLANTEDSECRET123"},
	{"ghp_", "plantedsecretplantedsecret"},
	{"sk-", "proj-PlantedSecretPlantedSecret"},
	{"DB_PASSWORD=", "planted-secret"},
	{"PIN-", "planted7"},
};

#define PIECE(bytes)                     \
	{                                \
		bytes, sizeof(bytes) - 1 \
	}

struct piece {
	const char *bytes;
	size_t len;
};

/* Each ends a word. */
static const struct piece edges[] = {
	PIECE("\n"),         PIECE(" "),        PIECE("\0"),
	PIECE("\v"),         PIECE("\f"),       PIECE("\033]133;A\a"),
	PIECE("\033]0;b\a"), PIECE("\x18"),     PIECE("\033]8;;x\033\\"),
	PIECE("\033[\x18"),  PIECE("\xC2\x9B"), PIECE("\033[31m"),
	PIECE("\033(B"),     PIECE("\x7F"),     PIECE("\b"),
	PIECE("\r"),         PIECE("="),        PIECE("\""),
	PIECE("\xFF"),       PIECE("\\n"),      PIECE("%20"),
	PIECE("\r\n"),       PIECE("\xC2\x80"), PIECE("\033P+q\033\\"),
	PIECE("\a"),         PIECE("\033c"),    PIECE("\033[2J\033[H"),
};

/* A terminal shows nothing of them, and goes on where it was. */
static const struct piece hidden[] = {
	PIECE("\033[31m"),     PIECE("\a"),
	PIECE("\x01"),         PIECE("\033]8;;u\a"),
	PIECE("\033]0;t\a"),   PIECE("\x7F"),
	PIECE("\033[K"),       PIECE("\x0E\x0F"),
	PIECE("\033[?25l"),    PIECE("\033[m"),
	PIECE("\033_x\033\\"), PIECE("\xC2\x80"),
	PIECE("\033[1\x18"),   PIECE("\033]8;;\033\\"),
};

/* Input that leaves a terminal in another state, or is cut. */
static const struct piece pieces[] = {
	PIECE("\033"),     PIECE("\033["),       PIECE("\033[3"),
	PIECE("\033]"),    PIECE("\033]0;"),     PIECE("\033P"),
	PIECE("\033P1;2"), PIECE("\033X"),       PIECE("\033_G"),
	PIECE("\033("),    PIECE("\033[?1049h"), PIECE("\033[?1049l"),
	PIECE("\xC2"),     PIECE("\xE2\x98"),    PIECE("\xE2\x98\x83"),
	PIECE("\xF0\x9F"), PIECE("\xC2\x9D"),    PIECE("\xC2\x90"),
	PIECE("\xC2\x9C"), PIECE("\033[4h"),     PIECE("\033[5;1H"),
	PIECE("\033[A"),   PIECE("\033[2J"),     PIECE("\033[3;9r"),
	PIECE("\033\\"),   PIECE("\0\0"),        PIECE("a line of text\n"),
	PIECE("\033[99b"), PIECE("\033[\n"),     PIECE("\0337"),
	PIECE("\0338"),    PIECE("\033#8"),
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static struct settings settings;
static struct secrets *secrets;

static void set_up(void)
{
	struct option_error error;
	assert(setenv("TERSE_HOME", fuzz_home(), 1) == 0);
	settings_init(&settings);
	settings.redact = true;
	option_append(&settings, option_by_key("redact", "patterns"), "PIN-\\K\\w+\\b", &error);
	secrets = secrets_new(&settings);
	assert(secrets);
}

static void add(struct buffer *out, struct piece piece)
{
	buffer_append(out, piece.bytes, piece.len);
}

static void plant(struct buffer *out, unsigned which, bool split)
{
	const char *const *secret = secrets_planted[which % COUNT(secrets_planted)];
	struct piece edge = edges[which % COUNT(edges)], inside = hidden[which % COUNT(hidden)];
	char text[64];
	/* No table says what is hidden in every state of the terminal. */
	if (split)
		add(out, (struct piece)PIECE("\x18\n"));
	add(out, edge);
	if (split && edge.bytes[0] == '\xC2')
		add(out, (struct piece)PIECE("\x18"));
	size_t len = (size_t)snprintf(text, sizeof(text), "%s%s", secret[0], secret[1]);
	size_t cut = split ? 1 + which % (len - 1) : len;
	add(out, (struct piece){text, cut});
	if (split)
		add(out, inside);
	add(out, (struct piece){text + cut, len - cut});
	add(out, edges[(which / 3) % COUNT(edges)]);
}

static void make_stream(struct buffer *out, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned b = data[i];
		/* The mark is not spelled by chance. */
		char text = (char)((b | 0x20) == 'p' ? 'q' : b);
		if (b < 0x80)
			add(out, (struct piece){&text, 1});
		else if (b < 0xC0 || i + 1 == size)
			add(out, pieces[b % COUNT(pieces)]);
		else
			plant(out, data[++i], b >= 0xE0);
	}
}

static void check(const char *data, size_t len)
{
	for (const char *at = data; len >= sizeof(mark) - 1; at++, len--)
		assert(strncasecmp(at, mark, sizeof(mark) - 1) != 0);
}

static int check_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	static char content[1 << 20];
	(void)st;
	(void)ftw;
	if (type != FTW_F)
		return 0;
	int fd = open(path, O_RDONLY);
	assert(fd >= 0);
	ssize_t n = read(fd, content, sizeof(content));
	assert(n >= 0 && (size_t)n < sizeof(content));
	close(fd);
	check(content, (size_t)n);
	return 0;
}

struct run {
	struct record record;
	struct interceptor *text;
	struct buffer printed, redacted;
};

static struct artifact *on_artifact(void *ctx)
{
	struct run *r = ctx;
	return record_open(&r->record);
}

static void on_print(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;
	buffer_append(&r->printed, data, len);
}

static void pass(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;
	buffer_append(&r->redacted, data, len);
	interceptor_feed(r->text, data, len);
}

static void feed(struct run *r, const struct buffer *stream, unsigned seed)
{
	struct redactor redactor = {.secrets = secrets, .out = pass, .ctx = r};
	for (size_t at = 0, n; at < stream->len; at += n) {
		n = seed & 1 ? (size_t)(rand_r(&seed) % 30) + 1 : stream->len;
		n = n < stream->len - at ? n : stream->len - at;
		redactor_feed(&redactor, stream->data + at, n);
		if (seed & 2)
			interceptor_pause(r->text);
		if (seed & 4)
			interceptor_update_live(r->text);
		if (seed & 8)
			interceptor_settle_all(r->text);
	}
	redactor_finish(&redactor);
	redactor_release(&redactor);
}

static void check_screen(struct run *r)
{
	struct buffer picture = BUFFER_INIT;
	struct terminal *t = interceptor_terminal(r->text);
	assert(terminal_picture(t, &picture, NULL, NULL) == 0);
	check(picture.data, picture.len);
	check(terminal_facts(t).title, strlen(terminal_facts(t).title));
	buffer_release(&picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *words[] = {(char *)"x", NULL};
	struct buffer stream = BUFFER_INIT;
	if (!secrets)
		set_up();
	if (size < 3 || size > 2000)
		return 0;
	make_stream(&stream, data + 2, size - 2);
	const struct job job = {
		.argv = words, .shown = words, .settings = &settings, .secrets = secrets};
	static const enum interceptor_reader kinds[] = {INTERCEPT_AGENT, INTERCEPT_PROGRAM,
							INTERCEPT_PERSON};
	const struct interceptor_options options = {
		.terminal = {.cols = 80, .rows = 10, .onlcr = data[0] & 1},
		.limit = {.mode = (enum mode)(data[0] >> 2 & 3), .bytes = 200, .max_line = 100},
		.reader = kinds[(data[0] >> 4 & 3) % 3],
		.raw = INTERCEPT_RAW_YES,
		.part = ARTIFACT_OUT,
		.exact = data[0] & 0x40,
	};
	struct run r = {.text = NULL};
	const struct interceptor_events events = {
		.artifact = on_artifact, .print = on_print, .ctx = &r};
	record_init(&r.record, &job);
	r.text = interceptor_new(&options, &events);
	assert(r.text);
	feed(&r, &stream, data[1]);
	if (data[0] & 0x80)
		check_screen(&r);
	const struct interceptor_ending ending = {.place = record_place(&r.record, false)};
	interceptor_finish(r.text);
	interceptor_report(r.text, &ending);
	record_end(&r.record, 0, false, false, 1);
	record_close(&r.record, false);
	check(r.redacted.data, r.redacted.len);
	check(r.printed.data, r.printed.len);
	assert(nftw(fuzz_home(), check_file, 8, FTW_PHYS) == 0);
	fuzz_empty_home();
	interceptor_free(r.text);
	buffer_release(&r.printed);
	buffer_release(&r.redacted);
	buffer_release(&stream);
	return 0;
}
