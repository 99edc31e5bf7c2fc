/* collective_choice.c - chooses the best algorithm (collective_choice.h). */
#include "workload/collective_choice.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "spec/collective_model.h"
#include "topology/bounds.h"

#include <math.h>

struct hx_collective_config collective_config_of(const struct collective_job *job)
{
    return (struct hx_collective_config){.bytes = job->bytes,
                                         .chunk = job->chunk,
                                         .columns = job->columns,
                                         .rows = job->rows,
                                         .root_column = job->root_column,
                                         .root_row = job->root_row,
                                         .kind = job->kind,
                                         .algorithm = job->algorithm,
                                         .window = HX_PEER_WINDOW};
}

bool collective_has_two_rings(const struct collective_job *job)
{
    struct hx_collective_config config = collective_config_of(job);
    config.algorithm = HX_BY_RINGS;
    config.chunk = sizeof(float);
    config.bytes = 0;
    return hx_collective_check(&config) == HX_OK;
}

/* Mean latencies between accelerators that are adjacent in an algorithm, seconds. */
struct steps {
    double neighbours; /* along rows and columns */
    double tree;       /* between levels */
};

struct mean {
    double sum;
    uint32_t count;
};

static void add_pair(struct mean *m, const struct collective_job *job, const struct hx_fabric *g,
                     const struct hx_timing *timing, uint32_t from, uint32_t to)
{
    unsigned links = hx_fabric_distance(g, job->host[from], job->host[to]);
    if (links == HX_CUT_OFF || links == 0)
        return;
    m->sum += hx_model_latency(timing, links, links == 1 ? timing->trace : timing->cable);
    m->count++;
}

static double mean_of(const struct mean *m)
{
    return m->count ? m->sum / m->count : 0;
}

static struct steps steps_of(const struct collective_job *job, const struct hx_fabric *g,
                             const struct hx_timing *timing)
{
    uint32_t all = (uint32_t)job->columns * job->rows;
    struct mean neighbours = {0, 0};
    struct mean levels = {0, 0};
    for (uint32_t row = 0; row < job->rows; row++)
        for (uint32_t column = 0; column < job->columns; column++) {
            const uint32_t place = row * job->columns + column;
            if (column + 1u < job->columns)
                add_pair(&neighbours, job, g, timing, place, place + 1);
            if (row + 1u < job->rows)
                add_pair(&neighbours, job, g, timing, place, place + job->columns);
        }
    for (uint32_t far = 1; far < all; far *= 2)
        add_pair(&levels, job, g, timing, 0, far);
    return (struct steps){mean_of(&neighbours), mean_of(&levels)};
}

/* Bytes of its messages; 0: the grid does not have this algorithm, or it needs too many messages. */
static uint32_t chunk_of(struct collective_job job, unsigned planes, enum hx_collective_algorithm algorithm)
{
    bool flat = job.columns == 1 || job.rows == 1;
    if ((algorithm == HX_BY_TORUS && flat) || (algorithm == HX_BY_RINGS && !collective_has_two_rings(&job)))
        return 0;
    job.algorithm = (uint8_t)algorithm;
    struct hx_collective_config config = collective_config_of(&job);
    config.chunk = hx_collective_chunk(&config, planes);
    return hx_collective_check(&config) == HX_OK ? config.chunk : 0;
}

/* Seconds of a step. In a chain each accelerator receives a whole message before it sends it on. */
static double step_of(const struct steps *steps, const struct hx_collective_model *m, uint32_t chunk)
{
    double held = m->kind == HX_BROADCAST && m->algorithm != HX_BY_TREE ? fmin(chunk, m->bytes) : 0;
    return (m->algorithm == HX_BY_TREE ? steps->tree : steps->neighbours) + held / m->link_rate;
}

enum hx_collective_algorithm collective_best(const struct collective_job *job, const struct hx_fabric *g)
{
    static const enum hx_collective_algorithm order[] = {HX_BY_RINGS, HX_BY_TORUS, HX_BY_RING, HX_BY_TREE};
    const struct hx_timing told = HX_DEFAULT_TIMING;
    const struct hx_timing timing = hx_timing_complete(&told);
    const struct steps steps = steps_of(job, g, &timing);
    double link = (double)timing.link * 1e9 / 8 * g->planes;
    double injection = hx_fabric_injection(g, (double)timing.link) * link;
    enum hx_collective_algorithm best = HX_BY_RING;
    double least = INFINITY;
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
        struct hx_collective_model m = {.kind = job->kind,
                                        .algorithm = order[i],
                                        .columns = job->columns,
                                        .rows = job->rows,
                                        .bytes = (double)job->bytes,
                                        .link_rate = g->host_links > 1 ? link : injection,
                                        .injection = injection};
        uint32_t chunk = chunk_of(*job, g->planes, order[i]);
        m.alpha = step_of(&steps, &m, chunk);
        double seconds = hx_model_seconds(&m);
        if (!chunk || seconds >= least)
            continue;
        best = order[i];
        least = seconds;
    }
    return best;
}
