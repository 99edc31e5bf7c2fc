/* meter.c - times of demands that follow each other (tools/circuits/meter.h). */
#include "tools/circuits/meter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After so many demands all loads are summed up afresh: rounding errors do not pile up. */
enum { FRESH_AFTER = 1024 };

/* An exchange of the last demand that had it. */
struct metered {
    double *scatter, *gather; /* [servers] bytes */
    double all;               /* bytes */
    double *load;             /* [links] bytes */
    double seconds;
};

struct circuits_meter {
    const struct circuits_ground *ground;
    struct metered *exchange;
    size_t exchanges, room;
    unsigned demands; /* since loads were fresh */
};

struct circuits_meter *circuits_meter_new(const struct circuits_ground *g)
{
    struct circuits_meter *m = hx_allocate(1, sizeof *m);
    m->ground = g;
    return m;
}

void circuits_meter_free(struct circuits_meter *m)
{
    for (size_t i = 0; m && i < m->exchanges; i++)
        HX_FREE(m->exchange[i].scatter, m->exchange[i].gather, m->exchange[i].load);
    if (m)
        free(m->exchange);
    free(m);
}

static void add_exchanges(struct circuits_meter *m, size_t exchanges)
{
    const uint32_t servers = servers_count(m->ground->network);
    while (m->exchanges < exchanges) {
        m->exchange = hx_grow(m->exchange, m->exchanges, &m->room, sizeof *m->exchange);
        m->exchange[m->exchanges++] =
            (struct metered){.scatter = hx_allocate(servers, sizeof *m->exchange->scatter),
                             .gather = hx_allocate(servers, sizeof *m->exchange->gather),
                             .load = hx_allocate(servers_links(m->ground->network), sizeof *m->exchange->load)};
    }
}

static void forget(struct circuits_meter *m)
{
    const uint32_t servers = servers_count(m->ground->network);
    for (size_t i = 0; i < m->exchanges; i++) {
        struct metered *e = &m->exchange[i];
        memset(e->scatter, 0, servers * sizeof *e->scatter);
        memset(e->gather, 0, servers * sizeof *e->gather);
        memset(e->load, 0, servers_links(m->ground->network) * sizeof *e->load);
        e->all = e->seconds = 0;
    }
    m->demands = 0;
}

/* Sets bytes of messages that load links by `unit` a byte. Returns whether they change. */
static bool set_bytes(const struct circuits_meter *m, struct metered *e, double *bytes, double now, const double *unit)
{
    if (now == *bytes)
        return false;
    const uint32_t links = servers_links(m->ground->network);
    const double more = now - *bytes;
    *bytes = now;
    for (uint32_t link = 0; link < links; link++)
        e->load[link] += more * unit[link];
    return true;
}

static double seconds_of_exchange(const struct circuits_meter *m, struct metered *e,
                                  const struct circuits_exchange *now)
{
    struct network_of_servers *n = m->ground->network;
    const uint32_t servers = servers_count(n);
    double latency = 0;
    bool changed = false;
    for (uint32_t server = 0; server < servers; server++) {
        const double scatter = now->scatter ? now->scatter[server] : 0;
        const double gather = now->gather ? now->gather[server] : 0;
        changed |= set_bytes(m, e, &e->scatter[server], scatter, servers_scatter(n, server));
        changed |= set_bytes(m, e, &e->gather[server], gather, servers_gather(n, server));
        if (scatter > 0 || gather > 0 || now->all > 0)
            latency = fmax(latency, servers_farthest(n, server));
    }
    changed |= set_bytes(m, e, &e->all, now->all, servers_all(n));
    if (changed)
        e->seconds = servers_seconds(n, e->load) + latency;
    return e->seconds;
}

double circuits_meter_seconds(struct circuits_meter *m, const struct circuits_demand *d)
{
    const struct circuits_ground *g = m->ground;
    struct circuits_demand without = *d;
    without.exchanges = without.forward_exchanges = 0;
    double seconds = circuits_time_of(&without, g->network, g->ring, g->rings, NULL).iteration;
    if (++m->demands > FRESH_AFTER)
        forget(m);
    add_exchanges(m, d->exchanges);
    for (unsigned i = 0; i < d->exchanges; i++)
        seconds += seconds_of_exchange(m, &m->exchange[i], &d->exchange[i]);
    return seconds;
}
