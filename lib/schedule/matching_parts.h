/* matching_parts.h - shared by matching*.c. */
#ifndef SCHEDULE_MATCHING_PARTS_H
#define SCHEDULE_MATCHING_PARTS_H

#include "schedule/schedule.h"

/* A send or receive of one destination. */
struct matching_message {
    uint64_t key;   /* matching_key() */
    uint64_t times; /* that it runs */
    uint32_t number;
};

static inline uint64_t matching_key(uint32_t source, uint32_t tag)
{
    return (uint64_t)source << 32 | tag;
}

/* Sends with one source and tag that receives with wildcards may take. */
struct matching_cell {
    uint64_t key;
    uint64_t left;     /* sends without a receive */
    uint64_t taken[2]; /* by receives of this source and any tag; by those of any source and this tag */
    uint32_t owner[2]; /* index of these receives, or MATCHING_NONE */
    uint32_t number;   /* of the last of these sends */
};
enum { MATCHING_NONE = UINT32_MAX };

/* Sends and receives without their counterpart. */
struct matching_faults {
    const struct schedule *s;
    char first[256];
    uint64_t first_missing, missing;
};

/* Counts `missing` counterparts of a send or receive. 0: none. */
void matching_fault(struct matching_faults *f, uint32_t rank, uint32_t number, uint64_t missing);

/* Receives with wildcards, sorted by key and each key once, take what is left of the sends to `rank`. */
void matching_wild(struct matching_faults *f, uint32_t rank, const struct matching_message *receive, uint32_t receives,
                   struct matching_cell *cell, uint32_t cells);

/* Whether the members of each group call the same collectives. */
bool matching_groups(const struct schedule *s, const char *where, struct hx_problem *problem);

#endif
