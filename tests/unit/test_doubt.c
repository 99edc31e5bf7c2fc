/* test_doubt.c - what an end of a cable believes: each rule of doubt.h at its edges. Any frames: prop_doubt.c. */
#include "hxmesh/doubt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BUFFER = 128, SESSION_A = 1000, SESSION_B = 70 };

struct end {
    struct hx_credit_link link;
    struct hx_doubt doubt;
};

/* Two ends; a frame crosses at once. */
struct pair {
    struct end a, b;
};

static struct hx_credit_frame frame_of(const struct end *e)
{
    return hx_credit_link_frame(&e->link, 0);
}

static enum hx_belief hear(struct end *e, struct hx_credit_frame f)
{
    return hx_doubt_take(&e->doubt, &e->link, &f, 5);
}

static void tell(const struct end *from, struct end *to)
{
    assert_int_equal(hear(to, frame_of(from)), HX_BELIEVED);
}

static void come_up(struct end *e, uint32_t session)
{
    hx_credit_link_up(&e->link, BUFFER, BUFFER, session);
    e->doubt = (struct hx_doubt){.session = 0};
}

static void open_pair(struct pair *p)
{
    *p = (struct pair){.a = {.link = {.open = false}}};
    come_up(&p->a, SESSION_A);
    come_up(&p->b, SESSION_B);
    for (unsigned i = 0; i < 3; i++) {
        tell(&p->a, &p->b);
        tell(&p->b, &p->a);
    }
    assert_true(p->a.link.open && p->b.link.open);
    p->a.link.answer = p->b.link.answer = false;
}

/* a sends, b takes it. */
static bool send(struct pair *p, unsigned vc, uint32_t blocks)
{
    assert_true(hx_credit_room(&p->a.link.tx[vc]) >= blocks);
    hx_credit_spend(&p->a.link.tx[vc], blocks);
    return hx_doubt_arrive(&p->b.doubt, &p->b.link, vc, blocks);
}

/* What both were when they met, and nobody was suspected. */
static void expect_same_sessions(const struct pair *p)
{
    assert_true(p->a.link.open && p->b.link.open);
    assert_true(p->a.link.session == SESSION_A && p->a.link.peer_session == SESSION_B);
    assert_true(p->b.link.session == SESSION_B && p->b.link.peer_session == SESSION_A);
    assert_true(p->a.link.suspected == 0 && p->b.link.suspected == 0);
}

static void expect_counts_agree(const struct pair *p)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        assert_int_equal(p->b.link.rx[vc].received, p->a.link.tx[vc].sent);
        assert_int_equal(p->a.link.rx[vc].received, p->b.link.tx[vc].sent);
    }
}

/* ---- another session ---- */

static void another_session_is_believed_the_third_time(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct hx_credit_frame f = frame_of(&p.a);
    f.session = SESSION_A + 9;
    for (unsigned n = 1; n < HX_DOUBT_FRAMES; n++) {
        assert_int_equal(hear(&p.b, f), HX_DOUBTED);
        assert_true(p.b.link.answer); /* so that who it is says it again */
        expect_same_sessions(&p);
    }
    assert_int_equal(hear(&p.b, f), HX_BELIEVED);
    assert_int_equal(p.b.link.peer_session, SESSION_A + 9);
}

static void a_true_frame_ends_doubt_of_the_session(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct hx_credit_frame f = frame_of(&p.a);
    f.session = SESSION_A + 9;
    for (unsigned n = 0; n < 100; n++) {
        if (n % 2 == 0)
            tell(&p.a, &p.b);
        assert_int_equal(hear(&p.b, f), HX_DOUBTED);
    }
    tell(&p.a, &p.b);
    for (unsigned n = 0; n < 100; n++) { /* each names another one */
        f.session += 1 + n % 3;
        assert_int_equal(hear(&p.b, f), HX_DOUBTED);
    }
    expect_same_sessions(&p);
}

/* A peer that has restarted is met, though its frames are doubted first. */
static void a_restarted_peer_is_met_again(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p, 1, 30));
    come_up(&p.a, SESSION_A + 500);
    for (unsigned n = 0; n < HX_DOUBT_FRAMES + 2; n++) {
        (void)hear(&p.b, frame_of(&p.a));
        (void)hear(&p.a, frame_of(&p.b));
    }
    assert_true(p.a.link.open && p.b.link.open);
    assert_int_equal(p.b.link.peer_session, SESSION_A + 500);
    assert_int_equal(hx_credit_room(&p.a.link.tx[1]), BUFFER - 30); /* still in the buffer */
}

/* ---- counts that cannot be ---- */

static void counts_that_cannot_be_are_believed_the_third_time(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 2; which++) {
        struct pair p;
        open_pair(&p);
        assert_true(send(&p, 2, 40));
        struct hx_credit_frame f = frame_of(&p.a);
        if (which)
            f.limit[1] = 2 * BUFFER + 1;
        else
            f.sent[2] = 40 + BUFFER + 1;
        assert_int_equal(hear(&p.b, f), HX_DOUBTED);
        assert_int_equal(hear(&p.b, f), HX_DOUBTED);
        tell(&p.a, &p.b); /* to the contrary */
        assert_int_equal(hear(&p.b, f), HX_DOUBTED);
        assert_int_equal(hear(&p.b, f), HX_DOUBTED);
        expect_same_sessions(&p);
        expect_counts_agree(&p);
        assert_int_equal(hear(&p.b, f), HX_BELIEVED);
        assert_int_equal(p.b.link.session, SESSION_B + 1);
        assert_int_equal(p.b.link.suspected, 1);
        assert_int_equal(p.b.doubt.incredible, 0);
    }
}

static void a_grant_of_up_to_a_buffer_too_much_is_cut(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p, 0, 50));
    struct hx_credit_frame f = frame_of(&p.b);
    f.limit[0] = 50 + 2 * BUFFER;
    assert_int_equal(hear(&p.a, f), HX_BELIEVED);
    assert_int_equal(hx_credit_room(&p.a.link.tx[0]), BUFFER);
    expect_same_sessions(&p);
}

/* ---- counts that can be ---- */

static void what_a_wire_lost_is_written_off_at_once(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    hx_credit_spend(&p.a.link.tx[1], BUFFER);
    tell(&p.a, &p.b);
    assert_int_equal(p.b.link.rx[1].lost, BUFFER);
    tell(&p.b, &p.a);
    assert_int_equal(hx_credit_room(&p.a.link.tx[1]), BUFFER);
}

static void what_came_twice_is_taken_back(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p, 0, 20));
    assert_true(hx_doubt_arrive(&p.b.doubt, &p.b.link, 0, 20)); /* again */
    hx_credit_leave(&p.b.link.rx[0], 40);
    tell(&p.a, &p.b);
    assert_int_equal(p.b.link.rx[0].received, 20);
    assert_int_equal(hx_credit_limit(&p.b.link.rx[0]), 20 + BUFFER);
    assert_int_equal(p.b.link.rx[0].lost, 0);
}

static void too_far_behind_is_old_and_changes_nothing(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct hx_credit_frame old = frame_of(&p.a);
    for (unsigned n = 0; n <= BUFFER; n++) {
        assert_true(send(&p, 0, 1));
        hx_credit_leave(&p.b.link.rx[0], 1);
        tell(&p.b, &p.a);
    }
    assert_int_equal(hear(&p.b, old), HX_BELIEVED);
    expect_counts_agree(&p);
}

/* a's frames of a whole stream, kept. b has heard the last one. */
static void keep_frames(struct pair *p, struct hx_credit_frame *kept, unsigned frames, uint32_t blocks)
{
    for (unsigned n = 0; n < frames; n++) {
        kept[n] = frame_of(&p->a);
        assert_true(send(p, 1, blocks));
        hx_credit_leave(&p->b.link.rx[1], blocks);
        tell(&p->a, &p->b);
        tell(&p->b, &p->a);
    }
}

/* Frames that come again, in the order they had or from the last to the first, any number of them: then the wire loses
 * as much as it can, and one true frame sets that right too. */
static void old_frames_of_this_session_cost_no_credit(void **state)
{
    (void)state;
    enum { KEPT = 20 };
    struct hx_credit_frame kept[KEPT];
    for (unsigned backwards = 0; backwards < 2; backwards++) {
        struct pair p;
        open_pair(&p);
        keep_frames(&p, kept, KEPT, 100);
        for (unsigned n = 0; n < KEPT; n++) {
            assert_int_equal(hear(&p.b, kept[backwards ? KEPT - 1 - n : n]), HX_BELIEVED);
            struct pair then = p;
            hx_credit_spend(&then.a.link.tx[1], BUFFER);
            tell(&then.a, &then.b);
            expect_counts_agree(&then);
            expect_same_sessions(&then);
        }
    }
}

static void a_count_that_lied_is_undone_by_the_next_true_one(void **state)
{
    (void)state;
    for (uint32_t lost = 0; lost <= BUFFER / 2; lost += BUFFER / 4) {
        for (int32_t lie = -BUFFER; lie <= BUFFER; lie++) {
            struct pair p;
            open_pair(&p);
            assert_true(send(&p, 1, 50));
            tell(&p.a, &p.b);
            for (unsigned n = 0; n < 10; n++) { /* a lie, something is lost, the truth */
                struct hx_credit_frame f = frame_of(&p.a);
                f.sent[1] += (uint32_t)(n % 3 == 2 ? -lie : lie);
                assert_int_equal(hear(&p.b, f), HX_BELIEVED);
                hx_credit_spend(&p.a.link.tx[1], lost);
                tell(&p.a, &p.b);
                expect_counts_agree(&p);
                tell(&p.b, &p.a);
            }
            expect_same_sessions(&p);
            assert_int_equal(hx_credit_room(&p.a.link.tx[1]), BUFFER - 50);
        }
    }
}

/* ---- data beyond the grant ---- */

static void data_beyond_the_grant_is_dropped_fifteen_times(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned n = 1; n < HX_DOUBT_OVERRUNS; n++)
            assert_false(hx_doubt_arrive(&p.b.doubt, &p.b.link, 0, BUFFER + 1));
        tell(&p.a, &p.b); /* its counts can be */
    }
    expect_same_sessions(&p);
    for (unsigned n = 0; n < HX_DOUBT_OVERRUNS; n++) {
        assert_int_equal(p.b.link.session, SESSION_B);
        assert_false(hx_doubt_arrive(&p.b.doubt, &p.b.link, n % HX_VCS, BUFFER + 1));
    }
    assert_int_equal(p.b.link.session, SESSION_B + 1);
    assert_false(p.b.link.open);
    assert_false(hx_doubt_arrive(&p.b.doubt, &p.b.link, 0, 1)); /* a link that is not open takes nothing */
    assert_int_equal(p.b.link.suspected, 1);
    for (unsigned n = 0; n < HX_DOUBT_FRAMES; n++)
        (void)hear(&p.a, frame_of(&p.b));
    tell(&p.a, &p.b);
    assert_true(p.b.link.open);
    for (unsigned n = 1; n < HX_DOUBT_OVERRUNS; n++) /* counted from the beginning */
        assert_false(hx_doubt_arrive(&p.b.doubt, &p.b.link, 0, BUFFER + 1));
    assert_int_equal(p.b.link.session, SESSION_B + 1);
}

/* ---- wrong ideas of the sessions ---- */

static void a_frame_of_its_own_says_nothing_while_the_peer_is_heard(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    for (unsigned turn = 0; turn < 3; turn++) {
        struct hx_credit_link before = p.a.link;
        for (unsigned n = 1; n < HX_DOUBT_OWN; n++)
            assert_int_equal(hear(&p.a, frame_of(&p.a)), HX_REFLECTED);
        assert_memory_equal(&before, &p.a.link, sizeof before);
        tell(&p.b, &p.a);
    }
}

/* Lies gave both ends one number, and had the links open. */
static void two_open_ends_of_one_number_part(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p, 0, 10));
    p.b.link.session = SESSION_A;
    for (uint32_t n = 0; n < HX_DOUBT_OWN + 20; n++) {
        struct hx_credit_frame f = frame_of(&p.a);
        (void)hx_doubt_take(&p.b.doubt, &p.b.link, &f, 3 * n);
        f = frame_of(&p.b);
        (void)hx_doubt_take(&p.a.doubt, &p.a.link, &f, 7 * n);
    }
    assert_true(p.a.link.open && p.b.link.open && p.a.link.session != p.b.link.session);
    assert_int_equal(p.a.link.peer_session, p.b.link.session);
    assert_int_equal(hx_credit_room(&p.a.link.tx[0]), BUFFER - 10); /* still in the buffer */
}

static void an_end_that_meets_its_own_number_takes_another(void **state)
{
    (void)state;
    uint32_t steps = 0;
    for (uint32_t random = 0; random < 64; random++) {
        struct end e = {.link = {.open = false}};
        uint32_t session = UINT32_MAX - 7 + random / 8; /* up to the last, so that it wraps */
        come_up(&e, session);
        struct hx_credit_frame own = frame_of(&e);
        e.link.answer = false;
        assert_int_equal(hx_doubt_take(&e.doubt, &e.link, &own, random), HX_REFLECTED);
        assert_true(e.link.session != 0 && e.link.session - session - 1 <= 16);
        steps |= 1U << (e.link.session - session);
        assert_true(e.link.answer && !e.link.open && e.link.peer_session == 0);
    }
    assert_true((steps & 0x1FFFE) == 0x1FFFE); /* 1 .. 16 */
}

/* Both began by one clock. */
static void two_ends_of_one_number_meet(void **state)
{
    (void)state;
    struct pair p = {.a = {.link = {.open = false}}};
    come_up(&p.a, 77);
    come_up(&p.b, 77);
    for (uint32_t n = 0; n < 12; n++) {
        struct hx_credit_frame f = frame_of(&p.a);
        (void)hx_doubt_take(&p.b.doubt, &p.b.link, &f, 3 * n);
        f = frame_of(&p.b);
        (void)hx_doubt_take(&p.a.doubt, &p.a.link, &f, 7 * n);
    }
    assert_true(p.a.link.open && p.b.link.open && p.a.link.session != p.b.link.session);
}

static void an_end_whose_clock_went_back_goes_on_from_what_the_peer_knows(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    come_up(&p.a, SESSION_A - 100);
    assert_int_equal(hear(&p.a, frame_of(&p.b)), HX_BELIEVED);
    assert_int_equal(p.a.link.session, SESSION_A + 1);
    assert_int_equal(p.a.link.tx[0].buffer, BUFFER);
    for (unsigned n = 0; n < HX_DOUBT_FRAMES + 1; n++) {
        (void)hear(&p.b, frame_of(&p.a));
        (void)hear(&p.a, frame_of(&p.b));
    }
    assert_true(p.a.link.open && p.b.link.open);
    struct hx_credit_frame f = frame_of(&p.b); /* while the link is open it is no more than a frame to ignore */
    f.peer_session = SESSION_A + 1000;
    assert_int_equal(hear(&p.a, f), HX_BELIEVED);
    assert_int_equal(p.a.link.session, SESSION_A + 1);
}

static void a_wrong_idea_of_the_peer_is_left_after_eight_frames(void **state)
{
    (void)state;
    for (unsigned open = 0; open < 2; open++) {
        struct pair p = {.a = {.link = {.open = false}}};
        come_up(&p.a, SESSION_A);
        come_up(&p.b, SESSION_B);
        struct hx_credit_frame lie = frame_of(&p.b);
        lie.session = SESSION_B + 100000;
        lie.peer_session = open ? SESSION_A : 0;
        assert_int_equal(hear(&p.a, lie), HX_BELIEVED); /* not open: the first that comes is the peer */
        assert_int_equal(p.a.link.open, open);
        p.b.link.peer_session = SESSION_A; /* a peer that has no such caution, and goes on */
        for (unsigned n = 1; n < HX_DOUBT_STUCK; n++) {
            (void)hear(&p.a, frame_of(&p.b));
            assert_int_equal(p.a.link.peer_session, SESSION_B + 100000);
        }
        (void)hear(&p.a, frame_of(&p.b));
        assert_true(p.a.link.open && p.a.link.peer_session == SESSION_B);
    }
}

static void a_frame_of_the_peer_ends_doubt_of_who_it_is(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct hx_credit_frame f = frame_of(&p.a);
    f.session = SESSION_A - 1;
    for (unsigned n = 1; n < 5 * HX_DOUBT_STUCK; n++) {
        if (n % HX_DOUBT_STUCK == 0)
            tell(&p.a, &p.b);
        else
            (void)hear(&p.b, f);
        expect_same_sessions(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_session_is_believed_the_third_time),
        cmocka_unit_test(a_true_frame_ends_doubt_of_the_session),
        cmocka_unit_test(a_restarted_peer_is_met_again),
        cmocka_unit_test(counts_that_cannot_be_are_believed_the_third_time),
        cmocka_unit_test(a_grant_of_up_to_a_buffer_too_much_is_cut),
        cmocka_unit_test(what_a_wire_lost_is_written_off_at_once),
        cmocka_unit_test(what_came_twice_is_taken_back),
        cmocka_unit_test(too_far_behind_is_old_and_changes_nothing),
        cmocka_unit_test(old_frames_of_this_session_cost_no_credit),
        cmocka_unit_test(a_count_that_lied_is_undone_by_the_next_true_one),
        cmocka_unit_test(data_beyond_the_grant_is_dropped_fifteen_times),
        cmocka_unit_test(a_frame_of_its_own_says_nothing_while_the_peer_is_heard),
        cmocka_unit_test(two_open_ends_of_one_number_part),
        cmocka_unit_test(an_end_that_meets_its_own_number_takes_another),
        cmocka_unit_test(two_ends_of_one_number_meet),
        cmocka_unit_test(an_end_whose_clock_went_back_goes_on_from_what_the_peer_knows),
        cmocka_unit_test(a_wrong_idea_of_the_peer_is_left_after_eight_frames),
        cmocka_unit_test(a_frame_of_the_peer_ends_doubt_of_who_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
