/* fetch.c - fetches ahead (fetch.h).
 *
 *     stage   reads                     asks for
 *       0                               the entity
 *       1     the entity                its switches, the soonest of its agenda
 *       2     switches, agenda          ports that something comes by, or that open, and who is noted as waiting for those; tables and
 *                                       all outputs of accelerators; the endpoint
 *       3     ports, endpoint           packets and credits, who gets credit for what comes, who waits for what opens; what arrives, the
 *                                       firmware's part
 *       4     packets, those who wait   of routers: their routes; whose turn it is; frames, where peers are looked for, what is to
 *                                       be sent, and to whom next
 *       5     routes, buckets           of routers: the outputs they lead to; peers, and where they are here what their packets are about
 *
 * Only what is going to be touched, which needs a look at each packet: more lines, asked for without a look, take more
 * time than that saves. But which of an accelerator's four outputs that are takes longer to find out than to ask for
 * all of them. */
#include "fetch.h"
#include "endpoint_parts.h"
#include "inline.h"
#include "send_set.h"

enum {
    LINE = 64,
    SENDS = 4, /* seldom more inject in a window */
    WAYS = 2,  /* likewise to choose from */
    FEW = 8    /* peers that are asked for without a look at who is meant */
};

ALWAYS_INLINE void fetch(const void *at)
{
    __builtin_prefetch(at);
}

ALWAYS_INLINE void fetch_lines(const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const uint8_t *)from + at);
}

/* ---- packets that come ---- */

/* And whoever gets credit for it. */
ALWAYS_INLINE void fetch_packet(const struct virtual_rx *rx, unsigned vc)
{
    fetch(rx->from);
    fetch(virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc)));
    fetch(virtual_queue_at(&rx->queue[vc], (uint16_t)(hx_lane(rx->ready, vc) + 1)));
}

/* A router's. */
ALWAYS_INLINE void fetch_route(const struct hx_route *r, unsigned input, const struct hx_desc *d)
{
    fetch(&r->d0_ports[d->dst_d0]);
    fetch(&r->d1_ports[d->dst_d1 < r->rows ? d->dst_d1 : r->rows]);
    fetch(&r->from[input]);
}

ALWAYS_INLINE void fetch_output(const struct virtual_node *n, unsigned port, unsigned input, unsigned vc)
{
    fetch_lines(&n->hal.tx[port], sizeof n->hal.tx[port]);
    if (n->sw.route.changes_vc) {
        fetch(&n->sw.route.raised[port]);
        fetch(&n->sw.route.restarted[port]);
    }
    if (n->sw.wanted[vc]) {
        fetch(&n->sw.requests[(size_t)vc * n->sw.outputs + port]);
        fetch(&hx_switch_want(&n->sw, input, vc)[port]);
    }
}

ALWAYS_INLINE void fetch_outputs(const struct virtual_node *n, unsigned input, const struct hx_desc *d)
{
    uint64_t ports = hx_router_ports(&n->sw.route, input, d->dst_d0, d->dst_d1);
    for (unsigned way = 0; way < WAYS && ports; way++, ports &= ports - 1)
        fetch_output(n, (unsigned)__builtin_ctzll(ports), input, d->vc);
}

/* The next packet that comes on a VC, NULL: not before `end`. */
ALWAYS_INLINE const struct virtual_slot *coming_on(const struct virtual_rx *rx, unsigned vc, uint64_t end)
{
    if (rx->queue[vc].slots == 0) /* what is out of order the audit reports, when the window is over */
        return NULL;
    const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc));
    return slot->ready < end ? slot : NULL;
}

/* A router's, of the next packet of a VC: in stage 4 its table entries, which are large, and then what they say. */
ALWAYS_INLINE void fetch_ways(const struct virtual_node *n, unsigned input, unsigned vc, unsigned stage, uint64_t end)
{
    const struct hx_route *r = &n->sw.route;
    const struct virtual_slot *slot = coming_on(&n->hal.rx[input], vc, end);
    if (!slot || slot->d.dst_d0 >= r->columns)
        return;
    if (stage == 4)
        fetch_route(r, input, &slot->d);
    else
        fetch_outputs(n, input, &slot->d);
}

/* ---- outputs that open, or get credit ---- */

ALWAYS_INLINE void fetch_credit(const struct virtual_tx *tx)
{
    if (tx->back.entries != tx->back.few)
        fetch(&tx->back.entries[tx->back.tail]);
}

ALWAYS_INLINE void fetch_requests(const struct hx_switch *sw, unsigned output)
{
    for (unsigned vc = 0; vc < sw->route.vcs; vc++) {
        fetch(&sw->requests[(size_t)vc * sw->outputs + output]);
        fetch(&sw->next_input[(size_t)vc * sw->outputs + output]);
    }
}

/* Of those who wait for an output, whose turn it is; HX_MAX_RADIX: nobody waits. */
ALWAYS_INLINE unsigned next_in_turn(const struct hx_switch *sw, unsigned output, unsigned vc)
{
    uint64_t asking = sw->requests[(size_t)vc * sw->outputs + output];
    unsigned turn = sw->next_input[(size_t)vc * sw->outputs + output];
    uint64_t behind = asking & UINT64_MAX << turn;
    return asking ? (unsigned)__builtin_ctzll(behind ? behind : asking) : HX_MAX_RADIX;
}

ALWAYS_INLINE void fetch_waiting(const struct virtual_node *n, unsigned output)
{
    for (unsigned vc = 0; vc < n->sw.route.vcs; vc++) {
        unsigned input = next_in_turn(&n->sw, output, vc);
        if (input == HX_MAX_RADIX)
            continue;
        fetch_lines(&n->hal.rx[input], sizeof n->hal.rx[input]);
        fetch(&n->sw.input[input]);
        fetch_output(n, output, input, vc);
    }
}

/* The packet that has waited longest at the input whose turn it is. */
ALWAYS_INLINE void fetch_oldest(const struct virtual_node *n, unsigned output)
{
    for (unsigned vc = 0; vc < n->sw.route.vcs; vc++) {
        unsigned input = next_in_turn(&n->sw, output, vc);
        if (input == HX_MAX_RADIX)
            continue;
        fetch(virtual_queue_at(&n->hal.rx[input].queue[vc], hx_lane(n->sw.input[input].tail, vc)));
        fetch(n->hal.rx[input].from);
    }
}

void virtual_fetch_waiting(const struct virtual_node *n, uint64_t outputs)
{
    for (; outputs; outputs &= outputs - 1)
        fetch_oldest(n, (unsigned)__builtin_ctzll(outputs));
}

/* ---- a switch: the ports of which its agenda speaks ---- */

ALWAYS_INLINE void fetch_comer(const struct virtual_node *n, unsigned input, unsigned vc, unsigned stage, uint64_t end,
                               bool router)
{
    if (stage == 2) {
        fetch_lines(&n->hal.rx[input], sizeof n->hal.rx[input]);
        fetch(&n->sw.input[input]);
    } else if (stage == 3) {
        fetch_packet(&n->hal.rx[input], vc);
    } else if (router) {
        fetch_ways(n, input, vc, stage, end);
    }
}

ALWAYS_INLINE void fetch_opening(const struct virtual_node *n, unsigned output, unsigned stage)
{
    if (stage == 2) {
        fetch(&n->hal.tx[output]);
        fetch_requests(&n->sw, output);
    } else if (stage == 3) {
        fetch_credit(&n->hal.tx[output]);
        fetch_waiting(n, output);
    } else if (stage == 4) {
        fetch_oldest(n, output);
    }
}

/* What an item of a switch's own is about. */
ALWAYS_INLINE void fetch_port(const struct virtual_node *n, unsigned item, unsigned stage, uint64_t end, bool router)
{
    unsigned ports = virtual_item_ports(router);
    unsigned outputs = virtual_output_items(router);
    if (item < outputs)
        fetch_comer(n, item / HX_VCS, item % HX_VCS, stage, end, router);
    else
        fetch_opening(n, item - outputs - (item < outputs + ports ? 0 : ports), stage);
}

/* The items of an agenda that are due before `end`, one after the other: what stands behind the last is not
 * (agenda.h). */
struct cursor {
    const uint64_t *key;
    uint64_t limit;
};

ALWAYS_INLINE struct cursor due(const struct virtual_agenda *a, uint64_t end)
{
    return (struct cursor){a->key + a->first, end << VIRTUAL_ITEM_BITS};
}

ALWAYS_INLINE bool next_due(struct cursor *c, unsigned *item)
{
    uint64_t key = *c->key++;
    *item = virtual_agenda_item(key);
    return key < c->limit;
}

ALWAYS_INLINE void fetch_router(const struct virtual_entity *e, unsigned stage, uint64_t end)
{
    struct cursor items = due(&e->agenda, end);
    for (unsigned item; next_due(&items, &item);) {
        if (item != VIRTUAL_ITEM_FAULT) /* which is of no port */
            fetch_port(&e->node[0], item, stage, end, true);
    }
}

/* ---- an accelerator's endpoint ---- */

/* By what number endpoints know who sent a packet. */
ALWAYS_INLINE uint32_t sender_of(const struct hal_endpoint *h, const struct virtual_slot *slot)
{
    return h->worker->peer_number[slot->birth & UINT16_MAX];
}

/* Where it is looked up who has a number. */
ALWAYS_INLINE void fetch_search(const struct hx_endpoint *ep, uint32_t number)
{
    if (ep->bucket)
        fetch(&ep->bucket[hx_endpoint_bucket(ep, number)]);
    else
        fetch(&ep->peer[number]);
}

/* Whether all that it knows of others is so little that it is asked for at once: who sent a packet is then here a stage
 * sooner. */
ALWAYS_INLINE bool has_few_peers(const struct hx_endpoint *ep)
{
    return ep->known <= FEW;
}

/* In an endpoint's memory they stand behind what says which entries are theirs. */
ALWAYS_INLINE void fetch_few_peers(const struct hx_endpoint *ep)
{
    fetch_lines(ep->rest_of, (size_t)((const uint8_t *)&ep->peer[ep->known] - (const uint8_t *)ep->rest_of));
}

/* What is going to arrive at the endpoint, and what its user will do about it. */
ALWAYS_INLINE void fetch_arrivals(const struct hal_endpoint *h, const struct virtual_eject *q, uint64_t end)
{
    const struct hx_endpoint *ep = h->firmware;
    uint32_t at = q->tail;
    for (; at != q->head && q->slots[at & q->mask].ready < end; at++) {
        const struct virtual_slot *slot = &q->slots[at & q->mask];
        fetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
        fetch_search(ep, sender_of(h, slot));
        fetch_lines(h->user_data, h->user_bytes);
    }
    if (at != q->tail && has_few_peers(ep))
        fetch_few_peers(ep);
}

/* Who has a number: where not all have a place of their own the first in its bucket, or NULL. */
ALWAYS_INLINE const struct hx_peer *peer_of(const struct hx_endpoint *ep, uint32_t number)
{
    if (!ep->bucket)
        return &ep->peer[number];
    uint32_t peer = ep->bucket[hx_endpoint_bucket(ep, number)];
    return peer ? &ep->peer[peer - 1] : NULL;
}

ALWAYS_INLINE void fetch_peer(const struct hx_endpoint *ep, uint32_t number)
{
    const struct hx_peer *peer = peer_of(ep, number);
    if (peer) {
        fetch(peer);
        fetch(&ep->rest_of[peer - ep->peer]);
    }
}

void virtual_fetch_delivery(const struct hal_endpoint *h, const struct virtual_slot *slot)
{
    const struct hx_endpoint *ep = h->firmware;
    fetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
    if (ep && h->worker->near)
        fetch_peer(ep, sender_of(h, slot));
    else if (ep && virtual_is_small(&slot->d))
        fetch_search(ep, sender_of(h, slot));
}

/* The messages under way to a peer, one of which a small packet of his is likely to acknowledge. */
ALWAYS_INLINE void fetch_sends_to(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    for (unsigned slot = 0; slot < HX_PEER_WINDOW; slot++) {
        if (peer->send[slot] != HX_NO_SEND)
            fetch(&ep->send[peer->send[slot]]);
    }
}

/* Where messages of his are noted as they arrive that come when one in his first slot is complete. */
ALWAYS_INLINE void fetch_slots(const struct hx_endpoint *ep, const struct hx_peer *peer)
{
    if (peer->first.base != peer->first.packets || peer->first.packets == 0)
        return;
    uint32_t rest = ep->rest_of[peer - ep->peer];
    if (rest)
        fetch_lines(ep->slots[rest - 1].in, sizeof ep->slots[rest - 1].in);
}

/* What a packet is about that is at its endpoint before the visit ends. */
ALWAYS_INLINE void fetch_subject(const struct hal_endpoint *h, const struct hx_peer *peer,
                                 const struct virtual_slot *slot)
{
    if (virtual_is_small(&slot->d))
        fetch_sends_to(h->firmware, peer);
    else if (h->hears_again)
        fetch_slots(h->firmware, peer);
    else
        fetch(peer);
}

ALWAYS_INLINE void fetch_peers(const struct hal_endpoint *h, const struct virtual_eject *q, uint64_t end)
{
    const struct hx_endpoint *ep = h->firmware;
    for (uint32_t at = q->tail; at != q->head && q->slots[at & q->mask].ready < end; at++) {
        const struct virtual_slot *slot = &q->slots[at & q->mask];
        const struct hx_peer *peer = !ep->bucket || has_few_peers(ep) ? peer_of(ep, sender_of(h, slot)) : NULL;
        if (peer)
            fetch_subject(h, peer, slot);
        else
            fetch_peer(ep, sender_of(h, slot));
    }
}

/* The messages whose turn to inject is next, if all are due: as many as may now, and as will when two packets have gone
 * on. */
ALWAYS_INLINE void fetch_sends(const struct hal_endpoint *h, const struct hx_endpoint *ep)
{
    unsigned may = hal_inject_room(h, 0) + 2;
    if (!ep->due.filled || ep->turn[0] + may > ep->config.sends)
        return;
    fetch(&ep->due.word[ep->turn[0] / 64]);
    fetch_lines(&ep->send[ep->turn[0]], (may < SENDS ? may : SENDS) * sizeof ep->send[0]);
}

/* The place that the next message takes, if it is among the first. */
ALWAYS_INLINE unsigned first_idle(const struct hx_endpoint *ep)
{
    return ep->idle.filled & 1 ? (unsigned)__builtin_ctzll(ep->idle.word[0]) : 0;
}

/* Whom it sends to next: a message that comes by a rate is for somebody of whom nothing else has spoken for long. */
ALWAYS_INLINE void fetch_next(const struct hal_endpoint *h, const struct hx_endpoint *ep, unsigned stage)
{
    if (h->next_to == HX_NOWHERE)
        return;
    uint32_t number = h->worker->peer_number[h->next_to];
    if (stage == 4) {
        fetch_search(ep, number);
        fetch(&ep->send[first_idle(ep)]);
    }
    if (stage == 5 && ep->bucket)
        fetch_peer(ep, number);
}

ALWAYS_INLINE void fetch_ejects(const struct hal_endpoint *h, unsigned plane, unsigned stage, uint64_t end)
{
    const struct virtual_eject *eject = &h->plane[plane].eject;
    if (stage == 3 && eject->tail != eject->head)
        fetch_lines(&eject->slots[eject->tail & eject->mask], 2 * sizeof eject->slots[0]);
    if (stage == 4)
        fetch_arrivals(h, eject, end);
    if (stage == 5)
        fetch_peers(h, eject, end);
}

ALWAYS_INLINE void fetch_endpoint(const struct virtual_entity *e, unsigned stage, uint64_t end)
{
    const struct hal_endpoint *h = e->endpoint;
    if (stage == 2) {
        fetch(e->of);
        fetch_lines(h, offsetof(struct hal_endpoint, plane) + e->planes * sizeof(struct virtual_port));
        return;
    }
    for (unsigned plane = 0; plane < e->planes; plane++)
        fetch_ejects(h, plane, stage, end);
    if (stage == 3)
        fetch_lines(h->firmware, sizeof *h->firmware);
    if (stage == 4) {
        fetch_sends(h, h->firmware);
        fetch(&h->firmware->ack[h->firmware->acks_first]);
    }
    fetch_next(h, h->firmware, stage);
}

/* ---- an accelerator ---- */

/* The inputs at which what is injected stands. */
ALWAYS_INLINE void fetch_local(const struct virtual_entity *e)
{
    for (unsigned plane = 0; plane < e->planes; plane++)
        fetch(&e->node[plane].hal.rx[HX_LOCAL]);
}

/* Whether it can inject a burst by some plane when so many packets more have gone on. */
ALWAYS_INLINE bool has_room_soon(const struct virtual_entity *e, unsigned packets)
{
    for (unsigned plane = 0; plane < e->planes; plane++) {
        if (virtual_injected_at(&e->node[plane].hal) <= VIRTUAL_INJECTED - VIRTUAL_INJECT_BURST + packets)
            return true;
    }
    return false;
}

/* Tables, and what packets leave by to others. */
ALWAYS_INLINE void fetch_ways_out(const struct virtual_entity *e)
{
    for (unsigned plane = 0; plane < e->planes; plane++) {
        const struct virtual_node *n = &e->node[plane];
        fetch(n->sw.route.x_table);
        fetch(n->sw.route.y_table);
        for (unsigned port = 0; port < HX_LOCAL; port++)
            fetch_lines(&n->hal.tx[port], sizeof n->hal.tx[port]);
    }
}

/* The endpoint too if something is for it; if it would inject and has room, which is known a stage later, or will
 * have. */
ALWAYS_INLINE void fetch_accelerator(const struct virtual_entity *e, unsigned stage, uint64_t end)
{
    bool called = false;
    unsigned items = 0;
    struct cursor soonest = due(&e->agenda, end);
    for (unsigned item; next_due(&soonest, &item); items++) {
        if (item >= VIRTUAL_ITEM_EJECT)
            called = true;
        else
            fetch_port(&e->node[item / VIRTUAL_PLANE_ITEMS], item % VIRTUAL_PLANE_ITEMS, stage, end, false);
    }
    if (stage == 2)
        fetch_ways_out(e);
    if (called)
        fetch_endpoint(e, stage, end);
    else if (e->hungry && stage == 2)
        fetch_local(e);
    else if (e->hungry && has_room_soon(e, items))
        fetch_endpoint(e, stage - 1, end);
}

void virtual_fetch_apart(const struct virtual_entity *e, uint64_t end)
{
    const struct hal_endpoint *h = e->endpoint;
    const struct hx_endpoint *ep = h->firmware;
    for (unsigned plane = 0; plane < e->planes; plane++) {
        const struct virtual_eject *q = &h->plane[plane].eject;
        for (uint32_t at = q->tail; at != q->head && q->slots[at & q->mask].ready < end; at++) {
            const struct virtual_slot *slot = &q->slots[at & q->mask];
            fetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
            const struct hx_peer *peer = peer_of(ep, sender_of(h, slot));
            if (peer)
                fetch_subject(h, peer, slot);
        }
    }
    if (e->hungry)
        fetch(&ep->send[hx_send_set_next(&ep->due, ep->turn[0])]);
}

/* ---- all ---- */

/* Where entities are so near that all is handed over at once (outbox.h), to find what a router's tables lead to takes
 * longer than to wait for it. */
ALWAYS_INLINE void fetch_stage(const struct virtual_entity *e, unsigned stage, uint64_t end)
{
    if (stage == 0) {
        fetch(e);
    } else if (stage == 1) {
        fetch(&e->agenda.key[e->agenda.first]);
        fetch(&e->agenda.key[e->agenda.end]);
        fetch_lines(e->node, e->planes * sizeof *e->node);
    } else if (!e->router) {
        fetch_accelerator(e, stage, end);
    } else if (stage < 4 || e->worker->outbox.for_own) {
        fetch_router(e, stage, end);
    }
}

void virtual_fetch(struct virtual_entity *const ahead[VIRTUAL_FETCH_STAGES], uint64_t end)
{
    if (ahead[5])
        fetch_stage(ahead[5], 0, end);
    if (ahead[4])
        fetch_stage(ahead[4], 1, end);
    if (ahead[3])
        fetch_stage(ahead[3], 2, end);
    if (ahead[2])
        fetch_stage(ahead[2], 3, end);
    if (ahead[1])
        fetch_stage(ahead[1], 4, end);
    if (ahead[0])
        fetch_stage(ahead[0], 5, end);
}
