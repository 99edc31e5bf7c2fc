/* collective_cycles.c - Hamiltonian cycles of a torus (collective_parts.h): one, and two without a common edge.
 *
 * Three constructions, each for a grid of r rows and c columns that may be transposed:
 *
 * SINGLE. Follow every row from its start to the neighbour of its start, then go one step down. An eastward row moves
 * the start one column west. With r even, rows alternate east and west. With r and c odd and r >= c, the first c rows
 * go east, which returns the start to column 0; the rest alternates west and east.
 *
 * FIRST and SECOND after Bae and Bose, for r = k * c and gcd(r, c - 1) = 1: step X, with q = X / c and m = X mod c, is
 * at (q, (m - q) mod c) on one cycle and at ((m + (c - 1) * q) mod r, q mod c) on the other.
 *
 * FIRST and SECOND of any other shape with 3 <= r <= c. Colour the edges of rows with the first colour, those of
 * columns with the second: r and c cycles. Exchanging the colours of a unit square joins the two rows and the two
 * columns that it touches, if they were separate (Kotzig 1973: some choice of squares leaves one cycle each). One
 * square a column k, north-west corner in row i(k): first 0, 1, 0, 1, ..., then down the diagonal 0, 1, 2, .... There
 * are c - 1 squares, or c with r even and c odd; the diagonal has r - 1, or r with r odd and c even. A test shows for
 * every shape up to 32 x 32 that one cycle of each colour remains.
 *
 * In a grid two wide the two links between neighbours are two edges. There, with an odd length, no two cycles exist:
 * each accelerator would have one edge along the length in either cycle, which pairs the accelerators of a line. A grid
 * one wide is one ring, without two cycles. */
#include "collective_parts.h"

enum side { EAST, SOUTH, WEST, NORTH };

struct grid {
    uint32_t r, c;
    bool turned; /* transposed */
};

static struct grid grid_of(unsigned columns, unsigned rows, bool turned)
{
    return (struct grid){.r = turned ? columns : rows, .c = turned ? rows : columns, .turned = turned};
}

static struct hx_stand stand_of(const struct grid *g, uint32_t row, uint32_t column)
{
    uint32_t first = row;
    uint32_t second = column;
    return g->turned ? (struct hx_stand){.column = first, .row = second}
                     : (struct hx_stand){.column = second, .row = first};
}

/* ---- a single cycle ---- */

static struct grid single_grid(unsigned columns, unsigned rows)
{
    bool turned = rows % 2 != 0 && (columns % 2 == 0 || rows < columns);
    return grid_of(columns, rows, turned);
}

static uint32_t eastward_rows(const struct grid *g)
{
    return g->r % 2 ? g->c : 0;
}

static uint32_t single_position(const struct grid *g, uint32_t row, uint32_t column)
{
    uint32_t east = eastward_rows(g);
    uint32_t along = row < east ? (column + row) % g->c : (row - east) % 2 ? g->c - 1 - column : column;
    return row * g->c + along;
}

static struct hx_stand single_at(const struct grid *g, uint32_t position)
{
    uint32_t east = eastward_rows(g);
    uint32_t row = position / g->c;
    uint32_t along = position % g->c;
    uint32_t column = row < east ? (along + g->c - row) % g->c : (row - east) % 2 ? g->c - 1 - along : along;
    return stand_of(g, row, column);
}

/* ---- two cycles by formula ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool formula_fits(const struct grid *g)
{
    return g->c >= 2 && g->r % g->c == 0 && common_divisor(g->r, g->c - 1) == 1;
}

static bool formula_grid(unsigned columns, unsigned rows, struct grid *g)
{
    *g = grid_of(columns, rows, rows < columns);
    return formula_fits(g);
}

static uint32_t formula_position(const struct grid *g, bool second, uint32_t row, uint32_t column)
{
    if (!second)
        return row * g->c + (column + row) % g->c;
    for (uint32_t q = column; q < g->r; q += g->c) {
        uint32_t m = (row + g->r * g->c - (g->c - 1) * q) % g->r;
        if (m < g->c)
            return q * g->c + m;
    }
    return 0; /* unreachable: the cycle visits every accelerator */
}

static struct hx_stand formula_at(const struct grid *g, bool second, uint32_t position)
{
    uint32_t q = position / g->c;
    uint32_t m = position % g->c;
    return second ? stand_of(g, (m + (g->c - 1) * q) % g->r, q % g->c) : stand_of(g, q, (m + g->c - q % g->c) % g->c);
}

/* ---- two cycles by exchanged squares ---- */

/* Returns true if the square with north-west corner (row, column) is exchanged. */
static bool exchanged(const struct grid *g, uint32_t row, uint32_t column)
{
    bool r_odd = g->r % 2;
    bool c_odd = g->c % 2;
    uint32_t squares = !r_odd && c_odd ? g->c : g->c - 1;
    uint32_t diagonal = r_odd && !c_odd ? g->r : g->r - 1;
    uint32_t before = squares - diagonal;
    return column < squares && row == (column < before ? column % 2 : column - before);
}

/* Returns true if the edge at a side of (row, column) has the second colour. */
static bool is_second(const struct grid *g, uint32_t row, uint32_t column, enum side side)
{
    uint32_t above = (row + g->r - 1) % g->r;
    uint32_t west = (column + g->c - 1) % g->c;
    switch (side) {
    case EAST:
        return exchanged(g, row, column) || exchanged(g, above, column);
    case WEST:
        return exchanged(g, row, west) || exchanged(g, above, west);
    case SOUTH:
        return !exchanged(g, row, column) && !exchanged(g, row, west);
    default:
        return !exchanged(g, above, column) && !exchanged(g, above, west);
    }
}

/* Returns the next side, after `side`, with an edge of the colour. */
static enum side side_after(const struct grid *g, bool second, uint32_t row, uint32_t column, enum side side)
{
    do
        side = (enum side)((side + 1) % 4);
    while (is_second(g, row, column, side) != second);
    return side;
}

static void step(const struct grid *g, enum side side, uint32_t *row, uint32_t *column)
{
    if (side == EAST || side == WEST)
        *column = (*column + (side == EAST ? 1 : g->c - 1)) % g->c;
    else
        *row = (*row + (side == SOUTH ? 1 : g->r - 1)) % g->r;
}

/* Follows a cycle from the north-west corner to (row, column). */
static void squares_find(const struct grid *g, bool second, uint32_t row, uint32_t column, struct hx_ring_stand *found)
{
    uint32_t at_row = 0;
    uint32_t at_column = 0;
    enum side came = side_after(g, second, 0, 0, NORTH);
    for (found->position = 0; at_row != row || at_column != column; found->position++) {
        enum side go = side_after(g, second, at_row, at_column, came);
        step(g, go, &at_row, &at_column);
        came = (enum side)((go + 2) % 4);
    }
    enum side go = side_after(g, second, row, column, came);
    step(g, go, &at_row, &at_column);
    found->next = stand_of(g, at_row, at_column);
    step(g, came, &row, &column);
    found->before = stand_of(g, row, column);
}

/* ---- in all ---- */

bool hx_cycles_exist(unsigned columns, unsigned rows)
{
    struct grid g;
    return columns * rows == 1 || (columns >= 3 && rows >= 3) || formula_grid(columns, rows, &g);
}

void hx_cycle_find(unsigned columns, unsigned rows, enum hx_cycle cycle, struct hx_stand at,
                   struct hx_ring_stand *found)
{
    struct grid g = single_grid(columns, rows);
    bool single = cycle == HX_CYCLE_SINGLE || columns * rows == 1;
    bool second = cycle == HX_CYCLE_SECOND;
    bool formula = !single && formula_grid(columns, rows, &g);
    uint32_t n = columns * rows;
    *found = (struct hx_ring_stand){.size = n};
    if (g.r == 0 || g.c == 0)
        return;
    if (!single && !formula)
        g = grid_of(columns, rows, rows > columns);
    uint32_t row = g.turned ? at.column : at.row;
    uint32_t column = g.turned ? at.row : at.column;
    if (!single && !formula) {
        squares_find(&g, second, row, column, found);
        return;
    }
    uint32_t p = single ? single_position(&g, row, column) : formula_position(&g, second, row, column);
    uint32_t next = (p + 1) % n;
    uint32_t before = (p + n - 1) % n;
    found->position = p;
    found->next = single ? single_at(&g, next) : formula_at(&g, second, next);
    found->before = single ? single_at(&g, before) : formula_at(&g, second, before);
}
