/* fetch.c - fetches ahead (fetch.h).
 *
 *     stage   reads                     asks for
 *       0                               the entity
 *       1     the entity                its switches, the soonest of its agenda
 *       2     switches, agenda          ports, of routers those that something comes by, or that open; the endpoint;
 *                                       of accelerators: who is noted as waiting for what opens
 *       3     ports, endpoint           the packets and credits, what arrives, the firmware's part; who waits for what opens
 *       4     packets, those who wait   of routers: their routes; of accelerators: whose turn it is;
 *                                       frames, where peers are looked for, what is to be sent
 *       5     routes                    of routers: the outputs they lead to; peers */
#include "fetch.h"
#include "endpoint_parts.h"
#include "inline.h"

enum { LINE = 64, SENDS = 4 /* seldom more inject in a window */, WAYS = 2 /* likewise to choose from */ };

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

ALWAYS_INLINE void fetch_packets(const struct virtual_rx *rx)
{
    for (uint64_t coming = rx->head ^ rx->ready; coming;) {
        unsigned vc = hx_lanes_take(&coming);
        uint16_t next = hx_lane(rx->ready, vc);
        fetch(virtual_queue_at(&rx->queue[vc], next));
        fetch(virtual_queue_at(&rx->queue[vc], (uint16_t)(next + 1)));
    }
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
    fetch(&n->hal.room[port]);
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

/* Of the next packet of each VC: its table entries, or what they say. */
ALWAYS_INLINE void fetch_ways(const struct virtual_node *n, unsigned input, uint64_t end, bool outputs)
{
    const struct virtual_rx *rx = &n->hal.rx[input];
    const struct hx_route *r = &n->sw.route;
    for (uint64_t coming = rx->head ^ rx->ready; coming;) {
        unsigned vc = hx_lanes_take(&coming);
        const struct virtual_slot *slot = coming_on(rx, vc, end);
        if (!slot || slot->d.dst_d0 >= r->columns)
            continue;
        if (outputs)
            fetch_outputs(n, input, &slot->d);
        else
            fetch_route(r, input, &slot->d);
    }
}

/* ---- outputs that open, or get credit ---- */

ALWAYS_INLINE void fetch_credit(const struct virtual_tx *tx)
{
    if (tx->back.entries != tx->back.few)
        fetch(&tx->back.entries[tx->back.tail]);
}

ALWAYS_INLINE void fetch_requests_of(const struct hx_switch *sw, unsigned output, unsigned vc)
{
    fetch(&sw->requests[(size_t)vc * sw->outputs + output]);
    fetch(&sw->next_input[(size_t)vc * sw->outputs + output]);
}

ALWAYS_INLINE void fetch_requests(const struct hx_switch *sw, unsigned output)
{
    for (unsigned vc = 0; vc < sw->route.vcs; vc++)
        fetch_requests_of(sw, output, vc);
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

/* The packet of an input that has waited longest. */
ALWAYS_INLINE void fetch_tail(const struct virtual_node *n, unsigned input, unsigned vc)
{
    fetch(virtual_queue_at(&n->hal.rx[input].queue[vc], hx_lane(n->sw.input[input].tail, vc)));
}

ALWAYS_INLINE void fetch_oldest(const struct virtual_node *n, unsigned output)
{
    for (unsigned vc = 0; vc < n->sw.route.vcs; vc++) {
        unsigned input = next_in_turn(&n->sw, output, vc);
        if (input < HX_MAX_RADIX)
            fetch_tail(n, input, vc);
    }
}

/* ---- a router: the ports of which its agenda speaks ---- */

ALWAYS_INLINE void fetch_router_port(const struct virtual_node *n, bool comes, unsigned port, unsigned stage,
                                     uint64_t end)
{
    if (stage == 2 && comes) {
        fetch_lines(&n->hal.rx[port], sizeof n->hal.rx[port]);
        fetch(&n->sw.input[port]);
    } else if (stage == 2) {
        fetch(&n->hal.tx[port]);
        fetch_requests(&n->sw, port);
    } else if (stage == 3 && comes) {
        fetch_packets(&n->hal.rx[port]);
    } else if (stage == 3) {
        fetch_credit(&n->hal.tx[port]);
        fetch_waiting(n, port);
    } else if (comes) {
        fetch_ways(n, port, end, stage == 5);
    } else if (stage == 4) {
        fetch_oldest(n, port);
    }
}

/* The items of an agenda that are due before `end`, one after the other: what stands behind the last is not (agenda.h). */
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
            fetch_router_port(&e->node[0], item < VIRTUAL_ROUTER_ITEMS, item % VIRTUAL_ROUTER_ITEMS, stage, end);
    }
}

/* ---- an accelerator's endpoint ---- */

/* By what number endpoints know who sent a packet. */
ALWAYS_INLINE uint32_t sender_of(const struct hal_endpoint *h, const struct virtual_slot *slot)
{
    return h->worker->peer_number[slot->birth & UINT16_MAX];
}

/* What is going to arrive at the endpoint, and what its user will do about it. */
ALWAYS_INLINE void fetch_arrivals(const struct hal_endpoint *h, const struct virtual_eject *q, uint64_t end)
{
    const struct hx_endpoint *ep = h->firmware;
    for (uint32_t at = q->tail; at != q->head && q->slots[at & q->mask].ready < end; at++) {
        const struct virtual_slot *slot = &q->slots[at & q->mask];
        uint32_t sender = sender_of(h, slot);
        fetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
        if (ep->bucket)
            fetch(&ep->bucket[hx_endpoint_bucket(ep, sender)]);
        else
            fetch(&ep->peer[sender]);
        fetch_lines(h->user_data, h->user_bytes);
    }
}

/* What is known of who sent a packet: where not all have a place of their own, of the first in its bucket. */
ALWAYS_INLINE void fetch_peer(const struct hx_endpoint *ep, uint32_t sender)
{
    if (!ep->bucket) {
        fetch(&ep->peer[sender]);
        return;
    }
    uint32_t peer = ep->bucket[hx_endpoint_bucket(ep, sender)];
    if (peer) {
        fetch(&ep->peer[peer - 1]);
        fetch(&ep->rest_of[peer - 1]);
    }
}

void virtual_fetch_delivery(const struct hal_endpoint *h, const struct virtual_slot *slot)
{
    const struct hx_endpoint *ep = h->firmware;
    fetch(virtual_pool_frame(&h->worker->pool, slot->d.buffer));
    if (ep)
        fetch_peer(ep, sender_of(h, slot));
}

ALWAYS_INLINE void fetch_peers(const struct hal_endpoint *h, const struct virtual_eject *q, uint64_t end)
{
    const struct hx_endpoint *ep = h->firmware;
    for (uint32_t at = q->tail; ep->bucket && at != q->head && q->slots[at & q->mask].ready < end; at++)
        fetch_peer(ep, sender_of(h, &q->slots[at & q->mask]));
}

/* Of the next packet that comes by a port, if it is for here: it may be delivered in the same window. */
ALWAYS_INLINE void fetch_coming_peer(const struct hal_endpoint *h, const struct virtual_rx *rx, uint64_t end,
                                     unsigned stage)
{
    const struct hx_endpoint *ep = h->firmware;
    for (uint64_t coming = ep->bucket ? rx->head ^ rx->ready : 0; coming;) {
        unsigned vc = hx_lanes_take(&coming);
        const struct virtual_slot *slot = coming_on(rx, vc, end);
        if (!slot || slot->d.dst_d0 != ep->config.d0 || slot->d.dst_d1 != ep->config.d1)
            continue;
        if (stage == 4)
            fetch(&ep->bucket[hx_endpoint_bucket(ep, sender_of(h, slot))]);
        else
            fetch_peer(ep, sender_of(h, slot));
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

/* ---- an accelerator: a step looks at all of its few ports, and its tables are small ---- */

ALWAYS_INLINE void fetch_port(const struct virtual_node *n, unsigned port)
{
    const struct hal_switch *h = &n->hal;
    fetch(&n->sw.input[port]);
    fetch(&h->room[port]);
    fetch_lines(&h->rx[port], sizeof h->rx[port]);
    fetch_lines(&h->tx[port], sizeof h->tx[port]);
}

/* Of a host that hangs on a router two ports are all there is, and its table is that of all hosts (hx_fabric_shares_table). */
ALWAYS_INLINE void fetch_ports(const struct virtual_node *n)
{
    const struct hal_switch *h = &n->hal;
    if (h->up == (1U << HX_E | 1U << HX_LOCAL)) {
        fetch_port(n, HX_E);
        fetch_port(n, HX_LOCAL);
        return;
    }
    fetch_lines(n->sw.input, HX_ACCELERATOR_PORTS * sizeof n->sw.input[0]);
    fetch_lines(h->room, HX_ACCELERATOR_PORTS * sizeof h->room[0]);
    fetch_lines(h->rx, HX_ACCELERATOR_PORTS * sizeof h->rx[0]);
    fetch_lines(h->tx, HX_ACCELERATOR_PORTS * sizeof h->tx[0]);
    fetch(n->sw.route.x_table);
    fetch(n->sw.route.y_table);
}

/* What comes by an input, and who sent it. */
ALWAYS_INLINE void fetch_coming(const struct virtual_entity *e, unsigned item, unsigned stage, uint64_t end)
{
    const struct virtual_rx *rx = &e->node[item / VIRTUAL_PLANE_ITEMS].hal.rx[item % VIRTUAL_PLANE_ITEMS];
    if (stage == 3)
        fetch_packets(rx);
    else
        fetch_coming_peer(e->endpoint, rx, end, stage);
}

/* Who waits for an output that opens, or gets credit. */
ALWAYS_INLINE void fetch_opening(const struct virtual_entity *e, unsigned item, unsigned stage)
{
    const struct virtual_node *n = &e->node[item / VIRTUAL_PLANE_ITEMS];
    unsigned output = item % VIRTUAL_PLANE_ITEMS % HX_ACCELERATOR_PORTS;
    for (unsigned vc = 0; vc < n->sw.route.vcs; vc++) {
        if (!(n->sw.wanted[vc] >> output & 1))
            continue;
        if (stage == 2) {
            fetch_requests_of(&n->sw, output, vc);
        } else if (stage == 4) {
            unsigned input = next_in_turn(&n->sw, output, vc);
            fetch(&hx_switch_want(&n->sw, input, vc)[output]);
            fetch_tail(n, input, vc);
        }
    }
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
    if (stage == 4)
        fetch_sends(h, h->firmware);
}

/* The endpoint too if something is for it, or if it waits for room to inject. */
ALWAYS_INLINE void fetch_accelerator(const struct virtual_entity *e, unsigned stage, uint64_t end)
{
    bool called = e->hungry;
    struct cursor items = due(&e->agenda, end);
    for (unsigned item; next_due(&items, &item);) {
        if (item >= VIRTUAL_ITEM_EJECT)
            called = true;
        else if (item % VIRTUAL_PLANE_ITEMS >= HX_ACCELERATOR_PORTS)
            fetch_opening(e, item, stage);
        else if (stage > 2)
            fetch_coming(e, item, stage, end);
    }
    for (unsigned plane = 0; stage == 2 && plane < e->planes; plane++)
        fetch_ports(&e->node[plane]);
    if (called)
        fetch_endpoint(e, stage, end);
}

/* ---- all ---- */

ALWAYS_INLINE void fetch_stage(const struct virtual_entity *e, unsigned stage, uint64_t end)
{
    if (stage == 0) {
        fetch(e);
    } else if (stage == 1) {
        fetch(&e->agenda.key[e->agenda.first]);
        fetch(&e->agenda.key[e->agenda.end]);
        fetch_lines(e->node, e->planes * sizeof *e->node);
    } else if (e->router) {
        fetch_router(e, stage, end);
    } else {
        fetch_accelerator(e, stage, end);
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
