/* updown.c - searches an order of routers that needs few VCs (topology/updown.h). */
#include "topology/updown.h"

#include <stdlib.h>
#include <string.h>

enum { UP, DOWN, NEVER = 255 };
enum { MOST_ENTRIES = 1 << 24 }; /* of the tables by destination and router */

/* Work limit of a search, in port visits: about a second. */
static const uint64_t most_visits = UINT64_C(1) << 29;

struct search {
    const struct hx_fabric *f;
    const uint64_t *down; /* [nodes]: failed ports; NULL: none */
    unsigned most_vcs;
    struct hx_updown *w;
    uint32_t *router_of; /* [digits]; HX_NOWHERE: none */
    uint32_t *queue;     /* [routers]: nearest to a destination first */
    uint32_t *first;     /* [routers + 1]: first queue index of each distance */
    uint8_t (*turns)[2]; /* [routers]: remaining turns from down to up of a packet that arrived UP or DOWN */
    uint64_t visits;
};

/* Returns the router behind a port; HX_NOWHERE: a host, nothing, or a failed link. */
static uint32_t far_router(const struct search *s, uint32_t router, unsigned port)
{
    uint32_t node = s->f->hosts + router;
    struct hx_end far = hx_fabric_far(s->f, node, port);
    bool none = far.node == HX_NOWHERE || hx_is_host(s->f, far.node);
    bool down = !none && s->down && ((s->down[node] >> port | s->down[far.node] >> far.port) & 1);
    return none || down ? HX_NOWHERE : far.node - s->f->hosts;
}

static bool has_hosts(const struct hx_fabric *f, uint32_t router)
{
    return f->node[f->hosts + router].addr_hi != HX_NO_ADDRESS;
}

/* ---- distances ---- */

/* Queues the neighbours of a router that are not reached. Returns the length of the queue. */
static uint32_t reach_neighbours(const struct search *s, uint32_t router, uint16_t *distance, uint32_t count)
{
    for (unsigned port = 0; port < hx_fabric_ports(s->f, s->f->hosts + router); port++) {
        uint32_t far = far_router(s, router, port);
        if (far == HX_NOWHERE || distance[far] != HX_UNREACHABLE_DISTANCE)
            continue;
        distance[far] = (uint16_t)(distance[router] + 1);
        s->queue[count++] = far;
    }
    return count;
}

/* Breadth-first search from the first `count` routers of the queue. Returns the number of routers reached. */
static uint32_t spread(const struct search *s, uint16_t *distance, uint32_t count)
{
    memset(distance, UINT8_MAX, s->w->routers * sizeof *distance);
    for (uint32_t at = 0; at < count; at++)
        distance[s->queue[at]] = 0;
    for (uint32_t at = 0; at < count; at++)
        count = reach_neighbours(s, s->queue[at], distance, count);
    return count;
}

static uint32_t spread_from(const struct search *s, uint32_t router, uint16_t *distance)
{
    s->queue[0] = router;
    return spread(s, distance, 1);
}

static void measure(struct search *s)
{
    for (uint32_t digit = 0; digit < s->w->digits; digit++) {
        uint16_t *distance = s->w->distance + (size_t)digit * s->w->routers;
        if (s->router_of[digit] == HX_NOWHERE)
            memset(distance, UINT8_MAX, s->w->routers * sizeof *distance);
        else
            (void)spread_from(s, s->router_of[digit], distance);
    }
}

static void take_all(struct search *s)
{
    for (uint32_t digit = 0; digit < s->w->digits; digit++) {
        const uint16_t *distance = s->w->distance + (size_t)digit * s->w->routers;
        uint64_t *ports = s->w->ports + (size_t)digit * s->w->routers;
        for (uint32_t router = 0; router < s->w->routers; router++) {
            ports[router] = 0;
            for (unsigned port = 0; port < hx_fabric_ports(s->f, s->f->hosts + router); port++) {
                uint32_t far = far_router(s, router, port);
                ports[router] |= (uint64_t)(far != HX_NOWHERE && distance[far] < distance[router]) << port;
            }
        }
    }
}

/* ---- turns ---- */

/* Sorts routers by their distance to a destination, which comes first. Returns how many reach it. */
static uint32_t sort_by_distance(struct search *s, const uint16_t *distance)
{
    uint32_t count = 0;
    memset(s->first, 0, (s->w->routers + 1U) * sizeof *s->first);
    for (uint32_t router = 0; router < s->w->routers; router++)
        if (distance[router] != HX_UNREACHABLE_DISTANCE)
            s->first[distance[router] + 1]++;
    for (uint32_t links = 1; links <= s->w->routers; links++)
        s->first[links] += s->first[links - 1];
    for (uint32_t router = 0; router < s->w->routers; router++) {
        if (distance[router] == HX_UNREACHABLE_DISTANCE)
            continue;
        s->queue[s->first[distance[router]]++] = router;
        count++;
    }
    return count;
}

/* Returns the remaining turns of a packet that arrived UP or DOWN and leaves by this port. */
static unsigned turns_by(struct search *s, uint32_t router, unsigned port, unsigned arrived)
{
    uint32_t far = far_router(s, router, port);
    bool up = hx_updown_up(s->w, router, far);
    unsigned turns = s->turns[far][up ? UP : DOWN] + (arrived == DOWN && up ? 1U : 0U);
    s->visits++;
    return turns < NEVER ? turns : NEVER;
}

/* Returns those of `ports` by which at most `most` turns remain. */
static uint64_t with_turns(struct search *s, uint32_t router, uint64_t ports, unsigned arrived, unsigned most)
{
    uint64_t set = 0;
    for (uint64_t left = ports; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        set |= (uint64_t)(turns_by(s, router, port, arrived) <= most) << port;
    }
    return set;
}

/* Drops ports with too many turns. Ports that only packets from below may take stay only if there are no others. */
static uint64_t prune(struct search *s, uint32_t router, uint64_t ports, unsigned most)
{
    uint64_t for_all = with_turns(s, router, ports, DOWN, most);
    return for_all ? for_all : with_turns(s, router, ports, UP, most);
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned most_turns_by(struct search *s, uint32_t router, uint64_t ports, unsigned arrived)
{
    unsigned turns = ports ? 0 : NEVER;
    for (uint64_t left = ports; left; left &= left - 1)
        turns = larger(turns, turns_by(s, router, (unsigned)__builtin_ctzll(left), arrived));
    return turns;
}

/* Counts the turns from a router. Drops paths of more than `most` turns; NEVER: keeps all. Returns the turns of its
 * hosts' packets. */
static unsigned count_turns_from(struct search *s, uint32_t router, uint64_t *ports, unsigned most)
{
    if (most < NEVER)
        *ports = prune(s, router, *ports, most);
    for (unsigned arrived = UP; arrived <= DOWN; arrived++)
        s->turns[router][arrived] = (uint8_t)most_turns_by(s, router, *ports, arrived);
    return has_hosts(s->f, router) ? s->turns[router][UP] : 0;
}

/* Returns the most turns from down to up of any packet to this digit, under the current order. Drops paths of more than
 * `most` turns; NEVER: keeps all. Returns NEVER if some router has no path left. */
static unsigned count_turns_to(struct search *s, uint32_t digit, unsigned most)
{
    unsigned all = 0;
    uint64_t *ports = s->w->ports + (size_t)digit * s->w->routers;
    uint32_t count = sort_by_distance(s, s->w->distance + (size_t)digit * s->w->routers);
    memset(s->turns[s->queue[0]], 0, sizeof *s->turns);
    for (uint32_t at = 1; at < count; at++)
        all = larger(all, count_turns_from(s, s->queue[at], &ports[s->queue[at]], most));
    return all;
}

/* Returns the most turns to any digit. Drops paths as count_turns_to(). Stops at the first digit that exceeds
 * `enough`. */
static unsigned count_turns(struct search *s, unsigned enough, unsigned most)
{
    unsigned all = 0;
    for (uint32_t digit = 0; digit < s->w->digits && all <= enough; digit++)
        all = larger(all, count_turns_to(s, digit, most));
    return all;
}

/* ---- orders ---- */

/* Ranks routers by their distance from hosts, the furthest first, like the tops of a tree. */
static void order_from_tops(struct search *s)
{
    uint16_t *distance = hx_allocate(s->w->routers, sizeof *distance);
    uint32_t count = 0;
    for (uint32_t router = 0; router < s->w->routers; router++)
        if (has_hosts(s->f, router))
            s->queue[count++] = router;
    count = spread(s, distance, count);
    for (uint32_t at = 0; at < count; at++)
        s->w->rank[s->queue[at]] = s->w->routers - 1 - at;
    free(distance);
}

static void order_by_number(struct search *s)
{
    for (uint32_t router = 0; router < s->w->routers; router++)
        s->w->rank[router] = router;
}

/* Ranks routers by their distance from a root; unreachable ones by number. */
static void order_from(struct search *s, uint32_t root)
{
    uint16_t *distance = hx_allocate(s->w->routers, sizeof *distance);
    uint32_t count = spread_from(s, root, distance);
    order_by_number(s);
    for (uint32_t at = 0; at < count; at++)
        s->w->rank[s->queue[at]] = at;
    free(distance);
}

/* Orders to try: tree tops first, by number, then 32 roots. */
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

/* Takes the order that needs the fewest turns with all minimal paths. Returns the number of turns. */
static unsigned find_order(struct search *s)
{
    unsigned best = 0;
    unsigned fewest = NEVER;
    for (unsigned order = 0; order < MOST_ORDERS && fewest && (order < 2 || s->visits < most_visits); order++) {
        take_order(s, order);
        unsigned turns = count_turns(s, fewest - 1, NEVER);
        if (turns < fewest) {
            fewest = turns;
            best = order;
        }
    }
    take_order(s, best);
    return fewest;
}

/* Takes the first order that needs at most `most` turns after it drops paths. Returns the turns; NEVER: none found. */
static unsigned find_order_of_few(struct search *s, unsigned most)
{
    s->visits = 0;
    for (unsigned order = 0; order < MOST_ORDERS && (order < 2 || s->visits < most_visits); order++) {
        take_order(s, order);
        unsigned turns = count_turns(s, most, most);
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
    if (turns >= s->most_vcs)
        turns = find_order_of_few(s, s->most_vcs - 1);
    s->w->vcs = turns < s->most_vcs ? turns + 1 : 0;
}

/* ---- longer paths ---- */

static bool has_path(const struct search *s, uint32_t router)
{
    return s->turns[router][UP] != NEVER;
}

/* Returns those of `ports` that lead to the nearest routers, and sets *links to the distance over them. */
static uint64_t nearest(const struct search *s, uint32_t router, uint64_t ports, const uint16_t *distance,
                        uint16_t *links)
{
    uint64_t set = 0;
    *links = HX_UNREACHABLE_DISTANCE;
    for (uint64_t left = ports; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        const uint16_t far = (uint16_t)(distance[far_router(s, router, port)] + 1);
        set = far < *links ? 0 : set;
        *links = far < *links ? far : *links;
        set |= (uint64_t)(far == *links) << port;
    }
    return set;
}

/* Leads a router without a path to neighbours that have one, with at most `most` turns in all. */
static void extend(struct search *s, uint32_t router, uint16_t *distance, uint64_t *ports, unsigned most)
{
    uint64_t joined = 0;
    uint16_t links;
    for (unsigned port = 0; port < hx_fabric_ports(s->f, s->f->hosts + router); port++) {
        uint32_t far = far_router(s, router, port);
        joined |= (uint64_t)(far != HX_NOWHERE && has_path(s, far)) << port;
    }
    *ports = nearest(s, router, prune(s, router, joined, most), distance, &links);
    distance[router] = *ports ? links : distance[router];
    (void)count_turns_from(s, router, ports, NEVER);
}

/* Extends paths to a digit to all routers that they can reach. Returns whether each router with hosts has one. */
static bool extend_all(struct search *s, uint32_t digit, uint32_t count, unsigned most)
{
    uint16_t *distance = s->w->distance + (size_t)digit * s->w->routers;
    uint64_t *ports = s->w->ports + (size_t)digit * s->w->routers;
    uint32_t without = count;
    uint32_t hosts_without = 0;
    for (uint32_t before = without + 1; without < before;) {
        before = without;
        without = hosts_without = 0;
        for (uint32_t at = 1; at < count; at++) {
            const uint32_t router = s->queue[at];
            if (!has_path(s, router))
                extend(s, router, distance, &ports[router], most);
            without += !has_path(s, router);
            hosts_without += has_hosts(s->f, router) && !has_path(s, router);
        }
    }
    return hosts_without == 0;
}

/* Gives routers that have no minimal path left a longer one: to a neighbour that has a path. If those turn too often,
 * all routers get paths anew, those of the fewest turns first. Each next hop has its path before, so none loops. */
static void find_longer_paths(struct search *s, uint32_t digit, unsigned most)
{
    uint64_t *ports = s->w->ports + (size_t)digit * s->w->routers;
    const uint32_t count = sort_by_distance(s, s->w->distance + (size_t)digit * s->w->routers);
    if (extend_all(s, digit, count, most))
        return;
    for (uint32_t at = 1; at < count; at++) {
        ports[s->queue[at]] = 0;
        s->turns[s->queue[at]][UP] = s->turns[s->queue[at]][DOWN] = NEVER;
    }
    for (unsigned turns = 0; turns <= most; turns++)
        if (extend_all(s, digit, count, turns))
            return;
}

/* Takes a given order and drops paths until the VCs suffice. `longer`: takes longer ones in place of them. */
static void find_in_order(struct search *s, const uint32_t *rank, bool longer)
{
    memcpy(s->w->rank, rank, s->w->routers * sizeof *rank);
    take_all(s);
    for (uint32_t digit = 0; digit < s->w->digits; digit++)
        if (count_turns_to(s, digit, s->most_vcs - 1) == NEVER && longer)
            find_longer_paths(s, digit, s->most_vcs - 1);
    s->w->vcs = s->most_vcs;
}

size_t hx_updown_bytes(const struct hx_fabric *f)
{
    const struct hx_updown *w = NULL;
    uint32_t routers = f->nodes - f->hosts;
    size_t entries = (size_t)routers * f->digits[0];
    return sizeof *w + entries * (sizeof *w->ports + sizeof *w->distance) + routers * sizeof *w->rank;
}

static struct hx_updown *make_room(const struct hx_fabric *f)
{
    uint32_t routers = f->nodes - f->hosts;
    size_t entries = (size_t)routers * f->digits[0];
    struct hx_updown *w = hx_allocate(1, hx_updown_bytes(f));
    w->routers = routers;
    w->digits = f->digits[0];
    w->ports = (uint64_t *)(w + 1);
    w->rank = (uint32_t *)(w->ports + entries);
    w->distance = (uint16_t *)(w->rank + routers);
    return w;
}

/* Notes the router of each addr_hi. Fails if two routers share one. */
static bool take_digits(struct search *s, struct hx_problem *problem)
{
    memset(s->router_of, UINT8_MAX, s->w->digits * sizeof *s->router_of);
    for (uint32_t router = 0; router < s->w->routers; router++) {
        if (!has_hosts(s->f, router))
            continue;
        uint32_t *of = &s->router_of[s->f->node[s->f->hosts + router].addr_hi];
        if (*of != HX_NOWHERE)
            return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                           "routes are found by router, and several routers share an address here");
        *of = router;
    }
    return true;
}

static bool has_room(const struct hx_fabric *f, struct hx_problem *problem)
{
    uint32_t routers = f->nodes - f->hosts;
    if (routers == 0 || f->mesh.nodes)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL, "routes are found by router, and hosts forward here");
    uint32_t most = MOST_ENTRIES / f->digits[0];
    most = most < HX_UNREACHABLE_DISTANCE ? most : HX_UNREACHABLE_DISTANCE - 1;
    return routers <= most ||
           hx_fail(problem, HX_EXIT_CONFIG, NULL, "%u switches are too many: at most %u with hosts on %u of them",
                   routers, most, f->digits[0]);
}

static struct hx_updown *search_routes(const struct hx_fabric *f, const uint64_t *down, unsigned most_vcs,
                                       const uint32_t *rank, bool longer, struct hx_problem *problem)
{
    if (!has_room(f, problem))
        return NULL;
    struct hx_updown *w = make_room(f);
    struct search s = {.f = f,
                       .down = down,
                       .most_vcs = most_vcs,
                       .w = w,
                       .router_of = hx_allocate(w->digits, sizeof *s.router_of),
                       .queue = hx_allocate(w->routers, sizeof *s.queue),
                       .first = hx_allocate(w->routers + 1U, sizeof *s.first),
                       .turns = hx_allocate(w->routers, sizeof *s.turns)};
    bool good = take_digits(&s, problem);
    if (good)
        measure(&s);
    if (good && rank)
        find_in_order(&s, rank, longer);
    else if (good)
        find(&s);
    HX_FREE(s.router_of, s.queue, s.first, s.turns);
    if (!good)
        free(w);
    return good ? w : NULL;
}

struct hx_updown *hx_updown_search(const struct hx_fabric *f, const uint64_t *down, unsigned most_vcs,
                                   const uint32_t *rank, struct hx_problem *problem)
{
    return search_routes(f, down, most_vcs, rank, false, problem);
}

bool hx_updown_may_change(const struct hx_fabric *f)
{
    return f->updown && f->updown->vcs > 1; /* on a single VC no table has a VC increment */
}

bool hx_updown_reroute(struct hx_fabric *rerouted, const struct hx_fabric *f, const uint64_t *down)
{
    struct hx_problem problem;
    struct hx_updown *updown = search_routes(f, down, f->vcs, f->updown->rank, true, &problem);
    if (!updown)
        return false;
    free(rerouted->updown);
    *rerouted = *f;
    rerouted->updown = updown;
    return true;
}

void hx_updown_join(struct hx_updown *into, const struct hx_updown *other)
{
    for (size_t i = 0; i < (size_t)into->routers * into->digits; i++) {
        into->ports[i] |= other->ports[i];
        into->distance[i] = other->distance[i] < into->distance[i] ? other->distance[i] : into->distance[i];
    }
}
