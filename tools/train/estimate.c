/* estimate.c - executes a schedule with timed collectives (estimate.h). */
#include "tools/train/estimate.h"
#include "fabric-emu/report/timeline.h"
#include "schedule/estimate.h"
#include "schedule/ideal.h"
#include "schedule/training/generate.h"
#include "schedule/walk.h"
#include "tools/train/carried.h"
#include "tools/train/modelled.h"
#include "tools/train/timed.h"
#include "workload/placement.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CARRIED = 1500 * 1000, /* parts of messages: about a second on one core */
    MOST_CARRIED_RANKS = 256    /* of a model: a larger one has more messages than are carried */
};

struct world {
    const struct train_job *job;
    const struct hx_settings *settings;
    struct traffic traffic;
    struct network *network;
    struct modelled_routes *routes; /* of a model; NULL: a schedule, where each rank has routes */
    uint32_t *host;                 /* [ranks] */
    double *load;                   /* [ports]: bytes on links */
    struct train_spent *spent;      /* receives where the time goes */
    const char *timeline;           /* file of it; NULL: none */
    bool refused;                   /* a run of all ranks would be refused */
};

static uint64_t message_ps(void *of, uint32_t from, uint32_t to, uint64_t bytes)
{
    const struct world *w = of;
    const struct network_route route =
        w->routes ? modelled_route(w->routes, from, to) : network_route_of(w->network, w->host[from], w->host[to]);
    return network_message_ps(&route, bytes);
}

/* ---- executing ---- */

struct sums {
    double seconds, computing;
};

static uint32_t stage_of(const struct training_model *m, uint32_t rank)
{
    return training_place_of(m, rank).at[TRAINING_PIPELINE];
}

/* Takes purposes and stages of an executed schedule, with a rank for each stage or all ranks of the job. bytes: as in
 * spent_take_purposes(). */
static void take_spent(const struct world *w, const struct executor_plan *plan, const double *bytes)
{
    const struct training_model *m = w->job->model;
    const uint32_t ranks = schedule_ranks(plan->schedule);
    spent_take_purposes(w->spent, plan, bytes, (double)w->job->iterations);
    if (!m || m->parallel[TRAINING_PIPELINE] < 2)
        return;
    uint32_t *stage = hx_allocate(ranks, sizeof *stage);
    for (uint32_t rank = 0; rank < ranks; rank++)
        stage[rank] = ranks == w->job->ranks ? stage_of(m, rank) : rank;
    spent_take_stages(w->spent, plan, stage, m->parallel[TRAINING_PIPELINE], (double)w->job->iterations);
    free(stage);
}

/* Lays the bytes of a schedule with timed collectives on the links, and takes what was spent. */
static bool lay(const struct world *w, const struct executor_plan *plan, struct hx_problem *problem)
{
    const struct schedule *s = plan->schedule;
    if (w->job->memory) {
        take_spent(w, plan, NULL);
        return true;
    }
    double bytes[SCHEDULE_MOST_PURPOSES] = {0};
    double of_group[TRAINING_GROUPS] = {0};
    if (w->job->schedule)
        timed_lay(w->job->schedule, w->network, w->host, w->load, bytes);
    else if (!modelled_lay(w->job->model, w->network, w->host, w->load, of_group, problem))
        return false;
    for (uint32_t port = 0; w->job->model && port < w->traffic.g->ports; port++)
        w->load[port] *= (double)w->job->iterations;
    const double of_all = (double)w->job->iterations * schedule_ranks(s) / w->job->ranks;
    for (unsigned group = 0; w->job->model && group < TRAINING_GROUPS; group++) {
        for (unsigned i = 1; i < SCHEDULE_MOST_PURPOSES; i++) {
            if (s->head->purpose[i] != SCHEDULE_NO_NAME &&
                strcmp(s->names + s->head->purpose[i], training_group_purpose[group]) == 0)
                bytes[i] += of_group[group] * of_all;
        }
    }
    take_spent(w, plan, bytes);
    return true;
}

/* Takes what an executed schedule says; network: of its messages. */
static bool take(const struct world *w, const struct schedule_job *job, struct sums *sums, bool is_timed,
                 struct hx_problem *problem)
{
    const struct executor_plan *plan = &job->executor;
    const uint32_t ranks = schedule_ranks(job->schedule);
    bool good = true;
    *sums = (struct sums){0, 0};
    for (uint32_t rank = 0; rank < ranks; rank++) {
        good = good && plan->result[rank].done;
        sums->seconds = fmax(sums->seconds, (double)plan->result[rank].end_ps / 1e12);
        sums->computing += (double)plan->result[rank].computing_ps / 1e12 / ranks;
    }
    if (!good)
        return hx_fail(problem, HX_EXIT_FAILED, w->job->path, "operations wait for ever");
    if (is_timed && w->timeline)
        timeline_write(&(struct schedule_plan){.job = (struct schedule_job *)(uintptr_t)job, .jobs = 1}, w->timeline);
    return !is_timed || lay(w, plan, problem);
}

/* Executes a schedule without collectives. network NULL: everything arrives at once. */
static bool execute(const struct world *w, const struct schedule *s, const struct estimate_network *network,
                    struct sums *sums, struct hx_problem *problem)
{
    static const struct estimate_network nothing = {.latency_ps = 0};
    struct schedule_job job = {.path = w->job->path, .schedule = s};
    job.executor = (struct executor_plan){.schedule = s,
                                          .window = UINT32_MAX,
                                          .groups = &job.groups,
                                          .costs = {.overhead_ps = w->settings->overhead_ns * 1000,
                                                    .overhead_byte_ps = w->settings->overhead_byte,
                                                    .eager = w->settings->eager,
                                                    .compute_scale = 1}};
    const uint64_t entries = network && w->timeline ? SCHEDULE_PLAN_ENTRIES : 0;
    if (!schedule_results_make(&job.results, &job.executor, entries, w->job->path, problem))
        return false;
    schedule_groups_make(&job.groups, s);
    const bool good = schedule_estimate(&job.executor, network ? network : &nothing) ||
                      hx_fail(problem, HX_EXIT_FAILED, w->job->path, "a message fits no operation");
    const bool took = good && take(w, &job, sums, network != NULL, problem);
    schedule_groups_free(&job.groups);
    schedule_results_free(&job.results);
    return took;
}

/* Adds the bytes of a rank's messages, with repeats, to those that leave it and that come to others. */
static void add_bytes(const struct schedule *s, uint32_t rank, double *out, double *in)
{
    struct schedule_walk walk;
    schedule_walk_begin(&walk, s, rank);
    while (schedule_walk_next(&walk)) {
        const struct schedule_operation *o = walk.operation;
        const bool leaves = o->kind == SCHEDULE_SEND && o->peer != rank;
        out[rank] += leaves ? (double)o->amount * (double)walk.times : 0;
        in[leaves ? o->peer : rank] += leaves ? (double)o->amount * (double)walk.times : 0;
    }
    schedule_walk_end(&walk);
}

/* Seconds that the links of some host take for its messages: no estimate is shorter. */
static double bound_of(const struct world *w, const struct schedule *s)
{
    const struct hx_fabric *g = w->traffic.g;
    const double link = (double)network_loads(w->network)->timing.link;
    const uint32_t ranks = schedule_ranks(s);
    double *out = hx_allocate(ranks, sizeof *out);
    double *in = hx_allocate(ranks, sizeof *in);
    double most = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        add_bytes(s, rank, out, in);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const double links = hx_host_injection(g, w->host[rank], link) * g->planes;
        most = fmax(most, fmax(out[rank], in[rank]) * 8e-9 / (links * link));
    }
    HX_FREE(out, in);
    return most;
}

/* timed: collectives and messages take the network's time; else none. */
static bool run(struct world *w, bool timed, struct sums *sums, struct hx_problem *problem)
{
    const struct estimate_network network = {.message_ps = message_ps, .of = w};
    const struct train_job *job = w->job;
    struct network *n = timed ? w->network : NULL;
    const double scale = w->settings->compute_scale;
    struct schedule *s = job->model ? modelled_make(job->model, n, w->host, scale, problem)
                                    : timed_make(job->schedule, n, w->host, scale, problem);
    if (job->model && !w->routes)
        w->routes = modelled_routes_new(job->model, w->network, w->host);
    const bool good = s && execute(w, s, timed ? &network : NULL, sums, problem);
    if (good && timed && job->schedule)
        sums->seconds = fmax(sums->seconds, bound_of(w, job->schedule));
    schedule_close(s);
    return good;
}

/* ---- the fabric ---- */

/* The first host that takes part. */
static uint32_t first_host(const struct traffic *t)
{
    uint32_t host = 0;
    while (host + 1 < t->g->hosts && !t->members[host])
        host++;
    return host;
}

uint32_t train_estimate_hosts(const struct hx_spec *spec, const struct hx_settings *settings)
{
    struct traffic t;
    traffic_init(&t, spec, hx_spec_fabric(spec), settings, NULL);
    const uint32_t hosts = t.members[first_host(&t)];
    traffic_free(&t);
    return hosts;
}

static bool place(struct world *w, struct hx_problem *problem)
{
    const struct traffic *t = &w->traffic;
    const uint32_t first = first_host(t);
    if (w->job->ranks > t->members[first])
        return hx_fail(problem, HX_EXIT_CONFIG, w->job->path,
                       "has %" PRIu32 " ranks, but only %" PRIu32 " %ss are there", w->job->ranks, t->members[first],
                       hx_host_word(t->g));
    return placement_make(w->host, w->job->ranks, t, first, w->settings->place, w->job->dimension, problem);
}

/* Carries the job's messages over links, if they are few; of irregular ranks sets *ideal as well. Returns false if they
 * are not, or if it cannot; if a run would be refused, sets w->refused and *problem. */
static bool carry(struct world *w, struct sums *sums, struct sums *ideal, struct hx_problem *problem)
{
    struct schedule_plan plan;
    struct schedule *all = NULL;
    const struct schedule *s = w->job->schedule;
    if (w->job->model && w->job->ranks <= MOST_CARRIED_RANKS) {
        struct schedule_builder *b = training_generate(w->job->model, NULL, problem);
        s = all = b ? schedule_build(b, w->job->path, problem) : NULL;
    }
    struct carried_times times = {0, 0};
    bool good = s && schedule_plan_of(&plan, &w->traffic, s, w->host, w->job->path, problem);
    w->refused = s && !good;
    if (good) {
        good = carried_parts(&plan.job[0]) < MOST_CARRIED &&
               carried_execute(&plan, network_loads(w->network), &times, w->load);
        if (good)
            take_spent(w, &plan.job[0].executor, NULL);
        if (good && w->timeline)
            timeline_write(&plan, w->timeline);
        if (good && hx_settings_is_irregular(w->settings)) {
            const struct schedule_ideal i = schedule_ideal(&plan.job[0].executor);
            *ideal = (struct sums){i.seconds, i.computing_seconds};
        }
        schedule_plan_free(&plan);
    }
    schedule_close(all);
    *sums = (struct sums){times.seconds, times.computing};
    return good;
}

bool train_estimate_make(struct train_estimate *e, const struct train_job *job, const struct hx_spec *spec,
                         const struct hx_settings *settings, const struct hx_timing *timing, const char *timeline,
                         struct hx_problem *problem)
{
    struct world w = {.job = job, .settings = settings, .spent = &e->spent, .timeline = timeline};
    *e = (struct train_estimate){.seconds = 0};
    struct sums exact = {0, 0};
    struct sums ideal = {0, 0};
    traffic_init(&w.traffic, spec, hx_spec_fabric(spec), settings, NULL);
    w.traffic.quiet = job->quiet;
    w.host = hx_allocate(job->ranks, sizeof *w.host);
    bool good = place(&w, problem);
    w.load = hx_allocate(w.traffic.g->ports, sizeof *w.load);
    if (good)
        w.network = network_open(&w.traffic, timing, settings->algorithm);
    if (good && job->memory)
        network_choose_quickly(w.network, job->memory);
    const bool irregular = hx_settings_is_irregular(settings);
    const bool carried = good && !job->memory && carry(&w, &exact, &ideal, problem);
    if (good && !carried && irregular)
        good = !w.refused &&
               hx_fail(problem, HX_EXIT_CONFIG, job->path,
                       "has too many messages for an estimate with --jitter or --straggler, where each rank differs");
    good = good && (carried || run(&w, true, &exact, problem)) &&
           ((carried && irregular) || run(&w, false, &ideal, problem));
    if (good) {
        e->seconds = exact.seconds;
        e->ideal = ideal.seconds;
        e->computing = ideal.computing;
        if (!job->memory)
            spent_take_links(&e->spent, network_loads(w.network), w.load, exact.seconds);
    }
    modelled_routes_free(w.routes);
    network_close(w.network);
    traffic_free(&w.traffic);
    HX_FREE(w.host, w.load);
    if (!good)
        spent_free(&e->spent);
    return good;
}
