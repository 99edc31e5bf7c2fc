/* result_map.c - the heat map: one cell an accelerator (one a board where the fabric is wide), boards set apart.
 * Colours on a terminal unless NO_COLOR is set (no-color.org); digits 0 to 9 otherwise. */
#include "result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WIDEST = 72, SHADES = 10 };

/* The 256-colour palette from cold to hot. */
static const unsigned shade_colour[SHADES] = {17, 19, 25, 31, 37, 71, 142, 172, 166, 160};

static bool coloured(void)
{
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

static void print_cell(unsigned shade, bool colour)
{
    if (colour)
        printf("\033[48;5;%um %u\033[0m", shade_colour[shade], shade);
    else
        printf(" %u", shade);
}

/* Packets of the accelerators of one cell. */
static uint64_t cell_sum(const struct result *r, unsigned gx, unsigned gy, unsigned wide, unsigned high)
{
    uint64_t sum = 0;
    for (unsigned dy = 0; dy < high; dy++) {
        for (unsigned dx = 0; dx < wide; dx++)
            sum += r->moved[hx_accelerator(r->g, gx + dx, gy + dy)];
    }
    return sum;
}

void result_print_map(const struct result *r)
{
    const struct hx_geometry *g = r->g;
    bool by_board = 2U * g->columns + g->x > WIDEST;
    unsigned wide = by_board ? g->a : 1;
    unsigned high = by_board ? g->b : 1;
    if (2U * (g->columns / wide) > 2 * WIDEST)
        return; /* no terminal is wide enough */
    uint64_t most = 1;
    for (unsigned gy = 0; gy < g->rows; gy += high) {
        for (unsigned gx = 0; gx < g->columns; gx += wide) {
            uint64_t sum = cell_sum(r, gx, gy, wide, high);
            most = sum > most ? sum : most;
        }
    }
    printf("  packets sent by each %s's switches, 0 to 9 (9: %" PRIu64 ")\n", by_board ? "board" : "accelerator", most);
    bool colour = coloured();
    for (unsigned gy = 0; gy < g->rows; gy += high) {
        if (gy && !by_board && gy % g->b == 0)
            printf("\n");
        printf("   ");
        for (unsigned gx = 0; gx < g->columns; gx += wide) {
            if (gx && !by_board && gx % g->a == 0)
                printf(" ");
            print_cell((unsigned)(cell_sum(r, gx, gy, wide, high) * (SHADES - 1) / most), colour);
        }
        printf("\n");
    }
}
