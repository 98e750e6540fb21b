// Lines as long as inih has room for, with what inih does to them from version 56 on.

#include "config/ini.h"

#include "lib/buffer.h"
#include "tests/unit/unit.h"

#include <ini.h>

/* Takes the place of inih's: lines are read as it reads them, and each is a key. */
int ini_parse_stream(ini_reader reader, void *stream, ini_handler handler, void *user)
{
	char line[200], rest[16];
	while (reader(line, sizeof(line), stream)) {
		size_t len = strlen(line);
		bool filled = len == sizeof(line) - 1 && line[len - 1] != '\n';
		while (filled && reader(rest, sizeof(rest), stream))
			filled = *rest && rest[strlen(rest) - 1] != '\n';
		if (*line == 'k')
			handler(user, "a", "k", line);
	}
	return 0;
}

struct seen {
	unsigned keys, malformed;
};

static int ini_count(void *ctx, const struct ini_line *line)
{
	struct seen *seen = ctx;
	seen->keys += line->kind == INI_KEY;
	seen->malformed += line->kind == INI_MALFORMED;
	return 0;
}

/* Three keys, of which the first one's line has `len` bytes. */
static struct seen visit_long_line(size_t len)
{
	struct buffer text = {0};
	struct seen seen = {0};
	buffer_append_string(&text, "k=");
	while (text.len < len)
		buffer_append_string(&text, "v");
	buffer_append_string(&text, "\nk=2\nk=3\n");
	assert_int_equal(buffer_check(&text), 0);
	ini_visit(text.data, text.len, ini_count, &seen);
	buffer_release(&text);
	return seen;
}

TEST(every_line_is_told)
{
	for (size_t len = 2; len < 420; len++) {
		struct seen seen = visit_long_line(len);
		assert_int_equal(seen.keys, len <= 198 ? 3 : 2);
		assert_int_equal(seen.malformed, len <= 198 ? 0 : 1);
	}
}

TEST_MAIN(NULL, NULL)
