/* around_search.c - finds a node's routes around dead links (include/hxmesh/around.h): breadth-first, from the node,
 * over the states that a packet may be in.
 *
 * A state is a node and a kind. Each state that is reached has the set of first ports of its shortest paths, complete
 * when the search goes on from it. */
#include "around_parts.h"
#include "hxmesh/memory.h"

static bool is_accelerator(const struct hx_geometry *g, uint32_t node)
{
    return node < g->accelerators;
}

static bool is_dead(const struct hx_around *a, uint32_t node, unsigned port)
{
    if (node == a->node && !a->search->by_set && !(a->up >> port & 1))
        return true;
    return hx_dead_links_at(a->dead, a->g, node) >> port & 1;
}

/* Whether paths of two crossings may meet a board: where rows and columns of source and destination cross, and all of a
 * row or column that they have in common. */
static bool is_in_field(const struct hx_around_search *s, unsigned x, unsigned y)
{
    const bool in_column = x == s->at_x || x == s->to_x;
    const bool in_row = y == s->at_y || y == s->to_y;
    return (in_column && in_row) || (y == s->at_y && s->at_y == s->to_y) || (x == s->at_x && s->at_x == s->to_x);
}

static bool is_off_limits(const struct hx_around *a, uint32_t node)
{
    const struct hx_around_search *s = a->search;
    if (!is_accelerator(a->g, node) || (s->everywhere && !s->blocked))
        return false;
    const unsigned x = node % a->g->columns / a->g->a;
    const unsigned y = node / a->g->columns / a->g->b;
    const uint32_t board = y * a->g->x + x;
    return (!s->everywhere && !is_in_field(s, x, y)) || (s->blocked && s->blocked[board / 8] >> board % 8 & 1);
}

/* Returns the far end of a living link to a node that packets may enter; .node is HX_NOWHERE: there is none. */
static struct hx_end living_end(const struct hx_around *a, uint32_t node, unsigned port)
{
    struct hx_end far = {.node = HX_NOWHERE};
    if (!is_dead(a, node, port))
        far = hx_far_end(a->g, node, port);
    if (far.node != HX_NOWHERE && is_off_limits(a, far.node))
        far.node = HX_NOWHERE;
    return far;
}

static unsigned links_of(const struct hx_geometry *g, uint32_t node)
{
    return is_accelerator(g, node) ? HX_LOCAL : hx_node_ports(g, node);
}

/* ---- states ---- */

/* Whether a link leads up: to a node nearer to the root, or as near with a lower number. */
static bool leads_up(const struct hx_around_search *s, uint32_t from, uint32_t to)
{
    return s->level[to] == s->level[from] ? to < from : s->level[to] < s->level[from];
}

/* Returns the kind of a packet behind a port of an accelerator; KINDS: the rule forbids this way. */
static unsigned behind_accelerator(const struct hx_geometry *g, uint32_t node, unsigned kind, unsigned port)
{
    if (hx_is_edge(g, node % g->columns, node / g->columns, port))
        return kind / 2 + 1 < HX_MESH_VCS ? (kind / 2 + 1) * 2 : KINDS;
    if (kind % 2 && port != HX_N)
        return KINDS;
    return kind / 2 * 2 + (port == HX_N);
}

/* The same for a tree switch. */
static unsigned behind_tree(const struct hx_geometry *g, uint32_t node, unsigned kind, unsigned port)
{
    const struct hx_place at = hx_place_of(g, node);
    const struct hx_network *n = at.kind == HX_ROW_SWITCH ? &g->row : &g->column;
    if (at.index >= n->leaves)
        return kind | 1U;
    if (port >= n->down)
        return kind % 2 ? KINDS : kind;
    return kind & ~1U;
}

static unsigned behind(const struct hx_around *a, uint32_t node, unsigned kind, unsigned port, uint32_t far)
{
    if (kind >= ESCAPE_UP) {
        bool up = leads_up(a->search, node, far);
        return up && kind == ESCAPE_DOWN ? KINDS : up ? ESCAPE_UP : ESCAPE_DOWN;
    }
    return is_accelerator(a->g, node) ? behind_accelerator(a->g, node, kind, port)
                                      : behind_tree(a->g, node, kind, port);
}

/* Notes that a shortest path reaches `state` over `distance` links, by the ports `first` of the start. */
static void reach(struct hx_around_search *s, uint32_t state, unsigned distance, uint64_t first)
{
    if (s->distance[state] == UINT16_MAX) {
        s->distance[state] = (uint16_t)distance;
        s->first[state] = 0;
        s->open[s->count++] = state;
    }
    if (s->distance[state] == distance)
        s->first[state] |= first;
}

/* Searches from the node for packets of a kind; no farther than one accelerator, if `to` is one. */
static void search_from(struct hx_around *a, unsigned kind, uint32_t to)
{
    struct hx_around_search *s = a->search;
    unsigned farthest = UINT16_MAX;
    s->count = 0;
    reach(s, a->node * KINDS + kind, 0, 0);
    for (uint32_t i = 0; i < s->count && s->distance[s->open[i]] < farthest; i++) {
        uint32_t node = s->open[i] / KINDS;
        for (unsigned port = 0; port < links_of(a->g, node); port++) {
            struct hx_end far = living_end(a, node, port);
            unsigned next = far.node == HX_NOWHERE ? KINDS : behind(a, node, s->open[i] % KINDS, port, far.node);
            if (next >= KINDS)
                continue;
            reach(s, far.node * KINDS + next, s->distance[s->open[i]] + 1U,
                  i ? s->first[s->open[i]] : (uint64_t)1 << port);
            farthest = far.node == to ? s->distance[s->open[i]] + 1U : farthest;
        }
    }
}

static void forget(struct hx_around_search *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->distance[s->open[i]] = UINT16_MAX;
}

/* Returns the ports that begin shortest paths to an accelerator. */
static uint64_t ports_to(const struct hx_around_search *s, uint32_t accelerator)
{
    const uint32_t first = accelerator * KINDS;
    unsigned best = UINT16_MAX;
    uint64_t ports = 0;
    for (uint32_t state = first; state < first + KINDS; state++) {
        const uint16_t distance = s->distance[state]; /* UINT16_MAX: not reached */
        if (distance == UINT16_MAX || distance > best)
            continue;
        ports = distance < best ? s->first[state] : ports | s->first[state];
        best = distance;
    }
    return ports;
}

/* ---- rule 1 ---- */

static void set_field(struct hx_around *a, uint32_t to)
{
    const struct hx_geometry *g = a->g;
    const struct hx_place at = hx_place_of(g, a->node);
    struct hx_around_search *s = a->search;
    s->everywhere = false;
    s->at_x = s->at_y = UINT16_MAX;
    if (at.kind != HX_ROW_SWITCH)
        s->at_x = (uint16_t)((at.kind == HX_ACCELERATOR ? at.gx : at.line) / g->a);
    if (at.kind != HX_COLUMN_SWITCH)
        s->at_y = (uint16_t)((at.kind == HX_ACCELERATOR ? at.gy : at.line) / g->b);
    s->to_x = (uint16_t)(to % g->columns / g->a);
    s->to_y = (uint16_t)(to / g->columns / g->b);
}

uint64_t hx_around_search_way(struct hx_around *a, const uint8_t *blocked, unsigned kind, uint32_t to)
{
    a->search->blocked = blocked;
    set_field(a, to);
    search_from(a, kind, to);
    const uint64_t ports = ports_to(a->search, to);
    forget(a->search);
    return ports;
}

/* ---- the escape VC ---- */

/* Sets the levels of all nodes that living links join to `root`, and returns the first tree switch among them, or
 * the first accelerator if there is none: any of these nodes as `root` gets the same. */
static uint32_t set_levels(struct hx_around *a, uint32_t root)
{
    struct hx_around_search *s = a->search;
    uint32_t top = root;
    memset(s->level, UINT8_MAX, sizeof *s->level * a->g->nodes);
    s->level[root] = 0;
    s->open[0] = root;
    s->count = 1;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t node = s->open[i];
        if (is_accelerator(a->g, node) == is_accelerator(a->g, top) ? node < top : is_accelerator(a->g, top))
            top = node;
        for (unsigned port = 0; port < links_of(a->g, node); port++) {
            struct hx_end far = living_end(a, node, port);
            if (far.node == HX_NOWHERE || s->level[far.node] != UINT32_MAX)
                continue;
            s->level[far.node] = s->level[node] + 1;
            s->open[s->count++] = far.node;
        }
    }
    return top;
}

static uint64_t inputs_from_up(const struct hx_around *a)
{
    uint64_t inputs = is_accelerator(a->g, a->node) ? (uint64_t)1 << HX_LOCAL : 0;
    for (unsigned port = 0; port < links_of(a->g, a->node); port++) {
        struct hx_end far = living_end(a, a->node, port);
        if (far.node != HX_NOWHERE && leads_up(a->search, far.node, a->node))
            inputs |= (uint64_t)1 << port;
    }
    return inputs;
}

void hx_around_search_escape(struct hx_around *a, struct hx_around_found *found)
{
    struct hx_around_search *s = a->search;
    const unsigned words = escape_words(a->g, a->node);
    const size_t numbers = (size_t)a->g->accelerators * words;
    s->everywhere = true;
    s->blocked = NULL; /* one order for all packets, and of all nodes that know the same set */
    s->by_set = true;
    (void)set_levels(a, set_levels(a, a->node));
    found->from_up = inputs_from_up(a);
    s->blocked = found->blocked;
    s->by_set = false;
    memset(s->found, 0, numbers * sizeof *s->found);
    for (unsigned kind = ESCAPE_UP; kind < KINDS; kind++) {
        search_from(a, kind, HX_NOWHERE);
        for (uint32_t to = 0; to < a->g->accelerators; to++)
            if (to != a->node)
                put_escape(s->found + (size_t)to * words, words, kind, ports_to(s, to));
        forget(s);
    }
    uint64_t *escape = a->take(a->of, numbers * sizeof *escape);
    if (escape)
        memcpy(escape, s->found, numbers * sizeof *escape);
    found->escape = escape;
    found->escape_searched = true;
}
