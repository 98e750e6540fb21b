// See html.h: the files of page/, put into the program by the assembler.

#include "supervisor/command/html.h"

#define EMBED(name, path)                                                              \
	__asm__(".pushsection .rodata\n" #name "_begin:\n.incbin \"" path "\"\n" #name \
		"_end:\n.byte 0\n.popsection\n");                                      \
	extern const char name##_begin[] __asm__(#name "_begin");                      \
	extern const char name##_end[] __asm__(#name "_end")

EMBED(html_css, "supervisor/command/page/report.css");
EMBED(html_js, "supervisor/command/page/report.js");

struct html_asset html_style(void)
{
	/* cppcheck-suppress comparePointers; both are of one file */
	return (struct html_asset){html_css_begin, (size_t)(html_css_end - html_css_begin)};
}

struct html_asset html_script(void)
{
	/* cppcheck-suppress comparePointers; both are of one file */
	return (struct html_asset){html_js_begin, (size_t)(html_js_end - html_js_begin)};
}
