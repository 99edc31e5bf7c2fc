/* build.h - the entities of one worker, bound to each other and to those of other workers. */
#ifndef BUILD_H
#define BUILD_H

#include "driver.h"

#define PS_PER_NS UINT64_C(1000)

/* What a worker runs. */
struct worker {
    const struct model *m;
    struct model_area *area;
    unsigned self;
    uint64_t warm, over; /* ps: from when on and until when what happens counts in rates; UINT64_MAX: for ever */
    struct virtual_worker v;
    struct virtual_entity **entity; /* [entities], by their number in the wheel */
    uint32_t entities;
    uint32_t border;       /* entities that are linked to those of other workers: the first of all */
    uint32_t say_before;   /* the first visit of an entity from here on: what others get is sent by then */
    bool said;             /* what this worker says of the window (virtual_channel_say) */
    struct driver *driver; /* [accelerators] of this worker */
    uint32_t accelerators;
    uint64_t active;       /* accelerators that are not done */
    unsigned marked;       /* ends of the measured interval that have been noted (worker.c) */
    uint8_t *tables;       /* route tables of all nodes */
    uint8_t *memory;       /* of the entities */
    struct faults *faults; /* NULL: nothing fails */
};

void build_worker(struct worker *w, const struct model *m, unsigned self);

/* Builds the tables of a node anew, into their memory, with the ports that are up. */
void build_route(const struct worker *w, uint32_t node, struct virtual_node *n);

/* What all workers together allocate for the state of the fabric: all they take but packets under way, and what an endpoint
 * seldom touches, or has for messages of which few are under way at once (hx_endpoint_sizes). */
uint64_t build_bytes(const struct model *m);

/* Whether the packet at a position of an input, tail to head, is still there: waits, or was not looked at yet. */
static inline bool build_holds(const struct virtual_rx *rx, const struct hx_input *in, unsigned vc, uint16_t position)
{
    uint16_t tail = hx_lane(rx->tail, vc);
    bool looked_at = (uint16_t)(position - tail) < (uint16_t)(hx_lane(in->seen, vc) - tail);
    return !looked_at || (in->waiting[vc] >> position % HX_WINDOW & 1);
}

#endif
