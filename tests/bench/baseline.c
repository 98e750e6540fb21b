// The least that a program does which runs a command under a pty: openpty,
// fork, exec, drain. The cost of terse is measured against this.
//   baseline COMMAND [ARG...]

#include <pty.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char data[65536];
	struct termios modes;
	int master, slave, status = 0;
	if (argc < 2 || openpty(&master, &slave, NULL, NULL, NULL) < 0)
		return 125;
	/* As terse does: bytes pass unchanged, which is several times faster. */
	tcgetattr(slave, &modes);
	modes.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(slave, TCSANOW, &modes);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(slave, STDOUT_FILENO);
		dup2(slave, STDERR_FILENO);
		close(master);
		close(slave);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	close(slave);
	while (read(master, data, sizeof(data)) > 0)
		;
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return 125;
	return WEXITSTATUS(status);
}
