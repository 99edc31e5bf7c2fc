/* conformance_port.c - the world in which the conformance kit tries this platform (conformance/conformance_port.h).
 *
 * The kit takes the place of sim_node.c: a step is an instant, and time passes in conformance_advance() alone. */
#include "conformance/conformance_port.h"
#include "hal/kit_user.h"
#include "sim_node.h"

#include <string.h>

#define ADVANCE UINT64_C(100000000) /* ps: longer than all packets of the kit take */

static struct {
    struct virtual_worker worker;
    struct virtual_sim_node *node[CONFORMANCE_ACCELERATORS];
    struct hal_endpoint endpoint[CONFORMANCE_ACCELERATORS];
    uint64_t drops[HX_DROP_COUNT], stalls[HX_STALL_COUNT];
} world;

/* ---- nodes ---- */

static void ignore(void *of, const struct hx_desc *d, uint64_t when, uint64_t took, uint64_t behind)
{
    (void)of;
    (void)d;
    (void)when;
    (void)took;
    (void)behind;
}

static void open_output(struct hal_switch *h, unsigned port, uint32_t blocks)
{
    h->up |= (uint64_t)1 << port;
    h->tx[port].opens = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        h->tx[port].lanes = hx_lane_set(h->tx[port].lanes, vc, (uint16_t)blocks);
}

/* `busy`: the wheel is not needed. */
static void open_node(unsigned i)
{
    void *memory = virtual_arena_take(virtual_sim_node_bytes(1, HX_ACCELERATOR_PORTS, HX_VCS));
    struct virtual_sim_node *n = virtual_sim_node_init(memory, &world.worker, i, 1, HX_ACCELERATOR_PORTS, false);
    struct hal_endpoint *e = &world.endpoint[i];
    *e = (struct hal_endpoint){.worker = &world.worker,
                               .sim_node = n,
                               .rank = i,
                               .next_to = HX_NOWHERE,
                               .since = UINT64_MAX,
                               .block = (uint64_t)world.worker.timing.local.blocks[1] << 16,
                               .planes = 1,
                               .train = 1,
                               .user = kit_user(e),
                               .delivered = ignore,
                               .drops = world.drops};
    e->plane[0].sw = &n->node[0].hal;
    n->node[0].hal.endpoint = e;
    n->endpoint = e;
    n->busy = true;
    open_output(&n->node[0].hal, HX_LOCAL, HX_MAX_ROOM);
    world.node[i] = n;
}

static void join(struct hal_switch *a, unsigned port_a, struct hal_switch *b, unsigned port_b)
{
    struct virtual_rx *rx = &b->rx[port_b];
    open_output(a, port_a, world.worker.timing.vc_blocks);
    a->tx[port_a].far = rx;
    rx->from = &a->tx[port_a];
    rx->linked = true;
}

/* ---- the world ---- */

bool conformance_open(struct conformance_world *w)
{
    static const struct virtual_speeds speeds = {
        .link = 400, .crossbar = 800, .cable = 20, .trace = 1, .input = 40, .output = 40, .buffer = 4 << 20};
    memset(&world, 0, sizeof world);
    world.worker.drops = world.drops;
    world.worker.stalls = world.stalls;
    virtual_timing_init(&world.worker.timing, &speeds, HX_VCS);
    virtual_pool_open(&world.worker.pool, 1);
    virtual_rows_open(&world.worker, HX_ACCELERATOR_PORTS, CONFORMANCE_ACCELERATORS);
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        open_node(i);
        w->sw[i] = &world.node[i]->node[0].hal;
        w->endpoint[i] = &world.endpoint[i];
    }
    join(w->sw[0], HX_E, w->sw[1], HX_W);
    join(w->sw[1], HX_W, w->sw[0], HX_E);
    return true;
}

/* The arena ends with the process. */
void conformance_close(struct conformance_world *w)
{
    *w = (struct conformance_world){{NULL}, {NULL}};
}

/* Makes packets of an input ready once their time has come, as advance() and count_in() in sim_node.c. */
static void arrive(struct hal_switch *h, unsigned input)
{
    struct virtual_rx *rx = &h->rx[input];
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        for (; virtual_is_coming(rx, vc); rx->ready = hx_lane_add(rx->ready, vc, 1)) {
            const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc));
            if (slot->ready > world.worker.now)
                break;
            h->small += virtual_is_small(&world.worker.timing, &slot->d);
            h->news |= (uint64_t)1 << input;
        }
    }
}

/* No time passes within a step. Afterwards all events have passed, so none stays noted. */
void conformance_advance(struct conformance_world *w, enum conformance_node busy, bool committed)
{
    if (busy != CONFORMANCE_NONE && !committed)
        return;
    world.worker.now += ADVANCE;
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        while (virtual_event_queue_count(&world.node[i]->event_queue))
            (void)virtual_event_queue_take(&world.node[i]->event_queue);
        world.endpoint[i].eject_noted = false;
        for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++)
            arrive(w->sw[i], input);
    }
}

void conformance_pass(struct conformance_world *w, uint64_t ns)
{
    world.worker.now += ns * 1000;
    conformance_advance(w, CONFORMANCE_NONE, false);
}

uint64_t conformance_free_buffers(const struct conformance_world *w)
{
    (void)w;
    return world.worker.pool.limit - virtual_pool_used(&world.worker.pool);
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
