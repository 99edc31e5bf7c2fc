/* trace_report.h - output of `hxmesh trace`: packets hop by hop, messages and paths, ports, missing packets. */
#ifndef HXMESH_TOOLS_TRACE_REPORT_H
#define HXMESH_TOOLS_TRACE_REPORT_H

#include "tools/trace/sums.h"

#include <jansson.h>
#include <stdio.h>

struct hx_trace_view {
    const char *file;
    uint64_t most;      /* rows of each list */
    uint64_t shown;     /* packets shown so far */
    bool missing_only;  /* of the selected packets */
    bool packets_shown; /* shows selected packets, up to `most`, not only totals */
    struct hx_trace *trace;
    struct hx_trace_sums *sums;
};

/* Writes one packet, as text or JSON. */
void hx_trace_print_packet(const struct hx_trace_view *v, const struct hx_trace_packet *p);
json_t *hx_trace_packet_json(const struct hx_trace_view *v, const struct hx_trace_packet *p);

/* Writes totals and messages. */
void hx_trace_print(const struct hx_trace_view *v);
json_t *hx_trace_json(const struct hx_trace_view *v, json_t *hops);

/* Ports by total waiting time of their packets, longest first. Free the array. */
uint32_t *hx_trace_busiest(const struct hx_trace_sums *s);

/* A timeline for Perfetto or chrome://tracing: a process for each message, a thread for each packet, a slice for each
 * stay or cable. */
struct hx_timeline {
    FILE *out;
    const struct hx_capture_index *c;
    uint64_t events;
    struct hx_table messages; /* message: its process number */
    uint32_t threads;
};
void hx_timeline_begin(struct hx_timeline *t, FILE *out, const struct hx_capture_index *c);
void hx_timeline_packet(struct hx_timeline *t, const struct hx_trace_packet *p);
void hx_timeline_end(struct hx_timeline *t);

#endif
