/* test_link.c - the sessions of a link (credit.h): how two ends begin to count together, begin again, and what ends no
 * session. Each row of the table in credit.h at its edges; any frames in any order: prop_session.c. */
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

static uint64_t drawn;

static uint64_t draw(void)
{
    return ++drawn << 32 | 0xABCDEF;
}

static struct hx_credit_frame frame_of(struct hx_credit_link *l)
{
    struct hx_credit_frame f = hx_credit_link_frame(l, 0);
    hx_credit_link_notified(l);
    return f;
}

static enum hx_credit_origin hear(struct hx_credit_link *l, struct hx_credit_frame f)
{
    return hx_credit_link_take(l, &f, draw());
}

static enum hx_credit_origin tell(struct hx_credit_link *from, struct hx_credit_link *to)
{
    return hear(to, frame_of(from));
}

static void come_up(struct hx_credit_link *l)
{
    hx_credit_link_up(l, HX_VCS, BUFFER, BUFFER, draw());
}

static void restart(struct hx_credit_link *l)
{
    *l = (struct hx_credit_link){0}; /* its memory is lost */
    come_up(l);
}

static void heal(struct pair *p)
{
    for (unsigned i = 0; i < 5; i++) {
        (void)tell(&p->a, &p->b);
        (void)tell(&p->b, &p->a);
    }
    assert_true(p->a.open && p->b.open);
    assert_true(p->a.peer_nonce == p->b.nonce && p->b.peer_nonce == p->a.nonce);
}

static void open_pair(struct pair *p)
{
    *p = (struct pair){0};
    come_up(&p->a);
    come_up(&p->b);
    heal(p);
    assert_true(p->a.sessions == 1 && p->b.sessions == 1);
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

/* Both go on as they were when `then` was copied, and their frames are taken. */
static void expect_same_session(struct pair *p, const struct pair *then)
{
    assert_true(p->a.open && p->b.open);
    assert_true(p->a.nonce == then->a.nonce && p->a.peer_nonce == then->b.nonce);
    assert_true(p->b.nonce == then->b.nonce && p->b.peer_nonce == then->a.nonce);
    assert_true(p->a.sessions == then->a.sessions && p->b.sessions == then->b.sessions);
}

/* ---- beginning ---- */

static void five_frames_open_a_link(void **state)
{
    (void)state;
    struct pair p = {0};
    come_up(&p.a);
    come_up(&p.b);
    assert_true(p.a.answer && p.b.answer && p.a.nonce != p.b.nonce);
    p.b.answer = false;
    struct hx_credit_frame f = frame_of(&p.a);
    assert_true(f.nonce == p.a.nonce && f.peer_nonce == 0 && f.limit[0] == 0);
    assert_false(p.a.answer);
    assert_int_equal(hear(&p.b, f), HX_CREDIT_STRANGER);
    assert_true(p.b.answer && !p.b.open);
    f = frame_of(&p.b);
    assert_true(f.nonce == p.b.nonce && f.peer_nonce == p.a.nonce);
    assert_int_equal(hear(&p.a, f), HX_CREDIT_PEER);
    assert_true(p.a.answer && p.a.open);
    expect_room(&p.a, 0); /* b would not take data yet */
    f = frame_of(&p.a);
    assert_int_equal(f.limit[0], HX_CREDIT_NO_LIMIT); /* nor would a */
    assert_int_equal(hear(&p.b, f), HX_CREDIT_PEER);
    assert_true(p.b.answer && p.b.open);
    expect_room(&p.b, 0);
    assert_int_equal(tell(&p.b, &p.a), HX_CREDIT_PEER);
    expect_room(&p.a, BUFFER);
    assert_true(p.a.answer);
    assert_int_equal(tell(&p.a, &p.b), HX_CREDIT_PEER);
    expect_room(&p.b, BUFFER);
    (void)tell(&p.a, &p.b);
    assert_false(p.a.answer || p.b.answer); /* they have nothing to ask any more */
}

static void a_frame_says_what_there_is_to_say(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p.a, &p.b, 1, 30));
    hx_credit_leave(&p.b.rx[1], 10);
    struct hx_credit_frame f = hx_credit_link_frame(&p.b, 3);
    assert_int_equal(f.plane, 3);
    assert_true(f.nonce == p.b.nonce && f.peer_nonce == p.a.nonce);
    assert_int_equal(f.limit[0], BUFFER);
    assert_int_equal(f.limit[1], BUFFER + 10);
    assert_int_equal(f.sent[1], 0);
    assert_int_equal(hx_credit_link_frame(&p.a, 3).sent[1], 30);
}

static void a_nonce_is_never_0(void **state)
{
    (void)state;
    struct hx_credit_link l = {0};
    hx_credit_link_up(&l, HX_VCS, BUFFER, BUFFER, 0);
    assert_true(l.nonce == 1);
    struct hx_credit_frame f = {.nonce = 9};
    (void)hx_credit_link_take(&l, &f, 0);
    assert_true(l.next_nonce != 0);
}

/* ---- beginning again ---- */

static void a_restarted_end_is_heard_again(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    for (unsigned i = 0; i < 50; i++) {
        assert_true(send(&p.a, &p.b, 0, 20));
        hx_credit_leave(&p.b.rx[0], 20);
        assert_true(send(&p.b, &p.a, 2, 20));
        hx_credit_leave(&p.a.rx[2], 20);
        (void)tell(&p.a, &p.b);
        (void)tell(&p.b, &p.a);
    }
    uint64_t before = p.b.nonce;
    restart(&p.a);
    assert_false(hx_credit_link_arrive(&p.a, 0, 1)); /* data that was under way */
    (void)tell(&p.b, &p.a);
    assert_false(p.a.open); /* b has not heard of the new session: its counts are the old ones */
    expect_room(&p.a, 0);
    assert_int_equal(tell(&p.a, &p.b), HX_CREDIT_STRANGER);
    assert_false(p.b.answer); /* who asks waits for the next periodic frame */
    assert_int_equal(p.b.tx[2].sent, 1000);
    assert_int_equal(tell(&p.b, &p.a), HX_CREDIT_PEER); /* its next nonce, to this one */
    assert_true(p.b.answer && p.b.tx[2].sent == 1000 && p.b.nonce == before);
    assert_int_equal(tell(&p.b, &p.a), HX_CREDIT_STRANGER); /* and its counts to who was there */
    assert_int_equal(tell(&p.a, &p.b), HX_CREDIT_PEER);
    assert_true(p.b.nonce != before && p.b.sessions == 2);
    assert_int_equal(p.b.tx[2].sent, 0); /* begins anew too */
    assert_int_equal(p.b.rx[0].received, 0);
    assert_int_equal(p.b.rx[0].lost, 0); /* what was counted before is not taken for lost */
    assert_int_equal(tell(&p.b, &p.a), HX_CREDIT_PEER);
    heal(&p);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
    assert_true(send(&p.a, &p.b, 0, BUFFER));
    assert_true(send(&p.b, &p.a, 2, BUFFER));
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

/* Restarts a, until it has opened with b, which has not heard of it yet and goes on in the old session. */
static void reopen_one_side(struct pair *p)
{
    restart(&p->a);
    (void)tell(&p->a, &p->b);
    (void)tell(&p->b, &p->a);
    assert_true(p->a.open && p->b.sessions == 1);
}

static void a_grant_of_the_session_before_is_not_believed(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p.a, &p.b, 0, 60)); /* they stay in the buffer of b */
    reopen_one_side(&p);
    hx_credit_link_grant(&p.a, 0, hx_credit_limit(&p.b.rx[0])); /* on the back of what b still sends */
    expect_room(&p.a, 0);
    heal(&p);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER - 60);
    hx_credit_leave(&p.b.rx[0], 60);
    hx_credit_link_grant(&p.a, 0, hx_credit_limit(&p.b.rx[0]));
    expect_room(&p.a, BUFFER);
}

/* All limits are 0 then, and who restarted is to believe what b sends all the same. */
static void an_end_whose_buffer_is_full_is_heard(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        assert_true(send(&p.a, &p.b, vc, BUFFER));
    restart(&p.a);
    heal(&p);
    assert_true(p.a.heard && p.b.heard);
    expect_room(&p.a, 0);
    expect_room(&p.b, BUFFER);
    assert_true(send(&p.b, &p.a, 0, BUFFER));
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        hx_credit_leave(&p.b.rx[vc], BUFFER);
    (void)tell(&p.b, &p.a);
    expect_room(&p.a, BUFFER);
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

/* It is not counted, and so leaves its place to what the new session grants. */
static void data_of_the_session_before_takes_no_buffer(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    reopen_one_side(&p);
    assert_false(send(&p.b, &p.a, 0, 60));
    heal(&p);
    assert_true(send(&p.b, &p.a, 0, BUFFER));
    assert_int_equal(p.a.suspected, 0);
}

/* What lies in the buffer stays there when the counters begin anew, and is not granted a second time. */
static void packets_in_the_buffer_stay_counted(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p.a, &p.b, 1, 70));
    restart(&p.a);
    heal(&p);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), BUFFER - 70);
    assert_true(send(&p.a, &p.b, 1, BUFFER - 70));
    hx_credit_leave(&p.b.rx[1], 70);
    (void)tell(&p.b, &p.a);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), 70);

    come_up(&p.b); /* this end begins anew and has kept its buffer */
    heal(&p);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), 70);
}

static void both_ends_may_restart_at_once(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    restart(&p.a);
    restart(&p.b);
    struct hx_credit_frame from_a = frame_of(&p.a);
    struct hx_credit_frame from_b = frame_of(&p.b);
    (void)hear(&p.b, from_a);
    (void)hear(&p.a, from_b);
    assert_true(p.a.answer && p.b.answer);
    from_a = frame_of(&p.a); /* and their answers cross */
    from_b = frame_of(&p.b);
    assert_int_equal(hear(&p.b, from_a), HX_CREDIT_PEER);
    assert_int_equal(hear(&p.a, from_b), HX_CREDIT_PEER);
    heal(&p);
    assert_true(p.a.sessions == 1 && p.b.sessions == 1);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
}

/* Each is open, with somebody who is no more. Neither asks, so nothing would happen if silence did not close them. */
static void two_open_ends_that_know_others_find_each_other(void **state)
{
    (void)state;
    struct pair p, q;
    open_pair(&p);
    open_pair(&q);
    struct pair mixed = {p.a, q.b}; /* the cables were exchanged */
    for (unsigned n = 1; n < HX_CREDIT_SILENCE; n++)
        assert_int_equal(tell(&mixed.a, &mixed.b), HX_CREDIT_STRANGER);
    assert_true(mixed.a.open && mixed.a.sessions == 1);
    heal(&mixed);
    assert_true(mixed.a.sessions == 2 && mixed.b.sessions == 2);
    for (unsigned n = 0; n < 2 * HX_CREDIT_SILENCE; n++) { /* a peer that is heard now and then is no silence */
        struct hx_credit_frame f = frame_of(&mixed.a);
        if (n % 10000 == 0)
            (void)tell(&mixed.b, &mixed.a);
        if (n % 5000 == 0)
            (void)hear(&mixed.b, f);
    }
    assert_int_equal(mixed.a.sessions, 2);
}

/* ---- what ends no session ---- */

/* Any frame of the session before, and of the beginning of this one, that came to b. */
static void what_was_recorded_ends_nothing(void **state)
{
    (void)state;
    enum { KEPT = 64 };
    struct hx_credit_frame kept[2][KEPT];
    unsigned count = 0;
    struct pair p;
    open_pair(&p);
    for (unsigned turn = 0; turn < 6; turn++) { /* a restarts, b restarts, ... */
        restart(turn % 2 ? &p.b : &p.a);
        for (unsigned n = 0; n < 5; n++, count++) {
            kept[0][count] = frame_of(&p.a);
            (void)hear(&p.b, kept[0][count]);
            kept[1][count] = frame_of(&p.b);
            (void)hear(&p.a, kept[1][count]);
        }
        heal(&p);
    }
    struct pair then = p;
    for (unsigned n = 0; n < 4 * count; n++) {
        struct hx_credit_frame old = kept[n / 2 % 2][n / 4]; /* to whom it was sent, and to whom it was not */
        enum hx_credit_origin origin = hear(n % 2 ? &p.b : &p.a, old);
        assert_true(origin != HX_CREDIT_PEER || old.nonce == p.a.nonce || old.nonce == p.b.nonce);
        for (unsigned i = 0; i < 3; i++) {
            (void)tell(&p.a, &p.b);
            (void)tell(&p.b, &p.a);
        }
        expect_same_session(&p, &then);
    }
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
}

/* Who does not know a nonce can ask, as often as he likes: the counts go out between. */
static void who_only_asks_ends_nothing_and_delays_nothing(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct pair then = p;
    unsigned counts = 0;
    for (unsigned n = 0; n < 100; n++) {
        struct hx_credit_frame made_up = {
            .nonce = 1000 + n, .peer_nonce = n % 2 ? 77 + n : 0, .limit = {7}, .sent = {9}};
        assert_int_equal(hear(&p.b, made_up), HX_CREDIT_STRANGER);
        struct hx_credit_frame f = frame_of(&p.b);
        counts += f.nonce == p.b.nonce;
        assert_true(f.nonce == p.b.nonce || (f.peer_nonce >= 1000 && f.limit[0] == 0));
        (void)hear(&p.a, f);
        expect_same_session(&p, &then);
    }
    assert_true(counts >= 50);
}

static void a_frame_of_its_own_that_comes_back_is_nothing(void **state)
{
    (void)state;
    struct pair p = {0};
    come_up(&p.a);
    for (unsigned n = 0; n < 10; n++) {
        assert_int_equal(hear(&p.a, frame_of(&p.a)), HX_CREDIT_OWN);
        assert_false(p.a.open || p.a.answer);
    }
    open_pair(&p);
    struct pair then = p;
    struct hx_credit_frame asks = {.nonce = 5};
    for (unsigned n = 0; n < 10; n++) {
        assert_int_equal(hear(&p.a, asks), HX_CREDIT_STRANGER); /* what it is told comes back too */
        assert_int_equal(hear(&p.a, frame_of(&p.a)), HX_CREDIT_OWN);
        assert_int_equal(hear(&p.a, frame_of(&p.a)), HX_CREDIT_OWN);
    }
    expect_same_session(&p, &then);
}

/* ---- counts ---- */

static void data_beyond_the_grant_is_dropped_and_noted(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct pair then = p;
    assert_true(send(&p.a, &p.b, 1, BUFFER));
    for (unsigned n = 1; n <= 100; n++) {
        assert_false(hx_credit_link_arrive(&p.b, 1, 1));
        assert_int_equal(p.b.suspected, n);
    }
    heal(&p);
    expect_same_session(&p, &then);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), 0);
}

static void what_came_twice_is_taken_back(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p.a, &p.b, 0, 20));
    assert_true(hx_credit_link_arrive(&p.b, 0, 20)); /* again */
    assert_true(send(&p.a, &p.b, 0, 60));
    hx_credit_leave(&p.b.rx[0], 100);
    (void)tell(&p.b, &p.a); /* a limit of 200 blocks, to one who has sent 80 */
    assert_int_equal(p.a.suspected, 1);
    expect_room(&p.a, BUFFER);
    (void)tell(&p.a, &p.b);
    assert_int_equal(p.b.rx[0].received, 80);
    assert_int_equal(hx_credit_limit(&p.b.rx[0]), 80 + BUFFER);
    assert_int_equal((int32_t)p.b.rx[0].lost, -20);
}

static void what_a_wire_lost_is_written_off(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    hx_credit_spend(&p.a.tx[1], BUFFER);
    for (unsigned n = 0; n < 2 * HX_CREDIT_SETTLE; n++)
        (void)tell(&p.a, &p.b);
    assert_int_equal(p.b.rx[1].lost, BUFFER);
    (void)tell(&p.b, &p.a);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), BUFFER);
}

/* A switch on the way prefers credit frames: all that is on its way, up to a buffer, is overtaken by as many as go out
 * meanwhile. Nothing of it is written off, and the buffer never overruns. */
static void credit_frames_that_overtake_data_write_nothing_off(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    uint32_t in_flight = 0;
    uint32_t held = 0;
    for (unsigned round = 0; round < 1000; round++) {
        for (unsigned n = 0; n <= round % (HX_CREDIT_SETTLE - 1); n++) {
            uint32_t room = hx_credit_room(&p.a.tx[0]);
            hx_credit_spend(&p.a.tx[0], room);
            in_flight += room;
            (void)tell(&p.a, &p.b);
            (void)tell(&p.b, &p.a);
        }
        assert_true(held + in_flight <= BUFFER);
        assert_true(hx_credit_link_arrive(&p.b, 0, in_flight));
        held += in_flight;
        in_flight = 0;
        (void)tell(&p.a, &p.b);
        uint32_t leaves = round % 7 == 0 ? 0 : held / (1 + round % 3);
        hx_credit_leave(&p.b.rx[0], leaves);
        held -= leaves;
        (void)tell(&p.b, &p.a);
    }
    assert_int_equal(p.b.rx[0].lost, 0);
    assert_int_equal(p.b.suspected + p.a.suspected, 0);
}

/* Of a wire that loses, and whose switch prefers credit frames, all that was lost is written off, and no more. */
static void what_is_lost_is_told_from_what_is_overtaken(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    uint32_t lost = 0;
    for (unsigned round = 0; round < 1000; round++) {
        uint32_t room = hx_credit_room(&p.a.tx[2]);
        uint32_t sent = room < 10 ? room : 10;
        hx_credit_spend(&p.a.tx[2], sent);
        (void)tell(&p.a, &p.b);
        uint32_t arrives = round % 5 == 0 ? 0 : sent;
        lost += sent - arrives;
        assert_true(hx_credit_link_arrive(&p.b, 2, arrives));
        hx_credit_leave(&p.b.rx[2], arrives);
        (void)tell(&p.b, &p.a);
        assert_true((int32_t)(lost - p.b.rx[2].lost) >= 0);
    }
    for (unsigned n = 0; n < 2 * HX_CREDIT_SETTLE; n++)
        (void)tell(&p.a, &p.b);
    (void)tell(&p.b, &p.a);
    assert_int_equal(p.b.rx[2].lost, lost);
    expect_room(&p.a, BUFFER);
    assert_true(lost > 10 * BUFFER);
}

/* However late a true frame is, and whatever data came meanwhile: the next one sets all of it right. */
static void late_frames_cost_no_credit(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct pair then = p;
    struct hx_credit_frame first[2] = {frame_of(&p.a), frame_of(&p.b)};
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(send(&p.a, &p.b, 0, 50));
        assert_true(send(&p.b, &p.a, 1, 50));
        assert_int_equal(hear(&p.a, first[1]), HX_CREDIT_PEER);
        assert_int_equal(hear(&p.b, first[0]), HX_CREDIT_PEER);
        assert_int_equal(p.b.rx[0].received - p.b.rx[0].freed, 50); /* what is there is not forgotten */
        hx_credit_leave(&p.b.rx[0], 50);
        hx_credit_leave(&p.a.rx[1], 50);
        (void)tell(&p.b, &p.a);
        (void)tell(&p.a, &p.b);
        (void)tell(&p.b, &p.a);
        expect_room(&p.a, BUFFER);
        expect_room(&p.b, BUFFER);
    }
    expect_same_session(&p, &then);
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

/* A grant on the back of data has no checksum: what cannot be true is ignored, before the link is open all of it. */
static void a_piggybacked_grant_is_taken_with_care(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p.a, &p.b, 0, 60));
    hx_credit_leave(&p.b.rx[0], 60);
    hx_credit_link_grant(&p.a, 0, hx_credit_limit(&p.b.rx[0]));
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    hx_credit_link_grant(&p.a, 0, 60 + BUFFER + 1);
    hx_credit_link_grant(&p.a, 0, 0x70000000);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER);
    assert_int_equal(p.a.suspected, 0);

    come_up(&p.a);
    hx_credit_link_grant(&p.a, 0, 50);
    expect_room(&p.a, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_frames_open_a_link),
        cmocka_unit_test(a_frame_says_what_there_is_to_say),
        cmocka_unit_test(a_nonce_is_never_0),
        cmocka_unit_test(a_restarted_end_is_heard_again),
        cmocka_unit_test(a_grant_of_the_session_before_is_not_believed),
        cmocka_unit_test(an_end_whose_buffer_is_full_is_heard),
        cmocka_unit_test(data_of_the_session_before_takes_no_buffer),
        cmocka_unit_test(packets_in_the_buffer_stay_counted),
        cmocka_unit_test(both_ends_may_restart_at_once),
        cmocka_unit_test(two_open_ends_that_know_others_find_each_other),
        cmocka_unit_test(what_was_recorded_ends_nothing),
        cmocka_unit_test(who_only_asks_ends_nothing_and_delays_nothing),
        cmocka_unit_test(a_frame_of_its_own_that_comes_back_is_nothing),
        cmocka_unit_test(data_beyond_the_grant_is_dropped_and_noted),
        cmocka_unit_test(what_came_twice_is_taken_back),
        cmocka_unit_test(what_a_wire_lost_is_written_off),
        cmocka_unit_test(credit_frames_that_overtake_data_write_nothing_off),
        cmocka_unit_test(what_is_lost_is_told_from_what_is_overtaken),
        cmocka_unit_test(late_frames_cost_no_credit),
        cmocka_unit_test(a_piggybacked_grant_is_taken_with_care),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
