/* canvas.h - a page of characters that is drawn first and shown afterwards, on a terminal or as plain lines. What does
 * not fit is cut off. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stdio.h>

enum canvas_style {
    CANVAS_PLAIN,
    CANVAS_BOLD,
    CANVAS_BAR /* reverse */,
    CANVAS_SHADE /* + 0 .. 9: topology/heat_map.h */
};

struct canvas_cell {
    char c;
    unsigned char style;
};

struct canvas {
    unsigned rows, columns;
    struct canvas_cell *cell; /* [rows][columns] */
};

/* Blank. */
void canvas_new(struct canvas *c, unsigned rows, unsigned columns);
void canvas_free(struct canvas *c);

/* Writes printable characters from there on; returns the column behind them, which may lie beyond the edge. */
__attribute__((format(printf, 5, 6))) unsigned canvas_print(struct canvas *c, unsigned row, unsigned column,
                                                            unsigned style, const char *format, ...);
/* The whole row in a style, whatever stands there. */
void canvas_row_style(struct canvas *c, unsigned row, unsigned style);

/* Rows up to the last one that says something, without blanks at their ends. */
void canvas_write(const struct canvas *c, FILE *out);

#endif
