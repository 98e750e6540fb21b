// See internal.h.

#include "supervisor/command/internal.h"

#include "lib/active.h"
#include "lib/human.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void followup_add(struct followup *f, const char *data, size_t len)
{
	if (!f->is_counted)
		return;
	f->bytes += len;
	tokens_feed(&f->tokens, data, len);
}

void followup_keep(const struct followup *f, int dir, const char *id)
{
	struct journal_read read = {.at_ms = clock_real_ms(),
				    .inside = active_is_inside(getenv(ACTIVE_NAME))};
	bool inside_person = read.inside && active_has_person(getenv(ACTIVE_NAME));
	if (!*id || isatty(STDOUT_FILENO) || inside_person)
		return;
	memcpy(read.id, id, sizeof(read.id));
	read.bytes = f->bytes;
	read.tokens = tokens_estimate(&f->tokens);
	/* Statistics are worth no error. */
	journal_add_read(dir, &read);
}
