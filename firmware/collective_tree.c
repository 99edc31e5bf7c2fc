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

static bool goes_up(const struct hx_collective_part *part)
{
    return part->kind != HX_BROADCAST && part->kind != HX_SCATTER;
}

static bool goes_down(const struct hx_collective_part *part)
{
    return part->kind != HX_REDUCE && part->kind != HX_GATHER;
}

static bool reduces(const struct hx_collective_part *part)
{
    return part->kind == HX_REDUCE_SCATTER || part->kind == HX_ALL_REDUCE || part->kind == HX_REDUCE;
}

static bool scatters(const struct hx_collective_part *part)
{
    return part->kind == HX_REDUCE_SCATTER || part->kind == HX_SCATTER;
}

static uint32_t edges(const struct hx_collective_part *part)
{
    switch (part->shape) {
    case HX_BINOMIAL:
        return hx_log2_up(part->size);
    case HX_CYCLE:
        return 1;
    default:
        return 2;
    }
}

static uint32_t rank_of(const struct hx_collective_part *part)
{
    return (part->place + part->size - part->root) % part->size;
}

static uint32_t ranked(const struct hx_collective_part *part, uint32_t rank)
{
    return hx_member(part, (rank + part->root) % part->size);
}

/* ---- binary ---- */

/* Between ranks and places in the in-order tree. */
static uint32_t to_tree(const struct hx_collective_part *part, uint32_t rank)
{
    const uint32_t m = part->size - 1;
    return !part->mirrored ? rank : m % 2 ? rank % m + 1 : m + 1 - rank;
}

static uint32_t from_tree(const struct hx_collective_part *part, uint32_t t)
{
    const uint32_t m = part->size - 1;
    return !part->mirrored ? t : m % 2 ? (t + m - 2) % m + 1 : m + 1 - t;
}

static uint32_t binary_parent(const struct hx_collective_part *part, uint32_t rank, unsigned *edge)
{
    const uint32_t t = to_tree(part, rank);
    const uint32_t bit = t & (~t + 1);
    uint32_t up = (t ^ bit) | bit << 1;
    up = up > part->size - 1 ? t ^ bit : up;
    *edge = up < t;
    return up ? from_tree(part, up) : 0;
}

static uint32_t binary_child(const struct hx_collective_part *part, uint32_t rank, unsigned edge)
{
    const uint32_t m = part->size - 1;
    if (rank == 0)
        return edge && m ? from_tree(part, (uint32_t)1 << (31U - (unsigned)__builtin_clz(m))) : HX_NO_PEER;
    const uint32_t t = to_tree(part, rank);
    uint32_t low = (t & (~t + 1)) >> 1;
    while (edge && low && t + low > m)
        low >>= 1;
    return low ? from_tree(part, edge ? t + low : t - low) : HX_NO_PEER;
}

/* ---- grid: part->dimension is the first dimension ---- */

struct crossing {
    uint32_t size[2], place[2], distance[2]; /* by level; distance from the root, in the part's direction */
    uint32_t stride[2];
};

static struct crossing crossing_of(const struct hx_collective_config *config, const struct hx_collective_part *part)
{
    struct crossing g;
    for (unsigned level = 0; level < 2; level++) {
        const unsigned dimension = level ? 1U - part->dimension : part->dimension;
        const uint32_t n = hx_plan_size(config, dimension);
        const uint32_t root = hx_plan_place(config, config->root, dimension);
        g.size[level] = n;
        g.place[level] = hx_plan_place(config, config->position, dimension);
        g.stride[level] = dimension ? hx_plan_size(config, 0) : 1;
        g.distance[level] = part->mirrored ? (root + n - g.place[level]) % n : (g.place[level] + n - root) % n;
    }
    return g;
}

static uint32_t grid_neighbour(const struct hx_collective_config *config, const struct hx_collective_part *part,
                               const struct crossing *g, unsigned level, bool forward)
{
    const uint32_t n = g->size[level];
    const uint32_t to = (g->place[level] + (forward != part->mirrored ? 1 : n - 1)) % n;
    return config->position - g->place[level] * g->stride[level] + to * g->stride[level];
}

/* ---- parent and children; HX_NO_PEER: none ---- */

static uint32_t parent_of(const struct hx_collective_config *config, const struct hx_collective_part *part,
                          unsigned *edge)
{
    const uint32_t v = rank_of(part);
    *edge = 0;
    if (part->shape == HX_GRID) {
        const struct crossing g = crossing_of(config, part);
        *edge = g.distance[1] > 0;
        return g.distance[*edge] ? grid_neighbour(config, part, &g, *edge, false) : HX_NO_PEER;
    }
    if (v == 0)
        return HX_NO_PEER;
    if (part->shape == HX_CYCLE)
        return part->ring.before;
    if (part->shape == HX_BINARY)
        return ranked(part, binary_parent(part, v, edge));
    *edge = (unsigned)__builtin_ctz(v);
    return ranked(part, v & (v - 1));
}

static uint32_t child_of(const struct hx_collective_config *config, const struct hx_collective_part *part,
                         unsigned edge)
{
    const uint32_t v = rank_of(part);
    uint32_t child = HX_NO_PEER;
    if (part->shape == HX_GRID) {
        const struct crossing g = crossing_of(config, part);
        bool has = g.distance[edge] + 1 < g.size[edge] && (edge || g.distance[1] == 0);
        return has ? grid_neighbour(config, part, &g, edge, true) : HX_NO_PEER;
    }
    if (part->shape == HX_CYCLE)
        return v + 1 < part->size ? part->ring.next : HX_NO_PEER;
    if (part->shape == HX_BINARY)
        child = binary_child(part, v, edge);
    else if ((v == 0 || edge < (unsigned)__builtin_ctz(v)) && v + ((uint32_t)1 << edge) < part->size)
        child = v + ((uint32_t)1 << edge);
    return child == HX_NO_PEER ? HX_NO_PEER : ranked(part, child);
}

/* ---- steps ---- */

/* Segments of the subtree of rank v (binomial) on edge `edge` of its parent. */
static struct hx_segments subtree(const struct hx_collective_part *part, uint32_t v, unsigned edge)
{
    uint32_t most = (uint32_t)1 << edge;
    uint32_t rest = part->size - v;
    return (struct hx_segments){(v + part->root) % part->size, most < rest ? most : rest};
}

static struct hx_segments whole(const struct hx_collective_part *part)
{
    return (struct hx_segments){0, part->segments};
}

static void step_up(const struct hx_collective_config *config, const struct hx_collective_part *part, unsigned edge,
                    struct hx_step *s)
{
    const uint32_t v = rank_of(part);
    unsigned own;
    const uint32_t parent = parent_of(config, part, &own);
    s->from = child_of(config, part, edge);
    s->adds = reduces(part);
    s->first = true;
    s->in = s->adds ? whole(part) : subtree(part, v + ((uint32_t)1 << edge), edge);
    for (unsigned earlier = 0; earlier < edge && s->adds && s->first; earlier++)
        s->first = child_of(config, part, earlier) == HX_NO_PEER;
    if (parent == HX_NO_PEER || own != edge)
        return;
    s->to = parent;
    s->out = s->adds ? whole(part) : subtree(part, v, edge);
    s->of = edge;
    for (unsigned k = 0; k < edges(part) && s->adds; k++) {
        if (child_of(config, part, k) == HX_NO_PEER)
            continue;
        s->gate = HX_WHEN_ADDED;
        s->of = k;
    }
    if (s->gate == HX_WHEN_COMPLETE && s->adds)
        s->of = 0;
}

/* What the root waits for before it sends data down. */
static void gate_of_root(const struct hx_collective_config *config, const struct hx_collective_part *part,
                         struct hx_step *s)
{
    s->of = goes_up(part) ? edges(part) : 0;
    for (unsigned k = 0; k < edges(part) && part->kind == HX_ALL_REDUCE; k++) {
        if (child_of(config, part, k) == HX_NO_PEER)
            continue;
        s->gate = HX_WHEN_ADDED;
        s->of = k;
    }
}

static void step_down(const struct hx_collective_config *config, const struct hx_collective_part *part, unsigned edge,
                      struct hx_step *s)
{
    const uint32_t v = rank_of(part);
    const uint32_t before = goes_up(part) ? edges(part) : 0;
    unsigned own;
    const uint32_t parent = parent_of(config, part, &own);
    const uint32_t received = before + edges(part) - 1 - own; /* step of the parent's message */
    if (parent != HX_NO_PEER && own == edge) {
        s->from = parent;
        s->in = scatters(part) ? subtree(part, v, edge) : whole(part);
    }
    s->to = child_of(config, part, edge);
    s->out = scatters(part) ? subtree(part, v + ((uint32_t)1 << edge), edge) : whole(part);
    if (parent == HX_NO_PEER) {
        gate_of_root(config, part, s);
    } else {
        s->gate = scatters(part) ? HX_WHEN_COMPLETE : HX_WHEN_THERE;
        s->of = scatters(part) ? received + 1 : received;
    }
}

static uint32_t steps(const struct hx_collective_config *config, const struct hx_collective_part *part)
{
    (void)config;
    return part->size == 1 && part->shape != HX_GRID ? 0 : edges(part) * ((goes_up(part) && goes_down(part)) + 1U);
}

static void step(const struct hx_collective_config *config, const struct hx_collective_part *part, uint32_t number,
                 struct hx_step *s)
{
    const uint32_t all = edges(part);
    *s = (struct hx_step){.to = HX_NO_PEER, .from = HX_NO_PEER, .gate = HX_WHEN_COMPLETE};
    if (goes_up(part) && number < all)
        step_up(config, part, number, s);
    else
        step_down(config, part, all - 1 - (goes_up(part) ? number - all : number), s);
}

static uint32_t own_segment(const struct hx_collective_config *config, const struct hx_collective_part *part)
{
    (void)config;
    return part->place;
}

const struct hx_method hx_tree_method = {
    .steps = steps, .step = step, .own = own_segment, .span = 64, .by_chunk = true};
