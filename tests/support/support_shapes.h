/* support_shapes.h - the fabrics of routing properties. */
#ifndef HXMESH_TESTS_SUPPORT_SHAPES_H
#define HXMESH_TESTS_SUPPORT_SHAPES_H

#include "tests/support/support_graph.h"

/* The seed of HX_SEED, or a fixed one. */
uint64_t shapes_seed(void);

/* Calls `validate` for every shape: named ones (tiny, unequal, long, with trees of every kind), and random ones. For
 * every board of 1 to 5 by 1 to 5 these are two with crossbars and two with trees, of 1 to 6 by 1 to 6 boards. Less
 * effort (support_effort.h) takes fewer. `what` names the shape in messages. */
void shapes_for_each(void (*validate)(struct graph_shape shape, const char *what));

#endif
