/* plot_ticks.h - ticks and range of an axis.
 *
 * Linear: multiples of 1, 2 or 5 times a power of ten, about six; the axis begins and ends at one. Whole: the same with
 * whole numbers only. Binary: powers of two, thinned out so that labels fit; the axis begins and ends at a power of
 * two. Decades: the same with powers of ten. */
#ifndef HXMESH_BASE_PLOT_TICKS_H
#define HXMESH_BASE_PLOT_TICKS_H

#include <stdbool.h>

enum { PLOT_MOST_TICKS = 12 };
enum plot_scale { PLOT_LINEAR, PLOT_WHOLE, PLOT_BINARY, PLOT_DECADES };

struct plot_ticks {
    unsigned count;
    double at[PLOT_MOST_TICKS];
    double low, high; /* ends of the axis; low < high */
};

/* Ticks for data from `least` to `most`, both finite, on a logarithmic scale above 0. least > most: no data; the axis
 * goes from 0 (binary, decades: 1) to 1 (2, 10). */
struct plot_ticks plot_ticks(enum plot_scale scale, double least, double most);

/* Whether the scale is logarithmic: values not above 0 have no place. */
bool plot_is_of_powers(enum plot_scale scale);

/* The position of a value on an axis: 0 at its low end, 1 at its high end. */
double plot_place(enum plot_scale scale, const struct plot_ticks *ticks, double value);

#endif
