/* felt.h - when the faults that a capture speaks of are felt at a place, and what they may do there then.
 *
 * A table of steps in time, so that a question costs the same however many faults there are. Faults are felt earlier
 * and later than they hold: what is on a link when it goes down was sent before, and what was damaged on it comes
 * later. */
#ifndef HXMESH_TOOLS_VERIFY_FELT_H
#define HXMESH_TOOLS_VERIFY_FELT_H

#include "tools/capture/fabric.h"

#include "spec/faults/faults.h"

/* What a fault may do. */
enum hx_fault_allowance {
    HX_ALLOW_LOSS = 1 << 0,   /* on its links: what is sent does not come */
    HX_ALLOW_DAMAGE = 1 << 1, /* on its links: what comes is changed; dropped where that is found */
    HX_ALLOW_COPIES = 1 << 2, /* on its links: what is sent comes twice */
    HX_ALLOW_ORDER =
        1 << 3, /* on its links: what is sent later comes sooner, or what was sent again is taken for the first */
    HX_ALLOW_REROUTE = 1 << 4, /* in its planes: ways lead round what is down, or nowhere */
    HX_ALLOW_GAPS = 1 << 5,    /* anywhere: a worker took with it what it had, and what it had recorded */
    HX_ALLOW_STRETCH = 1 << 6, /* on its links, live: there is more room, for between the two rings lies one more */
    HX_ALLOW_CAPTURE_LOSS = 1 << 7, /* no fault: the capture says that it lost frames at an end of the link */
    HX_ALLOW_MISSED = 1 << 8,       /* nor this: the capture lacks frames of the node, or ports of it */
    HX_ALLOW_SINCE = 1 << 10,       /* with others: at any time since, for a packet waits in buffers */
    HX_ALLOW_UNSEEN = 1 << 9        /* with others: on any link that the capture does not show from end to end, too */
};

/* How far from its time a fault is felt. */
struct hx_felt_margin {
    uint64_t before_ns, after_ns;
};

/* From one step on those kinds (enum hx_fault_allowance) are felt, until the next. */
struct hx_felt_step {
    uint64_t from_ns;
    unsigned kinds, since; /* since: in this step or any later one */
};

struct hx_felt_span; /* from when until when a kind is felt, while a table is made */

struct hx_felt {
    struct hx_felt_step *step;
    size_t count;
    struct hx_felt_span *span;
    size_t spans, room;
};

void hx_felt_free(struct hx_felt *f);

/* What a fault may do, to a link of its own or elsewhere. */
unsigned hx_felt_kinds(const struct hx_fault *fault);

/* To make one: adds what is felt, in any order, */
void hx_felt_add(struct hx_felt *f, uint64_t from_ns, uint64_t to_ns, unsigned kinds);
/* or all that is felt of the faults that hold at a link, which are as long on it as its packets are, */
void hx_felt_add_link(struct hx_felt *f, const struct hx_faults *faults, const struct hx_fabric *g,
                      const struct hx_port_at *link, const struct hx_felt_margin *margin);
/* and then makes the table. */
void hx_felt_make(struct hx_felt *f);

/* The kinds that are felt at a time; or at any time since. */
unsigned hx_felt_at(const struct hx_felt *f, uint64_t time_ns);
unsigned hx_felt_since(const struct hx_felt *f, uint64_t time_ns);

#endif
