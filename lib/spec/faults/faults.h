/* faults.h - a schedule of faults while a fabric runs, the same under both clocks.
 *
 * A fault is one line, in a file, as an option and on a running fabric:
 *
 *     a0,1/E down at 10us for 5us              a link; without "for" it stays down
 *     board1,2 down at 1ms                     all its nodes with all their links; group2 of any other fabric
 *     spine2 down                              a switch or host in every plane; row3/p0/leaf1 in one
 *     plane1 down at 5us                       all links of a plane
 *     leaf3/9 flaps every 4us for 40us         down for the first half of every 4us
 *     a0,1/E up at 30us                        ends all faults of it
 *     router3/1 closed at 1ms for 10us         not a fault but a plan: both ends close their ports at that instant
 *     all loss=1% corrupt=0.1% duplicate=1% credit-loss=10%
 *     a0,1/E reorder=5% delay=2us rate=25% at 10us for 1ms
 *     worker1 killed at 5s, worker1 stopped at 5s for 1s, worker1 continued at 7s
 *
 *     TARGET  a place by its name (topology/name.h), in every plane unless it names one; boardX,Y, groupN, planeN,
 *             workerN; all
 *     WHAT    down | up | closed | flaps every TIME | killed | stopped | continued | one or more NAME=VALUE
 *     WHEN    at TIME (0) for TIME (no end), from the start of the run
 *
 * Loss, corruption, duplication and reordering are shares of a link's packets, credit-loss a share of its credit
 * frames. Delay is added to every packet; rate is the share of its rate that the link keeps. A fault affects both
 * directions of a link. Faults that overlap on a link combine: shares add up to at most 100 %, delays add up, the
 * lowest rate counts.
 *
 * A closed link takes no new packets, and packets on it arrive. So it loses none, unless it is down as well. Routes
 * change at the same instant. It opens when its time ends, or by an "up".
 *
 * Random faults (hx_faults_draw, hx_faults_draw_closed) are a function of the seed and the fabric. */
#ifndef HXMESH_SPEC_FAULTS_FAULTS_H
#define HXMESH_SPEC_FAULTS_FAULTS_H

#include "base/error.h"
#include "base/link_fault.h"
#include "topology/fabric.h"

#include <stdbool.h>
#include <stdint.h>

enum hx_fault_kind {
    HX_FAULT_DOWN,
    HX_FAULT_UP,
    HX_FAULT_FLAPS,
    HX_FAULT_IMPAIRS,
    HX_FAULT_CLOSED, /* as planned, not a fault */
    HX_FAULT_KILLED, /* from here on: of a worker */
    HX_FAULT_STOPPED,
    HX_FAULT_CONTINUED,
    HX_FAULT_KINDS
};
extern const char *const hx_fault_words[HX_FAULT_KINDS + 1]; /* "down", ..., NULL; IMPAIRS is "impaired" */

enum hx_fault_place { HX_PLACE_ALL, HX_PLACE_PLANE, HX_PLACE_GROUP, HX_PLACE_NODE, HX_PLACE_LINK, HX_PLACE_WORKER };

#define HX_EVERY_PLANE UINT32_MAX

struct hx_fault_target {
    enum hx_fault_place place;
    uint32_t plane; /* HX_EVERY_PLANE, or one plane */
    uint32_t index; /* GROUP, WORKER: its number; NODE, LINK: the node */
    unsigned port;  /* LINK */
};

#define HX_MOST_FAULT_DELAY UINT64_C(1000000000)
#define HX_LEAST_FAULT_RATE 0.001
#define HX_MOST_FAULT_TIME  ((uint64_t)30 * 24 * 3600 * 1000000000U) /* ns: 30 days */

enum {
    HX_FAULT_TEXT = 160,
    HX_MOST_FLAPS = 4096 /* of one line; then the link stays up */
};

struct hx_fault {
    enum hx_fault_kind kind;
    struct hx_fault_target target;
    uint64_t at_ns, for_ns; /* for_ns 0: until an "up", or no end */
    uint64_t period_ns;     /* FLAPS: down for its first half, at most HX_MOST_FLAPS times */
    struct hx_impairment impairs;
    char text[HX_FAULT_TEXT]; /* the line, for reports: single spaces, no comment */
};

/* Sorted by at_ns, then in the order of adding. */
struct hx_faults {
    struct hx_fault *fault;
    size_t count, room;
    uint64_t seed; /* of random numbers for impaired links */
};

/* ---- making a schedule ---- */

/* Reads one line. Returns false on an error; *problem says what is wrong and what is allowed. */
bool hx_fault_parse(struct hx_fault *fault, const char *line, const struct hx_fabric *f, struct hx_problem *problem);

/* Whether it takes links down: they lose packets. */
static inline bool hx_fault_cuts(const struct hx_fault *fault)
{
    return fault->kind == HX_FAULT_DOWN || fault->kind == HX_FAULT_FLAPS;
}

/* Whether its links take no new packets, so that routes have to lead around them. */
static inline bool hx_fault_closes(const struct hx_fault *fault)
{
    return hx_fault_cuts(fault) || fault->kind == HX_FAULT_CLOSED;
}

/* Inserts a fault in order; returns its index. */
size_t hx_faults_put(struct hx_faults *faults, const struct hx_fault *fault);

/* Adds all lines of a text, separated by newlines or semicolons; '#' begins a comment. `where`: source to name in
 * errors, with the line's number; NULL: errors name the line itself. */
bool hx_faults_add(struct hx_faults *faults, const char *text, const char *where, const struct hx_fabric *f,
                   struct hx_problem *problem);
/* Adds all lines of a file. */
bool hx_faults_read(struct hx_faults *faults, const char *path, const struct hx_fabric *f, struct hx_problem *problem);

/* Adds random faults until `until_ns`, or HX_MOST_FAULT_TIME: one each mtbf_ns, anywhere in the fabric, repaired after
 * mttr_ns. Both times are means of exponential distributions. Seven in ten faults are links; the others are nodes,
 * groups, flapping links and impaired links. */
#define HX_MOST_DRAWN_FAULTS 100000 /* callers keep until_ns / mtbf_ns below it: about 40 MB of faults */
struct hx_fault_draw {
    uint64_t seed, mtbf_ns, mttr_ns, until_ns; /* all times above 0 */
};
void hx_faults_draw(struct hx_faults *faults, const struct hx_fault_draw *draw, const struct hx_fabric *f);

/* Adds `count` links that are closed from the start, of all planes, all equally likely. The fabric knows of them at
 * once. A link without which a node would be cut off, given those drawn before it, is passed over: so all nodes stay
 * joined in each plane. A larger count adds to the links of a smaller one. Fails if fewer can be closed. */
bool hx_faults_draw_closed(struct hx_faults *faults, uint64_t count, uint64_t seed, const struct hx_fabric *f,
                           struct hx_problem *problem);

void hx_faults_free(struct hx_faults *faults);

/* ---- effects ---- */

/* Calls `visit` once for each link of the target (not of a WORKER), with one end, by plane, node and port.
 * hx_fabric_far() has the other end. */
void hx_fault_each_link(const struct hx_fault_target *t, const struct hx_fabric *f,
                        void (*visit)(void *of, unsigned plane, uint32_t node, unsigned port), void *of);
/* Whether the target has the link at this port, given by either end. */
bool hx_fault_has_link(const struct hx_fault_target *t, const struct hx_fabric *f, unsigned plane, uint32_t node,
                       unsigned port);

/* Live: ns after its end in which a fault may still affect frames. Workers share cores, and endpoints wait before they
 * repeat. */
#define HX_FAULT_FELT_NS UINT64_C(3000000000)

/* Writes the end of each fault, end_ns[faults->count]: when it has ended on all its links, by its time or by an "up". A
 * stopped worker's fault ends by its time, or when the worker is continued or killed. "up" and other instant faults end
 * when they begin. UINT64_MAX: no end. */
void hx_faults_ends(const struct hx_faults *faults, const struct hx_fabric *f, uint64_t *end_ns);

/* Calls `visit`, last fault first, for each fault of the link at this port (given by either end), with its end on that
 * link. */
void hx_faults_each_end(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane, uint32_t node,
                        unsigned port, void (*visit)(void *of, size_t fault, uint64_t end_ns), void *of);

/* All changes of one link, in order, at most one at a time. NULL and *count 0: no faults. The caller frees it. */
struct hx_link_change *hx_faults_of_link(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane,
                                         uint32_t node, unsigned port, size_t *count);

#endif
