/* support_loopback.c - clouds and fabrics (support_loopback.h). */
#include "tests/support/loopback/support_loopback.h"
#include "hxmesh/error.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- parts ---- */

void lab_node(struct loopback_node *n, unsigned ports, unsigned vcs, unsigned blocks, unsigned sends)
{
    loopback_node_init(n, ports, vcs, blocks, sends, lab_memory(loopback_node_bytes(ports, vcs, blocks, sends)));
}

void lab_wire(struct loopback_wire *w, unsigned blocks, uint32_t latency)
{
    loopback_wire_init(w, blocks, latency, lab_memory(loopback_wire_bytes(blocks)));
}

/* ---- cloud ---- */

enum { CLOUD_SENDS = 8 };

static void fill_for_cloud(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct cloud_end *e = of;
    messages_fill(&e->cloud->messages, (unsigned)s->cookie, packet, to, bytes);
}

static void place_for_cloud(void *of, const struct hx_header *h, const uint8_t *payload)
{
    const struct cloud_end *e = of;
    messages_place(&e->cloud->messages, e->rank, h, payload);
}

static void event_for_cloud(void *of, const struct hx_event *event)
{
    struct cloud_end *e = of;
    if (event->type == HX_EVENT_FAILED)
        e->last_error = event->error;
    messages_event(&e->cloud->messages, e->rank, event);
}

static void begin(struct cloud_end *e)
{
    loopback_node_init(&e->hal.node, e->cloud->planes, HX_VCS, e->cloud->blocks, CLOUD_SENDS, e->hal.node.port);
    e->hal.user = (struct hal_user){fill_for_cloud, place_for_cloud, event_for_cloud, e};
    e->session++;
    for (unsigned plane = 0; plane < e->cloud->planes; plane++)
        loopback_plug(&e->hal.node, plane, plane, &e->wire[0][plane], &e->wire[1][plane],
                      UINT64_C(2) * e->session + plane * UINT64_C(1000));
    memset(e->memory, 0, hx_endpoint_bytes(&e->config));
    assert_int_equal(hx_endpoint_init(&e->ep, &e->config, &e->hal, e->memory), HX_OK);
}

void cloud_init(struct cloud *c, unsigned ends, const struct hx_endpoint_config *config, unsigned blocks, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->ends = ends;
    c->blocks = blocks;
    c->planes = 32 - (unsigned)__builtin_clz(config->plane_set);
    c->random = seed;
    c->end = lab_memory(ends * sizeof *c->end);
    messages_init(&c->messages, ends, CLOUD_MESSAGES, seed);
    uint8_t *frames = lab_memory((size_t)CLOUD_FRAMES * HX_MAX_FRAME);
    for (size_t i = 0; i < CLOUD_FRAMES; i++)
        c->frame[i].bytes = frames + i * HX_MAX_FRAME;
    for (unsigned i = 0; i < ends; i++) {
        struct cloud_end *e = &c->end[i];
        *e = (struct cloud_end){.cloud = c, .config = *config, .rank = i};
        e->config.addr_hi = (uint16_t)i;
        e->config.columns = config->columns ? config->columns : (uint16_t)ends;
        e->config.rows = config->rows ? config->rows : 1;
        e->memory = lab_memory(hx_endpoint_bytes(&e->config));
        lab_node(&e->hal.node, c->planes, HX_VCS, blocks, CLOUD_SENDS);
        lab_node(&e->network_side.node, c->planes, HX_VCS, blocks, CLOUD_SENDS);
        for (unsigned plane = 0; plane < c->planes; plane++) {
            lab_wire(&e->wire[0][plane], blocks, 0);
            lab_wire(&e->wire[1][plane], blocks, 0);
            loopback_plug(&e->network_side.node, plane, plane, &e->wire[1][plane], &e->wire[0][plane],
                          1 + plane * UINT64_C(1000));
        }
        begin(e);
    }
}

void cloud_restart(struct cloud *c, unsigned end)
{
    struct cloud_end *e = &c->end[end];
    messages_forget(&c->messages, end);
    e->config.epoch = (uint32_t)(seeded_next(&c->random) | 1);
    e->config.key++;
    begin(e);
}

int cloud_send(struct cloud *c, unsigned from, unsigned to, uint64_t bytes)
{
    unsigned number = messages_add(&c->messages, from, to, bytes);
    int error = hx_endpoint_send(&c->end[from].ep, to, 0, bytes, number, number);
    if (error == HX_OK)
        return (int)number;
    c->messages.count--;
    return error;
}

/* Steps an endpoint; a mute one gets no credit. */
static void step_end(struct cloud *c, struct cloud_end *e)
{
    loopback_poll(&e->hal.node, c->now);
    uint32_t limit[HX_MAX_PLANES] = {0};
    for (unsigned plane = 0; plane < c->planes; plane++) {
        struct hx_credit_sender *tx = &e->hal.node.port[plane].cable.link.tx[0];
        limit[plane] = tx->limit;
        tx->limit = e->mute ? tx->sent : tx->limit;
    }
    if (!e->off)
        hx_endpoint_step(&e->ep);
    for (unsigned plane = 0; plane < c->planes; plane++)
        e->hal.node.port[plane].cable.link.tx[0].limit = limit[plane];
    assert_int_equal(e->hal.node.sent, 0);
}

/* Takes packets that the endpoint sent, as far as there is room. */
static void enter(struct cloud *c, struct cloud_end *e)
{
    loopback_poll(&e->network_side.node, c->now);
    for (unsigned plane = 0; plane < c->planes; plane++) {
        struct hx_desc d;
        while (c->frames < CLOUD_FRAMES && hal_ejected(&e->network_side, plane, &d, 1)) {
            struct cloud_frame *f = &c->frame[c->frames];
            memcpy(f->bytes, hal_frame(&e->network_side, d.buffer), (size_t)HX_HEADER_BYTES + d.length);
            f->length = d.length;
            f->plane = (uint8_t)plane;
            f->to = d.dst_addr_hi;
            hal_buffer_put(&e->network_side, d.buffer);
            c->entered++;
            if (!c->gate || c->gate(c, f))
                c->frames++;
        }
    }
}

static bool percent(struct cloud *c, unsigned chance)
{
    return chance && seeded_below(&c->random, 100) < chance;
}

/* Hands a packet to its endpoint; false: no room. */
static bool hand_over(struct cloud *c, const struct cloud_frame *f)
{
    struct hal_endpoint *network_side = &c->end[f->to].network_side;
    uint32_t buffer;
    if (hal_inject_room(network_side, f->plane) == 0 || !hal_buffer_get(network_side, &buffer, true))
        return false;
    uint8_t *frame = hal_frame(network_side, buffer);
    memcpy(frame, f->bytes, (size_t)HX_HEADER_BYTES + f->length);
    if (percent(c, c->faults.corrupt)) {
        unsigned at = HX_CRC_FIRST + seeded_below(&c->random, HX_HEADER_BYTES - HX_CRC_FIRST + f->length);
        frame[at] ^= (uint8_t)(1U << seeded_below(&c->random, 8));
    }
    const struct hx_desc d = {.buffer = buffer, .length = f->length, .hops = 1};
    hal_inject(network_side, f->plane, &d);
    return true;
}

static void swap(struct cloud *c, unsigned i, unsigned other)
{
    struct cloud_frame f = c->frame[i];
    c->frame[i] = c->frame[other];
    c->frame[other] = f;
}

/* Whether the packet stays in the network. */
static bool stays(struct cloud *c, const struct cloud_frame *f)
{
    if (percent(c, c->faults.keep))
        return true;
    return !percent(c, c->faults.lose) && (!hand_over(c, f) || percent(c, c->faults.repeat));
}

static void leave(struct cloud *c)
{
    for (unsigned i = c->faults.keep ? c->frames : 0; i > 1; i--)
        swap(c, i - 1, seeded_below(&c->random, i));
    unsigned kept = 0;
    for (unsigned i = 0; i < c->frames; i++) {
        if (stays(c, &c->frame[i]))
            swap(c, kept++, i);
    }
    c->frames = kept;
    for (unsigned i = 0; i < c->ends; i++)
        hal_endpoint_commit(&c->end[i].network_side);
}

void cloud_step(struct cloud *c)
{
    for (unsigned i = 0; i < c->ends; i++)
        step_end(c, &c->end[i]);
    for (unsigned i = 0; i < c->ends; i++)
        enter(c, &c->end[i]);
    if (!c->still)
        leave(c);
    c->now += CLOUD_TURN;
}

bool cloud_run(struct cloud *c, unsigned steps)
{
    for (; steps > 0; steps--) {
        bool busy = c->frames > 0;
        for (unsigned i = 0; i < c->ends; i++)
            busy = busy || (!c->end[i].off && !hx_endpoint_idle(&c->end[i].ep));
        if (!busy)
            return true;
        cloud_step(c);
    }
    return false;
}

uint64_t cloud_drops(const struct cloud *c, unsigned end, enum hx_drop reason)
{
    return c->end[end].hal.node.drops[reason];
}

/* ---- fabric ---- */

enum { FABRIC_TURN = 20 /* ns, less than any latency */, FABRIC_SENDS = 8, QUIET_TURN = 200 /* ns */ };

static void fill_for_fabric(void *of, const struct hx_send *s, uint32_t packet, uint8_t *to, unsigned bytes)
{
    const struct fabric_end *e = of;
    messages_fill(&e->fabric->messages, (unsigned)s->cookie, packet, to, bytes);
}

static void place_for_fabric(void *of, const struct hx_header *h, const uint8_t *payload)
{
    const struct fabric_end *e = of;
    messages_place(&e->fabric->messages, e->rank, h, payload);
    if (e->fabric->placed)
        e->fabric->placed(e->fabric, h);
}

static void event_for_fabric(void *of, const struct hx_event *event)
{
    const struct fabric_end *e = of;
    messages_event(&e->fabric->messages, e->rank, event);
}

static void join(struct fabric *f, unsigned plane, struct loopback_node *n, unsigned port, struct loopback_node *other,
                 unsigned other_port)
{
    struct fabric_cable *c = &f->cable[f->cables++];
    for (unsigned direction = 0; direction < 2; direction++) {
        lab_wire(&c->wire[direction], f->plan.blocks, FABRIC_TURN + seeded_below(&f->random, 100));
        c->wire[direction].faults = f->plan.faults;
        c->wire[direction].faults.random = seeded_next(&f->random);
    }
    c->port[0] = &n->port[port];
    c->port[1] = &other->port[other_port];
    loopback_plug(n, port, plane, &c->wire[0], &c->wire[1], 1);
    loopback_plug(other, other_port, plane, &c->wire[1], &c->wire[0], 2);
}

static struct hal_switch *hal_of(const struct fabric *f, unsigned plane, uint32_t node)
{
    return &f->hal[(size_t)plane * f->g.nodes + node];
}

static void new_switch(struct fabric *f, unsigned plane, uint32_t node)
{
    unsigned ports = hx_node_ports(&f->g, node);
    struct hal_switch *hal = hal_of(f, plane, node);
    struct hx_switch *sw = &f->sw[(size_t)plane * f->g.nodes + node];
    uint64_t up = 0;
    lab_node(&hal->node, ports, HX_MESH_VCS, f->plan.blocks, 0);
    hx_switch_init(sw, ports, HX_MESH_VCS, FABRIC_JOB, hal, lab_memory(hx_switch_bytes(ports, HX_MESH_VCS)));
    for (unsigned port = 0; port < ports; port++)
        up |= (uint64_t)(hx_far_end(&f->g, node, port).node != HX_NOWHERE) << port;
    hx_route_build(&sw->route, &f->g, node, (struct hx_blocked_boards){f->plan.blocked}, up,
                   lab_memory(hx_route_bytes(&f->g, node)));
}

static void new_plane(struct fabric *f, unsigned plane)
{
    for (uint32_t node = 0; node < f->g.nodes; node++)
        new_switch(f, plane, node);
    for (uint32_t node = 0; node < f->g.nodes; node++) {
        for (unsigned port = 0; port < hx_node_ports(&f->g, node); port++) {
            struct hx_end far = hx_far_end(&f->g, node, port);
            if (far.node != HX_NOWHERE && (far.node > node || (far.node == node && far.port > port)))
                join(f, plane, &hal_of(f, plane, node)->node, port, &hal_of(f, plane, far.node)->node, far.port);
        }
    }
}

static void new_end(struct fabric *f, unsigned rank)
{
    struct fabric_end *e = &f->end[rank];
    *e = (struct fabric_end){.fabric = f, .rank = rank};
    e->hal.user = (struct hal_user){fill_for_fabric, place_for_fabric, event_for_fabric, e};
    lab_node(&e->hal.node, f->g.planes, HX_MESH_VCS, f->plan.blocks, FABRIC_SENDS);
    for (unsigned plane = 0; plane < f->g.planes; plane++)
        join(f, plane, &e->hal.node, plane, &hal_of(f, plane, rank)->node, HX_LOCAL);
    const struct hx_endpoint_config config = {.addr_hi = (uint16_t)(rank % f->g.columns),
                                              .addr_lo = (uint16_t)(rank / f->g.columns),
                                              .columns = f->g.columns,
                                              .rows = f->g.rows,
                                              .plane_set = (uint8_t)((1U << f->g.planes) - 1),
                                              .window = (uint8_t)hx_peer_window(f->g.planes),
                                              .sends = 16,
                                              .epoch = 1 + rank,
                                              .retries = f->plan.retries,
                                              .check = f->plan.check,
                                              .job = FABRIC_JOB,
                                              .timeout_ns = f->plan.timeout_ns,
                                              .least_ns = f->plan.timeout_ns,
                                              .most_ns = 16 * f->plan.timeout_ns,
                                              .unreachable_ns = 8 * f->plan.timeout_ns};
    assert_int_equal(hx_endpoint_init(&e->ep, &config, &e->hal, lab_memory(hx_endpoint_bytes(&config))), HX_OK);
}

void fabric_init(struct fabric *f, const struct fabric_plan *plan, unsigned messages)
{
    *f = (struct fabric){.plan = *plan, .random = plan->seed};
    assert_int_equal(
        hx_geometry_init(&f->g, plan->a, plan->b, plan->x, plan->y, plan->planes, plan->radix, plan->taper), HX_OK);
    size_t nodes = (size_t)f->g.nodes * f->g.planes;
    size_t most_cables = (size_t)f->g.accelerators * f->g.planes;
    for (uint32_t node = 0; node < f->g.nodes; node++)
        most_cables += (size_t)hx_node_ports(&f->g, node) * f->g.planes;
    f->hal = lab_memory(nodes * sizeof *f->hal);
    f->sw = lab_memory(nodes * sizeof *f->sw);
    f->end = lab_memory(f->g.accelerators * sizeof *f->end);
    f->cable = lab_memory(most_cables * sizeof *f->cable);
    messages_init(&f->messages, f->g.columns, messages, plan->seed);
    for (unsigned plane = 0; plane < f->g.planes; plane++)
        new_plane(f, plane);
    for (unsigned rank = 0; rank < f->g.accelerators; rank++)
        new_end(f, rank);
}

bool fabric_send(struct fabric *f, unsigned from, unsigned to, uint64_t bytes)
{
    unsigned number = messages_add(&f->messages, from, to, bytes);
    int error = hx_endpoint_send(&f->end[from].ep, to % f->g.columns, to / f->g.columns, bytes, number, number);
    if (error != HX_OK)
        f->messages.count--;
    return error == HX_OK;
}

void fabric_step(struct fabric *f)
{
    for (size_t i = 0; i < (size_t)f->g.nodes * f->g.planes; i++) {
        loopback_poll(&f->hal[i].node, f->now);
        if (!f->sw[i].route.is_router)
            hx_accelerator_step(&f->sw[i]);
        else
            hx_router_step(&f->sw[i]);
        assert_int_equal(f->hal[i].node.sent, 0);
    }
    for (unsigned rank = 0; rank < f->g.accelerators; rank++) {
        loopback_poll(&f->end[rank].hal.node, f->now);
        hx_endpoint_step(&f->end[rank].ep);
        assert_int_equal(f->end[rank].hal.node.sent, 0);
    }
    f->now += FABRIC_TURN;
}

bool fabric_idle(const struct fabric *f)
{
    for (unsigned rank = 0; rank < f->g.accelerators; rank++) {
        if (!hx_endpoint_idle(&f->end[rank].ep))
            return false;
    }
    return true;
}

uint64_t fabric_drops(const struct fabric *f, enum hx_drop reason)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < (size_t)f->g.nodes * f->g.planes; i++)
        sum += f->hal[i].node.drops[reason];
    for (unsigned rank = 0; rank < f->g.accelerators; rank++)
        sum += f->end[rank].hal.node.drops[reason];
    return sum;
}

unsigned fabric_suspected(const struct fabric *f)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < f->cables; i++)
        sum += f->cable[i].port[0]->cable.link.suspected + f->cable[i].port[1]->cable.link.suspected;
    return sum;
}

static void validate_free(const struct loopback_node *n, unsigned blocks, unsigned sends)
{
    assert_int_equal(n->free_count, n->ports * HX_MESH_VCS * blocks + 1);
    assert_int_equal(n->sends_count, sends);
}

void fabric_validate_empty(struct fabric *f)
{
    for (unsigned i = 0; i < f->cables; i++)
        f->cable[i].wire[0].faults = f->cable[i].wire[1].faults = (struct loopback_faults){0};
    /* A link that lost its first frames asks once more. */
    const unsigned quiet = LOOPBACK_ASK_PERIOD + 8 * LOOPBACK_CREDIT_PERIOD;
    for (unsigned turns = 0; turns < quiet / QUIET_TURN; turns++) {
        fabric_step(f);
        f->now += QUIET_TURN - FABRIC_TURN;
    }
    for (unsigned i = 0; i < 2 * f->cables; i++) {
        const struct hx_credit_link *l = &f->cable[i / 2].port[i % 2]->cable.link;
        assert_true(l->open);
        for (unsigned vc = 0; vc < l->vcs; vc++) {
            assert_int_equal(l->rx[vc].received, l->rx[vc].freed);
            assert_int_equal(hx_credit_room(&l->tx[vc]), f->plan.blocks);
        }
    }
    for (size_t i = 0; i < (size_t)f->g.nodes * f->g.planes; i++) {
        assert_int_equal(hx_switch_waiting(&f->sw[i]), 0);
        validate_free(&f->hal[i].node, f->plan.blocks, 0);
    }
    for (unsigned rank = 0; rank < f->g.accelerators; rank++)
        validate_free(&f->end[rank].hal.node, f->plan.blocks, FABRIC_SENDS);
}
