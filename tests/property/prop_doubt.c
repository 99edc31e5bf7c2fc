/* prop_doubt.c - two ends of a cable (doubt.h) among forged frames of any content, in thousands of seeded runs.
 *
 *     true frames between   wires that lose data and keep the order, and at each end a true credit frame between one
 *                           that is forged and the next: no session ends, and every true frame has the counts right
 *     forged ones in a row  sessions may end, but two ends that were told anything find each other by true frames
 *
 * In both all credit is there when all is quiet. HX_SEED chooses other runs; a failure names the seed of its run. */
#include "hxmesh/doubt.h"
#include "support_lab.h"
#include "support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 2500, STEPS = 800, BUFFER = 128, WIRE = 4096, STORED = HX_VCS * BUFFER, OLD = 64 };
enum { MOST_BLOCKS = 8, BETWEEN = 7 /* packets of a sender from credit frame to credit frame */ };
static const uint32_t sessions[2] = {1000, 70};

/* On a wire: a packet of so many blocks, or (0) a credit frame. */
struct item {
    struct hx_credit_frame f;
    uint32_t blocks;
    unsigned vc;
};

/* An end, and the wire that leads to it. */
struct end {
    struct hx_credit_link link;
    struct hx_doubt doubt;
    struct item wire[WIRE]; /* first in, first out */
    unsigned first, last;
    unsigned since_told; /* packets sent since the last credit frame */
    bool heard;          /* a true frame since the last forged one */
    struct item stored[STORED];
    unsigned stored_count;
    uint32_t held[HX_VCS];           /* blocks, by the books of this test */
    struct hx_credit_frame old[OLD]; /* that came or are to come to it */
    unsigned old_count;
};

struct world {
    uint64_t random;
    unsigned lose, keep; /* percent: of data; of the times that a packet could leave the buffer */
    struct end end[2];
    uint64_t forged, doubted, lost, overruns, delivered;
};

static struct world world;

static uint32_t below(struct world *w, unsigned bound)
{
    return shapes_below(&w->random, bound);
}

static struct hx_credit_frame frame_of(const struct world *w, unsigned which)
{
    return hx_credit_link_frame(&w->end[which].link, 0);
}

static enum hx_belief hear(struct world *w, unsigned at, struct hx_credit_frame f)
{
    return hx_doubt_take(&w->end[at].doubt, &w->end[at].link, &f, (uint32_t)shapes_random(&w->random));
}

static void start(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->random = seed;
    w->lose = 10 * below(w, 3);
    w->keep = 90 * below(w, 2);
    uint32_t base = UINT32_MAX - below(w, 4 * BUFFER); /* the counts wrap */
    for (unsigned which = 0; which < 2; which++) {
        struct hx_credit_link *l = &w->end[which].link;
        hx_credit_link_up(l, BUFFER, BUFFER, sessions[which]);
        l->open = true;
        l->peer_session = sessions[1 - which];
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            l->tx[vc].sent = l->rx[vc].received = l->rx[vc].freed = base;
            l->tx[vc].limit = base + BUFFER;
        }
    }
}

/* ---- the traffic ---- */

static void put(struct end *to, const struct item *item)
{
    assert_true(to->last - to->first < WIRE);
    to->wire[to->last++ % WIRE] = *item;
}

static void tell(struct world *w, unsigned from)
{
    struct end *to = &w->end[1 - from];
    const struct item item = {.f = frame_of(w, from)};
    put(to, &item);
    w->end[from].since_told = 0;
    to->old[to->old_count++ % OLD] = item.f;
}

static void send(struct world *w, unsigned from)
{
    struct end *e = &w->end[from];
    const struct item item = {.blocks = 1 + below(w, MOST_BLOCKS), .vc = below(w, HX_VCS)};
    if (hx_credit_room(&e->link.tx[item.vc]) < item.blocks)
        return;
    hx_credit_spend(&e->link.tx[item.vc], item.blocks);
    put(&w->end[1 - from], &item);
    if (++e->since_told == BETWEEN)
        tell(w, from);
}

static void take_packet(struct world *w, struct end *e, const struct item *item)
{
    if (below(w, 100) < w->lose) {
        w->lost++;
        return;
    }
    bool fits = e->held[item->vc] + item->blocks <= BUFFER;
    assert_int_equal(hx_doubt_arrive(&e->doubt, &e->link, item->vc, item->blocks), fits);
    w->overruns += !fits;
    if (!fits)
        return;
    e->held[item->vc] += item->blocks;
    e->stored[e->stored_count++] = *item;
    w->delivered++;
}

/* The next of the wire. Whatever was said before a true frame, its counts are those that hold. */
static void take(struct world *w, unsigned at)
{
    struct end *e = &w->end[at];
    if (e->first == e->last)
        return;
    const struct item item = e->wire[e->first++ % WIRE];
    if (item.blocks) {
        take_packet(w, e, &item);
        return;
    }
    assert_int_equal(hear(w, at, item.f), HX_BELIEVED);
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        assert_int_equal(e->link.rx[vc].received, item.f.sent[vc]);
    e->heard = true;
}

static void leave(struct world *w, struct end *e)
{
    if (e->stored_count == 0)
        return;
    unsigned which = below(w, e->stored_count);
    const struct item item = e->stored[which];
    e->stored[which] = e->stored[--e->stored_count];
    hx_credit_leave(&e->link.rx[item.vc], item.blocks);
    e->held[item.vc] -= item.blocks;
}

/* ---- forged frames ---- */

/* A number of any size, small ones as likely as great ones, ahead or behind. */
static uint32_t any(struct world *w)
{
    uint32_t number = (uint32_t)shapes_random(&w->random) >> below(w, 32);
    return below(w, 2) ? number : -number;
}

static void forge_counts(struct world *w, const struct end *e, struct hx_credit_frame *f)
{
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        uint32_t near = below(w, 2 * BUFFER + 1);
        if (below(w, 2))
            f->sent[vc] = below(w, 2) ? e->link.rx[vc].received + near - BUFFER : f->sent[vc] + any(w);
        near = below(w, 2 * BUFFER + 1);
        if (below(w, 2))
            f->limit[vc] = below(w, 2) ? e->link.tx[vc].sent + near : f->limit[vc] + any(w);
    }
}

/* An old frame, one of this end's own, or one in which any number may be another. */
static struct hx_credit_frame forge(struct world *w, unsigned at)
{
    const struct end *e = &w->end[at];
    struct hx_credit_frame f = frame_of(w, 1 - at);
    unsigned kind = below(w, 8);
    if (kind == 0 && e->old_count)
        return e->old[below(w, e->old_count < OLD ? e->old_count : OLD)];
    if (kind == 1)
        return frame_of(w, at);
    forge_counts(w, e, &f);
    f.session += kind == 2 || kind == 3 ? any(w) : 0;
    f.peer_session += kind == 3 || kind == 4 ? any(w) : 0;
    f.session += f.session == 0; /* a decoder refuses it */
    return f;
}

static void throw_forged(struct world *w, unsigned at)
{
    if (!w->end[at].heard)
        return;
    w->end[at].heard = false;
    w->forged++;
    w->doubted += hear(w, at, forge(w, at)) == HX_DOUBTED;
}

/* ---- true frames between ---- */

static void step(struct world *w)
{
    unsigned which = below(w, 2);
    unsigned chance = below(w, 10);
    if (chance < 3)
        send(w, which);
    else if (chance < 4)
        tell(w, which);
    else if (chance < 5)
        throw_forged(w, which);
    else if (chance < 8)
        take(w, which);
    else if (below(w, 100) >= w->keep)
        leave(w, &w->end[which]);
}

static void judge(const struct world *w)
{
    for (unsigned which = 0; which < 2; which++) {
        const struct hx_credit_link *l = &w->end[which].link;
        assert_true(l->open && l->suspected == 0);
        assert_true(l->session == sessions[which] && l->peer_session == sessions[1 - which]);
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            assert_int_equal(l->rx[vc].received - l->rx[vc].freed, w->end[which].held[vc]);
            assert_true(hx_credit_room(&l->tx[vc]) <= BUFFER);
        }
    }
}

static void fall_quiet(struct world *w)
{
    for (unsigned turn = 0; turn < 3; turn++) {
        for (unsigned which = 0; which < 2; which++) {
            tell(w, which);
            while (w->end[1 - which].first != w->end[1 - which].last)
                take(w, 1 - which);
            while (w->end[1 - which].stored_count > 0)
                leave(w, &w->end[1 - which]);
        }
    }
}

static void judge_quiet(const struct world *w)
{
    for (unsigned which = 0; which < 2; which++)
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            assert_int_equal(hx_credit_room(&w->end[which].link.tx[vc]), BUFFER);
}

static void forged_frames_cost_neither_session_nor_credit(void **state)
{
    (void)state;
    struct world *w = &world;
    uint64_t forged = 0, doubted = 0, lost = 0, overruns = 0, delivered = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        lab_seed = shapes_seed() + run;
        start(w, lab_seed);
        for (unsigned n = 0; n < STEPS; n++) {
            step(w);
            judge(w);
        }
        fall_quiet(w);
        judge(w);
        judge_quiet(w);
        forged += w->forged;
        doubted += w->doubted;
        lost += w->lost;
        overruns += w->overruns;
        delivered += w->delivered;
    }
    lab_seed = 0;
    assert_true(doubted > 5 * RUNS && forged - doubted > 5 * RUNS);
    assert_true(delivered > 50 * RUNS && lost > RUNS && overruns > RUNS / 10);
}

/* ---- forged ones in a row ---- */

static void lie_for_long(struct world *w)
{
    for (unsigned n = below(w, 60); n > 0; n--) {
        unsigned at = below(w, 2);
        const struct hx_credit_frame f = forge(w, at);
        for (unsigned times = 1 + below(w, 10); times > 0; times--)
            (void)hear(w, at, f);
    }
}

static bool is_whole(const struct world *w)
{
    const struct hx_credit_link *a = &w->end[0].link;
    const struct hx_credit_link *b = &w->end[1].link;
    bool whole = a->open && b->open && a->peer_session == b->session && b->peer_session == a->session;
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        whole = whole && hx_credit_room(&a->tx[vc]) == BUFFER && hx_credit_room(&b->tx[vc]) == BUFFER;
    return whole;
}

/* The greatest number of true frames that it takes is that of two open ends that lies gave one number. */
static void a_link_that_was_lied_to_for_long_heals(void **state)
{
    (void)state;
    struct world *w = &world;
    uint64_t ended = 0;
    for (uint64_t run = 0; run < 2 * RUNS; run++) {
        lab_seed = shapes_seed() + run;
        start(w, lab_seed);
        lie_for_long(w);
        ended += w->end[0].link.peer_session != sessions[1] || w->end[1].link.peer_session != sessions[0];
        for (unsigned n = 0; n < 2 * HX_DOUBT_OWN + 60 && (n < 8 || !is_whole(w)); n++)
            (void)hear(w, n % 2, frame_of(w, 1 - n % 2));
        for (unsigned n = 0; n < 20; n++) { /* and stays so */
            assert_true(is_whole(w));
            assert_int_equal(hear(w, n % 2, frame_of(w, 1 - n % 2)), HX_BELIEVED);
        }
    }
    lab_seed = 0;
    assert_true(ended > RUNS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(forged_frames_cost_neither_session_nor_credit, lab_free),
        cmocka_unit_test_teardown(a_link_that_was_lied_to_for_long_heals, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
