// The words of a shell string, for words.c alone.
//
// Every function moves r->at on. Those that return a number return 0, or -1 with r->failure set if
// the string's meaning is unclear; that is final.
#ifndef TERSE_CONFIG_WORDS_READER_H
#define TERSE_CONFIG_WORDS_READER_H

#include "config/words.h"

#include <stdbool.h>

/* A here-document: its body starts behind the next newline. */
struct heredoc {
	const char *delimiter; /* as it is written, with quotes */
	bool tabs;             /* <<-: its lines may have tabs in front */
};

enum { HEREDOCS_MAX = 8 };

struct words_reader {
	const char *at; /* in the string, which ends with a NUL */
	struct words *words;
	char *text; /* where the next word goes in words->text; there is room for all */
	size_t word_room, command_room;
	unsigned hidden; /* > 0 within expansions: nothing is noted */
	unsigned depth;
	struct heredoc heredocs[HEREDOCS_MAX];
	size_t heredoc_count;
	int failure; /* errno; 0 while all is well */
};

/* Returns -1. */
int words_fail(struct words_reader *r, int failure);

/* Reads the commands of an expansion, up to and behind its closing parenthesis; notes nothing
   (words.c). */
int words_read_nested(struct words_reader *r);

/* Skips blanks, and newlines behind a backslash. */
void words_skip_blanks(struct words_reader *r);

/* Reads one word: adds its text to r->text, with a NUL. Fails where no word starts. */
int words_read_word(struct words_reader *r);

/* Reads one word without its text. */
int words_skip_word(struct words_reader *r);

/* Skips from the bracket at r->at to behind the one that closes it; respects quotes and
   expansions. */
int words_skip_brackets(struct words_reader *r, char open, char close);

/* Whether a redirection starts here. */
bool words_at_redirection(const struct words_reader *r);

/* Reads a redirection. Sets *into to WORDS_NOWHERE if it takes the standard output away, and to
   WORDS_OUT if it brings it back. */
int words_read_redirection(struct words_reader *r, int *into);

/* Skips the newline at r->at and the here-documents that start behind it. */
void words_skip_newline(struct words_reader *r);

#endif
