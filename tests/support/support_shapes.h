/* support_shapes.h - the fabrics that properties of the routing are tested on. */
#ifndef HXMESH_TESTS_SUPPORT_SHAPES_H
#define HXMESH_TESTS_SUPPORT_SHAPES_H

#include "tests/support/support_graph.h"

/* The seed of HX_SEED, or a fixed one. */
uint64_t shapes_seed(void);

/* Calls `validate` for every shape: named ones (tiny, unequal, long, with trees of every kind), then for every board of
 * 1 to 5 by 1 to 5 two of 1 to 6 by 1 to 6 boards with crossbars, and two whose rows or columns need trees, drawn by
 * the seed; with less effort (support_effort.h) for some of them. `what` names the shape for messages. */
void shapes_for_each(void (*validate)(struct graph_shape shape, const char *what));

#endif
