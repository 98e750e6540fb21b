// Lines as long as inih has room for: from version 56 on it takes a line that fills its room for
// the start of a longer one, and skips the next.

#include "config/settings.h"

#include "lib/buffer.h"
#include "tests/unit/unit.h"

#include <ini.h>

static unsigned lines;

/* Takes the place of inih's. */
int ini_parse_stream(ini_reader reader, void *stream, ini_handler handler, void *user)
{
	char line[200];
	while (reader(line, sizeof(line), stream)) {
		assert_true(strlen(line) < sizeof(line) - 1);
		if (*line == 'c') {
			handler(user, "terminal", "cols", "100");
			lines++;
		}
	}
	return 0;
}

TEST(no_line_fills_its_room)
{
	for (size_t len = 8; len < 420; len++) {
		struct buffer text = BUFFER_INIT, messages = BUFFER_INIT;
		buffer_append_string(&text, "[terminal]\ncols=100");
		while (text.len < strlen("[terminal]\n") + len)
			buffer_append_string(&text, "0");
		buffer_append_string(&text, "\ncols=2\ncols=3\n");
		lines = 0;
		assert_int_equal(settings_check_text(ORIGIN_USER, "t.ini", text.data, text.len,
						     &messages, NULL),
				 len > 198);
		assert_int_equal(lines, len > 198 ? 2 : 3);
		buffer_release(&text);
		buffer_release(&messages);
	}
}

TEST_MAIN(NULL, NULL)
