// See row.h.

#include "supervisor/command/row.h"

#include "shim/shell_call.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"
#include "supervisor/report/quote.h"

#include <string.h>
#include <utf8proc.h>

/* A word in quotes if it needs some; one that a shell could only have escaped is not: it would be
   hard to read. */
static int add_word(struct buffer *out, const char *word)
{
	if (utf8_all_clean(word, strlen(word)) && !strpbrk(word, "\n\t"))
		return quote_append(out, word);
	return buffer_printf(out, "'%s'", word);
}

/* The string that terse gave to a shell, whose path it wrote in full; NULL if there is none. */
static const char *string_of(char *const *argv)
{
	bool is_string = argv && argv[0] && argv[0][0] == '/' && argv[1] && argv[2] && !argv[3] &&
			 strcmp(argv[1], "-c") == 0 &&
			 shell_call_is_shell(shell_call_name(argv[0]));
	return is_string ? argv[2] : NULL;
}

int row_add_command(struct buffer *out, const struct meta *m)
{
	const char *string = string_of(m->argv);
	if (string)
		return buffer_printf(out, m->cut ? "%s ..." : "%s", string);
	for (char **arg = m->argv; arg && *arg; arg++) {
		if (arg > m->argv && buffer_append_string(out, " ") < 0)
			return -1;
		/* A command of one word may be a shell string; it reads best as it is. */
		if (m->argv[1] ? add_word(out, *arg) < 0 : buffer_append_string(out, *arg) < 0)
			return -1;
	}
	return m->cut ? buffer_append_string(out, " ...") : 0;
}

int row_add_cell(struct buffer *out, const char *text, size_t len, size_t width)
{
	size_t used = 0, start = out->len, room = start;
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		char encoded[4];
		i += utf8_decode(text + i, len - i, &cp);
		if (cp == '\n' || cp == '\t')
			cp = ' ';
		else if (!utf8_is_clean(cp))
			cp = UTF8_REPLACEMENT;
		int cells = utf8proc_charwidth((utf8proc_int32_t)cp);
		used += cells > 0 ? (size_t)cells : 0;
		if (used > width) {
			out->len = room;
			return buffer_append_string(out, "...");
		}
		if (buffer_append(out, encoded, utf8_put(cp, encoded)) < 0)
			return -1;
		if (used + 3 <= width)
			room = out->len;
	}
	return 0;
}
