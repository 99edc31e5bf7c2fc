/* state.h - what a worker of the virtual clock has: its part of the model, its entities, its endpoints. */
#ifndef STATE_H
#define STATE_H

#include "model.h"

#define PS_PER_NS UINT64_C(1000)

struct worker;

/* What drives an endpoint. What every visit touches comes first: it is asked for ahead by the entity's `of`
 * (hal/virtual/prefetch.c). */
struct driver {
    struct worker *worker;
    struct job_count *job;
    struct model_receiver *receiver;
    struct workload *workload;
    uint64_t begun; /* messages */
    uint64_t wake;  /* ps: when the workload is to be asked again, should nothing happen before */
    uint32_t rank;
    bool news;        /* an event came: it is to be asked now */
    bool timer_noted; /* a deadline stands in the agenda */
    bool again_noted; /* so does `wake` */
    bool told;        /* routes have changed: all deadlines are to be looked at */
    bool done;
    struct hx_endpoint endpoint;
    struct hal_endpoint hal;
};

/* Ways may have changed: when it is driven next, it asks again for what waits for one. */
static inline void driver_routes_changed(struct driver *d)
{
    hx_endpoint_routes_changed(&d->endpoint);
    d->told = true;
}

/* What a worker runs. */
struct worker {
    const struct model *m;
    struct model_area *area;
    unsigned self;
    uint64_t warm, over; /* ps: from when on and until when what happens counts in rates; UINT64_MAX: for ever */
    struct virtual_worker v;
    struct virtual_sim_node **sim_node; /* [entities], by their number in the wheel */
    uint32_t sim_nodes;
    uint32_t border;       /* entities that are linked to those of other workers: the first of all */
    uint32_t publish_before;   /* the first visit of an entity from here on: what others get is sent by then */
    bool said;             /* what this worker says of the window (virtual_channel_publish) */
    struct driver *driver; /* [accelerators] of this worker */
    uint32_t accelerators;
    uint64_t active;       /* accelerators that are not done */
    unsigned marked;       /* ends of the measured interval that have been noted (worker.c) */
    uint8_t *tables;       /* route tables of all nodes */
    uint8_t *memory;       /* of the entities */
    struct faults *faults; /* NULL: nothing fails */
};

/* Whether the packet at a position of an input, tail to head, is still there: waits, or was not looked at yet. */
static inline bool state_holds(const struct virtual_rx *rx, const struct hx_input *in, unsigned vc, uint16_t position)
{
    uint16_t tail = hx_lane(rx->tail, vc);
    bool looked_at = (uint16_t)(position - tail) < (uint16_t)(hx_lane(in->seen, vc) - tail);
    return !looked_at || (in->waiting[vc] >> position % HX_WINDOW & 1);
}

#endif
