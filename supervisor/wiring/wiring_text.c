// Lines for a model, and whole files; see step.h.

#include "supervisor/wiring/markers.h"
#include "supervisor/wiring/step.h"

#include <errno.h>
#include <string.h>

/* The block between the markers: its start and the end of its last line. */
static bool find_lines(const struct buffer *t, size_t *from, size_t *to)
{
	const char *begin = memmem(t->data, t->len, LINES_BEGIN, strlen(LINES_BEGIN)), *end;

	if (!begin)
		return false;
	*from = (size_t)(begin - t->data);
	end = memmem(begin, t->len - *from, LINES_END, strlen(LINES_END));
	if (!end)
		return false;
	*to = (size_t)(end - t->data) + strlen(LINES_END);
	*to += *to < t->len && t->data[*to] == '\n';
	return true;
}

int step_add_lines(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct buffer value = BUFFER_INIT;
	size_t from = t->len, to = t->len;
	bool there = find_lines(t, &from, &to);
	int status = step_value(&value, s) < 0 || buffer_append(out, t->data, from) < 0 ? -1 : 0;

	if (!there && from && t->data[from - 1] != '\n')
		status |= buffer_append(out, "\n", 1);
	if (!there && from)
		status |= buffer_append(out, "\n", 1);
	status |= buffer_append(out, value.data, value.len);
	status |= buffer_append(out, t->data + to, t->len - to);
	buffer_release(&value);
	return status;
}

int step_drop_lines(struct buffer *out, const struct buffer *t)
{
	size_t from, to;

	if (!find_lines(t, &from, &to))
		return buffer_append(out, t->data, t->len);
	/* The blank line above. */
	if (from >= 2 && memcmp(t->data + from - 2, "\n\n", 2) == 0)
		from--;
	return buffer_append(out, t->data, from) < 0 ||
			       buffer_append(out, t->data + to, t->len - to) < 0
		       ? -1
		       : 0;
}

/* Whether the file is one of terse's: by its first line. */
static bool is_own_file(const struct buffer *t, const struct wiring_item *item)
{
	size_t line = strcspn(item->value, "\n");

	return t->len > line && memcmp(t->data, item->value, line) == 0;
}

int step_add_file(struct buffer *out, const struct buffer *t, const struct step *s)
{
	if (t->len && !is_own_file(t, s->item))
		return step_refuse(s, "", 0, EEXIST, "there is such a file already");
	return step_value(out, s);
}

int step_drop_file(struct buffer *out, const struct buffer *t, const struct step *s)
{
	return is_own_file(t, s->item) ? 0 : buffer_append(out, t->data, t->len);
}
