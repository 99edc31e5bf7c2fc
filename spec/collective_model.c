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

/* Segments below all edges of a binomial tree, added level by level. */
static double segments_below(double n)
{
    double sum = 0;
    for (unsigned bit = 0; ldexp(1, (int)bit) < n; bit++) {
        double size = ldexp(1, (int)bit);
        double whole = floor(n / (2 * size));
        double rest = n - whole * 2 * size - size;
        sum += whole * size + (rest > 0 ? rest : 0);
    }
    return sum;
}

double hx_model_bytes_sent(const struct hx_collective_model *m)
{
    double n = accelerators(m);
    double once = (n - 1) * m->bytes;
    bool scattered = m->kind == HX_REDUCE_SCATTER || m->kind == HX_ALL_GATHER;
    if (m->algorithm == HX_BY_TREE && scattered)
        return once + m->bytes * segments_below(n) / n;
    return once * halves(m);
}

double hx_model_steps(const struct hx_collective_model *m)
{
    bool scattered = m->kind == HX_REDUCE_SCATTER || m->kind == HX_ALL_GATHER;
    switch (m->algorithm) {
    case HX_BY_TREE:
        return levels(m) * (scattered ? 2 : halves(m));
    case HX_BY_TORUS:
        return ((double)m->columns - 1 + ((double)m->rows - 1)) * halves(m);
    default:
        return (accelerators(m) - 1) * halves(m);
    }
}

/* Bytes on a link along a dimension of c; the other has r. Two of four streams, each a quarter of the vector, go along
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
    double streams = m->algorithm == HX_BY_RING ? 2 : 4;
    if (n < 2)
        return 0;
    switch (m->algorithm) {
    case HX_BY_TREE:
        return hx_model_steps(m) * m->bytes;
    case HX_BY_TORUS:
        return fmax(torus_link_bytes(m, m->columns, m->rows), torus_link_bytes(m, m->rows, m->columns));
    default:
        return m->kind == HX_BROADCAST ? m->bytes / streams : halves(m) * m->bytes / streams * (n - 1) / n;
    }
}

double hx_model_host_bytes(const struct hx_collective_model *m)
{
    static const double streams[] = {[HX_BY_TREE] = 1, [HX_BY_RING] = 2, [HX_BY_RINGS] = 4};
    if (m->algorithm == HX_BY_TORUS)
        return 2 * (torus_link_bytes(m, m->columns, m->rows) + torus_link_bytes(m, m->rows, m->columns));
    return streams[m->algorithm] * hx_model_link_bytes(m);
}

double hx_model_seconds(const struct hx_collective_model *m)
{
    double injection = m->injection > 0 ? m->injection : 4 * m->link_rate;
    double by_link = hx_model_link_bytes(m) / m->link_rate;
    return hx_model_steps(m) * m->alpha + fmax(by_link, hx_model_host_bytes(m) / injection);
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
