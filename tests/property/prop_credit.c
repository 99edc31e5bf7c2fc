/* prop_credit.c - sender and receiver of credits over wires that lose, repeat and delay, in thousands of seeded runs.
 *
 *     sender -- order-keeping wire: data (may be lost), credit frames (lost, repeated, late) --> receiver
 *            <-- grants: lost, repeated, reordered, corrupted ---------------------------------
 *
 * The test keeps its own book in 64 bits, from the events alone, and compares it with the counters after each step.
 * HX_SEED chooses other runs; a failure names the seed of its run. */
#include "hxmesh/credit.h"
#include "tests/support/support_seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 4000, STEPS = 600, WIRE = 4096, GRANTS = 64, HELD = 8, STORED = 8192, MOST_BLOCKS = 32 };

/* On the wire: a packet of so many blocks, or (blocks 0) a credit frame with its count. */
struct item {
    uint32_t blocks;
    uint64_t sent;
};

struct world {
    uint64_t random;
    unsigned lose_data, lose_credit, lose_grant; /* percent */
    uint64_t buffer;

    struct hx_credit_sender s;
    struct hx_credit_receiver r;

    struct item wire[WIRE]; /* first in, first out */
    unsigned wire_first, wire_count;
    struct item held[HELD]; /* credit frames that wait in a queue beside the wire */
    unsigned held_count;
    uint64_t grants[GRANTS]; /* in flight to the sender, in any order */
    unsigned grant_count;
    uint32_t stored[STORED]; /* packets in the receiver's buffer */
    unsigned stored_count;

    /* The 64-bit book. All counts start at `base`, just below 2^32. */
    uint64_t sent, limit, received, freed;
    uint64_t in_flight, occupied, lost, written_off, overruns;
};

static uint64_t below(struct world *w, uint64_t bound)
{
    return seeded_next(&w->random) % bound;
}

static bool percent(struct world *w, unsigned chance)
{
    return below(w, 100) < chance;
}

static void start(struct world *w, uint64_t seed)
{
    static const uint64_t buffers[] = {1, 2, 31, 32, 33, 64, 100, 1000};
    memset(w, 0, sizeof *w);
    w->random = seed;
    w->buffer = buffers[below(w, sizeof buffers / sizeof *buffers)];
    w->lose_data = (unsigned)below(w, 4) * 10;
    w->lose_credit = (unsigned)below(w, 4) * 20;
    w->lose_grant = (unsigned)below(w, 4) * 20;
    uint64_t base = (1ULL << 32) - below(w, 2 * w->buffer + 200);
    hx_credit_sender_init(&w->s, (uint32_t)w->buffer);
    hx_credit_receiver_init(&w->r, (uint32_t)w->buffer);
    w->s.sent = w->s.limit = w->r.received = w->r.freed = (uint32_t)base;
    w->sent = w->limit = w->received = w->freed = base;
}

static void check(const struct world *w)
{
    assert_int_equal(w->s.sent, (uint32_t)w->sent);
    assert_int_equal(w->s.limit, (uint32_t)w->limit);
    assert_int_equal(hx_credit_room(&w->s), w->limit - w->sent);
    assert_int_equal(w->r.received, (uint32_t)w->received);
    assert_int_equal(w->r.freed, (uint32_t)w->freed);
    assert_int_equal(w->r.lost, (uint32_t)w->written_off);
    assert_int_equal(hx_credit_limit(&w->r), (uint32_t)(w->freed + w->buffer));
    assert_true(w->sent <= w->limit);
    assert_int_equal(w->received - w->freed, w->occupied);
    assert_true(w->occupied <= w->buffer);
}

/* Promises of an honest wire: every block that may still be sent has its room reserved, and no block is written off
 * that arrived or may arrive. */
static void check_honest(const struct world *w)
{
    assert_true(w->limit - w->sent + w->in_flight + w->occupied <= w->buffer);
    assert_true(w->received + w->in_flight <= w->sent);
    assert_true((int64_t)w->written_off <= (int64_t)w->lost);
    assert_int_equal(w->overruns, 0);
}

static void put_on_wire(struct world *w, struct item item)
{
    if (w->wire_count == WIRE) {
        w->lost += item.blocks; /* a full wire loses it */
        return;
    }
    w->wire[(w->wire_first + w->wire_count++) % WIRE] = item;
    w->in_flight += item.blocks;
}

static void send_packet(struct world *w)
{
    uint64_t most = w->buffer < MOST_BLOCKS ? w->buffer : MOST_BLOCKS;
    uint32_t blocks = 1 + (uint32_t)below(w, most);
    if (hx_credit_room(&w->s) < blocks)
        return;
    hx_credit_spend(&w->s, blocks);
    w->sent += blocks;
    put_on_wire(w, (struct item){.blocks = blocks});
}

/* A credit frame follows the data sent so far, at once or late, once or twice. */
static void send_count(struct world *w)
{
    struct item frame = {.sent = w->sent};
    unsigned copies = percent(w, 20) ? 2 : 1;
    for (unsigned i = 0; i < copies; i++) {
        if (w->held_count < HELD && percent(w, 30))
            w->held[w->held_count++] = frame;
        else
            put_on_wire(w, frame);
    }
}

static void release_held(struct world *w)
{
    if (w->held_count == 0)
        return;
    unsigned which = (unsigned)below(w, w->held_count);
    put_on_wire(w, w->held[which]);
    w->held[which] = w->held[--w->held_count];
}

static void take_packet(struct world *w, uint32_t blocks)
{
    w->in_flight -= blocks;
    if (percent(w, w->lose_data)) {
        w->lost += blocks;
        return;
    }
    bool fits = w->occupied + blocks <= w->buffer;
    assert_int_equal(hx_credit_arrive(&w->r, blocks), fits);
    if (!fits) {
        w->overruns++;
        w->lost += blocks;
        return;
    }
    w->received += blocks;
    w->occupied += blocks;
    w->stored[w->stored_count++] = blocks;
}

static void take_count(struct world *w, uint64_t sent)
{
    if (percent(w, w->lose_credit))
        return;
    uint64_t missing = sent - w->received; /* less than none, if it is late */
    hx_credit_reconcile(&w->r, (uint32_t)sent);
    w->received += missing;
    w->freed += missing;
    w->written_off += missing;
}

static void arrive(struct world *w)
{
    if (w->wire_count == 0)
        return;
    struct item item = w->wire[w->wire_first];
    w->wire_first = (w->wire_first + 1) % WIRE;
    w->wire_count--;
    if (item.blocks)
        take_packet(w, item.blocks);
    else
        take_count(w, item.sent);
}

/* A switch forwards packets in any order. */
static void leave(struct world *w)
{
    if (w->stored_count == 0)
        return;
    unsigned which = (unsigned)below(w, w->stored_count);
    uint32_t blocks = w->stored[which];
    w->stored[which] = w->stored[--w->stored_count];
    hx_credit_leave(&w->r, blocks);
    w->freed += blocks;
    w->occupied -= blocks;
}

static void send_grant(struct world *w)
{
    uint64_t grant = w->freed + w->buffer;
    assert_int_equal(hx_credit_limit(&w->r), (uint32_t)grant);
    unsigned place = w->grant_count < GRANTS ? w->grant_count++ : (unsigned)below(w, GRANTS);
    w->grants[place] = grant;
}

/* Takes any grant in flight, which may stay there and arrive again. */
static void take_grant(struct world *w)
{
    if (w->grant_count == 0)
        return;
    unsigned which = (unsigned)below(w, w->grant_count);
    uint64_t grant = w->grants[which];
    if (percent(w, 70))
        w->grants[which] = w->grants[--w->grant_count];
    if (percent(w, w->lose_grant))
        return;
    bool taken = hx_credit_grant(&w->s, (uint32_t)grant);
    assert_int_equal(taken, grant + w->buffer >= w->sent); /* otherwise too old to tell from a corrupted one */
    if (grant > w->limit)
        w->limit = grant;
}

/* A grant with flipped bits, outside of the possible values. */
static void take_corrupted_grant(struct world *w)
{
    uint32_t distance = (uint32_t)(w->buffer + 1 + below(w, UINT32_MAX - 2 * w->buffer));
    assert_false(hx_credit_grant(&w->s, (uint32_t)w->sent + distance));
}

static void honest_step(struct world *w)
{
    switch (below(w, 12)) {
    case 0:
    case 1:
    case 2:
        send_packet(w);
        break;
    case 3:
        send_count(w);
        break;
    case 4:
        release_held(w);
        break;
    case 5:
    case 6:
        arrive(w);
        break;
    case 7:
    case 8:
        leave(w);
        break;
    case 9:
        send_grant(w);
        break;
    case 10:
        take_grant(w);
        break;
    default:
        take_corrupted_grant(w);
    }
}

/* The wires work and the traffic ends. Everything in flight arrives, late credit frames too; then one credit frame
 * and one grant. */
static void fall_quiet(struct world *w)
{
    w->lose_data = w->lose_credit = w->lose_grant = 0;
    while (w->held_count > 0)
        release_held(w);
    while (w->wire_count > 0)
        arrive(w);
    while (w->stored_count > 0)
        leave(w);
    take_count(w, w->sent);
    w->grant_count = 0;
    send_grant(w);
    while (w->grant_count > 0)
        take_grant(w);
}

static void honest_ends_never_overrun_and_lose_no_credit(void **state)
{
    (void)state;
    static struct world w;
    uint64_t written_off = 0, wrapped = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        seeded_run = seeded_by(20221) + run;
        start(&w, seeded_run);
        for (unsigned step = 0; step < STEPS; step++) {
            honest_step(&w);
            check(&w);
            check_honest(&w);
        }
        fall_quiet(&w);
        check(&w);
        check_honest(&w);
        assert_int_equal(hx_credit_room(&w.s), w.buffer);
        assert_int_equal(w.written_off, w.lost);
        assert_int_equal(w.received, w.sent);
        written_off += w.written_off;
        wrapped += w.sent >> 32;
    }
    seeded_run = 0;
    assert_true(written_off > RUNS);
    assert_true(wrapped > RUNS / 2);
}

/* A false but possible grant: it makes the sender send packets without room. */
static void take_false_grant(struct world *w)
{
    uint64_t grant = w->sent + below(w, w->buffer + 1);
    assert_true(hx_credit_grant(&w->s, (uint32_t)grant));
    if (grant > w->limit)
        w->limit = grant;
}

static void one_false_grant(struct world *w)
{
    w->lose_data = 0;
    uint64_t when = below(w, STEPS);
    for (unsigned step = 0; step < STEPS; step++) {
        if (step == when)
            take_false_grant(w);
        honest_step(w);
        check(w);
    }
    fall_quiet(w);
    check(w);
    assert_int_equal(hx_credit_room(&w->s), w->buffer);
    assert_int_equal(w->written_off, w->lost);
}

/* Runs worlds of many seeds; returns the sum of their overruns. */
static uint64_t overruns_of(void (*run_one)(struct world *w))
{
    static struct world w;
    uint64_t overruns = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        seeded_run = seeded_by(20221) + run;
        start(&w, seeded_run);
        run_one(&w);
        overruns += w.overruns;
    }
    seeded_run = 0;
    return overruns;
}

/* On a wire that keeps all data, one false grant costs the packets without room. */
static void a_false_grant_costs_packets_not_credit(void **state)
{
    (void)state;
    assert_true(overruns_of(one_false_grant) > RUNS / 10);
}

/* Data without a grant, and random counts. */
static void hostile_step(struct world *w)
{
    switch (below(w, 4)) {
    case 0:
        put_on_wire(w, (struct item){.blocks = 1 + (uint32_t)below(w, 2ULL * MOST_BLOCKS)});
        break;
    case 1: {
        uint64_t range = percent(w, 50) ? 4 * w->buffer : 1ULL << 31;
        take_count(w, w->received + below(w, range) - below(w, range));
        break;
    }
    default:
        take_false_grant(w);
    }
}

static void hostile_steps(struct world *w)
{
    for (unsigned step = 0; step < STEPS; step++) {
        if (percent(w, 30))
            hostile_step(w);
        else
            arrive(w);
        if (percent(w, 30))
            leave(w);
        if (percent(w, 10))
            send_packet(w);
        check(w);
    }
}

static void no_attacker_overruns_the_buffer(void **state)
{
    (void)state;
    assert_true(overruns_of(hostile_steps) > RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(honest_ends_never_overrun_and_lose_no_credit, seeded_report),
        cmocka_unit_test_teardown(a_false_grant_costs_packets_not_credit, seeded_report),
        cmocka_unit_test_teardown(no_attacker_overruns_the_buffer, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
