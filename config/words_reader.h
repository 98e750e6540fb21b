// The reader of shell strings behind words.h, for the files words*.c alone.
//
// Every function moves r->at on. Those that return a number return 0, or -1 if it
// can't be told what the string means, with r->failure set; that is final.
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

/* What ends a list of commands. */
enum words_ending {
	END_STRING,
	END_PARENTHESIS,
	END_BRACE,
	END_IF,
	END_LOOP,
	END_CLAUSE, /* of a case: ;; or esac, which is left */
};

/* Add a word; make those from `first` on a command. Both do nothing where nothing is noted
   (words.c). */
int words_note(struct words_reader *r, char *text);
int words_note_command(struct words_reader *r, size_t first, int into);

/* What the commands from `first` to before `end` still let out goes there (words.c). */
void words_lead(struct words_reader *r, size_t first, size_t end, int into);

/* Commands up to and behind what ends them (words_list.c). */
int words_read_list(struct words_reader *r, enum words_ending ending);

/* One command, simple or not, with its redirections (words_list.c). */
int words_read_element(struct words_reader *r);

/* Blanks, comments and newlines (words_list.c). */
void words_skip_lines(struct words_reader *r);

/* If the plain word `word` stands here, moves behind it (words_list.c). */
bool words_take(struct words_reader *r, const char *word);

/* The commands of an expansion, up to its closing parenthesis and behind it; nothing is noted
 * (words_list.c). */
int words_read_nested(struct words_reader *r);

/* Blanks, and newlines behind a backslash (words_reader.c). */
void words_skip_blanks(struct words_reader *r);

/* One word: its text is added to r->text, with a NUL. Fails where none starts (words_reader.c). */
int words_read_word(struct words_reader *r);

/* The same for a word that nobody asks for. */
int words_skip_word(struct words_reader *r);

/* What is between the bracket at r->at and the one that closes it; only quotes and expansions are
   looked at (words_reader.c). */
int words_skip_brackets(struct words_reader *r, char open, char close);

/* Whether a redirection starts here (words_reader.c). */
bool words_at_redirection(const struct words_reader *r);

/* Reads it. Sets *into to WORDS_NOWHERE if it takes the standard output away, and to WORDS_OUT if
   it brings it back. */
int words_read_redirection(struct words_reader *r, int *into);

/* The newline at r->at and the here-documents that wait for it. */
void words_skip_newline(struct words_reader *r);

#endif
