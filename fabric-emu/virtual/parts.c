/* parts.c - parts of a fabric by METIS (parts.h). */
#include "parts.h"
#include "base/error.h"
#include "base/split_mix.h"

#include <metis.h>
#include <stdlib.h>

enum {
    SEED = 1,
    TRIES = 4,      /* of METIS, which keeps the best one */
    UNIT_GBPS = 25, /* of a link's weight */
    SHORT_TIMES = 16,
    ENDPOINT_WORK = 4 /* of an endpoint; a port's is 1 */
};

/* A fabric as METIS takes it: the neighbours of node n are [first[n]] .. [first[n + 1] - 1]. */
struct graph {
    idx_t nodes;
    idx_t *first, *work;
    idx_t *neighbour, *weight;
    idx_t *part;
};

static const struct virtual_link *link_at(const struct hx_fabric *g, const struct virtual_timing *t, uint32_t node,
                                          unsigned port)
{
    return &t->of[hx_fabric_port(g, node, port)->link_class];
}

static uint64_t longest(const struct hx_fabric *g, const struct virtual_timing *t)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < g->link_classes; i++)
        most = t->of[i].window > most ? t->of[i].window : most;
    return most;
}

/* By rate: at least 1. */
static idx_t weight_of(const struct virtual_link *link, uint64_t most)
{
    uint64_t unit = virtual_timing_block(UNIT_GBPS);
    uint64_t rate = link->rate.blocks[1] && link->rate.blocks[1] < unit ? unit / link->rate.blocks[1] : 1;
    return (idx_t)(link->window < most ? rate * SHORT_TIMES : rate);
}

/* Whether a link leads to a node with firmware. */
static bool leads_on(const struct layout *l, const struct hx_fabric *g, uint32_t node, unsigned port)
{
    uint32_t far = hx_fabric_far(g, node, port).node;
    return far != HX_NOWHERE && !l->dead[far] && !l->dead[node];
}

static void add_node(struct graph *of, const struct layout *l, const struct hx_fabric *g,
                     const struct virtual_timing *t, uint32_t node)
{
    const uint64_t most = longest(g, t);
    idx_t end = of->first[node];
    for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
        if (!leads_on(l, g, node, port))
            continue;
        of->neighbour[end] = (idx_t)hx_fabric_far(g, node, port).node;
        of->weight[end++] = weight_of(link_at(g, t, node, port), most);
    }
    of->work[node] = end - of->first[node] + (hx_is_host(g, node) && !l->dead[node] ? ENDPOINT_WORK : 0);
    of->first[node + 1] = end;
}

static struct graph make_graph(const struct layout *l, const struct hx_fabric *g, const struct virtual_timing *t)
{
    struct graph of = {.nodes = (idx_t)g->nodes,
                       .first = hx_allocate(g->nodes + 1U, sizeof(idx_t)),
                       .work = hx_allocate(g->nodes, sizeof(idx_t)),
                       .neighbour = hx_allocate(g->ports + 1U, sizeof(idx_t)),
                       .weight = hx_allocate(g->ports + 1U, sizeof(idx_t)),
                       .part = hx_allocate(g->nodes, sizeof(idx_t))};
    for (uint32_t node = 0; node < g->nodes; node++)
        add_node(&of, l, g, t, node);
    return of;
}

/* Returns whether METIS found parts, and the sum of cut weights. */
static bool search(struct graph *of, unsigned workers, idx_t *cut)
{
    idx_t one = 1;
    idx_t parts = (idx_t)workers;
    idx_t options[METIS_NOPTIONS];
    (void)METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_NCUTS] = TRIES;
    return METIS_PartGraphRecursive(&of->nodes, &one, of->first, of->neighbour, of->work, NULL, of->weight, &parts,
                                    NULL, NULL, options, cut, of->part) == METIS_OK;
}

void parts_improve(struct layout *l, const struct hx_fabric *g, const struct virtual_timing *t)
{
    if (l->workers == 1 || g->mesh.nodes || g->nodes < l->workers)
        return;
    struct graph of = make_graph(l, g, t);
    idx_t cut;
    if (search(&of, l->workers, &cut) && cut < parts_cut(l, g, t)) {
        for (uint32_t node = 0; node < g->nodes; node++)
            l->worker[node] = (uint16_t)of.part[node];
    }
    HX_FREE(of.first, of.work, of.neighbour, of.weight, of.part);
}

/* Whether a link crosses between workers; at its first end only. */
static bool is_cut(const struct layout *l, const struct hx_fabric *g, uint32_t node, unsigned port)
{
    return leads_on(l, g, node, port) && hx_fabric_is_first_end(g, node, port) &&
           l->worker[node] != l->worker[hx_fabric_far(g, node, port).node];
}

int64_t parts_cut(const struct layout *l, const struct hx_fabric *g, const struct virtual_timing *t)
{
    const uint64_t most = longest(g, t);
    int64_t cut = 0;
    for (uint32_t node = 0; node < g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++)
            cut += is_cut(l, g, node, port) ? weight_of(link_at(g, t, node, port), most) : 0;
    }
    return cut;
}

uint64_t parts_window(const struct layout *l, const struct hx_fabric *g, const struct virtual_timing *t)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t node = 0; node < g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
            const struct virtual_link *link = link_at(g, t, node, port);
            least = is_cut(l, g, node, port) && link->window < least ? link->window : least;
        }
    }
    return least;
}

uint64_t parts_digest(const struct layout *l, const struct hx_fabric *g)
{
    uint64_t digest = l->workers;
    for (uint32_t node = 0; node < g->nodes; node++)
        digest = split_mix(digest ^ l->worker[node]);
    return digest | 1;
}
