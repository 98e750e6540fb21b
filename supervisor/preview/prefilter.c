#include "supervisor/preview/prefilter.h"

/* Fragments that look alike share a group, which keeps false alarms rare. */
static const struct {
	char text[LITERAL_LEN + 1];
	uint8_t group;
} fragments[] = {
	{"rror", 0},                       /* error */
	{"orru", 0},                       /* corrupt */
	{"efus", 0},                       /* refused */
	{"fail", 1},          {"fata", 1}, /* fatal */
	{"kill", 1},                       /* killed */
	{"xcep", 2},                       /* exception */
	{"xcee", 2},                       /* exceeded */
	{"xpec", 2},                       /* expected */
	{"aceb", 3},                       /* traceback */
	{"anic", 3},                       /* panic */
	{"unab", 3},                       /* unable */
	{"bort", 4},                       /* abort */
	{"sser", 4},                       /* assert */
	{"rash", 4},                       /* crash */
	{"not ", 5},                       /* not found, cannot open, not ok */
	{"n't ", 5},                       /* can't, couldn't */
	{"such", 5},                       /* no such */
	{"ndef", 6},                       /* undefined */
	{"nied", 6},                       /* denied */
	{"nhan", 6},                       /* unhandled */
	{"ncau", 6},                       /* uncaught */
	{"nval", 6},                       /* invalid */
	{"imed", 7},                       /* timed out */
	{"meou", 7},                       /* timeout */
	{"issi", 7},                       /* missing, permission */
	{"smat", 7},                       /* mismatch */
	{"iola", 7},                       /* violation */
	{"egfa", 3},                       /* segfault */
	{"gmen", 3},                       /* segmentation */
	{"onfl", 0},                       /* conflict */
	{"verf", 0},                       /* overflow */
	{"leak", 1},          {"ejec", 0}, /* rejected */
	{"eadl", 3},                       /* deadlock */
	{"xhau", 2},                       /* exhausted */
	{"nres", 6},                       /* unresolved */
	{"nrec", 6},                       /* unrecognized */
	{"nkno", 6},                       /* unknown */
	{"rong", 4},                       /* wrong */
	{"lleg", 7},                       /* illegal */
	{"ncor", 6},                       /* incorrect */
	{"ncom", 6},                       /* incompatible */
	{"upli", 5},                       /* duplicate */
	{"mina", 4},                       /* terminate */
	{"err!", 0},                       /* npm ERR! */
	{"ce l", 7},                       /* no space left */
	{"top.", 5},                       /* No rule to make target. Stop. */
	{"\xE2\x9C\x95 ", 1},              /* multiplication x */
	{"\xE2\x9C\x96 ", 1},              /* heavy multiplication x */
	{"\xE2\x9C\x97 ", 1},              /* ballot x */
};

void prefilter_init(struct literals *s)
{
	literals_init(s);
	for (size_t i = 0; i < sizeof(fragments) / sizeof(*fragments); i++)
		literals_add(s, fragments[i].text, fragments[i].group);
}

void prefilter_add(struct literals *s, const char *text)
{
	unsigned least = 0;
	for (unsigned i = 1; i < LITERAL_GROUPS; i++) {
		if (s->counts[i] < s->counts[least])
			least = i;
	}
	if (s->counts[least] < LITERAL_MAX)
		literals_add(s, text, least);
}
