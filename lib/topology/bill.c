/* bill.c - counts and prices the parts of a fabric (topology/bill.h). */
#include "topology/bill.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENDS = 3 }; /* 0 .. 2 ends of a link at servers */

struct count {
    const struct hx_fabric *f;
    bool *server; /* [nodes] */
    uint64_t links[HX_MAX_LINK_CLASSES][ENDS];
};

typedef void with_link(struct count *c, unsigned link_class, uint32_t a, uint32_t b);

/* Calls a function for each link, also those that failed. */
static void each_link(struct count *c, with_link *call)
{
    const struct hx_fabric *f = c->f;
    for (uint32_t node = 0; node < f->nodes; node++)
        for (unsigned port = 0; port < hx_fabric_ports(f, node); port++)
            if (hx_fabric_is_first_end(f, node, port))
                call(c, hx_fabric_port(f, node, port)->link_class, node, hx_fabric_far(f, node, port).node);
    for (uint32_t i = 0; i < f->failed_links; i++)
        call(c, f->failed_link[i].link_class, f->failed_link[i].a, f->failed_link[i].b);
}

static void find_server(struct count *c, unsigned link_class, uint32_t a, uint32_t b)
{
    if (c->f->link_class[link_class].kind == HX_TRACE && (hx_is_host(c->f, a) || hx_is_host(c->f, b)))
        c->server[a] = c->server[b] = true;
}

static void count_link(struct count *c, unsigned link_class, uint32_t a, uint32_t b)
{
    c->links[link_class][c->server[a] + c->server[b]]++;
}

static double usd_of_link(const struct hx_prices *p, enum hx_link_kind kind, double gbps, unsigned servers)
{
    const struct hx_link_price l = hx_link_price(p, gbps);
    double usd = p->cable[kind];
    if (kind == HX_TRACE)
        return usd;
    usd += servers * l.nic + (2 - servers) * l.port;
    if (kind == HX_AOC || p->optical == HX_OPTICAL_ALL)
        usd += 2 * l.transceiver + (servers == 2 ? 2 * hx_circuit_end_usd(p, p->circuit, gbps) : l.fibre);
    return usd;
}

struct hx_bill hx_fabric_bill(const struct hx_fabric *f, const struct hx_prices *p, double gbps)
{
    struct hx_bill bill = {.switches = (uint64_t)f->switches * f->bought_planes};
    struct count c = {.f = f, .server = hx_allocate(f->nodes, sizeof *c.server)};
    double usd = (double)bill.switches * p->box;
    memset(c.server, true, f->hosts);
    each_link(&c, find_server);
    each_link(&c, count_link);
    free(c.server);
    for (unsigned i = 0; i < f->link_classes; i++) {
        const struct hx_link_class *class = &f->link_class[i];
        for (unsigned servers = 0; servers < ENDS; servers++) {
            const uint64_t links = c.links[i][servers] * f->bought_planes;
            bill.cables[class->kind] += links;
            usd += (double)links * usd_of_link(p, class->kind, hx_class_gbps(class, gbps), servers);
        }
    }
    bill.usd = (uint64_t)llround(usd);
    return bill;
}
