/* circuits.h - duplex circuits between servers, each with up to `degree` interfaces. */
#ifndef HXMESH_TOOLS_CIRCUITS_CIRCUITS_H
#define HXMESH_TOOLS_CIRCUITS_CIRCUITS_H

#include "tools/circuits/demand.h"

#include <stdbool.h>
#include <stdio.h>

/* Two servers may have several circuits. */
struct circuit {
    uint32_t a, b; /* servers, a != b */
};

/* A ring of a sum: member i to member i + stride. Both directions carry it. */
struct circuits_ring {
    unsigned reduce; /* number in the demand */
    uint32_t stride;
};

enum { CIRCUITS_MOST_RINGS = CIRCUITS_REDUCES * CIRCUITS_MOST_DEGREE };
/* Writes the strides of the rings that a sum goes around, each with an equal part of its vector: its own ones, else 1
 * alone. Room: one, and that of the rings. Returns their number. */
unsigned circuits_strides_of(const struct circuits_ring *ring, unsigned rings, unsigned reduce, uint32_t *stride);

struct circuits {
    uint32_t servers;
    unsigned degree;
    uint32_t count;
    struct circuit *circuit; /* [servers * degree / 2] room; rings first, in their order */
    unsigned *used;          /* [servers] interfaces that have a circuit */
    unsigned rings;
    struct circuits_ring ring[CIRCUITS_MOST_RINGS];
};

void circuits_new(struct circuits *c, uint32_t servers, unsigned degree);
void circuits_free(struct circuits *c);
struct circuits circuits_copy(const struct circuits *c);

/* Interfaces of a server that have a circuit. */
unsigned circuits_used(const struct circuits *c, uint32_t server);
/* Adds a circuit if both servers have a free interface; returns whether they had. */
bool circuits_add(struct circuits *c, uint32_t a, uint32_t b);

/* Joins all servers into one component: with free interfaces, then by exchanging ends of two circuits, one in each of
 * two components. One of these is on a cycle, so that no component falls apart. A server without circuits comes between
 * the ends of one. No server loses a circuit. Circuits that were added last change first, so those of
 * rings stay while others suffice. Returns false if degrees do not allow it. */
bool circuits_connect(struct circuits *c);

/* ---- graph.c ---- */

/* Rates and delays of the graph. */
struct circuits_links {
    unsigned gbps;
    unsigned latency_ns;
    unsigned forward_ns;   /* that a server adds to each packet it forwards */
    unsigned forward_gbps; /* of all packets that a server forwards together; 0: no limit */
};
/* Writes the graph's file (topology/graph_file.h), servers s0, s1, ... by rank, each a host that forwards. */
void circuits_write(const struct circuits *c, const struct circuits_links *l, FILE *out);
/* Graphviz. */
void circuits_dot(const struct circuits *c, FILE *out);

/* Circuits from each server to each other, distance[servers * servers]; free() it. */
enum { CIRCUITS_APART = UINT32_MAX };
uint32_t *circuits_distances(const struct circuits *c);

/* Lengths of minimal paths in circuits. */
struct circuits_paths {
    unsigned diameter;
    double mean;         /* over pairs of different servers */
    uint64_t *of_length; /* [diameter + 1]: ordered pairs; free() it */
};
/* Returns false if not all servers are joined. */
bool circuits_measure(const struct circuits *c, struct circuits_paths *p);

#endif
