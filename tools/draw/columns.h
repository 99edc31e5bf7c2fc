/* columns.h - table columns chosen by the user: --columns planes,links. */
#ifndef HXMESH_TOOLS_COLUMNS_H
#define HXMESH_TOOLS_COLUMNS_H

#include "tools/draw/text_table.h"

enum { COLUMNS_MOST = TEXT_TABLE_COLUMNS - 8, COLUMNS_WORD = 48 };

struct columns {
    char word[COLUMNS_MOST][COLUMNS_WORD];
    unsigned count;
};

/* Parses a list with commas. Dies with HX_EXIT_USAGE if it is malformed or too long; the caller checks the names. */
void columns_read(struct columns *c, const char *text);

/* Prints below a table which of `words` did not fit: the last `gone` of `count`. */
void columns_say_left_out(const char *const *words, unsigned count, unsigned gone, FILE *out);

#endif
