/* test_sweep.c - values of lists and ranges, and the runs that they make. */
#include "spec/spec.h"
#include "tools/sweep/sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hx_settings settings;
static const struct hx_option options[] = {HX_SETTINGS_OPTIONS(&settings), HX_OPTIONS_END};

static struct sweep_axis axis_of(const char *name)
{
    const struct hx_option *o = options;
    while (strcmp(o->name, name) != 0)
        o++;
    return (struct sweep_axis){.option = o};
}

static void values_of_lists_and_ranges(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    static const struct {
        const char *option, *text, *values; /* values with a space before each */
    } cases[] = {
        {"message", "1MiB", " 1MiB"},
        {"message", "1KiB..4MiB", " 1KiB 2KiB 4KiB 8KiB 16KiB 32KiB 64KiB 128KiB 256KiB 512KiB 1MiB 2MiB 4MiB"},
        {"message", "1000,3KiB..20KiB", " 1000 3KiB 6KiB 12KiB 20KiB"},
        {"message", "0x10..64", " 16 32 64"},
        {"message", "1KiB..3KiB/3", " 1KiB 2KiB 3KiB"},
        {"count", "1..6", " 1 2 4 6"},
        {"seed", "1..5/5", " 1 2 3 4 5"},
        {"seed", "0..8/3,99", " 0 4 8 99"},
        {"seed", "0..9", " 0 1 2 4 8 9"},
        {"seed", "0..1", " 0 1"},
        {"seed", "0..0", " 0"},
        {"rate", "0.1..0.9/9", " 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9"},
        {"rate", ".5", " .5"},
        {"rate", "0.05..1", " 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.55 0.6 0.65 0.7 0.75 0.8 0.85 0.9 0.95 1"},
        {"rate", "0.01..0.12", " 0.01 0.06 0.11 0.12"},
        {"rate", "0.1..0.12", " 0.1 0.12"},
        {"message", "8KiB..8KiB", " 8KiB"},
        {"rate", "0.5..0.5/3", " 0.5"},
        {"duration", "1us..8us", " 1us 2us 4us 8us"},
        {"traffic", "uniform,../a..b.csv,all-reduce", " uniform ../a..b.csv all-reduce"},
        {"verify", "on,off", " on off"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sweep_axis a = axis_of(cases[i].option);
        char all[1024] = "";
        assert_null(sweep_axis_add(&a, cases[i].text, why));
        for (unsigned n = 0; n < a.count; n++) {
            size_t used = strlen(all);
            (void)snprintf(all + used, sizeof all - used, " %s", a.value[n].text);
        }
        assert_string_equal(all, cases[i].values);
    }
}

static void invalid_lists_and_ranges(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    static const struct {
        const char *option, *text, *wrong;
    } cases[] = {
        {"message", "1KiB..", "'' is not a size (write for example 8192, 64KiB, 1MiB or 2GiB)"},
        {"message", "1KiB,", "'' is not a size (write for example 8192, 64KiB, 1MiB or 2GiB)"},
        {"message", "4KiB..1KiB", "a range goes from the lower value to the higher (low..high)"},
        {"message", "1..4/1", "1 is outside 2 .. 256"},
        {"warm-up", "0..8us", "doubling 0 leads nowhere (begin above 0, or write for example 0..8/9 for nine values)"},
        {"seed", "1..1000/257", "257 is outside 2 .. 256"},
        {"rate", "0.5..1.5/3", "1.5 is outside 1e-06 .. 1"},
        {"traffic", "uniform,uniforn", "unknown word 'uniforn' (did you mean 'uniform'?)"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sweep_axis a = axis_of(cases[i].option);
        assert_string_equal(sweep_axis_add(&a, cases[i].text, why), cases[i].wrong);
    }
}

/* Values of a parameter are numbers if all are; commas in brackets and quotes do not part them. */
static void values_of_parameters(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    static const struct {
        const char *text, *name, *values; /* values with " | " before each */
        enum hx_option_kind kind;
        double last;
    } cases[] = {
        {"batch=8,16", "set.batch", " | 8 | 16", HX_OPTION_NUMBER, 16},
        {"batch=8..64", "set.batch", " | 8 | 16 | 32 | 64", HX_OPTION_NUMBER, 64},
        {"batch=0..4/3", "set.batch", " | 0 | 2 | 4", HX_OPTION_NUMBER, 4},
        {"share=0.25..2", "set.share", " | 0.25 | 0.5 | 1 | 2", HX_OPTION_REAL, 2},
        {"share=1,2.5", "set.share", " | 1 | 2.5", HX_OPTION_REAL, 2.5},
        {"bytes=64KiB..256KiB", "set.bytes", " | 64KiB | 128KiB | 256KiB", HX_OPTION_BYTES, 262144},
        {"forward=20 us, 40us", "set.forward", " | 20us | 40us", HX_OPTION_DURATION, 40000},
        {"shape=[4, 4],max(1,2)", "set.shape", " | [4, 4] | max(1,2)", HX_OPTION_STRING, 0},
        {"name='a,b',c", "set.name", " | 'a,b' | c", HX_OPTION_STRING, 0},
        {"place=1..2,all", "set.place", " | 1..2 | all", HX_OPTION_STRING, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sweep_axis a = {.count = 0};
        const struct hx_option set = {.name = "set", .kind = HX_OPTION_LIST};
        const char *values = sweep_set_values(&a, cases[i].text);
        char all[256] = "";
        assert_non_null(values);
        assert_null(sweep_set_add(&a, &set, values, why));
        for (unsigned n = 0; n < a.count; n++) {
            size_t used = strlen(all);
            (void)snprintf(all + used, sizeof all - used, " | %s", a.value[n].text);
        }
        assert_string_equal(all, cases[i].values);
        assert_string_equal(sweep_axis_name(&a), cases[i].name);
        assert_int_equal(a.option->kind, cases[i].kind);
        assert_string_equal(a.option->name, "set");
        assert_true(a.value[a.count - 1].number == cases[i].last);
    }
    struct sweep_axis none = {.count = 0};
    assert_null(sweep_set_values(&none, "batch"));
    assert_null(sweep_set_values(&none, "=8"));
}

static void an_iteration_is_that_of_the_slowest_schedule(void **state)
{
    (void)state;
    static const struct {
        const char *report;
        double seconds; /* 0: none */
    } cases[] = {
        {"{}", 0},
        {"{\"schedule\": []}", 0},
        {"{\"schedule\": [{\"seconds\": 6, \"iterations\": 0, \"training_iterations\": null}]}", 6},
        {"{\"schedule\": [{\"seconds\": 6, \"iterations\": 3, \"training_iterations\": null}]}", 2},
        {"{\"schedule\": [{\"seconds\": 6, \"iterations\": 3, \"training_iterations\": 1}]}", 6},
        {"{\"schedule\": [{\"seconds\": 6, \"iterations\": 3}, {\"seconds\": 4, \"iterations\": 1}]}", 4},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *report = json_loads(cases[i].report, 0, NULL);
        const double seconds = sweep_iteration(report);
        assert_true(cases[i].seconds > 0 ? seconds == cases[i].seconds : seconds != seconds);
        json_decref(report);
    }
}

/* Every combination once, the last axis fastest. */
static void every_combination_once(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    struct sweep_axis traffic = axis_of("traffic");
    struct sweep_axis seed = axis_of("seed");
    struct sweep_axis rate = axis_of("rate");
    assert_null(sweep_axis_add(&traffic, "uniform,tornado", why));
    assert_null(sweep_axis_add(&seed, "7", why));
    assert_null(sweep_axis_add(&rate, "0.1..0.3/3", why));
    const struct sweep s = {.axis = {&traffic, &seed, &rate}, .axes = 3};
    assert_int_equal(sweep_count(&s), 6);
    for (unsigned run = 0; run < 6; run++) {
        assert_string_equal(sweep_value(&s, run, 0)->text, run < 3 ? "uniform" : "tornado");
        assert_string_equal(sweep_value(&s, run, 1)->text, "7");
        assert_true(sweep_value(&s, run, 2)->number == strtod(sweep_value(&s, run, 2)->text, NULL));
        assert_int_equal((int)(sweep_value(&s, run, 2)->number * 10 + 0.5), run % 3 + 1);
    }
    assert_ptr_equal(sweep_x(&s), &rate);
}

/* Every algorithm but `best`, and none twice. */
static void all_stands_for_each_algorithm(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    struct sweep_axis all = axis_of("algorithm");
    struct sweep_axis more = axis_of("algorithm");
    assert_null(sweep_axis_add(&all, "all", why));
    assert_null(sweep_axis_add(&more, "best,ring,all", why));
    assert_true(all.all && more.all);
    assert_int_equal(all.count, HX_ALGORITHMS - 1);
    for (unsigned i = 0; i < all.count; i++)
        assert_string_equal(all.value[i].text, hx_algorithm_names[HX_ALGORITHM_BEST + 1 + i]);
    assert_int_equal(more.count, HX_ALGORITHMS);
    assert_string_equal(more.value[0].text, hx_algorithm_names[HX_ALGORITHM_BEST]);
    assert_string_equal(more.value[1].text, "ring");
    struct sweep_axis traffic = axis_of("traffic");
    assert_non_null(sweep_axis_add(&traffic, "all", why));
}

/* ---- a table of algorithms ---- */

struct bench {
    struct sweep_axis fabric, traffic, algorithm, message;
    struct sweep s;
    struct sweep_row row[16];
    char *text;
    size_t bytes;
};

static void bench_open(struct bench *b, const char *traffic, const char *algorithms, const char *messages)
{
    char why[HX_WHY_TEXT];
    *b =
        (struct bench){.traffic = axis_of("traffic"), .algorithm = axis_of("algorithm"), .message = axis_of("message")};
    assert_null(sweep_axis_add(&b->fabric, "4x4 Hx2Mesh", why));
    assert_null(sweep_axis_add(&b->traffic, traffic, why));
    assert_null(sweep_axis_add(&b->algorithm, algorithms, why));
    assert_null(sweep_axis_add(&b->message, messages, why));
    b->s = (struct sweep){.axis = {&b->fabric, &b->traffic, &b->algorithm, &b->message}, .axes = 4, .row = b->row};
    b->s.runs = sweep_count(&b->s);
    assert_in_range(b->s.runs, 1, 16);
}

static void bench_run(struct bench *b, unsigned run, double seconds, double gbps)
{
    b->row[run].figures = json_pack("{s:f, s:f}", "collective.seconds", seconds, "collective.bus_gbps", gbps);
}

/* Compares what is printed from the names of columns on. */
static void bench_holds(struct bench *b, const char *expected)
{
    FILE *out = open_memstream(&b->text, &b->bytes);
    sweep_print(&b->s, out);
    (void)fclose(out);
    const char *table = strstr(b->text, "\n\n");
    assert_non_null(table);
    assert_string_equal(table + 2, expected);
    free(b->text);
}

static void bench_close(struct bench *b)
{
    for (unsigned i = 0; i < b->s.runs; i++) {
        json_decref(b->row[i].figures);
        free(b->row[i].left_out);
    }
}

static void algorithms_stand_side_by_side(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, "all-reduce", "ring,tree,torus", "1KiB,16MiB");
    bench_run(&b, 0, 28.37e-6, 0.5685);
    bench_run(&b, 1, 331.9e-6, 796.1);
    bench_run(&b, 2, 3.273e-6, 4.927);
    bench_run(&b, 3, 12e-3, 12345.67);
    bench_run(&b, 4, 3.273e-6, 4.927);
    bench_run(&b, 5, 1e-6, 1);
    b.row[5].exit_code = HX_EXIT_FAILED;
    bench_holds(&b, "  size               ring               tree             torus\n"
                    "              time   Gb/s        time   Gb/s       time   Gb/s\n"
                    "  1KiB    28.37 us    0.6   *3.273 us    4.9  *3.273 us    4.9\n"
                    "  16MiB  *331.9 us  796.1      12 ms 12345.7            FAILED\n"
                    "  * least time; Gb/s: bus bandwidth\n");
    bench_close(&b);
}

static void bench_refuse(struct bench *b, unsigned run, const char *why)
{
    b->row[run].exit_code = HX_EXIT_CONFIG;
    assert_true(sweep_leave_out(&b->s, run, why));
}

static void none_is_refused(const struct sweep *s, unsigned run, const char *why)
{
    (void)s;
    fail_msg("run %u: %s", run, why);
}

/* One that all runs refuse has no column. */
static void what_a_fabric_does_not_have_is_left_out(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, "all-reduce", "ring,tree,torus,halving", "1KiB,2KiB");
    assert_false(sweep_leave_out(&b.s, 0, "not of `all`"));
    b.algorithm.all = true;
    bench_run(&b, 0, 1e-6, 8.192);
    bench_run(&b, 1, 1e-6, 16.384);
    bench_run(&b, 2, 2e-6, 4.096);
    bench_refuse(&b, 3, "too many messages");
    bench_refuse(&b, 4, "no torus");
    bench_refuse(&b, 5, "no torus here");
    bench_refuse(&b, 6, "no halving");
    bench_refuse(&b, 7, "no halving");
    sweep_settle_left_out(&b.s, none_is_refused);
    bench_holds(&b, "  size              ring              tree\n"
                    "             time   Gb/s       time   Gb/s\n"
                    "  1KiB  *    1 us    8.2       2 us    4.1\n"
                    "  2KiB  *    1 us   16.4                 -\n"
                    "  * least time; Gb/s: bus bandwidth\n"
                    "  left out of 1 of 2 runs: tree; first refusal: too many messages\n"
                    "  left out of 2 of 2 runs: torus, halving; first refusal: no torus\n");
    bench_close(&b);
}

static unsigned refusals;

static void note_refused(const struct sweep *s, unsigned run, const char *why)
{
    assert_int_equal(run, 1);
    assert_string_equal(why, "too large");
    (void)s;
    refusals++;
}

static void where_all_refuse_none_is_left_out(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, "all-reduce", "ring,tree", "1KiB,8TiB");
    b.algorithm.all = true;
    bench_run(&b, 0, 1e-6, 8.192);
    bench_refuse(&b, 1, "too large");
    bench_refuse(&b, 2, "no tree");
    bench_refuse(&b, 3, "no tree");
    refusals = 0;
    sweep_settle_left_out(&b.s, note_refused);
    assert_int_equal(refusals, 1);
    assert_null(b.row[1].left_out);
    assert_null(b.row[3].left_out);
    bench_holds(&b, "  size              ring         tree\n"
                    "             time   Gb/s  time   Gb/s\n"
                    "  1KiB  *    1 us    8.2            -\n"
                    "  8TiB           refused      refused\n"
                    "  * least time; Gb/s: bus bandwidth\n"
                    "  left out of 1 of 2 runs: tree; first refusal: no tree\n");
    bench_close(&b);
}

/* Only if all runs are collectives by several algorithms. */
static void other_sweeps_have_a_line_for_each_run(void **state)
{
    static const struct {
        const char *traffic, *algorithms;
        bool table;
    } cases[] = {{"all-reduce", "tree,ring", true},
                 {"all-reduce,broadcast", "tree,ring", true},
                 {"all-reduce", "tree", false},
                 {"all-reduce,uniform", "tree,ring", false},
                 {"./x.schedule.yaml", "tree,ring", false}};
    struct bench b;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench_open(&b, cases[i].traffic, cases[i].algorithms, "1KiB");
        assert_int_equal(sweep_algorithms(&b.s), cases[i].table ? 2 : b.s.axes);
    }
}

static void a_report_is_flat(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    struct sweep_axis rate = axis_of("rate");
    assert_null(sweep_axis_add(&rate, "0.25,0.5", why));
    const struct sweep s = {.axis = {&rate}, .axes = 1};
    json_t *report =
        json_loads("{\"a\": 1, \"b\": {\"c\": 2.5, \"d\": {\"e\": true}}, \"links\": [1], \"f\": \"g\"}", 0, NULL);
    json_t *row = sweep_flatten(&s, 1, report);
    char *text = json_dumps(row, JSON_COMPACT);
    assert_string_equal(text, "{\"rate\":0.5,\"a\":1,\"b.c\":2.5,\"b.d.e\":true,\"f\":\"g\"}");
    free(text);
    json_decref(row);
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_lists_and_ranges),
        cmocka_unit_test(invalid_lists_and_ranges),
        cmocka_unit_test(values_of_parameters),
        cmocka_unit_test(an_iteration_is_that_of_the_slowest_schedule),
        cmocka_unit_test(every_combination_once),
        cmocka_unit_test(all_stands_for_each_algorithm),
        cmocka_unit_test(algorithms_stand_side_by_side),
        cmocka_unit_test(what_a_fabric_does_not_have_is_left_out),
        cmocka_unit_test(where_all_refuse_none_is_left_out),
        cmocka_unit_test(other_sweeps_have_a_line_for_each_run),
        cmocka_unit_test(a_report_is_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
