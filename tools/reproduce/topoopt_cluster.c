/* topoopt_cluster.c - figure 16 of TopoOpt: jobs that share a cluster (tools/reproduce/topoopt.h). */
#include "base/compare.h"
#include "base/rng.h"
#include "tools/child.h"
#include "tools/circuits/cluster.h"
#include "tools/circuits/costs.h"
#include "tools/reproduce/topoopt.h"
#include "tools/reproduce/topoopt_job.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

enum { OWN = 16 /* servers of a job */, DEGREE = 8, GBPS = 100, LOADS = 5, KINDS = 4 };

/* Shapes are those of the workloads that the authors published. CANDLE: five towers of 12 feature layers. */
static const struct kind {
    unsigned job, percent; /* of the jobs */
    const char *set[TOPOOPT_SETS];
} kinds[KINDS] = {
    {TOPOOPT_DLRM, 40, {"servers=16", "tables=16", "width=256", "dense=1024", "feature=2048", "batch=256"}},
    {TOPOOPT_BERT, 30, {"servers=16", "blocks=6", "hidden=768", "sequence=256"}},
    {TOPOOPT_CANDLE, 20, {"servers=16", "features=60", "width=4096"}},
    {TOPOOPT_VGG, 10, {"servers=16"}}};

/* How flows go through the fat tree. */
enum { WAYS = 3 };
static const struct way {
    const char *name;
    unsigned paths; /* of struct cluster */
} ways[WAYS] = {{"1 path", 1}, {"8 paths", 8}, {"all paths", 0}};

/* Ratios of the paper at full load. */
#define PAPER_MEAN "1.7"
#define PAPER_TAIL "3.4"

/* The kinds of jobs, on circuits of their own and on the tree. */
struct jobs {
    struct topoopt_answer circuits[KINDS], tree[KINDS];
};

static unsigned draw_kind(uint64_t *random)
{
    unsigned below = hx_rng_below(random, 100), kind = 0;
    while (below >= kinds[kind].percent)
        below -= kinds[kind++].percent;
    return kind;
}

/* Times of iterations, seconds. */
struct sample {
    double *seconds;
    uint32_t count;
    size_t room;
};

static void add(struct sample *s, double seconds)
{
    s->seconds = hx_grow(s->seconds, s->count, &s->room, sizeof *s->seconds);
    s->seconds[s->count++] = seconds;
}

static double mean_of(const struct sample *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->count; i++)
        sum += s->seconds[i];
    return sum / s->count;
}

/* The 99th percentile; sorts. */
static double tail_of(struct sample *s)
{
    if (!s->seconds)
        return NAN;
    qsort(s->seconds, s->count, sizeof *s->seconds, hx_compare_double);
    return s->seconds[(uint32_t)(0.99 * s->count)];
}

/* ---- a mix of jobs ---- */

struct mix {
    const struct jobs *jobs;
    const struct hx_fabric *tree;
    unsigned count, iterations;
    uint64_t seed;
};

/* Servers of the tree in random order: the first 16 are the first job's. */
static uint32_t *place(const struct hx_fabric *tree, uint64_t *random)
{
    uint32_t *server = hx_allocate(tree->hosts, sizeof *server);
    for (uint32_t i = 0; i < tree->hosts; i++) {
        const uint32_t other = hx_rng_below(random, i + 1);
        server[i] = server[other];
        server[other] = i;
    }
    return server;
}

static void run_mix(const struct mix *m, struct sample *own, struct sample shared[WAYS])
{
    uint64_t random = m->seed;
    uint32_t *server = place(m->tree, &random);
    struct cluster_job *job = hx_allocate(m->count, sizeof *job);
    double *seconds = hx_allocate((size_t)m->count * m->iterations, sizeof *seconds);
    for (unsigned i = 0; i < m->count; i++) {
        const unsigned kind = draw_kind(&random);
        const double iteration = m->jobs->circuits[kind].iteration;
        job[i] = (struct cluster_job){.demand = &m->jobs->tree[kind].result.demand,
                                      .server = &server[i * OWN],
                                      .begin = iteration * hx_rng_below(&random, 1000) / 1000,
                                      .seconds = &seconds[i * m->iterations]};
        for (unsigned k = 0; k < m->iterations; k++)
            add(own, iteration);
    }
    for (unsigned way = 0; way < WAYS; way++) {
        const struct cluster c = {.fabric = m->tree,
                                  .gbps = topoopt_tree_gbps(DEGREE, GBPS),
                                  .latency = TOPOOPT_LATENCY_NS * 1e-9,
                                  .paths = ways[way].paths,
                                  .seed = m->seed,
                                  .grain = 50e-6};
        cluster_run(&c, job, m->count, m->iterations);
        for (unsigned i = 0; i < m->count * m->iterations; i++)
            add(&shared[way], seconds[i]);
    }
    HX_FREE(server, job, seconds);
}

/* ---- the figure ---- */

static const char columns[] =
    "|load|2; fat tree|way|text; load (%)||0; |iterations|count; TopoOpt, ms|mean|2 x 1e3; 99th|tail|2 x 1e3; "
    "tree, ms|tree_mean|2 x 1e3; 99th|tree_tail|2 x 1e3; ratio||2; 99th||2";

static void show_load(struct reproduce_figure *f, struct text_table *t, double load, struct sample *own,
                      struct sample shared[WAYS])
{
    const double mean = mean_of(own), tail = tail_of(own);
    for (unsigned way = 0; way < WAYS; way++) {
        const double tree_mean = mean_of(&shared[way]), tree_tail = tail_of(&shared[way]);
        figure_row(f, t, columns, TEXTS(ways[way].name),
                   NUMBERS(load, 100 * load, own->count, mean, tail, tree_mean, tree_tail, tree_mean / mean,
                           tree_tail / tail));
        plot_point(&f->plot[0]->series[1 + way], 100 * load, 1e3 * tree_mean);
        plot_point(&f->plot[1]->series[1 + way], 100 * load, 1e3 * tree_tail);
    }
    plot_point(&f->plot[0]->series[0], 100 * load, 1e3 * mean);
    plot_point(&f->plot[1]->series[0], 100 * load, 1e3 * tail);
}

static void show_jobs(struct reproduce_figure *f, const struct jobs *jobs)
{
    static const char alone[] = "jobs alone, ms||text; % of jobs||count; TopoOpt||2; fat tree||2; computing||2";
    struct text_table *t = figure_table(f, 1, alone);
    for (unsigned k = 0; k < KINDS; k++)
        figure_row(f, t, alone, TEXTS(topoopt_jobs[kinds[k].job].name),
                   NUMBERS(kinds[k].percent, 1e3 * jobs->circuits[k].iteration, 1e3 * jobs->tree[k].iteration,
                           1e3 * jobs->circuits[k].result.time.computing));
}

static void begin_plots(struct reproduce_figure *f)
{
    static const char *const labels[] = {"iteration, mean (ms)", "iteration, 99th percentile (ms)"};
    for (unsigned i = 0; i < 2; i++) {
        struct plot *p = figure_plot(f, "servers in use (%)", PLOT_LINEAR, labels[i],
                                     "Jobs that share a cluster (Wang et al., figure 16)");
        (void)plot_add(p, PLOT_LINE, 0, "TopoOpt");
        for (unsigned way = 0; way < WAYS; way++)
            (void)plot_add(p, PLOT_LINE, 1 + way, "fat tree, %s", ways[way].name);
    }
}

static void make_jobs(struct jobs *jobs, enum reproduce_effort effort)
{
    for (unsigned k = 0; k < KINDS; k++) {
        struct topoopt_case c = {.job = kinds[k].job, .degree = DEGREE, .gbps = GBPS, .steps = topoopt_steps(effort)};
        for (unsigned i = 0; i < TOPOOPT_SETS; i++)
            c.set[i] = kinds[k].set[i];
        jobs->circuits[k] = topoopt_answer(&c, TOPOOPT_CIRCUITS);
        jobs->tree[k] = topoopt_answer(&c, TOPOOPT_TREE);
    }
}

void show_topoopt_cluster(struct reproduce_figure *f)
{
    static const unsigned servers[] = {128, 432, 432}, mixes[] = {1, 3, 10}, iterations[] = {2, 4, 10};
    const enum reproduce_effort effort = f->plan->effort;
    struct jobs jobs;
    struct hx_fabric tree;
    struct hx_problem problem;
    char spec[CIRCUITS_TREE_SPEC];
    child_catch_signals();
    circuits_tree_spec(spec, servers[effort], false);
    if (!hx_fabric_make(&tree, spec, 1, &problem))
        hx_die_of(&problem);
    make_jobs(&jobs, effort);
    struct text_table *t = figure_table(f, 1, columns);
    begin_plots(f);
    for (unsigned l = 1; l <= LOADS; l++) {
        struct sample own = {.count = 0}, shared[WAYS] = {{.count = 0}};
        struct mix m = {.jobs = &jobs,
                        .tree = &tree,
                        .count = (unsigned)lround((double)servers[effort] / OWN * l / LOADS),
                        .iterations = iterations[effort]};
        for (unsigned i = 0; i < mixes[effort] && !child_interrupted(); i++) {
            m.seed = split_mix(TOPOOPT_SEED + 100 * l + i);
            run_mix(&m, &own, shared);
        }
        if (own.count)
            show_load(f, t, (double)l / LOADS, &own, shared);
        free(own.seconds);
        for (unsigned way = 0; way < WAYS; way++)
            free(shared[way].seconds);
    }
    if (effort != REPRODUCE_QUICK)
        text_table_row(t, "paper", "100", "", "", "", "", PAPER_MEAN, PAPER_TAIL);
    show_jobs(f, &jobs);
    for (unsigned k = 0; k < KINDS; k++) {
        topoopt_free(&jobs.circuits[k]);
        topoopt_free(&jobs.tree[k]);
    }
    hx_fabric_free(&tree);
    figure_annotation(f,
                      "%u servers, jobs of %d at random places, d = %d, %d Gb/s; %u mixes a load, %u iterations of "
                      "each job. TopoOpt: each job on circuits of its own. Fat tree (%s): %.0f Gb/s a server, of "
                      "equal cost; flows are max-min fair.",
                      servers[effort], OWN, DEGREE, GBPS, mixes[effort], iterations[effort], spec,
                      topoopt_tree_gbps(DEGREE, GBPS));
}
