/* collective_shape.c - the shape that an algorithm gives a job's group (collective_choice.h): dimensions, order,
 * stripes, chunks. */
#include "base/powers.h"
#include "hxmesh/endpoint.h"
#include "workload/collective_choice.h"

#include <string.h>

/* ---- dimensions ---- */

static void set_grid(struct collective_job *job)
{
    struct hx_collective_config *c = &job->config;
    c->dimensions = 2;
    c->dimension[0] = (struct hx_collective_dimension){job->columns, HX_BY_RING};
    c->dimension[1] = (struct hx_collective_dimension){job->rows, HX_BY_RING};
}

/* Algorithm of a hierarchy's dimension (Won et al., 2021): rings on rings, direct on full meshes, halving at
 * switches. */
static uint8_t algorithm_of(const struct hx_fabric_dimension *d)
{
    if (d->kind == HX_DIMENSION_FULL || d->size == 2)
        return HX_BY_DIRECT;
    if (d->kind == HX_DIMENSION_RING || d->kind == HX_DIMENSION_LINE)
        return HX_BY_RING;
    return hx_is_power_of_two(d->size) ? HX_BY_HALVING : HX_BY_BRUCK;
}

/* Whether positions are the hosts of the whole fabric in their order. */
static bool is_whole(const struct collective_job *job, const struct hx_fabric *g)
{
    if (job->config.size != g->hosts)
        return false;
    for (uint32_t i = 0; i < g->hosts; i++) {
        if (job->host[i] != i)
            return false;
    }
    return true;
}

static void set_dimensions(struct collective_job *job, const struct hx_fabric *g)
{
    struct hx_fabric_dimension d[HX_MAX_DIMENSIONS];
    struct hx_collective_config *c = &job->config;
    const unsigned count = is_whole(job, g) ? hx_fabric_dimensions(g, d) : 0;
    if (count == 0) {
        set_grid(job);
        return;
    }
    c->dimensions = (uint8_t)count;
    for (unsigned i = 0; i < count; i++)
        c->dimension[i] = (struct hx_collective_dimension){d[i].size, algorithm_of(&d[i])};
}

/* ---- stripes of a hierarchy: parts of the vector that are in different dimensions at one time ---- */

/* Bytes of a ring's segment: two full packets are worth a message, eight keep a link busy (50 bytes a ns: 1.3 us, about
 * the latency of a message to a neighbour). */
enum { LEAST_SEGMENT = 2 * HX_MAX_PAYLOAD, BUSY_SEGMENT = 8 * HX_MAX_PAYLOAD, FEW_STREAMS = 8 };

static uint32_t longest_ring(const struct hx_collective_config *c)
{
    uint32_t longest = 2;
    for (unsigned i = 0; i < c->dimensions; i++) {
        if (c->dimension[i].algorithm == HX_BY_RING && c->dimension[i].size > longest)
            longest = c->dimension[i].size;
    }
    return longest;
}

/* A chunk of the pipeline is two stripes, one for each direction of rings. A power of two, so that segments are equal.
 * Many stripes share the messages of a pair: their segments are twice as long. */
static uint8_t stripes_of(const struct hx_collective_config *c)
{
    const uint64_t segments = c->bytes / longest_ring(c);
    uint8_t stripes = segments / LEAST_SEGMENT < 4 ? 2 : 4;
    while (stripes < HX_COLLECTIVE_STRIPES && segments / BUSY_SEGMENT >= (stripes > FEW_STREAMS ? 4U : 2U) * stripes)
        stripes *= 2;
    return stripes;
}

/* ---- an algorithm ---- */

uint32_t collective_position_of(const struct collective_job *job, uint32_t host)
{
    uint32_t position = 0;
    while (position < job->config.size && job->host[position] != host)
        position++;
    return position < job->config.size ? position : 0;
}

/* An order that was asked for is that of the ring; else a cycle of the grid is. */
static void set_ring(struct collective_job *job)
{
    if (job->given)
        memcpy(job->host, job->given, job->config.size * sizeof *job->host);
    if (!job->given && !job->placed)
        set_grid(job);
}

void collective_take_algorithm(struct collective_job *job, const struct hx_fabric *g,
                               enum hx_collective_algorithm algorithm)
{
    struct hx_collective_config *c = &job->config;
    c->algorithm = (uint8_t)algorithm;
    c->dimensions = c->stripes = 0;
    switch (algorithm) {
    case HX_BY_RING:
    case HX_BY_CHAIN:
        set_ring(job);
        break;
    case HX_BY_RINGS:
    case HX_BY_TORUS:
    case HX_BY_SWING:
    case HX_BY_SWING_DOUBLING:
        set_grid(job);
        break;
    case HX_BY_HALVING:
    case HX_BY_DOUBLING:
        if (!job->placed)
            (void)hx_fabric_halving_order(g, job->host, c->size);
        break;
    case HX_BY_HIERARCHY:
        set_dimensions(job, g);
        c->stripes = stripes_of(c);
        break;
    default:
        break;
    }
    c->root = collective_position_of(job, job->root_host);
    c->chunk = hx_collective_chunk(c, g->planes);
    c->window = (uint8_t)hx_peer_window(g->planes);
    c->planes = (uint8_t)g->planes;
}
