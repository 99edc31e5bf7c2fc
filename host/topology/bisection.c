/* bisection.c - halves of a fabric with few links between them (host/topology/bisection.h). */
#include "host/topology/bisection.h"

#include "host/bounds.h"
#include "host/draw.h"
#include "host/topology/bounds.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_GAIN = HX_MAX_RADIX, /* links of a node: a move cannot gain or lose more */
    MOST_PASSES = 24,
    LEAST_STARTS = 4,
    MOST_STARTS = 32,
    PORTS_OF_ALL_STARTS = 4000000
};

/* Nodes that may still be moved, by what a move gains: lists, one a gain. Those with hosts and those without are kept apart,
 * so that of each queue the first is as good as any. */
struct queue {
    uint32_t first[2 * MOST_GAIN + 1];
    int top; /* no gain above it has any; -MOST_GAIN - 1: empty */
};

struct search {
    const struct hx_fabric *f;
    uint32_t *seat;   /* [nodes]: itself, or the router it hangs on */
    uint32_t *weight; /* [nodes]: hosts that go with it */
    uint64_t hosts;
    uint32_t heaviest;
    uint32_t *moved; /* [nodes]: of this pass, or the order of a start */
    uint32_t *next, *previous;
    int8_t *gain;
    uint8_t *side;
    bool *queued;
    uint64_t on[2]; /* hosts of each half */
    int64_t links;  /* between them */
    struct queue queue[2][2];
    uint64_t random;
};

/* The node that a port leads to, NULL: one that goes with this node, or none. */
static const uint32_t *neighbour(const struct search *s, uint32_t node, unsigned port)
{
    uint32_t far = hx_fabric_far(s->f, node, port).node;
    return far != HX_NOWHERE && s->seat[far] == far ? &s->seat[far] : NULL;
}

/* ---- queues ---- */

static struct queue *queue_of(struct search *s, uint32_t node)
{
    return &s->queue[s->side[node]][s->weight[node] > 0];
}

static void put(struct search *s, uint32_t node)
{
    struct queue *q = queue_of(s, node);
    uint32_t *first = &q->first[s->gain[node] + MOST_GAIN];
    s->next[node] = *first;
    s->previous[node] = HX_NOWHERE;
    if (*first != HX_NOWHERE)
        s->previous[*first] = node;
    *first = node;
    q->top = s->gain[node] > q->top ? s->gain[node] : q->top;
    s->queued[node] = true;
}

static void take(struct search *s, uint32_t node)
{
    struct queue *q = queue_of(s, node);
    if (s->previous[node] == HX_NOWHERE)
        q->first[s->gain[node] + MOST_GAIN] = s->next[node];
    else
        s->next[s->previous[node]] = s->next[node];
    if (s->next[node] != HX_NOWHERE)
        s->previous[s->next[node]] = s->previous[node];
    s->queued[node] = false;
}

static uint32_t first_of(struct queue *q)
{
    while (q->top >= -MOST_GAIN && q->first[q->top + MOST_GAIN] == HX_NOWHERE)
        q->top--;
    return q->top < -MOST_GAIN ? HX_NOWHERE : q->first[q->top + MOST_GAIN];
}

static void fill_queues(struct search *s)
{
    for (unsigned i = 0; i < 4; i++) {
        memset(s->queue[i / 2][i % 2].first, UINT8_MAX, sizeof s->queue[0][0].first);
        s->queue[i / 2][i % 2].top = -MOST_GAIN - 1;
    }
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        int gain = 0;
        if (s->seat[node] != node)
            continue;
        for (unsigned port = 0; port < hx_fabric_ports(s->f, node); port++) {
            const uint32_t *far = neighbour(s, node, port);
            if (far)
                gain += s->side[*far] != s->side[node] ? 1 : -1;
        }
        s->gain[node] = (int8_t)gain;
        put(s, node);
    }
}

/* ---- moves ---- */

/* Whether halves may be so uneven: by `slack` nodes at most. */
static bool is_even(const struct search *s, uint64_t more, unsigned slack)
{
    return 2 * more <= s->hosts + (uint64_t)slack * s->heaviest;
}

static uint32_t best_move(struct search *s)
{
    uint32_t best = HX_NOWHERE;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t node = first_of(&s->queue[i / 2][i % 2]);
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
    take(s, node);
    s->links -= s->gain[node];
    change_side(s, node);
    for (unsigned port = 0; port < hx_fabric_ports(s->f, node); port++) {
        const uint32_t *far = neighbour(s, node, port);
        if (!far || !s->queued[*far])
            continue;
        take(s, *far);
        s->gain[*far] = (int8_t)(s->gain[*far] + (s->side[*far] == s->side[node] ? -2 : 2));
        put(s, *far);
    }
}

/* Moves every node once, and goes back to the best halves on the way. False: they are those it began with. */
static bool improve(struct search *s)
{
    int64_t best = s->links;
    uint32_t moves = 0;
    uint32_t kept = 0;
    fill_queues(s);
    for (uint32_t node; (node = best_move(s)) != HX_NOWHERE;) {
        move(s, node);
        s->moved[moves++] = node;
        if (s->links < best && is_even(s, s->on[0], 1) && is_even(s, s->on[1], 1)) {
            best = s->links;
            kept = moves;
        }
    }
    while (moves > kept)
        change_side(s, s->moved[--moves]);
    s->links = best;
    return kept > 0;
}

/* ---- starts ---- */

static uint32_t by_number(const struct search *s)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < s->f->nodes; node++)
        if (s->seat[node] == node)
            s->moved[count++] = node;
    return count;
}

static void by_lot(struct search *s, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = hx_draw_below(&s->random, i);
        uint32_t node = s->moved[i - 1];
        s->moved[i - 1] = s->moved[j];
        s->moved[j] = node;
    }
}

/* Breadth first from a node that the lot names. */
static void by_neighbourhood(struct search *s, uint32_t count)
{
    uint32_t reached = 1;
    s->moved[0] = s->moved[hx_draw_below(&s->random, count)];
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
}

static void start(struct search *s, unsigned number)
{
    uint32_t count = by_number(s);
    if (number % 2)
        by_neighbourhood(s, count);
    else if (number)
        by_lot(s, count);
    s->on[0] = s->on[1] = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = s->moved[i];
        s->side[node] = !is_even(s, s->on[0] + s->weight[node], 1);
        s->on[s->side[node]] += s->weight[node];
    }
    s->links = 0;
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        for (unsigned port = 0; s->seat[node] == node && port < hx_fabric_ports(s->f, node); port++) {
            const uint32_t *far = neighbour(s, node, port);
            s->links += far && *far > node && s->side[*far] != s->side[node];
        }
    }
}

/* Fewer of larger fabrics. */
static unsigned starts_for(const struct hx_fabric *f)
{
    unsigned starts = LEAST_STARTS;
    while (starts < MOST_STARTS && (uint64_t)(starts + 1) * f->ports <= PORTS_OF_ALL_STARTS)
        starts++;
    return starts;
}

static void weigh(struct search *s)
{
    for (uint32_t node = 0; node < s->f->nodes; node++) {
        s->seat[node] = hx_is_host(s->f, node) ? hx_fabric_seat(s->f, node) : node;
        s->weight[s->seat[node]] += hx_is_host(s->f, node);
    }
    for (uint32_t node = 0; node < s->f->nodes; node++)
        s->heaviest = s->weight[node] > s->heaviest ? s->weight[node] : s->heaviest;
    s->hosts = s->f->hosts;
}

uint64_t hx_bisection_search(const struct hx_fabric *f)
{
    struct search s = {.f = f,
                       .seat = hx_allocate(f->nodes, sizeof *s.seat),
                       .weight = hx_allocate(f->nodes, sizeof *s.weight),
                       .moved = hx_allocate(f->nodes, sizeof *s.moved),
                       .next = hx_allocate(f->nodes, sizeof *s.next),
                       .previous = hx_allocate(f->nodes, sizeof *s.previous),
                       .gain = hx_allocate(f->nodes, sizeof *s.gain),
                       .side = hx_allocate(f->nodes, sizeof *s.side),
                       .queued = hx_allocate(f->nodes, sizeof *s.queued),
                       .random = 1};
    int64_t best = INT64_MAX;
    weigh(&s);
    for (unsigned i = 0; i < starts_for(f); i++) {
        start(&s, i);
        for (unsigned pass = 0; pass < MOST_PASSES; pass++)
            if (!improve(&s))
                break;
        best = s.links < best ? s.links : best;
    }
    free(s.seat);
    free(s.weight);
    free(s.moved);
    free(s.next);
    free(s.previous);
    free(s.gain);
    free(s.side);
    free(s.queued);
    return (uint64_t)best;
}

struct hx_halves hx_fabric_bisection(const struct hx_fabric *f)
{
    struct hx_halves halves = {.exact = true};
    if (f->mesh.nodes)
        halves.links = hx_bisection_of(&f->mesh).links;
    else if (f->topology->bisection && !f->failed)
        halves.links = f->topology->bisection(f);
    if (halves.links == 0 && f->hosts > 1) {
        halves.links = hx_bisection_search(f);
        halves.exact = false;
    }
    halves.share = (double)halves.links / (f->hosts * f->host_links / 2.0);
    return halves;
}
