// See words.h. The grammar is in words_list.c (lists of simple commands),
// words_list.c (loops and the like), words_reader.c and words_reader.c.

#include "config/words.h"

#include "config/words_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int words_fail(struct words_reader *r, int failure)
{
	r->failure = failure;
	return -1;
}

/* Makes room for one more in an array of `count` that has room for `*room`, of `size` bytes each.
   Returns the array, or NULL with r->failure set. */
static void *words_grow(struct words_reader *r, void *array, size_t count, size_t *room,
			size_t size)
{
	size_t more = *room ? 2 * *room : 32;

	if (count < *room)
		return array;
	array = realloc(array, more * size);
	if (array)
		*room = more;
	else
		words_fail(r, ENOMEM);
	return array;
}

int words_note(struct words_reader *r, char *text)
{
	struct words *w = r->words;
	char **words;

	if (r->hidden)
		return 0;
	words = words_grow(r, w->words, w->word_count, &r->word_room, sizeof(*words));
	if (!words)
		return -1;
	w->words = words;
	w->words[w->word_count++] = text;
	return 0;
}

int words_note_command(struct words_reader *r, size_t first, int into)
{
	struct words *w = r->words;
	struct words_command *commands;

	if (r->hidden || first == w->word_count)
		return 0;
	if (w->count == WORDS_COMMANDS_MAX)
		return words_fail(r, EINVAL);
	commands = words_grow(r, w->commands, w->count, &r->command_room, sizeof(*commands));
	if (!commands)
		return -1;
	w->commands = commands;
	w->commands[w->count++] = (struct words_command){
		.first = first, .count = w->word_count - first, .into = into};
	return words_note(r, NULL);
}

void words_lead(struct words_reader *r, size_t first, size_t end, int into)
{
	for (size_t i = first; i < end; i++) {
		if (r->words->commands[i].into == WORDS_OUT)
			r->words->commands[i].into = into;
	}
}

int words_parse(struct words *w, const char *string)
{
	struct words_reader r = {.at = string, .words = w};

	*w = (struct words){NULL, 0, NULL, 0, NULL};
	w->text = malloc(strlen(string) + 2);
	if (!w->text) {
		errno = ENOMEM;
		return -1;
	}
	r.text = w->text;
	if (words_read_list(&r, END_STRING) < 0) {
		words_release(w);
		errno = r.failure;
		return -1;
	}
	return 0;
}

void words_release(struct words *w)
{
	free(w->commands);
	free(w->words);
	free(w->text);
	*w = (struct words){NULL, 0, NULL, 0, NULL};
}
