// See step.h.

#include "supervisor/wiring/step.h"

#include "supervisor/report/quote.h"
#include "supervisor/wiring/jsonc.h"
#include "supervisor/wiring/markers.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int step_refuse(const struct step *s, const char *text, size_t at, int error, const char *format,
		...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->error->text, sizeof(s->error->text), format, args);
	va_end(args);
	s->error->line = jsonc_line(text, at);
	errno = error;
	return -1;
}

/* --- what an item's value is ------------------------------------------------------------ */

int step_quote(struct buffer *out, const char *string)
{
	json_t *value = json_string(string);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	int status = text ? buffer_append_string(out, text) : -1;

	free(text);
	json_decref(value);
	return status;
}

/* `terse hook ...` as a shell reads it. */
int step_command(struct buffer *out, const struct step *s)
{
	return quote_append(out, s->place->program) < 0 ||
			       buffer_printf(out, " hook %s", s->item->hook) < 0
		       ? -1
		       : 0;
}

/* Puts `inside` where the template has %s. */
static int step_fill(struct buffer *out, const char *template, const struct buffer *inside)
{
	const char *at = strstr(template, "%s");
	size_t before = at ? (size_t)(at - template) : strlen(template);

	int status = buffer_append(out, template, before);

	if (at) {
		status |= buffer_append(out, inside->data, inside->len);
		status |= buffer_append_string(out, at + 2);
	}
	return status;
}

/* The value as it stands in the file; NUL-terminated. */
int step_value(struct buffer *out, const struct step *s)
{
	const struct wiring_item *item = s->item;
	struct buffer command = BUFFER_INIT, quoted = BUFFER_INIT;
	int status = 0;

	switch (item->kind) {
	case WIRING_STRING: status = step_quote(out, s->place->shell); break;
	case WIRING_HOOK:
		status = step_command(&command, s);
		if (status == 0 && buffer_string(&command))
			status = step_quote(&quoted, command.data) < 0 ||
						 step_fill(out, item->value, &quoted) < 0
					 ? -1
					 : 0;
		break;
	case WIRING_FILE:
		status = step_quote(&quoted, s->place->program) < 0 ||
					 step_fill(out, item->value, &quoted) < 0
				 ? -1
				 : 0;
		break;
	case WIRING_LINES:
		status = buffer_printf(out, LINES_BEGIN "\n%s" LINES_END "\n", wiring_lines);
		break;
	case WIRING_PRESENT:
	case WIRING_TOML: status = buffer_append_string(out, item->value); break;
	}
	buffer_release(&command);
	buffer_release(&quoted);
	return status == 0 && buffer_string(out) ? 0 : -1;
}

const char *step_place(const struct step *s)
{
	if (strcmp(s->item->value, "library") == 0)
		return s->place->library;
	return strcmp(s->item->value, "shell") == 0 ? s->place->shell : s->place->bash_env;
}

static bool step_ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Whether a string of the file is one that terse wrote, wherever it was then. */
bool step_is_own(const struct step *s, const char *value)
{
	char end[64];

	if (s->item->kind == WIRING_HOOK) {
		snprintf(end, sizeof(end), " hook %s", s->item->hook);
		return step_ends_with(value, end);
	}
	if (s->item->kind == WIRING_TOML) {
		const char *name = strcmp(s->item->value, "library") == 0 ? "/libterse-shim.so"
				   : strcmp(s->item->value, "shell") == 0
					   ? "/terse-sh"
					   : "/bash-env" PLACE_UNLESS_VERBOSE;
		return step_ends_with(value, name);
	}
	return step_ends_with(value, "/terse-sh");
}
