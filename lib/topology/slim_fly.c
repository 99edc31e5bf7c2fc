/* slim_fly.c - Slim Fly (Besta and Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC14): the
 * graphs of McKay, Miller and Siran (1998). Any two of the 2 q^2 routers are at most two hops apart.
 *
 * q = 4w + d is a prime power, d of -1, 0, 1, and all arithmetic is in GF(q). Routers are (0, x, y) and (1, m, c). (0,
 * x, y) and (0, x, z) are joined where y - z is in a set X, (1, m, c) and (1, m, b) where c - b is in a set X', and (0,
 * x, y) and (1, m, c) where y = m x + c. With t a primitive element, Hafner ("Geometric realisation of the graphs of
 * McKay-Miller-Siran", 2004) gives
 *
 *     d = 1     X = the even powers of t                                  X' = the odd ones
 *     d = 0     X = 1, t^2, .. t^(q-2)                                    X' = t, t^3, .. t^(q-1)
 *     d = -1    X = 1, t^2, .. t^(2w-2), t^(2w-1), t^(2w+1), .. t^(4w-3)
 *               X' = t, t^3, .. t^(2w-1), t^2w, t^(2w+2), .. t^(4w-2)
 *
 * A router has (3q - d) / 2 links, and half as many hosts p, for which the bandwidth between routers just suffices.
 * Paths are minimal, and the second hop moves to the next VC. Rack r has (0, r, *) and (1, r, *): copper within,
 * optical cables between racks. A detour has four hops. A group is a router and its hosts. */
#include "topology/slim_fly.h"
#include "base/error.h"
#include "topology/topology.h"

enum { MOST_Q = 41 }; /* 43 needs routers of 65 links, more than HX_MAX_RADIX */

static bool is_size(unsigned q)
{
    return q >= 3 && q <= MOST_Q && q % 4 != 2 && hx_is_prime_power(q);
}

static int remainder_of(unsigned q)
{
    return q % 4 == 3 ? -1 : (int)(q % 4);
}

static unsigned links_of(unsigned q)
{
    return (unsigned)(3 * (int)q - remainder_of(q)) / 2;
}

static bool take_sizes(unsigned *q, unsigned *p, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"q", "p", NULL};
    if (!hx_spec_tokens_number(tokens, "q", 1, HX_MAX_RADIX, 5, q, problem))
        return false;
    if (!is_size(*q))
        return hx_spec_tokens_fail(tokens, problem,
                                   "q is a prime power 4w - 1, 4w or 4w + 1 up to %d; %u is the nearest", MOST_Q,
                                   hx_nearest_size(*q, is_size));
    unsigned links = links_of(*q);
    unsigned room = HX_MAX_RADIX - links;
    if (!hx_spec_tokens_number(tokens, "p", 1, HX_MAX_RADIX, links / 2 < room ? links / 2 : room, p, problem) ||
        !hx_spec_tokens_end(tokens, keys, 0, problem))
        return false;
    if (*p > room)
        return hx_spec_tokens_fail(tokens, problem,
                                   "%u hosts do not fit beside %u links of a router of %d ports; p=%u does", *p, links,
                                   HX_MAX_RADIX, room);
    return true;
}

/* Adds every second power of the primitive element, from `first` to `last`. */
static void add_powers(struct hx_slim_fly *s, unsigned set, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i += 2)
        s->in[set][s->field.power[i % (s->q - 1)]] = true;
}

static void make_sets(struct hx_slim_fly *s)
{
    if (s->d >= 0) {
        add_powers(s, 0, 0, s->q - 2);
        add_powers(s, 1, 1, s->q - 1);
        return;
    }
    unsigned w = (s->q + 1) / 4;
    add_powers(s, 0, 0, 2 * w - 2);
    add_powers(s, 0, 2 * w - 1, 4 * w - 3);
    add_powers(s, 1, 1, 2 * w - 1);
    add_powers(s, 1, 2 * w, 4 * w - 2);
}

static void join(struct hx_fabric *f, struct hx_slim_fly *s, uint32_t a, uint32_t b, unsigned link_class)
{
    s->joined[(size_t)a * s->routers + b] = true;
    s->joined[(size_t)b * s->routers + a] = true;
    hx_fabric_add_link(f,
                       &(struct hx_new_link){.a = f->hosts + a, .b = f->hosts + b, .link_class = (uint8_t)link_class});
}

static void link_routers(struct hx_fabric *f, struct hx_slim_fly *s, unsigned copper, unsigned optical)
{
    unsigned q = s->q;
    for (unsigned line = 0; line < 2 * q; line++) { /* (0, x), then (1, m) */
        for (unsigned a = 0; a < q; a++)
            for (unsigned b = a + 1; b < q; b++)
                if (s->in[line / q][hx_galois_difference(&s->field, a, b)])
                    join(f, s, line * q + a, line * q + b, copper);
    }
    for (unsigned x = 0; x < q; x++) {
        for (unsigned m = 0; m < q; m++) {
            unsigned product = hx_galois_product(&s->field, m, x);
            for (unsigned c = 0; c < q; c++)
                join(f, s, x * q + hx_galois_sum(&s->field, product, c), (q + m) * q + c, x == m ? copper : optical);
        }
    }
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    unsigned q = 0;
    unsigned p = 0;
    if (!take_sizes(&q, &p, tokens, problem))
        return false;
    uint32_t routers = 2 * q * q;
    struct hx_slim_fly *s = f->own = hx_allocate(1, sizeof *s + (size_t)routers * routers);
    s->q = q;
    s->p = p;
    s->d = remainder_of(q);
    s->routers = routers;
    (void)hx_galois_make(&s->field, q);
    make_sets(s);
    hx_slim_fly_plan(s);
    hx_fabric_start(f, routers * p, routers, routers, p);
    unsigned copper = hx_fabric_class_of_kind(f, "rack", HX_DAC);
    unsigned optical = hx_fabric_class_of_kind(f, "global", HX_AOC);
    for (uint32_t router = 0; router < routers; router++)
        hx_fabric_attach_hosts(f, router, p, copper);
    link_routers(f, s, copper, optical);
    f->groups = routers;
    f->group_word = "router";
    f->rule = HX_VC_BY_HOP;
    f->vcs = 2;
    f->detours = (struct hx_detours){.vcs = 4, .rule = HX_VC_BY_HOP, .weighed = true};
    f->bought_planes = 16;
    hx_fabric_name(f, "router", f->hosts, routers, q);
    return hx_fabric_finish(f, problem);
}

/* ---- routes ---- */

static bool are_joined(const struct hx_fabric *f, uint32_t a, uint32_t b)
{
    const struct hx_slim_fly *s = f->own;
    return s->joined[(size_t)(a - f->hosts) * s->routers + (b - f->hosts)];
}

static uint64_t next_hops(const struct hx_fabric *f, uint32_t node, unsigned digit, unsigned value)
{
    uint32_t to = f->hosts + value;
    uint64_t set = 0;
    if (digit == 1)
        return hx_fabric_next_hops_place(f, node, value);
    bool near = are_joined(f, node, to);
    for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
        uint32_t far = hx_fabric_far(f, node, port).node;
        bool is_next = hx_is_host(f, far) ? node == to : node != to && (near ? far == to : are_joined(f, far, to));
        set |= (uint64_t)is_next << port;
    }
    return set;
}

static unsigned distance(const struct hx_fabric *f, uint32_t from, uint32_t to)
{
    uint32_t a = hx_fabric_far(f, from, HX_E).node;
    uint32_t b = hx_fabric_far(f, to, HX_E).node;
    if (a == b)
        return from == to ? 0 : 2;
    return are_joined(f, a, b) ? 3 : 4;
}

/* ---- worst case ---- */

/* Returns the next router of a cycle: from (0, x, y) to (1, x, c), from (1, m, c) to (0, x, y) with the x after m. */
static uint32_t step(const struct hx_slim_fly *s, uint32_t router)
{
    unsigned q = s->q;
    unsigned line = router / q;
    if (line < q)
        return (q + line) * q + hx_galois_difference(&s->field, router % q, hx_galois_product(&s->field, line, line));
    unsigned m = line - q;
    unsigned x = (m + 1) % q;
    return x * q + hx_galois_sum(&s->field, hx_galois_product(&s->field, m, x), router % q);
}

/* All hosts of a router send to the router two steps on. Of two routers (0, x, y) with different x, and of two (1, m,
 * c) with different m, exactly one is joined to both, since y - y' = m (x - x') has one solution. So all paths are
 * single, and each step is the second hop of the previous router and the first of its own: 2 p hosts share a link.
 * SC15, section 4. */
static void worst_case(const struct hx_fabric *f, uint64_t seed, uint32_t *to)
{
    const struct hx_slim_fly *s = f->own;
    (void)seed;
    for (uint32_t router = 0; router < s->routers; router++)
        to[f->hosts + router] = f->hosts + step(s, step(s, router));
}

/* ---- all-to-all ---- */

static uint32_t phases(const struct hx_fabric *f)
{
    return hx_slim_fly_phases(f->own);
}

static uint32_t partner(const struct hx_fabric *f, uint32_t host, uint32_t phase)
{
    return hx_slim_fly_partner(f->own, host, phase);
}

const struct hx_topology hx_topology_slim_fly = {
    HX_TOPOLOGY("slim-fly", "q=N (prime power 4w - 1, 4w, 4w + 1) p=N (hosts a router)", "slim-fly q=13 p=9",
                "the most routers two hops apart (SC14)", build),
    .next_hops = next_hops,
    .distance = distance,
    .worst_case = worst_case,
    .phases = phases,
    .partner = partner,
};
