/* text_table.h - a text table: columns as wide as needed, the first ones left aligned, the others right aligned.
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

/* `left`: number of left-aligned columns. */
struct text_table *text_table_new(unsigned left);
/* Copies the cells; ignores those beyond TEXT_TABLE_COLUMNS. */
void text_table_cells(struct text_table *t, unsigned count, const char *const *cells);
#define text_table_row(t, ...)                                                                                         \
    text_table_cells((t), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *),                           \
                     (const char *const[]){__VA_ARGS__})
/* Removes columns from the end of the `count` columns at `first`, until lines have at most `width` letters or all are
 * removed. Returns how many it removed. */
unsigned text_table_narrow(struct text_table *t, unsigned width, unsigned first, unsigned count);
/* Prints a table wider than TEXT_TABLE_WIDTH in parts below each other, each with the left columns. */
void text_table_print(const struct text_table *t, FILE *out);
void text_table_free(struct text_table *t);

#endif
