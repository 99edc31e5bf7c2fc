/* report.h - what `hxmesh trace` shows: packets hop by hop, messages and paths, ports, missing packets. */
#ifndef HXMESH_TOOLS_TRACE_REPORT_H
#define HXMESH_TOOLS_TRACE_REPORT_H

#include "tools/trace/sums.h"

#include <jansson.h>
#include <stdio.h>

struct hx_trace_view {
    const char *file;
    uint64_t most;      /* rows of each list */
    uint64_t shown;     /* packets shown so far */
    bool missing_only;  /* of those that were chosen */
    bool packets_shown; /* each packet that was chosen, up to `most`, not only sums */
    struct hx_trace *trace;
    struct hx_trace_sums *sums;
};

/* One packet: as text, or as JSON. */
void hx_trace_print_packet(const struct hx_trace_view *v, const struct hx_trace_packet *p);
json_t *hx_trace_packet_json(const struct hx_trace_view *v, const struct hx_trace_packet *p);

/* All the rest. */
void hx_trace_print(const struct hx_trace_view *v);
json_t *hx_trace_json(const struct hx_trace_view *v, json_t *packets);

/* Ports by the time packets waited for them in all, longest first; the array is the caller's to free. */
uint32_t *hx_trace_busiest(const struct hx_trace_sums *s);

/* A timeline for Perfetto or chrome://tracing: a process a message, a thread a packet, a slice a stay or a cable. */
struct hx_timeline {
    FILE *out;
    const struct hx_capture_index *c;
    uint64_t events;
    struct hx_map messages; /* number of each as a process */
    uint32_t threads;
};
void hx_timeline_begin(struct hx_timeline *t, FILE *out, const struct hx_capture_index *c);
void hx_timeline_packet(struct hx_timeline *t, const struct hx_trace_packet *p);
void hx_timeline_end(struct hx_timeline *t);

#endif
