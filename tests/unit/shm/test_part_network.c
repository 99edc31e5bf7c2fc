/* test_part_network.c - messages in parts on the links of a fabric (workload/part_network.h): against times by hand. */
#include "spec/spec.h"
#include "workload/part_network.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Of 400 Gb/s and table III, ps: a byte, a block, a hop over a cable, and what the endpoints add. */
#define BYTE  20
#define BLOCK (256 * BYTE)
#define HOP   (40000 + BLOCK + 20000 + 40000)
#define ENDS  (BLOCK / 4 + 40000 + 40000)

struct bench {
    struct hx_spec spec;
    struct collective_loads loads;
    struct part_network *network;
    uint64_t arrived[64], last; /* ps of each message, by number; of the last acknowledgement */
};

static void open_bench_of(struct bench *b, const char *fabric, uint64_t planes, bool in_order)
{
    const struct hx_timing timing = HX_DEFAULT_TIMING;
    const struct hx_overrides sizes = {.planes = planes};
    struct hx_problem problem;
    *b = (struct bench){.last = 0};
    assert_true(hx_spec_try_load(fabric, &sizes, &b->spec, &problem));
    collective_loads_open(&b->loads, hx_spec_fabric(&b->spec), &timing);
    b->network = part_network_open(&b->loads, (struct part_network_options){.in_order = in_order});
}

static void open_bench(struct bench *b, const char *fabric, bool in_order)
{
    open_bench_of(b, fabric, 0, in_order);
}

static void close_bench(struct bench *b)
{
    part_network_close(b->network);
    collective_loads_close(&b->loads);
    hx_spec_free(&b->spec);
}

static void send(struct bench *b, uint32_t from, uint32_t to, uint64_t bytes, uint32_t number)
{
    part_network_send(b->network, 0, &(struct part_message){from, to, bytes, number});
}

/* Returns when the last message arrived, ps. */
static uint64_t run(struct bench *b)
{
    uint64_t last = 0;
    for (uint64_t now; (now = part_network_next(b->network)) != UINT64_MAX;) {
        uint32_t number;
        const enum part_news news = part_network_step(b->network, &number);
        if (news == PART_ARRIVED)
            b->arrived[number] = last = now;
        b->last = news == PART_ACKNOWLEDGED ? now : b->last;
    }
    return last;
}

/* ---- closed forms ---- */

/* Over one switch, two cables: the tail follows the head, less the block that the latency counts. The endpoint takes a
 * block four times as fast. */
static void a_message_alone_takes_its_path_and_its_bytes(void **state)
{
    (void)state;
    static const uint64_t bytes[] = {1, 8192, 8193, 1 << 20};
    for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct bench b;
        const uint64_t blocks = (bytes[i] + 255) / 256;
        open_bench(&b, "fat-tree hosts=8 radix=16", false);
        send(&b, 0, 1, bytes[i], 0);
        const bool alone = blocks % HX_PACKET_BLOCKS == 1; /* the last packet is a block */
        assert_int_equal(run(&b), ENDS + 2 * HOP + (blocks - 1) * BLOCK + (alone ? BLOCK / 4 : 0));
        assert_int_equal(b.last, b.arrived[0] + ENDS + 2 * HOP + BLOCK / 4);
        close_bench(&b);
    }
}

/* Out of one host, or into one: as long as all bytes take there. */
static void messages_of_a_host_take_all_their_bytes(void **state)
{
    (void)state;
    enum { OTHERS = 7, BYTES = 1 << 18 };
    for (unsigned out = 0; out < 2; out++) {
        struct bench b;
        open_bench(&b, "fat-tree hosts=8 radix=16", false);
        for (uint32_t i = 1; i <= OTHERS; i++)
            send(&b, out ? 0 : i, out ? i : 0, BYTES, i);
        const uint64_t last = run(&b);
        assert_true(last >= (uint64_t)OTHERS * BYTES * BYTE);
        assert_true(last <= (uint64_t)OTHERS * BYTES * BYTE + ENDS + 2 * HOP + (uint64_t)OTHERS * BLOCK);
        close_bench(&b);
    }
}

/* To the four neighbours, each over a link of its own, as long as to one. */
static void a_host_with_four_links_sends_on_all_of_them(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct bench b;
    open_bench(&b, "torus 3x3", false);
    send(&b, 0, 1, BYTES, 0);
    send(&b, 0, 2, BYTES, 1);
    send(&b, 0, 3, BYTES, 2);
    send(&b, 0, 6, BYTES, 3);
    const double ratio = (double)run(&b) / ((double)BYTES * BYTE);
    assert_true(ratio >= 1 && ratio < 1.05);
    close_bench(&b);
}

/* Of messages that begin together the first is there first, if a host sends in order; else they end together. */
static void messages_share_a_host_or_go_in_order(void **state)
{
    (void)state;
    enum { BYTES = 1 << 18 };
    for (unsigned in_order = 0; in_order < 2; in_order++) {
        struct bench b;
        open_bench(&b, "fat-tree hosts=8 radix=16", in_order);
        send(&b, 0, 1, BYTES, 0);
        send(&b, 0, 2, BYTES, 1);
        (void)run(&b);
        const double first = (double)b.arrived[0] / ((double)BYTES * BYTE);
        const double second = (double)b.arrived[1] / ((double)BYTES * BYTE);
        assert_true(fabs(first - (in_order ? 1 : 2)) < 0.1);
        assert_true(fabs(second - 2) < 0.1);
        close_bench(&b);
    }
}

/* Two planes: half of each message on either. */
static void planes_carry_equal_shares(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    struct bench b;
    open_bench_of(&b, "fat-tree hosts=8 radix=16", 2, false);
    send(&b, 0, 1, BYTES, 0);
    assert_true(fabs((double)run(&b) / (BYTES * (double)BYTE / 2) - 1) < 0.05);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_message_alone_takes_its_path_and_its_bytes),
                                       cmocka_unit_test(messages_of_a_host_take_all_their_bytes),
                                       cmocka_unit_test(a_host_with_four_links_sends_on_all_of_them),
                                       cmocka_unit_test(messages_share_a_host_or_go_in_order),
                                       cmocka_unit_test(planes_carry_equal_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
