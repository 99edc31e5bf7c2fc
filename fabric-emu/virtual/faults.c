/* faults.c - faults under the virtual clock (faults.h). */
#include "faults.h"
#include "arena.h"
#include "base/compare.h"
#include "base/error.h"
#include "fabric-emu/report/result.h"
#include "fault_links.h"
#include "fault_routes.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

/* A port stops to take packets that would begin after its planned closing, closes, or opens. */
enum deed { STOPS, CLOSES, OPENS };
struct event {
    uint64_t at; /* ps */
    uint32_t sim_node;
    uint8_t plane, port; /* plane: index in the simulated node */
    uint8_t deed;
    bool planned;
};

struct ended {
    uint32_t from, to, message;
    uint64_t at;
};

/* A packet that was lost or damaged. */
struct hit {
    uint32_t from, to; /* ranks, of the message */
    uint32_t message;
    uint32_t fault;
};
/* Of all workers; beyond it the time of repair is unknown, and a worker lists no more. */
enum { MOST_HITS = 1 << 20 };

/* Invariant: events are sorted by simulated node, then by time. next[e] is the first event of node e that is not done,
 * or the first of the next node. VIRTUAL_ITEM_FAULT of a node stands for the sooner of that event and the next route
 * epoch. */
struct faults {
    struct worker *w;
    struct virtual_faults links;
    size_t ends, ends_room; /* in links.of, [0] included */
    struct event *event;
    size_t events, events_room;
    size_t *next; /* [sim_nodes + 1] */
    struct fault_links hit_links;
    struct fault_routes routes;
    int64_t *knows; /* [sim_nodes]: last epoch it was notified of */
    struct ended *ended;
    size_t ended_count, ended_room;
    struct hit *hit; /* on links that this worker sends on */
    size_t hits, hits_room;
    struct model_fault *cost;    /* [faults], shared */
    struct model_losses *losses; /* shared */
};

/* ---- links ---- */

static void note_event(struct faults *f, const struct event *e)
{
    f->event = hx_grow(f->event, f->events, &f->events_room, sizeof *f->event);
    f->event[f->events++] = *e;
}

static void note_events(struct faults *f, const struct hit_link *l, struct event e)
{
    uint64_t lead = f->w->v.timing.output; /* from a decision to the first bit on the link, at least */
    for (size_t i = 0; i < l->ports.count; i++) {
        uint64_t at = l->ports.of[i].ns * 1000;
        e.planned = l->ports.of[i].shut && link_times_shut(&l->planned, l->ports.of[i].ns);
        e.at = at > lead ? at - lead : 0;
        e.deed = STOPS;
        if (e.planned)
            note_event(f, &e);
        e.at = at;
        e.deed = l->ports.of[i].shut ? CLOSES : OPENS;
        note_event(f, &e);
    }
}

static uint32_t add_end(struct faults *f, const struct hx_link_change *change, size_t changes, uint64_t number)
{
    f->links.of = hx_grow(f->links.of, f->ends, &f->ends_room, sizeof *f->links.of);
    f->links.of[f->ends] = (struct virtual_fault){.change = change, .changes = changes, .number = number};
    return (uint32_t)f->ends++;
}

static void bind_port(struct faults *f, struct virtual_sim_node *e, unsigned of_sim_node, uint32_t node, unsigned port)
{
    const struct model *m = f->w->m;
    struct virtual_node *n = &e->node[of_sim_node];
    struct virtual_tx *tx = &n->hal.tx[port];
    struct virtual_rx *rx = &n->hal.rx[port];
    unsigned plane = tx->link / m->layout.links;
    const struct hit_link *l = rx->linked ? fault_links_at(&f->hit_links, plane, node, port) : NULL;
    if (!l)
        return;
    tx->fault = add_end(f, l->change, l->changes, tx->link);
    rx->fault = add_end(f, l->change, l->changes, UINT64_C(1) << 32 | rx->link);
    f->links.of[rx->fault].from = rx->from;
    rx->from = NULL;
    note_events(f, l, (struct event){.sim_node = e->index, .plane = (uint8_t)of_sim_node, .port = (uint8_t)port});
}

static void bind_sim_node(struct faults *f, struct virtual_sim_node *e, uint32_t node)
{
    for (unsigned plane = 0; plane < e->planes; plane++)
        for (unsigned port = 0; port < e->node[plane].hal.ports; port++)
            bind_port(f, e, plane, node, port);
}

/* ---- times ---- */

static int by_sim_node(const void *a, const void *b)
{
    const struct event *p = a;
    const struct event *q = b;
    const int by[] = {hx_compare(p->sim_node, q->sim_node), hx_compare(p->at, q->at), hx_compare(p->plane, q->plane),
                      hx_compare(p->port, q->port)};
    return by[0] ? by[0] : by[1] ? by[1] : by[2] ? by[2] : by[3] ? by[3] : hx_compare(p->deed, q->deed);
}

/* Whether route epochs concern a simulated node: endpoints retry, and switches get new routes. */
static bool is_notified(const struct faults *f, const struct virtual_sim_node *e)
{
    return e->endpoint || fault_routes_change(f->w->m->g);
}

static void note_next(struct faults *f, struct virtual_sim_node *e)
{
    size_t event = f->next[e->index];
    size_t route_epoch = (size_t)(f->knows[e->index] + 1);
    uint64_t at = VIRTUAL_NEVER;
    if (event < f->events && f->event[event].sim_node == e->index)
        at = f->event[event].at;
    if (is_notified(f, e) && route_epoch < f->hit_links.epochs && f->hit_links.epoch[route_epoch].at < at)
        at = f->hit_links.epoch[route_epoch].at;
    if (at != VIRTUAL_NEVER)
        virtual_sim_node_note(e, at, VIRTUAL_ITEM_FAULT);
}

static void note_first(struct faults *f)
{
    struct worker *w = f->w;
    if (f->events)
        qsort(f->event, f->events, sizeof *f->event, by_sim_node);
    f->next = hx_allocate(w->sim_nodes + 1U, sizeof *f->next);
    size_t at = 0;
    for (uint32_t e = 0; e < w->sim_nodes; e++) {
        f->next[e] = at;
        while (at < f->events && f->event[at].sim_node == e)
            at++;
        note_next(f, w->sim_node[e]);
    }
}

/* ---- routes ---- */

/* Switches of a HammingMesh know from the start that no link is dead. */
static void begin_routes(struct faults *f, struct virtual_sim_node *e, uint32_t node)
{
    if (!f->w->m->g->mesh.nodes || f->hit_links.epochs == 0)
        return;
    for (unsigned i = 0; i < e->planes; i++) {
        fault_routes_build(&f->routes, &e->node[i], node, NO_ROUTE_EPOCH);
        if (e->endpoint)
            e->endpoint->plane[i].around = &e->node[i].sw.route;
    }
}

/* ---- events ---- */

/* The fabric's node of a simulated node. */
static uint32_t node_of(const struct faults *f, const struct virtual_sim_node *e)
{
    unsigned plane;
    unsigned port;
    return model_port_of(f->w->m, e->node[0].hal.tx[0].link, &plane, &port);
}

/* Notifies a simulated node of all route epochs up to this time. Returns its switches with new routes, bit by its
 * planes. */
static unsigned notify(struct faults *f, const struct virtual_sim_node *e)
{
    int64_t *knows = &f->knows[e->index];
    unsigned planes = 0;
    unsigned switches = 0;
    while (is_notified(f, e) && (size_t)(*knows + 1) < f->hit_links.epochs &&
           f->hit_links.epoch[*knows + 1].at <= f->w->v.now)
        planes |= f->hit_links.epoch[++*knows].planes;
    for (unsigned i = 0; fault_routes_change(f->w->m->g) && i < e->planes; i++)
        switches |= (planes >> fault_routes_plane(&f->routes, &e->node[i]) & 1U) << i;
    return switches;
}

/* Returns whether routes change. */
static bool set_port(const struct faults *f, struct virtual_node *n, const struct event *event)
{
    struct virtual_tx *tx = &n->hal.tx[event->port];
    uint64_t bit = UINT64_C(1) << event->port;
    uint64_t now = f->w->v.now;
    if (event->deed == STOPS) {
        tx->opens = virtual_fault_takes(&f->w->v, tx, tx->opens);
        return false;
    }
    if (event->planned)
        f->losses->rerouted += hx_switch_waiting_for(&n->sw, event->port);
    n->hal.up = event->deed == OPENS ? n->hal.up | bit : n->hal.up & ~bit;
    tx->opens = event->deed == CLOSES ? VIRTUAL_NEVER
                                      : virtual_fault_takes(&f->w->v, tx, tx->link_free > now ? tx->link_free : now);
    return true;
}

static unsigned take_due(void *of, struct virtual_sim_node *e)
{
    struct faults *f = of;
    unsigned steps = 0;
    size_t *next = &f->next[e->index];
    for (; *next < f->events && f->event[*next].sim_node == e->index && f->event[*next].at <= f->w->v.now; ++*next) {
        const struct event *event = &f->event[*next];
        steps |= (unsigned)set_port(f, &e->node[event->plane], event) << event->plane;
    }
    steps |= notify(f, e);
    for (unsigned left = steps; left; left &= left - 1) {
        struct virtual_node *n = &e->node[__builtin_ctz(left)];
        fault_routes_build(&f->routes, n, node_of(f, e), f->knows[e->index]);
        hx_switch_reroute(&n->sw);
    }
    note_next(f, e);
    if (e->endpoint)
        driver_routes_changed(e->of);
    return steps;
}

/* ---- hits ---- */

static void note_hit(void *of, const uint8_t *frame, size_t fault)
{
    struct faults *f = of;
    const struct hx_fabric *g = f->w->m->g;
    struct hx_header h;
    if (hx_frame_decode(&h, frame, HX_HEADER_BYTES + HX_MAX_PAYLOAD) != HX_OK || h.kind == HX_HELLO ||
        h.kind == HX_UNREACHABLE)
        return;
    bool sent = h.kind == HX_DATA || h.kind == HX_PROBE; /* from the sender of the message */
    uint32_t src = hx_fabric_host(g, h.src_addr_hi, h.src_addr_lo);
    uint32_t dst = hx_fabric_host(g, h.dst_addr_hi, h.dst_addr_lo);
    f->cost[fault].hits++;
    if (f->losses->hits++ >= MOST_HITS)
        return;
    f->hit = hx_grow(f->hit, f->hits, &f->hits_room, sizeof *f->hit);
    f->hit[f->hits++] = (struct hit){sent ? src : dst, sent ? dst : src, h.message, (uint32_t)fault};
}

void faults_note_end(struct faults *f, uint32_t from, uint32_t to, uint32_t message, uint64_t now)
{
    f->ended = hx_grow(f->ended, f->ended_count, &f->ended_room, sizeof *f->ended);
    f->ended[f->ended_count++] = (struct ended){from, to, message, now};
}

static int by_message(const void *a, const void *b)
{
    const struct ended *p = a;
    const struct ended *q = b;
    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    if (p->to != q->to)
        return p->to < q->to ? -1 : 1;
    return (p->message > q->message) - (p->message < q->message);
}

/* Notes when the message of a hit ended; this worker owns its sender. */
static void settle(struct faults *f, const struct hit *hit)
{
    struct model_fault *cost = &f->cost[hit->fault];
    const struct ended wanted = {hit->from, hit->to, hit->message, 0};
    const struct ended *e =
        f->ended_count ? bsearch(&wanted, f->ended, f->ended_count, sizeof wanted, by_message) : NULL;
    cost->open += e == NULL;
    if (e && e->at > cost->whole)
        cost->whole = e->at;
}

/* Gives each hit to the worker that owns the sender of its message. */
static void settle_hits(struct faults *f)
{
    const struct model *m = f->w->m;
    struct virtual_channel *c = f->w->v.channel;
    bool *all = hx_allocate(m->workers, sizeof *all);
    memset(all, true, m->workers);
    virtual_channel_meet(c, all);
    free(all);
    for (size_t i = 0; i < f->hits; i++) {
        const struct hit *hit = &f->hit[i];
        unsigned owner = m->layout.worker[hit->from];
        if (owner == f->w->self)
            settle(f, hit);
        else
            memcpy(virtual_channel_send(c, owner, sizeof *hit) + 1, hit, sizeof *hit);
    }
    struct virtual_turn turn = {0};
    model_turn(m, &turn);
    for (const struct virtual_record *r = virtual_channel_receive(c); r; r = virtual_channel_receive(c))
        settle(f, (const struct hit *)(const void *)virtual_record_frame(r));
}

void faults_settle(struct faults *f)
{
    if (f->ended_count)
        qsort(f->ended, f->ended_count, sizeof *f->ended, by_message);
    for (size_t i = 0; i < f->w->m->faults->count; i++)
        f->cost[i].cost = f->links.cost[i];
    settle_hits(f);
}

/* ---- start ---- */

struct faults *faults_start(struct worker *w, struct virtual_sim_node *const *of_node)
{
    const struct model *m = w->m;
    struct faults *f = hx_allocate(1, sizeof *f);
    *f = (struct faults){.w = w};
    f->cost = m->fault + (size_t)w->self * m->faults->count;
    f->losses = &m->losses[w->self];
    f->links = (struct virtual_faults){.seed = m->faults->seed,
                                       .period = faults_period(m),
                                       .cost = hx_allocate(m->faults->count, sizeof *f->links.cost),
                                       .hit = note_hit,
                                       .of_hit = f};
    (void)add_end(f, NULL, 0, 0); /* index 0: no fault */
    f->knows = hx_allocate(w->sim_nodes + 1U, sizeof *f->knows);
    for (uint32_t i = 0; i < w->sim_nodes; i++)
        f->knows[i] = NO_ROUTE_EPOCH;
    f->hit_links = fault_links_find(m);
    fault_routes_open(&f->routes, w, &f->hit_links);
    for (size_t i = 0; i < (size_t)m->g->nodes * m->g->planes; i++) {
        struct virtual_sim_node *e = of_node[i];
        uint32_t node = (uint32_t)(i % m->g->nodes);
        if (!e)
            continue;
        bind_sim_node(f, e, node);
        begin_routes(f, e, node);
    }
    w->v.faults = &f->links;
    w->v.fault_is_due = take_due;
    w->v.of_faults = f;
    note_first(f);
    return f;
}

/* ---- the report ---- */

static void add_cost(struct fault_report *to, const struct model_fault *from)
{
    hx_fault_cost_add(&to->cost, &from->cost);
    to->hits += from->hits;
    to->whole = to->whole && from->open == 0;
    to->whole_ns = from->whole / 1000 > to->whole_ns ? from->whole / 1000 : to->whole_ns;
}

void faults_gather(struct result *r, const struct model *m)
{
    uint64_t all = 0;
    r->faults = m->faults->count;
    r->fault = hx_allocate(r->faults, sizeof *r->fault);
    for (unsigned worker = 0; worker < m->workers; worker++)
        all += m->losses[worker].hits;
    r->circuits = circuits_report_of(m->faults, m->g, r->outcome.virtual_ps / 1000);
    for (unsigned worker = 0; worker < m->workers; worker++)
        r->circuits.rerouted += m->losses[worker].rerouted;
    for (size_t i = 0; i < r->faults; i++) {
        const struct hx_fault *fault = &m->faults->fault[i];
        const bool planned = fault->kind == HX_FAULT_CLOSED; /* routes follow at once */
        r->fault[i] = (struct fault_report){
            .text = fault->text, .planned = planned, .at_ns = fault->at_ns, .whole = planned || all <= MOST_HITS};
        for (unsigned worker = 0; worker < m->workers; worker++)
            add_cost(&r->fault[i], &m->fault[worker * r->faults + i]);
    }
}
