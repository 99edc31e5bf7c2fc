/* fat_tree.c - fat trees of two and three levels (Leiserson; SC22 appendix C): leaves with `down` hosts and `up` links
 * to the level above. Higher switches have as many links up as down, so only a leaf tapers.
 *
 *     two levels      leaves, spines: each leaf has a link to each spine, or several
 *     three levels    pods of radix / 2 leaves and their middle switches; tops join the pods
 *
 * Uplinks are dealt in turn: link n of a level goes to switch (n mod their number) above. One leaf, or one full pod,
 * reaches all of them, so between two leaves there is a minimal path up and then down. It needs one VC, or two where
 * detours go up again at a leaf. The last pod may have fewer leaves and reach only some of the tops. A group is a leaf
 * with its hosts, or a switch above. */
#include "base/text.h"
#include "topology/topology.h"

enum { DEFAULT_HOSTS = 64, MOST_SEARCHED = 4000000 /* leaves times ports, for a bound by search */ };

struct tree {
    unsigned hosts, radix, down, up, levels;
    unsigned leaves, middles, tops; /* two levels: no middles */
    unsigned pod;                   /* leaves of a full pod; two levels: all */
};

static unsigned round_up(unsigned n, unsigned by)
{
    return (n + by - 1) / by;
}

static unsigned middles_of(const struct tree *t, unsigned leaves)
{
    return round_up(leaves * t->up, t->radix / 2);
}

static void size_levels(struct tree *t)
{
    t->leaves = round_up(t->hosts, t->down);
    t->pod = t->levels == 2 ? t->leaves : t->radix / 2;
    t->tops = t->leaves == 1 ? 0 : round_up(t->leaves * t->up, t->radix);
    t->middles = t->levels == 2 ? 0 : t->leaves / t->pod * middles_of(t, t->pod) + middles_of(t, t->leaves % t->pod);
}

/* ---- parameters ---- */

/* Reads the ports of a leaf: by taper, or down and up. */
static bool read_leaf(struct tree *t, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    bool given = hx_spec_tokens_has(tokens, "down") || hx_spec_tokens_has(tokens, "up");
    double taper;
    if (given && hx_spec_tokens_has(tokens, "taper"))
        return hx_spec_tokens_fail(tokens, problem, "taper says what down and up would: give one or the other");
    if (!hx_spec_tokens_real(tokens, "taper", 1, t->radix - 1, 1, &taper, problem))
        return false;
    unsigned down = (unsigned)(t->radix * taper / (taper + 1) + 1e-9);
    unsigned least_up = 1;
    if (!hx_spec_tokens_has(tokens, "down") && hx_spec_tokens_has(tokens, "up")) {
        if (!hx_spec_tokens_number(tokens, "up", 1, t->radix - 1, 1, &least_up, problem))
            return false;
        down = t->radix - least_up;
    }
    return hx_spec_tokens_number(tokens, "down", 1, t->radix - 1, down, &t->down, problem) &&
           hx_spec_tokens_number(tokens, "up", 1, t->radix - t->down, t->radix - t->down, &t->up, problem);
}

static bool read_tree(struct tree *t, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"hosts", "radix", "levels", "taper", "down", "up", NULL};
    if (!hx_spec_tokens_number(tokens, "hosts", 2, HX_MAX_HOSTS, DEFAULT_HOSTS, &t->hosts, problem) ||
        !hx_spec_tokens_number(tokens, "radix", 2, HX_MAX_RADIX, HX_MAX_RADIX, &t->radix, problem))
        return false;
    if (t->radix % 2)
        return hx_spec_tokens_fail(tokens, problem, "radix=%u is odd: %u and %u can be", t->radix, t->radix - 1,
                                   t->radix + 1);
    if (!read_leaf(t, tokens, problem))
        return false;
    unsigned least = round_up(t->hosts, t->down) <= t->radix ? 2 : 3;
    if (!hx_spec_tokens_number(tokens, "levels", 2, 3, least, &t->levels, problem) ||
        !hx_spec_tokens_end(tokens, keys, 0, problem))
        return false;
    size_levels(t);
    unsigned most = t->levels == 2 ? t->radix : t->radix * (t->radix / 2);
    if (t->leaves <= most)
        return true;
    return hx_spec_tokens_fail(tokens, problem, "%u levels of %u ports with %u host%s a leaf join %u hosts at most%s",
                               t->levels, t->radix, t->down, hx_plural(t->down), most * t->down,
                               t->levels == 2 ? "; levels=3 join more" : "");
}

/* ---- nodes and links ---- */

static void add_link(struct hx_fabric *f, unsigned a, unsigned b, unsigned link_class)
{
    hx_fabric_add_link(f, &(struct hx_new_link){.a = a, .b = b, .link_class = (uint8_t)link_class});
}

static void link_leaves(struct hx_fabric *f, const struct tree *t)
{
    unsigned own = hx_fabric_class_of_kind(f, "host", HX_DAC);
    for (unsigned leaf = 0; leaf < t->leaves; leaf++)
        hx_fabric_attach_hosts(f, leaf, t->down, own);
    for (unsigned router = t->leaves; router < f->nodes - f->hosts; router++)
        f->node[f->hosts + router].group = router;
    f->groups = f->nodes - f->hosts;
    f->group_word = "leaf";
    hx_fabric_name(f, "leaf", f->hosts, t->leaves, 0);
}

static void link_two_levels(struct hx_fabric *f, const struct tree *t)
{
    unsigned tree = hx_fabric_class_of_kind(f, "tree", HX_AOC);
    for (unsigned link = 0; t->tops && link < t->leaves * t->up; link++)
        add_link(f, f->hosts + link / t->up, f->hosts + t->leaves + link % t->tops, tree);
    hx_fabric_name(f, "spine", f->hosts + t->leaves, t->tops, 0);
}

static void link_three_levels(struct hx_fabric *f, const struct tree *t)
{
    unsigned pods = hx_fabric_class_of_kind(f, "pod", HX_AOC);
    unsigned tops = hx_fabric_class_of_kind(f, "top", HX_AOC);
    unsigned middle = f->hosts + t->leaves; /* the first of the pod */
    unsigned dealt = 0;
    for (unsigned leaf = 0; leaf < t->leaves; leaf += t->pod) {
        unsigned leaves = t->leaves - leaf < t->pod ? t->leaves - leaf : t->pod;
        unsigned middles = middles_of(t, leaves);
        for (unsigned link = 0; link < leaves * t->up; link++)
            add_link(f, f->hosts + leaf + link / t->up, middle + link % middles, pods);
        for (unsigned m = 0; m < middles; m++) {
            unsigned links = (leaves * t->up + middles - 1 - m) / middles; /* as many as it has down */
            for (unsigned link = 0; t->tops && link < links; link++)
                add_link(f, middle + m, f->hosts + t->leaves + t->middles + dealt++ % t->tops, tops);
        }
        middle += middles;
    }
    hx_fabric_name(f, "middle", f->hosts + t->leaves, t->middles, 0);
    hx_fabric_name(f, "top", f->hosts + t->leaves + t->middles, t->tops, 0);
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    struct tree t;
    if (!read_tree(&t, tokens, problem))
        return false;
    hx_fabric_start(f, t.hosts, t.leaves + t.middles + t.tops, t.leaves, t.down);
    link_leaves(f, &t);
    if (t.levels == 2)
        link_two_levels(f, &t);
    else
        link_three_levels(f, &t);
    f->bought_planes = 16;
    f->detours = (struct hx_detours){.vcs = t.leaves > 2 ? 2 : 0, .rule = HX_VC_AT_LEAF};
    struct tree *own = hx_allocate(1, sizeof *own);
    *own = t;
    f->own = own;
    return hx_fabric_finish(f, problem);
}

/* ---- routes ---- */

/* Returns the cables between a leaf and a spine of two levels. */
static unsigned cables(const struct tree *t, unsigned leaf, unsigned spine)
{
    unsigned first = leaf * t->up;
    unsigned end = first + t->up;
    return (end + t->tops - 1 - spine) / t->tops - (first + t->tops - 1 - spine) / t->tops;
}

/* Returns the port of a leaf's n-th cable to a spine. Its uplinks follow its hosts, in dealing order. */
static unsigned cable_port(const struct hx_fabric *f, const struct tree *t, uint32_t leaf, unsigned spine, unsigned n)
{
    unsigned first = (leaf - f->hosts) * t->up % t->tops;
    return hx_fabric_ports(f, leaf) - t->up + (spine + t->tops - first) % t->tops + n * t->tops;
}

/* Returns the cables that a leaf uses by a spine to the leaves before `far_leaf`, in parts of a cable: has * far / most
 * each, where `has` and `far` are the cables of the two. Leaves begin at different parts, so that not all round up for
 * the same one. */
static unsigned parts_before(const struct tree *t, unsigned leaf, unsigned far_leaf, unsigned spine)
{
    unsigned far = 0;
    for (unsigned other = 0; other < far_leaf; other++)
        far += other == leaf ? 0 : cables(t, other, spine);
    return leaf + cables(t, leaf, spine) * far;
}

/* Balances load where spines have different numbers of cables to a leaf. Packets spread evenly over uplinks would reach
 * each spine evenly, and fill the spines with fewer cables down first. So the uplinks that a leaf uses to a spine are
 * in proportion to the cables at both ends, and all cables fill at the same time. */
static uint64_t filter_ports(const struct hx_fabric *f, uint32_t router, unsigned addr_hi, uint64_t ports)
{
    const struct tree *t = f->own;
    unsigned leaf = router - f->hosts;
    uint64_t kept = 0;
    if (t->levels != 2 || leaf >= t->leaves || leaf == addr_hi || t->up % t->tops == 0 || t->up < 2 * t->tops)
        return ports; /* parts of single cables would be too coarse */
    unsigned most = round_up(t->up, t->tops);
    for (unsigned spine = 0; spine < t->tops; spine++) {
        unsigned has = cables(t, leaf, spine);
        unsigned first = parts_before(t, leaf, addr_hi, spine);
        unsigned end = first + has * cables(t, addr_hi, spine);
        for (unsigned whole = first / most; whole < end / most; whole++) /* each in its turn */
            kept |= (uint64_t)1 << cable_port(f, t, router, spine, whole % has);
    }
    return kept ? kept & ports : ports;
}

/* ---- D-mod-K ---- */

/* Whether all leaves, and all pods, deal their uplinks alike: then a cable leads down wherever one leads up. */
static bool is_even(const struct tree *t)
{
    if (t->levels == 2)
        return t->tops && t->up % t->tops == 0;
    return t->tops && t->leaves % t->pod == 0 && t->up % middles_of(t, t->pod) == 0 && t->pod * t->up % t->tops == 0;
}

/* Returns the level: 0 a leaf, 1 above it, 2 a top. */
static unsigned level_of(const struct tree *t, unsigned router)
{
    if (router < t->leaves)
        return 0;
    return t->levels == 2 || router < t->leaves + t->middles ? 1 : 2;
}

/* Returns the number of uplinks of a router of an even tree; they are its last ports. */
static unsigned uplinks(const struct tree *t, unsigned level)
{
    if (level + 1 == t->levels)
        return 0;
    return level == 0 ? t->up : t->pod * t->up / middles_of(t, t->pod);
}

/* Returns the index of a port among a router's uplinks; other ports give a large number. */
static unsigned uplink(const struct hx_fabric *f, uint32_t node, unsigned port, unsigned level)
{
    return port - (hx_fabric_ports(f, node) - uplinks(f->own, level));
}

/* Whether a packet to addresses with this digit may leave by a port. addr_lo, the place on a leaf, selects the uplink
 * of a leaf; addr_hi, the leaf, selects the uplink of a pod. Packets come down by the cables of these uplinks at the
 * destination's leaf and pod, so each host has one top switch. */
static bool settles_on(const struct hx_fabric *f, uint32_t node, unsigned port, unsigned digit, unsigned value)
{
    const struct tree *t = f->own;
    unsigned level = level_of(t, node - f->hosts);
    unsigned settles = digit == 1 ? 0 : 1; /* level of the uplinks that this digit selects */
    struct hx_end far = hx_fabric_far(f, node, port);
    unsigned paths = uplinks(t, settles);
    if (paths == 0) /* two levels have one level of uplinks */
        return true;
    if (uplink(f, node, port, level) < uplinks(t, level))
        return level != settles || uplink(f, node, port, level) == value % paths;
    if (level == settles + 1)
        return uplink(f, far.node, far.port, settles) == value % paths;
    unsigned middles = middles_of(t, t->pod);
    return level < settles + 2 || (far.node - f->hosts - t->leaves) % middles == value % t->up % middles;
}

static uint64_t d_mod_k(const struct hx_fabric *f, uint32_t router, unsigned digit, unsigned value)
{
    uint64_t set = 0;
    if (!is_even(f->own))
        return 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, router); port++)
        set |= (uint64_t)settles_on(f, router, port, digit, value) << port;
    return set;
}

/* ---- bounds ---- */

/* A full leaf sends up its hosts' traffic to all other leaves. An uneven tree carries less, where more cables lead up
 * to a switch than down from it; only of a very large one the search would take long. */
static double alltoall_bound(const struct hx_fabric *f)
{
    const struct tree *t = f->own;
    if (t->hosts <= t->down)
        return 1;
    if (!is_even(t) && (uint64_t)t->leaves * f->ports <= MOST_SEARCHED)
        return 0;
    double share = (double)t->up * (t->hosts - 1) / ((double)t->down * (t->hosts - t->down));
    return share < 1 ? share : 1;
}

/* Known if all leaves, or pods, are full, have equally many links to each switch above, and divide into two halves. */
static uint64_t bisection(const struct hx_fabric *f)
{
    const struct tree *t = f->own;
    unsigned dealt = t->levels == 2 ? t->up : t->pod * t->up;
    unsigned parts = t->levels == 2 ? t->leaves : t->leaves / t->pod;
    if (t->tops == 0 || dealt % t->tops || parts % 2 || t->leaves % t->pod || t->hosts != t->leaves * t->down)
        return 0;
    return (uint64_t)t->leaves / 2 * t->up;
}

const struct hx_topology hx_topology_fat_tree = {
    HX_TOPOLOGY("fat-tree", "hosts=N radix=N levels=2|3 taper=REAL (hosts per uplink of a leaf), or down=N up=N",
                "fat-tree hosts=1024 radix=64 taper=1", "switches in two or three levels, up and down again", build),
    .filter_ports = filter_ports,
    .d_mod_k = d_mod_k,
    .alltoall_bound = alltoall_bound,
    .bisection = bisection,
};
