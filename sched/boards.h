/* boards.h - which boards of a HammingMesh are free, as bits: an allocator asks for rows of boards that have the same
 * free columns, and 64 columns at a time answer.
 *
 * Invariant: bits at and beyond `columns` are 0; free_in[row] and free count the bits that are set. One thread at a
 * time. */
#ifndef HXMESH_SCHED_BOARDS_H
#define HXMESH_SCHED_BOARDS_H

#include <stdbool.h>
#include <stdint.h>

enum { HX_MOST_BOARDS_ACROSS = 4096, HX_BOARD_WORDS = HX_MOST_BOARDS_ACROSS / 64 };

struct hx_boards {
    unsigned columns, rows; /* 1 .. HX_MOST_BOARDS_ACROSS each; more columns where nobody asks for sets of them */
    unsigned words;         /* of a row */
    uint64_t *bits;         /* [rows][words]: set where a board is free */
    uint32_t *free_in;      /* [rows] */
    uint32_t free;
};

/* All are free. hx_boards_free() afterwards. */
void hx_boards_make(struct hx_boards *b, unsigned columns, unsigned rows);
void hx_boards_free(struct hx_boards *b);
void hx_boards_copy(struct hx_boards *to, const struct hx_boards *from); /* of the same size, both made */

static inline const uint64_t *hx_boards_row(const struct hx_boards *b, unsigned row)
{
    return b->bits + (uint64_t)row * b->words;
}

static inline bool hx_board_is_free(const struct hx_boards *b, unsigned column, unsigned row)
{
    return hx_boards_row(b, row)[column / 64] >> column % 64 & 1;
}

/* A board that is so already stays so. */
void hx_board_take(struct hx_boards *b, unsigned column, unsigned row);
void hx_board_give_back(struct hx_boards *b, unsigned column, unsigned row);

/* ---- sets of columns ---- */

struct hx_columns {
    uint64_t word[HX_BOARD_WORDS];
};

/* The number of columns of a row that are in `common` too. */
unsigned hx_columns_shared(const struct hx_columns *common, const struct hx_boards *b, unsigned row);
/* Leaves of `common` what is free in a row. */
void hx_columns_narrow(struct hx_columns *common, const struct hx_boards *b, unsigned row);
void hx_columns_all(struct hx_columns *all, const struct hx_boards *b);

static inline bool hx_columns_has(const struct hx_columns *set, unsigned column)
{
    return set->word[column / 64] >> column % 64 & 1;
}

/* ---- where a job stands ---- */

struct hx_shape {
    unsigned rows, columns;
};

struct hx_placement {
    struct hx_shape shape;
    uint32_t *row, *column; /* [shape.rows], [shape.columns], ascending */
};

/* Board n of a placement, row by row, of a grid that is so many boards across. */
static inline unsigned hx_placement_board(const struct hx_placement *p, unsigned n, unsigned across)
{
    return p->row[n / p->shape.columns] * across + p->column[n % p->shape.columns];
}

#endif
