/* recover.c - acts in place of a dead worker (recover.h, hal/shm/redo.h). */
#include "recover.h"

#include <string.h>

static void store(uint64_t *word, uint64_t value)
{
    atomic_store_explicit((_Atomic uint64_t *)(void *)word, value, memory_order_release);
}

/* Validates a record, since a stray store may have corrupted it. It may change only rings, links and buffers. */
static bool makes_sense(const struct fab_fabric *f, const struct shm_redo *redo, uint64_t count)
{
    uint64_t first = (uint64_t)(f->rings - f->arena.base);
    if (count > SHM_REDO_ENTRIES)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t offset = redo->entry[i].offset;
        if (offset % sizeof(uint64_t) || offset < first || offset > f->arena.bytes - sizeof(uint64_t))
            return false;
    }
    return true;
}

/* Validates and applies a copy, which no process can change. */
static void finish_step(struct fab_fabric *f, unsigned worker)
{
    struct shm_redo *redo = &f->area[worker].redo;
    struct shm_redo copy = {.count = 0};
    uint64_t count = atomic_load_explicit(&redo->count, memory_order_acquire);
    memcpy(copy.entry, redo->entry, sizeof copy.entry);
    shm_redo_apply(f->arena.base, copy.entry, makes_sense(f, &copy, count) ? (unsigned)count : 0);
    shm_redo_end(redo);
}

static void send_home(struct fab_fabric *f, unsigned worker, uint32_t buffer)
{
    struct shm_pool_ring *ring = fab_ring(f, worker, buffer / f->per_home);
    ring->slots[ring->head & (f->ring_size - 1)] = buffer;
    store(&ring->head, ring->head + 1);
}

/* Empties an incoming link in place of its dead consumer. Returns the number of buffers given back to their pools. */
static unsigned drain(struct fab_fabric *f, unsigned worker, struct shm_link *link)
{
    uint64_t heads = shm_load(&link->heads);
    unsigned held = 0;
    for (unsigned vc = 0; vc < f->g->vcs; vc++) {
        uint16_t at = hx_lane(link->tails, vc);
        if ((uint16_t)(hx_lane(heads, vc) - at) > f->slots)
            continue; /* not possible */
        for (; at != hx_lane(heads, vc); at++) {
            uint32_t buffer = link->slots[vc * f->slots + (at & (f->slots - 1))].buffer;
            if (link->gone[vc] >> at % HX_WINDOW & 1U || buffer / f->per_home >= f->workers)
                continue;
            send_home(f, worker, buffer);
            held++;
        }
        link->gone[vc] = 0;
    }
    store(&link->tails, heads);
    return held;
}

unsigned recover_worker(struct fab_fabric *f, unsigned worker)
{
    finish_step(f, worker);
    unsigned held = 0;
    for (uint32_t node = 0; node < f->g->nodes; node++) {
        if (f->layout.worker[node] != worker)
            continue;
        for (unsigned plane = 0; plane < f->g->planes; plane++) {
            for (unsigned port = 0; port < hx_fabric_ports(f->g, node); port++) {
                struct shm_link *in = fab_incoming(f, plane, node, port);
                struct hx_end far = hx_fabric_far(f->g, node, port);
                held += in ? drain(f, worker, in) : 0;
                if (far.node != HX_NOWHERE) /* packets after a faulty link */
                    held += drain(f, worker, fab_faulty(f, fab_first_port(f, plane, far.node) + far.port));
            }
            if (node < f->g->hosts) /* packets delivered to its endpoint */
                held += drain(f, worker, fab_link(f, plane, node, HX_LOCAL));
        }
    }
    f->area[worker].drops[HX_DROP_WORKER_LOST] += held;
    return held;
}
