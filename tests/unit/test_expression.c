/* test_expression.c - expressions of schedules in YAML: values, division of negative numbers, types, error columns. */
#include "schedule/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct expression_name names[] = {{"ranks", EXPRESSION_NUMBER, EXPRESSION_OF_RANKS},
                                               {"rank", EXPRESSION_NUMBER, EXPRESSION_OF_RANK},
                                               {"step", EXPRESSION_TIME, 0},
                                               {"is_last", EXPRESSION_CONDITION, EXPRESSION_OF_RANK}};
static const int64_t values[] = {8, 7, 1500, 1};
static const struct expression_scope scope = {.name = names, .names = 4};

static void values_are_those_of_mathematics(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
        enum expression_type type;
    } cases[] = {
        {"3", 3, EXPRESSION_NUMBER},
        {" 0x1f ", 31, EXPRESSION_NUMBER},
        {"64KiB", 65536, EXPRESSION_NUMBER},
        {"1.5 MB", 1500000, EXPRESSION_NUMBER},
        {"15.9 ms", 15900000000, EXPRESSION_TIME},
        {"10us", 10000000, EXPRESSION_TIME},
        {"2 ps + 3ns", 3002, EXPRESSION_TIME},
        {"1 s", 1000000000000, EXPRESSION_TIME},
        {"2 * step", 3000, EXPRESSION_TIME},
        {"step * 2 / 4", 750, EXPRESSION_TIME},
        {"4us / step", 2666, EXPRESSION_NUMBER},
        {"step % 1ns", 500, EXPRESSION_TIME},
        {"-step", -1500, EXPRESSION_TIME},
        {"(rank + 1) % ranks", 0, EXPRESSION_NUMBER},
        {"(rank - 8) % ranks", 7, EXPRESSION_NUMBER},
        {"-1 / 8", -1, EXPRESSION_NUMBER},
        {"-8 / 8", -1, EXPRESSION_NUMBER},
        {"7 / -2", -4, EXPRESSION_NUMBER},
        {"7 % -2", -1, EXPRESSION_NUMBER},
        {"-7 % -1", 0, EXPRESSION_NUMBER},
        {"7 - 2 - 1", 4, EXPRESSION_NUMBER},
        {"1 + 2 * 3", 7, EXPRESSION_NUMBER},
        {"(1 + 2) * 3", 9, EXPRESSION_NUMBER},
        {"--3", 3, EXPRESSION_NUMBER},
        {"min(rank, 3) + max(rank, 30)", 33, EXPRESSION_NUMBER},
        {"min(step, 1us)", 1500, EXPRESSION_TIME},
        {"power(2, 10)", 1024, EXPRESSION_NUMBER},
        {"power(-3, 3)", -27, EXPRESSION_NUMBER},
        {"power(2, 62)", INT64_C(1) << 62, EXPRESSION_NUMBER},
        {"xor(rank, power(2, 1))", 5, EXPRESSION_NUMBER},
        {"log2(ranks) + log2(ranks - 1)", 5, EXPRESSION_NUMBER},
        {"rank == 7", 1, EXPRESSION_CONDITION},
        {"rank != 7 or rank >= 7", 1, EXPRESSION_CONDITION},
        {"rank < 3 and rank > 9 or rank > 3", 1, EXPRESSION_CONDITION},
        {"step <= 1us", 1, EXPRESSION_CONDITION},
        {"not rank == 7", 0, EXPRESSION_CONDITION},
        {"not is_last or rank > 6", 1, EXPRESSION_CONDITION},
        {"not (is_last and rank > 6)", 0, EXPRESSION_CONDITION},
        {"3 * (rank == 7) + is_last", 4, EXPRESSION_NUMBER},
        {"rank == 1 or rank == 3 or rank == 7", 1, EXPRESSION_CONDITION},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expression e;
        struct expression_error error;
        size_t end;
        int64_t value = 0;
        bool good = expression_compile(&e, cases[i].text, &scope, &end, &error) && !cases[i].text[end] &&
                    expression_value(&e, values, &value, &error);
        if (!good)
            fail_msg("%s: %s", cases[i].text, error.what);
        if (value != cases[i].value || e.type != cases[i].type)
            fail_msg("%s: %lld of type %d", cases[i].text, (long long)value, (int)e.type);
        expression_free(&e);
    }
}

static void errors_name_the_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *what;
    } cases[] = {
        {"", 0, "a number, a name or '(' is expected here"},
        {"1 +", 3, "a number, a name or '(' is expected here"},
        {"(1", 2, "')' is expected here"},
        {"min(1)", 5, "',' is expected here"},
        {"1 + rnak", 4, "unknown name 'rnak' (did you mean 'rank'?)"},
        {"1 + mni(1, 2)", 4, "unknown name 'mni' (did you mean 'min'?)"},
        {"12 parsecs", 0, "'12parsecs' is no number, size or time (write for example 8, 64KiB or 10us)"},
        {"1.5", 0, "'1.5' is no whole number of bytes"},
        {"1us + 2", 4, "'+' of a time and a number (a time has a unit: 15.9 ms, 10us)"},
        {"2 / 1us", 2, "'/' of a number and a time (a time has a unit: 15.9 ms, 10us)"},
        {"1us * 1us", 4, "'*' of a time and a time"},
        {"0 < rank < 3", 9, "'<' of a condition and a number (join conditions by 'and' or 'or')"},
        {"rank and 1", 5, "'and' of a number and a number (a condition has a comparison: rank == 0)"},
        {"not rank", 0, "'not' of a number (a condition has a comparison: rank == 0)"},
        {"max(1us, 2)", 0, "max() of a time and a number"},
        {"log2(1us)", 0, "log2() of a time"},
        {"1 + 3 / (rank - 7)", 6, "division by 0"},
        {"5 % (ranks - 8)", 2, "division by 0"},
        {"power(2, 64)", 0, "the result exceeds 64 bits"},
        {"9223372036854775807 + 1", 20, "the result exceeds 64 bits"},
        {"(-9223372036854775807 - 1) / -1", 27, "the result exceeds 64 bits"},
        {"power(2, -1)", 0, "power() with a negative exponent"},
        {"log2(rank - 7)", 0, "log2() of a number below 1"},
        {"99999999999999999999", 0,
         "'99999999999999999999' is no number, size or time (write for example 8, 64KiB or 10us)"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expression e;
        struct expression_error error = {.at = 99};
        size_t end;
        int64_t value = 0;
        bool good =
            expression_compile(&e, cases[i].text, &scope, &end, &error) && expression_value(&e, values, &value, &error);
        if (good || error.at != cases[i].at || strcmp(error.what, cases[i].what) != 0)
            fail_msg("%s: at %zu: %s", cases[i].text, error.at, good ? "is accepted" : error.what);
        expression_free(&e);
    }
}

static void an_expression_ends_where_it_cannot_go_on(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t end;
    } cases[] = {{"0..7", 1}, {"rank - 1 .. ranks", 9}, {"1 2", 2}, {"batch", 0}, {"rank}", 4}, {"1 , 2", 2}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expression e;
        struct expression_error error;
        size_t end = 0;
        bool good = expression_compile(&e, cases[i].text, &scope, &end, &error);
        if (end != cases[i].end || good != (cases[i].end > 0))
            fail_msg("%s: ends at %zu", cases[i].text, end);
        expression_free(&e);
    }
}

static void what_a_value_depends_on_is_known(void **state)
{
    (void)state;
    struct expression e;
    struct expression_error error;
    size_t end;
    assert_true(expression_compile(&e, "(rank + 1) % ranks + 3 * (step / 1ps)", &scope, &end, &error));
    assert_int_equal(e.uses, EXPRESSION_OF_RANK | EXPRESSION_OF_RANKS);
    expression_free(&e);
    assert_true(expression_compile(&e, "2 * step", &scope, &end, &error));
    assert_int_equal(e.uses, 0);
    expression_free(&e);
}

static void names_are_words_without_another_meaning(void **state)
{
    (void)state;
    const char *why = "";
    assert_true(expression_is_name("micro_batches2", &why));
    assert_false(expression_is_name("2x", &why));
    assert_string_equal(why, "is no name: a letter, then letters, digits and '_'");
    assert_false(expression_is_name("a-b", &why));
    assert_false(expression_is_name("", &why));
    assert_false(expression_is_name("min", &why));
    assert_string_equal(why, "has a meaning of its own: choose another name");
    assert_false(expression_is_name("and", &why));
}

static void the_longest_expression_fits(void **state)
{
    (void)state;
    char text[EXPRESSION_LONGEST + 2];
    struct expression e;
    struct expression_error error;
    size_t end;
    int64_t value = 0;
    memset(text, '-', EXPRESSION_LONGEST - 1);
    text[EXPRESSION_LONGEST - 1] = '1';
    text[EXPRESSION_LONGEST] = '\0';
    assert_true(expression_compile(&e, text, &scope, &end, &error) && expression_value(&e, values, &value, &error));
    assert_int_equal(value, 1);
    expression_free(&e);
    text[EXPRESSION_LONGEST] = '1';
    text[EXPRESSION_LONGEST + 1] = '\0';
    assert_false(expression_compile(&e, text, &scope, &end, &error));
    assert_string_equal(error.what, "an expression of more than 255 characters");
    expression_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_mathematics),          cmocka_unit_test(errors_name_the_column),
        cmocka_unit_test(an_expression_ends_where_it_cannot_go_on), cmocka_unit_test(what_a_value_depends_on_is_known),
        cmocka_unit_test(names_are_words_without_another_meaning),  cmocka_unit_test(the_longest_expression_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
