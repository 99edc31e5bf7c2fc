/* test_timing.c - presets of the virtual clock, their overrides, and the resulting picoseconds. */
#include "fabric-emu/virtual/model.h"
#include "hal/virtual/timing.h"
#include "hxmesh/switch.h"
#include "spec/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_timing(const struct hx_timing *t, const uint64_t expected[7])
{
    assert_true(t->link == expected[0] && t->crossbar == expected[1] && t->cable == expected[2] &&
                t->trace == expected[3] && t->input == expected[4] && t->output == expected[5] &&
                t->buffer == expected[6]);
}

/* Table III of the paper, its authors' published runs, and the study of diameter-two topologies. */
static void presets(void **state)
{
    (void)state;
    const struct hx_timing none = HX_DEFAULT_TIMING;
    const struct hx_timing paper = hx_timing_complete(&none);
    assert_timing(&paper, (const uint64_t[]){400, 800, 20, 1, 40, 40, 32 << 20});
    const struct hx_timing said = {.preset = HX_TIMING_AUTHORS, .given = HX_GIVEN_PRESET};
    const struct hx_timing authors = hx_timing_complete(&said);
    assert_timing(&authors, (const uint64_t[]){400, 3200, 40, 40, 20, 20, 32 << 20});
    assert_int_equal(authors.preset, HX_TIMING_AUTHORS);
    assert_string_equal(hx_timing_presets[HX_TIMING_PAPER], "paper");
    assert_string_equal(hx_timing_presets[HX_TIMING_AUTHORS], "authors");
    const struct hx_timing study = {.preset = HX_TIMING_SC15, .given = HX_GIVEN_PRESET};
    const struct hx_timing sc15 = hx_timing_complete(&study);
    assert_timing(&sc15, (const uint64_t[]){100, 800, 50, 50, 50, 50, 100 << 10});
    assert_string_equal(hx_timing_presets[HX_TIMING_SC15], "sc15");
    assert_null(hx_timing_presets[3]);
}

/* Each field alone overrides the preset; fields that are not given do not, at any value. */
static void overrides_of_a_preset(void **state)
{
    (void)state;
    static const unsigned bits[] = {HX_GIVEN_LINK,  HX_GIVEN_CROSSBAR, HX_GIVEN_CABLE, HX_GIVEN_TRACE,
                                    HX_GIVEN_INPUT, HX_GIVEN_OUTPUT,   HX_GIVEN_BUFFER};
    for (unsigned i = 0; i < 7; i++) {
        uint64_t expected[] = {400, 3200, 40, 40, 20, 20, 32 << 20};
        const struct hx_timing said = {.link = 1001,
                                       .crossbar = 1002,
                                       .cable = 1003,
                                       .trace = 1004,
                                       .input = 1005,
                                       .output = 1006,
                                       .buffer = 1007,
                                       .preset = HX_TIMING_AUTHORS,
                                       .given = bits[i]};
        expected[i] = 1001 + i;
        const struct hx_timing t = hx_timing_complete(&said);
        assert_timing(&t, expected);
    }
}

/* The command line overrides the file, field by field; zero is a value. */
static void a_file_and_options(void **state)
{
    (void)state;
    struct hx_timing t = {.cable = 5, .trace = 6, .given = HX_GIVEN_CABLE | HX_GIVEN_TRACE};
    const struct hx_timing options = {
        .cable = 0, .link = 200, .input = 99, .preset = HX_TIMING_AUTHORS, .given = HX_GIVEN_CABLE | HX_GIVEN_LINK};
    hx_timing_merge(&t, &options);
    assert_int_equal(t.given, HX_GIVEN_CABLE | HX_GIVEN_TRACE | HX_GIVEN_LINK);
    const struct hx_timing paper = hx_timing_complete(&t);
    assert_timing(&paper, (const uint64_t[]){200, 800, 0, 6, 40, 40, 32 << 20});
    const struct hx_timing preset = {.preset = HX_TIMING_AUTHORS, .given = HX_GIVEN_PRESET};
    hx_timing_merge(&t, &preset);
    const struct hx_timing authors = hx_timing_complete(&t);
    assert_timing(&authors, (const uint64_t[]){200, 3200, 0, 6, 20, 20, 32 << 20});
}

static struct virtual_timing timing_of(struct hx_timing said)
{
    const struct hx_timing complete = hx_timing_complete(&said);
    struct virtual_timing t;
    const struct virtual_speeds speeds = model_speeds(&complete);
    virtual_timing_init(&t, &speeds, HX_MESH_VCS);
    return t;
}

static void picoseconds(void **state)
{
    (void)state;
    const struct virtual_timing t = timing_of((struct hx_timing)HX_DEFAULT_TIMING);
    /* 256 B at 400 Gb/s: 5.12 ns. */
    for (unsigned n = 0; n <= 32; n++) {
        assert_int_equal(t.link.blocks[n], n * 5120);
        assert_int_equal(t.crossbar.blocks[n], n * 2560);
        assert_int_equal(t.local.blocks[n], n * 1280);
        assert_int_equal(t.local_crossbar.blocks[n], n * 640);
    }
    assert_int_equal(t.cable, 20000);
    assert_int_equal(t.trace, 1000);
    assert_true(t.input == 40000 && t.output == 40000);
    assert_int_equal(t.window, 40000 + 1000 + 40000 + 2560);
}

/* The window is the shortest path: by the shorter of the two cables, and the faster of link and crossbar. */
static void the_shortest_window(void **state)
{
    (void)state;
    const struct virtual_timing t = timing_of((struct hx_timing){
        .cable = 3, .crossbar = 100, .trace = 7, .given = HX_GIVEN_CABLE | HX_GIVEN_CROSSBAR | HX_GIVEN_TRACE});
    assert_int_equal(t.window, 40000 + 3000 + 40000 + 5120);
}

/* Each class of links has its own rate and latency; a crossbar port is no slower than its link; the window is the
 * shortest. */
static void classes_of_links(void **state)
{
    (void)state;
    struct virtual_timing t = timing_of((struct hx_timing)HX_DEFAULT_TIMING);
    t.window = UINT64_MAX;
    virtual_timing_class(&t, 0, 0, 20000);
    virtual_timing_class(&t, 1, 100, 500000);
    assert_int_equal(t.window, 40000 + 20000 + 40000 + 2560);
    virtual_timing_class(&t, 2, 1600, 1000);
    assert_int_equal(t.of[0].rate.blocks[32], 32 * 5120);
    assert_int_equal(t.of[1].rate.blocks[32], 32 * 20480);
    assert_int_equal(t.of[1].crossbar.blocks[32], 32 * 2560);
    assert_int_equal(t.of[2].rate.blocks[1], 1280);
    assert_int_equal(t.of[2].crossbar.blocks[1], 1280);
    assert_int_equal(t.of[1].latency, 500000);
    assert_int_equal(t.window, 40000 + 1000 + 40000 + 1280);
    virtual_timing_local(&t, 8);
    assert_true(t.local.blocks[1] == 640 && t.inject[1] == 640 && t.local_crossbar.blocks[1] == 320);
}

/* Times are rounded down for a packet as a whole. */
static void odd_rates(void **state)
{
    (void)state;
    const struct virtual_timing t =
        timing_of((struct hx_timing){.link = 333, .crossbar = 333, .given = HX_GIVEN_LINK | HX_GIVEN_CROSSBAR});
    assert_int_equal(t.link.blocks[1], 6150);    /* 6150.15 */
    assert_int_equal(t.link.blocks[32], 196804); /* 196804.8 */
    assert_int_equal(t.local.blocks[32], 49201);
}

/* Only injection is slower. */
static void an_injection_rate(void **state)
{
    (void)state;
    struct virtual_timing t = timing_of((struct hx_timing)HX_DEFAULT_TIMING);
    assert_int_equal(t.inject[32], t.local.blocks[32]);
    virtual_timing_injection_rate(&t, 0.25);
    assert_int_equal(t.inject[32], 32 * 5120);
    assert_int_equal(t.local.blocks[32], 32 * 1280);
    virtual_timing_injection_rate(&t, 0.001);
    assert_int_equal(t.inject[32], 32 * 1280000);
    /* The slowest link at the least injection rate: 16.4 ms a packet, more than 32 bits of ps. */
    t = timing_of((struct hx_timing){.link = 1, .crossbar = 1, .given = HX_GIVEN_LINK | HX_GIVEN_CROSSBAR});
    virtual_timing_injection_rate(&t, 0.001);
    assert_int_equal(t.inject[32], UINT64_C(16384000000));
}

/* The longest latencies, on the slowest links: their sums fit. */
static void the_longest_latencies(void **state)
{
    (void)state;
    const struct virtual_timing t = timing_of((struct hx_timing){.link = 1,
                                                                 .crossbar = 1,
                                                                 .cable = HX_MOST_LATENCY,
                                                                 .trace = HX_MOST_LATENCY,
                                                                 .input = HX_MOST_LATENCY,
                                                                 .output = HX_MOST_LATENCY,
                                                                 .given = ~(unsigned)HX_GIVEN_BUFFER});
    assert_int_equal(t.cable, UINT64_C(1000) * HX_MOST_LATENCY);
    assert_true((uint64_t)t.output + t.cable + t.input + t.link.blocks[32] <= UINT32_MAX);
    assert_int_equal(t.window, 3 * UINT64_C(1000) * HX_MOST_LATENCY + t.link.blocks[1]);
    assert_int_equal(t.ahead, UINT64_C(1000) * HX_MOST_LATENCY + 4 * UINT64_C(65536000));
}

/* A third of the buffer in whole packets, at most as many as a switch's window: it fits a lane. */
static void buffers(void **state)
{
    (void)state;
    for (uint64_t buffer = HX_LEAST_BUFFER; buffer <= HX_MOST_BUFFER; buffer += 7777) {
        const struct virtual_timing t = timing_of((struct hx_timing){.buffer = buffer, .given = HX_GIVEN_BUFFER});
        uint64_t packets = buffer / (3 * 8192);
        assert_int_equal(t.vc_blocks, 32 * (packets < 64 ? packets : 64));
        assert_true(t.vc_blocks <= HX_MAX_ROOM);
    }
}

/* The longest train that is asked for, or a half or a quarter of it, of which a VC's buffer holds eight. */
static void the_longest_train(void **state)
{
    (void)state;
    for (uint64_t buffer = HX_LEAST_BUFFER; buffer <= 2 << 20; buffer += 7777)
        for (unsigned asked = 1; asked <= HX_MOST_TRAIN; asked *= 2) {
            const struct virtual_timing t = timing_of(
                (struct hx_timing){.buffer = buffer, .train = asked, .given = HX_GIVEN_BUFFER | HX_GIVEN_TRAIN});
            const uint64_t packets = buffer / (3 * 8192);
            const unsigned most = packets >= 32 ? 4 : packets >= 16 ? 2 : 1;
            assert_int_equal(t.train, asked < most ? asked : most);
            assert_int_equal(t.full, 32 * t.train);
        }
}

/* A link of another rate makes all trains single packets; one of another latency does not. */
static void trains_beside_other_links(void **state)
{
    (void)state;
    struct virtual_timing t = timing_of((struct hx_timing){.train = 4, .given = HX_GIVEN_TRAIN});
    virtual_timing_class(&t, 1, 0, 500000);
    virtual_timing_class(&t, 2, 400, 1000);
    assert_int_equal(t.train, 4);
    virtual_timing_class(&t, 3, 100, 1000);
    assert_int_equal(t.train, 1);
    assert_int_equal(t.full, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets),
        cmocka_unit_test(overrides_of_a_preset),
        cmocka_unit_test(a_file_and_options),
        cmocka_unit_test(picoseconds),
        cmocka_unit_test(the_shortest_window),
        cmocka_unit_test(classes_of_links),
        cmocka_unit_test(odd_rates),
        cmocka_unit_test(an_injection_rate),
        cmocka_unit_test(the_longest_latencies),
        cmocka_unit_test(buffers),
        cmocka_unit_test(the_longest_train),
        cmocka_unit_test(trains_beside_other_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
