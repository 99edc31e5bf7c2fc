/* test_link.c - the sessions of a link (credit.h): how two ends begin to count together, and begin again. */
#include "hxmesh/credit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BUFFER = 100 };

/* Two ends; a frame crosses at once. */
struct pair {
    struct hx_credit_link a, b;
};

static void tell(const struct hx_credit_link *from, struct hx_credit_link *to)
{
    struct hx_credit_frame f = hx_credit_link_frame(from, 0);
    hx_credit_link_take(to, &f);
}

static void heal(struct pair *p)
{
    for (unsigned i = 0; i < 3; i++) {
        tell(&p->a, &p->b);
        tell(&p->b, &p->a);
    }
    assert_true(p->a.open && p->b.open);
}

static void open_pair(struct pair *p, uint32_t session_a, uint32_t session_b)
{
    *p = (struct pair){0};
    hx_credit_link_up(&p->a, BUFFER, BUFFER, session_a);
    hx_credit_link_up(&p->b, BUFFER, BUFFER, session_b);
    heal(p);
}

static bool send(struct hx_credit_link *from, struct hx_credit_link *to, unsigned vc, uint32_t blocks)
{
    assert_true(hx_credit_room(&from->tx[vc]) >= blocks);
    hx_credit_spend(&from->tx[vc], blocks);
    return hx_credit_link_arrive(to, vc, blocks);
}

static void expect_room(const struct hx_credit_link *l, uint32_t blocks)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        assert_int_equal(hx_credit_room(&l->tx[vc]), blocks);
}

static void four_frames_open_a_link(void **state)
{
    (void)state;
    struct pair p = {0};
    hx_credit_link_up(&p.a, BUFFER, BUFFER, 1000);
    hx_credit_link_up(&p.b, BUFFER, BUFFER, 7);
    assert_true(p.a.answer && p.b.answer);
    p.a.answer = p.b.answer = false;
    tell(&p.a, &p.b); /* b learns of a, but a does not know b yet */
    assert_true(p.b.answer);
    assert_false(p.b.open);
    expect_room(&p.b, 0);
    p.b.answer = false;
    tell(&p.b, &p.a);
    assert_true(p.a.answer);
    assert_true(p.a.open);
    expect_room(&p.a, 0); /* b would not take data yet */
    p.a.answer = false;
    tell(&p.a, &p.b);
    assert_true(p.b.answer);
    assert_true(p.b.open);
    expect_room(&p.b, BUFFER);
    p.b.answer = false;
    tell(&p.b, &p.a);
    expect_room(&p.a, BUFFER);
    tell(&p.a, &p.b);
    assert_false(p.a.answer || p.b.answer); /* they have nothing to ask any more */
}

static void a_frame_says_what_there_is_to_say(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    assert_true(send(&p.a, &p.b, 1, 30));
    hx_credit_leave(&p.b.rx[1], 10);
    struct hx_credit_frame f = hx_credit_link_frame(&p.b, 3);
    assert_int_equal(f.plane, 3);
    assert_int_equal(f.session, 6);
    assert_int_equal(f.peer_session, 5);
    assert_int_equal(f.limit[0], BUFFER);
    assert_int_equal(f.limit[1], BUFFER + 10);
    assert_int_equal(f.sent[1], 0);
    assert_int_equal(hx_credit_link_frame(&p.a, 3).sent[1], 30);
}

/* The gap without sessions: the counters of a restarted end look old for ever. */
static void a_restarted_end_is_heard_again(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    for (unsigned i = 0; i < 50; i++) {
        assert_true(send(&p.a, &p.b, 0, 20));
        hx_credit_leave(&p.b.rx[0], 20);
        assert_true(send(&p.b, &p.a, 2, 20));
        hx_credit_leave(&p.a.rx[2], 20);
        tell(&p.a, &p.b);
        tell(&p.b, &p.a);
    }
    p.a = (struct hx_credit_link){0}; /* its memory is lost */
    hx_credit_link_up(&p.a, BUFFER, BUFFER, 8);
    assert_false(hx_credit_link_arrive(&p.a, 0, 1)); /* data that was under way */
    tell(&p.b, &p.a);
    assert_false(p.a.open); /* b has not heard of the new session: its counts are the old ones */
    expect_room(&p.a, 0);
    tell(&p.a, &p.b);
    assert_int_equal(p.b.tx[2].sent, 0); /* begins anew too */
    assert_int_equal(p.b.rx[0].received, 0);
    heal(&p);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
    assert_true(send(&p.a, &p.b, 0, BUFFER));
    assert_true(send(&p.b, &p.a, 2, BUFFER));
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

/* What lies in the buffer stays there when the counters begin anew, and is not granted a second time. */
static void packets_in_the_buffer_stay_counted(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    assert_true(send(&p.a, &p.b, 1, 70));
    p.a = (struct hx_credit_link){0};
    hx_credit_link_up(&p.a, BUFFER, BUFFER, 6);
    heal(&p);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), BUFFER - 70);
    assert_true(send(&p.a, &p.b, 1, BUFFER - 70));
    hx_credit_leave(&p.b.rx[1], 70);
    tell(&p.b, &p.a);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), 70);

    hx_credit_link_up(&p.b, BUFFER, BUFFER, 7); /* this end begins anew and has kept its buffer */
    heal(&p);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), 70);
}

static void old_sessions_are_ignored(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    assert_true(send(&p.a, &p.b, 0, 40));
    struct hx_credit_frame old = hx_credit_link_frame(&p.a, 0);
    struct hx_credit_frame old_answer = hx_credit_link_frame(&p.b, 0);
    p.a = (struct hx_credit_link){0};
    hx_credit_link_up(&p.a, BUFFER, BUFFER, 9);
    heal(&p);
    assert_true(send(&p.a, &p.b, 0, 10));

    struct pair before = p;
    hx_credit_link_take(&p.b, &old);        /* of session 5 */
    hx_credit_link_take(&p.a, &old_answer); /* to session 5 */
    assert_int_equal(p.b.peer_session, 9);
    assert_int_equal(p.b.rx[0].received, before.b.rx[0].received);
    assert_int_equal(p.a.tx[0].limit, before.a.tx[0].limit);
    assert_true(p.a.open && p.b.open);
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

static void sessions_wrap_without_zero(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, UINT32_MAX, 0x80000005);
    assert_true(hx_credit_link_arrive(&p.b, 0, BUFFER));
    assert_false(hx_credit_link_arrive(&p.a, 0, BUFFER + 1)); /* a suspects */
    assert_int_equal(p.a.session, 1);
    tell(&p.a, &p.b);
    assert_int_equal(p.b.peer_session, 1); /* later than 2^32 - 1 */
    assert_true(p.b.open);
}

static void data_beyond_the_grant_makes_a_link_suspect(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    assert_true(send(&p.a, &p.b, 1, BUFFER));
    assert_false(hx_credit_link_arrive(&p.b, 1, 1));
    assert_int_equal(p.b.suspected, 1);
    assert_int_equal(p.b.session, 7);
    assert_false(p.b.open);
    assert_true(p.b.answer);
    expect_room(&p.b, 0);
    p.b.answer = false; /* its frame is lost */
    tell(&p.a, &p.b);
    assert_true(p.b.answer);
    heal(&p);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), 0);
    expect_room(&p.b, BUFFER);
    assert_int_equal(p.a.suspected, 0);
    assert_int_equal(p.b.suspected, 1);
}

/* The gap without suspicion: after a data frame came twice, every grant is refused and the link stands still. */
static void a_data_frame_that_came_twice_does_not_stop_a_link(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    assert_true(send(&p.a, &p.b, 0, 20));
    assert_true(hx_credit_link_arrive(&p.b, 0, 20)); /* again */
    assert_true(send(&p.a, &p.b, 0, 60));
    hx_credit_leave(&p.b.rx[0], 100);
    tell(&p.b, &p.a); /* a limit of 200 blocks, to one who has sent 80 */
    assert_int_equal(p.a.suspected, 1);
    heal(&p);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
    assert_int_equal(p.a.suspected + p.b.suspected, 1);
}

static void a_count_too_far_ahead_makes_a_link_suspect(void **state)
{
    (void)state;
    for (uint32_t beyond = 0; beyond < 2; beyond++) {
        struct pair p;
        open_pair(&p, 5, 6);
        struct hx_credit_frame f = hx_credit_link_frame(&p.a, 0);
        f.sent[2] = BUFFER + beyond;
        hx_credit_link_take(&p.b, &f);
        assert_int_equal(p.b.suspected, beyond);
        assert_int_equal(p.b.rx[2].lost, beyond ? 0 : BUFFER);

        open_pair(&p, 5, 6);
        f = hx_credit_link_frame(&p.a, 0);
        f.limit[0] = BUFFER + beyond;
        hx_credit_link_take(&p.b, &f);
        assert_int_equal(p.b.suspected, beyond);
    }
}

/* However late a true frame is, it makes nobody suspicious. */
static void late_frames_are_not_suspect(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    struct hx_credit_frame first = hx_credit_link_frame(&p.b, 0);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(send(&p.a, &p.b, 0, 50));
        assert_true(send(&p.b, &p.a, 1, 50));
        hx_credit_leave(&p.b.rx[0], 50);
        hx_credit_leave(&p.a.rx[1], 50);
        tell(&p.b, &p.a);
        tell(&p.a, &p.b);
        hx_credit_link_take(&p.a, &first);
    }
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
}

/* A grant on the back of data has no checksum: what cannot be true is ignored, before the link is open all of it. */
static void a_piggybacked_grant_is_taken_with_care(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    assert_true(send(&p.a, &p.b, 0, 60));
    hx_credit_leave(&p.b.rx[0], 60);
    hx_credit_link_grant(&p.a, 0, hx_credit_limit(&p.b.rx[0]));
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    hx_credit_link_grant(&p.a, 0, 60 + BUFFER + 1);
    hx_credit_link_grant(&p.a, 0, 0x70000000);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    assert_int_equal(p.a.suspected, 0);

    hx_credit_link_up(&p.a, BUFFER, BUFFER, 8);
    hx_credit_link_grant(&p.a, 0, 50);
    expect_room(&p.a, 0);
}

/* Both begin anew in the same moment: their frames cross, and each learns of the other's new session. */
static void both_ends_may_suspect_at_once(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p, 5, 6);
    assert_false(hx_credit_link_arrive(&p.a, 0, BUFFER + 1));
    assert_false(hx_credit_link_arrive(&p.b, 0, BUFFER + 1));
    struct hx_credit_frame from_a = hx_credit_link_frame(&p.a, 0);
    struct hx_credit_frame from_b = hx_credit_link_frame(&p.b, 0);
    hx_credit_link_take(&p.b, &from_a);
    hx_credit_link_take(&p.a, &from_b);
    assert_true(p.a.answer && p.b.answer);
    heal(&p);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
    assert_int_equal(p.a.suspected + p.b.suspected, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_frames_open_a_link),
        cmocka_unit_test(a_frame_says_what_there_is_to_say),
        cmocka_unit_test(a_restarted_end_is_heard_again),
        cmocka_unit_test(packets_in_the_buffer_stay_counted),
        cmocka_unit_test(old_sessions_are_ignored),
        cmocka_unit_test(sessions_wrap_without_zero),
        cmocka_unit_test(data_beyond_the_grant_makes_a_link_suspect),
        cmocka_unit_test(a_data_frame_that_came_twice_does_not_stop_a_link),
        cmocka_unit_test(a_count_too_far_ahead_makes_a_link_suspect),
        cmocka_unit_test(late_frames_are_not_suspect),
        cmocka_unit_test(a_piggybacked_grant_is_taken_with_care),
        cmocka_unit_test(both_ends_may_suspect_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
