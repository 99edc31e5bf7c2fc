/* bisection.c - searches halves of a fabric with few links between them (topology/bisection.h). */
#include "topology/bisection.h"

#include "base/divisor.h"
#include "base/rng.h"
#include "topology/attachment_routers.h"
#include "topology/mesh_bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_UNITS = 64, /* of a link's rate: the search ignores finer differences */
    MOST_PASSES = 24,
    LEAST_STARTS = 3,
    MOST_STARTS = 32,
    PORTS_OF_ALL_STARTS = 4000000
};

/* Nodes that may still move, by gain: one list per gain. Nodes with and without hosts have separate queues, so that the
 * first node of a queue is as good as any. */
struct queue {
    uint32_t *first; /* [2 * most_gain + 1] */
    int top;         /* highest gain with an entry; -most_gain - 1: empty */
};

/* Returns what half of some hosts inject, in links of HX_LINK_GBPS. */
static double injected(const struct hx_fabric *f, uint64_t hosts)
{
    return (double)hosts * hx_fabric_injection(f, HX_LINK_GBPS) / 2;
}

struct search {
    const struct hx_fabric *f;
    uint32_t *attachment_router; /* [nodes]: itself, or the router it is attached to */
    uint32_t *weight;            /* [nodes]: hosts to halve that move with it */
    uint64_t hosts;
    uint32_t heaviest;
    struct hx_fabric_dimension dimension[HX_MAX_DIMENSIONS];
    unsigned dimensions;
    uint32_t *moved; /* [nodes]: moves of this pass, or the order of a start */
    uint32_t *next, *previous;
    int *gain;
    uint8_t *side;
    bool *queued;
    uint64_t on[2];                 /* hosts of each half */
    int64_t between;                /* rate between the halves, units */
    int units[HX_MAX_LINK_CLASSES]; /* of a link's rate */
    int most_gain;                  /* all links of a node: the most that a move gains or loses */
    struct queue queue[2][2];
    uint64_t random;
};

/* Returns the node that a port leads to; NULL: none, or one that moves with this node. */
static const uint32_t *neighbour(const struct search *s, uint32_t node, unsigned port)
{
    uint32_t far = hx_fabric_far(s->f, node, port).node;
    return far != HX_NOWHERE && s->attachment_router[far] == far ? &s->attachment_router[far] : NULL;
}

static int units_of(const struct search *s, uint32_t node, unsigned port)
{
    return s->units[hx_fabric_port(s->f, node, port)->link_class];
}

/* Returns the rate in links of HX_LINK_GBPS. */
static double rate_of(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return hx_class_gbps(hx_fabric_link(f, node, port), HX_LINK_GBPS) / HX_LINK_GBPS;
}

/* ---- queues ---- */

static struct queue *queue_of(struct search *s, uint32_t node)
{
    return &s->queue[s->side[node]][s->weight[node] > 0];
}

static void put(struct search *s, uint32_t node)
{
    struct queue *q = queue_of(s, node);
    uint32_t *first = &q->first[s->gain[node] + s->most_gain];
    s->next[node] = *first;
    s->previous[node] = HX_NOWHERE;
    if (*first != HX_NOWHERE)
        s->previous[*first] = node;
    *first = node;
    q->top = s->gain[node] > q->top ? s->gain[node] : q->top;
    s->queued[node] = true;
}

static void take_node(struct search *s, uint32_t node)
{
    struct queue *q = queue_of(s, node);
    if (s->previous[node] == HX_NOWHERE)
        q->first[s->gain[node] + s->most_gain] = s->next[node];
    else
        s->next[s->previous[node]] = s->next[node];
    if (s->next[node] != HX_NOWHERE)
        s->previous[s->next[node]] = s->previous[node];
    s->queued[node] = false;
}

static uint32_t first_of(const struct search *s, struct queue *q)
{
    while (q->top >= -s->most_gain && q->first[q->top + s->most_gain] == HX_NOWHERE)
        q->top--;
    return q->top < -s->most_gain ? HX_NOWHERE : q->first[q->top + s->most_gain];
}

static void fill_queues(struct search *s)
{
    for (unsigned i = 0; i < 4; i++) {
        memset(s->queue[i / 2][i % 2].first, UINT8_MAX, (2 * (size_t)s->most_gain + 1) * sizeof(uint32_t));
        s->queue[i / 2][i % 2].top = -s->most_gain - 1;
    }
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        int gain = 0;
        if (s->attachment_router[node] != node)
            continue;
        for (unsigned port = 0; port < hx_fabric_ports(s->f, node); port++) {
            const uint32_t *far = neighbour(s, node, port);
            if (far)
                gain += s->side[*far] != s->side[node] ? units_of(s, node, port) : -units_of(s, node, port);
        }
        s->gain[node] = gain;
        put(s, node);
    }
}

/* ---- moves ---- */

/* Whether halves differ by at most `slack` nodes. */
static bool is_even(const struct search *s, uint64_t more, unsigned slack)
{
    return 2 * more <= s->hosts + (uint64_t)slack * s->heaviest;
}

static uint32_t best_move(struct search *s)
{
    uint32_t best = HX_NOWHERE;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t node = first_of(s, &s->queue[i / 2][i % 2]);
        bool can = node != HX_NOWHERE && is_even(s, s->on[!s->side[node]] + s->weight[node], 2);
        if (can && (best == HX_NOWHERE || s->gain[node] > s->gain[best] ||
                    (s->gain[node] == s->gain[best] && s->on[s->side[node]] > s->on[s->side[best]])))
            best = node;
    }
    return best;
}

static void change_side(struct search *s, uint32_t node)
{
    s->on[s->side[node]] -= s->weight[node];
    s->side[node] = !s->side[node];
    s->on[s->side[node]] += s->weight[node];
}

static void move(struct search *s, uint32_t node)
{
    take_node(s, node);
    s->between -= s->gain[node];
    change_side(s, node);
    for (unsigned port = 0; port < hx_fabric_ports(s->f, node); port++) {
        const uint32_t *far = neighbour(s, node, port);
        if (!far || !s->queued[*far])
            continue;
        take_node(s, *far);
        s->gain[*far] += (s->side[*far] == s->side[node] ? -2 : 2) * units_of(s, node, port);
        put(s, *far);
    }
}

/* Moves every node once, and returns to the best halves of the pass. Returns false if the pass improves nothing. */
static bool improve(struct search *s)
{
    int64_t best = s->between;
    uint32_t moves = 0;
    uint32_t kept = 0;
    fill_queues(s);
    for (uint32_t node; (node = best_move(s)) != HX_NOWHERE;) {
        move(s, node);
        s->moved[moves++] = node;
        if (s->between < best && is_even(s, s->on[0], 1) && is_even(s, s->on[1], 1)) {
            best = s->between;
            kept = moves;
        }
    }
    while (moves > kept)
        change_side(s, s->moved[--moves]);
    s->between = best;
    return kept > 0;
}

/* Moves switches without hosts to the side that has more of their links. In a pass, hosts would go first. */
static void settle(struct search *s)
{
    fill_queues(s);
    for (unsigned side = 0; side < 2;) {
        uint32_t node = first_of(s, &s->queue[side][0]);
        if (node == HX_NOWHERE || s->gain[node] <= 0) {
            side++;
            continue;
        }
        move(s, node);
        side = 0;
    }
}

/* ---- starts ---- */

static uint32_t by_number(const struct search *s)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < s->f->nodes; node++)
        if (s->attachment_router[node] == node)
            s->moved[count++] = node;
    return count;
}

static void at_random(struct search *s, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = hx_rng_below(&s->random, i);
        uint32_t node = s->moved[i - 1];
        s->moved[i - 1] = s->moved[j];
        s->moved[j] = node;
    }
}

/* Breadth-first search from a random node. Nodes that failures cut off come last. */
static void by_neighbourhood(struct search *s, uint32_t count)
{
    uint32_t reached = 1;
    s->moved[0] = s->moved[hx_rng_below(&s->random, count)];
    memset(s->queued, 0, s->f->nodes * sizeof *s->queued);
    s->queued[s->moved[0]] = true;
    for (uint32_t i = 0; i < reached; i++) {
        for (unsigned port = 0; port < hx_fabric_ports(s->f, s->moved[i]); port++) {
            const uint32_t *far = neighbour(s, s->moved[i], port);
            if (!far || s->queued[*far])
                continue;
            s->queued[*far] = true;
            s->moved[reached++] = *far;
        }
    }
    for (uint32_t node = 0; node < s->f->nodes; node++)
        if (s->attachment_router[node] == node && !s->queued[node])
            s->moved[reached++] = node;
}

/* Cuts a dimension in the middle: hosts below the middle position come first, those in the middle next. */
static void by_position(struct search *s, unsigned dimension)
{
    uint32_t size = s->dimension[dimension].size;
    uint32_t stride = 1;
    uint32_t *part = s->next; /* free between passes */
    uint32_t count = 0;
    for (unsigned i = 0; i < dimension; i++)
        stride *= s->dimension[i].size;
    for (uint32_t node = 0; node < s->f->nodes; node++)
        part[node] = 2; /* a switch without hosts */
    for (uint32_t host = 0; host < s->f->hosts; host++) {
        uint32_t at = host / stride % size;
        part[s->attachment_router[host]] = at < size / 2 ? 0 : 1 + (at >= size - size / 2);
    }
    for (uint32_t wanted = 0; wanted <= 2; wanted++)
        for (uint32_t node = 0; node < s->f->nodes; node++)
            if (s->attachment_router[node] == node && part[node] == wanted)
                s->moved[count++] = node;
}

/* The first starts go by number and by each dimension. */
static void start(struct search *s, unsigned number)
{
    uint32_t count = by_number(s);
    if (number > 0 && number <= s->dimensions)
        by_position(s, number - 1);
    else if (number > 0 && (number - s->dimensions) % 2)
        by_neighbourhood(s, count);
    else if (number > 0)
        at_random(s, count);
    s->on[0] = s->on[1] = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = s->moved[i];
        s->side[node] = !is_even(s, s->on[0] + s->weight[node], 1);
        s->on[s->side[node]] += s->weight[node];
    }
    s->between = 0;
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        for (unsigned port = 0; s->attachment_router[node] == node && port < hx_fabric_ports(s->f, node); port++) {
            const uint32_t *far = neighbour(s, node, port);
            s->between += far && *far > node && s->side[*far] != s->side[node] ? units_of(s, node, port) : 0;
        }
    }
}

/* Returns the number of starts: fewer for larger fabrics. */
static unsigned starts_for(const struct hx_fabric *f)
{
    unsigned starts = LEAST_STARTS;
    while (starts < MOST_STARTS && (uint64_t)(starts + 1) * f->ports <= PORTS_OF_ALL_STARTS)
        starts++;
    return starts;
}

static void weigh(struct search *s, const bool *member)
{
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        bool counts = hx_is_host(s->f, node) && (!member || member[node]) && !(s->f->failed && s->f->failed[node]);
        s->attachment_router[node] = hx_is_host(s->f, node) ? hx_fabric_attachment_router(s->f, node) : node;
        s->weight[s->attachment_router[node]] += counts;
        s->hosts += counts;
    }
    for (uint32_t node = 0; node < s->f->nodes; node++)
        s->heaviest = s->weight[node] > s->heaviest ? s->weight[node] : s->heaviest;
}

/* Hosts that forward stand on the fabric's grid. */
static void find_dimensions(struct search *s)
{
    s->dimensions = hx_fabric_dimensions(s->f, s->dimension);
    if (!s->f->mesh.nodes)
        return;
    s->dimensions = 2;
    s->dimension[0].size = s->f->columns;
    s->dimension[1].size = s->f->rows;
}

/* Expresses rates in units: their greatest common divisor, or a fraction of the highest rate. */
static void measure(struct search *s)
{
    uint32_t unit = 0;
    uint32_t most = 0;
    for (unsigned i = 0; i < s->f->link_classes; i++) {
        uint32_t gbps = (uint32_t)hx_class_gbps(&s->f->link_class[i], HX_LINK_GBPS);
        unit = hx_common_divisor(gbps, unit);
        most = gbps > most ? gbps : most;
    }
    if (unit == 0)
        unit = 1; /* no link at all */
    if (most / unit > MOST_UNITS)
        unit = most / MOST_UNITS;
    for (unsigned i = 0; i < s->f->link_classes; i++)
        s->units[i] = (int)(hx_class_gbps(&s->f->link_class[i], HX_LINK_GBPS) / unit + 0.5);
    for (unsigned i = 0; i < s->f->link_classes; i++) {
        s->units[i] = s->units[i] ? s->units[i] : 1;
        s->most_gain = s->units[i] > s->most_gain ? s->units[i] : s->most_gain;
    }
    s->most_gain *= HX_MAX_RADIX;
}

/* Keeps the current halves if less rate is between them than between the best. half NULL: only their links. */
static void keep(const struct search *s, struct hx_halves *best, uint8_t *half)
{
    struct hx_halves now = {0};
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        for (unsigned port = 0; s->attachment_router[node] == node && port < hx_fabric_ports(s->f, node); port++) {
            const uint32_t *far = neighbour(s, node, port);
            bool between = far && *far > node && s->side[*far] != s->side[node];
            now.links += between;
            now.share += between ? rate_of(s->f, node, port) : 0;
        }
    }
    now.share /= injected(s->f, s->hosts);
    if (now.share >= best->share)
        return;
    *best = now;
    for (uint32_t node = 0; half && node < s->f->nodes; node++)
        half[node] = s->side[s->attachment_router[node]];
}

static void begin(struct search *s, const struct hx_fabric *f, const bool *member)
{
    *s = (struct search){.f = f,
                         .attachment_router = hx_allocate(f->nodes, sizeof *s->attachment_router),
                         .weight = hx_allocate(f->nodes, sizeof *s->weight),
                         .moved = hx_allocate(f->nodes, sizeof *s->moved),
                         .next = hx_allocate(f->nodes, sizeof *s->next),
                         .previous = hx_allocate(f->nodes, sizeof *s->previous),
                         .gain = hx_allocate(f->nodes, sizeof *s->gain),
                         .side = hx_allocate(f->nodes, sizeof *s->side),
                         .queued = hx_allocate(f->nodes, sizeof *s->queued),
                         .random = 1};
    weigh(s, member);
    find_dimensions(s);
    measure(s);
    for (unsigned i = 0; i < 4; i++)
        s->queue[i / 2][i % 2].first = hx_allocate(2 * (size_t)s->most_gain + 1, sizeof(uint32_t));
}

static void end(struct search *s)
{
    for (unsigned i = 0; i < 4; i++)
        free(s->queue[i / 2][i % 2].first);
    HX_FREE(s->attachment_router, s->weight, s->moved, s->next, s->previous, s->gain, s->side, s->queued);
}

struct hx_halves hx_bisection_search(const struct hx_fabric *f, const bool *member, uint8_t *half)
{
    struct search s;
    struct hx_halves best = {.share = INFINITY};
    begin(&s, f, member);
    for (unsigned i = 0; i < starts_for(f) + s.dimensions; i++) {
        start(&s, i);
        for (unsigned pass = 0; pass < MOST_PASSES; pass++)
            if (!improve(&s))
                break;
        settle(&s);
        keep(&s, &best, half);
    }
    end(&s);
    return best;
}

/* ---- formulas ---- */

/* Returns the rate of a link between attachment routers: fabrics with a formula have links of one rate there. */
static double rate_between(const struct hx_fabric *f)
{
    for (uint32_t node = 0; node < f->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            uint32_t far = hx_fabric_far(f, node, port).node;
            bool between = far != HX_NOWHERE &&
                           (!hx_is_host(f, node) || hx_fabric_attachment_router(f, node) == node) &&
                           (!hx_is_host(f, far) || hx_fabric_attachment_router(f, far) == far);
            if (between)
                return rate_of(f, node, port);
        }
    }
    return 1;
}

struct hx_halves hx_fabric_bisection(const struct hx_fabric *f)
{
    struct hx_halves halves = {.exact = true};
    if (f->topology->bisection && !f->failed)
        halves.links = f->topology->bisection(f);
    halves.share = (double)halves.links * rate_between(f) / injected(f, f->hosts);
    if (halves.links || f->hosts < 2)
        return halves;
    halves = hx_bisection_search(f, NULL, NULL);
    if (f->mesh.nodes) {
        struct hx_straight_cut straight = hx_straight_cut_of(&f->mesh);
        if (straight.halves && straight.links < halves.links)
            halves = (struct hx_halves){.links = straight.links, .share = straight.share};
    }
    return halves;
}
