/* text_table.h - a table for a person: columns as wide as they need, the first ones left, the others right aligned.
 *
 *     struct text_table *t = text_table_new(1);
 *     text_table_row(t, "fabric", "share");             the first row is the head
 *     text_table_row(t, "16x16 Hx2Mesh", "25.4");       an empty cell is printed as "-"
 *     text_table_print(t, stdout);
 *     text_table_free(t); */
#ifndef HXMESH_TOOLS_TEXT_TABLE_H
#define HXMESH_TOOLS_TEXT_TABLE_H

#include <stdio.h>

enum { TEXT_TABLE_COLUMNS = 24, TEXT_TABLE_WIDTH = 80 /* of a terminal, letters */ };

struct text_table;

/* `left`: columns that are left aligned. */
struct text_table *text_table_new(unsigned left);
/* Cells are copied; those beyond TEXT_TABLE_COLUMNS are left out. */
void text_table_cells(struct text_table *t, unsigned count, const char *const *cells);
#define text_table_row(t, ...)                                                                                         \
    text_table_cells((t), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),                           \
                     (const char *const[]){__VA_ARGS__})
/* Leaves out columns, the last one of `count` from `first` on first, until no line has more than `width` letters or all
 * of them are gone. Returns how many it left out. */
unsigned text_table_narrow(struct text_table *t, unsigned width, unsigned first, unsigned count);
/* What is wider than TEXT_TABLE_WIDTH is printed in parts below each other, each with the left columns. */
void text_table_print(const struct text_table *t, FILE *out);
void text_table_free(struct text_table *t);

#endif
