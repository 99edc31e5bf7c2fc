/* boards.c - the set of free boards (boards.h). */
#include "allocation/boards.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void hx_boards_make(struct hx_boards *b, unsigned columns, unsigned rows)
{
    *b = (struct hx_boards){.columns = columns, .rows = rows, .words = (columns + 63) / 64};
    b->bits = hx_allocate((size_t)rows * b->words, sizeof *b->bits);
    b->free_in = hx_allocate(rows, sizeof *b->free_in);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++)
            hx_board_give_back(b, column, row);
}

void hx_boards_free(struct hx_boards *b)
{
    free(b->bits);
    free(b->free_in);
    *b = (struct hx_boards){.columns = 0};
}

void hx_boards_copy(struct hx_boards *to, const struct hx_boards *from)
{
    memcpy(to->bits, from->bits, (size_t)from->rows * from->words * sizeof *to->bits);
    memcpy(to->free_in, from->free_in, from->rows * sizeof *to->free_in);
    to->free = from->free;
}

static uint64_t *word_of(struct hx_boards *b, unsigned column, unsigned row)
{
    return b->bits + (uint64_t)row * b->words + column / 64;
}

void hx_board_take(struct hx_boards *b, unsigned column, unsigned row)
{
    unsigned was = hx_board_is_free(b, column, row);
    *word_of(b, column, row) &= ~(UINT64_C(1) << column % 64);
    b->free_in[row] -= was;
    b->free -= was;
}

void hx_board_give_back(struct hx_boards *b, unsigned column, unsigned row)
{
    unsigned was = hx_board_is_free(b, column, row);
    *word_of(b, column, row) |= UINT64_C(1) << column % 64;
    b->free_in[row] += 1 - was;
    b->free += 1 - was;
}

unsigned hx_columns_shared(const struct hx_columns *common, const struct hx_boards *b, unsigned row)
{
    const uint64_t *bits = hx_boards_row(b, row);
    unsigned shared = 0;
    for (unsigned w = 0; w < b->words; w++)
        shared += (unsigned)__builtin_popcountll(common->word[w] & bits[w]);
    return shared;
}

void hx_columns_narrow(struct hx_columns *common, const struct hx_boards *b, unsigned row)
{
    const uint64_t *bits = hx_boards_row(b, row);
    for (unsigned w = 0; w < b->words; w++)
        common->word[w] &= bits[w];
}

void hx_columns_all(struct hx_columns *all, const struct hx_boards *b)
{
    for (unsigned w = 0; w < b->words; w++)
        all->word[w] = w + 1 < b->words || b->columns % 64 == 0 ? UINT64_MAX : (UINT64_C(1) << b->columns % 64) - 1;
}
