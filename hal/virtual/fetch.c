/* fetch.c - asks for cache lines before they are needed (entity.h). Of a fabric of a thousand accelerators little stays in
 * the cache from window to window, and a look that misses costs as much as a hop. */
#include "entity.h"

enum { LINE = 64 };

static void fetch(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += LINE)
        __builtin_prefetch((const char *)at + line);
}

void virtual_entity_fetch_agenda(const struct virtual_entity *e)
{
    fetch(e, sizeof *e);
    fetch((const char *)e + (sizeof *e + LINE - 1) / LINE * LINE, 2 * LINE); /* the agenda's heap stands behind it */
}

/* Calls for each input and output that has something to do before `end`. */
static void for_each_due(const struct virtual_entity *e, uint64_t end,
                         void (*act)(const struct virtual_node *, unsigned port, bool output))
{
    unsigned kinds = e->tree ? VIRTUAL_TREE_ITEMS : HX_ACCELERATOR_PORTS;
    for (uint32_t i = 0; i < e->agenda.count; i++) {
        unsigned item = (unsigned)(e->agenda.heap[i] & ((1U << VIRTUAL_ITEM_BITS) - 1));
        if (e->agenda.heap[i] >> VIRTUAL_ITEM_BITS >= end || item >= VIRTUAL_ITEM_EJECT)
            continue;
        unsigned own = e->tree ? item : item % VIRTUAL_PLANE_ITEMS;
        act(&e->node[e->tree ? 0 : item / VIRTUAL_PLANE_ITEMS], own % kinds, own >= kinds);
    }
}

static void fetch_port(const struct virtual_node *n, unsigned port, bool output)
{
    if (output) {
        fetch(&n->hal.tx[port], sizeof *n->hal.tx);
        __builtin_prefetch(&n->hal.room[port]);
        return;
    }
    fetch(&n->hal.rx[port], sizeof *n->hal.rx);
    fetch(&n->sw.input[port], sizeof *n->sw.input);
}

static void fetch_packet(const struct virtual_node *n, unsigned port, bool output)
{
    const struct virtual_rx *rx = &n->hal.rx[port];
    uint64_t coming = rx->head ^ rx->ready;
    for (unsigned vc = 0; !output && vc < HX_VCS; vc++) {
        if (hx_lane(coming, vc))
            __builtin_prefetch(virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc)));
    }
}

void virtual_entity_fetch_ports(const struct virtual_entity *e, uint64_t end)
{
    fetch(e->node, sizeof *e->node);
    for_each_due(e, end, fetch_port);
}

void virtual_entity_fetch_packets(const struct virtual_entity *e, uint64_t end)
{
    for_each_due(e, end, fetch_packet);
}
