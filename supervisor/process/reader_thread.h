// A thread that takes what a command writes while its owner deals with what came
// before. A pty holds only some KB: without it the command waits whenever the text is
// judged or written to disk.
//
// Worth it only when there is much. The thread touches nothing but the descriptor and
// a ring of bytes. All functions are for the one owner; none blocks but reader_thread_end().
#ifndef TERSE_PROCESS_READER_THREAD_H
#define TERSE_PROCESS_READER_THREAD_H

#include <stddef.h>

struct reader_thread;

/* One read of a non-blocking pty master or pipe. Returns how many bytes came; 0: *end tells why
   (EAGAIN, 0 at the end of a pipe, EIO at that of a pty, ...), else it is -1. */
size_t reader_thread_read(int fd, char *data, size_t len, int *end);

/* Reads `fd` (non-blocking; it stays the owner's) from here on. NULL: there is one
   processor, no memory or no thread to be had. */
struct reader_thread *reader_thread_begin(int fd);

/* Becomes readable when there is something to take or the end was reached. */
int reader_thread_poll_fd(const struct reader_thread *in);

/* What came, as far as it lies in one piece; up to SOURCE_CHUNK bytes. The rest is as in
   reader_thread_read(). */
size_t reader_thread_peek(struct reader_thread *in, const char **data, int *end);

/* The first `len` bytes of it were dealt with. */
void reader_thread_take(struct reader_thread *in, size_t len);

/* Stops the thread. What it has read can still be taken; then the descriptor goes on
   from there. */
void reader_thread_end(struct reader_thread *in);

void reader_thread_free(struct reader_thread *in);

#endif
