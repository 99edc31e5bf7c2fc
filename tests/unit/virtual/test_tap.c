/* test_tap.c - records come out in the order of simulated time, each once; a worker without room waits for the
 * writer. */
#include "hal/virtual/sim_node.h"
#include "hal/virtual/tap.h"
#include "tests/support/support_random.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { RING_BYTES = HX_TAP_LEAST_RING, PORTS = 3, SNAPLEN = 64, MANY = 20000, HOPS_AT = 16 /* in a frame */ };

/* A worker with the endpoints of three accelerators; link n is the LOCAL port of number n. */
struct bench {
    struct virtual_worker w;
    struct virtual_tap tap;
    struct hal_switch sw[PORTS];
    struct virtual_tx tx[PORTS][HX_ACCELERATOR_PORTS];
    struct virtual_rx rx[PORTS][HX_ACCELERATOR_PORTS];
    struct hal_endpoint ep[PORTS];
    struct hx_tap_count counts[PORTS];
    uint32_t interface[PORTS];
    _Atomic uint32_t gave_up;
    struct hx_tap_ring *ring;
    struct hx_tap_consumer in;
    uint64_t seen, last, out_of_order;
};

static int set_up(void **state)
{
    struct bench *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    memset(b, 0, sizeof *b);
    b->ring = aligned_alloc(64, sizeof *b->ring + RING_BYTES);
    memset(b->ring, 0, sizeof *b->ring);
    virtual_pool_open(&b->w.pool, false);
    b->w.tap = &b->tap;
    b->tap = (struct virtual_tap){
        .interface = b->interface, .counts = b->counts, .gave_up = &b->gave_up, .snaplen = SNAPLEN};
    for (uint32_t n = 0; n < PORTS; n++) {
        b->interface[n] = n + 1;
        b->tx[n][HX_LOCAL].link = n;
        b->sw[n] = (struct hal_switch){
            .worker = &b->w, .ports = HX_ACCELERATOR_PORTS, .tx = b->tx[n], .rx = b->rx[n], .endpoint = &b->ep[n]};
        b->ep[n] = (struct hal_endpoint){.worker = &b->w, .planes = 1, .plane = {{.sw = &b->sw[n]}}, .rank = n};
    }
    hx_tap_producer_init(&b->tap.out, b->ring, RING_BYTES);
    hx_tap_consumer_init(&b->in, b->ring, RING_BYTES);
    virtual_tap_open(&b->tap);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    free(b->ring);
    free(b);
    return 0;
}

static void inject(struct bench *b, unsigned port, uint64_t time, unsigned hops)
{
    struct hx_desc d = {.buffer = virtual_pool_get(&b->w.pool), .hops = (uint8_t)hops};
    memset(virtual_pool_frame(&b->w.pool, d.buffer), 0, SNAPLEN);
    virtual_tap_injected(&b->ep[port], 0, &d, time);
    virtual_pool_put(&b->w.pool, d.buffer); /* a record is a copy */
}

/* Takes all records; returns their number. */
static uint64_t take(struct bench *b)
{
    uint64_t broken = 0;
    uint64_t taken = 0;
    (void)hx_tap_look(&b->in);
    for (struct hx_tap_record *r; (r = hx_tap_next(&b->in, PORTS, &broken)) != NULL; taken++) {
        b->out_of_order += r->time < b->last;
        b->last = r->time;
        hx_tap_taken(&b->in, r);
    }
    hx_tap_free(&b->in);
    b->seen += taken;
    return broken ? 0 : taken;
}

static void in_the_order_of_time(void **state)
{
    struct bench *b = *state;
    uint64_t seed = 1;
    uint64_t made = 0;
    for (uint64_t window = 0; window < 200; window++) {
        for (unsigned n = 0; n < 20; n++, made++) {
            inject(b, n % PORTS, window * 100 + seeded_below(&seed, 700), 0);
        }
        virtual_tap_flush(&b->tap, (window + 1) * 100);
        (void)take(b);
        assert_true(b->last < (window + 1) * 100);
        assert_int_equal(atomic_load(&b->ring->floor), (window + 1) * 100);
        assert_int_equal(b->seen + b->tap.count, made);
    }
    assert_true(b->tap.count > 0);
    virtual_tap_flush(&b->tap, UINT64_MAX);
    (void)take(b);
    assert_int_equal(b->seen, made);
    assert_int_equal(b->out_of_order, 0);
    assert_int_equal(b->counts[0].received + b->counts[1].received + b->counts[2].received, made);
}

static void of_one_time_by_interface_and_age(void **state)
{
    struct bench *b = *state;
    uint64_t broken = 0;
    for (unsigned n = 0; n < 30; n++)
        inject(b, PORTS - 1 - n % PORTS, 5, n);
    virtual_tap_flush(&b->tap, 5);
    assert_int_equal(take(b), 0);
    virtual_tap_flush(&b->tap, 6);
    (void)hx_tap_look(&b->in);
    for (unsigned n = 0; n < 30; n++) {
        struct hx_tap_record *r = hx_tap_next(&b->in, PORTS, &broken);
        assert_non_null(r);
        assert_int_equal(r->interface, n / 10);
        assert_int_equal(hx_tap_bytes_of(r)[HOPS_AT], n % 10 * PORTS + (PORTS - 1 - n / 10));
        hx_tap_taken(&b->in, r);
    }
}

/* Waiting frames of all lengths do not overlap: each comes out unchanged, up to the snap length. */
static void frames_are_whole(void **state)
{
    struct bench *b = *state;
    enum { FRAMES = 12 };
    static const uint32_t snaplens[] = {SNAPLEN, HX_HEADER_BYTES + 100, HX_TAP_MOST_SNAPLEN};
    uint64_t broken = 0;
    for (unsigned cut = 0; cut < 3; cut++) {
        virtual_pool_open(&b->w.pool, true);
        b->tap.payload = true;
        b->tap.snaplen = snaplens[cut];
        b->tap.fresh = b->tap.freed_count = 0;
        virtual_tap_open(&b->tap);
        assert_true((uint64_t)b->tap.limit * b->tap.stride <= (uint64_t)64 << 30 && b->tap.limit <= 1U << 26);
        assert_true(b->tap.limit == 1U << 26 || ((uint64_t)b->tap.limit + 1) * b->tap.stride > (uint64_t)64 << 30);
        for (unsigned n = 0; n < FRAMES; n++) {
            struct hx_desc d = {.buffer = virtual_pool_get(&b->w.pool), .length = (uint16_t)(n * 700)};
            memset(virtual_pool_frame(&b->w.pool, d.buffer), (int)n, HX_HEADER_BYTES + d.length);
            virtual_tap_injected(&b->ep[0], 0, &d, FRAMES - n);
            const struct hx_tap_record *r = (const void *)(b->tap.slots + (size_t)n * b->tap.stride);
            assert_int_equal(r->time, FRAMES - n); /* in its slot */
        }
        for (unsigned n = FRAMES; n-- > 0;) {
            virtual_tap_flush(&b->tap, FRAMES - n + 1);
            (void)hx_tap_look(&b->in);
            struct hx_tap_record *r = hx_tap_next(&b->in, PORTS, &broken);
            assert_non_null(r);
            uint32_t whole = HX_HEADER_BYTES + n * 700;
            assert_int_equal(r->original, whole);
            assert_int_equal(r->captured, whole < snaplens[cut] ? whole : snaplens[cut]);
            const uint8_t *bytes = hx_tap_bytes_of(r);
            assert_int_equal(bytes[0], n);
            for (uint32_t at = HX_HEADER_BYTES; at < r->captured; at++)
                assert_int_equal(bytes[at], n);
            hx_tap_taken(&b->in, r);
            hx_tap_free(&b->in);
        }
        b->last = 0;
    }
}

/* Frames without payload are recorded up to the length of an acknowledgement's payload. */
static void without_payload_records_are_short(void **state)
{
    struct bench *b = *state;
    b->tap.snaplen = HX_TAP_MOST_SNAPLEN;
    virtual_tap_open(&b->tap);
    assert_int_equal(b->tap.stride, hx_tap_record_bytes(VIRTUAL_HEADER_FRAME, false));
    assert_int_equal(b->tap.limit, 1U << 26);
    b->tap.annotate = true;
    b->tap.snaplen = 20;
    virtual_tap_open(&b->tap);
    assert_int_equal(b->tap.stride, hx_tap_record_bytes(20, true));
}

/* Only the header of data is recorded, and all of other kinds, which carry content of their own. */
static void without_payload_acknowledgements_are_whole(void **state)
{
    struct bench *b = *state;
    enum { MAP_BYTES = HX_MESSAGE_WINDOW / 8 };
    static const uint8_t kinds[] = {HX_DATA, HX_ACK, HX_PROBE};
    uint64_t broken = 0;
    b->tap.snaplen = HX_TAP_MOST_SNAPLEN;
    virtual_tap_open(&b->tap);
    for (unsigned n = 0; n < sizeof kinds; n++) {
        struct hx_desc d = {.buffer = virtual_pool_get(&b->w.pool), .length = MAP_BYTES};
        const struct hx_header h = {
            .credit_vc = HX_NO_CREDIT, .kind = kinds[n], .message_packets = 1, .length = MAP_BYTES, .epoch = 1};
        hx_frame_encode(virtual_pool_frame(&b->w.pool, d.buffer), &h);
        virtual_tap_injected(&b->ep[0], 0, &d, n);
    }
    virtual_tap_flush(&b->tap, UINT64_MAX);
    (void)hx_tap_look(&b->in);
    for (unsigned n = 0; n < sizeof kinds; n++) {
        struct hx_tap_record *r = hx_tap_next(&b->in, PORTS, &broken);
        assert_non_null(r);
        assert_int_equal(r->original, HX_HEADER_BYTES + MAP_BYTES);
        assert_int_equal(r->captured, HX_HEADER_BYTES + (kinds[n] == HX_DATA ? 0 : MAP_BYTES));
        hx_tap_taken(&b->in, r);
    }
}

/* A sent packet is recorded at both ends of the link, at the far one when its head arrives; a delivery once. */
static void both_ends_of_a_link_are_recorded(void **state)
{
    struct bench *b = *state;
    enum { SENT = 5000, DELAY = 700, INPUT = 40 };
    static const struct virtual_link link = {.there = DELAY};
    static const struct {
        uint64_t time;
        unsigned interface, direction, vc;
    } expected[] = {{SENT, 0, HX_TAP_OUT, 2}, {SENT, 1, HX_TAP_OUT, 1}, {SENT + DELAY - INPUT, 2, HX_TAP_IN, 1}};
    uint64_t broken = 0;
    b->w.timing.input = INPUT;
    b->tx[0][HX_E].link = 1;
    b->tx[0][HX_E].kind = &link;
    b->rx[0][HX_E].link = 2;
    const struct virtual_slot slot = {.d = {.buffer = virtual_pool_get(&b->w.pool)}, .birth = virtual_birth(1000, 1)};
    memset(virtual_pool_frame(&b->w.pool, slot.d.buffer), 0, SNAPLEN);
    for (unsigned vc = 1; vc <= 2; vc++) {
        const struct hx_desc sent = hx_desc_onward(&slot.d, vc);
        virtual_tap_sent(&b->sw[0], vc == 1 ? HX_E : HX_LOCAL, HX_W, &slot, &sent, SENT);
    }
    virtual_tap_flush(&b->tap, UINT64_MAX);
    (void)hx_tap_look(&b->in);
    uint64_t id = 0;
    for (unsigned n = 0; n < sizeof expected / sizeof *expected; n++) {
        struct hx_tap_record *r = hx_tap_next(&b->in, PORTS, &broken);
        assert_non_null(r);
        assert_int_equal(r->time, expected[n].time);
        assert_int_equal(r->interface, expected[n].interface);
        assert_int_equal(r->direction, expected[n].direction);
        assert_int_equal(r->vc, expected[n].vc);
        assert_true(n == 0 || r->id == id);
        id = r->id;
        hx_tap_taken(&b->in, r);
    }
    assert_null(hx_tap_next(&b->in, PORTS, &broken));
}

static void *write_all(void *of)
{
    struct bench *b = of;
    while (b->seen < MANY)
        (void)take(b);
    return NULL;
}

static void waits_for_room(void **state)
{
    struct bench *b = *state;
    pthread_t writer;
    for (unsigned n = 0; n < MANY; n++)
        inject(b, n % PORTS, n, 0);
    assert_int_equal(pthread_create(&writer, NULL, write_all, b), 0);
    virtual_tap_flush(&b->tap, UINT64_MAX);
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(b->seen, MANY);
    assert_int_equal(b->out_of_order, 0);
    assert_int_equal(b->counts[0].dropped, 0);
}

static void does_not_wait_without_a_writer(void **state)
{
    struct bench *b = *state;
    for (unsigned n = 0; n < MANY; n++)
        inject(b, 0, n, 0);
    atomic_store(&b->gave_up, 1);
    virtual_tap_flush(&b->tap, UINT64_MAX);
    (void)take(b);
    assert_true(b->seen > 0);
    assert_int_equal(b->seen + b->counts[0].dropped, MANY);
    assert_int_equal(b->tap.count, 0);
}

static void ports_that_are_not_captured(void **state)
{
    struct bench *b = *state;
    b->interface[1] = 0;
    for (unsigned n = 0; n < 30; n++)
        inject(b, n % PORTS, n, 0);
    virtual_tap_flush(&b->tap, UINT64_MAX);
    assert_int_equal(take(b), 20);
    assert_int_equal(b->counts[1].received, 0);
}

/* ---- over ranks ---- */

enum { WINDOWS = 200, OF_WINDOW = 20, WINDOW = 100, AHEAD = 700 };

/* What a window brings to ports of worker 1 (the last port), of worker 0, or of both. */
static void inject_window(struct bench *b, uint64_t window, bool first, bool second)
{
    uint64_t seed = window + 1;
    for (unsigned n = 0; n < OF_WINDOW; n++) {
        uint64_t time = window * WINDOW + seeded_below(&seed, AHEAD) / 50 * 50; /* many of one time */
        if (n % PORTS == PORTS - 1 ? second : first)
            inject(b, n % PORTS, time, n);
    }
}

struct order {
    uint64_t time;
    uint32_t interface, number;
};

/* Takes all records into `order` behind the `count` there; returns their new number. */
static unsigned take_order(struct bench *b, struct order *order, unsigned count)
{
    uint64_t broken = 0;
    (void)hx_tap_look(&b->in);
    for (struct hx_tap_record *r; (r = hx_tap_next(&b->in, PORTS, &broken)) != NULL; count++) {
        order[count] = (struct order){r->time, r->interface, hx_tap_bytes_of(r)[HOPS_AT]};
        hx_tap_taken(&b->in, r);
    }
    hx_tap_free(&b->in);
    assert_true(broken == 0);
    return count;
}

/* Worker 1: its frames before each window go to worker 0 in that window; the rest and counts after the last. */
static int send_windows(struct bench *b, struct virtual_channel *c)
{
    virtual_channel_join(c, 1, false);
    for (uint64_t window = 0; window <= WINDOWS; window++) {
        struct virtual_turn turn = {0};
        virtual_tap_relay(&b->tap, c, window < WINDOWS ? window * WINDOW : UINT64_MAX);
        if (window == WINDOWS)
            virtual_tap_relay_counts(&b->tap, c);
        else
            inject_window(b, window, false, true);
        if (!virtual_channel_turn(c, &turn))
            return 1;
    }
    return b->tap.count == 0 ? 0 : 2;
}

static void frames_of_two_ranks_are_in_the_order_of_one(void **state)
{
    struct bench *b = *state;
    void *other = NULL;
    assert_int_equal(set_up(&other), 0);
    struct bench *alone = other;
    struct order *order = calloc(2 * WINDOWS * OF_WINDOW, sizeof *order);
    struct order *wanted = order + (size_t)WINDOWS * OF_WINDOW;
    struct virtual_channel *c = virtual_channel_create(2);
    unsigned count = 0;
    unsigned whole = 0;
    b->tap.interfaces = PORTS;
    pid_t pid = fork();
    if (pid == 0)
        _exit(send_windows(b, c));
    virtual_channel_join(c, 0, false);
    for (uint64_t window = 0; window <= WINDOWS; window++) {
        struct virtual_turn turn = {0};
        if (window < WINDOWS) {
            inject_window(b, window, true, false);
            inject_window(alone, window, true, true);
        }
        assert_true(virtual_channel_turn(c, &turn));
        for (const struct virtual_record *r; (r = virtual_channel_receive(c));) {
            assert_true(virtual_tap_is_sent(r));
            virtual_tap_take(&b->tap, r);
        }
        virtual_tap_flush(&b->tap, window < WINDOWS ? window * WINDOW : UINT64_MAX);
        virtual_tap_flush(&alone->tap, window < WINDOWS ? (window + 1) * WINDOW : UINT64_MAX);
        count = take_order(b, order, count);
        whole = take_order(alone, wanted, whole);
    }
    int status;
    assert_true(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(count, WINDOWS * OF_WINDOW);
    assert_int_equal(whole, count);
    assert_memory_equal(order, wanted, count * sizeof *order);
    for (unsigned port = 0; port < PORTS; port++) {
        assert_int_equal(b->counts[port].received, alone->counts[port].received);
        assert_int_equal(b->counts[port].accepted, alone->counts[port].accepted);
    }
    virtual_channel_destroy(c);
    free(order);
    (void)tear_down(&other);
}

#define PREPARED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {PREPARED(in_the_order_of_time),
                                       PREPARED(of_one_time_by_interface_and_age),
                                       PREPARED(frames_are_whole),
                                       PREPARED(without_payload_records_are_short),
                                       PREPARED(without_payload_acknowledgements_are_whole),
                                       PREPARED(both_ends_of_a_link_are_recorded),
                                       PREPARED(waits_for_room),
                                       PREPARED(does_not_wait_without_a_writer),
                                       PREPARED(ports_that_are_not_captured),
                                       PREPARED(frames_of_two_ranks_are_in_the_order_of_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
