/* conditions.h - links whose condition the supervisor has set: a worker puts a faulty link (hal/shm/faulty.h) before
 * the receiving port, or takes it out, while packets flow.
 *
 * Links between accelerators and switches of this machine alone: what hangs on an endpoint never fails, and the far end
 * of a cable that leaves the machine's memory is not ours. */
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include "node.h"

/* What brings a node something over a faulty link. */
struct faulty_link {
    struct node *node;
    unsigned port;
    struct shm_faulty f;
};

/* Whether the link that leaves (plane, node, port) is down. */
bool conditions_link_is_down(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port);

/* Whether no link has led to a host for so long, in any plane: what is sent to it is dropped where its link is, and
 * nobody says so. */
bool conditions_host_is_alone(const struct worker *w, uint32_t host, uint64_t ns);

/* Whether some link of a host to a node from `least` on is not down. */
bool conditions_host_leads(const struct fab_fabric *f, unsigned plane, uint32_t host, uint32_t least);

/* Follows control->conditions, for the links that lead to this worker's switches. Call between steps. */
void conditions_follow(struct worker *w);
void conditions_end(struct worker *w);

/* A step of each faulty link. Returns packets moved. */
unsigned conditions_step(struct worker *w);
/* Whether something lies on a faulty link, for a later step. */
bool conditions_hold(const struct worker *w);

/* Ports of a node that something can be sent by now, bit by port. */
uint64_t conditions_ports_up(const struct worker *w, unsigned plane, uint32_t node);

#endif
