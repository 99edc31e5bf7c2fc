/* sim_node.h - a simulated node, which runs alone within a window: a router, or an accelerator with its endpoint and
 * its switch of each plane.
 *
 * Actions at a time depend only on events up to that time, never on the order in which they were noted. All events of
 * one time are handled in the order of their items, then the endpoint. So results depend neither on the order of visits
 * nor on the number of workers. */
#ifndef VIRTUAL_SIM_NODE_H
#define VIRTUAL_SIM_NODE_H

#include "hal_port.h"

/* Items of the event queue. Of a switch: 4 input + VC (a packet becomes ready), then one for each output (it opens),
 * then one for each output (it has credit). The items of an accelerator's plane p begin at 32 p. Of the driver: a
 * delivery, a deadline, a later look. */
enum {
    VIRTUAL_ITEM_EJECT = 0x1F0,
    VIRTUAL_ITEM_TIMER = 0x1F1,
    VIRTUAL_ITEM_AGAIN = 0x1F2,
    VIRTUAL_ITEM_FAULT = 0x1F3, /* of any node: its links or routes change */
    VIRTUAL_PLANE_ITEMS = 32,
};
_Static_assert((HX_VCS + 2) * HX_MAX_RADIX <= VIRTUAL_ITEM_EJECT, "a router's items");
_Static_assert((HX_VCS + 2) * HX_ACCELERATOR_PORTS <= VIRTUAL_PLANE_ITEMS, "a plane's items");
_Static_assert(HX_MAX_PLANES *VIRTUAL_PLANE_ITEMS <= VIRTUAL_ITEM_EJECT, "all planes' items");

/* Ports with items. */
static inline unsigned virtual_item_ports(bool router)
{
    return router ? HX_MAX_RADIX : HX_ACCELERATOR_PORTS;
}

/* First item of an output. */
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
    bool busy;   /* being visited: the visit puts it back into the wheel */
    bool hungry; /* wants to inject; set by the driver */
    /* Drives the endpoint: called after a delivery, when a plane has room, at a deadline, or at a later look. */
    void (*drive)(void *of, bool timer, bool again);
    void *of;
};
_Static_assert(sizeof(struct virtual_sim_node) <= 64, "a cache line");

/* Reserves addresses for the candidates of all switches of a worker with `ports` ports, before those are made. */
void virtual_rows_open(struct virtual_worker *w, unsigned ports, size_t switches);

/* Lays out event queue, ports and items; the caller binds switches and links. `memory`: virtual_sim_node_bytes(). */
size_t virtual_sim_node_bytes(unsigned planes, unsigned ports, unsigned vcs);
struct virtual_sim_node *virtual_sim_node_init(void *memory, struct virtual_worker *w, uint32_t index, unsigned planes,
                                               unsigned ports, bool router);

/* Runs the node until `end`. Returns false if its endpoint paused the worker: all of that time is done. The node stays
 * busy, and the next visit goes on. */
bool virtual_sim_node_visit(struct virtual_sim_node *e, uint64_t end);

/* Notes an item for a time that has not passed. */
static inline void virtual_sim_node_note(struct virtual_sim_node *e, uint64_t time, unsigned item)
{
    virtual_event_queue_note(&e->event_queue, time, item);
    if (!e->busy)
        virtual_wheel_add(&e->worker->wheel, e->index, time);
}

/* Moves a noted item to `time`, if that is earlier. */
static inline void virtual_sim_node_note_sooner(struct virtual_sim_node *e, uint64_t time, unsigned item)
{
    virtual_event_queue_sooner(&e->event_queue, time, item);
    if (!e->busy)
        virtual_wheel_add(&e->worker->wheel, e->index, time);
}

/* True if packets of an (input, VC) are in flight: appended, but not ready. Then the event queue has an item for the
 * first. */
static inline bool virtual_is_coming(const struct virtual_rx *rx, unsigned vc)
{
    return hx_lane(rx->head ^ rx->ready, vc) != 0;
}

/* Announces a packet at one of its inputs. Returns its slot, which the caller must fill at once. */
static inline struct virtual_slot *virtual_arrive(struct virtual_rx *rx, unsigned vc, uint64_t ready)
{
    struct virtual_slot *slot = virtual_queue_append(&rx->queue[vc], hx_lane(rx->tail, vc), hx_lane(rx->head, vc));
    bool noted = virtual_is_coming(rx, vc);
    rx->head = hx_lane_add(rx->head, vc, 1);
    if (!noted)
        virtual_sim_node_note(virtual_rx_sim_node(rx), ready, (unsigned)rx->item + vc);
    else if (__builtin_expect(rx->forwards, 0)) /* the item may stand for a departure later than this arrival */
        virtual_sim_node_note_sooner(virtual_rx_sim_node(rx), ready, (unsigned)rx->item + vc);
    return slot;
}

/* A packet for one of its inputs; credit for one of its outputs. Both from another simulated node. */
void virtual_deliver(struct virtual_rx *rx, const struct hx_desc *d, uint64_t ready, uint64_t birth);
void virtual_credit_note(struct virtual_tx *tx, uint64_t credit); /* for an `awaited` output */
static inline void virtual_credit(struct virtual_tx *tx, uint64_t credit)
{
    virtual_credits_append(&tx->back, credit);
    if (__builtin_expect(tx->back.awaited, 0))
        virtual_credit_note(tx, credit);
}
/* Returns credit, at once or late. */
static inline void virtual_return_credit(struct virtual_worker *w, struct virtual_tx *tx, uint64_t credit)
{
    if (w->outbox.for_own)
        virtual_post_credit(w, tx, credit);
    else
        virtual_credit(tx, credit);
}
/* Sends a packet and its frame to another worker. */
void virtual_send_away(struct virtual_worker *w, const struct virtual_tx *tx, const struct hx_desc *d, uint64_t ready,
                       uint64_t birth);

/* Posts what other workers sent. */
void virtual_worker_receive(struct virtual_worker *w);

#endif
