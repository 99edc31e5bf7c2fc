/* support_rig.c - one switch without wires (support_loopback.h). */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_loopback.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint8_t payload_byte(uint32_t id, unsigned at)
{
    return (uint8_t)(id * 37 + at * 11 + (at >> 8));
}

void rig_links(struct rig *r, uint64_t up, uint64_t above)
{
    for (unsigned input = 0; input < HX_MAX_RADIX; input++) {
        uint64_t own = (uint64_t)1 << input;
        r->from[input] = up & ~((own & above) ? above : own);
        r->returns[input] = up & ((own & above) ? ~above : own);
    }
}

const struct switch_calls switch_of_links = SWITCH_CALLS("links");

const struct switch_calls *const switch_platforms[SWITCH_PLATFORMS] = {&switch_of_links, &switch_of_shared_memory,
                                                                       &switch_of_virtual_clock};

void rig_init(struct rig *r, enum hx_node_kind kind, unsigned ports, unsigned incrementing, unsigned blocks)
{
    rig_init_on(r, &switch_of_links, kind, ports, incrementing, blocks);
}

void rig_init_on(struct rig *r, const struct switch_calls *calls, enum hx_node_kind kind, unsigned ports,
                 unsigned incrementing, unsigned blocks)
{
    *r = (struct rig){.calls = calls, .blocks = blocks};
    lab_node(&r->hal.node, ports, HX_VCS, blocks, 0);
    r->wire = lab_memory(ports * sizeof *r->wire);
    for (unsigned port = 0; port < ports; port++) {
        struct loopback_port *p = &r->hal.node.port[port];
        lab_wire(&r->wire[port], LOOPBACK_MAX_BLOCKS, 0);
        p->out = &r->wire[port];
        p->cable.link.vcs = HX_VCS;
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            hx_credit_receiver_init(&p->cable.link.rx[vc], blocks);
            hx_credit_sender_init(&p->cable.link.tx[vc], HX_MAX_ROOM);
        }
    }
    memset(r->any, 0xFF, sizeof r->any);
    calls->init(&r->sw, ports, HX_VCS, RIG_JOB, &r->hal, lab_memory(calls->bytes(ports, HX_VCS)));
    r->sw.route = (struct hx_route){.vcs = HX_VCS,
                                    .last_vc = HX_VCS - 1,
                                    .x_table = r->sets,
                                    .y_table = r->any,
                                    .addr_hi_ports = r->tree,
                                    .addr_lo_ports = r->all,
                                    .from = r->from,
                                    .returns = r->returns,
                                    .incrementing = (uint8_t)incrementing,
                                    .is_router = kind != HX_ACCELERATOR,
                                    .columns = 256,
                                    .rows = 256};
    memset(r->all, 0xFF, sizeof r->all);
    rig_links(r, UINT64_MAX, 0);
    memset(r->sw.route.turn_mask, 0xFF, sizeof r->sw.route.turn_mask);
}

unsigned rig_space(const struct rig *r, unsigned input, unsigned vc)
{
    const struct hx_credit_receiver *rx = &r->hal.node.port[input].cable.link.rx[vc];
    return r->blocks - (rx->received - rx->freed);
}

void rig_arrive_as(struct rig *r, unsigned input, unsigned vc, uint32_t id, const struct hx_desc *d)
{
    struct loopback_node *n = &r->hal.node;
    struct loopback_port *p = &n->port[input];
    struct hx_desc in = *d;
    in.buffer = n->free[--n->free_count];
    struct hx_header h = {.vc = (uint8_t)vc,
                          .hops = d->hops,
                          .credit_vc = HX_NO_CREDIT,
                          .kind = HX_DATA,
                          .job = d->job,
                          .dst_addr_hi = d->dst_addr_hi,
                          .dst_addr_lo = d->dst_addr_lo,
                          .message_packets = 1,
                          .length = d->length,
                          .epoch = 1,
                          .tag = id};
    uint8_t *frame = n->frames[in.buffer];
    hx_frame_encode(frame, &h);
    for (unsigned i = 0; i < d->length; i++)
        frame[HX_HEADER_BYTES + i] = payload_byte(id, i);
    assert_true(hx_credit_arrive(&p->cable.link.rx[vc], hx_blocks(d->length)));
    *arrivals_slot(&p->arrivals, vc, hx_lane(p->arrivals.arrived, vc)) = in;
    p->arrivals.arrived = hx_lane_add(p->arrivals.arrived, vc, 1);
}

bool rig_arrive(struct rig *r, unsigned input, unsigned vc, uint32_t id, unsigned gx, unsigned length)
{
    if (rig_space(r, input, vc) < hx_blocks(length))
        return false;
    const struct hx_desc d = {.length = (uint16_t)length,
                              .vc = (uint8_t)vc,
                              .hops = 3,
                              .dst_addr_hi = (uint16_t)gx,
                              .dst_addr_lo = 9,
                              .job = RIG_JOB};
    rig_arrive_as(r, input, vc, id, &d);
    return true;
}

void rig_room(struct rig *r, unsigned output, unsigned vc, unsigned blocks)
{
    struct hx_credit_sender *tx = &r->hal.node.port[output].cable.link.tx[vc];
    tx->limit = tx->sent + blocks;
}

void rig_room_everywhere(struct rig *r, unsigned blocks)
{
    for (unsigned port = 0; port < r->hal.node.ports; port++)
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            rig_room(r, port, vc, blocks);
}

unsigned rig_room_left(const struct rig *r, unsigned output, unsigned vc)
{
    return hx_credit_room(&r->hal.node.port[output].cable.link.tx[vc]);
}

unsigned rig_step(struct rig *r)
{
    unsigned moved = r->calls->step[r->sw.route.is_router](&r->sw);
    assert_int_equal(r->hal.node.sent, 0); /* every transmission is committed */
    return moved;
}

/* The packet of (input, VC) that the switch has not seen. */
static struct hx_single_arrival next_arrival(struct rig *r, unsigned input, unsigned vc)
{
    const struct hx_desc *d = hal_arrival(&r->hal, input, vc, hx_lane(r->sw.input[input].seen, vc));
    return (struct hx_single_arrival){.d = d,
                                      .offered = r->sw.route.is_router ? hx_router_offers(&r->sw, input, d)
                                                                       : hx_accelerator_offers(&r->sw, input, d),
                                      .input = input,
                                      .vc = vc};
}

unsigned rig_pass(struct rig *r, unsigned input, unsigned vc)
{
    const struct hx_input *in = &r->sw.input[input];
    bool router = r->sw.route.is_router;
    const struct hx_single_arrival c = next_arrival(r, input, vc);
    unsigned moved = r->calls->pass[router](&r->sw, &c);
    hal_release(&r->hal, input, in->tail, in->seen, in->waiting);
    hal_commit(&r->hal);
    assert_int_equal(r->hal.node.sent, 0);
    return moved;
}

uint64_t rig_grant(struct rig *r, unsigned output)
{
    uint64_t freed = r->calls->grant[r->sw.route.is_router](&r->sw, output);
    assert_int_equal(r->hal.node.sent, 0);
    return freed;
}

/* A packet that is offered outputs, none of which has credit, waits. */
static unsigned pass_or_wait(struct rig *r, unsigned input, unsigned vc)
{
    const struct hx_single_arrival c = next_arrival(r, input, vc);
    bool may_go = c.offered == 0;
    for (uint64_t left = c.offered; left && !may_go; left &= left - 1)
        may_go = hal_tx_credits(&r->hal, (unsigned)__builtin_ctzll(left)) != 0;
    if (may_go)
        return rig_pass(r, input, vc);
    r->calls->wait(&r->sw, &c);
    return 0;
}

unsigned rig_events(struct rig *r)
{
    unsigned moved = 0;
    for (unsigned output = 0; output < r->sw.outputs; output++)
        while (rig_grant(r, output))
            moved++;
    for (unsigned input = 0; input < r->sw.inputs; input++) {
        uint64_t fresh;
        while ((fresh = hal_arrived(&r->hal, input) ^ r->sw.input[input].seen))
            moved += pass_or_wait(r, input, hx_lanes_take(&fresh));
    }
    return moved;
}

static unsigned field(const uint8_t *frame, unsigned at, unsigned bytes)
{
    unsigned value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | frame[at + i];
    return value;
}

bool rig_take(struct rig *r, unsigned output, struct rig_packet *p)
{
    static uint8_t frame[HX_MAX_FRAME];
    uint32_t bytes = loopback_wire_take(&r->wire[output], r->now, frame);
    if (bytes == 0)
        return false;
    *p = (struct rig_packet){.id = field(frame, 56, 4),
                             .via = field(frame, 18, 2),
                             .vc = frame[15],
                             .hops = frame[16],
                             .length = field(frame, 52, 2),
                             .gx = field(frame, 32, 2),
                             .gy = field(frame, 34, 2)};
    p->intact = bytes == 64 + p->length && field(frame, 12, 2) == 0x88B5 && field(frame, 2, 2) == p->gx;
    for (unsigned i = 0; i < p->length; i++)
        p->intact = p->intact && frame[64 + i] == payload_byte(p->id, i);
    return true;
}

void rig_expect(struct rig *r, unsigned output, uint32_t id)
{
    struct rig_packet p = {0};
    if (!rig_take(r, output, &p))
        fail_msg("nothing left by output %u, though %u should have", output, id);
    assert_int_equal(p.id, id);
    assert_true(p.intact);
}

void rig_validate_empty(const struct rig *r)
{
    const struct loopback_node *n = &r->hal.node;
    assert_int_equal(hx_switch_waiting(&r->sw), 0);
    assert_int_equal(n->free_count, n->ports * HX_VCS * r->blocks + 1);
    for (unsigned port = 0; port < n->ports; port++) {
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            assert_int_equal(rig_space(r, port, vc), r->blocks);
        assert_true(n->port[port].arrivals.tail == n->port[port].arrivals.arrived);
    }
}
