/* faults.h - the supervisor's part of faults: carries them out when due, and records what they cost.
 *
 * A closed link is a planned change: its record says when all workers route by it. Conditions of links reach the
 * workers through the arena (fab_fabric.condition, conditions.h), within a sweep. A link
 * that flaps faster than the supervisor's tick is up or down by chance. Signals kill, stop and continue workers. */
#ifndef FAULTS_H
#define FAULTS_H

#include "fabric-emu/report/fault_report.h"
#include "fault_log.h"

struct fault_change;

/* State of a fault. `whole` of its report is final once true. */
struct fault_record {
    bool begun, over;            /* over: ended by its time or by an "up" */
    uint64_t log_number;         /* if begun: its number in the log, or FAULT_NOT_LOGGED */
    uint64_t end_ns;             /* UINT64_MAX: it stays */
    struct fault_report is;      /* cost: counted when final, or on request */
    struct hx_fault_cost before; /* its links' counters when it began */
    uint64_t lost_before;        /* of a worker fault: losses and hits when it began */
    uint64_t hits_before;
    uint32_t carried_out; /* of a planned change: control->conditions that include it; 0: it is not carried out */
};

struct faults {
    struct fab_fabric *f;
    struct hx_faults schedule;
    struct fault_record *record; /* [schedule.count] */
    size_t room;
    struct fault_change *change; /* of links and workers, by time */
    size_t changes, done;        /* done: changes that were made */
    size_t change_room;
    size_t awaited; /* planned changes that have begun and are not followed yet */
    int log;        /* descriptor of the fault log */
    bool log_failed;
};

/* Ends the program if there is no memory for a log. */
void faults_open(struct faults *s, struct fab_fabric *f);
/* Sets the faults of the start. Returns false: *problem names one that cannot be done here. */
bool faults_schedule(struct faults *s, const struct hx_faults *schedule, struct hx_problem *problem);
void faults_close(struct faults *s);

/* Adds a fault line; its "at" counts from `now_ns`, in ns since the start of the run. Returns false and sets *problem:
 * it is refused. Returns true with .what set: it is accepted, with a warning. */
bool faults_add(struct faults *s, const char *line, uint64_t now_ns, struct hx_problem *problem);

/* Carries out what is due. Calls `signal` for each worker that gets a signal. Returns whether a link changed: then wake
 * the workers. */
bool faults_advance(struct faults *s, uint64_t now_ns, void (*signal)(void *of, unsigned worker, int number), void *of);
/* Notes planned changes that all running workers route by. Call it before control->conditions grows again. */
void faults_note_followed(struct faults *s);
/* Returns when the next change is due; UINT64_MAX: never. */
uint64_t faults_due(const struct faults *s);

/* Returns the reports of begun faults, for free(); the texts belong to the schedule. */
struct fault_report *faults_report(const struct faults *s, size_t *count);

/* Returns JSON of less than `room` (>= 128) bytes, for free(): {"faults", "changes": begun ones as fault_report_entry()
 * writes them, with "over"; "left_out": earlier ones that did not fit; "to_come": those that have not begun}. */
char *faults_text(struct faults *s, uint64_t now_ns, size_t room);

/* Answers a pending request (request.h): a fault line to add, or an empty line for the list. */
void faults_answer(struct faults *s, uint64_t now_ns);

/* Updates the records. `ended`: the run is over. */
void faults_validate(struct faults *s, uint64_t now_ns, bool ended);

#endif
