/* dragonfly.c - Dragonfly (Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008): groups of
 * `a` routers, each joined to all others of its group, with p hosts and h links to other groups.
 *
 * A group spreads its a * h global links as evenly as possible over the other groups. On a circle of groups, its
 * neighbours get one more, and so does the opposite group if one is left over. Of an odd number of groups, the last has
 * no opposite. So if each has an odd number of links, one link in all has no other end. A group's links to another
 * start at its routers in turn.
 *
 * A path has at most one global link: local, global, local. Every link between two groups is on a path, not only the
 * links of the source's router, which alone would not share the load evenly. So a router in the source's group offers
 * its links to the destination's group, and its local links to routers that have some. A packet from a local link
 * continues by a global one or to a host; a packet from a global link stays in the group. These two rules are in
 * `turn_mask`, not in tables, and the AND of all three leaves only valid paths. The global link moves a packet to the
 * next VC.
 *
 * As SC22 (appendix C) buys them, as many routers of a group as fit share a 64-port box, and links in a box are traces:
 * two of 31 ports, one of 64. Links in a group are copper, others optical. A failure group is a router and its
 * hosts. */
#include "base/error.h"
#include "topology/topology.h"

#include <stdlib.h>

enum { MOST_GROUPS = 4096 };

/* A circle of groups. Each has `pair` links to every other one, one more to the `near` next ones on both sides, and one
 * more to the opposite one. Of an odd number, group i of the first half is opposite to group i + groups / 2. */
struct dragonfly {
    unsigned a, p, h, groups;
    unsigned pair, near;
    bool opposite;
    unsigned box;    /* routers in one box */
    uint8_t links[]; /* [routers][groups]: of each router to each group */
};

static const struct dragonfly *dragonfly_of(const struct hx_fabric *f)
{
    return f->own;
}

static unsigned group_of(const struct hx_fabric *f, uint32_t node)
{
    return (node - f->hosts) / dragonfly_of(f)->a;
}

/* Returns the links of a router itself to a group. */
static unsigned reaches(const struct hx_fabric *f, uint32_t node, unsigned group)
{
    return dragonfly_of(f)->links[(size_t)(node - f->hosts) * dragonfly_of(f)->groups + group];
}

static unsigned links_between(const struct dragonfly *d, unsigned group, unsigned other)
{
    unsigned forth = (other + d->groups - group) % d->groups;
    unsigned away = forth < d->groups - forth ? forth : d->groups - forth;
    unsigned half = d->groups / 2;
    unsigned low = group < other ? group : other;
    bool across = low < half && group + other == 2 * low + half;
    return d->pair + (away <= d->near) + (d->opposite && across);
}

static void share_links(struct dragonfly *d)
{
    if (d->groups == 1)
        return;
    unsigned left = d->a * d->h % (d->groups - 1);
    d->pair = d->a * d->h / (d->groups - 1);
    d->near = left / 2;
    d->opposite = left % 2;
}

/* Returns the most routers of a group that share a box: their ports fit it, without those between them. */
static unsigned routers_in_box(const struct dragonfly *d)
{
    unsigned box = d->a;
    while (box > 1 && (d->a % box || box * (d->p + d->h + d->a - box) > HX_MAX_RADIX))
        box--;
    return box;
}

static bool take_sizes(struct dragonfly *d, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"a", "p", "h", "groups", NULL};
    if (!hx_spec_tokens_number(tokens, "a", 1, HX_MAX_RADIX, 4, &d->a, problem) ||
        !hx_spec_tokens_number(tokens, "p", 1, HX_MAX_RADIX, d->a > 1 ? d->a / 2 : 1, &d->p, problem) ||
        !hx_spec_tokens_number(tokens, "h", 1, HX_MAX_RADIX, d->a > 1 ? d->a / 2 : 1, &d->h, problem) ||
        !hx_spec_tokens_number(tokens, "groups", 1, MOST_GROUPS, d->a * d->h + 1, &d->groups, problem) ||
        !hx_spec_tokens_end(tokens, keys, 0, problem))
        return false;
    unsigned ports = d->a - 1 + d->p + d->h;
    if (ports > HX_MAX_RADIX) {
        unsigned most = (HX_MAX_RADIX + 1) / 4; /* p = h and a = 2 p balance the load */
        return hx_spec_tokens_fail(
            tokens, problem, "routers of %u ports (a - 1 + p + h), %u more than there can be; a=%u p=%u h=%u has %u",
            ports, ports - HX_MAX_RADIX, 2 * most, most, most, 4 * most - 1);
    }
    if (d->groups > d->a * d->h + 1)
        return hx_spec_tokens_fail(tokens, problem, "a group has %u links to others: groups=%u at most", d->a * d->h,
                                   d->a * d->h + 1);
    share_links(d);
    d->box = routers_in_box(d);
    return true;
}

/* ---- layout ---- */

static void attach_hosts(struct hx_fabric *f, unsigned copper)
{
    for (uint32_t router = 0; router < f->nodes - f->hosts; router++)
        hx_fabric_attach_hosts(f, router, dragonfly_of(f)->p, copper);
}

static void link_group(struct hx_fabric *f, unsigned group, unsigned trace, unsigned copper)
{
    const struct dragonfly *d = dragonfly_of(f);
    uint32_t first = f->hosts + group * d->a;
    for (unsigned a = 0; a < d->a; a++)
        for (unsigned b = a + 1; b < d->a; b++)
            hx_fabric_add_link(
                f, &(struct hx_new_link){.a = first + a,
                                         .b = first + b,
                                         .link_class = (uint8_t)(a / d->box == b / d->box ? trace : copper)});
}

/* Returns the next router of a group to have a link to another group. */
static uint32_t next_end(struct dragonfly *d, unsigned *new_link, unsigned of, unsigned to)
{
    uint32_t router = of * d->a + new_link[of]++ % d->a;
    d->links[(size_t)router * d->groups + to]++;
    return router;
}

static void link_global(struct hx_fabric *f, struct dragonfly *d, unsigned optical)
{
    unsigned *new_link = hx_allocate(d->groups, sizeof *new_link);
    for (unsigned group = 0; group < d->groups; group++) {
        for (unsigned other = group + 1; other < d->groups; other++) {
            for (unsigned link = links_between(d, group, other); link > 0; link--)
                hx_fabric_add_link(f, &(struct hx_new_link){.a = f->hosts + next_end(d, new_link, group, other),
                                                            .b = f->hosts + next_end(d, new_link, other, group),
                                                            .link_class = (uint8_t)optical,
                                                            .dimension = 1,
                                                            .marked = true});
        }
    }
    free(new_link);
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    struct dragonfly taken = {.a = 0};
    if (!take_sizes(&taken, tokens, problem))
        return false;
    uint32_t routers = taken.a * taken.groups;
    struct dragonfly *d = f->own = hx_allocate(1, sizeof *d + (size_t)routers * taken.groups);
    *d = taken;
    hx_fabric_start(f, routers * d->p, routers, routers, d->p);
    unsigned copper = hx_fabric_class_of_kind(f, "local", HX_DAC);
    unsigned trace = hx_fabric_class_of_kind(f, "box", HX_TRACE);
    unsigned optical = hx_fabric_class_of_kind(f, "global", HX_AOC);
    attach_hosts(f, copper);
    for (unsigned group = 0; group < d->groups; group++)
        link_group(f, group, trace, copper);
    link_global(f, d, optical);
    f->rule = HX_VC_BY_LINK;
    f->vcs = d->groups > 1 ? 2 : 1;
    f->detours = (struct hx_detours){.vcs = d->groups > 2 ? 3 : 0, .rule = HX_VC_BY_LINK, .area = (uint16_t)d->a};
    f->columns = d->a * d->p;
    f->rows = d->groups;
    f->groups = routers;
    f->group_word = "router";
    f->switches = routers / d->box;
    f->bought_planes = 16;
    hx_fabric_name(f, "router", f->hosts, routers, d->a);
    return hx_fabric_finish(f, problem);
}

/* ---- routes ---- */

static bool is_global(const struct hx_fabric *f, uint32_t node, unsigned port)
{
    return hx_fabric_port(f, node, port)->marked;
}

/* Whether a port is on a path to a router. */
static bool leads(const struct hx_fabric *f, uint32_t node, unsigned port, uint32_t to)
{
    uint32_t far = hx_fabric_far(f, node, port).node;
    unsigned group = group_of(f, to);
    if (hx_is_host(f, far))
        return node == to;
    if (group_of(f, node) == group)
        return far == to && !is_global(f, node, port);
    return is_global(f, node, port) ? group_of(f, far) == group : reaches(f, far, group) > 0;
}

static uint64_t next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    uint64_t set = 0;
    if (digit == 1)
        return hx_fabric_next_hops_place(f, node, value);
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
        set |= (uint64_t)leads(f, node, port, f->hosts + value) << port;
    return set;
}

static uint64_t turn_mask(const struct hx_fabric *f, uint32_t node, unsigned input)
{
    uint64_t set = 0;
    if (hx_is_host(f, hx_fabric_far(f, node, input).node))
        return UINT64_MAX;
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
        bool to_host = hx_is_host(f, hx_fabric_far(f, node, port).node);
        bool turns = is_global(f, node, port) != is_global(f, node, input);
        bool passes = is_global(f, node, input) && f->routing.policy != HX_MINIMAL;
        set |= (uint64_t)(to_host || turns || passes) << port;
    }
    return set;
}

static bool are_joined(const struct hx_fabric *f, uint32_t node, uint32_t to)
{
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
        if (is_global(f, node, port) && hx_fabric_far(f, node, port).node == to)
            return true;
    return false;
}

static unsigned distance(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    uint32_t a = hx_fabric_far(f, from, HX_E).node;
    uint32_t b = hx_fabric_far(f, to, HX_E).node;
    if (a == b)
        return from == to ? 0 : 2;
    if (group_of(f, a) == group_of(f, b) || are_joined(f, a, b))
        return 3;
    return reaches(f, a, group_of(f, b)) || reaches(f, b, group_of(f, a)) ? 4 : 5;
}

/* ---- worst case ---- */

/* All of a group send to the next group with the fewest links to it; of a single group, to the next router. */
static void worst_case(const struct hx_fabric *f, uint64_t seed, uint32_t *to)
{
    const struct dragonfly *d = dragonfly_of(f);
    uint32_t routers = d->a * d->groups;
    unsigned shift = 1;
    (void)seed;
    for (unsigned other = 2; other < d->groups; other++)
        shift = links_between(d, 0, other) < links_between(d, 0, shift) ? other : shift;
    uint32_t step = d->groups > 1 ? shift * d->a : 1;
    for (uint32_t router = 0; routers > 1 && router < routers; router++)
        to[f->hosts + router] = f->hosts + (router + step) % routers;
}

const struct hx_topology hx_topology_dragonfly = {
    HX_TOPOLOGY("dragonfly", "a=N (routers a group) p=N (hosts a router) h=N (global links a router) groups=N",
                "dragonfly a=16 p=8 h=8 groups=8", "groups of routers, all joined to all (ISCA 2008)", build),
    .next_hops = next_hops,
    .turn_mask = turn_mask,
    .paths = "over any link between the two groups",
    .distance = distance,
    .worst_case = worst_case,
};
