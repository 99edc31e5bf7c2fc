/* collective_packets.c - packets on links (collective_packets.h). */
#include "workload/collective_packets.h"
#include "base/error.h"
#include "hxmesh/endpoint.h"
#include "spec/collective_model.h"
#include "workload/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WAKE UINT32_C(0x80000000) /* an event of a host */

struct event {
    struct time_key key; /* time: bits_of() */
    uint32_t what;       /* packet, or host + WAKE */
};

void packets_open(struct packets *p, struct collective_loads *loads)
{
    const struct hx_fabric *g = loads->g;
    *p = (struct packets){
        .loads = loads, .events.bytes = sizeof(struct event), .idle_packet = HX_NOWHERE, .idle_message = HX_NOWHERE};
    p->host = hx_allocate(g->hosts, sizeof *p->host);
    p->free = hx_allocate((size_t)g->planes * g->ports, sizeof *p->free);
    for (uint32_t host = 0; host < g->hosts; host++) {
        p->host[host].wake = INFINITY;
    }
}

void packets_close(struct packets *p)
{
    time_heap_free(&p->events);
    HX_FREE(p->host, p->free, p->packet, p->message);
}

/* ---- events ---- */

/* Times that are not negative have the order of their bits. */
static uint64_t bits_of(double seconds)
{
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    return bits;
}

static double seconds_of(uint64_t bits)
{
    double seconds;
    memcpy(&seconds, &bits, sizeof seconds);
    return seconds;
}

static void note(struct packets *p, double at, uint32_t what)
{
    struct event e = {.key.time = bits_of(at), .what = what};
    time_heap_push(&p->events, &e.key);
}

/* ---- hops ---- */

static double seconds_on(const struct packets *p, const struct packets_packet *packet, uint32_t port)
{
    return packet->blocks * HX_BLOCK * p->loads->slowness[port] * p->loads->g->planes;
}

static double *free_of(const struct packets *p, const struct packets_packet *packet, uint32_t port)
{
    return &p->free[(size_t)packet->plane * p->loads->g->ports + port];
}

/* Sends a packet with its head there at `head`; a packet is not torn. Returns when it begins. */
static double cross(struct packets *p, struct packets_packet *packet, uint32_t port, double head)
{
    const double seconds = seconds_on(p, packet, port);
    double *free = free_of(p, packet, port);
    const double start = fmax(fmax(head, *free), packet->tail - seconds);
    *free = start + seconds;
    packet->tail = start + seconds * (1 - 1.0 / packet->blocks) + p->loads->latency[port];
    p->hops++;
    return start;
}

/* Into the endpoint. */
static void deliver(struct packets *p, uint32_t index, uint32_t host, double head)
{
    struct packets_packet *packet = &p->packet[index];
    const uint32_t port = p->loads->g->node[host].first_port + HX_LOCAL;
    double *free = free_of(p, packet, port);
    *free = fmax(head, *free) + seconds_on(p, packet, port);
    packet->state = HX_NOWHERE;
    note(p, fmax(*free, packet->tail), index);
}

/* Returns the output with the most credit, as switches do: the one that was least filled within the time that credit
 * takes to come back, of equal ones a random one. HX_NOWHERE: there is none. */
static uint32_t choose_port(struct packets *p, const struct packets_packet *packet, uint32_t to, double head)
{
    const struct collective_loads *l = p->loads;
    const uint32_t node = l->states.node[packet->state];
    const uint64_t set = hx_tables_onward(&l->tables, node, l->router[to], to) & l->states.turn_mask[packet->state];
    const unsigned outputs = (unsigned)__builtin_popcountll(set);
    const unsigned favoured = outputs > 1 ? random_below(split_mix(p->choices++), outputs) : 0;
    uint32_t best = HX_NOWHERE;
    double least = INFINITY;
    unsigned number = 0;
    for (uint64_t left = set; left; left &= left - 1, number++) {
        const uint32_t port = l->g->node[node].first_port + (unsigned)__builtin_ctzll(left);
        const double filled = fmax(*free_of(p, packet, port), head - 2 * l->latency[port]);
        if (filled < least || (number == favoured && filled <= least)) {
            best = port;
            least = filled;
        }
    }
    return best;
}

static uint32_t only_port(const struct collective_loads *l, uint32_t host)
{
    unsigned port = 0;
    while (hx_fabric_far(l->g, host, port).node == HX_NOWHERE)
        port++;
    return port;
}

/* From the last router to a host that does not forward. */
static double leave_router(struct packets *p, uint32_t index, uint32_t to, double head)
{
    const struct collective_loads *l = p->loads;
    const struct hx_end in = hx_fabric_far(l->g, to, only_port(l, to));
    const uint32_t port = l->g->node[in.node].first_port + in.port;
    const double start = cross(p, &p->packet[index], port, head);
    deliver(p, index, to, start + l->latency[port]);
    return start;
}

/* Moves a packet on from its node. Returns when it begins on the next link. */
static double hop(struct packets *p, uint32_t index, double head)
{
    const struct collective_loads *l = p->loads;
    struct packets_packet *packet = &p->packet[index];
    const uint32_t to = p->message[packet->message].to;
    const uint32_t node = l->states.node[packet->state];
    if (node == to) {
        deliver(p, index, to, head);
        return head;
    }
    if (node == l->router[to])
        return leave_router(p, index, to, head);
    const uint32_t port = choose_port(p, packet, to, head);
    if (port == HX_NOWHERE || l->states.behind[port] == HX_NOWHERE)
        return INFINITY;
    const double start = cross(p, packet, port, head);
    packet->state = l->states.behind[port];
    note(p, start + l->latency[port], index);
    return start;
}

/* ---- messages ---- */

static uint32_t new_message(struct packets *p, const struct packets_message *m)
{
    uint32_t index = p->idle_message;
    if (index == HX_NOWHERE) {
        p->message = hx_grow(p->message, p->messages, &p->messages_room, sizeof *p->message);
        index = (uint32_t)p->messages++;
    } else {
        p->idle_message = p->message[index].next_idle;
    }
    p->message[index] = *m;
    return index;
}

static void end_message(struct packets *p, uint32_t index)
{
    p->message[index].next_idle = p->idle_message;
    p->idle_message = index;
}

static uint32_t new_packet(struct packets *p)
{
    uint32_t index = p->idle_packet;
    if (index == HX_NOWHERE) {
        p->packet = hx_grow(p->packet, p->packets, &p->packets_room, sizeof *p->packet);
        return (uint32_t)p->packets++;
    }
    p->idle_packet = p->packet[index].next_idle;
    return index;
}

/* Injects the next packet of a message. Returns when it leaves the host; INFINITY: that depends on packets that arrive
 * there earlier (move_on()). place: in host->leaves; PACKETS_INJECTED: it does not count. */
static double inject(struct packets *p, uint32_t message, unsigned plane, unsigned place)
{
    struct packets_message *m = &p->message[message];
    const struct collective_loads *l = p->loads;
    struct packets_host *host = &p->host[m->from];
    const uint32_t left = m->bytes - m->begun * HX_MAX_PAYLOAD;
    const uint32_t bytes = left < HX_MAX_PAYLOAD ? left : HX_MAX_PAYLOAD;
    const uint32_t index = new_packet(p);
    struct packets_packet *packet = &p->packet[index];
    *packet = (struct packets_packet){.message = message,
                                      .state = l->states.start[m->from],
                                      .blocks = (uint16_t)hx_blocks(bytes),
                                      .plane = (uint8_t)plane,
                                      .place = PACKETS_INJECTED};
    const double ready = fmax(p->now, host->injecting[plane]);
    host->injecting[plane] = ready + seconds_on(p, packet, l->g->node[m->from].first_port + HX_LOCAL);
    const double head = ready + hx_model_latency(&l->timing, 0, 0);
    m->begun++;
    host->injected++;
    if (l->router[m->from] == m->from) {
        packet->place = (uint8_t)place;
        note(p, head, index);
        return INFINITY;
    }
    const uint32_t port = l->g->node[m->from].first_port + only_port(l, m->from);
    const double start = cross(p, packet, port, head);
    packet->state = l->states.behind[port];
    note(p, start + l->latency[port], index);
    return start;
}

/* ---- a host ---- */

/* Sets *place to a packet that has left, else to the one that leaves first. Returns the packets that have left. */
static unsigned room_of(const struct packets *p, const struct packets_host *host, unsigned plane, unsigned *place)
{
    unsigned room = 0;
    *place = 0;
    for (unsigned i = 0; i < PACKETS_INJECTED; i++) {
        room += host->leaves[plane][i] <= p->now;
        *place = host->leaves[plane][i] < host->leaves[plane][*place] ? i : *place;
    }
    return room;
}

/* Seconds of the next packet that leaves; INFINITY: that depends on packets that arrive. */
static double next_departure(const struct packets *p, const struct packets_host *host)
{
    double soonest = INFINITY;
    for (unsigned plane = 0; plane < p->loads->g->planes; plane++) {
        for (unsigned i = 0; i < PACKETS_INJECTED; i++)
            soonest = host->leaves[plane][i] > p->now ? fmin(soonest, host->leaves[plane][i]) : soonest;
    }
    return soonest;
}

static void wake_at(struct packets *p, uint32_t host, double at)
{
    if (at >= p->host[host].wake)
        return;
    p->host[host].wake = at;
    note(p, at, host | WAKE);
}

static void put(struct packets_set *set, unsigned slot, bool in)
{
    const uint64_t bit = UINT64_C(1) << slot % 64;
    set->word[slot / 64] = in ? set->word[slot / 64] | bit : set->word[slot / 64] & ~bit;
}

/* The first slot of a set from `from` on; PACKETS_SENDS: none. */
static unsigned next_slot(const struct packets_set *set, unsigned from)
{
    for (unsigned word = from / 64; word < HX_MAX_PLANES; word++, from = word * 64) {
        const uint64_t left = set->word[word] & UINT64_MAX << from % 64;
        if (left)
            return word * 64 + (unsigned)__builtin_ctzll(left);
    }
    return PACKETS_SENDS;
}

static unsigned next_in_turn(const struct packets_set *set, unsigned turn)
{
    const unsigned slot = next_slot(set, turn);
    return slot < PACKETS_SENDS ? slot : next_slot(set, 0);
}

static bool is_due(const struct packets_host *host)
{
    return next_slot(&host->due, 0) < PACKETS_SENDS;
}

/* Notes that all packets of a message have left. */
static void end_sending(struct packets *p, struct packets_host *host, const struct packets_message *m)
{
    put(&host->due, m->slot, false);
    if (m->younger == PACKETS_SENDS)
        return;
    p->message[host->message[m->younger]].behind = false;
    put(&host->due, m->younger, true);
}

/* Finds a due message with a next packet for a plane. PACKETS_SENDS: none of those looked at. */
static unsigned due_on(const struct packets *p, const struct packets_host *host, unsigned plane)
{
    enum { LOOKS = 16 }; /* as firmware/endpoint.c */
    const unsigned first = next_in_turn(&host->due, host->turn[plane]);
    unsigned slot = first;
    for (unsigned looks = 0; looks < LOOKS && (looks == 0 || slot != first); looks++) {
        const struct packets_message *m = &p->message[host->message[slot]];
        if ((m->plane + m->begun) % p->loads->g->planes == plane)
            return slot;
        slot = next_in_turn(&host->due, slot + 1);
    }
    return PACKETS_SENDS;
}

/* A packet that a host may inject. */
struct injection {
    unsigned slot, plane, place;
};

/* Finds the next packet, as next_sender() in firmware/endpoint.c does. Returns when a packet leaves that it waits for;
 * 0: there is one. */
static double find_next(const struct packets *p, const struct packets_host *host, struct injection *next)
{
    const unsigned planes = p->loads->g->planes;
    unsigned most = 0;
    struct injection roomiest = {.slot = PACKETS_SENDS};
    for (unsigned n = 0; n < planes; n++) {
        next->plane = (host->injected + n) % planes;
        const unsigned room = room_of(p, host, next->plane, &next->place);
        next->slot = room ? due_on(p, host, next->plane) : PACKETS_SENDS;
        if (next->slot < PACKETS_SENDS)
            return 0;
        if (room > most) {
            most = room;
            roomiest = *next;
        }
    }
    if (2 * most < PACKETS_INJECTED)
        return next_departure(p, host);
    *next = roomiest;
    next->slot = next_in_turn(&host->due, host->turn[next->plane]);
    return 0;
}

/* Injects what planes have room for. */
void packets_inject(struct packets *p, uint32_t from)
{
    struct packets_host *host = &p->host[from];
    while (is_due(host)) {
        struct injection next = {.slot = PACKETS_SENDS};
        const double until = find_next(p, host, &next);
        if (until > 0) {
            wake_at(p, from, until);
            return;
        }
        host->turn[next.plane] = (uint16_t)((next.slot + 1) % PACKETS_SENDS);
        const uint32_t message = host->message[next.slot];
        host->leaves[next.plane][next.place] = inject(p, message, next.plane, next.place);
        if (p->message[message].begun == p->message[message].packets)
            end_sending(p, host, &p->message[message]);
    }
}

/* The slot of a new message; PACKETS_SENDS: all that its planes have are busy. */
static unsigned idle_slot(const struct packets *p, const struct packets_host *host)
{
    for (unsigned word = 0; word < p->loads->g->planes; word++) {
        if (~host->busy.word[word])
            return word * 64 + (unsigned)__builtin_ctzll(~host->busy.word[word]);
    }
    return PACKETS_SENDS;
}

bool packets_may_send(const struct packets *p, uint32_t from)
{
    return idle_slot(p, &p->host[from]) < PACKETS_SENDS;
}

bool packets_send(struct packets *p, uint32_t from, uint32_t to, uint32_t bytes, uint64_t cookie)
{
    struct packets_host *host = &p->host[from];
    struct packets_message *older = NULL;
    const unsigned planes = p->loads->g->planes;
    const unsigned slot = idle_slot(p, host);
    unsigned window = 0;
    for (unsigned at = next_slot(&host->busy, 0); at < PACKETS_SENDS; at = next_slot(&host->busy, at + 1)) {
        struct packets_message *m = &p->message[host->message[at]];
        window += m->to == to;
        older = m->to == to && m->younger == PACKETS_SENDS ? m : older;
    }
    if (slot == PACKETS_SENDS || window == hx_peer_window(planes))
        return false;
    host->active++;
    const struct packets_message m = {.cookie = cookie,
                                      .from = from,
                                      .to = to,
                                      .bytes = bytes,
                                      .packets = bytes ? (bytes + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD : 1,
                                      .slot = (uint16_t)slot,
                                      .younger = PACKETS_SENDS,
                                      .plane =
                                          (uint8_t)((older ? older->plane + older->packets : host->active) % planes),
                                      .behind = older && older->begun < older->packets};
    if (older)
        older->younger = (uint16_t)slot;
    put(&host->busy, slot, true);
    put(&host->due, slot, !m.behind);
    host->message[slot] = new_message(p, &m);
    return true;
}

/* ---- time ---- */

static void acknowledge(struct packets *p, uint32_t message)
{
    const struct packets_message *m = &p->message[message];
    const struct packets_message answer = {
        .cookie = message, .from = m->to, .to = m->from, .packets = 1, .acknowledges = true};
    const unsigned plane = (unsigned)(p->events.pushed % p->loads->g->planes);
    (void)inject(p, new_message(p, &answer), plane, PACKETS_INJECTED);
}

/* Frees what an acknowledgement has ended. */
static void end_send(struct packets *p, uint32_t message)
{
    const struct packets_message *m = &p->message[message];
    struct packets_host *host = &p->host[m->from];
    put(&host->busy, m->slot, false);
    host->active--;
    for (unsigned at = next_slot(&host->busy, 0); at < PACKETS_SENDS; at = next_slot(&host->busy, at + 1)) {
        struct packets_message *other = &p->message[host->message[at]];
        other->younger = other->younger == m->slot ? PACKETS_SENDS : other->younger;
    }
    end_message(p, message);
}

/* Moves a packet on. Notes when it leaves a host that forwards others too, which then has room for one more. */
static void move_on(struct packets *p, uint32_t index, double head)
{
    struct packets_packet *packet = &p->packet[index];
    const unsigned place = packet->place;
    const uint32_t from = p->message[packet->message].from;
    const double start = hop(p, index, head);
    if (place == PACKETS_INJECTED)
        return;
    packet->place = PACKETS_INJECTED;
    p->host[from].leaves[packet->plane][place] = start;
    if (is_due(&p->host[from]))
        wake_at(p, from, start);
}

static bool arrive(struct packets *p, uint32_t index, struct packets_message *arrived)
{
    const uint32_t message = p->packet[index].message;
    struct packets_message *m = &p->message[message];
    p->packet[index].next_idle = p->idle_packet;
    p->idle_packet = index;
    if (++m->there < m->packets)
        return false;
    *arrived = *m;
    if (!m->acknowledges) {
        acknowledge(p, message);
        return true;
    }
    const uint32_t sent = (uint32_t)m->cookie;
    *arrived = p->message[sent];
    arrived->acknowledges = true;
    end_message(p, message);
    end_send(p, sent);
    return true;
}

bool packets_next(struct packets *p, struct packets_message *arrived)
{
    struct event e = {.what = 0};
    while (time_heap_pop(&p->events, &e.key)) {
        const uint32_t what = e.what;
        p->now = seconds_of(e.key.time);
        if (what & WAKE) {
            const uint32_t host = what & ~WAKE;
            if (p->now < p->host[host].wake)
                continue;
            p->host[host].wake = INFINITY;
            packets_inject(p, host);
        } else if (p->packet[what].state != HX_NOWHERE) {
            move_on(p, what, p->now);
        } else if (arrive(p, what, arrived)) {
            return true;
        }
    }
    return false;
}
