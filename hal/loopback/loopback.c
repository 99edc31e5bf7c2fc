/* loopback.c - the driver of the example platform (loopback.h). */
#include "loopback.h"
#include "hxmesh/error.h"
#include "hxmesh/lanes.h"

/* ---- set up ---- */

/* Buffers that arrivals may need: one for every block that can be granted, and one to read a frame into. */
static uint32_t arrivals(unsigned ports, unsigned blocks)
{
    return ports * HX_VCS * blocks + 1;
}

size_t loopback_node_bytes(unsigned ports, unsigned blocks, unsigned sends)
{
    size_t buffers = (size_t)arrivals(ports, blocks) + sends;
    return ports * sizeof(struct loopback_port) + buffers * (HX_MAX_FRAME + sizeof(uint32_t));
}

void loopback_node_init(struct loopback_node *n, unsigned ports, unsigned blocks, unsigned sends, void *memory)
{
    uint32_t buffers = arrivals(ports, blocks) + sends;
    *n = (struct loopback_node){.port = memory, .ports = ports, .blocks = blocks, .arrivals = arrivals(ports, blocks)};
    memset(n->port, 0, ports * sizeof *n->port);
    n->frames = (uint8_t(*)[HX_MAX_FRAME])(void *)(n->port + ports);
    n->free = (uint32_t *)(void *)(n->frames + buffers);
    n->free_sends = n->free + n->arrivals;
    while (buffers > 0)
        loopback_buffer_put(n, --buffers);
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t draw(struct loopback_port *p)
{
    uint64_t x = p->random += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

void loopback_plug(struct loopback_node *n, unsigned port, unsigned plane, struct loopback_wire *out,
                   struct loopback_wire *in, uint64_t random)
{
    struct loopback_port *p = &n->port[port];
    p->out = out;
    p->in = in;
    p->plane = (uint8_t)plane;
    p->random = random;
    hx_credit_link_up(&p->link, n->blocks, n->blocks, draw(p));
}

/* ---- frames in ---- */

static void drop(struct loopback_node *n, uint32_t buffer, enum hx_drop reason)
{
    n->drops[reason]++;
    loopback_buffer_put(n, buffer);
}

static void take_data(struct loopback_node *n, struct loopback_port *p, uint32_t buffer, const struct hx_header *h)
{
    if (h->credit_vc != HX_NO_CREDIT)
        hx_credit_link_grant(&p->link, h->credit_vc, h->credit_limit);
    if (!hx_credit_link_arrive(&p->link, h->vc, hx_blocks(h->length))) {
        drop(n, buffer, HX_DROP_OVERRUN);
        return;
    }
    p->slots[h->vc][hx_lane(p->arrived, h->vc) % LOOPBACK_SLOTS] = (struct hx_desc){.buffer = buffer,
                                                                                    .length = h->length,
                                                                                    .vc = h->vc,
                                                                                    .hops = h->hops,
                                                                                    .dst_gx = h->dst_gx,
                                                                                    .dst_gy = h->dst_gy,
                                                                                    .job = h->job};
    p->arrived = hx_lane_add(p->arrived, h->vc, 1);
}

static void take_frame(struct loopback_node *n, struct loopback_port *p, uint32_t buffer, uint32_t bytes)
{
    struct hx_header h;
    struct hx_credit_frame c;
    int error = hx_frame_decode(&h, n->frames[buffer], bytes);
    if (error == HX_OK) {
        take_data(n, p, buffer, &h);
    } else if (error == HX_E_ETHERTYPE && hx_credit_decode(&c, n->frames[buffer], bytes) == HX_OK) {
        (void)hx_credit_link_take(&p->link, &c, draw(p));
        loopback_buffer_put(n, buffer);
    } else {
        drop(n, buffer, HX_DROP_MALFORMED);
    }
}

static void receive(struct loopback_node *n, struct loopback_port *p)
{
    uint32_t bytes;
    while ((bytes = loopback_wire_take(p->in, n->now, n->frames[n->free[n->free_count - 1]])) > 0) {
        uint32_t buffer = n->free[--n->free_count];
        take_frame(n, p, buffer, bytes);
    }
}

/* ---- credit frames out ---- */

/* The peer waits for an answer; or it has a quarter of a buffer to gain; or a frame may have been lost meanwhile. Where
 * there is no peer yet, a slow timer asks for one. */
static bool credit_is_due(const struct loopback_node *n, const struct loopback_port *p)
{
    bool due = p->link.answer || n->now - p->told_at >= (p->link.open ? LOOPBACK_CREDIT_PERIOD : LOOPBACK_ASK_PERIOD);
    for (unsigned vc = 0; vc < HX_VCS && p->link.open; vc++)
        due = due || !hx_credit_is_ahead(p->told[vc] + n->blocks / 4, hx_credit_limit(&p->link.rx[vc]));
    return due;
}

static void send_credit(struct loopback_node *n, struct loopback_port *p)
{
    uint8_t frame[HX_CREDIT_FRAME_BYTES];
    struct hx_credit_frame c = hx_credit_link_frame(&p->link, p->plane);
    hx_credit_encode(frame, &c);
    loopback_wire_put(p->out, n->now, frame, sizeof frame);
    loopback_wire_commit(p->out);
    memcpy(p->told, c.limit, sizeof p->told);
    p->told_at = n->now;
    hx_credit_link_told(&p->link);
}

void loopback_poll(struct loopback_node *n, uint64_t now)
{
    n->now = now;
    for (unsigned port = 0; port < n->ports; port++) {
        struct loopback_port *p = &n->port[port];
        if (p->in)
            receive(n, p);
        if (p->out && credit_is_due(n, p))
            send_credit(n, p);
    }
}
