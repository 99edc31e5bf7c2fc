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

static void hand_over_packet(struct virtual_worker *w)
{
    const struct virtual_packet_event *p = &w->outbox.packet_event[w->outbox.packets_handed++ % VIRTUAL_EVENTS];
    const struct virtual_slot *slot = &p->slot;
    if (__builtin_expect(!p->rx, 0))
        virtual_send_away(w, p->tx, &slot->d, slot->ready, slot->birth);
    else if (__builtin_expect(p->rx->fault != 0, 0))
        virtual_fault_deliver(p->rx, &slot->d, slot->ready, slot->birth);
    else
        *virtual_arrive(p->rx, slot->d.vc, slot->ready) = *slot;
}

/* Prefetches the first line that every packet touches: of its receiver, or of its frame if that goes along. */
static inline void prefetch_line(const struct virtual_worker *w, const struct virtual_packet_event *p)
{
    const uint8_t *frame = virtual_pool_frame(&w->pool, p->slot.d.buffer);
    __builtin_prefetch(p->rx ? (const uint8_t *)p->rx : frame);
    if (__builtin_expect(!p->rx, 0))
        __builtin_prefetch(frame + LINE);
}

/* Prefetches the queue's slot and the simulated node. */
static inline void prefetch_queue(const struct virtual_packet_event *p)
{
    if (!p->rx)
        return;
    const struct virtual_queue *q = &p->rx->queue[p->slot.d.vc];
    if (q->slots)
        __builtin_prefetch(virtual_queue_at(q, hx_lane(p->rx->head, p->slot.d.vc)));
    __builtin_prefetch(virtual_rx_sim_node(p->rx));
}

/* Prefetches the end of the event queue, where the receiver's simulated node adds the packet. */
static inline void prefetch_event_queue(const struct virtual_packet_event *p)
{
    if (!p->rx)
        return;
    const struct virtual_event_queue *q = &virtual_rx_sim_node(p->rx)->event_queue;
    __builtin_prefetch(&q->key[q->end]);
}

void virtual_post_packet(struct virtual_worker *w)
{
    struct virtual_outbox *box = &w->outbox;
    prefetch_line(w, virtual_outbox_next(box));
    uint32_t waiting = ++box->packets_posted - box->packets_handed;
    if (waiting > SLOT_AFTER)
        prefetch_queue(&box->packet_event[(box->packets_posted - 1 - SLOT_AFTER) % VIRTUAL_EVENTS]);
    if (waiting > QUEUE_AFTER)
        prefetch_event_queue(&box->packet_event[(box->packets_posted - 1 - QUEUE_AFTER) % VIRTUAL_EVENTS]);
    if (waiting > VIRTUAL_LATE)
        hand_over_packet(w);
}

/* ---- credits ---- */

NOINLINE void virtual_credit_note(struct virtual_tx *tx, uint64_t credit)
{
    struct hal_switch *h = virtual_tx_switch(tx);
    unsigned output = virtual_tx_port(tx);
    tx->back.awaited = false;
    h->credit_noted |= (uint64_t)1 << output;
    virtual_sim_node_note(h->sim_node, virtual_credit_time(credit), h->credit_item + output);
}

static void hand_over_credit(struct virtual_outbox *box)
{
    const struct virtual_credit_event *p = &box->credit_event[box->credits_handed++ % VIRTUAL_EVENTS];
    virtual_credit(p->tx, p->credit);
}

/* Prefetches further credits, and the switch if it waits for credit. */
static inline void prefetch_credits(const struct virtual_tx *tx)
{
    if (tx->back.entries != tx->back.few)
        __builtin_prefetch(&tx->back.entries[tx->back.head]);
    if (tx->back.awaited)
        __builtin_prefetch(&virtual_tx_switch(tx)->credit_blocked);
}

void virtual_post_credit(struct virtual_worker *w, struct virtual_tx *tx, uint64_t credit)
{
    struct virtual_outbox *box = &w->outbox;
    box->credit_event[box->credits_posted++ % VIRTUAL_EVENTS] = (struct virtual_credit_event){tx, credit};
    __builtin_prefetch(tx);
    uint32_t waiting = box->credits_posted - box->credits_handed;
    if (waiting > SLOT_AFTER)
        prefetch_credits(box->credit_event[(box->credits_posted - 1 - SLOT_AFTER) % VIRTUAL_EVENTS].tx);
    if (waiting > VIRTUAL_LATE)
        hand_over_credit(box);
}

/* ---- both ---- */

void virtual_post_end(struct virtual_worker *w)
{
    while (w->outbox.packets_handed != w->outbox.packets_posted)
        hand_over_packet(w);
    while (w->outbox.credits_handed != w->outbox.credits_posted)
        hand_over_credit(&w->outbox);
}
