/* sim_node.c - runs one simulated node through one window (sim_node.h). */
#include "sim_node.h"
#include "inline.h"
#include "order.h"    /* circle: notes what this file's grants decide */
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

/* Notes the next credit of an open output that waiting packets want. */
static NOINLINE void note_credit_blocked(struct virtual_sim_node *e, struct hal_switch *h, unsigned output)
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

/* Notes when outputs that waiting packets want may take one: at their opening, or with their next credit. */
ALWAYS_INLINE void note_waits(struct virtual_sim_node *e, struct hal_switch *h, uint64_t outputs)
{
    for (uint64_t left = outputs & ~h->blocked; left; left &= left - 1) {
        unsigned output = (unsigned)__builtin_ctzll(left);
        if (h->tx[output].opens > e->worker->now)
            note_opening(e, h, output);
        else if (!(h->credit_blocked >> output & 1))
            note_credit_blocked(e, h, output);
    }
}

/* Outputs that lack credit for their next packet, but may have it for a shorter one. */
ALWAYS_INLINE uint64_t to_try_again(const struct virtual_node *n, uint64_t outputs)
{
    return n->hal.small ? outputs & n->hal.credit_blocked & wanted(n) : 0;
}

/* ---- waiting packets ---- */

ALWAYS_INLINE uint64_t grant_output(struct virtual_sim_node *e, struct virtual_node *n, unsigned output, bool router)
{
    if (__builtin_expect(e->worker->order != NULL, 0))
        virtual_order_grant(e, n, output);
    return router ? hx_router_grant(&n->sw, output) : hx_accelerator_grant(&n->sw, output);
}

/* Sends waiting packets by an output until it is busy or lacks credit. Returns outputs to serve besides. */
ALWAYS_INLINE uint64_t serve_output(struct virtual_sim_node *e, struct virtual_node *n, unsigned output, bool router)
{
    struct hal_switch *h = &n->hal;
    const uint64_t bit = (uint64_t)1 << output;
    uint64_t freed = 0;
    uint64_t more;
    do {
        more = h->tx[output].opens <= e->worker->now ? grant_output(e, n, output, router) : 0;
        freed |= more;
    } while (more && wanted(n) & bit);
    h->credit_blocked &= ~bit;
    note_waits(e, h, wanted(n) & bit);
    return to_try_again(n, freed & ~bit);
}

/* ---- arrivals ---- */

ALWAYS_INLINE uint64_t offers(const struct virtual_node *n, unsigned input, const struct hx_desc *d, bool router)
{
    return router ? hx_router_offers(&n->sw, input, d) : hx_accelerator_offers(&n->sw, input, d);
}

/* True if an offered output is open, or if the switch must decide. Otherwise the packet waits for an opening. */
ALWAYS_INLINE bool may_go(struct virtual_sim_node *e, const struct hal_switch *h, uint64_t offered)
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
    return false;
}

/* Counts a packet that is new at the switch. */
ALWAYS_INLINE void count_in(struct hal_switch *h, const struct hx_desc *d)
{
    h->small += virtual_is_small(&h->worker->timing, d);
}

/* hal_release() for a packet that passed, without news. */
ALWAYS_INLINE void release_passed(const struct hal_switch *h, struct virtual_rx *rx, unsigned vc, uint64_t tail)
{
    rx->tail = tail;
    if (virtual_gives_ring(h, &rx->queue[vc]) && hx_lane(tail ^ rx->head, vc) == 0)
        virtual_queue_end(&rx->queue[vc]);
}

/* Shows the switch the first packet of an (input, VC) that it has not seen: it leaves, or it waits. Returns outputs to
 * serve. */
ALWAYS_INLINE uint64_t show_packet(struct virtual_sim_node *e, struct virtual_node *n, unsigned input, unsigned vc,
                                   bool router)
{
    struct hal_switch *h = &n->hal;
    struct virtual_rx *rx = &h->rx[input];
    const struct hx_desc *d = hal_arrival(h, input, vc, hx_lane(n->sw.input[input].seen, vc));
    const bool small = virtual_is_small(&h->worker->timing, d);
    const struct hx_single_arrival arrival = {.d = d, .offered = offers(n, input, d, router), .input = input, .vc = vc};
    if (!may_go(e, h, arrival.offered)) {
        hx_switch_wait(&n->sw, &arrival);
    } else {
        unsigned left = router ? hx_router_pass(&n->sw, &arrival) : hx_accelerator_pass(&n->sw, &arrival);
        release_passed(h, rx, vc, n->sw.input[input].tail);
        if (left)
            return 0;
    }
    note_waits(e, h, arrival.offered ? arrival.offered : wanted(n));
    return small ? to_try_again(n, arrival.offered) : 0;
}

/* Shows the switch the packets of an input, as far as its windows reach, until one of them frees an output. */
static NOINLINE uint64_t show_input(struct virtual_sim_node *e, struct virtual_node *n, unsigned input)
{
    const struct hx_input *in = &n->sw.input[input];
    uint64_t fresh;
    while ((fresh = hal_arrived(&n->hal, input) ^ in->seen)) {
        uint64_t outputs = show_packet(e, n, input, hx_lanes_take(&fresh), e->router);
        if (outputs)
            return outputs;
    }
    n->hal.news &= ~((uint64_t)1 << input);
    return 0;
}

/* Serves outputs, and shows the switch what comes into reach. */
ALWAYS_INLINE void settle(struct virtual_sim_node *e, struct virtual_node *n, uint64_t outputs, bool router)
{
    while (outputs | n->hal.news) {
        if (outputs) {
            unsigned output = (unsigned)__builtin_ctzll(outputs);
            outputs &= outputs - 1;
            outputs |= serve_output(e, n, output, router);
        } else {
            outputs = show_input(e, n, (unsigned)__builtin_ctzll(n->hal.news));
        }
    }
}

/* Makes the first arriving packet of an (input, VC) ready, and notes the next. */
ALWAYS_INLINE void advance(struct virtual_sim_node *e, struct virtual_rx *rx, unsigned vc)
{
    rx->ready = hx_lane_add(rx->ready, vc, 1);
    if (virtual_is_coming(rx, vc))
        virtual_event_queue_note(&e->event_queue, virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc))->ready,
                                 (unsigned)rx->item + vc);
}

/* For an input with forwarding (forwarding.h): makes all packets ready that may go on. */
static NOINLINE void take_forwarded(struct virtual_sim_node *e, struct virtual_node *n, unsigned input, unsigned vc)
{
    struct virtual_rx *rx = &n->hal.rx[input];
    uint64_t now = e->worker->now;
    virtual_forwarding_decide(n->hal.forwarding, rx, vc, now);
    while (virtual_is_coming(rx, vc) && virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc))->ready <= now) {
        count_in(&n->hal, &virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc))->d);
        rx->ready = hx_lane_add(rx->ready, vc, 1);
        n->hal.news |= (uint64_t)1 << input;
    }
    if (virtual_is_coming(rx, vc))
        virtual_event_queue_note(&e->event_queue, virtual_forwarding_next(rx, vc), (unsigned)rx->item + vc);
}

/* Time from which a packet cannot run dry on a link, whichever of these outputs it takes: its last byte passes the
 * crossbar and leaves as it comes in. */
static uint64_t whole_at(const struct hal_switch *h, const struct virtual_rx *rx, const struct virtual_slot *slot,
                         uint64_t outputs)
{
    const unsigned blocks = virtual_blocks(&slot->d);
    const uint64_t came = slot->ready + rx->kind->tail.blocks[blocks];
    uint64_t least = rx->kind->rate.blocks[blocks];
    for (; outputs; outputs &= outputs - 1) {
        const struct virtual_link *kind = h->tx[__builtin_ctzll(outputs)].kind;
        if (kind != &h->worker->timing.endpoint && kind->rate.blocks[blocks] < least)
            least = kind->rate.blocks[blocks];
    }
    uint64_t crosses = rx->kind->crossbar.blocks[blocks];
    return came - (least > crosses ? least : crosses);
}

/* For an input with a slower link than an output: true if its first arriving packet must wait for more of its blocks
 * (timing.h), until the time noted. Where the switch is to decide, it may take any output. */
static NOINLINE bool waits_for_blocks(struct virtual_sim_node *e, const struct virtual_node *n, unsigned input,
                                      unsigned vc)
{
    const struct virtual_rx *rx = &n->hal.rx[input];
    const struct virtual_slot *slot = virtual_queue_at(&rx->queue[vc], hx_lane(rx->ready, vc));
    const uint64_t offered = offers(n, input, &slot->d, e->router);
    const uint64_t whole = whole_at(&n->hal, rx, slot, offered ? offered : n->hal.up);
    if (whole <= e->worker->now)
        return false;
    virtual_event_queue_note(&e->event_queue, whole, (unsigned)rx->item + vc);
    return true;
}

/* Handles an arrival. Returns outputs to serve. */
ALWAYS_INLINE uint64_t arrive(struct virtual_sim_node *e, struct virtual_node *n, unsigned input, unsigned vc,
                              bool router)
{
    struct virtual_rx *rx = &n->hal.rx[input];
    if (__builtin_expect(rx->forwards, 0)) {
        take_forwarded(e, n, input, vc);
        return 0;
    }
    if (__builtin_expect(rx->slower, 0) && waits_for_blocks(e, n, input, vc))
        return 0;
    const uint16_t at = hx_lane(rx->ready, vc);
    count_in(&n->hal, &virtual_queue_at(&rx->queue[vc], at)->d);
    advance(e, rx, vc);
    bool beyond = (uint16_t)(at - hx_lane(rx->tail, vc)) >= HX_WINDOW;
    if (__builtin_expect(beyond | (at != hx_lane(n->sw.input[input].seen, vc)), 0))
        return 0; /* shown later */
    return show_packet(e, n, input, vc, router);
}

/* ---- items ---- */

static uint64_t take_credit(struct virtual_node *n, unsigned output)
{
    uint64_t bit = (uint64_t)1 << output;
    n->hal.credit_noted &= ~bit;
    uint64_t waited = n->hal.credit_blocked & bit;
    n->hal.credit_blocked &= ~bit;
    return waited & wanted(n);
}

static uint64_t open_output(struct virtual_node *n, unsigned output)
{
    uint64_t bit = (uint64_t)1 << output;
    n->hal.blocked &= ~bit;
    return wanted(n) & bit;
}

/* Handles one item of a switch. */
ALWAYS_INLINE void take_item(struct virtual_sim_node *e, struct virtual_node *n, unsigned item, bool router)
{
    unsigned ports = virtual_item_ports(router);
    unsigned outputs = virtual_output_items(router);
    uint64_t due;
    if (item < outputs)
        due = arrive(e, n, item / HX_VCS, item % HX_VCS, router);
    else if (item < outputs + ports)
        due = open_output(n, item - outputs);
    else
        due = take_credit(n, item - outputs - ports);
    settle(e, n, due, router);
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

/* Handles an item that belongs to no switch. */
static void take_wakeup(struct virtual_sim_node *e, unsigned item, struct wakeups *c)
{
    c->eject = c->eject || item == VIRTUAL_ITEM_EJECT;
    c->timer = c->timer || item == VIRTUAL_ITEM_TIMER;
    c->again = c->again || item == VIRTUAL_ITEM_AGAIN;
    if (item != VIRTUAL_ITEM_FAULT)
        return;
    c->notified = true;
    unsigned changed = e->worker->fault_is_due(e->worker->of_faults, e);
    for (; changed; changed &= changed - 1) {
        struct virtual_node *n = &e->node[__builtin_ctz(changed)];
        settle(e, n, wanted(n) & ~n->hal.blocked, e->router);
    }
}

/* Handles all events at the earliest time, of which `item` is the first, and lets an accelerator's endpoint react. A
 * fault goes first: what comes at its time finds links and routes changed. */
static __attribute__((noinline)) void run_all(struct virtual_sim_node *e, unsigned item)
{
    struct wakeups c = {false};
    if (e->worker->faults && virtual_event_queue_time(&e->event_queue) == e->worker->now &&
        virtual_event_queue_take_due(&e->event_queue, VIRTUAL_ITEM_FAULT))
        take_wakeup(e, VIRTUAL_ITEM_FAULT, &c);
    for (;; item = virtual_event_queue_take(&e->event_queue)) {
        unsigned own;
        struct virtual_node *n = item < VIRTUAL_ITEM_EJECT ? node_of(e, item, &own, e->router) : NULL;
        if (n)
            take_item(e, n, own, e->router);
        else
            take_wakeup(e, item, &c);
        if (virtual_event_queue_time(&e->event_queue) != e->worker->now)
            break;
    }
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
    if ((item >= VIRTUAL_ITEM_EJECT) | (virtual_event_queue_time(&e->event_queue) == now)) {
        run_all(e, item);
        return;
    }
    take_item(e, n, own, router);
    if (!router && e->hungry && has_room(e->endpoint))
        e->drive(e->of, false, false);
}

ALWAYS_INLINE void run(struct virtual_sim_node *e, uint64_t end, bool router)
{
    uint64_t next;
    while ((next = virtual_event_queue_time(&e->event_queue)) < end && (router || !e->worker->paused))
        run_once(e, next, router);
}

bool virtual_sim_node_visit(struct virtual_sim_node *e, uint64_t end)
{
    e->busy = true;
    if (e->worker->near && e->endpoint)
        virtual_prefetch_apart(e, end);
    if (e->router)
        run(e, end, true);
    else
        run(e, end, false);
    if (__builtin_expect(e->worker->paused, 0))
        return false;
    e->busy = false;
    uint64_t next = virtual_event_queue_time(&e->event_queue);
    if (next != VIRTUAL_NEVER)
        virtual_wheel_add(&e->worker->wheel, e->index, next);
    return true;
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
                  rounded(hx_switch_sharing_bytes(ports, vcs));
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
                                          .item = (first + HX_VCS * port) & (INT16_MAX >> 1),
                                          .kind = kind};
        h->tx[port] = (struct virtual_tx){.of = (uintptr_t)h & VIRTUAL_ADDRESS, .kind = kind, .opens = VIRTUAL_NEVER};
        virtual_credits_begin(&h->tx[port].back);
    }
}

void virtual_rows_open(struct virtual_worker *w, unsigned ports, size_t switches)
{
    w->rows[ports] = virtual_arena_reserve(hx_rows_bytes(ports, w->timing.vcs, switches));
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
        hx_switch_init_sharing(&e->node[plane].sw, ports, w->timing.vcs, 0, &e->node[plane].hal, w->rows[ports],
                               piece(&at, hx_switch_sharing_bytes(ports, w->timing.vcs)));
    }
    return e;
}
