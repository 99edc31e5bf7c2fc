/* felt.h - when the faults that a capture speaks of are felt at a place, and what they may do there then.
 *
 * A table of steps in time, so that a question costs the same however many faults there are. Faults are felt earlier and later than they
 * hold: what is on a link when it goes down was sent before, and what was damaged on it comes later. */
#ifndef HXMESH_TOOLS_VERIFY_FELT_H
#define HXMESH_TOOLS_VERIFY_FELT_H

#include "tools/capture/fabric.h"

#include "host/faults/faults.h"

/* How far from its time a fault is felt. */
struct hx_felt_margin {
    uint64_t before_ns, after_ns;
};

/* From one step on those kinds (enum hx_excuse) are felt, until the next. */
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
