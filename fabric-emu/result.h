/* result.h - what a run showed: read once out of the shared memory after the workers have ended, then only printed. */
#ifndef RESULT_H
#define RESULT_H

#include "supervisor.h"

#include <jansson.h>

struct link_use {
    uint32_t node;
    uint16_t port;
    uint8_t plane;
    uint64_t packets;
    double busy; /* share of the time a 400 Gb/s link would have needed for its bytes */
};

struct result {
    const struct fab_fabric *f;
    struct hx_settings settings;
    struct outcome outcome;
    struct hx_endpoint_stats sum;
    uint64_t messages_begun;
    uint64_t packets_lost;
    uint64_t bytes_corrupted;
    uint64_t packet_hops; /* packets that switches have sent on, deliveries included */
    uint32_t max_vc;
    uint64_t drops[HX_DROP_COUNT];
    struct fab_histogram latency;
    double share_of_injection, bound, share_of_bound;
    double cpu_seconds;
    double verify_seconds; /* of these, for writing and checking payload */
    uint64_t peak_memory_bytes;
    struct link_use *link; /* every link between two switches, by plane, node and port */
    uint32_t links;
    uint64_t *moved; /* [accelerators]: packets its switches sent, all planes */
};

void result_take(struct result *r, const struct fab_fabric *f, const struct hx_settings *settings,
                 const struct outcome *outcome);
void result_free(struct result *r);

/* Nothing lost, nothing corrupted, no buffer missing, and all that was begun is acknowledged (or was cut short by
 * the user). */
bool result_is_good(const struct result *r);

/* The report for a person, on stdout. */
void result_print(const struct result *r, const struct traffic *traffic);
/* The accelerators as a map, shaded by the packets each switch sent. */
void result_print_map(const struct result *r);
/* The report of DESIGN section 7. A new reference. */
json_t *result_json(const struct result *r);

#endif
