/* test_endpoint_places.c - addresses in packets and reports: each coordinate has its own bound, and is read in full. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Three ends in the first row of a fabric with more rows, or columns, than a byte counts. */
enum { ENDS = 3, ROWS = 600, FAR_ROW = 2 * 256 + 1 };

static void start(void)
{
    struct hx_endpoint_config config = trial_config(1);
    config.rows = ROWS;
    cloud_init(&cloud, ENDS, &config, LOOPBACK_MAX_BLOCKS, 1);
    trial_watch();
}

/* A packet carries its source address, also from a row other than the first. */
static void packets_carry_their_source_address(void **state)
{
    (void)state;
    struct hx_endpoint_config config = trial_config(1);
    config.rows = ROWS;
    config.addr_lo = FAR_ROW;
    cloud_init(&cloud, ENDS, &config, LOOPBACK_MAX_BLOCKS, 1);
    trial_hold(true);
    trial_send(2, 1, 10);
    trial_turns(3);
    assert_int_equal(cloud.frames, 1);
    struct hx_header h = trial_read(&cloud.frame[0]);
    assert_int_equal(h.src_addr_hi, 2);
    assert_int_equal(h.src_addr_lo, FAR_ROW);
    assert_int_equal(h.dst_addr_hi, 1);
    assert_int_equal(h.dst_addr_lo, 0);
}

/* A data packet from end 0 to end 1, held in the network. */
static struct hx_header hold_packet(void)
{
    trial_hold(true);
    trial_send(0, 1, 10);
    trial_turns(3);
    assert_int_equal(cloud.frames, 1);
    return trial_read(&cloud.frame[0]);
}

static void each_coordinate_of_a_packet_has_a_bound(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 4; which++) {
        start();
        struct hx_header h = hold_packet();
        uint16_t *coordinate[] = {&h.dst_addr_hi, &h.dst_addr_lo, &h.src_addr_hi, &h.src_addr_lo};
        *coordinate[which] = which % 2 ? ROWS : ENDS;
        trial_rewrite(&cloud.frame[0], &h);
        trial_hold(false);
        trial_turns(3);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_MALFORMED), 1);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_UNREACHABLE), 0);
        trial_finish();
        lab_free(NULL);
    }
}

/* One less, and it is a misrouted packet: its sender gets a report. */
static void the_last_addresses_are_valid(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 2; which++) {
        start();
        struct hx_header h = hold_packet();
        uint16_t *coordinate[] = {&h.dst_addr_hi, &h.dst_addr_lo};
        *coordinate[which] = which ? ROWS - 1 : ENDS - 1;
        trial_rewrite(&cloud.frame[0], &h);
        trial_hold(false);
        trial_turns(3);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_MALFORMED), 0);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_UNREACHABLE), 1);
        assert_int_equal(gate.kinds[HX_UNREACHABLE], 1);
        trial_finish();
        lab_free(NULL);
    }
}

static void report(unsigned gx, unsigned gy, uint16_t length)
{
    start();
    struct hx_header h = hold_packet();
    h.kind = HX_UNREACHABLE;
    h.length = length;
    h.peer_epoch = hx_epoch_check(cloud.end[1].config.epoch);
    uint8_t *payload = cloud.frame[0].bytes + HX_HEADER_BYTES;
    payload[0] = (uint8_t)(gx >> 8);
    payload[1] = (uint8_t)gx;
    payload[2] = (uint8_t)(gy >> 8);
    payload[3] = (uint8_t)gy;
    payload[4] = HX_DATA;
    cloud.frame[0].length = length;
    trial_rewrite(&cloud.frame[0], &h);
    trial_hold(false);
    trial_turns(3);
}

static void each_coordinate_of_a_report_has_a_bound(void **state)
{
    (void)state;
    static const struct {
        unsigned gx, gy;
        uint16_t length;
        bool malformed;
    } rows[] = {
        {ENDS, 0, HX_REPORT_BYTES, true},
        {0, ROWS, HX_REPORT_BYTES, true},
        {ENDS - 1, ROWS - 1, HX_REPORT_BYTES, false},
        {256, 0, HX_REPORT_BYTES, true},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        report(rows[i].gx, rows[i].gy, rows[i].length);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_MALFORMED), rows[i].malformed);
        assert_int_equal(cloud_drops(&cloud, 1, HX_DROP_STALE), 0);
        lab_free(NULL);
    }
}

static const struct hx_send *send_to(unsigned addr_hi, unsigned addr_lo)
{
    const struct hx_endpoint *ep = &cloud.end[0].ep;
    for (unsigned i = 0; i < ep->config.sends; i++) {
        if (ep->send[i].active && ep->send[i].dst_addr_hi == addr_hi && ep->send[i].dst_addr_lo == addr_lo)
            return &ep->send[i];
    }
    fail_msg("no message to %u,%u is in flight", addr_hi, addr_lo);
    return NULL;
}

/* Two messages number 0 from end 0. Only the one to the reported address waits for a path. */
static void validate_report(unsigned columns, unsigned rows, const unsigned stuck[2], const unsigned other[2])
{
    struct hx_endpoint_config config = trial_config(1);
    config.columns = (uint16_t)columns;
    config.rows = (uint16_t)rows;
    cloud_init(&cloud, ENDS, &config, LOOPBACK_MAX_BLOCKS, 1);
    trial_watch();
    for (unsigned i = 0; i < 2; i++) {
        const unsigned *to = i ? other : stuck;
        unsigned number = messages_add(&cloud.messages, 0, 1, 10);
        assert_int_equal(hx_endpoint_send(&cloud.end[0].ep, to[0], to[1], 10, number, number), HX_OK);
    }
    trial_hold(true);
    trial_turns(3);
    assert_int_equal(cloud.frames, 2);
    struct hx_header h = trial_read(&cloud.frame[0]);
    if (h.dst_addr_hi != stuck[0] || h.dst_addr_lo != stuck[1])
        cloud.frame[0] = cloud.frame[1];
    cloud.frames = 1;
    cloud.frame[0].to = 2;
    trial_hold(false);
    trial_turns(5);
    assert_int_equal(cloud_drops(&cloud, 2, HX_DROP_UNREACHABLE), 1);
    assert_true(send_to(stuck[0], stuck[1])->waits);
    assert_false(send_to(other[0], other[1])->waits);
    lab_free(NULL);
}

/* Of addresses with equal low bytes, the right one. */
static void a_report_names_an_address_beyond_a_byte(void **state)
{
    (void)state;
    static const unsigned low[2] = {1, FAR_ROW % 256};
    static const unsigned row[2] = {1, FAR_ROW};
    static const unsigned column[2] = {FAR_ROW, 1};
    validate_report(ENDS, ROWS, row, low);
    validate_report(ENDS, ROWS, low, row);
    validate_report(ROWS, 2, column, low);
    validate_report(ROWS, 2, low, column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(packets_carry_their_source_address, lab_free),
        cmocka_unit_test_teardown(each_coordinate_of_a_packet_has_a_bound, lab_free),
        cmocka_unit_test_teardown(the_last_addresses_are_valid, lab_free),
        cmocka_unit_test_teardown(each_coordinate_of_a_report_has_a_bound, lab_free),
        cmocka_unit_test_teardown(a_report_names_an_address_beyond_a_byte, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
