/* link.c - times of packets on links, in crossbars, into and out of endpoints (timing.h). */
#include "fault.h"
#include "inline.h"
#include "prefetch.h"
#include "sim_node.h"
#include "tap.h"

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- credits and other workers ---- */

void virtual_take_credits(struct virtual_tx *tx, uint64_t now)
{
    struct virtual_credits *back = &tx->back;
    while (virtual_credits_next(back) <= now)
        tx->lanes += virtual_credit_lanes(virtual_credits_take(back));
    if (back->entries != back->few && back->tail == back->head)
        virtual_credits_end(back);
}

static void note_sent(struct virtual_worker *w, uint64_t time)
{
    uint64_t window = time / w->wheel.width;
    w->sent_window = window < w->sent_window ? window : w->sent_window;
}

void virtual_send_away(struct virtual_worker *w, const struct virtual_tx *tx, const struct hx_desc *d, uint64_t ready,
                       uint64_t birth)
{
    const uint8_t *frame = virtual_pool_frame(&w->pool, d->buffer);
    uint32_t bytes = HX_HEADER_BYTES + d->length;
    if (bytes > w->pool.stride)
        bytes = HX_HEADER_BYTES; /* the payload is not carried */
    struct virtual_record *r = virtual_channel_send(w->channel, tx->far_worker, bytes);
    r->link = tx->link;
    r->slot = (struct virtual_slot){*d, ready, birth};
    memcpy(r + 1, frame, bytes);
    virtual_pool_put(&w->pool, d->buffer);
    note_sent(w, ready);
}

static void send_credit(struct virtual_worker *w, const struct virtual_rx *rx, uint64_t time, unsigned vc,
                        unsigned blocks)
{
    struct virtual_record *r = virtual_channel_send(w->channel, rx->from_worker, 0);
    r->link = rx->link;
    r->credit = virtual_credit_of(time, vc, blocks);
    note_sent(w, time);
}

static void post_record(struct virtual_worker *w, const struct virtual_record *r)
{
    if (r->frame_bytes == 0) {
        virtual_post_credit(w, w->tx[r->link], r->credit);
        return;
    }
    if (__builtin_expect(virtual_tap_is_sent(r), 0)) {
        virtual_tap_take(w->tap, r);
        return;
    }
    struct virtual_packet_event *p = virtual_outbox_next(&w->outbox);
    p->rx = w->rx[r->link];
    p->slot = r->slot;
    p->slot.d.buffer = virtual_pool_get(&w->pool);
    memcpy(virtual_pool_frame(&w->pool, p->slot.d.buffer), virtual_record_frame(r), r->frame_bytes);
    virtual_post_packet(w);
}

void virtual_worker_receive(struct virtual_worker *w)
{
    const struct virtual_record *r;
    while ((r = virtual_channel_receive(w->channel)))
        post_record(w, r);
    virtual_post_end(w);
}

/* ---- from a switch ---- */

/* Credit that goes to another worker, or through a fault. */
static NOINLINE void give_far_credit(struct virtual_worker *w, struct virtual_rx *rx, uint64_t gone, unsigned vc,
                                     unsigned blocks)
{
    struct virtual_tx *from = NULL;
    if (rx->fault) {
        from = w->faults->of[rx->fault].from;
        gone += virtual_fault_credit_late(w, rx, gone);
    }
    rx->last_credit = later_of(gone + rx->kind->back, rx->last_credit);
    if (from)
        virtual_return_credit(w, from, virtual_credit_of(rx->last_credit, vc, blocks));
    else
        send_credit(w, rx, rx->last_credit, vc, blocks);
}

static inline void give_credit(struct virtual_worker *w, struct virtual_rx *rx, uint64_t gone, unsigned vc,
                               unsigned blocks)
{
    struct virtual_tx *from = rx->from;
    if (__builtin_expect(!from, 0)) {
        give_far_credit(w, rx, gone, vc, blocks);
        return;
    }
    rx->last_credit = later_of(gone + rx->kind->back, rx->last_credit);
    virtual_return_credit(w, from, virtual_credit_of(rx->last_credit, vc, blocks));
}

static inline void to_endpoint(struct hal_switch *h, const struct virtual_slot *slot, unsigned vc, uint64_t there)
{
    struct hal_endpoint *ep = h->endpoint;
    struct virtual_eject *q = &ep->plane[h->plane].eject;
    if (!q->slots || q->head - q->tail > q->mask)
        virtual_eject_grow(q);
    q->last = later_of(there, q->last);
    virtual_slot_pass(&q->slots[q->head++ & q->mask], slot, vc, q->last);
    if (!h->worker->outbox.for_own)
        virtual_prefetch_delivery(ep, slot);
    if (!ep->eject_noted) {
        ep->eject_noted = true;
        virtual_sim_node_note(h->sim_node, q->last, VIRTUAL_ITEM_EJECT);
    }
}

/* Posts a packet to another worker or a faulty link, or for late handover. */
static NOINLINE void post(struct hal_switch *h, unsigned output, const struct virtual_slot *slot, unsigned vc,
                          uint64_t start)
{
    struct virtual_worker *w = h->worker;
    const struct virtual_tx *tx = &h->tx[output];
    struct virtual_packet_event *p = virtual_outbox_next(&w->outbox);
    virtual_slot_pass(&p->slot, slot, vc, start + tx->kind->there);
    p->rx = tx->far;
    p->tx = tx;
    if (tx->fault)
        virtual_fault_send(h, output, start);
    virtual_post_packet(w);
}

/* Records a sent packet for captures; a delivered one at its delivery. */
static NOINLINE void show(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input,
                          const struct virtual_slot *slot, uint64_t start, uint64_t there)
{
    bool local = h->tx[output].kind == &h->worker->timing.endpoint;
    uint64_t last = local ? h->endpoint->plane[h->plane].eject.last : 0;
    const struct hx_desc sent = hx_desc_onward(&slot->d, output_vc);
    virtual_tap_sent(h, output, input, slot, &sent, local ? later_of(there, last) : start);
}

void virtual_transmit(struct hal_switch *h, unsigned output, unsigned output_vc, unsigned input,
                      const struct virtual_slot *slot)
{
    struct virtual_worker *w = h->worker;
    const struct virtual_timing *t = &w->timing;
    struct virtual_rx *rx = &h->rx[input];
    struct virtual_tx *tx = &h->tx[output];
    const uint64_t blocks = virtual_blocks(&slot->d);
    const uint64_t takes = tx->kind->rate.blocks[blocks];
    const bool local = tx->kind == &t->endpoint;
    uint64_t through = later_of(w->now, later_of(rx->crossbar_free, tx->crossbar_free));
    uint64_t leaves = through + rx->kind->crossbar.blocks[blocks];
    uint64_t came = slot->ready + rx->kind->tail.blocks[blocks];
    uint64_t gone = later_of(leaves, came);
    uint64_t start = later_of(through + t->output, tx->link_free);
    uint64_t ends = later_of(start + takes, (local ? came : gone) + t->output);
    start = local ? start : ends - takes;
    if (__builtin_expect(tx->fault != 0, 0))
        start = virtual_fault_start(w, tx, start);
    uint64_t link_free = start + takes;
    const unsigned packets = virtual_packets_of((unsigned)blocks);
    tx->sum.packets += packets;
    if (__builtin_expect(w->tap != NULL, 0))
        show(h, output, output_vc, input, slot, start, ends);
    rx->crossbar_free = leaves;
    tx->crossbar_free = through + tx->kind->crossbar.blocks[blocks];
    tx->link_free = link_free;
    tx->sum.blocks += blocks;
    w->hops += packets;
    w->moved = later_of(w->now, w->moved);
    h->small -= blocks < t->full;
    h->tx[output].opens = later_of(link_free, w->now + t->ahead) - t->ahead;
    if (rx->linked)
        give_credit(w, rx, gone, slot->d.vc, (unsigned)blocks);
    if (local) {
        to_endpoint(h, slot, output_vc, ends);
        return;
    }
    h->tx[output].lanes -= blocks << HX_LANE_BITS * output_vc;
    if (!w->outbox.for_own && tx->far && !tx->fault)
        virtual_slot_pass(virtual_arrive(tx->far, output_vc, start + tx->kind->there), slot, output_vc,
                          start + tx->kind->there);
    else
        post(h, output, slot, output_vc, start);
}

/* Drops a packet and returns its credit as if it had left; for a packet lost on its link later
 * (virtual_fault_lost()). */
void virtual_drop(struct hal_switch *h, unsigned input, unsigned vc, const struct hx_desc *d, enum hx_drop reason)
{
    const struct virtual_timing *t = &h->worker->timing;
    const struct virtual_slot *slot = virtual_slot_of(d);
    struct virtual_rx *rx = &h->rx[input];
    h->small -= virtual_is_small(t, d);
    uint32_t buffer = d->buffer; /* read here: returning credit may move the queue */
    unsigned blocks = virtual_blocks(d);
    uint64_t gone = later_of(h->worker->now + t->crossbar.blocks[blocks], slot->ready + rx->kind->tail.blocks[blocks]);
    if (!virtual_fault_lost(h->worker, d, &gone))
        h->worker->drops[reason] += virtual_packets_of(blocks);
    if (rx->linked)
        give_credit(h->worker, rx, gone, vc, blocks);
    virtual_pool_put(&h->worker->pool, buffer);
}

/* ---- endpoint ---- */

/* Stores how long the packet waited before its injection, and its mark. */
static void note_wait(struct hal_endpoint *h, const struct hx_desc *d, uint64_t start)
{
    uint64_t ns = h->since < start ? (start - h->since) / 1000 : 0;
    virtual_set_wait(virtual_pool_frame(&h->worker->pool, d->buffer), virtual_wait_of(ns, h->marked));
    h->since = UINT64_MAX;
    h->marked = false;
}

void virtual_inject(struct hal_endpoint *h, unsigned plane, const struct hx_desc *d)
{
    struct virtual_worker *w = h->worker;
    const struct virtual_timing *t = &w->timing;
    struct hx_desc out = *d;
    unsigned blocks = hx_blocks(d->length);
    struct virtual_port *port = &h->plane[plane];
    out.flow = (uint16_t)((port->injected & UINT8_MAX) << 8 | blocks);
    port->injected += virtual_packets_of(blocks);
    uint64_t start = later_of(w->now, later_of(port->inject_free, port->due));
    port->inject_free = start + virtual_endpoint_takes(h, blocks);
    port->due = (virtual_injected(h, plane) ? port->due : later_of(port->due, start)) + t->inject[blocks];
    if (h->counts_waits)
        note_wait(h, d, start);
    if (__builtin_expect(port->around != NULL, 0))
        out.vc = (uint8_t)hx_route_injects_on(port->around, d->dst_addr_hi, d->dst_addr_lo);
    if (__builtin_expect(w->tap != NULL, 0))
        virtual_tap_injected(h, plane, &out, start);
    uint64_t ready = start + t->local.blocks[1] + t->input;
    *virtual_arrive(&port->sw->rx[HX_LOCAL], out.vc, ready) =
        (struct virtual_slot){out, ready, virtual_birth(start, h->rank)};
}

/* Counts the packets of a train. The last one arrives with the train; `age` is that of the first one then. They came
 * over a link of the common rate, since there are no trains among other rates, and were injected at that of their
 * source. */
static NOINLINE void count_train(const struct hal_endpoint *h, const struct virtual_slot *slot, uint64_t age)
{
    const struct virtual_timing *t = &h->worker->timing;
    const uint64_t block = h->worker->injects[virtual_birth_rank(slot->birth)];
    unsigned behind = virtual_blocks(&slot->d);
    for (unsigned before = 0; behind; before += VIRTUAL_PACKET_BLOCKS) {
        behind -= behind < VIRTUAL_PACKET_BLOCKS ? behind : VIRTUAL_PACKET_BLOCKS;
        uint64_t sooner = t->link.blocks[behind];
        uint64_t later = before * block >> 16;
        h->delivered(h->user.of, &slot->d, slot->ready - sooner, age - sooner - later, later);
    }
}

unsigned virtual_ejected(struct hal_endpoint *h, unsigned plane, struct hx_desc *burst, unsigned most)
{
    const uint64_t now = h->worker->now;
    struct virtual_eject *q = &h->plane[plane].eject;
    const uint32_t head = q->head;
    uint32_t tail = q->tail;
    if (tail == head)
        return 0;
    unsigned n = 0;
    for (; n < most && tail != head && q->slots[tail & q->mask].ready <= now; n++) {
        const struct virtual_slot *slot = &q->slots[tail++ & q->mask];
        burst[n] = slot->d;
        uint64_t age = virtual_age(slot->birth, slot->ready);
        if (virtual_blocks(&slot->d) <= VIRTUAL_PACKET_BLOCKS)
            h->delivered(h->user.of, &burst[n], slot->ready, age, 0);
        else
            count_train(h, slot, age);
    }
    q->tail = tail;
    if (tail == head)
        virtual_eject_end(q);
    return n;
}
