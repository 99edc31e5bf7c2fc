/* test_link.c - sessions of a link (credit.h): how two ends open and reopen it, and which frames end no session.
 * Each row of the table in credit.h at its edges; random frames: prop_session.c. */
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

static enum hx_credit_origin take_frame(struct hx_credit_link *l, struct hx_credit_frame f)
{
    return hx_credit_link_take(l, &f, draw());
}

static enum hx_credit_origin pass_frame(struct hx_credit_link *from, struct hx_credit_link *to)
{
    return take_frame(to, frame_of(from));
}

static void come_up(struct hx_credit_link *l)
{
    hx_credit_link_up(l, HX_VCS, BUFFER, BUFFER, draw());
}

static void restart(struct hx_credit_link *l)
{
    *l = (struct hx_credit_link){0}; /* loses its memory */
    come_up(l);
}

static void heal(struct pair *p)
{
    for (unsigned i = 0; i < 5; i++) {
        (void)pass_frame(&p->a, &p->b);
        (void)pass_frame(&p->b, &p->a);
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

/* Both have the sessions of `then`, and accept each other's frames. */
static void expect_same_session(struct pair *p, const struct pair *then)
{
    assert_true(p->a.open && p->b.open);
    assert_true(p->a.nonce == then->a.nonce && p->a.peer_nonce == then->b.nonce);
    assert_true(p->b.nonce == then->b.nonce && p->b.peer_nonce == then->a.nonce);
    assert_true(p->a.sessions == then->a.sessions && p->b.sessions == then->b.sessions);
}

/* ---- opening ---- */

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
    assert_int_equal(take_frame(&p.b, f), HX_CREDIT_STRANGER);
    assert_true(p.b.answer && !p.b.open);
    f = frame_of(&p.b);
    assert_true(f.nonce == p.b.nonce && f.peer_nonce == p.a.nonce);
    assert_int_equal(take_frame(&p.a, f), HX_CREDIT_PEER);
    assert_true(p.a.answer && p.a.open);
    expect_room(&p.a, 0); /* b does not accept data yet */
    f = frame_of(&p.a);
    assert_int_equal(f.limit[0], HX_CREDIT_NO_LIMIT); /* nor does a */
    assert_int_equal(take_frame(&p.b, f), HX_CREDIT_PEER);
    assert_true(p.b.answer && p.b.open);
    expect_room(&p.b, 0);
    assert_int_equal(pass_frame(&p.b, &p.a), HX_CREDIT_PEER);
    expect_room(&p.a, BUFFER);
    assert_true(p.a.answer);
    assert_int_equal(pass_frame(&p.a, &p.b), HX_CREDIT_PEER);
    expect_room(&p.b, BUFFER);
    (void)pass_frame(&p.a, &p.b);
    assert_false(p.a.answer || p.b.answer); /* neither asks for anything */
}

static void a_frame_has_nonces_and_counts(void **state)
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

/* ---- restarts ---- */

static void a_restarted_end_gets_a_new_session(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    for (unsigned i = 0; i < 50; i++) {
        assert_true(send(&p.a, &p.b, 0, 20));
        hx_credit_leave(&p.b.rx[0], 20);
        assert_true(send(&p.b, &p.a, 2, 20));
        hx_credit_leave(&p.a.rx[2], 20);
        (void)pass_frame(&p.a, &p.b);
        (void)pass_frame(&p.b, &p.a);
    }
    uint64_t before = p.b.nonce;
    restart(&p.a);
    assert_false(hx_credit_link_arrive(&p.a, 0, 1)); /* data that was in flight */
    (void)pass_frame(&p.b, &p.a);
    assert_false(p.a.open); /* b does not know the new session: its counts are the old ones */
    expect_room(&p.a, 0);
    assert_int_equal(pass_frame(&p.a, &p.b), HX_CREDIT_STRANGER);
    assert_false(p.b.answer); /* the answer waits for the next periodic frame */
    assert_int_equal(p.b.tx[2].sent, 1000);
    assert_int_equal(pass_frame(&p.b, &p.a), HX_CREDIT_PEER); /* its next nonce, to the new session */
    assert_true(p.b.answer && p.b.tx[2].sent == 1000 && p.b.nonce == before);
    assert_int_equal(pass_frame(&p.b, &p.a), HX_CREDIT_STRANGER); /* and its counts to the old session */
    assert_int_equal(pass_frame(&p.a, &p.b), HX_CREDIT_PEER);
    assert_true(p.b.nonce != before && p.b.sessions == 2);
    assert_int_equal(p.b.tx[2].sent, 0); /* restarts too */
    assert_int_equal(p.b.rx[0].received, 0);
    assert_int_equal(p.b.rx[0].lost, 0); /* earlier blocks do not count as lost */
    assert_int_equal(pass_frame(&p.b, &p.a), HX_CREDIT_PEER);
    heal(&p);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
    assert_true(send(&p.a, &p.b, 0, BUFFER));
    assert_true(send(&p.b, &p.a, 2, BUFFER));
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

/* Restarts a, until it has a session with b, which still has the old one. */
static void reopen_one_side(struct pair *p)
{
    restart(&p->a);
    (void)pass_frame(&p->a, &p->b);
    (void)pass_frame(&p->b, &p->a);
    assert_true(p->a.open && p->b.sessions == 1);
}

static void a_grant_of_an_earlier_session_is_ignored(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p.a, &p.b, 0, 60)); /* they stay in the buffer of b */
    reopen_one_side(&p);
    hx_credit_link_grant(&p.a, 0, hx_credit_limit(&p.b.rx[0])); /* piggybacked on data of b's old session */
    expect_room(&p.a, 0);
    heal(&p);
    assert_int_equal(hx_credit_room(&p.a.tx[0]), BUFFER - 60);
    hx_credit_leave(&p.b.rx[0], 60);
    hx_credit_link_grant(&p.a, 0, hx_credit_limit(&p.b.rx[0]));
    expect_room(&p.a, BUFFER);
}

/* All limits are 0 then, and a restarted peer must still accept the frames of b. */
static void an_end_with_a_full_buffer_is_accepted(void **state)
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
    (void)pass_frame(&p.b, &p.a);
    expect_room(&p.a, BUFFER);
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

/* It does not count, so it leaves its buffer to grants of the new session. */
static void data_of_an_earlier_session_takes_no_buffer(void **state)
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

/* Packets in the buffer survive a restart of the counters, and their room is not granted twice. */
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
    (void)pass_frame(&p.b, &p.a);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), 70);

    come_up(&p.b); /* this end restarts and keeps its buffer */
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
    (void)take_frame(&p.b, from_a);
    (void)take_frame(&p.a, from_b);
    assert_true(p.a.answer && p.b.answer);
    from_a = frame_of(&p.a); /* and their answers cross */
    from_b = frame_of(&p.b);
    assert_int_equal(take_frame(&p.b, from_a), HX_CREDIT_PEER);
    assert_int_equal(take_frame(&p.a, from_b), HX_CREDIT_PEER);
    heal(&p);
    assert_true(p.a.sessions == 1 && p.b.sessions == 1);
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
}

/* Each is open, with a peer that does not exist. Neither asks; only the silence closes them. */
static void two_open_ends_of_other_links_find_each_other(void **state)
{
    (void)state;
    struct pair p, q;
    open_pair(&p);
    open_pair(&q);
    struct pair mixed = {p.a, q.b}; /* the cables are swapped */
    for (unsigned n = 1; n < HX_CREDIT_SILENCE; n++)
        assert_int_equal(pass_frame(&mixed.a, &mixed.b), HX_CREDIT_STRANGER);
    assert_true(mixed.a.open && mixed.a.sessions == 1);
    heal(&mixed);
    assert_true(mixed.a.sessions == 2 && mixed.b.sessions == 2);
    for (unsigned n = 0; n < 2 * HX_CREDIT_SILENCE; n++) { /* an occasional frame of the peer is no silence */
        struct hx_credit_frame f = frame_of(&mixed.a);
        if (n % 10000 == 0)
            (void)pass_frame(&mixed.b, &mixed.a);
        if (n % 5000 == 0)
            (void)take_frame(&mixed.b, f);
    }
    assert_int_equal(mixed.a.sessions, 2);
}

/* ---- frames that end no session ---- */

/* Every frame of earlier sessions and of the start of this one arrives at either end. */
static void recorded_frames_end_no_session(void **state)
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
            (void)take_frame(&p.b, kept[0][count]);
            kept[1][count] = frame_of(&p.b);
            (void)take_frame(&p.a, kept[1][count]);
        }
        heal(&p);
    }
    struct pair then = p;
    for (unsigned n = 0; n < 4 * count; n++) {
        struct hx_credit_frame old = kept[n / 2 % 2][n / 4]; /* to its receiver, and to its sender */
        enum hx_credit_origin origin = take_frame(n % 2 ? &p.b : &p.a, old);
        assert_true(origin != HX_CREDIT_PEER || old.nonce == p.a.nonce || old.nonce == p.b.nonce);
        for (unsigned i = 0; i < 3; i++) {
            (void)pass_frame(&p.a, &p.b);
            (void)pass_frame(&p.b, &p.a);
        }
        expect_same_session(&p, &then);
    }
    expect_room(&p.a, BUFFER);
    expect_room(&p.b, BUFFER);
}

/* A sender that does not know a nonce can ask any number of times: the counts leave in between. */
static void questions_end_no_session_and_delay_no_counts(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    struct pair then = p;
    unsigned counts = 0;
    for (unsigned n = 0; n < 100; n++) {
        struct hx_credit_frame made_up = {
            .nonce = 1000 + n, .peer_nonce = n % 2 ? 77 + n : 0, .limit = {7}, .sent = {9}};
        assert_int_equal(take_frame(&p.b, made_up), HX_CREDIT_STRANGER);
        struct hx_credit_frame f = frame_of(&p.b);
        counts += f.nonce == p.b.nonce;
        assert_true(f.nonce == p.b.nonce || (f.peer_nonce >= 1000 && f.limit[0] == 0));
        (void)take_frame(&p.a, f);
        expect_same_session(&p, &then);
    }
    assert_true(counts >= 50);
}

static void a_reflected_frame_is_ignored(void **state)
{
    (void)state;
    struct pair p = {0};
    come_up(&p.a);
    for (unsigned n = 0; n < 10; n++) {
        assert_int_equal(take_frame(&p.a, frame_of(&p.a)), HX_CREDIT_OWN);
        assert_false(p.a.open || p.a.answer);
    }
    open_pair(&p);
    struct pair then = p;
    struct hx_credit_frame asks = {.nonce = 5};
    for (unsigned n = 0; n < 10; n++) {
        assert_int_equal(take_frame(&p.a, asks), HX_CREDIT_STRANGER); /* the answer comes back too */
        assert_int_equal(take_frame(&p.a, frame_of(&p.a)), HX_CREDIT_OWN);
        assert_int_equal(take_frame(&p.a, frame_of(&p.a)), HX_CREDIT_OWN);
    }
    expect_same_session(&p, &then);
}

/* ---- counts ---- */

static void data_beyond_the_grant_is_dropped_and_counted(void **state)
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

static void duplicate_data_is_taken_back(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    assert_true(send(&p.a, &p.b, 0, 20));
    assert_true(hx_credit_link_arrive(&p.b, 0, 20)); /* again */
    assert_true(send(&p.a, &p.b, 0, 60));
    hx_credit_leave(&p.b.rx[0], 100);
    (void)pass_frame(&p.b, &p.a); /* a limit of 200 blocks, for 80 sent */
    assert_int_equal(p.a.suspected, 1);
    expect_room(&p.a, BUFFER);
    (void)pass_frame(&p.a, &p.b);
    assert_int_equal(p.b.rx[0].received, 80);
    assert_int_equal(hx_credit_limit(&p.b.rx[0]), 80 + BUFFER);
    assert_int_equal((int32_t)p.b.rx[0].lost, -20);
}

static void lost_data_is_written_off(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    hx_credit_spend(&p.a.tx[1], BUFFER);
    for (unsigned n = 0; n < 2 * HX_CREDIT_SETTLE; n++)
        (void)pass_frame(&p.a, &p.b);
    assert_int_equal(p.b.rx[1].lost, BUFFER);
    (void)pass_frame(&p.b, &p.a);
    assert_int_equal(hx_credit_room(&p.a.tx[1]), BUFFER);
}

/* A switch in between prefers credit frames: they overtake all data in flight, up to a buffer. None of it is written
 * off, and the buffer never overruns. */
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
            (void)pass_frame(&p.a, &p.b);
            (void)pass_frame(&p.b, &p.a);
        }
        assert_true(held + in_flight <= BUFFER);
        assert_true(hx_credit_link_arrive(&p.b, 0, in_flight));
        held += in_flight;
        in_flight = 0;
        (void)pass_frame(&p.a, &p.b);
        uint32_t leaves = round % 7 == 0 ? 0 : held / (1 + round % 3);
        hx_credit_leave(&p.b.rx[0], leaves);
        held -= leaves;
        (void)pass_frame(&p.b, &p.a);
    }
    assert_int_equal(p.b.rx[0].lost, 0);
    assert_int_equal(p.b.suspected + p.a.suspected, 0);
}

/* On a wire with losses and a switch that prefers credit frames, exactly the lost blocks are written off. */
static void lost_data_is_told_from_overtaken_data(void **state)
{
    (void)state;
    struct pair p;
    open_pair(&p);
    uint32_t lost = 0;
    for (unsigned round = 0; round < 1000; round++) {
        uint32_t room = hx_credit_room(&p.a.tx[2]);
        uint32_t sent = room < 10 ? room : 10;
        hx_credit_spend(&p.a.tx[2], sent);
        (void)pass_frame(&p.a, &p.b);
        uint32_t arrives = round % 5 == 0 ? 0 : sent;
        lost += sent - arrives;
        assert_true(hx_credit_link_arrive(&p.b, 2, arrives));
        hx_credit_leave(&p.b.rx[2], arrives);
        (void)pass_frame(&p.b, &p.a);
        assert_true((int32_t)(lost - p.b.rx[2].lost) >= 0);
    }
    for (unsigned n = 0; n < 2 * HX_CREDIT_SETTLE; n++)
        (void)pass_frame(&p.a, &p.b);
    (void)pass_frame(&p.b, &p.a);
    assert_int_equal(p.b.rx[2].lost, lost);
    expect_room(&p.a, BUFFER);
    assert_true(lost > 10 * BUFFER);
}

/* The next frame corrects any effect of a late true frame, with any data in between. */
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
        assert_int_equal(take_frame(&p.a, first[1]), HX_CREDIT_PEER);
        assert_int_equal(take_frame(&p.b, first[0]), HX_CREDIT_PEER);
        assert_int_equal(p.b.rx[0].received - p.b.rx[0].freed, 50); /* held blocks are not forgotten */
        hx_credit_leave(&p.b.rx[0], 50);
        hx_credit_leave(&p.a.rx[1], 50);
        (void)pass_frame(&p.b, &p.a);
        (void)pass_frame(&p.a, &p.b);
        (void)pass_frame(&p.b, &p.a);
        expect_room(&p.a, BUFFER);
        expect_room(&p.b, BUFFER);
    }
    expect_same_session(&p, &then);
    assert_int_equal(p.a.suspected + p.b.suspected, 0);
}

/* A piggybacked grant has no checksum: an impossible one is ignored, and before the link is open every one. */
static void impossible_piggybacked_grants_are_ignored(void **state)
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
        cmocka_unit_test(a_frame_has_nonces_and_counts),
        cmocka_unit_test(a_nonce_is_never_0),
        cmocka_unit_test(a_restarted_end_gets_a_new_session),
        cmocka_unit_test(a_grant_of_an_earlier_session_is_ignored),
        cmocka_unit_test(an_end_with_a_full_buffer_is_accepted),
        cmocka_unit_test(data_of_an_earlier_session_takes_no_buffer),
        cmocka_unit_test(packets_in_the_buffer_stay_counted),
        cmocka_unit_test(both_ends_may_restart_at_once),
        cmocka_unit_test(two_open_ends_of_other_links_find_each_other),
        cmocka_unit_test(recorded_frames_end_no_session),
        cmocka_unit_test(questions_end_no_session_and_delay_no_counts),
        cmocka_unit_test(a_reflected_frame_is_ignored),
        cmocka_unit_test(data_beyond_the_grant_is_dropped_and_counted),
        cmocka_unit_test(duplicate_data_is_taken_back),
        cmocka_unit_test(lost_data_is_written_off),
        cmocka_unit_test(credit_frames_that_overtake_data_write_nothing_off),
        cmocka_unit_test(lost_data_is_told_from_overtaken_data),
        cmocka_unit_test(late_frames_cost_no_credit),
        cmocka_unit_test(impossible_piggybacked_grants_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
