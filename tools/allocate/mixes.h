/* mixes.h - many random job mixes: utilization of the boards, and the traffic share that crosses the upper level. */
#ifndef HXMESH_TOOLS_ALLOCATE_MIXES_H
#define HXMESH_TOOLS_ALLOCATE_MIXES_H

#include "allocation/mix.h"

#include <jansson.h>

struct mixes {
    const struct hx_mix_rules *rules;
    unsigned count;
    struct hx_mix *mix; /* [count] */
};

/* Runs `count` mixes; mix i has seed + i. */
void mixes_run(struct mixes *m, const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes, unsigned count,
               uint64_t seed);
void mixes_free(struct mixes *m);

/* Shares, 0 .. 1. */
enum mixes_figure { MIXES_USED, MIXES_ALL_TO_ALL, MIXES_ALL_REDUCE, MIXES_PLACED, MIXES_FIGURES };
struct mixes_sum {
    double mean, p1, p25, p50, p75, p99;
};
struct mixes_sum mixes_sum_of(const struct mixes *m, enum mixes_figure figure);
double mixes_value(const struct mixes *m, unsigned mix, enum mixes_figure figure);

void mixes_print(const struct mixes *m);
json_t *mixes_json(const struct mixes *m);
void mixes_write_csv(const struct mixes *m, const char *path);

#endif
