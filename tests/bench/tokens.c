// Prints for each file the estimate of lib/tokens.h and the counts behind it, one file a line.

#include "lib/tokens.h"
#include "lib/io.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char block[65536];
	for (int i = 1; i < argc; i++) {
		struct tokens t = {.run = 0};
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		ssize_t n;
		if (fd < 0) {
			perror(argv[i]);
			return 1;
		}
		while ((n = io_read(fd, block, sizeof(block))) > 0)
			tokens_feed(&t, block, (size_t)n);
		close(fd);
		printf("%" PRIu64, tokens_estimate(&t));
		for (int feature = 0; feature < TOKENS_FEATURES; feature++)
			printf(" %" PRIu64, t.count[feature]);
		printf("\n");
	}
	return 0;
}
