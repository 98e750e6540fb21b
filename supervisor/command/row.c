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
	for (const char *at = word, *end = word + strlen(word); at < end;) {
		uint32_t cp;
		at += utf8_decode(at, (size_t)(end - at), &cp);
		if (!quote_is_plain(cp))
			return buffer_printf(out, "'%s'", word);
	}
	return quote_append(out, word);
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
	size_t used = 0, room = out->len;
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t cp;
		size_t before = out->len;
		n = utf8_decode(text + i, len - i, &cp);
		bool blank = cp == '\n' || cp == '\t';
		if (quote_text(out, blank ? " " : text + i, n, 0) < 0)
			return -1;
		int cells = utf8proc_charwidth((utf8proc_int32_t)cp);
		used += out->len - before != n ? out->len - before
			: cells > 0            ? (size_t)cells
					       : blank;
		if (used > width) {
			out->len = room;
			return buffer_append_string(out, "...");
		}
		if (used + 3 <= width)
			room = out->len;
	}
	return 0;
}
