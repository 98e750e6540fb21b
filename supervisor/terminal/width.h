// How many columns a character takes.
#ifndef TERSE_TERMINAL_WIDTH_H
#define TERSE_TERMINAL_WIDTH_H

#include <stdint.h>

/* 0 (combining marks, joiners, format characters), 1 or 2 (East Asian wide,
   emoji). utf8proc's tables, made to agree with xterm and other terminals where
   these differ: see width.c. `cp` is no control character. */
unsigned width_of(uint32_t cp);

#endif
