/* test_renotify.c - repeated notices of changed links: once all workers have followed, and after a delay if one
 * cannot. */
#include "fabric-emu/live/renotify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CHANGED = 1000 };

static void without_changes_there_is_no_notice(void **state)
{
    (void)state;
    struct renotify r = {.at_ns = 0};
    assert_false(renotify_is_due(&r, UINT64_MAX, true));
    assert_false(renotify_is_due(&r, UINT64_MAX, false));
}

static void once_all_follow_they_are_notified_once(void **state)
{
    (void)state;
    struct renotify r;
    renotify_begin(&r, CHANGED);
    assert_false(renotify_is_due(&r, CHANGED, false));
    assert_true(renotify_is_due(&r, CHANGED + 1, true));
    assert_false(renotify_is_due(&r, CHANGED + 2, true));
    assert_false(renotify_is_due(&r, UINT64_MAX, false));
}

/* One worker is stopped: the others get notices after 50 ms, 100 ms more, 200 ms more, and when it continues. */
static void notices_back_off_while_a_worker_does_not_follow(void **state)
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
        cmocka_unit_test(without_changes_there_is_no_notice),
        cmocka_unit_test(once_all_follow_they_are_notified_once),
        cmocka_unit_test(notices_back_off_while_a_worker_does_not_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
