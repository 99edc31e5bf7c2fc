/* prop_dpdk_fabric.c - a whole plane of DPDK nodes: nothing is lost, whatever the buffers, the number of cores a node has,
 * and however many credit frames are lost; and garbage on every port does no harm.
 *
 * HX_GARBAGE_SECONDS: how long garbage comes (2). */
#include "dpdk-node/local.h"
#include "hxmesh/frame.h"
#include "support_dpdk.h"

#include <rte_cycles.h>
#include <rte_ring.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % below);
}

/* ---- nothing is lost ---- */

static void check_settings(const struct lab_settings *s)
{
    static struct lab lab;
    lab_open(&lab, s);
    assert_true(lab_run(&lab, 60));
    assert_int_equal(lab_corrupted(&lab), 0);
    assert_int_equal(lab_failed(&lab), 0);
    /* Where other programs keep the machine busy, acknowledgements are late and packets come twice. */
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        assert_true(reason == HX_DROP_DUPLICATE || lab_drops(&lab, reason) == 0);
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

static void all_arrives_though_credit_frames_are_lost(void **state)
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

/* ---- links ---- */

/* A link that goes down and comes back costs what was under way, which is sent again, and nothing else. */
static void links_come_and_go(void **state)
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
        for (unsigned turn = 0; turn < 20; turn++)
            lab_turn(&lab);
        atomic_store(&lab.node[0].up, up);
    }
    assert_true(lab_run(&lab, 60));
    assert_int_equal(lab_corrupted(&lab), 0);
    assert_int_equal(lab_failed(&lab), 0);
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

/* A frame in which all is right, for the reasons of whoever changes it then. */
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
    struct hx_credit_frame f = {.session = 1 + draw(1000), .peer_session = draw(1000)};
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        f.limit[vc] = draw(UINT32_MAX);
        f.sent[vc] = draw(UINT32_MAX);
    }
    if (m)
        hx_credit_encode(rte_pktmbuf_mtod(m, uint8_t *), &f);
    return m;
}

/* A copy of the frame that comes next out of a cable. */
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

/* One frame for the cable that leads into (id, port). Its other end's frames come back by `back`. */
static struct rte_mbuf *choose(struct lab *lab, struct rte_ring *in, struct rte_ring *back)
{
    switch (draw(12)) {
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
        return draw(5000) == 0 ? copy_of_next(lab, back, false) : NULL;
    default: /* the peer's come twice; a packet that does costs a session and what is under way */
        return copy_of_next(lab, in, draw(5000) != 0);
    }
}

static void throw_at(struct lab *lab, unsigned id, unsigned port)
{
    struct hx_end far = hx_far_end(&lab->config[id].g, id, port);
    struct rte_mbuf *m = choose(lab, lab->into[id][port], lab->into[far.node][far.port]);
    if (m && rte_ring_enqueue(lab->into[id][port], m) != 0)
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

static void garbage_does_no_harm(void **state)
{
    (void)state;
    static struct lab lab;
    const char *given = getenv("HX_GARBAGE_SECONDS");
    const char *seed = getenv("HX_SEED");
    uint64_t seconds = given ? strtoull(given, NULL, 10) : 2;
    random_state = seed ? strtoull(seed, NULL, 0) : 1;
    const struct lab_settings s = {.fabric = "2x1 Hx1Mesh", .credits = 128, .message = 20000, .count = 1000000};
    lab_open(&lab, &s);
    uint64_t end = rte_rdtsc() + seconds * rte_get_tsc_hz();
    unsigned turn = 0;
    for (; rte_rdtsc() < end; turn++) {
        lab_turn(&lab);
        if (turn % 4 == 0)
            throw_everywhere(&lab);
    }
    uint64_t received = 0;
    for (unsigned id = 0; id < lab.nodes; id++) {
        atomic_store(&lab.node[id].phase, NODE_DRAINING); /* no new messages */
        if (lab.node[id].local)
            lab.node[id].local->to_send = lab.node[id].local->begun;
    }
    for (uint64_t until = rte_rdtsc() + 40 * rte_get_tsc_hz(); rte_rdtsc() < until;) {
        bool idle = true;
        lab_turn(&lab);
        for (unsigned id = 0; id < lab.nodes; id++)
            idle = idle && (!lab.node[id].local || local_is_idle(lab.node[id].local));
        if (idle)
            break;
    }
    for (unsigned id = 0; id < lab.nodes; id++) {
        const struct local *l = lab.node[id].local;
        if (!l)
            continue;
        received += l->endpoint.stats.messages_received;
        assert_true(local_is_idle(l));
        assert_int_equal(l->endpoint.stats.messages_sent, l->begun);
    }
    assert_int_equal(lab_corrupted(&lab), 0);
    assert_int_equal(lab_failed(&lab), 0);
    assert_true(received > 100);
    assert_true(lab_drops(&lab, HX_DROP_MALFORMED) > 1000);
    print_message("%u turns, %lu messages, malformed %lu, overrun %lu, foreign %lu\n", turn, (unsigned long)received,
                  (unsigned long)lab_drops(&lab, HX_DROP_MALFORMED), (unsigned long)lab_drops(&lab, HX_DROP_OVERRUN),
                  (unsigned long)lab_drops(&lab, HX_DROP_FOREIGN_JOB));
    lab_close(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_arrives),
                                       cmocka_unit_test(all_arrives_with_the_least_buffers),
                                       cmocka_unit_test(all_arrives_though_credit_frames_are_lost),
                                       cmocka_unit_test(all_arrives_by_ports_of_three_cores),
                                       cmocka_unit_test(links_come_and_go),
                                       cmocka_unit_test(garbage_does_no_harm)};
    lab_start_eal();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
