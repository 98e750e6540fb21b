// See proc.h.

#include "supervisor/process/proc.h"

#include "supervisor/base/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int proc_read(pid_t pid, struct proc *p)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (io_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return -1;
	/* "PID (NAME) STATE PPID ...": the name may hold anything, so look from the end. */
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (!open || !close || close < open)
		return -1;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(close - open - 1), open + 1);
	return sscanf(close + 1, " %c %d %d %d", &p->state, &p->parent, &p->group, &p->session) == 4
		       ? 0
		       : -1;
}
