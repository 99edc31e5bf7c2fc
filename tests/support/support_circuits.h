/* support_circuits.h - circuits of tests, their components by brute force, and demands drawn at random. */
#ifndef HXMESH_TESTS_SUPPORT_CIRCUITS_H
#define HXMESH_TESTS_SUPPORT_CIRCUITS_H

#include "tools/circuits/circuits.h"
#include "topology/topology.h"

/* Asserts that circuits are between two servers each, and no server has more than its degree; `used` agrees. */
void circuits_assert_sound(const struct circuits *c);
/* Fills of[servers] with the least server that circuits join each with. Returns the number of components. */
uint32_t circuits_components(const struct circuits *c, uint32_t *of);
uint32_t circuits_between_two(const struct circuits *c, uint32_t a, uint32_t b);

/* Makes the fabric of their graph; false: it needs more VCs than there are. Asserts that it has no other problem. */
bool circuits_make(struct hx_fabric *f, const struct circuits *c, const struct circuits_links *l);

/* A demand of up to this many servers, with sums over all or disjoint groups, and up to three exchanges. Some have no
 * sums, some no exchanges. Free it with circuits_drawn_free(). */
struct circuits_drawn {
    struct circuits_demand demand;
    uint32_t member[CIRCUITS_MOST_SERVERS];
};
void circuits_draw(struct circuits_drawn *d, uint64_t *random, uint32_t most_servers);
void circuits_drawn_free(struct circuits_drawn *d);

/* Coin change modulo k, the routes of sums in TopoOpt: fills next[k] with the stride of the first step of a shortest
 * path over a distance of 0 .. k - 1 (next[0] is 0), and length[k] with its steps; UINT32_MAX: no sum of strides.
 * Strides are below k and go one way; give k - p too if circuits are duplex. */
void circuits_coin_change(uint32_t k, const uint32_t *stride, unsigned strides, uint32_t *next, uint32_t *length);

#endif
