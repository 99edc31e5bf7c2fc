/* loopback.c - the driver of the example platform (loopback.h). */
#include "loopback.h"

/* ---- set up ---- */

/* Buffers for arrivals: one a grantable block, and one for the frame being read. */
static uint32_t arrivals(unsigned ports, unsigned vcs, unsigned blocks)
{
    return ports * vcs * blocks + 1;
}

size_t loopback_node_bytes(unsigned ports, unsigned vcs, unsigned blocks, unsigned sends)
{
    size_t buffers = (size_t)arrivals(ports, vcs, blocks) + sends;
    return ports * sizeof(struct loopback_port) + buffers * (HX_MAX_FRAME + sizeof(uint32_t));
}

void loopback_node_init(struct loopback_node *n, unsigned ports, unsigned vcs, unsigned blocks, unsigned sends,
                        void *memory)
{
    uint32_t buffers = arrivals(ports, vcs, blocks) + sends;
    *n = (struct loopback_node){
        .port = memory, .ports = ports, .vcs = vcs, .blocks = blocks, .arrivals = arrivals(ports, vcs, blocks)};
    memset(n->port, 0, ports * sizeof *n->port);
    for (unsigned i = 0; i < ports; i++) {
        struct loopback_port *p = &n->port[i];
        p->arrivals.mask = LOOPBACK_SLOTS - 1;
        for (unsigned vc = 0; vc < vcs; vc++)
            p->arrivals.slots[vc] = p->slots[vc];
    }
    n->frames = (uint8_t(*)[HX_MAX_FRAME])(void *)(n->port + ports);
    n->free = (uint32_t *)(void *)(n->frames + buffers);
    n->free_sends = n->free + n->arrivals;
    while (buffers > 0)
        loopback_buffer_put(n, --buffers);
}

void loopback_plug(struct loopback_node *n, unsigned port, unsigned plane, struct loopback_wire *out,
                   struct loopback_wire *in, uint64_t random)
{
    struct loopback_port *p = &n->port[port];
    p->out = out;
    p->in = in;
    p->cable.plane = (uint8_t)plane;
    p->cable.random = random;
    p->cable.period = LOOPBACK_CREDIT_PERIOD;
    p->cable.ask_period = LOOPBACK_ASK_PERIOD;
    cable_begin(&p->cable, n->vcs, n->blocks, n->blocks);
}

/* ---- receive frames ---- */

static void take_frame(struct loopback_node *n, struct loopback_port *p, uint32_t buffer, uint32_t bytes)
{
    struct hx_desc d;
    enum cable_verdict verdict = cable_take(&p->cable, n->frames[buffer], bytes, &d);
    if (verdict == CABLE_DATA) {
        d.buffer = buffer;
        arrivals_put(&p->arrivals, &d);
        return;
    }
    cable_hear(&p->cable, verdict, n->now);
    if (verdict == CABLE_NOTICES && n->notices && !p->local)
        cable_notices_take(n->notices, (unsigned)(p - n->port), n->frames[buffer], bytes, n->now);
    enum hx_drop reason = cable_drop(verdict);
    if (reason != HX_DROP_COUNT)
        n->drops[reason]++;
    loopback_buffer_put(n, buffer);
}

static void receive(struct loopback_node *n, struct loopback_port *p)
{
    uint32_t bytes;
    while ((bytes = loopback_wire_take(p->in, n->now, n->frames[n->free[n->free_count - 1]])) > 0) {
        uint32_t buffer = n->free[--n->free_count];
        take_frame(n, p, buffer, bytes);
    }
}

/* ---- send control frames ---- */

static void send_credit(struct loopback_node *n, struct loopback_port *p)
{
    uint8_t frame[CABLE_CREDIT_BYTES];
    unsigned bytes = cable_credit_write(&p->cable, frame);
    loopback_wire_put(p->out, n->now, frame, bytes);
    loopback_wire_commit(p->out);
    cable_credit_sent(&p->cable, n->now);
}

static void send_notices(struct loopback_node *n, unsigned port)
{
    uint8_t frame[CABLE_NOTICE_BYTES];
    struct loopback_port *p = &n->port[port];
    cable_notices_follow(&p->cable, n->notices, port, n->now);
    unsigned bytes = cable_notices_write(&p->cable, n->notices, port, n->now, frame);
    if (bytes == 0)
        return;
    loopback_wire_put(p->out, n->now, frame, bytes);
    loopback_wire_commit(p->out);
}

void loopback_poll(struct loopback_node *n, uint64_t now)
{
    n->now = now;
    for (unsigned port = 0; port < n->ports; port++) {
        struct loopback_port *p = &n->port[port];
        if (p->in)
            receive(n, p);
        if (p->out && cable_credit_is_due(&p->cable, now))
            send_credit(n, p);
        if (p->out && n->notices && !p->local)
            send_notices(n, port);
    }
}
