// terse version

#include "supervisor/command/command.h"

#include <stdio.h>

int command_version(struct command_context *c, int argc, char **argv)
{
	(void)c, (void)argc, (void)argv;
	puts("terse " TERSE_VERSION);
	return 0;
}
