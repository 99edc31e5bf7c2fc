/* manual.h - parts of manual pages (roff, man macros) and of Markdown tables. */
#ifndef HXMESH_BASE_OPTIONS_MANUAL_H
#define HXMESH_BASE_OPTIONS_MANUAL_H

#include "base/options/option.h"

#include <stdio.h>

/* Prints the title line and NAME. `name`: "hxmesh run" or "hxmesh-run". `what`: its first sentence, without full
 * stop. */
void hx_man_begin(FILE *out, const char *name, unsigned section, const char *what);

/* Prints a paragraph of plain text, escaped, and a line feed; an empty line begins another. */
void hx_man_paragraphs(FILE *out, const char *text);

/* Prints text within a line, escaped. */
void hx_man_text(FILE *out, const char *text);

/* Prints the exit codes at the end of a program's page. `failed`: the meaning of HX_EXIT_FAILED; NULL: not used. */
void hx_man_exit_codes(FILE *out, const char *failed);

/* Prints the examples of a struct hx_command, if any. */
void hx_man_examples(FILE *out, const struct hx_example *examples);

/* Prints other pages: `related` as in struct hx_command (NULL: none), and those that every page names. */
void hx_man_see_also(FILE *out, const char *related);

/* Prints text within a cell of a table, escaped. */
void hx_markdown_text(FILE *out, const char *text);

#endif
