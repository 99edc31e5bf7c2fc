/* faults.h - what goes wrong while a fabric runs: a schedule, the same under both clocks.
 *
 * A fault is one line, in a file, as an option and on a running fabric:
 *
 *     a0,1/E down at 10us for 5us              a link; without "for" it stays so
 *     board1,2 down at 1ms                     all its nodes with all their links; group2 of any other fabric
 *     spine2 down                              a switch or host in every plane; row3/p0/leaf1 in one
 *     plane1 down at 5us                       all links of a plane
 *     leaf3/9 flaps every 4us for 40us         down for the first half of every 4us
 *     a0,1/E up at 30us                        ends whatever is down or impaired there
 *     all loss=1% corrupt=0.1% duplicate=1% credit-loss=10%
 *     a0,1/E reorder=5% delay=2us rate=25% at 10us for 1ms
 *     worker1 killed at 5s, worker1 stopped at 5s for 1s, worker1 continued at 7s
 *
 *     TARGET  a place by its name (topology/name.h), in every plane unless it names one; boardX,Y, groupN, planeN, workerN; all
 *     WHAT    down | up | flaps every TIME | killed | stopped | continued | one or more NAME=VALUE
 *     WHEN    at TIME (0) for TIME (for good), since the start
 *
 * Loss, corruption, duplication and reordering are shares of the packets that a link carries, credit-loss of its credit
 * frames; delay is added to every packet, and rate is the share of its rate that the link still has. A link has both of
 * its directions. Several lines may hold for a link at once: shares add up to 100 %, delays add up, the lowest rate
 * counts.
 *
 * What is drawn, kinds, places and times (hx_faults_draw), follows from the seed and the fabric alone. */
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
    HX_FAULT_KILLED, /* from here on of a worker */
    HX_FAULT_STOPPED,
    HX_FAULT_CONTINUED,
    HX_FAULT_KINDS
};
extern const char *const hx_fault_words[HX_FAULT_KINDS + 1]; /* "down", ..., NULL; of IMPAIRS "impaired" */

enum hx_fault_place { HX_PLACE_ALL, HX_PLACE_PLANE, HX_PLACE_GROUP, HX_PLACE_NODE, HX_PLACE_LINK, HX_PLACE_WORKER };

#define HX_EVERY_PLANE UINT32_MAX

struct hx_fault_target {
    enum hx_fault_place place;
    uint32_t plane; /* HX_EVERY_PLANE, or the only one */
    uint32_t index; /* GROUP: its number; NODE, LINK: the node; WORKER: its number */
    unsigned port;  /* LINK */
};

#define HX_MOST_FAULT_DELAY UINT64_C(1000000000)
#define HX_LEAST_FAULT_RATE 0.001
#define HX_MOST_FAULT_TIME  ((uint64_t)30 * 24 * 3600 * 1000000000U) /* ns: 30 days */

enum {
    HX_FAULT_TEXT = 160,
    HX_MOST_FLAPS = 4096 /* of one line: then the link is up */
};

struct hx_fault {
    enum hx_fault_kind kind;
    struct hx_fault_target target;
    uint64_t at_ns, for_ns; /* for_ns 0: for good, or until an "up" */
    uint64_t period_ns;     /* FLAPS: down for its first half, HX_MOST_FLAPS times at most */
    struct hx_impairment impairs;
    char text[HX_FAULT_TEXT]; /* the line, for reports: single spaces, no comment */
};

/* Sorted by at_ns; those of one time as they were added. */
struct hx_faults {
    struct hx_fault *fault;
    size_t count, room;
    uint64_t seed; /* of the dice of impaired links */
};

/* ---- to make a schedule ---- */

/* One line; *problem says what is wrong with it and what could stand there instead. */
bool hx_fault_parse(struct hx_fault *fault, const char *line, const struct hx_fabric *f, struct hx_problem *problem);

/* Whether links go down by it. */
static inline bool hx_fault_cuts(const struct hx_fault *fault)
{
    return fault->kind == HX_FAULT_DOWN || fault->kind == HX_FAULT_FLAPS;
}

/* Puts a fault into its place; returns which. */
size_t hx_faults_put(struct hx_faults *faults, const struct hx_fault *fault);

/* All lines of a text, apart by newlines or semicolons; '#' begins a comment. `where`: named with the number of the
 * line where one is wrong; NULL: the line itself is. */
bool hx_faults_add(struct hx_faults *faults, const char *text, const char *where, const struct hx_fabric *f,
                   struct hx_problem *problem);
/* All lines of a file. */
bool hx_faults_read(struct hx_faults *faults, const char *path, const struct hx_fabric *f, struct hx_problem *problem);

/* Adds faults until `until_ns`, or HX_MOST_FAULT_TIME: a new one each mtbf_ns on the average, anywhere in the fabric,
 * each mended after mttr_ns on the average, both exponential. Seven in ten are links; the others nodes, groups,
 * flapping links and impaired links. */
#define HX_MOST_DRAWN_FAULTS 100000 /* until_ns / mtbf_ns at most, by who asks: some 40 MB of them */
struct hx_fault_draw {
    uint64_t seed, mtbf_ns, mttr_ns, until_ns; /* none of the times is 0 */
};
void hx_faults_draw(struct hx_faults *faults, const struct hx_fault_draw *draw, const struct hx_fabric *f);

void hx_faults_free(struct hx_faults *faults);

/* ---- what it means ---- */

/* Calls `visit` for one end of every link that the target has (not of a WORKER), each link once, in the order of
 * planes, nodes and ports. hx_fabric_far() has the other end. */
void hx_fault_each_link(const struct hx_fault_target *t, const struct hx_fabric *f,
                        void (*visit)(void *of, unsigned plane, uint32_t node, unsigned port), void *of);
/* Whether it has the link at this port, of either end. */
bool hx_fault_has_link(const struct hx_fault_target *t, const struct hx_fabric *f, unsigned plane, uint32_t node,
                       unsigned port);

/* Live: how long after its end, ns, a fault may still be seen in what frames do. Workers share cores, and endpoints
 * wait before they repeat. */
#define HX_FAULT_FELT_NS UINT64_C(3000000000)

/* When each fault of the schedule is over, end_ns[faults->count]: at none of its links it holds any more, be it by its
 * time or by an "up" of some place that has the link. Of a worker that was stopped by its time, or when it is continued
 * or killed; "up" and what else happens at once: when it begins. UINT64_MAX: it stays. */
void hx_faults_ends(const struct hx_faults *faults, const struct hx_fabric *f, uint64_t *end_ns);

/* Calls `visit` for each fault that has the link at this port, of either end, and when it is over there, the last one
 * first. */
void hx_faults_each_end(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane, uint32_t node,
                        unsigned port, void (*visit)(void *of, size_t fault, uint64_t end_ns), void *of);

/* All changes of one link, in their order, none at the time of another; NULL and *count 0: it is always well. For
 * free(). */
struct hx_link_change *hx_faults_of_link(const struct hx_faults *faults, const struct hx_fabric *f, unsigned plane,
                                         uint32_t node, unsigned port, size_t *count);

#endif
