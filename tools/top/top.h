/* top.h - what `hxmesh top` knows of a running fabric: its counters, and what they grew by between two publications.
 *
 * Rates are per second of the fabric's clock, from each worker's own two publications, so that they are true however
 * far apart these are; those that say `wall` are per second of real time. At first they are since the run began. */
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
    uint64_t drops[HX_DROP_COUNT], dropped;
    unsigned deaths;
};

struct top {
    char name[HX_RUNNING_NAME];
    struct shm_arena arena;
    struct hx_metrics_head head; /* checked; its own copy */
    struct hx_metrics metrics;
    struct hx_fabric g;
    struct hx_metrics_reading now, before; /* before: of each worker its last other publication */
    struct top_worker *worker;             /* [workers] */
    double *packets, *gbps, *load;         /* [links]: packets a second; Gb/s; share of what a link carries */
    double hottest;                        /* most packets a second of a link between switches */
    double *moved;                         /* [accelerators]: packets a second its switches send */
    struct top_sum sum;
    struct top_worker rate; /* of all workers together */
    bool ended;
    double wall_seconds, simulated_seconds; /* since it began to send */
};

/* name NULL: the only one that runs. */
bool top_open(struct top *t, const char *name, struct hx_problem *problem);
void top_close(struct top *t);

/* Whether the fabric has ended, or its object cannot be read any more. */
bool top_has_ended(const struct top *t);

/* Takes a reading, and the rates since the one before. */
void top_read(struct top *t);

bool top_is_virtual(const struct top *t);
const char *top_phase(const struct top *t);
const char *top_state(const struct top *t, unsigned worker);
/* Share of what is to be done, 0 .. 1; below 0: not known. */
double top_done(const struct top *t);
/* Payload that arrives, as a share of what all accelerators could inject. */
double top_injection(const struct top *t);

/* A fault of t->now.faults, of HX_METRICS_FAULTS, as in a schedule. */
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
    uint32_t number; /* of metrics.link */
};

/* The first `most` links between switches, of that plane; returns how many there are. */
unsigned top_links(const struct top *t, enum top_order order, int plane, struct top_link *link, unsigned most);
/* Virtual clock: share of the time the link is busy. Live: share of the hottest link's packets, as nobody knows what
 * this machine could carry. */
double top_load(const struct top *t, uint32_t number);

/* One line of --json. A new reference. */
json_t *top_json(const struct top *t, double interval, unsigned links);

#endif
