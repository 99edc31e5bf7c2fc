/* manual.h - pieces of manual pages (roff, man macros) and of Markdown tables, for whatever prints a table of options. */
#ifndef HXMESH_HOST_MANUAL_H
#define HXMESH_HOST_MANUAL_H

#include <stdio.h>

/* Title line and NAME. `name`: "hxmesh run" or "hxmesh-run". `what`: its first sentence is taken, without its full stop. */
void hx_man_begin(FILE *out, const char *name, unsigned section, const char *what);

/* A paragraph of plain text, escaped; an empty line in it begins another. Ends with a line feed. */
void hx_man_paragraphs(FILE *out, const char *text);

/* Text within a line, escaped. */
void hx_man_text(FILE *out, const char *text);

/* The end of a program's page: what its exit codes mean. */
void hx_man_exit_codes(FILE *out);

/* Text within a cell of a table, escaped. */
void hx_markdown_text(FILE *out, const char *text);

#endif
