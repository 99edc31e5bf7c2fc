/* test_value.c - numbers, sizes, durations and words of options and files. */
#include "base/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The error contains `part`. */
static void assert_says(const char *complaint, const char *part)
{
    assert_non_null(complaint);
    if (!strstr(complaint, part))
        fail_msg("\"%s\" does not say \"%s\"", complaint, part);
}

static void numbers(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    uint64_t v = 7;
    assert_null(hx_value_number("0", 0, 9, &v, why));
    assert_int_equal(v, 0);
    assert_null(hx_value_number("0x10", 0, 99, &v, why));
    assert_int_equal(v, 16);
    assert_null(hx_value_number("18446744073709551615", 0, UINT64_MAX, &v, why));
    assert_true(v == UINT64_MAX);
    assert_says(hx_value_number("18446744073709551616", 0, UINT64_MAX, &v, why),
                "is outside 0 .. 18446744073709551615");
    assert_says(hx_value_number("10", 1, 4, &v, why), "10 is outside 1 .. 4");
    assert_says(hx_value_number("-1", 0, 9, &v, why), "-1 is outside 0 .. 9");
    static const char *const bad[] = {"", " 1", "1 ", "-", "--1", "-x", "+1", "1.0", "1e3", "0x", "one", "1,2"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_says(hx_value_number(bad[i], 0, 99, &v, why), "is not a number");
    assert_true(v == UINT64_MAX); /* unchanged by all calls */
}

static void sizes(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"1", 1},
                {"8192", 8192},
                {"1B", 1},
                {"4K", 4096},
                {"64KiB", 65536},
                {"1mib", 1 << 20},
                {"1M", 1 << 20},
                {"2GiB", 2ULL << 30},
                {"3g", 3ULL << 30},
                {"1TiB", 1ULL << 40},
                {"8kB", 8000},
                {"1KB", 1000},
                {"1.5KiB", 1536},
                {"0.25M", 1 << 18},
                {"2.5GB", 2500000000},
                {"1.0", 1},
                {"3.50TB", 3500000000000}};
    uint64_t v = 0;
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        assert_null(hx_value_bytes(good[i].text, 0, UINT64_MAX, &v, why));
        assert_true(v == good[i].bytes);
    }
    static const char *const bad[] = {
        "", "KiB", "1.KiB", ".5MiB", "-1", "1 K", "1KiBi", "1.5.5K", "1.0000000000000000000000K"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_says(hx_value_bytes(bad[i], 0, UINT64_MAX, &v, why), "is not a size");
    assert_says(hx_value_bytes("1.3KiB", 0, UINT64_MAX, &v, why), "'1.3KiB' is no whole number of bytes");
    assert_says(hx_value_bytes("99999999T", 0, UINT64_MAX, &v, why), "outside");
    assert_says(hx_value_bytes("2M", 1, 1 << 20, &v, why), "'2M' is outside 1 B .. 1 MiB");
}

static void durations(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    static const struct {
        const char *text;
        uint64_t nanoseconds;
    } good[] = {{"0", 0},
                {"1", 1000000000},
                {"30s", 30000000000},
                {"500ms", 500000000},
                {"2m", 120000000000},
                {"1.5h", 5400000000000},
                {"10us", 10000},
                {"7ns", 7},
                {".5s", 500000000}};
    uint64_t v = 0;
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) {
        assert_null(hx_value_duration(good[i].text, 0, UINT64_MAX, &v, why));
        assert_true(v == good[i].nanoseconds);
    }
    static const char *const bad[] = {"", "s", "-1s", "1 s", "1d", "nan", "inf", "1e999"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_says(hx_value_duration(bad[i], 0, UINT64_MAX, &v, why), "is not a duration");
    assert_says(hx_value_duration("1e30h", 0, UINT64_MAX, &v, why), "outside");
    assert_says(hx_value_duration("2h", 0, 3600000000000, &v, why), "'2h' is outside 0 ns .. 1 h");
}

static void reals_and_switches(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    double r = 0;
    assert_null(hx_value_real("0.25", 0, 1, &r, why));
    assert_true(r > 0.2499 && r < 0.2501);
    assert_says(hx_value_real("1.5", 0, 1, &r, why), "1.5 is outside 0 .. 1");
    assert_says(hx_value_real("half", 0, 1, &r, why), "is not a number");
    assert_says(hx_value_real("nan", 0, 1, &r, why), "is not a number");
    assert_says(hx_value_real("-0.5", 0, 1, &r, why), "is not a number");
    bool b = false;
    assert_null(hx_value_switch("yes", &b, why));
    assert_true(b);
    assert_null(hx_value_switch("False", &b, why));
    assert_false(b);
    assert_says(hx_value_switch("2", &b, why), "neither true nor false");
}

static void coordinates(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    struct hx_coordinate c = {9, 9};
    assert_null(hx_value_coordinate("3,0", &c, why));
    assert_int_equal(c.addr_hi, 3);
    assert_int_equal(c.addr_lo, 0);
    assert_null(hx_value_coordinate("a15,7", &c, why)); /* as reports name it */
    assert_int_equal(c.addr_hi, 15);
    assert_int_equal(c.addr_lo, 7);
    static const char *const bad[] = {
        "", "3", "3,", ",3", "3,4,5", "a,b", "3;4", "a", "aa3,0", "3,a0", "99999999999,0", "-1,0", "a3,0/p0/E"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_says(hx_value_coordinate(bad[i], &c, why), "is not an address");
}

static void choices(void **state)
{
    char why[HX_WHY_TEXT];
    (void)state;
    static const char *const words[] = {"wall", "virtual", NULL};
    unsigned index = 9;
    assert_null(hx_value_choice("Virtual", words, &index, why));
    assert_int_equal(index, 1);
    assert_says(hx_value_choice("virtul", words, &index, why), "did you mean 'virtual'?");
    assert_says(hx_value_choice("xyz", words, &index, why), "one of wall, virtual");
}

static void printing(void **state)
{
    (void)state;
    char text[HX_VALUE_TEXT];
    assert_string_equal(hx_value_print_duration(text, 0), "0 ns");
    assert_string_equal(hx_value_print_duration(text, 1500000000), "1.5 s");
    assert_string_equal(hx_value_print_duration(text, 7200000000000), "2 h");
    assert_string_equal(hx_value_print_bytes(text, 0), "0 B");
    assert_string_equal(hx_value_print_bytes(text, 8192), "8 KiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),     cmocka_unit_test(sizes),
        cmocka_unit_test(durations),   cmocka_unit_test(reals_and_switches),
        cmocka_unit_test(coordinates), cmocka_unit_test(choices),
        cmocka_unit_test(printing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
