/* collective_exchange.c - exchanges with one partner a step (collective_parts.h): halving and doubling.
 *
 * 2^k members. Step s pairs each with a partner:
 *
 *     bits   place XOR 2^s
 *     swing  on a torus, along the dimensions in turn, from phase->dimension on; level l of a dimension pairs an even
 *            place p with p + r(l) and an odd one with p - r(l), r(l) = (1 - (-2)^(l + 1)) / 3: distances 1, -1, 3, -5
 *            (De Sensi et al., NSDI'24). Mirrored: the places are counted backwards
 *
 * Halving: each step halves the members that still exchange with each other. Bit s of label(p), from the highest, is
 * the half that p is in after step s: partners of step s differ in it, and members of a half share it. So members with
 * equal first s bits are those that are left after s steps, and their segments are contiguous. Step s sends the half
 * with the partner's bit, and adds the own half: reduce-scatter. The same steps backwards, with copying: all-gather.
 *
 * Whole: each step sends the whole sum and adds the partner's. Its sums are a chain.
 *
 * Other numbers of members: of the first 2 r, r = n - 2^k, the even ones send their vectors to the odd ones in a first
 * step, and receive the result in a last one. */
#include "collective_parts.h"

static bool is_swing(const struct hx_collective_phase *phase)
{
    return phase->shape == HX_BY_SWING_SHARES || phase->shape == HX_BY_SWING_WHOLE;
}

static bool is_whole(const struct hx_collective_phase *phase)
{
    return phase->shape == HX_BY_BITS_WHOLE || phase->shape == HX_BY_SWING_WHOLE;
}

static unsigned levels(const struct hx_collective_phase *phase)
{
    return 31U - (unsigned)__builtin_clz(phase->size);
}

/* ---- members beyond a power of two ---- */

static uint32_t extra(const struct hx_collective_phase *phase)
{
    return phase->size - ((uint32_t)1 << levels(phase));
}

static bool is_folded(const struct hx_collective_phase *phase)
{
    return phase->place < 2 * extra(phase) && phase->place % 2 == 0;
}

static uint32_t index_of(const struct hx_collective_phase *phase)
{
    return phase->place < 2 * extra(phase) ? phase->place / 2 : phase->place - extra(phase);
}

static uint32_t place_of(const struct hx_collective_phase *phase, uint32_t index)
{
    return index < extra(phase) ? 2 * index + 1 : index + extra(phase);
}

/* ---- swing ---- */

/* The dimension of a step, and its level there. */
struct swing {
    unsigned dimension, level;
};

static unsigned dimensions(const struct hx_collective_config *config)
{
    return config->dimensions ? config->dimensions : 1;
}

static struct swing swing_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                             unsigned s)
{
    const unsigned all = dimensions(config);
    unsigned before = 0; /* steps before this one */
    for (unsigned level = 0; level < 32; level++) {
        for (unsigned n = 0; n < all; n++) {
            const unsigned dimension = (phase->dimension + n) % all;
            if (level >= hx_log2_up(hx_plan_size(config, dimension)))
                continue;
            if (before == s)
                return (struct swing){dimension, level};
            before++;
        }
    }
    return (struct swing){0, 0};
}

/* The distance r(level) = 1 - 2 + 4 - 8 + ... modulo n, a power of two. */
static uint32_t distance_of(unsigned level, uint32_t n)
{
    uint32_t distance = 0;
    for (unsigned i = 0; i <= level; i++)
        distance += i % 2 ? 0U - ((uint32_t)1 << i) : (uint32_t)1 << i;
    return distance & (n - 1);
}

static uint32_t swung(uint32_t place, unsigned level, uint32_t n)
{
    const uint32_t distance = distance_of(level, n);
    return (place % 2 ? place - distance : place + distance) & (n - 1);
}

/* Place in a dimension, in the phase's direction. */
static uint32_t directed(const struct hx_collective_phase *phase, uint32_t place, uint32_t n)
{
    return phase->mirrored ? (n - place) & (n - 1) : place;
}

static uint32_t swing_partner(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                              unsigned s)
{
    const struct swing at = swing_of(config, phase, s);
    const uint32_t n = hx_plan_size(config, at.dimension);
    const uint32_t place = hx_plan_place(config, phase->place, at.dimension);
    const uint32_t other = directed(phase, swung(directed(phase, place, n), at.level, n), n);
    uint32_t stride = 1;
    for (unsigned i = 0; i < at.dimension; i++)
        stride *= hx_plan_size(config, i);
    return phase->place + other * stride - place * stride;
}

/* Members that are left after level l of a dimension are those with two residues modulo 2^(l + 2), one even and one
 * odd. The even one names them; partners of level l differ in its bit l + 1, partners of the last level in bit 0. */
static unsigned swing_bit(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                          unsigned s)
{
    const struct swing at = swing_of(config, phase, s);
    const uint32_t n = hx_plan_size(config, at.dimension);
    const uint32_t place = directed(phase, hx_plan_place(config, phase->place, at.dimension), n);
    if (at.level + 1 == hx_log2_up(n))
        return place & 1U;
    const uint32_t even = place % 2 ? swung(place, at.level + 1, n) : place;
    return even >> (at.level + 1) & 1U;
}

/* ---- labels ---- */

static uint32_t partner_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                           unsigned s)
{
    if (is_swing(phase))
        return swing_partner(config, phase, s);
    return place_of(phase, index_of(phase) ^ (uint32_t)1 << s);
}

static uint32_t label_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    const unsigned all = levels(phase);
    uint32_t label = 0;
    for (unsigned s = 0; s < all; s++)
        label = label << 1 | (is_swing(phase) ? swing_bit(config, phase, s) : index_of(phase) >> s & 1U);
    return label;
}

/* ---- steps ---- */

static uint32_t exchanges(const struct hx_collective_phase *phase)
{
    return levels(phase) * (phase->kind == HX_ALL_REDUCE && !is_whole(phase) ? 2U : 1U);
}

static uint32_t steps(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return exchanges(phase) + (extra(phase) ? 2 : 0);
}

/* The first step, or the last one, of members beyond a power of two. */
static void fold(const struct hx_collective_phase *phase, bool back, struct hx_step *s)
{
    const struct hx_segments all = {0, phase->segments};
    if (phase->place >= 2 * extra(phase))
        return;
    bool sends = is_folded(phase) != back;
    uint32_t other = hx_member(phase, phase->place ^ 1U);
    s->to = sends ? other : HX_NO_PEER;
    s->from = sends ? HX_NO_PEER : other;
    s->in = s->out = all;
    s->adds = !back;
    s->first = true;
}

static void exchange(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                     uint32_t number, struct hx_step *s)
{
    const unsigned all = levels(phase);
    bool gathers = !is_whole(phase) && (phase->kind == HX_ALL_GATHER || number >= all);
    const unsigned level = gathers ? all - 1 - number % all : number;
    s->to = s->from = hx_member(phase, partner_of(config, phase, level));
    s->adds = !gathers;
    s->first = number == 0 && phase->place >= 2 * extra(phase);
    s->in = s->out = (struct hx_segments){0, phase->segments};
    if (is_whole(phase)) {
        s->chain =
            (uint8_t)(HX_CHAINED | (number == 0 ? HX_CHAIN_BEGINS : 0) | (number + 1 == all ? HX_CHAIN_ENDS : 0));
        return;
    }
    const uint32_t half = (uint32_t)1 << (all - 1 - level);
    const uint32_t kept = label_of(config, phase) & ~(half - 1);
    s->in = (struct hx_segments){gathers ? kept ^ half : kept, half};
    s->out = (struct hx_segments){gathers ? kept : kept ^ half, half};
}

static void step(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t number,
                 struct hx_step *s)
{
    const uint32_t folds = extra(phase) ? 1 : 0;
    *s = (struct hx_step){.to = HX_NO_PEER, .from = HX_NO_PEER, .gate = HX_WHEN_COMPLETE, .of = number};
    if (folds && (number == 0 || number == exchanges(phase) + 1))
        fold(phase, number > 0, s);
    else if (!is_folded(phase))
        exchange(config, phase, number - folds, s);
}

static uint32_t own(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    return label_of(config, phase);
}

const struct hx_method hx_exchange_method = {.steps = steps, .step = step, .own = own, .span = 1};
