// terse version: the version, and the commit that was built (the Makefile passes it).

#include "supervisor/command/verb.h"

#include <stdio.h>

/* Empty where it is not known. */
#ifndef TERSE_COMMIT
#define TERSE_COMMIT ""
#endif

static int version_run(struct verb_call *c)
{
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	printf(*TERSE_COMMIT ? "terse %s (%s)\n" : "terse %s\n", TERSE_VERSION, TERSE_COMMIT);
	return 0;
}

const struct verb verb_version = {
	.name = "version",
	.also = {"--version", "-V", "-v"},
	.purpose = "print the version",
	.forms = "",
	.text = "Prints the version and the commit it was built from.\n",
	.run = version_run,
};
