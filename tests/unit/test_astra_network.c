/* test_astra_network.c - network files of ASTRA-sim: fabrics by dimension, and mistakes with line and column
 * (spec/yaml/astra_network.h). */
#include "spec/spec.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define FILE_NAME "network.yml"

static bool load(const char *text, struct hx_spec *spec, struct hx_problem *problem)
{
    return hx_spec_try_load(file_write_text(FILE_NAME, text), NULL, spec, problem);
}

static bool load_any(const char *text, struct hx_problem *problem)
{
    struct hx_spec s;
    const bool good = load(text, &s, problem);
    if (good)
        hx_spec_free(&s);
    return good;
}

static void require(const char *text, const char *fabric)
{
    struct hx_spec s;
    struct hx_problem p;
    if (!load(text, &s, &p))
        fail_msg("%s: %s", p.where, p.what);
    assert_string_equal(s.fabric, fabric);
    assert_string_equal(s.source, file_path(FILE_NAME));
    hx_spec_free(&s);
}

/* A GB has 2^30 bytes: 8.59 Gb. */
static void dimensions_have_their_rates_and_latencies(void **state)
{
    (void)state;
    require("topology: [ Ring, FullyConnected, Switch ]  # nearest first\n"
            "npus_count: [ 2, 8, 4 ]\n"
            "bandwidth: [ 200.0, 100.0, 50.0 ]  # GB/s\n"
            "latency: [ 50.0, 500.0, 2000.0 ]  # ns\n",
            "Ring(2)_FC(8)_Switch(4) gbps=1718,859,429 ns=50,500,2000");
    require("latency: [936.25]\nbandwidth: [400]\nnpus_count: [8]\ntopology: [Switch]\n", "Switch(8) gbps=3436 ns=936");
    require("topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [0]\n", "Ring(4) gbps=429 ns=1");
}

#define RING "topology: [Ring, Ring]\n"
#define REST "npus_count: [4, 4]\nbandwidth: [50, 50]\nlatency: [500, 500]\n"

static void mistakes_are_refused_at_their_place(void **state)
{
    static const struct file_refusal cases[] = {
        {"npus_count: [4]\n", ":1:1", "topology is missing in this ASTRA-sim network"},
        {RING "npus_count: [4, 4]\nbandwidth: [50, 50]\n", ":1:1", "latency is missing in this ASTRA-sim network"},
        {RING REST "links: [1, 1]\n", ":5:1", "unknown key 'links' of an ASTRA-sim network"},
        {"topology: Ring\n" REST, ":1:11", "topology: a list with an entry for each dimension"},
        {"topology: []\n" REST, ":1:11", "topology: a list with an entry for each dimension"},
        {"topology: [Ring]\n" REST, ":2:13", "npus_count has 2 entries, but topology has 1"},
        {"topology: [Ring, Mesh]\n" REST, ":1:18", "unknown word 'Mesh' (one of Ring, FullyConnected, Switch)"},
        {"topology: [Ring, [Ring]]\n" REST, ":1:18", "unknown word '' (one of Ring, FullyConnected, Switch)"},
        {RING "npus_count: [4, 1]\nbandwidth: [50, 50]\nlatency: [500, 500]\n", ":2:17", "1 is outside 2 .. 1048576"},
        {RING "npus_count: [4.5, 4]\nbandwidth: [50, 50]\nlatency: [500, 500]\n", ":2:14",
         "'4.5' is not a number (2 .. 1048576)"},
        {RING "npus_count: [4, 4]\nbandwidth: [50, fast]\nlatency: [1, 1]\n", ":3:17",
         "'fast' is not a number (0 .. 1e+09)"},
        {RING "npus_count: [4, 4]\nbandwidth: [50, 1]\nlatency: [1, 1]\n", ":3:17",
         "1 GB/s of 2^30 bytes are 8.59 Gb/s: whole Gb/s are possible, within half a per cent"},
        {RING "npus_count: [4, 4]\nbandwidth: [50, 50]\nlatency: [1, -1]\n", ":4:14",
         "'-1' is not a number (0 .. 1e+09)"},
        {"topology: [Switch]\nnpus_count: [65]\nbandwidth: [50]\nlatency: [1]\n", ":1:1",
         "'Switch(65) gbps=429 ns=1': a dimension of 65: 2 to 64 are possible"},
    };
    (void)state;
    file_refused(FILE_NAME, cases, sizeof cases / sizeof *cases, load_any);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_have_their_rates_and_latencies),
        cmocka_unit_test(mistakes_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
