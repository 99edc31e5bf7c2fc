/* prefetch.c - prefetches the data of simulated nodes (prefetch.h).
 *
 *     stage   reads                     prefetches
 *       0                               the node
 *       1     the node                  its switches; the first events of its queue
 *       2     switches, event queue     inputs with arrivals, outputs that open and their waiting inputs; tables and all
 *                                       outputs of accelerators; the endpoint
 *       3     ports, endpoint           packets, credits, and the outputs that get credit; packets waiting for outputs
 *                                       that open; arrivals and the firmware's part of the endpoint
 *       4     packets, waiting inputs   of routers: routes; the next input's oldest packet; frames, buckets of peers,
 *                                       messages to send, and the next destination
 *       5     routes, buckets           of routers: the outputs of routes; peers, and the state their packets are about
 *
 * It prefetches only lines that will be touched, so it reads each packet: prefetching more lines blindly costs more
 * than it saves. The exception are an accelerator's four outputs: finding the right ones takes longer than prefetching
 * all. */
#include "prefetch.h"
#include "endpoint_parts.h"
#include "inline.h"
#include "send_set.h"

enum {
    LINE = 64,
    SENDS = 4,   /* rarely more messages inject in a window */
    CHOICES = 2, /* rarely more outputs to choose from */
    FEW = 8      /* peers that are prefetched without looking up the sender */
};

ALWAYS_INLINE void prefetch(const void *at)
{
    __builtin_prefetch(at);
}

ALWAYS_INLINE void prefetch_lines(const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const uint8_t *)from + at);
}

/* ---- arriving packets ---- */

/* Prefetches the next packet and the output that gets its credit. */
ALWAYS_INLINE void prefetch_packet(const struct virtual_rx *rx, unsigned vc)
{
    prefetch(rx->from);
    prefetch(virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc)));
    prefetch(virtual_queue_at(&rx->queue[vc], (uint16_t)(hx_lane(rx->ready, vc) + 1)));
}

/* Prefetches a router's table entries. */
ALWAYS_INLINE void prefetch_route(const struct hx_route *r, unsigned input, const struct hx_desc *d)
{
    prefetch(&r->addr_hi_ports[d->dst_addr_hi]);
    prefetch(&r->addr_lo_ports[d->dst_addr_lo < r->rows ? d->dst_addr_lo : r->rows]);
    prefetch(&r->from[input]);
}

ALWAYS_INLINE void prefetch_output(const struct virtual_node *n, unsigned port, unsigned input, unsigned vc)
{
    prefetch_lines(&n->hal.tx[port], sizeof n->hal.tx[port]);
    if (n->sw.route.changes_vc) {
        prefetch(&n->sw.route.vc_increment[port]);
        prefetch(&n->sw.route.restarted[port]);
    }
    if (n->sw.wanted[vc]) {
        prefetch(&n->sw.requests[(size_t)vc * n->sw.outputs + port]);
        prefetch(&hx_switch_candidates(&n->sw, input, vc)[port]);
    }
}

ALWAYS_INLINE void prefetch_outputs(const struct virtual_node *n, unsigned input, const struct hx_desc *d)
{
    uint64_t ports = hx_router_ports(&n->sw.route, input, d->dst_addr_hi, d->dst_addr_lo);
    for (unsigned choice = 0; choice < CHOICES && ports; choice++, ports &= ports - 1)
        prefetch_output(n, (unsigned)__builtin_ctzll(ports), input, d->vc);
}

/* Returns the next packet of a VC; NULL: none before `end`. */
ALWAYS_INLINE const struct virtual_slot *coming_on(const struct virtual_rx *rx, unsigned vc, uint64_t end)
{
    if (rx->queue[vc].slots == 0) /* an inconsistency: the audit reports it after the window */
        return NULL;
    const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc));
    return slot->ready < end ? slot : NULL;
}

/* For the next packet of a VC at a router: stage 4 prefetches its table entries, stage 5 the outputs that they name. */
ALWAYS_INLINE void prefetch_routes(const struct virtual_node *n, unsigned input, unsigned vc, unsigned stage,
                                   uint64_t end)
{
    const struct hx_route *r = &n->sw.route;
    const struct virtual_slot *slot = coming_on(&n->hal.rx[input], vc, end);
    if (!slot || slot->d.dst_addr_hi >= r->columns)
        return;
    if (stage == 4)
        prefetch_route(r, input, &slot->d);
    else
        prefetch_outputs(n, input, &slot->d);
}

/* ---- outputs that open or get credit ---- */

ALWAYS_INLINE void prefetch_credit(const struct virtual_tx *tx)
{
    if (tx->back.entries != tx->back.few)
        prefetch(&tx->back.entries[tx->back.tail]);
}

ALWAYS_INLINE void prefetch_requests(const struct hx_switch *sw, unsigned output)
{
    for (unsigned vc = 0; vc < sw->route.vcs; vc++) {
        prefetch(&sw->requests[(size_t)vc * sw->outputs + output]);
        prefetch(&sw->next_input[(size_t)vc * sw->outputs + output]);
    }
}

/* Returns the next input in turn that waits for an output; HX_MAX_RADIX: none. */
ALWAYS_INLINE unsigned next_in_turn(const struct hx_switch *sw, unsigned output, unsigned vc)
{
    uint64_t asking = sw->requests[(size_t)vc * sw->outputs + output];
    unsigned turn = sw->next_input[(size_t)vc * sw->outputs + output];
    uint64_t behind = asking & UINT64_MAX << turn;
    return asking ? (unsigned)__builtin_ctzll(behind ? behind : asking) : HX_MAX_RADIX;
}

ALWAYS_INLINE void prefetch_waiting(const struct virtual_node *n, unsigned output)
{
    for (unsigned vc = 0; vc < n->sw.route.vcs; vc++) {
        unsigned input = next_in_turn(&n->sw, output, vc);
        if (input == HX_MAX_RADIX)
            continue;
        prefetch_lines(&n->hal.rx[input], sizeof n->hal.rx[input]);
        prefetch(&n->sw.input[input]);
        prefetch_output(n, output, input, vc);
    }
}

/* Prefetches the oldest packet at the input that is next in turn. */
ALWAYS_INLINE void prefetch_oldest(const struct virtual_node *n, unsigned output)
{
    for (unsigned vc = 0; vc < n->sw.route.vcs; vc++) {
        unsigned input = next_in_turn(&n->sw, output, vc);
        if (input == HX_MAX_RADIX)
            continue;
        prefetch(virtual_queue_at(&n->hal.rx[input].queue[vc], hx_lane(n->sw.input[input].tail, vc)));
        prefetch(n->hal.rx[input].from);
    }
}

/* ---- a switch: ports named in the event queue ---- */

ALWAYS_INLINE void prefetch_single_arrival(const struct virtual_node *n, unsigned input, unsigned vc, unsigned stage,
                                           uint64_t end, bool router)
{
    if (stage == 2) {
        prefetch_lines(&n->hal.rx[input], sizeof n->hal.rx[input]);
        prefetch(&n->sw.input[input]);
    } else if (stage == 3) {
        prefetch_packet(&n->hal.rx[input], vc);
    } else if (router) {
        prefetch_routes(n, input, vc, stage, end);
    }
}

ALWAYS_INLINE void prefetch_opening(const struct virtual_node *n, unsigned output, unsigned stage)
{
    if (stage == 2) {
        prefetch(&n->hal.tx[output]);
        prefetch_requests(&n->sw, output);
    } else if (stage == 3) {
        prefetch_credit(&n->hal.tx[output]);
        prefetch_waiting(n, output);
    } else if (stage == 4) {
        prefetch_oldest(n, output);
    }
}

/* Prefetches the port of a switch's own item. */
ALWAYS_INLINE void prefetch_port(const struct virtual_node *n, unsigned item, unsigned stage, uint64_t end, bool router)
{
    unsigned ports = virtual_item_ports(router);
    unsigned outputs = virtual_output_items(router);
    if (item < outputs)
        prefetch_single_arrival(n, item / HX_VCS, item % HX_VCS, stage, end, router);
    else
        prefetch_opening(n, item - outputs - (item < outputs + ports ? 0 : ports), stage);
}

/* Items of an event queue that are due before `end`. The sentinel behind the last is not due (event_queue.h). */
struct cursor {
    const uint64_t *key;
    uint64_t limit;
};

ALWAYS_INLINE struct cursor due(const struct virtual_event_queue *a, uint64_t end)
{
    return (struct cursor){a->key + a->first, end << VIRTUAL_ITEM_BITS};
}

ALWAYS_INLINE bool next_due(struct cursor *c, unsigned *item)
{
    uint64_t key = *c->key++;
    *item = virtual_event_queue_item(key);
    return key < c->limit;
}

ALWAYS_INLINE void prefetch_router(const struct virtual_sim_node *e, unsigned stage, uint64_t end)
{
    struct cursor items = due(&e->event_queue, end);
    for (unsigned item; next_due(&items, &item);) {
        if (item != VIRTUAL_ITEM_FAULT) /* it has no port */
            prefetch_port(&e->node[0], item, stage, end, true);
    }
}

/* ---- endpoint of an accelerator ---- */

/* Number of a packet's sender at endpoints. */
ALWAYS_INLINE uint32_t sender_of(const struct hal_endpoint *h, const struct virtual_slot *slot)
{
    return h->worker->peer_number[virtual_birth_rank(slot->birth)];
}

/* Prefetches the place where a number is looked up. */
ALWAYS_INLINE void prefetch_search(const struct hx_endpoint *ep, uint32_t number)
{
    if (ep->bucket)
        prefetch(&ep->bucket[hx_endpoint_bucket(ep, number)]);
    else
        prefetch(&ep->peer[number]);
}

/* True if all peers are few enough to prefetch at once. Then the sender is known one stage earlier. */
ALWAYS_INLINE bool has_few_peers(const struct hx_endpoint *ep)
{
    return ep->peers <= FEW;
}

/* Index and peers lie together in the endpoint's memory. */
ALWAYS_INLINE void prefetch_few_peers(const struct hx_endpoint *ep)
{
    prefetch_lines(ep->rest_of, (size_t)((const uint8_t *)&ep->peer[ep->known] - (const uint8_t *)ep->rest_of));
}

/* Prefetches the packets that will arrive at the endpoint, and the user's data for them. */
ALWAYS_INLINE void prefetch_arrivals(const struct hal_endpoint *h, const struct virtual_eject *q, uint64_t end)
{
    const struct hx_endpoint *ep = h->firmware;
    uint32_t at = q->tail;
    for (; at != q->head && q->slots[at & q->mask].ready < end; at++) {
        const struct virtual_slot *slot = &q->slots[at & q->mask];
        prefetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
        prefetch_search(ep, sender_of(h, slot));
        prefetch_lines(h->user_data, h->user_bytes);
    }
    if (at != q->tail && has_few_peers(ep))
        prefetch_few_peers(ep);
}

/* Returns the peer of a number: its own entry, or the first of its bucket, or NULL. */
ALWAYS_INLINE const struct hx_peer *peer_of(const struct hx_endpoint *ep, uint32_t number)
{
    if (!ep->bucket)
        return &ep->peer[number];
    uint32_t peer = ep->bucket[hx_endpoint_bucket(ep, number)];
    return peer ? &ep->peer[peer - 1] : NULL;
}

ALWAYS_INLINE void prefetch_peer(const struct hx_endpoint *ep, uint32_t number)
{
    const struct hx_peer *peer = peer_of(ep, number);
    if (peer) {
        prefetch(peer);
        prefetch(&ep->rest_of[peer - ep->peer]);
    }
}

void virtual_prefetch_delivery(const struct hal_endpoint *h, const struct virtual_slot *slot)
{
    const struct hx_endpoint *ep = h->firmware;
    prefetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
    if (ep && h->worker->near)
        prefetch_peer(ep, sender_of(h, slot));
    else if (ep && virtual_blocks(&slot->d) < HX_PACKET_BLOCKS)
        prefetch_search(ep, sender_of(h, slot));
}

/* Prefetches the first messages in flight to a peer: a small packet is likely to acknowledge one of them. */
ALWAYS_INLINE void prefetch_sends_to(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    for (unsigned slot = 0; slot < HX_PEER_WINDOW; slot++) {
        if (peer->send[slot])
            prefetch(&ep->send[peer->send[slot] - 1U]);
    }
}

/* Prefetches the slots for further messages of a peer, used when the message in its first slot completes. */
ALWAYS_INLINE void prefetch_slots(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    if (peer->first.base != peer->first.packets || peer->first.packets == 0)
        return;
    uint32_t rest = ep->rest_of[peer - ep->peer];
    if (rest)
        prefetch_lines(hx_endpoint_further(ep, rest - 1), ep->slot_bytes);
}

/* Prefetches the state that a packet is about, if it arrives before the visit ends. */
ALWAYS_INLINE void prefetch_subject(const struct hal_endpoint *h, const struct hx_peer *peer,
                                    const struct virtual_slot *slot)
{
    if (virtual_blocks(&slot->d) < HX_PACKET_BLOCKS)
        prefetch_sends_to(h->firmware, peer);
    else if (h->hears_again)
        prefetch_slots(h->firmware, peer);
    else
        prefetch(peer);
}

ALWAYS_INLINE void prefetch_peers(const struct hal_endpoint *h, const struct virtual_eject *q, uint64_t end)
{
    const struct hx_endpoint *ep = h->firmware;
    for (uint32_t at = q->tail; at != q->head && q->slots[at & q->mask].ready < end; at++) {
        const struct virtual_slot *slot = &q->slots[at & q->mask];
        const struct hx_peer *peer = !ep->bucket || has_few_peers(ep) ? peer_of(ep, sender_of(h, slot)) : NULL;
        if (peer)
            prefetch_subject(h, peer, slot);
        else
            prefetch_peer(ep, sender_of(h, slot));
    }
}

/* Prefetches the next messages to inject, if all are due: as many as may inject now, and two more. */
ALWAYS_INLINE void prefetch_sends(const struct hal_endpoint *h, const struct hx_endpoint *ep)
{
    unsigned may = hal_inject_room(h, 0) + 2;
    if (!ep->due.filled || ep->place || ep->turn[0] + may > ep->config.sends)
        return;
    prefetch(&ep->due.word[ep->turn[0] / 64]);
    prefetch_lines(&ep->send[ep->turn[0]], (may < SENDS ? may : SENDS) * sizeof ep->send[0]);
}

/* Slot of the next message, if it is among the first. */
ALWAYS_INLINE unsigned first_idle(const struct hx_endpoint *ep)
{
    return ep->idle.filled & 1 ? (unsigned)__builtin_ctzll(ep->idle.word[0]) : 0;
}

/* Prefetches the peer of the next message. Under a given injection rate its data has long been unused. */
ALWAYS_INLINE void prefetch_next(const struct hal_endpoint *h, const struct hx_endpoint *ep, unsigned stage)
{
    if (h->next_to == HX_NOWHERE)
        return;
    uint32_t number = h->worker->peer_number[h->next_to];
    if (stage == 4) {
        prefetch_search(ep, number);
        prefetch(&ep->send[first_idle(ep)]);
    }
    if (stage == 5 && ep->bucket)
        prefetch_peer(ep, number);
}

ALWAYS_INLINE void prefetch_ejects(const struct hal_endpoint *h, unsigned plane, unsigned stage, uint64_t end)
{
    const struct virtual_eject *eject = &h->plane[plane].eject;
    if (stage == 3 && eject->tail != eject->head)
        prefetch_lines(&eject->slots[eject->tail & eject->mask], 2 * sizeof eject->slots[0]);
    if (stage == 4)
        prefetch_arrivals(h, eject, end);
    if (stage == 5)
        prefetch_peers(h, eject, end);
}

ALWAYS_INLINE void prefetch_endpoint(const struct virtual_sim_node *e, unsigned stage, uint64_t end)
{
    const struct hal_endpoint *h = e->endpoint;
    if (stage == 2) {
        prefetch(e->of);
        prefetch_lines(h, offsetof(struct hal_endpoint, plane) + e->planes * sizeof(struct virtual_port));
        return;
    }
    for (unsigned plane = 0; plane < e->planes; plane++)
        prefetch_ejects(h, plane, stage, end);
    if (stage == 3)
        prefetch_lines(h->firmware, sizeof *h->firmware);
    if (stage == 4) {
        prefetch_sends(h, h->firmware);
        prefetch(&h->firmware->ack[h->firmware->acks_first]);
    }
    prefetch_next(h, h->firmware, stage);
}

/* ---- accelerator ---- */

/* Prefetches tables and outputs to other nodes. */
ALWAYS_INLINE void prefetch_routes_out(const struct virtual_sim_node *e)
{
    for (unsigned plane = 0; plane < e->planes; plane++) {
        const struct virtual_node *n = &e->node[plane];
        prefetch(n->sw.route.x_table);
        prefetch(n->sw.route.y_table);
        for (unsigned port = 0; port < HX_LOCAL; port++)
            prefetch_lines(&n->hal.tx[port], sizeof n->hal.tx[port]);
    }
}

/* Prefetches the ports of all events due, and notes which kinds there are. */
ALWAYS_INLINE void prefetch_ports(struct virtual_visit *v, unsigned stage, uint64_t end)
{
    struct cursor items = due(&v->node->event_queue, end);
    for (unsigned item; next_due(&items, &item);) {
        unsigned own = item % VIRTUAL_PLANE_ITEMS;
        if (item >= VIRTUAL_ITEM_EJECT) {
            v->wakes = true;
            continue;
        }
        v->opens = v->opens || own >= virtual_output_items(false);
        prefetch_port(&v->node->node[item / VIRTUAL_PLANE_ITEMS], own, stage, end, false);
    }
}

/* Prefetches the endpoint too if an event is for it. */
ALWAYS_INLINE void prefetch_accelerator(struct virtual_visit *v, unsigned stage, uint64_t end)
{
    if (stage < 4 || (stage == 4 && v->opens))
        prefetch_ports(v, stage, end);
    if (stage == 2)
        prefetch_routes_out(v->node);
    if (v->wakes)
        prefetch_endpoint(v->node, stage, end);
}

void virtual_prefetch_apart(const struct virtual_sim_node *e, uint64_t end)
{
    const struct hal_endpoint *h = e->endpoint;
    const struct hx_endpoint *ep = h->firmware;
    for (unsigned plane = 0; plane < e->planes; plane++) {
        const struct virtual_eject *q = &h->plane[plane].eject;
        for (uint32_t at = q->tail; at != q->head && q->slots[at & q->mask].ready < end; at++) {
            const struct virtual_slot *slot = &q->slots[at & q->mask];
            prefetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
            const struct hx_peer *peer = peer_of(ep, sender_of(h, slot));
            if (peer)
                prefetch_subject(h, peer, slot);
        }
    }
    if (e->hungry)
        prefetch(&ep->send[hx_endpoint_sender(ep, hx_send_set_next(&ep->due, ep->turn[0]))]);
}

/* ---- all nodes ---- */

/* Prefetches one stage of a visit. If packets are handed over at once (outbox.h), nodes are so near that reading a
 * router's tables takes longer than the misses it would save. */
ALWAYS_INLINE void prefetch_stage(struct virtual_visit *v, unsigned stage, uint64_t end)
{
    const struct virtual_sim_node *e = v->node;
    if (!e)
        return;
    if (stage == 0) {
        prefetch(e);
    } else if (stage == 1) {
        prefetch(&e->event_queue.key[e->event_queue.first]);
        prefetch(&e->event_queue.key[e->event_queue.end]);
        prefetch_lines(e->node, e->planes * sizeof *e->node);
    } else if (!e->router) {
        prefetch_accelerator(v, stage, end);
    } else if (stage < 4 || e->worker->outbox.for_own) {
        prefetch_router(e, stage, end);
    }
}

void virtual_prefetch(struct virtual_visit *ahead, uint64_t end)
{
    prefetch_stage(&ahead[5], 0, end);
    prefetch_stage(&ahead[4], 1, end);
    prefetch_stage(&ahead[3], 2, end);
    prefetch_stage(&ahead[2], 3, end);
    prefetch_stage(&ahead[1], 4, end);
    prefetch_stage(&ahead[0], 5, end);
}
