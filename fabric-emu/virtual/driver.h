/* driver.h - what drives an endpoint under the virtual clock: joins it to its workload, and keeps its timeouts. */
#ifndef DRIVER_H
#define DRIVER_H

#include "model.h"

struct worker;

/* What every visit touches comes first: it is asked for ahead by the entity's `of` (hal/virtual/fetch.c). */
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

/* Memory of an accelerator's endpoint and workload, which in huge pages is there as soon as some of it is touched. */
uint64_t driver_bytes(const struct model *m, uint32_t rank);

/* Makes the endpoint of an accelerator and lets it begin at time 0. */
void driver_start(struct driver *d, struct worker *w, struct virtual_entity *e, uint32_t rank);

/* Ways may have changed: when it is driven next, it asks again for what waits for one. */
void driver_routes_changed(struct driver *d);

#endif
