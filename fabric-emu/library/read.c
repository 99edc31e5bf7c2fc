/* read.c - hosts, links, faults and the report of the library (library.h). */
#include "base/json.h"
#include "base/text.h"
#include "library.h"
#include "topology/name.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert((int)HX_SIM_NAME >= (int)HX_NAME_BYTES, "all names fit");

/* ---- hosts ---- */

uint32_t hx_sim_hosts(const struct hx_sim *f)
{
    return f->setup.m.g->hosts;
}

bool hx_sim_is_usable(const struct hx_sim *f, uint32_t host)
{
    return host < f->setup.m.g->hosts && f->driver[host];
}

int hx_sim_host_name(struct hx_sim *f, uint32_t host, char name[HX_SIM_NAME])
{
    const struct hx_fabric *g = f->setup.m.g;
    if (host >= g->hosts)
        return library_refuse(f, "host %u: hosts are 0 to %u", host, g->hosts - 1);
    const struct hx_coordinate at = hx_coordinate_of(g, host);
    (void)snprintf(name, HX_SIM_NAME, "a%u,%u", at.addr_hi, at.addr_lo);
    return HX_SIM_OK;
}

uint32_t hx_sim_host_of(const struct hx_sim *f, const char *name)
{
    struct hx_coordinate at = {0, 0};
    char why[HX_WHY_TEXT];
    const bool good = name[0] == 'a' && !hx_value_coordinate(name + 1, &at, why);
    const uint32_t host = good ? hx_host_at(f->setup.m.g, at.addr_hi, at.addr_lo) : HX_NOWHERE;
    return host == HX_NOWHERE ? HX_SIM_NO_HOST : host;
}

/* ---- links ---- */

/* In the order of the report. */
static int list_links(struct hx_sim *f, void *of)
{
    const struct model *m = &f->setup.m;
    const struct hx_fabric *g = m->g;
    const struct worker *w = f->worker;
    (void)of;
    const size_t links = (size_t)g->planes * m->layout.links;
    const struct virtual_tx **tx = hx_allocate(links + 1, sizeof(struct virtual_tx *));
    f->direction = hx_allocate(links + 1, sizeof *f->direction);
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        const struct virtual_sim_node *e = w->sim_node[i];
        for (unsigned plane = 0; plane < e->planes; plane++)
            for (unsigned port = 0; port < e->node[plane].hal.ports; port++)
                tx[e->node[plane].hal.tx[port].link] = &e->node[plane].hal.tx[port];
    }
    for (uint8_t plane = 0; plane < g->planes; plane++) {
        for (uint32_t node = 0; node < g->nodes; node++) {
            for (unsigned port = 0; port < hx_fabric_ports(g, node); port++) {
                if (hx_fabric_far(g, node, port).node != HX_NOWHERE)
                    f->direction[f->directions++] =
                        (struct direction){node, (uint16_t)port, plane, tx[model_link_number(m, plane, node, port)]};
            }
        }
    }
    free(tx);
    return HX_SIM_OK;
}

uint32_t hx_sim_links(struct hx_sim *f)
{
    if (!f->direction)
        (void)library_call(f, list_links, NULL);
    return f->directions;
}

int hx_sim_link(struct hx_sim *f, uint32_t link, struct hx_sim_link *found)
{
    const uint32_t links = hx_sim_links(f);
    const struct hx_fabric *g = f->setup.m.g;
    if (f->broken)
        return HX_SIM_BROKEN;
    if (link >= links)
        return library_refuse(f, "link %u: links are 0 to %u", link, links - 1);
    const struct direction *d = &f->direction[link];
    const struct hx_end far = hx_fabric_far(g, d->node, d->port);
    *found = (struct hx_sim_link){.packets = 0};
    (void)hx_port_name(found->from, g, d->plane, d->node, d->port);
    (void)hx_port_name(found->to, g, d->plane, far.node, far.port);
    if (!d->tx)
        return HX_SIM_OK;
    found->packets = d->tx->sum.packets;
    found->bytes = d->tx->sum.blocks * HX_BLOCK;
    found->busy = d->tx->sum.blocks * d->tx->kind->rate.blocks[1];
    return HX_SIM_OK;
}

/* ---- faults ---- */

const char *hx_sim_fault(const struct hx_sim *f, uint64_t fault)
{
    return fault < f->setup.faults.count ? f->setup.faults.fault[fault].text : NULL;
}

/* ---- the report ---- */

static int make_report(struct hx_sim *f, void *of)
{
    struct result r;
    const struct outcome outcome = {.interrupted = f->worker->active > 0};
    (void)of;
    f->ended = true;
    f->windows.turn.active = f->worker->active;
    f->windows.turn.stop = f->worker->active > 0;
    worker_report(f->worker, &f->windows.turn);
    model_end(&f->setup.m);
    setup_report(&f->setup, &outcome, true, &r);
    char *text = hx_json_report(result_json(&r));
    f->report = hx_text_own(text);
    free(text); /* memory of jansson */
    result_free(&r);
    return HX_SIM_OK;
}

const char *hx_sim_report(struct hx_sim *f)
{
    if (!f->report && !f->ended)
        (void)library_call(f, make_report, NULL);
    return f->report;
}
