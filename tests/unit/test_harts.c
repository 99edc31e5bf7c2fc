/* test_harts.c - assignment of cables to the harts of an image (nodes/bare/harts.h). */
#include "nodes/bare/harts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CABLES = 4 };

static void the_first_hart_serves_devices_only_if_it_is_alone(void **state)
{
    (void)state;
    for (unsigned harts = 1; harts <= 1 + CABLES; harts++)
        for (unsigned cable = 0; cable < CABLES; cable++)
            assert_int_equal(harts_of_cable(harts, cable) == 0, harts == 1);
}

/* For any number of harts each has a cable, and their shares differ by one at most. */
static void the_other_harts_share_the_cables(void **state)
{
    (void)state;
    for (unsigned harts = 2; harts <= 1 + CABLES; harts++) {
        unsigned served[1 + CABLES] = {0};
        for (unsigned cable = 0; cable < CABLES; cable++) {
            assert_in_range(harts_of_cable(harts, cable), 1, harts - 1);
            served[harts_of_cable(harts, cable)]++;
        }
        for (unsigned hart = 1; hart < harts; hart++)
            assert_in_range(served[hart], CABLES / (harts - 1), CABLES / (harts - 1) + 1);
    }
}

static void idle_harts_are_not_used(void **state)
{
    (void)state;
    for (unsigned there = 1; there <= 1 + CABLES; there++)
        assert_int_equal(harts_useful(there, CABLES), there);
    assert_int_equal(harts_useful(2 + CABLES, CABLES), 1 + CABLES);
    assert_int_equal(harts_useful(64, CABLES), 1 + CABLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_hart_serves_devices_only_if_it_is_alone),
        cmocka_unit_test(the_other_harts_share_the_cables),
        cmocka_unit_test(idle_harts_are_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
