/* fetch.c - fetches ahead (fetch.h). */
#include "fetch.h"
#include "endpoint_parts.h"

/* A call of a function that only prefetches has no effect that the compiler must keep. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { LINE = 64, SENDS = 4 /* seldom more inject in a window */, PEERS = 8 };

ALWAYS_INLINE void fetch(const void *at)
{
    __builtin_prefetch(at);
}

ALWAYS_INLINE void fetch_lines(const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const uint8_t *)from + at);
}

/* ---- ports ---- */

/* The first packets that come by an input. */
ALWAYS_INLINE void fetch_packets(const struct virtual_rx *rx)
{
    uint64_t coming = rx->head ^ rx->ready;
    while (coming) {
        unsigned vc = hx_lanes_take(&coming);
        uint16_t next = hx_lane(rx->ready, vc);
        fetch(virtual_queue_at(&rx->queue[vc], next));
        fetch(virtual_queue_at(&rx->queue[vc], (uint16_t)(next + 1)));
    }
}

/* The next credit of an output. */
ALWAYS_INLINE void fetch_credit(const struct virtual_tx *tx)
{
    if (tx->back.entries)
        fetch(&tx->back.entries[tx->back.tail & tx->back.mask]);
}

/* A step of an accelerator looks at all of its few ports. */
ALWAYS_INLINE void fetch_switch(const struct hal_switch *h)
{
    fetch_lines(h->room, HX_ACCELERATOR_PORTS * sizeof h->room[0]);
    fetch_lines(h->rx, HX_ACCELERATOR_PORTS * sizeof h->rx[0]);
    fetch_lines(h->tx, HX_ACCELERATOR_PORTS * sizeof h->tx[0]);
}

ALWAYS_INLINE void fetch_what_comes(const struct hal_switch *h)
{
    for (unsigned port = 0; port < HX_ACCELERATOR_PORTS; port++) {
        fetch_packets(&h->rx[port]);
        fetch_credit(&h->tx[port]);
    }
}

/* A router has many ports: those of which its agenda speaks. */
ALWAYS_INLINE void fetch_router(const struct virtual_entity *e, uint64_t end, bool ports)
{
    const struct hal_switch *h = &e->node[0].hal;
    for (uint32_t n = 0; n < e->agenda.count; n++) {
        if (e->agenda.heap[n] >> VIRTUAL_ITEM_BITS >= end)
            continue;
        unsigned item = (unsigned)e->agenda.heap[n] & (unsigned)((1 << VIRTUAL_ITEM_BITS) - 1);
        unsigned port = item % VIRTUAL_ROUTER_ITEMS;
        if (ports && item < VIRTUAL_ROUTER_ITEMS)
            fetch_lines(&h->rx[port], sizeof h->rx[0]);
        else if (ports)
            fetch_lines(&h->tx[port], sizeof h->tx[0]);
        else if (item < VIRTUAL_ROUTER_ITEMS)
            fetch_packets(&h->rx[port]);
        else
            fetch_credit(&h->tx[port]);
    }
}

/* ---- the endpoint ---- */

/* What is known of the peer that sent a packet. Where not all have a place of their own they are few, and its own is not
 * known before the search. */
ALWAYS_INLINE void fetch_peer(const struct hx_endpoint *ep, uint32_t rank)
{
    if (!ep->bucket) {
        fetch(&ep->peer[rank]);
        return;
    }
    fetch(&ep->bucket[hx_endpoint_bucket(ep, rank)]);
    for (uint32_t n = 0; n < ep->known && n < PEERS; n++) {
        fetch(&ep->peer[n]);
        fetch_lines(ep->rest[n].in, sizeof ep->rest[n].in);
    }
}

/* What is going to arrive at the endpoint, and what its user will do about it. */
ALWAYS_INLINE void fetch_arrivals(const struct hal_endpoint *h, const struct virtual_eject *q, uint64_t end)
{
    for (uint32_t at = q->tail; at != q->head && q->slots[at & q->mask].ready < end; at++) {
        const struct virtual_slot *slot = &q->slots[at & q->mask];
        fetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
        fetch_peer(h->firmware, slot->birth & UINT16_MAX);
        fetch_lines(h->user_data, h->user_bytes);
    }
}

/* The messages whose turn to inject is next, if all are due: as many as may now, and as will when two packets have gone
 * on. */
ALWAYS_INLINE void fetch_sends(const struct hal_endpoint *h, const struct hx_endpoint *ep)
{
    unsigned may = hal_inject_room(h, 0) + 2;
    if (!ep->due.filled || ep->turn + may > ep->config.sends)
        return;
    fetch(&ep->due.word[ep->turn / 64]);
    fetch_lines(&ep->send[ep->turn], (may < SENDS ? may : SENDS) * sizeof ep->send[0]);
}

/* ---- in three stages ---- */

void virtual_fetch_first(const struct virtual_entity *e)
{
    fetch_lines(e, sizeof *e);
    fetch_lines(e + 1, 2 * LINE); /* the soonest of the agenda */
}

void virtual_fetch_second(const struct virtual_entity *e, uint64_t end)
{
    if (e->router) {
        fetch_router(e, end, true);
        return;
    }
    for (unsigned plane = 0; plane < e->planes; plane++)
        fetch_switch(&e->node[plane].hal);
    fetch_lines(e->endpoint->firmware, sizeof *e->endpoint->firmware);
    fetch_lines(e->endpoint, offsetof(struct hal_endpoint, plane) + e->planes * sizeof(struct virtual_port));
}

void virtual_fetch_third(const struct virtual_entity *e, uint64_t end)
{
    if (e->router) {
        fetch_router(e, end, false);
        return;
    }
    const struct hal_endpoint *h = e->endpoint;
    for (unsigned plane = 0; plane < e->planes; plane++) {
        fetch_what_comes(&e->node[plane].hal);
        fetch_arrivals(h, &h->plane[plane].eject, end);
    }
    fetch_sends(h, h->firmware);
}
