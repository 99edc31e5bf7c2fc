/* oft.c - two-level orthogonal fat trees: two k-ML3B on the same middle switches (Valerio et al.; Kathareios et al.,
 * SC15).
 *
 * A k-ML3B joins k * k - k + 1 leaves, of k hosts and k uplinks, to as many middle switches, such that any two leaves
 * share exactly one: a projective plane of order n = k - 1. Each cell of an n x n table is a middle switch. A leaf is
 * joined to the cells of a column, of a row, or of one symbol in one of n - 1 mutually orthogonal Latin squares. Leaves
 * of one such direction (columns, rows, a square) share no cell, so another middle switch joins them, and a last leaf
 * joins the middle switches of all directions. Square a holds a * row + column, in the field of n elements; columns are
 * a = 0.
 *
 * Every middle switch has k links to the lower leaves and k to the upper ones. Two leaves at the same position have k
 * minimal paths, all others one. Up and down: one VC; a detour goes up and down twice: two. */
#include "topology/galois.h"
#include "topology/topology.h"
#include "topology/worst_case.h"

enum { MOST_K = HX_MAX_RADIX / 2 };

static bool can_be(unsigned k)
{
    return k >= 3 && k <= MOST_K && hx_is_prime_power(k - 1);
}

/* Sets the middle switches of a leaf: positions in 0 .. n * n + n, directions last. */
static void middles_of(const struct hx_galois *field, unsigned n, unsigned leaf, unsigned middle[MOST_K])
{
    unsigned direction = leaf / n;
    unsigned symbol = leaf % n;
    for (unsigned i = 0; i < n; i++) {
        if (leaf == n * n + n)
            middle[i] = n * n + i;
        else if (direction == n)
            middle[i] = symbol * n + i;
        else /* the column where row i has the symbol */
            middle[i] = i * n + hx_galois_difference(field, symbol, hx_galois_product(field, direction, i));
    }
    middle[n] = leaf == n * n + n ? n * n + n : n * n + direction;
}

static void link_leaf(struct hx_fabric *f, const struct hx_galois *field, unsigned k, unsigned leaf, unsigned own,
                      unsigned tree)
{
    unsigned places = k * k - k + 1;
    unsigned middle[MOST_K];
    hx_fabric_attach_hosts(f, leaf, k, own);
    middles_of(field, k - 1, leaf % places, middle);
    for (unsigned i = 0; i < k; i++)
        hx_fabric_add_link(f, &(struct hx_new_link){.a = f->hosts + leaf,
                                                    .b = f->hosts + 2 * places + middle[i],
                                                    .link_class = (uint8_t)tree});
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"k", NULL};
    unsigned k;
    struct hx_galois field;
    if (!hx_spec_tokens_number(tokens, "k", 0, HX_MAX_HOSTS, 4, &k, problem) ||
        !hx_spec_tokens_end(tokens, keys, 0, problem))
        return false;
    if (!can_be(k) || !hx_galois_make(&field, k - 1))
        return hx_spec_tokens_fail(tokens, problem,
                                   "k=%u: k - 1 must be a power of a prime and k at most %d; the nearest is k=%u", k,
                                   MOST_K, hx_nearest_size(k, can_be));
    unsigned places = k * k - k + 1;
    hx_fabric_start(f, 2 * places * k, 3 * places, 2 * places, k);
    unsigned own = hx_fabric_class_of_kind(f, "host", HX_DAC);
    unsigned tree = hx_fabric_class_of_kind(f, "tree", HX_AOC);
    for (unsigned leaf = 0; leaf < 2 * places; leaf++)
        link_leaf(f, &field, k, leaf, own, tree);
    for (unsigned middle = 0; middle < places; middle++)
        f->node[f->hosts + 2 * places + middle].group = 2 * places + middle;
    f->detours = (struct hx_detours){.vcs = 2, .rule = HX_VC_AT_LEAF};
    f->groups = 3 * places;
    f->group_word = "leaf";
    f->bought_planes = 16;
    hx_fabric_name(f, "lower", f->hosts, places, 0);
    hx_fabric_name(f, "upper", f->hosts + places, places, 0);
    hx_fabric_name(f, "middle", f->hosts + 2 * places, places, 0);
    return hx_fabric_finish(f, problem);
}

/* An uplink carries the traffic to the 2 (k - 1) leaves joined to its middle switch, without its own and the leaf at
 * the same position on the other side, and 1/k of the traffic to the latter. */
static double alltoall_bound(const struct hx_fabric *f)
{
    double k = f->digits[1];
    double leaves = 2 * (k - 1) + 1 / k;
    double share = (f->hosts - 1) / (k * k * leaves);
    return share < 1 ? share : 1;
}

const struct hx_topology hx_topology_oft = {
    HX_TOPOLOGY("oft", "k=N: k - 1 a power of a prime; switches of 2 k ports", "oft k=12",
                "two-level orthogonal fat tree: single shortest paths, diameter two (SC15)", build),
    .alltoall_bound = alltoall_bound,
    .worst_case = hx_fabric_next_place, /* all hosts of a leaf share the only minimal path */
};
