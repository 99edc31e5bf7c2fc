/* heat_map.h - a fabric as a map of cells, each a block of accelerators, shaded from 0 to 9 by a value. */
#ifndef HXMESH_TOPOLOGY_HEAT_MAP_H
#define HXMESH_TOPOLOGY_HEAT_MAP_H

#include "topology/fabric.h"

enum { HX_HEAT_SHADES = 10, HX_HEAT_CELL = 2 /* characters, a space and a digit */ };

/* The 256-colour palette from cold to hot. */
extern const unsigned char hx_heat_colour[HX_HEAT_SHADES];

struct hx_heat_map {
    const struct hx_fabric *g;
    unsigned wide, high;       /* accelerators of a cell */
    unsigned apart_x, apart_y; /* hosts between two spaces, or empty lines; 0: none */
};

unsigned hx_heat_map_columns(const struct hx_heat_map *map); /* characters */
unsigned hx_heat_map_rows(const struct hx_heat_map *map);

/* Returns the highest sum of one cell; at least `least`. */
double hx_heat_map_most(const struct hx_heat_map *map, const double *value, double least);

/* Calls `cell` for each cell, row by row. */
void hx_heat_map_draw(const struct hx_heat_map *map, const double *value, double most,
                      void (*cell)(void *of, unsigned row, unsigned column, unsigned shade), void *of);

#endif
