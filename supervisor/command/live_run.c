// See internal.h.

#include "supervisor/command/internal.h"

#include "config/settings.h"
#include "lib/io.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Connects to a run that has no artifact yet. Returns a descriptor, or -1 with errno. */
static int live_run_open(const struct verb_call *c, const struct store *stores, int count,
			 const char *id)
{
	errno = ENOENT;
	return id_is_valid(id) && verb_reaches(c, stores, count, id)
		       ? client_open(stores, count, id)
		       : -1;
}

int live_run_find(const struct verb_call *c, const char *name, int *run, char id[ID_LEN + 1],
		  bool needed)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	bool kept = verb_find(c, name, stores, &count, &found) == 0;
	int why = errno;
	const struct service named = {.name = name};
	char service[ID_LEN + 1];
	if (!kept && !id_is_valid(name) && service_find(&named, stores, count, service)) {
		store_close_all(stores, count);
		return live_run_find(c, service, run, id, needed);
	}
	snprintf(id, ID_LEN + 1, "%s", kept ? found.id : name);
	*run = kept ? client_open(stores, count, id) : live_run_open(c, stores, count, name);
	int result = *run < 0 ? -1 : 0;
	if (result < 0 && !kept) {
		/* An older run is meant only while it lives. */
		int older = *found.id ? client_open(stores, count, found.id) : -1;
		if (older < 0)
			found.id[0] = '\0';
		io_close(&older);
		if (!needed && verb_tell_last(c, name, why, &found, true))
			result = 2;
		else
			verb_not_found(c, name, why, &found);
	} else if (result < 0 && errno == ENOENT && !needed) {
		result = 1;
	} else if (result < 0) {
		live_run_failed(c, id, errno);
	}
	store_close_all(stores, count);
	return result;
}

bool live_run_is_own(const struct verb_call *c, const char *id)
{
	char directory[STORE_SESSION_LEN + 1], owner[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	int count = store_open_everywhere(stores);
	verb_session_name(c->settings, c->session, directory);
	bool own = id_session(stores, count, id, owner) == 0 && strcmp(owner, directory) == 0;
	store_close_all(stores, count);
	return own;
}

int live_run_text(const struct verb_call *c, const struct store *stores, int count,
		  const char *name)
{
	struct live_status now;
	int run = live_run_open(c, stores, count, name);
	int result = run < 0 ? -1 : client_status(run, FRAME_WATCH, &now);
	io_close(&run);
	return result;
}

void live_run_failed(const struct verb_call *c, const char *id, int error)
{
	const char *verb = c->verb->name;
	switch (error) {
	case ENOENT:
	case EPIPE:
	case ESRCH:
		verb_error(verb, "%s: has ended (%s%s)", id, vocabularies[c->settings->words].read,
			   id);
		break;
	case ENOTTY:
		verb_error(verb,
			   "%s: has no terminal to type into (start it with --yield, --detach or "
			   "--tty)",
			   id);
		break;
	case EPROTONOSUPPORT:
		verb_error(verb, "%s: runs under another version of terse", id);
		break;
	case EBUSY: verb_error(verb, "%s: has too many clients", id); break;
	case ETIMEDOUT:
	case EAGAIN: verb_error(verb, "%s: its supervisor does not answer", id); break;
	default: verb_error(verb, "%s: %s", id, strerror(error)); break;
	}
}
