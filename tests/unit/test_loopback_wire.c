/* test_loopback_wire.c - a wire of the example platform between two threads: every frame arrives once, complete and
 * in order. Once the sender is notified that a wire is clear, its old frames are gone. */
/* tsan: a sender and a receiver side by side. */
#include "hal/loopback/wire.h"
#include "tests/support/support_seed.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 32, FRAMES = 20000, LONGEST = 600, CLEARS = 200 };

static struct loopback_wire wire;

static int open_wire(void **state)
{
    (void)state;
    loopback_wire_init(&wire, BLOCKS, 0, calloc(1, loopback_wire_bytes(BLOCKS)));
    return 0;
}

static int close_wire(void **state)
{
    free(wire.ring);
    return seeded_report(state);
}

/* Frame number n; all its bytes follow from n. */
static uint32_t write_frame(uint8_t *frame, uint32_t n)
{
    uint64_t random = n;
    uint32_t bytes = 64 + (uint32_t)seeded_below(&random, LONGEST - 64);
    memcpy(frame, &n, sizeof n);
    memset(frame + sizeof n, (int)n, bytes - sizeof n);
    return bytes;
}

/* Number of an unchanged frame, UINT32_MAX for any other. */
static uint32_t read_frame(const uint8_t *frame, uint32_t bytes)
{
    uint8_t wanted[LONGEST];
    uint32_t n;
    memcpy(&n, frame, sizeof n);
    return write_frame(wanted, n) == bytes && memcmp(frame, wanted, bytes) == 0 ? n : UINT32_MAX;
}

static void send(uint32_t n)
{
    uint8_t frame[LONGEST];
    uint32_t bytes = write_frame(frame, n);
    while (!loopback_wire_has_room(&wire, bytes))
        (void)sched_yield();
    loopback_wire_put(&wire, 0, frame, bytes);
}

/* ---- nothing is cleared ---- */

static void *send_all(void *seed)
{
    uint64_t random = *(uint64_t *)seed;
    for (uint32_t n = 0; n < FRAMES; n++) {
        send(n);
        if (seeded_below(&random, 4) == 0 || n == FRAMES - 1 || !loopback_wire_has_room(&wire, LONGEST))
            loopback_wire_commit(&wire);
    }
    return NULL;
}

static void every_frame_arrives_once_complete_and_in_order(void **state)
{
    (void)state;
    static uint8_t frame[HX_MAX_FRAME];
    uint64_t seed = seeded_run = seeded_by(1);
    pthread_t sender;
    assert_int_equal(pthread_create(&sender, NULL, send_all, &seed), 0);
    uint32_t wrong = 0;
    for (uint32_t n = 0; n < FRAMES;) {
        uint32_t bytes = loopback_wire_take(&wire, 0, frame);
        if (bytes == 0) {
            (void)sched_yield();
            continue;
        }
        wrong += read_frame(frame, bytes) != n;
        n++;
    }
    assert_int_equal(pthread_join(sender, NULL), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(loopback_wire_take(&wire, 0, frame), 0);
    assert_int_equal(wire.refused, 0);
    seeded_run = 0;
}

/* ---- the sender clears ---- */

/* Frame numbers of a phase differ by this from those of the previous one. */
enum { ROUND = 1000 };

static _Atomic uint32_t cleared; /* completed phases, of which no frame may arrive */

static void *send_and_clear(void *seed)
{
    uint64_t random = *(uint64_t *)seed;
    for (uint32_t round = 0; round < CLEARS; round++) {
        for (uint32_t n = (uint32_t)seeded_below(&random, 100); n > 0; n--) {
            send(round * ROUND + n);
            loopback_wire_commit(&wire);
        }
        loopback_wire_clear(&wire);
        while (!loopback_wire_is_clear(&wire))
            (void)sched_yield();
        atomic_store(&cleared, round + 1);
    }
    send(CLEARS * ROUND);
    loopback_wire_commit(&wire);
    return NULL;
}

static void cleared_frames_do_not_arrive_and_later_ones_do(void **state)
{
    (void)state;
    static uint8_t frame[HX_MAX_FRAME];
    uint64_t seed = seeded_run = seeded_by(1);
    pthread_t sender;
    atomic_store(&cleared, 0);
    assert_int_equal(pthread_create(&sender, NULL, send_and_clear, &seed), 0);
    uint32_t wrong = 0;
    for (uint32_t n = 0; n != CLEARS * ROUND;) {
        uint32_t over = atomic_load(&cleared);
        uint32_t bytes = loopback_wire_take(&wire, 0, frame);
        if (bytes == 0) {
            (void)sched_yield();
            continue;
        }
        n = read_frame(frame, bytes);
        wrong += n == UINT32_MAX || n / ROUND < over;
    }
    assert_int_equal(pthread_join(sender, NULL), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(wire.refused, 0);
    seeded_run = 0;
}

/* A frame that a fault repeats or delays is on the wire like any other. */
static void a_repetition_and_a_late_frame_are_cleared_too(void **state)
{
    (void)state;
    static uint8_t frame[HX_MAX_FRAME];
    uint8_t credit[64] = {[12] = HX_ETHERTYPE_CONTROL >> 8, [13] = HX_ETHERTYPE_CONTROL & 0xFF};
    wire.faults.repeat_credit = 1000;
    loopback_wire_put(&wire, 0, credit, sizeof credit);
    loopback_wire_commit(&wire);
    assert_int_equal(loopback_wire_take(&wire, 0, frame), sizeof credit);
    loopback_wire_clear(&wire);
    assert_int_equal(loopback_wire_take(&wire, 0, frame), 0);
    wire.faults = (struct loopback_faults){.delay_credit = 1000, .delay = 5};
    loopback_wire_put(&wire, 0, credit, sizeof credit);
    loopback_wire_commit(&wire);
    assert_int_equal(loopback_wire_take(&wire, 0, frame), 0);
    loopback_wire_clear(&wire);
    assert_int_equal(loopback_wire_take(&wire, 10, frame), 0);
    assert_true(loopback_wire_has_room(&wire, wire.size - (uint32_t)sizeof(struct loopback_record)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_frame_arrives_once_complete_and_in_order, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(cleared_frames_do_not_arrive_and_later_ones_do, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(a_repetition_and_a_late_frame_are_cleared_too, open_wire, close_wire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
