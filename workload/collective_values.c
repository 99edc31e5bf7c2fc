/* collective_values.c - contents of vectors (collective_values.h). */
#include "workload/collective_values.h"
#include "workload/random.h"

#include <math.h>
#include <string.h>

enum purpose { FOR_ELEMENTS = 101, FOR_WEIGHTS };
enum { MOST_ELEMENT = 255, EXACT = 1 << 24, MOST_WEIGHT = 4096 };

static uint32_t weight(const struct collective_values *v, uint32_t rank)
{
    return 1 + random_below(random_of(v->seed, FOR_WEIGHTS, rank), v->most_weight);
}

static float element(const struct collective_values *v, uint64_t index)
{
    uint32_t drawn = random_below(random_of(v->seed, FOR_ELEMENTS, index), 2 * MOST_ELEMENT);
    return (float)drawn - (float)(drawn < MOST_ELEMENT ? MOST_ELEMENT : MOST_ELEMENT - 1);
}

struct collective_values collective_values_of(const struct collective_plan *p, const struct collective_job *job)
{
    uint32_t n = (uint32_t)job->columns * job->rows;
    uint32_t most = EXACT / MOST_ELEMENT / n;
    struct collective_values v = {.kind = (enum hx_collective_kind)job->kind,
                                  .seed = p->seed ^ job->tag,
                                  .ranks = n,
                                  .root = (uint32_t)job->root_row * job->columns + job->root_column,
                                  .most_weight = most < 1             ? 1
                                                 : most > MOST_WEIGHT ? MOST_WEIGHT
                                                                      : most};
    for (uint32_t rank = 0; rank < n; rank++)
        v.weights += weight(&v, rank);
    return v;
}

void collective_values_write(const struct collective_values *v, const struct hx_collective *c, float *vector)
{
    uint64_t elements = c->config.bytes / sizeof *vector;
    uint32_t rank = (uint32_t)c->config.row * c->config.columns + c->config.column;
    float own = v->kind == HX_ALL_GATHER ? 1 : (float)weight(v, rank);
    for (uint64_t i = 0; i < elements; i++)
        vector[i] = v->kind == HX_ALL_GATHER ? NAN : element(v, i) * own;
    uint64_t offset, bytes;
    for (unsigned n = 0; v->kind == HX_ALL_GATHER && hx_collective_piece(c, n, &offset, &bytes); n++) {
        for (uint64_t i = offset / sizeof *vector; i < (offset + bytes) / sizeof *vector; i++)
            vector[i] = element(v, i);
    }
}

static float factor(const struct collective_values *v)
{
    switch (v->kind) {
    case HX_BROADCAST:
        return (float)weight(v, v->root);
    case HX_ALL_GATHER:
        return 1;
    default:
        return (float)v->weights;
    }
}

static uint64_t wrong_bytes(float is, float should)
{
    if (is == should)
        return 0;
    uint8_t a[sizeof is], b[sizeof should];
    uint64_t wrong = 0;
    memcpy(a, &is, sizeof is);
    memcpy(b, &should, sizeof should);
    for (unsigned i = 0; i < sizeof a; i++)
        wrong += a[i] != b[i];
    return wrong;
}

uint64_t collective_values_wrong(const struct collective_values *v, const struct hx_collective *c, const float *vector)
{
    float by = factor(v);
    uint64_t wrong = 0;
    uint64_t offset = 0;
    uint64_t bytes = c->config.bytes;
    bool part = v->kind == HX_REDUCE_SCATTER;
    for (unsigned n = 0; part ? hx_collective_piece(c, n, &offset, &bytes) : n == 0; n++) {
        for (uint64_t i = offset / sizeof *vector; i < (offset + bytes) / sizeof *vector; i++)
            wrong += wrong_bytes(vector[i], element(v, i) * by);
    }
    return wrong;
}
