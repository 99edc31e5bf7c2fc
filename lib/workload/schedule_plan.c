/* schedule_plan.c - reads schedules, and prepares them for executors (schedule_plan.h). */
#include "workload/schedule_plan.h"
#include "base/text.h"
#include "base/value.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "schedule/matching.h"
#include "schedule/shares.h"
#include "workload/collective_choice.h"
#include "workload/placement.h"
#include "workload/schedule_families.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SLOWNESS 1e-6 /* factors of computing times */
#define MOST_SLOWNESS  1e6

/* ---- collectives ---- */

/* Argument of fill(). */
struct chooser {
    const struct traffic *traffic;
    const struct schedule_job *job;
    const uint32_t *rank_of;        /* [hosts] */
    unsigned algorithm;             /* enum hx_algorithm: of operations that name none, if it has their kind */
    bool placed;                    /* a placement is given, so rings keep the order of ranks */
    struct collective_loads *loads; /* that the best algorithms are chosen by */
    struct schedule_families *families;
};

/* Fills the maps between positions of the engine's group and of the schedule's, if they differ. */
static void fill_positions(struct executor_choice *choice, const struct schedule *s, uint32_t group,
                           const struct schedule_job *job, const struct collective_job *found,
                           const uint32_t *rank_of_host)
{
    uint32_t size = schedule_group_size(s, group);
    uint32_t *member = hx_allocate(size, sizeof *member);
    uint32_t *position = hx_allocate(size, sizeof *position);
    bool same = true;
    for (uint32_t i = 0; i < size; i++) {
        member[i] = schedule_groups_position(&job->groups, s, group, rank_of_host[found->host[i]]);
        position[member[i]] = i;
        same = same && member[i] == i;
    }
    if (same)
        HX_FREE(member, position);
    choice->member = same ? NULL : member;
    choice->position = same ? NULL : position;
}

/* The hosts of some groups of equal size. */
static uint32_t *hosts_of_groups(const struct schedule *s, const uint32_t *groups, uint32_t count,
                                 const struct schedule_job *job)
{
    const uint32_t size = schedule_group_size(s, groups[0]);
    uint32_t *host = hx_allocate((size_t)count * size, sizeof *host);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t member = 0; member < size; member++)
            host[(size_t)i * size + member] = job->host[schedule_group(s, groups[i])[member]];
    }
    return host;
}

static unsigned algorithm_of(const struct chooser *c, const struct schedule_operation *o)
{
    if (o->algorithm != HX_ALGORITHM_BEST)
        return o->algorithm;
    return schedule_has_kind(c->algorithm, o->collective) ? c->algorithm : HX_ALGORITHM_BEST;
}

/* Plans the collective of the first of some groups, by the best algorithm for all of them. */
static bool plan_group(const struct chooser *c, const struct schedule *s, const struct schedule_operation *o,
                       const uint32_t *groups, uint32_t count, unsigned algorithm, struct collective_job *found,
                       struct hx_problem *problem)
{
    const uint32_t size = schedule_group_size(s, o->peer);
    uint32_t *host = hosts_of_groups(s, groups, count, c->job);
    const struct collective_family family = {host, size, count, schedule_shares(s, o)};
    *found = (struct collective_job){
        .tag = c->job->tag, .root_host = host[schedule_root(o)], .given = c->placed ? host : NULL};
    schedule_set_vector(o, size, &found->config);
    const bool good = collective_plan_group(found, c->traffic, &family, 0, algorithm, c->loads, problem);
    found->given = NULL;
    free(host);
    return good;
}

/* Whether the algorithm is that of the family, which was chosen before. */
static bool is_planned(const struct chooser *c, const struct schedule *s, const struct schedule_operation *o,
                       struct collective_job *found)
{
    struct hx_problem ignored; /* a group on another grid may lack the algorithm */
    const unsigned algorithm = schedule_families_algorithm(c->families, o);
    if (!algorithm)
        return false;
    if (plan_group(c, s, o, &o->peer, 1, algorithm, found, &ignored))
        return true;
    collective_job_free(found);
    return false;
}

static bool choose(const struct chooser *c, const struct schedule *s, const struct schedule_operation *o,
                   struct collective_job *found, struct hx_problem *problem)
{
    if (is_planned(c, s, o, found))
        return true;
    uint32_t *groups = hx_allocate(s->head->groups, sizeof *groups);
    const uint32_t count = schedule_families_find(c->families, o, groups);
    const bool good = plan_group(c, s, o, groups, count, HX_ALGORITHM_BEST, found, problem);
    schedule_families_set(c->families, o, groups, count, HX_ALGORITHM_TREE + found->config.algorithm);
    free(groups);
    return good;
}

static bool fill(void *of, const struct schedule *s, const struct schedule_operation *o, struct executor_choice *choice,
                 struct hx_problem *problem)
{
    const struct chooser *c = of;
    const unsigned algorithm = algorithm_of(c, o);
    struct collective_job found;
    const bool good = algorithm == HX_ALGORITHM_BEST ? choose(c, s, o, &found, problem)
                                                     : plan_group(c, s, o, &o->peer, 1, algorithm, &found, problem);
    if (good) {
        choice->config = found.config;
        found.config.outgoing = NULL;
        fill_positions(choice, s, o->peer, c->job, &found, c->rank_of);
    }
    collective_job_free(&found);
    return good;
}

/* ---- peers ---- */

/* Counts the peers of a rank's operations of a kind. seen[r] == stamp: peer r is counted. */
static uint32_t count_pairs(const struct schedule *s, uint32_t rank, enum schedule_kind kind, uint32_t *seen,
                            uint32_t stamp)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->kind != kind || o->peer == rank)
            continue;
        if (o->peer == SCHEDULE_ANY)
            return schedule_ranks(s);
        count += seen[o->peer] != stamp;
        seen[o->peer] = stamp;
    }
    return count;
}

static uint32_t count_members(const struct schedule_job *job, uint32_t rank)
{
    uint64_t count = 0;
    for (uint32_t i = job->groups.first[rank]; i < job->groups.first[rank + 1]; i++) {
        uint32_t others = schedule_group_size(job->schedule, job->groups.of[i]) - 1;
        count += others;
    }
    return count < schedule_ranks(job->schedule) ? (uint32_t)count : schedule_ranks(job->schedule);
}

static void count_peers(struct schedule_job *job, bool rendezvous)
{
    const struct schedule *s = job->schedule;
    uint32_t ranks = schedule_ranks(s);
    uint32_t *seen = hx_allocate(ranks, sizeof *seen);
    job->destinations = hx_allocate(ranks, sizeof *job->destinations);
    job->peers = hx_allocate(ranks, sizeof *job->peers);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        uint64_t members = count_members(job, rank);
        uint64_t to = count_pairs(s, rank, SCHEDULE_SEND, seen, 2 * rank + 1);
        uint64_t from = count_pairs(s, rank, SCHEDULE_RECEIVE, seen, 2 * rank + 2);
        uint64_t sends = members + to + (rendezvous ? from : 0); /* answers to requests */
        uint64_t all = members + to + from;
        job->destinations[rank] = (uint32_t)(sends < ranks ? sends : ranks - 1);
        job->peers[rank] = (uint32_t)(all < ranks ? all : ranks - 1);
    }
    free(seen);
}

/* ---- jobs ---- */

static bool read_job(struct schedule_job *job, const struct hx_settings *settings, struct hx_problem *problem)
{
    struct schedule_read_options options = settings->read;
    options.message = settings->message;
    job->path = settings->traffic_file;
    job->schedule = job->own = schedule_read(job->path, &options, &job->notes, problem);
    return job->schedule && schedule_check_matching(job->schedule, job->path, problem);
}

/* Whether a rank's sends leave one after the other. sends: enum hx_sends. */
static bool goes_in_order(const struct schedule *s, unsigned sends)
{
    return sends == HX_SENDS_OF_FORMAT ? s->head->in_order : sends == HX_SENDS_IN_ORDER;
}

static bool prepare(struct schedule_plan *p, struct schedule_job *job, const struct hx_settings *settings,
                    struct hx_problem *problem)
{
    struct collective_loads loads;
    struct schedule_families families;
    struct chooser chooser = {.traffic = p->traffic,
                              .job = job,
                              .rank_of = p->rank_of,
                              .algorithm = settings->algorithm,
                              .placed = settings->place != NULL,
                              .loads = &loads,
                              .families = &families};
    schedule_groups_make(&job->groups, job->schedule);
    collective_open_choice(&loads, p->traffic->g);
    loads.quiet = p->traffic->quiet;
    schedule_families_open(&families, job->schedule);
    job->choices = schedule_choices_make(job->schedule, fill, &chooser, problem);
    schedule_families_close(&families);
    collective_loads_close(&loads);
    job->executor.schedule = job->schedule;
    if (!job->choices ||
        !schedule_results_make(&job->results, &job->executor, SCHEDULE_PLAN_ENTRIES, job->path, problem))
        return false;
    job->executor.groups = &job->groups;
    job->executor.choose = schedule_choose;
    job->executor.of = job->choices;
    job->executor.window = hx_peer_window(p->traffic->g->planes);
    job->executor.in_order = goes_in_order(job->schedule, settings->sends);
    job->executor.latest_ps = settings->clock == HX_CLOCK_VIRTUAL ? HX_MOST_SIMULATED * 1000 : 0;
    job->executor.costs = (struct executor_costs){.overhead_ps = settings->overhead_ns * 1000,
                                                  .overhead_byte_ps = settings->overhead_byte,
                                                  .eager = settings->eager,
                                                  .compute_scale = settings->compute_scale,
                                                  .sum_rate = settings->sum_rate,
                                                  .jitter = settings->jitter,
                                                  .seed = p->traffic->settings.seed,
                                                  .slowness = job->slowness};
    count_peers(job, settings->eager < SCHEDULE_MOST_BYTES);
    return true;
}

/* Reads "RANK=FACTOR". */
static bool take_straggler(struct schedule_job *job, const char *item, struct hx_problem *problem)
{
    char text[64];
    char why[HX_WHY_TEXT];
    uint64_t rank = 0;
    double factor = 0;
    const size_t length = strcspn(hx_text_copy(text, sizeof text, item), "=");
    if (text[length] != '=')
        return hx_fail(problem, HX_EXIT_USAGE, "--straggler", "'%s' is no RANK=FACTOR (for example 3=1.2)", item);
    text[length] = '\0';
    const char *wrong = hx_value_number(text, 0, schedule_ranks(job->schedule) - 1, &rank, why);
    wrong = wrong ? wrong : hx_value_real(text + length + 1, LEAST_SLOWNESS, MOST_SLOWNESS, &factor, why);
    if (wrong)
        return hx_fail(problem, HX_EXIT_USAGE, "--straggler", "'%s': %s", item, wrong);
    job->slowness[rank] = factor;
    return true;
}

static bool find_stragglers(struct schedule_job *job, const struct hx_option_list *list, struct hx_problem *problem)
{
    const uint32_t ranks = schedule_ranks(job->schedule);
    bool good = true;
    if (list->count == 0)
        return true;
    job->slowness = hx_allocate(ranks, sizeof *job->slowness);
    for (uint32_t rank = 0; rank < ranks; rank++)
        job->slowness[rank] = 1;
    for (unsigned i = 0; i < list->count && good; i++)
        good = take_straggler(job, list->item[i], problem);
    return good;
}

/* Gives the ranks of a job their hosts. first: the job's first host; host: of each rank, NULL: as --place says. */
static bool place(struct schedule_plan *p, struct schedule_job *job, uint32_t first, const uint32_t *host,
                  struct hx_problem *problem)
{
    const struct traffic *t = p->traffic;
    const struct hx_settings *settings = traffic_settings(t, first);
    uint32_t ranks = schedule_ranks(job->schedule);
    if (!find_stragglers(job, &settings->straggler, problem))
        return false;
    if (ranks > t->members[first])
        return hx_fail(problem, HX_EXIT_CONFIG, job->path, "has %" PRIu32 " ranks, %s %" PRIu32 " %ss are there", ranks,
                       t->members[first] == 1 ? "only" : "but only", t->members[first], hx_host_word(t->g));
    job->host = hx_allocate(ranks, sizeof *job->host);
    if (host)
        memcpy(job->host, host, ranks * sizeof *host);
    else if (!placement_make(job->host, ranks, t, first, settings->place, job->schedule->head->dimension, problem))
        return false;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        p->rank_of[job->host[rank]] = rank;
        p->job_of[job->host[rank]] = (uint16_t)p->jobs;
    }
    return prepare(p, job, settings, problem);
}

static bool add_job(struct schedule_plan *p, uint32_t first, struct hx_problem *problem)
{
    struct schedule_job *job = &p->job[p->jobs++];
    job->tag = hx_spec_board_job(p->traffic->spec, hx_spec_board_of(p->traffic->spec, first));
    return read_job(job, traffic_settings(p->traffic, first), problem) && place(p, job, first, NULL, problem);
}

static void open_plan(struct schedule_plan *p, const struct traffic *t)
{
    *p = (struct schedule_plan){.traffic = t};
    p->job = hx_allocate(t->spec->named_jobs + 1U, sizeof *p->job);
    p->rank_of = hx_allocate(t->g->hosts, sizeof *p->rank_of);
    p->job_of = hx_allocate(t->g->hosts, sizeof *p->job_of);
}

bool schedule_plan_init(struct schedule_plan *p, const struct traffic *t, struct hx_problem *problem)
{
    open_plan(p, t);
    for (uint32_t host = 0; host < t->g->hosts; host++) {
        bool is_first = t->members[host] && t->lowest[host] == host;
        if (is_first && traffic_is_schedule(t, host) && !add_job(p, host, problem)) {
            schedule_plan_free(p);
            return false;
        }
    }
    return true;
}

bool schedule_plan_of(struct schedule_plan *p, const struct traffic *t, const struct schedule *s, const uint32_t *host,
                      const char *path, struct hx_problem *problem)
{
    uint32_t first = 0;
    open_plan(p, t);
    while (first + 1 < t->g->hosts && !t->members[first])
        first++;
    struct schedule_job *job = &p->job[p->jobs++];
    job->path = path;
    job->schedule = s;
    const bool good = place(p, job, first, host, problem);
    if (!good)
        schedule_plan_free(p);
    return good;
}

void schedule_plan_free(struct schedule_plan *p)
{
    for (unsigned i = 0; i < p->jobs; i++) {
        struct schedule_job *job = &p->job[i];
        schedule_results_free(&job->results);
        schedule_choices_free(job->choices);
        schedule_groups_free(&job->groups);
        schedule_close(job->own);
        HX_FREE(job->slowness, job->host, job->destinations, job->peers);
    }
    HX_FREE(p->job, p->rank_of, p->job_of);
    *p = (struct schedule_plan){.jobs = 0};
}

void schedule_plan_stop(struct schedule_plan *p, const atomic_bool *stop)
{
    for (unsigned i = 0; i < p->jobs; i++)
        p->job[i].executor.stop = stop;
}

uint64_t schedule_plan_memory(const struct schedule_plan *p)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < p->jobs; i++)
        bytes += p->job[i].results.bytes + p->job[i].schedule->head->operations * EXECUTOR_BYTES;
    return bytes;
}

/* ---- progress ---- */

bool schedule_plan_is_done(const struct schedule_plan *p)
{
    for (unsigned i = 0; i < p->jobs; i++) {
        const struct schedule_job *job = &p->job[i];
        for (uint32_t rank = 0; rank < schedule_ranks(job->schedule); rank++) {
            if (!job->executor.result[rank].done)
                return false;
        }
    }
    return true;
}

struct schedule_activity schedule_plan_activity(const struct schedule_plan *p)
{
    struct schedule_activity a = {0, 0, false};
    for (unsigned i = 0; i < p->jobs; i++) {
        const struct schedule_job *job = &p->job[i];
        for (uint32_t rank = 0; rank < schedule_ranks(job->schedule); rank++) {
            const struct executor_result *r = &job->executor.result[rank];
            a.any = a.any || atomic_load(&r->active);
            a.arrived += atomic_load(&r->arrived);
            a.sent += atomic_load(&r->sent);
        }
    }
    return a;
}

void schedule_plan_add(const struct schedule_plan *p, uint32_t host, struct schedule_progress *sum)
{
    const struct schedule_job *job = schedule_job_of(p, host);
    const struct executor_result *r = job ? &job->executor.result[p->rank_of[host]] : NULL;
    sum->ended += r ? atomic_load_explicit(&r->ended, memory_order_relaxed) : 0;
    sum->open += r ? atomic_load_explicit(&r->open, memory_order_relaxed) : 0;
}

double schedule_plan_operations(const struct schedule_plan *p)
{
    double all = 0;
    for (unsigned i = 0; i < p->jobs; i++)
        all += schedule_executed(p->job[i].schedule);
    return all;
}
