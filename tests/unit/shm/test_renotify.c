/* test_renotify.c - changed links are told once more: when all follow, and a while later where one cannot. */
#include "fabric-emu/live/renotify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CHANGED = 1000 };

static void nothing_is_told_before_something_changed(void **state)
{
    (void)state;
    struct renotify r = {.at_ns = 0};
    assert_false(renotify_is_due(&r, UINT64_MAX, true));
    assert_false(renotify_is_due(&r, UINT64_MAX, false));
}

static void once_all_follow_they_are_told_once(void **state)
{
    (void)state;
    struct renotify r;
    renotify_begin(&r, CHANGED);
    assert_false(renotify_is_due(&r, CHANGED, false));
    assert_true(renotify_is_due(&r, CHANGED + 1, true));
    assert_false(renotify_is_due(&r, CHANGED + 2, true));
    assert_false(renotify_is_due(&r, UINT64_MAX, false));
}

/* One is stopped: the others are told after 50 ms, 100 ms more, 200 ms more, and when it has gone on. */
static void where_one_does_not_follow_they_are_told_less_and_less_often_until_it_does(void **state)
{
    (void)state;
    struct renotify r;
    uint64_t at = CHANGED;
    renotify_begin(&r, at);
    for (uint64_t wait = RENOTIFY_FIRST_NS; wait <= 4 * RENOTIFY_FIRST_NS; wait *= 2) {
        at += wait;
        assert_false(renotify_is_due(&r, at - 1, false));
        assert_true(renotify_is_due(&r, at, false));
        assert_false(renotify_is_due(&r, at, false));
    }
    assert_true(renotify_is_due(&r, at + 1, true));
    assert_false(renotify_is_due(&r, at + 2, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_told_before_something_changed),
        cmocka_unit_test(once_all_follow_they_are_told_once),
        cmocka_unit_test(where_one_does_not_follow_they_are_told_less_and_less_often_until_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
