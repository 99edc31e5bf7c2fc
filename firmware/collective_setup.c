/* collective_setup.c - what a collective needs, its start, and chunks (collective_parts.h). */
#include "collective_parts.h"
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "hxmesh/memory.h"

/* ---- the shape of a collective ---- */

/* What all phases need; computed without state. */
struct needs {
    uint64_t queues, widest; /* of all phases, and of the phase that has most */
    uint64_t staging;        /* elements */
    uint64_t most;           /* messages of a queue */
    uint64_t messages, sent, peers;
};

static void add_step(const struct hx_collective_config *config, const struct hx_collective_phase *phase, unsigned k,
                     uint32_t number, struct needs *n)
{
    struct hx_step s;
    hx_method_of(phase)->step(config, phase, number, &s);
    const uint64_t out = hx_messages(config, phase, &s, true);
    const uint64_t in = hx_messages(config, phase, &s, false);
    const uint64_t most = out > in ? out : in;
    n->most = most > n->most ? most : n->most;
    n->messages += out + in;
    n->sent += out;
    n->peers += s.to != HX_NO_PEER;
    n->peers += s.from != HX_NO_PEER && s.from != s.to;
    n->staging += hx_aside_elements(config, phase, k, &s);
}

/* One queue: all steps are alike. */
static void add_ring(const struct hx_collective_config *config, const struct hx_collective_phase *phase, unsigned k,
                     struct needs *n)
{
    struct hx_step s;
    hx_method_of(phase)->step(config, phase, 0, &s);
    const uint64_t messages = hx_messages(config, phase, &s, true) * phase->steps;
    n->most = messages > n->most ? messages : n->most;
    n->messages += 2 * messages;
    n->sent += messages;
    n->peers += 2;
    n->staging += hx_aside_elements(config, phase, k, &s);
}

static void add_part(const struct hx_collective_config *config, const struct hx_collective_phase *phase, unsigned k,
                     struct needs *n)
{
    n->queues += hx_queues_of(phase);
    n->widest = hx_queues_of(phase) > n->widest ? hx_queues_of(phase) : n->widest;
    if (phase->steps && hx_method_of(phase)->one_queue) {
        add_ring(config, phase, k, n);
        return;
    }
    for (uint32_t step = 0; step < phase->steps; step++)
        add_step(config, phase, k, step, n);
}

static struct needs needs_of(const struct hx_collective_config *config)
{
    struct needs n = {.queues = 0};
    const unsigned stripes = hx_plan_stripes(config);
    const unsigned phases = hx_plan_phases(config);
    for (unsigned i = 0; i < stripes * phases; i++) {
        struct hx_collective_phase phase;
        hx_plan_phase(config, i / phases, i % phases, &phase);
        add_part(config, &phase, i % phases, &n);
    }
    if (config->kind == HX_COLLECTIVE_ALL_TO_ALL)
        n.staging = config->incoming ? config->incoming[config->size] : hx_elements(config);
    return n;
}

static unsigned bits_for(uint64_t count)
{
    unsigned bits = 0;
    while (count > (uint64_t)1 << bits)
        bits++;
    return bits;
}

/* ---- configuration ---- */

#define LARGEST_VECTOR ((uint64_t)1 << 42) /* bytes */

static bool is_group(const struct hx_collective_config *config)
{
    uint64_t product = 1;
    if (config->size == 0 || config->size > HX_COLLECTIVE_MOST_RANKS || config->position >= config->size ||
        config->root >= config->size || config->dimensions > HX_COLLECTIVE_DIMENSIONS)
        return false;
    for (unsigned i = 0; i < config->dimensions && product <= config->size; i++)
        product *= config->dimension[i].size;
    return config->dimensions == 0 || product == config->size;
}

static uint64_t phases_of(const struct hx_collective_config *config)
{
    return (uint64_t)hx_plan_stripes(config) * hx_plan_phases(config);
}

/* Returns true if a table of segments ascends to `most` elements at most. */
static bool is_table(const uint64_t *begin, uint32_t segments, uint64_t most)
{
    for (uint32_t i = 0; i < segments; i++) {
        if (begin[i] > begin[i + 1])
            return false;
    }
    return begin[segments] <= most;
}

static bool is_exchange(const struct hx_collective_config *config)
{
    const uint64_t *out = config->outgoing;
    const uint64_t *in = config->incoming;
    const uint32_t n = config->size;
    const uint32_t own = config->position;
    const uint64_t most = LARGEST_VECTOR / hx_collective_element((enum hx_collective_type)config->type);
    if (!out && !in)
        return hx_elements(config) % n == 0;
    return out && in && is_table(out, n, hx_elements(config)) && is_table(in, n, most) &&
           out[own + 1] - out[own] == in[own + 1] - in[own];
}

/* hx_collective_check(), which finds what the phases need. */
static int check(const struct hx_collective_config *config, struct needs *n)
{
    if (!is_group(config) || config->kind >= HX_COLLECTIVE_KINDS || config->algorithm >= HX_COLLECTIVE_ALGORITHMS ||
        config->type >= HX_COLLECTIVE_TYPES || config->operation >= HX_COLLECTIVE_OPERATIONS)
        return HX_E_RANGE;
    const unsigned element = hx_collective_element((enum hx_collective_type)config->type);
    if (config->bytes % element || config->bytes > LARGEST_VECTOR || (config->kind == HX_BARRIER && config->bytes) ||
        config->chunk < element || config->window == 0 || config->window > HX_COLLECTIVE_MAX_WINDOW ||
        config->stripes > HX_COLLECTIVE_STRIPES || !hx_plan_exists(config))
        return HX_E_RANGE;
    if (config->kind == HX_COLLECTIVE_ALL_TO_ALL && !is_exchange(config))
        return HX_E_RANGE;
    *n = needs_of(config);
    const unsigned bits = bits_for(phases_of(config)) + bits_for(n->widest);
    return bits > 31 || bits_for(n->most) + bits > 32 || n->most >= UINT32_MAX ? HX_E_RANGE : HX_OK;
}

int hx_collective_check(const struct hx_collective_config *config)
{
    struct needs n;
    return check(config, &n);
}

static uint64_t state_of(const struct hx_collective_config *config, const struct needs *n)
{
    return phases_of(config) * sizeof(struct hx_collective_phase) + n->queues * sizeof(struct hx_collective_queue);
}

uint64_t hx_collective_state(const struct hx_collective_config *config)
{
    const struct needs n = needs_of(config);
    return state_of(config, &n);
}

uint64_t hx_collective_staging(const struct hx_collective_config *config)
{
    return needs_of(config).staging * hx_collective_element((enum hx_collective_type)config->type);
}

uint64_t hx_collective_messages(const struct hx_collective_config *config)
{
    return needs_of(config).sent;
}

uint32_t hx_collective_peers(const struct hx_collective_config *config)
{
    const uint64_t peers = needs_of(config).peers;
    return (uint32_t)(peers < config->size - 1 ? peers : config->size - 1);
}

/* ---- set up ---- */

static void init_lanes(struct hx_collective *c, const struct hx_collective_phase *phase, unsigned k, uint64_t *staging)
{
    for (uint32_t queue = 0; queue < hx_queues_of(phase); queue++) {
        struct hx_step s;
        c->queue[phase->queue + queue].aside = *staging;
        hx_method_of(phase)->step(&c->config, phase, queue, &s);
        *staging += hx_aside_elements(&c->config, phase, k, &s);
    }
}

/* The own segment of an exchange goes from the vector to staging. */
static void keep_own(struct hx_collective *c)
{
    const struct hx_segments own = {c->config.position, 1};
    const unsigned element = hx_collective_element((enum hx_collective_type)c->config.type);
    const struct hx_range from = hx_range_of(&c->config, c->phase, own, true);
    const struct hx_range to = hx_range_of(&c->config, c->phase, own, false);
    if (c->vector && from.count)
        memcpy(c->staging + to.first * element, c->vector + from.first * element, (size_t)(from.count * element));
}

int hx_collective_init(struct hx_collective *c, const struct hx_collective_config *config, void *state, void *vector,
                       void *staging)
{
    struct needs n;
    uint64_t aside = 0;
    uint32_t queue = 0;
    if (check(config, &n))
        return HX_E_RANGE;
    memset(c, 0, sizeof *c);
    memset(state, 0, (size_t)state_of(config, &n));
    c->config = *config;
    c->vector = vector;
    c->staging = staging;
    c->stripes = (uint8_t)hx_plan_stripes(config);
    c->phases = (uint8_t)hx_plan_phases(config);
    c->queues = (uint32_t)n.queues;
    c->phase_bits = (uint8_t)bits_for(phases_of(config));
    c->queue_bits = (uint8_t)bits_for(n.widest);
    c->left = n.messages;
    c->phase = state;
    c->queue = (struct hx_collective_queue *)(void *)(c->phase + (size_t)c->stripes * c->phases);
    for (unsigned i = 0; i < (unsigned)c->stripes * c->phases; i++) {
        struct hx_collective_phase *phase = &c->phase[i];
        hx_plan_phase(config, i / c->phases, i % c->phases, phase);
        phase->queue = queue;
        queue += hx_queues_of(phase);
        init_lanes(c, phase, i % c->phases, &aside);
    }
    if (config->kind == HX_COLLECTIVE_ALL_TO_ALL)
        keep_own(c);
    for (unsigned stripe = 0; stripe < c->stripes; stripe++) {
        hx_settle(c, stripe);
        hx_advance(c, stripe);
    }
    return HX_OK;
}

/* ---- chunks that keep a link busy ----
 *
 * Two messages of a pair are in flight, and an acknowledgement takes about a microsecond after the last byte; at 50
 * GB/s the second message should last that long. A segment of two chunks is forwarded while it arrives. Smaller chunks
 * fill a chain sooner. Algorithms with one peer at a time, and stripes of a hierarchy, which share the messages of a
 * pair, have larger ones. */

enum {
    LARGE_CHUNK = 64 * 1024,
    PAIR_CHUNK = 128 * 1024, /* to one peer at a time, over all links */
    SMALL_CHUNK = 16 * 1024,
    TREE_CHUNKS = 8,
    HALVES = 4
};

/* Parts of a stripe's share that are in different places at one time. */
static uint64_t parts_in_motion(const struct hx_collective_config *config)
{
    uint64_t longest = 1;
    switch (config->algorithm) {
    case HX_BY_TREE:
    case HX_BY_DOUBLE_TREE:
        return TREE_CHUNKS;
    case HX_BY_TORUS:
        for (unsigned i = 0; i < HX_COLLECTIVE_DIMENSIONS; i++)
            longest = hx_plan_size(config, i) > longest ? hx_plan_size(config, i) : longest;
        return 2 * longest;
    case HX_BY_HIERARCHY:
        return hx_plan_size(config, 0);
    case HX_BY_HALVING:
    case HX_BY_SWING:
    case HX_BY_DOUBLING:
    case HX_BY_SWING_DOUBLING:
    case HX_BY_BRUCK:
        return HALVES;
    default:
        return (uint64_t)2 * (config->size ? config->size : 1);
    }
}

static bool has_one_peer(const struct hx_collective_config *config)
{
    return config->algorithm == HX_BY_HALVING || config->algorithm == HX_BY_DOUBLING ||
           config->algorithm == HX_BY_BRUCK || config->algorithm == HX_BY_HIERARCHY;
}

uint32_t hx_collective_chunk(const struct hx_collective_config *config, unsigned planes)
{
    uint64_t share = config->bytes / hx_plan_stripes(config);
    uint64_t packets = (share / parts_in_motion(config) + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD;
    uint64_t least = (uint64_t)(config->algorithm == HX_BY_HIERARCHY ? LARGE_CHUNK : SMALL_CHUNK) * planes;
    uint64_t most = (uint64_t)(has_one_peer(config) ? PAIR_CHUNK : LARGE_CHUNK) * planes;
    uint64_t chunk = packets * HX_MAX_PAYLOAD;
    return (uint32_t)(chunk < least ? least : chunk > most ? most : chunk);
}
