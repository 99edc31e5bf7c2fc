/* channel.c - the channel between processes of one machine (channel.h): boxes in shared memory and a barrier.
 *
 * One worker writes a box in one window, another reads it in the next. Even and odd windows have separate boxes, so a
 * box is rewritten only after its reader has passed the barrier. A box is a list of chunks of its sender's room. The
 * first one is always the same, so that its lines stay in the same two caches; others are taken as records come. */
#include "channel.h"
#include "arena.h"
#include "base/error.h"
#include "timing.h"
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
    AHEAD = 8 * LINE, /* bytes to prefetch ahead of the next record */
    CHUNK_BYTES = 64 << 10,
    MORE_CHUNKS = 8 << 10, /* of a room: addresses; memory only for touched pages */
    LAST = 0               /* no chunk follows: chunk 0 is the first one of a box */
};

/* What a worker publishes at its turns. `windows` counts them; the others wait for it. A sleeper counts itself in
 * `sleepers`, then reads `windows` again; the publisher stores `windows`, then reads `sleepers`. Both have a full fence
 * in between, so one of them sees the other. */
struct turns {
    alignas(64) _Atomic uint32_t windows; /* futex word */
    _Atomic uint32_t sleepers;
    struct virtual_turn published[2];
};

struct chunk {
    uint32_t used; /* bytes */
    uint32_t next; /* number in the room; LAST: none */
    uint8_t bytes[];
};
enum { CHUNK_ROOM = CHUNK_BYTES - (int)sizeof(struct chunk) };
_Static_assert(sizeof(struct virtual_record) + HX_HEADER_BYTES + VIRTUAL_MOST_TRAIN * HX_MAX_PAYLOAD + 8 <= CHUNK_ROOM,
               "a chunk holds any record");

struct virtual_channel {
    unsigned workers, self;
    uint32_t window; /* turns of this worker */
    bool own_core;
    unsigned spins;  /* looks at a turn before it sleeps: FEWEST_SPINS .. MOST_SPINS */
    uint8_t *rooms;  /* [2][workers], of `chunks` each: chunk n < workers is the first one for worker n */
    uint32_t chunks; /* workers, and up to MORE_CHUNKS */
    size_t mapped;
    struct chunk **last;       /* [workers]: last chunk for each, in this window */
    uint32_t taken;            /* chunks of this window's room */
    struct turns *turns;       /* [workers] */
    _Atomic bool *broken;      /* behind the last worker's turns */
    unsigned from;             /* worker of the box being read */
    const struct chunk *chunk; /* of that box; NULL: it is not begun */
    size_t at;                 /* offset in that chunk */
};

static void *map_shared(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "cannot map %zu MiB: %s (fewer --workers)", bytes >> 20, strerror(errno));
    return at;
}

bool virtual_channel_is_of_ranks(void)
{
    return false;
}

void virtual_channel_begin(void)
{
}

struct virtual_place virtual_channel_place(unsigned asked)
{
    return (struct virtual_place){.workers = asked, .count = asked};
}

struct virtual_channel *virtual_channel_create(unsigned workers)
{
    struct virtual_channel *c = hx_allocate(1, sizeof *c);
    c->workers = workers;
    size_t bytes = (workers + 1U) * sizeof(struct turns);
    c->turns = map_shared(bytes);
    c->broken = (_Atomic bool *)(void *)&c->turns[workers];
    c->chunks = workers + (uint32_t)virtual_arena_fit(MORE_CHUNKS, 2 * (size_t)workers * CHUNK_BYTES);
    c->mapped = 2 * (size_t)workers * c->chunks * CHUNK_BYTES;
    c->rooms = workers > 1 ? map_shared(c->mapped) : NULL;
    c->last = hx_allocate(workers, sizeof(struct chunk *));
    return c;
}

static struct chunk *chunk_of(const struct virtual_channel *c, uint32_t window, unsigned from, uint32_t number)
{
    size_t room = window % 2 * c->workers + from;
    return (struct chunk *)(void *)(c->rooms + (room * c->chunks + number) * CHUNK_BYTES);
}

static void empty(struct chunk *chunk)
{
    chunk->used = 0;
    chunk->next = LAST;
}

/* Empties the boxes for this window's records. */
static void open_boxes(struct virtual_channel *c)
{
    c->taken = c->workers;
    for (unsigned to = 0; to < c->workers; to++) {
        c->last[to] = chunk_of(c, c->window, c->self, to);
        empty(c->last[to]);
    }
}

void virtual_channel_join(struct virtual_channel *c, unsigned self, bool own_core)
{
    c->self = self;
    c->own_core = own_core;
    c->spins = MOST_SPINS;
    c->from = c->workers; /* nothing to receive yet */
    if (c->rooms)
        open_boxes(c);
}

void virtual_channel_destroy(struct virtual_channel *c)
{
    if (c->rooms)
        (void)munmap(c->rooms, c->mapped);
    (void)munmap(c->turns, (c->workers + 1U) * sizeof(struct turns));
    free(c->last);
    free(c);
}

/* Boxes of others stay empty. */
void virtual_channel_meet(struct virtual_channel *c, const bool *neighbour)
{
    (void)c;
    (void)neighbour;
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

/* Adds a chunk to the box of a worker. */
static __attribute__((noinline)) struct chunk *add_chunk(struct virtual_channel *c, unsigned worker)
{
    if (c->taken == c->chunks)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "too much goes from worker %u to others at once (fewer --workers)",
               c->self);
    c->last[worker]->next = c->taken;
    c->last[worker] = chunk_of(c, c->window, c->self, c->taken++);
    empty(c->last[worker]);
    return c->last[worker];
}

struct virtual_record *virtual_channel_send(struct virtual_channel *c, unsigned worker, uint32_t frame_bytes)
{
    struct chunk *chunk = c->last[worker];
    uint32_t bytes = (uint32_t)virtual_record_bytes(frame_bytes);
    if (__builtin_expect(chunk->used + bytes > CHUNK_ROOM, 0))
        chunk = add_chunk(c, worker);
    struct virtual_record *r = (struct virtual_record *)(void *)(chunk->bytes + chunk->used);
    chunk->used += bytes;
    for (size_t line = 0; line < bytes; line += LINE)
        prefetch_to_write(chunk->bytes + chunk->used + AHEAD + line);
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

void virtual_channel_progress(struct virtual_channel *c)
{
    (void)c;
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
        virtual_turn_combine(turn, &c->turns[w].published[ended % 2]);
    }
    open_boxes(c);
    c->from = 0;
    c->chunk = NULL;
    return true;
}

/* Moves to the next chunk of the others' boxes. Returns false after the last. */
static bool next_chunk(struct virtual_channel *c)
{
    uint32_t ended = c->window - 1;
    if (c->chunk && c->chunk->next != LAST) {
        c->chunk = chunk_of(c, ended, c->from, c->chunk->next);
        return true;
    }
    c->from += c->chunk ? 1 : 0;
    c->from += c->from == c->self ? 1 : 0;
    if (c->from >= c->workers)
        return false;
    c->chunk = chunk_of(c, ended, c->from, c->self);
    return true;
}

const struct virtual_record *virtual_channel_receive(struct virtual_channel *c)
{
    while (!c->chunk || c->at == c->chunk->used) {
        if (c->from >= c->workers || !next_chunk(c))
            return NULL;
        c->at = 0;
    }
    const struct virtual_record *r = (const struct virtual_record *)(const void *)(c->chunk->bytes + c->at);
    c->at += virtual_record_bytes(r->frame_bytes);
    return r;
}

/* The only launcher shares all arrays with all workers. */
void virtual_channel_collect(struct virtual_channel *c, void *array, size_t bytes)
{
    (void)c;
    (void)array;
    (void)bytes;
}

void virtual_channel_leave(struct virtual_channel *c)
{
    (void)c;
}

void virtual_channel_break(struct virtual_channel *c)
{
    atomic_store(c->broken, true);
}
