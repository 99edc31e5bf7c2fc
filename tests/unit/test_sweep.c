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
        {"seed", "0..8", "doubling 0 leads nowhere (begin at 1, or write for example 0..8/9 for nine values)"},
        {"seed", "1..1000/257", "257 is outside 2 .. 256"},
        {"rate", "0.5..1.5/3", "1.5 is outside 1e-06 .. 1"},
        {"traffic", "uniform,uniforn", "unknown word 'uniforn' (did you mean 'uniform'?)"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sweep_axis a = axis_of(cases[i].option);
        assert_string_equal(sweep_axis_add(&a, cases[i].text, why), cases[i].wrong);
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
        cmocka_unit_test(every_combination_once),
        cmocka_unit_test(a_report_is_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
