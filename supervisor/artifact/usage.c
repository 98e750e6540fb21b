// See usage.h.

#include "supervisor/artifact/usage.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/json.h"
#include "supervisor/artifact/removal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define BLOCK ((size_t)256 * 1024)

static bool usage_take_id(const struct member_value *v, char id[ID_LEN + 1])
{
	struct member_value text = member_plain(v);
	if (text.len != ID_LEN)
		return false;
	memcpy(id, text.data, ID_LEN);
	id[ID_LEN] = '\0';
	return id_is_valid(id);
}

static bool is_word(const struct member_value *v, const char *word)
{
	return v->len == strlen(word) && memcmp(v->data, word, v->len) == 0;
}

static void take_shown(struct usage_run *run, const struct member_value *v)
{
	run->shown = (struct meta_shown){.bytes = member_number(v, 0),
					 .tokens = member_number(v, 1),
					 .text = member_number(v, 2),
					 .own = member_number(v, 3)};
}

bool usage_parse_run(const char *line, size_t len, struct usage_run *run)
{
	struct members m;
	char id[ID_LEN + 1];
	bool done = false, ended_well = false;
	*run = (struct usage_run){.line = {line, len}};
	members_begin(&m, line, len);
	while (members_next(&m)) {
		if (members_is(&m, "id"))
			run->id = usage_take_id(&m.value, id) ? id_pack(id) : 0;
		else if (members_is(&m, "started_ms"))
			run->started_ms = (int64_t)member_number(&m.value, 0);
		else if (members_is(&m, "ended_ms"))
			run->ended_ms = (int64_t)member_number(&m.value, 0);
		else if (members_is(&m, "duration_ms"))
			run->duration_ms = (int64_t)member_number(&m.value, 0);
		else if (members_is(&m, "state"))
			done = is_word(&m.value, "\"done\"");
		else if (members_is(&m, "exit_code"))
			ended_well = is_word(&m.value, "0");
		else if (members_is(&m, "shown"))
			take_shown(run, &m.value);
		else if (members_is(&m, "command"))
			run->command = m.value;
		else if (members_is(&m, "cwd"))
			run->cwd = m.value;
		else if (members_is(&m, "agent"))
			run->agent = member_plain(&m.value);
		else if (members_is(&m, "profile"))
			run->profile = member_plain(&m.value);
	}
	run->failed = !done || !ended_well;
	return !m.bad && run->started_ms > 0;
}

static bool usage_parse_read(const char *line, size_t len, struct usage_read *read)
{
	struct members m;
	*read = (struct usage_read){.id = ""};
	members_begin(&m, line, len);
	while (members_next(&m)) {
		if (members_is(&m, "id") && !usage_take_id(&m.value, read->id))
			return false;
		else if (members_is(&m, "started_ms"))
			read->at_ms = (int64_t)member_number(&m.value, 0);
		else if (members_is(&m, "bytes"))
			read->bytes = member_number(&m.value, 0);
		else if (members_is(&m, "tokens"))
			read->tokens = member_number(&m.value, 0);
		else if (members_is(&m, "inside"))
			read->inside = is_word(&m.value, "true");
	}
	return !m.bad && read->id[0];
}

static bool usage_report_run(const struct usage_events *e, const char *line, size_t len)
{
	struct usage_run run;
	bool good = usage_parse_run(line, len, &run);
	if (good)
		e->run(e->ctx, &run);
	return good;
}

static bool report_read(const struct usage_events *e, const char *line, size_t len)
{
	struct usage_read read;
	bool good = usage_parse_read(line, len, &read);
	if (good)
		e->read(e->ctx, &read);
	return good;
}

/* Reports the whole lines of the block, and drops them. */
static void report_lines(struct buffer *block, const struct usage_events *e, uint64_t *damaged,
			 bool (*report)(const struct usage_events *e, const char *line, size_t len))
{
	size_t at = 0;
	const char *newline;
	while ((newline = memchr(block->data + at, '\n', block->len - at)) != NULL) {
		size_t len = (size_t)(newline - block->data) - at;
		*damaged += len > 0 && !report(e, block->data + at, len);
		at += len + 1;
	}
	buffer_consume(block, at);
}

static int scan_file(int dir, const char *name, const struct usage_events *e, uint64_t *damaged,
		     bool (*report)(const struct usage_events *e, const char *line, size_t len))
{
	struct buffer block = BUFFER_INIT;
	int result = -1, fd = store_open_file(dir, name, O_RDONLY);
	ssize_t n = 0;
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	for (;;) {
		if (buffer_reserve(&block, BLOCK) < 0)
			goto out;
		n = io_read(fd, block.data + block.len, BLOCK);
		if (n <= 0)
			break;
		block.len += (size_t)n;
		report_lines(&block, e, damaged, report);
		/* No line of terse's is so long. */
		if (block.len >= BLOCK)
			buffer_clear(&block);
	}
	result = n < 0 ? -1 : 0;
out:
	buffer_release(&block);
	io_close(&fd);
	return result;
}

int usage_scan(const struct store *s, const char *session, const struct usage_events *events,
	       uint64_t *damaged)
{
	int dir = store_open_session(s, session, false);
	if (dir < 0)
		return errno == ENOENT ? 0 : -1;
	int result = scan_file(dir, META_HISTORY, events, damaged, usage_report_run);
	if (result == 0 && events->read)
		result = scan_file(dir, USAGE_READS, events, damaged, report_read);
	io_close(&dir);
	return result;
}

int usage_append_read(int dir, const struct usage_read *read)
{
	struct buffer line = BUFFER_INIT;
	json_begin_object(&line, NULL);
	json_add_string(&line, "id", read->id);
	json_add_number(&line, "started_ms", read->at_ms);
	json_add_count(&line, "bytes", read->bytes);
	json_add_count(&line, "tokens", read->tokens);
	if (read->inside)
		json_add_bool(&line, "inside", true);
	json_end_object(&line);
	buffer_append_string(&line, "\n");
	int result = buffer_check(&line);
	if (result == 0)
		result = journal_append(dir, USAGE_READS, line.data, line.len);
	buffer_release(&line);
	return result;
}
