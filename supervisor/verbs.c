// The list of verbs: a new one is a word here (docs/CONTRIBUTING.md).

#include "supervisor/command/verb.h"

/* In the order of `terse help`. */
// clang-format off
#define VERBS(X) \
	X(run) X(read) X(search) X(changes) X(show) X(list) X(history) X(stats) X(report) \
	X(await) X(send) X(snapshot) X(attach) X(signal) X(replay) X(path) X(session) \
	X(rewind) X(drop) X(gc) X(archive) X(unarchive) X(push) X(filter) X(config) X(agent) \
	X(probe) X(init) X(hook) X(mcp) X(doctor) X(help) X(version) X(complete)
// clang-format on

#define DECLARE(name) extern const struct verb verb_##name;
#define ENTRY(name)   &verb_##name,

VERBS(DECLARE)

const struct verb *const verbs[] = {VERBS(ENTRY) NULL};
