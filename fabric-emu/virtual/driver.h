/* driver.h - what drives an endpoint under the virtual clock: messages to begin, what arrived, timeouts. */
#ifndef DRIVER_H
#define DRIVER_H

#include "model.h"

struct worker;

struct driver {
    struct hx_endpoint endpoint;
    struct hal_endpoint hal;
    struct worker *worker;
    struct job_count *job;
    uint32_t rank;
    struct part *part; /* in a collective; NULL: messages */
    bool news;         /* an event came in this step: more may be begun */
    uint64_t messages; /* to begin in all */
    uint64_t begun;
    uint64_t offered; /* bytes handed to the endpoint, for the rate */
    bool timer_noted; /* a deadline stands in the agenda */
    bool again_noted; /* so does when the rate allows more */
    bool done;
};

/* Makes the endpoint of an accelerator and lets it begin at time 0. */
void driver_start(struct driver *d, struct worker *w, struct virtual_entity *e, uint32_t rank);

/* Counts bytes that came otherwise than they were sent. */
void driver_note_corrupted(const struct driver *d, uint64_t bytes);

#endif
