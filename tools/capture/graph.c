/* graph.c - breadth-first search over the cables of a fabric (tools/capture/graph.h). */
#include "tools/capture/graph.h"

#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* Paths of a Dragonfly by their cables between routers: L is local, G global. Bits of hx_cap_graph_reach.walks. */
enum walk { WALK, WALK_L, WALK_G, WALK_LG, WALK_GL, WALK_LGL, WALKS };
static const char *const walk_cables[WALKS] = {"", "L", "G", "LG", "GL", "LGL"};

struct hx_cap_graph_reach {
    uint16_t cables;            /* length of the minimal paths; FAR: none */
    uint8_t least_marked, most; /* marked cables on them */
    uint8_t walks;              /* Dragonfly */
};
enum { FAR = UINT16_MAX };

void hx_cap_graph_init(struct hx_cap_graph *g, const struct hx_fabric *f)
{
    *g = (struct hx_cap_graph){.f = f, .one_global = !f->updown && strcmp(f->topology->word, "dragonfly") == 0};
    g->from = hx_allocate(f->nodes, sizeof(struct hx_cap_graph_reach *));
}

void hx_cap_graph_free(struct hx_cap_graph *g)
{
    for (uint32_t node = 0; g->from && node < g->f->nodes; node++)
        free(g->from[node]);
    free(g->from);
    *g = (struct hx_cap_graph){.from = NULL};
}

/* ---- attachment routers ---- */

static uint32_t far_of(const struct hx_cap_graph *g, struct hx_end cable)
{
    return hx_fabric_far(g->f, cable.node, cable.port).node;
}

static bool is_router(const struct hx_cap_graph *g, uint32_t node)
{
    return node != HX_NOWHERE && !hx_is_host(g->f, node);
}

/* The first node where a host's packets have a choice of outputs: its attachment router, or the host itself. */
static uint32_t root_of(const struct hx_cap_graph *g, uint32_t host)
{
    uint32_t far = far_of(g, (struct hx_end){host, HX_E});
    return is_router(g, far) ? far : host;
}

static bool is_attached(const struct hx_cap_graph *g, uint32_t node)
{
    return hx_is_host(g->f, node) && root_of(g, node) != node;
}

/* ---- minimal paths ---- */

static void relax(struct hx_cap_graph_reach *to, const struct hx_cap_graph_reach *from, bool marked)
{
    uint8_t least = (uint8_t)(from->least_marked + marked);
    uint8_t most = (uint8_t)(from->most + marked);
    if (to->cables == FAR)
        *to = (struct hx_cap_graph_reach){.cables = (uint16_t)(from->cables + 1U), .least_marked = least, .most = most};
    to->least_marked = least < to->least_marked ? least : to->least_marked;
    to->most = most > to->most ? most : to->most;
}

static void search_shortest(const struct hx_cap_graph *g, uint32_t root, struct hx_cap_graph_reach *reach)
{
    uint32_t *queue = hx_allocate(g->f->nodes, sizeof *queue);
    uint32_t count = 1;
    queue[0] = root;
    reach[root].cables = 0;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t node = queue[at];
        for (unsigned port = 0; port < hx_fabric_ports(g->f, node); port++) {
            const struct hx_fabric_port *p = hx_fabric_port(g->f, node, port);
            uint32_t far = p->far.node;
            if (far == HX_NOWHERE || is_attached(g, far))
                continue;
            if (reach[far].cables == FAR)
                queue[count++] = far;
            if (reach[far].cables == FAR || reach[far].cables == reach[node].cables + 1)
                relax(&reach[far], &reach[node], p->marked);
        }
    }
    free(queue);
}

/* ---- paths of a Dragonfly ---- */

/* The walk with one more cable; WALKS: not allowed. */
static enum walk longer(enum walk walk, char cable)
{
    size_t length = strlen(walk_cables[walk]);
    for (unsigned next = 0; next < WALKS; next++)
        if (strlen(walk_cables[next]) == length + 1 && walk_cables[next][length] == cable &&
            strncmp(walk_cables[next], walk_cables[walk], length) == 0)
            return next;
    return WALKS;
}

/* A walk has at most three cables, so three passes find all. */
static void search_walks(const struct hx_cap_graph *g, uint32_t root, struct hx_cap_graph_reach *reach)
{
    reach[root].walks = 1U << WALK;
    for (unsigned pass = 0; pass < 3; pass++)
        for (uint32_t node = g->f->hosts; node < g->f->nodes; node++)
            for (unsigned port = 0; reach[node].walks && port < hx_fabric_ports(g->f, node); port++) {
                const struct hx_fabric_port *p = hx_fabric_port(g->f, node, port);
                for (unsigned walk = 0; walk < WALKS && is_router(g, p->far.node); walk++) {
                    enum walk next = longer(walk, p->marked ? 'G' : 'L');
                    if (reach[node].walks >> walk & 1 && next != WALKS)
                        reach[p->far.node].walks |= (uint8_t)(1U << next);
                }
            }
}

static const struct hx_cap_graph_reach *reach_of(struct hx_cap_graph *g, uint32_t root)
{
    if (g->from[root])
        return g->from[root];
    struct hx_cap_graph_reach *reach = hx_allocate(g->f->nodes, sizeof *reach);
    for (uint32_t node = 0; node < g->f->nodes; node++)
        reach[node].cables = FAR;
    if (g->one_global)
        search_walks(g, root, reach);
    else
        search_shortest(g, root, reach);
    g->from[root] = reach;
    return reach;
}

static void widen(struct hx_leg *leg, bool *any, unsigned cables, unsigned vc)
{
    if (!*any)
        *leg = (struct hx_leg){cables, cables, vc, vc};
    *any = true;
    leg->least_cables = cables < leg->least_cables ? cables : leg->least_cables;
    leg->most_cables = cables > leg->most_cables ? cables : leg->most_cables;
    leg->least_vc = vc < leg->least_vc ? vc : leg->least_vc;
    leg->most_vc = vc > leg->most_vc ? vc : leg->most_vc;
}

/* Whether `walk`, followed by the reverse of `left`, is a walk. */
static bool fit_together(enum walk walk, enum walk left)
{
    for (size_t i = strlen(walk_cables[left]); i-- > 0 && walk != WALKS;)
        walk = longer(walk, walk_cables[left][i]);
    return walk != WALKS;
}

/* Whether the cable joins a walk from the source to a walk from the destination. Widens *leg to all of these. */
static bool leg_of_walks(struct hx_cap_graph *g, uint32_t source, uint32_t destination, struct hx_end cable,
                         struct hx_leg *leg)
{
    const struct hx_fabric_port *p = hx_fabric_port(g->f, cable.node, cable.port);
    unsigned begun = reach_of(g, root_of(g, source))[cable.node].walks;
    unsigned left = reach_of(g, root_of(g, destination))[p->far.node].walks;
    bool any = false;
    for (unsigned i = 0; i < WALKS * WALKS; i++) {
        enum walk walk = i / WALKS;
        enum walk rest = i % WALKS;
        if (!(begun >> walk & 1) || !(left >> rest & 1))
            continue;
        walk = longer(walk, p->marked ? 'G' : 'L');
        if (walk != WALKS && fit_together(walk, rest))
            widen(leg, &any, 1 + (unsigned)strlen(walk_cables[walk]), strchr(walk_cables[walk], 'G') != NULL);
    }
    return any;
}

static struct hx_leg whole_walk(struct hx_cap_graph *g, uint32_t source, uint32_t destination)
{
    unsigned walks = reach_of(g, root_of(g, source))[root_of(g, destination)].walks;
    struct hx_leg leg = {0};
    bool any = false;
    for (unsigned walk = 0; walk < WALKS; walk++)
        if (walks >> walk & 1)
            widen(&leg, &any, 2 + (unsigned)strlen(walk_cables[walk]), strchr(walk_cables[walk], 'G') != NULL);
    return leg;
}

/* ---- VCs ---- */

/* The leg of a minimal path with `cables` cables so far, `between` of them between routers, `least` to `most` of them
 * marked. */
static struct hx_leg leg_of(const struct hx_cap_graph *g, unsigned cables, unsigned between, unsigned least,
                            unsigned most)
{
    struct hx_leg leg = {.least_cables = cables, .most_cables = cables};
    unsigned last = g->f->vcs - 1;
    if (g->f->updown || g->f->topology->vc_increment) { /* depends on inputs, which only the switches know */
        leg.most_vc = last;
        return leg;
    }
    switch (g->f->rule) {
    case HX_VC_NEVER:
    case HX_VC_AT_LEAF: /* a minimal path does not go up twice */
        break;
    case HX_VC_BY_HOP:
        leg.least_vc = leg.most_vc = between ? between - 1 : 0;
        break;
    case HX_VC_BY_LINK:
        leg.least_vc = least;
        leg.most_vc = most < last ? most : last;
        break;
    default: /* VCs restart at stages, and the stage is not known here */
        leg.most_vc = most < last ? most : last;
    }
    return leg;
}

unsigned hx_cap_graph_vc(const struct hx_cap_graph *g, uint32_t node, unsigned input, unsigned vc, unsigned output)
{
    const struct hx_fabric_port *in = hx_fabric_port(g->f, node, input);
    const struct hx_fabric_port *out = hx_fabric_port(g->f, node, output);
    if (hx_is_host(g->f, node))
        return vc + (g->f->rule == HX_VC_BY_LINK && out->marked);
    if (g->f->updown) /* a turn from down to up takes the next VC */
        return vc + (unsigned)(hx_fabric_turned(g->f, node, output) >> input & 1);
    if (g->f->topology->vc_increment)
        return vc + (unsigned)(hx_fabric_vc_increment(g->f, node, output) >> input & 1);
    if (!is_router(g, out->far.node) || g->f->rule == HX_VC_NEVER)
        return vc;
    bool from_router = is_router(g, in->far.node);
    if (g->f->rule == HX_VC_BY_HOP || (g->f->rule == HX_VC_AT_LEAF && g->f->node[node].addr_hi != HX_NO_ADDRESS))
        return vc + from_router;
    if (g->f->rule == HX_VC_AT_LEAF)
        return vc;
    if (g->f->rule == HX_VC_BY_STAGE && from_router && in->stage != out->stage)
        vc = 0;
    return vc + out->marked;
}

/* ---- */

struct hx_leg hx_cap_graph_whole(struct hx_cap_graph *g, uint32_t source, uint32_t destination)
{
    if (g->one_global)
        return whole_walk(g, source, destination);
    const struct hx_cap_graph_reach *r = &reach_of(g, root_of(g, source))[root_of(g, destination)];
    unsigned attached = (unsigned)is_attached(g, source) + is_attached(g, destination);
    return leg_of(g, r->cables + attached, r->cables, r->least_marked, r->most);
}

bool hx_cap_graph_leg(struct hx_cap_graph *g, uint32_t source, uint32_t destination, struct hx_end cable,
                      struct hx_leg *leg)
{
    uint32_t far = far_of(g, cable);
    if (is_attached(g, cable.node)) {
        *leg = (struct hx_leg){.least_cables = 1, .most_cables = 1};
        return cable.node == source;
    }
    if (is_attached(g, far)) {
        *leg = hx_cap_graph_whole(g, source, destination);
        return far == destination;
    }
    if (g->one_global)
        return leg_of_walks(g, source, destination, cable, leg);
    uint32_t end = root_of(g, destination);
    const struct hx_cap_graph_reach *done = reach_of(g, root_of(g, source));
    const struct hx_cap_graph_reach *left = reach_of(g, end);
    bool marked = hx_fabric_port(g->f, cable.node, cable.port)->marked;
    unsigned between = done[cable.node].cables + 1U;
    *leg = leg_of(g, between + is_attached(g, source), between, done[cable.node].least_marked + marked,
                  done[cable.node].most + marked);
    return between + left[far].cables == done[end].cables;
}

/* ---- detours ---- */

static unsigned area_of(const struct hx_cap_graph *g, unsigned addr_hi)
{
    return g->f->detours.area ? addr_hi / g->f->detours.area : addr_hi;
}

bool hx_cap_detour_ends(const struct hx_cap_graph *g, uint32_t router, unsigned via)
{
    unsigned addr_hi = g->f->node[router].addr_hi;
    return addr_hi != HX_NO_ADDRESS && area_of(g, addr_hi) == area_of(g, via - 1);
}

/* Number of cables between routers on the longest path. */
static unsigned longest(struct hx_cap_graph *g, uint32_t source)
{
    unsigned most = 0;
    const struct hx_cap_graph_reach *reach = reach_of(g, root_of(g, source));
    if (g->one_global)
        return 5; /* local, global, local, global, local */
    for (uint32_t node = g->f->hosts; node < g->f->nodes; node++)
        if (g->f->node[node].addr_hi != HX_NO_ADDRESS && reach[node].cables != FAR && reach[node].cables > most)
            most = reach[node].cables;
    return 2 * most;
}

/* Cables of a Dragonfly's shortest detour, both hosts' own included. The direct path may have more: two local cables
 * beside the global one. */
enum { TWO_GLOBALS = 4 };

struct hx_leg hx_cap_detour_whole(struct hx_cap_graph *g, uint32_t source, uint32_t destination)
{
    struct hx_leg leg = hx_cap_graph_whole(g, source, destination);
    leg.least_vc = 0;
    leg.most_vc = g->f->vcs - 1;
    if (root_of(g, source) != root_of(g, destination)) {
        unsigned most = 2 + longest(g, source);
        leg.most_cables = most > leg.most_cables ? most : leg.most_cables;
        if (g->one_global && leg.least_cables > TWO_GLOBALS)
            leg.least_cables = TWO_GLOBALS;
    } else {
        leg.most_vc = 0;
    }
    return leg;
}

/* Whether the cable leads nearer to the destination, from any source. */
static bool leads_on(struct hx_cap_graph *g, uint32_t destination, struct hx_end cable)
{
    const struct hx_fabric_port *p = hx_fabric_port(g->f, cable.node, cable.port);
    const struct hx_cap_graph_reach *left = reach_of(g, root_of(g, destination));
    enum walk begun = p->marked ? WALK_G : WALK_L;
    for (unsigned rest = 0; g->one_global && rest < WALKS; rest++)
        if (left[p->far.node].walks >> rest & 1 && fit_together(begun, rest))
            return true;
    return !g->one_global && left[p->far.node].cables + 1U == left[cable.node].cables;
}

/* Computes the leg from the source to the end of its detour. false: the cable is on no such path. */
static bool leg_out(struct hx_cap_graph *g, uint32_t source, unsigned via, struct hx_end cable, struct hx_leg *leg)
{
    bool any = false;
    for (uint32_t router = g->f->hosts; router < g->f->nodes && !hx_cap_detour_ends(g, cable.node, via); router++) {
        struct hx_leg one;
        uint32_t host =
            hx_cap_detour_ends(g, router, via) ? hx_fabric_host(g->f, g->f->node[router].addr_hi, 0) : HX_NOWHERE;
        if (host == HX_NOWHERE || !hx_cap_graph_leg(g, source, host, cable, &one))
            continue;
        widen(leg, &any, one.least_cables, one.least_vc);
        widen(leg, &any, one.most_cables, one.most_vc);
    }
    return any;
}

bool hx_cap_detour_leg(struct hx_cap_graph *g, uint32_t source, uint32_t destination, unsigned via, struct hx_end cable,
                       struct hx_leg *leg)
{
    uint32_t far = far_of(g, cable);
    if (is_attached(g, cable.node)) {
        *leg = (struct hx_leg){.least_cables = 1, .most_cables = 1};
        return cable.node == source && via == 0;
    }
    if (is_attached(g, far)) {
        *leg = hx_cap_detour_whole(g, source, destination);
        return far == destination && via == 0;
    }
    if (via)
        return via <= g->f->digits[0] && leg_out(g, source, via, cable, leg);
    *leg = (struct hx_leg){.least_cables = 2, .most_cables = 1 + longest(g, source), .most_vc = g->f->vcs - 1};
    return leads_on(g, destination, cable);
}
