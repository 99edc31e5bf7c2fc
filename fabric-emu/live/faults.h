/* faults.h - the supervisor's part of faults: what is due is done, what it cost is written down.
 *
 * Conditions of links go to the workers through the arena (fab_fabric.condition, conditions.h), which follow them
 * within a sweep; what flaps faster than the supervisor looks is down or up as chance has it. Workers are killed,
 * stopped and continued by signals. */
#ifndef FAULTS_H
#define FAULTS_H

#include "fabric-emu/report/fault_report.h"
#include "fault_log.h"

struct fault_change;

/* What is known of a fault. `whole` of its report stays once it is true. */
struct fault_record {
    bool begun, over;            /* over: it has ended, by its time or by an "up" */
    uint64_t notified;           /* begun: its number in the log, or FAULT_UNTOLD */
    uint64_t end_ns;             /* UINT64_MAX: it stays */
    struct fault_report is;      /* what it cost is counted when it is final, or asked for */
    struct hx_fault_cost before; /* what its links had done before it began */
    uint64_t lost_before;        /* of a worker: likewise */
    uint64_t hits_before;
};

struct faults {
    struct fab_fabric *f;
    struct hx_faults schedule;
    struct fault_record *record; /* [schedule.count] */
    size_t room;
    struct fault_change *change; /* of links and workers, by time, .. */
    size_t changes, done;        /* .. of which these were made */
    size_t change_room;
    int log; /* of those that have begun */
    bool untold;
};

/* Dies if there is no memory for a log. */
void faults_open(struct faults *s, struct fab_fabric *f);
/* What is to go wrong from the start on. false: *problem says which of it cannot be done here. */
bool faults_schedule(struct faults *s, const struct hx_faults *schedule, struct hx_problem *problem);
void faults_close(struct faults *s);

/* A line more, whose "at" counts from `now_ns`, as all times here from the start of the run. false: *problem says why
 * not. true and .what is not empty: it is taken, but that is to be told. */
bool faults_add(struct faults *s, const char *line, uint64_t now_ns, struct hx_problem *problem);

/* Does what is due. `signal` is called for each worker that is to get one. Returns whether any link changed: wake the
 * workers. */
bool faults_advance(struct faults *s, uint64_t now_ns, void (*signal)(void *of, unsigned worker, int number), void *of);
/* When something is due next; UINT64_MAX: never. */
uint64_t faults_due(const struct faults *s);

/* The reports of what has begun, for free(); their texts are the schedule's. */
struct fault_report *faults_report(const struct faults *s, size_t *count);

/* JSON of less than `room` (at least 128) bytes, to be freed. {"faults": those that have begun, as fault_report_entry()
 * writes them, with "over"; "left_out": how many earlier ones there was no room for; "to_come": how many have not
 * begun}. */
char *faults_text(struct faults *s, uint64_t now_ns, size_t room);

/* Answers what another process asks (request.h), if one does: a line more, or, of an empty one, the list. */
void faults_answer(struct faults *s, uint64_t now_ns);

/* Brings the records up to date. `ended`: nothing moves any more. */
void faults_validate(struct faults *s, uint64_t now_ns, bool ended);

#endif
