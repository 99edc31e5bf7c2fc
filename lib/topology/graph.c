/* graph.c - any graph of switches and hosts, from a file (topology/graph_file.h gives the format).
 *
 * Packets take all minimal paths, on as few VCs as the order found needs (topology/updown.h). A host that forwards is a
 * router with its host beside it, on a trace as fast as all its links. A group is a switch with its hosts. */
#include "base/input.h"
#include "topology/graph_file.h"
#include "topology/topology.h"
#include "topology/updown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8, MOST_BYTES = 8 << 20 /* of a file */ };

/* What the file's nodes become: numbers of hosts and routers, digits. */
struct plan {
    const struct hx_graph_file *g;
    uint32_t hosts, routers, d0s, d1s, switches;
    uint32_t *host;   /* [nodes of the file]: HX_NOWHERE: not a host */
    uint32_t *router; /* [nodes of the file]: its own number, or its attachment router's */
    uint32_t *on;     /* [nodes of the file]: attached hosts */
    uint32_t *group;  /* [nodes of the file]: union-find parent */
};

static enum hx_graph_role role(const struct plan *p, uint32_t node)
{
    return p->g->node[node]->role;
}

/* ---- what a graph must be ---- */

static uint32_t root_of(const struct plan *p, uint32_t node)
{
    while (p->group[node] != node)
        node = p->group[node] = p->group[p->group[node]];
    return node;
}

static bool is_joined(const struct plan *p, struct hx_problem *problem)
{
    for (uint32_t node = 0; node < p->g->nodes; node++)
        p->group[node] = node;
    for (uint32_t i = 0; i < p->g->links; i++)
        p->group[root_of(p, p->g->link[i].a)] = root_of(p, p->g->link[i].b);
    for (uint32_t node = 1; node < p->g->nodes; node++)
        if (root_of(p, node) != root_of(p, 0))
            return hx_fail(problem, HX_EXIT_CONFIG, p->g->path, "there is no path from '%.80s' to '%.80s'",
                           p->g->node[0]->name, p->g->node[node]->name);
    return true;
}

static bool has_good_nodes(const struct plan *p, struct hx_problem *problem)
{
    uint32_t hosts = 0;
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        const struct hx_graph_node *n = p->g->node[node];
        uint32_t ports = n->links + (n->role == HX_GRAPH_FORWARDS);
        if (n->role == HX_GRAPH_HOST && n->links != 1)
            return hx_fail(problem, HX_EXIT_CONFIG, p->g->path,
                           "host '%.80s' has %u links; one that forwards is written 'forward %.80s'", n->name, n->links,
                           n->name);
        if (ports > HX_MAX_RADIX)
            return hx_fail(problem, HX_EXIT_CONFIG, p->g->path, "'%.80s' has %u ports, more than %d", n->name, ports,
                           HX_MAX_RADIX);
        hosts += n->role != HX_GRAPH_SWITCH;
    }
    for (uint32_t i = 0; i < p->g->links; i++)
        if (role(p, p->g->link[i].a) == HX_GRAPH_HOST && role(p, p->g->link[i].b) == HX_GRAPH_HOST)
            return hx_fail(problem, HX_EXIT_CONFIG, p->g->path, "no switch is between hosts '%.80s' and '%.80s'",
                           p->g->node[p->g->link[i].a]->name, p->g->node[p->g->link[i].b]->name);
    if (hosts < 2)
        return hx_fail(problem, HX_EXIT_CONFIG, p->g->path,
                       "%u hosts: at least two nodes need a single link, or a line 'host NAME' or 'forward NAME'",
                       hosts);
    return hosts <= HX_MAX_HOSTS ||
           hx_fail(problem, HX_EXIT_CONFIG, p->g->path, "%u hosts are more than %d", hosts, HX_MAX_HOSTS);
}

/* ---- numbers ---- */

static void number(struct plan *p)
{
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        p->host[node] = role(p, node) == HX_GRAPH_SWITCH ? HX_NOWHERE : p->hosts++;
        p->router[node] = role(p, node) == HX_GRAPH_HOST ? HX_NOWHERE : p->routers++;
        p->switches += role(p, node) == HX_GRAPH_SWITCH;
        p->on[node] = role(p, node) == HX_GRAPH_FORWARDS;
    }
    for (uint32_t i = 0; i < p->g->links; i++) {
        uint32_t a = p->g->link[i].a;
        uint32_t b = p->g->link[i].b;
        uint32_t host = role(p, a) == HX_GRAPH_HOST ? a : b;
        if (role(p, host) != HX_GRAPH_HOST)
            continue;
        p->router[host] = p->router[a + b - host];
        p->on[a + b - host]++;
    }
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        p->d0s += p->on[node] > 0;
        p->d1s = p->on[node] > p->d1s ? p->on[node] : p->d1s;
    }
}

/* ---- nodes and links ---- */

static void give_addresses(struct hx_fabric *f, const struct plan *p)
{
    uint32_t addr_hi = 0;
    uint32_t *place = hx_allocate(p->routers, sizeof *place);
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        if (role(p, node) == HX_GRAPH_HOST)
            continue;
        f->node[f->hosts + p->router[node]].group = p->router[node];
        if (p->on[node])
            hx_fabric_address(f, f->hosts + p->router[node], addr_hi++, 0);
    }
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        uint32_t router = p->router[node];
        if (p->host[node] == HX_NOWHERE)
            continue;
        hx_fabric_address(f, p->host[node], f->node[f->hosts + router].addr_hi, place[router]++);
        f->node[p->host[node]].group = router;
    }
    free(place);
    f->groups = p->routers;
}

static unsigned fewest_links(const struct plan *p)
{
    unsigned fewest = HX_MAX_RADIX;
    for (uint32_t node = 0; node < p->g->nodes; node++)
        if (role(p, node) != HX_GRAPH_SWITCH && p->g->node[node]->links < fewest)
            fewest = p->g->node[node]->links;
    return fewest ? fewest : 1;
}

static void add_injected(struct hx_fabric *f, const struct plan *p, uint32_t node, const struct hx_link_class *c)
{
    if (p->host[node] == HX_NOWHERE)
        return;
    f->injected[p->host[node]].links += c->gbps == 0;
    f->injected[p->host[node]].gbps += c->gbps;
}

/* A host injects what its links carry. */
static void set_injected(struct hx_fabric *f, const struct plan *p)
{
    f->injected = hx_allocate(f->hosts, sizeof *f->injected);
    for (uint32_t i = 0; i < p->g->links; i++) {
        const struct hx_graph_link *l = &p->g->link[i];
        add_injected(f, p, l->a, &p->g->link_class[l->link_class]);
        add_injected(f, p, l->b, &p->g->link_class[l->link_class]);
    }
}

/* Returns the trace class of hosts that forward: as fast as all links of the fastest one. */
static struct hx_link_class trace_of_all(const struct hx_fabric *f, const struct plan *p)
{
    struct hx_link_class trace = {.name = "host", .kind = HX_TRACE, .latency_ns = HX_LATENCY_OF_KIND};
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        if (role(p, node) != HX_GRAPH_FORWARDS)
            continue;
        const struct hx_injected *own = &f->injected[p->host[node]];
        trace.times = own->links > trace.times ? own->links : trace.times;
        trace.gbps = own->gbps > trace.gbps ? own->gbps : trace.gbps;
    }
    return trace;
}

static void add_link(struct hx_fabric *f, const struct plan *p)
{
    for (unsigned i = 0; i < p->g->link_classes; i++)
        hx_fabric_class(f, &p->g->link_class[i]);
    if (p->switches < p->routers) {
        const struct hx_link_class trace = trace_of_all(f, p);
        unsigned beside = hx_fabric_class(f, &trace);
        for (uint32_t node = 0; node < p->g->nodes; node++)
            if (role(p, node) == HX_GRAPH_FORWARDS)
                hx_fabric_add_link(f, &(struct hx_new_link){.a = p->host[node],
                                                            .b = f->hosts + p->router[node],
                                                            .link_class = (uint8_t)beside});
    }
    for (uint32_t i = 0; i < p->g->links; i++) {
        const struct hx_graph_link *l = &p->g->link[i];
        bool a_host = role(p, l->a) == HX_GRAPH_HOST;
        bool b_host = role(p, l->b) == HX_GRAPH_HOST;
        hx_fabric_add_link(f, &(struct hx_new_link){.a = a_host ? p->host[l->a] : f->hosts + p->router[l->a],
                                                    .b = b_host ? p->host[l->b] : f->hosts + p->router[l->b],
                                                    .link_class = l->link_class});
    }
}

static void set_forwarding(struct hx_fabric *f, const struct plan *p)
{
    bool said = false;
    for (uint32_t node = 0; node < p->g->nodes; node++)
        said = said || p->g->node[node]->delay_ns || p->g->node[node]->gbps;
    if (!said)
        return;
    f->forwarding = hx_allocate(p->routers, sizeof *f->forwarding);
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        const struct hx_graph_node *n = p->g->node[node];
        if (n->role != HX_GRAPH_HOST)
            f->forwarding[p->router[node]] = (struct hx_forwarding){p->host[node], n->delay_ns, n->gbps};
    }
}

static const char *name_of_router(const struct plan *p, uint32_t router)
{
    uint32_t node = 0;
    while (p->router[node] != router || role(p, node) == HX_GRAPH_HOST)
        node++;
    return p->g->node[node]->name;
}

/* Gives nodes their names in the file. */
static void keep_names(struct hx_fabric *f, const struct plan *p)
{
    size_t letters = 0;
    for (uint32_t node = 0; node < p->g->nodes; node++)
        letters += strlen(p->g->node[node]->name) + 1;
    f->graph_name = hx_allocate(1, f->nodes * sizeof *f->graph_name + letters);
    char *text = (char *)(f->graph_name + f->nodes);
    for (uint32_t node = 0; node < p->g->nodes; node++) {
        size_t bytes = strlen(p->g->node[node]->name) + 1;
        bool host = role(p, node) == HX_GRAPH_HOST;
        f->graph_name[host ? p->host[node] : f->hosts + p->router[node]] = memcpy(text, p->g->node[node]->name, bytes);
        text += bytes;
    }
}

/* Names the switches of a dependency cycle that the available VCs do not open. */
static bool refuse(const struct hx_fabric *f, const struct plan *p, struct hx_problem *problem)
{
    char text[sizeof problem->what / 2] = "";
    uint32_t cycle[SHOWN];
    unsigned length = hx_updown_cycle(f, f->updown, cycle, SHOWN);
    for (unsigned i = 0; i < length && i < SHOWN; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.20s", i ? ", " : "", name_of_router(p, cycle[i]));
    }
    return hx_fail(problem, HX_EXIT_CONFIG, p->g->path,
                   "%d VCs do not suffice for minimal paths: links of %s%s form a dependency cycle", HX_VCS, text,
                   length > SHOWN ? " ..." : "");
}

static bool make(struct hx_fabric *f, const struct plan *p, struct hx_problem *problem)
{
    struct hx_problem why;
    hx_fabric_start(f, p->hosts, p->routers, p->d0s, p->d1s);
    give_addresses(f, p);
    set_injected(f, p);
    add_link(f, p);
    set_forwarding(f, p);
    keep_names(f, p);
    f->host_links = fewest_links(p);
    f->switches = p->switches;
    f->by_updown = true;
    hx_fabric_name(f, "switch", f->hosts, p->routers, 0);
    if (!hx_fabric_finish(f, problem))
        return false;
    f->updown = hx_updown_search(f, NULL, HX_VCS, NULL, &why);
    if (!f->updown)
        return hx_fail(problem, HX_EXIT_CONFIG, p->g->path, "%s", why.what);
    f->vcs = f->updown->vcs;
    return f->vcs > 0 || refuse(f, p, problem);
}

static bool build_of(struct hx_fabric *f, const struct hx_graph_file *g, struct hx_problem *problem)
{
    struct plan p = {.g = g,
                     .host = hx_allocate(g->nodes, sizeof *p.host),
                     .router = hx_allocate(g->nodes, sizeof *p.router),
                     .on = hx_allocate(g->nodes, sizeof *p.on),
                     .group = hx_allocate(g->nodes, sizeof *p.group)};
    bool good = has_good_nodes(&p, problem) && is_joined(&p, problem);
    if (good) {
        number(&p);
        good = make(f, &p, problem);
    }
    HX_FREE(p.host, p.router, p.on, p.group);
    return good;
}

/* Reads the file once: workers and later readers get its text. */
static bool take_text(struct hx_fabric *f, const char *path, struct hx_problem *problem)
{
    if (f->graph_text)
        return true;
    if (f->graph_given)
        return hx_fail(problem, HX_EXIT_CONFIG, NULL,
                       "the contents of 'graph %.80s' are not in it (give them by --spec 'graph FILE')", path);
    return hx_input_read(path, MOST_BYTES, "graph", &f->graph_text, &f->graph_bytes, problem);
}

static bool build(struct hx_fabric *f, struct hx_spec_tokens *tokens, struct hx_problem *problem)
{
    static const char *const keys[] = {NULL};
    struct hx_graph_file g;
    char path[HX_SPEC_BYTES];
    if (!tokens->other)
        return hx_spec_tokens_fail(tokens, problem, "name a file: graph FILE");
    hx_spec_tokens_as_written(tokens, tokens->other, path);
    tokens->other = NULL;
    if (!hx_spec_tokens_end(tokens, keys, 0, problem) || !take_text(f, path, problem) ||
        !hx_graph_read(&g, path, f->graph_text, f->graph_bytes, problem))
        return false;
    bool good = build_of(f, &g, problem);
    hx_graph_free(&g);
    return good;
}

const struct hx_topology hx_topology_graph = {
    HX_TOPOLOGY(
        "graph",
        "FILE: lines a,b[,gbps[,ns[,trace|dac|aoc]]], host NAME, forward NAME [NS [GBPS]], switch NAME; or *.yaml",
        "graph examples/graph/cube.csv", "any graph, from a list of its links", build),
};
