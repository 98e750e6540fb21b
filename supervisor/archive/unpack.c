// See unpack.h.

#include "supervisor/archive/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const unpack_names[UNPACK_PARTS] = {
	[UNPACK_JSON] = "json", [UNPACK_TEXT] = "txt",  [UNPACK_ERR] = "err.txt",
	[UNPACK_RAW] = "raw",   [UNPACK_CAST] = "cast",
};

static int unpack_refuse(void)
{
	errno = EBADMSG;
	return -1;
}

/* A blank and a number up to UNPACK_MAX, without needless zeros. Moves *at behind them. */
static bool unpack_take_number(const char **at, uint64_t *n)
{
	const char *c = *at;
	if (*c++ != ' ' || *c < '0' || *c > '9' || (*c == '0' && c[1] >= '0' && c[1] <= '9'))
		return false;
	for (*n = 0; *c >= '0' && *c <= '9'; c++) {
		*n = *n * 10 + (uint64_t)(*c - '0');
		if (*n > UNPACK_MAX)
			return false;
	}
	*at = c;
	return true;
}

static int begin_part(struct unpack *u)
{
	uint64_t len;
	size_t i = 0, n = strcspn(u->line, " ");
	if (strcmp(u->line, "end") == 0 && u->begun[UNPACK_TEXT]) {
		u->state = UNPACK_END;
		return 0;
	}
	while (i < UNPACK_PARTS &&
	       (strlen(unpack_names[i]) != n || memcmp(u->line, unpack_names[i], n) != 0))
		i++;
	const char *at = u->line + n;
	if (i == UNPACK_PARTS || !unpack_take_number(&at, &u->offset) ||
	    !unpack_take_number(&at, &len) || *at || u->offset + len > UNPACK_MAX ||
	    u->offset < u->ends[i])
		return unpack_refuse();
	bool json = i == UNPACK_JSON;
	if (json ? u->begun[UNPACK_JSON] || u->offset > 0 || len == 0 : !u->begun[UNPACK_JSON])
		return unpack_refuse();
	u->begun[i] = true;
	u->part = (enum unpack_part)i;
	u->ends[i] = u->offset + len;
	u->left = len;
	if (len > 0)
		u->state = UNPACK_BODY;
	else
		return u->data(u->ctx, u->part, u->offset, NULL, 0);
	return 0;
}

/* Collects a line; returns how many bytes of it there were, or -1. */
static long unpack_take_line(struct unpack *u, const char *data, size_t len)
{
	size_t n = 0;
	while (n < len && data[n] != '\n') {
		if (u->line_len == UNPACK_LINE - 1 || data[n] == '\0')
			return unpack_refuse();
		u->line[u->line_len++] = data[n++];
	}
	if (n == len)
		return (long)n;
	u->line[u->line_len] = '\0';
	u->line_len = 0;
	if (u->state == UNPACK_HEAD)
		return begin_part(u) < 0 ? -1 : (long)n + 1;
	if (strncmp(u->line, UNPACK_MAGIC, strlen(UNPACK_MAGIC) - 1) != 0 ||
	    strlen(u->line) != strlen(UNPACK_MAGIC) - 1)
		return unpack_refuse();
	u->state = UNPACK_HEAD;
	return (long)n + 1;
}

int unpack_feed(struct unpack *u, const char *data, size_t len)
{
	while (len > 0) {
		size_t n = len;
		if (u->state == UNPACK_END)
			return unpack_refuse();
		if (u->state == UNPACK_BODY) {
			if (n > u->left)
				n = (size_t)u->left;
			if (u->data(u->ctx, u->part, u->offset, data, n) < 0)
				return -1;
			u->offset += n;
			u->left -= n;
			if (u->left == 0)
				u->state = UNPACK_HEAD;
		} else {
			long taken = unpack_take_line(u, data, len);
			if (taken < 0)
				return -1;
			n = (size_t)taken;
		}
		data += n;
		len -= n;
	}
	return 0;
}

bool unpack_is_complete(const struct unpack *u)
{
	return u->state == UNPACK_END;
}
