// The current screen as bytes for another terminal of the same size.
#ifndef TERSE_TERMINAL_REPAINT_H
#define TERSE_TERMINAL_REPAINT_H

struct buffer;
struct terminal;

/* Resets the terminal, and puts there what is on the screen (without its colours), the cursor, and
   the modes that the program has set for keys and mouse. Returns 0, or -1 with ENOMEM. */
int terminal_repaint(const struct terminal *t, struct buffer *out);

/* What sets every mode of terminal_repaint() back. */
extern const char terminal_unpaint[];

#endif
