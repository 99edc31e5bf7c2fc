/* canvas.c - a page of characters (tools/top/canvas.h). */
#include "tools/top/canvas.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>

void canvas_new(struct canvas *c, unsigned rows, unsigned columns)
{
    *c = (struct canvas){.rows = rows, .columns = columns};
    c->cell = hx_allocate((size_t)rows * columns + 1, sizeof *c->cell);
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        c->cell[i].c = ' ';
}

void canvas_free(struct canvas *c)
{
    free(c->cell);
}

unsigned canvas_print(struct canvas *c, unsigned row, unsigned column, unsigned style, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (const char *at = text; *at; at++, column++) {
        if (row < c->rows && column < c->columns)
            c->cell[(size_t)row * c->columns + column] =
                (struct canvas_cell){*at < ' ' || *at > '~' ? '?' : *at, (unsigned char)style};
    }
    return column;
}

void canvas_row_style(struct canvas *c, unsigned row, unsigned style)
{
    for (unsigned column = 0; row < c->rows && column < c->columns; column++)
        c->cell[(size_t)row * c->columns + column].style = (unsigned char)style;
}

static unsigned length_of(const struct canvas *c, unsigned row)
{
    unsigned length = c->columns;
    while (length && c->cell[(size_t)row * c->columns + length - 1].c == ' ')
        length--;
    return length;
}

void canvas_write(const struct canvas *c, FILE *out)
{
    unsigned rows = c->rows;
    while (rows && length_of(c, rows - 1) == 0)
        rows--;
    for (unsigned row = 0; row < rows; row++) {
        for (unsigned column = 0; column < length_of(c, row); column++)
            fputc(c->cell[(size_t)row * c->columns + column].c, out);
        fputc('\n', out);
    }
}
