// See internal.h.

#include "supervisor/command/internal.h"

#include "lib/fingerprint.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/text.h"
#include "supervisor/process/record.h"
#include "supervisor/redact/redactor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The earlier run whose texts answer this call, and the answer. */
struct cached {
	struct job *job;
	struct record record; /* the earlier run's metadata, with the settings and directory of this
				 call */
	struct id_found found;
	int dir;
	enum interceptor_reader reader;
	struct excerpts texts[2];
	struct buffer printed[2];
	struct summary summary;
};

uint64_t cached_environment(void)
{
	/* Variables that are not compared: a shell changes them from command to command, or they
	   are terse's own. */
	static const char *const passing[] = {"_=", "OLDPWD=", "PWD=", "SHLVL=", "TERSE"};
	uint64_t sum = 0;
	for (char **variable = environ; *variable; variable++) {
		bool counts = true;
		for (size_t i = 0; i < sizeof(passing) / sizeof(*passing); i++)
			counts &= strncmp(*variable, passing[i], strlen(passing[i])) != 0;
		if (counts)
			sum += fingerprint_exact(*variable, strlen(*variable));
	}
	return (sum >> 1) | 1;
}

/* Finds the newest run of the command that ended recently enough. Returns whether it can answer. */
static bool cached_find(struct cached *c, struct journal *j, int64_t now_ms)
{
	const struct job *job = c->job;
	const struct meta wanted = {.argv = job->shown, .cwd = c->record.cwd};
	const bool is_merged = job->channels.channel[1] == CHANNEL_MERGED;
	struct journal_line line;
	struct meta m;
	while (j && journal_next(j, &line) == 1) {
		if (line.kind != JOURNAL_RUN)
			continue;
		if (journal_line_ms(&line) < now_ms - job->cached_ms)
			break;
		if (journal_parse_run(j, &line, &m) <= 0 || m.environment != job->environment ||
		    !earlier_is_same(&m, &wanted) ||
		    (m.standard_error == META_STDERR_MERGED) != is_merged)
			continue;
		c->found = line.of;
		c->dir = store_open_session(line.of.store, line.of.session, false);
		return !meta_has_failed(&m) && line.is_there && !m.binary && !m.files[0] &&
		       !m.files[1] && m.standard_error != META_STDERR_ELSEWHERE && c->dir >= 0 &&
		       meta_read(c->dir, line.of.id, &c->record.meta) == 0;
	}
	return false;
}

/* Prints one text of the run, or adds it to the summary. Returns 0, or -1 with errno. */
static int cached_text(struct cached *c, enum artifact_part part)
{
	const struct settings *settings = c->job->settings;
	const bool is_stderr = part == ARTIFACT_ERR;
	const char *id = c->record.meta.id;
	const struct interceptor_ending end = excerpts_end(settings, &c->record.meta, id, part);
	struct excerpts *d = &c->texts[is_stderr];
	struct text text;
	if (text_open(&text, c->dir, id, part) < 0)
		return is_stderr && errno == ENOENT ? 0 : -1;
	if (c->reader != INTERCEPT_PROGRAM)
		d->into = &c->printed[is_stderr];
	const bool is_json = settings->format != FORMAT_TEXT;
	int result = excerpts_take(d, settings, &text, NULL, c->reader, is_json ? NULL : &end);
	if (result == 0 && is_json)
		summary_add(&c->summary, d->text, &end, &c->record);
	text_close(&text);
	return result;
}

/* Prints the answer. Returns the exit status, or -1 if nothing was printed. */
static int cached_print(struct cached *c, enum sink sink)
{
	const bool is_json = c->job->settings->format != FORMAT_TEXT;
	struct followup followup = {.is_counted = sink != SINK_PERSON};
	struct buffer *out = &c->printed[0], notice = BUFFER_INIT;
	char age[HUMAN_LEN];
	summary_init(&c->summary, c->job, &c->record);
	int result = cached_text(c, ARTIFACT_OUT);
	if (result == 0)
		result = cached_text(c, ARTIFACT_ERR);
	c->summary.report.id = c->record.meta.id;
	c->summary.report.session = c->found.session;
	c->summary.report.is_cached = true;
	while (result == 0 && is_json && c->summary.is_open)
		summary_next(&c->summary, out);
	if (!is_json) {
		human_age(age, clock_real_ms() - c->record.meta.ended_ms);
		wording_cached(&notice, c->record.meta.id, age);
	}
	/* If nothing was printed, the caller can still run the command. */
	bool fails = result < 0 && c->reader != INTERCEPT_PROGRAM;
	for (int i = 0; i < 2; i++) {
		followup_add(&followup, c->printed[i].data, c->printed[i].len);
		if (result == 0)
			result = io_write(STDOUT_FILENO + i, c->printed[i].data, c->printed[i].len);
	}
	followup_add(&followup, notice.data, notice.len);
	if (result == 0)
		result = reader_notice(sink, &notice);
	if (result == 0)
		followup_keep(&followup, c->dir, c->record.meta.id);
	if (result < 0 && !fails && errno != EPIPE)
		verb_error(NULL, "%s: %m", c->record.meta.id);
	buffer_release(&notice);
	return fails ? -1 : result < 0;
}

int cached_answer(struct job *job)
{
	const struct settings *s = job->settings;
	const enum sink sink = reader_find(s);
	const bool is_json = s->format != FORMAT_TEXT;
	struct cached c = {.job = job, .dir = -1, .record.settings = s};
	struct store stores[STORE_MAX];
	int result = -1;
	/* If the reader gets the whole text, the command is run, since a kept text may not fit into
	   memory here. */
	if (is_json ? s->print == PRINT_FULL : sink != SINK_AGENT && sink != SINK_PERSON)
		return -1;
	bool previews = s->print == PRINT_PREVIEW || (s->print != PRINT_FULL && sink == SINK_AGENT);
	c.reader = is_json ? INTERCEPT_COLLECTED : previews ? INTERCEPT_AGENT : INTERCEPT_PROGRAM;
	if (!getcwd(c.record.cwd, sizeof(c.record.cwd)))
		return -1;
	if (job->secrets)
		redactor_inside(job->secrets, c.record.cwd, sizeof(c.record.cwd));
	int count = store_open_all(stores);
	struct journal *j = journal_open(stores, count, NULL, JOURNAL_RUN | JOURNAL_MADE);
	if (cached_find(&c, j, clock_real_ms()))
		result = cached_print(&c, sink);
	for (int i = 0; i < 2; i++) {
		interceptor_free(c.texts[i].text);
		buffer_release(&c.printed[i]);
	}
	summary_release(&c.summary);
	meta_release(&c.record.meta);
	io_close(&c.dir);
	journal_close(j);
	store_close_all(stores, count);
	return result;
}
