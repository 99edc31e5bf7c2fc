/* test_galois.c - the available finite fields, each checked against the laws of a field on all elements. */
#include "topology/galois.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const unsigned orders[] = {2,  3,  4,  5,  7,  8,  9,  11, 13, 16, 17, 19, 23, 25,
                                  27, 29, 31, 32, 37, 41, 43, 47, 49, 53, 59, 61, 64};
enum { ORDERS = sizeof orders / sizeof *orders };

static void fields_are_of_prime_powers(void **state)
{
    (void)state;
    struct hx_galois g;
    unsigned next = 0;
    for (unsigned q = 0; q <= HX_GALOIS_MOST + 9; q++) {
        bool is_one = next < ORDERS && orders[next] == q;
        assert_int_equal(hx_galois_make(&g, q), is_one);
        if (q <= HX_GALOIS_MOST)
            assert_int_equal(hx_is_prime_power(q), is_one);
        next += is_one;
    }
    assert_true(hx_is_prime_power(121));
    assert_false(hx_is_prime_power(100));
}

static void obeys_the_laws(const struct hx_galois *g, unsigned a, unsigned b)
{
    assert_true(hx_galois_sum(g, a, b) < g->q && hx_galois_product(g, a, b) < g->q);
    assert_int_equal(hx_galois_sum(g, a, b), hx_galois_sum(g, b, a));
    assert_int_equal(hx_galois_product(g, a, b), hx_galois_product(g, b, a));
    assert_int_equal(hx_galois_sum(g, hx_galois_difference(g, a, b), b), a);
    assert_int_equal(hx_galois_product(g, a, b) == 0, a == 0 || b == 0);
    for (unsigned c = 0; c < g->q; c++) {
        assert_int_equal(hx_galois_sum(g, a, hx_galois_sum(g, b, c)), hx_galois_sum(g, hx_galois_sum(g, a, b), c));
        assert_int_equal(hx_galois_product(g, a, hx_galois_product(g, b, c)),
                         hx_galois_product(g, hx_galois_product(g, a, b), c));
        assert_int_equal(hx_galois_product(g, a, hx_galois_sum(g, b, c)),
                         hx_galois_sum(g, hx_galois_product(g, a, b), hx_galois_product(g, a, c)));
    }
}

static void each_is_a_field(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ORDERS; i++) {
        struct hx_galois g;
        assert_true(hx_galois_make(&g, orders[i]));
        for (unsigned a = 0; a < g.q; a++) {
            assert_int_equal(hx_galois_sum(&g, a, 0), a);
            assert_int_equal(hx_galois_product(&g, a, 1), a);
            for (unsigned b = 0; b < g.q; b++)
                obeys_the_laws(&g, a, b);
        }
    }
}

static void powers_of_one_element_are_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ORDERS; i++) {
        struct hx_galois g;
        bool seen[HX_GALOIS_MOST] = {true};
        assert_true(hx_galois_make(&g, orders[i]));
        unsigned primitive = g.power[g.q > 2 ? 1 : 0];
        unsigned power = 1;
        for (unsigned j = 0; j < g.q - 1; j++) {
            assert_int_equal(g.power[j], power);
            assert_int_equal(g.logarithm[power], j);
            assert_false(seen[power]);
            seen[power] = true;
            power = hx_galois_product(&g, power, primitive);
        }
        assert_int_equal(power, 1);
    }
}

static void primes_count_modulo(void **state)
{
    (void)state;
    struct hx_galois g;
    assert_true(hx_galois_make(&g, 13));
    assert_int_equal(hx_galois_sum(&g, 9, 8), 4);
    assert_int_equal(hx_galois_difference(&g, 3, 8), 8);
    assert_int_equal(hx_galois_product(&g, 5, 8), 1);
    assert_int_equal(g.power[1], 2); /* the least primitive root */
    assert_true(hx_galois_make(&g, 4));
    assert_int_equal(hx_galois_sum(&g, 2, 3), 1);
    assert_int_equal(hx_galois_product(&g, 2, 2), 3); /* x * x = x + 1 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_of_prime_powers),
        cmocka_unit_test(each_is_a_field),
        cmocka_unit_test(powers_of_one_element_are_all),
        cmocka_unit_test(primes_count_modulo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
