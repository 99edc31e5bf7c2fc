/* model.h - a fabric under the virtual clock: what all workers inherit, and the part of it that one worker builds.
 *
 * The supervisor makes a `struct model` before it forks. Each worker then builds its own entities in memory of its own
 * (build.c) and writes what it has to report into its pieces of `shared`, which the supervisor reads at the end. */
#ifndef MODEL_H
#define MODEL_H

#include "entity.h"
#include "fabric-emu/collective_plan.h"
#include "fabric-emu/histogram.h"
#include "fabric-emu/layout.h"
#include "fabric-emu/traffic.h"

#include <stdalign.h>
#include <stdatomic.h>

/* What the supervisor tells, and what one worker tells it while time runs. */
struct model_control {
    _Atomic bool stop; /* the user has had enough */
};

struct model_area {
    alignas(64) _Atomic uint64_t now; /* ps, end of the last window */
    _Atomic uint64_t hops;
    _Atomic uint64_t acknowledged; /* messages */
    /* At the end: */
    uint64_t drops[HX_DROP_COUNT];
    uint64_t bytes_corrupted;
    uint64_t bytes_measured; /* payload delivered before the end of the duration */
    uint64_t last_delivery;  /* ps */
    uint64_t private_bytes;
    uint64_t cpu_ns;
    uint32_t buffers_used; /* packets under way */
    uint32_t max_vc;
    uint64_t begun;            /* messages */
    uint32_t collectives_done; /* accelerators that finished their part */
    bool collective_ended;     /* a message was given up */
    struct hx_endpoint_stats sum;
    struct fab_histogram latency; /* ns */
    bool interrupted, complete;
};

/* What an accelerator received. */
struct model_receiver {
    uint64_t bytes;
    uint64_t last; /* ps: when the last of it came */
};

struct model_link {
    uint64_t packets, blocks;
};

struct model {
    const struct hx_spec *spec;
    const struct hx_geometry *g;
    const struct traffic *traffic;
    const struct collective_plan *collective; /* NULL: messages */
    struct hx_settings settings;
    struct virtual_timing timing;
    struct layout layout;
    unsigned workers;
    struct virtual_channel *channel;
    struct model_control *control;   /* shared */
    struct model_area *area;         /* shared, [workers] */
    struct model_link *link;         /* shared, [planes * links] */
    struct model_receiver *receiver; /* shared, [accelerators] */
    void *shared;
    size_t shared_bytes;
};

/* *spec, *g, *traffic and *collective (NULL: messages) must outlive *m. */
void model_create(struct model *m, const struct traffic *traffic, const struct collective_plan *collective,
                  const struct hx_timing *timing, unsigned workers);
void model_destroy(struct model *m);

#endif
