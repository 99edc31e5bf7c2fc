/* fault_links.h - links with faults under the virtual clock, and the times at which the fabric learns of changes.
 *
 * All workers know the links of all workers, so that each has the same route epochs. */
#ifndef FAULT_LINKS_H
#define FAULT_LINKS_H

#include "link_times.h"
#include "model.h"

/* A link with faults, named by its first end. */
struct hit_link {
    unsigned plane, port;
    uint32_t node;
    struct hx_link_change *change;
    size_t changes;
    struct link_times detected, planned;
    struct link_times ports; /* of both ends: shut by either */
};

/* A time at which the fabric is notified of changes. */
struct route_epoch {
    uint64_t at;     /* ps */
    unsigned planes; /* planes that change, one bit each */
};

/* Invariant: links are sorted by plane, node and port; epochs by time, without duplicates. */
struct fault_links {
    const struct model *m;
    struct hit_link *link;
    size_t count, room;
    struct route_epoch *epoch;
    size_t epochs, epochs_room;
};

struct fault_links fault_links_find(const struct model *m);

/* Returns the link at a port, given by either end; NULL: it has no faults. */
const struct hit_link *fault_links_at(const struct fault_links *l, unsigned plane, uint32_t node, unsigned port);

/* Calls `each` for all links of a plane that routes of an epoch lead around: closed as planned, or known to be down
 * since `notify` or longer. */
void fault_links_each_dead(const struct fault_links *l, size_t epoch, unsigned plane,
                           void (*each)(void *of, const struct hit_link *), void *of);

#endif
