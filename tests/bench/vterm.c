// The output of a terminal emulator library, for comparison: standard input through libvterm, the
// rows that scroll off and the last screen to standard output, as text without trailing blanks.
//   vterm COLS ROWS
// Built where libvterm is (Debian: libvterm-dev).

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vterm.h>

static void put(uint32_t c)
{
	if (c < 0x80) {
		putchar((int)c);
		return;
	}
	if (c < 0x800) {
		putchar((int)(0xC0 | c >> 6));
	} else if (c < 0x10000) {
		putchar((int)(0xE0 | c >> 12));
		putchar((int)(0x80 | (c >> 6 & 0x3F)));
	} else {
		putchar((int)(0xF0 | c >> 18));
		putchar((int)(0x80 | (c >> 12 & 0x3F)));
		putchar((int)(0x80 | (c >> 6 & 0x3F)));
	}
	putchar((int)(0x80 | (c & 0x3F)));
}

static int print_row(int cols, const VTermScreenCell *cells, void *user)
{
	int used = cols;
	(void)user;
	while (used > 0 && (cells[used - 1].chars[0] == 0 || cells[used - 1].chars[0] == ' '))
		used--;
	for (int x = 0; x<used; x += cells[x].width> 1 ? cells[x].width : 1) {
		if (cells[x].chars[0] == 0)
			putchar(' ');
		for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cells[x].chars[i]; i++)
			put(cells[x].chars[i]);
	}
	putchar('\n');
	return 1;
}

int main(int argc, char **argv)
{
	static const VTermScreenCallbacks callbacks = {.sb_pushline = print_row};
	static char data[65536];
	int cols = argc == 3 ? atoi(argv[1]) : 0;
	int rows = argc == 3 ? atoi(argv[2]) : 0;
	VTerm *vt = cols > 1 && rows > 1 ? vterm_new(rows, cols) : NULL;
	VTermScreenCell *cells = vt ? calloc((size_t)cols, sizeof(*cells)) : NULL;
	ssize_t n;
	if (!cells) {
		fputs("usage: vterm COLS ROWS\n", stderr);
		return 2;
	}
	vterm_set_utf8(vt, 1);
	VTermScreen *screen = vterm_obtain_screen(vt);
	vterm_screen_set_callbacks(screen, &callbacks, NULL);
	vterm_screen_reset(screen, 1);
	/* A newline also returns to the first column, as terse filter takes it. */
	vterm_input_write(vt, "\033[20h", 5);
	while ((n = read(STDIN_FILENO, data, sizeof(data))) > 0)
		vterm_input_write(vt, data, (size_t)n);
	for (int y = 0; y < rows; y++) {
		for (int x = 0; x < cols; x++)
			vterm_screen_get_cell(screen, (VTermPos){.row = y, .col = x}, &cells[x]);
		print_row(cols, cells, NULL);
	}
	free(cells);
	vterm_free(vt);
	return n == 0 && fflush(stdout) == 0 ? 0 : 1;
}
