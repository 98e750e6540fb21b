// terse filter: prints standard input or a file as terse run prints a command's output.

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/command/internal.h"
#include "supervisor/process/record.h"
#include "supervisor/redact/redactor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)256 * 1024)

struct filter {
	struct excerpts excerpts; /* has to be the first member, since filter_on_artifact() casts
				     it */
	struct record record;
	bool keep; /* omitted text is kept, since the input can't be read again */
	int exit_code;
};

static struct artifact *filter_on_artifact(struct excerpts *d)
{
	struct filter *f = (struct filter *)d;
	return f->keep ? record_open(&f->record) : NULL;
}

static void filter_pass(void *ctx, const char *data, size_t len)
{
	interceptor_feed(ctx, data, len);
}

/* Reads standard input to its end. Returns 0, or -1 with errno. */
static int filter_feed(struct filter *f, struct secrets *secrets)
{
	struct redactor redactor = {
		.secrets = secrets, .out = filter_pass, .ctx = f->excerpts.text};
	char *chunk = io_block(CHUNK);
	ssize_t n = chunk ? 0 : -1;
	while (chunk && !f->excerpts.error) {
		n = read(STDIN_FILENO, chunk, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (secrets)
			redactor_feed(&redactor, chunk, (size_t)n);
		else
			interceptor_feed(f->excerpts.text, chunk, (size_t)n);
	}
	redactor_finish(&redactor);
	redactor_release(&redactor);
	free(chunk);
	return n < 0 ? -1 : 0;
}

static int filter_run(struct verb_call *c)
{
	static char *shown[] = {(char *)"filter", NULL};
	struct filter f = {.keep = false};
	struct stat st;
	struct job job = {.argv = shown, .shown = shown, .settings = c->settings};
	int result = EXIT_TERSE;
	if (verb_parse(c, &f) < 0)
		return EXIT_TERSE;
	const char *file = c->operands[0];
	/* Makes the file standard input. */
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (fd < 0 || (file && dup2(fd, STDIN_FILENO) < 0))
		return verb_fail(c, ENVELOPE_USAGE, "%s: %m", file);
	if (fd != STDIN_FILENO)
		io_close(&fd);
	if (excerpts_apply_profile("filter", c->settings) < 0)
		return EXIT_TERSE;
	/* A report with the whole text is written only after the last byte was read, so the text is
	   kept until then. */
	bool full = c->settings->print == PRINT_FULL;
	f.keep = full ? c->settings->format != FORMAT_TEXT
		      : fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode);
	job.started_ms = clock_real_ms();
	job.begun_ms = clock_monotonic_ms();
	job.parent = getppid();
	record_init(&f.record, &job);

	struct secrets *secrets = secrets_new(c->settings);
	bool safe = secrets || !errno;
	struct interceptor_options options = {
		.reader = c->settings->format != FORMAT_TEXT
				  ? (full ? INTERCEPT_SILENT : INTERCEPT_COLLECTED)
				  : (full ? INTERCEPT_PROGRAM : INTERCEPT_AGENT),
		.terminal.onlcr = true,
	};
	f.excerpts = (struct excerpts){.artifact = filter_on_artifact};
	if (!safe || excerpts_init(&f.excerpts, c->settings, &options) < 0 ||
	    filter_feed(&f, secrets) < 0) {
		verb_error("filter", "%s: %s", file ? file : "standard input", strerror(errno));
		goto out;
	}
	interceptor_finish(f.excerpts.text);
	interceptor_conclude(f.excerpts.text, f.exit_code ? INTERCEPT_FAILURE : INTERCEPT_SUCCESS);
	int64_t duration = clock_monotonic_ms() - job.begun_ms;
	f.record.meta.binary = interceptor_facts(f.excerpts.text).is_binary;
	record_end(&f.record, f.exit_code << 8, false, false, duration);
	const struct interceptor_ending end = {
		.ending = {.exit_code = f.exit_code, .duration_ms = duration},
		.place = record_place(&f.record, false),
		.status_line = (enum status_when)c->settings->status,
	};
	if (c->settings->format == FORMAT_TEXT) {
		interceptor_report(f.excerpts.text, &end);
	} else {
		struct summary summary = {.is_open = false};
		summary_init(&summary, &job, &f.record);
		summary_add(&summary, f.excerpts.text, &end, &f.record);
		while (summary.is_open && !f.excerpts.error) {
			summary_next(&summary, &summary.out);
			excerpts_print(&f.excerpts, summary.out.data, summary.out.len);
			buffer_clear(&summary.out);
		}
		summary_release(&summary);
	}
	result = 0;
	int error = f.excerpts.error;
	if (error && error != EPIPE) {
		verb_error("filter", "standard output: %s", strerror(error));
		result = 1;
	}
out:
	interceptor_free(f.excerpts.text);
	secrets_free(secrets);
	if (f.record.artifact) {
		record_prepare(&f.record, 0);
		record_close(&f.record, false);
	}
	return result;
}

static const struct verb_option filter_options[] = {
	{"--exit-code", 0, VERB_STATUS, offsetof(struct filter, exit_code), "N",
	 "the command's exit code (default 0)"},
	VERB_END_ROW,
};

const struct verb verb_filter = {
	.name = "filter",
	.purpose = "treat a file or standard input as a command's output",
	.forms = "[FILE]",
	.text = "Treats FILE or standard input as a command's output and prints what run would\n"
		"have printed. terse alone does this if its input is a pipe or a file.\n",
	.options = filter_options,
	.more = 1,
	.settings = "",
	.lists_settings = true,
	.run = filter_run,
};
