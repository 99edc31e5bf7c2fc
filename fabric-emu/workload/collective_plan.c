/* collective_plan.c - a collective for each job of a fabric (collective_plan.h). */
#include "fabric-emu/workload/collective_plan.h"
#include "fabric-emu/layout.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

const char *const collective_algorithm_names[] = {
    [HX_BY_TREE] = "tree", [HX_BY_RING] = "ring", [HX_BY_RINGS] = "rings", [HX_BY_TORUS] = "torus"};

/* ---- the grid of a job ---- */

/* Coordinates that occur, ascending; returns how many. */
static uint16_t gather(const struct traffic *t, const uint32_t *member, uint32_t members, bool columns, uint16_t *list)
{
    unsigned all = columns ? t->g->columns : t->g->rows;
    bool *seen = hx_allocate(all, sizeof *seen);
    uint16_t count = 0;
    for (uint32_t i = 0; i < members; i++) {
        struct hx_coordinate at = hx_grid_of(t->g, member[i]);
        seen[columns ? at.d0 : at.d1] = true;
    }
    for (unsigned i = 0; i < all; i++) {
        if (seen[i])
            list[count++] = (uint16_t)i;
    }
    free(seen);
    return count;
}

static uint16_t index_in(const uint16_t *list, uint16_t count, unsigned value)
{
    uint16_t i = 0;
    while (i < count && list[i] != value)
        i++;
    return i;
}

/* ---- algorithm ---- */

static struct hx_collective_config config_of(const struct collective_plan *p, const struct collective_job *job)
{
    return (struct hx_collective_config){.bytes = p->bytes,
                                         .chunk = job->chunk,
                                         .columns = job->columns,
                                         .rows = job->rows,
                                         .root_column = job->root_column,
                                         .root_row = job->root_row,
                                         .kind = (uint8_t)p->kind,
                                         .algorithm = job->algorithm,
                                         .window = HX_PEER_WINDOW,
                                         .gx = job->gx,
                                         .gy = job->gy};
}

static bool has_two_rings(const struct collective_plan *p, const struct collective_job *job)
{
    struct hx_collective_config config = config_of(p, job);
    config.algorithm = HX_BY_RINGS;
    config.chunk = sizeof(float);
    config.bytes = 0;
    return hx_collective_check(&config) == HX_OK;
}

/* As enum hx_algorithm has it. A grid without two rings is one wide, or two wide and odd. */
static void choose_algorithm(struct collective_plan *p, struct collective_job *job)
{
    unsigned wanted = p->traffic->settings.algorithm;
    enum hx_collective_algorithm best = has_two_rings(p, job)               ? HX_BY_RINGS
                                        : job->columns > 1 && job->rows > 1 ? HX_BY_TORUS
                                                                            : HX_BY_RING;
    job->algorithm = (uint8_t)(wanted == HX_ALGORITHM_BEST ? best : wanted - HX_ALGORITHM_TREE);
    const struct hx_collective_config config = config_of(p, job);
    job->chunk = hx_collective_chunk(&config, p->planes);
}

static bool is_possible(const struct collective_plan *p, const struct collective_job *job, struct hx_problem *problem)
{
    const char *where = p->traffic->spec->source;
    const struct hx_collective_config config = config_of(p, job);
    struct hx_collective c;
    if (job->algorithm == HX_BY_RINGS && !has_two_rings(p, job))
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

static bool add_job(struct collective_plan *p, uint32_t first, uint32_t root, struct hx_problem *problem)
{
    const struct traffic *t = p->traffic;
    const uint32_t *member = t->member + t->first[first];
    uint32_t members = t->members[first];
    struct collective_job *job = &p->job[p->jobs++];
    job->tag = layout_job_of(t->spec, first);
    job->gx = hx_allocate(t->g->columns, sizeof *job->gx);
    job->gy = hx_allocate(t->g->rows, sizeof *job->gy);
    job->columns = gather(t, member, members, true, job->gx);
    job->rows = gather(t, member, members, false, job->gy);
    if ((uint32_t)job->columns * job->rows != members)
        return hx_fail(problem, HX_EXIT_CONFIG, t->spec->source,
                       "the %u accelerators of job %u are not all crossings of %u columns and %u rows, as a collective "
                       "needs them",
                       members, job->tag, job->columns, job->rows);
    const struct hx_coordinate root_at = hx_grid_of(t->g, root);
    if (t->members[root] && t->first[root] == t->first[first]) {
        job->root_column = index_in(job->gx, job->columns, root_at.d0);
        job->root_row = index_in(job->gy, job->rows, root_at.d1);
    }
    choose_algorithm(p, job);
    return is_possible(p, job, problem);
}

bool collective_plan_init(struct collective_plan *p, const struct traffic *t, uint32_t root, struct hx_problem *problem)
{
    *p = (struct collective_plan){.traffic = t,
                                  .kind = (enum hx_collective_kind)(t->settings.pattern - HX_COLLECTIVES),
                                  .bytes = t->settings.message,
                                  .seed = t->settings.seed,
                                  .planes = t->g->planes};
    p->job = hx_allocate(hx_spec_boards(t->spec), sizeof *p->job);
    for (uint32_t rank = 0; rank < t->g->hosts; rank++) {
        bool is_first = t->members[rank] && t->member[t->first[rank]] == rank;
        if (is_first && !add_job(p, rank, root, problem)) {
            collective_plan_free(p);
            return false;
        }
    }
    return true;
}

void collective_plan_free(struct collective_plan *p)
{
    for (unsigned i = 0; i < p->jobs; i++) {
        free(p->job[i].gx);
        free(p->job[i].gy);
    }
    free(p->job);
    p->job = NULL;
    p->jobs = 0;
}

/* ---- what can be asked ---- */

static void require_floats(const struct hx_settings *settings)
{
    if (settings->message % sizeof(float))
        hx_die(HX_EXIT_USAGE, "--message", "the vector of %s is of float32: %" PRIu64 " bytes are no multiple of 4",
               hx_pattern_names[settings->pattern], settings->message);
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

void collective_plan_require(const struct hx_spec *spec, const struct hx_settings *settings, uint32_t root)
{
    struct hx_problem problem;
    struct traffic t;
    struct collective_plan p;
    require_floats(settings);
    traffic_init(&t, spec, hx_spec_fabric(spec), settings, NULL);
    if (!collective_plan_init(&p, &t, root, &problem))
        hx_die_of(&problem);
    if (settings->verify)
        require_memory(&p);
    collective_plan_free(&p);
    traffic_free(&t);
}

/* ---- accelerators ---- */

const struct collective_job *collective_job_of(const struct collective_plan *p, uint32_t rank)
{
    const struct traffic *t = p->traffic;
    if (t->members[rank] == 0)
        return NULL;
    uint16_t tag = layout_job_of(t->spec, rank);
    unsigned i = 0;
    while (p->job[i].tag != tag)
        i++;
    return &p->job[i];
}

struct hx_collective_config collective_config(const struct collective_plan *p, uint32_t rank)
{
    const struct collective_job *job = collective_job_of(p, rank);
    const struct hx_coordinate at = hx_grid_of(p->traffic->g, rank);
    struct hx_collective_config config = config_of(p, job);
    config.column = index_in(job->gx, job->columns, at.d0);
    config.row = index_in(job->gy, job->rows, at.d1);
    return config;
}

uint64_t collective_messages(const struct collective_plan *p)
{
    uint64_t reports = 0; /* of every message one that it came, one that it went */
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
