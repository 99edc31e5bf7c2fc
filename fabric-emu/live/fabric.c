/* fabric.c - lays a fabric out in shared memory and says who owns what (fabric.h). */
#include "fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFERS_PER_SWITCH = 32, LEAST_BUFFERS = 512 };

static size_t align(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static uint32_t power_of_two(uint32_t at_least)
{
    uint32_t p = 1;
    while (p < at_least)
        p *= 2;
    return p;
}

/* ---- who owns what ---- */

unsigned fab_board_of(const struct fab_fabric *f, uint32_t accelerator)
{
    struct hx_place at = hx_place_of(&f->g, accelerator);
    return hx_spec_board_at(&f->spec, at.gx, at.gy);
}

static unsigned board_worker(const struct fab_fabric *f, unsigned board)
{
    return (unsigned)((uint64_t)board * f->workers / hx_spec_boards(&f->spec));
}

static unsigned worker_of(const struct fab_fabric *f, uint32_t node)
{
    struct hx_place at = hx_place_of(&f->g, node);
    if (at.kind == HX_ACCELERATOR)
        return board_worker(f, fab_board_of(f, node));
    if (at.kind == HX_ROW_SWITCH)
        return board_worker(f, at.line / f->g.b * f->g.x + f->g.x / 2U);
    return at.line % f->workers;
}

static void number_nodes(struct fab_fabric *f)
{
    f->first_link = hx_allocate(f->g.nodes, sizeof *f->first_link);
    f->node_worker = hx_allocate(f->g.nodes, 1);
    f->node_dead = hx_allocate(f->g.nodes, 1);
    uint32_t link = 0;
    for (uint32_t node = 0; node < f->g.nodes; node++) {
        f->first_link[node] = link;
        link += hx_node_ports(&f->g, node);
        f->node_worker[node] = (uint8_t)worker_of(f, node);
        f->node_dead[node] = node < f->g.accelerators && hx_spec_board_failed(&f->spec, fab_board_of(f, node));
    }
    f->links = link + f->g.accelerators; /* the endpoints' */
}

/* ---- where everything lies ---- */

struct shm_link *fab_link(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    size_t index = (size_t)plane * f->links + f->first_link[node] + port;
    return (struct shm_link *)(void *)(f->link_base + index * f->link_bytes);
}

struct shm_link *fab_inject_link(const struct fab_fabric *f, unsigned plane, uint32_t node)
{
    size_t index = (size_t)(plane + 1) * f->links - f->g.accelerators + node;
    return (struct shm_link *)(void *)(f->link_base + index * f->link_bytes);
}

struct shm_link *fab_incoming(const struct fab_fabric *f, unsigned plane, uint32_t node, unsigned port)
{
    if (node < f->g.accelerators && port == HX_LOCAL)
        return fab_inject_link(f, plane, node);
    struct hx_end far = hx_far_end(&f->g, node, port);
    return far.node == HX_NOWHERE ? NULL : fab_link(f, plane, far.node, far.port);
}

struct shm_pool_ring *fab_ring(const struct fab_fabric *f, unsigned from, unsigned home)
{
    return (struct shm_pool_ring *)(void *)(f->rings + ((size_t)from * f->workers + home) * f->ring_bytes);
}

uint32_t fab_first_port(const struct fab_fabric *f, unsigned plane, uint32_t node)
{
    return plane * (f->links - f->g.accelerators) + f->first_link[node];
}

uint32_t fab_ports(const struct fab_fabric *f)
{
    return f->g.planes * (f->links - f->g.accelerators);
}

/* Hands out pieces of the arena; run once without a base to learn the size, once with it. */
static size_t lay_out(struct fab_fabric *f, uint8_t *base)
{
    size_t at = 0;
    uintptr_t start = (uintptr_t)base;
#define PIECE(field, bytes) (f->field = (void *)(start + at), at = align(at + (bytes), 4096))
    PIECE(head, sizeof *f->head);
    PIECE(control, sizeof *f->control);
    PIECE(area, f->workers * sizeof *f->area);
    PIECE(accelerator, f->g.accelerators * sizeof *f->accelerator);
    PIECE(rings, (size_t)f->workers * f->workers * f->ring_bytes);
    PIECE(link_base, (size_t)f->g.planes * f->links * f->link_bytes);
    PIECE(buffers, (size_t)f->workers * f->per_home * sizeof *f->buffers);
#undef PIECE
    return at;
}

static void size_pieces(struct fab_fabric *f)
{
    f->slots = power_of_two(f->spec.credits / HX_PACKET_BLOCKS);
    if (f->slots > f->spec.credits / HX_PACKET_BLOCKS)
        f->slots /= 2;
    if (f->slots > SHM_MAX_SLOTS)
        f->slots = SHM_MAX_SLOTS;
    uint32_t all = f->g.accelerators * f->g.planes * BUFFERS_PER_SWITCH;
    f->per_home = all / f->workers > LEAST_BUFFERS ? all / f->workers : LEAST_BUFFERS;
    /* A step may take buffers and put some back before its commit: those lie beside the slots still published. */
    f->ring_size = power_of_two(f->per_home + HX_WINDOW);
    f->ring_bytes = shm_pool_ring_bytes(f->ring_size);
    f->link_bytes = align(shm_link_bytes(f->slots), 64);
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

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

void fab_create(struct fab_fabric *f, struct hx_spec *spec, const struct fab_options *options)
{
    *f = (struct fab_fabric){.spec = *spec, .g = hx_spec_geometry(spec)};
    f->workers = options->workers ? options->workers : cores();
    if (f->workers > SHM_MAX_WORKERS)
        hx_die(HX_EXIT_USAGE, "--workers", "%u workers; at most %d", f->workers, SHM_MAX_WORKERS);
    number_nodes(f);
    size_pieces(f);
    size_t bytes = lay_out(f, NULL);
    char by_process[32];
    (void)snprintf(by_process, sizeof by_process, "%ld", (long)getpid());
    const char *name = options->name ? options->name : by_process;
    if (*name == 0 || strchr(name, '/'))
        hx_die(HX_EXIT_USAGE, "--name", "'%s' cannot name a fabric: it is empty or has a '/'", name);
    int error = shm_arena_create(&f->arena, name, bytes);
    if (error == -EEXIST)
        hx_die(HX_EXIT_ENVIRONMENT, name, "a fabric of this name is running (choose another --name)");
    if (error == -ENOSPC)
        hx_die(HX_EXIT_ENVIRONMENT, "/dev/shm",
               "no room for %zu MiB of shared memory (fewer --planes or --credits, or `hxmesh clean`)", bytes >> 20);
    if (error)
        hx_die(HX_EXIT_ENVIRONMENT, "/dev/shm", "cannot create %s: %s", f->arena.name, strerror(-error));
    (void)lay_out(f, f->arena.base);
    fill_pools(f);
    for (unsigned w = 0; w < f->workers; w++)
        f->area[w].incarnation = 1;
}

size_t fab_attach_bytes(void)
{
    return align(sizeof(struct fab_head), 4096) + align(sizeof(struct fab_control), 4096);
}

void fab_announce(struct fab_fabric *f, const struct shm_clock *clock, enum hx_capture_crc crc)
{
    struct fab_head *h = f->head;
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    h->version = FAB_VERSION;
    h->head_bytes = sizeof *h;
    h->pid = (int32_t)getpid();
    h->workers = f->workers;
    h->a = f->g.a;
    h->b = f->g.b;
    h->x = f->g.x;
    h->y = f->g.y;
    h->planes = f->g.planes;
    h->radix = f->g.radix;
    h->taper = f->g.taper;
    h->control_at = (uint64_t)((uint8_t *)f->control - f->arena.base);
    h->clock = *clock;
    h->realtime_ns = (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec - shm_clock_ns(clock);
    (void)snprintf(h->name, sizeof h->name, "%s", f->spec.name);
    (void)snprintf(h->fabric, sizeof h->fabric, "%s", f->spec.fabric);
    const struct hx_capture_facts facts = {.link = HX_CAPTURE_MEMORY,
                                           .crc = crc,
                                           .span = HX_CAPTURE_SPAN_RUN,
                                           .clock = HX_CLOCK_WALL,
                                           .buffer = (uint64_t)f->slots * HX_PACKET_BLOCKS};
    (void)hx_capture_print(h->note, sizeof h->note, &f->spec, &facts);
    h->magic = FAB_MAGIC;
    atomic_store(&h->life, FAB_READY);
}

void fab_destroy(struct fab_fabric *f)
{
    atomic_store(&f->head->life, FAB_ENDED);
    shm_arena_close(&f->arena, true);
    free(f->first_link);
    free(f->node_worker);
    free(f->node_dead);
    hx_spec_free(&f->spec);
}

bool fab_worker_is_down(const struct fab_fabric *f, unsigned worker)
{
    return atomic_load(&f->area[worker].state) == FAB_WORKER_DOWN;
}

/* ---- audit ---- */

static uint64_t held_by_link(const struct shm_link *link)
{
    uint64_t held = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        unsigned span = (uint16_t)(hx_lane(link->heads, vc) - hx_lane(link->tails, vc));
        held += span - (unsigned)__builtin_popcountll(link->left[vc]);
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
    for (size_t i = 0; i < (size_t)f->g.planes * f->links; i++)
        count += held_by_link((const struct shm_link *)(const void *)(f->link_base + i * f->link_bytes));
    return count;
}
