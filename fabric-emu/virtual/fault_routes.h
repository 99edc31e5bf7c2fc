/* fault_routes.h - routes around dead links, of a worker's nodes under the virtual clock.
 *
 * A node has the routes of a route epoch (fault_links.h). In a fabric with searched routes these come from a fabric of
 * that epoch (topology/updown.h). In a HammingMesh they follow from the set of dead links (include/hxmesh/around.h),
 * which all nodes of the worker and plane that know that epoch share. */
#ifndef FAULT_ROUTES_H
#define FAULT_ROUTES_H

#include "fault_links.h"
#include "route_tables.h"
#include "state.h"

enum { NO_ROUTE_EPOCH = -1 };

/* The fabric of each plane at a route epoch. */
struct notified {
    uint32_t route_epoch[HX_MAX_PLANES];
    struct hx_fabric fabric[HX_MAX_PLANES]; /* .updown is owned; NULL: not built */
};
/* Fabrics kept: simulated nodes visited in one window may be some epochs apart. */
enum { NOTIFIED = 8 };

/* The dead links of a plane at a route epoch; with those that a node found itself, it has a set of its own. */
struct known_links {
    struct hx_dead_links dead;
    int64_t epoch;
    unsigned plane; /* HX_MAX_PLANES: of one node */
    uint32_t nodes; /* that know it; 0: to be freed */
    struct known_links *next;
};

/* Routes of a switch in a HammingMesh. */
struct mesh_switch {
    struct around_node around;
    struct known_links *known; /* NULL: not begun */
};

struct fault_routes {
    const struct worker *w;
    const struct fault_links *links;
    struct notified notified[NOTIFIED]; /* epoch n at n % NOTIFIED, if it is the last one built there */
    struct known_links *known;          /* list */
    struct mesh_switch *switches;       /* [sim_nodes][planes] */
    struct around_shared shared;
    struct job_boards boards;
};

/* Whether the fabric has routes around dead links. */
bool fault_routes_change(const struct hx_fabric *g);

unsigned fault_routes_plane(const struct fault_routes *r, const struct virtual_node *n);

void fault_routes_open(struct fault_routes *r, const struct worker *w, const struct fault_links *links);

/* Builds the routes of a switch, of the fabric's node `node`, as of an epoch, for its ports that are up. */
void fault_routes_build(struct fault_routes *r, struct virtual_node *n, uint32_t node, int64_t epoch);

#endif
