/* cycle.h - finds a cycle in a directed graph. */
#ifndef CYCLE_H
#define CYCLE_H

#include <stddef.h>
#include <stdint.h>

#define CYCLE_NONE UINT32_MAX

struct cycle_graph {
    uint32_t vertices; /* 0 .. vertices - 1 */
    const void *of;
    /* The n-th successor of `vertex`, or CYCLE_NONE if it has at most n. */
    uint32_t (*next)(const void *of, uint32_t vertex, unsigned n);
};

/* Writes the vertices of a cycle, in order, to `cycle` (room for all vertices). Returns their number; 0: no cycle. The
 * cycle is a shortest one through the first vertex that is found to be on any. */
uint32_t cycle_find(const struct cycle_graph *g, uint32_t *cycle);

#endif
