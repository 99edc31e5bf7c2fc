/* fast_forward.h - collectives of a schedule that take what others took before, without packets.
 *
 * Data that flows. Executors (schedule/executor.h) say when a collective begins and ends at a rank, and when a message
 * of a send goes. A collective in progress is a flight. Flights that share links are beside each other. One that is
 * simulated becomes an example of its shape: its configuration, and how it loads the links of its paths, wherever its
 * group is. Another flight of the shape may be held: no message goes, and each member ends when that of the example
 * did, or does.
 *
 *     begins -> simulated | held        held: each member ends by the example, or the rest is carried out by packets
 *
 * A flight is held if an example began beside the same flights, only held flights are beside it, and the members of its
 * group ended their last collective together. It looks for its example when all members have begun, and again whenever
 * something begins or ends beside it: begins of members and neighbours are to be those of the example, within the
 * tolerance. If none fits, or if members begin late, it is carried out, and so are all that are held beside it, and so
 * on. A message of a send makes flights on its links go by packets, too.
 *
 * Only kinds in which each member waits for all are held: all-reduce, reduce-scatter, all-gather and all-to-all. No
 * member ends before the last begins, so times are relative to the last begin.
 *
 * Error. Where contention decides nothing, ends differ by no more than begins do (a max-plus system). Where it does:
 *
 *     chance chooses among paths    two examples are needed, and the standard error of their mean duration is within
 *                                   the tolerance. Flights take turns among those that fit
 *     begins matter                 where they differ from the example by more than is known to be harmless, the next
 *                                   flight of the shape is simulated; what it shows to be harmful is not held again
 *     holding misses often          most flights of the shape are simulated
 *
 * What differs by less, and is amplified later, is not seen: an audit simulates flights that might be held, with all
 * that begins beside them, and compares.
 *
 * Ownership: of the one worker that has all executors. Ports and planes are those of the fabric. */
#ifndef WORKLOAD_FAST_FORWARD_H
#define WORKLOAD_FAST_FORWARD_H

#include "workload/schedule_plan.h"

struct fast_forward;

struct fast_forward_config {
    double tolerance; /* share of a duration, above 0 */
    uint64_t audit;   /* collectives, at most, that are simulated and compared, in place of held */
    uint64_t delay;   /* ps: what a rank does for another takes effect so much later, at least */
    /* A rank's executor has something to do at a time. */
    void (*wake)(void *of, uint32_t host, uint64_t at);
    /* Packets and blocks that the output at a port has carried so far, in this order. */
    uint64_t *(*carried)(void *of, unsigned plane, uint32_t port);
    void *of;
};

struct fast_forward_counts {
    uint64_t collectives;       /* that had more than one member and ended */
    uint64_t held;              /* of these, without packets to the end */
    uint64_t cut;               /* held for a part of their time: the rest was carried out */
    uint64_t packets, messages; /* that were left out */
    uint64_t hops;              /* of these packets */
    uint64_t bytes;             /* of these messages */
    uint64_t unlike;            /* that were held until no example fitted */
    double worst_begin; /* the most by which begins and neighbours differed from the example, as a share of it */
    uint64_t audits;    /* collectives simulated and compared */
    double worst_audit; /* the most by which an end differed, as a share of the duration */
};

/* The schedules of a run; *p must outlive it. Its executors, which are made later, join. */
struct fast_forward *fast_forward_open(struct schedule_plan *p, const struct fast_forward_config *config);
void fast_forward_join(struct fast_forward *f, const struct schedule_job *job, uint32_t rank, struct executor *e);
struct fast_forward_counts fast_forward_counts(const struct fast_forward *f);
/* ps: the last end of a held collective of a job; 0: none was. */
uint64_t fast_forward_last(const struct fast_forward *f, const struct schedule_job *job);

#endif
