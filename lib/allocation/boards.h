/* boards.h - free boards of a HammingMesh, as bits: an allocator looks for rows with the same free columns, 64 columns
 * at a time.
 *
 * Invariant: bits at and beyond `columns` are 0; free_in[row] and free count the set bits. For one thread at a time. */
#ifndef HXMESH_SCHED_BOARDS_H
#define HXMESH_SCHED_BOARDS_H

#include <stdbool.h>
#include <stdint.h>

enum { HX_MOST_BOARDS_ACROSS = 4096, HX_BOARD_WORDS = HX_MOST_BOARDS_ACROSS / 64 };

struct hx_boards {
    unsigned columns, rows; /* 1 .. HX_MOST_BOARDS_ACROSS each; more columns if sets of columns are not used */
    unsigned words;         /* of a row */
    uint64_t *bits;         /* [rows][words]: set if the board is free */
    uint32_t *free_in;      /* [rows] */
    uint32_t free;
};

/* Makes the set with all boards free. hx_boards_free() frees its memory. */
void hx_boards_make(struct hx_boards *b, unsigned columns, unsigned rows);
void hx_boards_free(struct hx_boards *b);
void hx_boards_copy(struct hx_boards *to, const struct hx_boards *from); /* both made, of the same size */

static inline const uint64_t *hx_boards_row(const struct hx_boards *b, unsigned row)
{
    return b->bits + (uint64_t)row * b->words;
}

static inline bool hx_board_is_free(const struct hx_boards *b, unsigned column, unsigned row)
{
    return hx_boards_row(b, row)[column / 64] >> column % 64 & 1;
}

/* Marks a board as taken or free; no effect if it is already. */
void hx_board_take(struct hx_boards *b, unsigned column, unsigned row);
void hx_board_give_back(struct hx_boards *b, unsigned column, unsigned row);

/* ---- sets of columns ---- */

struct hx_columns {
    uint64_t word[HX_BOARD_WORDS];
};

/* Number of free columns of a row that are also in `common`. */
unsigned hx_columns_shared(const struct hx_columns *common, const struct hx_boards *b, unsigned row);
/* Intersects `common` with the free columns of a row. */
void hx_columns_narrow(struct hx_columns *common, const struct hx_boards *b, unsigned row);
void hx_columns_all(struct hx_columns *all, const struct hx_boards *b);

static inline bool hx_columns_has(const struct hx_columns *set, unsigned column)
{
    return set->word[column / 64] >> column % 64 & 1;
}

/* ---- placements ---- */

struct hx_shape {
    unsigned rows, columns;
};

struct hx_placement {
    struct hx_shape shape;
    uint32_t *row, *column; /* [shape.rows], [shape.columns], ascending */
};

/* The n-th board of a placement, row by row, in a grid that is `across` boards wide. */
static inline unsigned hx_placement_board(const struct hx_placement *p, unsigned n, unsigned across)
{
    return p->row[n / p->shape.columns] * across + p->column[n % p->shape.columns];
}

#endif
