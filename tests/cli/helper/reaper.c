// reaper REPORT COMMAND...: runs a command and waits for every process that descends from it,
// also for those that outlive it. Writes a line "NAME MAXRSS_KB STATUS" (status as from
// waitpid) for each process to REPORT, the command itself last, and ends as the command did.
// The kernel's MAXRSS of a process is at least that of the children it waited for.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The name of a process that has ended but was not waited for. */
static void read_name(pid_t pid, char name[64])
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, name, 63);
	close(fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

static void describe(FILE *report, const char *name, const struct rusage *usage, int status)
{
	fprintf(report, "%s %ld %d\n", name, usage->ru_maxrss, status);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 125;
	FILE *report = fopen(argv[1], "we");
	if (!report || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return 125;
	pid_t command = fork();
	if (command == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	struct rusage usage, last = {.ru_maxrss = 0};
	siginfo_t info;
	char name[64], last_name[64] = "";
	int status, result = 125 << 8;
	/* WNOWAIT leaves it in /proc, so that its name can still be read. */
	while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0) {
		read_name(info.si_pid, name);
		if (wait4(info.si_pid, &status, 0, &usage) < 0)
			break;
		if (info.si_pid != command) {
			describe(report, name, &usage, status);
			continue;
		}
		memcpy(last_name, name, sizeof(name));
		last = usage;
		result = status;
	}
	describe(report, last_name, &last, result);
	if (fclose(report) != 0)
		return 125;
	return WIFEXITED(result) ? WEXITSTATUS(result) : 128 + WTERMSIG(result);
}
