/* test_endpoint_arrivals.c - what an endpoint sends about arrivals: acknowledgements, their time and plane, and
 * reports of packets for another endpoint. */
#include "endpoint_parts.h"
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Frames that were removed from the network, to be put back one by one. */
enum { MOST_HELD = 34 };
static struct {
    struct cloud_frame frame[MOST_HELD];
    uint8_t bytes[MOST_HELD][HX_MAX_FRAME];
    unsigned count;
} held;

static void take_out(unsigned count)
{
    trial_hold(true);
    trial_turns(3);
    for (unsigned turn = 0; turn < count && cloud.frames < count; turn++)
        trial_turns(1);
    assert_int_equal(cloud.frames, count);
    for (held.count = 0; held.count < count; held.count++) {
        held.frame[held.count] = cloud.frame[held.count];
        held.frame[held.count].bytes = memcpy(held.bytes[held.count], cloud.frame[held.count].bytes,
                                              (size_t)HX_HEADER_BYTES + cloud.frame[held.count].length);
    }
    cloud.frames = 0;
    trial_hold(false);
}

static void put_back(unsigned offset)
{
    for (unsigned n = 0; n < held.count; n++) {
        if (trial_read(&held.frame[n]).offset == offset)
            trial_put_back(&held.frame[n]);
    }
    trial_turns(1);
}

/* ---- acknowledgements ---- */

/* Up to 64 packets are acknowledged once, after the last; longer messages more often. The sender is not the first
 * peer. */
static void short_messages_are_acknowledged_once(void **state)
{
    (void)state;
    static const unsigned packets[] = {HX_ACK_EVERY - 1, HX_ACK_EVERY, HX_ACK_EVERY + 20};
    for (unsigned n = 0; n < 3; n++) {
        const struct hx_endpoint_config config = trial_config(1);
        cloud_init(&cloud, 2, &config, HX_PACKET_BLOCKS, 1); /* a packet a turn */
        trial_watch();
        trial_send(1, 0, (uint64_t)packets[n] * FULL);
        trial_finish();
        assert_int_equal(gate.kinds[HX_ACK], packets[n] <= HX_ACK_EVERY ? 1 : 2);
        lab_free(NULL);
    }
}

/* The first acknowledgement of a long message is due after 64 packets, less the sender's rank and the count that the
 * receiver got. So first acknowledgements of one receiver, or to one sender, fall on different packets. */
static void first_acknowledgements_of_long_messages_are_spread(void **state)
{
    (void)state;
    static const uint8_t told[] = {0, 1, 40, 63};
    for (unsigned n = 0; n < sizeof told; n++) {
        for (unsigned from = 0; from < 3; from += 2) {
            struct hx_endpoint_config config = trial_config(1);
            config.first_ack = told[n];
            cloud_init(&cloud, 3, &config, HX_PACKET_BLOCKS, 1); /* a packet a turn */
            trial_watch();
            trial_send(from, 1, (uint64_t)2 * HX_ACK_EVERY * FULL);
            trial_finish();
            assert_int_equal(trial_read(&gate.copy).offset, HX_ACK_EVERY - (from + told[n]) % HX_ACK_EVERY);
            lab_free(NULL);
        }
    }
}

/* A slot records the arrived packets of messages up to 32 packets; a map those of longer ones. */
static void the_last_packet_of_a_message_may_come_first(void **state)
{
    (void)state;
    for (unsigned packets = 31; packets <= MOST_HELD; packets++) {
        trial_start(2, 1);
        trial_send(0, 1, (uint64_t)packets * FULL);
        take_out(packets);
        trial_watch();
        for (unsigned offset = packets; offset-- > 0;)
            put_back(offset);
        trial_finish();
        assert_int_equal(gate.kinds[HX_ACK], 1);
        assert_int_equal(gate.kinds[HX_DATA], 0);
        assert_int_equal(cloud.end[1].ep.stats.packets_delivered, packets);
        lab_free(NULL);
    }
}

/* An acknowledgement takes the plane of the latest arrival. */
static void acknowledgements_take_the_plane_of_the_latest_arrival(void **state)
{
    (void)state;
    for (unsigned last = 0; last < 2; last++) {
        trial_start(2, 2);
        trial_send(0, 1, 2 * FULL);
        take_out(2);
        assert_int_not_equal(held.frame[0].plane, held.frame[1].plane);
        trial_watch();
        put_back(!last);
        put_back(last);
        unsigned plane = held.frame[trial_read(&held.frame[0]).offset == last ? 0 : 1].plane;
        trial_finish();
        assert_int_equal(gate.kinds[HX_ACK], 1);
        assert_int_equal(gate.planes[plane], 1);
        lab_free(NULL);
    }
}

/* A message with a gap fails at its sender: its packets are not taken for those of a later one. */
static void packets_of_a_failed_message_are_forgotten(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_watch_losing_data(NO_END, 50);
    unsigned lost = trial_send(0, 1, 200 * FULL);
    assert_true(cloud_run(&cloud, LONG));
    assert_int_equal(trial_message(lost)->failed, 1);
    assert_int_equal(trial_message(lost)->placed, 150);
    for (unsigned n = 0; n < HX_PEER_WINDOW; n++) {
        gate.lose_first = 1; /* so the first arrival is out of order */
        unsigned next = trial_send(0, 1, 200 * FULL - 1);
        assert_true(cloud_run(&cloud, LONG));
        assert_int_equal(trial_message(next)->received + trial_message(next)->sent, 2);
        assert_int_equal(trial_message(next)->placed, 200);
    }
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_DUPLICATE), 0);
}

/* The window of a message without arrivals ends where that of any other does. */
static void the_first_packet_may_not_be_beyond_the_window(void **state)
{
    (void)state;
    trial_start(2, 1);
    trial_send(0, 1, 1000 * FULL);
    trial_hold(true);
    trial_turns(3);
    cloud.frames = 1;
    struct hx_header h = trial_read(&cloud.frame[0]);
    h.offset = HX_MESSAGE_WINDOW;
    trial_rewrite(&cloud.frame[0], &h);
    cloud.end[0].off = true;
    trial_hold(false);
    trial_turns(3);
    assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_UNEXPECTED), 1);
    assert_int_equal(cloud.end[1].ep.stats.packets_delivered, 0);
}

/* ---- reports ---- */

/* Reports by offset of the packet, and the payload of the last one. */
static struct {
    unsigned of[32], count;
    uint8_t place[HX_REPORT_BYTES];
} reports;

static bool note_reports(struct cloud *c, struct cloud_frame *f)
{
    (void)c;
    struct hx_header h = trial_read(f);
    if (h.kind == HX_DATA)
        f->to = 2;
    if (h.kind == HX_UNREACHABLE) {
        assert_true(h.offset < 32);
        reports.of[h.offset]++;
        reports.count++;
        memcpy(reports.place, f->bytes + HX_HEADER_BYTES, HX_REPORT_BYTES);
    }
    return true;
}

/* Without credit an endpoint keeps its reports, of any plane, and sends each once later. */
static void each_packet_that_went_astray_is_reported_once(void **state)
{
    (void)state;
    enum { PACKETS = 7 };
    memset(&reports, 0, sizeof reports);
    trial_start(3, 2);
    cloud.gate = note_reports;
    trial_send(0, 1, PACKETS * FULL);
    cloud.end[2].mute = true;
    trial_turns(10);
    cloud.end[0].off = true; /* or it would retransmit them */
    uint64_t astray = cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE);
    assert_int_equal(astray, PACKETS);
    cloud.end[2].mute = false;
    trial_turns(5);
    assert_int_equal(reports.count, PACKETS);
    for (unsigned n = 0; n < PACKETS; n++)
        assert_int_equal(reports.of[n], 1);
}

/* The address in a report is the packet's destination, for any bytes. */
static void a_report_names_the_destination(void **state)
{
    (void)state;
    enum { COLUMNS = 0x0300, ROWS = 0x0500, TO_ADDR_HI = 0x0201, TO_ADDR_LO = 0x0403 };
    memset(&reports, 0, sizeof reports);
    trial_start(3, 1);
    struct cloud_end *e = &cloud.end[2];
    e->config.columns = COLUMNS;
    e->config.rows = ROWS;
    e->config.peers = 4;
    assert_int_equal(hx_endpoint_init(&e->ep, &e->config, &e->hal, lab_memory(hx_endpoint_bytes(&e->config))), HX_OK);
    trial_send(0, 1, 10);
    trial_hold(true);
    trial_turns(3);
    assert_int_equal(cloud.frames, 1);
    struct hx_header h = trial_read(&cloud.frame[0]);
    h.dst_addr_hi = TO_ADDR_HI;
    h.dst_addr_lo = TO_ADDR_LO;
    trial_rewrite(&cloud.frame[0], &h);
    cloud.frame[0].to = 2;
    cloud.gate = note_reports;
    cloud.end[0].off = true;
    trial_hold(false);
    trial_turns(3);
    assert_int_equal(reports.count, 1);
    static const uint8_t place[HX_REPORT_BYTES] = {TO_ADDR_HI >> 8, TO_ADDR_HI & 0xFF, TO_ADDR_LO >> 8,
                                                   TO_ADDR_LO & 0xFF, HX_DATA};
    assert_memory_equal(reports.place, place, sizeof place);
}

/* A report of a packet of an earlier incarnation is dropped. */
static void a_report_for_a_former_incarnation_is_stale(void **state)
{
    (void)state;
    for (unsigned former = 0; former < 2; former++) {
        trial_start(2, 1);
        trial_send(0, 1, 10);
        trial_hold(true);
        trial_turns(3);
        assert_int_equal(cloud.frames, 1);
        struct hx_header h = trial_read(&cloud.frame[0]);
        h.kind = HX_UNREACHABLE;
        h.length = cloud.frame[0].length = HX_REPORT_BYTES;
        h.peer_epoch = hx_epoch_check(cloud.end[1].config.epoch) ^ (uint16_t)former;
        static const uint8_t of_data[HX_REPORT_BYTES] = {0, 0, 0, 0, HX_DATA};
        memcpy(cloud.frame[0].bytes + HX_HEADER_BYTES, of_data, HX_REPORT_BYTES);
        trial_rewrite(&cloud.frame[0], &h);
        trial_hold(false);
        trial_turns(3);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_STALE), former);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_MALFORMED), 0);
        lab_free(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(short_messages_are_acknowledged_once, lab_free),
        cmocka_unit_test_teardown(first_acknowledgements_of_long_messages_are_spread, lab_free),
        cmocka_unit_test_teardown(the_last_packet_of_a_message_may_come_first, lab_free),
        cmocka_unit_test_teardown(acknowledgements_take_the_plane_of_the_latest_arrival, lab_free),
        cmocka_unit_test_teardown(packets_of_a_failed_message_are_forgotten, lab_free),
        cmocka_unit_test_teardown(the_first_packet_may_not_be_beyond_the_window, lab_free),
        cmocka_unit_test_teardown(each_packet_that_went_astray_is_reported_once, lab_free),
        cmocka_unit_test_teardown(a_report_names_the_destination, lab_free),
        cmocka_unit_test_teardown(a_report_for_a_former_incarnation_is_stale, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
