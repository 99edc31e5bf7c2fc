/* sim_node.h - what runs by itself between windows: an accelerator (its endpoint and its switch of each plane) or a
 * router.
 *
 * What an entity does at a time depends only on what it was told for that time and before, never on when it was told:
 * everything noted for one time is taken in first, then each plane's switch makes one step, then the endpoint. So the
 * result is the same in whatever order and by how many workers entities are visited. */
#ifndef VIRTUAL_SIM_NODE_H
#define VIRTUAL_SIM_NODE_H

#include "hal_port.h"

/* Items of the agenda: of a switch, 4 input + VC (a packet becomes ready), then for each output that it opens, then for
 * each that it has credit; an accelerator's plane p begins at 32 p. For the driver: something was delivered, a
 * deadline, look again. */
enum {
    VIRTUAL_ITEM_EJECT = 0x1F0,
    VIRTUAL_ITEM_TIMER = 0x1F1,
    VIRTUAL_ITEM_AGAIN = 0x1F2,
    VIRTUAL_ITEM_FAULT = 0x1F3, /* of any entity: the links that hang there, or the ways behind them, are others now */
    VIRTUAL_PLANE_ITEMS = 32,
};
_Static_assert((HX_VCS + 2) * HX_MAX_RADIX <= VIRTUAL_ITEM_EJECT, "a router's items");
_Static_assert((HX_VCS + 2) * HX_ACCELERATOR_PORTS <= VIRTUAL_PLANE_ITEMS, "a plane's items");
_Static_assert(HX_MAX_PLANES *VIRTUAL_PLANE_ITEMS <= VIRTUAL_ITEM_EJECT, "all planes' items");

/* Ports for which a switch has items. */
static inline unsigned virtual_item_ports(bool router)
{
    return router ? HX_MAX_RADIX : HX_ACCELERATOR_PORTS;
}

/* The first item of a switch that is of an output. */
static inline unsigned virtual_output_items(bool router)
{
    return HX_VCS * virtual_item_ports(router);
}

struct virtual_sim_node {
    struct virtual_event_queue event_queue;
    struct virtual_worker *worker;
    struct virtual_node *node;     /* [planes] */
    struct hal_endpoint *endpoint; /* NULL: a router */
    uint32_t index;                /* in the wheel */
    uint8_t planes;
    bool router;
    bool busy;   /* is being visited: it goes back into the wheel by itself */
    bool hungry; /* it would inject: set by the driver */
    /* What drives the endpoint: called when something was delivered, when a plane has room again, when a deadline or
     * the time to look again has come. */
    void (*drive)(void *of, bool timer, bool again);
    void *of;
};
_Static_assert(sizeof(struct virtual_sim_node) <= 64, "a cache line");

/* Lays out the agenda, ports and items; switches and links are bound by the caller. `memory`: virtual_sim_node_bytes. */
size_t virtual_sim_node_bytes(unsigned planes, unsigned ports, unsigned vcs);
struct virtual_sim_node *virtual_sim_node_init(void *memory, struct virtual_worker *w, uint32_t index, unsigned planes,
                                               unsigned ports, bool router);

/* Lets it run until `end`. */
void virtual_sim_node_visit(struct virtual_sim_node *e, uint64_t end);

/* Notes an item for a time that has not passed. */
static inline void virtual_sim_node_note(struct virtual_sim_node *e, uint64_t time, unsigned item)
{
    virtual_event_queue_note(&e->event_queue, time, item);
    if (!e->busy)
        virtual_wheel_add(&e->worker->wheel, e->index, time);
}

/* Likewise one that is noted already, perhaps for later. */
static inline void virtual_sim_node_note_sooner(struct virtual_sim_node *e, uint64_t time, unsigned item)
{
    virtual_event_queue_sooner(&e->event_queue, time, item);
    if (!e->busy)
        virtual_wheel_add(&e->worker->wheel, e->index, time);
}

/* Whether packets are on their way to an (input, VC): appended, and not ready. Then it stands in the agenda, for the
 * first of them. */
static inline bool virtual_is_coming(const struct virtual_rx *rx, unsigned vc)
{
    return hx_lane(rx->head ^ rx->ready, vc) != 0;
}

/* A packet will be ready at one of its inputs on a VC: returns its slot, which is to be filled at once. */
static inline struct virtual_slot *virtual_arrive(struct virtual_rx *rx, unsigned vc, uint64_t ready)
{
    struct virtual_slot *slot = virtual_queue_append(&rx->queue[vc], hx_lane(rx->tail, vc), hx_lane(rx->head, vc));
    bool noted = virtual_is_coming(rx, vc);
    rx->head = hx_lane_add(rx->head, vc, 1);
    if (!noted)
        virtual_sim_node_note(virtual_rx_sim_node(rx), ready, (unsigned)rx->item + vc);
    else if (__builtin_expect(rx->forwards, 0)) /* what it is noted for may be to go on later than this comes */
        virtual_sim_node_note_sooner(virtual_rx_sim_node(rx), ready, (unsigned)rx->item + vc);
    return slot;
}

/* A packet for one of its inputs, from another entity; likewise credit for one of its outputs. */
void virtual_deliver(struct virtual_rx *rx, const struct hx_desc *d, uint64_t ready, uint64_t birth);
void virtual_credit_note(struct virtual_tx *tx, uint64_t credit); /* which was asked for */
static inline void virtual_credit(struct virtual_tx *tx, uint64_t credit)
{
    virtual_credits_append(&tx->back, credit);
    if (__builtin_expect(tx->back.awaited, 0))
        virtual_credit_note(tx, credit);
}
/* That credit, handed over as late as this worker does. */
static inline void virtual_pay(struct virtual_worker *w, struct virtual_tx *tx, uint64_t credit)
{
    if (w->outbox.for_own)
        virtual_pay_late(w, tx, credit);
    else
        virtual_credit(tx, credit);
}
/* A packet with its frame to the far end of a link, in another worker. */
void virtual_send_away(struct virtual_worker *w, const struct virtual_tx *tx, const struct hx_desc *d, uint64_t ready,
                       uint64_t birth);

/* Takes in what other workers sent. */
void virtual_worker_receive(struct virtual_worker *w);

#endif
