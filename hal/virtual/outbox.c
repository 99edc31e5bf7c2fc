/* outbox.c - late handover of packets and credits (outbox.h). */
#include "fault.h" /* circle: part of the worker, as sim_node.h */
#include "inline.h"
#include "sim_node.h" /* circle: hal_port.h makes the worker of this part among others */

/* Later posts after which the data behind an event's first line is prefetched, and then the data behind that. */
enum { LINE = 64, SLOT_AFTER = 2, QUEUE_AFTER = 4 };

/* ---- packets ---- */

void virtual_deliver(struct virtual_rx *rx, const struct hx_desc *d, uint64_t ready, uint64_t birth)
{
    *virtual_arrive(rx, d->vc, ready) = (struct virtual_slot){*d, ready, birth};
}

static void hand_over(struct virtual_worker *w)
{
    const struct virtual_packet_event *p = &w->outbox.packet_event[w->outbox.handed++ % VIRTUAL_EVENTS];
    const struct virtual_slot *slot = &p->slot;
    if (__builtin_expect(!p->rx, 0))
        virtual_send_away(w, p->tx, &slot->d, slot->ready, slot->birth);
    else if (__builtin_expect(p->rx->fault != 0, 0))
        virtual_fault_deliver(p->rx, &slot->d, slot->ready, slot->birth);
    else
        *virtual_arrive(p->rx, slot->d.vc, slot->ready) = *slot;
}

/* Prefetches the first line that every packet touches. */
static inline void prefetch_end(const struct virtual_worker *w, const struct virtual_packet_event *p)
{
    const uint8_t *frame = virtual_pool_frame(&w->pool, p->slot.d.buffer);
    __builtin_prefetch(p->rx ? (const uint8_t *)p->rx : frame);
    if (__builtin_expect(!p->rx, 0))
        __builtin_prefetch(frame + LINE);
}

/* Prefetches the queue's slot and the simulated node. */
static inline void prefetch_rest(const struct virtual_packet_event *p)
{
    if (!p->rx)
        return;
    const struct virtual_queue *q = &p->rx->queue[p->slot.d.vc];
    if (q->slots)
        __builtin_prefetch(virtual_queue_at(q, hx_lane(p->rx->head, p->slot.d.vc)));
    __builtin_prefetch(virtual_rx_sim_node(p->rx));
}

/* Prefetches the end of the event queue. */
static inline void prefetch_event_queue(const struct virtual_packet_event *p)
{
    if (!p->rx)
        return;
    const struct virtual_event_queue *a = &virtual_rx_sim_node(p->rx)->event_queue;
    __builtin_prefetch(&a->key[a->end]);
}

void virtual_post(struct virtual_worker *w)
{
    struct virtual_outbox *box = &w->outbox;
    prefetch_end(w, virtual_outbox_next(box));
    uint32_t waiting = ++box->posted - box->handed;
    if (waiting > SLOT_AFTER)
        prefetch_rest(&box->packet_event[(box->posted - 1 - SLOT_AFTER) % VIRTUAL_EVENTS]);
    if (waiting > QUEUE_AFTER)
        prefetch_event_queue(&box->packet_event[(box->posted - 1 - QUEUE_AFTER) % VIRTUAL_EVENTS]);
    if (waiting > VIRTUAL_LATE)
        hand_over(w);
}

/* ---- credits ---- */

SELDOM void virtual_credit_note(struct virtual_tx *tx, uint64_t credit)
{
    struct hal_switch *h = virtual_tx_switch(tx);
    unsigned output = virtual_tx_port(tx);
    tx->back.awaited = false;
    h->credit_noted |= (uint64_t)1 << output;
    virtual_sim_node_note(h->sim_node, virtual_credit_time(credit), h->credit_item + output);
}

static void hand_over_credit(struct virtual_outbox *box)
{
    const struct virtual_credit_event *p = &box->credit_event[box->credited++ % VIRTUAL_EVENTS];
    virtual_credit(p->tx, p->credit);
}

/* Prefetches further credits, and the switch if it waits for credit. */
static inline void prefetch_account(const struct virtual_tx *tx)
{
    if (tx->back.entries != tx->back.few)
        __builtin_prefetch(&tx->back.entries[tx->back.head]);
    if (tx->back.awaited)
        __builtin_prefetch(&virtual_tx_switch(tx)->credit_blocked);
}

void virtual_pay_late(struct virtual_worker *w, struct virtual_tx *tx, uint64_t credit)
{
    struct virtual_outbox *box = &w->outbox;
    box->credit_event[box->paid++ % VIRTUAL_EVENTS] = (struct virtual_credit_event){tx, credit};
    __builtin_prefetch(tx);
    uint32_t waiting = box->paid - box->credited;
    if (waiting > SLOT_AFTER)
        prefetch_account(box->credit_event[(box->paid - 1 - SLOT_AFTER) % VIRTUAL_EVENTS].tx);
    if (waiting > VIRTUAL_LATE)
        hand_over_credit(box);
}

/* ---- both ---- */

void virtual_post_end(struct virtual_worker *w)
{
    while (w->outbox.handed != w->outbox.posted)
        hand_over(w);
    while (w->outbox.credited != w->outbox.paid)
        hand_over_credit(&w->outbox);
}
