/* mix.h - fills a HammingMesh once with random jobs and measures its utilization: the experiment of the paper's figures
 * 8 to 10.
 *
 * Sizes are drawn until they make up all living boards; the last is cut to the rest. A job with a most square shape
 * longer than half the fabric is drawn again, as in the authors' script. If all sizes are too long, the rest stays
 * empty. Then each job is placed once, in the order drawn or largest first; jobs that do not fit are left out. So
 * utilization is below 1 if free boards are fragmented, and if a large job comes late. */
#ifndef HXMESH_SCHED_MIX_H
#define HXMESH_SCHED_MIX_H

#include "allocation/placement.h"
#include "allocation/sizes.h"

struct hx_mix_rules {
    unsigned columns, rows; /* boards of the fabric */
    const bool *taken;      /* [rows * columns]: boards not available at the start; NULL: none */
    unsigned failed;        /* random failures among the others */
    bool sorted;            /* the largest job first */
    struct hx_placement_rules placement;
};

struct hx_mix {
    unsigned jobs, placed;
    double utilization; /* boards of placed jobs over boards that have not failed */
    /* all-to-all, all-reduce: share of a network's traffic that crosses its upper level, mean over two-level networks,
     * also without traffic; 0: no such networks */
    double upper[2];
};

/* Whether any size is short enough for the fabric without its failed boards; otherwise a mix has no job. */
bool hx_mix_has_jobs(const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes);

/* Makes a mix, a function of its seed and the rules. */
void hx_mix_run(struct hx_mix *mix, const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes, uint64_t seed);

#endif
