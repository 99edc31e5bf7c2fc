/* conformance_port.c - the world in which the conformance kit tries hal/dpdk (hal/conformance/conformance_port.h):
 * every cable a pair of rings, as in support_dpdk.h. Time is the fixture's own, in ns. */
#include "conformance/conformance_port.h"
#include "hal/kit_user.h"
#include "nodes/dpdk/devices.h"
#include "tests/support/dpdk/support_dpdk.h"

#include <rte_malloc.h>
#include <stdio.h>
#include <string.h>

enum {
    BLOCKS = 128,
    MBUFS = 2047,
    PERIOD = 1000, /* between credit frames */
    ROUNDS = 6,    /* of an advance: a packet arrives in the first, its credit with the next credit frame */
    MOST_ADVANCES = 100
};

static struct {
    struct hal_switch sw[CONFORMANCE_ACCELERATORS];
    struct hal_endpoint endpoint[CONFORMANCE_ACCELERATORS];
    struct dpdk_port port[CONFORMANCE_ACCELERATORS][HX_ACCELERATOR_PORTS]; /* of the switches */
    struct dpdk_port local[CONFORMANCE_ACCELERATORS];                      /* of the endpoints */
    struct rte_mempool *pool;
    uint64_t drops[HX_DROP_COUNT], stalls[HX_STALL_COUNT];
    uint64_t now;
} world;

/* ---- cables ---- */

static void open_port(struct dpdk_port *p, uint16_t device)
{
    const struct dpdk_port_config config = {.device = device,
                                            .vcs = HX_VCS,
                                            .blocks = BLOCKS,
                                            .peer_blocks = BLOCKS,
                                            .credit_period = PERIOD,
                                            .pool = world.pool,
                                            .drops = world.drops};
    dpdk_port_init(p, &config, rte_zmalloc(NULL, dpdk_port_bytes(HX_VCS, BLOCKS, BLOCKS), 64));
}

static void join(const char *name, struct dpdk_port *a, struct dpdk_port *b)
{
    char names[2][16];
    uint16_t ends[2];
    const char *const both[2] = {names[0], names[1]};
    const struct device_needs needs = {.mtu = NODE_FULL_MTU, .queue = 32, .pool = world.pool};
    for (unsigned end = 0; end < 2; end++)
        (void)snprintf(names[end], sizeof names[end], "%s%u", name, end);
    device_pair(both, ends, dpdk_port_frames(HX_VCS, BLOCKS, BLOCKS), &needs);
    open_port(a, ends[0]);
    open_port(b, ends[1]);
    struct hx_problem problem;
    for (unsigned end = 0; end < 2; end++)
        (void)device_start(names[end], ends[end], false, &problem);
}

/* ---- nodes ---- */

static void open_node(unsigned i)
{
    const uint64_t cabled = (uint64_t)1 << HX_LOCAL | (uint64_t)1 << (i == 0 ? HX_E : HX_W);
    struct hal_endpoint *e = &world.endpoint[i];
    world.sw[i] = (struct hal_switch){.port = world.port[i],
                                      .ports = HX_ACCELERATOR_PORTS,
                                      .mine = cabled,
                                      .up = cabled,
                                      .drops = world.drops,
                                      .stalls = world.stalls};
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++)
        if (!(cabled >> port & 1))
            open_port(&world.port[i][port], DPDK_NO_DEVICE);
    *e =
        (struct hal_endpoint){.port = {&world.local[i]}, .pool = world.pool, .drops = world.drops, .user = kit_user(e)};
    for (uint32_t buffer = 0; buffer < DPDK_ENDPOINT_BUFFERS; buffer++)
        e->free[e->free_count++] = buffer;
}

/* ---- the world ---- */

static bool is_up(void)
{
    return world.local[0].cable.link.heard && world.port[0][HX_LOCAL].cable.link.heard &&
           world.port[0][HX_E].cable.link.heard && world.port[1][HX_W].cable.link.heard &&
           world.port[1][HX_LOCAL].cable.link.heard && world.local[1].cable.link.heard;
}

bool conformance_open(struct conformance_world *w)
{
    memset(&world, 0, sizeof world);
    lab_start_eal();
    world.pool = rte_pktmbuf_pool_create("kit", MBUFS, 0, 0, 8832, SOCKET_ID_ANY);
    if (!world.pool)
        return false;
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        open_node(i);
        w->sw[i] = &world.sw[i];
        w->endpoint[i] = &world.endpoint[i];
    }
    join("first", &world.local[0], &world.port[0][HX_LOCAL]);
    join("cable", &world.port[0][HX_E], &world.port[1][HX_W]);
    join("second", &world.port[1][HX_LOCAL], &world.local[1]);
    for (unsigned n = 0; n < MOST_ADVANCES && !is_up(); n++)
        conformance_advance(w, CONFORMANCE_NONE, false);
    return is_up();
}

/* EAL, and all that it gave, ends with the process. */
void conformance_close(struct conformance_world *w)
{
    *w = (struct conformance_world){{NULL}, {NULL}};
}

static void receive(struct conformance_world *w, unsigned i, bool of_switch)
{
    if (!of_switch) {
        (void)dpdk_receive(&world.local[i]);
        return;
    }
    for (uint64_t left = w->sw[i]->mine; left; left &= left - 1) {
        unsigned port = (unsigned)__builtin_ctzll(left);
        w->sw[i]->news |= (uint64_t)(dpdk_receive(&world.port[i][port]) != 0) << port;
    }
}

static void flush(const struct conformance_world *w, unsigned i, bool of_switch)
{
    if (!of_switch)
        (void)dpdk_flush(&world.local[i], world.now);
    for (uint64_t left = of_switch ? w->sw[i]->mine : 0; left; left &= left - 1)
        (void)dpdk_flush(&world.port[i][__builtin_ctzll(left)], world.now);
}

/* The flush hands over a committed step. Receiving comes last, so no control frame stays in a cable. */
void conformance_advance(struct conformance_world *w, enum conformance_node busy, bool committed)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        world.now += PERIOD;
        for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
            if (committed || busy != CONFORMANCE_SWITCH_0 + i)
                flush(w, i, true);
            if (committed || busy != CONFORMANCE_ENDPOINT_0 + i)
                flush(w, i, false);
        }
        for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
            w->endpoint[i]->now = world.now;
            if (busy != CONFORMANCE_SWITCH_0 + i)
                receive(w, i, true);
            if (busy != CONFORMANCE_ENDPOINT_0 + i)
                receive(w, i, false);
        }
    }
}

void conformance_pass(struct conformance_world *w, uint64_t ns)
{
    world.now += ns;
    conformance_advance(w, CONFORMANCE_NONE, false);
}

uint64_t conformance_free_buffers(const struct conformance_world *w)
{
    (void)w;
    return rte_mempool_avail_count(world.pool);
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
