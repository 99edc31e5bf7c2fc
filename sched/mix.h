/* mix.h - fills a HammingMesh with random jobs once, and says how full it got: the experiment of the paper's figures 8
 * to 10.
 *
 * Sizes are drawn until they make up all boards that have not failed; the last is cut to what remains. A job whose
 * shape nearest to a square is longer than half the fabric is drawn again, as in the authors' script, and what remains
 * stays empty where that is so of all. Then each is placed once, in the order drawn or the largest first; one that does
 * not fit is left out. So less than all is used both where boards are in pieces and where a large job came late. */
#ifndef HXMESH_SCHED_MIX_H
#define HXMESH_SCHED_MIX_H

#include "sched/placement.h"
#include "sched/sizes.h"

struct hx_mix_rules {
    unsigned columns, rows; /* boards of the fabric */
    const bool *taken;      /* [rows * columns]: boards that failed, or are another's, from the start; NULL: none */
    unsigned failed;        /* boards of the others, at random */
    bool sorted;            /* the largest job first */
    struct hx_placement_rules placement;
};

struct hx_mix {
    unsigned jobs, placed;
    double utilization; /* boards of placed jobs over those that have not failed */
    double upper[2]; /* all-to-all, all-reduce: mean over the networks of two levels, those without traffic included, of
                               the share of what they carry that crosses their upper level; 0: there are none */
};

/* Whether any of the sizes is short enough for the fabric without its failed boards: else a mix has no job. */
bool hx_mix_has_jobs(const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes);

/* A mix is a function of its seed and the rules alone. */
void hx_mix_run(struct hx_mix *mix, const struct hx_mix_rules *rules, const struct hx_job_sizes *sizes, uint64_t seed);

#endif
