/* map.c - the heat map of a report: a cell for each accelerator (for each board on a wide fabric), with gaps between
 * boards. Cells are digits 0 to 9, coloured if the terminal has colours (base/color.h). */
#include "base/color.h"
#include "base/error.h"
#include "fabric-emu/report/result.h"
#include "topology/heat_map.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDEST = 72, INDENT = 3 };

/* Position of the next character, from the map's corner. */
struct pen {
    bool colour;
    unsigned row, column;
};

static void print_cell(void *of, unsigned row, unsigned column, unsigned shade)
{
    struct pen *pen = of;
    for (; pen->row < row; pen->row++) {
        printf("\n");
        pen->column = 0;
    }
    printf("%*s", (int)(column - pen->column + (pen->column ? 0 : INDENT)), "");
    if (pen->colour)
        printf("\033[48;5;%um %u\033[0m", hx_heat_colour[shade], shade);
    else
        printf(" %u", shade);
    pen->column = column + HX_HEAT_CELL;
}

void result_print_map(const struct result *r)
{
    const struct hx_fabric *g = r->g;
    const struct hx_geometry *m = &g->mesh;
    bool boards = m->nodes != 0;
    bool by_board = boards && 2U * g->columns + m->x > WIDEST;
    const struct hx_heat_map map = {.g = g,
                                    .wide = by_board ? m->a : 1,
                                    .high = by_board ? m->b : 1,
                                    .apart_x = by_board ? 0 : m->a,
                                    .apart_y = by_board ? 0 : m->b};
    if (hx_heat_map_columns(&map) > 2 * WIDEST)
        return; /* too wide for a terminal */
    double *packets = hx_allocate(g->hosts, sizeof *packets);
    for (uint32_t rank = 0; rank < g->hosts; rank++)
        packets[rank] = (double)r->moved[rank];
    double most = hx_heat_map_most(&map, packets, 1);
    printf("  packets sent by each %s's switches, 0 to 9 (9: %.0f)\n", by_board ? "board" : hx_host_word(g), most);
    struct pen pen = {.colour = hx_color_on(stdout)};
    hx_heat_map_draw(&map, packets, most, print_cell, &pen);
    printf("\n");
    free(packets);
}
