// victim FD MODE: a command and its child that tell by packets of the socket FD what signals they
// get: "WHO SIGNAL" or, where it was queued, "WHO SIGNAL VALUE PID of the sender"; WHO is "command"
// or "child". "ready PID of the child" comes first. The child answers a packet by "alive".
//
// MODE: what both do with signals. `handled`: all that can be; `ignored`: all but SIGRTMAX, which
// is handled; `default`: nothing; `given`: as `default`, with what was inherited.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int out;
static const char *who = "command";

static char *append(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static char *append_number(char *at, int number)
{
	char digits[12];
	int count = 0;
	*at++ = ' ';
	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

static void tell(int sig, siginfo_t *info, void *context)
{
	char text[64], *at = append_number(append(text, who), sig);
	(void)context;
	if (info->si_code == SI_QUEUE)
		at = append_number(append_number(at, info->si_value.sival_int), info->si_pid);
	send(out, text, (size_t)(at - text), 0);
}

static void set_signals(const char *mode)
{
	struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigfillset(&action.sa_mask);
	for (int sig = 1; sig <= SIGRTMAX && strcmp(mode, "given") != 0; sig++) {
		if (strcmp(mode, "handled") == 0 ||
		    (strcmp(mode, "ignored") == 0 && sig == SIGRTMAX))
			sigaction(sig, &action, NULL);
		else
			signal(sig, strcmp(mode, "ignored") == 0 ? SIG_IGN : SIG_DFL);
	}
}

_Noreturn static void be_child(void)
{
	char text[32];
	who = "child";
	snprintf(text, sizeof(text), "ready %d", (int)getpid());
	send(out, text, strlen(text), 0);
	while (recv(out, text, sizeof(text), 0) > 0)
		send(out, "alive", 5, 0);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 125;
	out = atoi(argv[1]);
	set_signals(argv[2]);
	if (fork() == 0)
		be_child();
	for (;;)
		pause();
}
