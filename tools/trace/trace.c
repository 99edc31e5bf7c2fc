/* trace.c - joins captured frames to packets (tools/trace/trace.h). */
#include "tools/trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* frames read after a delivery before the packet is finished, as earlier frames may follow it in the file */
    LINGER = 1 << 14,
    MOST_STEPS = 1 << 12, /* limit of a packet; more frames are ignored */
    LOCAL_NAME = 6        /* "/local" */
};

struct keyed {
    struct hx_key key;
    uint32_t packet, reserved;
};

struct hx_trace_due {
    struct hx_key key;
    uint32_t packet;
    uint64_t frame;
};

void hx_trace_begin(struct hx_trace *t, struct hx_capture_index *c, const struct hx_trace_filter *filter,
                    void (*finished)(void *context, const struct hx_trace_packet *p), void *context)
{
    *t = (struct hx_trace){.c = c, .filter = *filter, .finished = finished, .context = context, .first_ns = UINT64_MAX};
    t->by_key = hx_table_make(sizeof(struct hx_key), sizeof(struct keyed));
}

/* ---- names ---- */

const char *hx_trace_port(const struct hx_capture_index *c, uint32_t port)
{
    const char *slash = strrchr(c->ports[port].name, '/');
    return slash ? slash + 1 : c->ports[port].name;
}

const char *hx_trace_node(char name[HX_TRACE_NODE], const struct hx_capture_index *c, uint32_t port)
{
    const struct hx_cap_port *p = &c->ports[port];
    const char *slash = strrchr(p->name, '/');
    if (p->at.node != HX_NOWHERE && c->fabric.known && p->at.node < c->fabric.g->hosts)
        return hx_capture_index_node_name(name, c, &p->at);
    snprintf(name, HX_TRACE_NODE, "%.*s", slash ? (int)(slash - p->name) : (int)strlen(p->name), p->name);
    return name;
}

static bool is_same_node(const struct hx_capture_index *c, uint32_t a, uint32_t b)
{
    const struct hx_port_at *first = &c->ports[a].at;
    const struct hx_port_at *second = &c->ports[b].at;
    if (first->node != HX_NOWHERE && second->node != HX_NOWHERE)
        return first->node == second->node && first->plane == second->plane;
    char one[HX_TRACE_NODE];
    char other[HX_TRACE_NODE];
    return strcmp(hx_trace_node(one, c, a), hx_trace_node(other, c, b)) == 0;
}

static bool is_local(const struct hx_cap_port *port)
{
    size_t length = strlen(port->name);
    return length > LOCAL_NAME && strcmp(port->name + length - LOCAL_NAME, "/local") == 0;
}

/* ---- selection ---- */

static bool is_at(struct hx_coordinate at, struct hx_coordinate wanted)
{
    return (wanted.addr_hi == HX_TRACE_ANY || wanted.addr_hi == at.addr_hi) &&
           (wanted.addr_lo == HX_TRACE_ANY || wanted.addr_lo == at.addr_lo);
}

static bool is_wanted(const struct hx_trace *t, const struct hx_header *h)
{
    const struct hx_trace_filter *f = &t->filter;
    const struct hx_coordinate ends[] = {hx_cap_host(&t->c->fabric, h->src_addr_hi, h->src_addr_lo),
                                         hx_cap_host(&t->c->fabric, h->dst_addr_hi, h->dst_addr_lo)};
    bool against = !hx_seen_is_forward(h); /* an acknowledgement travels against its message */
    if (f->data_only && h->kind != HX_DATA)
        return false;
    return (!f->has_from || is_at(ends[against], f->from)) && (!f->has_to || is_at(ends[!against], f->to)) &&
           (!f->has_message || h->message == f->message) &&
           (!f->has_offset || (h->offset == f->offset && h->kind == HX_DATA));
}

static struct hx_trace_packet *new_packet(struct hx_trace *t, const struct hx_capture_frame *s)
{
    uint32_t slot;
    if (t->free_count > 0) {
        slot = t->free_slots[--t->free_count];
    } else {
        t->packets = hx_grow(t->packets, t->packet_count, &t->packet_room, sizeof(struct hx_trace_packet *));
        slot = t->packet_count++;
    }
    t->packets[slot] = hx_allocate(1, sizeof *t->packets[slot]);
    t->packets[slot]->header = s->seen.data;
    struct keyed *k = hx_table_add(&t->by_key, &s->seen.key);
    k->packet = slot;
    return t->packets[slot];
}

/* Whether the frame is the step after `last`: it leaves the node that `last` entered, or enters the node at the far end
 * of the cable that `last` left by. */
static bool follows(const struct hx_trace *t, const struct hx_trace_step *last, const struct hx_capture_frame *s)
{
    const struct hx_cap_fabric *f = &t->c->fabric;
    if (s->direction == HX_PCAPNG_OUTBOUND)
        return !last->out && (uint8_t)(last->hops + 1U) == s->seen.data.hops && is_same_node(t->c, last->port, s->port);
    const struct hx_port_at *from = &t->c->ports[last->port].at;
    const struct hx_port_at *to = &t->c->ports[s->port].at;
    if (!last->out || last->hops != s->seen.data.hops || !f->known || from->node == HX_NOWHERE)
        return false;
    struct hx_port_at far = hx_cap_far(f, from);
    return far.node != HX_NOWHERE && far.plane == to->plane && far.node == to->node && far.port == to->port;
}

/* How well the frame fits a copy of its packet. */
enum fit { FITS_NOT, FITS_BY_HOPS, FITS_NEXT };
static enum fit fit_of(const struct hx_trace *t, const struct hx_trace_packet *p, const struct hx_capture_frame *s)
{
    const struct hx_trace_step *last = &p->steps[p->count - 1];
    if (!p->out && follows(t, last, s))
        return FITS_NEXT;
    return last->hops <= s->seen.data.hops && !p->out ? FITS_BY_HOPS : FITS_NOT;
}

/* Chooses between two copies with equal fit. A node sends in order of arrival. On a cable nothing waits, so the earlier
 * of two sendings is lost. By hops only, the copy with more hops wins. */
static bool is_better(const struct hx_trace_packet *p, const struct hx_trace_packet *best, enum fit fit, bool out)
{
    const struct hx_trace_step *last = &p->steps[p->count - 1];
    const struct hx_trace_step *other = &best->steps[best->count - 1];
    if (fit == FITS_NEXT)
        return out ? last->frame < other->frame : last->frame > other->frame;
    return fit == FITS_BY_HOPS && last->hops >= other->hops;
}

/* The copy of the packet that the frame belongs to; NULL: it is the first of its packet. */
static struct hx_trace_packet *copy_of(const struct hx_trace *t, const struct hx_capture_frame *s)
{
    struct hx_trace_packet *best = NULL;
    enum fit best_fit = FITS_NOT;
    for (const struct keyed *k = hx_table_find(&t->by_key, &s->seen.key); k; k = hx_table_find_next(&t->by_key, k)) {
        struct hx_trace_packet *p = t->packets[k->packet];
        enum fit fit = fit_of(t, p, s);
        if (best && fit < best_fit)
            continue;
        if (!best || fit > best_fit || is_better(p, best, fit, s->direction == HX_PCAPNG_OUTBOUND))
            best = p;
        best_fit = fit;
    }
    return best;
}

static void finish(struct hx_trace *t, const struct hx_key *key, uint32_t slot)
{
    for (struct keyed *k = hx_table_find(&t->by_key, key); k; k = hx_table_find_next(&t->by_key, k)) {
        if (k->packet != slot)
            continue;
        hx_table_remove(&t->by_key, k);
        break;
    }
    struct hx_trace_packet *p = t->packets[slot];
    t->finished(t->context, p);
    free(p->steps);
    free(p);
    t->packets[slot] = NULL;
    t->free_slots = hx_grow(t->free_slots, t->free_count, &t->free_room, sizeof *t->free_slots);
    t->free_slots[t->free_count++] = slot;
}

static uint32_t slot_of(const struct hx_trace *t, const struct hx_key *key, const struct hx_trace_packet *p)
{
    const struct keyed *k = hx_table_find(&t->by_key, key);
    while (t->packets[k->packet] != p)
        k = hx_table_find_next(&t->by_key, k);
    return k->packet;
}

static void finish_due(struct hx_trace *t, uint64_t frame)
{
    while (t->due_count > 0 && t->due[t->due_first].frame + LINGER <= frame) {
        struct hx_trace_due d = t->due[t->due_first++];
        t->due_count--;
        finish(t, &d.key, d.packet);
    }
}

static void make_due(struct hx_trace *t, const struct hx_capture_frame *s, const struct hx_trace_packet *p)
{
    if (t->due_first > 0 && t->due_first + t->due_count == t->due_room) {
        memmove(t->due, t->due + t->due_first, t->due_count * sizeof *t->due);
        t->due_first = 0;
    }
    t->due = hx_grow(t->due, t->due_first + t->due_count, &t->due_room, sizeof *t->due);
    t->due[t->due_first + t->due_count++] =
        (struct hx_trace_due){.key = s->seen.key, .packet = slot_of(t, &s->seen.key, p), .frame = s->frame};
}

/* Inserts a step in the order of the path, which is the order of hops; the file's may differ. */
static void add_step(struct hx_trace_packet *p, const struct hx_trace_step *step)
{
    p->steps = hx_grow(p->steps, p->count, &p->room, sizeof *p->steps);
    uint32_t at = p->count++;
    unsigned rank = 2U * step->hops + !step->out;
    for (; at > 0 && 2U * p->steps[at - 1].hops + !p->steps[at - 1].out > rank; at--)
        p->steps[at] = p->steps[at - 1];
    p->steps[at] = *step;
}

void hx_trace_frame(struct hx_trace *t, const struct hx_capture_frame *s)
{
    if (s->has_time && s->time_ns < t->first_ns)
        t->first_ns = s->time_ns;
    if (s->has_time && s->time_ns > t->last_ns)
        t->last_ns = s->time_ns;
    finish_due(t, s->frame);
    if (s->seen.kind != HX_SEEN_DATA || s->seen.wrong[0])
        return;
    if (s->direction == HX_PCAPNG_UNKNOWN || !s->has_time) {
        t->unplaced++;
        return;
    }
    if (!is_wanted(t, &s->seen.data))
        return;
    t->selected++;
    const struct hx_cap_port *port = &t->c->ports[s->port];
    bool out = s->direction == HX_PCAPNG_OUTBOUND;
    bool injected = is_local(port) && !out;
    struct hx_trace_packet *p = copy_of(t, s);
    if (!p || (injected && p->injected))
        p = new_packet(t, s);
    if (p->count >= MOST_STEPS)
        return;
    add_step(p, &(struct hx_trace_step){.frame = s->frame,
                                        .time_ns = s->time_ns,
                                        .port = s->port,
                                        .out = out,
                                        .vc = s->seen.data.vc,
                                        .hops = s->seen.data.hops,
                                        .via = s->seen.data.via});
    p->injected = p->injected || injected;
    if (is_local(port) && out && !p->out) {
        p->out = true;
        p->damaged = s->seen.crc == HX_SEEN_CRC_BAD;
        make_due(t, s, p);
    }
}

void hx_trace_end(struct hx_trace *t)
{
    finish_due(t, UINT64_MAX);
    for (uint32_t slot = 0; slot < t->packet_count; slot++) {
        if (!t->packets[slot])
            continue;
        t->finished(t->context, t->packets[slot]);
        free(t->packets[slot]->steps);
        free(t->packets[slot]);
        t->packets[slot] = NULL;
    }
    t->packet_count = 0;
}

void hx_trace_free(struct hx_trace *t)
{
    for (uint32_t slot = 0; slot < t->packet_count; slot++) {
        if (t->packets[slot])
            free(t->packets[slot]->steps);
        free(t->packets[slot]);
    }
    free(t->packets);
    free(t->free_slots);
    free(t->due);
    hx_table_free(&t->by_key);
}

/* ---- fates ---- */

/* Whether the capture has all frames of the port. */
static bool shows(const struct hx_capture_index *c, uint32_t port)
{
    return port != UINT32_MAX && c->ports[port].dropped == 0 && !c->ports[port].filtered;
}

/* Whether all ports by which a packet may leave the node are captured. */
static bool shows_node(const struct hx_capture_index *c, const struct hx_port_at *node)
{
    const struct hx_fabric *g = c->fabric.g;
    for (unsigned port = 0; port < hx_fabric_ports(g, node->node); port++) {
        struct hx_port_at at = *node;
        at.port = port;
        bool leads_on =
            (hx_is_host(g, node->node) && port == HX_LOCAL) || hx_fabric_far(g, node->node, port).node != HX_NOWHERE;
        if (leads_on && !shows(c, hx_capture_index_port(c, &at)))
            return false;
    }
    return true;
}

/* In an unknown fabric only the destination's own port is known to be on the way. */
static bool shows_destination(const struct hx_capture_index *c, const struct hx_header *h)
{
    char name[HX_NAME_BYTES];
    (void)snprintf(name, sizeof name, "a%u,%u/p%u/local", h->dst_addr_hi, h->dst_addr_lo, h->plane);
    return shows(c, hx_capture_index_named(c, name));
}

enum hx_trace_fate hx_trace_fate(const struct hx_capture_index *c, const struct hx_trace_packet *p)
{
    const struct hx_trace_step *last = &p->steps[p->count - 1];
    const struct hx_port_at *at = &c->ports[last->port].at;
    if (p->out)
        return p->damaged ? HX_TRACE_DAMAGED : HX_TRACE_DELIVERED;
    bool is_shown = shows(c, last->port);
    if (!c->fabric.known || at->node == HX_NOWHERE) {
        is_shown = is_shown && shows_destination(c, &p->header);
    } else if (last->out) {
        const struct hx_port_at far = hx_cap_far(&c->fabric, at);
        is_shown = is_shown && far.node != HX_NOWHERE && shows(c, hx_capture_index_port(c, &far));
    } else {
        is_shown = is_shown && shows_node(c, at);
    }
    return is_shown ? HX_TRACE_MISSING : HX_TRACE_OUT_OF_SIGHT;
}

bool hx_trace_next_stay(const struct hx_trace_packet *p, const struct hx_capture_index *c, uint32_t *at,
                        struct hx_trace_stay *stay)
{
    if (*at >= p->count)
        return false;
    const struct hx_trace_step *step = &p->steps[(*at)++];
    if (step->out) {
        *stay = (struct hx_trace_stay){.out = step};
        return true;
    }
    *stay = (struct hx_trace_stay){.in = step};
    if (*at < p->count && p->steps[*at].out && is_same_node(c, step->port, p->steps[*at].port))
        stay->out = &p->steps[(*at)++];
    return true;
}
