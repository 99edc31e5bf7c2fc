/* outbox.c - hands over what an entity sends, late (outbox.h). */
#include "entity.h"
#include "fault.h"

enum { LINE = 64, ASKED = 3, LATE = 8 /* parcels that were posted since */ };

static inline bool is_for_rx(const struct virtual_parcel *p)
{
    return p->kind == VIRTUAL_PACKET || p->kind == VIRTUAL_DISORDERED;
}

/* What every parcel touches, at once. */
static inline void fetch_end(const struct virtual_worker *w, const struct virtual_parcel *p)
{
    const uint8_t *end = is_for_rx(p)                ? (const uint8_t *)p->rx
                         : p->kind == VIRTUAL_CREDIT ? (const uint8_t *)p->tx
                                                     : virtual_pool_frame(&w->pool, p->d.buffer);
    __builtin_prefetch(end);
    if (is_for_rx(p))
        __builtin_prefetch(end + LINE);
}

/* What that points at. */
static inline void fetch_rest(const struct virtual_parcel *p)
{
    if (is_for_rx(p)) {
        const struct virtual_queue *q = &p->rx->queue[p->d.vc];
        if (q->slots)
            __builtin_prefetch(virtual_queue_at(q, hx_lane(p->rx->head, p->d.vc)));
        __builtin_prefetch(p->rx->entity);
        __builtin_prefetch((const uint8_t *)(p->rx->entity + 1));
    } else if (p->kind == VIRTUAL_CREDIT) {
        if (p->tx->back.entries)
            __builtin_prefetch(&p->tx->back.entries[p->tx->back.head & p->tx->back.mask]);
        __builtin_prefetch(&p->tx->of->room[p->tx->port]);
        __builtin_prefetch(&p->tx->of->starved);
    }
}

static void hand_over(struct virtual_worker *w)
{
    const struct virtual_parcel *p = &w->outbox.parcel[w->outbox.handed++ % VIRTUAL_PARCELS];
    if (p->kind == VIRTUAL_PACKET)
        virtual_deliver(p->rx, &p->d, p->time, p->birth);
    else if (p->kind == VIRTUAL_CREDIT)
        virtual_credit(p->tx, p->time, p->d.vc, virtual_blocks(&p->d));
    else if (p->kind == VIRTUAL_DISORDERED)
        virtual_fault_deliver(p->rx, &p->d, p->time, p->birth);
    else
        virtual_send_away(w, p->tx, &p->d, p->time, p->birth);
}

void virtual_post(struct virtual_worker *w)
{
    struct virtual_outbox *box = &w->outbox;
    fetch_end(w, virtual_outbox_next(box));
    box->posted++;
    uint32_t waiting = box->posted - box->handed;
    if (waiting > ASKED)
        fetch_rest(&box->parcel[(box->posted - 1 - ASKED) % VIRTUAL_PARCELS]);
    if (waiting > LATE)
        hand_over(w);
}

void virtual_post_end(struct virtual_worker *w)
{
    while (w->outbox.handed != w->outbox.posted)
        hand_over(w);
}
