/* columns.h - the columns of a table that a user chose: --columns planes,links. */
#ifndef HXMESH_TOOLS_COLUMNS_H
#define HXMESH_TOOLS_COLUMNS_H

#include "tools/draw/text_table.h"

enum { COLUMNS_MOST = TEXT_TABLE_COLUMNS - 8, COLUMNS_WORD = 48 };

struct columns {
    char word[COLUMNS_MOST][COLUMNS_WORD];
    unsigned count;
};

/* Reads a list with commas. Dies with HX_EXIT_USAGE of too many; whether there are such columns is the caller's to
 * say. */
void columns_read(struct columns *c, const char *text);

/* Says below a table which of `words` did not fit: the last `gone` of `count`. */
void columns_say_left_out(const char *const *words, unsigned count, unsigned gone, FILE *out);

#endif
