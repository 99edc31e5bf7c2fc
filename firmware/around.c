/* around.c - routes around dead links: the set that a node knows, and its answers (include/hxmesh/around.h). */
#include "hxmesh/around.h"
#include "around_parts.h"
#include "hxmesh/memory.h"

static size_t rounded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* ---- dead links ---- */

size_t hx_dead_links_bytes(const struct hx_geometry *g)
{
    return (size_t)(g->nodes - g->accelerators) * sizeof(uint64_t) +
           rounded(((size_t)g->x * g->y + 2U * g->x + g->y) * sizeof(uint32_t)) + rounded(g->accelerators);
}

void hx_dead_links_init(struct hx_dead_links *d, const struct hx_geometry *g, void *memory)
{
    const size_t trees = g->nodes - g->accelerators;
    *d = (struct hx_dead_links){.tree = memory};
    d->board = (uint32_t *)(void *)(d->tree + trees);
    d->column = d->board + (size_t)g->x * g->y;
    d->trees = d->column + g->x;
    d->row = d->trees + g->x;
    d->accelerator = (uint8_t *)(d->row + g->y);
}

static bool mark(struct hx_dead_links *d, const struct hx_geometry *g, struct hx_end end, bool dead)
{
    if (end.node < g->accelerators) {
        uint8_t before = d->accelerator[end.node];
        uint8_t bit = (uint8_t)(1U << end.port);
        d->accelerator[end.node] = dead ? before | bit : before & (uint8_t)~bit;
        return d->accelerator[end.node] != before;
    }
    uint64_t *ports = &d->tree[end.node - g->accelerators];
    uint64_t before = *ports;
    uint64_t bit = (uint64_t)1 << end.port;
    *ports = dead ? before | bit : before & ~bit;
    return *ports != before;
}

/* Adds to the counts of a link; `node`: its accelerator, or else one of its tree switches. */
static void add(struct hx_dead_links *d, const struct hx_geometry *g, uint32_t node, uint32_t one)
{
    const struct hx_place at = hx_place_of(g, node);
    d->count += one;
    switch (at.kind) {
    case HX_ACCELERATOR:
        d->board[at.gy / g->b * g->x + at.gx / g->a] += one;
        d->column[at.gx / g->a] += one;
        break;
    case HX_ROW_SWITCH:
        d->row[at.line / g->b] += one;
        d->in_rows += one;
        break;
    case HX_COLUMN_SWITCH:
        d->trees[at.line / g->a] += one;
        d->column[at.line / g->a] += one;
        break;
    }
}

bool hx_dead_links_set(struct hx_dead_links *d, const struct hx_geometry *g, uint32_t node, unsigned port, bool dead)
{
    const struct hx_end near = {node, (uint16_t)port};
    const struct hx_end far = hx_far_end(g, node, port);
    if (far.node == HX_NOWHERE || !mark(d, g, near, dead))
        return false;
    (void)mark(d, g, far, dead);
    add(d, g, near.node < far.node ? near.node : far.node, dead ? 1 : UINT32_MAX);
    return true;
}

void hx_dead_links_copy(struct hx_dead_links *to, const struct hx_dead_links *from, const struct hx_geometry *g)
{
    memcpy(to->tree, from->tree, hx_dead_links_bytes(g)); /* all arrays follow it */
    to->in_rows = from->in_rows;
    to->count = from->count;
}

/* ---- memory ---- */

size_t hx_around_search_bytes(const struct hx_geometry *g)
{
    const size_t states = (size_t)g->nodes * KINDS;
    return states * (sizeof(uint64_t) + sizeof(uint32_t) + sizeof(uint16_t)) +
           (size_t)g->accelerators * 2 * sizeof(uint64_t) + rounded(g->nodes * sizeof(uint32_t));
}

void hx_around_search_init(struct hx_around_search *s, const struct hx_geometry *g, void *memory)
{
    const size_t states = (size_t)g->nodes * KINDS;
    *s = (struct hx_around_search){.first = memory};
    s->found = s->first + states;
    s->open = (uint32_t *)(void *)(s->found + (size_t)g->accelerators * 2);
    s->distance = (uint16_t *)(void *)(s->open + states);
    s->level = (uint32_t *)(void *)(s->distance + states);
    memset(s->distance, UINT8_MAX, states * sizeof *s->distance);
}

/* ---- tables ---- */

/* A node's table that is cleared: by addr_hi, in a column switch by addr_lo. */
struct table {
    uint8_t *at;
    unsigned entries;
    size_t entry; /* bytes */
};

static struct table table_of(const struct hx_geometry *g, uint32_t node, void *tables)
{
    const struct hx_place at = hx_place_of(g, node);
    if (at.kind == HX_ACCELERATOR)
        return (struct table){tables, g->columns, 1};
    if (at.kind == HX_ROW_SWITCH)
        return (struct table){tables, g->columns, sizeof(uint64_t)};
    return (struct table){(uint8_t *)tables + g->columns * sizeof(uint64_t), g->rows, sizeof(uint64_t)};
}

size_t hx_around_bytes(const struct hx_geometry *g, uint32_t node)
{
    const struct table t = table_of(g, node, NULL);
    return rounded(t.entries * t.entry);
}

/* Whether dead links may concern packets that the node sends to an accelerator: healthy paths lie on the boards of the
 * source's and the destination's rows and columns, and in their networks. To its own board a packet may have crossed
 * too often for a wrap. */
static bool concerns(const struct hx_around *a, uint32_t to)
{
    const struct hx_geometry *g = a->g;
    const struct hx_dead_links *d = a->dead;
    const struct hx_place at = hx_place_of(g, a->node);
    const unsigned to_x = to % g->columns / g->a;
    const unsigned to_y = to / g->columns / g->b;
    const unsigned x = at.kind == HX_ACCELERATOR ? at.gx / g->a : at.kind == HX_COLUMN_SWITCH ? at.line / g->a : to_x;
    const unsigned y = at.kind == HX_ACCELERATOR ? at.gy / g->b : at.kind == HX_ROW_SWITCH ? at.line / g->b : to_y;
    if (to == a->node)
        return false;
    return (x == to_x && y == to_y) || d->row[y] || d->row[to_y] || d->trees[x] || d->trees[to_x] ||
           d->board[y * g->x + x] || d->board[y * g->x + to_x] || d->board[to_y * g->x + x] ||
           d->board[to_y * g->x + to_x];
}

/* Whether concerns() may hold for an accelerator in that column of boards. */
static bool may_concern(const struct hx_around *a, unsigned column)
{
    const struct hx_place at = hx_place_of(a->g, a->node);
    if (a->dead->in_rows || at.kind == HX_COLUMN_SWITCH || a->dead->column[column])
        return true;
    return at.kind == HX_ACCELERATOR && (a->dead->column[at.gx / a->g->a] || column == at.gx / a->g->a);
}

void hx_around_begin(struct hx_around *a, struct hx_route *r, void *tables, void *memory)
{
    a->tables = memory;
    a->found = NULL;
    r->around = a->dead->count || r->vcs > HX_ESCAPE_VC ? a : NULL;
    if (a->dead->count == 0)
        return;
    const struct table t = table_of(a->g, a->node, tables);
    memcpy(memory, t.at, t.entries * t.entry);
    for (unsigned i = 0; i < t.entries; i++)
        if (may_concern(a, i / a->g->a))
            memset(t.at + i * t.entry, 0, t.entry);
}

/* Returns what was found for packets to an accelerator; NULL: there is no memory. */
static struct hx_around_found *found_for(struct hx_around *a, uint32_t to)
{
    const uint8_t *blocked = a->blocked ? a->blocked(a->of, to).bits : NULL;
    struct hx_around_found *f = a->found;
    while (f && f->blocked != blocked)
        f = f->next;
    if (f)
        return f;
    f = a->take(a->of, sizeof *f);
    if (f) {
        *f = (struct hx_around_found){.blocked = blocked, .next = a->found};
        a->found = f;
    }
    return f;
}

/* ---- answers that are kept ---- */

enum { FIRST_SLOTS = 8 };

static struct hx_around_way *slot_of(const struct hx_around_found *f, uint32_t key)
{
    uint32_t at = key * UINT32_C(0x9E3779B1) >> 8 & (f->slots - 1);
    while (f->way[at].key && f->way[at].key != key)
        at = (at + 1) & (f->slots - 1);
    return &f->way[at];
}

/* Makes room for one more. The former slots are given back with all memory. Returns false: there is no memory. */
static bool make_room(struct hx_around *a, struct hx_around_found *f)
{
    struct hx_around_found more = {.slots = f->slots ? 2 * f->slots : FIRST_SLOTS};
    if (2 * f->used + 2 <= f->slots)
        return true;
    more.way = a->take(a->of, more.slots * sizeof *more.way);
    if (!more.way)
        return false;
    memset(more.way, 0, more.slots * sizeof *more.way);
    for (uint32_t i = 0; i < f->slots; i++)
        if (f->way[i].key)
            *slot_of(&more, f->way[i].key) = f->way[i];
    f->way = more.way;
    f->slots = more.slots;
    return true;
}

/* Slots double until at least half are free; the former ones are not given back. So all slots together are fewer than
 * eight for each answer. */
size_t hx_around_result_bytes(const struct hx_geometry *g, uint32_t node, unsigned sets)
{
    const size_t answers = (size_t)g->accelerators * ESCAPE_UP;
    const size_t ways = (8 * (answers + 1) + 2 * FIRST_SLOTS) * sizeof(struct hx_around_way);
    const size_t escape = (size_t)g->accelerators * escape_words(g, node) * sizeof(uint64_t);
    return sets * (rounded(sizeof(struct hx_around_found)) + ways + escape);
}

/* Returns the ports of rule 1. Without memory each question searches. */
static uint64_t way_to(struct hx_around *a, struct hx_around_found *f, unsigned kind, uint32_t to)
{
    const uint32_t key = to * KINDS + kind + 1;
    const struct hx_around_way *known = f->slots ? slot_of(f, key) : NULL;
    if (known && known->key)
        return known->ports;
    uint64_t ports = hx_around_search_way(a, f->blocked, kind, to);
    if (make_room(a, f)) {
        *slot_of(f, key) = (struct hx_around_way){.ports = ports, .key = key};
        f->used++;
    }
    return ports;
}

/* ---- answers ---- */

/* Returns the candidates by the tables before they were cleared. The last VC cannot be incremented. */
static uint64_t uncleared(const struct hx_around *a, const struct hx_route *r, unsigned input, unsigned vc, unsigned gx,
                          unsigned gy)
{
    const uint64_t open = vc < r->last_vc ? UINT64_MAX : ~(uint64_t)r->incrementing;
    const bool by_gx = a->node < a->g->column_base;
    if (a->dead->count == 0)
        return hx_route_ports(r, input, gx, gy) & open;
    if (!r->is_router)
        return ((const uint8_t *)a->tables)[gx] & r->y_table[gy] & r->turn_mask[input] & open;
    return ((const uint64_t *)a->tables)[by_gx ? gx : gy] & r->from[input];
}

/* Whether a packet moved north on this board, or came down from a spine. */
static bool is_restricted(const struct hx_around *a, unsigned input)
{
    const struct hx_place at = hx_place_of(a->g, a->node);
    if (at.kind == HX_ACCELERATOR)
        return input == HX_S && !hx_is_edge(a->g, at.gx, at.gy, HX_S);
    const struct hx_network *n = at.kind == HX_ROW_SWITCH ? &a->g->row : &a->g->column;
    return at.index < n->leaves && input >= n->down;
}

static uint64_t escape_ports(struct hx_around *a, struct hx_around_found *f, unsigned input, uint32_t to)
{
    const unsigned words = escape_words(a->g, a->node);
    if (!f->escape_searched)
        hx_around_search_escape(a, f);
    const unsigned kind = f->from_up >> input & 1 ? ESCAPE_UP : ESCAPE_DOWN;
    return f->escape ? escape_of(f->escape + (size_t)to * words, words, kind) & a->up : 0;
}

uint64_t hx_around_ports(struct hx_around *a, const struct hx_route *r, unsigned input, unsigned vc, unsigned gx,
                         unsigned gy)
{
    const uint32_t to = hx_accelerator(a->g, gx, gy);
    if (to == a->node)
        return (uint64_t)1 << HX_LOCAL;
    struct hx_around_found *f = found_for(a, to);
    if (!f || (r->is_router && vc == 0)) /* a corrupt VC */
        return 0;
    if (vc > r->last_vc)
        return escape_ports(a, f, input, to);
    if (a->dead->count == 0 || !concerns(a, to))
        return uncleared(a, r, input, vc, gx, gy);
    const uint64_t ports = way_to(a, f, 2 * vc + is_restricted(a, input), to);
    return ports & (r->is_router ? a->up : r->turn_mask[input]); /* a network may return it to its board */
}

unsigned hx_around_injects_on(struct hx_around *a, const struct hx_route *r, unsigned gx, unsigned gy)
{
    if (r->vcs <= HX_ESCAPE_VC || a->dead->count == 0 || hx_around_ports(a, r, HX_LOCAL, 0, gx, gy))
        return 0;
    return hx_around_ports(a, r, HX_LOCAL, HX_ESCAPE_VC, gx, gy) ? HX_ESCAPE_VC : 0;
}
