/* collective_plan.c - plans a collective for each job (collective_plan.h). */
#include "workload/collective_plan.h"
#include "base/compare.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "spec/jobs.h"
#include "workload/collective_choice.h" /* circle: the choice is made for each job of the plan */
#include "workload/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const collective_algorithm_names[] = {
    [HX_BY_TREE] = "tree", [HX_BY_RING] = "ring", [HX_BY_RINGS] = "rings", [HX_BY_TORUS] = "torus"};

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

static bool refuse_holes(const struct collective_job *job, const struct traffic *t, const struct footprint *s,
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
        return refuse_holes(job, t, s, problem);
    job->columns = (uint16_t)columns;
    job->rows = (uint16_t)rows;
    job->host = hx_allocate(s->members, sizeof *job->host);
    fill_grid(job, s);
    return true;
}

/* ---- algorithm ---- */

static void choose_algorithm(struct collective_job *job, const struct hx_fabric *g, unsigned wanted)
{
    job->algorithm = (uint8_t)(wanted == HX_ALGORITHM_BEST ? collective_best(job, g) : wanted - HX_ALGORITHM_TREE);
    const struct hx_collective_config config = collective_config_of(job);
    job->chunk = hx_collective_chunk(&config, g->planes);
}

static bool is_possible(const struct collective_plan *p, const struct collective_job *job, struct hx_problem *problem)
{
    const char *where = p->traffic->spec->source;
    const struct hx_collective_config config = collective_config_of(job);
    struct hx_collective c;
    if (job->algorithm == HX_BY_RINGS && !collective_has_two_rings(job))
        return hx_fail(
            problem, HX_EXIT_CONFIG, where,
            "job %u is a grid of %u x %u, which has no two rings without a common edge (use --algorithm ring "
            "or torus)",
            job->tag, job->columns, job->rows);
    if (hx_collective_init(&c, &config, NULL, NULL))
        return hx_fail(problem, HX_EXIT_CONFIG, where,
                       "job %u of %u x %u accelerators cannot run a collective of so many messages (use a smaller "
                       "--message)",
                       job->tag, job->columns, job->rows);
    return true;
}

/* ---- jobs ---- */

static void take_places(struct collective_plan *p, const struct collective_job *job)
{
    for (uint32_t i = 0; i < (uint32_t)job->columns * job->rows; i++) {
        p->place[job->host[i]] = i;
        p->job_of[job->host[i]] = (uint16_t)p->jobs;
    }
}

static bool add_job(struct collective_plan *p, uint32_t first, struct hx_problem *problem)
{
    const struct traffic *t = p->traffic;
    const struct hx_settings *settings = traffic_settings(t, first);
    uint32_t root = traffic_target(t, first);
    struct collective_job *job = &p->job[p->jobs++];
    struct footprint s;
    job->tag = layout_job_of(t->spec, first);
    job->kind = (uint8_t)(settings->pattern - HX_COLLECTIVES);
    job->bytes = settings->message;
    find_grid(&s, t, t->member + t->first[first], t->members[first], !t->spec->a);
    bool good = choose_grid(job, t, &s, problem);
    free(s.member);
    if (!good)
        return false;
    take_places(p, job);
    if (t->members[root] && t->first[root] == t->first[first]) {
        job->root_column = (uint16_t)(p->place[root] % job->columns);
        job->root_row = (uint16_t)(p->place[root] / job->columns);
    }
    choose_algorithm(job, t->g, settings->algorithm);
    return is_possible(p, job, problem);
}

bool collective_plan_group(struct collective_job *job, const struct traffic *t, const uint32_t *host, uint32_t hosts,
                           unsigned algorithm, struct hx_problem *problem)
{
    struct footprint s;
    const struct collective_plan p = {.traffic = t};
    find_grid(&s, t, host, hosts, true);
    job->columns = (uint16_t)s.columns;
    job->rows = (uint16_t)s.rows;
    job->host = hx_allocate(hosts, sizeof *job->host);
    fill_grid(job, &s);
    free(s.member);
    for (uint32_t place = 0; place < hosts; place++) {
        if (job->host[place] != job->root_host)
            continue;
        job->root_column = (uint16_t)(place % job->columns);
        job->root_row = (uint16_t)(place / job->columns);
    }
    choose_algorithm(job, t->g, algorithm);
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
        free(p->job[i].host);
    free(p->job);
    free(p->place);
    free(p->job_of);
    *p = (struct collective_plan){.jobs = 0};
}

/* ---- requirements ---- */

static void require_floats(const struct traffic *t)
{
    for (uint32_t rank = 0; rank < t->g->hosts; rank++) {
        const struct hx_settings *s = traffic_settings(t, rank);
        if (t->members[rank] && s->pattern >= HX_COLLECTIVES && s->message % sizeof(float))
            hx_die(HX_EXIT_USAGE, "--message", "the vector of %s is of float32: %" PRIu64 " bytes are no multiple of 4",
                   hx_pattern_names[s->pattern], s->message);
    }
}

static void require_memory(const struct collective_plan *p)
{
    uint64_t needed = collective_memory(p);
    uint64_t there = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (needed > there)
        hx_die(HX_EXIT_ENVIRONMENT, p->traffic->spec->source,
               "checked vectors of all accelerators need %" PRIu64 " MiB of memory, there are %" PRIu64
               " MiB (use a smaller --message, or --no-verify)",
               needed >> 20, there >> 20);
}

void collective_plan_require(const struct hx_spec *spec, const struct hx_settings *settings)
{
    struct hx_problem problem;
    struct traffic t;
    struct collective_plan p;
    traffic_init(&t, spec, hx_spec_fabric(spec), settings, NULL);
    require_floats(&t);
    if (!collective_plan_init(&p, &t, &problem))
        hx_die_of(&problem);
    if (p.jobs)
        hx_spec_refuse_external(spec, "a collective");
    if (settings->verify)
        require_memory(&p);
    collective_plan_free(&p);
    traffic_free(&t);
}

/* ---- accelerators ---- */

const char *collective_kinds(const struct collective_plan *p)
{
    for (unsigned i = 1; i < p->jobs; i++)
        if (p->job[i].kind != p->job->kind)
            return "the collectives";
    return hx_pattern_names[HX_COLLECTIVES + p->job->kind];
}

const struct collective_job *collective_job_of(const struct collective_plan *p, uint32_t rank)
{
    return p->job_of[rank] ? &p->job[p->job_of[rank] - 1] : NULL;
}

struct hx_collective_config collective_config(const struct collective_plan *p, uint32_t rank)
{
    const struct collective_job *job = collective_job_of(p, rank);
    struct hx_collective_config config = collective_config_of(job);
    config.column = (uint16_t)(p->place[rank] % job->columns);
    config.row = (uint16_t)(p->place[rank] / job->columns);
    return config;
}

uint64_t collective_messages(const struct collective_plan *p)
{
    uint64_t reports = 0; /* each message is reported twice: received and sent */
    for (uint32_t rank = 0; rank < p->traffic->g->hosts; rank++) {
        struct hx_collective c;
        if (!collective_job_of(p, rank))
            continue;
        const struct hx_collective_config config = collective_config(p, rank);
        if (hx_collective_init(&c, &config, NULL, NULL) == HX_OK)
            reports += c.left;
    }
    return reports / 2;
}

uint64_t collective_memory(const struct collective_plan *p)
{
    uint64_t bytes = 0;
    for (uint32_t rank = 0; rank < p->traffic->g->hosts; rank++) {
        if (!collective_job_of(p, rank))
            continue;
        const struct hx_collective_config config = collective_config(p, rank);
        bytes += config.bytes + hx_collective_staging(&config);
    }
    return bytes;
}
