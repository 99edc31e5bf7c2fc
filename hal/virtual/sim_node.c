/* sim_node.c - runs one simulated node through one window (sim_node.h). */
#include "sim_node.h"
#include "inline.h"
#include "order.h"    /* circle: a step is watched by what it moves */
#include "prefetch.h" /* circle: a visit prefetches for the next ones, which are simulated nodes */

/* ---- events of a switch ---- */

static uint64_t wanted(const struct virtual_node *n)
{
    return n->sw.wanted[0] | n->sw.wanted[1] | n->sw.wanted[2] | n->sw.wanted[3];
}

static void note_opening(struct virtual_sim_node *e, struct hal_switch *h, unsigned output)
{
    h->blocked |= (uint64_t)1 << output;
    virtual_event_queue_note(&e->event_queue, h->tx[output].opens, h->output_item + output);
}

/* Notes an output that is open while waiting packets lack credit: the next credit is an event. */
static SELDOM void note_credit_blocked(struct virtual_sim_node *e, struct hal_switch *h, unsigned output)
{
    uint64_t bit = (uint64_t)1 << output;
    h->credit_blocked |= bit;
    if (h->credit_noted & bit)
        return;
    uint64_t next = virtual_credits_next(&h->tx[output].back);
    h->tx[output].back.awaited = next == virtual_credit_time(VIRTUAL_NO_CREDIT);
    if (h->tx[output].back.awaited)
        return; /* noted when it is returned */
    h->credit_noted |= bit;
    virtual_event_queue_note(&e->event_queue, next, h->credit_item + output);
}

/* Keeps only those credit-blocked outputs for which nothing changed. */
static SELDOM void forget_credit_blocked(struct hal_switch *h, uint64_t all)
{
    h->idle &= all & ~h->sent;
    for (uint64_t left = h->credit_blocked & ~(h->idle | h->credit_noted); left; left &= left - 1)
        h->tx[__builtin_ctzll(left)].back.awaited = false;
    h->credit_blocked = h->idle;
}

/* Notes events for all outputs that packets wait for: their opening or their next credit. An output that sent in this
 * step may open at once; that is another step. */
ALWAYS_INLINE void note_waits(struct virtual_sim_node *e, struct virtual_node *n)
{
    struct hal_switch *h = &n->hal;
    uint64_t all = wanted(n);
    if (h->credit_blocked)
        forget_credit_blocked(h, all);
    for (uint64_t left = all & hal_tx_ready(h); left; left &= left - 1) {
        unsigned output = (unsigned)__builtin_ctzll(left);
        if (h->tx[output].opens > e->worker->now || (h->sent >> output & 1))
            note_opening(e, h, output);
        else
            note_credit_blocked(e, h, output);
    }
    h->idle = h->small ? 0 : h->credit_blocked;
    h->sent = 0;
}

/* A step reads at most HX_WINDOW packets of an input. If all of them left, the switch does not know the packets behind,
 * and no event would be noted for them. So it steps again at once. */
ALWAYS_INLINE void step_as(struct virtual_sim_node *e, struct virtual_node *n, bool router)
{
    do {
        if (__builtin_expect(e->worker->order != NULL, 0))
            virtual_order_step(e, n);
        if (router)
            (void)hx_router_step(&n->sw);
        else
            (void)hx_accelerator_step(&n->sw);
    } while (n->hal.news && wanted(n) == 0);
    note_waits(e, n);
}

static SELDOM void step_router(struct virtual_sim_node *e, struct virtual_node *n)
{
    if (!e->worker->near && !e->worker->outbox.for_own)
        virtual_prefetch_waiting(n, wanted(n) & hal_tx_ready(&n->hal));
    step_as(e, n, true);
}

static SELDOM void step_accelerator(struct virtual_sim_node *e, struct virtual_node *n)
{
    step_as(e, n, false);
}

ALWAYS_INLINE void step(struct virtual_sim_node *e, struct virtual_node *n, bool router)
{
    if (router)
        step_router(e, n);
    else
        step_accelerator(e, n);
}

/* ---- items ---- */

/* Notes the openings of busy outputs. Returns false. */
static __attribute__((noinline)) bool note_openings(struct virtual_sim_node *e, struct hal_switch *h, uint64_t ports)
{
    for (uint64_t left = ports & ~h->blocked; left; left &= left - 1)
        note_opening(e, h, (unsigned)__builtin_ctzll(left));
    return false;
}

ALWAYS_INLINE uint64_t offers(const struct virtual_node *n, unsigned input, const struct hx_desc *d, bool router)
{
    return router ? hx_router_offers(&n->sw, input, d) : hx_accelerator_offers(&n->sw, input, d);
}

/* True if an offered output is open, or if the switch must decide. Otherwise the packet can wait for an opening. */
ALWAYS_INLINE bool may_go(struct virtual_sim_node *e, struct hal_switch *h, uint64_t offered)
{
    if (__builtin_expect(e->worker->order != NULL, 0))
        virtual_order_offers(e->worker, offered);
    if (offered == 0)
        return true;
    for (uint64_t left = offered & ~h->blocked; left; left &= left - 1) {
        unsigned output = (unsigned)__builtin_ctzll(left);
        if (h->tx[output].opens <= e->worker->now)
            return true;
    }
    return note_openings(e, h, offered);
}

/* Counts a packet that is new at the switch. */
ALWAYS_INLINE void count_in(struct hal_switch *h, const struct hx_desc *d)
{
    uint64_t small = virtual_is_small(d);
    h->small += small;
    h->idle &= small - 1; /* a small packet clears all */
}

/* Makes the first arriving packet of an (input, VC) ready, and notes the next. */
ALWAYS_INLINE void advance(struct virtual_sim_node *e, struct virtual_rx *rx, unsigned vc)
{
    rx->ready = hx_lane_add(rx->ready, vc, 1);
    if (virtual_is_coming(rx, vc))
        virtual_event_queue_note(&e->event_queue, virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc))->ready,
                                 (unsigned)rx->item + vc);
}

/* For an input with forwarding (forwarding.h): makes all packets ready that may go on. Returns whether the switch
 * should step. */
static SELDOM bool take_forwarded(struct virtual_sim_node *e, struct virtual_node *n, unsigned input, unsigned vc)
{
    struct virtual_rx *rx = &n->hal.rx[input];
    uint64_t now = e->worker->now;
    bool go = false;
    virtual_forwarding_decide(n->hal.forwarding, rx, vc, now);
    while (virtual_is_coming(rx, vc) && virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc))->ready <= now) {
        const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc));
        go = go || may_go(e, &n->hal, offers(n, input, &slot->d, e->router));
        count_in(&n->hal, &slot->d);
        rx->ready = hx_lane_add(rx->ready, vc, 1);
        n->hal.news |= (uint64_t)1 << input;
    }
    if (virtual_is_coming(rx, vc))
        virtual_event_queue_note(&e->event_queue, virtual_forwarding_next(rx, vc), (unsigned)rx->item + vc);
    return go;
}

/* Makes the next packet of an (input, VC) known to the switch. Returns whether it should step. */
static bool make_ready(struct virtual_sim_node *e, struct virtual_node *n, unsigned input, unsigned vc)
{
    struct virtual_rx *rx = &n->hal.rx[input];
    if (__builtin_expect(rx->forwards, 0))
        return take_forwarded(e, n, input, vc);
    const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc));
    bool go = may_go(e, &n->hal, offers(n, input, &slot->d, e->router));
    count_in(&n->hal, &slot->d);
    advance(e, rx, vc);
    n->hal.news |= (uint64_t)1 << input;
    return go;
}

/* hal_release() for an input with one arrival on one VC and no other new packets. */
ALWAYS_INLINE void release(const struct hal_switch *h, struct virtual_rx *rx, unsigned vc, uint64_t tail)
{
    rx->tail = tail;
    if (virtual_gives_ring(h, &rx->queue[vc]) && hx_lane(tail ^ rx->head, vc) == 0)
        virtual_queue_end(&rx->queue[vc]);
}

/* advance() for a packet without other events at its time. Returns false, and does nothing, if the packet is forwarded,
 * stands behind a window, or is followed by another at the same time. */
ALWAYS_INLINE bool advance_alone(struct virtual_sim_node *e, struct virtual_rx *rx, unsigned vc)
{
    uint16_t at = hx_lane(rx->ready, vc);
    bool beyond = (uint16_t)(at - hx_lane(rx->tail, vc)) >= HX_WINDOW;
    if (__builtin_expect(rx->forwards | beyond, 0))
        return false;
    at++;
    if (at != hx_lane(rx->head, vc)) {
        uint64_t next = virtual_queue_at(&rx->queue[vc], at)->ready;
        if (__builtin_expect(next <= e->worker->now, 0))
            return false;
        virtual_event_queue_note(&e->event_queue, next, (unsigned)rx->item + vc);
    }
    rx->ready = hx_lane_set(rx->ready, vc, at);
    return true;
}

/* Handles a single arrival, the most common event: the packet waits for an output, or passes if the switch has no other
 * work. Returns false, and does nothing, if there is more to do. */
ALWAYS_INLINE bool pass(struct virtual_sim_node *e, struct virtual_node *n, unsigned input, unsigned vc, bool router)
{
    struct hal_switch *h = &n->hal;
    struct virtual_rx *rx = &h->rx[input];
    const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc));
    if (!advance_alone(e, rx, vc))
        return false;
    bool busy = (h->news | (wanted(n) & hal_tx_ready(h))) != 0;
    uint64_t offered = offers(n, input, &slot->d, router);
    bool go = may_go(e, h, offered);
    count_in(h, &slot->d);
    if (!go || busy) {
        h->news |= (uint64_t)1 << input;
        if (go)
            step(e, n, router);
        return true;
    }
    h->looked = slot;
    const struct hx_comer single_arrival = {
        .d = &slot->d, .offered = offered, .arrived = rx->ready, .input = input, .vc = vc};
    unsigned left = router ? hx_router_pass(&n->sw, &single_arrival) : hx_accelerator_pass(&n->sw, &single_arrival);
    release(h, rx, vc, n->sw.input[input].tail);
    if (left ? h->idle & h->sent : wanted(n) & hal_tx_ready(h))
        note_waits(e, n);
    h->sent = 0;
    return true;
}

static bool take_credit(struct hal_switch *h, unsigned output)
{
    uint64_t bit = (uint64_t)1 << output;
    bool waited = (h->credit_blocked & bit) != 0;
    h->credit_noted &= ~bit;
    /* The step sets them again. Credit handed over before that must not be noted in place of an earlier one. */
    h->credit_blocked &= ~bit;
    h->idle &= ~bit;
    return waited;
}

static bool open_output(struct virtual_node *n, unsigned output)
{
    uint64_t bit = (uint64_t)1 << output;
    n->hal.blocked &= ~bit;
    return n->hal.news || (wanted(n) & bit);
}

/* Handles an output that opens or gets credit, if only known packets wait for it and the switch has no other work.
 * Returns false if a full step is needed. */
static SELDOM bool grant(struct virtual_sim_node *e, struct virtual_node *n, unsigned output)
{
    if (n->hal.news || (wanted(n) & hal_tx_ready(&n->hal)) != (uint64_t)1 << output)
        return false;
    if (__builtin_expect(e->worker->order != NULL, 0))
        virtual_order_grant(e, n, output);
    if (e->router)
        (void)hx_router_grant(&n->sw, output);
    else
        (void)hx_accelerator_grant(&n->sw, output);
    note_waits(e, n);
    return true;
}

/* Handles one item; returns whether the switch should step. */
static bool take_item(struct virtual_sim_node *e, struct virtual_node *n, unsigned item)
{
    unsigned ports = virtual_item_ports(e->router);
    unsigned outputs = virtual_output_items(e->router);
    if (item < outputs)
        return make_ready(e, n, item / HX_VCS, item % HX_VCS);
    if (item < outputs + ports)
        return open_output(n, item - outputs);
    return take_credit(&n->hal, item - outputs - ports);
}

/* Handles an item that is alone at its time. Returns false, and does nothing, if there is more to do. */
ALWAYS_INLINE bool take_alone(struct virtual_sim_node *e, struct virtual_node *n, unsigned item, bool router)
{
    unsigned ports = virtual_item_ports(router);
    unsigned outputs = virtual_output_items(router);
    if (item < outputs)
        return pass(e, n, item / HX_VCS, item % HX_VCS, router);
    bool opens = item < outputs + ports;
    unsigned output = item - (opens ? outputs : outputs + ports);
    bool due = opens ? open_output(n, output) : take_credit(&n->hal, output);
    if (due && !grant(e, n, output))
        step(e, n, router);
    return true;
}

/* True if the endpoint has room to inject a burst into some plane. */
static bool has_room(struct hal_endpoint *h)
{
    for (unsigned plane = 0; plane < h->planes; plane++) {
        if (virtual_injected(h, plane) <= VIRTUAL_INJECTED - VIRTUAL_INJECT_BURST)
            return true;
    }
    return false;
}

static void note_next_eject(struct virtual_sim_node *e)
{
    struct hal_endpoint *h = e->endpoint;
    uint64_t next = VIRTUAL_NEVER;
    for (unsigned plane = 0; plane < h->planes; plane++) {
        const struct virtual_eject *q = &h->plane[plane].eject;
        if (q->tail != q->head && q->slots[q->tail & q->mask].ready < next)
            next = q->slots[q->tail & q->mask].ready;
    }
    h->eject_noted = next != VIRTUAL_NEVER;
    if (h->eject_noted)
        virtual_sim_node_note(e, next > e->worker->now ? next : e->worker->now, VIRTUAL_ITEM_EJECT);
}

/* Returns the switch of an item; *own: its number within the switch. */
ALWAYS_INLINE struct virtual_node *node_of(const struct virtual_sim_node *e, unsigned item, unsigned *own, bool router)
{
    *own = router ? item : item % VIRTUAL_PLANE_ITEMS;
    return &e->node[router ? 0 : item / VIRTUAL_PLANE_ITEMS];
}

/* Events of a visit for the endpoint. */
struct wakeups {
    bool eject, timer, again, notified;
};

/* Handles an item that belongs to no switch. Returns planes with switches that should step, bit by plane. */
static unsigned take_wakeup(struct virtual_sim_node *e, unsigned item, struct wakeups *c)
{
    c->eject = c->eject || item == VIRTUAL_ITEM_EJECT;
    c->timer = c->timer || item == VIRTUAL_ITEM_TIMER;
    c->again = c->again || item == VIRTUAL_ITEM_AGAIN;
    if (item != VIRTUAL_ITEM_FAULT)
        return 0;
    c->notified = true;
    for (unsigned plane = 0; plane < e->planes; plane++)
        e->node[plane].hal.idle = 0;
    return e->worker->fault_is_due(e->worker->of_faults, e);
}

/* Handles all events at the earliest time; `item` is the first. */
static void take_all(struct virtual_sim_node *e, unsigned item, struct wakeups *c)
{
    unsigned steps = 0; /* planes, bit by plane */
    for (;; item = virtual_event_queue_take(&e->event_queue)) {
        unsigned own;
        struct virtual_node *n = item < VIRTUAL_ITEM_EJECT ? node_of(e, item, &own, e->router) : NULL;
        if (n)
            steps |= (unsigned)take_item(e, n, own) << n->hal.plane;
        else
            steps |= take_wakeup(e, item, c);
        if (virtual_event_queue_time(&e->event_queue) != e->worker->now)
            break;
    }
    for (; steps; steps &= steps - 1)
        step(e, &e->node[__builtin_ctz(steps)], e->router);
}

/* Handles all events at the earliest time, and lets an accelerator's endpoint react. */
static __attribute__((noinline)) void run_all(struct virtual_sim_node *e, unsigned item)
{
    struct wakeups c = {false};
    take_all(e, item, &c);
    if (e->router)
        return;
    if (c.eject || c.timer || c.again || c.notified || (e->hungry && has_room(e->endpoint)))
        e->drive(e->of, c.timer, c.again);
    if (c.eject)
        note_next_eject(e);
}

/* Handles all events at `now`, the earliest time. */
ALWAYS_INLINE void run_once(struct virtual_sim_node *e, uint64_t now, bool router)
{
    e->worker->now = now;
    unsigned item = virtual_event_queue_take(&e->event_queue);
    unsigned own;
    struct virtual_node *n = node_of(e, item, &own, router);
    if ((item >= VIRTUAL_ITEM_EJECT) | (virtual_event_queue_time(&e->event_queue) == now) ||
        !take_alone(e, n, own, router))
        run_all(e, item);
    else if (!router && e->hungry && has_room(e->endpoint))
        e->drive(e->of, false, false);
}

ALWAYS_INLINE void run(struct virtual_sim_node *e, uint64_t end, bool router)
{
    uint64_t next;
    while ((next = virtual_event_queue_time(&e->event_queue)) < end)
        run_once(e, next, router);
}

void virtual_sim_node_visit(struct virtual_sim_node *e, uint64_t end)
{
    e->busy = true;
    if (e->worker->near && e->endpoint)
        virtual_prefetch_apart(e, end);
    if (e->router)
        run(e, end, true);
    else
        run(e, end, false);
    e->busy = false;
    uint64_t next = virtual_event_queue_time(&e->event_queue);
    if (next != VIRTUAL_NEVER)
        virtual_wheel_add(&e->worker->wheel, e->index, next);
}

/* ---- memory ---- */

static size_t rounded(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* Most items that an event queue holds. */
static unsigned items_of(unsigned planes, unsigned ports, unsigned vcs)
{
    return planes * ports * (vcs + 2) + 4;
}

size_t virtual_sim_node_bytes(unsigned planes, unsigned ports, unsigned vcs)
{
    size_t node = rounded(ports * sizeof(struct virtual_rx)) + rounded(ports * sizeof(struct virtual_tx)) +
                  rounded(hx_switch_bytes(ports, vcs));
    return rounded(sizeof(struct virtual_sim_node)) +
           rounded(virtual_event_queue_room(items_of(planes, ports, vcs)) * sizeof(uint64_t)) +
           rounded(planes * sizeof(struct virtual_node)) + planes * node;
}

static void *piece(uint8_t **at, size_t bytes)
{
    void *here = *at;
    *at += rounded(bytes);
    return here;
}

static void lay_out_node(struct virtual_sim_node *e, unsigned plane, unsigned ports, uint8_t **at)
{
    struct hal_switch *h = &e->node[plane].hal;
    *h = (struct hal_switch){.worker = e->worker, .sim_node = e, .ports = (uint8_t)ports, .plane = (uint8_t)plane};
    h->rx = piece(at, ports * sizeof *h->rx);
    h->tx = piece(at, ports * sizeof *h->tx);
    unsigned first = e->router ? 0 : plane * VIRTUAL_PLANE_ITEMS;
    h->output_item = (uint16_t)(first + virtual_output_items(e->router));
    h->credit_item = (uint16_t)(h->output_item + virtual_item_ports(e->router));
    for (unsigned port = 0; port < ports; port++) {
        const struct virtual_timing *t = &e->worker->timing;
        const struct virtual_link *kind = port == HX_LOCAL && !e->router ? &t->endpoint : &t->of[0];
        h->rx[port] = (struct virtual_rx){.sim_node = (uintptr_t)e & VIRTUAL_ADDRESS,
                                          .port = (uint8_t)port,
                                          .item = (first + HX_VCS * port) & INT16_MAX,
                                          .kind = kind};
        h->tx[port] = (struct virtual_tx){.of = (uintptr_t)h & VIRTUAL_ADDRESS, .kind = kind, .opens = VIRTUAL_NEVER};
        virtual_credits_begin(&h->tx[port].back);
    }
}

struct virtual_sim_node *virtual_sim_node_init(void *memory, struct virtual_worker *w, uint32_t index, unsigned planes,
                                               unsigned ports, bool router)
{
    uint8_t *at = memory;
    struct virtual_sim_node *e = piece(&at, sizeof *e);
    *e = (struct virtual_sim_node){.worker = w, .index = index, .planes = (uint8_t)planes, .router = router};
    unsigned room = virtual_event_queue_room(items_of(planes, ports, w->timing.vcs));
    virtual_event_queue_open(&e->event_queue, piece(&at, room * sizeof(uint64_t)), room);
    e->node = piece(&at, planes * sizeof *e->node);
    for (unsigned plane = 0; plane < planes; plane++) {
        lay_out_node(e, plane, ports, &at);
        hx_switch_init(&e->node[plane].sw, ports, w->timing.vcs, 0, &e->node[plane].hal,
                       piece(&at, hx_switch_bytes(ports, w->timing.vcs)));
    }
    return e;
}
