// A thread that reads what a command writes while its owner renders what came before. A pty holds
// only some KB: without the thread the command would wait whenever text is scored or written to
// disk.
//
// It pays only for long outputs. The thread touches nothing but the descriptor and a ring of bytes.
// All functions are for its one owner; only reader_thread_end() blocks.
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

/* The bytes that were read, as far as they lie in one piece; up to SOURCE_CHUNK. Otherwise as
   reader_thread_read(). */
size_t reader_thread_peek(struct reader_thread *in, const char **data, int *end);

/* The first `len` bytes of it were dealt with. */
void reader_thread_consume(struct reader_thread *in, size_t len);

/* Stops the thread. Its bytes can still be consumed; the descriptor goes on behind them. */
void reader_thread_end(struct reader_thread *in);

void reader_thread_free(struct reader_thread *in);

#endif
