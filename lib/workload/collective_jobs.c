/* collective_jobs.c - plans a collective for each job (collective_jobs.h). */
#include "workload/collective_jobs.h"
#include "base/compare.h"
#include "base/value.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "schedule/schedule.h"
#include "schedule/shares.h"
#include "spec/jobs.h"
#include "workload/collective_choice.h" /* circle: the choice is made for each job of the plan */
#include "workload/layout.h"
#include "workload/placement.h"
#include "workload/ring_order.h"
#include "workload/shares_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the grid of a job ---- */

/* Living hosts of a job, where they are in the fabric. If `crossings`, member[i] is in row i / columns of the job's
 * rows. */
struct footprint {
    uint32_t *member; /* by row, then by column: ascending ranks */
    uint32_t members;
    uint32_t columns, rows;
    bool crossings;
};

/* Number of the fabric's rows or columns that have a host of the job. */
static uint32_t lines(const struct traffic *t, const struct footprint *s, bool columns)
{
    unsigned all = columns ? t->g->columns : t->g->rows;
    bool *seen = hx_allocate(all, sizeof *seen);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->members; i++) {
        struct hx_coordinate at = hx_grid_of(t->g, s->member[i]);
        count += !seen[columns ? at.addr_hi : at.addr_lo];
        seen[columns ? at.addr_hi : at.addr_lo] = true;
    }
    free(seen);
    return count;
}

/* Whether the grid is one of cables: the first host has one to its neighbours in its row and column. */
static bool is_wired(const struct footprint *s, const struct hx_fabric *g)
{
    return s->crossings && ring_order_are_joined(g, s->member[0], s->member[1]) &&
           ring_order_are_joined(g, s->member[0], s->member[s->columns]);
}

/* Hosts that are a ring have a grid of one row along it. Boards have a grid of their own. */
static void find_ring(struct footprint *s, const struct hx_fabric *g)
{
    const bool is_line = s->crossings && (s->columns == 1 || s->rows == 1);
    if (g->mesh.nodes || is_line || is_wired(s, g) || !ring_order(g, s->member, s->members))
        return;
    s->columns = s->members;
    s->rows = 1;
    s->crossings = true;
}

/* any: hosts that are no crossings get the grid nearest to a square; else only on fabrics without boards. */
static void find_grid(struct footprint *s, const struct traffic *t, const uint32_t *member, uint32_t members, bool any)
{
    s->members = members;
    s->member = hx_allocate(s->members, sizeof *s->member);
    memcpy(s->member, member, s->members * sizeof *s->member);
    qsort(s->member, s->members, sizeof *s->member, hx_compare_uint32);
    s->columns = lines(t, s, true);
    s->rows = lines(t, s, false);
    s->crossings = s->columns * s->rows == s->members;
    if (!s->crossings && any) {
        for (s->rows = 1, s->columns = 1; s->rows * s->rows <= s->members; s->rows++)
            if (s->members % s->rows == 0)
                s->columns = s->members / s->rows;
        s->rows = s->members / s->columns;
    }
    find_ring(s, t->g);
}

/* The n-th place on a walk row by row, in alternating direction. */
static uint32_t walked(uint32_t n, uint32_t columns)
{
    uint32_t row = n / columns;
    uint32_t column = row % 2 ? columns - 1 - n % columns : n % columns;
    return row * columns + column;
}

static void fill_grid(struct collective_job *job, const struct footprint *s)
{
    bool same = job->columns == s->columns && job->rows == s->rows;
    bool exchanged = s->crossings && job->columns == s->rows && job->rows == s->columns;
    for (uint32_t n = 0; n < s->members; n++) {
        if (same)
            job->host[n] = s->member[n];
        else if (exchanged)
            job->host[n] = s->member[n % job->columns * s->columns + n / job->columns];
        else
            job->host[walked(n, job->columns)] = s->member[s->crossings ? walked(n, s->columns) : n];
    }
}

/* Shape of the job's largest part that is a set of crossings. */
static struct hx_shape largest_part(const struct hx_spec *spec, uint16_t tag)
{
    struct hx_boards boards;
    struct hx_placement p;
    hx_job_boards(&boards, spec, tag);
    hx_place_largest(&p, &boards);
    struct hx_shape shape = p.shape;
    hx_placement_free(&p);
    hx_boards_free(&boards);
    return shape;
}

static bool refuse_gaps(const struct collective_job *job, const struct traffic *t, const struct footprint *s,
                        struct hx_problem *problem)
{
    const struct hx_shape part = largest_part(t->spec, job->tag);
    return hx_fail(problem, HX_EXIT_CONFIG, t->spec->source,
                   "the %u accelerators of job %u are not all crossings of %u columns and %u rows, as a collective "
                   "needs them; %ux%u boards are (%s runs it on them)",
                   s->members, job->tag, s->columns, s->rows, part.columns, part.rows,
                   hx_spec_job(t->spec, job->tag) ? "largest: true" : "--largest");
}

static bool choose_grid(struct collective_job *job, const struct traffic *t, const struct footprint *s,
                        struct hx_problem *problem)
{
    const struct hx_job *named = hx_spec_job(t->spec, job->tag);
    bool asked = named && named->grid[0];
    uint64_t columns = asked ? named->grid[0] : s->columns, rows = asked ? named->grid[1] : s->rows;
    if (asked && columns * rows != s->members)
        return hx_fail(problem, HX_EXIT_CONFIG, t->spec->source, "job %u has %u %ss, no grid of %u x %u", job->tag,
                       s->members, hx_host_word(t->g), named->grid[0], named->grid[1]);
    if (!asked && columns * rows != s->members)
        return refuse_gaps(job, t, s, problem);
    job->columns = (uint32_t)columns;
    job->rows = (uint32_t)rows;
    job->host = hx_allocate(s->members, sizeof *job->host);
    fill_grid(job, s);
    return true;
}

/* Orders the hosts as --place says. */
static bool take_place(struct collective_job *job, const struct traffic *t, uint32_t first, const char *how,
                       struct hx_problem *problem)
{
    job->placed = how != NULL;
    return !how || placement_make(job->host, t->members[first], t, first, how, NULL, problem);
}

/* ---- algorithm ---- */

/* By what the best algorithm is chosen: the loads of links, NULL: they are opened; and the groups beside. */
struct chooser {
    const struct traffic *traffic;
    struct collective_loads *loads;
    const struct collective_family *family;
    uint32_t group;
    uint64_t bytes; /* of the vector that a member has on average */
};

static void set_size(struct collective_job *job)
{
    job->config.size = job->columns * job->rows;
    job->config.window = HX_PEER_WINDOW;
    job->config.root = collective_position_of(job, job->root_host);
}

/* Takes the shares of pairs of hosts, which are in this order. */
static void take_shares(struct collective_job *job, const uint32_t *weight, const uint32_t *order)
{
    const uint32_t n = job->config.size;
    if (!weight || !job->host)
        return;
    uint32_t *position = hx_allocate(n, sizeof *position);
    job->weight = hx_allocate((size_t)n * n, sizeof *job->weight);
    for (uint32_t i = 0; i < n; i++)
        position[i] = collective_position_of(job, order[i]);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            job->weight[(size_t)position[i] * n + position[j]] = weight[(size_t)i * n + j];
    }
    free(position);
    shares_set(&job->config, job->weight);
}

void collective_job_free(struct collective_job *job)
{
    shares_free(&job->config);
    HX_FREE(job->host, job->weight);
}

/* Another group of the family, with its own root in the same place. */
static struct collective_job job_beside(const struct collective_job *job, const struct chooser *c, uint32_t group)
{
    const struct collective_family *f = c->family;
    const uint32_t *host = f->host + (size_t)group * f->size;
    const uint32_t *own = f->host + (size_t)c->group * f->size;
    struct collective_job other = *job;
    struct footprint s;
    uint32_t root = 0;
    while (root + 1 < f->size && own[root] != job->root_host)
        root++;
    find_grid(&s, c->traffic, host, f->size, true);
    other.columns = s.columns;
    other.rows = s.rows;
    other.root_host = host[root];
    other.given = job->given ? host : NULL;
    other.host = hx_allocate(f->size, sizeof *other.host);
    fill_grid(&other, &s);
    free(s.member);
    other.config.bytes = c->bytes;
    set_size(&other);
    take_shares(&other, f->weight, host);
    return other;
}

static enum hx_collective_algorithm best_alone(const struct collective_job *job, const struct traffic *t)
{
    struct collective_loads loads;
    collective_open_choice(&loads, t->g);
    loads.quiet = t->quiet;
    const enum hx_collective_algorithm best = collective_best_on(job, 1, &loads);
    collective_loads_close(&loads);
    return best;
}

static enum hx_collective_algorithm best_of(const struct collective_job *job, const struct chooser *c)
{
    if (!c->loads)
        return best_alone(job, c->traffic);
    const uint32_t jobs = c->family->count;
    struct collective_job *all = hx_allocate(jobs, sizeof *all);
    uint32_t taken = 1;
    all[0] = *job;
    for (uint32_t group = 0; group < jobs; group++) {
        if (group != c->group)
            all[taken++] = job_beside(job, c, group);
    }
    const enum hx_collective_algorithm best = collective_best_on(all, jobs, c->loads);
    for (uint32_t i = 1; i < jobs; i++)
        collective_job_free(&all[i]);
    free(all);
    return best;
}

/* The best algorithm, or the one that was asked for. */
static void choose_algorithm(struct collective_job *job, const struct chooser *c, unsigned wanted)
{
    set_size(job);
    take_shares(job, c->family->weight, c->family->host + (size_t)c->group * c->family->size);
    if (wanted == HX_ALGORITHM_BEST)
        wanted = HX_ALGORITHM_TREE + best_of(job, c);
    collective_take_algorithm(job, c->traffic->g, (enum hx_collective_algorithm)(wanted - HX_ALGORITHM_TREE));
}

static bool fail_elements(const struct collective_job *job, uint64_t unit, struct hx_problem *problem)
{
    const struct hx_collective_config *c = &job->config;
    return hx_fail(problem, HX_EXIT_USAGE, "--message",
                   "the vector of %s is of %s%s: %" PRIu64 " bytes are no multiple of %" PRIu64,
                   hx_collective_kind_names[c->kind], hx_collective_type_names[c->type],
                   unit > hx_collective_element((enum hx_collective_type)c->type) ? ", as many for each" : "", c->bytes,
                   unit);
}

/* Whole elements; of an all-to-all of equal segments as many for each. */
static bool has_whole_elements(const struct collective_job *job, struct hx_problem *problem)
{
    const struct hx_collective_config *c = &job->config;
    const unsigned element = hx_collective_element((enum hx_collective_type)c->type);
    const bool is_equal = c->kind == HX_COLLECTIVE_ALL_TO_ALL && !job->weight;
    const uint64_t unit = is_equal ? (uint64_t)element * c->size : element;
    return unit == 0 || c->bytes % unit == 0 || fail_elements(job, unit, problem);
}

/* Vectors of a job with shares have limits of their own, at each position. */
static bool has_possible_shares(const struct collective_plan *p, const struct collective_job *job,
                                struct hx_problem *problem)
{
    const double longest = shares_bytes_of(&job->config).longest;
    char text[2][HX_VALUE_TEXT];
    if (!job->weight || longest <= (double)SCHEDULE_MOST_BYTES)
        return true;
    return hx_fail(problem, HX_EXIT_CONFIG, p->traffic->spec->source,
                   "job %u: with these shares one %s has a vector of %s, and %s are the most", job->tag,
                   hx_host_word(p->traffic->g), hx_value_print_bytes(text[0], (uint64_t)longest),
                   hx_value_print_bytes(text[1], SCHEDULE_MOST_BYTES));
}

static bool is_possible(const struct collective_plan *p, const struct collective_job *job, struct hx_problem *problem)
{
    const char *where = p->traffic->spec->source;
    struct hx_collective_config small = job->config;
    const char *algorithm = hx_collective_algorithm_names[job->config.algorithm];
    const char *kind = hx_collective_kind_names[job->config.kind];
    if (!has_whole_elements(job, problem) || !has_possible_shares(p, job, problem))
        return false;
    if (shares_are_possible(&job->config))
        return true;
    small.bytes = 0;
    small.outgoing = small.incoming = NULL;
    if (hx_collective_check(&small) == HX_OK)
        return hx_fail(problem, HX_EXIT_CONFIG, where,
                       "job %u of %u %ss cannot run a collective of so many messages (use a smaller --message)",
                       job->tag, job->config.size, hx_host_word(p->traffic->g));
    if (job->config.algorithm == HX_BY_RINGS && job->config.kind <= HX_ALL_REDUCE)
        return hx_fail(
            problem, HX_EXIT_CONFIG, where,
            "job %u is a grid of %u x %u, which has no two rings without a common edge (use --algorithm ring "
            "or torus)",
            job->tag, job->columns, job->rows);
    return hx_fail(problem, HX_EXIT_CONFIG, where,
                   "job %u: no %s by %s of %u %ss on a grid of %u x %u (docs/collectives.md has a table; use "
                   "--algorithm best)",
                   job->tag, kind, algorithm, job->config.size, hx_host_word(p->traffic->g), job->columns, job->rows);
}

/* ---- jobs ---- */

static void take_places(struct collective_plan *p, const struct collective_job *job)
{
    for (uint32_t i = 0; i < job->config.size; i++) {
        p->place[job->host[i]] = i;
        p->job_of[job->host[i]] = (uint16_t)p->jobs;
    }
}

/* Chooses the algorithm of a job with its shares, which are in the order of its ranks. */
static bool choose_for_job(struct collective_job *job, const struct traffic *t, uint32_t first, unsigned wanted,
                           struct hx_problem *problem)
{
    const char *how = traffic_settings(t, first)->shares;
    const unsigned element = hx_collective_element((enum hx_collective_type)job->config.type);
    struct collective_family family = {
        .host = job->placed ? job->host : t->member + t->first[first], .size = t->members[first], .count = 1};
    const struct chooser chooser = {.traffic = t, .family = &family};
    if (!how || job->config.kind != HX_COLLECTIVE_ALL_TO_ALL) {
        choose_algorithm(job, &chooser, wanted);
        return true;
    }
    if (job->config.bytes % element)
        return fail_elements(job, element, problem);
    uint32_t *weight = shares_read(how, family.size, problem);
    if (!weight)
        return false;
    family.weight = weight;
    choose_algorithm(job, &chooser, wanted);
    free(weight);
    return true;
}

static bool add_job(struct collective_plan *p, uint32_t first, struct hx_problem *problem)
{
    const struct traffic *t = p->traffic;
    const struct hx_settings *settings = traffic_settings(t, first);
    uint32_t root = traffic_target(t, first);
    struct collective_job *job = &p->job[p->jobs++];
    struct footprint s;
    job->tag = layout_job_of(t->spec, first);
    job->config.kind = (uint8_t)(settings->pattern - HX_COLLECTIVES);
    job->config.type = (uint8_t)settings->type;
    job->config.operation = (uint8_t)settings->operation;
    job->config.bytes = job->config.kind == HX_BARRIER ? 0 : settings->message;
    find_grid(&s, t, t->member + t->first[first], t->members[first], !t->spec->a);
    bool good = choose_grid(job, t, &s, problem);
    free(s.member);
    if (!good || !take_place(job, t, first, settings->place, problem))
        return false;
    bool has_root = t->members[root] && t->first[root] == t->first[first];
    job->root_host = has_root ? root : job->host[0];
    const unsigned wanted = t->chosen ? HX_ALGORITHM_TREE + (unsigned)t->chosen[p->jobs - 1] : settings->algorithm;
    if (!choose_for_job(job, t, first, wanted, problem))
        return false;
    take_places(p, job);
    return is_possible(p, job, problem);
}

bool collective_plan_group(struct collective_job *job, const struct traffic *t, const struct collective_family *family,
                           uint32_t group, unsigned algorithm, struct collective_loads *loads,
                           struct hx_problem *problem)
{
    struct footprint s;
    const struct collective_plan p = {.traffic = t};
    const struct chooser chooser = {t, loads, family, group, job->config.bytes};
    find_grid(&s, t, family->host + (size_t)group * family->size, family->size, true);
    job->columns = s.columns;
    job->rows = s.rows;
    job->host = hx_allocate(family->size, sizeof *job->host);
    fill_grid(job, &s);
    free(s.member);
    choose_algorithm(job, &chooser, algorithm);
    return is_possible(&p, job, problem);
}

bool collective_plan_init(struct collective_plan *p, const struct traffic *t, struct hx_problem *problem)
{
    *p = (struct collective_plan){.traffic = t, .seed = t->settings.seed, .planes = t->g->planes};
    p->job = hx_allocate(hx_spec_boards(t->spec), sizeof *p->job);
    p->place = hx_allocate(t->g->hosts, sizeof *p->place);
    p->job_of = hx_allocate(t->g->hosts, sizeof *p->job_of);
    for (uint32_t rank = 0; rank < t->g->hosts; rank++) {
        bool is_first = t->members[rank] && t->member[t->first[rank]] == rank;
        if (is_first && traffic_is_collective(t, rank) && !add_job(p, rank, problem)) {
            collective_plan_free(p);
            return false;
        }
    }
    return true;
}

void collective_plan_free(struct collective_plan *p)
{
    for (unsigned i = 0; i < p->jobs; i++)
        collective_job_free(&p->job[i]);
    free(p->job);
    free(p->place);
    free(p->job_of);
    *p = (struct collective_plan){.jobs = 0};
}

/* ---- requirements ---- */

/* Sum over all ranks with a collective. */
static uint64_t total(const struct collective_plan *p, uint64_t (*of)(const struct hx_collective_config *config))
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < p->traffic->g->hosts; rank++) {
        if (!collective_job_of(p, rank))
            continue;
        const struct hx_collective_config config = collective_config(p, rank);
        sum += of(&config);
    }
    return sum;
}

uint64_t collective_messages(const struct collective_plan *p)
{
    return total(p, hx_collective_messages);
}

/* Bytes of vectors and staging. */
static uint64_t memory_of(const struct hx_collective_config *config)
{
    return config->bytes + hx_collective_staging(config);
}

static void require_memory(const struct collective_plan *p)
{
    uint64_t needed = total(p, memory_of);
    uint64_t there = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (needed > there)
        hx_die(HX_EXIT_ENVIRONMENT, p->traffic->spec->source,
               "checked vectors of all accelerators need %" PRIu64 " MiB of memory, there are %" PRIu64
               " MiB (use a smaller --message, or --no-verify)",
               needed >> 20, there >> 20);
}

uint8_t *collective_plan_require(const struct hx_spec *spec, const struct hx_settings *settings, bool quiet)
{
    struct hx_problem problem;
    struct traffic t;
    struct collective_plan p;
    traffic_init(&t, spec, hx_spec_fabric(spec), settings, NULL);
    t.quiet = quiet;
    if (!collective_plan_init(&p, &t, &problem))
        hx_die_of(&problem);
    if (p.jobs)
        hx_spec_refuse_external(spec, "a collective");
    if (settings->verify)
        require_memory(&p);
    uint8_t *chosen = hx_allocate(p.jobs + 1U, sizeof *chosen);
    for (unsigned i = 0; i < p.jobs; i++)
        chosen[i] = p.job[i].config.algorithm;
    collective_plan_free(&p);
    traffic_free(&t);
    return chosen;
}

/* ---- accelerators ---- */

const char *collective_kinds(const struct collective_plan *p)
{
    for (unsigned i = 1; i < p->jobs; i++)
        if (p->job[i].config.kind != p->job->config.kind)
            return "the collectives";
    return hx_collective_kind_names[p->job->config.kind];
}

const struct collective_job *collective_job_of(const struct collective_plan *p, uint32_t rank)
{
    return p->job_of[rank] ? &p->job[p->job_of[rank] - 1] : NULL;
}

struct hx_collective_config collective_config(const struct collective_plan *p, uint32_t rank)
{
    struct hx_collective_config config = collective_job_of(p, rank)->config;
    shares_move(&config, p->place[rank]);
    return config;
}
