// Ini text and single values from anywhere: the settings stay in their ranges,
// with any profile of the text applied, too; a refused file changes nothing, a
// check finds errors in it and in no other, and messages are one line of clean
// text. No line fills the room that inih has for it.

#include "config/option.h"
#include "config/profile.h"
#include "config/settings.h"

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "tests/fuzz/fuzz.h"

#include <dlfcn.h>
#include <ini.h>

/* The reader of config/ini.c. */
struct checked_reader {
	ini_reader read;
	void *stream;
};

static char *read_checked(char *out, int room, void *stream)
{
	struct checked_reader *r = stream;
	char *line = r->read(out, room, r->stream);
	assert(!line || strlen(line) + 1 < (size_t)room);
	return line;
}

/* Stands before inih's. */
int ini_parse_stream(ini_reader read, void *stream, ini_handler handler, void *user)
{
	struct checked_reader checked = {read, stream};
	int (*parse)(ini_reader, void *, ini_handler, void *);
	*(void **)&parse = dlsym(RTLD_NEXT, "ini_parse_stream");
	assert(parse);
	return parse(read_checked, &checked, handler, user);
}

static void check_message(const struct option_error *error)
{
	size_t len = strnlen(error->text, sizeof(error->text));
	assert(len > 0 && len < sizeof(error->text));
	assert(utf8_all_clean(error->text, len));
	assert(!memchr(error->text, '\n', len));
}

static void check_list(const struct strings *list)
{
	assert(!list->items == (list->count == 0));
	for (size_t i = 0; i < list->count; i++)
		assert(list->items[i][0] != '\0');
	assert(!list->items || !list->items[list->count]);
}

static void check_settings(struct settings *s)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const void *field = (const char *)s + o->offset;
		int64_t choices = 0;
		switch (o->type) {
		case OPTION_STRING: break;
		case OPTION_LIST: check_list(field); break;
		case OPTION_ENUM:
			while (o->choices[choices])
				choices++;
			assert(*(const int64_t *)field >= 0 && *(const int64_t *)field < choices);
			break;
		case OPTION_BOOL: assert(*(const int64_t *)field >> 1 == 0); break;
		case OPTION_TRISTATE:
			assert(*(const int64_t *)field >= 0 && *(const int64_t *)field <= TRI_NO);
			break;
		default:
			assert((*(const int64_t *)field >= o->min || o->or_zero) &&
			       *(const int64_t *)field <= o->max);
		}
	}
}

/* Applies the profiles of the text one after the other. */
static void apply_profiles(struct settings *s)
{
	struct profile_choice choice = {.count = 1};
	for (size_t i = 0; (choice.names[0] = section_name(s, &profiles_form, i)) != NULL; i++) {
		profile_apply(s, &choice);
		check_settings(s);
	}
}

static void load_file(const uint8_t *data, size_t size, enum origin by)
{
	struct option_error error = {""};
	struct settings s, before;
	struct buffer messages = BUFFER_INIT;
	int told = 0, errors, result;
	if (settings_init(&s) < 0)
		return;
	before = s;
	result = settings_load_text(&s, by, "fuzz.ini", (const char *)data, size, &error);
	if (result < 0) {
		check_message(&error);
		assert(memcmp(&s, &before, sizeof(s)) == 0);
	}
	check_settings(&s);
	errors = settings_check_text(by, "fuzz.ini", (const char *)data, size, &messages, NULL);
	for (const char *at = buffer_string(&messages); *at; at = strchr(at, '\n') + 1) {
		snprintf(error.text, sizeof(error.text), "%.*s", (int)strcspn(at, "\n"), at);
		check_message(&error);
		told++;
	}
	assert(errors == told && (errors > 0) == (result < 0));
	buffer_release(&messages);
	apply_profiles(&s);
	settings_release(&s);
}

/* The same text for every option, as a value and as a flag's. */
static void set_values(const uint8_t *data, size_t size)
{
	struct option_error error = {""};
	struct settings s;
	char *value = strndup((const char *)data, size);
	if (!value || settings_init(&s) < 0) {
		free(value);
		return;
	}
	for (size_t i = 0; i < option_count; i++) {
		char *const argv[] = {(char *)(uintptr_t)option_table[i].flag, value};
		int index = 0;
		if (option_set(&s, &option_table[i], value, &error) < 0)
			assert(*error.text != '\0');
		if (argv[0] && settings_take_flag(&s, 2, argv, &index, &error) < 0)
			check_message(&error);
	}
	check_settings(&s);
	settings_release(&s);
	free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	load_file(data, size, size % 2 ? ORIGIN_USER : ORIGIN_PROJECT);
	if (size <= 256)
		set_values(data, size);
	return 0;
}
