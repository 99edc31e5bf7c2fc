/* test_single_path.c - stacked single-path trees (mlfm, oft): the counts of Kathareios et al., SC15; one minimal
 * path between any two leaves, except the pairs designed to have more; every path of many. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* Switches above that two leaves share. */
static unsigned common(const struct hx_fabric *f, uint32_t a, uint32_t b)
{
    unsigned count = 0;
    for (unsigned i = 0; i < hx_fabric_ports(f, a); i++)
        for (unsigned j = 0; j < hx_fabric_ports(f, b); j++)
            count += hx_fabric_far(f, a, i).node == hx_fabric_far(f, b, j).node;
    return count;
}

/* Leaves are first. Two with the same number modulo `places` have `many` paths, others one. */
static void has_single_paths(const struct hx_fabric *f, unsigned places, unsigned many)
{
    for (uint32_t a = 0; a < f->digits[0]; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_equal(common(f, f->hosts + a, f->hosts + b), a % places == b % places ? many : 1);
}

static void ports_are(const struct hx_fabric *f, unsigned leaf, unsigned above)
{
    for (uint32_t node = f->hosts; node < f->nodes; node++)
        assert_int_equal(hx_fabric_ports(f, node), node - f->hosts < f->digits[0] ? leaf : above);
}

static void validate(const struct hx_fabric *f, uint32_t step)
{
    struct fabric_findings found = fabric_validate_some(f, step);
    assert_int_equal(found.missing, 0);
    assert_int_equal(found.vcs, 1);
    assert_int_equal(found.diameter, 4);
}

static void validate_mlfm(unsigned h, unsigned l, unsigned p, uint32_t step)
{
    char text[64];
    struct hx_fabric f;
    snprintf(text, sizeof text, "mlfm h=%u l=%u p=%u", h, l, p);
    fabric_make(&f, text);
    assert_int_equal(f.hosts, (h + 1) * l * p);
    assert_int_equal(f.switches, l * (h + 1) + h * (h + 1) / 2);
    assert_int_equal(f.nodes - f.hosts, f.switches);
    assert_int_equal(fabric_cables(&f, HX_AOC), l * h * (h + 1));
    assert_int_equal(fabric_cables(&f, HX_DAC), f.hosts);
    ports_are(&f, h + p, 2 * l);
    has_single_paths(&f, h + 1, h);
    validate(&f, step);
    hx_fabric_free(&f);
}

static void multi_layer_full_meshes(void **state)
{
    (void)state;
    for (unsigned h = 1; h <= 5; h++)
        for (unsigned l = 1; l <= 4; l++)
            for (unsigned p = 1; p <= 3; p++)
                validate_mlfm(h, l, p, 1);
    validate_mlfm(1, 32, 2, 1);
    validate_mlfm(63, 1, 1, 1);
    validate_mlfm(16, 16, 16, 999);
}

static void validate_oft(unsigned k, uint32_t step)
{
    char text[64];
    struct hx_fabric f;
    unsigned places = k * k - k + 1;
    snprintf(text, sizeof text, "oft k=%u", k);
    fabric_make(&f, text);
    assert_int_equal(f.hosts, 2 * k * places);
    assert_int_equal(f.switches, 3 * places);
    assert_int_equal(f.nodes - f.hosts, f.switches);
    assert_int_equal(fabric_cables(&f, HX_AOC), 2 * places * k);
    ports_are(&f, 2 * k, 2 * k);
    has_single_paths(&f, places, k);
    validate(&f, step);
    hx_fabric_free(&f);
}

/* Leaves and middle switches of a k-ML3B with one shared switch for any two leaves form a projective plane. There is
 * a single one of order 3: so 4-ML3B is table 2 of the paper, except for the numbers of switches. */
static void orthogonal_fat_trees(void **state)
{
    (void)state;
    static const unsigned all[] = {3, 4, 5, 6, 8, 9, 10};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        validate_oft(all[i], all[i] < 6 ? 1 : 37);
    validate_oft(12, 399);
    validate_oft(14, 999);
}

static void of_the_paper(void **state)
{
    (void)state;
    struct hx_fabric f;
    fabric_make(&f, "mlfm h=15");
    assert_int_equal(f.switches, 360);
    assert_int_equal(f.hosts, 3600);
    hx_fabric_free(&f);
    fabric_make(&f, "oft k=12");
    assert_int_equal(f.switches, 399);
    assert_int_equal(f.hosts, 3192);
    hx_fabric_free(&f);
    fabric_make(&f, "oft k=4");
    assert_int_equal(f.digits[0], 2 * 13);
    hx_fabric_free(&f);
}

static void bound_is_that_of_the_fullest_link(const char *text)
{
    struct hx_fabric f;
    fabric_make(&f, text);
    double bound = f.topology->alltoall_bound(&f);
    double share = fabric_even_share(&f);
    if (bound < share - 1e-9 || bound > share + 1e-9)
        fail_msg("%s: bound %f, even shares %f", text, bound, share);
    hx_fabric_free(&f);
}

static void bounds(void **state)
{
    (void)state;
    bound_is_that_of_the_fullest_link("mlfm h=4");
    bound_is_that_of_the_fullest_link("mlfm h=3 l=4 p=5");
    bound_is_that_of_the_fullest_link("mlfm h=5 l=1 p=7");
    bound_is_that_of_the_fullest_link("oft k=3");
    bound_is_that_of_the_fullest_link("oft k=5");
}

static void impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("oft k=11", "k=11: k - 1 must be a power of a prime and k at most 32; the nearest is k=10");
    fabric_refused("oft k=7", "the nearest is k=6");
    fabric_refused("oft k=0", "the nearest is k=3");
    fabric_refused("oft k=33", "the nearest is k=32");
    fabric_refused("oft q=4", "unknown key 'q'");
    fabric_refused("mlfm h=64", "64 is outside 1 .. 63");
    fabric_refused("mlfm h=60 p=5", "5 is outside 1 .. 4");
    fabric_refused("mlfm l=33", "33 is outside 1 .. 32");
    fabric_refused("mlfm r=1", "unknown key 'r'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multi_layer_full_meshes),
        cmocka_unit_test(orthogonal_fat_trees),
        cmocka_unit_test(of_the_paper),
        cmocka_unit_test(bounds),
        cmocka_unit_test(impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
