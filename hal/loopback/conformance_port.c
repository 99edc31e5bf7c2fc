/* conformance_port.c - the world in which the conformance kit tries this platform (conformance/conformance_port.h). */
#include "conformance/conformance_port.h"
#include "hal/kit_user.h"

#include <stdlib.h>
#include <string.h>

/* Smaller on boards with little memory. */
#ifndef CONFORMANCE_BLOCKS
#define CONFORMANCE_BLOCKS 128
#endif

enum { BLOCKS = CONFORMANCE_BLOCKS, SENDS = 8, LATENCY = 100, ROUNDS = 12, WIRES = 6, MOST_NS = 1000000 };

/* Both directions of: endpoint 0 - switch 0, switch 0 - switch 1, switch 1 - endpoint 1. */
static struct {
    struct hal_switch sw[CONFORMANCE_ACCELERATORS];
    struct hal_endpoint endpoint[CONFORMANCE_ACCELERATORS];
    struct loopback_wire wire[WIRES];
    void *memory[2 * CONFORMANCE_ACCELERATORS + WIRES];
    unsigned pieces;
    uint64_t now;
    uint64_t random; /* a different number for each end of a cable */
} world;

static void *memory(size_t bytes)
{
    void *piece = calloc(1, bytes);
    if (!piece)
        abort();
    world.memory[world.pieces++] = piece;
    return piece;
}

/* ---- the world ---- */

static void join(struct loopback_wire *wires, struct loopback_node *a, unsigned port_a, struct loopback_node *b,
                 unsigned port_b)
{
    for (unsigned i = 0; i < 2; i++)
        loopback_wire_init(&wires[i], BLOCKS, LATENCY, memory(loopback_wire_bytes(BLOCKS)));
    loopback_plug(a, port_a, 0, &wires[0], &wires[1], ++world.random);
    loopback_plug(b, port_b, 0, &wires[1], &wires[0], ++world.random);
}

static bool is_up(void)
{
    return world.endpoint[0].node.port[0].cable.link.open && world.sw[0].node.port[HX_LOCAL].cable.link.open &&
           world.sw[0].node.port[HX_E].cable.link.open && world.sw[1].node.port[HX_W].cable.link.open &&
           world.sw[1].node.port[HX_LOCAL].cable.link.open && world.endpoint[1].node.port[0].cable.link.open;
}

bool conformance_open(struct conformance_world *w)
{
    memset(&world, 0, sizeof world);
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        struct hal_endpoint *e = &world.endpoint[i];
        loopback_node_init(&world.sw[i].node, HX_ACCELERATOR_PORTS, HX_VCS, BLOCKS, 0,
                           memory(loopback_node_bytes(HX_ACCELERATOR_PORTS, HX_VCS, BLOCKS, 0)));
        loopback_node_init(&e->node, 1, HX_VCS, BLOCKS, SENDS, memory(loopback_node_bytes(1, HX_VCS, BLOCKS, SENDS)));
        e->user = kit_user(e);
        w->sw[i] = &world.sw[i];
        w->endpoint[i] = e;
    }
    join(&world.wire[0], &world.endpoint[0].node, 0, &world.sw[0].node, HX_LOCAL);
    join(&world.wire[2], &world.sw[0].node, HX_E, &world.sw[1].node, HX_W);
    join(&world.wire[4], &world.sw[1].node, HX_LOCAL, &world.endpoint[1].node, 0);
    while (!is_up() && world.now < MOST_NS)
        conformance_advance(w, CONFORMANCE_NONE, false);
    return is_up();
}

void conformance_close(struct conformance_world *w)
{
    while (world.pieces > 0)
        free(world.memory[--world.pieces]);
    *w = (struct conformance_world){{NULL}, {NULL}};
}

/* A commit hands its step over by itself. */
void conformance_advance(struct conformance_world *w, enum conformance_node busy, bool committed)
{
    (void)w;
    (void)committed;
    for (unsigned round = 0; round < ROUNDS; round++) {
        world.now += LOOPBACK_CREDIT_PERIOD / 4;
        for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
            if (busy != CONFORMANCE_SWITCH_0 + i)
                loopback_poll(&world.sw[i].node, world.now);
            if (busy != CONFORMANCE_ENDPOINT_0 + i)
                loopback_poll(&world.endpoint[i].node, world.now);
        }
    }
}

void conformance_pass(struct conformance_world *w, uint64_t ns)
{
    world.now += ns;
    conformance_advance(w, CONFORMANCE_NONE, false);
}

static uint64_t free_of(const struct loopback_node *n)
{
    return n->free_count + n->sends_count;
}

uint64_t conformance_free_buffers(const struct conformance_world *w)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++)
        sum += free_of(&w->sw[i]->node) + free_of(&w->endpoint[i]->node);
    return sum;
}

uint64_t conformance_drops(const struct conformance_world *w, enum hx_drop reason)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++)
        sum += w->sw[i]->node.drops[reason] + w->endpoint[i]->node.drops[reason];
    return sum;
}

uint64_t conformance_stalls(const struct conformance_world *w, enum hx_stall cause)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++)
        sum += w->sw[i]->node.stalls[cause];
    return sum;
}
