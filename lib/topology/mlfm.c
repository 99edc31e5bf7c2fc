/* mlfm.c - multi-layer full mesh (Fujitsu; Kathareios et al., "Cost-effective diameter-two topologies", SC15).
 *
 * A full mesh of h + 1 columns in which a `global` router splits each link. The columns' own routers form l layers on
 * the same globals: a `local` has p hosts and h links, a global 2 l links. Locals of two columns have one minimal path,
 * those of one column h. Up to a global and down: one VC. A detour goes up and down twice: two. */
#include "topology/topology.h"
#include "topology/worst_case.h"

struct mesh {
    unsigned h, l, p;
};

/* Returns the number of the router between columns a < b. */
static unsigned global_of(unsigned h, unsigned a, unsigned b)
{
    return a * h - a * (a + 1) / 2 + b - 1;
}

static bool read_mesh(struct mesh *m, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {"h", "l", "p", NULL};
    if (!hx_spec_tokens_number(tokens, "h", 1, HX_MAX_RADIX - 1, 4, &m->h, problem))
        return false;
    unsigned room = HX_MAX_RADIX - m->h;
    unsigned half = HX_MAX_RADIX / 2;
    return hx_spec_tokens_number(tokens, "l", 1, half, m->h < half ? m->h : half, &m->l, problem) &&
           hx_spec_tokens_number(tokens, "p", 1, room, m->h < room ? m->h : room, &m->p, problem) &&
           hx_spec_tokens_end(tokens, keys, 0, problem);
}

static void link_local(struct hx_fabric *f, const struct mesh *m, unsigned layer, unsigned column, unsigned own,
                       unsigned mesh)
{
    unsigned local = layer * (m->h + 1) + column;
    hx_fabric_attach_hosts(f, local, m->p, own);
    unsigned globals = f->hosts + (m->h + 1) * m->l;
    for (unsigned other = 0; other <= m->h; other++) {
        if (other == column)
            continue;
        unsigned low = column < other ? column : other;
        unsigned global = global_of(m->h, low, column + other - low);
        hx_fabric_add_link(
            f, &(struct hx_new_link){.a = f->hosts + local, .b = globals + global, .link_class = (uint8_t)mesh});
    }
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    struct mesh m;
    if (!read_mesh(&m, tokens, problem))
        return false;
    unsigned locals = (m.h + 1) * m.l;
    unsigned globals = m.h * (m.h + 1) / 2;
    hx_fabric_start(f, locals * m.p, locals + globals, locals, m.p);
    unsigned own = hx_fabric_class_of_kind(f, "host", HX_DAC);
    unsigned mesh = hx_fabric_class_of_kind(f, "mesh", HX_AOC);
    for (unsigned layer = 0; layer < m.l; layer++)
        for (unsigned column = 0; column <= m.h; column++)
            link_local(f, &m, layer, column, own, mesh);
    for (unsigned global = 0; global < globals; global++)
        f->node[f->hosts + locals + global].group = locals + global;
    f->detours = (struct hx_detours){.vcs = 2, .rule = HX_VC_AT_LEAF};
    f->groups = locals + globals;
    f->group_word = "local";
    f->bought_planes = 16;
    hx_fabric_name(f, "local", f->hosts, locals, m.h + 1);
    hx_fabric_name(f, "global", f->hosts + locals, globals, 0);
    struct mesh *kept = hx_allocate(1, sizeof *kept);
    *kept = m;
    f->own = kept;
    return hx_fabric_finish(f, problem);
}

/* A link up to a global carries traffic to all l locals of the other column, and 1/h of the traffic to other layers of
 * its own column. */
static double alltoall_bound(const struct hx_fabric *f)
{
    const struct mesh *m = f->own;
    double locals = m->l + (double)(m->l - 1) / m->h;
    double share = (f->hosts - 1) / ((double)m->p * m->p * locals);
    return share < 1 ? share : 1;
}

const struct hx_topology hx_topology_mlfm = {
    HX_TOPOLOGY(
        "mlfm",
        "h=N l=N p=N: h + 1 columns of l routers of p hosts; l and p: h, or what a router of 64 ports has room for",
        "mlfm h=15", "multi-layer full mesh: single shortest paths, diameter two (SC15)", build),
    .alltoall_bound = alltoall_bound,
    .worst_case = hx_fabric_next_place, /* all hosts of a local share the only minimal path */
};
