/* prop_fabric.c - a whole plane of DPDK nodes: nothing is lost with any buffers, number of cores, and losses of credit
 * frames; garbage or another job's tag on every port does no harm.
 *
 * HX_GARBAGE_TURNS: turns with garbage (50000). */
#include "base/counts.h"
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "nodes/dpdk/core.h"
#include "nodes/dpdk/local.h"
#include "tests/support/dpdk/support_dpdk.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"
#include "tests/support/support_random.h"

#include <rte_cycles.h>
#include <rte_ring.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    return seeded_below(&random_state, below);
}

/* ---- nothing is lost ---- */

static void check_settings(const struct lab_settings *s)
{
    static struct lab lab;
    lab_open(&lab, s);
    assert_true(lab_run(&lab, 60));
    assert_int_equal(lab_corrupted(&lab), 0);
    assert_int_equal(lab_failed(&lab), 0);
    /* On a busy machine acknowledgements are late and packets are repeated. A repeated packet is a duplicate while its
     * message is received, and stale when a later message has its place (firmware/endpoint_receive.c). */
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++) {
        if (reason != HX_DROP_DUPLICATE && reason != HX_DROP_STALE && lab_drops(&lab, reason))
            fail_msg("%llu packets dropped: %s", (unsigned long long)lab_drops(&lab, reason), hx_drop_names[reason]);
    }
    for (unsigned id = 0; id < lab.nodes; id++) {
        const struct local *l = lab.node[id].local;
        if (l) {
            assert_int_equal(l->endpoint.stats.messages_received, l->to_receive);
            assert_int_equal(l->hal.max_vc, 1); /* one crossing in a fabric of one row */
        }
    }
    lab_close(&lab);
}

static void all_arrives(void **state)
{
    (void)state;
    const struct lab_settings s = {.fabric = "2x1 Hx1Mesh", .credits = 512, .message = 300000, .count = 40};
    check_settings(&s);
}

static void all_arrives_with_the_least_buffers(void **state)
{
    (void)state;
    const struct lab_settings s = {.fabric = "2x1 Hx1Mesh", .credits = 32, .message = 100001, .count = 40};
    check_settings(&s);
}

static void all_arrives_with_lost_credit_frames(void **state)
{
    (void)state;
    for (uint64_t one_in = 2; one_in <= 100; one_in += 98) {
        const struct lab_settings s = {
            .fabric = "2x1 Hx1Mesh", .credits = 64, .message = 100000, .count = 40, .lose_credits = one_in};
        check_settings(&s);
    }
}

static void all_arrives_by_ports_of_three_cores(void **state)
{
    (void)state;
    for (uint64_t credits = 32; credits <= 512; credits *= 4) {
        const struct lab_settings s = {.fabric = "2x1 Hx1Mesh",
                                       .credits = credits,
                                       .message = 100000,
                                       .count = 40,
                                       .lcores = "E=0,W=1,N=1,S=2,local=2"};
        check_settings(&s);
    }
}

static const char *key_file(void)
{
    const char *path = file_write_text("key", "000102030405060708090a0b0c0d0e0f");
    assert_int_equal(chmod(path, 0600), 0);
    return path;
}

static void all_arrives_by_authenticated_cables(void **state)
{
    (void)state;
    struct lab_settings s = {
        .fabric = "2x1 Hx1Mesh", .credits = 512, .message = 100001, .count = 40, .key_file = key_file()};
    check_settings(&s);
    s.credits = 64;
    s.lose_credits = 10;
    s.lcores = "E=0,W=1,N=1,S=2,local=2";
    check_settings(&s);
}

/* ---- links ---- */

/* A link that goes down and up loses only the packets in flight, which are sent again. */
static void links_go_down_and_up(void **state)
{
    (void)state;
    static struct lab lab;
    const struct lab_settings s = {
        .fabric = "2x1 Hx1Mesh", .credits = 128, .message = 100000, .count = 200, .lcores = "E=0,W=1,N=1,S=2,local=2"};
    lab_open(&lab, &s);
    for (unsigned flap = 0; flap < 8; flap++) {
        for (unsigned turn = 0; turn < 200; turn++)
            lab_turn(&lab);
        unsigned port = flap % 2 ? HX_E : HX_W;
        uint64_t up = atomic_exchange(&lab.node[0].up, 31 & ~(1U << port));
        uint64_t carrier = atomic_exchange(&lab.node[0].carrier, 31 & ~(1U << port));
        for (unsigned turn = 0; turn < 20; turn++)
            lab_turn(&lab);
        atomic_store(&lab.node[0].carrier, carrier);
        atomic_store(&lab.node[0].up, up);
    }
    assert_true(lab_run(&lab, 60));
    assert_int_equal(lab_corrupted(&lab), 0);
    assert_int_equal(lab_failed(&lab), 0);
    lab_close(&lab);
}

/* Turns of all nodes but one until a node sees a port up, or down. */
static void watch_until(struct lab *lab, unsigned port, bool up, const struct node *still)
{
    struct node *n = &lab->node[0];
    for (uint64_t end = rte_rdtsc() + 60 * rte_get_tsc_hz(); (atomic_load(&n->up) >> port & 1) != up;) {
        assert_true(rte_rdtsc() < end);
        for (unsigned id = 0; id < lab->nodes; id++) {
            struct node *other = &lab->node[id];
            for (unsigned core = 0; other != still && core < other->cores; core++)
                (void)core_loop(other->core[core]);
            if (other != still && other->local)
                (void)local_step(other->local);
        }
        (void)node_watch_links(n);
    }
}

/* A stopped peer leaves its device's link up. After a long silence its port leaves the routes, and the endpoint
 * sends probes at once. The port returns by itself. */
static void a_silent_peer_leaves_the_routes(void **state)
{
    (void)state;
    static struct lab lab;
    const struct lab_settings s = {.fabric = "2x1 Hx1Mesh", .credits = 128, .message = 100000, .count = 20};
    lab_open(&lab, &s);
    struct node *n = &lab.node[0];
    atomic_store(&n->up, 0);
    watch_until(&lab, HX_E, true, NULL);
    const struct node *peer = &lab.node[hx_far_end(&n->config->g, n->config->node, HX_E).node];
    assert_ptr_not_equal(peer, n);
    assert_true(n->port[HX_E].cable.link.open);
    n->port[HX_E].cable.heard_at -= 3 * rte_get_tsc_hz();
    watch_until(&lab, HX_E, false, peer);
    assert_true(atomic_load(&n->carrier) >> HX_E & 1);
    (void)core_loop(n->core[n->owner[HX_E]]);
    (void)local_step(n->local);
    assert_int_equal(n->core[n->owner[HX_E]]->hal.up >> HX_E & 1, 0);
    for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++)
        assert_int_equal(n->core[0]->sw.route.turn_mask[input] >> HX_E & 1, 0);
    assert_int_equal(n->local->up, atomic_load(&n->up));
    watch_until(&lab, HX_E, true, NULL);
    assert_true(lab_run(&lab, 60));
    assert_int_equal(lab_corrupted(&lab) + lab_failed(&lab), 0);
    lab_close(&lab);
}

/* ---- garbage ---- */

static struct rte_mbuf *garbage(struct lab *lab, unsigned bytes)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(lab->pool);
    char *at = m ? rte_pktmbuf_append(m, (uint16_t)bytes) : NULL;
    for (unsigned i = 0; at && i < bytes; i++)
        at[i] = (char)draw(256);
    return m;
}

/* A valid frame, for a caller that changes it. */
static struct rte_mbuf *good_frame(struct lab *lab)
{
    struct rte_mbuf *m = garbage(lab, HX_HEADER_BYTES + 13);
    const struct hx_header h = {
        .credit_vc = HX_NO_CREDIT, .kind = HX_DATA, .message_packets = 1, .length = 13, .epoch = 1};
    if (m)
        hx_frame_encode(rte_pktmbuf_mtod(m, uint8_t *), &h);
    return m;
}

static struct rte_mbuf *credit_frame(struct lab *lab)
{
    struct rte_mbuf *m = garbage(lab, HX_CREDIT_FRAME_BYTES);
    struct hx_credit_frame f = {.nonce = 1 + draw(1000), .peer_nonce = draw(1000)};
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        f.limit[vc] = draw(UINT32_MAX);
        f.sent[vc] = draw(UINT32_MAX);
    }
    if (m)
        hx_credit_encode(rte_pktmbuf_mtod(m, uint8_t *), &f);
    return m;
}

/* A copy of the next frame of a cable. */
static struct rte_mbuf *copy_of_next(struct lab *lab, struct rte_ring *r, bool credits)
{
    static void *all[4096];
    unsigned n = rte_ring_dequeue_burst(r, all, 4096, NULL);
    struct rte_mbuf *copy = NULL;
    for (unsigned i = 0; i < n && !copy; i++) {
        const uint8_t *frame = rte_pktmbuf_mtod((struct rte_mbuf *)all[i], uint8_t *);
        if ((frame[13] == (HX_ETHERTYPE_CONTROL & 0xFF)) == credits)
            copy = rte_pktmbuf_copy(all[i], lab->pool, 0, UINT32_MAX);
    }
    (void)rte_ring_enqueue_bulk(r, all, n, NULL);
    return copy;
}

static struct rte_mbuf *spoil(struct rte_mbuf *m, unsigned at, uint8_t value)
{
    if (m)
        rte_pktmbuf_mtod(m, uint8_t *)[at] = value;
    return m;
}

static struct rte_mbuf *truncated(struct rte_mbuf *m, uint16_t by)
{
    if (m)
        (void)rte_pktmbuf_trim(m, by);
    return m;
}

/* A credit frame with true nonces and false counts, or with a false nonce. */
static struct rte_mbuf *forged(struct rte_mbuf *m)
{
    struct hx_credit_frame f;
    uint8_t *frame = m ? rte_pktmbuf_mtod(m, uint8_t *) : NULL;
    if (!m || hx_credit_decode(&f, frame, m->data_len) != HX_OK)
        return m;
    unsigned vc = draw(HX_VCS);
    switch (draw(4)) {
    case 0:
        f.limit[vc] += 1 + draw(1U << 30);
        break;
    case 1:
        f.sent[vc] += 1 + draw(1U << 30);
        break;
    case 2:
        f.nonce += 1 + draw(1U << 30);
        break;
    default:
        f.peer_nonce += 1 + draw(1U << 30);
    }
    hx_credit_encode(frame, &f);
    return m;
}

/* One frame for the cable into (id, port); `back`: frames of its other end. */
static struct rte_mbuf *choose(struct lab *lab, struct rte_ring *in, struct rte_ring *back)
{
    switch (draw(13)) {
    case 0:
        return garbage(lab, 1 + draw(HX_MAX_FRAME + 200));
    case 1:
        return garbage(lab, 1 + draw(64));
    case 2:
        return truncated(good_frame(lab), (uint16_t)(1 + draw(70)));
    case 3:
        return spoil(good_frame(lab), 14, 2); /* version */
    case 4:
        return spoil(good_frame(lab), 15, 3); /* VC */
    case 5:
        return spoil(good_frame(lab), 17, 9); /* VC of the grant */
    case 6:
        return spoil(good_frame(lab), 29, 3); /* another plane */
    case 7:
        return credit_frame(lab);
    case 8:
        return spoil(credit_frame(lab), 20 + draw(44), (uint8_t)draw(256));
    case 9: /* its own frames come back */
        return copy_of_next(lab, back, true);
    case 10:
        return copy_of_next(lab, back, false);
    case 11:
        return forged(copy_of_next(lab, in, true));
    default: /* the peer's frames are repeated */
        return copy_of_next(lab, in, draw(2) != 0);
    }
}

/* Frames put into cables besides those of nodes. */
static uint64_t thrown;

static void throw_at(struct lab *lab, unsigned id, unsigned port)
{
    struct hx_end far = hx_far_end(&lab->config[id].g, id, port);
    struct rte_mbuf *m = choose(lab, lab->into[id][port], lab->into[far.node][far.port]);
    bool put = m && rte_ring_enqueue(lab->into[id][port], m) == 0;
    thrown += put;
    if (!put)
        rte_pktmbuf_free(m);
}

static void throw_everywhere(struct lab *lab)
{
    for (unsigned id = 0; id < lab->nodes; id++) {
        for (unsigned port = 0; port < lab->config[id].ports; port++) {
            if (lab->into[id][port])
                throw_at(lab, id, port);
        }
    }
}

static uint64_t messages_received(const struct lab *lab)
{
    uint64_t sum = 0;
    for (unsigned id = 0; id < lab->nodes; id++)
        sum += lab->node[id].local ? lab->node[id].local->endpoint.stats.messages_received : 0;
    return sum;
}

/* Runs so many turns, with or without garbage. Returns messages per thousand turns: making garbage takes most of the
 * time, so time is no measure. */
static double turn_for(struct lab *lab, uint64_t turns, bool with_garbage)
{
    uint64_t before = messages_received(lab);
    for (uint64_t turn = 0; turn < turns; turn++) {
        lab_turn(lab);
        if (with_garbage && turn % 4 == 0)
            throw_everywhere(lab);
    }
    return (double)(messages_received(lab) - before) * 1000 / (double)turns;
}

static bool is_idle(const struct lab *lab)
{
    for (unsigned id = 0; id < lab->nodes; id++)
        if (lab->node[id].local && !local_is_idle(lab->node[id].local))
            return false;
    return true;
}

static void end_traffic(struct lab *lab)
{
    for (unsigned id = 0; id < lab->nodes; id++) {
        atomic_store(&lab->node[id].phase, NODE_DRAINING); /* no new messages */
        if (lab->node[id].local)
            lab->node[id].local->to_send = lab->node[id].local->begun;
    }
    for (uint64_t until = rte_rdtsc() + 40 * rte_get_tsc_hz(); rte_rdtsc() < until && !is_idle(lab);)
        lab_turn(lab);
    assert_true(is_idle(lab));
    for (unsigned id = 0; id < lab->nodes; id++) {
        const struct local *l = lab->node[id].local;
        if (l)
            assert_int_equal(l->endpoint.stats.messages_sent, l->begun);
    }
}

/* Every frame in a cable, of a node or of the test, was taken and counted, or is still there. */
static void check_accounts(struct lab *lab)
{
    uint64_t put = thrown;
    uint64_t taken = 0;
    uint64_t dropped = 0;
    for (unsigned id = 0; id < lab->nodes; id++) {
        for (unsigned port = 0; port < lab->config[id].ports; port++) {
            const struct dpdk_port *p = &lab->node[id].port[port];
            const struct dpdk_counts *c = &p->counts;
            if (lab->node[id].config->port[port].device[0])
                dropped += c->rx_dropped;
            if (!lab->into[id][port])
                continue;
            put += c->tx_packets + c->tx_credits - c->tx_dropped - (p->staged_end - p->staged_first);
            taken += c->rx_packets + c->rx_credits + c->rx_dropped + rte_ring_count(lab->into[id][port]);
        }
    }
    assert_int_equal(put, taken);
    /* And each has a reason: of arrival, of the switch, or of the endpoint. */
    uint64_t by_reason = 0;
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        by_reason += lab_drops(lab, reason);
    assert_true(by_reason >= dropped);
}

static struct lab *with_garbage(const struct lab_settings *s)
{
    static struct lab lab;
    const char *given = getenv("HX_GARBAGE_TURNS");
    const uint64_t turns = given ? strtoull(given, NULL, 10) : effort(50000);
    random_state = seeded_by(1);
    thrown = 0;
    lab_open(&lab, s);
    double clean = turn_for(&lab, turns / 4, false);
    double spoilt = turn_for(&lab, turns, true);
    end_traffic(&lab);
    check_accounts(&lab);
    assert_int_equal(lab_corrupted(&lab), 0);
    assert_int_equal(lab_failed(&lab), 0);
    assert_true(messages_received(&lab) > 100);
    assert_true(spoilt > clean / 4); /* nearly equal; a thousandth if garbage can end sessions */
    assert_true(lab_drops(&lab, HX_DROP_MALFORMED) > thrown / 3);
    print_message("%lu frames of garbage; messages a thousand turns: %.2f, %.2f without; dropped:",
                  (unsigned long)thrown, spoilt, clean);
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        print_message(" %s %lu", hx_drop_names[reason], (unsigned long)lab_drops(&lab, reason));
    print_message("\n");
    return &lab;
}

static const struct lab_settings for_long = {
    .fabric = "2x1 Hx1Mesh", .credits = 128, .message = 20000, .count = 100000000};

static void garbage_does_no_harm(void **state)
{
    (void)state;
    lab_close(with_garbage(&for_long));
}

/* Replayed or changed frames of the peer are recognized: none reaches a buffer, a counter or an endpoint. */
static void garbage_on_authenticated_cables_is_recognized(void **state)
{
    (void)state;
    struct lab_settings s = for_long;
    s.key_file = key_file();
    struct lab *lab = with_garbage(&s);
    assert_true(lab_drops(lab, HX_DROP_FORGED) > thrown / 10 && lab_drops(lab, HX_DROP_REPLAYED) > thrown / 100);
    assert_int_equal(lab_drops(lab, HX_DROP_CHECKSUM) + lab_drops(lab, HX_DROP_OVERRUN), 0);
    for (unsigned id = 0; id < lab->nodes; id++) {
        for (unsigned port = 0; port < lab->config[id].ports; port++)
            assert_int_equal(lab->node[id].port[port].cable.link.suspected, 0);
    }
    lab_close(lab);
}

/* ---- other jobs' tags ---- */

/* A packet for an accelerator of the other board, with that board's tag, forged by the other end of the cable into
 * (id, port). At an accelerator it is of a foreign job. */
static struct rte_mbuf *forged_tag(struct lab *lab, unsigned id, unsigned port)
{
    const struct node_config *c = &lab->config[id];
    struct rte_mbuf *m = garbage(lab, HX_HEADER_BYTES + 13);
    struct hx_end far = hx_far_end(&c->g, id, port);
    unsigned from = far.node < lab->config[0].g.accelerators ? far.node : id;
    unsigned victim = from < 2 ? 2 + draw(2) : draw(2);
    const struct hx_header h = {.vc = (uint8_t)draw(HX_MESH_VCS),
                                .credit_vc = HX_NO_CREDIT,
                                .kind = HX_DATA,
                                .job = lab->config[victim].job,
                                .dst_addr_hi = (uint16_t)victim,
                                .src_addr_hi = (uint16_t)from,
                                .message_packets = 1,
                                .length = 13,
                                .epoch = 1};
    if (m)
        hx_frame_encode(rte_pktmbuf_mtod(m, uint8_t *), &h);
    return m;
}

static void forge_everywhere(struct lab *lab)
{
    for (unsigned id = 0; id < lab->nodes; id++) {
        for (unsigned port = 0; port < lab->config[id].ports; port++) {
            struct rte_mbuf *m = lab->into[id][port] ? forged_tag(lab, id, port) : NULL;
            bool put = m && rte_ring_enqueue(lab->into[id][port], m) == 0;
            thrown += put;
            if (m && !put)
                rte_pktmbuf_free(m);
        }
    }
}

/* Two jobs, a board of two each and the network of their row, under full traffic. No endpoint ever gets a forged
 * packet: it would be stale there. */
static void forged_tags_are_dropped_at_their_entry(void **state)
{
    (void)state;
    static struct lab lab;
    const char *fabric = file_write_text("Jobs.hxm.yaml", "fabric: 2x1 H2x1Mesh\njobs:\n"
                                                          "  - {tag: 5, boards: [[0, 0]]}\n"
                                                          "  - {tag: 6, boards: [[1, 0]]}\n");
    const struct lab_settings s = {.fabric = fabric, .nodes = 5, .credits = 128, .message = 200000, .count = 400};
    random_state = seeded_by(1);
    thrown = 0;
    lab_open(&lab, &s);
    for (unsigned turn = 0; !lab_is_done(&lab) && turn < 200000; turn++) {
        lab_turn(&lab);
        if (turn % 4 == 0)
            forge_everywhere(&lab);
    }
    assert_true(lab_run(&lab, 60));
    uint64_t foreign = lab_drops(&lab, HX_DROP_FOREIGN_JOB);
    print_message("%lu packets with other jobs' tags: %lu dropped for it\n", (unsigned long)thrown,
                  (unsigned long)foreign);
    /* Frames that overran a buffer next to true packets were not checked. */
    assert_true(thrown > 1000 && foreign > thrown / 2 && foreign + lab_drops(&lab, HX_DROP_OVERRUN) >= thrown);
    assert_int_equal(lab_drops(&lab, HX_DROP_STALE) + lab_drops(&lab, HX_DROP_UNEXPECTED), 0);
    assert_true(lab_corrupted(&lab) == 0 && lab_failed(&lab) == 0);
    for (unsigned id = 0; id < lab.nodes; id++) {
        if (lab.node[id].local)
            assert_int_equal(lab.node[id].local->endpoint.stats.messages_received, 400);
    }
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_arrives),
                                       cmocka_unit_test(all_arrives_with_the_least_buffers),
                                       cmocka_unit_test(all_arrives_with_lost_credit_frames),
                                       cmocka_unit_test(all_arrives_by_ports_of_three_cores),
                                       cmocka_unit_test(all_arrives_by_authenticated_cables),
                                       cmocka_unit_test(links_go_down_and_up),
                                       cmocka_unit_test(a_silent_peer_leaves_the_routes),
                                       cmocka_unit_test(garbage_does_no_harm),
                                       cmocka_unit_test(garbage_on_authenticated_cables_is_recognized),
                                       cmocka_unit_test(forged_tags_are_dropped_at_their_entry)};
    lab_start_eal();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
