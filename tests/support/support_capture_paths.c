/* support_capture_paths.c - interfaces and paths of the capture model (support_capture_paths.h). */
#include "tests/support/support_capture_paths.h"

#include <stdio.h>

enum { E = SIM_E, W = SIM_W, N = SIM_N, S = SIM_S, LOCAL = SIM_LOCAL, PORTS = SIM_PORTS };

/* ---- places ---- */

struct sim_fabric sim_fabric_of(const struct sim_settings *set)
{
    struct sim_fabric f = {.set = set, .columns = set->a * set->x, .rows = set->b * set->y};
    f.first_row = f.columns * f.rows * PORTS;
    f.first_column = f.first_row + f.rows * 2 * set->x;
    f.per_plane = f.first_column + f.columns * 2 * set->y;
    return f;
}

const char *sim_interface_name(const struct sim_settings *set, uint32_t interface)
{
    static char name[40];
    static const char *const letters[PORTS] = {"E", "W", "N", "S", "local"};
    const struct sim_fabric f = sim_fabric_of(set);
    unsigned plane = interface / f.per_plane;
    uint32_t at = interface % f.per_plane;
    if (at < f.first_row)
        snprintf(name, sizeof name, "a%u,%u/p%u/%s", at / PORTS % f.columns, at / PORTS / f.columns, plane,
                 letters[at % PORTS]);
    else if (at < f.first_column)
        snprintf(name, sizeof name, "row%u/p%u/%u", (at - f.first_row) / (2 * set->x), plane,
                 (at - f.first_row) % (2 * set->x));
    else
        snprintf(name, sizeof name, "col%u/p%u/%u", (at - f.first_column) / (2 * set->y), plane,
                 (at - f.first_column) % (2 * set->y));
    return name;
}

uint32_t sim_accelerator_port(const struct sim_fabric *f, unsigned plane, unsigned gx, unsigned gy, unsigned port)
{
    return plane * f->per_plane + (gy * f->columns + gx) * PORTS + port;
}

uint32_t sim_far_of(const struct sim_fabric *f, unsigned plane, unsigned gx, unsigned gy, unsigned port)
{
    const struct sim_settings *s = f->set;
    unsigned column = gx % s->a;
    unsigned row = gy % s->b;
    switch (port) {
    case E:
        return column + 1 < s->a ? sim_accelerator_port(f, plane, gx + 1, gy, W)
                                 : plane * f->per_plane + f->first_row + gy * 2 * s->x + gx / s->a * 2 + 1;
    case W:
        return column > 0 ? sim_accelerator_port(f, plane, gx - 1, gy, E)
                          : plane * f->per_plane + f->first_row + gy * 2 * s->x + gx / s->a * 2;
    case N:
        return row > 0 ? sim_accelerator_port(f, plane, gx, gy - 1, S)
                       : plane * f->per_plane + f->first_column + gx * 2 * s->y + gy / s->b * 2;
    default:
        return row + 1 < s->b ? sim_accelerator_port(f, plane, gx, gy + 1, N)
                              : plane * f->per_plane + f->first_column + gx * 2 * s->y + gy / s->b * 2 + 1;
    }
}

/* ---- minimal paths, in closed form ---- */

/* Cables in one dimension through the low or high edge of `from`'s board, into the board of `to` by edge `enter`. */
static unsigned by_edge(unsigned side, unsigned from, unsigned to, unsigned leave, unsigned enter)
{
    if (from / side == to / side && leave == enter)
        return UINT16_MAX;
    unsigned out = leave ? side - 1 - from % side : from % side;
    unsigned in = enter ? side - 1 - to % side : to % side;
    return out + 2 + in;
}

/* Next hops in one dimension: bit 0 towards low, bit 1 towards high. *entries: edges at which a path may enter the
 * far board. */
static unsigned steps(unsigned side, unsigned from, unsigned to)
{
    if (from == to)
        return 0;
    unsigned best = UINT16_MAX;
    unsigned set = 0;
    if (from / side == to / side) {
        best = from > to ? from - to : to - from;
        set = from > to ? 1 : 2;
    }
    for (unsigned leave = 0; leave < 2; leave++)
        for (unsigned enter = 0; enter < 2; enter++) {
            unsigned cost = by_edge(side, from, to, leave, enter);
            if (cost < best)
                set = 0;
            if (cost <= best) {
                best = cost;
                set |= 1U << leave;
            }
        }
    return set;
}

bool sim_is_edge(unsigned side, unsigned at, unsigned step)
{
    return step == 0 ? at % side == 0 : at % side == side - 1;
}

bool sim_leaves_board(const struct sim_settings *set, unsigned gx, unsigned gy, unsigned port)
{
    return port < N ? sim_is_edge(set->a, gx, port == E) : port < LOCAL && sim_is_edge(set->b, gy, port == S);
}

bool sim_is_minimal(const struct sim_settings *set, unsigned gx, unsigned gy, unsigned to_gx, unsigned to_gy,
                    unsigned port)
{
    unsigned x = steps(set->a, gx, to_gx);
    unsigned y = steps(set->b, gy, to_gy);
    return port < N ? x >> (port == E) & 1 : y >> (port == S) & 1;
}

unsigned sim_paths(const struct sim_fabric *f, const struct sim_frame *frame, unsigned in, unsigned gx, unsigned gy)
{
    const struct sim_settings *s = f->set;
    unsigned x = steps(s->a, gx, frame->dst_addr_hi);
    unsigned y = steps(s->b, gy, frame->dst_addr_lo);
    unsigned set = (x & 2 ? 1U << E : 0) | (x & 1 ? 1U << W : 0) | (y & 1 ? 1U << N : 0) | (y & 2 ? 1U << S : 0);
    bool exit_here = (x & 1 && sim_is_edge(s->a, gx, 0)) || (x & 2 && sim_is_edge(s->a, gx, 1));
    if (x != 0 && !exit_here)
        set &= ~(1U << N);
    if (in == S && !sim_is_edge(s->b, gy, 1)) { /* the packet moved north on this board */
        unsigned edges = (sim_is_edge(s->a, gx, 1) ? 1U << E : 0) | (sim_is_edge(s->a, gx, 0) ? 1U << W : 0) |
                         (sim_is_edge(s->b, gy, 1) ? 1U << S : 0);
        set &= edges | 1U << N;
    }
    return x == 0 && y == 0 ? 1U << LOCAL : set;
}

uint64_t sim_crossbar_paths(const struct sim_fabric *f, const struct sim_frame *frame, bool row, unsigned in)
{
    unsigned side = row ? f->set->a : f->set->b;
    unsigned to = row ? frame->dst_addr_hi : frame->dst_addr_lo;
    unsigned low = 2 * (to / side);
    unsigned from_low = to % side;
    unsigned from_high = side - 1 - to % side;
    uint64_t set = 0;
    if (from_low <= from_high || in == low + 1)
        set |= 1ULL << low % 64;
    if (from_high <= from_low || in == low)
        set |= 1ULL << (low + 1) % 64;
    return set & ~(1ULL << in % 64);
}
