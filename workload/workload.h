/* workload.h - what an accelerator sends and takes in: the one interface between what a run is about and its clock.
 *
 * Data that flows. A workload is one accelerator's share of what the run is about. It calls nobody and knows no clock:
 * who drives the endpoint (live/accelerator.c, virtual/driver.c) joins the two.
 *
 *     workload_next  -> hx_endpoint_send, workload_take           hal_read_payload  -> ops->fill
 *     HX_EVENT_...   -> workload_event                            hal_write_payload -> ops->place
 *
 *     uint32_t refused = 0;
 *     while (workload_next(w, now, refused, &m)) {
 *         if (hx_endpoint_send(ep, ..., m.number) == HX_OK)
 *             workload_take(w, &m);
 *         else
 *             refused |= (uint32_t)1 << m.lane;
 *     }
 *
 * at the start, whenever a step of the endpoint has brought an event (after that step, not within it), and when the
 * time that workload_wake() names has come. So a workload may wait for a time or for what arrives before it sends.
 *
 * Time is in picoseconds from the start of the run.
 *
 * Kinds: the messages of a pattern or a file of them (pattern.c), a file that is carried (file_transfer.c), a collective
 * (collective.c), IP packets of programs on the hosts (packets.c), messages that a program asks for (program.c), both
 * of these at one host (shared.c). A new kind is a file more, and a line in workload.c. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "workload/collective_plan.h"
#include "workload/packets.h"
#include "workload/programs.h"
#include "workload/traffic.h"
#include "workload/transfer.h"

#define WORKLOAD_NEVER UINT64_MAX
#define WORKLOAD_PS    UINT64_C(1000) /* of a nanosecond */

enum { WORKLOAD_SENDS = 64 /* messages of an accelerator under way at most, where it may have many */ };

/* What the accelerators of a run are to do; the same for all. */
struct workload_plan {
    const struct traffic *traffic;            /* NULL: one of what follows is set */
    const struct collective_plan *collective; /* in place of the messages of jobs that it has; NULL: of none */
    const struct transfer *transfer;          /* NULL: no file */
    const struct programs *programs;          /* messages that programs ask for; NULL: none */
    const struct packets *packets;            /* beside these, IP packets of programs; NULL: none */
    double rate;      /* share of what an accelerator can inject that it may offer, below 1; 0: as much as goes */
    double link_rate; /* of a link, bytes a picosecond */
    double link_gbps; /* of a link, to which rates of the fabric's own links compare */
    bool verify;      /* payload is written and checked */
};

struct workload_message {
    uint32_t to; /* rank */
    uint32_t tag;
    uint64_t bytes;
    uint64_t number; /* of this accelerator's messages, from 0 */
    uint64_t due;    /* when it was to begin, where a rate says so; 0: when it can */
    unsigned lane;   /* below 32: what is refused for one lane may still go on another */
};

/* Begins every workload. */
struct workload {
    const struct workload_ops *ops;
    uint32_t rank;
    uint64_t start;  /* nothing is sent before; 0 from then on */
    bool carries;    /* there is payload to fill and to place */
    bool ended;      /* set by the clock: it cannot be finished, and nothing that comes is for it */
    uint64_t *begun; /* messages taken so far, where a successor finds it */
};

/* What each kind does; NULL where said. */
struct workload_ops {
    size_t bytes; /* of its struct: what it touches for every message */
    /* a message whose host has no place for it now waits, and others pass it; false: its lane is refused */
    bool passes;
    bool (*next)(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m);
    void (*take)(struct workload *w,
                 const struct workload_message *m); /* what `next` said last. NULL: nothing to note */
    void (*give_up)(struct workload *w, const struct workload_message *m); /* it goes to nobody. NULL: as `take` */
    uint64_t (*wake)(const struct workload *w);                            /* NULL: time does not matter */
    /* Message `number`, for a successor of a dead worker to repeat; false: there is none. NULL: it cannot go on where
     * another stopped, since what came before is gone. */
    bool (*message)(const struct workload *w, uint64_t number, struct workload_message *m);
    /* Takes over from a predecessor, who had begun the messages before `begun`, and had so many of them under way,
     * which begin again. NULL: it counts those before as taken. */
    void (*follow)(struct workload *w, uint64_t begun, unsigned in_flight);
    int (*event)(struct workload *w, const struct hx_event *event); /* NULL: events do not matter */
    void (*fill)(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes);
    uint64_t (*place)(struct workload *w, const struct hx_header *h, const uint8_t *payload);
    /* Whether what is under way is to be given up; `drained`: nothing of it is under way. NULL: it never is. */
    bool (*drains)(struct workload *w, uint64_t now);
    bool (*gives_up)(const struct workload *w, uint64_t number); /* which messages. NULL: all */
    void (*drained)(struct workload *w);
    bool (*is_due)(const struct workload *w); /* NULL: there is nothing to do in the end */
    uint64_t (*finish)(struct workload *w);
    bool (*is_over)(const struct workload *w);
    void (*close)(struct workload *w); /* NULL: it has only its memory */
};
/* What all kinds have, as functions of these names in the file of a kind. */
#define WORKLOAD_OPS(type) .bytes = sizeof(type), .next = next, .fill = fill, .place = place, .is_over = is_over

/* Messages of all accelerators together, of traffic that ends. */
uint64_t workload_messages(const struct workload_plan *plan);

/* Memory of an accelerator's workload, which is all zero and 8-byte aligned, and outlives it; then the workload in it.
 * *begun: where a predecessor stopped; likewise *asked of the messages that a program asks for beside packets, else
 * NULL. *received: of a carried file; else NULL. Dies with one line if it cannot be made. */
size_t workload_bytes(const struct workload_plan *plan, uint32_t rank);
struct workload *workload_make(const struct workload_plan *plan, uint32_t rank, uint64_t *begun, uint64_t *asked,
                               struct transfer_received *received, void *memory);
void workload_close(struct workload *w);

/* Whether an accelerator has a part in a collective. */
static inline bool workload_is_collective(const struct workload_plan *plan, uint32_t rank)
{
    return plan->collective && collective_job_of(plan->collective, rank);
}

/* The next message that may go now on a lane whose bit is not set in `refused`; false: none before the next event, or
 * before workload_wake(). */
static inline bool workload_next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    if (w->ended || now < w->start)
        return false;
    w->start = 0;
    return w->ops->next(w, now, refused, m);
}

/* It was handed to the endpoint. */
static inline void workload_take(struct workload *w, const struct workload_message *m)
{
    if (w->ops->take)
        w->ops->take(w, m);
    ++*w->begun;
}

/* A predecessor had begun the messages before `begun`: see ops->follow. */
static inline void workload_follow(struct workload *w, uint64_t begun, unsigned in_flight)
{
    if (w->ops->follow)
        w->ops->follow(w, begun, in_flight);
    else if (*w->begun < begun)
        *w->begun = begun;
}

/* In place of that: it has nobody to go to, and no event follows. */
static inline void workload_give_up(struct workload *w, const struct workload_message *m)
{
    if (!w->ops->give_up) {
        workload_take(w, m);
        return;
    }
    w->ops->give_up(w, m);
    ++*w->begun;
}

/* When the next message may go as far as time matters, which may be long over; WORKLOAD_NEVER: there is none. */
static inline uint64_t workload_wake(const struct workload *w)
{
    if (!w->ended && w->start)
        return w->start;
    return w->ended || !w->ops->wake ? WORKLOAD_NEVER : w->ops->wake(w);
}

/* Whether what is under way is to be given up, and so this message. */
static inline bool workload_drains(struct workload *w, uint64_t now)
{
    return w->ops->drains && w->ops->drains(w, now);
}
static inline bool workload_gives_up(const struct workload *w, uint64_t number)
{
    return !w->ops->gives_up || w->ops->gives_up(w, number);
}

/* What the endpoint reports. Another value than HX_OK: nobody can finish any more. */
static inline int workload_event(struct workload *w, const struct hx_event *event)
{
    return w->ended || !w->ops->event ? HX_OK : w->ops->event(w, event);
}

/* Bytes that came otherwise than they were sent. */
static inline uint64_t workload_place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    return w->ended ? 0 : w->ops->place(w, h, payload);
}

/* All of it is done that is one thing for many, and nobody has called workload_finish() for it yet. */
static inline bool workload_is_due(const struct workload *w)
{
    return !w->ended && w->ops->is_due && w->ops->is_due(w);
}

/* Returns how many bytes of what it leaves here are wrong. */
static inline uint64_t workload_finish(struct workload *w)
{
    return w->ops->finish(w);
}

/* Nothing more will be sent. */
static inline bool workload_is_over(const struct workload *w)
{
    return w->ended || w->ops->is_over(w);
}

#endif
