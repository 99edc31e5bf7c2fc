/* test_schedule_words.c - a set of texts: each has one number, also after the table grew. */
#include "schedule/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 20000 };

static void numbers_in_the_order_of_adding(void **state)
{
    (void)state;
    struct schedule_words w = {.words = 0};
    char text[16];
    for (unsigned turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < MANY; i++) {
            int length = snprintf(text, sizeof text, "l%u", i);
            assert_int_equal(schedule_words_number(&w, text, (size_t)length), i);
        }
    }
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(text, sizeof text, "l%u", i);
        assert_string_equal(schedule_words_text(&w, i), text);
    }
    schedule_words_free(&w);
}

static void prefixes_and_the_empty_text_differ(void **state)
{
    (void)state;
    struct schedule_words w = {.words = 0};
    assert_int_equal(schedule_words_number(&w, "abc", 3), 0);
    assert_int_equal(schedule_words_number(&w, "abc", 2), 1);
    assert_int_equal(schedule_words_number(&w, "", 0), 2);
    assert_int_equal(schedule_words_number(&w, "ab", 2), 1);
    assert_int_equal(schedule_words_number(&w, "x", 0), 2);
    assert_string_equal(schedule_words_text(&w, 1), "ab");
    assert_string_equal(schedule_words_text(&w, 2), "");
    schedule_words_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_the_order_of_adding),
        cmocka_unit_test(prefixes_and_the_empty_text_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
