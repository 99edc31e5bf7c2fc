/* support_world.h - one shape twice: as the firmware sees it, and as the oracle's plain graph. */
#ifndef HXMESH_TESTS_SUPPORT_WORLD_H
#define HXMESH_TESTS_SUPPORT_WORLD_H

#include "hxmesh/route.h"
#include "tests/support/support_shapes.h"

#include <stddef.h>

struct world {
    const char *what; /* names the shape in messages */
    struct graph graph;
    struct hx_geometry g;
    struct hx_route *routes;
    void **memory;
    uint16_t *distance; /* to the current destination */
    unsigned gx, gy;
    int to;
};

void *world_allocate(size_t count, size_t bytes);
void world_init(struct world *w, struct graph_shape s, const char *what);
void world_free(struct world *w);

/* Builds all routes; `blocked` as in struct hx_blocked_boards, NULL: no board. */
void world_build_routes(struct world *w, const uint8_t *blocked);

/* Makes `to` the destination. */
void world_aim(struct world *w, int to);

/* Candidates of the firmware for a packet to the destination. */
uint64_t world_set(const struct world *w, int node, int input);

/* Draws failed boards, in the forms of the oracle and of the firmware; the caller frees both. */
void world_draw_blocked(const struct world *w, uint64_t *random, bool **blocked, uint8_t **bits);

/* Packet at a node. */
struct packet {
    int node, input, layer;
    unsigned vc;
    bool moved_north; /* on this board */
};

/* Stack of packets to visit. Each (input port, layer, VC) is visited once per destination. */
struct states {
    int *seen;
    struct packet *stack;
    int depth;
};

enum { WORLD_VCS = 4 }; /* one more than the fabric has */

void states_init(struct states *s, const struct graph *g);
void states_free(struct states *s);
void states_forget(struct states *s, const struct graph *g);
void states_add(struct states *s, const struct world *w, struct packet p);

#endif
