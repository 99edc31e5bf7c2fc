/* collective_plan.c - streams and phases of each algorithm (collective_parts.h). */
#include "collective_parts.h"

enum { ALL = HX_COLLECTIVE_DIMENSIONS /* the line of a part is the whole group */ };

#define KIND(kind) (1U << (kind))
enum {
    SHARED = KIND(HX_REDUCE_SCATTER) | KIND(HX_ALL_GATHER), /* each member has a part */
    FULL = KIND(HX_ALL_REDUCE) | KIND(HX_BARRIER),
    ROOTED = KIND(HX_BROADCAST) | KIND(HX_REDUCE),
    PARTS = KIND(HX_GATHER) | KIND(HX_SCATTER),
};

struct algorithm {
    uint16_t kinds; /* bits */
    uint8_t streams;
    uint8_t method, shape;
};

/* streams 0: by the number of dimensions, or the config. Broadcasts along rings are trees (see part_of_broadcast). */
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

const struct hx_method *hx_method_of(const struct hx_collective_part *part)
{
    return methods[part->method];
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

/* ---- streams and phases ---- */

unsigned hx_plan_streams(const struct hx_collective_config *config)
{
    if (algorithms[config->algorithm].streams)
        return algorithms[config->algorithm].streams;
    if (config->algorithm == HX_BY_HIERARCHY)
        return config->streams ? config->streams : 4;
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
static unsigned layer_of(const struct hx_collective_config *config, unsigned phase)
{
    const enum hx_collective_kind kind = hx_collective_kind_of_steps(config);
    if (kind == HX_ALL_GATHER)
        return layers(config) - 1 - phase;
    return phase < layers(config) ? phase : 2 * layers(config) - 2 - phase;
}

static enum hx_collective_kind phase_kind(const struct hx_collective_config *config, unsigned phase)
{
    const enum hx_collective_kind kind = hx_collective_kind_of_steps(config);
    if (kind != HX_ALL_REDUCE)
        return kind;
    return phase + 1 < layers(config) ? HX_REDUCE_SCATTER : phase + 1 == layers(config) ? kind : HX_ALL_GATHER;
}

/* Dimension of a layer: half of a torus' streams begin with the other one. */
static unsigned dimension_of(const struct hx_collective_config *config, unsigned stream, unsigned layer)
{
    return config->algorithm == HX_BY_TORUS && stream >= 2 ? 1 - layer : layer;
}

/* ---- lines ---- */

static void line_of_all(const struct hx_collective_config *config, struct hx_collective_part *part)
{
    part->dimension = ALL;
    part->size = config->size;
    part->place = config->position;
    part->root = config->root;
    part->line.stride = 1;
}

static void line_along(const struct hx_collective_config *config, unsigned dimension, struct hx_collective_part *part)
{
    part->dimension = (uint8_t)dimension;
    part->line.stride = stride_of(config, dimension);
    part->size = hx_plan_size(config, dimension);
    part->place = hx_plan_place(config, config->position, dimension);
    part->line.base = config->position - part->place * part->line.stride;
}

/* The other direction: places are counted backwards. */
static void turn_ring(struct hx_collective_part *part)
{
    part->ring = (struct hx_collective_ring){part->ring.before, part->ring.next};
    part->place = part->size - 1 - part->place;
    part->root = part->size - 1 - part->root;
}

static void close_ring(struct hx_collective_part *part)
{
    part->ring = (struct hx_collective_ring){hx_member(part, (part->place + 1) % part->size),
                                             hx_member(part, (part->place + part->size - 1) % part->size)};
    if (part->mirrored)
        turn_ring(part);
}

static struct hx_stand stand_of(const struct hx_collective_config *config, uint32_t position)
{
    return (struct hx_stand){hx_plan_place(config, position, 0), hx_plan_place(config, position, 1)};
}

/* A Hamiltonian cycle of the grid; its places are not the positions. */
static void ring_of_grid(const struct hx_collective_config *config, enum hx_cycle cycle,
                         struct hx_collective_part *part)
{
    const uint32_t columns = hx_plan_size(config, 0);
    const uint32_t rows = hx_plan_size(config, 1);
    struct hx_ring_stand at, root;
    hx_cycle_find(columns, rows, cycle, stand_of(config, config->position), &at);
    hx_cycle_find(columns, rows, cycle, stand_of(config, config->root), &root);
    part->place = at.position;
    part->root = root.position;
    part->ring =
        (struct hx_collective_ring){at.next.row * columns + at.next.column, at.before.row * columns + at.before.column};
    if (part->mirrored)
        turn_ring(part);
}

static void ring_of(const struct hx_collective_config *config, unsigned stream, struct hx_collective_part *part)
{
    line_of_all(config, part);
    part->mirrored = stream % 2;
    if (config->algorithm == HX_BY_RINGS)
        ring_of_grid(config, stream < 2 ? HX_CYCLE_FIRST : HX_CYCLE_SECOND, part);
    else if (config->dimensions == 2)
        ring_of_grid(config, HX_CYCLE_SINGLE, part);
    else
        close_ring(part);
}

/* ---- parts ---- */

static void set_range(const struct hx_collective_config *config, unsigned stream, struct hx_collective_part *part)
{
    const uint64_t all = hx_elements(config);
    const uint64_t streams = hx_plan_streams(config);
    part->first = all * stream / streams;
    part->elements = all * (stream + (uint64_t)1) / streams - part->first;
}

static uint32_t segments_of(const struct hx_collective_config *config, const struct hx_collective_part *part)
{
    bool by_members = part->kind != HX_BROADCAST && part->kind != HX_REDUCE;
    (void)config;
    if (part->method == HX_TREE_METHOD && part->kind == HX_ALL_REDUCE)
        return 1;
    if (part->method != HX_EXCHANGE_METHOD)
        return by_members ? part->size : 1;
    bool whole = part->shape == HX_BY_BITS_WHOLE || part->shape == HX_BY_SWING_WHOLE;
    return whole ? 1 : (uint32_t)1 << (31U - (unsigned)__builtin_clz(part->size));
}

/* Method of a layer. */
static void layer_method(const struct hx_collective_config *config, unsigned dimension, struct hx_collective_part *part)
{
    static const uint8_t by[HX_COLLECTIVE_ALGORITHMS] = {[HX_BY_RING] = HX_RING_METHOD,
                                                         [HX_BY_HALVING] = HX_EXCHANGE_METHOD,
                                                         [HX_BY_BRUCK] = HX_BRUCK_METHOD,
                                                         [HX_BY_DIRECT] = HX_DIRECT_METHOD};
    part->method = config->algorithm == HX_BY_TORUS || dimension >= config->dimensions
                       ? HX_RING_METHOD
                       : by[config->dimension[dimension].algorithm];
    part->shape = 0;
}

static void make_layer(const struct hx_collective_config *config, unsigned stream, unsigned layer,
                       struct hx_collective_part *part)
{
    const unsigned dimension = dimension_of(config, stream, layer);
    line_along(config, dimension, part);
    layer_method(config, dimension, part);
    part->mirrored = part->method == HX_RING_METHOD && stream % 2;
    if (part->method == HX_RING_METHOD)
        close_ring(part);
    part->segments = segments_of(config, part);
}

/* Range of a layer: of the first, the stream's; of a later one, the own segment of the one before. */
static void make_layered(const struct hx_collective_config *config, unsigned stream, unsigned phase,
                         struct hx_collective_part *part)
{
    const unsigned layer = layer_of(config, phase);
    set_range(config, stream, part);
    for (unsigned outer = 0; outer < layer; outer++) {
        struct hx_collective_part before = *part;
        before.kind = HX_REDUCE_SCATTER;
        make_layer(config, stream, outer, &before);
        const uint32_t own = hx_method_of(&before)->own(config, &before);
        const struct hx_range range = hx_range_of(config, &before, (struct hx_segments){own, 1}, true);
        part->first += range.first;
        part->elements = range.count;
    }
    part->kind = (uint8_t)phase_kind(config, phase);
    make_layer(config, stream, layer, part);
}

/* Broadcasts along rings: chains along cycles; on a torus along a line and from each of its members along another. */
static void make_spread(const struct hx_collective_config *config, unsigned stream, struct hx_collective_part *part)
{
    part->method = HX_TREE_METHOD;
    if (config->algorithm == HX_BY_TORUS) {
        line_of_all(config, part);
        part->shape = HX_GRID;
        part->mirrored = stream % 2;
        part->dimension = stream >= 2;
    } else {
        ring_of(config, stream, part);
        part->shape = HX_CYCLE;
    }
}

static void make_single(const struct hx_collective_config *config, unsigned stream, struct hx_collective_part *part)
{
    const struct algorithm *a = &algorithms[config->algorithm];
    part->method = a->method;
    part->shape = a->shape;
    if (part->method == HX_RING_METHOD || (part->method == HX_TREE_METHOD && part->shape == HX_CYCLE)) {
        ring_of(config, stream, part);
        return;
    }
    line_of_all(config, part);
    part->mirrored = stream % 2;
    if (part->method == HX_EXCHANGE_METHOD)
        part->dimension = (uint8_t)(stream / 2); /* swing: the first dimension */
}

void hx_plan_part(const struct hx_collective_config *config, unsigned stream, unsigned phase,
                  struct hx_collective_part *part)
{
    *part = (struct hx_collective_part){.kind = (uint8_t)hx_collective_kind_of_steps(config)};
    if (is_layered(config) && part->kind != HX_BROADCAST) {
        make_layered(config, stream, phase, part);
    } else {
        set_range(config, stream, part);
        if (part->kind == HX_BROADCAST && algorithms[config->algorithm].method == HX_RING_METHOD)
            make_spread(config, stream, part);
        else
            make_single(config, stream, part);
        part->segments = segments_of(config, part);
    }
    part->steps = part->size > 1 ? hx_method_of(part)->steps(config, part) : 0;
    if (!part->steps || !hx_method_of(part)->one_lane)
        return;
    const uint64_t largest = (part->elements + part->segments - 1) / part->segments;
    const uint64_t chunks = hx_divide(config, largest, &part->chunks.elements);
    part->chunks.count = chunks < UINT32_MAX ? (uint32_t)chunks : UINT32_MAX; /* more are refused: they have no tags */
}

/* ---- for estimates ---- */

unsigned hx_collective_streams(const struct hx_collective_config *config)
{
    return hx_plan_streams(config);
}

unsigned hx_collective_phases(const struct hx_collective_config *config)
{
    return hx_plan_phases(config);
}

uint32_t hx_collective_steps(const struct hx_collective_config *config, unsigned stream, unsigned phase)
{
    struct hx_collective_part part;
    hx_plan_part(config, stream, phase, &part);
    return part.steps;
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
