/* test_spec_file.c - *.hxm.yaml files: every key, and every mistake with file, line and column. */
#include "hxmesh/collective.h"
#include "spec/spec.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "demo.hxm.yaml"

static bool load(const char *text, struct hx_spec *spec, struct hx_problem *problem)
{
    return hx_spec_try_load(file_write_text(FILE_NAME, text), NULL, spec, problem);
}

static void every_key(void **state)
{
    (void)state;
    struct hx_spec s;
    struct hx_problem p;
    assert_true(load("fabric: 3x2 H2x4Mesh\n"
                     "name: a lab\n"
                     "planes: 2\n"
                     "radix: 8\n"
                     "taper: 2\n"
                     "failed_boards: [[1, 0], [2, 1]]\n"
                     "jobs:\n"
                     "  - {tag: 7, boards: [[0, 0]], rectangle: [[0, 1], [1, 1]]}\n"
                     "  - tag: 65535\n"
                     "    boards:\n"
                     "      - [2, 0]\n"
                     "traffic:\n"
                     "  pattern: bisection\n"
                     "  message: 1MiB\n"
                     "  duration: 30s\n"
                     "  rate: 0.5\n"
                     "  seed: 12\n"
                     "  verify: no\n"
                     "workers: 3\n"
                     "clock: virtual\n"
                     "select: adaptive\n"
                     "injection_rate: 0.25\n"
                     "timing: {preset: authors, link: 800, buffer: 1MiB}\n",
                     &s, &p));
    assert_string_equal(s.name, "a lab");
    assert_string_equal(s.fabric, "3x2 H2x4Mesh");
    assert_string_equal(s.source, file_path(FILE_NAME));
    assert_int_equal(s.planes, 2);
    assert_int_equal(s.radix, 8);
    assert_int_equal(s.taper, 2);
    static const bool failed[6] = {[1] = true, [5] = true};
    static const uint16_t job[6] = {[0] = 7, [2] = 65535, [3] = 7, [4] = 7};
    for (unsigned board = 0; board < 6; board++) {
        assert_int_equal(hx_spec_board_failed(&s, board), failed[board]);
        assert_int_equal(hx_spec_board_job(&s, board), job[board]);
    }
    assert_int_equal(s.settings.pattern, HX_BISECTION);
    assert_int_equal(s.settings.message, 1 << 20);
    assert_int_equal(s.settings.duration_ns, 30000000000);
    assert_true(s.settings.rate > 0.49 && s.settings.rate < 0.51);
    assert_int_equal(s.settings.seed, 12);
    assert_false(s.settings.verify);
    assert_int_equal(s.settings.workers, 3);
    assert_int_equal(s.settings.clock, HX_CLOCK_VIRTUAL);
    assert_int_equal(s.settings.select, HX_SELECT_ADAPTIVE);
    assert_int_equal(s.timing.preset, HX_TIMING_AUTHORS);
    assert_int_equal(s.timing.link, 800);
    hx_spec_free(&s);
    assert_true(
        load("fabric: 2x2 Hx2Mesh\ncredits: 64\nclock: wall\ntraffic: {pattern: all-to-all, count: 4, shifts: 3}\n", &s,
             &p));
    assert_int_equal(s.credits, 64);
    assert_int_equal(s.settings.count, 4);
    assert_int_equal(s.settings.shifts, 3);
    hx_spec_free(&s);
    assert_true(load("fabric: 2x2 Hx2Mesh\ntraffic: {pattern: all-reduce, algorithm: torus}\n", &s, &p));
    assert_int_equal(s.settings.algorithm, HX_ALGORITHM_TREE + HX_BY_TORUS);
    hx_spec_free(&s);
}

/* The command line may add what a file leaves open; keys that have no effect by default are kept, with their place. */
static void keys_for_settings_of_the_command_line(void **state)
{
    (void)state;
    struct hx_spec s;
    struct hx_problem p;
    assert_true(load("fabric: 2x2 Hx2Mesh\ncredits: 64\ntraffic: {shifts: 2, rate: 0.5}\n", &s, &p));
    assert_int_equal(s.of_default_clock.exit_code, 0);
    assert_int_equal(s.of_default_pattern.exit_code, 0);
    hx_spec_free(&s);
    assert_true(load("fabric: 2x2 Hx2Mesh\ntraffic: {algorithm: ring}\ntiming: {link: 100}\n", &s, &p));
    assert_int_equal(s.of_default_clock.exit_code, HX_EXIT_CONFIG);
    assert_string_equal(s.of_default_clock.what, "timing.link: is for clock: virtual, not wall");
    assert_non_null(strstr(s.of_default_clock.where, ":3:10"));
    assert_non_null(strstr(s.of_default_pattern.what, "traffic.algorithm: is for pattern: SCHEDULE, broadcast, "));
    hx_spec_free(&s);
}

/* A file's keys for its own pattern and clock do not apply to those of the command line. */
static void keys_that_conflict_with_the_command_line_are_ignored(void **state)
{
    (void)state;
    struct hx_spec s;
    struct hx_problem p;
    assert_true(
        load("fabric: 2x2 Hx2Mesh\nclock: virtual\npace: 0.5\ntraffic: {pattern: uniform, rate: 0.5, duration: 5ms, "
             "seed: 4}\n",
             &s, &p));
    const struct hx_settings collective = {.pattern = HX_COLLECTIVES, .given = HX_GIVEN_PATTERN};
    struct hx_settings merged = s.settings;
    hx_settings_merge(&merged, &collective);
    assert_true(merged.rate >= 1);
    assert_int_equal(merged.duration_ns, 0);
    assert_int_equal(merged.seed, 4);
    assert_int_equal(merged.given & (HX_GIVEN_RATE | HX_GIVEN_DURATION | HX_GIVEN_INJECTION_RATE),
                     HX_GIVEN_INJECTION_RATE);
    const struct hx_settings live = {.clock = HX_CLOCK_WALL, .count = 3, .given = HX_GIVEN_CLOCK | HX_GIVEN_COUNT};
    merged = s.settings;
    hx_settings_merge(&merged, &live);
    assert_false(merged.injection_rate > 0);
    assert_true(merged.rate < 1);
    assert_int_equal(merged.duration_ns, 0);
    assert_int_equal(merged.count, 3);
    hx_spec_free(&s);
}

static void a_capture(void **state)
{
    (void)state;
    struct hx_spec s;
    struct hx_problem p;
    assert_true(load("fabric: 2x2 Hx2Mesh\n"
                     "capture: {file: a.pcapng, ports: 'a0,0/* row0/*', filter: less 100, snaplen: 96, buffer: 1MiB, "
                     "annotate: yes}\n",
                     &s, &p));
    assert_string_equal(s.capture.file, "a.pcapng");
    assert_int_equal(s.capture.ports.count, 1);
    assert_string_equal(s.capture.ports.item[0], "a0,0/* row0/*");
    assert_string_equal(s.capture.filter, "less 100");
    assert_int_equal(s.capture.snaplen, 96);
    assert_int_equal(s.capture.buffer, 1 << 20);
    assert_true(s.capture.annotate);
    const struct hx_capture_settings given = {
        .filter = "greater 9", .annotate = false, .given = HX_GIVEN_CAPTURE_FILTER | HX_GIVEN_CAPTURE_ANNOTATE};
    struct hx_capture_settings merged = s.capture;
    hx_capture_settings_merge(&merged, &given);
    assert_string_equal(merged.file, "a.pcapng");
    assert_string_equal(merged.filter, "greater 9");
    assert_int_equal(merged.snaplen, 96);
    assert_false(merged.annotate);
    hx_spec_free(&s);
    assert_true(load("fabric: 2x2 Hx2Mesh\ncapture: {file: b}\n", &s, &p));
    assert_int_equal(s.capture.ports.count, 0);
    assert_int_equal(s.capture.snaplen, HX_MAX_FRAME);
    assert_int_equal(s.capture.buffer, HX_CAPTURE_BUFFER);
    assert_null(s.capture.filter);
    hx_spec_free(&s);
    assert_false(load("fabric: 2x2 Hx2Mesh\ncapture: {ports: a}\n", &s, &p));
    assert_false(load("fabric: 2x2 Hx2Mesh\ncapture: {file: b, snaplen: 63}\n", &s, &p));
    assert_non_null(strstr(p.what, "capture.snaplen"));
}

static void defaults(void **state)
{
    (void)state;
    struct hx_spec s;
    struct hx_problem p;
    assert_true(load("# only what must be\nfabric: 2x2 Hx2Mesh\n", &s, &p));
    assert_string_equal(s.name, "2x2 Hx2Mesh");
    assert_int_equal(s.credits, 512);
    assert_int_equal(s.settings.given, 0);
    assert_null(s.failed);
    assert_null(s.job);
    hx_spec_free(&s);
}

/* `where` follows the file name, `what` is the rest of the line. */
static bool load_any(const char *text, struct hx_problem *problem)
{
    struct hx_spec spec;
    return load(text, &spec, problem);
}

static void mistakes_are_named_with_line_and_column(void **state)
{
    (void)state;
#define FABRIC "fabric: 4x4 Hx2Mesh\n"
#define TREE   "fabric: fat-tree hosts=4 radix=4\n"
    static const struct file_refusal cases[] = {
        {FABRIC "planes: 2\n\n\ntraffic:\n  sead: 3\n", ":6:3", "unknown key 'sead' (did you mean 'seed'?)"},
        {FABRIC "credit: 3\n", ":2:1", "unknown key 'credit' (did you mean 'credits'?)"},
        {"zzz: 3\n" FABRIC, ":1:1", "unknown key 'zzz'"},
        {FABRIC "jobs:\n  - tag: 3\n    bords: [[1, 2]]\n", ":4:5", "unknown key 'bords' (did you mean 'boards'?)"},
        {FABRIC FABRIC, ":2:1", "key 'fabric' is given twice (first in line 1)"},
        {"planes: 3\n", ":1:1", "key 'fabric' is missing"},
        {FABRIC "planes: many\n", ":2:9", "planes: 'many' is not a number (1 .. 4)"},
        {FABRIC "planes: 10\n", ":2:9", "planes: 10 is outside 1 .. 4"},
        {FABRIC "planes: [1]\n", ":2:9", "planes: a single value expected, found a list"},
        {FABRIC "planes:\n", ":2:8", "planes: '' is not a number (1 .. 4)"},
        {FABRIC "credits: 33\n", ":2:10", "credits: 33 is not a multiple of 32"},
        {"fabric: 0x3 Hx2Mesh\n", ":1:9", "'0x3 Hx2Mesh': columns of boards (x): 0 is outside 1 .. 1024"},
        {"fabric: 150x1 Hx1Mesh\nradix: 4\n", ":1:9",
         "a row network has 300 ports, more than a two-level tree of radix 4 and taper 1 can join"},
        {FABRIC "traffic: [uniform]\n", ":2:10", "traffic: a mapping of keys expected, found a list"},
        {FABRIC "traffic: unifrom\n", ":2:10", "traffic: unknown word 'unifrom' (did you mean 'uniform'?)"},
        {FABRIC "traffic: {pattern: shuffle}\n", ":2:20",
         "traffic.pattern: unknown word 'shuffle' (one of all-to-all, all-to-all-random, uniform, permutation, "
         "bisection, neighbour, incast, tornado, transpose, bit-reverse, hotspot, neighbour-3d, worst-case, FILE.csv, "
         "SCHEDULE, broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, total-exchange, "
         "barrier)"},
        {FABRIC "traffic: {pattern: hotspot, target: 1;2}\n", ":2:37",
         "traffic.target: '1;2' is not an address (write for example 3,0)"},
        {FABRIC "traffic: {algorithm: round}\n", ":2:22",
         "traffic.algorithm: unknown word 'round' (one of best, tree, ring, rings, torus, double-tree, chain, halving, "
         "doubling, "
         "swing, swing-doubling, bruck, direct, pairwise, hierarchy)"},
        {FABRIC "traffic: {pattern: uniform, algorithm: ring}\n", ":2:29",
         "traffic.algorithm: is for pattern: SCHEDULE, broadcast, reduce-scatter, all-gather, all-reduce, reduce, "
         "gather, scatter, total-exchange or barrier, not "
         "uniform"},
        {FABRIC "traffic: {pattern: incast, shifts: 3}\n", ":2:28",
         "traffic.shifts: is for pattern: all-to-all, not incast"},
        {FABRIC "traffic: {pattern: all-reduce, count: 2}\n", ":2:32",
         "traffic.count: is for pattern: all-to-all, all-to-all-random, uniform, permutation, bisection, neighbour, "
         "incast, tornado, transpose, bit-reverse, hotspot, neighbour-3d or worst-case, not all-reduce (it runs once, "
         "to "
         "its end)"},
        {FABRIC "traffic: {count: 2, duration: 1s}\n", ":2:11", "a count and a duration: which of both? (0 is none)"},
        {FABRIC "clock: virtual\ncredits: 64\n", ":3:1",
         "credits: is for clock: wall, not virtual (--buffer is what a link buffers under the virtual clock)"},
        {FABRIC "clock: wall\nselect: auto\n", ":3:1", "select: is for clock: virtual, not wall"},
        {FABRIC "clock: wall\ntiming: {cable: 1ns}\n", ":3:10", "timing.cable: is for clock: virtual, not wall"},
        {FABRIC "traffic: {seed: 9223372036854775808}\n", ":2:17",
         "traffic.seed: 9223372036854775808 is outside 0 .. 9223372036854775807"},
        {FABRIC "traffic: {rate: 0}\n", ":2:17", "traffic.rate: 0 is outside 1e-06 .. 1"},
        {FABRIC "failed_boards: [[1, 2], [3]]\n", ":2:25", "failed_boards[1]: at least 2 entries expected"},
        {FABRIC "failed_boards: [[1, 2], [3, 0, 0]]\n", ":2:25", "failed_boards[1]: at most 2 entries allowed"},
        {FABRIC "failed_boards: [[1, 2], [0, 0], [1, 2]]\n", ":2:33", "board 1,2 is named twice"},
        {FABRIC "jobs: [{tag: 1, boards: [[1, 2], [1, 2]]}]\n", ":2:34", "board 1,2 is named twice"},
        {"fabric: 2x1 Hx1Mesh\nfailed_boards: [[0, 0], [1, 0]]\n", ":2:16",
         "every board has failed: nothing is left to run"},
        {FABRIC "failed_boards: [[1, 2], [3, 4]]\n", ":2:25", "board 3,4 is outside the fabric (X 0 .. 3, Y 0 .. 3)"},
        {FABRIC "failed_boards: [[1, x]]\n", ":2:21", "failed_boards[0][1]: 'x' is not a number that fits"},
        {FABRIC "failed_boards: [7]\n", ":2:17", "failed_boards[0]: a list expected, found a single value"},
        {FABRIC "jobs: [{tag: 0, boards: [[0, 0]]}]\n", ":2:14", "tag: 0 is outside 1 .. 65535"},
        {FABRIC "jobs: [{tag: 1}]\n", ":2:8", "job 1 has no 'boards', no 'rectangle' and no 'size'"},
        {FABRIC "jobs:\n - {tag: 1, boards: [[1, 1]]}\n - {tag: 2, boards: [[0, 0], [1, 1]]}\n", ":4:30",
         "board 1,1 already belongs to job 1"},
        {FABRIC "jobs: [{tag: 1, rectangle: [[1, 1], [0, 3]]}]\n", ":2:28",
         "jobs[0].rectangle: the first corner must be the north-western one"},
        {FABRIC "jobs: [{tag: 1, hosts: [[0, 1]]}]\n", ":2:24",
         "a HammingMesh's jobs have whole boards: 'boards' or 'rectangle'"},
        {TREE "jobs: [{tag: 1}]\n", ":2:8", "job 1 has no 'hosts' and no 'size'"},
        {TREE "jobs: [{tag: 1, hosts: [[0, 4]]}]\n", ":2:25", "hosts 0 to 4 are not a range of 0 .. 3"},
        {TREE "jobs: [{tag: 1, hosts: [[2, 1]]}]\n", ":2:25", "hosts 2 to 1 are not a range of 0 .. 3"},
        {TREE "jobs:\n - {tag: 1, hosts: [[0, 1]]}\n - {tag: 2, hosts: [[1, 2]]}\n", ":4:21",
         "host 1 already belongs to job 1"},
        {"fabric: torus 4x4\njobs: [{tag: 1, hosts: [[0, 1]]}]\n", ":2:1",
         "hosts of a torus of one or two sides forward packets: jobs cannot be kept apart"},
        {FABRIC "jobs: [{size: 4x5}]\n", ":2:15",
         "no room for 4x5 boards: 16 of 16 are free, and a job needs rows of boards with the same free columns"},
        {FABRIC "jobs: [{boards: [[1, 1]]}, {size: 4x4}]\n", ":2:35",
         "no room for 4x4 boards: 15 of 16 are free, and a job needs rows of boards with the same free columns"},
        {FABRIC "jobs: [{size: 2y}]\n", ":2:15",
         "'2y' is no size (write a number of boards, as 6, or COLUMNSxROWS of them, as 3x2)"},
        {FABRIC "jobs: [{size: 2, boards: [[0, 0]]}]\n", ":2:9", "job 1 names its boards: it has that size"},
        {FABRIC "jobs: [{size: 2, place: random}]\n", ":2:25",
         "is for hosts of another fabric: boards of a HammingMesh are found as hxmesh allocate finds them"},
        {FABRIC "jobs: [{name: a, size: 2}, {name: a, size: 2}]\n", ":2:35", "there is a job 'a' already"},
        {FABRIC "jobs: [{name: 12, size: 2}]\n", ":2:15",
         "'12' is a tag, not a name: give it as tag, or a name with a letter"},
        {FABRIC "jobs:\n - {tag: 4, size: 2}\n - {tag: 4, size: 2, traffic: incast}\n", ":4:10",
         "there is a job 4 already: only boards can be added to it"},
        {FABRIC "jobs: [{size: 2, traffic: all-rduce}]\n", ":2:27",
         "traffic: unknown word 'all-rduce' (did you mean 'all-reduce'?)"},
        {FABRIC "jobs: [{size: 2, traffic: a.csv}]\n", ":2:27",
         "a list of messages is for the whole run: a job may have a schedule"},
        {FABRIC "jobs: [{size: 2, traffic: all-reduce, count: 3}]\n", ":2:39",
         "count: is for pattern: all-to-all, all-to-all-random, uniform, permutation, bisection, neighbour, incast, "
         "tornado, transpose, bit-reverse, hotspot, neighbour-3d or worst-case, not all-reduce (it runs once, to its "
         "end)"},
        {FABRIC "jobs: [{size: 2, grid: 3}]\n", ":2:24", "'3' is no grid (write COLUMNSxROWS of hosts, as 8x4)"},
        {FABRIC "jobs: [{size: 2, grid: 65536x1}]\n", ":2:24", "'65536x1' is no grid: a side has at most 65535 hosts"},
        {FABRIC "jobs: [{size: 2, traffic: incast, grid: 4x2}]\n", ":2:35",
         "grid: is for pattern: broadcast, reduce-scatter, all-gather, all-reduce, reduce, gather, scatter, "
         "total-exchange or barrier, not incast"},
        {TREE "jobs: [{hosts: [[0, 1]], place: random}]\n", ":2:26", "place: is for a size: job 1 names its hosts"},
        {TREE "jobs: [{size: 5}]\n", ":2:15", "no room for 5 hosts: 4 of 4 are free"},
        {TREE "failures: leaf0/2 leaf7\n", ":2:11",
         "fail: 'leaf7' is none of its nodes, links and groups (such as spine0, spine0/0, group2)"},
        {"", ":1:1", "the file is empty"},
        {"# nothing\n", ":1:1", "the file is empty"},
        {"[1, 2]\n", ":1:1", "a mapping of keys expected, found a list"},
        {FABRIC "---\n" FABRIC, ":2:1", "a second document: only one is allowed"},
        {"fabric: &f 4x4 Hx2Mesh\nname: *f\n", ":2:7", "aliases are not supported"},
        {"{fabric: a, ? [1, 2] : 3}\n", ":1:15", "a key must be a word"},
        {FABRIC "'': 3\n", ":2:1", "a key must be a word"},
        {FABRIC "traffic.message: 3\n", ":2:1", "a key has neither '.' nor '['"},
        {FABRIC "name: \"a \\e[31m\"\n", ":2:7", "control characters are not allowed"},
        {FABRIC "capture: {file: ''}\n", ":2:17", "capture.file: is empty"},
        {FABRIC "capture: run.pcapng\n", ":2:10", "capture: a mapping of keys expected, found a single value"},
        {FABRIC "traffic: {pattern: {a: b}}\n", ":2:20",
         "traffic.pattern: a single value expected, found a mapping of keys"},
        {FABRIC "jobs: {tag: 1}\n", ":2:7", "jobs: a list expected, found a mapping of keys"},
        {FABRIC "jobs: [{tag: 1, rectangle: [[1, 1]]}]\n", ":2:28", "jobs[0].rectangle: at least 2 entries expected"},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n", ":1:33", "nested too deep"},
        {FABRIC "name: \"a\n", ":3:1", "found unexpected end of stream"},
        {FABRIC "name: \x01\n", ":2:7", "control characters are not allowed"},
    };
    file_refused(FILE_NAME, cases, sizeof cases / sizeof *cases, load_any);
}

static void assert_refused(const char *name, const char *says)
{
    struct hx_spec s;
    struct hx_problem p;
    assert_false(hx_spec_try_load(name, NULL, &s, &p));
    assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
    if (!strstr(p.what, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, p.what, says);
}

static void missing_and_other_files_are_refused(void **state)
{
    (void)state;
    enum { HUGE = 2 << 20 };
    char *huge = malloc(HUGE);
    assert_non_null(huge);
    memset(huge, 'a', HUGE);
    assert_refused(file_write(FILE_NAME, huge, HUGE), "larger than 1 MiB");
    free(huge);
    assert_refused(file_path(""), "is a directory, not a file");
    assert_refused("/tmp/there-is-no-such-file.hxm.yaml", "No such file");
    assert_refused("/dev/zero", "is a device, not a file");
}

/* Any bytes in a file end in a spec or in an error. */
static void random_files(void **state)
{
    (void)state;
    enum { ROUNDS = 4000, MOST = 300 };
    static const char seed_text[] = "fabric: 2x2 Hx2Mesh\nplanes: 2\nfailed_boards: [[1, 0]]\njobs:\n  - tag: 7\n"
                                    "    boards: [[0, 0], [0, 1]]\ntraffic: {pattern: uniform, message: 8KiB}\n";
    static const char letters[] = "{}[],:-?&*#|>%@`\"' \n\t~0129abx.";
    srand(2);
    for (unsigned round = 0; round < effort_few(ROUNDS / 8, ROUNDS); round++) {
        char text[MOST];
        size_t bytes = sizeof seed_text - 1;
        memcpy(text, seed_text, bytes);
        for (int changes = 1 + rand() % 6; changes > 0; changes--) {
            size_t at = (size_t)rand() % bytes;
            if (rand() % 8 == 0)
                text[at] = (char)rand();
            else if (rand() % 8 == 0)
                bytes = at + 1;
            else
                text[at] = letters[(size_t)rand() % (sizeof letters - 1)];
        }
        const char *path = file_write(FILE_NAME, text, bytes);
        struct hx_spec s;
        struct hx_problem p = {.exit_code = -1};
        if (hx_spec_try_load(path, NULL, &s, &p)) {
            hx_spec_free(&s);
            continue;
        }
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
        assert_int_equal(strncmp(p.where, path, strlen(path)), 0);
        assert_int_not_equal(strlen(p.what), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key),
        cmocka_unit_test(keys_for_settings_of_the_command_line),
        cmocka_unit_test(keys_that_conflict_with_the_command_line_are_ignored),
        cmocka_unit_test(a_capture),
        cmocka_unit_test(defaults),
        cmocka_unit_test(mistakes_are_named_with_line_and_column),
        cmocka_unit_test(missing_and_other_files_are_refused),
        cmocka_unit_test(random_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
