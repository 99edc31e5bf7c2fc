/* prop_session.c - two ends of a cable (credit.h) that restart, on wires that lose, repeat and delay, among frames of
 * an attacker, in thousands of seeded runs.
 *
 *     recorded    any earlier frame of either direction, again, at either end
 *     reflected   an end's own frame, just sent
 *     forged      without reading the cable: random nonces, or none; any counts
 *     data        forged packets with forged grants
 *
 * While both ends are open with each other, no session begins until one restarts. After a restart they open again
 * within a few true frames. At the end all credit is there, and no packet was held that did not fit. HX_SEED chooses
 * other runs; a failure names the seed of its run. */
#include "hxmesh/credit.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 1500, STEPS = 1500, BUFFER = 128, WIRE = 4096, STORED = HX_VCS * BUFFER, RECORD = 8192 };
enum { MOST_BLOCKS = 8, MANY_FRAMES = 400 /* in each direction, half of them lost: until two ends have opened */ };

/* On a wire: a packet of so many blocks, or (0) a credit frame. */
struct item {
    struct hx_credit_frame f;
    uint32_t blocks;
    unsigned vc;
};

/* An end, and the wire that leads to it. */
struct end {
    struct hx_credit_link link;
    struct item wire[WIRE]; /* first in, first out, except delayed credit frames */
    unsigned first, last;
    struct item stored[STORED];
    unsigned stored_count;
    uint32_t held[HX_VCS]; /* blocks, counted by this test */
};

struct world {
    uint64_t random;
    unsigned lose, repeat, late; /* percent: of all; of credit frames */
    unsigned hostile;            /* percent of steps */
    struct end end[2];
    struct hx_credit_frame record[RECORD];
    unsigned recorded;
    bool met;             /* both are open with each other, */
    uint32_t sessions[2]; /* and had begun so many sessions then */
    uint64_t restarts, hostile_frames, delivered, overruns;
};

static struct world world;

static uint32_t below(struct world *w, unsigned bound)
{
    return seeded_below(&w->random, bound);
}

static void restart(struct world *w, unsigned which)
{
    struct end *e = &w->end[which];
    if (below(w, 2)) { /* it loses its memory and its buffer's content */
        e->link = (struct hx_credit_link){0};
        e->stored_count = 0;
        memset(e->held, 0, sizeof e->held);
    }
    hx_credit_link_up(&e->link, HX_VCS, BUFFER, BUFFER, seeded_next(&w->random));
    w->restarts++;
    w->met = false;
}

static void start(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->random = seed;
    w->lose = 25 * below(w, 3);
    w->repeat = 20 * below(w, 2);
    w->late = 20 * below(w, 2);
    w->hostile = 25 * below(w, 4);
    restart(w, 0);
    restart(w, 1);
}

/* ---- wires ---- */

static void put(struct end *to, const struct item *item)
{
    assert_true(to->last - to->first < WIRE);
    to->wire[to->last++ % WIRE] = *item;
}

static void send_frame(struct world *w, unsigned from)
{
    const struct item item = {.f = hx_credit_link_frame(&w->end[from].link, 0)};
    hx_credit_link_notified(&w->end[from].link);
    put(&w->end[1 - from], &item);
    if (w->recorded < RECORD)
        w->record[w->recorded++] = item.f;
}

static void send(struct world *w, unsigned from)
{
    struct end *e = &w->end[from];
    const struct item item = {.blocks = 1 + below(w, MOST_BLOCKS), .vc = below(w, HX_VCS)};
    if (hx_credit_room(&e->link.tx[item.vc]) < item.blocks)
        return;
    hx_credit_spend(&e->link.tx[item.vc], item.blocks);
    put(&w->end[1 - from], &item);
}

static void take_packet(struct world *w, struct end *e, const struct item *item)
{
    bool fits = e->link.heard && e->held[item->vc] + item->blocks <= BUFFER;
    assert_int_equal(hx_credit_link_arrive(&e->link, item->vc, item->blocks), fits);
    w->overruns += !fits;
    if (!fits)
        return;
    e->held[item->vc] += item->blocks;
    e->stored[e->stored_count++] = *item;
    w->delivered++;
}

static void take_frame(struct world *w, unsigned at, const struct hx_credit_frame *f)
{
    (void)hx_credit_link_take(&w->end[at].link, f, seeded_next(&w->random));
}

static bool strikes(struct world *w, unsigned percent)
{
    return below(w, 100) < percent;
}

static void take(struct world *w, unsigned at)
{
    struct end *e = &w->end[at];
    if (e->first == e->last)
        return;
    const struct item item = e->wire[e->first % WIRE];
    if (item.blocks || !strikes(w, w->repeat))
        e->first++;
    if (strikes(w, w->lose))
        return;
    if (item.blocks)
        take_packet(w, e, &item);
    else if (strikes(w, w->late))
        put(e, &item);
    else
        take_frame(w, at, &item.f);
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

/* ---- frames of the attacker ---- */

static struct hx_credit_frame made_up(struct world *w)
{
    struct hx_credit_frame f = {.nonce = seeded_next(&w->random) | 1};
    f.peer_nonce = below(w, 2) ? 0 : seeded_next(&w->random);
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        f.limit[vc] = (uint32_t)seeded_next(&w->random);
        f.sent[vc] = (uint32_t)seeded_next(&w->random);
    }
    return f;
}

static void throw_data(struct world *w, unsigned at)
{
    const struct item item = {.blocks = 1 + below(w, 32), .vc = below(w, HX_VCS)};
    struct end *e = &w->end[at];
    if (below(w, 2))
        hx_credit_link_grant(&e->link, item.vc, e->link.tx[item.vc].sent + below(w, 3 * BUFFER));
    else
        take_packet(w, e, &item);
}

static void throw_one(struct world *w, unsigned at)
{
    struct hx_credit_frame f = made_up(w);
    unsigned kind = below(w, 8);
    w->hostile_frames++;
    if (kind == 0) {
        throw_data(w, at);
        return;
    }
    if (kind == 1)
        f = hx_credit_link_frame(&w->end[at].link, 0);
    else if (kind == 2 && w->recorded)
        f = w->record[w->recorded - 1 - below(w, w->recorded < 20 ? w->recorded : 20)]; /* recent ones */
    else if (kind > 3 && w->recorded)
        f = w->record[below(w, w->recorded)];
    take_frame(w, at, &f);
}

/* ---- checks ---- */

static bool have_met(const struct world *w)
{
    const struct hx_credit_link *a = &w->end[0].link;
    const struct hx_credit_link *b = &w->end[1].link;
    return a->open && b->open && a->peer_nonce == b->nonce && b->peer_nonce == a->nonce;
}

static void validate(struct world *w)
{
    for (unsigned which = 0; which < 2; which++) {
        const struct end *e = &w->end[which];
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            assert_int_equal(e->link.rx[vc].received - e->link.rx[vc].freed, e->held[vc]);
            assert_true(hx_credit_room(&e->link.tx[vc]) <= BUFFER);
        }
        assert_true(!w->met || e->link.sessions == w->sessions[which]);
    }
    assert_true(!w->met || have_met(w));
    if (w->met || !have_met(w))
        return;
    w->met = true;
    for (unsigned which = 0; which < 2; which++)
        w->sessions[which] = w->end[which].link.sessions;
}

static void step(struct world *w)
{
    unsigned which = below(w, 2);
    unsigned chance = below(w, 20);
    if (strikes(w, w->hostile))
        throw_one(w, which);
    else if (chance < 6)
        send(w, which);
    else if (chance < 8 || w->end[which].link.answer)
        send_frame(w, which);
    else if (chance < 15)
        take(w, which);
    else
        leave(w, &w->end[which]);
    validate(w);
}

/* Runs until both have opened, with true frames and equally many of the attacker. */
static void meet(struct world *w)
{
    for (unsigned n = 0; n < MANY_FRAMES && !w->met; n++) {
        for (unsigned which = 0; which < 2; which++) {
            send_frame(w, which);
            for (unsigned i = below(w, 3); w->hostile && i > 0; i--)
                throw_one(w, below(w, 2));
            for (unsigned i = 0; i < 8; i++)
                take(w, 1 - which);
            validate(w);
        }
    }
    assert_true(w->met);
}

static void fall_quiet(struct world *w)
{
    w->lose = w->repeat = w->late = 0;
    for (unsigned turn = 0; turn < 2 * HX_CREDIT_SETTLE + 2; turn++) {
        for (unsigned which = 0; which < 2; which++) {
            send_frame(w, which);
            while (w->end[1 - which].first != w->end[1 - which].last)
                take(w, 1 - which);
            while (w->end[1 - which].stored_count > 0)
                leave(w, &w->end[1 - which]);
            validate(w);
        }
    }
    for (unsigned which = 0; which < 2; which++)
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            assert_int_equal(hx_credit_room(&w->end[which].link.tx[vc]), BUFFER);
}

static void run(struct world *w, uint64_t seed)
{
    start(w, seed);
    for (unsigned n = 0; n < STEPS; n++) {
        step(w);
        if (below(w, 100) == 0)
            restart(w, below(w, 2));
        if (below(w, 400) == 0) {
            restart(w, 0);
            restart(w, 1);
        }
        if (below(w, 200) == 0)
            meet(w);
    }
    meet(w);
    for (unsigned n = 0; n < STEPS / 4; n++) /* and stays so */
        step(w);
    fall_quiet(w);
}

static void a_session_ends_only_for_its_peer(void **state)
{
    (void)state;
    struct world *w = &world;
    uint64_t restarts = 0, hostile = 0, delivered = 0, overruns = 0;
    for (uint64_t n = 0; n < RUNS; n++) {
        lab_seed = shapes_seed() + n;
        run(w, lab_seed);
        restarts += w->restarts;
        hostile += w->hostile_frames;
        delivered += w->delivered;
        overruns += w->overruns;
    }
    lab_seed = 0;
    assert_true(restarts > 10 * RUNS && hostile > 100 * RUNS && delivered > 50 * RUNS && overruns > RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_session_ends_only_for_its_peer, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
