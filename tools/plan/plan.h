/* plan.h - `hxmesh plan`: the best layout of a model on a fabric, of all that divide it and fit.
 *
 * Data that flows. Each layout (schedule/training/layout.h) on the fabric's ranks is a candidate with a bound of its
 * iteration (candidates.c). Candidates with the same axes and ZeRO stage are a family. First one of each family is
 * estimated, the least bound first: divided into stages, dropped if it does not fit. Then come those with a bound that
 * is below the best when multiplied by the ratio of estimate and bound in their family (search.c). Orders of axes and
 * placements are tried for the best layouts. Packets confirm some (confirm.c). The best becomes a model file
 * (model_file.c). Estimates are quick ones (train/estimate.h).
 *
 * A batch has the same candidates on any machine, so the answer is the same. */
#ifndef HXMESH_TOOLS_PLAN_PLAN_H
#define HXMESH_TOOLS_PLAN_PLAN_H

#include "schedule/training/layout.h"
#include "tools/train/train.h"

extern const char PLAN_FOLD[]; /* "fold" */

enum { PLAN_BATCH = 8 /* candidates that are estimated before the next look at bounds */ };

struct plan_candidate {
    struct training_layout layout;
    const char *place; /* of ranks: PLAN_FOLD, what the user says, or NULL: linear; equal texts are one pointer */
    double bound;      /* s of an iteration: few estimates are shorter; INFINITY: it does not fit */
    uint64_t number;   /* in the order of layouts */
    bool estimated;
};

/* A candidate that has been estimated. Seconds are those of an iteration. */
struct plan_result {
    struct plan_candidate candidate;
    uint64_t bytes; /* memory of the fullest stage */
    double seconds, ideal, computing;
    struct train_spent spent;
    double confirmed; /* s by packets; 0: not run */
};

/* What a plan counts. */
struct plan_counts {
    uint64_t layouts;   /* that divide the model */
    uint64_t too_large; /* of these, that surely do not fit */
    uint64_t tried;     /* divided into stages */
    uint64_t unfit;     /* of these, that do not fit */
    uint64_t estimated; /* by their bounds */
    uint64_t varied;    /* orders of axes and placements of these that were estimated as well */
    uint64_t failed;    /* of these, that could not be estimated */
    uint64_t open;      /* not estimated, but with a bound below the best */
    uint64_t least;     /* bytes of the smallest that does not fit; UINT64_MAX: all fit */
};

/* The plan of a fabric. */
struct plan {
    const struct train *train; /* options, prices */
    const struct training_model *model;
    const struct train_fabric *fabric;
    struct training_choices choices;
    uint32_t ranks;
    uint64_t most_estimates;
    uint32_t workers;
    struct plan_candidate *candidate; /* the least bound first */
    size_t candidates, room;
    struct plan_result *result; /* the shortest iteration first */
    size_t results, results_room;
    bool interrupted;
    struct hx_problem problem;     /* of the latest estimate that failed */
    struct network_memory *memory; /* of estimates, while they are made */
    struct plan_counts counts;
};

/* candidates.c: fills the candidates. */
void plan_find_candidates(struct plan *p);
/* A bound of a candidate that has been divided into stages, s. */
double plan_bound(const struct plan *p, const struct training_model *m);

/* search.c: fills the results. fabric: its name on the bar. */
void plan_search(struct plan *p, const char *fabric);
void plan_free(struct plan *p);

/* Whether a result is the first with its shares: others differ in the order of axes and the placement. */
bool plan_is_first(const struct plan *p, size_t number);

/* Share of the peak of all accelerators: MFU, or HFU. NAN: not known. */
double plan_use(const struct plan *p, const struct plan_result *r, bool recomputed);

/* model_file.c: writes the model's text in the layout of a candidate to an open file. */
void plan_write_model(const struct plan *p, const struct plan_candidate *c, FILE *out);
/* Dies with HX_EXIT_CONFIG if what that writes is not the model in the layout: before a search, not behind it. */
void plan_check_writing(const struct plan *p);

/* confirm.c: runs the first `count` results of different shares with packets. Returns the exit code of the first run
 * that failed. */
int plan_confirm(struct plan *p, unsigned count);

/* plan_report.c */
void plan_print(const struct plan *p, unsigned count, unsigned top);
json_t *plan_json(const struct plan *p, unsigned count, unsigned top);

#endif
