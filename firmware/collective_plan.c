/* collective_plan.c - stripes and phases of each algorithm (collective_parts.h). */
#include "collective_parts.h"

enum { ALL = HX_COLLECTIVE_DIMENSIONS /* the line of a phase is the whole group */ };

#define KIND(kind) (1U << (kind))
enum {
    SHARED = KIND(HX_REDUCE_SCATTER) | KIND(HX_ALL_GATHER), /* each member has pieces */
    FULL = KIND(HX_ALL_REDUCE) | KIND(HX_BARRIER),
    ROOTED = KIND(HX_BROADCAST) | KIND(HX_REDUCE),
    PARTS = KIND(HX_GATHER) | KIND(HX_SCATTER),
};

struct algorithm {
    uint16_t kinds; /* bits */
    uint8_t stripes;
    uint8_t method, shape;
};

/* stripes 0: by the number of dimensions, or the config. Broadcasts along rings are trees (see part_of_broadcast). */
static const struct algorithm algorithms[HX_COLLECTIVE_ALGORITHMS] = {
    [HX_BY_TREE] = {SHARED | FULL | ROOTED | PARTS, 1, HX_TREE_METHOD, HX_BINOMIAL},
    [HX_BY_RING] = {SHARED | FULL | KIND(HX_BROADCAST), 2, HX_RING_METHOD, 0},
    [HX_BY_RINGS] = {SHARED | FULL | KIND(HX_BROADCAST), 4, HX_RING_METHOD, 0},
    [HX_BY_TORUS] = {SHARED | FULL | KIND(HX_BROADCAST), 4, HX_RING_METHOD, 0},
    [HX_BY_DOUBLE_TREE] = {FULL | ROOTED, 2, HX_TREE_METHOD, HX_BINARY},
    [HX_BY_CHAIN] = {FULL | ROOTED, 1, HX_TREE_METHOD, HX_CYCLE},
    [HX_BY_HALVING] = {SHARED | FULL, 1, HX_EXCHANGE_METHOD, HX_BY_BITS},
    [HX_BY_DOUBLING] = {FULL, 1, HX_EXCHANGE_METHOD, HX_BY_BITS_WHOLE},
    [HX_BY_SWING] = {SHARED | FULL, 0, HX_EXCHANGE_METHOD, HX_BY_SWING_SHARES},
    [HX_BY_SWING_DOUBLING] = {FULL, 0, HX_EXCHANGE_METHOD, HX_BY_SWING_WHOLE},
    [HX_BY_BRUCK] = {SHARED | FULL, 1, HX_BRUCK_METHOD, 0},
    [HX_BY_DIRECT] = {SHARED | FULL | ROOTED | PARTS | KIND(HX_COLLECTIVE_ALL_TO_ALL), 1, HX_DIRECT_METHOD, HX_AT_ONCE},
    [HX_BY_PAIRWISE] = {SHARED | FULL | KIND(HX_COLLECTIVE_ALL_TO_ALL), 1, HX_DIRECT_METHOD, HX_IN_TURN},
    [HX_BY_HIERARCHY] = {SHARED | FULL, 0, HX_RING_METHOD, 0},
};

static const struct hx_method *const methods[] = {
    [HX_RING_METHOD] = &hx_ring_method,         [HX_TREE_METHOD] = &hx_tree_method,
    [HX_EXCHANGE_METHOD] = &hx_exchange_method, [HX_BRUCK_METHOD] = &hx_bruck_method,
    [HX_DIRECT_METHOD] = &hx_direct_method,
};

const struct hx_method *hx_method_of(const struct hx_collective_phase *phase)
{
    return methods[phase->method];
}

/* ---- the group ---- */

static unsigned dimensions(const struct hx_collective_config *config)
{
    return config->dimensions ? config->dimensions : 1;
}

uint32_t hx_plan_size(const struct hx_collective_config *config, unsigned dimension)
{
    if (config->dimensions == 0 && dimension == 0)
        return config->size;
    return dimension < config->dimensions ? config->dimension[dimension].size : 1;
}

static uint32_t stride_of(const struct hx_collective_config *config, unsigned dimension)
{
    uint32_t stride = 1;
    for (unsigned i = 0; i < dimension; i++)
        stride *= hx_plan_size(config, i);
    return stride;
}

uint32_t hx_plan_place(const struct hx_collective_config *config, uint32_t position, unsigned dimension)
{
    return position / stride_of(config, dimension) % hx_plan_size(config, dimension);
}

/* Algorithms in which a phase is along one dimension. */
static bool is_layered(const struct hx_collective_config *config)
{
    return config->algorithm == HX_BY_TORUS || config->algorithm == HX_BY_HIERARCHY;
}

/* A barrier is a collective of no elements, after which each member has heard of all others. */
enum hx_collective_kind hx_collective_kind_of_steps(const struct hx_collective_config *config)
{
    const struct algorithm *a = &algorithms[config->algorithm];
    if (config->kind != HX_BARRIER)
        return (enum hx_collective_kind)config->kind;
    return a->method == HX_TREE_METHOD || a->method == HX_EXCHANGE_METHOD ? HX_ALL_REDUCE : HX_ALL_GATHER;
}

/* ---- stripes and phases ---- */

unsigned hx_plan_stripes(const struct hx_collective_config *config)
{
    if (algorithms[config->algorithm].stripes)
        return algorithms[config->algorithm].stripes;
    if (config->algorithm == HX_BY_HIERARCHY)
        return config->stripes ? config->stripes : 4;
    return 2 * dimensions(config);
}

/* A torus has two dimensions, even if the group has one. */
static unsigned layers(const struct hx_collective_config *config)
{
    return config->algorithm == HX_BY_TORUS ? 2 : dimensions(config);
}

unsigned hx_plan_phases(const struct hx_collective_config *config)
{
    const enum hx_collective_kind kind = hx_collective_kind_of_steps(config);
    if (!is_layered(config) || kind == HX_BROADCAST)
        return 1;
    return kind == HX_ALL_REDUCE ? 2 * layers(config) - 1 : layers(config);
}

/* Layer of a phase: 0 is the first of the reduction and the last of the distribution. */
static unsigned layer_of(const struct hx_collective_config *config, unsigned k)
{
    const enum hx_collective_kind kind = hx_collective_kind_of_steps(config);
    if (kind == HX_ALL_GATHER)
        return layers(config) - 1 - k;
    return k < layers(config) ? k : 2 * layers(config) - 2 - k;
}

static enum hx_collective_kind phase_kind(const struct hx_collective_config *config, unsigned k)
{
    const enum hx_collective_kind kind = hx_collective_kind_of_steps(config);
    if (kind != HX_ALL_REDUCE)
        return kind;
    return k + 1 < layers(config) ? HX_REDUCE_SCATTER : k + 1 == layers(config) ? kind : HX_ALL_GATHER;
}

/* Dimension of a layer: half of a torus' stripes begin with the other one. */
static unsigned dimension_of(const struct hx_collective_config *config, unsigned stripe, unsigned layer)
{
    return config->algorithm == HX_BY_TORUS && stripe >= 2 ? 1 - layer : layer;
}

/* ---- lines ---- */

static void line_of_all(const struct hx_collective_config *config, struct hx_collective_phase *phase)
{
    phase->dimension = ALL;
    phase->size = config->size;
    phase->place = config->position;
    phase->root = config->root;
    phase->line.stride = 1;
}

static void line_along(const struct hx_collective_config *config, unsigned dimension, struct hx_collective_phase *phase)
{
    phase->dimension = (uint8_t)dimension;
    phase->line.stride = stride_of(config, dimension);
    phase->size = hx_plan_size(config, dimension);
    phase->place = hx_plan_place(config, config->position, dimension);
    phase->line.base = config->position - phase->place * phase->line.stride;
}

/* The other direction: places are counted backwards. */
static void turn_ring(struct hx_collective_phase *phase)
{
    phase->ring = (struct hx_collective_ring){phase->ring.before, phase->ring.next};
    phase->place = phase->size - 1 - phase->place;
    phase->root = phase->size - 1 - phase->root;
}

static void close_ring(struct hx_collective_phase *phase)
{
    phase->ring = (struct hx_collective_ring){hx_member(phase, (phase->place + 1) % phase->size),
                                              hx_member(phase, (phase->place + phase->size - 1) % phase->size)};
    if (phase->mirrored)
        turn_ring(phase);
}

static struct hx_stand stand_of(const struct hx_collective_config *config, uint32_t position)
{
    return (struct hx_stand){hx_plan_place(config, position, 0), hx_plan_place(config, position, 1)};
}

/* A Hamiltonian cycle of the grid; its places are not the positions. */
static void ring_of_grid(const struct hx_collective_config *config, enum hx_cycle cycle,
                         struct hx_collective_phase *phase)
{
    const uint32_t columns = hx_plan_size(config, 0);
    const uint32_t rows = hx_plan_size(config, 1);
    struct hx_ring_stand at, root;
    hx_cycle_find(columns, rows, cycle, stand_of(config, config->position), &at);
    hx_cycle_find(columns, rows, cycle, stand_of(config, config->root), &root);
    phase->place = at.position;
    phase->root = root.position;
    phase->ring =
        (struct hx_collective_ring){at.next.row * columns + at.next.column, at.before.row * columns + at.before.column};
    if (phase->mirrored)
        turn_ring(phase);
}

static void ring_of(const struct hx_collective_config *config, unsigned stripe, struct hx_collective_phase *phase)
{
    line_of_all(config, phase);
    phase->mirrored = stripe % 2;
    if (config->algorithm == HX_BY_RINGS)
        ring_of_grid(config, stripe < 2 ? HX_CYCLE_FIRST : HX_CYCLE_SECOND, phase);
    else if (config->dimensions == 2)
        ring_of_grid(config, HX_CYCLE_SINGLE, phase);
    else
        close_ring(phase);
}

/* ---- phases ---- */

static void set_range(const struct hx_collective_config *config, unsigned stripe, struct hx_collective_phase *phase)
{
    const uint64_t all = hx_elements(config);
    const uint64_t stripes = hx_plan_stripes(config);
    phase->first = all * stripe / stripes;
    phase->elements = all * (stripe + (uint64_t)1) / stripes - phase->first;
}

static uint32_t segments_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    bool by_members = phase->kind != HX_BROADCAST && phase->kind != HX_REDUCE;
    (void)config;
    if (phase->method == HX_TREE_METHOD && phase->kind == HX_ALL_REDUCE)
        return 1;
    if (phase->method != HX_EXCHANGE_METHOD)
        return by_members ? phase->size : 1;
    bool whole = phase->shape == HX_BY_BITS_WHOLE || phase->shape == HX_BY_SWING_WHOLE;
    return whole ? 1 : (uint32_t)1 << (31U - (unsigned)__builtin_clz(phase->size));
}

/* Method of a layer. */
static void layer_method(const struct hx_collective_config *config, unsigned dimension,
                         struct hx_collective_phase *phase)
{
    static const uint8_t by[HX_COLLECTIVE_ALGORITHMS] = {[HX_BY_RING] = HX_RING_METHOD,
                                                         [HX_BY_HALVING] = HX_EXCHANGE_METHOD,
                                                         [HX_BY_BRUCK] = HX_BRUCK_METHOD,
                                                         [HX_BY_DIRECT] = HX_DIRECT_METHOD};
    phase->method = config->algorithm == HX_BY_TORUS || dimension >= config->dimensions
                        ? HX_RING_METHOD
                        : by[config->dimension[dimension].algorithm];
    phase->shape = 0;
}

static void make_layer(const struct hx_collective_config *config, unsigned stripe, unsigned layer,
                       struct hx_collective_phase *phase)
{
    const unsigned dimension = dimension_of(config, stripe, layer);
    line_along(config, dimension, phase);
    layer_method(config, dimension, phase);
    phase->mirrored = phase->method == HX_RING_METHOD && stripe % 2;
    if (phase->method == HX_RING_METHOD)
        close_ring(phase);
    phase->segments = segments_of(config, phase);
}

/* Range of a layer: of the first, the stripe's; of a later one, the own segment of the one before. */
static void make_layered(const struct hx_collective_config *config, unsigned stripe, unsigned k,
                         struct hx_collective_phase *phase)
{
    const unsigned layer = layer_of(config, k);
    set_range(config, stripe, phase);
    for (unsigned outer = 0; outer < layer; outer++) {
        struct hx_collective_phase before = *phase;
        before.kind = HX_REDUCE_SCATTER;
        make_layer(config, stripe, outer, &before);
        const uint32_t own = hx_method_of(&before)->own(config, &before);
        const struct hx_range range = hx_range_of(config, &before, (struct hx_segments){own, 1}, true);
        phase->first += range.first;
        phase->elements = range.count;
    }
    phase->kind = (uint8_t)phase_kind(config, k);
    make_layer(config, stripe, layer, phase);
}

/* Broadcasts along rings: chains along cycles; on a torus along a line and from each of its members along another. */
static void make_spread(const struct hx_collective_config *config, unsigned stripe, struct hx_collective_phase *phase)
{
    phase->method = HX_TREE_METHOD;
    if (config->algorithm == HX_BY_TORUS) {
        line_of_all(config, phase);
        phase->shape = HX_GRID;
        phase->mirrored = stripe % 2;
        phase->dimension = stripe >= 2;
    } else {
        ring_of(config, stripe, phase);
        phase->shape = HX_CYCLE;
    }
}

static void make_single(const struct hx_collective_config *config, unsigned stripe, struct hx_collective_phase *phase)
{
    const struct algorithm *a = &algorithms[config->algorithm];
    phase->method = a->method;
    phase->shape = a->shape;
    if (phase->method == HX_RING_METHOD || (phase->method == HX_TREE_METHOD && phase->shape == HX_CYCLE)) {
        ring_of(config, stripe, phase);
        return;
    }
    line_of_all(config, phase);
    phase->mirrored = stripe % 2;
    if (phase->method == HX_EXCHANGE_METHOD)
        phase->dimension = (uint8_t)(stripe / 2); /* swing: the first dimension */
}

void hx_plan_phase(const struct hx_collective_config *config, unsigned stripe, unsigned k,
                   struct hx_collective_phase *phase)
{
    *phase = (struct hx_collective_phase){.kind = (uint8_t)hx_collective_kind_of_steps(config)};
    if (is_layered(config) && phase->kind != HX_BROADCAST) {
        make_layered(config, stripe, k, phase);
    } else {
        set_range(config, stripe, phase);
        if (phase->kind == HX_BROADCAST && algorithms[config->algorithm].method == HX_RING_METHOD)
            make_spread(config, stripe, phase);
        else
            make_single(config, stripe, phase);
        phase->segments = segments_of(config, phase);
    }
    phase->steps = phase->size > 1 ? hx_method_of(phase)->steps(config, phase) : 0;
    if (!phase->steps || !hx_method_of(phase)->one_queue)
        return;
    const uint64_t largest = (phase->elements + phase->segments - 1) / phase->segments;
    const uint64_t chunks = hx_divide(config, largest, &phase->chunks.elements);
    phase->chunks.count = chunks < UINT32_MAX ? (uint32_t)chunks : UINT32_MAX; /* more are refused: they have no tags */
}

/* ---- for estimates ---- */

unsigned hx_collective_stripes(const struct hx_collective_config *config)
{
    return hx_plan_stripes(config);
}

unsigned hx_collective_phases(const struct hx_collective_config *config)
{
    return hx_plan_phases(config);
}

uint32_t hx_collective_steps(const struct hx_collective_config *config, unsigned stripe, unsigned phase)
{
    struct hx_collective_phase p;
    hx_plan_phase(config, stripe, phase, &p);
    return p.steps;
}

/* ---- which exist ---- */

static bool layers_exist(const struct hx_collective_config *config)
{
    for (unsigned i = 0; i < config->dimensions; i++) {
        const struct hx_collective_dimension *d = &config->dimension[i];
        bool known = d->algorithm == HX_BY_RING || d->algorithm == HX_BY_BRUCK || d->algorithm == HX_BY_DIRECT ||
                     (d->algorithm == HX_BY_HALVING && hx_is_power_of_two(d->size));
        if (!known)
            return false;
    }
    return true;
}

static bool all_powers_of_two(const struct hx_collective_config *config)
{
    for (unsigned i = 0; i < dimensions(config); i++) {
        if (!hx_is_power_of_two(hx_plan_size(config, i)))
            return false;
    }
    return true;
}

bool hx_plan_exists(const struct hx_collective_config *config)
{
    if (!(algorithms[config->algorithm].kinds & KIND(config->kind)))
        return false;
    switch (config->algorithm) {
    case HX_BY_RINGS:
        return config->dimensions <= 2 && hx_cycles_exist(hx_plan_size(config, 0), hx_plan_size(config, 1));
    case HX_BY_TORUS:
        return config->dimensions <= 2;
    case HX_BY_HALVING:
        return hx_collective_kind_of_steps(config) == HX_ALL_REDUCE || hx_is_power_of_two(config->size);
    case HX_BY_SWING:
    case HX_BY_SWING_DOUBLING:
        return all_powers_of_two(config);
    case HX_BY_HIERARCHY:
        return layers_exist(config);
    default:
        return true;
    }
}
