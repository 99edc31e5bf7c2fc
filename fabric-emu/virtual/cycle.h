/* cycle.h - finds a cycle in a directed graph. */
#ifndef CYCLE_H
#define CYCLE_H

#include <stddef.h>
#include <stdint.h>

#define CYCLE_NONE UINT32_MAX

struct cycle_graph {
    uint32_t vertices; /* 0 .. vertices - 1 */
    const void *of;
    /* The n-th vertex that `vertex` points to; CYCLE_NONE: it points to no more than n. */
    uint32_t (*next)(const void *of, uint32_t vertex, unsigned n);
};

/* Writes the vertices of a cycle in their order to `cycle` (room for all vertices) and returns how many they are; 0:
 * there is none. It is a shortest one of those through the first vertex that is found to lie on one. */
uint32_t cycle_find(const struct cycle_graph *g, uint32_t *cycle);

#endif
