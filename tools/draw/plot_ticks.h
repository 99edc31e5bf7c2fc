/* plot_ticks.h - where an axis has its ticks, and how far it goes.
 *
 * Linear: multiples of 1, 2 or 5 times a power of ten, about six of them; the axis begins and ends at one. Whole:
 * likewise, of whole numbers only. Binary: powers of two, every one or every second, third, ... so that there is room
 * for their labels; the axis goes from a power of two to one. Decades: likewise, of ten. */
#ifndef HXMESH_TOOLS_PLOT_TICKS_H
#define HXMESH_TOOLS_PLOT_TICKS_H

#include <stdbool.h>

enum { PLOT_MOST_TICKS = 12 };
enum plot_scale { PLOT_LINEAR, PLOT_WHOLE, PLOT_BINARY, PLOT_DECADES };

struct plot_ticks {
    unsigned count;
    double at[PLOT_MOST_TICKS];
    double low, high; /* the axis; low < high */
};

/* For data from `least` to `most`, both finite, on a scale of powers above 0. least > most: there are no data; the axis
 * goes from 0 (binary, decades: 1) to 1 (2, 10). */
struct plot_ticks plot_ticks(enum plot_scale scale, double least, double most);

/* Whether places go by the logarithm: values not above 0 have none. */
bool plot_is_of_powers(enum plot_scale scale);

/* Where a value lies on an axis: 0 at its low end, 1 at its high one. */
double plot_place(enum plot_scale scale, const struct plot_ticks *ticks, double value);

#endif
