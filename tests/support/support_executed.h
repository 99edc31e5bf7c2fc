/* support_executed.h - schedules of tests, executed on an ideal network (schedule/estimate.h). */
#ifndef HXMESH_TESTS_SUPPORT_EXECUTED_H
#define HXMESH_TESTS_SUPPORT_EXECUTED_H

#include "schedule/build.h"
#include "schedule/choices.h"
#include "schedule/estimate.h"

struct executed_settings {
    struct executor_costs costs;
    struct estimate_network network;
    uint64_t latest_ps;      /* as in struct executor_plan */
    const atomic_bool *stop; /* as in struct executor_plan */
    uint32_t window;         /* as in struct executor_plan */
    schedule_fill *fill;     /* of choices */
    void *of;                /* first argument of fill() */
};
/* No costs, a latency of a microsecond, any number of messages in flight, plain choices. */
struct executed_settings executed_plain(void);

/* A schedule and what its operations did. */
struct executed {
    struct schedule *s;
    struct schedule_groups groups;
    struct schedule_choices *choices;
    struct executor_plan plan;
    uint64_t *first_entry;
};

/* Builds and prepares; each has to be possible. *r stays where it is. */
void executed_prepare(struct executed *r, struct schedule_builder *b, const struct executed_settings *settings);
/* The same, and executes. */
struct executed executed_of(struct schedule_builder *b, const struct executed_settings *settings);
void executed_free(struct executed *r);

/* Asserts that each rank is done. Returns the end of the last operation, ps. */
uint64_t executed_end(const struct executed *r);
/* The n-th entry of an operation of a rank. */
struct executor_entry executed_entry(const struct executed *r, uint32_t rank, uint32_t operation, unsigned n);

#endif
