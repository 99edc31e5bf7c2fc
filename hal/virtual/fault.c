/* fault.c - effects of faulty links on packets and credits (fault.h). */
#include "fault.h"
#include "sim_node.h"
#include "tap.h"

static const struct hx_link_change *state_at(struct virtual_fault *f, uint64_t ps)
{
    while (f->next < f->changes && f->change[f->next].at_ns * 1000 <= ps)
        f->next++;
    return f->next ? &f->change[f->next - 1] : NULL;
}

/* The fault that takes the link down between the state `now` and `until`; NULL: it stays up. */
static const struct hx_link_change *goes_down(const struct virtual_fault *f, const struct hx_link_change *now,
                                              uint64_t until)
{
    if (now && now->state.down)
        return now;
    for (size_t i = f->next; i < f->changes && f->change[i].at_ns * 1000 < until; i++)
        if (f->change[i].state.down)
            return &f->change[i];
    return NULL;
}

static bool happens(const struct virtual_faults *all, const struct virtual_fault *f, enum hx_fault_die die,
                    uint32_t share)
{
    return share && hx_fault_throw(all->seed, f->number, f->carried, die) < share;
}

/* ---- planned closings ---- */

static bool closes(const struct virtual_fault *f, size_t change)
{
    return f->change[change].state.closed && !(change && f->change[change - 1].state.closed);
}

/* The link's next planned closing after now. */
static uint64_t next_closing(const struct virtual_worker *w, const struct virtual_tx *tx)
{
    struct virtual_fault *f = &w->faults->of[tx->fault];
    while (f->closing < f->changes && (!closes(f, f->closing) || f->change[f->closing].at_ns * 1000 <= w->now))
        f->closing++;
    return f->closing < f->changes ? f->change[f->closing].at_ns * 1000 : VIRTUAL_NEVER;
}

uint64_t virtual_fault_takes(const struct virtual_worker *w, const struct virtual_tx *tx, uint64_t opens)
{
    uint64_t closing = next_closing(w, tx);
    bool late = tx->link_free >= closing || opens + w->timing.output >= closing;
    return late && opens < closing ? closing : opens;
}

uint64_t virtual_fault_start(const struct virtual_worker *w, const struct virtual_tx *tx, uint64_t start)
{
    uint64_t closing = next_closing(w, tx);
    return start < closing || tx->link_free >= closing ? start : closing - 1;
}

/* ---- effects on a packet ---- */

struct passage {
    struct hal_switch *h;
    struct virtual_tx *tx;
    const struct virtual_fault *f;
    const struct hx_link_change *now;
    struct hx_fault_cost *cost;
    uint64_t start; /* first bit on the link, ps */
    bool late;      /* reordered: later packets may pass it */
};

static void notify_hit(const struct passage *p, const struct virtual_packet_event *packet_event, size_t fault)
{
    const struct virtual_worker *w = p->h->worker;
    w->faults->hit(w->faults->of_hit, virtual_pool_frame(&w->pool, packet_event->slot.d.buffer), fault);
}

static void lose(const struct passage *p, struct virtual_packet_event *packet_event, size_t fault)
{
    p->h->worker->faults->cost[fault].lost++;
    notify_hit(p, packet_event, fault);
    packet_event->slot.d.dst_addr_hi = HX_NO_ADDRESS;
    packet_event->slot.d.dst_addr_lo = 0;
}

static void corrupt(const struct passage *p, const struct virtual_packet_event *packet_event)
{
    const struct virtual_pool *pool = &p->h->worker->pool;
    uint8_t *frame = virtual_pool_frame(pool, packet_event->slot.d.buffer);
    unsigned length = packet_event->slot.d.length;
    bool carried = HX_HEADER_BYTES + HX_MAX_PAYLOAD <= pool->stride;
    uint64_t at = p->f->number + p->f->carried;
    notify_hit(p, packet_event, p->now->fault);
    if (!carried)
        frame[HX_AT_VERSION] = UINT8_MAX; /* set, not flipped: two faulty links must not undo each other */
    else if (length)
        frame[HX_HEADER_BYTES + at % length] ^= UINT8_MAX;
    else
        frame[HX_AT_CRC] ^= UINT8_MAX;
    p->cost->corrupted++;
}

/* Records the arrival for captures. */
static void show(const struct passage *p, const struct virtual_packet_event *packet_event)
{
    const struct virtual_slot *slot = &packet_event->slot;
    if (p->h->worker->tap && slot->d.dst_addr_hi != HX_NO_ADDRESS)
        virtual_tap_comes(p->h, virtual_tx_port(p->tx), &slot->d, slot->ready, slot->birth);
}

/* Posts the packet; leaves its copy as the next packet event. */
static void duplicate(const struct passage *p)
{
    struct virtual_worker *w = p->h->worker;
    struct virtual_packet_event copy = *virtual_outbox_next(&w->outbox);
    unsigned blocks = virtual_blocks(&copy.slot.d);
    if (hx_lane(p->tx->lanes, copy.slot.d.vc) < blocks || p->tx->link_free >= next_closing(w, p->tx))
        return;
    uint64_t takes = p->tx->link_free - p->start;
    uint32_t bytes = HX_HEADER_BYTES + copy.slot.d.length;
    p->tx->lanes -= (uint64_t)blocks << HX_LANE_BITS * copy.slot.d.vc;
    copy.slot.d.buffer = virtual_pool_get(&w->pool);
    memcpy(virtual_pool_frame(&w->pool, copy.slot.d.buffer),
           virtual_pool_frame(&w->pool, virtual_outbox_next(&w->outbox)->slot.d.buffer),
           bytes < w->pool.stride ? bytes : w->pool.stride);
    copy.slot.ready += takes;
    p->tx->link_free += takes;
    p->cost->duplicated++;
    show(p, virtual_outbox_next(&w->outbox));
    virtual_post_packet(w);
    *virtual_outbox_next(&w->outbox) = copy;
    const struct hx_link_change *down = goes_down(p->f, p->now, copy.slot.ready);
    if (down)
        lose(p, virtual_outbox_next(&w->outbox), down->fault);
}

/* Adds the delays. They come before the loss: a link that goes down in the meantime loses the packet. A packet that
 * takes longer on the link goes on as if its last byte had come at full rate behind its first. */
static void delay(struct passage *p, struct virtual_packet_event *packet_event)
{
    const struct virtual_worker *w = p->h->worker;
    const struct hx_impairment *i = &p->now->state.impairs;
    uint64_t longer = i->rate ? (p->tx->link_free - p->start) * (HX_FAULT_WHOLE - i->rate) / i->rate : 0;
    p->tx->link_free += longer;
    packet_event->slot.ready += i->delay_ns * 1000 + longer;
    p->late = happens(w->faults, p->f, HX_DIE_REORDER, i->reorder);
    if (p->late)
        packet_event->slot.ready +=
            VIRTUAL_FAULT_LATE_PACKETS * (uint64_t)p->tx->kind->rate.blocks[VIRTUAL_PACKET_BLOCKS];
}

/* Applies the impairments of a link that stays up until the packet arrives. */
static void impair(const struct passage *p, struct virtual_packet_event *packet_event)
{
    const struct virtual_worker *w = p->h->worker;
    const struct hx_impairment *i = &p->now->state.impairs;
    if (happens(w->faults, p->f, HX_DIE_LOSS, i->loss)) {
        lose(p, packet_event, p->now->fault);
        return;
    }
    p->cost->reordered += p->late;
    if (happens(w->faults, p->f, HX_DIE_CORRUPT, i->corrupt))
        corrupt(p, packet_event);
    if (happens(w->faults, p->f, HX_DIE_DUPLICATE, i->duplicate))
        duplicate(p);
}

void virtual_fault_send(struct hal_switch *h, unsigned output, uint64_t start)
{
    struct virtual_worker *w = h->worker;
    struct virtual_tx *tx = &h->tx[output];
    struct virtual_fault *f = &w->faults->of[tx->fault];
    struct virtual_packet_event *packet_event = virtual_outbox_next(&w->outbox);
    const struct hx_link_change *now = state_at(f, start);
    struct passage p = {
        .h = h, .tx = tx, .f = f, .now = now, .cost = now ? &w->faults->cost[now->fault] : NULL, .start = start};
    bool impaired = now && now->state.impaired && !now->state.down;
    if (impaired)
        delay(&p, packet_event);
    const struct hx_link_change *down = goes_down(f, now, packet_event->slot.ready);
    if (down)
        lose(&p, packet_event, down->fault);
    else if (impaired)
        impair(&p, packet_event);
    show(&p, virtual_outbox_next(&w->outbox)); /* the packet, or its copy */
    f->carried++;
    uint64_t ahead = w->timing.ahead;
    tx->opens = virtual_fault_takes(w, tx, (tx->link_free > w->now + ahead ? tx->link_free : w->now + ahead) - ahead);
}

/* ---- far end ---- */

bool virtual_fault_lost(const struct virtual_worker *w, const struct hx_desc *d, uint64_t *gone)
{
    bool lost = w->faults && d->dst_addr_hi == HX_NO_ADDRESS;
    *gone += lost ? w->faults->period : 0;
    return lost;
}

uint64_t virtual_fault_credit_late(struct virtual_worker *w, const struct virtual_rx *rx, uint64_t gone)
{
    struct virtual_faults *all = w->faults;
    struct virtual_fault *f = &all->of[rx->fault];
    const struct hx_link_change *now = state_at(f, gone);
    uint64_t late = 0;
    while (now && happens(all, f, HX_DIE_CREDIT, now->state.impairs.credit_loss) &&
           late < VIRTUAL_FAULT_CREDITS_LOST * all->period) {
        all->cost[now->fault].credits_lost++;
        late += all->period;
        f->carried++;
    }
    f->carried++;
    return late;
}

void virtual_fault_deliver(struct virtual_rx *rx, const struct hx_desc *d, uint64_t ready, uint64_t birth)
{
    virtual_deliver(rx, d, ready, birth);
    const struct virtual_queue *q = &rx->queue[d->vc];
    uint16_t at = (uint16_t)(hx_lane(rx->head, d->vc) - 1);
    const struct virtual_slot slot = *virtual_queue_at(q, at);
    uint16_t first = rx->forwards ? hx_lane(rx->decided, d->vc) : hx_lane(rx->ready, d->vc);
    for (; at != first && virtual_queue_at(q, (uint16_t)(at - 1))->ready > ready; at--)
        *virtual_queue_at(q, at) = *virtual_queue_at(q, (uint16_t)(at - 1));
    *virtual_queue_at(q, at) = slot;
    if (at == first)
        virtual_sim_node_note_sooner(virtual_rx_sim_node(rx), ready, (unsigned)rx->item + d->vc);
}
