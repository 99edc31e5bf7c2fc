/* collective_values.c - contents of vectors (collective_values.h). */
#include "workload/collective_values.h"
#include "schedule/shares.h"
#include "workload/random.h"

#include <string.h>

enum purpose { FOR_ELEMENTS = 101, FOR_WEIGHTS };
enum { MOST_ELEMENT = 255, MOST_WEIGHT = 4096, MOST_COMPARED = 63 };

/* Integers up to this are exact. */
static uint32_t exact(enum hx_collective_type type)
{
    return type == HX_BFLOAT16 ? 1U << 8 : type == HX_FLOAT16 ? 1U << 11 : 1U << 24;
}

static bool is_reduction(unsigned kind)
{
    return kind == HX_ALL_REDUCE || kind == HX_REDUCE || kind == HX_REDUCE_SCATTER;
}

static bool is_compared(const struct hx_collective_config *c)
{
    return is_reduction(c->kind) && c->operation != HX_SUM;
}

static bool is_short(const struct hx_collective_config *c)
{
    return c->type == HX_FLOAT16 || c->type == HX_BFLOAT16;
}

/* ---- drawn numbers ---- */

/* Short floats: 1 or -1, so that sums of any part of the ranks stay small; of very many ranks, most have 0. */
static int64_t short_weight(const struct collective_values *v, uint64_t drawn)
{
    enum { SUMMED = 1024 };
    if (v->job->config.size > SUMMED && random_below(drawn >> 8, v->job->config.size) >= SUMMED)
        return 0;
    return drawn & 1 ? 1 : -1;
}

static int64_t weight(const struct collective_values *v, uint32_t position)
{
    const struct hx_collective_config *c = &v->job->config;
    const uint64_t drawn = random_of(v->seed, FOR_WEIGHTS, position);
    if (is_compared(c))
        return random_below(drawn, MOST_COMPARED + 1);
    return is_short(c) ? short_weight(v, drawn) : 1 + random_below(drawn, v->most_weight);
}

static int64_t element(const struct collective_values *v, uint64_t index)
{
    const int64_t most = v->most_element;
    const uint64_t drawn = random_of(v->seed, FOR_ELEMENTS, index);
    if (is_compared(&v->job->config))
        return random_below(drawn, MOST_COMPARED + 1);
    const int64_t number = random_below(drawn, 2 * v->most_element);
    return number - (number < most ? most : most - 1);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void combine_weights(struct collective_values *v)
{
    const struct hx_collective_config *c = &v->job->config;
    v->weights = weight(v, 0);
    for (uint32_t position = 1; position < c->size; position++) {
        const int64_t one = weight(v, position);
        v->weights = c->operation == HX_SUM   ? v->weights + one
                     : c->operation == HX_MAX ? larger(v->weights, one)
                                              : -larger(-v->weights, -one);
    }
}

struct collective_values collective_values_of(const struct collective_plan *p, const struct collective_job *job)
{
    const uint32_t n = job->config.size;
    const uint32_t all = exact((enum hx_collective_type)job->config.type);
    struct collective_values v = {.job = job, .seed = p->seed ^ job->tag};
    v.most_element = is_short(&job->config) ? 1 : n > all / MOST_ELEMENT ? all / n : MOST_ELEMENT;
    v.most_element = v.most_element ? v.most_element : 1;
    const uint32_t most = all / v.most_element / n;
    v.most_weight = most < 1 ? 1 : most > MOST_WEIGHT ? MOST_WEIGHT : most;
    combine_weights(&v);
    return v;
}

/* ---- elements as bytes ---- */

/* A small integer as a float of 16 bits: sign, exponent, `digits` bits of fraction. */
static uint16_t short_float(int64_t value, unsigned digits, unsigned bias)
{
    const uint64_t size = (uint64_t)(value < 0 ? -value : value);
    if (size == 0)
        return 0;
    const unsigned exponent = 63U - (unsigned)__builtin_clzll(size);
    const uint64_t fraction = exponent <= digits ? size << (digits - exponent) : size >> (exponent - digits);
    return (uint16_t)((value < 0 ? 0x8000U : 0U) | (exponent + bias) << digits | (fraction & ((1U << digits) - 1)));
}

static void encode(enum hx_collective_type type, int64_t value, uint8_t to[sizeof(uint64_t)])
{
    const float single = (float)value;
    const double twice = (double)value;
    uint16_t half = 0;
    switch (type) {
    case HX_FLOAT32:
        memcpy(to, &single, sizeof single);
        return;
    case HX_FLOAT64:
        memcpy(to, &twice, sizeof twice);
        return;
    case HX_FLOAT16:
        half = short_float(value, 10, 15);
        break;
    case HX_BFLOAT16:
        half = short_float(value, 7, 127);
        break;
    default: /* the low bytes: sums wrap */
        memcpy(to, &value, sizeof value);
        return;
    }
    memcpy(to, &half, sizeof half);
}

/* ---- before ---- */

static int64_t value(const struct collective_values *v, uint64_t index, int64_t by)
{
    return is_compared(&v->job->config) ? element(v, index) + by : element(v, index) * by;
}

static bool is_gathered(unsigned kind)
{
    return kind == HX_ALL_GATHER || kind == HX_GATHER;
}

void collective_values_write(const struct collective_values *v, const struct hx_collective_config *config,
                             uint8_t *vector)
{
    const enum hx_collective_type type = (enum hx_collective_type)config->type;
    const unsigned bytes = hx_collective_element(type);
    const int64_t own = is_gathered(config->kind) ? 1 : weight(v, config->position);
    uint8_t one[sizeof(uint64_t)];
    for (uint64_t i = 0; i < config->bytes / bytes; i++) {
        encode(type, value(v, i, own), one);
        memcpy(vector + i * bytes, one, bytes);
    }
}

void collective_values_keep_pieces(const struct collective_values *v, const struct hx_collective *c, uint8_t *vector)
{
    enum { NOTHING = 0xFF }; /* of floats: NaN */
    uint64_t kept = 0;
    (void)v;
    if (!is_gathered(c->config.kind))
        return;
    while (kept < c->config.bytes) { /* up to the next piece, pieces are in no order */
        uint64_t offset, bytes;
        uint64_t begin = c->config.bytes;
        uint64_t end = begin;
        for (unsigned n = 0; hx_collective_piece(c, n, &offset, &bytes); n++) {
            if (bytes && offset >= kept && offset < begin) {
                begin = offset;
                end = offset + bytes;
            }
        }
        memset(vector + kept, NOTHING, begin - kept);
        kept = end;
    }
}

/* ---- after ---- */

static uint64_t wrong_bytes(const struct collective_values *v, int64_t should, const uint8_t *is)
{
    const enum hx_collective_type type = (enum hx_collective_type)v->job->config.type;
    uint8_t expected[sizeof(uint64_t)];
    uint64_t wrong = 0;
    encode(type, should, expected);
    for (unsigned i = 0; i < hx_collective_element(type); i++)
        wrong += is[i] != expected[i];
    return wrong;
}

static int64_t factor(const struct collective_values *v)
{
    const struct hx_collective_config *c = &v->job->config;
    if (is_reduction(c->kind))
        return v->weights;
    return is_gathered(c->kind) ? 1 : weight(v, c->root);
}

static uint64_t wrong_in_range(const struct collective_values *v, const uint8_t *vector, uint64_t offset,
                               uint64_t bytes)
{
    const unsigned one = hx_collective_element((enum hx_collective_type)v->job->config.type);
    const int64_t by = factor(v);
    uint64_t wrong = 0;
    for (uint64_t i = offset / one; i < (offset + bytes) / one; i++)
        wrong += wrong_bytes(v, value(v, i, by), vector + i * one);
    return wrong;
}

/* Of an all-to-all: segment `position` of the vector of each rank. */
static uint64_t wrong_in_exchange(const struct collective_values *v, uint32_t position, const uint8_t *staging)
{
    struct hx_collective_config c = v->job->config;
    const unsigned one = hx_collective_element((enum hx_collective_type)c.type);
    uint64_t each = c.bytes / one / c.size;
    uint64_t wrong = 0;
    for (uint32_t from = 0; from < c.size; from++) {
        const int64_t by = weight(v, from);
        uint64_t first = position * each;
        shares_move(&c, from);
        if (c.outgoing) {
            first = c.outgoing[position];
            each = c.outgoing[position + 1] - first;
        }
        for (uint64_t i = 0; i < each; i++)
            wrong += wrong_bytes(v, value(v, first + i, by), staging + i * one);
        staging += each * one;
    }
    return wrong;
}

uint64_t collective_values_wrong(const struct collective_values *v, const struct hx_collective *c,
                                 const uint8_t *result)
{
    const unsigned kind = c->config.kind;
    bool parts = kind == HX_REDUCE_SCATTER || kind == HX_SCATTER;
    bool at_root = kind == HX_REDUCE || kind == HX_GATHER;
    uint64_t wrong = 0;
    uint64_t offset, bytes;
    if (kind == HX_COLLECTIVE_ALL_TO_ALL)
        return wrong_in_exchange(v, c->config.position, result);
    if (!parts)
        return at_root && c->config.position != c->config.root ? 0 : wrong_in_range(v, result, 0, c->config.bytes);
    for (unsigned n = 0; hx_collective_piece(c, n, &offset, &bytes); n++)
        wrong += wrong_in_range(v, result, offset, bytes);
    return wrong;
}
