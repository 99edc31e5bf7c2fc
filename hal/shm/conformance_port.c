/* conformance_port.c - the world in which the conformance kit tries this platform (conformance/conformance_port.h):
 * links and pools in plain memory, and a worker for each accelerator. */
#include "conformance/conformance_port.h"
#include "hal/kit_user.h"

#include <stdlib.h>

enum {
    SLOTS = SHM_MAX_SLOTS,
    HOME = 256,  /* buffers of a worker */
    RING = 1024, /* those of both workers, and what an open step returns */
    BUFFERS = CONFORMANCE_ACCELERATORS * HOME,
    LINKS = CONFORMANCE_ACCELERATORS * (HX_ACCELERATOR_PORTS + 1)
};

static struct {
    struct shm_worker worker[CONFORMANCE_ACCELERATORS];
    struct hal_switch sw[CONFORMANCE_ACCELERATORS];
    struct hal_endpoint endpoint[CONFORMANCE_ACCELERATORS];
    struct shm_tx tx[CONFORMANCE_ACCELERATORS][HX_ACCELERATOR_PORTS];
    struct shm_rx rx[CONFORMANCE_ACCELERATORS][HX_ACCELERATOR_PORTS];
    uint64_t drops[HX_DROP_COUNT], stalls[HX_STALL_COUNT];
    uint64_t injected_ns[BUFFERS];
    uint8_t *memory; /* in place of the arena */
    size_t used;
} world;

/* ---- memory ---- */

static size_t lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t memory_bytes(void)
{
    return CONFORMANCE_ACCELERATORS * lines(sizeof(struct shm_redo)) + LINKS * lines(shm_link_bytes(HX_VCS, SLOTS)) +
           (size_t)CONFORMANCE_ACCELERATORS * CONFORMANCE_ACCELERATORS * shm_pool_ring_bytes(RING) +
           BUFFERS * sizeof(struct shm_buffer);
}

static void *piece(size_t bytes)
{
    void *at = world.memory + world.used;
    world.used += lines(bytes);
    return at;
}

static struct shm_link *new_link(void)
{
    return piece(shm_link_bytes(HX_VCS, SLOTS));
}

/* ---- pools ---- */

static void join_pool(unsigned from, unsigned home)
{
    struct shm_pool_ring *ring = piece(shm_pool_ring_bytes(RING));
    for (uint32_t i = 0; from == home && i < HOME; i++)
        ring->slots[ring->head++] = home * HOME + i;
    world.worker[from].give[home].ring = world.worker[home].take[from].ring = ring;
    world.worker[from].give[home].head = ring->head;
}

static void open_workers(void)
{
    struct shm_buffer *buffers = piece(BUFFERS * sizeof *buffers);
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++)
        world.worker[i] = (struct shm_worker){.step = {world.memory, piece(sizeof(struct shm_redo)), 0},
                                              .self = i,
                                              .workers = CONFORMANCE_ACCELERATORS,
                                              .ring_mask = RING - 1,
                                              .per_home = HOME,
                                              .reserve = HOME / 8,
                                              .buffers = buffers,
                                              .injected_ns = world.injected_ns,
                                              .last_from = i};
    for (unsigned from = 0; from < CONFORMANCE_ACCELERATORS; from++)
        for (unsigned home = 0; home < CONFORMANCE_ACCELERATORS; home++)
            join_pool(from, home);
}

/* ---- nodes ---- */

/* A port without a cable has a link too, so that a commit needs no test. */
static void open_switch(unsigned i)
{
    const uint64_t cabled = (uint64_t)1 << HX_LOCAL | (uint64_t)1 << (i == 0 ? HX_E : HX_W);
    world.sw[i] = (struct hal_switch){.worker = &world.worker[i],
                                      .ports = HX_ACCELERATOR_PORTS,
                                      .size = SLOTS,
                                      .slots = shm_link_slots(HX_VCS, SLOTS),
                                      .brings = cabled,
                                      .up = cabled,
                                      .drops = world.drops,
                                      .stalls = world.stalls,
                                      .tx = world.tx[i],
                                      .rx = world.rx[i]};
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        world.tx[i][port] = (struct shm_tx){.link = new_link(), .peer = port == HX_LOCAL ? i : 1 - i};
}

static struct shm_rx receiver(struct shm_link *link, unsigned peer)
{
    return (struct shm_rx){.link = link, .ahead = shm_link_slots(HX_VCS, SLOTS), .peer = peer};
}

static void open_endpoint(unsigned i)
{
    struct hal_endpoint *e = &world.endpoint[i];
    *e = (struct hal_endpoint){.worker = &world.worker[i],
                               .planes = 1,
                               .vcs = HX_VCS,
                               .size = SLOTS,
                               .inject = {{.link = new_link(), .peer = i}},
                               .eject = {receiver(world.tx[i][HX_LOCAL].link, i)},
                               .drops = world.drops,
                               .user = kit_user(e)};
}

static void join_inputs(unsigned i)
{
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        world.rx[i][port] = receiver(world.tx[i][port].link, 1 - i);
    world.rx[i][HX_LOCAL] = receiver(world.endpoint[i].inject[0].link, i);
}

/* ---- the world ---- */

bool conformance_open(struct conformance_world *w)
{
    memset(&world, 0, sizeof world);
    world.memory = aligned_alloc(64, memory_bytes());
    if (!world.memory)
        return false;
    memset(world.memory, 0, memory_bytes());
    open_workers();
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        open_switch(i);
        open_endpoint(i);
        join_inputs(i);
        w->sw[i] = &world.sw[i];
        w->endpoint[i] = &world.endpoint[i];
    }
    world.rx[0][HX_E] = receiver(world.tx[1][HX_W].link, 1);
    world.rx[1][HX_W] = receiver(world.tx[0][HX_E].link, 0);
    return true;
}

void conformance_close(struct conformance_world *w)
{
    free(world.memory);
    *w = (struct conformance_world){{NULL}, {NULL}};
}

void conformance_pass(struct conformance_world *w, uint64_t ns)
{
    (void)w;
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++)
        shm_set_now(&world.worker[i], world.worker[i].now + ns);
}

/* A commit stores what others see, and nothing is between steps. */
void conformance_advance(struct conformance_world *w, enum conformance_node busy, bool committed)
{
    (void)busy;
    (void)committed;
    conformance_pass(w, 1000);
}

/* Counts what an open step returned or took, too. */
uint64_t conformance_free_buffers(const struct conformance_world *w)
{
    uint64_t sum = 0;
    (void)w;
    for (unsigned from = 0; from < CONFORMANCE_ACCELERATORS; from++)
        for (unsigned home = 0; home < CONFORMANCE_ACCELERATORS; home++)
            sum += world.worker[from].give[home].head - world.worker[home].take[from].tail;
    return sum;
}

uint64_t conformance_drops(const struct conformance_world *w, enum hx_drop reason)
{
    (void)w;
    return world.drops[reason];
}

uint64_t conformance_stalls(const struct conformance_world *w, enum hx_stall cause)
{
    (void)w;
    return world.stalls[cause];
}
