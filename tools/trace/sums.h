/* sums.h - totals over traced packets: latency, messages and their paths, waiting at ports, missing packets.
 *
 * Memory: a record for each message and port; paths of the first HX_PATH_MESSAGES messages, HX_PATHS of each. */
#ifndef HXMESH_TOOLS_TRACE_SUMS_H
#define HXMESH_TOOLS_TRACE_SUMS_H

#include "tools/trace/trace.h"

enum {
    HX_PATHS = 64,
    HX_PATH_MESSAGES = 4096,
    HX_MISSING_KEPT = 1000,
    HX_TIME_BINS = 64 * 16 /* 16 for each power of two */
};

struct hx_time_sum {
    uint64_t count, sum, least, most;
};
void hx_time_add(struct hx_time_sum *s, uint64_t ns);
uint64_t hx_time_mean(const struct hx_time_sum *s);

struct hx_path {
    char *text; /* output ports; NULL: all paths beyond HX_PATHS */
    uint64_t packets;
    struct hx_time_sum latency;
};

struct hx_message_key {
    uint16_t src_addr_hi, src_addr_lo, dst_addr_hi, dst_addr_lo;
    uint32_t message;
    uint16_t job;
    uint16_t epoch; /* hx_epoch_check() of the sender's */
};

struct hx_message_sum {
    struct hx_message_key key;
    uint32_t packets;           /* from the header */
    uint64_t seen, delivered;   /* copies of data packets */
    uint64_t acknowledgements;  /* delivered */
    uint64_t first_ns, last_ns; /* first seen, last delivered */
    uint64_t by_plane[HX_MAX_PLANES], by_port[HX_ACCELERATOR_PORTS];
    struct hx_time_sum latency;
    struct hx_path *paths; /* NULL: not kept */
    uint32_t path_count;
};

struct hx_port_wait {
    struct hx_time_sum wait; /* from arrival at the node to departure by this port */
    uint64_t out;
};

struct hx_missing {
    struct hx_header header;
    uint64_t frame, time_ns;
    uint32_t port;
    bool out;
};

struct hx_trace_sums {
    struct hx_capture_index *c;
    uint64_t packets;
    uint64_t fate[HX_TRACE_FATES];
    struct hx_time_sum latency; /* of data packets */
    uint64_t bins[HX_TIME_BINS];
    struct hx_table messages;
    uint32_t messages_with_paths;
    struct hx_port_wait *ports; /* [c->ports] */
    uint32_t port_count;
    size_t port_room;
    struct hx_missing kept[HX_MISSING_KEPT];
};

void hx_sums_begin(struct hx_trace_sums *s, struct hx_capture_index *c);
void hx_sums_packet(struct hx_trace_sums *s, const struct hx_trace_packet *p);
void hx_sums_free(struct hx_trace_sums *s);

/* The latency below which a share (0 .. 1) of delivered data packets is; error at most 6 %. */
uint64_t hx_sums_quantile(const struct hx_trace_sums *s, double share);

/* All messages by source, destination and number. Free the array. */
const struct hx_message_sum **hx_sums_messages(const struct hx_trace_sums *s);

#endif
