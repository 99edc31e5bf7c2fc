/* canvas.h - a page of characters, drawn first and then shown on a terminal or as plain lines. Clips what does not
 * fit. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stdio.h>

enum canvas_style {
    CANVAS_PLAIN,
    CANVAS_BOLD,
    CANVAS_BAR /* reverse video */,
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

void canvas_new(struct canvas *c, unsigned rows, unsigned columns);
void canvas_free(struct canvas *c);

/* Writes printable characters at (row, column). Returns the column behind them, which may be beyond the edge. */
__attribute__((format(printf, 5, 6))) unsigned canvas_print(struct canvas *c, unsigned row, unsigned column,
                                                            unsigned style, const char *format, ...);
/* Sets the style of a whole row, whatever its text. */
void canvas_row_style(struct canvas *c, unsigned row, unsigned style);

/* Writes the rows up to the last one with text, without trailing blanks. */
void canvas_write(const struct canvas *c, FILE *out);

#endif
