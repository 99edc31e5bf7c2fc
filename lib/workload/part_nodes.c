/* part_nodes.c - parts at the nodes of a fabric (part_network.h): firmware/switch.c without credits and VCs. */
#include "workload/part_network_parts.h"

/* The part has left its node: the link that it came over has room for another, or its host. */
static void leave(struct part_network *n, uint64_t start, const struct part *p)
{
    const uint64_t crossed = start + (uint64_t)p->bytes * 8 * 1000 / n->l->timing.crossbar;
    const uint64_t gone = crossed > p->tail ? crossed : p->tail;
    if (p->link != NONE)
        part_push(n, (struct event){.key.time = gone + ps_of(n->l->latency[p->link], 1) - ps_of(p->slowness, HX_BLOCK),
                                    .kind = CREDIT,
                                    .index = p->link,
                                    .bytes = p->bytes,
                                    .plane = p->plane});
    else
        part_push(n, (struct event){.key.time = start,
                                    .kind = RELEASE,
                                    .index = source_of(&n->message[p->message]),
                                    .bytes = p->bytes,
                                    .plane = p->plane});
}

/* Sends a part over a link. Its first bit leaves, where the link is faster than the one before, so late that the first
 * packet does not run dry. */
static void send_over(struct part_network *n, uint64_t now, uint32_t index, uint32_t node, unsigned port)
{
    struct part *p = &n->part[index];
    const uint32_t at = n->l->g->node[node].first_port + port;
    const double slowness = slowness_of(n, at);
    const uint64_t came = p->head + ps_of(p->slowness, p->packet - HX_BLOCK);
    const uint64_t takes = ps_of(slowness, p->packet);
    const uint64_t whole = came > now + takes ? came - takes : now;
    const uint64_t latency = ps_of(n->l->latency[at], 1);
    struct output *o = output_at(n, p->plane, at);
    uint64_t start;
    const uint64_t end = serve(&o->free, now, ps_of(slowness, p->bytes), p->tail, &start);
    leave(n, start, p);
    o->beyond += p->bytes;
    n->carried[at] += (double)p->bytes;
    p->tail = end + latency - ps_of(slowness, HX_BLOCK);
    p->slowness = slowness;
    p->link = at;
    p->input = (uint8_t)hx_fabric_far(n->l->g, node, port).port;
    p->state = n->l->states.behind[at];
    start = start > whole ? start : whole;
    part_push(n, (struct event){.key.time = start + latency, .kind = HOP, .index = index});
}

static void note_output(struct part_network *n, uint64_t now, unsigned plane, uint32_t port)
{
    struct output *o = output_at(n, plane, port);
    const uint64_t when = o->free > now + n->ahead ? o->free - n->ahead : now;
    if (!o->noted)
        part_push(n, (struct event){.key.time = when, .kind = OUTPUT, .index = port, .plane = (uint8_t)plane});
    o->noted = true;
}

static void wait(struct part_network *n, uint64_t now, uint32_t index, uint32_t node)
{
    struct part *p = &n->part[index];
    struct node *at = &n->node[(size_t)p->plane * n->l->g->nodes + node];
    p->next = NONE;
    if (at->first == NONE)
        at->first = index;
    else
        n->part[at->last].next = index;
    at->last = index;
    at->wanted |= p->ports;
    for (uint64_t left = p->ports; left; left &= left - 1)
        note_output(n, now, p->plane, n->l->g->node[node].first_port + (unsigned)__builtin_ctzll(left));
}

/* Of the ports that take a part, the one with the fewest bytes beyond it; equal ones in turn. 64: none does. */
static unsigned choose(const struct part_network *n, uint64_t now, unsigned plane, uint32_t node, uint64_t set)
{
    const struct output *o = output_at(n, plane, n->l->g->node[node].first_port);
    const unsigned turn = (unsigned)(n->events.pushed % 64);
    unsigned best = 64;
    for (uint64_t left = set; left; left &= left - 1) {
        const unsigned port = (unsigned)__builtin_ctzll(left);
        if (o[port].free > now + n->ahead)
            continue;
        if (best == 64 || o[port].beyond < o[best].beyond ||
            (o[port].beyond == o[best].beyond && ((port - turn) & 63) < ((best - turn) & 63)))
            best = port;
    }
    return best;
}

/* Of the parts that wait for a port, finds the oldest of the input that has its turn; and the one before it in the
 * list. */
static uint32_t next_waiting(const struct part_network *n, const struct node *at, unsigned port, unsigned turn,
                             uint32_t *before)
{
    uint32_t best = NONE;
    for (uint32_t last = NONE, i = at->first; i != NONE; last = i, i = n->part[i].next) {
        const struct part *p = &n->part[i];
        const bool fits = p->ports >> port & 1;
        if (fits && (best == NONE || ((p->input - turn) & 63) < ((n->part[best].input - turn) & 63))) {
            best = i;
            *before = last;
        }
    }
    return best;
}

static void unlink_part(struct part_network *n, struct node *at, uint32_t index, uint32_t before)
{
    if (before == NONE)
        at->first = n->part[index].next;
    else
        n->part[before].next = n->part[index].next;
    if (at->last == index)
        at->last = before;
    at->wanted = 0;
    for (uint32_t i = at->first; i != NONE; i = n->part[i].next)
        at->wanted |= n->part[i].ports;
}

void part_take_waiting(struct part_network *n, uint64_t now, uint32_t port, unsigned plane)
{
    struct output *o = output_at(n, plane, port);
    const uint32_t node = n->node_of[port];
    struct node *at = &n->node[(size_t)plane * n->l->g->nodes + node];
    const unsigned number = port - n->l->g->node[node].first_port;
    uint32_t before = NONE;
    o->noted = false;
    if (!(at->wanted >> number & 1))
        return;
    if (o->free <= now + n->ahead) {
        const uint32_t index = next_waiting(n, at, number, o->turn, &before);
        unlink_part(n, at, index, before);
        o->turn = (uint8_t)((n->part[index].input + 1) & 63);
        send_over(n, now, index, node, number);
    }
    if (at->wanted >> number & 1)
        note_output(n, now, plane, port);
}

/* The part goes to its endpoint. */
static void deliver(struct part_network *n, uint64_t now, uint32_t index, uint32_t host)
{
    struct part *p = &n->part[index];
    const uint32_t port = local_port(n, host);
    uint64_t start;
    const uint64_t end =
        serve(&output_at(n, p->plane, port)->free, now, ps_of(slowness_of(n, port), p->bytes), p->tail, &start);
    leave(n, start, p);
    part_push(n, (struct event){.key.time = end + n->leaving, .kind = ARRIVE, .index = p->message});
    p->next = n->free_part;
    n->free_part = index;
}

/* Returns the ports by which a part may leave a node for its host; 0: it is there. */
static uint64_t ports_to(const struct part_network *n, const struct part *p, uint32_t node, uint32_t to)
{
    const struct collective_loads *l = n->l;
    const uint32_t router = l->router[to];
    if (node == to)
        return 0;
    if (p->state == NONE && l->router[node] != node)
        return (uint64_t)1 << (host_port(n, node) - l->g->node[node].first_port);
    if (node == router)
        return (uint64_t)1 << hx_fabric_far(l->g, to, host_port(n, to) - l->g->node[to].first_port).port;
    const uint32_t state = p->state == NONE ? l->states.start[node] : p->state;
    return hx_tables_onward(&l->tables, node, router, to) & l->states.turn_mask[state];
}

void part_hop(struct part_network *n, uint64_t now, uint32_t index)
{
    struct part *p = &n->part[index];
    const struct message *m = &n->message[p->message];
    p->head = now;
    const uint32_t to = m->acknowledges ? m->m.from : m->m.to;
    const uint32_t node = p->state == NONE ? source_of(m) : n->l->states.node[p->state];
    p->ports = ports_to(n, p, node, to);
    if (p->ports == 0) {
        deliver(n, now, index, to);
        return;
    }
    const unsigned port =
        choose(n, now, p->plane, node, p->ports & ~n->node[(size_t)p->plane * n->l->g->nodes + node].wanted);
    if (port < 64)
        send_over(n, now, index, node, port);
    else
        wait(n, now, index, node);
}
