/* felt.h - effects of a capture's faults at a place over time.
 *
 * A table of steps in time, so the cost of a lookup hardly depends on the number of faults. Effects begin earlier and
 * end later than faults: packets on a link when it goes down were sent before, and packets damaged on it arrive
 * later. */
#ifndef HXMESH_TOOLS_VERIFY_FELT_H
#define HXMESH_TOOLS_VERIFY_FELT_H

#include "tools/capture/fabric.h"

#include "spec/faults/faults.h"

/* Effects that a fault allows. */
enum hx_fault_allowance {
    HX_ALLOW_LOSS = 1 << 0,    /* on its links: packets do not arrive */
    HX_ALLOW_DAMAGE = 1 << 1,  /* on its links: packets change; they are dropped where that is detected */
    HX_ALLOW_COPIES = 1 << 2,  /* on its links: packets arrive twice */
    HX_ALLOW_ORDER = 1 << 3,   /* on its links: packets are reordered, or a repeat is taken for the first sending */
    HX_ALLOW_REROUTE = 1 << 4, /* in its planes: paths bypass what is down or closed, or none exists */
    HX_ALLOW_GAPS = 1 << 5,    /* anywhere: a killed worker loses its packets and its records */
    HX_ALLOW_STRETCH = 1 << 6, /* on its links, live: larger buffer, by one more ring between the two */
    HX_ALLOW_CAPTURE_LOSS = 1 << 7, /* no fault: the capture lost frames at an end of the link */
    HX_ALLOW_MISSED = 1 << 8,       /* no fault: the capture lacks frames or ports of the node */
    HX_ALLOW_LATE = 1 << 12,        /* on its links: packets arrive late */
    HX_ALLOW_STRANDED = 1 << 11,    /* in its planes: routers drop packets that have no path, for good */
    HX_ALLOW_SINCE = 1 << 10,       /* with others: also effects at any later time, as packets wait in buffers */
    HX_ALLOW_UNSEEN = 1 << 9 /* with others: also effects on links that the capture does not show from end to end */
};

/* Time before and after a fault in which its effects may be seen. */
struct hx_felt_margin {
    uint64_t before_ns, after_ns;
};

/* Kinds of effects (enum hx_fault_allowance) from `from_ns` until the next step. */
struct hx_felt_step {
    uint64_t from_ns;
    unsigned kinds, since; /* since: in this step or any later one */
};

struct hx_felt_span; /* begin or end of kinds, while a table is built */

struct hx_felt {
    struct hx_felt_step *step;
    size_t count;
    struct hx_felt_span *span;
    size_t spans, room;
};

void hx_felt_free(struct hx_felt *f);

/* Effects that a fault may have, on its links or elsewhere. */
unsigned hx_felt_kinds(const struct hx_fault *fault);

/* To build a table: adds effects from `from_ns` to `to_ns`, in any order, */
void hx_felt_add(struct hx_felt *f, uint64_t from_ns, uint64_t to_ns, unsigned kinds);
/* or adds all effects of the faults at a link, including the time that packets spend on it, */
void hx_felt_add_link(struct hx_felt *f, const struct hx_faults *faults, const struct hx_fabric *g,
                      const struct hx_port_at *link, const struct hx_felt_margin *margin);
/* and then makes the table. */
void hx_felt_make(struct hx_felt *f);

/* The effects at a time; those at that time or any later. */
unsigned hx_felt_at(const struct hx_felt *f, uint64_t time_ns);
unsigned hx_felt_since(const struct hx_felt *f, uint64_t time_ns);

#endif
