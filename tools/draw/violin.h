/* violin.h - how values are spread, as an area that is as wide as they are dense. */
#ifndef HXMESH_TOOLS_VIOLIN_H
#define HXMESH_TOOLS_VIOLIN_H

#include "tools/draw/plot.h"

enum { VIOLIN_LEVELS = 20, VIOLIN_POINTS = 2 * VIOLIN_LEVELS + 1 };

/* Adds one to a series of PLOT_AREAS, which has room for PLOT_MOST_POINTS / VIOLIN_POINTS of them: around x = at, at
 * most `width` wide, from the least of the values to the most. The density is a sum of bells (a Gaussian kernel,
 * Silverman's width). */
void violin_add(struct plot_series *s, double at, double width, const double *value, unsigned count);

#endif
