// See remote.h.

#include "supervisor/remote/remote.h"

#include "lib/buffer.h"
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a segment line by line, and removes it. Returns 0, or what each() returned. */
static int index_read_segment(void *ctx, const char *file, const char *below)
{
	struct remote_index_reader *reader = ctx;
	struct io_lines lines = {.fd = store_open_file(AT_FDCWD, file, O_RDONLY),
				 .most = INDEX_LINE};
	const char *line;
	size_t len;
	struct meta m;
	int result = 0, got = -1;
	(void)below;
	unlink(file);
	while (result == 0 && lines.fd >= 0 && (got = io_lines_next(&lines, &line, &len)) == 1) {
		errno = EBADMSG;
		bool good = meta_parse(line, len, &m) == 0;
		if (!good && errno == ENOMEM)
			result = -1;
		else if (good && *m.id)
			result = reader->each(reader->ctx, &m);
		else
			reader->damaged++;
		if (good)
			meta_release(&m);
	}
	/* A part of a line at the end is damaged, too. */
	reader->damaged += got < 0 || (got == 0 && lines.block.len > 0);
	result = got < 0 && errno == ENOMEM ? -1 : result;
	buffer_release(&lines.block);
	io_close(&lines.fd);
	return result;
}

int remote_index_read(const struct settings *s, struct remote_index_reader *reader)
{
	char top[PATH_MAX - 64], day[REMOTE_HOUR_LEN + 1], host[REMOTE_HOST_LEN + 1];
	char key[REMOTE_KEY_LEN];
	const char *tmp = getenv("TMPDIR");
	int64_t hour = reader->to_ms / REMOTE_HOUR_MS;
	int64_t first = reader->from_ms > 0 ? reader->from_ms / REMOTE_HOUR_MS : 0;
	int result = 0;
	/* Objects' names have the host's name in this form. */
	store_clean_name(reader->host, host, sizeof(host));
	snprintf(top, sizeof(top), "%s/terse-index-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(top)) {
		snprintf(reader->why, sizeof(reader->why), "a temporary directory: %s",
			 strerror(errno));
		return -1;
	}
	/* Reads two hours in one call, then four, eight, ..., at most all hours of a day. */
	for (int64_t span = 2; hour >= first && result == 0; span *= 2) {
		struct remote_call call = {.work = REMOTE_LIST,
					   .key = key,
					   .local = top,
					   .host = host,
					   .most = INDEX_SEGMENT};
		int64_t least = hour - span + 1 > first ? hour - span + 1 : first;
		least = least > hour - hour % 24 ? least : hour - hour % 24;
		for (int64_t at = least; at <= hour; at++)
			call.hours |= UINT32_C(1) << at % 24;
		remote_hour(hour * REMOTE_HOUR_MS, day);
		snprintf(key, sizeof(key), REMOTE_INDEX "/%.10s", day);
		/* If nothing was pushed on a day, the remote has no directory for it. */
		result = remote_run(s, &call) < 0 ? -1 : 0;
		if (result < 0)
			memcpy(reader->why, call.why, sizeof(call.why));
		else
			result = directory_walk(top, 0, index_read_segment, reader);
		hour = least - 1;
		span = span < 24 ? span : 24;
		if (result == 0 && reader->enough(reader->ctx, least * REMOTE_HOUR_MS))
			break;
	}
	io_remove_tree(top);
	return result;
}
