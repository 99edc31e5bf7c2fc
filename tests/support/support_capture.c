/* support_capture.c - the model: nodes, buffers, cables, ticks (support_capture.h). */
#include "tests/support/support_capture.h"
#include "tests/support/support_capture_frame.h"
#include "tests/support/support_capture_paths.h" /* circle: included by the makers of captures */

#include <stdlib.h>
#include <string.h>

enum { E = SIM_E, W = SIM_W, N = SIM_N, S = SIM_S, LOCAL = SIM_LOCAL, PORTS = SIM_PORTS };
enum { VCS = 3, TICK_NS = 50, FLIGHT_TICKS = 3, CREDIT_TICKS = 40, MOST_TICKS = 2000000 };

const struct sim_settings sim_default = {.a = 2,
                                         .b = 2,
                                         .x = 4,
                                         .y = 4,
                                         .planes = 1,
                                         .messages = 3,
                                         .bytes = 300,
                                         .credits = 64,
                                         .crc = true,
                                         .snaplen = 8256,
                                         .seed = 1};

struct packet {
    struct packet *next;
    struct sim_frame frame;
    unsigned bytes; /* on the wire */
    bool credit;    /* a credit frame */
    uint64_t due;   /* tick of its arrival */
    uint32_t limit[VCS], sent[VCS];
    uint64_t nonce, peer_nonce;
};

struct list {
    struct packet *first, *last;
    unsigned count;
};

/* Interface: a port of a node, with its cable. */
struct port {
    struct list buffer[VCS]; /* received packets */
    struct list cable;       /* sent packets in flight */
    uint32_t far;            /* interface; UINT32_MAX: LOCAL */
    unsigned held[VCS];      /* memory: packets on the cable or in the far buffer */
    uint32_t sent[VCS], limit[VCS], received[VCS], freed[VCS];
    uint64_t nonce, peer_nonce;
    bool open;
};

struct world {
    struct sim_capture *c;
    const struct sim_settings *set;
    struct port *port;
    struct list *inject; /* [planes * accelerators] */
    struct list again;   /* lost on a cable */
    struct sim_fabric f;
    unsigned slots;
    uint64_t tick, random, alive;
    unsigned *taken; /* [interfaces]: tick + 1 in which the port sent */
};

static uint64_t draw(struct world *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random >> 11;
}

static void *need(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}

static void put(struct list *l, struct packet *p)
{
    p->next = NULL;
    if (l->last)
        l->last->next = p;
    else
        l->first = p;
    l->last = p;
    l->count++;
}

static struct packet *pop(struct list *l)
{
    struct packet *p = l->first;
    l->first = p->next;
    l->last = l->first ? l->last : NULL;
    l->count--;
    return p;
}

/* ---- records ---- */

static void record(struct world *w, uint32_t interface, unsigned direction, const struct packet *p)
{
    struct sim_capture *c = w->c;
    if (c->count == c->room) {
        c->room = c->room ? 2 * c->room : 4096;
        c->records = realloc(c->records, c->room * sizeof *c->records);
        if (!c->records)
            abort();
    }
    struct sim_record *r = &c->records[c->count++];
    *r = (struct sim_record){.time_ns = 1000 + w->tick * TICK_NS,
                             .interface = interface,
                             .direction = direction,
                             .vc = p->frame.vc,
                             .bytes = p->bytes,
                             .captured = p->bytes < w->set->snaplen ? p->bytes : w->set->snaplen};
    uint8_t whole[SIM_FRAME];
    if (p->credit)
        sim_frame_credit(whole, p->frame.plane, p->limit, p->sent, p->nonce, p->peer_nonce);
    else
        sim_frame_data(whole, &p->frame, w->set->crc);
    r->frame = need(1, r->captured);
    memcpy(r->frame, whole, r->captured);
}

/* ---- cables ---- */

static unsigned blocks(const struct packet *p)
{
    return p->frame.length ? (p->frame.length + 255U) / 256U : 1;
}

static bool has_room(struct world *w, uint32_t interface, const struct packet *p, unsigned vc)
{
    struct port *port = &w->port[interface];
    if (port->far == UINT32_MAX)
        return true;
    if (!w->set->wire) {
        bool overrun = w->set->greedy && !w->c->overrun_frame;
        return port->held[vc] < w->slots + overrun;
    }
    bool overrun = w->set->greedy && !w->c->overrun_frame;
    return port->open && (overrun || (int32_t)(port->limit[vc] - port->sent[vc] - blocks(p)) >= 0);
}

static uint32_t limit_of(const struct world *w, const struct port *port, unsigned vc)
{
    return port->open ? port->freed[vc] + w->set->credits : 0;
}

static void send(struct world *w, uint32_t interface, struct packet *p)
{
    struct port *port = &w->port[interface];
    unsigned vc = p->frame.vc;
    p->due = w->tick + FLIGHT_TICKS;
    if (!p->credit) {
        port->held[vc]++;
        port->sent[vc] += blocks(p);
        bool over = w->set->wire ? (int32_t)(port->limit[vc] - port->sent[vc]) < 0 : port->held[vc] > w->slots;
        if (w->set->greedy && over && !w->c->overrun_frame)
            w->c->overrun_frame = w->c->count + 1;
        p->frame.credit_vc = 0xFF;
        p->frame.credit_limit = 0;
        if (w->set->wire && port->open && w->tick % 4 != 3) {
            p->frame.credit_vc = (uint8_t)(w->tick % 4);
            p->frame.credit_limit = limit_of(w, port, p->frame.credit_vc);
        }
    }
    record(w, interface, 2, p);
    if (!p->credit && w->set->lose && draw(w) % 1000 < w->set->lose) {
        w->c->lost++;
        w->alive--;
        put(&w->again, p);
        return;
    }
    put(&port->cable, p);
}

static void take_limit(struct port *port, unsigned vc, uint32_t limit)
{
    if ((int32_t)(limit - port->limit[vc]) > 0)
        port->limit[vc] = limit;
}

static void take_credit(struct port *port, const struct packet *p)
{
    port->peer_nonce = p->nonce;
    if (p->peer_nonce != port->nonce)
        return;
    port->open = true;
    for (unsigned vc = 0; vc < VCS; vc++) {
        take_limit(port, vc, p->limit[vc]);
        uint32_t missing = p->sent[vc] - port->received[vc];
        port->received[vc] += missing;
        port->freed[vc] += missing;
    }
}

static void arrive(struct world *w, uint32_t from)
{
    struct list *cable = &w->port[from].cable;
    uint32_t interface = w->port[from].far;
    while (cable->first && cable->first->due <= w->tick) {
        struct packet *p = pop(cable);
        struct port *port = &w->port[interface];
        record(w, interface, 1, p);
        if (p->credit) {
            take_credit(port, p);
            free(p);
            continue;
        }
        if (p->frame.credit_vc != 0xFF)
            take_limit(port, p->frame.credit_vc, p->frame.credit_limit);
        port->received[p->frame.vc] += blocks(p);
        put(&port->buffer[p->frame.vc], p);
    }
}

static void send_credit(struct world *w, uint32_t interface)
{
    struct port *port = &w->port[interface];
    struct packet *p = need(1, sizeof *p);
    *p = (struct packet){.credit = true, .bytes = 64, .nonce = port->nonce, .peer_nonce = port->peer_nonce};
    p->frame.plane = (uint8_t)(interface / w->f.per_plane);
    for (unsigned vc = 0; vc < VCS; vc++) {
        p->limit[vc] = limit_of(w, port, vc);
        p->sent[vc] = port->sent[vc];
    }
    send(w, interface, p);
}

/* ---- nodes ---- */

static void inject(struct world *w, unsigned plane, const struct sim_frame *f)
{
    struct packet *p = need(1, sizeof *p);
    p->frame = *f;
    p->frame.plane = (uint8_t)plane;
    p->frame.credit_vc = 0xFF;
    p->bytes = 64U + f->length;
    put(&w->inject[plane * w->f.columns * w->f.rows + f->src_addr_lo * w->f.columns + f->src_addr_hi], p);
    w->alive++;
}

/* Delivers a packet, and answers the last packet of a message. Model receivers do not wait for the other packets.
 * The source sends again what ends at an accelerator short of its destination. */
static void deliver(struct world *w, unsigned rank, struct packet *p)
{
    struct sim_frame f = p->frame;
    if (rank != f.dst_addr_lo * w->f.columns + f.dst_addr_hi) {
        w->c->turned_back++;
        w->alive--;
        put(&w->again, p);
        return;
    }
    if (f.kind == 1 && f.offset + 1 == f.message_packets) {
        struct sim_frame ack = {.kind = 2,
                                .job = f.job,
                                .dst_addr_hi = f.src_addr_hi,
                                .dst_addr_lo = f.src_addr_lo,
                                .src_addr_hi = f.dst_addr_hi,
                                .src_addr_lo = f.dst_addr_lo,
                                .message = f.message,
                                .offset = f.message_packets,
                                .message_packets = f.message_packets,
                                .epoch = 1,
                                .peer_epoch = 1,
                                .tag = f.tag};
        inject(w, f.plane, &ack);
    }
    w->alive--;
    free(p);
}

/* Output interface of the packet, random if there are several; UINT32_MAX: the packet waits. */
static uint32_t choose(struct world *w, const struct packet *p, uint32_t first, uint64_t set,
                       const unsigned vc_increment[64])
{
    uint32_t chosen = UINT32_MAX;
    unsigned count = 0;
    for (unsigned port = 0; port < 64; port++) {
        if (!(set >> port & 1) || w->taken[first + port] == w->tick + 1)
            continue;
        if (has_room(w, first + port, p, p->frame.vc + vc_increment[port]) && draw(w) % ++count == 0)
            chosen = first + port;
    }
    return chosen;
}

static void forward(struct world *w, uint32_t interface, unsigned vc, uint32_t first, uint64_t set,
                    const unsigned vc_increment[64])
{
    struct port *port = &w->port[interface];
    struct packet *p = port->buffer[vc].first;
    uint32_t out = choose(w, p, first, set, vc_increment);
    if (out == UINT32_MAX)
        return;
    (void)pop(&port->buffer[vc]);
    port->freed[vc] += blocks(p);
    if (port->far != UINT32_MAX)
        w->port[port->far].held[vc]--;
    w->taken[out] = (unsigned)w->tick + 1;
    p->frame.hops++;
    p->frame.vc = (uint8_t)(p->frame.vc + vc_increment[out - first]);
    if (w->port[out].far == UINT32_MAX) {
        p->frame.credit_vc = 0xFF;
        record(w, out, 2, p);
        deliver(w, out % w->f.per_plane / PORTS, p);
    } else {
        send(w, out, p);
    }
}

static void step_accelerator(struct world *w, unsigned plane, unsigned gx, unsigned gy)
{
    uint32_t first = sim_accelerator_port(&w->f, plane, gx, gy, 0);
    struct list *waiting = &w->inject[plane * w->f.columns * w->f.rows + gy * w->f.columns + gx];
    struct port *local = &w->port[first + LOCAL];
    if (waiting->first && local->buffer[0].count < w->slots) {
        struct packet *p = pop(waiting);
        record(w, first + LOCAL, 1, p);
        put(&local->buffer[0], p);
    }
    unsigned vc_increment[64] = {[E] = sim_is_edge(w->set->a, gx, 1),
                                 [W] = sim_is_edge(w->set->a, gx, 0),
                                 [N] = sim_is_edge(w->set->b, gy, 0),
                                 [S] = sim_is_edge(w->set->b, gy, 1)};
    for (unsigned port = 0; port < PORTS; port++)
        for (unsigned vc = 0; vc < VCS; vc++) {
            struct packet *p = w->port[first + port].buffer[vc].first;
            if (!p)
                continue;
            unsigned set = sim_paths(&w->f, &p->frame, port, gx, gy);
            for (unsigned out = E; vc == VCS - 1 && out < LOCAL; out++)
                set &= ~(vc_increment[out] << out); /* the last VC has no successor */
            forward(w, first + port, vc, first, set ? set : 1U << LOCAL, vc_increment);
        }
}

static void step_crossbar(struct world *w, uint32_t first, bool row)
{
    unsigned ports = 2 * (row ? w->set->x : w->set->y);
    unsigned vc_increment[64] = {0};
    for (unsigned port = 0; port < ports; port++)
        for (unsigned vc = 0; vc < VCS; vc++) {
            const struct list *buffer = &w->port[first + port].buffer[vc];
            if (!buffer->first)
                continue;
            bool back = w->set->give_back && draw(w) % 1000 < w->set->give_back;
            unsigned before = buffer->count;
            forward(w, first + port, vc, first,
                    back ? 1ULL << port : sim_crossbar_paths(&w->f, &buffer->first->frame, row, port), vc_increment);
            w->c->given_back += back && buffer->count < before;
        }
}

static void tick_plane(struct world *w, unsigned plane)
{
    uint32_t base = plane * w->f.per_plane;
    for (uint32_t i = base; i < base + w->f.per_plane; i++)
        if (w->port[i].far != UINT32_MAX)
            arrive(w, i);
    for (uint32_t i = base; w->set->wire && w->tick % CREDIT_TICKS < 2 && i < base + w->f.per_plane; i++)
        if (w->port[i].far != UINT32_MAX)
            send_credit(w, i);
    for (unsigned gy = 0; gy < w->f.rows; gy++)
        for (unsigned gx = 0; gx < w->f.columns; gx++)
            step_accelerator(w, plane, gx, gy);
    for (unsigned line = 0; line < w->f.rows; line++)
        step_crossbar(w, base + w->f.first_row + line * 2 * w->set->x, true);
    for (unsigned line = 0; line < w->f.columns; line++)
        step_crossbar(w, base + w->f.first_column + line * 2 * w->set->y, false);
}

/* ---- runs ---- */

static void wire_up(struct world *w)
{
    for (unsigned plane = 0; plane < w->set->planes; plane++)
        for (unsigned gy = 0; gy < w->f.rows; gy++)
            for (unsigned gx = 0; gx < w->f.columns; gx++) {
                for (unsigned port = E; port < LOCAL; port++) {
                    uint32_t here = sim_accelerator_port(&w->f, plane, gx, gy, port);
                    uint32_t there = sim_far_of(&w->f, plane, gx, gy, port);
                    w->port[here].far = there;
                    w->port[there].far = here;
                }
                w->port[sim_accelerator_port(&w->f, plane, gx, gy, LOCAL)].far = UINT32_MAX;
            }
    for (uint32_t i = 0; i < w->c->interfaces; i++)
        w->port[i].nonce = UINT64_C(0x123456789ABCDE00) + i;
}

static void load(struct world *w)
{
    unsigned packets = w->set->bytes / 8192 + (w->set->bytes % 8192 != 0 || w->set->bytes == 0);
    for (unsigned message = 0; message < w->set->messages; message++)
        for (unsigned rank = 0; rank < w->f.columns * w->f.rows; rank++) {
            unsigned to =
                (unsigned)((rank + 1 + draw(w) % (w->f.columns * w->f.rows - 1)) % (w->f.columns * w->f.rows));
            for (unsigned i = 0; i < packets; i++) {
                struct sim_frame f = {.kind = 1,
                                      .dst_addr_hi = (uint16_t)(to % w->f.columns),
                                      .dst_addr_lo = (uint16_t)(to / w->f.columns),
                                      .src_addr_hi = (uint16_t)(rank % w->f.columns),
                                      .src_addr_lo = (uint16_t)(rank / w->f.columns),
                                      .message = message,
                                      .offset = i,
                                      .message_packets = packets,
                                      .length = (uint16_t)(i + 1 < packets ? 8192 : w->set->bytes - i * 8192),
                                      .epoch = 1,
                                      .peer_epoch = 1,
                                      .tag = rank};
                inject(w, i % w->set->planes, &f);
            }
        }
}

/* Sends lost packets again, as a sender does after its timeout. */
static void repeat_lost(struct world *w)
{
    while (w->again.first) {
        struct packet *p = pop(&w->again);
        struct sim_frame f = p->frame;
        f.vc = f.hops = 0;
        inject(w, f.plane, &f);
        free(p);
    }
}

void sim_run(struct sim_capture *c, const struct sim_settings *set)
{
    *c = (struct sim_capture){.set = *set};
    struct world w = {.c = c,
                      .set = set,
                      .random = set->seed * 0x9E3779B97F4A7C15U + 1,
                      .f = sim_fabric_of(set),
                      .slots = set->credits / 32};
    c->interfaces = set->planes * w.f.per_plane;
    w.port = need(c->interfaces, sizeof *w.port);
    w.taken = need(c->interfaces + 64, sizeof *w.taken);
    w.inject = need((size_t)set->planes * w.f.columns * w.f.rows, sizeof *w.inject);
    wire_up(&w);
    load(&w);
    while ((w.alive > 0 || w.again.first) && w.tick < MOST_TICKS) {
        if (w.alive == 0)
            repeat_lost(&w);
        for (unsigned plane = 0; plane < set->planes; plane++)
            tick_plane(&w, plane);
        w.tick++;
    }
    if (w.alive > 0)
        abort();
    for (uint32_t i = 0; i < c->interfaces; i++)
        while (w.port[i].cable.first)
            free(pop(&w.port[i].cable));
    free(w.port);
    free(w.taken);
    free(w.inject);
}

void sim_free(struct sim_capture *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->records[i].frame);
    free(c->records);
    *c = (struct sim_capture){.count = 0};
}
