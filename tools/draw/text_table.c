/* text_table.c - prints a text table (tools/draw/text_table.h). */
#include "tools/draw/text_table.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct row {
    struct row *next;
    unsigned cells;
    char *cell[TEXT_TABLE_COLUMNS];
};

struct text_table {
    unsigned left;
    struct row *first;
    struct row **end;
};

struct text_table *text_table_new(unsigned left)
{
    struct text_table *t = hx_allocate(1, sizeof *t);
    t->left = left;
    t->end = &t->first;
    return t;
}

static char *copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(hx_allocate(1, bytes), text, bytes);
}

void text_table_cells(struct text_table *t, unsigned count, const char *const *cells)
{
    struct row *row = hx_allocate(1, sizeof *row);
    *t->end = row;
    t->end = &row->next;
    for (; row->cells < count && row->cells < TEXT_TABLE_COLUMNS; row->cells++)
        row->cell[row->cells] = copy(*cells[row->cells] ? cells[row->cells] : "-");
}

static void print_cell(const struct row *row, unsigned i, bool left, bool last, const int width[TEXT_TABLE_COLUMNS],
                       FILE *out)
{
    if (left)
        fprintf(out, "  %-*s", last ? 0 : width[i], row->cell[i]);
    else
        fprintf(out, "  %*s", width[i], row->cell[i]);
}

/* Prints the left columns, and the columns `first` .. `end` - 1. */
static void print_row(const struct row *row, unsigned left, unsigned first, unsigned end,
                      const int width[TEXT_TABLE_COLUMNS], FILE *out)
{
    end = end < row->cells ? end : row->cells;
    for (unsigned i = 0; i < left && i < row->cells; i++)
        print_cell(row, i, true, i + 1 == left ? first >= end : i + 1 == row->cells, width, out);
    for (unsigned i = first; i < end; i++)
        print_cell(row, i, false, i + 1 == end, width, out);
    fputc('\n', out);
}

/* Computes column widths. Returns the length of the longest line. */
static unsigned measure(const struct text_table *t, int width[TEXT_TABLE_COLUMNS])
{
    unsigned most = 0;
    for (const struct row *row = t->first; row; row = row->next) {
        for (unsigned i = 0; i < row->cells; i++) {
            int needed = (int)strlen(row->cell[i]);
            width[i] = needed > width[i] ? needed : width[i];
        }
    }
    for (unsigned i = 0; i < TEXT_TABLE_COLUMNS; i++)
        most += width[i] ? 2 + (unsigned)width[i] : 0;
    return most;
}

static void remove_column(struct text_table *t, unsigned column)
{
    for (struct row *row = t->first; row; row = row->next) {
        if (column >= row->cells)
            continue;
        free(row->cell[column]);
        row->cells--;
        memmove(&row->cell[column], &row->cell[column + 1], (row->cells - column) * sizeof *row->cell);
    }
}

unsigned text_table_narrow(struct text_table *t, unsigned width, unsigned first, unsigned count)
{
    unsigned gone = 0;
    for (; gone < count; gone++) {
        int widths[TEXT_TABLE_COLUMNS] = {0};
        if (measure(t, widths) <= width)
            break;
        remove_column(t, first + count - 1 - gone);
    }
    return gone;
}

/* The end of the columns from `first` on that fit beside the left ones; at least one. */
static unsigned fill(const struct text_table *t, unsigned first, const int width[TEXT_TABLE_COLUMNS])
{
    unsigned used = 0;
    unsigned end = first;
    for (unsigned i = 0; i < t->left; i++)
        used += 2 + (unsigned)width[i];
    while (end < TEXT_TABLE_COLUMNS && width[end] &&
           (end == first || used + 2 + (unsigned)width[end] <= TEXT_TABLE_WIDTH))
        used += 2 + (unsigned)width[end++];
    return end;
}

void text_table_print(const struct text_table *t, FILE *out)
{
    int width[TEXT_TABLE_COLUMNS] = {0};
    (void)measure(t, width);
    unsigned first = t->left < TEXT_TABLE_COLUMNS ? t->left : TEXT_TABLE_COLUMNS;
    for (bool more = true; more;) {
        unsigned end = fill(t, first, width);
        for (const struct row *row = t->first; row; row = row->next)
            print_row(row, t->left, first, end, width, out);
        more = end < TEXT_TABLE_COLUMNS && width[end];
        first = end;
        if (more)
            fputc('\n', out);
    }
}

void text_table_free(struct text_table *t)
{
    while (t->first) {
        struct row *row = t->first;
        t->first = row->next;
        for (unsigned i = 0; i < row->cells; i++)
            free(row->cell[i]);
        free(row);
    }
    free(t);
}
