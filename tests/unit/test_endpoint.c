/* test_endpoint.c - promises of the endpoint (endpoint.h) over a network that the test controls: cutting and placing
 * of messages, and the number in flight. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- cutting and placing ---- */

static void a_message_is_cut_into_packets(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0,
                                     1,
                                     255,
                                     8191,
                                     8192,
                                     8193,
                                     2 * FULL,
                                     16383,
                                     2 * FULL + 1,
                                     63 * FULL + 5,
                                     64 * FULL,
                                     65 * FULL,
                                     511 * FULL,
                                     512 * FULL,
                                     512 * FULL + 1,
                                     600 * FULL - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        trial_start(2, 1);
        trial_watch();
        unsigned number = trial_send(0, 1, sizes[i]);
        trial_finish();
        unsigned packets = sizes[i] ? (unsigned)((sizes[i] + FULL - 1) / FULL) : 1;
        assert_int_equal(trial_message(number)->packets, packets);
        assert_int_equal(gate.kinds[HX_DATA], packets); /* no retransmission */
        for (unsigned p = 0; p < packets; p++)
            assert_int_equal(gate.offsets[p], 1);
        assert_int_equal(cloud.messages.placed_bytes, sizes[i]);
        const struct hx_endpoint_stats *sender = &cloud.end[0].ep.stats, *receiver = &cloud.end[1].ep.stats;
        assert_int_equal(sender->packets_sent, packets);
        assert_int_equal(sender->packets_repeated, 0);
        assert_int_equal(sender->messages_sent, 1);
        assert_int_equal(receiver->packets_delivered, packets);
        assert_int_equal(receiver->bytes_delivered, sizes[i]);
        assert_int_equal(receiver->messages_received, 1);
        assert_int_equal(receiver->acks_sent, gate.kinds[HX_ACK]);
        lab_free(NULL);
    }
}

static void packets_are_placed_in_any_order(void **state)
{
    (void)state;
    for (unsigned backwards = 0; backwards < 2; backwards++) {
        trial_start(2, 2);
        trial_hold(true);
        unsigned number = trial_send(0, 1, 300 * FULL + 77);
        trial_turns(100);
        assert_int_equal(cloud.frames, 301);
        for (unsigned i = 0; backwards && i < cloud.frames / 2; i++) {
            struct cloud_frame f = cloud.frame[i];
            cloud.frame[i] = cloud.frame[cloud.frames - 1 - i];
            cloud.frame[cloud.frames - 1 - i] = f;
        }
        trial_hold(false);
        trial_finish();
        assert_int_equal(trial_message(number)->placed, 301);
        lab_free(NULL);
    }
}

static void a_message_to_its_own_sender_arrives(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_send(1, 1, 5 * FULL + 9);
    trial_send(1, 1, 0);
    trial_finish();
}

static void an_idle_endpoint_reports_idle(void **state)
{
    (void)state;
    trial_start(2, 1);
    assert_true(hx_endpoint_idle(&cloud.end[0].ep));
    assert_int_equal(hx_endpoint_step(&cloud.end[0].ep), 0);
    trial_send(0, 1, 10);
    assert_false(hx_endpoint_idle(&cloud.end[0].ep));
    cloud.end[1].mute = true;
    trial_turns(5);
    assert_false(hx_endpoint_idle(&cloud.end[1].ep)); /* owes an acknowledgement */
    cloud.end[1].mute = false;
    trial_finish();
}

/* An endpoint sends each acknowledgement that it owes once, at any place in the list. */
static void every_owed_acknowledgement_is_sent(void **state)
{
    (void)state;
    enum { ROUNDS = 40 };
    unsigned owed = 0;
    trial_start(2, 1);
    trial_watch();
    for (unsigned n = 0; n < ROUNDS; n++) {
        unsigned at_once = 1 + n % HX_PEER_WINDOW;
        cloud.end[1].mute = true;
        for (unsigned m = 0; m < at_once; m++)
            trial_send(0, 1, 10);
        trial_turns(5);
        assert_int_equal(cloud.end[1].ep.acks_count, at_once);
        owed += at_once;
        cloud.end[1].mute = false;
        trial_turns(5);
        assert_true(hx_endpoint_idle(&cloud.end[0].ep));
    }
    trial_finish();
    assert_int_equal(gate.kinds[HX_ACK], owed);
    assert_int_equal(gate.kinds[HX_PROBE], 0);
}

/* The last buffer is for an acknowledgement, not for data. */
static void acknowledgements_get_the_last_buffer(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch();
    trial_turns(3);
    unsigned *buffers = &cloud.end[1].hal.node.sends_count;
    const unsigned all = *buffers;
    *buffers = 1;
    unsigned answered = trial_send(0, 1, 10);
    unsigned waits = trial_send(1, 0, 10);
    trial_turns(8);
    assert_int_equal(trial_message(answered)->sent, 1);
    assert_int_equal(trial_message(waits)->placed, 0);
    assert_int_equal(gate.kinds[HX_DATA], 1);
    *buffers = all;
    trial_finish();
}

/* ---- windows ---- */

static void at_most_512_packets_are_ahead(void **state)
{
    (void)state;
    trial_start(2, 4);
    trial_watch();
    trial_hold(true);
    trial_send(0, 1, 2000 * FULL);
    trial_turns(TIMEOUT_TURNS - 2);
    assert_int_equal(gate.kinds[HX_DATA], 512);
    /* All but packet 0 arrive: packets beyond 511 wait for it. */
    for (unsigned i = 0; i < cloud.frames; i++) {
        if (trial_read(&cloud.frame[i]).offset == 0) {
            struct cloud_frame last = cloud.frame[--cloud.frames];
            cloud.frame[cloud.frames] = cloud.frame[i];
            cloud.frame[i] = last;
        }
    }
    trial_hold(false);
    trial_turns(20);
    assert_int_equal(gate.kinds[HX_DATA], 512);
    gate.lose_kind = HX_DATA;
    gate.lose_first = gate.lose_below = 1; /* packet 0 is lost once more; still no packet beyond the window leaves */
    trial_finish();
    assert_true(gate.offsets[0] >= 3);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_UNEXPECTED), 0);
}

/* Packet 0 arrives after all others of the window; no later packet is in flight to trigger an acknowledgement. */
static void a_late_packet_moves_the_window_at_once(void **state)
{
    (void)state;
    trial_start(2, 4);
    trial_watch();
    gate.withholds = true;
    trial_send(0, 1, 600 * FULL);
    trial_turns(TIMEOUT_TURNS - 2);
    assert_int_equal(gate.kinds[HX_DATA], 512);
    trial_put_back(&gate.withheld);
    trial_turns(10);
    assert_int_equal(gate.kinds[HX_DATA], 600);
    trial_finish();
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

/* As many messages as the window, and no more until the first is acknowledged. */
static void messages_of_a_pair_in_flight_are_bounded(void **state)
{
    (void)state;
    trial_start(3, 1);
    trial_watch();
    trial_hold(true);
    for (unsigned to = 1; to <= 2; to++) {
        for (unsigned n = 0; n < HX_PEER_WINDOW; n++)
            trial_send(0, to, 5 + n);
        assert_int_equal(cloud_send(&cloud, 0, to, 7), HX_E_BUSY);
    }
    trial_turns(3);
    assert_int_equal(gate.kinds[HX_DATA], 2 * HX_PEER_WINDOW);
    trial_hold(false);
    trial_turns(5);
    trial_send(0, 1, 7);
    trial_finish();
    assert_int_equal(cloud.messages.count, 2 * HX_PEER_WINDOW + 1);
}

static void all_sends_may_be_in_use(void **state)
{
    (void)state;
    struct hx_endpoint_config config = trial_config(1);
    config.sends = 3;
    cloud_init(&cloud, 4, &config, LOOPBACK_MAX_BLOCKS, 1);
    for (unsigned to = 1; to < 4; to++)
        trial_send(0, to, 100);
    assert_int_equal(cloud_send(&cloud, 0, 1, 100), HX_E_BUSY);
    trial_finish();
    trial_send(0, 1, 100);
    trial_finish();
}

static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    trial_start(2, 1);
    struct hx_endpoint *ep = &cloud.end[0].ep;
    assert_int_equal(hx_endpoint_send(ep, 2, 0, 1, 0, 0), HX_E_RANGE);
    assert_int_equal(hx_endpoint_send(ep, 0, 1, 1, 0, 0), HX_E_RANGE);
    assert_int_equal(hx_endpoint_send(ep, 1, 0, ((uint64_t)1 << 32) * FULL, 0, 0), HX_E_RANGE);
    assert_true(hx_endpoint_idle(ep));
    struct hx_endpoint other;
    for (unsigned field = 0; field < 11; field++) {
        struct hx_endpoint_config c = cloud.end[0].config;
        switch (field) {
        case 0:
            c.addr_hi = 2;
            break;
        case 1:
            c.addr_lo = 1;
            break;
        case 2:
            c.plane_set = 0;
            break;
        case 3:
            c.plane_set = 0x10;
            break;
        case 4:
            c.sends = 0;
            break;
        case 5:
            c.sends = HX_MAX_SENDS + 1;
            break;
        case 6:
            c.epoch = 0;
            break;
        case 7:
            c.timeout_ns = 0;
            break;
        case 8:
            c.least_ns = c.timeout_ns + 1;
            break;
        case 9:
            c.most_ns = c.timeout_ns - 1;
            break;
        default:
            assert_int_equal(hx_endpoint_init(&other, &c, &cloud.end[0].hal, cloud.end[0].memory), HX_OK);
            continue;
        }
        assert_int_equal(hx_endpoint_init(&other, &c, &cloud.end[0].hal, cloud.end[0].memory), HX_E_RANGE);
    }
}

/* ---- turns ---- */

enum { MANY_ENDS = CLOUD_MESSAGES / HX_PEER_WINDOW, MOST_PEERS = HX_MAX_SENDS / HX_PEER_WINDOW };

/* Data packets and their destinations. */
static struct {
    unsigned peers, rounds; /* peers; packets of each that take turns */
    unsigned entered, to[MOST_PEERS];
    bool lost; /* no endpoints play the peers: their packets are counted and lost */
} turn;

/* No peer gets a packet before each other peer has as many. */
static bool validate_turn(struct cloud *c, struct cloud_frame *f)
{
    (void)c;
    if (trial_read(f).kind != HX_DATA)
        return true;
    assert_in_range(f->to, 0, turn.peers - 1);
    if (turn.entered < turn.peers * turn.rounds)
        assert_int_equal(turn.to[f->to], turn.entered / turn.peers);
    turn.to[f->to]++;
    turn.entered++;
    return !turn.lost;
}

static void validate_turns(unsigned packets)
{
    cloud.gate = validate_turn;
    for (unsigned turns = 0; turns < LONG && turn.entered < packets; turns++)
        cloud_step(&cloud);
    for (unsigned to = 0; to < turn.peers; to++)
        assert_int_equal(turn.to[to], packets / turn.peers);
}

/* More messages than a word has bits, requested peer by peer. A message may follow its predecessor to the same peer
 * at once, so turns are strict only up to there. */
static void every_peer_has_its_turn(void **state)
{
    (void)state;
    static const unsigned packets[HX_PEER_WINDOW] = {4, 1, 2, 3};
    memset(&turn, 0, sizeof turn);
    turn.peers = MANY_ENDS;
    turn.rounds = packets[0] - 1;
    struct hx_endpoint_config config = trial_config(1);
    config.sends = CLOUD_MESSAGES;
    config.timeout_ns *= LONG;
    config.most_ns *= LONG;
    cloud_init(&cloud, MANY_ENDS, &config, 2 * HX_PACKET_BLOCKS, 1);
    for (unsigned number = 0; number < CLOUD_MESSAGES; number++)
        trial_send(0, number / HX_PEER_WINDOW, packets[number % HX_PEER_WINDOW] * FULL - number);
    assert_int_equal(cloud.end[0].ep.active, CLOUD_MESSAGES);
    trial_hold(true);
    validate_turns(MANY_ENDS * (4 + 1 + 2 + 3));
    trial_hold(false);
    trial_finish();
    assert_int_equal(cloud.end[0].ep.stats.packets_repeated, 0);
}

static void the_most_possible_sends_have_their_turn(void **state)
{
    (void)state;
    memset(&turn, 0, sizeof turn);
    turn.peers = MOST_PEERS;
    turn.rounds = HX_PEER_WINDOW;
    turn.lost = true;
    trial_start(1, 1);
    struct cloud_end *e = &cloud.end[0];
    e->config.columns = MOST_PEERS;
    e->config.sends = HX_MAX_SENDS;
    e->config.timeout_ns *= LONG;
    e->config.most_ns *= LONG;
    void *memory = lab_memory(hx_endpoint_bytes(&e->config));
    assert_int_equal(hx_endpoint_init(&e->ep, &e->config, &e->hal, memory), HX_OK);
    for (unsigned number = 0; number < HX_MAX_SENDS; number++) {
        assert_true(hx_endpoint_takes(&e->ep));
        assert_int_equal(hx_endpoint_send(&e->ep, number % MOST_PEERS, 0, 1 + number % 3, 0, number), HX_OK);
    }
    assert_false(hx_endpoint_takes(&e->ep));
    assert_int_equal(hx_endpoint_send(&e->ep, 0, 0, 1, 0, 0), HX_E_BUSY);
    validate_turns(HX_MAX_SENDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_message_is_cut_into_packets, lab_free),
        cmocka_unit_test_teardown(packets_are_placed_in_any_order, lab_free),
        cmocka_unit_test_teardown(a_message_to_its_own_sender_arrives, lab_free),
        cmocka_unit_test_teardown(an_idle_endpoint_reports_idle, lab_free),
        cmocka_unit_test_teardown(every_owed_acknowledgement_is_sent, lab_free),
        cmocka_unit_test_teardown(acknowledgements_get_the_last_buffer, lab_free),
        cmocka_unit_test_teardown(at_most_512_packets_are_ahead, lab_free),
        cmocka_unit_test_teardown(a_late_packet_moves_the_window_at_once, lab_free),
        cmocka_unit_test_teardown(messages_of_a_pair_in_flight_are_bounded, lab_free),
        cmocka_unit_test_teardown(all_sends_may_be_in_use, lab_free),
        cmocka_unit_test_teardown(values_out_of_range_are_refused, lab_free),
        cmocka_unit_test_teardown(every_peer_has_its_turn, lab_free),
        cmocka_unit_test_teardown(the_most_possible_sends_have_their_turn, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
