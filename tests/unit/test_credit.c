/* test_credit.c - the credit counters of one link and VC: each rule of credit.h at its edges. */
#include "hxmesh/credit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BUFFER = 100 };

/* Added to counters of about 1000, so that they wrap nowhere, just above 1020, just above 1050, or change their sign. */
static const uint32_t bases[] = {0, UINT32_MAX - 1020, UINT32_MAX - 1050, 0x80000000U - 1020};
enum { BASES = sizeof bases / sizeof *bases };

/* A sender at `sent` whose last grant was `limit`. */
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

static void what_fits_arrives(void **state)
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

static void leaving_raises_the_limit_and_arriving_does_not(void **state)
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

struct count_case {
    uint32_t sender_sent;
    uint32_t written_off;
};

/* The receiver has counted 1000 and holds 30 of them. */
static void sender_counts_at_every_edge(void **state)
{
    (void)state;
    static const struct count_case cases[] = {
        {1000, 0}, {1001, 1}, {1070, 70}, {1100, 100},     {1101, 0},
        {999, 0},  {900, 0},  {0, 0},     {UINT32_MAX, 0}, {1000 + 0x80000000U, 0},
    };
    for (size_t b = 0; b < BASES; b++) {
        uint32_t base = bases[b];
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct hx_credit_receiver r = receiver_at(base + 1000, base + 970);
            uint32_t off = cases[i].written_off;
            r.lost = 7;
            assert_int_equal(hx_credit_reconcile(&r, base + cases[i].sender_sent), off);
            assert_int_equal(r.received, base + 1000 + off);
            assert_int_equal(r.freed, base + 970 + off); /* what is in the buffer stays in the buffer */
            assert_int_equal(r.lost, 7 + off);
            assert_int_equal(hx_credit_limit(&r), base + 970 + off + BUFFER);
        }
    }
}

/* Blocks 0..9 sent, the credit frame "10" is held up, blocks 10..19 pass; the wire loses 4..6 and 12. The late frame
 * writes off nothing, the next one all four; a second copy of either changes nothing. */
static void a_late_credit_frame_is_harmless(void **state)
{
    (void)state;
    struct hx_credit_receiver r = receiver_at(0, 0);
    for (unsigned block = 0; block < 20; block++) {
        if ((block < 4 || block > 6) && block != 12)
            assert_true(hx_credit_arrive(&r, 1));
    }
    assert_int_equal(hx_credit_reconcile(&r, 10), 0);
    assert_int_equal(r.received, 16);
    assert_int_equal(hx_credit_reconcile(&r, 20), 4);
    assert_int_equal(hx_credit_reconcile(&r, 10), 0);
    assert_int_equal(hx_credit_reconcile(&r, 20), 0);
    assert_int_equal(r.received, 20);
    assert_int_equal(r.lost, 4);
    assert_int_equal(hx_credit_limit(&r), 4 + BUFFER);
}

static void the_greatest_buffer_there_may_be(void **state)
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
    assert_int_equal(hx_credit_reconcile(&r, r.received + greatest), greatest);
    assert_int_equal(hx_credit_reconcile(&r, r.received + greatest + 1), 0);
}

static void the_next_session_is_one_later_and_never_0(void **state)
{
    (void)state;
    assert_int_equal(hx_credit_next_session(0), 1);
    assert_int_equal(hx_credit_next_session(0x7FFFFFFF), 0x80000000);
    assert_int_equal(hx_credit_next_session(UINT32_MAX - 1), UINT32_MAX);
    assert_int_equal(hx_credit_next_session(UINT32_MAX), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_sent_before_the_first_grant),
        cmocka_unit_test(grants_at_every_edge),
        cmocka_unit_test(what_fits_arrives),
        cmocka_unit_test(leaving_raises_the_limit_and_arriving_does_not),
        cmocka_unit_test(sender_counts_at_every_edge),
        cmocka_unit_test(a_late_credit_frame_is_harmless),
        cmocka_unit_test(the_greatest_buffer_there_may_be),
        cmocka_unit_test(the_next_session_is_one_later_and_never_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
