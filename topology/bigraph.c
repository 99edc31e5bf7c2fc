/* bigraph.c - BiGraph (EFLOPS, Dong et al., HPCA 2020): n switches of m hosts in two parts, each switch joined to all
 * of the other part. The two parts have full bandwidth between them for m up to n / 2.
 *
 * There is one minimal path to the other part, and one by each switch of the other part to the own part. VC + 1 on the
 * second hop. */
#include "topology/topology.h"

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"m", "n", NULL};
    unsigned m;
    unsigned n;
    if (!hx_spec_tokens_number(tokens, "n", 2, 2 * (HX_MAX_RADIX - 1), 16, &n, problem) ||
        !hx_spec_tokens_number(tokens, "m", 1, HX_MAX_RADIX - n / 2,
                               n / 2 <= HX_MAX_RADIX / 2 ? n / 2 : HX_MAX_RADIX - n / 2, &m, problem) ||
        !hx_spec_tokens_end(tokens, keys, 0, problem))
        return false;
    if (n % 2)
        return hx_spec_tokens_fail(tokens, problem, "n=%u switches do not make two parts: %u and %u do", n, n - 1,
                                   n + 1);
    hx_fabric_start(f, m * n, n, n, m);
    unsigned own = hx_fabric_class_of_kind(f, "host", HX_DAC);
    unsigned parts = hx_fabric_class_of_kind(f, "part", HX_AOC);
    for (unsigned s = 0; s < n; s++) {
        hx_fabric_attach_hosts(f, s, m, own);
        for (unsigned other = n / 2; s < n / 2 && other < n; other++)
            hx_fabric_add_link(
                f, &(struct hx_new_link){.a = f->hosts + s, .b = f->hosts + other, .link_class = (uint8_t)parts});
    }
    f->rule = HX_VC_BY_HOP;
    f->vcs = n > 2 ? 2 : 1;
    f->detours = (struct hx_detours){.vcs = n > 2 ? 4 : 0, .rule = HX_VC_BY_HOP, .weighed = true};
    f->groups = n;
    f->bought_planes = 16;
    hx_fabric_name(f, "left", f->hosts, n / 2, 0);
    hx_fabric_name(f, "right", f->hosts + n / 2, n / 2, 0);
    return hx_fabric_finish(f, problem);
}

/* A link carries traffic to the switch at its end, and a share of the first and second hops within a part. */
static double alltoall_bound(const struct hx_fabric *f)
{
    double m = f->digits[1];
    double n = f->digits[0];
    double share = (f->hosts - 1) / (m * m * (3 - 4 / n));
    return share < 1 ? share : 1;
}

/* Half of each part on either side. */
static uint64_t bisection(const struct hx_fabric *f)
{
    uint64_t part = f->digits[0] / 2;
    return (part * part + 1) / 2;
}

const struct hx_topology hx_topology_bigraph = {
    HX_TOPOLOGY("bigraph", "m=N n=N: m hosts on each of n switches", "bigraph m=8 n=16",
                "two parts of switches, joined completely, hosts on both (EFLOPS)", build),
    .alltoall_bound = alltoall_bound,
    .bisection = bisection,
};
