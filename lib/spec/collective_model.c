/* collective_model.c - cost of collectives (spec/collective_model.h). */
#include "spec/collective_model.h"
#include "hxmesh/frame.h"

#include <math.h>

static double accelerators(const struct hx_collective_model *m)
{
    return (double)m->columns * m->rows;
}

/* An all-reduce is a reduction and a distribution; other kinds are one of them. */
static double halves(const struct hx_collective_model *m)
{
    return m->kind == HX_ALL_REDUCE ? 2 : 1;
}

static double levels(const struct hx_collective_model *m)
{
    return ceil(log2(accelerators(m)));
}

static bool is_scattered(const struct hx_collective_model *m)
{
    return m->kind == HX_REDUCE_SCATTER || m->kind == HX_ALL_GATHER;
}

/* ---- halving and doubling: other numbers than powers of two fold first ---- */

static double power_below(double n)
{
    return exp2(floor(log2(n)));
}

static double surplus(const struct hx_collective_model *m)
{
    return accelerators(m) - power_below(accelerators(m));
}

static bool is_whole(const struct hx_collective_model *m)
{
    return m->algorithm == HX_BY_DOUBLING || m->algorithm == HX_BY_SWING_DOUBLING;
}

/* Members that do not fold begin at once. The first exchange of theirs with one that does meets the fold on its
 * link. */
static double ahead(const struct hx_collective_model *m)
{
    double share = 0.5;
    if (is_whole(m))
        return m->bytes;
    for (unsigned rest = (unsigned)surplus(m); rest && rest % 2 == 0; rest /= 2)
        share /= 2;
    return share * m->bytes;
}

/* Steps of folding. If it spares half of the others, their last sums of doubling are there when the rest have
 * theirs. */
static double fold_steps(const struct hx_collective_model *m)
{
    if (surplus(m) == 0)
        return 0;
    return is_whole(m) && 2 * surplus(m) <= power_below(accelerators(m)) ? 1 : 2;
}

/* Bytes that a member of the power of two sends, without folding. */
static double exchanged(const struct hx_collective_model *m)
{
    const double n = power_below(accelerators(m));
    return is_whole(m) ? log2(n) * m->bytes : halves(m) * m->bytes * (n - 1) / n;
}

/* ---- steps and bytes ---- */

static bool is_rooted(const struct hx_collective_model *m)
{
    return m->kind == HX_BROADCAST || m->kind == HX_REDUCE;
}

/* A message fills whole blocks. */
static double in_blocks(double bytes)
{
    return ceil(bytes / HX_BLOCK) * HX_BLOCK;
}

/* Edges from the root to the furthest leaf of the double tree. */
static double binary_depth(double n)
{
    return n < 2 ? 0 : floor(log2(n - 1)) + 1;
}

double hx_model_steps(const struct hx_collective_model *m)
{
    const double n = accelerators(m);
    switch (m->algorithm) {
    case HX_BY_TREE:
        return levels(m) * (is_scattered(m) ? 2 : halves(m));
    case HX_BY_TORUS:
    case HX_BY_HIERARCHY: /* of rings */
        return ((double)m->columns - 1 + ((double)m->rows - 1)) * halves(m);
    case HX_BY_DOUBLE_TREE:
        return binary_depth(n) * halves(m);
    case HX_BY_HALVING:
    case HX_BY_SWING:
        return floor(log2(n)) * halves(m) + fold_steps(m);
    case HX_BY_DOUBLING:
    case HX_BY_SWING_DOUBLING:
        return floor(log2(n)) + fold_steps(m);
    case HX_BY_BRUCK:
        return levels(m) * halves(m);
    case HX_BY_DIRECT:
        return n > 1 ? halves(m) : 0;
    default:
        return (n - 1) * halves(m);
    }
}

/* Bytes on a link along a dimension of c; the other has r. Two of four stripes, each a quarter of the vector, go along
 * it first. The other two go second, with their remaining data. */
static double torus_link_bytes(const struct hx_collective_model *m, double c, double r)
{
    if (m->kind == HX_BROADCAST)
        return c > 1 ? m->bytes / 2 : 0;
    return halves(m) * m->bytes / 4 * (c - 1) / c * (1 + 1 / r);
}

double hx_model_link_bytes(const struct hx_collective_model *m)
{
    double n = accelerators(m);
    double stripes = m->algorithm == HX_BY_RING ? 2 : 4;
    if (n < 2)
        return 0;
    switch (m->algorithm) {
    case HX_BY_TREE:
        return hx_model_steps(m) * m->bytes;
    case HX_BY_RING:
    case HX_BY_RINGS:
        break;
    case HX_BY_TORUS:
        return fmax(torus_link_bytes(m, m->columns, m->rows), torus_link_bytes(m, m->rows, m->columns));
    default: /* spread over all links */
        return hx_model_host_bytes(m) / 4;
    }
    return m->kind == HX_BROADCAST ? m->bytes / stripes : halves(m) * m->bytes / stripes * (n - 1) / n;
}

double hx_model_host_bytes(const struct hx_collective_model *m)
{
    const double n = accelerators(m);
    switch (m->algorithm) {
    case HX_BY_TREE:
        return hx_model_link_bytes(m);
    case HX_BY_RING:
        return 2 * hx_model_link_bytes(m);
    case HX_BY_RINGS:
        return 4 * hx_model_link_bytes(m);
    case HX_BY_TORUS:
        return 2 * (torus_link_bytes(m, m->columns, m->rows) + torus_link_bytes(m, m->rows, m->columns));
    case HX_BY_CHAIN:
    case HX_BY_DOUBLE_TREE: /* halves of the vector: two children in one tree, none in the other */
        return halves(m) * m->bytes;
    case HX_BY_HALVING:
    case HX_BY_SWING:
    case HX_BY_DOUBLING:
    case HX_BY_SWING_DOUBLING:
        return exchanged(m) + (surplus(m) > 0 ? 2 * m->bytes + ahead(m) : 0);
    case HX_BY_DIRECT:
        return (n - 1) * halves(m) * in_blocks(is_rooted(m) ? m->bytes : m->bytes / n);
    default:
        return is_rooted(m) ? (n - 1) * m->bytes : halves(m) * m->bytes * (n - 1) / n;
    }
}

/* ---- pipelines: a chunk moves on when it has arrived whole ---- */

/* Either the last chunk follows the first, or the member beside the root sends every chunk in both directions. */
static double chain_seconds(const struct hx_collective_model *m, double injection)
{
    const double chunk = in_blocks(fmin(m->chunk, m->bytes)) / injection;
    const double rest = fmax(0, m->bytes / injection - chunk);
    const double both = m->kind == HX_ALL_REDUCE ? fmax(0, rest - 2 * m->alpha) : 0;
    return hx_model_steps(m) * (m->alpha + chunk) + rest + both;
}

/* A member has two children: a level takes two chunks. Then each takes as long as a member needs to send one of both
 * trees. */
static double double_tree_seconds(const struct hx_collective_model *m, double injection)
{
    const double chunk = in_blocks(fmin(m->chunk, m->bytes / 2)) / injection;
    const double chunks = ceil(m->bytes / 2 / m->chunk);
    return hx_model_steps(m) * (m->alpha + 2 * chunk) + hx_model_host_bytes(m) / injection * (chunks - 1) / chunks;
}

/* ---- swing on a torus: both directions of a dimension, all dimensions at one time ---- */

/* Step s of a stripe goes to a distance of 1, 1, 3, 5, ... in a dimension; as many messages share a link. */
static double swing_seconds(const struct hx_collective_model *m)
{
    const double all = log2(accelerators(m)), sides[] = {log2(m->columns), log2(m->rows)};
    double seconds = 0, share = m->bytes / 4;
    for (unsigned step = 0, level = 0; step < all; level++) {
        const double distance = fabs(1 - pow(-2, level + 1)) / 3;
        for (unsigned i = 0; i < 2; i++) {
            if (level >= sides[i])
                continue;
            share /= is_whole(m) ? 1 : 2;
            seconds += m->alpha + (distance - 1) * m->hop + distance * share / m->link_rate;
            step++;
        }
    }
    return is_whole(m) ? seconds : halves(m) * seconds;
}

double hx_model_seconds(const struct hx_collective_model *m)
{
    double injection = m->injection > 0 ? m->injection : 4 * m->link_rate;
    double by_link = hx_model_link_bytes(m) / m->link_rate;
    switch (m->algorithm) {
    case HX_BY_CHAIN:
        return chain_seconds(m, injection);
    case HX_BY_DOUBLE_TREE:
        return double_tree_seconds(m, injection);
    case HX_BY_SWING:
    case HX_BY_SWING_DOUBLING:
        return swing_seconds(m);
    default:
        return hx_model_steps(m) * m->alpha + fmax(by_link, hx_model_host_bytes(m) / injection);
    }
}

/* ---- hierarchy ---- */

static double steps_along(const struct hx_model_dimension *d)
{
    const struct hx_collective_model line = {
        .kind = HX_REDUCE_SCATTER, .algorithm = d->algorithm, .columns = d->size, .rows = 1};
    return hx_model_steps(&line);
}

double hx_model_hierarchy(const struct hx_model_dimension *dimension, unsigned dimensions, double bytes,
                          unsigned chunks)
{
    double once = 0, left = bytes / chunks, slowest = 0, seconds = 0;
    for (unsigned i = 0; i < dimensions; i++) {
        const struct hx_model_dimension *d = &dimension[i];
        const double busy = 2 * left * (d->size - 1) / d->size / d->rate;
        const double latency = 2 * steps_along(d) * d->alpha;
        seconds = fmax(seconds, once + latency + chunks * busy);
        slowest = fmax(slowest, busy);
        once += latency + busy;
        left /= d->size;
    }
    return fmax(seconds, once + (chunks - 1) * slowest / 2);
}

double hx_model_share(const struct hx_collective_model *m)
{
    return m->bytes / hx_model_seconds(m) / (2 * m->link_rate);
}

double hx_model_latency(const struct hx_timing *t, double cables, uint64_t cable_ns)
{
    double block = HX_BLOCK * 8 / (double)t->link;
    double hop = (double)t->output + block + (double)cable_ns + (double)t->input;
    return (block / 4 + (double)t->input + cables * hop + (double)t->output) * 1e-9;
}
