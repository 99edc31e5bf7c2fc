/* posted.c - messages that a caller posts while time runs (posted.h). */
#include "workload/posted.h"
#include "base/table.h"
#include "hxmesh/endpoint.h"
#include "hxmesh/error.h"
#include "workload/host_payload.h"
#include "workload/kinds.h" /* circle: a kind of workload, which the list names */

#include <stdlib.h>

enum { NONE = UINT32_MAX };

/* Singly linked list of indices; first NONE: empty. */
struct list {
    uint32_t first, last;
};

struct collective;

/* A collective at one host. Invariant: it is in the host's list from its begin to its end. */
struct member {
    struct collective *of;
    struct hx_collective engine;
    void *state;      /* of the engine */
    uint32_t refused; /* queues of the engine to peers with a full window, bits */
    uint32_t host;
    struct member *before, *next; /* of this host */
};

struct collective {
    uint64_t cookie;
    uint32_t left;         /* members that have not ended */
    struct member *member; /* [size], by position */
};

/* A message, posted or of a collective. */
struct slot {
    struct posted_message message;
    uint32_t next;                 /* in the list of its peer, or of free slots */
    struct collective *collective; /* NULL: posted */
    uint32_t from, to;             /* positions */
    uint32_t tag;                  /* of the engine */
};

struct peer {
    uint32_t rank;
    uint32_t in_flight; /* messages that are not acknowledged */
    struct list out;    /* slots */
    uint32_t next;      /* in host.ready */
    bool queued;        /* there */
};

struct found_peer {
    uint64_t key; /* rank */
    uint32_t index;
};

struct host {
    struct workload base;
    struct posted *posted;
    const struct traffic *traffic;
    struct hx_table peer_of; /* struct found_peer */
    struct peer *peer;       /* [peer_of.count] */
    size_t peer_room;
    struct list ready;             /* peers with a message that may go, and an open window */
    struct member *first, *latest; /* collectives in progress; the first is asked next */
    struct {
        struct member *member; /* NULL: a posted message */
        struct hx_collective_send send;
        uint32_t peer; /* index */
        uint32_t slot;
    } offered; /* by the last next() */
};

struct posted {
    const struct hx_fabric *g;
    uint32_t window;    /* messages of a pair */
    struct host **host; /* [hosts] */
    struct slot *slot;
    size_t used, room;
    uint32_t free; /* first of the list; NONE: none */
    void (*happened)(void *of, const struct posted_event *e);
    void *of;
};

struct posted *posted_open(const struct hx_fabric *g, void (*happened)(void *of, const struct posted_event *e),
                           void *of)
{
    struct posted *p = hx_allocate(1, sizeof *p);
    *p = (struct posted){.g = g,
                         .window = hx_peer_window(g->planes),
                         .host = hx_allocate(g->hosts, sizeof(struct host *)),
                         .free = NONE,
                         .happened = happened,
                         .of = of};
    return p;
}

/* ---- slots and peers ---- */

static uint32_t take_slot(struct posted *p)
{
    uint32_t number = p->free;
    if (number != NONE) {
        p->free = p->slot[number].next;
        return number;
    }
    p->slot = hx_grow(p->slot, p->used, &p->room, sizeof *p->slot);
    return (uint32_t)p->used++;
}

static void give_slot(struct posted *p, uint32_t number)
{
    p->slot[number].next = p->free;
    p->free = number;
}

static uint32_t peer_of(struct host *h, uint32_t rank)
{
    const uint64_t key = rank;
    struct found_peer *f = hx_table_find(&h->peer_of, &key);
    if (f)
        return f->index;
    const uint32_t index = (uint32_t)h->peer_of.count;
    f = hx_table_add(&h->peer_of, &key);
    f->index = index;
    h->peer = hx_grow(h->peer, index, &h->peer_room, sizeof *h->peer);
    h->peer[index] = (struct peer){.rank = rank, .out = {NONE, NONE}, .next = NONE};
    return index;
}

static void make_ready(struct host *h, uint32_t at)
{
    struct peer *p = &h->peer[at];
    if (p->queued || p->out.first == NONE || p->in_flight == h->posted->window)
        return;
    p->queued = true;
    p->next = NONE;
    *(h->ready.last != NONE ? &h->peer[h->ready.last].next : &h->ready.first) = at;
    h->ready.last = at;
}

/* ---- posting ---- */

void posted_send(struct posted *p, const struct posted_message *m)
{
    struct host *h = p->host[m->from];
    const uint32_t at = peer_of(h, m->to);
    const uint32_t number = take_slot(p);
    struct list *out = &h->peer[at].out;
    p->slot[number] = (struct slot){.message = *m, .next = NONE};
    *(out->last != NONE ? &p->slot[out->last].next : &out->first) = number;
    out->last = number;
    make_ready(h, at);
}

static void list_member(struct host *h, struct member *c)
{
    c->before = h->latest;
    c->next = NULL;
    *(h->latest ? &h->latest->next : &h->first) = c;
    h->latest = c;
}

static void unlist_member(struct host *h, struct member *c)
{
    *(c->before ? &c->before->next : &h->first) = c->next;
    *(c->next ? &c->next->before : &h->latest) = c->before;
}

void posted_collective(struct posted *p, const struct hx_collective_config *config, const uint32_t *host,
                       uint64_t cookie)
{
    struct collective *c = hx_allocate(1, sizeof *c);
    *c = (struct collective){
        .cookie = cookie, .left = config->size, .member = hx_allocate(config->size, sizeof *c->member)};
    for (uint32_t i = 0; i < config->size; i++) {
        struct member *m = &c->member[i];
        struct hx_collective_config own = *config;
        own.position = i;
        *m = (struct member){.of = c, .host = host[i], .state = hx_allocate(1, hx_collective_state(&own))};
        (void)hx_collective_init(&m->engine, &own, m->state, NULL, NULL); /* checked by the plan */
        list_member(p->host[host[i]], m);
    }
}

/* ---- the workload ---- */

static struct host *host_of(struct workload *w)
{
    return (struct host *)w;
}

/* Finds a message of a collective to a peer with an open window. */
static bool offer(struct host *h, struct member *c)
{
    struct hx_collective_send *send = &h->offered.send;
    while (hx_collective_next(&c->engine, c->refused, send)) {
        h->offered.peer = peer_of(h, c->of->member[send->to].host);
        if (h->peer[h->offered.peer].in_flight < h->posted->window)
            return true;
        c->refused |= (uint32_t)1 << send->queue;
    }
    return false;
}

static bool next_of_collectives(struct host *h, struct workload_message *m)
{
    for (struct member *c = h->first; c; c = c->next) {
        if (!offer(h, c))
            continue;
        h->offered.member = c;
        h->offered.slot = take_slot(h->posted);
        *m = (struct workload_message){.to = h->peer[h->offered.peer].rank,
                                       .tag = h->offered.slot,
                                       .bytes = h->offered.send.bytes,
                                       .number = *h->base.begun};
        give_slot(h->posted, h->offered.slot); /* until it is taken */
        return true;
    }
    return false;
}

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    struct host *h = host_of(w);
    (void)now;
    if (refused)
        return false;
    if (h->ready.first == NONE)
        return next_of_collectives(h, m);
    h->offered.member = NULL;
    h->offered.peer = h->ready.first;
    h->offered.slot = h->peer[h->offered.peer].out.first;
    const struct slot *s = &h->posted->slot[h->offered.slot];
    *m = (struct workload_message){
        .to = s->message.to, .tag = h->offered.slot, .bytes = s->message.bytes, .number = *w->begun};
    return true;
}

static void take_of_collective(struct host *h)
{
    struct posted *p = h->posted;
    struct member *c = h->offered.member;
    const uint32_t number = take_slot(p);
    p->slot[number] = (struct slot){.message = {.from = c->host, .cookie = c->of->cookie},
                                    .collective = c->of,
                                    .from = (uint32_t)(c - c->of->member),
                                    .to = h->offered.send.to,
                                    .tag = h->offered.send.tag};
    hx_collective_take(&c->engine, &h->offered.send);
    unlist_member(h, c);
    list_member(h, c);
}

static void take_posted(struct host *h)
{
    struct peer *p = &h->peer[h->offered.peer];
    p->out.first = h->posted->slot[h->offered.slot].next;
    if (p->out.first == NONE)
        p->out.last = NONE;
    h->ready.first = p->next;
    if (p->next == NONE)
        h->ready.last = NONE;
    p->queued = false;
}

static void take(struct workload *w, const struct workload_message *m)
{
    struct host *h = host_of(w);
    (void)m;
    if (h->offered.member)
        take_of_collective(h);
    else
        take_posted(h);
    h->peer[h->offered.peer].in_flight++;
    make_ready(h, h->offered.peer);
}

/* ---- what happens ---- */

static void tell(const struct host *h, enum posted_what what, uint64_t now, const struct slot *s)
{
    struct posted *p = h->posted;
    p->happened(p->of, &(struct posted_event){.what = what,
                                              .host = h->base.rank,
                                              .now = now,
                                              .of_collective = s->collective != NULL,
                                              .message = s->message});
}

static void end_if_done(struct host *h, uint64_t now, struct member *m)
{
    struct collective *c = m->of;
    if (!hx_collective_done(&m->engine))
        return;
    unlist_member(h, m);
    free(m->state);
    tell(h, POSTED_ENDED, now, &(struct slot){.message = {.cookie = c->cookie}, .collective = c});
    if (--c->left == 0)
        HX_FREE(c->member, c);
}

/* A window has opened: all collectives of the host ask again. */
static void acknowledged(struct host *h, uint32_t to)
{
    const uint32_t at = peer_of(h, to);
    h->peer[at].in_flight--;
    for (struct member *c = h->first; c; c = c->next)
        c->refused = 0;
    make_ready(h, at);
}

static void arrived(struct host *h, uint64_t now, const struct slot *s)
{
    if (!s->collective) {
        tell(h, POSTED_ARRIVED, now, s);
        return;
    }
    struct member *m = &s->collective->member[s->to];
    (void)hx_collective_received(&m->engine, s->from, s->tag); /* its slot says that it is due */
    end_if_done(h, now, m);
}

static void sent(struct host *h, uint64_t now, const struct slot *s)
{
    if (!s->collective) {
        tell(h, POSTED_ACKNOWLEDGED, now, s);
        return;
    }
    struct member *m = &s->collective->member[s->from];
    (void)hx_collective_sent(&m->engine, s->tag);
    end_if_done(h, now, m);
}

static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    struct host *h = host_of(w);
    struct posted *p = h->posted;
    if (e->tag >= p->used)
        return HX_E_RANGE;
    const struct slot s = p->slot[e->tag]; /* a callee may post, which moves slots */
    if (e->type == HX_EVENT_RECEIVED) {
        arrived(h, now, &s);
        return HX_OK;
    }
    acknowledged(h, hx_fabric_host(p->g, e->addr_hi, e->addr_lo));
    if (e->type == HX_EVENT_FAILED) { /* a collective never ends then */
        tell(h, POSTED_FAILED, now, &s);
        return HX_OK;
    }
    give_slot(p, e->tag);
    sent(h, now, &s);
    return HX_OK;
}

static bool is_over(const struct workload *w)
{
    const struct host *h = (const struct host *)w;
    return h->ready.first == NONE && !h->first;
}

static void fill(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    host_payload_fill(((const struct host *)w)->traffic, w->rank, s, packet, to, bytes);
}

static uint64_t place(struct workload *w, const struct hx_header *h, const uint8_t *payload)
{
    return host_payload_check(host_of(w)->traffic, w->rank, h, payload);
}

static void close_host(struct workload *w)
{
    struct host *h = host_of(w);
    for (struct member *m = h->first; m; m = m->next)
        free(m->state);
    hx_table_free(&h->peer_of);
    free(h->peer);
}

static const struct workload_ops ops = {WORKLOAD_OPS(struct host), .take = take, .event = event, .close = close_host};

static size_t bytes(const struct workload_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return sizeof(struct host);
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    struct host *h = m->memory;
    *h = (struct host){.base = {.ops = &ops, .carries = plan->verify},
                       .posted = plan->posted,
                       .traffic = plan->traffic,
                       .peer_of = hx_table_make(sizeof(uint64_t), sizeof(struct found_peer)),
                       .ready = {NONE, NONE}};
    plan->posted->host[rank] = h;
    return &h->base;
}

/* Any other host may come. */
static struct workload_load load(const struct workload_plan *plan, uint32_t rank)
{
    (void)rank;
    const uint32_t others = plan->traffic->g->hosts - 1;
    return (struct workload_load){.destinations = others, .peers = others, .again = true, .longer = true};
}

const struct workload_kind posted_kind = {bytes, make, load};
