// See front.h.

#include "supervisor/process/front.h"

#include "shim/process.h"

#include <stdio.h>

/* Whether all children but `self` are stopped, or the kernel lists none. */
static bool are_children_stopped(pid_t pid, pid_t self)
{
	char path[64];
	struct process p;
	pid_t child;
	bool stopped = true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	FILE *children = fopen(path, "re");
	while (children && fscanf(children, "%d", &child) == 1)
		stopped &= child == self || process_read(child, &p) < 0 || p.state == 'T';
	if (children)
		fclose(children);
	return stopped;
}

/* In an orphaned group nobody would continue what is stopped for reading: the kernel does not. */
static bool is_background(const struct process *p)
{
	struct process parent;
	return p->foreground > 0 && p->foreground != p->group &&
	       process_read(p->parent, &parent) == 0 && parent.session == p->session &&
	       parent.group != p->group;
}

struct front_state front_look(pid_t pid, pid_t self)
{
	struct process p;
	struct front_state s = {.stopped = false};
	if (process_read(pid, &p) < 0)
		return s;
	s.stopped = p.state == 'T';
	s.group_stopped = s.stopped && are_children_stopped(pid, self);
	s.background = is_background(&p);
	return s;
}
