/* mscclpp_file.h - an MSCCL++ plan as steps, messages and events. Read by mscclpp.c, ordered by mscclpp_order.c, made a
 * schedule by mscclpp_steps.c. */
#ifndef SCHEDULE_MSCCLPP_FILE_H
#define SCHEDULE_MSCCLPP_FILE_H

#include "schedule/msccl_plan.h"

enum { MSCCLPP_MARK = 8 /* bytes of a signal, and of the request of a read */ };

/* A message, by the step that causes it. */
struct mscclpp_message {
    uint32_t step;
    uint32_t from, to; /* gpus */
    uint64_t parts;    /* of a chunk: size * slices, doubled in packets; 0: a signal */
    bool read;         /* the step is at `to`, and asks for it */
    bool later;        /* the thread block does not wait for its end: over a port */
};

/* Event of a step, matched with an event of the other side. Events of one key are in order. */
enum mscclpp_event_kind {
    MSCCLPP_SIGNAL,
    MSCCLPP_WAIT,
    MSCCLPP_RELEASE, /* of a semaphore */
    MSCCLPP_ACQUIRE,
    MSCCLPP_ARRIVE, /* at a barrier */
    MSCCLPP_LEAVE,
    MSCCLPP_EVENTS
};

struct mscclpp_event {
    uint8_t kind;
    uint8_t channel_type; /* of a signal or wait */
    uint32_t from, to;    /* gpus; the same one for semaphores and barriers */
    uint32_t id;          /* channel of the pair, semaphore or barrier */
    uint32_t number;      /* thread blocks of a barrier */
    uint32_t step, block;
    uint32_t message; /* of a signal */
};

/* Packets that a step writes or reads: the cells. */
struct mscclpp_packets {
    uint32_t step;
    uint32_t cell, count;
    uint32_t message; /* of a write to another gpu; UINT32_MAX: a local write, or a read */
};

/* A step waits for a message. */
struct mscclpp_arrival {
    uint32_t step, message;
};

/* Step i has messages message[first_message[i]] .. message[first_message[i + 1] - 1]. */
struct mscclpp_file {
    struct msccl_plan plan;
    uint32_t *first_message; /* [plan.steps + 1] */
    const char **name;       /* [plan.steps] of the operation */
    uint32_t **initial;      /* [gpus] values of semaphores; the first is their number */
    struct mscclpp_message *message;
    struct mscclpp_event *event;
    struct mscclpp_packets *write, *read;
    struct mscclpp_arrival *arrival;
    size_t messages, events, writes, reads, arrivals;
    size_t first_messages_room, names_room, messages_room, events_room, writes_room, reads_room, arrivals_room;
};

/* Adds what steps wait for to the plan, and arrivals. Returns false and sets *problem if an order is open, or a wait
 * has no signal. */
bool mscclpp_order(struct mscclpp_file *file, struct hx_problem *problem);

/* bytes: of a chunk. */
struct schedule_builder *mscclpp_schedule(const struct mscclpp_file *file, uint64_t bytes);

#endif
