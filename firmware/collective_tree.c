/* collective_tree.c - the binomial tree: the parent of rank v (counted from the root) is v without its lowest bit, and
 * the subtree of v is v .. v + lowest bit - 1. An edge is named by the bit in which child and parent differ.
 *
 *     up    reduce the whole vector, chunk by chunk     or gather the segments of the subtree
 *     down  broadcast the whole vector, chunk by chunk  or scatter the segments of the subtree
 *
 * Children's sums are added in the order of their bits, chunk by chunk: the first child's at once, the others' when the
 * chunk has arrived from all. Gathered or scattered segments are forwarded when all of them arrived. */
#include "collective_parts.h"
#include "hxmesh/error.h"

enum direction { UP, DOWN };

static bool reduces(const struct hx_collective *c)
{
    return c->config.kind == HX_REDUCE_SCATTER || c->config.kind == HX_ALL_REDUCE;
}

static uint32_t ranks(const struct hx_collective *c)
{
    return (uint32_t)c->config.columns * c->config.rows;
}

/* Returns true if messages of a direction carry only the segments of the child's subtree. */
static bool is_partial(const struct hx_collective *c, enum direction direction)
{
    return c->config.kind == (direction == UP ? HX_ALL_GATHER : HX_REDUCE_SCATTER);
}

static unsigned parent_bit(uint32_t rank)
{
    return (unsigned)__builtin_ctz(rank);
}

static uint32_t root_of(const struct hx_collective_config *config)
{
    return config->kind == HX_BROADCAST ? (uint32_t)config->root_row * config->columns + config->root_column : 0;
}

static struct hx_stand stand_of(const struct hx_collective *c, uint32_t rank)
{
    uint32_t at = (rank + root_of(&c->config)) % ranks(c);
    return (struct hx_stand){(uint16_t)hx_collective_gx(&c->config, at % c->config.columns),
                             (uint16_t)hx_collective_gy(&c->config, at / c->config.columns)};
}

/* ---- edges ---- */

struct edge {
    struct hx_range range;
    uint32_t chunk, messages;
};

static int edge_of(const struct hx_collective *c, uint32_t child, enum direction direction, struct edge *e)
{
    const struct hx_range all = {0, c->config.bytes / sizeof(float)};
    e->range = all;
    if (is_partial(c, direction)) {
        uint32_t n = ranks(c);
        uint32_t last = child + ((uint32_t)1 << parent_bit(child));
        last = last < n ? last : n;
        e->range = hx_range_part(all, child, n);
        const struct hx_range end = hx_range_part(all, last - 1, n);
        e->range.count = end.first + end.count - e->range.first;
    }
    uint64_t chunks = hx_chunks(&c->config, e->range.count, &e->chunk);
    if (chunks > (uint32_t)1 << HX_TAG_NUMBER_BITS)
        return HX_E_RANGE;
    e->messages = direction == UP && c->config.kind == HX_BROADCAST ? 0 : (uint32_t)chunks;
    return HX_OK;
}

static uint32_t rank_of(const struct hx_collective_config *config)
{
    uint32_t n = (uint32_t)config->columns * config->rows;
    uint32_t at = (uint32_t)config->row * config->columns + config->column;
    return (at + n - root_of(config)) % n;
}

static unsigned children_of(uint32_t rank, uint32_t n)
{
    unsigned children = 0;
    while ((rank == 0 || children < parent_bit(rank)) && rank + ((uint32_t)1 << children) < n)
        children++;
    return children;
}

uint64_t hx_tree_staging(const struct hx_collective_config *config)
{
    bool adds = config->kind == HX_REDUCE_SCATTER || config->kind == HX_ALL_REDUCE;
    unsigned children = children_of(rank_of(config), (uint32_t)config->columns * config->rows);
    return adds && children > 1 ? (children - 1) * (config->bytes / sizeof(float)) : 0;
}

int hx_tree_init(struct hx_collective *c)
{
    c->rank = rank_of(&c->config);
    c->children = (uint8_t)children_of(c->rank, ranks(c));
    c->lanes = (uint8_t)(1 + c->children);
    for (unsigned lane = 0; lane <= c->children; lane++) {
        uint32_t child = lane ? c->rank + ((uint32_t)1 << (lane - 1)) : c->rank;
        struct edge up, down;
        if (child == 0)
            continue;
        if (edge_of(c, child, UP, &up) || edge_of(c, child, DOWN, &down))
            return HX_E_RANGE;
        c->left += (uint64_t)up.messages + down.messages;
    }
    return HX_OK;
}

/* ---- progress ---- */

static bool children_have_come(const struct hx_collective *c)
{
    for (unsigned bit = 0; bit < c->children; bit++) {
        struct edge e;
        if (edge_of(c, c->rank + ((uint32_t)1 << bit), UP, &e) || c->in[bit].base < e.messages)
            return false;
    }
    return true;
}

static bool is_summed(const struct hx_collective *c, uint32_t number)
{
    return c->children == 0 || number < c->reduced;
}

static bool may_go_up(const struct hx_collective *c, uint32_t number)
{
    return reduces(c) ? is_summed(c, number) : children_have_come(c);
}

static bool may_go_down(const struct hx_collective *c, uint32_t number, uint32_t all)
{
    const struct hx_collective_track *in = &c->in[HX_COLLECTIVE_PARENT];
    if (c->rank == 0)
        return c->config.kind == HX_ALL_REDUCE       ? is_summed(c, number)
               : c->config.kind == HX_REDUCE_SCATTER ? c->reduced == all
                                                     : children_have_come(c);
    if (!is_partial(c, DOWN))
        return hx_track_has(in, number);
    struct edge e;
    return edge_of(c, c->rank, DOWN, &e) == HX_OK && in->base == e.messages;
}

/* ---- sending: lane 0 to the parent, the others to children, the largest subtree first ---- */

unsigned hx_tree_lane(const struct hx_collective *c, struct hx_tag tag)
{
    return tag.phase == UP ? 0 : (unsigned)c->children - tag.edge;
}

bool hx_tree_ready(const struct hx_collective *c, unsigned lane, struct hx_tag *tag, struct hx_stand *to)
{
    enum direction direction = lane ? DOWN : UP;
    unsigned bit = lane ? c->children - lane : 0;
    uint32_t child = lane ? c->rank + ((uint32_t)1 << bit) : c->rank;
    uint32_t number = c->out[lane].next;
    struct edge e, up;
    if (child == 0 || edge_of(c, child, direction, &e) || number == e.messages)
        return false;
    uint32_t all = edge_of(c, child, UP, &up) ? 0 : up.messages;
    if (direction == UP ? !may_go_up(c, number) : !may_go_down(c, number, all))
        return false;
    bit = parent_bit(child);
    *tag = (struct hx_tag){.number = number, .phase = (uint8_t)direction, .edge = (uint8_t)bit};
    *to = stand_of(c, lane ? child : child & (child - 1));
    return true;
}

static uint32_t child_of(const struct hx_collective *c, struct hx_tag tag, bool sending)
{
    return sending == (tag.phase == UP) ? c->rank : c->rank + ((uint32_t)1 << tag.edge);
}

struct hx_range hx_tree_range(const struct hx_collective *c, struct hx_tag tag, bool sending)
{
    struct edge e;
    if (edge_of(c, child_of(c, tag, sending), (enum direction)tag.phase, &e))
        return (struct hx_range){0, 0};
    return hx_range_chunk(e.range, tag.number, e.chunk);
}

/* ---- receiving ---- */

bool hx_tree_arrival(struct hx_collective *c, struct hx_tag tag, struct hx_arrival *a)
{
    bool from_child = tag.phase == UP && tag.edge < c->children;
    bool from_parent = tag.phase == DOWN && c->rank && tag.edge == parent_bit(c->rank);
    if (!from_child && !from_parent)
        return false;
    uint32_t child = child_of(c, tag, false);
    struct edge e;
    if (edge_of(c, child, (enum direction)tag.phase, &e) || tag.number >= e.messages)
        return false;
    const struct hx_stand from = stand_of(c, from_child ? child : child & (child - 1));
    bool adds = from_child && reduces(c);
    *a = (struct hx_arrival){.range = hx_tree_range(c, tag, false),
                             .in = &c->in[from_child ? tag.edge : HX_COLLECTIVE_PARENT],
                             .landing = !adds      ? HX_COPY
                                        : tag.edge ? HX_LAY_ASIDE
                                                   : HX_ADD,
                             .gx = from.column,
                             .gy = from.row};
    a->aside = adds && tag.edge ? (tag.edge - 1U) * (c->config.bytes / sizeof(float)) + a->range.first : 0;
    return true;
}

static bool all_have(const struct hx_collective *c, uint32_t number)
{
    for (unsigned bit = 0; bit < c->children; bit++) {
        if (!hx_track_has(&c->in[bit], number))
            return false;
    }
    return c->children > 0;
}

void hx_tree_received(struct hx_collective *c)
{
    while (reduces(c) && all_have(c, c->reduced)) {
        for (unsigned bit = 1; bit < c->children; bit++) {
            struct hx_arrival a;
            const struct hx_tag tag = {.number = c->reduced, .phase = UP, .edge = (uint8_t)bit};
            if (c->vector && hx_tree_arrival(c, tag, &a))
                hx_collective_add_aside(c, a.range, a.aside);
        }
        c->reduced++;
    }
}
