/* channel.c - the channel between processes of one machine (channel.h): boxes in shared memory and a barrier.
 *
 * One worker writes a box in one window, another reads it in the next. Even and odd windows have separate boxes, so a
 * box is rewritten only after its reader has passed the barrier. */
#include "channel.h"
#include "base/error.h"
#include "wheel.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_SPINS = 4000,
    FEWEST_SPINS = 16,
    MOST_YIELDS = 20,
    IDLE_WAIT_NS = 20000000, /* a sleeper polls `broken` this often */
    LINE = 64,
    AHEAD = 8 * LINE /* bytes to prefetch ahead of the next record */
};
#define BOX_BYTES ((size_t)256 << 20) /* addresses; memory only for touched pages */

/* What a worker publishes at its turns. `windows` counts them; the others wait for it. A sleeper counts itself in
 * `sleepers`, then reads `windows` again; the publisher stores `windows`, then reads `sleepers`. Both have a full fence
 * in between, so one of them sees the other. */
struct turns {
    alignas(64) _Atomic uint32_t windows; /* futex word */
    _Atomic uint32_t sleepers;
    struct virtual_turn published[2];
};

struct box {
    size_t used; /* bytes */
    uint8_t bytes[];
};

struct virtual_channel {
    unsigned workers, self;
    uint32_t window; /* turns of this worker */
    bool own_core;
    unsigned spins; /* spins before it sleeps; halved when they were in vain */
    uint8_t *boxes; /* [2][from][to], BOX_BYTES each */
    size_t mapped;
    struct turns *turns;  /* [workers] */
    _Atomic bool *broken; /* behind the last worker's turns */
    unsigned from;        /* worker of the box being read */
    size_t at;            /* offset in that box */
};

static void *map_shared(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "cannot map %zu MiB: %s (fewer --workers)", bytes >> 20, strerror(errno));
    return at;
}

struct virtual_channel *virtual_channel_create(unsigned workers)
{
    struct virtual_channel *c = hx_allocate(1, sizeof *c);
    c->workers = workers;
    size_t bytes = (workers + 1U) * sizeof(struct turns);
    c->turns = map_shared(bytes);
    c->broken = (_Atomic bool *)(void *)&c->turns[workers];
    c->mapped = 2 * (size_t)workers * workers * BOX_BYTES;
    c->boxes = workers > 1 ? map_shared(c->mapped) : NULL;
    return c;
}

void virtual_channel_join(struct virtual_channel *c, unsigned self, bool own_core)
{
    c->self = self;
    c->own_core = own_core;
    c->spins = MOST_SPINS;
    c->from = c->workers; /* nothing to receive yet */
}

void virtual_channel_destroy(struct virtual_channel *c)
{
    if (c->boxes)
        (void)munmap(c->boxes, c->mapped);
    (void)munmap(c->turns, (c->workers + 1U) * sizeof(struct turns));
    free(c);
}

static struct box *box_of(const struct virtual_channel *c, uint32_t window, unsigned from, unsigned to)
{
    size_t index = ((window % 2) * c->workers + from) * c->workers + to;
    return (struct box *)(void *)(c->boxes + index * BOX_BYTES);
}

static size_t record_bytes(uint32_t frame_bytes)
{
    if (frame_bytes == 0)
        return offsetof(struct virtual_record, credit) + sizeof(uint64_t);
    return sizeof(struct virtual_record) + ((size_t)frame_bytes + 7) / 8 * 8;
}

/* The reader's core has these lines in its cache; fetching them takes as long as a hop. So they are prefetched for
 * writing. */
static inline void prefetch_to_write(const uint8_t *at)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*at));
#else
    __builtin_prefetch(at, 1);
#endif
}

struct virtual_record *virtual_channel_send(struct virtual_channel *c, unsigned worker, uint32_t frame_bytes)
{
    struct box *box = box_of(c, c->window, c->self, worker);
    size_t bytes = record_bytes(frame_bytes);
    if (sizeof *box + box->used + bytes > BOX_BYTES)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "too much goes from worker %u to %u at once (fewer --workers)", c->self,
               worker);
    struct virtual_record *r = (struct virtual_record *)(void *)(box->bytes + box->used);
    box->used += bytes;
    for (size_t line = 0; line < bytes; line += LINE)
        prefetch_to_write(box->bytes + box->used + AHEAD + line);
    r->frame_bytes = frame_bytes;
    return r;
}

static void wake_sleepers(struct turns *turns)
{
    if (atomic_load_explicit(&turns->sleepers, memory_order_relaxed))
        (void)syscall(SYS_futex, &turns->windows, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool has_caught_up(const struct virtual_channel *c, const struct turns *turns)
{
    return (int32_t)(atomic_load_explicit(&turns->windows, memory_order_acquire) - c->window) >= 0;
}

static void sleep_until_it_moves(const struct virtual_channel *c, struct turns *turns)
{
    const struct timespec idle_wait = {.tv_nsec = IDLE_WAIT_NS};
    atomic_fetch_add(&turns->sleepers, 1);
    uint32_t seen = atomic_load(&turns->windows);
    if ((int32_t)(seen - c->window) < 0)
        (void)syscall(SYS_futex, &turns->windows, FUTEX_WAIT, seen, &idle_wait, NULL, 0);
    atomic_fetch_sub(&turns->sleepers, 1);
}

/* Yields to the other thread of the core. */
static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* For a worker with a core of its own. */
static bool spins_until_caught_up(struct virtual_channel *c, const struct turns *turns)
{
    for (unsigned spins = 0; spins < c->spins; spins++) {
        if (has_caught_up(c, turns)) {
            c->spins = 2 * c->spins < MOST_SPINS ? 2 * c->spins : MOST_SPINS;
            return true;
        }
        relax();
    }
    c->spins = c->spins / 2 > FEWEST_SPINS ? c->spins / 2 : FEWEST_SPINS;
    return false;
}

/* For workers that share a core: yielding costs far less than a sleep and a wakeup. */
static bool yields_until_caught_up(const struct virtual_channel *c, const struct turns *turns)
{
    for (unsigned yields = 0; yields < MOST_YIELDS; yields++) {
        if (has_caught_up(c, turns))
            return true;
        (void)sched_yield();
    }
    return false;
}

static bool wait_for(struct virtual_channel *c, struct turns *turns)
{
    if (c->own_core ? spins_until_caught_up(c, turns) : yields_until_caught_up(c, turns))
        return true;
    while (!has_caught_up(c, turns)) {
        if (atomic_load_explicit(c->broken, memory_order_relaxed))
            return false;
        sleep_until_it_moves(c, turns);
    }
    return true;
}

static void combine(struct virtual_turn *all, const struct virtual_turn *one)
{
    all->next = one->next < all->next ? one->next : all->next;
    all->active += one->active;
    all->moved = one->moved > all->moved ? one->moved : all->moved;
    all->stop |= one->stop;
}

void virtual_channel_publish(struct virtual_channel *c, const struct virtual_turn *turn)
{
    if (c->workers == 1)
        return;
    struct turns *own = &c->turns[c->self];
    own->published[c->window++ % 2] = *turn;
    atomic_store(&own->windows, c->window);
    atomic_thread_fence(memory_order_seq_cst);
    wake_sleepers(own);
}

bool virtual_channel_wait(struct virtual_channel *c, struct virtual_turn *turn)
{
    if (c->workers == 1)
        return true;
    uint32_t ended = c->window - 1;
    *turn = (struct virtual_turn){.next = VIRTUAL_NO_WINDOW};
    for (unsigned w = 0; w < c->workers; w++) {
        if (w != c->self && !wait_for(c, &c->turns[w]))
            return false;
        combine(turn, &c->turns[w].published[ended % 2]);
    }
    for (unsigned w = 0; w < c->workers; w++)
        box_of(c, c->window, c->self, w)->used = 0;
    c->from = 0;
    c->at = 0;
    return true;
}

const struct virtual_record *virtual_channel_receive(struct virtual_channel *c)
{
    for (; c->from < c->workers; c->from++, c->at = 0) {
        if (c->from == c->self)
            continue;
        const struct box *box = box_of(c, c->window - 1, c->from, c->self);
        if (c->at < box->used) {
            const struct virtual_record *r = (const struct virtual_record *)(const void *)(box->bytes + c->at);
            c->at += record_bytes(r->frame_bytes);
            return r;
        }
    }
    return NULL;
}

void virtual_channel_break(struct virtual_channel *c)
{
    atomic_store(c->broken, true);
}
