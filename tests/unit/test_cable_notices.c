/* test_cable_notices.c - notices of dead links over a cable (hal/cable/notices.h), between two switches of the example
 * platform. What an end refuses, and why: frames of other sessions, planes and keys, and frames that came before. */
#include "hal_port.h"
#include "hxmesh/error.h"
#include "tests/support/loopback/support_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 64, LATENCY = 100, PLANE = 2, PERIOD = 10000, TURNS = 300 /* of LATENCY: more than a period */ };

/* Accelerators 0 and 1 of a board, joined by port E of 0 and W of 1. wire[i] leads from end[i]. */
static struct {
    struct hx_geometry g;
    struct loopback_node end[2];
    struct hx_notices notices[2];
    struct hx_dead_links dead[2];
    void *state[2], *links[2];
    struct loopback_wire wire[2];
    const struct hx_auth_key *key;
    uint64_t now, random;
} c;

static const unsigned port_of[2] = {HX_E, HX_W};
static const struct hx_auth_key key = {{42, 43}}, other_key = {{42, 44}};

static struct cable_end *cable_of(unsigned end)
{
    return &c.end[end].port[port_of[end]].cable;
}

static void poll(unsigned times)
{
    for (; times > 0; times--) {
        c.now += LATENCY;
        loopback_poll(&c.end[0], c.now);
        loopback_poll(&c.end[1], c.now);
    }
}

/* An end without memory of the past. */
static void start_end(unsigned end)
{
    memset(c.state[end], 0, hx_notices_bytes(&c.g));
    memset(c.links[end], 0, hx_dead_links_bytes(&c.g));
    hx_dead_links_init(&c.dead[end], &c.g, c.links[end]);
    hx_notices_init(&c.notices[end], &c.g, &c.dead[end], c.state[end]);
    c.notices[end].period = PERIOD;
    c.end[end].notices = &c.notices[end];
    memset(cable_of(end), 0, sizeof *cable_of(end));
    cable_of(end)->key = c.key;
    loopback_plug(&c.end[end], port_of[end], PLANE, &c.wire[end], &c.wire[!end], ++c.random);
}

static void start(const struct hx_auth_key *with)
{
    memset(&c, 0, sizeof c);
    c.key = with;
    assert_int_equal(hx_geometry_init(&c.g, 2, 2, 2, 2, 4, 64, 1), HX_OK);
    for (unsigned end = 0; end < 2; end++) {
        lab_node(&c.end[end], HX_LOCAL, HX_MESH_VCS, BLOCKS, 0);
        lab_wire(&c.wire[end], BLOCKS, LATENCY);
        c.state[end] = lab_memory(hx_notices_bytes(&c.g));
        c.links[end] = lab_memory(hx_dead_links_bytes(&c.g));
    }
    start_end(0);
    start_end(1);
}

static void meet(void)
{
    poll(100);
    assert_true(cable_of(0)->link.heard && cable_of(1)->link.heard);
}

static uint64_t drops(unsigned end)
{
    uint64_t sum = 0;
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        sum += c.end[end].drops[reason];
    return sum;
}

static void assert_agree(unsigned links)
{
    assert_true(c.notices[0].digest == c.notices[1].digest);
    assert_int_equal(c.dead[0].count, links);
    assert_int_equal(c.dead[1].count, links);
    assert_int_equal(drops(0) + drops(1), 0);
}

/* ---- two switches ---- */

static void learn_over_a_wire(void)
{
    meet();
    assert_true(hx_notices_say(&c.notices[0], 0, 1U << HX_W, c.now));
    assert_true(hx_notices_say(&c.notices[1], 1, 1U << HX_S | 1U << HX_E, c.now));
    poll(4);
    assert_agree(3);
    assert_true(hx_notices_say(&c.notices[0], 0, 0, c.now));
    poll(4);
    assert_agree(2);
}

static void switches_learn_dead_links_over_a_wire(void **state)
{
    (void)state;
    start(NULL);
    learn_over_a_wire();
}

static void switches_with_a_key_learn_dead_links(void **state)
{
    (void)state;
    start(&key);
    learn_over_a_wire();
}

/* Five notices are more than a frame holds. */
static void a_session_begins_with_all_that_is_known(void **state)
{
    (void)state;
    start(NULL);
    for (uint32_t node = 1; node <= 5; node++)
        assert_true(hx_notices_say(&c.notices[0], node, 1U << HX_N, c.now));
    const unsigned links = c.dead[0].count;
    meet();
    assert_agree(links);
}

static void a_peer_that_restarts_is_told_all_again(void **state)
{
    (void)state;
    for (unsigned end = 0; end < 2; end++) {
        start(end ? &key : NULL);
        meet();
        for (uint32_t node = 8; node <= 12; node++)
            assert_true(hx_notices_say(&c.notices[0], node, 1U << HX_N, c.now));
        assert_true(hx_notices_say(&c.notices[end], end, 1U << HX_S, c.now));
        poll(6);
        const unsigned links = c.dead[0].count;
        assert_agree(links);
        start_end(end);
        assert_true(hx_notices_say(&c.notices[end], end, 0, c.now)); /* its link lives again */
        poll(TURNS);
        assert_agree(links - 1);
    }
}

/* A wire that loses each frame of a while: the digests differ, and all is sent again. */
static void a_lost_frame_is_made_up_for(void **state)
{
    (void)state;
    start(NULL);
    meet();
    c.wire[0].faults.lose_credit = 1000;
    assert_true(hx_notices_say(&c.notices[0], 0, 1U << HX_W, c.now));
    poll(2);
    c.wire[0].faults.lose_credit = 0;
    assert_int_equal(c.dead[1].count, 0);
    poll(TURNS);
    assert_agree(1);
}

/* ---- what is refused ---- */

/* A frame as end 0 would send it. */
static struct hx_notice_frame example(void)
{
    return (struct hx_notice_frame){
        .count = 1, .notice = {{.node = 7, .sequence = 1, .dead = 1U << HX_N}}, .digest = 99};
}

static unsigned encode(uint8_t *frame, struct hx_notice_frame n)
{
    n.plane = PLANE;
    return hx_notice_encode(frame, &n);
}

/* Puts a frame on the wire to end 1. It has this verdict, teaches nothing, and counts as a drop if it has a reason. */
static void expect(const uint8_t *frame, unsigned bytes, enum cable_verdict verdict)
{
    struct cable_end copy = *cable_of(1);
    struct hx_desc d;
    const uint64_t before = drops(1);
    assert_int_equal(cable_take(&copy, frame, bytes, &d), verdict);
    loopback_wire_put(&c.wire[0], c.now, frame, bytes);
    loopback_wire_commit(&c.wire[0]);
    c.now += LATENCY;
    loopback_poll(&c.end[1], c.now);
    enum hx_drop reason = cable_drop(verdict);
    assert_int_equal(drops(1) - before, reason != HX_DROP_COUNT);
    assert_true(reason == HX_DROP_COUNT || c.end[1].drops[reason] > 0);
    assert_int_equal(c.dead[1].count, verdict == CABLE_NOTICES);
}

static void frames_of_other_sessions_and_planes_are_refused(void **state)
{
    (void)state;
    uint8_t frame[CABLE_NOTICE_BYTES];
    start(NULL);
    meet();
    const uint64_t nonce = cable_of(0)->link.nonce, peer_nonce = cable_of(1)->link.nonce;
    struct hx_notice_frame n = example();
    n.nonce = nonce ^ 1;
    n.peer_nonce = peer_nonce;
    expect(frame, encode(frame, n), CABLE_STRANGER);
    n.nonce = nonce;
    n.peer_nonce = peer_nonce ^ 1;
    expect(frame, encode(frame, n), CABLE_STRANGER);
    n.peer_nonce = 0;
    expect(frame, encode(frame, n), CABLE_STRANGER);
    n.nonce = peer_nonce;
    n.peer_nonce = nonce;
    expect(frame, encode(frame, n), CABLE_OWN);
    n.nonce = nonce;
    n.peer_nonce = peer_nonce;
    n.plane = PLANE ^ 1;
    expect(frame, hx_notice_encode(frame, &n), CABLE_MALFORMED);
    unsigned bytes = encode(frame, n);
    frame[30] ^= 1;
    expect(frame, bytes, CABLE_MALFORMED);
    frame[30] ^= 1;
    expect(frame, bytes - 1, CABLE_MALFORMED);
    expect(frame, bytes, CABLE_NOTICES);
}

static void notices_before_the_session_are_refused(void **state)
{
    (void)state;
    uint8_t frame[CABLE_NOTICE_BYTES];
    for (unsigned keyed = 0; keyed < 2; keyed++) {
        start(keyed ? &key : NULL);
        struct hx_notice_frame n = example();
        n.nonce = cable_of(0)->link.nonce;
        n.peer_nonce = cable_of(1)->link.nonce;
        expect(frame, encode(frame, n), CABLE_STRANGER); /* the attacker guessed a nonce, but the peer is unknown */
    }
}

/* If its session ended after the last look, an end writes nothing. */
static void nothing_is_written_between_sessions(void **state)
{
    (void)state;
    uint8_t frame[CABLE_NOTICE_BYTES];
    start(NULL);
    meet();
    assert_true(hx_notices_say(&c.notices[0], 0, 1U << HX_W, c.now));
    cable_begin(cable_of(0), HX_MESH_VCS, BLOCKS, BLOCKS);
    assert_int_equal(cable_notices_write(cable_of(0), &c.notices[0], HX_E, c.now, frame), 0);
    assert_int_equal(c.notices[0].waiting[HX_E], 1);
    poll(TURNS);
    assert_agree(1);
}

static void notices_without_a_valid_tag_are_forged(void **state)
{
    (void)state;
    uint8_t frame[CABLE_NOTICE_BYTES + 1] = {0};
    start(&key);
    meet();
    struct hx_notice_frame n = example();
    struct cable_end attacker = *cable_of(0);
    attacker.key = NULL;
    unsigned bytes = cable_notice_write(&attacker, frame, &n);
    expect(frame, bytes, CABLE_FORGED);
    expect(frame, bytes + HX_AUTH_TAG_BYTES, CABLE_FORGED);
    attacker.key = &other_key;
    bytes = cable_notice_write(&attacker, frame, &n);
    expect(frame, bytes, CABLE_FORGED);
    attacker.key = &key; /* of the cable's other direction */
    attacker.link.nonce = cable_of(1)->link.nonce;
    attacker.link.peer_nonce = cable_of(0)->link.nonce;
    bytes = cable_notice_write(&attacker, frame, &n);
    expect(frame, bytes, CABLE_OWN);
    bytes = cable_notice_write(cable_of(0), frame, &n);
    frame[HX_AT_SRC_MAC + 1] ^= 1; /* not under the checksum */
    expect(frame, bytes, CABLE_MALFORMED);
    frame[HX_AT_SRC_MAC + 1] ^= 1;
    frame[bytes - 1] ^= 1;
    expect(frame, bytes, CABLE_FORGED);
    frame[bytes - 1] ^= 1;
    expect(frame, bytes - 1, CABLE_FORGED);
    expect(frame, bytes, CABLE_NOTICES);
}

static void repeated_notices_are_replayed(void **state)
{
    (void)state;
    uint8_t frame[CABLE_NOTICE_BYTES], credit[CABLE_CREDIT_BYTES];
    start(&key);
    meet();
    struct hx_notice_frame n = example();
    unsigned bytes = cable_notice_write(cable_of(0), frame, &n);
    struct hx_desc d;
    assert_int_equal(cable_take(cable_of(1), frame, bytes, &d), CABLE_NOTICES); /* and its notice is lost */
    expect(frame, bytes, CABLE_REPLAYED);
    unsigned credit_bytes = cable_credit_write(cable_of(0), credit); /* one order of numbers for all kinds */
    assert_int_equal(cable_take(cable_of(1), credit, credit_bytes, &d), CABLE_PEER);
    expect(frame, bytes, CABLE_REPLAYED);
    start_end(0);
    meet();
    expect(frame, bytes, CABLE_STRANGER); /* recorded in an earlier session */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, lab_free)
    const struct CMUnitTest tests[] = {
        TEST(switches_learn_dead_links_over_a_wire),
        TEST(switches_with_a_key_learn_dead_links),
        TEST(a_session_begins_with_all_that_is_known),
        TEST(a_peer_that_restarts_is_told_all_again),
        TEST(a_lost_frame_is_made_up_for),
        TEST(frames_of_other_sessions_and_planes_are_refused),
        TEST(notices_before_the_session_are_refused),
        TEST(nothing_is_written_between_sessions),
        TEST(notices_without_a_valid_tag_are_forged),
        TEST(repeated_notices_are_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
