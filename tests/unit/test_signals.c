/* test_signals.c - which signals to end a program are one request, and which are a second one. */
#include "base/signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void signals_within_a_second_are_one_request(void **state)
{
    (void)state;
    const uint64_t second = 1000000000;
    struct hx_requests r = {0};
    assert_int_equal(hx_signals_request(&r, 5), HX_REQUEST_FIRST);
    assert_int_equal(hx_signals_request(&r, 5), HX_REQUEST_SAME);
    assert_int_equal(hx_signals_request(&r, 5 + second / 2), HX_REQUEST_SAME);
    assert_int_equal(hx_signals_request(&r, 5 + second), HX_REQUEST_SAME); /* counted from the first, not from the
                                                                            * latest */
    assert_int_equal(hx_signals_request(&r, 6 + second), HX_REQUEST_AGAIN);
    assert_int_equal(hx_signals_request(&r, 6 + second), HX_REQUEST_AGAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(signals_within_a_second_are_one_request)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
