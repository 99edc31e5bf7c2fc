/* fault_allowances.h - breaches that a capture's faults and planned changes allow (docs/faults.md).
 *
 * A capture has each fault as an annotation of the first frame at or after its time: "fault at 5 us: a0,0/E down for
 * 20us". A fault allows certain breaches, only at its place and in its time. Records of two workers interleave, so a
 * breach may come before the annotation of its fault; it is deferred to the end of the capture.
 *
 * A planned change, "change at 5 us: s0/1 closed for 20us", allows paths around its links, and no loss. No packet
 * leaves on a closed link: simulated, after its time; live, after the annotation "change followed after 2 ms: s0/1
 * closed for 20us", since nodes follow one after another. */
#ifndef HXMESH_TOOLS_VERIFY_FAULT_ALLOWANCES_H
#define HXMESH_TOOLS_VERIFY_FAULT_ALLOWANCES_H

#include "tools/capture/capture_index.h"
#include "tools/verify/felt.h"
#include "tools/verify/findings.h"

struct hx_verify;

/* Where and when a packet was seen. */
struct hx_seen_at {
    uint64_t frame, time_ns;
    uint32_t port; /* index in the capture; the fault would be on its link */
    const struct hx_key *key;
};
/* Makes one from any struct with these fields. */
#define HX_SEEN_AT(of) (&(struct hx_seen_at){(of)->frame, (of)->time_ns, (of)->port, &(of)->key})

/* A breach that may be allowed: by a fault of the kinds `by` at its place and time, or by earlier damage of its packet.
 * Damage makes the checksum wrong from that link on. If the capture does not show that, it makes another packet, which
 * may break any rule. */
struct hx_breach {
    struct hx_finding finding;
    struct hx_key key;
    uint64_t time_ns;
    uint32_t port;
    unsigned by; /* enum hx_fault_allowance */
};

/* Effects of the first `heard` faults at one link. */
struct hx_felt_link {
    struct hx_felt felt;
    size_t heard;
};

struct hx_fault_allowances {
    struct hx_faults faults; /* known so far, and planned changes; .at_ns by the clock of the capture */
    struct hx_faults shut;   /* planned changes that all nodes follow, and what opens their links */
    uint64_t *shut_ns;       /* [shut.count]: when all nodes followed */
    size_t shut_room;
    struct hx_felt_link *shut_of; /* [shut_ports]: links that are closed */
    struct hx_felt_link *of_port; /* [ports] */
    struct hx_felt *of_plane;     /* [planes]: effects elsewhere than on links, of `heard` faults */
    /* [planes]: effects on links that the capture of `unseen_ports` ports does not show from end to end */
    struct hx_felt *unseen;
    size_t ports, shut_ports;
    uint32_t planes, unseen_ports;
    size_t heard, unseen_heard;
    unsigned kinds;          /* that any of the faults allows */
    uint64_t planned;        /* changes among the faults */
    uint64_t not_understood; /* annotation lines with an invalid fault */
    uint64_t not_allowed;    /* faults that a strict check passes over */
    struct hx_breach *breach;
    uint32_t breaches; /* deferred */
    size_t room;
    struct hx_table damaged; /* packet that a fault may have damaged: since when, and whether it was forged by that */
    struct hx_table sent_wrong; /* packets sent with a wrong checksum because of earlier damage */
    uint64_t allowed;
    uint64_t searched; /* faults looked at to name those that allowed something */
};

void hx_fault_allowances_begin(struct hx_fault_allowances *e);
void hx_fault_allowances_free(struct hx_fault_allowances *e);

/* Takes the faults from the frame's annotation. */
void hx_fault_allowances_hear(struct hx_verify *v, const struct hx_capture_frame *s);

/* Whether the link at the port is known to be closed, and all nodes follow that. */
bool hx_fault_allowances_shut(struct hx_verify *v, uint32_t port, uint64_t time_ns);

/* Whether a known fault allows any of `by` at the port's link at that time, or gaps of the capture do. */
bool hx_fault_allowed(struct hx_verify *v, uint32_t port, uint64_t time_ns, unsigned by);

/* The fault of the kinds `by` that allows something at the port's link at that time: its index in e->faults, or a value
 * of HX_TALLY_... (tools/verify/tally.h). */
uint32_t hx_fault_allowances_name(struct hx_verify *v, uint32_t port, uint64_t time_ns, unsigned by);

/* Whether an intact packet may have left port `from`, the link's other end, damaged, and this link restored it. Each
 * damaged packet is restored once, if the link makes no copies. */
bool hx_fault_allowances_mended(struct hx_verify *v, const struct hx_seen_at *at, uint32_t from);

/* Whether a link made the packet out of another. */
bool hx_fault_allowances_made_up(const struct hx_fault_allowances *e, const struct hx_key *key);

/* Takes a breach. Reports it if no fault can allow it, or too many are deferred; defers it if no known fault allows
 * it. */
void hx_fault_allowances_take(struct hx_verify *v, const struct hx_breach *breach);
/* Called when all faults are known: finds the damaged packets. */
void hx_fault_allowances_settle(struct hx_verify *v);
/* Reports deferred breaches that no fault allows. */
void hx_fault_allowances_end(struct hx_verify *v);

#endif
