// burst SEED SIZE: prints SIZE bytes and exits at once. The bytes are the lines "SEED:00000000
// abc...\n" with a rising number, cut at SIZE, so that any byte that is lost, doubled or moved
// shows.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 3)
		return 125;
	size_t size = strtoul(argv[2], NULL, 10), len = 0;
	char *text = malloc(size + 128);
	if (!text)
		return 125;
	for (unsigned long i = 0; len < size; i++)
		len += (size_t)snprintf(text + len, 128, "%s:%08lu abcdefghijklmnopqrstuvwxyz\n",
					argv[1], i);
	for (size_t done = 0; done < size;) {
		ssize_t n = write(STDOUT_FILENO, text + done, size - done);
		if (n < 0)
			_exit(124);
		done += (size_t)n;
	}
	_exit((int)(strtoul(argv[1], NULL, 10) % 251));
}
