/* broken.h - dead links of a plane, and the routes around them.
 *
 * HammingMesh: by include/hxmesh/around.h, each node with the whole set. Other fabrics: the caller gives the fabric
 * searched routes without these links (topology/updown.h); here the ports of dead links only close. */
#ifndef HXMESH_TOOLS_BROKEN_H
#define HXMESH_TOOLS_BROKEN_H

#include "spec/around_links.h"

struct hx_broken {
    const struct hx_fabric *g;
    uint64_t *down; /* [nodes]: ports with a dead link, marked at both ends */
    uint32_t *part; /* [nodes]: the same number where living links join them */
    /* Of a HammingMesh: */
    struct hx_dead_links dead;
    void *dead_memory;
    struct hx_blocked_boards blocked; /* of the job */
    struct job_boards boards;
    struct around_shared shared;
    struct around_node *node; /* [nodes] */
};

/* The spec outlives it. */
void hx_broken_init(struct hx_broken *b, const struct hx_spec *spec);
void hx_broken_free(struct hx_broken *b);

/* Takes `count` links down, named by one end, and all others up. Routes made before are invalid. */
void hx_broken_take(struct hx_broken *b, const struct hx_end *links, uint32_t count);

/* Begins routes of a job: sets `part` by the links and nodes that it may use. */
void hx_broken_begin(struct hx_broken *b, struct hx_blocked_boards blocked);

/* Makes a node's routes lead around dead links. r: built into `tables` for the ports that are not down. */
void hx_broken_route(struct hx_broken *b, uint32_t node, struct hx_route *r, void *tables);

#endif
