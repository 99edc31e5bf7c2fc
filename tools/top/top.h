/* top.h - counters of a running fabric for `hxmesh top`, and their growth between two publications.
 *
 * Rates are per second of the fabric's clock. Each is computed between two publications of the worker, so it is exact
 * for any interval. `wall` rates are per second of real time. The first rates are since the start of the run. */
#ifndef TOP_H
#define TOP_H

#include "base/arena.h"
#include "base/running.h"
#include "topology/metrics.h"

#include <jansson.h>

struct top_worker {
    double busy;      /* share of a processor */
    double wall_hops; /* packet-hops */
    double packets, bytes, messages;
};

struct top_sum {
    uint64_t hops, messages_sent, messages_received, messages_failed;
    uint64_t packets_sent, packets_repeated, packets_delivered, bytes_delivered, acks_sent, bytes_corrupted;
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    uint64_t operations_ended, operations_open;
    unsigned deaths;
};

struct top {
    char name[HX_RUNNING_NAME];
    struct shm_arena arena;
    struct hx_metrics_head head; /* a validated copy */
    struct hx_metrics metrics;
    struct hx_fabric g;
    struct hx_metrics_reading now, before; /* before: the previous publication of each worker */
    struct top_worker *worker;             /* [workers] */
    double *packets, *gbps, *load;         /* [links]: packets a second; Gb/s; share of the link's capacity */
    double hottest;                        /* greatest packets a second of a link between switches */
    double *moved;                         /* [accelerators]: packets a second that its switches send */
    struct top_sum sum;
    struct top_worker rate; /* sum over all workers */
    bool ended;
    double wall_seconds, simulated_seconds; /* since the start of sending */
};

/* Opens a running fabric; name NULL: the only one. Returns false and fills *problem if it cannot. */
bool top_open(struct top *t, const char *name, struct hx_problem *problem);
void top_close(struct top *t);

/* Whether the fabric has ended, or its memory is gone. */
bool top_has_ended(const struct top *t);

/* Reads the counters and computes rates since the previous reading. */
void top_read(struct top *t);

bool top_is_virtual(const struct top *t);
const char *top_phase(const struct top *t);
const char *top_state(const struct top *t, unsigned worker);
/* Share of the run that is done, 0 .. 1; below 0: unknown. */
double top_done(const struct top *t);
/* Delivered payload as a share of what all accelerators could inject. */
double top_injection(const struct top *t);

/* The text of a fault in t->now.faults, as in a schedule. */
static inline const char *top_fault_line(const struct top *t, unsigned fault)
{
    return (const char *)t->now.faults.fault[fault].line;
}

/* ---- links ---- */

enum top_order { TOP_BY_RATE, TOP_BY_PACKETS, TOP_ORDERS };
enum { TOP_ALL_PLANES = -1, TOP_MOST_LINKS = 1000 };

struct top_link {
    uint32_t node;
    uint16_t port;
    uint8_t plane;
    uint32_t number; /* index in metrics.link */
};

/* Writes the first `most` links between switches in that order; returns their number. */
unsigned top_links(const struct top *t, enum top_order order, int plane, struct top_link *link, unsigned most);
/* Virtual clock: share of time that the link is busy. Live: its packets as a share of the hottest link's, as the
 * machine's capacity is unknown. */
double top_load(const struct top *t, uint32_t number);

/* One line of --json. A new reference. */
json_t *top_json(const struct top *t, double interval, unsigned links);

#endif
