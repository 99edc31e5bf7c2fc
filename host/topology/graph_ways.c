/* graph_ways.c - searches an order of routers that needs few VCs (host/topology/graph_ways.h). */
#include "host/topology/graph_ways.h"

#include <stdlib.h>
#include <string.h>

enum { UP, DOWN, NEVER = 255 };

/* Work that a search may take, in looks at a port: a second or so. */
static const uint64_t most_looks = UINT64_C(1) << 29;

struct search {
    const struct hx_fabric *f;
    struct hx_graph_ways *w;
    uint32_t *router_of; /* [digits] */
    uint32_t *queue;     /* [routers]: the nearest to a destination first */
    uint8_t (*turns)[2]; /* [routers]: turns from down to up that are still to come, for who came up or down */
    uint64_t looks;
};

static uint32_t far_router(const struct hx_fabric *f, uint32_t router, unsigned port)
{
    uint32_t far = hx_fabric_far(f, f->hosts + router, port).node;
    return hx_is_host(f, far) ? HX_NOWHERE : far - f->hosts;
}

static bool has_hosts(const struct hx_fabric *f, uint32_t router)
{
    return f->node[f->hosts + router].d0 != HX_NO_DIGIT;
}

/* ---- distances ---- */

/* Breadth first from a router, which is distance 0. Returns how many it came to; 0: one of them is too far. */
static uint32_t spread(const struct hx_fabric *f, uint32_t from, uint8_t *distance, uint32_t *queue)
{
    uint32_t count = 1;
    memset(distance, NEVER, f->nodes - f->hosts);
    queue[0] = from;
    distance[from] = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t router = queue[at];
        for (unsigned port = 0; port < hx_fabric_ports(f, f->hosts + router); port++) {
            uint32_t far = far_router(f, router, port);
            if (far == HX_NOWHERE || distance[far] != NEVER)
                continue;
            if (distance[router] == HX_GRAPH_MOST_DISTANCE)
                return 0;
            distance[far] = (uint8_t)(distance[router] + 1);
            queue[count++] = far;
        }
    }
    return count;
}

static bool measure(struct search *s)
{
    for (uint32_t digit = 0; digit < s->w->digits; digit++) {
        uint8_t *distance = s->w->distance + (size_t)digit * s->w->routers;
        if (spread(s->f, s->router_of[digit], distance, s->queue) == 0)
            return false;
    }
    return true;
}

/* All shortest ways. */
static void take_all(struct search *s)
{
    for (uint32_t digit = 0; digit < s->w->digits; digit++) {
        const uint8_t *distance = s->w->distance + (size_t)digit * s->w->routers;
        uint64_t *ports = s->w->ports + (size_t)digit * s->w->routers;
        for (uint32_t router = 0; router < s->w->routers; router++) {
            ports[router] = 0;
            for (unsigned port = 0; port < hx_fabric_ports(s->f, s->f->hosts + router); port++) {
                uint32_t far = far_router(s->f, router, port);
                ports[router] |= (uint64_t)(far != HX_NOWHERE && distance[far] < distance[router]) << port;
            }
        }
    }
}

/* ---- turns ---- */

/* Routers by their distance to a destination, which stands first. */
static void sort_by_distance(struct search *s, const uint8_t *distance)
{
    uint32_t first[NEVER + 2] = {0};
    for (uint32_t router = 0; router < s->w->routers; router++)
        first[distance[router] + 1]++;
    for (unsigned i = 1; i <= NEVER; i++)
        first[i] += first[i - 1];
    for (uint32_t router = 0; router < s->w->routers; router++)
        s->queue[first[distance[router]]++] = router;
}

/* Turns that a packet has yet to take which goes by this port after it came up or down. */
static unsigned turns_by(struct search *s, uint32_t router, unsigned port, unsigned came)
{
    uint32_t far = far_router(s->f, router, port);
    bool up = hx_graph_up(s->w, router, far);
    unsigned turns = s->turns[far][up ? UP : DOWN] + (came == DOWN && up ? 1U : 0U);
    s->looks++;
    return turns < NEVER ? turns : NEVER;
}

/* Of `ports`, those by which no more turns are to come than `most`. */
static uint64_t with_turns(struct search *s, uint32_t router, uint64_t ports, unsigned came, unsigned most)
{
    uint64_t set = 0;
    for (uint64_t left = ports; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        set |= (uint64_t)(turns_by(s, router, port, came) <= most) << port;
    }
    return set;
}

/* Leaves out ways that need too many turns: first those that only who came up could take, if others are left. */
static uint64_t prune(struct search *s, uint32_t router, uint64_t ports, unsigned most)
{
    uint64_t for_all = with_turns(s, router, ports, DOWN, most);
    return for_all ? for_all : with_turns(s, router, ports, UP, most);
}

static void count_turns_from(struct search *s, uint32_t router, uint64_t ports)
{
    for (unsigned came = UP; came <= DOWN; came++) {
        unsigned most = ports ? 0 : NEVER;
        for (uint64_t left = ports; left; left &= left - 1) {
            unsigned turns = turns_by(s, router, (unsigned)__builtin_ctzll(left), came);
            most = turns > most ? turns : most;
        }
        s->turns[router][came] = (uint8_t)most;
    }
}

/* The most turns from down to up that any packet takes under the order as it is, or more than `most`. Where ways are to be
 * left out, they are until no packet takes more than `most`; NEVER: some have no way then. */
static unsigned count_turns(struct search *s, unsigned most, bool leave_out)
{
    unsigned all = 0;
    for (uint32_t digit = 0; digit < s->w->digits && all <= most; digit++) {
        uint64_t *ports = s->w->ports + (size_t)digit * s->w->routers;
        sort_by_distance(s, s->w->distance + (size_t)digit * s->w->routers);
        memset(s->turns[s->queue[0]], 0, sizeof *s->turns);
        for (uint32_t at = 1; at < s->w->routers; at++) {
            uint32_t router = s->queue[at];
            if (leave_out)
                ports[router] = prune(s, router, ports[router], most);
            count_turns_from(s, router, ports[router]);
            if (has_hosts(s->f, router) && s->turns[router][UP] > all)
                all = s->turns[router][UP];
        }
    }
    return all;
}

/* ---- orders ---- */

/* Those furthest from any host first, as the tops of a tree. */
static void order_from_tops(struct search *s)
{
    uint32_t count = 0;
    uint8_t *seen = hx_allocate(s->w->routers, 1);
    for (uint32_t router = 0; router < s->w->routers; router++) {
        if (has_hosts(s->f, router)) {
            s->queue[count++] = router;
            seen[router] = 1;
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        uint32_t router = s->queue[at];
        s->w->rank[router] = s->w->routers - 1 - at;
        for (unsigned port = 0; port < hx_fabric_ports(s->f, s->f->hosts + router); port++) {
            uint32_t far = far_router(s->f, router, port);
            if (far == HX_NOWHERE || seen[far])
                continue;
            seen[far] = 1;
            s->queue[count++] = far;
        }
    }
    free(seen);
}

static void order_by_number(struct search *s)
{
    for (uint32_t router = 0; router < s->w->routers; router++)
        s->w->rank[router] = router;
}

/* Those nearest to a router first; by number if some are too far from it. */
static void order_from(struct search *s, uint32_t root)
{
    uint8_t *distance = hx_allocate(s->w->routers, 1);
    uint32_t count = spread(s->f, root, distance, s->queue);
    order_by_number(s);
    for (uint32_t at = 0; at < count; at++)
        s->w->rank[s->queue[at]] = at;
    free(distance);
}

/* From the tops of a tree, as they are numbered, then from one router or another. */
enum { MOST_ORDERS = 34 };
static void take_order(struct search *s, unsigned order)
{
    if (order == 0)
        order_from_tops(s);
    else if (order == 1)
        order_by_number(s);
    else
        order_from(s, (uint32_t)((uint64_t)(order - 2) * s->w->routers / (MOST_ORDERS - 2)));
}

/* The order that needs the fewest turns, all ways taken. Returns how many. */
static unsigned find_order(struct search *s)
{
    unsigned best = 0;
    unsigned fewest = NEVER;
    for (unsigned order = 0; order < MOST_ORDERS && fewest && (order < 2 || s->looks < most_looks); order++) {
        take_order(s, order);
        unsigned turns = count_turns(s, fewest - 1, false);
        if (turns < fewest) {
            fewest = turns;
            best = order;
        }
    }
    take_order(s, best);
    return fewest;
}

/* An order that needs no more turns than `most` once ways are left out. Returns how many; NEVER: none was found. */
static unsigned find_order_of_few(struct search *s, unsigned most)
{
    s->looks = 0;
    for (unsigned order = 0; order < MOST_ORDERS && (order < 2 || s->looks < most_looks); order++) {
        take_order(s, order);
        unsigned turns = count_turns(s, most, true);
        if (turns <= most)
            return turns;
        take_all(s);
    }
    return NEVER;
}

static void find(struct search *s)
{
    take_all(s);
    unsigned turns = find_order(s);
    if (turns >= HX_VCS)
        turns = find_order_of_few(s, HX_VCS - 1);
    s->w->vcs = turns < HX_VCS ? turns + 1 : 0;
}

static struct hx_graph_ways *make_room(const struct hx_fabric *f)
{
    uint32_t routers = f->nodes - f->hosts;
    size_t entries = (size_t)routers * f->digits[0];
    struct hx_graph_ways *w =
        hx_allocate(1, sizeof *w + entries * (sizeof *w->ports + sizeof *w->distance) + routers * sizeof *w->rank);
    w->routers = routers;
    w->digits = f->digits[0];
    w->ports = (uint64_t *)(w + 1);
    w->rank = (uint32_t *)(w->ports + entries);
    w->distance = (uint8_t *)(w->rank + routers);
    return w;
}

struct hx_graph_ways *hx_graph_ways_find(const struct hx_fabric *f)
{
    struct hx_graph_ways *w = make_room(f);
    struct search s = {.f = f,
                       .w = w,
                       .router_of = hx_allocate(w->digits, sizeof *s.router_of),
                       .queue = hx_allocate(w->routers, sizeof *s.queue),
                       .turns = hx_allocate(w->routers, sizeof *s.turns)};
    for (uint32_t router = 0; router < w->routers; router++)
        if (has_hosts(f, router))
            s.router_of[f->node[f->hosts + router].d0] = router;
    bool near = measure(&s);
    if (near)
        find(&s);
    free(s.router_of);
    free(s.queue);
    free(s.turns);
    if (!near)
        free(w);
    return near ? w : NULL;
}
