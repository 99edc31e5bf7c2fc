/* manual.h - pieces of manual pages (roff, man macros) and of Markdown tables, for whatever prints a table of
 * options. */
#ifndef HXMESH_BASE_OPTIONS_MANUAL_H
#define HXMESH_BASE_OPTIONS_MANUAL_H

#include "base/options/option.h"

#include <stdio.h>

/* Title line and NAME. `name`: "hxmesh run" or "hxmesh-run". `what`: its first sentence is taken, without its full
 * stop. */
void hx_man_begin(FILE *out, const char *name, unsigned section, const char *what);

/* A paragraph of plain text, escaped; an empty line in it begins another. Ends with a line feed. */
void hx_man_paragraphs(FILE *out, const char *text);

/* Text within a line, escaped. */
void hx_man_text(FILE *out, const char *text);

/* The end of a program's page: what its exit codes mean. `failed`: what HX_EXIT_FAILED does; NULL: it is none of
 * its. */
void hx_man_exit_codes(FILE *out, const char *failed);

/* As struct hx_command has them; without any nothing is printed. */
void hx_man_examples(FILE *out, const struct hx_example *examples);

/* Other pages: `related` as struct hx_command has them, NULL: none, and those that every page names. */
void hx_man_see_also(FILE *out, const char *related);

/* Text within a cell of a table, escaped. */
void hx_markdown_text(FILE *out, const char *text);

#endif
