/* model.c - what all workers of a virtual fabric share (model.h). */
#include "model.h"
#include "host/error.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static size_t aligned(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

void model_create(struct model *m, const struct traffic *traffic, const struct collective_plan *collective,
                  const struct hx_timing *timing, unsigned workers)
{
    const struct hx_spec *spec = traffic->spec;
    const struct hx_geometry *g = traffic->g;
    *m = (struct model){.spec = spec,
                        .g = g,
                        .traffic = traffic,
                        .collective = collective,
                        .settings = traffic->settings,
                        .workers = workers};
    virtual_timing_init(&m->timing, timing);
    if (m->settings.pace > 0)
        virtual_timing_pace(&m->timing, m->settings.pace);
    layout_make(&m->layout, spec, g, workers);
    m->channel = virtual_channel_create(workers);
    size_t areas = aligned(workers * sizeof *m->area);
    size_t links = aligned((size_t)g->planes * m->layout.links * sizeof *m->link);
    size_t received = aligned(g->accelerators * sizeof *m->receiver);
    size_t waits = aligned((size_t)g->planes * m->layout.links * HX_VCS * sizeof *m->wait);
    size_t balances = aligned((size_t)g->planes * m->layout.links * HX_VCS * sizeof *m->balance);
    m->shared_bytes = aligned(sizeof *m->control) + areas + links + received + waits + balances;
    m->shared = mmap(NULL, m->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->shared == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "cannot map %zu MiB: %s", m->shared_bytes >> 20, strerror(errno));
    uint8_t *at = m->shared;
    m->control = (struct model_control *)(void *)at;
    m->area = (struct model_area *)(void *)(at += aligned(sizeof *m->control));
    m->link = (struct model_link *)(void *)(at += areas);
    m->receiver = (struct model_receiver *)(void *)(at += links);
    m->wait = (struct model_wait *)(void *)(at += received);
    m->balance = (struct model_balance *)(void *)(at + waits);
}

void model_destroy(struct model *m)
{
    (void)munmap(m->shared, m->shared_bytes);
    virtual_channel_destroy(m->channel);
    layout_free(&m->layout);
}

uint32_t model_port_of(const struct model *m, uint32_t link, unsigned *plane, unsigned *port)
{
    uint32_t within = link % m->layout.links;
    uint32_t node = 0; /* the last one that begins at it or before */
    for (uint32_t span = m->g->nodes; span > 1; span -= span / 2) {
        if (node + span / 2 < m->g->nodes && m->layout.first_link[node + span / 2] <= within)
            node += span / 2;
    }
    *plane = link / m->layout.links;
    *port = within - m->layout.first_link[node];
    return node;
}

const char *model_port_name(const struct model *m, uint32_t link, char name[HX_NAME_BYTES])
{
    unsigned plane;
    unsigned port;
    uint32_t node = model_port_of(m, link, &plane, &port);
    return hx_port_name(name, m->g, plane, node, port);
}
