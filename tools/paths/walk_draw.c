/* walk_draw.c - draws the boards that a packet may touch (tools/paths/walk.h).
 *
 * A packet changes board at most once in each dimension, so it touches only the boards at the corners of one rectangle:
 *
 *        A > o >
 *                      A source, B destination, o on a minimal path, . not
 *        .   .         > < v ^ hops, at the edge of a board: through a row or column network */
#include "tools/paths/walk.h"

#include <stdio.h>
#include <string.h>

enum { WIDEST = 100, TALLEST = 80, CELL = 4, LINE = 2, GAP = 3 };

struct picture {
    const struct hx_geometry *g;
    unsigned first_x, last_x, first_y, last_y; /* boards at the corners */
    char cells[TALLEST][WIDEST + 1];
};

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned column_of(const struct picture *p, unsigned gx)
{
    unsigned second = gx / p->g->a != p->first_x;
    return CELL / 2 + CELL * (gx % p->g->a) + second * (CELL * (unsigned)p->g->a + GAP);
}

static unsigned row_of(const struct picture *p, unsigned gy)
{
    unsigned second = gy / p->g->b != p->first_y;
    return LINE / 2 + LINE * (gy % p->g->b) + second * (LINE * (unsigned)p->g->b + LINE / 2);
}

/* Marks the hop that leaves an accelerator by `port`, or enters it there. */
static void mark_hop(struct picture *p, unsigned gx, unsigned gy, unsigned port, bool entering)
{
    static const char leave[] = {[HX_E] = '>', [HX_W] = '<', [HX_N] = '^', [HX_S] = 'v'};
    static const char enter[] = {[HX_E] = '<', [HX_W] = '>', [HX_N] = 'v', [HX_S] = '^'};
    unsigned column = column_of(p, gx);
    unsigned row = row_of(p, gy);
    column = port == HX_E ? column + CELL / 2 : (port == HX_W ? column - CELL / 2 : column);
    row = port == HX_S ? row + LINE / 2 : (port == HX_N ? row - LINE / 2 : row);
    char *cell = &p->cells[row][column];
    char hop = entering ? enter[port] : leave[port];
    *cell = *cell == ' ' || *cell == hop ? hop : (port == HX_E || port == HX_W ? '=' : 'I');
}

static void mark_step(struct picture *p, const struct hx_step *s)
{
    if (s->node >= p->g->accelerators)
        return;
    unsigned gx = s->node % p->g->columns;
    unsigned gy = s->node / p->g->columns;
    char *cell = &p->cells[row_of(p, gy)][column_of(p, gx)];
    *cell = *cell == '.' ? 'o' : *cell;
    if (s->input < HX_LOCAL && hx_is_edge(p->g, gx, gy, s->input))
        mark_hop(p, gx, gy, s->input, true);
    for (unsigned port = HX_E; port < HX_LOCAL; port++)
        if (s->ports >> port & 1)
            mark_hop(p, gx, gy, port, false);
}

static void mark_boards(struct picture *p, const struct hx_walk *w)
{
    const unsigned xs[2] = {p->first_x, p->last_x};
    const unsigned ys[2] = {p->first_y, p->last_y};
    for (unsigned board = 0; board < 4; board++)
        for (unsigned r = 0; r < p->g->b; r++)
            for (unsigned c = 0; c < p->g->a; c++)
                p->cells[row_of(p, ys[board / 2] * p->g->b + r)][column_of(p, xs[board % 2] * p->g->a + c)] = '.';
    p->cells[row_of(p, w->from.addr_lo)][column_of(p, w->from.addr_hi)] = 'A';
    p->cells[row_of(p, w->to.addr_lo)][column_of(p, w->to.addr_hi)] = 'B';
}

void hx_walk_draw(const struct hx_walk *w, const struct hx_geometry *g)
{
    static struct picture p;
    unsigned x = w->from.addr_hi / g->a;
    unsigned y = w->from.addr_lo / g->b;
    unsigned to_x = w->to.addr_hi / g->a;
    unsigned to_y = w->to.addr_lo / g->b;
    p.g = g;
    p.first_x = lesser(x, to_x);
    p.last_x = x + to_x - p.first_x;
    p.first_y = lesser(y, to_y);
    p.last_y = y + to_y - p.first_y;
    unsigned width = column_of(&p, p.last_x * g->a + g->a - 1U) + CELL / 2 + 1;
    unsigned height = row_of(&p, p.last_y * g->b + g->b - 1U) + LINE / 2 + 1;
    if (width > WIDEST || height > TALLEST)
        return;
    memset(p.cells, ' ', sizeof p.cells);
    mark_boards(&p, w);
    for (size_t i = 0; i < w->count; i++)
        mark_step(&p, &w->steps[i]);
    for (unsigned row = 0; row < height; row++) {
        unsigned end = width;
        while (end > 0 && p.cells[row][end - 1] == ' ')
            end--;
        printf("    %.*s\n", (int)end, p.cells[row]);
    }
}
