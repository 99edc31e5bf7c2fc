/* fast_forward.h - collectives of a schedule that take what they took before, without packets.
 *
 * Data that flows. Executors (schedule/executor.h) say when a collective begins and ends at a rank, and when a message
 * of a send goes. A collective that has the links of its paths to itself is recorded: when each member began and ended,
 * what it sent, and what each link carried. When it comes again, and has its links to itself again, it is held: no
 * message goes, and each member ends when the record says. If something else begins on these links meanwhile, the rest
 * of the vector is carried out by packets from then on.
 *
 *     begins -> recorded | held | plain          held: each member ends by the record, or the rest is carried out
 *
 * Only kinds in which each member waits for all are held: all-reduce, reduce-scatter, all-gather and all-to-all. No
 * member ends before the last begins, so the record is found when all have begun: the one with the nearest begins.
 *
 * Error. A member's steps begin when the messages that they wait for have arrived. So ends differ by no more than
 * begins, where contention decides nothing (a max-plus system). A record fits if no begin differs by more than the
 * tolerance times the duration. If none fits, the nearest is taken up to five times that; else the collective is
 * carried out when all have begun. The next one of this group is simulated again. A group is held only if its last
 * simulated collective ended as a record said: what depends on chance is not. An audit carries out a collective that
 * might be held, and compares its ends with those of the record.
 *
 * Ownership: of the one worker that has all executors. Ports and planes are those of the fabric. */
#ifndef WORKLOAD_FAST_FORWARD_H
#define WORKLOAD_FAST_FORWARD_H

#include "workload/schedule_plan.h"

struct fast_forward;

struct fast_forward_config {
    double tolerance; /* share of a duration, above 0 */
    uint64_t audit;   /* held collectives, at most, that are carried out and compared instead */
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
    uint64_t unlike;            /* that had no record with such begins */
    double worst_begin;         /* the most by which a begin differed from the record, as a share of the duration */
    uint64_t audits;            /* collectives carried out and compared */
    double worst_audit;         /* the most by which an end differed, as a share of the duration */
};

/* The schedules of a run; *p must outlive it. Its executors, which are made later, join. */
struct fast_forward *fast_forward_open(struct schedule_plan *p, const struct fast_forward_config *config);
void fast_forward_join(struct fast_forward *f, const struct schedule_job *job, uint32_t rank, struct executor *e);
struct fast_forward_counts fast_forward_counts(const struct fast_forward *f);
/* ps: the last end of a held collective of a job; 0: none was. */
uint64_t fast_forward_last(const struct fast_forward *f, const struct schedule_job *job);

#endif
