// terse drop ID...: removes artifacts.

#include "supervisor/artifact/removal.h"
#include "supervisor/base/human.h"
#include "supervisor/base/io.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int drop_print(const char *id, const char *what, const char *size)
{
	if (printf("%s: %s%s\n", id, what, size) < 0 || fflush(stdout) == EOF)
		return 1;
	return 0;
}

static int drop_found(const char *verb, const struct id_found *found)
{
	char size[HUMAN_LEN];
	uint64_t freed = 0;
	int dir = store_open_session(found->store, found->session, false);
	enum removal result =
		dir < 0 ? REMOVAL_FAILED
			: removal_of(found->store, found->session, dir, found->id, &freed);
	int status = 1;
	switch (result) {
	case REMOVAL_DONE:
		status = drop_print(found->id, "removed, freed ", human_size(size, freed));
		break;
	case REMOVAL_ABSENT: status = drop_print(found->id, "is not there (any more)", ""); break;
	case REMOVAL_RUNNING:
		verb_error(verb, "%s: still in use by its run, not removed", found->id);
		break;
	case REMOVAL_FAILED: verb_error(verb, "%s: %m", found->id); break;
	}
	io_close(&dir);
	return status;
}

/* What a name on the command line means. */
struct target {
	const char *name;
	struct id_found found;
	int error; /* 0: found */
};

static int drop_one(const char *verb, const struct target *t)
{
	if (!t->error)
		return drop_found(verb, &t->found);
	if (t->error == ENOENT && id_is_valid(t->name))
		return drop_print(t->name, "is not there (any more)", "");
	verb_not_found(verb, t->name, t->error, &t->found);
	return 1;
}

/* Finds all of them before the first is removed: "last-1" would mean another one then. */
static int drop_all(const char *verb, const struct settings *settings, const char *session,
		    const char **names, size_t count)
{
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	struct target *targets = calloc(count, sizeof(*targets));
	int status = 0, stored = verb_open_stores(verb, stores, &status);
	verb_session(settings, session, directory);
	if (!targets) {
		verb_error(verb, "%m");
		status = 1;
	}
	for (size_t i = 0; targets && i < count; i++) {
		struct target *t = &targets[i];
		t->name = names[i];
		if (id_find(stores, stored, directory, t->name, &t->found) < 0)
			t->error = errno;
	}
	for (size_t i = 0; targets && i < count; i++)
		status |= drop_one(verb, &targets[i]);
	free(targets);
	while (stored > 0)
		store_close(&stores[--stored]);
	return status;
}

int command_drop(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL;
	const struct verb_option table[] = {
		{"--session", VERB_TEXT, &session},
		{NULL, VERB_FLAG, NULL},
	};
	const char **names = calloc((size_t)argc, sizeof(*names));
	int status = EXIT_TERSE;
	int operands = names ? verb_parse(table, argc, argv, names, argc) : -1;
	if (!names)
		verb_error(argv[0], "%m");
	if (operands == 0)
		verb_error(argv[0], "which artifacts? terse drop ID...");
	if (operands > 0)
		status = drop_all(argv[0], c->settings, session, names, (size_t)operands);
	free(names);
	return status;
}
