/* test_harts.c - which hart of an image serves which cable (bare-node/harts.h). */
#include "bare-node/harts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CABLES = 4 };

static void the_first_serves_devices_only_where_it_is_alone(void **state)
{
    (void)state;
    for (unsigned harts = 1; harts <= 1 + CABLES; harts++)
        for (unsigned cable = 0; cable < CABLES; cable++)
            assert_int_equal(harts_of_cable(harts, cable) == 0, harts == 1);
}

/* Whatever their number, each has a cable, and none has two more than another. */
static void the_others_share_the_cables(void **state)
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

static void no_more_are_used_than_have_something_to_do(void **state)
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
        cmocka_unit_test(the_first_serves_devices_only_where_it_is_alone),
        cmocka_unit_test(the_others_share_the_cables),
        cmocka_unit_test(no_more_are_used_than_have_something_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
