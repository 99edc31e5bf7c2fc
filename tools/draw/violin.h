/* violin.h - a violin plot: the distribution of values as an area as wide as their density. */
#ifndef HXMESH_TOOLS_VIOLIN_H
#define HXMESH_TOOLS_VIOLIN_H

#include "tools/draw/plot.h"

enum { VIOLIN_LEVELS = 20, VIOLIN_POINTS = 2 * VIOLIN_LEVELS + 1 };

/* Adds a violin to a PLOT_AREAS series, which has room for PLOT_MOST_POINTS / VIOLIN_POINTS of them. It is around x =
 * at, at most `width` wide, from the least value to the greatest. Density: a Gaussian kernel with Silverman's width. */
void violin_add(struct plot_series *s, double at, double width, const double *value, unsigned count);

#endif
