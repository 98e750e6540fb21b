// The names of the verbs, once: for the profile of terse's own verbs, and for the table of them
// (supervisor/verbs.c).
#ifndef TERSE_CONFIG_VERBS_H
#define TERSE_CONFIG_VERBS_H

/* In the order of `terse help`. OWN, and FIRST of these: what a verb prints has the size that was
   asked for. OTHER: it runs another program, or previews a text. */
// clang-format off
#define VERBS(FIRST, OWN, OTHER) \
	OTHER(run) FIRST(read) OWN(search) OWN(changes) OWN(show) OWN(list) OWN(history) \
	OWN(stats) OWN(report) OWN(await) OWN(send) OWN(snapshot) OWN(attach) OWN(signal) \
	OWN(replay) OWN(path) OWN(session) OWN(rewind) OWN(drop) OWN(gc) OWN(archive) \
	OWN(unarchive) OWN(push) OTHER(filter) OWN(config) OTHER(agent) OTHER(probe) OWN(init) \
	OTHER(hook) OWN(mcp) OWN(doctor) OWN(help) OWN(version) OTHER(complete)
// clang-format on

#endif
