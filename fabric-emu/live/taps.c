/* taps.c - slots of captures (taps.h). */
#include "taps.h"
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct flock byte_of(int slot, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};
}

/* ---- capturing process ---- */

static _Atomic uint64_t *word_of(struct fab_control *control, int slot)
{
    return slot == SLOT_FEED ? &control->feed : &control->tap[slot];
}

int slot_take(struct fab_control *control, int arena_fd, int first, int last, int memory_fd, int *owner)
{
    for (int slot = first; slot <= last; slot++) {
        struct flock own = byte_of(slot, F_WRLCK);
        if (fcntl(arena_fd, F_SETLK, &own) != 0) {
            if (errno != EACCES && errno != EAGAIN)
                return -errno;
            own = byte_of(slot, F_WRLCK);
            *owner = fcntl(arena_fd, F_GETLK, &own) == 0 ? (int)own.l_pid : 0;
            continue;
        }
        uint32_t serial = atomic_fetch_add(&control->taps_changed, 1) + 1;
        atomic_store(word_of(control, slot), slot_word(serial, getpid(), memory_fd));
        atomic_fetch_add(&control->taps_changed, 1);
        return slot;
    }
    return -EBUSY;
}

void slot_release(struct fab_control *control, int arena_fd, int slot)
{
    struct flock own = byte_of(slot, F_UNLCK);
    atomic_store(word_of(control, slot), 0);
    atomic_fetch_add(&control->taps_changed, 1);
    (void)fcntl(arena_fd, F_SETLK, &own);
}

/* ---- worker ---- */

int slot_open(uint64_t word)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%u/fd/%u", (unsigned)(uint32_t)word, (unsigned)(word >> 32 & 0xFFFF));
    return open(path,
                O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* has no effect on any file that the word may name */
}

void *slot_map(int fd, size_t bytes)
{
    if (shm_tap_sealed_size(fd) < bytes)
        return NULL;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return NULL;
    return base;
}

static void attach(struct worker *w, unsigned slot, uint64_t word)
{
    int fd = slot_open(word);
    if (fd < 0)
        return;
    (void)shm_tap_attach(&w->taps, slot, fd, w->self, fab_ports(w->f));
    (void)close(fd);
}

static void tap_node(struct worker *w, struct node *n)
{
    free(n->hal.tap);
    n->hal.tap = shm_tapped_new(&w->taps, &n->hal, &n->sw, fab_first_port(w->f, n->plane, n->id));
}

void taps_follow(struct worker *w)
{
    struct fab_control *control = w->f->control;
    bool any = false;
    w->taps_seen = atomic_load(&control->taps_changed);
    w->taps.worker = &w->shm;
    w->taps.clock = w->clock;
    w->taps.started_ns = w->f->head->clock.ns;
    for (unsigned slot = 0; slot < SHM_TAPS; slot++) {
        uint64_t word = atomic_load(&control->tap[slot]);
        if (word == w->tap_word[slot])
            continue;
        any = true;
        shm_tap_detach(&w->taps, slot);
        w->tap_word[slot] = word;
        if (word)
            attach(w, slot, word);
    }
    for (unsigned i = 0; any && i < w->nodes; i++)
        tap_node(w, &w->node[i]);
}

void taps_end(struct worker *w)
{
    for (unsigned i = 0; i < w->nodes; i++)
        free(w->node[i].hal.tap);
    for (unsigned slot = 0; slot < SHM_TAPS; slot++)
        shm_tap_detach(&w->taps, slot);
}

/* ---- supervisor ---- */

void taps_reap(struct fab_fabric *f)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        uint64_t word = atomic_load_explicit(word_of(f->control, slot), memory_order_relaxed);
        struct flock held = byte_of(slot, F_WRLCK);
        if (word == 0 || fcntl(f->arena.fd, F_GETLK, &held) != 0 || held.l_type != F_UNLCK)
            continue;
        if (atomic_compare_exchange_strong(word_of(f->control, slot), &word, 0))
            atomic_fetch_add(&f->control->taps_changed, 1);
    }
}
