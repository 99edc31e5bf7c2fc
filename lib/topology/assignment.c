/* assignment.c - the assignment problem by shortest augmenting paths (topology/assignment.h).
 *
 * Every row and column has a price. No pair costs less than the sum of its two prices, and matched pairs cost exactly
 * that. Rows are matched one by one. From the new row, a search as Dijkstra's finds the cheapest path over matched
 * pairs to a free column, at the cost of each pair beyond its prices, and then inverts it. Row and column 0 are
 * dummies: column 0 holds the row to match. */
#include "topology/assignment.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct matching {
    const double *worth;
    unsigned n;
    double *row_price, *column_price; /* [n + 1] */
    unsigned *row_of;                 /* [n + 1]: row of a column; 0: free */
    unsigned *before;                 /* [n + 1]: previous column on the path */
    double *beyond;                   /* [n + 1]: cost of the cheapest known path */
    bool *reached;                    /* [n + 1]: that cost is final */
};

/* Extends the search from the row of a reached column. Returns the cheapest column not yet reached. */
static unsigned reach_next(struct matching *m, unsigned from)
{
    unsigned row = m->row_of[from];
    unsigned next = 0;
    double least = INFINITY;
    for (unsigned column = 1; column <= m->n; column++) {
        if (m->reached[column])
            continue;
        double cost = -m->worth[(row - 1) * m->n + column - 1] - m->row_price[row] - m->column_price[column];
        if (cost < m->beyond[column]) {
            m->beyond[column] = cost;
            m->before[column] = from;
        }
        if (m->beyond[column] < least) {
            least = m->beyond[column];
            next = column;
        }
    }
    for (unsigned column = 0; column <= m->n; column++) {
        if (m->reached[column]) {
            m->row_price[m->row_of[column]] += least;
            m->column_price[column] -= least;
        } else {
            m->beyond[column] -= least;
        }
    }
    return next;
}

static void match(struct matching *m, unsigned row)
{
    unsigned column = 0;
    m->row_of[0] = row;
    memset(m->reached, 0, m->n + 1);
    for (unsigned i = 0; i <= m->n; i++)
        m->beyond[i] = INFINITY;
    do {
        m->reached[column] = true;
        column = reach_next(m, column);
    } while (m->row_of[column]);
    for (; column; column = m->before[column])
        m->row_of[column] = m->row_of[m->before[column]];
}

void hx_assign(const double *worth, unsigned n, unsigned *column_of)
{
    struct matching m = {.worth = worth,
                         .n = n,
                         .row_price = hx_allocate(n + 1, sizeof *m.row_price),
                         .column_price = hx_allocate(n + 1, sizeof *m.column_price),
                         .row_of = hx_allocate(n + 1, sizeof *m.row_of),
                         .before = hx_allocate(n + 1, sizeof *m.before),
                         .beyond = hx_allocate(n + 1, sizeof *m.beyond),
                         .reached = hx_allocate(n + 1, sizeof *m.reached)};
    for (unsigned row = 1; row <= n; row++)
        match(&m, row);
    for (unsigned column = 1; column <= n; column++)
        column_of[m.row_of[column] - 1] = column - 1;
    HX_FREE(m.row_price, m.column_price, m.row_of, m.before, m.beyond, m.reached);
}
