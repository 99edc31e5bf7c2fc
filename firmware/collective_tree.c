/* collective_tree.c - trees (collective_parts.h): sums to the root, and data from it.
 *
 * Members are counted from the root: rank v. An edge has a number, which both its ends know:
 *
 *     binomial  parent of v: v without its lowest bit; the edge is that bit. The subtree of v is v .. v + lowest bit - 1
 *     binary    the in-order tree of ranks 1 .. m below the root: t with lowest bit b has children t - b/2 (edge 0) and
 *               t + b/2, or nearer if that is beyond m (edge 1). Mirrored: t is m + 1 - v (m even) or the rank after v
 *               (m odd), which makes leaves inner nodes
 *     cycle     the next member of a ring, up to the one before the root
 *     grid      the root's line of the first dimension (edge 0), and from each of its members along the second (edge 1)
 *
 * Steps: up, edge 0 to the last; then down, the last edge to 0, so that the largest subtree is first.
 *
 *     up    reduce the whole range, chunk by chunk     or gather the segments of the subtree
 *     down  broadcast the whole range, chunk by chunk  or scatter the segments of the subtree
 *
 * Children's sums are added in the order of their edges. Gathered or scattered segments are forwarded when all of them
 * arrived. */
#include "collective_parts.h"

static bool goes_up(const struct hx_collective_phase *phase)
{
    return phase->kind != HX_BROADCAST && phase->kind != HX_SCATTER;
}

static bool goes_down(const struct hx_collective_phase *phase)
{
    return phase->kind != HX_REDUCE && phase->kind != HX_GATHER;
}

static bool reduces(const struct hx_collective_phase *phase)
{
    return phase->kind == HX_REDUCE_SCATTER || phase->kind == HX_ALL_REDUCE || phase->kind == HX_REDUCE;
}

static bool scatters(const struct hx_collective_phase *phase)
{
    return phase->kind == HX_REDUCE_SCATTER || phase->kind == HX_SCATTER;
}

static uint32_t edges(const struct hx_collective_phase *phase)
{
    switch (phase->shape) {
    case HX_BINOMIAL:
        return hx_log2_up(phase->size);
    case HX_CYCLE:
        return 1;
    default:
        return 2;
    }
}

static uint32_t rank_of(const struct hx_collective_phase *phase)
{
    return (phase->place + phase->size - phase->root) % phase->size;
}

static uint32_t ranked(const struct hx_collective_phase *phase, uint32_t rank)
{
    return hx_member(phase, (rank + phase->root) % phase->size);
}

/* ---- binary ---- */

/* Between ranks and places in the in-order tree. */
static uint32_t to_tree(const struct hx_collective_phase *phase, uint32_t rank)
{
    const uint32_t m = phase->size - 1;
    return !phase->mirrored ? rank : m % 2 ? rank % m + 1 : m + 1 - rank;
}

static uint32_t from_tree(const struct hx_collective_phase *phase, uint32_t t)
{
    const uint32_t m = phase->size - 1;
    return !phase->mirrored ? t : m % 2 ? (t + m - 2) % m + 1 : m + 1 - t;
}

static uint32_t binary_parent(const struct hx_collective_phase *phase, uint32_t rank, unsigned *edge)
{
    const uint32_t t = to_tree(phase, rank);
    const uint32_t bit = t & (~t + 1);
    uint32_t up = (t ^ bit) | bit << 1;
    up = up > phase->size - 1 ? t ^ bit : up;
    *edge = up < t;
    return up ? from_tree(phase, up) : 0;
}

static uint32_t binary_child(const struct hx_collective_phase *phase, uint32_t rank, unsigned edge)
{
    const uint32_t m = phase->size - 1;
    if (rank == 0)
        return edge && m ? from_tree(phase, (uint32_t)1 << (31U - (unsigned)__builtin_clz(m))) : HX_NO_PEER;
    const uint32_t t = to_tree(phase, rank);
    uint32_t low = (t & (~t + 1)) >> 1;
    while (edge && low && t + low > m)
        low >>= 1;
    return low ? from_tree(phase, edge ? t + low : t - low) : HX_NO_PEER;
}

/* ---- grid: phase->dimension is the first dimension ---- */

struct crossing {
    uint32_t size[2], place[2], distance[2]; /* by level; distance from the root, in the phase's direction */
    uint32_t stride[2];
};

static struct crossing crossing_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    struct crossing g;
    for (unsigned level = 0; level < 2; level++) {
        const unsigned dimension = level ? 1U - phase->dimension : phase->dimension;
        const uint32_t n = hx_plan_size(config, dimension);
        const uint32_t root = hx_plan_place(config, config->root, dimension);
        g.size[level] = n;
        g.place[level] = hx_plan_place(config, config->position, dimension);
        g.stride[level] = dimension ? hx_plan_size(config, 0) : 1;
        g.distance[level] = phase->mirrored ? (root + n - g.place[level]) % n : (g.place[level] + n - root) % n;
    }
    return g;
}

static uint32_t grid_neighbour(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                               const struct crossing *g, unsigned level, bool forward)
{
    const uint32_t n = g->size[level];
    const uint32_t to = (g->place[level] + (forward != phase->mirrored ? 1 : n - 1)) % n;
    return config->position - g->place[level] * g->stride[level] + to * g->stride[level];
}

/* ---- parent and children; HX_NO_PEER: none ---- */

static uint32_t parent_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                          unsigned *edge)
{
    const uint32_t v = rank_of(phase);
    *edge = 0;
    if (phase->shape == HX_GRID) {
        const struct crossing g = crossing_of(config, phase);
        *edge = g.distance[1] > 0;
        return g.distance[*edge] ? grid_neighbour(config, phase, &g, *edge, false) : HX_NO_PEER;
    }
    if (v == 0)
        return HX_NO_PEER;
    if (phase->shape == HX_CYCLE)
        return phase->ring.before;
    if (phase->shape == HX_BINARY)
        return ranked(phase, binary_parent(phase, v, edge));
    *edge = (unsigned)__builtin_ctz(v);
    return ranked(phase, v & (v - 1));
}

static uint32_t child_of(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                         unsigned edge)
{
    const uint32_t v = rank_of(phase);
    uint32_t child = HX_NO_PEER;
    if (phase->shape == HX_GRID) {
        const struct crossing g = crossing_of(config, phase);
        bool has = g.distance[edge] + 1 < g.size[edge] && (edge || g.distance[1] == 0);
        return has ? grid_neighbour(config, phase, &g, edge, true) : HX_NO_PEER;
    }
    if (phase->shape == HX_CYCLE)
        return v + 1 < phase->size ? phase->ring.next : HX_NO_PEER;
    if (phase->shape == HX_BINARY)
        child = binary_child(phase, v, edge);
    else if ((v == 0 || edge < (unsigned)__builtin_ctz(v)) && v + ((uint32_t)1 << edge) < phase->size)
        child = v + ((uint32_t)1 << edge);
    return child == HX_NO_PEER ? HX_NO_PEER : ranked(phase, child);
}

/* ---- steps ---- */

/* Segments of the subtree of rank v (binomial) on edge `edge` of its parent. */
static struct hx_segments subtree(const struct hx_collective_phase *phase, uint32_t v, unsigned edge)
{
    uint32_t most = (uint32_t)1 << edge;
    uint32_t rest = phase->size - v;
    return (struct hx_segments){(v + phase->root) % phase->size, most < rest ? most : rest};
}

static struct hx_segments whole(const struct hx_collective_phase *phase)
{
    return (struct hx_segments){0, phase->segments};
}

static void step_up(const struct hx_collective_config *config, const struct hx_collective_phase *phase, unsigned edge,
                    struct hx_step *s)
{
    const uint32_t v = rank_of(phase);
    unsigned own;
    const uint32_t parent = parent_of(config, phase, &own);
    s->from = child_of(config, phase, edge);
    s->adds = reduces(phase);
    s->first = true;
    s->in = s->adds ? whole(phase) : subtree(phase, v + ((uint32_t)1 << edge), edge);
    for (unsigned earlier = 0; earlier < edge && s->adds && s->first; earlier++)
        s->first = child_of(config, phase, earlier) == HX_NO_PEER;
    if (parent == HX_NO_PEER || own != edge)
        return;
    s->to = parent;
    s->out = s->adds ? whole(phase) : subtree(phase, v, edge);
    s->of = edge;
    for (unsigned k = 0; k < edges(phase) && s->adds; k++) {
        if (child_of(config, phase, k) == HX_NO_PEER)
            continue;
        s->gate = HX_WHEN_ADDED;
        s->of = k;
    }
    if (s->gate == HX_WHEN_COMPLETE && s->adds)
        s->of = 0;
}

/* What the root waits for before it sends data down. */
static void gate_of_root(const struct hx_collective_config *config, const struct hx_collective_phase *phase,
                         struct hx_step *s)
{
    s->of = goes_up(phase) ? edges(phase) : 0;
    for (unsigned k = 0; k < edges(phase) && phase->kind == HX_ALL_REDUCE; k++) {
        if (child_of(config, phase, k) == HX_NO_PEER)
            continue;
        s->gate = HX_WHEN_ADDED;
        s->of = k;
    }
}

static void step_down(const struct hx_collective_config *config, const struct hx_collective_phase *phase, unsigned edge,
                      struct hx_step *s)
{
    const uint32_t v = rank_of(phase);
    const uint32_t before = goes_up(phase) ? edges(phase) : 0;
    unsigned own;
    const uint32_t parent = parent_of(config, phase, &own);
    const uint32_t received = before + edges(phase) - 1 - own; /* step of the parent's message */
    if (parent != HX_NO_PEER && own == edge) {
        s->from = parent;
        s->in = scatters(phase) ? subtree(phase, v, edge) : whole(phase);
    }
    s->to = child_of(config, phase, edge);
    s->out = scatters(phase) ? subtree(phase, v + ((uint32_t)1 << edge), edge) : whole(phase);
    if (parent == HX_NO_PEER) {
        gate_of_root(config, phase, s);
    } else {
        s->gate = scatters(phase) ? HX_WHEN_COMPLETE : HX_WHEN_THERE;
        s->of = scatters(phase) ? received + 1 : received;
    }
}

static uint32_t steps(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return phase->size == 1 && phase->shape != HX_GRID ? 0 : edges(phase) * ((goes_up(phase) && goes_down(phase)) + 1U);
}

static void step(const struct hx_collective_config *config, const struct hx_collective_phase *phase, uint32_t number,
                 struct hx_step *s)
{
    const uint32_t all = edges(phase);
    *s = (struct hx_step){.to = HX_NO_PEER, .from = HX_NO_PEER, .gate = HX_WHEN_COMPLETE};
    if (goes_up(phase) && number < all)
        step_up(config, phase, number, s);
    else
        step_down(config, phase, all - 1 - (goes_up(phase) ? number - all : number), s);
}

static uint32_t own_segment(const struct hx_collective_config *config, const struct hx_collective_phase *phase)
{
    (void)config;
    return phase->place;
}

const struct hx_method hx_tree_method = {
    .steps = steps, .step = step, .own = own_segment, .span = 64, .by_chunk = true};
