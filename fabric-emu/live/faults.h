/* faults.h - the supervisor's part of faults: what is due is done, what it cost is written down.
 *
 * Conditions of links go to the workers through the arena (fab_fabric.condition, conditions.h), which follow them within a
 * sweep. Workers are killed, stopped and continued by signals. */
#ifndef FAULTS_H
#define FAULTS_H

#include "fabric-emu/report/faults.h"
#include "fabric.h"

struct fault_change;

struct faults {
    struct fab_fabric *f;
    struct hx_faults schedule;
    struct fault_record *record; /* [schedule.count] */
    uint64_t *before;            /* [schedule.count]: what its links had lost before it began */
    size_t room;                 /* of both */
    struct fault_change *change; /* of links and workers, by time, .. */
    size_t changes, done;        /* .. of which these were made */
    size_t change_room;
};

/* Takes over *schedule (NULL: nothing is to go wrong). */
void faults_open(struct faults *s, struct fab_fabric *f, struct hx_faults *schedule);
void faults_close(struct faults *s);

/* A line more, whose "at" counts from `now_ns`, as all times here from the start of the run. false: *problem says why not. */
bool faults_add(struct faults *s, const char *line, uint64_t now_ns, struct hx_problem *problem);

/* Does what is due. `signal` is called for each worker that is to get one. Returns whether any link changed: wake the workers. */
bool faults_advance(struct faults *s, uint64_t now_ns, void (*signal)(void *of, unsigned worker, int number), void *of);
/* When something is due next; UINT64_MAX: never. */
uint64_t faults_due(const struct faults *s);

/* The records as JSON of less than `room` bytes; the last ones where there are too many. To be freed. */
char *faults_text(struct faults *s, uint64_t now_ns, size_t room);

/* Brings the records up to date. `ended`: nothing moves any more. */
void faults_judge(struct faults *s, uint64_t now_ns, bool ended);

#endif
