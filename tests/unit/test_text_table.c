/* test_text_table.c - tables for people. */
#include "tests/support/support_file.h"
#include "tools/draw/text_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_prints(const struct text_table *t, const char *expected)
{
    text_table_print(t, file_begin_text());
    char *text = file_end_text();
    assert_string_equal(text, expected);
    free(text);
}

static void columns_are_aligned(void **state)
{
    (void)state;
    struct text_table *t = text_table_new(1);
    text_table_row(t, "fabric", "share", "paper");
    text_table_row(t, "16x16 Hx2Mesh", "25.43", "");
    text_table_row(t, "x", "1", "11.3");
    assert_prints(t, "  fabric         share  paper\n"
                     "  16x16 Hx2Mesh  25.43      -\n"
                     "  x                  1   11.3\n");
    text_table_free(t);
}

static void no_blanks_follow_the_last_left_column(void **state)
{
    (void)state;
    struct text_table *t = text_table_new(2);
    text_table_row(t, "a", "long word");
    text_table_row(t, "bb", "c");
    assert_prints(t, "  a   long word\n  bb  c\n");
    text_table_free(t);
}

static void a_too_wide_table_loses_its_last_columns(void **state)
{
    (void)state;
    struct text_table *t = text_table_new(1);
    text_table_row(t, "a", "bbbb", "cccc", "dddd", "end");
    text_table_row(t, "a", "b", "c", "d", "good");
    assert_int_equal(text_table_narrow(t, 27, 1, 3), 0);
    assert_int_equal(text_table_narrow(t, 26, 1, 3), 1);
    assert_prints(t, "  a  bbbb  cccc   end\n  a     b     c  good\n");
    assert_int_equal(text_table_narrow(t, 1, 1, 2), 2);
    assert_prints(t, "  a   end\n  a  good\n");
    text_table_free(t);
}

static void an_empty_table(void **state)
{
    (void)state;
    struct text_table *t = text_table_new(0);
    assert_prints(t, "");
    text_table_free(t);
}

static void a_too_wide_table_is_printed_in_parts(void **state)
{
    (void)state;
    struct text_table *t = text_table_new(1);
    text_table_row(t, "fabric", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "c", "d");
    text_table_row(t, "1x1", "1", "2", "3", "4");
    assert_prints(t, "  fabric  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  c  d\n"
                     "  1x1                                  1                               2  3  4\n");
    text_table_row(t, "2x2", "1", "2", "33", "44");
    assert_prints(t, "  fabric  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb   c   d\n"
                     "  1x1                                  1                               2   3   4\n"
                     "  2x2                                  1                               2  33  44\n");
    text_table_row(t, "3x3", "1", "2", "33", "444");
    assert_prints(t, "  fabric  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb   c\n"
                     "  1x1                                  1                               2   3\n"
                     "  2x2                                  1                               2  33\n"
                     "  3x3                                  1                               2  33\n"
                     "\n"
                     "  fabric    d\n"
                     "  1x1       4\n"
                     "  2x2      44\n"
                     "  3x3     444\n");
    text_table_free(t);
}

static void cells_beyond_the_last_column_are_left_out(void **state)
{
    (void)state;
    struct text_table *t = text_table_new(0);
    text_table_row(t, "1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
                   "0", "1", "2", "3", "4", "5");
    assert_prints(t, "  1  2  3  4  5  6  7  8  9  0  1  2  3  4  5  6  7  8  9  0  1  2  3  4\n");
    text_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(no_blanks_follow_the_last_left_column),
        cmocka_unit_test(an_empty_table),
        cmocka_unit_test(a_too_wide_table_loses_its_last_columns),
        cmocka_unit_test(a_too_wide_table_is_printed_in_parts),
        cmocka_unit_test(cells_beyond_the_last_column_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
