/* forward.c - wakes drivers, and counts what links would have carried (forward.h). */
#include "forward.h"
#include "base/error.h"
#include "driver.h"

/* Tables by the numbers of the fabric. */
struct forward {
    struct fast_forward *fast_forward;
    struct driver **driver;  /* [hosts] */
    struct virtual_tx **out; /* [planes * ports] */
    uint32_t ports;
};

static void wake(void *of, uint32_t host, uint64_t at)
{
    const struct forward *f = of;
    driver_wake(f->driver[host], at);
}

_Static_assert(sizeof(struct virtual_sent) == 2 * sizeof(uint64_t), "packets, then blocks");
static uint64_t *carried(void *of, unsigned plane, uint32_t port)
{
    const struct forward *f = of;
    return &f->out[(size_t)plane * f->ports + port]->sum.packets;
}

static void find_outputs(const struct worker *w, struct forward *f)
{
    const struct model *m = w->m;
    const size_t links = m->layout.links;
    uint32_t *port_of = hx_allocate(links + 1, sizeof *port_of);
    for (uint32_t node = 0; node < m->g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(m->g, node); port++)
            port_of[m->layout.first_link[node] + port] = m->g->node[node].first_port + port;
    }
    for (uint32_t i = 0; i < w->sim_nodes; i++) {
        const struct virtual_sim_node *e = w->sim_node[i];
        for (unsigned plane = 0; plane < e->planes; plane++) {
            const struct hal_switch *h = &e->node[plane].hal;
            for (unsigned port = 0; port < h->ports; port++) {
                const uint32_t link = h->tx[port].link;
                f->out[link / links * f->ports + port_of[link % links]] = &h->tx[port];
            }
        }
    }
    free(port_of);
}

void forward_open(struct worker *w)
{
    const struct model *m = w->m;
    struct forward *f = hx_allocate(1, sizeof *f);
    struct schedule_plan *plan = (struct schedule_plan *)(uintptr_t)m->workload.schedule;
    f->ports = m->g->ports;
    f->driver = hx_allocate(m->g->hosts, sizeof(struct driver *));
    f->out = hx_allocate((size_t)m->g->planes * f->ports, sizeof(struct virtual_tx *));
    find_outputs(w, f);
    const struct fast_forward_config config = {.tolerance = m->settings.fast_forward,
                                               .audit = m->settings.fast_forward_audit,
                                               .delay = 2 * w->v.wheel.width,
                                               .wake = wake,
                                               .carried = carried,
                                               .of = f};
    f->fast_forward = fast_forward_open(plan, &config);
    for (uint32_t i = 0; i < w->accelerators; i++) {
        struct driver *d = &w->driver[i];
        const struct schedule_job *job = schedule_job_of(plan, d->rank);
        f->driver[d->rank] = d;
        if (job)
            fast_forward_join(f->fast_forward, job, plan->rank_of[d->rank], workload_executor(d->workload));
    }
    w->forward = f;
}

void forward_report(const struct worker *w)
{
    const struct fast_forward *f = w->forward->fast_forward;
    w->area->fast_forward = fast_forward_counts(f);
    for (uint32_t i = 0; i < w->accelerators; i++) {
        const struct driver *d = &w->driver[i];
        const struct schedule_job *job = schedule_job_of(w->m->workload.schedule, d->rank);
        const uint64_t last = job ? fast_forward_last(f, job) : 0;
        d->job->last_ps = last > d->job->last_ps ? last : d->job->last_ps;
        w->area->last_delivery = last > w->area->last_delivery ? last : w->area->last_delivery;
    }
}
