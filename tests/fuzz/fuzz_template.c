// Templates: whatever the shell string, matching ends, and what is taken is part of the string.
// The first line is the template, the rest the text.

#include "config/pattern.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *template = malloc(size + 1), *text, *part = NULL;
	if (!template)
		return 0;
	memcpy(template, data, size);
	template[size] = '\0';
	text = strchr(template, '\n');
	if (!text) {
		free(template);
		return 0;
	}
	*text++ = '\0';
	if (!template_refuse(template)) {
		bool matches = template_match(template, text);
		if (matches != (template_take(template, text, &part) == 1))
			abort();
		if (part && strlen(part) > strlen(text))
			abort();
		/* A part is as in the text, unless quotes were taken away. */
		if (part && !strstr(template, "{word}") && !strstr(text, part))
			abort();
		free(part);
	}
	free(template);
	return 0;
}
