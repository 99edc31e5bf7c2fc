/* part_messages.c - messages from and to their hosts (part_network.h). */
#include "hxmesh/endpoint.h"
#include "workload/part_network_parts.h"

#include <math.h>
#include <stdlib.h>

enum {
    WAITING = 16, /* packets of a host that wait for its first links (hal/virtual/hal_port.h) */
    AHEAD = 4     /* packets in the crossbar (hal/virtual/timing.c) */
};

/* On all links of a host to a plane; its endpoint's link is at least as fast. */
static double seconds_of_byte(const struct collective_loads *l, uint32_t host)
{
    const double link = (double)l->timing.link;
    const double seconds = 8e-9 / (hx_host_injection(l->g, host, link) * link);
    return fmax(seconds, l->slowness[l->g->node[host].first_port + HX_LOCAL] * l->g->planes);
}

/* No part waits at a node. */
static void open_nodes(struct part_network *n, const struct hx_fabric *g)
{
    n->output = hx_allocate((size_t)g->planes * g->ports, sizeof *n->output);
    n->node = hx_allocate((size_t)g->planes * g->nodes, sizeof *n->node);
    n->node_of = hx_allocate(g->ports, sizeof *n->node_of);
    for (size_t i = 0; i < (size_t)g->planes * g->nodes; i++)
        n->node[i] = (struct node){NONE, NONE, 0};
    for (uint32_t node = 0; node < g->nodes; node++) {
        const uint32_t end = node + 1 < g->nodes ? g->node[node + 1].first_port : g->ports;
        for (uint32_t port = g->node[node].first_port; port < end; port++)
            n->node_of[port] = node;
    }
}

struct part_network *part_network_open(const struct collective_loads *l, struct part_network_options options)
{
    struct part_network *n = hx_allocate(1, sizeof *n);
    const struct hx_fabric *g = l->g;
    *n = (struct part_network){
        .l = l, .planes = g->planes, .events.bytes = sizeof(struct event), .free_message = NONE, .free_part = NONE};
    n->host = hx_allocate(g->hosts, sizeof *n->host);
    n->waiting = hx_allocate((size_t)g->planes * g->hosts, sizeof *n->waiting);
    n->local = hx_allocate((size_t)g->planes * g->hosts, sizeof *n->local);
    n->injects = hx_allocate(g->hosts, sizeof *n->injects);
    for (uint32_t host = 0; host < g->hosts; host++) {
        n->injects[host] = seconds_of_byte(l, host);
        n->host[host].at_once = options.in_order ? hx_host_links(l->g, host) : 0;
    }
    n->carried = hx_allocate(g->ports, sizeof *n->carried);
    open_nodes(n, g);
    n->ahead = (uint64_t)AHEAD * HX_MAX_PAYLOAD * 8 * 1000 / l->timing.crossbar;
    n->entry = l->timing.input * 1000;
    n->leaving = l->timing.output * 1000;
    return n;
}

void part_network_close(struct part_network *n)
{
    if (!n)
        return;
    for (uint32_t host = 0; host < n->l->g->hosts; host++)
        free(n->host[host].slot);
    time_heap_free(&n->events);
    HX_FREE(n->host, n->waiting, n->local, n->injects, n->output, n->carried, n->node, n->node_of, n->message, n->part,
            n);
}

const double *part_network_carried(const struct part_network *n)
{
    return n->carried;
}

uint64_t part_network_next(const struct part_network *n)
{
    return time_heap_next(&n->events);
}

/* ---- parts ---- */

static uint32_t new_part(struct part_network *n)
{
    uint32_t part = n->free_part;
    if (part != NONE) {
        n->free_part = n->part[part].next;
        return part;
    }
    n->part = hx_grow(n->part, n->parts, &n->parts_room, sizeof *n->part);
    return (uint32_t)n->parts++;
}

/* Bytes on links of the next packets of a message: whole blocks. */
static uint64_t bytes_of(const struct message *m, uint32_t packets)
{
    const uint64_t after = (uint64_t)(m->packets - packets) * HX_MAX_PAYLOAD;
    const uint64_t whole = (uint64_t)packets * HX_MAX_PAYLOAD;
    if (after)
        return whole;
    const uint64_t short_by = (uint64_t)m->all * HX_MAX_PAYLOAD - (m->m.bytes ? m->m.bytes : 1);
    return whole - short_by / HX_BLOCK * HX_BLOCK;
}

/* Lets the next part of a message leave its endpoint. */
static void inject(struct part_network *n, uint64_t now, uint32_t message, unsigned plane)
{
    struct message *m = &n->message[message];
    const uint32_t packets = m->packets < m->packets_of_part ? m->packets : m->packets_of_part;
    const uint64_t bytes = bytes_of(m, packets);
    const uint32_t host = source_of(m);
    const size_t at = (size_t)plane * n->l->g->hosts + host;
    const double slowness = slowness_of(n, local_port(n, host));
    const uint32_t index = new_part(n);
    const uint64_t packet = bytes < HX_MAX_PAYLOAD ? bytes : HX_MAX_PAYLOAD;
    uint64_t start;
    const uint64_t gone = serve(&n->local[at], now, ps_of(n->injects[host], bytes), 0, &start);
    m->packets -= packets;
    n->waiting[at] += bytes;
    n->part[index] = (struct part){.message = message,
                                   .bytes = bytes,
                                   .packet = (uint32_t)packet,
                                   .slowness = slowness,
                                   .plane = (uint8_t)plane,
                                   .state = NONE,
                                   .tail = gone - ps_of(n->injects[host] - slowness, packet) + n->entry,
                                   .link = NONE,
                                   .input = HX_LOCAL};
    part_push(n, (struct event){.key.time = start + ps_of(slowness, HX_BLOCK) + n->entry, .kind = HOP, .index = index});
}

static unsigned roomiest(const struct part_network *n, uint32_t host)
{
    unsigned best = 0;
    for (unsigned plane = 1; plane < n->planes; plane++) {
        const size_t at = (size_t)plane * n->l->g->hosts + host;
        const size_t old = (size_t)best * n->l->g->hosts + host;
        if (n->waiting[at] < n->waiting[old] || (n->waiting[at] == n->waiting[old] && n->local[at] < n->local[old]))
            best = plane;
    }
    return best;
}

/* Whether it has packets that may leave: all of older messages to the same host have left. */
static bool is_due(const struct part_network *n, const struct host *h, uint32_t message)
{
    const struct message *m = message == NONE ? NULL : &n->message[message];
    if (!m || m->packets == 0)
        return false;
    for (size_t i = 0; i < h->slots; i++) {
        const struct message *other = h->slot[i] == NONE ? NULL : &n->message[h->slot[i]];
        if (other && other->packets && other->age < m->age && other->m.to == m->m.to)
            return false;
    }
    return true;
}

/* Of the oldest due messages, as many as leave at once, the one after the last served; NONE: none is due. */
static uint32_t next_in_order(const struct part_network *n, const struct host *h, unsigned plane)
{
    uint32_t oldest = NONE;
    uint64_t from = 0;
    for (unsigned k = 0; k < h->at_once; k++) {
        uint32_t next = NONE;
        for (size_t i = 0; i < h->slots; i++) {
            const uint32_t message = h->slot[i];
            const bool due = is_due(n, h, message) && n->message[message].age >= from;
            if (due && (next == NONE || n->message[message].age < n->message[next].age))
                next = message;
        }
        if (next == NONE)
            break;
        if (n->message[next].age >= h->turn[plane])
            return next;
        oldest = oldest == NONE ? next : oldest;
        from = n->message[next].age + 1;
    }
    return oldest;
}

/* Returns the message that is served next on a plane; NONE: none is due. */
static uint32_t next_message(const struct part_network *n, const struct host *h, unsigned plane)
{
    if (h->at_once)
        return next_in_order(n, h, plane);
    for (size_t i = 0; i < h->slots; i++) {
        const uint32_t message = h->slot[(h->turn[plane] + i) % h->slots];
        if (is_due(n, h, message))
            return message;
    }
    return NONE;
}

/* Lets parts leave while there is room. */
static void inject_all(struct part_network *n, uint64_t now, uint32_t host)
{
    struct host *h = &n->host[host];
    while (h->waiting_messages) {
        const unsigned plane = roomiest(n, host);
        const uint64_t waiting = n->waiting[(size_t)plane * n->l->g->hosts + host];
        const uint32_t message = next_message(n, h, plane);
        const uint64_t bytes = (uint64_t)n->message[message].packets_of_part * HX_MAX_PAYLOAD;
        const uint64_t room = (uint64_t)WAITING * HX_MAX_PAYLOAD;
        if (waiting && waiting + bytes > (room > 4 * bytes ? room : 4 * bytes))
            return;
        inject(n, now, message, plane);
        h->waiting_messages -= n->message[message].packets == 0;
        h->turn[plane] = 1 + (h->at_once ? n->message[message].age : n->message[message].slot);
    }
}

/* ---- messages ---- */

static uint32_t new_message(struct part_network *n)
{
    uint32_t message = n->free_message;
    if (message != NONE) {
        n->free_message = n->message[message].next;
        return message;
    }
    n->message = hx_grow(n->message, n->messages, &n->messages_room, sizeof *n->message);
    return (uint32_t)n->messages++;
}

/* Gives a message the lowest free slot of its host. */
static void take_slot(struct host *h, uint32_t message, uint32_t *slot)
{
    uint32_t at = 0;
    while (at < h->slots && h->slot[at] != NONE)
        at++;
    if (at == h->slots) {
        h->slot = hx_grow(h->slot, h->slots, &h->room, sizeof *h->slot);
        h->slots++;
    }
    h->slot[at] = message;
    *slot = at;
}

void part_network_send(struct part_network *n, uint64_t now, const struct part_message *m)
{
    const uint32_t message = new_message(n);
    const uint64_t packets = m->bytes ? (m->bytes + HX_MAX_PAYLOAD - 1) / HX_MAX_PAYLOAD : 1;
    const uint64_t of_part = (packets + (uint64_t)PART_MOST * n->planes - 1) / ((uint64_t)PART_MOST * n->planes);
    struct host *h = &n->host[m->from];
    n->message[message] = (struct message){.m = *m,
                                           .next = NONE,
                                           .age = n->age++,
                                           .all = (uint32_t)packets,
                                           .packets = (uint32_t)packets,
                                           .packets_of_part = (uint32_t)of_part,
                                           .parts = (uint32_t)((packets + of_part - 1) / of_part)};
    take_slot(h, message, &n->message[message].slot);
    if (h->waiting_messages++ == 0) /* when all messages of this time are there */
        part_push(n, (struct event){.key.time = now, .kind = RELEASE, .index = m->from});
}

/* A part of a message has come in; the last one is acknowledged. */
static enum part_news take_arrival(struct part_network *n, uint64_t now, uint32_t message, uint32_t *number)
{
    struct message *m = &n->message[message];
    *number = m->m.number;
    if (--m->parts)
        return PART_NOTHING;
    if (m->acknowledges) {
        n->host[m->m.from].slot[m->slot] = NONE;
        m->next = n->free_message;
        n->free_message = message;
        return PART_ACKNOWLEDGED;
    }
    m->acknowledges = true;
    m->m.bytes = 0;
    m->all = m->packets = m->packets_of_part = m->parts = 1;
    inject(n, now, message, roomiest(n, m->m.to));
    return PART_ARRIVED;
}

enum part_news part_network_step(struct part_network *n, uint32_t *number)
{
    struct event event = {.index = NONE};
    if (!time_heap_pop(&n->events, &event.key))
        return PART_NOTHING;
    switch ((enum part_event_kind)event.kind) {
    case HOP:
        part_hop(n, event.key.time, event.index);
        return PART_NOTHING;
    case OUTPUT:
        part_take_waiting(n, event.key.time, event.index, event.plane);
        return PART_NOTHING;
    case CREDIT:
        output_at(n, event.plane, event.index)->beyond -= event.bytes;
        return PART_NOTHING;
    case RELEASE:
        n->waiting[(size_t)event.plane * n->l->g->hosts + event.index] -= event.bytes;
        inject_all(n, event.key.time, event.index);
        return PART_NOTHING;
    case ARRIVE:
        return take_arrival(n, event.key.time, event.index, number);
    }
    return PART_NOTHING;
}
