/* fabric.c - lays out a fabric in shared memory (fabric.h). */
#include "fabric.h"
#include "base/error.h"
#include "base/powers.h"
#include "base/processor.h"
#include "base/progress.h"
#include "base/signals.h"
#include "base/text.h"
#include "memory_estimate.h" /* circle: the estimate uses sizes of what a worker builds for the fabric */

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUFFERS_PER_SWITCH = 32, LEAST_BUFFERS = 512 };

static size_t align(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- layout ---- */

struct shm_link *fab_link(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    size_t index = (size_t)plane * f->layout.links + f->layout.first_link[node] + port;
    return (struct shm_link *)(void *)(f->link_base + index * f->link_bytes);
}

struct shm_link *fab_inject_link(const struct fab_fabric *f, unsigned plane, uint32_t node)
{
    size_t index = (size_t)(plane + 1) * f->layout.links - f->g->hosts + node;
    return (struct shm_link *)(void *)(f->link_base + index * f->link_bytes);
}

struct shm_link *fab_incoming(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    if (node < f->g->hosts && port == HX_LOCAL)
        return fab_inject_link(f, plane, node);
    struct hx_end far = hx_fabric_far(f->g, node, port);
    return far.node == HX_NOWHERE ? NULL : fab_link(f, plane, far.node, far.port);
}

struct shm_link *fab_faulty(const struct fab_fabric *f, uint32_t number)
{
    return (struct shm_link *)(void *)(f->faulty_base + number * f->link_bytes);
}

struct shm_pool_ring *fab_ring(const struct fab_fabric *f, unsigned from, unsigned home)
{
    return (struct shm_pool_ring *)(void *)(f->rings + ((size_t)from * f->workers + home) * f->ring_bytes);
}

uint32_t fab_first_port(const struct fab_fabric *f, unsigned plane, uint32_t node)
{
    return plane * (f->layout.links - f->g->hosts) + f->layout.first_link[node];
}

uint32_t fab_ports(const struct fab_fabric *f)
{
    return f->g->planes * (f->layout.links - f->g->hosts);
}

struct shm_condition fab_condition(const struct fab_fabric *f, uint32_t number)
{
    struct shm_condition condition;
    uint64_t word[sizeof condition / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        word[i] = atomic_load_explicit(&f->condition[number].word[i], memory_order_relaxed);
    memcpy(&condition, word, sizeof condition);
    return condition;
}

bool fab_link_is_shut(const struct fab_fabric *f, uint32_t number)
{
    struct shm_condition c = {.down = 0};
    _Static_assert(offsetof(struct shm_condition, closed) + sizeof c.closed <= sizeof(uint64_t), "both in one word");
    uint64_t word = atomic_load_explicit(&f->condition[number].word[0], memory_order_relaxed);
    memcpy(&c, &word, sizeof word);
    return c.down || c.closed;
}

void fab_set_condition(struct fab_fabric *f, uint32_t number, const struct shm_condition *condition)
{
    uint64_t word[sizeof *condition / sizeof(uint64_t)];
    memcpy(word, condition, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        atomic_store_explicit(&f->condition[number].word[i], word[i], memory_order_relaxed);
}

size_t fab_head_at(void)
{
    return align(sizeof(struct hx_metrics_head), 4096);
}

/* Assigns the pieces of the arena, and returns its size. Called without a base for the size, then with it. */
static size_t lay_out(struct fab_fabric *f, uint8_t *base)
{
    size_t at = fab_head_at();
    uintptr_t start = (uintptr_t)base;
#define PIECE(field, bytes) (f->field = (void *)(start + at), at = align(at + (bytes), 4096))
    PIECE(head, sizeof *f->head);
    PIECE(control, sizeof *f->control);
    PIECE(area, f->workers * sizeof *f->area);
    PIECE(job, (size_t)f->jobs.slots * sizeof *f->job);
    PIECE(accelerator, f->g->hosts * sizeof *f->accelerator);
    PIECE(exchange, (size_t)f->spec.externals * f->g->hosts * sizeof *f->exchange);
    PIECE(condition, fab_ports(f) * sizeof *f->condition);
    PIECE(faulted, fab_ports(f) * sizeof *f->faulted);
    PIECE(cable, f->spec.externals * HX_CABLE_PORTS * sizeof *f->cable);
    PIECE(rings, (size_t)f->workers * f->workers * f->ring_bytes);
    PIECE(link_base, (size_t)f->g->planes * f->layout.links * f->link_bytes);
    PIECE(faulty_base, fab_ports(f) * f->link_bytes);
    PIECE(injected_ns, (size_t)f->workers * f->per_home * sizeof *f->injected_ns);
    PIECE(buffers, (size_t)f->workers * f->per_home * sizeof *f->buffers);
#undef PIECE
    return hx_metrics_place(&f->metrics, f->g, f->workers, base, at);
}

static void size_pieces(struct fab_fabric *f)
{
    f->slots = hx_power_of_two(f->spec.credits / HX_PACKET_BLOCKS);
    if (f->slots > f->spec.credits / HX_PACKET_BLOCKS)
        f->slots /= 2;
    if (f->slots > SHM_MAX_SLOTS)
        f->slots = SHM_MAX_SLOTS;
    uint32_t all = f->g->hosts * f->g->planes * BUFFERS_PER_SWITCH;
    f->per_home = all / f->workers > LEAST_BUFFERS ? all / f->workers : LEAST_BUFFERS;
    /* A step may take buffers and put some back before its commit: those need slots beside the published ones. */
    f->ring_size = hx_power_of_two(f->per_home + HX_WINDOW);
    f->ring_bytes = shm_pool_ring_bytes(f->ring_size);
    f->link_bytes = align(shm_link_bytes(f->g->vcs, f->slots), 64);
}

static void fill_pools(struct fab_fabric *f)
{
    for (unsigned w = 0; w < f->workers; w++) {
        struct shm_pool_ring *ring = fab_ring(f, w, w);
        for (uint32_t i = 0; i < f->per_home; i++)
            ring->slots[i] = w * f->per_home + i;
        ring->head = f->per_home;
    }
}

static bool show_progress(void *of, double share)
{
    hx_progress_show(of, share, "");
    return !hx_signals_pending();
}

static void create_arena(struct fab_fabric *f, const char *name, size_t bytes, bool quiet)
{
    struct hx_problem problem;
    struct hx_progress bar = hx_progress_start("reserving memory", quiet);
    const struct shm_watch watch = {show_progress, &bar};
    bool made = shm_arena_open(&f->arena, name, bytes, "fewer --planes or --credits", &watch, &problem);
    hx_progress_end(&bar);
    if (!made && problem.exit_code == HX_EXIT_INTERRUPTED)
        exit(HX_EXIT_INTERRUPTED);
    if (!made)
        hx_die_of(&problem);
}

_Static_assert((int)HX_MOST_WORKERS == (int)SHM_MAX_WORKERS, "what may be asked for can be had");

void fab_create(struct fab_fabric *f, struct hx_spec *spec, const struct fab_options *options)
{
    *f = (struct fab_fabric){.spec = *spec, .g = hx_spec_fabric(spec)};
    f->workers = options->workers ? options->workers : hx_processor_cores();
    f->workers = f->workers < SHM_MAX_WORKERS ? f->workers : SHM_MAX_WORKERS;
    layout_make(&f->layout, &f->spec, f->g, f->workers);
    jobs_make(&f->jobs, &f->spec, f->g, &f->layout);
    size_pieces(f);
    size_t bytes = lay_out(f, NULL);
    const struct memory_estimate memory_estimate = memory_estimate_of(f, options->traffic, bytes);
    memory_estimate_check(f, &memory_estimate);
    create_arena(f, options->name, bytes, options->quiet);
    (void)lay_out(f, f->arena.base);
    fill_pools(f);
    for (unsigned w = 0; w < f->workers; w++)
        f->area[w].incarnation = 1;
}

static uint32_t rank_of(const struct fab_fabric *f, const struct hx_external *e)
{
    return hx_host_at(f->g, e->addr_hi, e->addr_lo);
}

size_t fab_attach_bytes(void)
{
    return fab_head_at() + align(sizeof(struct fab_head), 4096) + align(sizeof(struct fab_control), 4096);
}

static void describe(const struct fab_fabric *f)
{
    const struct hx_metrics *m = &f->metrics;
    hx_metrics_describe(m, f->g, f->workers, HX_CLOCK_WALL);
    for (uint32_t node = 0; node < f->g->nodes; node++) {
        bool unowned = f->layout.dead[node] || (node < f->g->hosts && fab_is_external(f, node));
        m->owner[node] = unowned ? HX_METRICS_NOBODY : f->layout.worker[node];
    }
    m->head->link_rate = (uint64_t)HX_NOMINAL_LINK_RATE;
    (void)hx_text_copy(m->head->name, sizeof m->head->name, f->spec.name);
    (void)hx_text_copy(m->head->fabric, sizeof m->head->fabric, f->spec.fabric);
}

void fab_announce(struct fab_fabric *f, const struct shm_clock *clock, enum hx_capture_crc crc)
{
    struct fab_head *h = f->head;
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    h->version = FAB_VERSION;
    h->head_bytes = sizeof *h;
    h->control_at = (uint64_t)((uint8_t *)f->control - f->arena.base);
    h->clock = *clock;
    h->realtime_ns = (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec - shm_clock_ns(clock);
    const struct hx_capture_facts facts = {.link = HX_CAPTURE_MEMORY,
                                           .crc = crc,
                                           .span = HX_CAPTURE_SPAN_RUN,
                                           .clock = HX_CLOCK_WALL,
                                           .buffer = (uint64_t)f->slots * HX_PACKET_BLOCKS};
    (void)hx_capture_print(h->note, sizeof h->note, &f->spec, &facts);
    for (unsigned i = 0; i < f->spec.externals; i++) {
        uint32_t rank = rank_of(f, &f->spec.external[i]);
        h->external[rank / 8] |= (uint8_t)(1U << rank % 8);
    }
    describe(f);
    atomic_store(&f->metrics.head->life, HX_LIFE_READY);
}

void fab_end(struct fab_fabric *f)
{
    atomic_store(&f->metrics.head->life, HX_LIFE_ENDED);
}

void fab_destroy(struct fab_fabric *f)
{
    fab_end(f);
    shm_arena_close(&f->arena, true);
    jobs_free(&f->jobs);
    layout_free(&f->layout);
    hx_spec_free(&f->spec);
}

bool fab_worker_is_down(const struct fab_fabric *f, unsigned worker)
{
    return atomic_load(&f->area[worker].state) == FAB_WORKER_DOWN;
}

/* ---- external accelerators ---- */

unsigned fab_external(const struct fab_fabric *f, uint32_t node)
{
    unsigned i = 0;
    while (i < f->spec.externals && rank_of(f, &f->spec.external[i]) != node)
        i++;
    return i;
}

bool fab_is_external(const struct fab_fabric *f, uint32_t node)
{
    return fab_external(f, node) < f->spec.externals;
}

/* Returns the cable at a port of an external accelerator; NULL: it is another one's port. */
static const struct fab_cable *cable_at(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    for (unsigned i = 0; i < f->spec.externals; i++) {
        const struct hx_external *e = &f->spec.external[i];
        if (rank_of(f, e) == node && e->plane == plane)
            return &f->cable[i * HX_CABLE_PORTS + port];
    }
    return NULL;
}

bool fab_port_is_up(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    const struct fab_cable *c = cable_at(f, plane, node, port);
    return c ? atomic_load(&c->up) : !fab_is_external(f, node);
}

bool fab_port_is_awaited(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    const struct fab_cable *c = cable_at(f, plane, node, port);
    if (!c || atomic_load(&c->was_up))
        return false;
    const size_t number = (size_t)(c - f->cable);
    return f->spec.external[number / HX_CABLE_PORTS].port[number % HX_CABLE_PORTS].cable != HX_CABLE_OUT;
}

bool fab_misses_cable(const struct fab_fabric *f)
{
    for (unsigned i = 0; i < f->spec.externals * HX_CABLE_PORTS; i++) {
        const struct hx_external_port *p = &f->spec.external[i / HX_CABLE_PORTS].port[i % HX_CABLE_PORTS];
        const struct fab_cable *c = &f->cable[i];
        if (p->cable != HX_CABLE_OUT && !atomic_load(&c->up) && !atomic_load(&c->left))
            return true;
    }
    return false;
}

/* ---- audit ---- */

static uint64_t held_by_link(const struct shm_link *link, unsigned vcs)
{
    uint64_t held = 0;
    for (unsigned vc = 0; vc < vcs; vc++) {
        unsigned span = (uint16_t)(hx_lane(link->heads, vc) - hx_lane(link->tails, vc));
        held += span - (unsigned)__builtin_popcountll(link->gone[vc]);
    }
    return held;
}

uint64_t fab_count_buffers(const struct fab_fabric *f)
{
    uint64_t count = 0;
    for (unsigned from = 0; from < f->workers; from++) {
        for (unsigned home = 0; home < f->workers; home++)
            count += fab_ring(f, from, home)->head - fab_ring(f, from, home)->tail;
    }
    for (size_t i = 0; i < (size_t)f->g->planes * f->layout.links; i++)
        count += held_by_link((const struct shm_link *)(const void *)(f->link_base + i * f->link_bytes), f->g->vcs);
    for (uint32_t number = 0; number < fab_ports(f); number++)
        count += held_by_link(fab_faulty(f, number), f->g->vcs);
    return count;
}

void fab_wake(const struct fab_fabric *f, unsigned worker)
{
    struct fab_area *area = &f->area[worker];
    if (atomic_exchange(&area->asleep, 0) == 0)
        return;
    atomic_fetch_add(&area->wake, 1);
    if (f->wake) {
        (void)eventfd_write(f->wake[worker], 1);
        return;
    }
    (void)syscall(SYS_futex, &area->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
