/* node.c - builds and drives a node (node.h). */
#include "node.h"
#include "base/split_mix.h"
#include "hal/bare/bare.h"
#include "hal/riscv-virt/board.h"
#include "harts.h" /* circle: a node sleeps by the rules of its harts, which run it */
#include "hxmesh/error.h"

enum {
    BURST = 32,                     /* frames of a cable per step */
    CREDIT_PERIOD_NS = 100000,      /* between two credit frames, */
    QUIET_PERIOD_NS = 12800000,     /* and while the link is quiet */
    LONGEST_IDLE_WAIT_NS = 10000000 /* console and clocks are read at least as often */
};

/* ---- building ---- */

static unsigned blocks_of(const struct config *c)
{
    return c->credits < LOOPBACK_MAX_BLOCKS ? c->credits : LOOPBACK_MAX_BLOCKS;
}

static void make_wire(struct loopback_wire *w, unsigned blocks)
{
    loopback_wire_init(w, blocks, 0, bare_take(loopback_wire_bytes(blocks)));
}

/* Plugs a cable in, or restarts its end here. The peer may grant more blocks than this node has; the excess is
 * unused. */
static void plug(struct node *n, struct loopback_node *of, unsigned port, struct loopback_wire *out,
                 struct loopback_wire *in)
{
    const struct config *c = n->config;
    loopback_plug(of, port, c->plane, out, in, split_mix_next(&n->random));
    of->port[port].cable.period = CREDIT_PERIOD_NS;
    of->port[port].cable.ask_period = CREDIT_PERIOD_NS;
    of->port[port].cable.quiet_period = QUIET_PERIOD_NS;
}

static void plug_cable(struct node *n, unsigned cable)
{
    plug(n, &n->switch_hal.node, cable, &n->out[cable], &n->in[cable]);
}

static void build_routes(struct node *n)
{
    const struct hx_blocked_boards blocked = {n->config->blocked};
    hx_route_build(&n->sw.route, &n->config->g, n->config->rank, blocked, n->up, n->tables);
    n->sw.route.vcs = n->config->vcs;
    node_around_begin(&n->around, n->up, &n->sw.route, n->tables);
}

static void build_endpoint(struct node *n, struct hal_user user)
{
    const struct config *c = n->config;
    unsigned blocks = blocks_of(c);
    struct hx_endpoint_config config = c->endpoint;
    config.key ^= split_mix_next(&n->random);
    /* The link to the switch is one cable in any plane: the planes of an endpoint are ports of its node. */
    unsigned ports = c->plane + 1U;
    struct loopback_node *node = &n->endpoint_hal.node;
    loopback_node_init(node, ports, c->vcs, blocks, config.sends,
                       bare_take(loopback_node_bytes(ports, c->vcs, blocks, config.sends)));
    n->endpoint_hal.user = user;
    n->endpoint_hal.around = c->vcs > HX_ESCAPE_VC ? &n->sw.route : NULL;
    make_wire(&n->local[0], blocks);
    make_wire(&n->local[1], blocks);
    plug(n, node, c->plane, &n->local[0], &n->local[1]);
    plug(n, &n->switch_hal.node, HX_LOCAL, &n->local[1], &n->local[0]);
    n->switch_hal.node.port[HX_LOCAL].local = true;
    if (hx_endpoint_init(&n->endpoint, &config, &n->endpoint_hal, bare_take(hx_endpoint_bytes(&config))) != HX_OK)
        bare_die("its endpoint cannot be built");
}

static void start_devices(struct node *n)
{
    unsigned blocks = blocks_of(n->config);
    for (unsigned cable = 0; cable < NODE_CABLES; cable++) {
        struct virtio_net *d = bare_take(sizeof *d);
        if (!virtio_net_start(d, cable))
            continue;
        n->device[cable] = d;
        make_wire(&n->in[cable], blocks);
        make_wire(&n->out[cable], blocks);
        plug_cable(n, cable);
    }
}

void node_build(struct node *n, const struct config *config, unsigned harts, struct hal_user user)
{
    unsigned blocks = blocks_of(config);
    *n = (struct node){.config = config, .harts = harts, .random = config->random, .up = UINT64_C(1) << HX_LOCAL};
    loopback_node_init(&n->switch_hal.node, HX_ACCELERATOR_PORTS, config->vcs, blocks, 0,
                       bare_take(loopback_node_bytes(HX_ACCELERATOR_PORTS, config->vcs, blocks, 0)));
    node_around_init(&n->around, config);
    n->switch_hal.node.notices = &n->around.notices;
    start_devices(n);
    build_endpoint(n, user);
    hx_switch_init(&n->sw, HX_ACCELERATOR_PORTS, config->vcs, config->endpoint.job, &n->switch_hal,
                   bare_take(hx_switch_bytes(HX_ACCELERATOR_PORTS, config->vcs)));
    n->tables = bare_take(hx_route_bytes(&config->g, config->rank));
    build_routes(n);
}

/* ---- devices ---- */

/* Frames without room stay with the device, and the peer waits. */
static unsigned receive(struct node *n, unsigned cable, uint64_t now)
{
    struct virtio_net *d = n->device[cable];
    const uint8_t *frame;
    uint32_t bytes;
    unsigned frames = 0;
    for (; frames < BURST && (frame = virtio_net_arrived(d, &bytes)) != NULL; frames++) {
        if (!loopback_wire_has_room(&n->in[cable], bytes))
            break;
        loopback_wire_put(&n->in[cable], now, frame, bytes);
        virtio_net_taken(d);
    }
    loopback_wire_commit(&n->in[cable]);
    return frames;
}

/* Clears the wire on request even if the device takes no frames: hart 0 may wait for it. */
static unsigned transmit(struct node *n, unsigned cable, uint64_t now)
{
    struct virtio_net *d = n->device[cable];
    uint8_t *frame;
    uint32_t bytes;
    unsigned frames = 0;
    loopback_wire_heed(&n->out[cable]);
    for (; (frame = virtio_net_place(d)) != NULL && (bytes = loopback_wire_take(&n->out[cable], now, frame)) > 0;
         frames++)
        virtio_net_send(d, bytes);
    virtio_net_flush(d);
    return frames;
}

/* True if a hart serves a cable's device. */
static bool serves(const struct node *n, unsigned hart, unsigned cable)
{
    return n->device[cable] && harts_of_cable(n->harts, cable) == hart;
}

unsigned node_take_in(struct node *n, unsigned hart, uint64_t now)
{
    unsigned frames = 0;
    for (unsigned cable = 0; cable < NODE_CABLES; cable++)
        frames += serves(n, hart, cable) ? receive(n, cable, now) : 0;
    return frames;
}

unsigned node_send_out(struct node *n, unsigned hart, uint64_t now)
{
    unsigned frames = 0;
    for (unsigned cable = 0; cable < NODE_CABLES; cable++)
        frames += serves(n, hart, cable) ? transmit(n, cable, now) : 0;
    return frames;
}

/* ---- cables ---- */

/* Drops unsent frames of a session that ended. Another hart that serves the wire responds soon and never waits for this
 * one. */
static void drop_unsent(struct node *n, unsigned cable)
{
    loopback_wire_clear(&n->out[cable]);
    while (!loopback_wire_is_clear(&n->out[cable]))
        if (serves(n, 0, cable))
            loopback_wire_heed(&n->out[cable]);
}

/* Returns whether the peer is present. */
static bool watch(struct node *n, unsigned cable, uint64_t now)
{
    struct loopback_port *p = &n->switch_hal.node.port[cable];
    if (cable_fell_silent(&p->cable, now, CABLE_SILENCE_NS)) {
        drop_unsent(n, cable);
        plug_cable(n, cable);
    }
    if (cable_new_sessions(&p->cable))
        drop_unsent(n, cable);
    return p->cable.link.open;
}

static void follow_cables(struct node *n, uint64_t now)
{
    uint64_t up = UINT64_C(1) << HX_LOCAL;
    for (unsigned cable = 0; cable < NODE_CABLES; cable++)
        up |= (uint64_t)(n->device[cable] && watch(n, cable, now)) << cable;
    bool around = node_around_follow(&n->around, n->config->rank, up, now);
    if (up == n->up && !around)
        return;
    n->up = up;
    build_routes(n);
    hx_switch_reroute(&n->sw);
    hx_endpoint_routes_changed(&n->endpoint);
}

bool node_is_up(const struct node *n)
{
    bool up = n->endpoint_hal.node.port[n->config->plane].cable.link.open;
    for (unsigned cable = 0; cable < NODE_CABLES; cable++)
        up = up && (!n->device[cable] || n->up >> cable & 1);
    return up;
}

/* ---- step ---- */

unsigned node_step(struct node *n, uint64_t now)
{
    unsigned moved = node_take_in(n, 0, now);
    loopback_poll(&n->switch_hal.node, now);
    follow_cables(n, now);
    unsigned hops = hx_accelerator_step(&n->sw);
    loopback_poll(&n->endpoint_hal.node, now);
    unsigned packets = hx_endpoint_step(&n->endpoint);
    n->hops += hops;
    return moved + hops + packets + node_send_out(n, 0, now);
}

/* ---- sleep ---- */

static uint64_t sooner(uint64_t ns, const struct loopback_port *p, uint64_t now)
{
    uint64_t wait = cable_credit_wait(&p->cable, now);
    return wait < ns ? wait : ns;
}

/* Time until the next timed work. Retries of an endpoint are later than that, and a `rate` catches up. */
static uint64_t rest(const struct node *n, uint64_t now)
{
    uint64_t ns = LONGEST_IDLE_WAIT_NS;
    for (unsigned cable = 0; cable < NODE_CABLES; cable++) {
        if (!n->device[cable])
            continue;
        if (!loopback_wire_is_empty(&n->out[cable])) /* the device takes no frames and gives no wakeup */
            return HARTS_IDLE_WAIT_NS;
        ns = sooner(ns, &n->switch_hal.node.port[cable], now);
    }
    ns = sooner(ns, &n->switch_hal.node.port[HX_LOCAL], now);
    return sooner(ns, &n->endpoint_hal.node.port[n->config->plane], now);
}

void node_idle_wait(struct node *n, uint64_t now)
{
    bool may = true;
    if (n->harts > 1) {
        board_idle_wait(HARTS_IDLE_WAIT_NS);
        return;
    }
    for (unsigned cable = 0; cable < NODE_CABLES; cable++)
        may = (!n->device[cable] || virtio_net_arm(n->device[cable])) && may;
    if (may)
        board_idle_wait(rest(n, now));
    for (unsigned cable = 0; cable < NODE_CABLES; cable++)
        if (n->device[cable])
            virtio_net_disarm(n->device[cable]);
    board_idle_wait_over();
}
