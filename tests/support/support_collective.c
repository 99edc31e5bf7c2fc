/* support_collective.c - vectors of a collective and their check (support_collective.h). */
#include "tests/support/support_collective.h"
#include "hxmesh/error.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { GUARD = 32, GUARD_VALUE = 0xA5 };

static uint8_t *guarded(uint64_t bytes)
{
    uint8_t *memory = lab_memory(bytes + 2 * GUARD);
    memset(memory, GUARD_VALUE, GUARD);
    memset(memory + GUARD + bytes, GUARD_VALUE, GUARD);
    return memory + GUARD;
}

static void validate_guards(const uint8_t *within, uint64_t bytes)
{
    for (unsigned i = 0; i < GUARD; i++)
        assert_true(within[-1 - (int)i] == GUARD_VALUE && within[bytes + i] == GUARD_VALUE);
}

/* ---- elements ---- */

/* 16-bit floats of small integers, by their definition: value = 1.fraction * 2^exponent. */
static uint16_t small_float(int64_t value, unsigned fraction_bits, unsigned bias)
{
    const unsigned sign = value < 0 ? 0x8000U : 0;
    uint64_t size = (uint64_t)(value < 0 ? -value : value);
    unsigned exponent = 0;
    if (size == 0)
        return 0;
    while (size >> (exponent + 1))
        exponent++;
    assert_true(exponent <= fraction_bits || (size & ((1U << (exponent - fraction_bits)) - 1)) == 0);
    uint64_t fraction =
        (exponent <= fraction_bits ? size << (fraction_bits - exponent) : size >> (exponent - fraction_bits));
    return (uint16_t)(sign | (exponent + bias) << fraction_bits | (fraction & ((1U << fraction_bits) - 1)));
}

static void encode(const struct ensemble *e, int64_t value, uint8_t *to)
{
    float single = (float)value;
    double twice = (double)value;
    uint16_t half;
    switch (e->plan.config.type) {
    case HX_FLOAT32:
        memcpy(to, &single, sizeof single);
        break;
    case HX_FLOAT64:
        memcpy(to, &twice, sizeof twice);
        break;
    case HX_FLOAT16:
        half = small_float(value, 10, 15);
        memcpy(to, &half, sizeof half);
        break;
    case HX_BFLOAT16:
        half = small_float(value, 7, 127);
        memcpy(to, &half, sizeof half);
        break;
    default:
        memcpy(to, &value, e->element); /* the low bytes: sums wrap */
    }
}

/* Value of an element at a player, drawn from the seed. Sums of 256 players are exact in bfloat16. */
static int64_t value_of(const struct ensemble *e, unsigned player, uint64_t element)
{
    uint64_t random = e->plan.seed ^ (player + (uint64_t)1) * 0x9E3779B97F4A7C15U ^ (element + 1) * 0xC2B2AE3D27D4EB4FU;
    bool is_signed =
        e->plan.config.type != HX_UINT8 && e->plan.config.type != HX_UINT32 && e->plan.config.type != HX_UINT64;
    int64_t drawn = seeded_below(&random, 3);
    return is_signed ? drawn - 1 : drawn;
}

static void draw_values(const struct ensemble *e, struct player *p, uint64_t elements, unsigned as)
{
    uint64_t random = e->plan.seed ^ as;
    for (uint64_t i = 0; i < elements; i++) {
        if (e->plan.whole) {
            encode(e, value_of(e, as, i), p->before + i * e->element);
        } else {
            float number = ((float)seeded_below(&random, 2001) - 1000) / 997 * (float)(1 + seeded_below(&random, 1000));
            memcpy(p->before + i * e->element, &number, sizeof number);
        }
    }
}

/* ---- players ---- */

/* Each player keeps its pieces of one vector; the rest is arbitrary. */
static void keep_pieces(const struct player *p)
{
    uint64_t offset, bytes;
    memset(p->vector, 0xFF, p->vector_bytes);
    for (unsigned i = 0; hx_collective_piece(&p->c, i, &offset, &bytes); i++)
        memcpy(p->vector + offset, p->before + offset, bytes);
}

/* Sizes of the pairs: from 0 to thrice the equal segment. */
static uint32_t pair_size(const struct ensemble *e, unsigned from, unsigned to)
{
    uint64_t random = e->plan.seed ^ (from * (uint64_t)8191 + to + 1) * 0x9E3779B97F4A7C15U;
    uint64_t equal = e->plan.config.bytes / e->element / e->n;
    return seeded_below(&random, (uint32_t)(3 * equal + 2));
}

static void set_pairs(const struct ensemble *e, struct player *p, unsigned index)
{
    p->outgoing = lab_memory((e->n + 1) * sizeof *p->outgoing);
    p->incoming = lab_memory((e->n + 1) * sizeof *p->incoming);
    for (unsigned i = 0; i < e->n; i++) {
        p->outgoing[i + 1] = p->outgoing[i] + pair_size(e, index, i);
        p->incoming[i + 1] = p->incoming[i] + pair_size(e, i, index);
    }
    p->config.outgoing = p->outgoing;
    p->config.incoming = p->incoming;
    p->config.bytes = p->outgoing[e->n] * e->element;
}

static bool start(struct ensemble *e, unsigned index)
{
    struct player *p = &e->player[index];
    const struct ensemble_plan *plan = &e->plan;
    bool one = plan->config.kind == HX_ALL_GATHER || plan->config.kind == HX_GATHER;
    p->config = plan->config;
    p->config.position = index;
    if (plan->pairs)
        set_pairs(e, p, index);
    if (hx_collective_check(&p->config) != HX_OK)
        return false;
    p->vector_bytes = p->config.bytes;
    p->staging_bytes = hx_collective_staging(&p->config);
    p->vector = guarded(p->vector_bytes);
    p->before = guarded(p->vector_bytes);
    p->staging = guarded(p->staging_bytes);
    draw_values(e, p, p->vector_bytes / e->element, one ? 0 : index);
    memcpy(p->vector, p->before, p->vector_bytes);
    p->state_bytes = hx_collective_state(&p->config);
    void *state = lab_memory(p->state_bytes);
    assert_int_equal(hx_collective_init(&p->c, &p->config, state, plan->scheduled ? NULL : p->vector,
                                        plan->scheduled ? NULL : p->staging),
                     HX_OK);
    if (one)
        keep_pieces(p);
    return true;
}

bool ensemble_init(struct ensemble *e, const struct ensemble_plan *plan)
{
    *e = (struct ensemble){.plan = *plan, .n = plan->config.size};
    e->element = hx_collective_element((enum hx_collective_type)plan->config.type);
    e->player = lab_memory(e->n * sizeof *e->player);
    for (unsigned i = 0; i < e->n; i++) {
        if (!start(e, i))
            return false;
    }
    return true;
}

const uint8_t *ensemble_result(const struct player *p)
{
    return p->config.kind == HX_COLLECTIVE_ALL_TO_ALL ? p->staging : p->vector;
}

/* ---- checks ---- */

static int64_t combined(const struct ensemble *e, uint64_t element)
{
    const struct hx_collective_config *config = &e->plan.config;
    int64_t all = value_of(e, 0, element);
    for (unsigned i = 1; i < e->n; i++) {
        int64_t one = value_of(e, i, element);
        if (config->operation == HX_SUM)
            all += one;
        else if ((config->operation == HX_MAX) == (one > all))
            all = one;
    }
    return all;
}

static bool reduces(unsigned kind)
{
    return kind == HX_ALL_REDUCE || kind == HX_REDUCE || kind == HX_REDUCE_SCATTER;
}

/* Sums of values that are no integers: n - 1 roundings, each at most half a unit in the last place (2^-24) of the sum
 * of absolute values. */
static void validate_near(const struct ensemble *e, const struct player *p, uint64_t element)
{
    double sum = 0, size = 0;
    float got;
    memcpy(&got, p->vector + element * sizeof got, sizeof got);
    for (unsigned i = 0; i < e->n; i++) {
        float one;
        memcpy(&one, e->player[i].before + element * sizeof one, sizeof one);
        sum += (double)one;
        size += fabs((double)one);
    }
    assert_true(fabs((double)got - sum) <= size * e->n / 16777216);
}

static void validate_range(const struct ensemble *e, const struct player *p, uint64_t first, uint64_t count)
{
    const unsigned kind = e->plan.config.kind;
    for (uint64_t i = first; i < first + count; i++) {
        uint8_t expected[8];
        if (!e->plan.whole && reduces(kind)) {
            validate_near(e, p, i);
            continue;
        }
        if (reduces(kind))
            encode(e, combined(e, i), expected);
        else
            memcpy(expected, e->player[e->plan.config.root].before + i * e->element, e->element);
        assert_memory_equal(p->vector + i * e->element, expected, e->element);
    }
}

static void validate_exchange(const struct ensemble *e, unsigned index)
{
    const struct player *p = &e->player[index];
    uint64_t at = 0;
    for (unsigned from = 0; from < e->n; from++) {
        const struct player *source = &e->player[from];
        uint64_t elements = source->config.bytes / e->element;
        uint64_t first = source->outgoing ? source->outgoing[index] : elements * index / e->n;
        uint64_t end = source->outgoing ? source->outgoing[index + 1] : elements * (index + (uint64_t)1) / e->n;
        /* equal segments have one size at all members: that of their own number */
        uint64_t where = p->incoming ? p->incoming[from] : elements * from / e->n;
        if (p->incoming)
            assert_true(where == at);
        assert_memory_equal(p->staging + where * e->element, source->before + first * e->element,
                            (end - first) * e->element);
        at += end - first;
    }
}

static void validate_player(const struct ensemble *e, unsigned index, uint8_t *owners)
{
    const struct player *p = &e->player[index];
    const unsigned kind = e->plan.config.kind;
    uint64_t offset, bytes;
    bool parts = kind == HX_REDUCE_SCATTER || kind == HX_SCATTER;
    bool root_only = kind == HX_REDUCE || kind == HX_GATHER;
    assert_true(hx_collective_done(&p->c));
    validate_guards(p->vector, p->vector_bytes);
    validate_guards(p->staging, p->staging_bytes);
    for (unsigned i = 0; kind != HX_COLLECTIVE_ALL_TO_ALL && hx_collective_piece(&p->c, i, &offset, &bytes); i++) {
        for (uint64_t at = offset / e->element; at < (offset + bytes) / e->element; at++)
            owners[at]++;
        if (parts && !e->plan.scheduled)
            validate_range(e, p, offset / e->element, bytes / e->element);
    }
    if (e->plan.scheduled || parts)
        return;
    if (kind == HX_COLLECTIVE_ALL_TO_ALL)
        validate_exchange(e, index);
    else if (!root_only || index == e->plan.config.root)
        validate_range(e, p, 0, p->vector_bytes / e->element);
}

void ensemble_validate(const struct ensemble *e)
{
    const unsigned kind = e->plan.config.kind;
    bool scattered = kind == HX_REDUCE_SCATTER || kind == HX_ALL_GATHER || kind == HX_SCATTER || kind == HX_GATHER;
    uint64_t elements = e->plan.config.bytes / e->element;
    uint8_t *owners = lab_memory(elements + 1);
    for (unsigned n = 0; n < e->n; n++)
        validate_player(e, n, owners);
    for (uint64_t i = 0; i < elements && kind != HX_COLLECTIVE_ALL_TO_ALL; i++)
        assert_int_equal(owners[i], scattered ? 1 : (e->n & 0xFF));
}
