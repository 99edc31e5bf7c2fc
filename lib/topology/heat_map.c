/* heat_map.c - cells and shades of a map (topology/heat_map.h). */
#include "topology/heat_map.h"

const unsigned char hx_heat_colour[HX_HEAT_SHADES] = {17, 19, 25, 31, 37, 71, 142, 172, 166, 160};

static unsigned column_of(const struct hx_heat_map *map, unsigned gx)
{
    return gx / map->wide * HX_HEAT_CELL + (map->apart_x ? gx / map->apart_x : 0);
}

static unsigned row_of(const struct hx_heat_map *map, unsigned gy)
{
    return gy / map->high + (map->apart_y ? gy / map->apart_y : 0);
}

unsigned hx_heat_map_columns(const struct hx_heat_map *map)
{
    return column_of(map, map->g->columns - 1U) + HX_HEAT_CELL;
}

unsigned hx_heat_map_rows(const struct hx_heat_map *map)
{
    return row_of(map, map->g->rows - 1U) + 1;
}

/* Returns the sum over the accelerators of one cell, which the fabric's edge may cut. */
static double sum_of(const struct hx_heat_map *map, const double *value, unsigned gx, unsigned gy)
{
    double sum = 0;
    for (unsigned y = gy; y < gy + map->high && y < map->g->rows; y++) {
        for (unsigned x = gx; x < gx + map->wide && x < map->g->columns; x++)
            sum += value[hx_fabric_at(map->g, x, y)];
    }
    return sum;
}

double hx_heat_map_most(const struct hx_heat_map *map, const double *value, double least)
{
    double most = least;
    for (unsigned gy = 0; gy < map->g->rows; gy += map->high) {
        for (unsigned gx = 0; gx < map->g->columns; gx += map->wide) {
            double sum = sum_of(map, value, gx, gy);
            most = sum > most ? sum : most;
        }
    }
    return most;
}

void hx_heat_map_draw(const struct hx_heat_map *map, const double *value, double most,
                      void (*cell)(void *of, unsigned row, unsigned column, unsigned shade), void *of)
{
    for (unsigned gy = 0; gy < map->g->rows; gy += map->high) {
        for (unsigned gx = 0; gx < map->g->columns; gx += map->wide) {
            double share = sum_of(map, value, gx, gy) * (HX_HEAT_SHADES - 1) / most;
            cell(of, row_of(map, gy), column_of(map, gx), (unsigned)share);
        }
    }
}
