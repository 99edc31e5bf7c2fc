/* collective_loads.c - bytes of messages on links (collective_loads.h). */
#include "workload/collective_loads.h"
#include "spec/collective_model.h"
#include "topology/attachment_routers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUTES = 1 << 18, MOST_HOPS = 1 << 23 };

/* An endpoint's link is as fast as four links, or as the most that a host injects (hal/virtual/timing.h). */
static double local_gbps(const struct hx_fabric *g, double link)
{
    return link * fmax(HX_LOCAL, ceil(hx_fabric_most_injection(g, link)));
}

static void measure_links(struct collective_loads *l)
{
    const struct hx_fabric *g = l->g;
    const double link = (double)l->timing.link;
    const double local = local_gbps(g, link);
    const double hop = (double)(l->timing.output + l->timing.input) * 1e-9;
    for (uint32_t port = 0; port < g->ports; port++) {
        const struct hx_link_class *c = &g->link_class[g->port[port].link_class];
        const double of_kind = (double)(c->kind == HX_TRACE ? l->timing.trace : l->timing.cable);
        const double cable = c->latency_ns == HX_LATENCY_OF_KIND ? of_kind : c->latency_ns;
        l->slowness[port] = 8e-9 / hx_class_gbps(c, link) / g->planes;
        l->latency[port] = hop + cable * 1e-9 + HX_BLOCK * 8e-9 / hx_class_gbps(c, link);
    }
    for (uint32_t host = 0; host < g->hosts; host++)
        l->slowness[g->node[host].first_port + HX_LOCAL] = 8e-9 / local / g->planes;
}

void collective_loads_open(struct collective_loads *l, const struct hx_fabric *g, const struct hx_timing *timing)
{
    *l = (struct collective_loads){.g = g, .timing = hx_timing_complete(timing), .apart = 1};
    hx_tables_make(&l->tables, g);
    hx_path_states_take(&l->states, &l->tables);
    l->slowness = hx_allocate(g->ports, sizeof *l->slowness);
    l->latency = hx_allocate(g->ports, sizeof *l->latency);
    l->router = hx_allocate(g->hosts, sizeof *l->router);
    l->route = hx_allocate(ROUTES, sizeof *l->route);
    for (uint32_t host = 0; host < g->hosts; host++)
        l->router[host] = hx_fabric_attachment_router(g, host);
    for (unsigned i = 0; i < 2; i++) {
        l->share[i] = hx_allocate(l->states.count, sizeof *l->share[i]);
        l->late[i] = hx_allocate(l->states.count, sizeof *l->late[i]);
        l->reached[i] = hx_allocate(l->states.count, sizeof *l->reached[i]);
    }
    link_bytes_open(&l->step, g->ports);
    link_bytes_open(&l->alone, g->ports);
    link_bytes_open(&l->total, g->ports);
    link_bytes_open(&l->bytes, g->ports);
    measure_links(l);
}

void collective_loads_close(struct collective_loads *l)
{
    for (unsigned i = 0; i < 2; i++) {
        free(l->share[i]);
        free(l->late[i]);
        free(l->reached[i]);
    }
    free(l->slowness);
    free(l->latency);
    free(l->router);
    free(l->route);
    free(l->hop);
    link_bytes_close(&l->step);
    link_bytes_close(&l->alone);
    link_bytes_close(&l->total);
    link_bytes_close(&l->bytes);
    hx_path_states_free(&l->states);
    hx_tables_free(&l->tables);
}

void collective_loads_begin(struct collective_loads *l)
{
    if (l->hops < MOST_HOPS)
        return;
    memset(l->route, 0, ROUTES * sizeof *l->route);
    l->hops = 0;
}

/* ---- routes ---- */

static void add_hop(struct collective_loads *l, uint32_t port, double share)
{
    if (l->hops == l->room) {
        const uint32_t room = l->room ? 2 * l->room : 4096;
        struct collective_hop *more = hx_allocate(room, sizeof *more);
        if (l->hops)
            memcpy(more, l->hop, l->hops * sizeof *more);
        free(l->hop);
        l->hop = more;
        l->room = room;
    }
    l->hop[l->hops++] = (struct collective_hop){port, (float)share};
}

/* A search, one hop at a time. */
struct search {
    uint32_t target, host; /* the node, and the host that the packets are for */
    unsigned here;         /* parity of the hop */
    uint32_t count;        /* states of the next hop */
    struct collective_route *route;
};

/* Moves what has reached a state to the states of the next hop. */
static void move_on(struct collective_loads *l, struct search *s, uint32_t state)
{
    const struct hx_path_states *t = &l->states;
    const uint32_t node = t->node[state];
    const unsigned here = s->here;
    uint64_t set = hx_tables_onward(&l->tables, node, s->target, s->host) & t->turn_mask[state];
    const double share = l->share[here][state] / __builtin_popcountll(set);
    if (s->route->hops == 0 && s->route->first == l->hops)
        s->route->first_ports = (uint32_t)set;
    s->route->split |= (set & (set - 1)) != 0;
    for (; set; set &= set - 1) {
        const uint32_t port = l->g->node[node].first_port + (unsigned)__builtin_ctzll(set);
        const uint32_t next = t->behind[port];
        if (next == HX_NOWHERE)
            continue;
        add_hop(l, port, share);
        s->route->slowness = fmax(s->route->slowness, share * l->slowness[port]);
        if (t->node[next] == s->target)
            s->route->last = fmax(s->route->last, l->slowness[port]);
        if (l->share[!here][next] <= 0) {
            l->reached[!here][s->count++] = next;
            l->late[!here][next] = 0;
        }
        l->share[!here][next] += share;
        l->late[!here][next] = fmax(l->late[!here][next], l->late[here][state] + l->latency[port]);
    }
}

static void find_route(struct collective_loads *l, uint32_t start, uint32_t target, uint32_t host,
                       struct collective_route *route)
{
    struct search s = {.target = target, .host = host, .route = route};
    *route = (struct collective_route){.key = route->key, .first = l->hops};
    uint32_t count = 1;
    l->reached[0][0] = start;
    l->share[0][start] = 1;
    l->late[0][start] = 0;
    for (; count; s.here = !s.here) {
        s.count = 0;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t state = l->reached[s.here][i];
            if (l->states.node[state] == target)
                route->latency = fmax(route->latency, l->late[s.here][state]);
            else
                move_on(l, &s, state);
            l->share[s.here][state] = 0;
        }
        count = s.count;
    }
    route->hops = l->hops - route->first;
}

/* Returns the paths from a state to the attachment router of a host. */
static const struct collective_route *route_of(struct collective_loads *l, uint32_t start, uint32_t host)
{
    const uint32_t target = l->router[host];
    const uint64_t key = ((uint64_t)start << 32 | target) + 1;
    struct collective_route *route = &l->route[key * UINT64_C(0x9E3779B97F4A7C15) >> 46];
    if (route->key != key) {
        route->key = key;
        find_route(l, start, target, host, route);
    }
    return route;
}

static void add_end(struct collective_loads *l, struct collective_path *path, uint32_t node, unsigned port)
{
    const uint32_t at = l->g->node[node].first_port + port;
    path->end[path->ends++] = at;
    path->slowness = fmax(path->slowness, l->slowness[at]);
    path->latency += port == HX_LOCAL && node < l->g->hosts ? 0 : l->latency[at];
}

static struct hx_end link_of(const struct collective_loads *l, uint32_t host)
{
    unsigned port = 0;
    while (hx_fabric_far(l->g, host, port).node == HX_NOWHERE)
        port++;
    return (struct hx_end){.node = host, .port = (uint8_t)port};
}

struct collective_path collective_loads_path(struct collective_loads *l, uint32_t from, uint32_t to)
{
    struct collective_path path = {.latency = hx_model_latency(&l->timing, 0, 0)};
    uint32_t start = l->states.start[from];
    if (from == to)
        return path;
    if (l->router[from] != from) {
        const struct hx_end out = link_of(l, from);
        add_end(l, &path, from, out.port);
        path.first_ports = 1U << out.port;
        start = l->states.behind[l->g->node[from].first_port + out.port];
    }
    const struct collective_route *route = route_of(l, start, to);
    path.first = route->first;
    path.hops = route->hops;
    path.latency += route->latency;
    path.slowness = fmax(path.slowness, route->slowness);
    path.last = route->last;
    path.split = route->split;
    path.first_ports = path.first_ports ? path.first_ports : route->first_ports;
    if (l->router[to] != to) {
        const struct hx_end own = link_of(l, to);
        const struct hx_end in = hx_fabric_far(l->g, to, own.port);
        add_end(l, &path, in.node, in.port);
        path.last = l->slowness[path.end[path.ends - 1]];
    }
    path.last *= l->apart;
    add_end(l, &path, to, HX_LOCAL);
    return path;
}

/* ---- loads ---- */

void collective_loads_lay(struct collective_loads *l, const struct collective_path *path, double bytes, double *load)
{
    l->split = l->split || path->split;
    for (unsigned i = 0; i < path->ends; i++)
        load[path->end[i]] += bytes;
    for (uint32_t i = path->first; i < path->first + path->hops; i++)
        load[l->hop[i].port] += (double)l->hop[i].share * bytes;
}

void collective_loads_lay_few(struct collective_loads *l, const struct collective_path *path, double bytes,
                              struct link_bytes *load)
{
    for (unsigned i = 0; i < path->ends; i++)
        link_bytes_list(load, path->end[i]);
    for (uint32_t i = path->first; i < path->first + path->hops; i++)
        link_bytes_list(load, l->hop[i].port);
    collective_loads_lay(l, path, bytes, load->bytes);
}

double collective_loads_inside(const struct collective_loads *l, const struct collective_path *path, const double *load)
{
    double most = 0;
    for (uint32_t i = path->first; i < path->first + path->hops; i++) {
        const double seconds = load[l->hop[i].port] * l->slowness[l->hop[i].port];
        most = seconds > most ? seconds : most;
    }
    return most;
}

double collective_loads_worst(const struct collective_loads *l, const struct collective_path *path, const double *load)
{
    double most = collective_loads_inside(l, path, load);
    for (unsigned i = 0; i < path->ends; i++)
        most = fmax(most, load[path->end[i]] * l->slowness[path->end[i]]);
    return most;
}

double collective_loads_fullest(const struct collective_loads *l, const double *load)
{
    double most = 0;
    for (uint32_t port = 0; port < l->g->ports; port++) {
        const double seconds = load[port] * l->slowness[port];
        most = seconds > most ? seconds : most;
    }
    return most;
}
