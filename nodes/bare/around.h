/* around.h - routes of a node around dead links, which it learns from notices (hxmesh/notice.h, hxmesh/around.h).
 *
 * Time is in ns from the start. All memory is taken then: results of a search are those of one node and one job. */
#ifndef BARE_NODE_AROUND_H
#define BARE_NODE_AROUND_H

#include "config.h"
#include "hal/cable/notices.h"

struct node_around {
    struct hx_dead_links dead;
    struct hx_notices notices;
    struct hx_around_search search;
    struct hx_around around;
    struct hx_blocked_boards blocked;
    void *copy;     /* of cleared tables */
    uint8_t *found; /* results of searches: [found_bytes] */
    size_t found_bytes, found_used;
    struct cable_links links;
    uint32_t changes; /* of the dead links, as the routes know them */
};

void node_around_init(struct node_around *n, const struct config *c);

/* Says which of the node's links are dead: those that are not up. Returns whether routes are to be built anew. */
bool node_around_follow(struct node_around *n, uint32_t node, uint64_t up, uint64_t now);

/* Begins routes around dead links. r: built for the ports `up`, into `tables`. */
void node_around_begin(struct node_around *n, uint64_t up, struct hx_route *r, void *tables);

#endif
