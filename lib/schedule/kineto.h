/* kineto.h - a trace of PyTorch's profiler (Kineto) while it is read; shared by kineto*.c.
 *
 * Bytes of a file become JSON values, one event at a time (kineto_scan.c). Of an event only what counts is kept: times
 * of computing, communication, launches and calls (kineto_events.c). Then each communication gets its kind, bytes and
 * group (kineto_calls.c, kineto_groups.c), and times become operations (kineto_order.c). */
#ifndef SCHEDULE_KINETO_H
#define SCHEDULE_KINETO_H

#include "schedule/formats.h"
#include "schedule/packed.h"

#include <jansson.h>

enum { KINETO_UNKNOWN = UINT32_MAX };

/* Times are in ns from the file's first event. */
#define KINETO_NEVER INT64_MAX

/* Time in which the rank computes: an operator of the CPU, a kernel or copy of the GPU. */
struct kineto_work {
    int64_t begin, end, issued; /* issued: when the CPU launched it; KINETO_NEVER: not known */
    uint64_t correlation;       /* of a kernel: with its launch */
};

/* A message or collective. */
struct kineto_communication {
    int64_t begin, end, issued;
    uint64_t correlation, place; /* place: byte of the unpacked file */
    uint32_t track;              /* the thread or stream that carries it out, one after the other */
    json_t *event;               /* owned */
    json_t *shapes;              /* event that has the sizes; borrowed */
};

/* A launch of a kernel by a thread of the CPU. */
struct kineto_launch {
    uint64_t correlation;
    int64_t at;
    uint32_t track;
};

/* A call on a thread of the CPU: "nccl:...", which has the sizes of the kernels launched within, or "c10d::...", which
 * hands a collective to gloo. */
struct kineto_call {
    int64_t begin, end;
    uint32_t track;
    int kind;      /* of "c10d::...": enum kineto_kind */
    json_t *event; /* of "nccl:..."; owned */
};

struct kineto_list_work {
    struct kineto_work *at;
    size_t count, room;
};
struct kineto_list_communication {
    struct kineto_communication *at;
    size_t count, room;
};
struct kineto_list_launch {
    struct kineto_launch *at;
    size_t count, room;
};
struct kineto_list_call {
    struct kineto_call *at;
    size_t count, room;
};
struct kineto_list_time {
    int64_t *at;
    size_t count, room;
};

enum kineto_side { KINETO_CPU, KINETO_GPU, KINETO_SIDES };

/* What a file holds. */
struct kineto_file {
    const char *path;
    struct hx_problem *problem;
    uint64_t place;      /* byte of the event that is read */
    json_t *distributed; /* "distributedInfo"; NULL: there is none */
    uint32_t rank, ranks;
    double first; /* us: the time of the first event */
    bool has_first;
    struct kineto_list_work work[KINETO_SIDES];
    struct kineto_list_communication communication[KINETO_SIDES];
    struct kineto_list_launch launch;
    struct kineto_list_call nccl, c10d;
    struct kineto_list_time optimizer; /* begins of "Optimizer.step" */
    uint64_t iterations;               /* "ProfilerStep#N" */
    enum kineto_side side;             /* that counts */
    struct kineto_track {
        json_t *pid, *tid;
    } * track;
    size_t tracks, tracks_room;
};

/* All files. */
struct kineto_trace {
    struct schedule_builder *builder;
    struct hx_problem *problem;
    uint32_t ranks;
    bool alike; /* one file stands for all ranks */
    uint64_t unknown, without_root, without_group, gloo;
    char example[64]; /* name of a communication that was left out */
};

/* Kinds of communication by name. */
enum kineto_kind {
    KINETO_ALL_REDUCE,
    KINETO_BROADCAST,
    KINETO_REDUCE_SCATTER,
    KINETO_REDUCE,
    KINETO_ALL_GATHER,
    KINETO_ALL_TO_ALL,
    KINETO_GATHER,
    KINETO_SCATTER,
    KINETO_BARRIER,
    KINETO_SEND,
    KINETO_RECEIVE,
    KINETO_NO_KIND
};

/* The operations that a communication became: [first, first + count); 0: none. */
struct kineto_operations {
    uint32_t first, count;
};

/* ---- kineto_scan.c ---- */

/* Reads the values of the file's top level: each event of "traceEvents" goes to kineto_take_event(), and
 * "distributedInfo" is kept. Returns false and sets the problem. */
bool kineto_scan(struct kineto_file *f, gzFile in);

/* ---- kineto_events.c ---- */

/* Takes what counts of an event. Returns false and sets the problem. */
bool kineto_take_event(struct kineto_file *f, json_t *event);
/* Chooses the side that counts, and finds when each work and communication was issued. */
bool kineto_settle(struct kineto_file *f);
void kineto_free(struct kineto_file *f);

/* ---- kineto_calls.c ---- */

/* The kind of a name like "nccl:_all_gather_base", "c10d::allgather_" or "allgather". */
enum kineto_kind kineto_kind_of(const char *name);
/* Adds the operations of a communication of `rank`. Returns false and sets the problem. */
bool kineto_add_communication(struct kineto_trace *t, const struct kineto_file *f, uint32_t rank,
                              const struct kineto_communication *communication, struct kineto_operations *operations);

/* Reports a problem of the event at a place: "byte N: 'NAME': ...". Returns false. */
__attribute__((format(printf, 4, 5))) bool kineto_fail(const struct kineto_file *f, uint64_t place, const json_t *event,
                                                       const char *format, ...);

/* ---- kineto_groups.c ---- */

/* Finds the group of a communication: its ranks in order, for free(). NULL: sets the problem. */
uint32_t *kineto_group_of(struct kineto_trace *t, const struct kineto_file *f, uint32_t rank,
                          const struct kineto_communication *communication, uint32_t *count);
/* Reads whole numbers of a text like "[0, 1]", or of a list. Returns false if there are others, or too many. */
bool kineto_numbers(const json_t *list, uint64_t *number, size_t most, size_t *count);

/* ---- kineto_order.c ---- */

/* Adds the operations of a rank. Returns false and sets the problem. */
bool kineto_order(struct kineto_trace *t, const struct kineto_file *f, uint32_t rank);

#endif
