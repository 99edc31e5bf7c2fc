/* outbox.c - hands over what an entity sends, late (outbox.h). */
#include "entity.h"

enum { LINE = 64, ASKED = 3, LATE = 8 /* parcels that were posted since */ };

/* The ends of a link, at once. */
static inline void fetch_end(const struct virtual_parcel *p)
{
    const uint8_t *end = p->rx ? (const uint8_t *)p->rx : (const uint8_t *)p->tx;
    __builtin_prefetch(end);
    __builtin_prefetch(end + LINE);
}

/* What these point at. */
static inline void fetch_rest(const struct virtual_parcel *p)
{
    if (p->rx) {
        const struct virtual_queue *q = &p->rx->queue[p->d.vc];
        if (q->slots)
            __builtin_prefetch(virtual_queue_at(q, hx_lane(p->rx->head, p->d.vc)));
        __builtin_prefetch(p->rx->entity);
        __builtin_prefetch((const uint8_t *)(p->rx->entity + 1));
        return;
    }
    if (p->tx->back.entries)
        __builtin_prefetch(&p->tx->back.entries[p->tx->back.head & p->tx->back.mask]);
    __builtin_prefetch(&p->tx->of->room[p->tx->port]);
    __builtin_prefetch(&p->tx->of->starved);
}

static void hand_over(struct virtual_outbox *box)
{
    const struct virtual_parcel *p = &box->parcel[box->handed++ % VIRTUAL_PARCELS];
    if (p->rx)
        virtual_deliver(p->rx, &p->d, p->time, p->birth);
    else
        virtual_credit(p->tx, p->time, p->d.vc, virtual_blocks(&p->d));
}

void virtual_post(struct virtual_worker *w, const struct virtual_parcel *p)
{
    struct virtual_outbox *box = &w->outbox;
    fetch_end(p);
    box->parcel[box->posted++ % VIRTUAL_PARCELS] = *p;
    uint32_t waiting = box->posted - box->handed;
    if (waiting > ASKED)
        fetch_rest(&box->parcel[(box->posted - 1 - ASKED) % VIRTUAL_PARCELS]);
    if (waiting > LATE)
        hand_over(box);
}

void virtual_post_end(struct virtual_worker *w)
{
    while (w->outbox.handed != w->outbox.posted)
        hand_over(&w->outbox);
}
