/* test_credit.c - the credit counters of one link and VC: each rule of credit.h at its edges. */
#include "hxmesh/credit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BUFFER = 100 };

/* Added to counters of about 1000, so that they wrap nowhere, above 1020, above 1050, or change their sign. */
static const uint32_t bases[] = {0, UINT32_MAX - 1020, UINT32_MAX - 1050, 0x80000000U - 1020};
enum { BASES = sizeof bases / sizeof *bases };

/* A sender with `sent` blocks sent and a last grant of `limit`. */
static struct hx_credit_sender sender_at(uint32_t sent, uint32_t limit)
{
    struct hx_credit_sender s;
    hx_credit_sender_init(&s, BUFFER);
    s.sent = sent;
    s.limit = limit;
    return s;
}

static struct hx_credit_receiver receiver_at(uint32_t received, uint32_t freed)
{
    struct hx_credit_receiver r;
    hx_credit_receiver_init(&r, BUFFER);
    r.received = received;
    r.freed = freed;
    return r;
}

static void nothing_is_sent_before_the_first_grant(void **state)
{
    (void)state;
    struct hx_credit_sender s;
    struct hx_credit_receiver r;
    hx_credit_sender_init(&s, BUFFER);
    hx_credit_receiver_init(&r, BUFFER);
    assert_int_equal(hx_credit_room(&s), 0);
    assert_int_equal(hx_credit_limit(&r), BUFFER);
    assert_int_equal(r.lost, 0);
    assert_true(hx_credit_grant(&s, BUFFER));
    assert_int_equal(hx_credit_room(&s), BUFFER);
    hx_credit_spend(&s, 32);
    assert_int_equal(s.sent, 32);
    assert_int_equal(hx_credit_room(&s), 68);
}

struct grant_case {
    uint32_t grant;
    bool taken;
    uint32_t limit; /* afterwards */
};

/* The sender has sent 1000 and may send up to 1040. */
static void grants_at_every_edge(void **state)
{
    (void)state;
    static const struct grant_case cases[] = {
        {1041, true, 1041},
        {1100, true, 1100},
        {1101, false, 1040},
        {1040, true, 1040},
        {1039, true, 1040},
        {1000, true, 1040},
        {999, true, 1040},
        {900, true, 1040},
        {899, false, 1040},
        {0, false, 1040},
        {UINT32_MAX, false, 1040},
        {0x80000000U, false, 1040},
        {1000 + 0x7FFFFFFFU, false, 1040},
    };
    for (size_t b = 0; b < BASES; b++) {
        uint32_t base = bases[b];
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct hx_credit_sender s = sender_at(base + 1000, base + 1040);
            assert_int_equal(hx_credit_grant(&s, base + cases[i].grant), cases[i].taken);
            assert_int_equal(s.limit, base + cases[i].limit);
            assert_int_equal(s.sent, base + 1000);
            assert_int_equal(hx_credit_room(&s), cases[i].limit - 1000);
        }
    }
}

static void a_granted_packet_arrives(void **state)
{
    (void)state;
    struct hx_credit_receiver r = receiver_at(UINT32_MAX - 9, UINT32_MAX - 9);
    assert_true(hx_credit_arrive(&r, 60));
    assert_int_equal(r.received, 50);
    assert_false(hx_credit_arrive(&r, 41));
    assert_false(hx_credit_arrive(&r, UINT32_MAX));
    assert_int_equal(r.received, 50);
    assert_true(hx_credit_arrive(&r, 40));
    assert_false(hx_credit_arrive(&r, 1));
    assert_int_equal(r.received, 90);
    assert_int_equal(hx_credit_limit(&r), 90);
}

static void departures_raise_the_limit_and_arrivals_do_not(void **state)
{
    (void)state;
    struct hx_credit_receiver r = receiver_at(UINT32_MAX - 49, UINT32_MAX - 49);
    assert_int_equal(hx_credit_limit(&r), 50);
    assert_true(hx_credit_arrive(&r, 100));
    assert_int_equal(hx_credit_limit(&r), 50);
    hx_credit_leave(&r, 30);
    assert_int_equal(hx_credit_limit(&r), 80);
    assert_true(hx_credit_arrive(&r, 30));
    assert_false(hx_credit_arrive(&r, 1));
}

/* The receiver has counted 1000 and holds 30. Any count of the sender replaces its own, and 30 stay held. */
static void the_count_of_the_sender_is_taken(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1000, 1001, 1070, 1100, 1101, 999, 900, 0, UINT32_MAX, 1000 + 0x80000000U};
    for (size_t b = 0; b < BASES; b++) {
        uint32_t base = bases[b];
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            struct hx_credit_receiver r = receiver_at(base + 1000, base + 970);
            r.lost = 7;
            hx_credit_reconcile(&r, base + counts[i]);
            assert_int_equal(r.received, base + counts[i]);
            assert_int_equal(r.freed, base + counts[i] - 30);
            assert_int_equal(r.lost, 7 + counts[i] - 1000);
            assert_int_equal(hx_credit_limit(&r), base + counts[i] - 30 + BUFFER);
            assert_true(hx_credit_arrive(&r, BUFFER - 30));
            assert_false(hx_credit_arrive(&r, 1));
        }
    }
}

/* Blocks 0..9 sent, the credit frame "10" is delayed, blocks 10..19 pass; the wire loses 4..6 and 12. The late frame
 * takes back the later blocks, the next one corrects that and writes off all four; a second copy changes nothing. */
static void a_late_credit_frame_is_harmless(void **state)
{
    (void)state;
    struct hx_credit_receiver r = receiver_at(0, 0);
    for (unsigned block = 0; block < 20; block++) {
        if ((block < 4 || block > 6) && block != 12)
            assert_true(hx_credit_arrive(&r, 1));
    }
    assert_int_equal(r.received, 16);
    hx_credit_reconcile(&r, 10);
    assert_int_equal(hx_credit_limit(&r), BUFFER - 6);
    hx_credit_reconcile(&r, 20);
    hx_credit_reconcile(&r, 20);
    assert_int_equal(r.received, 20);
    assert_int_equal(r.lost, 4);
    assert_int_equal(hx_credit_limit(&r), 4 + BUFFER);
}

static void the_largest_buffer(void **state)
{
    (void)state;
    const uint32_t greatest = 0x7FFFFFFF;
    struct hx_credit_sender s;
    struct hx_credit_receiver r;
    hx_credit_sender_init(&s, greatest);
    hx_credit_receiver_init(&r, greatest);
    s.sent = s.limit = r.received = r.freed = UINT32_MAX;
    assert_true(hx_credit_grant(&s, hx_credit_limit(&r)));
    assert_int_equal(hx_credit_room(&s), greatest);
    assert_false(hx_credit_grant(&s, s.sent + greatest + 1));
    assert_true(hx_credit_grant(&s, s.sent - greatest));
    assert_true(hx_credit_arrive(&r, greatest));
    assert_false(hx_credit_arrive(&r, 1));
    hx_credit_leave(&r, greatest);
    hx_credit_reconcile(&r, r.received + greatest);
    assert_int_equal(r.received - r.freed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_sent_before_the_first_grant),
        cmocka_unit_test(grants_at_every_edge),
        cmocka_unit_test(a_granted_packet_arrives),
        cmocka_unit_test(departures_raise_the_limit_and_arrivals_do_not),
        cmocka_unit_test(the_count_of_the_sender_is_taken),
        cmocka_unit_test(a_late_credit_frame_is_harmless),
        cmocka_unit_test(the_largest_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
