// See phrase.h.

#include "config/phrase.h"

#include <string.h>

const char *phrase_refuse(const char *text)
{
	if (strlen(text) > PHRASE_MAX)
		return "longer than 150 bytes";
	while (*text) {
		size_t len = strcspn(text, "*");

		if (len >= PHRASE_LEAST)
			return NULL;
		text += len;
		text += *text == '*';
	}
	return "needs 4 characters in a row that are not *";
}
