// Hashes under which lines are counted: how often does a line like this occur?
#ifndef TERSE_PREVIEW_SHAPE_H
#define TERSE_PREVIEW_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#define SHAPE_SEED 2166136261u

/* FNV-1a of more bytes behind those of `hash`, which is SHAPE_SEED at first. */
uint32_t shape_hash(uint32_t hash, const char *data, size_t len);

/* The same for messages that differ only in blanks, numbers other than 0, hashes
   and what follows the first directory of paths. */
uint32_t shape_of(const char *text, size_t len);

/* The same for messages whose first token differs only in numbers. */
uint32_t shape_of_opening(const char *text, size_t len);

#endif
