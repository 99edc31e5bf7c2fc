/* fault_allowances.h - what the faults that a capture speaks of may have done to its frames (docs/faults.md).
 *
 * A capture has each fault as a comment of the first frame from its time on: "fault at 5 us: a0,0/E down for 20us".
 * Each allows some breaches, at its place and in its time, and nothing else. What is found before its fault has been
 * heard of, because records of two workers stand side by side, waits until the end of the capture. */
#ifndef HXMESH_TOOLS_VERIFY_FAULT_ALLOWANCES_H
#define HXMESH_TOOLS_VERIFY_FAULT_ALLOWANCES_H

#include "tools/capture/capture_index.h"
#include "tools/verify/felt.h"
#include "tools/verify/findings.h"

struct hx_verify;

/* Where a packet was seen. */
struct hx_seen_at {
    uint64_t frame, time_ns;
    uint32_t port; /* of the capture; its link is where a fault would be */
    const struct hx_key *key;
};
/* Of what keeps the same of one. */
#define HX_SEEN_AT(of) (&(struct hx_seen_at){(of)->frame, (of)->time_ns, (of)->port, &(of)->key})

/* A breach that may be excused: by any of `by` at its place and time, or because its packet was damaged before. A
 * link's damage makes a checksum wrong from there on; or, where that is not seen, another packet out of the one that
 * was sent, which may break any rule. */
struct hx_breach {
    struct hx_finding finding;
    struct hx_key key;
    uint64_t time_ns;
    uint32_t port;
    unsigned by; /* enum hx_fault_allowance */
};

/* What is felt at one link, of the faults that were heard of by then. */
struct hx_felt_link {
    struct hx_felt felt;
    size_t heard;
};

struct hx_fault_allowances {
    struct hx_faults faults;      /* heard of so far; .at_ns by the clock of the capture */
    struct hx_felt_link *of_port; /* [ports] */
    struct hx_felt *of_plane;     /* [planes]: elsewhere than on links; of `heard` faults */
    /* [planes]: on links that the capture of `unseen_ports` ports does not show from end to end */
    struct hx_felt *unseen;
    uint32_t ports, planes, unseen_ports;
    size_t heard, unseen_heard;
    unsigned kinds;          /* that any of them allows */
    uint64_t not_understood; /* lines of comments that speak of a fault, and of none that there is */
    struct hx_breach *breach;
    uint32_t breaches, room;  /* that wait */
    struct hx_map damaged;    /* packet that a fault may have damaged: since when, and whether it is made up */
    struct hx_map sent_wrong; /* what was sent with a wrong checksum, for it was damaged before */
    uint64_t allowed;
};

void hx_fault_allowances_begin(struct hx_fault_allowances *e);
void hx_fault_allowances_free(struct hx_fault_allowances *e);

/* Takes in what the frame's comment says of faults. */
void hx_fault_allowances_hear(struct hx_verify *v, const struct hx_capture_frame *s);

/* Whether a fault that was heard of allows any of `by` at the link of that port, at that time; or what the capture
 * lacks does. */
bool hx_fault_allowed(struct hx_verify *v, uint32_t port, uint64_t time_ns, unsigned by);

/* Whether the packet, sound at that place and time, may be one that went damaged by port `from`, the other end of this
 * link, which damages packets and changed it to what it had been. One that went so comes right once, where the link
 * makes no copies. */
bool hx_fault_allowances_mended(struct hx_verify *v, const struct hx_seen_at *at, uint32_t from);

/* Whether the packet is one that a link made out of another. */
bool hx_fault_allowances_made_up(const struct hx_fault_allowances *e, const struct hx_key *key);

/* Takes a breach. What no fault can allow is told; what none heard of so far allows waits, or, where too much does, is
 * told. */
void hx_fault_allowances_take(struct hx_verify *v, const struct hx_breach *breach);
/* All faults have been heard of: from now on it is known which packets were damaged. */
void hx_fault_allowances_settle(struct hx_verify *v);
/* Tells what none of them allows. */
void hx_fault_allowances_end(struct hx_verify *v);

#endif
