/* conditions.h - applies link conditions that the supervisor sets: puts a faulty link (hal/shm/faulty.h) before the
 * receiving port or takes it out, while packets flow.
 *
 * Only links between nodes in shared memory: an endpoint's link never fails, and an external cable's far end is not
 * ours. */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include "node.h"

/* A receiving port with a faulty link. */
struct faulty_link {
    struct node *node;
    unsigned port;
    struct shm_faulty f;
};

/* Whether a host has been without links in all planes for `ns`. Packets to it are dropped without a report. */
bool conditions_host_is_alone(const struct worker *w, uint32_t host, uint64_t ns);

/* Follows control->conditions for links into this worker's switches. Call it between steps. */
void conditions_follow(struct worker *w);
void conditions_end(struct worker *w);

/* Steps each faulty link. Returns packets moved. */
unsigned conditions_step(struct worker *w);
/* Whether a faulty link holds packets for a later step. */
bool conditions_hold(const struct worker *w);

/* Returns the ports of a node that can send, bit by port. */
uint64_t conditions_ports_up(const struct worker *w, unsigned plane, uint32_t node);

#endif
