#include "config/option.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* ctlseqs, "PC-Style Function Keys". */
static const struct {
	const char *name, *bytes;
} keys[] = {
	{"enter", "\r"},       {"return", "\r"},        {"tab", "\t"},
	{"escape", "\033"},    {"esc", "\033"},         {"space", " "},
	{"backspace", "\177"}, {"up", "\033[A"},        {"down", "\033[B"},
	{"right", "\033[C"},   {"left", "\033[D"},      {"home", "\033[H"},
	{"end", "\033[F"},     {"insert", "\033[2~"},   {"delete", "\033[3~"},
	{"pageup", "\033[5~"}, {"pagedown", "\033[6~"}, {"shift-tab", "\033[Z"},
	{"f1", "\033OP"},      {"f2", "\033OQ"},        {"f3", "\033OR"},
	{"f4", "\033OS"},      {"f5", "\033[15~"},      {"f6", "\033[17~"},
	{"f7", "\033[18~"},    {"f8", "\033[19~"},      {"f9", "\033[20~"},
	{"f10", "\033[21~"},   {"f11", "\033[23~"},     {"f12", "\033[24~"},
};

static int key_refuse(void)
{
	errno = EINVAL;
	return -1;
}

static int key_set(struct key_bytes *key, const char *bytes)
{
	key->len = strlen(bytes);
	memcpy(key->data, bytes, key->len);
	key->cursor = key->len == 3 && bytes[1] == '[' && strchr("ABCDHF", bytes[2]);
	return 0;
}

static int parse_control(const char *name, struct key_bytes *key)
{
	if (strcasecmp(name, "space") == 0)
		name = "@";
	if (!name[0] || name[1])
		return key_refuse();
	if (name[0] == '?')
		key->data[0] = '\177';
	else if ((name[0] >= '@' && name[0] <= '_') || (name[0] >= 'a' && name[0] <= 'z'))
		key->data[0] = (char)(name[0] & 0x1F);
	else
		return key_refuse();
	key->len = 1;
	return 0;
}

int key_parse(const char *name, struct key_bytes *key)
{
	*key = (struct key_bytes){.len = 0};
	if (strncasecmp(name, "ctrl-", 5) == 0)
		return parse_control(name + 5, key);
	if (strncasecmp(name, "alt-", 4) == 0) {
		struct key_bytes plain;
		if (key_parse(name + 4, &plain) < 0 || plain.len + 1 > sizeof(key->data))
			return key_refuse();
		key->data[0] = '\033';
		memcpy(key->data + 1, plain.data, plain.len);
		key->len = plain.len + 1;
		return 0;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcasecmp(name, keys[i].name) == 0)
			return key_set(key, keys[i].bytes);
	}
	if (name[0] > ' ' && name[0] < 0x7F && !name[1])
		return key_set(key, name);
	return key_refuse();
}
