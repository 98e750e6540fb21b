// See pty.h.

#include "supervisor/process/pty.h"

#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int pty_prepare(int *fd, int flags)
{
	*fd = io_above_standard(*fd);
	if (*fd < 0 || fcntl(*fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return flags ? fcntl(*fd, F_SETFL, flags) : 0;
}

/* Where nobody types, nothing may be waited for: an editor that finds no terminal on stdin reads
   its keys from stderr. The end of a pipe can't be read either. Where the kernel can't, it stays as
   it is. */
static void make_write_only(struct pty *p)
{
	int fd = io_above_standard(ioctl(p->master, TIOCGPTPEER, O_WRONLY | O_NOCTTY | O_CLOEXEC));
	if (fd < 0)
		return;
	io_close(&p->slave);
	p->slave = fd;
}

int pty_open(struct pty *p, unsigned cols, unsigned rows, bool cooked, const struct termios *like)
{
	const struct winsize size = {.ws_col = (unsigned short)cols,
				     .ws_row = (unsigned short)rows};
	struct termios modes;
	*p = (struct pty){.master = -1, .slave = -1};
	if (openpty(&p->master, &p->slave, NULL, like, &size) < 0)
		return -1;
	if (pty_prepare(&p->master, O_RDWR | O_NONBLOCK) < 0 || pty_prepare(&p->slave, 0) < 0)
		goto fail;
	if (tcgetattr(p->slave, &modes) < 0)
		goto fail;
	modes.c_iflag |= IUTF8;
	if (!cooked) {
		modes.c_oflag &= ~(tcflag_t)OPOST;
		modes.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	}
	if (tcsetattr(p->slave, TCSANOW, &modes) < 0)
		goto fail;
	if (!cooked)
		make_write_only(p);
	return 0;
fail:
	io_close(&p->master);
	io_close(&p->slave);
	return -1;
}

int pty_resize(int master, unsigned cols, unsigned rows)
{
	const struct winsize size = {.ws_col = (unsigned short)cols,
				     .ws_row = (unsigned short)rows};
	return ioctl(master, TIOCSWINSZ, &size);
}

bool pty_is_raw(int master)
{
	struct termios modes;
	return tcgetattr(master, &modes) == 0 && !(modes.c_lflag & ICANON);
}
