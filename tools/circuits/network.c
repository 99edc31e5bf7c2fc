/* network.c - loads of messages between servers (network.h). */
#include "tools/circuits/network.h"
#include "topology/attachment_routers.h"
#include "workload/collective_loads.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A load that is kept, and its latency. */
struct kept {
    double *load;   /* NULL: not computed */
    double latency; /* of scatters: seconds of the longest path; of rings: the mean of all pairs */
};

/* A server that forwards at a limited rate. */
struct forwarder {
    uint32_t router;
    double rate; /* bytes a second */
};

struct network_of_servers {
    struct hx_fabric f; /* no nodes: an ideal switch */
    struct collective_loads paths;
    uint32_t servers, links;
    double *rate;     /* [links]; 0: no link between servers */
    uint32_t *server; /* [nodes]: host of a node that forwards for it; HX_NOWHERE: a switch */
    struct forwarder *forwarder;
    uint32_t forwarders;
    double base;                          /* seconds that a path without links takes */
    double switch_latency;                /* seconds of both links of an ideal switch */
    struct kept *scatter, *gather, *ring; /* [servers]; of ring by stride */
    struct kept all;
};

/* ---- links ---- */

static bool is_ideal(const struct network_of_servers *n)
{
    return n->f.nodes == 0;
}

/* Returns the router of a host that forwards by it: on a trace, with no other host. HX_NOWHERE: none. */
static uint32_t own_router(const struct hx_fabric *f, uint32_t host)
{
    const uint32_t router = hx_fabric_attachment_router(f, host);
    if (router == host || __builtin_popcountll(hx_fabric_host_ports(f, router)) != 1)
        return HX_NOWHERE;
    const unsigned port = (unsigned)__builtin_ctzll(hx_fabric_host_ports(f, router));
    return hx_fabric_link(f, router, port)->kind == HX_TRACE ? router : HX_NOWHERE;
}

static void name_servers(struct network_of_servers *n)
{
    n->server = hx_allocate(n->f.nodes, sizeof *n->server);
    for (uint32_t node = 0; node < n->f.nodes; node++)
        n->server[node] = node < n->f.hosts ? node : HX_NOWHERE;
    for (uint32_t host = 0; host < n->f.hosts; host++) {
        const uint32_t router = own_router(&n->f, host);
        if (router != HX_NOWHERE)
            n->server[router] = host;
    }
}

static bool is_link(const struct network_of_servers *n, uint32_t node, unsigned port)
{
    const uint32_t far = hx_fabric_far(&n->f, node, port).node;
    return far != HX_NOWHERE && (n->server[node] == HX_NOWHERE || n->server[node] != n->server[far]);
}

/* Forwarding counts on links that leave the router. A path's first router sends packets of its own: servers_latency()
 * takes its delay off again. */
static void measure_links(struct network_of_servers *n, double gbps, double latency_ns, unsigned planes)
{
    const struct hx_fabric *f = &n->f;
    for (uint32_t node = 0; node < f->nodes; node++) {
        const struct hx_forwarding *own = f->forwarding && node >= f->hosts ? &f->forwarding[node - f->hosts] : NULL;
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++) {
            const struct hx_link_class *c = hx_fabric_link(f, node, port);
            const uint32_t link = f->node[node].first_port + port;
            n->paths.latency[link] = 0;
            if (!is_link(n, node, port))
                continue;
            n->rate[link] = hx_class_gbps(c, gbps) / 8e-9 * planes;
            n->paths.latency[link] = 1e-9 * (c->latency_ns == HX_LATENCY_OF_KIND ? latency_ns : c->latency_ns) +
                                     1e-9 * (own ? own->delay_ns : 0);
        }
        if (own && own->gbps)
            n->forwarder[n->forwarders++] = (struct forwarder){node, own->gbps / 8e-9 * planes};
    }
}

struct network_of_servers *servers_network(struct hx_fabric *f, double gbps, double latency_ns, unsigned planes)
{
    struct network_of_servers *n = hx_allocate(1, sizeof *n);
    const struct hx_timing timing = HX_DEFAULT_TIMING;
    n->f = *f;
    *f = (struct hx_fabric){0};
    n->servers = n->f.hosts;
    n->links = n->f.ports;
    collective_loads_open(&n->paths, &n->f, &timing);
    n->base = collective_loads_path(&n->paths, 0, 0).latency;
    n->rate = hx_allocate(n->links, sizeof *n->rate);
    n->forwarder = hx_allocate(n->f.nodes, sizeof *n->forwarder);
    name_servers(n);
    measure_links(n, gbps, latency_ns, planes);
    n->scatter = hx_allocate(n->servers, sizeof *n->scatter);
    n->gather = hx_allocate(n->servers, sizeof *n->gather);
    n->ring = hx_allocate(n->servers, sizeof *n->ring);
    return n;
}

struct network_of_servers *circuits_network(const struct circuits *c, const struct circuits_links *l,
                                            struct hx_problem *problem)
{
    char *text = NULL;
    size_t bytes = 0;
    struct hx_fabric f;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        (void)hx_fail(problem, HX_EXIT_ENVIRONMENT, NULL, "no memory for a graph");
        return NULL;
    }
    circuits_write(c, l, out);
    (void)fclose(out);
    const struct hx_graph_text graph = {.bytes = text, .length = bytes};
    const bool made = hx_fabric_make_told(&f, "graph circuits", 1, &graph, problem);
    free(text);
    if (made)
        return servers_network(&f, l->gbps, l->latency_ns, 1);
    struct circuits_paths paths;
    if (circuits_measure(c, &paths)) {
        free(paths.of_length);
        (void)hx_fail(problem, HX_EXIT_CONFIG, NULL,
                      "%d VCs do not suffice for minimal paths of %" PRIu32
                      " servers with %u interfaces each (use a greater --degree)",
                      HX_VCS, c->servers, c->degree);
    }
    return NULL;
}

/* Link s leaves server s, link servers + s leads to it. */
struct network_of_servers *servers_ideal(uint32_t servers, double gbps, double latency_ns)
{
    struct network_of_servers *n = hx_allocate(1, sizeof *n);
    n->servers = servers;
    n->links = 2 * servers;
    n->switch_latency = 2e-9 * latency_ns;
    n->rate = hx_allocate(n->links, sizeof *n->rate);
    for (uint32_t link = 0; link < n->links; link++)
        n->rate[link] = gbps / 8e-9;
    n->scatter = hx_allocate(servers, sizeof *n->scatter);
    n->gather = hx_allocate(servers, sizeof *n->gather);
    n->ring = hx_allocate(servers, sizeof *n->ring);
    return n;
}

void servers_free(struct network_of_servers *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->servers; i++)
        HX_FREE(n->scatter[i].load, n->gather[i].load, n->ring[i].load);
    if (!is_ideal(n)) {
        collective_loads_close(&n->paths);
        hx_fabric_free(&n->f);
    }
    HX_FREE(n->all.load, n->scatter, n->gather, n->ring, n->rate, n->server, n->forwarder, n);
}

uint32_t servers_count(const struct network_of_servers *n)
{
    return n->servers;
}

uint32_t servers_links(const struct network_of_servers *n)
{
    return n->links;
}

double servers_rate(const struct network_of_servers *n, uint32_t link)
{
    return n->rate[link];
}

static uint32_t end_of(const struct network_of_servers *n, uint32_t node)
{
    return n->server[node] != HX_NOWHERE ? n->server[node] : node;
}

static uint32_t node_of(const struct hx_fabric *f, uint32_t link)
{
    uint32_t low = 0, high = f->nodes; /* low has the port or an earlier one */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (f->node[middle].first_port <= link)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool servers_ends(const struct network_of_servers *n, uint32_t link, uint32_t *from, uint32_t *to)
{
    if (n->rate[link] <= 0)
        return false;
    *from = is_ideal(n) ? (link < n->servers ? link : n->servers) : end_of(n, node_of(&n->f, link));
    *to = is_ideal(n) ? (link < n->servers ? n->servers : link - n->servers) : end_of(n, n->f.port[link].far.node);
    return true;
}

/* ---- messages ---- */

static struct collective_path path_of(struct network_of_servers *n, uint32_t from, uint32_t to)
{
    collective_loads_begin(&n->paths);
    return collective_loads_path(&n->paths, from, to);
}

static double latency_of(const struct network_of_servers *n, const struct collective_path *path, uint32_t from)
{
    const struct hx_fabric *f = &n->f;
    const uint32_t router = hx_fabric_attachment_router(f, from);
    const uint32_t own = f->forwarding && router >= f->hosts ? f->forwarding[router - f->hosts].delay_ns : 0;
    return path->latency - n->base - 1e-9 * own;
}

/* Adds a byte to a load that is kept. Returns the seconds of latency. */
static double keep(struct network_of_servers *n, const struct kept *k, uint32_t from, uint32_t to)
{
    servers_add(n, k->load, from, to, 1);
    return servers_latency(n, from, to);
}

void servers_add(struct network_of_servers *n, double *load, uint32_t from, uint32_t to, double bytes)
{
    if (from == to)
        return;
    if (is_ideal(n)) {
        load[from] += bytes;
        load[n->servers + to] += bytes;
        return;
    }
    const struct collective_path path = path_of(n, from, to);
    collective_loads_lay(&n->paths, &path, bytes, load);
}

double servers_latency(struct network_of_servers *n, uint32_t from, uint32_t to)
{
    if (from == to)
        return 0;
    if (is_ideal(n))
        return n->switch_latency;
    const struct collective_path path = path_of(n, from, to);
    return latency_of(n, &path, from);
}

/* ---- what is kept ---- */

static const struct kept *scatter_of(struct network_of_servers *n, uint32_t from)
{
    struct kept *k = &n->scatter[from];
    if (!k->load) {
        k->load = hx_allocate(n->links, sizeof *k->load);
        for (uint32_t to = 0; to < n->servers; to++)
            k->latency = fmax(k->latency, keep(n, k, from, to));
    }
    return k;
}

const double *servers_scatter(struct network_of_servers *n, uint32_t from)
{
    return scatter_of(n, from)->load;
}

double servers_farthest(struct network_of_servers *n, uint32_t server)
{
    return scatter_of(n, server)->latency;
}

const double *servers_gather(struct network_of_servers *n, uint32_t to)
{
    struct kept *k = &n->gather[to];
    if (!k->load) {
        k->load = hx_allocate(n->links, sizeof *k->load);
        for (uint32_t from = 0; from < n->servers; from++)
            servers_add(n, k->load, from, to, 1);
    }
    return k->load;
}

const double *servers_all(struct network_of_servers *n)
{
    if (!n->all.load) {
        n->all.load = hx_allocate(n->links, sizeof *n->all.load);
        for (uint32_t from = 0; from < n->servers; from++) {
            const double *scatter = servers_scatter(n, from);
            for (uint32_t link = 0; link < n->links; link++)
                n->all.load[link] += scatter[link];
        }
    }
    return n->all.load;
}

static const struct kept *ring_of(struct network_of_servers *n, uint32_t stride)
{
    struct kept *k = &n->ring[stride];
    if (!k->load) {
        k->load = hx_allocate(n->links, sizeof *k->load);
        double latency = 0;
        for (uint32_t i = 0; i < n->servers; i++) {
            latency += keep(n, k, i, (i + stride) % n->servers);
            latency += keep(n, k, (i + stride) % n->servers, i);
        }
        k->latency = latency / (2.0 * n->servers);
    }
    return k;
}

const double *servers_ring(struct network_of_servers *n, uint32_t stride)
{
    return ring_of(n, stride)->load;
}

double servers_step(struct network_of_servers *n, uint32_t stride)
{
    return ring_of(n, stride)->latency;
}

void servers_warm(struct network_of_servers *n, const uint32_t *stride, unsigned strides)
{
    for (uint32_t server = 0; server < n->servers; server++) {
        (void)servers_scatter(n, server);
        (void)servers_gather(n, server);
    }
    (void)servers_all(n);
    for (unsigned i = 0; i < strides; i++)
        (void)servers_ring(n, stride[i]);
}

/* ---- what a load means ---- */

/* Returns the bytes that a server's router passes on: all that other routers send it, without the server's own. */
static double passed_on(const struct hx_fabric *f, uint32_t router, const double *load)
{
    double bytes = 0;
    for (unsigned port = 0; port < hx_fabric_ports(f, router); port++) {
        const struct hx_end far = hx_fabric_far(f, router, port);
        if (far.node == HX_NOWHERE)
            continue;
        bytes += hx_is_host(f, far.node) ? -load[f->node[router].first_port + port]
                                         : load[f->node[far.node].first_port + far.port];
    }
    return bytes;
}

double servers_seconds(const struct network_of_servers *n, const double *load)
{
    double most = 0;
    for (uint32_t link = 0; link < n->links; link++) {
        const double seconds = n->rate[link] > 0 ? load[link] / n->rate[link] : 0;
        most = seconds > most ? seconds : most;
    }
    for (uint32_t i = 0; i < n->forwarders; i++)
        most = fmax(most, passed_on(&n->f, n->forwarder[i].router, load) / n->forwarder[i].rate);
    return most;
}

double servers_carried(const struct network_of_servers *n, const double *load)
{
    double bytes = 0;
    if (is_ideal(n)) {
        for (uint32_t link = 0; link < n->servers; link++)
            bytes += load[link];
        return bytes;
    }
    for (uint32_t node = 0; node < n->f.nodes; node++)
        for (unsigned port = 0; n->server[node] != HX_NOWHERE && port < hx_fabric_ports(&n->f, node); port++) {
            const uint32_t link = n->f.node[node].first_port + port;
            bytes += n->rate[link] > 0 ? load[link] : 0;
        }
    return bytes;
}
