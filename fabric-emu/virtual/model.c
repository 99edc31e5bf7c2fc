/* model.c - what all workers of a virtual fabric share (model.h). */
#include "model.h"
#include "base/error.h"
#include "base/processor.h"
#include "base/text.h"
#include "parts.h"
#include "workload/goals.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PS_OF_SECOND UINT64_C(1000000000000)

static size_t aligned(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

static void *share(size_t bytes)
{
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "cannot map %zu MiB: %s", bytes >> 20, strerror(errno));
    return shared;
}

static void describe(struct model *m, uint8_t *base)
{
    (void)hx_metrics_place(&m->metrics, m->g, m->workers, base, 0);
    hx_metrics_describe(&m->metrics, m->g, m->workers, HX_CLOCK_VIRTUAL);
    struct hx_metrics_head *h = m->metrics.head;
    for (uint32_t node = 0; node < m->g->nodes; node++)
        m->metrics.owner[node] = m->layout.dead[node] ? HX_METRICS_NOBODY : m->layout.worker[node];
    h->link_rate = HX_BLOCK * PS_OF_SECOND / m->timing.link.blocks[1];
    (void)hx_text_copy(h->name, sizeof h->name, m->spec->name);
    (void)hx_text_copy(h->fabric, sizeof h->fabric, m->spec->fabric);
}

struct virtual_speeds model_speeds(const struct hx_timing *timing)
{
    return (struct virtual_speeds){.link = timing->link,
                                   .crossbar = timing->crossbar,
                                   .cable = timing->cable,
                                   .trace = timing->trace,
                                   .input = timing->input,
                                   .output = timing->output,
                                   .buffer = timing->buffer,
                                   .train = (unsigned)timing->train};
}

/* Sets the classes of links, the injection bandwidth of hosts, and the injection rate as a share of it. */
static void set_timing(struct model *m, const struct hx_timing *timing)
{
    const struct hx_fabric *g = m->g;
    struct virtual_timing *t = &m->timing;
    const struct virtual_speeds speeds = model_speeds(timing);
    virtual_timing_init(t, &speeds, g->vcs);
    t->window = UINT64_MAX;
    for (unsigned i = 0; i < g->link_classes; i++) {
        const struct hx_link_class *c = &g->link_class[i];
        uint32_t of_kind = c->kind == HX_TRACE ? t->trace : t->cable;
        uint64_t gbps = c->gbps || c->times ? (uint64_t)hx_class_gbps(c, (double)timing->link) : 0;
        virtual_timing_class(t, i, gbps, c->latency_ns == HX_LATENCY_OF_KIND ? of_kind : c->latency_ns * 1000);
    }
    double links = hx_fabric_most_injection(g, (double)timing->link);
    unsigned local = links > HX_LOCAL ? (unsigned)ceil(links) : HX_LOCAL;
    if (local > HX_LOCAL)
        virtual_timing_local(t, local);
    if (m->settings.injection_rate > 0)
        virtual_timing_injection_rate(t, m->settings.injection_rate * links / local);
}

/* Sets how many windows workers simulate between two turns. */
static void set_windows(struct model *m)
{
    const struct virtual_timing *t = &m->timing;
    uint64_t width = virtual_wheel_width(t->window);
    uint64_t longest = t->window;
    for (unsigned i = 0; i < m->g->link_classes; i++)
        longest = t->of[i].window > longest ? t->of[i].window : longest;
    uint64_t apart = parts_window(&m->layout, m->g, t) / width;
    uint64_t cell = longest / width;
    m->cell = cell < MODEL_MOST_WINDOWS ? (uint32_t)cell : MODEL_MOST_WINDOWS;
    m->windows = apart < m->cell ? (uint32_t)apart : m->cell;
}

void model_create(struct model *m, const struct workload_plan *plan, const struct hx_timing *timing, unsigned asked)
{
    const struct virtual_place place = virtual_channel_place(asked);
    const unsigned workers = place.workers;
    const struct traffic *traffic = plan->traffic;
    const struct hx_spec *spec = traffic->spec;
    const struct hx_fabric *g = traffic->g;
    *m = (struct model){.spec = spec,
                        .g = g,
                        .settings = traffic->settings,
                        .workers = workers,
                        .first = place.first,
                        .forked = place.count,
                        .own_cores = place.count <= hx_processor_cores()};
    set_timing(m, timing);
    m->workload = (struct workload_plan){.traffic = traffic,
                                         .collective = plan->collective,
                                         .schedule = plan->schedule,
                                         .posted = plan->posted,
                                         .rate = m->settings.rate < 1 ? m->settings.rate : 0,
                                         .link_rate = virtual_timing_link_rate(&m->timing),
                                         .link_gbps = (double)timing->link,
                                         .verify = m->settings.verify};
    layout_make(&m->layout, spec, g, workers);
    parts_improve(&m->layout, g, &m->timing);
    set_windows(m);
    jobs_make(&m->jobs, spec, g, &m->layout);
    m->channel = virtual_channel_create(workers);
    size_t areas = aligned(workers * sizeof *m->area);
    size_t spans = aligned((size_t)g->planes * m->layout.links * sizeof *m->span);
    size_t received = aligned(g->hosts * sizeof *m->receiver);
    size_t waits = aligned((size_t)g->planes * m->layout.links * HX_VCS * sizeof *m->wait);
    size_t balances = aligned((size_t)g->planes * m->layout.links * HX_VCS * sizeof *m->balance);
    size_t jobs = aligned((size_t)m->jobs.slots * sizeof *m->job);
    size_t sums = aligned(g->hosts * sizeof *m->sum);
    size_t metrics = aligned(hx_metrics_place(&m->metrics, g, workers, NULL, 0));
    m->array_bytes = areas + spans + received + waits + balances + jobs + sums;
    size_t progress = aligned(workers * sizeof *m->progress);
    m->shared_bytes = aligned(sizeof *m->control) + progress + m->array_bytes + metrics;
    m->shared = share(m->shared_bytes);
    uint8_t *at = m->shared;
    m->control = (struct model_control *)(void *)at;
    m->progress = (struct model_progress *)(void *)(at += aligned(sizeof *m->control));
    m->area = (struct model_area *)(void *)(at += progress);
    m->span = (struct model_span *)(void *)(at += areas);
    m->receiver = (struct model_receiver *)(void *)(at += spans);
    m->wait = (struct model_wait *)(void *)(at += received);
    m->balance = (struct model_balance *)(void *)(at += waits);
    m->job = (struct job_count *)(void *)(at += balances);
    m->sum = (struct model_sum *)(void *)(at += jobs);
    describe(m, at + sums);
}

static uint64_t messages_of_all(const struct model *m)
{
    return m->settings.duration_ns ? 0 : workload_messages(&m->workload);
}

void model_announce(struct model *m, const char *name)
{
    struct hx_problem problem;
    size_t bytes = hx_metrics_place(&m->metrics, m->g, m->workers, NULL, 0);
    if (!shm_arena_open(&m->arena, name, bytes, "fewer --planes", NULL, &problem))
        hx_die_of(&problem);
    describe(m, m->arena.base);
    goals_publish(m->metrics.head, &m->workload, messages_of_all(m));
    atomic_store(&m->metrics.head->life, HX_LIFE_READY);
}

/* Bytes of m->fault, and of m->losses behind it. */
static size_t fault_bytes(const struct model *m)
{
    return m->workers * (m->faults->count * sizeof *m->fault + sizeof *m->losses);
}

void model_schedule(struct model *m, const struct hx_faults *faults, const struct hx_fault_settings *settings)
{
    m->faults = faults;
    virtual_timing_train(&m->timing, 1); /* a faulty link loses single packets */
    m->detect_ns = settings->detect_ns;
    m->notify_ns = settings->notify_ns;
    m->fault = share(fault_bytes(m));
    m->losses = (struct model_losses *)(void *)(m->fault + m->workers * m->faults->count);
}

void model_turn(const struct model *m, struct virtual_turn *turn)
{
    if (!virtual_channel_turn(m->channel, turn))
        _exit(HX_EXIT_FAILED);
}

void model_collect(const struct model *m)
{
    struct virtual_channel *c = m->channel;
    virtual_channel_collect(c, m->area, m->array_bytes);
    if (m->faults)
        virtual_channel_collect(c, m->fault, fault_bytes(m));
    const struct schedule_plan *schedule = m->workload.schedule;
    for (unsigned i = 0; schedule && i < schedule->jobs; i++)
        virtual_channel_collect(c, schedule->job[i].results.shared, schedule->job[i].results.bytes);
}

void model_end(const struct model *m)
{
    atomic_store(&m->metrics.head->life, HX_LIFE_ENDED);
}

void model_destroy(struct model *m)
{
    model_end(m);
    shm_arena_close(&m->arena, true);
    if (m->faults)
        (void)munmap(m->fault, fault_bytes(m));
    (void)munmap(m->shared, m->shared_bytes);
    virtual_channel_destroy(m->channel);
    jobs_free(&m->jobs);
    layout_free(&m->layout);
}

uint32_t model_port_of(const struct model *m, uint32_t link, unsigned *plane, unsigned *port)
{
    uint32_t within = link % m->layout.links;
    uint32_t node = 0; /* the last node that begins at link `within` or before */
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
