/* trace.h - follows packets through a capture: ports and times of each.
 *
 * Input: captured frames (tools/capture/capture_index.h). Output: a call of `finished` for each packet, some frames
 * after its delivery, or at the end if it was not delivered. Repeats of a packet count as packets of their own.
 *
 * Memory: unfinished packets, 32 bytes a frame. */
#ifndef HXMESH_TOOLS_TRACE_H
#define HXMESH_TOOLS_TRACE_H

#include "tools/capture/capture_index.h"

struct hx_trace_step {
    uint64_t frame, time_ns;
    uint32_t port; /* in c->ports */
    bool out;
    uint8_t vc, hops;
    uint16_t via; /* as in the frame: addr_hi + 1 of the router where the detour ends; 0: none */
};

struct hx_trace_packet {
    struct hx_header header; /* end-to-end fields */
    struct hx_trace_step *steps;
    uint32_t count;
    size_t room;
    bool injected;
    bool out;     /* it came out at an endpoint */
    bool damaged; /* and its checksum was wrong there, so the endpoint drops it */
};

/* What became of a packet. */
enum hx_trace_fate {
    HX_TRACE_DELIVERED,
    HX_TRACE_DAMAGED,      /* it came out with a wrong checksum */
    HX_TRACE_MISSING,      /* it vanished where the capture shows all next links */
    HX_TRACE_OUT_OF_SIGHT, /* the next link is not captured, or the capture lost frames there */
    HX_TRACE_FATES
};
enum hx_trace_fate hx_trace_fate(const struct hx_capture_index *c, const struct hx_trace_packet *p);

/* A packet's stay at a node, as far as it was seen. */
struct hx_trace_stay {
    const struct hx_trace_step *in, *out; /* NULL: not seen */
};

enum { HX_TRACE_ANY = 1 << 16 }; /* wildcard: no accelerator's coordinate */
struct hx_trace_filter {
    bool has_from, has_to, has_message, has_offset;
    struct hx_coordinate from, to; /* either part may be HX_TRACE_ANY */
    uint64_t message, offset;
    bool data_only;
};

struct hx_trace {
    struct hx_capture_index *c;
    struct hx_trace_filter filter;
    void (*finished)(void *context, const struct hx_trace_packet *p);
    void *context;
    uint64_t first_ns, last_ns; /* of the capture */
    uint64_t selected;          /* number of frames followed */
    uint64_t unplaced;          /* frames without direction or time */

    struct hx_table by_key;
    struct hx_trace_packet **packets; /* NULL: finished */
    uint32_t packet_count;
    size_t packet_room;
    uint32_t *free_slots;
    uint32_t free_count;
    size_t free_room;
    struct hx_trace_due *due; /* delivered, in order of delivery */
    uint32_t due_first, due_count;
    size_t due_room;
};

void hx_trace_begin(struct hx_trace *t, struct hx_capture_index *c, const struct hx_trace_filter *filter,
                    void (*finished)(void *context, const struct hx_trace_packet *p), void *context);
void hx_trace_frame(struct hx_trace *t, const struct hx_capture_frame *s);
/* Finishes all remaining packets. */
void hx_trace_end(struct hx_trace *t);
void hx_trace_free(struct hx_trace *t);

/* The packet's next stay, from step *at on, and advances *at. false: none. */
bool hx_trace_next_stay(const struct hx_trace_packet *p, const struct hx_capture_index *c, uint32_t *at,
                        struct hx_trace_stay *stay);

enum { HX_TRACE_NODE = HX_PORT_NAME_BYTES };
/* Name of a port's node, and of the port at its node ("E", "12"). */
const char *hx_trace_node(char name[HX_TRACE_NODE], const struct hx_capture_index *c, uint32_t port);
const char *hx_trace_port(const struct hx_capture_index *c, uint32_t port);

#endif
