/* bigraph.c - BiGraph (EFLOPS, Dong et al., HPCA 2020): n switches of m hosts in two parts, each switch joined to all
 * of the other part. The two parts have full bandwidth between them for m up to n / 2.
 *
 * There is one minimal path to the other part, and one by each switch of the other part to the own part. VC + 1 on the
 * second hop. */
#include "base/compare.h"
#include "base/powers.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- halving-doubling with rank mapping (HDRM) ----
 *
 * `columns` switches of each part, a power of two, and one host on each of them form a logical group of 2 * columns
 * positions. Logical group j has positions j * 2 * columns and following, and the j-th members of the switches.
 *
 * The number of one bits of a position decides its part. A step of halving pairs p with p XOR 2^s, so one position in
 * each part: their path is a single link. Positions 2i and 2i + 1 are at index i of the right part, or at index i - j,
 * modulo columns, of the left part. In one step the links at a right switch lead to left positions of different j.
 * So up to `columns` logical groups share no link. */

/* Members of a group on one switch: members first .. first + count - 1, by number. */
struct on_switch {
    uint32_t first, count;
};

struct members {
    uint32_t *host;                         /* by number: switch by switch */
    struct on_switch part[2][HX_MAX_RADIX]; /* switches with members, of the left and the right part */
    unsigned switches[2];
    unsigned most; /* members on a switch */
};

static void find_members(struct members *m, const struct hx_fabric *f, const uint32_t *hosts, uint32_t count)
{
    *m = (struct members){.host = hx_allocate(count, sizeof *hosts)};
    memcpy(m->host, hosts, count * sizeof *hosts);
    qsort(m->host, count, sizeof *hosts, hx_compare_uint32);
    for (uint32_t at = 0; at < count; at++) {
        unsigned s = f->node[m->host[at]].addr_hi;
        unsigned part = s >= f->digits[0] / 2;
        if (at == 0 || f->node[m->host[at - 1]].addr_hi != s)
            m->part[part][m->switches[part]++].first = at;
        unsigned on = ++m->part[part][m->switches[part] - 1].count;
        m->most = on > m->most ? on : m->most;
    }
}

/* Appends the members on `columns` switches of each part, from index `first` on. Returns the end of the list. */
static uint32_t *order_columns(const struct members *m, unsigned first, unsigned columns, uint32_t *to)
{
    for (unsigned position = 0; position < m->most * 2 * columns; position++) {
        unsigned j = position / (2 * columns);
        unsigned i = position % (2 * columns) / 2;
        unsigned part = (unsigned)__builtin_parity(position);
        unsigned index = first + (part == 0 ? (i - j) % columns : i);
        const struct on_switch *s = &m->part[part][index];
        if (index < m->switches[part] && j < s->count)
            *to++ = m->host[s->first + j];
    }
    return to;
}

/* Takes the largest power of two of switches of each part first, then the same of the rest. */
static void halving_order(const struct hx_fabric *f, uint32_t *hosts, uint32_t count)
{
    struct members m;
    find_members(&m, f, hosts, count);
    unsigned most = m.switches[0] > m.switches[1] ? m.switches[0] : m.switches[1];
    for (unsigned first = 0, columns; first < most; first += columns) {
        columns = hx_power_of_two(most - first + 1) / 2;
        hosts = order_columns(&m, first, columns, hosts);
    }
    free(m.host);
}

const struct hx_topology hx_topology_bigraph = {
    HX_TOPOLOGY("bigraph", "m=N n=N: m hosts on each of n switches", "bigraph m=8 n=16",
                "two parts of switches, joined completely, hosts on both (EFLOPS)", build),
    .alltoall_bound = alltoall_bound,
    .bisection = bisection,
    .halving_order = halving_order,
};
