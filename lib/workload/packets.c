/* packets.c - sends IP packets of programs as messages (packets.h).
 *
 * Sending: a packet of IPv4 or IPv6 goes to the host of its destination address (host_ip.h); without such a host it is
 * dropped. Packets that wait for one host gather in a message of at most PACKETS_MESSAGE bytes. While HX_PEER_WINDOW
 * messages to a host are in flight, the next one grows. So a single packet does not wait, and a stream costs few
 * messages. When all OUTGOING messages are in use, nothing is read: packets wait in the interface, which blocks its
 * sender, and none is dropped.
 *
 * Receiving: messages are written to the interface in the order of sending (in_order.h). */
#include "workload/packets.h"
#include "base/random.h"
#include "workload/host_ip.h"
#include "workload/in_order.h"
#include "workload/kinds.h" /* circle: a kind of workload, which the list names */

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OUTGOING = WORKLOAD_SENDS, /* messages of a host that gather or are in flight: as many as its endpoint has */
    READS = 16,                /* packets read before messages are sent */
    IP6_VERSION = 6
};
_Static_assert(PACKETS_MESSAGE == IN_ORDER_PACKETS * HX_MAX_PAYLOAD, "a message has so many packets at most");

/* FREE -> GATHERING (packets are added) -> IN_FLIGHT (the endpoint has it) -> FREE */
enum outgoing_state { FREE, GATHERING, IN_FLIGHT };
struct outgoing {
    enum outgoing_state state;
    uint8_t place; /* bit in struct towards.in_flight */
    uint32_t to, tag, bytes;
    uint64_t number;
    uint8_t *data; /* [PACKETS_MESSAGE]; NULL: never used */
};

struct towards {
    uint16_t life;     /* incarnation, modulo the room of a tag */
    uint8_t handed;    /* messages given to the endpoint, modulo HX_PEER_WINDOW: place of the next one */
    uint8_t in_flight; /* messages in flight, one bit for each place; the next message needs its place free */
    uint8_t gathering; /* 1 + index in outgoing[] of the message that gathers; 0: none */
    uint32_t sequence; /* of the next message, modulo the room of a tag */
};

struct packets_of_host {
    struct workload base;
    const struct packets *p;
    int tun;
    uint64_t messages; /* messages begun */
    unsigned gathering, turn;
    struct outgoing outgoing[OUTGOING];
    struct towards *towards;  /* [hosts] */
    struct in_order **source; /* [hosts]; NULL: nothing arrived */
    uint32_t staged;          /* bytes of the packet that was read and waits; 0: none */
    uint32_t staged_to;       /* its host */
    uint8_t packet[PACKETS_MESSAGE];
};

static struct packets_of_host *of_workload(struct workload *w)
{
    return (struct packets_of_host *)w;
}

/* ---- packets ---- */

static unsigned version_of(const uint8_t *packet)
{
    return *packet >> 4;
}

/* Bytes of the IP packet at the start of `data`; 0: none. */
static uint32_t packet_bytes(const uint8_t *data, uint32_t left)
{
    struct iphdr ip;
    struct ip6_hdr ip6;
    uint32_t bytes = 0;
    if (left >= sizeof ip && version_of(data) == IPVERSION) {
        memcpy(&ip, data, sizeof ip);
        bytes = ntohs(ip.tot_len);
        bytes = bytes >= sizeof ip ? bytes : 0;
    } else if (left >= sizeof ip6 && version_of(data) == IP6_VERSION) {
        memcpy(&ip6, data, sizeof ip6);
        bytes = (uint32_t)sizeof ip6 + ntohs(ip6.ip6_plen);
    }
    return bytes <= left ? bytes : 0;
}

static uint32_t destination_of(const struct hx_fabric *g, const uint8_t *packet)
{
    struct iphdr ip;
    struct ip6_hdr ip6;
    if (version_of(packet) == IP6_VERSION) {
        memcpy(&ip6, packet, sizeof ip6);
        return host_of_ip6(g, &ip6.ip6_dst);
    }
    memcpy(&ip, packet, sizeof ip);
    return host_of_ip(g, ntohl(ip.daddr));
}

/* ---- sending ---- */

static uint32_t next_tag(struct towards *t)
{
    return in_order_tag(t->life, t->sequence++);
}

static struct outgoing *begin_message(struct packets_of_host *h, uint32_t to)
{
    unsigned i = 0;
    while (i < OUTGOING && h->outgoing[i].state != FREE)
        i++;
    if (i == OUTGOING)
        return NULL;
    struct outgoing *o = &h->outgoing[i];
    struct towards *t = &h->towards[to];
    if (!o->data)
        o->data = hx_allocate(1, PACKETS_MESSAGE);
    o->state = GATHERING;
    o->to = to;
    o->bytes = 0;
    o->number = h->messages++ * OUTGOING + i;
    o->tag = next_tag(t);
    t->gathering = (uint8_t)(i + 1);
    h->gathering++;
    return o;
}

/* Adds the staged packet to its host's message. Returns false if it must wait. */
static bool place_staged(struct packets_of_host *h)
{
    const struct towards *t = &h->towards[h->staged_to];
    struct outgoing *o = t->gathering ? &h->outgoing[t->gathering - 1] : begin_message(h, h->staged_to);
    if (!o || o->bytes + h->staged > PACKETS_MESSAGE)
        return false;
    memcpy(o->data + o->bytes, h->packet, h->staged);
    o->bytes += h->staged;
    h->staged = 0;
    return true;
}

/* Reads the next packet for a host of the fabric. Returns false if there is none. */
static bool stage(struct packets_of_host *h)
{
    while (h->p->readable[h->base.rank]) {
        ssize_t bytes = read(h->tun, h->packet, sizeof h->packet);
        if (bytes <= 0) {
            h->p->readable[h->base.rank] = false;
            return false;
        }
        h->staged = packet_bytes(h->packet, (uint32_t)bytes);
        h->staged_to = h->staged ? destination_of(h->p->g, h->packet) : HX_NOWHERE;
        if (h->staged_to != HX_NOWHERE && h->p->tun[h->staged_to] >= 0)
            return true;
        h->staged = 0;
    }
    return false;
}

static void gather(struct packets_of_host *h)
{
    for (unsigned reads = 0; reads < READS; reads++) {
        if (!h->staged && !stage(h))
            return;
        if (!place_staged(h))
            return;
    }
}

static bool has_place(const struct towards *t)
{
    return !(t->in_flight >> t->handed & 1U);
}

static bool next(struct workload *w, uint64_t now, uint32_t refused, struct workload_message *m)
{
    (void)now;
    struct packets_of_host *h = of_workload(w);
    gather(h);
    for (unsigned i = 0; !refused && h->gathering && i < OUTGOING; i++) {
        const struct outgoing *o = &h->outgoing[(h->turn + i) % OUTGOING];
        if (o->state != GATHERING || !has_place(&h->towards[o->to]))
            continue;
        *m = (struct workload_message){.to = o->to, .tag = o->tag, .bytes = o->bytes, .number = o->number};
        return true;
    }
    return false;
}

static void end_gathering(struct packets_of_host *h, struct outgoing *o, enum outgoing_state state)
{
    o->state = state;
    h->towards[o->to].gathering = 0;
    h->gathering--;
    h->turn = (unsigned)(o - h->outgoing) + 1;
}

static void take(struct workload *w, const struct workload_message *m)
{
    struct packets_of_host *h = of_workload(w);
    struct outgoing *o = &h->outgoing[m->number % OUTGOING];
    struct towards *t = &h->towards[m->to];
    end_gathering(h, o, IN_FLIGHT);
    o->place = t->handed;
    t->in_flight |= (uint8_t)(1U << o->place);
    t->handed = (uint8_t)((t->handed + 1) % HX_PEER_WINDOW);
}

/* Starts an incarnation, after a message failed: later messages must not wait for its number. */
static void begin_life(struct packets_of_host *h, struct towards *t)
{
    t->life++;
    t->sequence = 0;
    if (t->gathering)
        h->outgoing[t->gathering - 1].tag = next_tag(t);
}

static void give_up(struct workload *w, const struct workload_message *m)
{
    struct packets_of_host *h = of_workload(w);
    end_gathering(h, &h->outgoing[m->number % OUTGOING], FREE);
    begin_life(h, &h->towards[m->to]);
}

static void fill(const struct workload *w, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct packets_of_host *h = (const struct packets_of_host *)w;
    memcpy(to, h->outgoing[s->cookie % OUTGOING].data + (size_t)packet * HX_MAX_PAYLOAD, bytes);
}

static void end_message(struct packets_of_host *h, const struct hx_event *e)
{
    struct outgoing *o = &h->outgoing[e->cookie % OUTGOING];
    if (o->state != IN_FLIGHT || o->number != e->cookie)
        return;
    struct towards *t = &h->towards[o->to];
    o->state = FREE;
    t->in_flight &= (uint8_t) ~(1U << o->place);
    if (e->type == HX_EVENT_FAILED)
        begin_life(h, t);
}

/* ---- receiving ---- */

/* A failed write loses the packet, as on a real interface without a receiver. */
static void write_all(void *of, const uint8_t *data, uint32_t bytes)
{
    const struct packets_of_host *h = of;
    for (uint32_t at = 0, length; (length = packet_bytes(data + at, bytes - at)) > 0; at += length) {
        ssize_t taken = write(h->tun, data + at, length);
        (void)taken;
    }
}

static uint64_t place(struct workload *w, const struct hx_header *header, const uint8_t *payload)
{
    struct packets_of_host *h = of_workload(w);
    const struct in_order_out to = {.give = write_all, .of = h};
    uint32_t from = hx_fabric_host(h->p->g, header->src_addr_hi, header->src_addr_lo);
    if (from == HX_NOWHERE)
        return header->length;
    if (!h->source[from])
        h->source[from] = hx_allocate(1, sizeof *h->source[from]);
    return in_order_place(h->source[from], header, payload, &to) ? 0 : header->length;
}

static int event(struct workload *w, uint64_t now, const struct hx_event *e)
{
    (void)now;
    struct packets_of_host *h = of_workload(w);
    const struct in_order_out to = {.give = write_all, .of = h};
    if (e->type != HX_EVENT_RECEIVED) {
        end_message(h, e);
        return HX_OK;
    }
    uint32_t from = hx_fabric_host(h->p->g, e->addr_hi, e->addr_lo);
    if (from != HX_NOWHERE && e->bytes > HX_MAX_PAYLOAD && h->source[from])
        in_order_received(h->source[from], e->tag, e->bytes, &to);
    return HX_OK;
}

/* ---- start and end ---- */

/* Programs may always send more. */
static bool is_over(const struct workload *w)
{
    (void)w;
    return false;
}

static void close_host(struct workload *w)
{
    struct packets_of_host *h = of_workload(w);
    for (unsigned i = 0; i < OUTGOING; i++)
        free(h->outgoing[i].data);
    for (uint32_t from = 0; from < h->p->g->hosts; from++) {
        if (h->source[from])
            in_order_free(h->source[from]);
        free(h->source[from]);
    }
    free(h->source);
    free(h->towards);
}

static const struct workload_ops ops = {WORKLOAD_OPS(struct packets_of_host), .take = take, .give_up = give_up,
                                        .event = event, .close = close_host};

static size_t bytes_of(const struct workload_plan *plan, uint32_t rank)
{
    (void)plan;
    (void)rank;
    return sizeof(struct packets_of_host);
}

static struct workload *make(const struct workload_plan *plan, uint32_t rank, const struct workload_memory *m)
{
    struct packets_of_host *h = m->memory;
    const struct hx_fabric *g = plan->packets->g;
    h->base = (struct workload){.ops = &ops, .carries = true};
    h->p = plan->packets;
    h->tun = h->p->tun[rank];
    h->towards = hx_allocate(g->hosts, sizeof *h->towards);
    h->source = hx_allocate(g->hosts, sizeof(void *));
    uint16_t life = (uint16_t)hx_random_64(); /* most likely not a predecessor's */
    for (uint32_t to = 0; to < g->hosts; to++)
        h->towards[to].life = life;
    h->p->readable[rank] = h->tun >= 0;
    return &h->base;
}

const struct workload_kind packets_kind = {.bytes = bytes_of, .make = make};
