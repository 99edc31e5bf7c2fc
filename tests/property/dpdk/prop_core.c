/* prop_core.c - duties of a DPDK node's core towards devices, other cores and control. A peer that grants without
 * taking causes no overflow; data before a session is ignored. The owner of an output leaves other cores their
 * share. Control knows when it may stop a device or the node; a request for routes never sees partial tables. */
#include "nodes/dpdk/control.h"
#include "nodes/dpdk/core.h"
#include "nodes/dpdk/devices.h"
#include "nodes/dpdk/local.h"
#include "tests/support/dpdk/support_dpdk.h"

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a device that takes nothing ---- */

enum { BLOCKS = 32, DEVICE_FRAMES = 64, TURNS = 2000 };

struct stuck {
    struct dpdk_port port;
    struct rte_mempool *pool;
    struct rte_ring *out; /* frames that the device has taken */
    uint32_t staged, taken;
};

static void open_stuck(struct stuck *s, const char *in, const char *out)
{
    const char *const names[2] = {in, out};
    static uint64_t drops[HX_DROP_COUNT];
    uint16_t ends[2];
    s->pool = rte_pktmbuf_pool_create(in, 1023, 0, 0, 8832, SOCKET_ID_ANY);
    const struct device_needs needs = {.mtu = NODE_FULL_MTU, .queue = 32, .pool = s->pool};
    device_pair(names, ends, DEVICE_FRAMES - 1, &needs);
    struct hx_problem problem;
    assert_int_equal(device_start(in, ends[0], false, &problem), DEVICE_STARTED);
    s->out = rte_ring_lookup(names[1]);
    const struct dpdk_port_config config = {.device = ends[0],
                                            .vcs = HX_VCS,
                                            .blocks = BLOCKS,
                                            .peer_blocks = BLOCKS,
                                            .credit_period = rte_get_tsc_hz() * 3600,
                                            .pool = s->pool,
                                            .drops = drops};
    dpdk_port_init(&s->port, &config, rte_zmalloc(NULL, dpdk_port_bytes(HX_VCS, BLOCKS, BLOCKS), 64));
    s->port.cable.link.open = s->port.cable.link.heard = true;
}

/* Fills the port's room with packets of one block, numbered in order. */
static void stage_all(struct stuck *s)
{
    uint64_t room = dpdk_credit_room(&s->port);
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        for (unsigned n = 0; n < hx_lane(room, vc); n++) {
            struct rte_mbuf *m = rte_pktmbuf_alloc(s->pool);
            struct hx_desc d = {.vc = (uint8_t)vc};
            assert_true(m && s->port.staged_end < s->port.staged_size);
            char *frame = rte_pktmbuf_append(m, HX_HEADER_BYTES);
            memset(frame, 0, HX_HEADER_BYTES);
            memcpy(frame + 40, &s->staged, sizeof s->staged);
            dpdk_set_mbuf(&d, m);
            dpdk_stage(&s->port, &d);
            s->staged++;
        }
    }
}

static void take_some(struct stuck *s, unsigned frames)
{
    void *m;
    for (; frames > 0 && rte_ring_dequeue(s->out, &m) == 0; frames--) {
        const uint8_t *frame = rte_pktmbuf_mtod((struct rte_mbuf *)m, uint8_t *);
        if (frame[13] != (HX_ETHERTYPE_CONTROL & 0xFF)) {
            assert_memory_equal(frame + 40, &s->taken, sizeof s->taken);
            s->taken++;
        }
        rte_pktmbuf_free(m);
    }
}

static void a_peer_that_grants_and_takes_nothing_overflows_nothing(void **state)
{
    (void)state;
    static struct stuck s;
    open_stuck(&s, "stuck", "unstuck");
    for (unsigned turn = 0; turn < TURNS; turn++) {
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            s.port.cable.link.tx[vc].limit = s.port.cable.link.tx[vc].sent + BLOCKS;
        s.port.cable.link.answer = true;
        stage_all(&s);
        (void)dpdk_flush(&s.port, rte_rdtsc());
        assert_true(s.port.staged_end <= s.port.staged_size);
        if (turn % 50 == 49) /* sometimes it takes a few */
            take_some(&s, turn % 80);
    }
    while (s.port.staged_end > s.port.staged_first) {
        take_some(&s, DEVICE_FRAMES);
        (void)dpdk_flush(&s.port, rte_rdtsc());
    }
    take_some(&s, DEVICE_FRAMES);
    assert_true(s.staged > TURNS / 2 && s.taken == s.staged);
}

/* ---- sessions ---- */

enum { COMMON_FRAMES = 8, GRANT = 20 };

/* A burst of common data frames, each with a piggybacked grant. */
static void receive_common_frames(struct stuck *s, struct rte_ring *in)
{
    const struct hx_header h = {
        .kind = HX_DATA, .credit_vc = 0, .credit_limit = GRANT, .message_packets = 1, .epoch = 1};
    for (unsigned i = 0; i < COMMON_FRAMES; i++) {
        struct rte_mbuf *m = rte_pktmbuf_alloc(s->pool);
        assert_non_null(m);
        hx_frame_encode((uint8_t *)rte_pktmbuf_append(m, HX_HEADER_BYTES), &h);
        assert_int_equal(rte_ring_enqueue(in, m), 0);
    }
    (void)dpdk_receive(&s->port);
}

/* A port has opened, and its peer still has the earlier session: common frames are checked like others. */
static void a_port_ignores_data_before_its_peers_session(void **state)
{
    (void)state;
    static struct stuck s;
    open_stuck(&s, "deaf", "mute");
    struct rte_ring *in = rte_ring_lookup("deaf");
    struct hx_credit_link *l = &s.port.cable.link;
    uint64_t overrun = s.port.drops[HX_DROP_OVERRUN];
    l->heard = false;
    receive_common_frames(&s, in);
    assert_int_equal(s.port.drops[HX_DROP_OVERRUN] - overrun, COMMON_FRAMES);
    assert_true(l->rx[0].received == 0 && l->tx[0].limit == 0);
    l->heard = true;
    receive_common_frames(&s, in);
    assert_int_equal(s.port.drops[HX_DROP_OVERRUN] - overrun, COMMON_FRAMES);
    assert_true(l->rx[0].received == COMMON_FRAMES && l->tx[0].limit == GRANT);
}

/* ---- an output that two cores send by ---- */

/* Cores with packets, and the credit per loop. */
struct both {
    struct stuck *s;
    struct dpdk_share *share;
    bool owner_wants, other_wants;
    bool others_open;      /* the VCs without packets have credit */
    uint32_t owner, other; /* packets */
};

static struct hx_desc full_packet(const struct both *b)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(b->s->pool);
    struct hx_desc d = {.length = HX_MAX_PAYLOAD};
    assert_non_null(m);
    memset(rte_pktmbuf_append(m, HX_HEADER_BYTES), 0, HX_HEADER_BYTES);
    dpdk_set_mbuf(&d, m);
    return d;
}

/* A loop of each core: `blocks` more credit arrives, the owner sends what it can, then the other core does and is
 * served. */
static void loop_both(struct both *b, uint32_t blocks, struct dpdk_turn *turn)
{
    struct dpdk_port *p = &b->s->port;
    struct dpdk_share *const shares[2] = {NULL, b->share};
    struct hx_credit_sender *tx = &p->cable.link.tx[0];
    uint32_t most = tx->sent + tx->buffer;
    tx->limit = hx_credit_is_ahead(tx->limit + blocks, most) ? most : tx->limit + blocks;
    for (unsigned vc = 1; vc < HX_VCS; vc++)
        tx[vc].limit = tx[vc].sent + (b->others_open ? tx->buffer : 0);
    for (; b->owner_wants && hx_lane(dpdk_credit_room(p), 0) >= HX_PACKET_BLOCKS; b->owner++) {
        const struct hx_desc d = full_packet(b);
        dpdk_stage(p, &d);
    }
    for (; b->other_wants && hx_lane(dpdk_share_room(b->share), 0) >= HX_PACKET_BLOCKS; b->other++) {
        const struct hx_desc d = full_packet(b);
        dpdk_share_send(b->share, &d);
    }
    dpdk_share_rest(b->share);
    (void)dpdk_share_serve(p, shares, 2, turn);
    (void)dpdk_flush(p, rte_rdtsc());
    void *m;
    while (rte_ring_dequeue(b->s->out, &m) == 0)
        rte_pktmbuf_free(m);
}

/* Percent of the granted packets, of the owner and of the other core. */
static void count_both(struct both *b, uint32_t blocks, uint32_t percent[2])
{
    struct dpdk_turn turn = {.core = {0}};
    b->owner = b->other = 0;
    for (uint32_t n = 0; n < 200000 / blocks; n++)
        loop_both(b, blocks, &turn);
    percent[0] = b->owner * HX_PACKET_BLOCKS / (200000 / 100);
    percent[1] = b->other * HX_PACKET_BLOCKS / (200000 / 100);
}

static void try_shares(struct both *b, uint32_t buffer, uint32_t blocks)
{
    uint32_t percent[2];
    b->s->port.peer_blocks = b->s->port.cable.link.tx[0].buffer = buffer;
    b->owner_wants = b->other_wants = true;
    count_both(b, blocks, percent);
    print_message("buffer %u, %u at once: both %u %u", buffer, blocks, percent[0], percent[1]);
    assert_true(2 * percent[0] >= percent[1] && 2 * percent[1] >= percent[0] && percent[0] + percent[1] >= 40);
    b->other_wants = false;
    count_both(b, blocks, percent);
    print_message(", the owner alone %u", percent[0]);
    assert_true(percent[0] >= 25);
    b->owner_wants = false;
    b->other_wants = true;
    count_both(b, blocks, percent);
    print_message(", the other alone %u\n", percent[1]);
    assert_true(percent[1] >= 25);
}

/* For any credit per loop, from the smallest buffer on, and any credit of other VCs. */
static void an_outputs_owner_leaves_others_their_share(void **state)
{
    (void)state;
    static struct stuck s;
    open_stuck(&s, "share", "shared");
    uint64_t drops[HX_DROP_COUNT] = {0};
    struct both b = {.s = &s, .share = dpdk_share_new("other", HX_VCS * 512, SOCKET_ID_ANY, drops)};
    for (unsigned n = 0; n < 2; n++) {
        b.others_open = n;
        for (uint32_t buffer = 32; buffer <= 512; buffer *= 4) {
            for (uint32_t blocks = 1; blocks <= 32; blocks *= 2)
                try_shares(&b, buffer, blocks);
        }
    }
}

/* More packets than the ring between two cores holds, which is the most that can be outstanding. */
static void packets_beyond_a_ring_are_counted(void **state)
{
    (void)state;
    enum { RING = 3, SENT = 5 };
    uint64_t drops[HX_DROP_COUNT] = {0};
    struct rte_mempool *pool = rte_pktmbuf_pool_create("few", SENT, 0, 0, 512, SOCKET_ID_ANY);
    struct dpdk_share *share = dpdk_share_new("small", RING, SOCKET_ID_ANY, drops);
    assert_true(pool && share);
    for (unsigned n = 0; n < SENT; n++) {
        struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
        struct hx_desc d = {.vc = 0};
        assert_non_null(m);
        (void)rte_pktmbuf_append(m, HX_HEADER_BYTES);
        dpdk_set_mbuf(&d, m);
        dpdk_share_send(share, &d);
    }
    dpdk_share_push(share);
    assert_int_equal(dpdk_share_waiting(share), RING);
    assert_int_equal(drops[HX_DROP_OVERRUN], SENT - RING);
    assert_int_equal(rte_mempool_avail_count(pool), SENT - RING);
    dpdk_share_free(share);
    rte_mempool_free(pool);
}

/* ---- a node in a row of three, with a core for its E port and another for its W port ---- */

static struct lab lab;
static struct node *const middle = &lab.node[1];

static int open_row(void **state)
{
    const struct lab_settings s = {.fabric = "1x1 H3x1Mesh",
                                   .credits = 64,
                                   .message = 100000,
                                   .count = 1000000,
                                   .lcores = "E=0,W=1,N=1,S=1,local=0"};
    (void)state;
    lab_open(&lab, &s);
    for (unsigned turn = 0; turn < 300; turn++)
        lab_turn(&lab);
    return 0;
}

static int close_row(void **state)
{
    (void)state;
    lab_close(&lab);
    return 0;
}

/* ---- control and telemetry ---- */

static void say_waiting(const struct node *n)
{
    for (unsigned i = 0; i < n->cores; i++)
        core_publish_waiting(n->core[i]);
}

static uint32_t waiting_of(const struct node *n)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < n->cores; i++)
        sum += atomic_load(&n->core[i]->waiting);
    return sum;
}

/* A core reported long ago that it holds no packets. */
static void a_node_is_quiet_when_its_cores_have_reported_since(void **state)
{
    (void)state;
    struct node *n = middle;
    struct local *local = n->local;
    struct control c = {.node = n};
    n->local = NULL; /* without its endpoint */
    say_waiting(n);
    while (waiting_of(n) == 0) {
        lab_turn(&lab);
        say_waiting(n);
    }
    for (unsigned i = 0; i < n->cores; i++)
        atomic_store(&n->core[i]->waiting, 0);
    control_drain(&c);
    c.ended -= rte_get_tsc_hz();
    assert_false(control_is_quiet(&c)); /* no core has reported yet */
    say_waiting(n);
    assert_false(control_is_quiet(&c));
    for (unsigned i = 0; i < n->cores; i++)
        atomic_store(&n->core[i]->waiting, 0);
    assert_true(control_is_quiet(&c));
    c.ended = rte_rdtsc();
    assert_false(control_is_quiet(&c)); /* too short a time */
    atomic_store(&n->phase, NODE_RUNNING);
    n->local = local;
}

/* However long ago control has checked it. */
static void a_device_is_stopped_when_its_core_has_seen_it_go_down(void **state)
{
    (void)state;
    struct node *n = middle;
    struct core *core = n->core[n->owner[HX_W]];
    memset(n->looked_at, 0, sizeof n->looked_at);
    assert_false(node_is_left_alone(n, HX_W));
    uint64_t carrier = atomic_fetch_and(&n->carrier, ~(UINT64_C(1) << HX_W));
    assert_false(node_is_left_alone(n, HX_W));
    (void)core_loop(n->core[n->owner[HX_E]]); /* not its core */
    assert_false(node_is_left_alone(n, HX_W));
    (void)core_loop(core);
    assert_true(node_is_left_alone(n, HX_W));
    assert_false(node_is_left_alone(n, HX_E));
    atomic_store(&n->carrier, carrier);
    (void)core_loop(core);
    assert_false(node_is_left_alone(n, HX_W));
}

static void a_request_for_routes_sees_complete_tables(void **state)
{
    (void)state;
    struct node *n = middle;
    struct core *core = n->core[0];
    struct node_routes seen;
    memset(core->tables, 0, hx_route_bytes(&n->config->g, n->config->node)); /* during a rebuild */
    node_routes_build(n, &seen);
    assert_int_equal(hx_route_ports(&seen.route, HX_LOCAL, 2, 0), 1U << HX_E);
    assert_int_equal(hx_route_ports(&seen.route, HX_LOCAL, 0, 0), 1U << HX_W);
    node_routes_free(&seen);
    uint64_t up = atomic_fetch_and(&n->up, ~(UINT64_C(1) << HX_W));
    node_routes_build(n, &seen);
    assert_int_equal(hx_route_ports(&seen.route, HX_LOCAL, 0, 0) & 1U << HX_W, 0);
    node_routes_free(&seen);
    atomic_store(&n->up, up);
    core_reroute(core);
}

/* As after SIGHUP: a job of its own, and the board where packets of a0,0 to a1,1 turn is another's. Only the row's
 * cables are there. */
static void a_core_follows_another_configuration_and_keeps_its_sessions(void **state)
{
    const struct lab_settings s = {
        .fabric = "2x2 Hx1Mesh", .nodes = 5, .credits = 64, .message = 100000, .count = 1000000};
    (void)state;
    lab_open(&lab, &s);
    for (unsigned turn = 0; turn < 300; turn++)
        lab_turn(&lab);
    struct node *n = &lab.node[0];
    struct core *core = n->core[0];
    const uint32_t sessions = n->port[HX_E].cable.link.sessions;
    uint8_t blocked[1] = {1U << 1};
    struct node_config other = lab.config[0];
    other.blocked = blocked;
    other.job = 9;
    other.values.credit_period_ns *= 7;
    const uint64_t period = node_ticks(n, other.values.credit_period_ns);
    assert_int_equal(hx_route_ports(&core->sw.route, HX_LOCAL, 1, 1), 1U << HX_E | 1U << HX_W);
    atomic_store(&n->config, &other);
    (void)core_loop(core);
    assert_int_equal(hx_route_ports(&core->sw.route, HX_LOCAL, 1, 1), 0);
    assert_int_equal(core->sw.job, 9);
    assert_int_equal(n->local->endpoint.config.job, 9);
    assert_int_equal(n->local->port.cable.period, period);
    assert_int_equal(n->port[HX_E].cable.period, period);
    assert_int_equal(n->port[HX_E].cable.link.sessions, sessions);
    atomic_store(&n->config, &lab.config[0]);
    (void)core_loop(core);
    lab_close(&lab);
}

int main(void)
{
#define IN_ROW(test) cmocka_unit_test_setup_teardown(test, open_row, close_row)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_beyond_a_ring_are_counted),
        cmocka_unit_test(a_peer_that_grants_and_takes_nothing_overflows_nothing),
        cmocka_unit_test(a_port_ignores_data_before_its_peers_session),
        cmocka_unit_test(an_outputs_owner_leaves_others_their_share),
        IN_ROW(a_node_is_quiet_when_its_cores_have_reported_since),
        IN_ROW(a_device_is_stopped_when_its_core_has_seen_it_go_down),
        IN_ROW(a_request_for_routes_sees_complete_tables),
        cmocka_unit_test(a_core_follows_another_configuration_and_keeps_its_sessions),
    };
    lab_start_eal();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
