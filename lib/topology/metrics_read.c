/* metrics_read.c - checks and copies the counters of another process's fabric (topology/metrics.h). */
#include "topology/hamming_mesh.h"
#include "topology/metrics.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- validation of what another process wrote ---- */

static bool fits(uint64_t at, uint64_t count, size_t each, size_t bytes)
{
    return at % 64 == 0 && at >= sizeof(struct hx_metrics_head) && at <= bytes && count <= (bytes - at) / each;
}

static bool is_text(const char *text, size_t room)
{
    return memchr(text, 0, room) != NULL;
}

/* Copies the text once: another process may change it. */
static bool make_with_graph(const struct hx_metrics_head *h, const char *base, size_t bytes, struct hx_fabric *g)
{
    struct hx_problem problem;
    if (h->graph_bytes && !fits(h->graph_at, h->graph_bytes, 1, bytes))
        return false;
    const struct hx_graph_text graph = {h->graph_bytes ? base + h->graph_at : NULL, h->graph_bytes};
    bool made = hx_fabric_make_told(g, h->fabric, h->planes, &graph, &problem);
    if (made && g->mesh.nodes)
        hx_fabric_free(g);
    return made && g->topology != NULL;
}

static bool fabric_of(const struct hx_metrics_head *h, const char *base, size_t bytes, struct hx_fabric *g)
{
    struct hx_geometry mesh;
    if (h->planes == 0 || h->planes > HX_MAX_PLANES || !is_text(h->fabric, sizeof h->fabric))
        return false;
    if (!(h->a | h->b | h->x | h->y))
        return make_with_graph(h, base, bytes, g);
    if (hx_geometry_init(&mesh, h->a, h->b, h->x, h->y, h->planes, h->radix, h->taper) != 0)
        return false;
    hx_fabric_of_mesh(g, &mesh);
    return true;
}

bool hx_metrics_fabric(const struct hx_metrics_head *head, size_t bytes, struct hx_fabric *g)
{
    const struct hx_metrics_head h[] = {*head}; /* a copy: another process may change the original */
    return fabric_of(h, (const char *)head, bytes, g);
}

static bool describes_itself(const struct hx_metrics_head *h, const uint8_t *base, struct hx_fabric *g, size_t bytes)
{
    if (h->workers == 0 || h->workers > HX_METRICS_MOST_WORKERS || !is_text(h->name, sizeof h->name) ||
        !is_text(h->traffic, sizeof h->traffic) || !fabric_of(h, (const char *)base, bytes, g))
        return false;
    if (h->accelerators == g->hosts && h->nodes == g->nodes && h->links == (uint64_t)g->planes * g->ports &&
        fits(h->worker_at, h->workers, sizeof(struct hx_metrics_worker), bytes) &&
        fits(h->accelerator_at, h->accelerators, sizeof(struct hx_metrics_accelerator), bytes) &&
        fits(h->link_at, h->links, sizeof(struct hx_metrics_link), bytes) &&
        fits(h->owner_at, h->nodes, sizeof(uint16_t), bytes))
        return true;
    hx_fabric_free(g);
    return false;
}

bool hx_metrics_check(const uint8_t *base, size_t bytes, struct hx_metrics_head *head, struct hx_metrics *m,
                      struct hx_fabric *g, struct hx_problem *problem)
{
    const int code = HX_EXIT_ENVIRONMENT;
    if (bytes < sizeof *head)
        return hx_fail(problem, code, NULL, "too short for the counters of a fabric");
    memcpy(head, base, sizeof *head);
    if (head->magic != HX_METRICS_MAGIC)
        return hx_fail(problem, code, NULL, "no counters of a fabric (another version of hxmesh?)");
    if (head->version != HX_METRICS_VERSION || head->head_bytes != sizeof *head || head->drops != HX_DROP_COUNT)
        return hx_fail(problem, code, NULL, "this fabric runs another version of hxmesh");
    if (!describes_itself(head, base, g, bytes))
        return hx_fail(problem, code, NULL, "its description of its counters is invalid");
    m->head = (struct hx_metrics_head *)(uintptr_t)base;
    m->worker = (void *)((uintptr_t)base + head->worker_at);
    m->accelerator = (void *)((uintptr_t)base + head->accelerator_at);
    m->link = (void *)((uintptr_t)base + head->link_at);
    m->owner = (void *)((uintptr_t)base + head->owner_at);
    return true;
}

/* ---- copying ---- */

void hx_metrics_reading_new(struct hx_metrics_reading *r, const struct hx_metrics_head *head)
{
    *r = (struct hx_metrics_reading){.at_ns = 0};
    r->worker = aligned_alloc(64, head->workers * sizeof *r->worker);
    r->accelerator = hx_allocate(head->accelerators, sizeof *r->accelerator);
    r->link = hx_allocate(head->links, sizeof *r->link);
    if (!r->worker)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "is not enough");
    memset(r->worker, 0, head->workers * sizeof *r->worker);
}

void hx_metrics_reading_free(struct hx_metrics_reading *r)
{
    free(r->worker);
    free(r->accelerator);
    free(r->link);
}

/* Copies counters, each with one atomic read. */
static void copy_words(void *to, const void *from, size_t bytes)
{
    uint64_t *out = to;
    const _Atomic uint64_t *in = from;
    for (size_t i = 0; i < bytes / sizeof *out; i++)
        out[i] = hx_metrics_get(&in[i]);
}

static void copy_worker(struct hx_metrics_worker *to, const struct hx_metrics_worker *from)
{
    hx_metrics_set(&to->at_ns, hx_metrics_get(&from->at_ns));
    hx_metrics_set(&to->simulated_ps, hx_metrics_get(&from->simulated_ps));
    hx_metrics_set(&to->hops, hx_metrics_get(&from->hops));
    hx_metrics_set(&to->cpu_ns, hx_metrics_get(&from->cpu_ns));
    hx_metrics_set(&to->bytes_corrupted, hx_metrics_get(&from->bytes_corrupted));
    hx_metrics_set(&to->operations_ended, hx_metrics_get(&from->operations_ended));
    hx_metrics_set(&to->operations_open, hx_metrics_get(&from->operations_open));
    copy_words(to->drops, from->drops, sizeof to->drops);
    copy_words(to->stalls, from->stalls, sizeof to->stalls);
    atomic_store_explicit(&to->state, atomic_load(&from->state), memory_order_relaxed);
    atomic_store_explicit(&to->pid, atomic_load(&from->pid), memory_order_relaxed);
    hx_metrics_set(&to->deaths, hx_metrics_get(&from->deaths));
}

/* Returns the sum of sequences, which differs between publications since sequences only grow. *writing: some worker
 * writes. */
static uint64_t sequences(const struct hx_metrics *m, uint32_t workers, bool *writing)
{
    uint64_t sum = 0;
    *writing = false;
    for (uint32_t w = 0; w < workers; w++) {
        uint64_t sequence = atomic_load_explicit(&m->worker[w].sequence, memory_order_acquire);
        *writing = *writing || sequence % 2;
        sum += sequence;
    }
    return sum;
}

/* Replaces what is not printable, and ends the text. */
static void make_text(char *text, size_t room)
{
    text[room - 1] = '\0';
    for (; *text; text++)
        *text = *text < ' ' || *text > '~' ? '?' : *text;
}

/* Keeps the last reading of the faults if they are being written. */
static void copy_faults(struct hx_metrics_faults *to, const struct hx_metrics_faults *from)
{
    struct hx_metrics_faults now;
    uint64_t before = atomic_load_explicit(&from->sequence, memory_order_acquire);
    copy_words(&now, from, sizeof now);
    atomic_thread_fence(memory_order_acquire);
    if (before % 2 || hx_metrics_get(&from->sequence) != before)
        return;
    for (unsigned i = 0; i < HX_METRICS_FAULTS; i++)
        make_text((char *)now.fault[i].line, sizeof now.fault[i].line);
    memcpy(to, &now, sizeof now);
}

void hx_metrics_read(struct hx_metrics_reading *r, const struct hx_metrics *m, const struct hx_metrics_head *head)
{
    enum { TRIES = 20 };
    const struct timespec moment = {.tv_nsec = 100000};
    copy_faults(&r->faults, &m->head->faults);
    for (unsigned n = 0; n < TRIES; n++) {
        bool writing;
        uint64_t before = sequences(m, head->workers, &writing);
        if (writing && n + 1 < TRIES) {
            (void)nanosleep(&moment, NULL);
            continue;
        }
        r->at_ns = hx_metrics_now();
        for (uint32_t w = 0; w < head->workers; w++)
            copy_worker(&r->worker[w], &m->worker[w]);
        copy_words(r->accelerator, m->accelerator, head->accelerators * sizeof *r->accelerator);
        copy_words(r->link, m->link, head->links * sizeof *r->link);
        atomic_thread_fence(memory_order_acquire);
        if (sequences(m, head->workers, &writing) == before)
            return;
    }
}
