// Shell strings from anywhere: their parts are whole and lead somewhere, and the profiles that are
// chosen for it leave the settings in their ranges.

#include "config/profile.h"
#include "config/words.h"
#include "tests/fuzz/fuzz.h"

/* Every word is NUL-terminated within the text, and they are no longer than the string. */
static void check_words(const struct words *w, size_t len)
{
	size_t next = 0, total = 0;
	for (size_t i = 0; i < w->count; i++) {
		const struct words_command *c = &w->commands[i];
		assert(c->first == next && c->count > 0);
		for (size_t j = 0; j < c->count; j++) {
			const char *word = w->words[c->first + j];
			assert(word >= w->text && word <= w->text + len);
			total += strlen(word);
		}
		assert(!w->words[c->first + c->count]);
		next += c->count + 1;
		assert(c->into == WORDS_OUT || c->into == WORDS_NOWHERE ||
		       (c->into > (int)i && c->into < (int)w->count));
	}
	assert(next == w->word_count);
	assert(total <= len);
}

static void check_profile(const char *string)
{
	struct option_error error = {""};
	struct profile_choice choice;
	struct settings s;
	int result;
	if (settings_init(&s) < 0)
		return;
	result = profile_choose(&s, NULL, string, &choice, &error);
	assert(result == 0 || errno == ENOMEM);
	assert(choice.count >= 1 && choice.count <= PROFILE_PARTS_MAX);
	profile_apply(&s, &choice);
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		int64_t value;
		if (o->type != OPTION_COUNT && o->type != OPTION_SIZE)
			continue;
		value = *(const int64_t *)(const void *)((const char *)&s + o->offset);
		assert((value >= o->min && value <= o->max) || (value == 0 && o->or_zero));
	}
	settings_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *string = strndup((const char *)data, size);
	struct words w;
	if (!string)
		return 0;
	if (words_parse(&w, string) == 0) {
		check_words(&w, strlen(string));
		words_release(&w);
	} else {
		assert(errno == EINVAL || errno == ENOMEM);
		assert(!w.commands && !w.words && !w.text);
	}
	check_profile(string);
	free(string);
	return 0;
}
