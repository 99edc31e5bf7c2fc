/* workload.h - messages that an accelerator sends and receives: the interface between the purpose of a run and its
 * clock.
 *
 * A workload is one accelerator's part of a run. It calls no endpoint and no clock. The driver of the endpoint
 * (live/accelerator.c, virtual/driver.c) joins them:
 *
 *     workload_next  -> hx_endpoint_send, workload_take          hal_read_payload  -> ops->fill
 *     HX_EVENT_...   -> workload_event                           hal_write_payload -> ops->place
 *
 *     uint32_t refused = 0;
 *     while (workload_next(w, now, refused, &m)) {
 *         if (hx_endpoint_send(ep, ..., m.number) == HX_OK)
 *             workload_take(w, &m);
 *         else
 *             refused |= (uint32_t)1 << m.queue;
 *     }
 *
 * The loop runs at the start, after each step of the endpoint that brought an event, and at the time of
 * workload_wake(). So a workload may wait for a time, or for messages, before it sends.
 *
 * Time is in picoseconds from the start of the run.
 *
 * Kinds: a pattern or a file of messages (pattern.c), a file transfer (file_transfer.c), a collective (collective.c), a
 * schedule (schedule_rank.c), IP packets of programs on the hosts (packets.c), messages of a program (program.c), both
 * of these on one host (shared.c). A new kind is a new file, and a line in workload.c. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "workload/collective_jobs.h"
#include "workload/packets.h"
#include "workload/posted.h"
#include "workload/programs.h"
#include "workload/schedule_plan.h"
#include "workload/traffic.h"
#include "workload/transfer.h"

#define WORKLOAD_NEVER UINT64_MAX
#define WORKLOAD_PS    UINT64_C(1000) /* per nanosecond */

enum { WORKLOAD_SENDS = 64 /* most messages of an accelerator in flight, if it has many */ };

/* The workload of a run, common to all accelerators. */
struct workload_plan {
    const struct traffic *traffic;            /* NULL: one of the following is set, but `posted` */
    const struct collective_plan *collective; /* replaces messages in jobs that have a collective; NULL: none */
    const struct schedule_plan *schedule;     /* the same in jobs that have a schedule; NULL: none */
    const struct transfer *transfer;          /* NULL: no file */
    const struct programs *programs;          /* messages of programs; NULL: none */
    struct posted *posted;                    /* messages of a caller replace those of `traffic`; NULL: none */
    const struct packets *packets;            /* IP packets of programs, also beside `programs`; NULL: none */
    double rate;      /* offered load as a share of an accelerator's injection bandwidth, below 1; 0: unlimited */
    double link_rate; /* of a link, bytes a picosecond */
    double link_gbps; /* of a link; the unit for rates of the fabric's own links */
    bool verify;      /* payload is written and checked */
};

struct workload_message {
    uint32_t to; /* rank */
    uint32_t tag;
    uint64_t bytes;
    uint64_t number; /* index among this accelerator's messages, from 0 */
    uint64_t due;    /* ps: start by the offered rate; without a rate 0 */
    unsigned queue;  /* number of the queue that it comes from, below 32: a refusal holds back this queue alone */
};

/* First member of each kind's struct. */
struct workload {
    const struct workload_ops *ops;
    uint32_t rank;
    uint64_t start;  /* nothing is sent before; 0 once it has passed */
    uint64_t summed; /* end of its latest sum; 0: none, or sums take no time */
    bool carries;    /* payload is filled and placed */
    bool ended;      /* set by the driver: it cannot finish, and ignores what arrives */
    uint64_t *begun; /* messages taken so far, stored where a successor finds it */
};

/* Functions of a kind; NULL where stated. */
struct workload_ops {
    size_t bytes; /* of its struct, which each message touches */
    /* a message that waits for its host is passed by others; false: its queue is refused */
    bool passes;
    bool (*next)(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m);
    void (*take)(struct workload *w,
                 const struct workload_message *m); /* takes the message of the last `next`. NULL: nothing to do */
    void (*give_up)(struct workload *w, const struct workload_message *m); /* discards the message. NULL: as `take` */
    uint64_t (*wake)(const struct workload *w);                            /* NULL: no time to wait for */
    /* Writes message `number`, for a successor of a dead worker to repeat. Returns false if there is none. NULL: a
     * successor cannot continue, since received data is lost. */
    bool (*message)(const struct workload *w, uint64_t number, struct workload_message *m);
    /* Continues after a predecessor that had begun the messages before `begun` and had `in_flight` of them in flight;
     * those begin again. NULL: counts the messages before `begun` as taken. */
    void (*follow)(struct workload *w, uint64_t begun, unsigned in_flight);
    int (*event)(struct workload *w, uint64_t now, const struct hx_event *event); /* NULL: ignores events */
    void (*fill)(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes);
    uint64_t (*place)(struct workload *w, const struct hx_header *h, const uint8_t *payload);
    /* Whether messages in flight are to fail; `drained` is called when none is left. NULL: never. */
    bool (*drains)(struct workload *w, uint64_t now);
    bool (*gives_up)(const struct workload *w, uint64_t number); /* whether this message fails. NULL: all fail */
    void (*drained)(struct workload *w);
    bool (*is_due)(const struct workload *w, uint64_t now); /* NULL: nothing to do at the end */
    uint64_t (*finish)(struct workload *w);
    bool (*is_over)(const struct workload *w);
    void (*close)(struct workload *w); /* NULL: owns only its memory */
};
/* Entries of every kind: functions of these names in its file. */
#define WORKLOAD_OPS(type) .bytes = sizeof(type), .next = next, .fill = fill, .place = place, .is_over = is_over

uint64_t workload_messages(const struct workload_plan *plan);

/* Bounds of an accelerator's peers and messages. */
struct workload_load {
    uint32_t destinations; /* that it sends to; 0: unknown */
    uint32_t peers;        /* that it sends to or receives from */
    bool again;            /* some get more than one message */
    bool longer;           /* some messages have more than HX_MAPLESS packets */
    uint16_t at_once;      /* as in struct hx_endpoint_config */
};
struct workload_load workload_load_of(const struct workload_plan *plan, uint32_t rank);

/* Bytes of an accelerator's workload; and its construction in memory that is zero, 8-byte aligned, and outlives it.
 * *begun: count of a predecessor. *asked: the same for a program's messages beside packets, else NULL. *received: of a
 * file transfer, else NULL. Dies with one line if it cannot be made. */
size_t workload_bytes(const struct workload_plan *plan, uint32_t rank);
struct workload *workload_make(const struct workload_plan *plan, uint32_t rank, uint64_t *begun, uint64_t *asked,
                               struct transfer_received *received, void *memory);
void workload_close(struct workload *w);

/* The executor of a host with a rank of a schedule; NULL: another kind. */
struct executor *workload_executor(struct workload *w);

static inline bool workload_is_collective(const struct workload_plan *plan, uint32_t rank)
{
    return plan->collective && collective_job_of(plan->collective, rank);
}
static inline bool workload_is_schedule(const struct workload_plan *plan, uint32_t rank)
{
    return plan->schedule && schedule_job_of(plan->schedule, rank);
}

/* Whether all hosts of its job work on one task, which ends for all if a worker dies or a message fails. */
static inline bool workload_is_common(const struct workload_plan *plan, uint32_t rank)
{
    return workload_is_collective(plan, rank) || workload_is_schedule(plan, rank);
}

/* Writes the next message that may go, of a queue without its bit in `refused`. Returns false if there is none before
 * the next event or workload_wake(). */
static inline bool workload_next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    if (w->ended || now < w->start)
        return false;
    w->start = 0;
    return w->ops->next(w, now, refused, m);
}

static inline void workload_take(struct workload *w, const struct workload_message *m)
{
    if (w->ops->take)
        w->ops->take(w, m);
    ++*w->begun;
}

/* Continues after a predecessor: see ops->follow. */
static inline void workload_follow(struct workload *w, uint64_t begun, unsigned in_flight)
{
    if (w->ops->follow)
        w->ops->follow(w, begun, in_flight);
    else if (*w->begun < begun)
        *w->begun = begun;
}

/* Discards a message without a destination, instead of workload_take(); no event follows. */
static inline void workload_give_up(struct workload *w, const struct workload_message *m)
{
    if (!w->ops->give_up) {
        workload_take(w, m);
        return;
    }
    w->ops->give_up(w, m);
    ++*w->begun;
}

/* Time of the next message, possibly in the past; WORKLOAD_NEVER: none. */
static inline uint64_t workload_wake(const struct workload *w)
{
    if (!w->ended && w->start)
        return w->start;
    return w->ended || !w->ops->wake ? WORKLOAD_NEVER : w->ops->wake(w);
}

/* Whether messages in flight are to fail, and whether this message is one of them. */
static inline bool workload_drains(struct workload *w, uint64_t now)
{
    return w->ops->drains && w->ops->drains(w, now);
}
static inline bool workload_gives_up(const struct workload *w, uint64_t number)
{
    return !w->ops->gives_up || w->ops->gives_up(w, number);
}

/* Takes an event of the endpoint. Returns other than HX_OK if no accelerator can finish. */
static inline int workload_event(struct workload *w, uint64_t now, const struct hx_event *event)
{
    return w->ended || !w->ops->event ? HX_OK : w->ops->event(w, now, event);
}

/* Takes payload; returns the number of wrong bytes. */
static inline uint64_t workload_place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    return w->ended ? 0 : w->ops->place(w, h, payload);
}

/* Whether a common task, such as a collective, is complete and workload_finish() is due. */
static inline bool workload_is_due(const struct workload *w, uint64_t now)
{
    return !w->ended && w->ops->is_due && w->ops->is_due(w, now);
}

/* Ends the common task; returns the number of wrong bytes in its result. */
static inline uint64_t workload_finish(struct workload *w)
{
    return w->ops->finish(w);
}

/* Whether nothing more will be sent. */
static inline bool workload_is_over(const struct workload *w)
{
    return w->ended || w->ops->is_over(w);
}

#endif
