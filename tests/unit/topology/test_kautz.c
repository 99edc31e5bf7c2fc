/* test_kautz.c - Kautz graphs: counts, distances against Imase and Itoh's construction, routes and refusals. */
#include "tests/support/support_fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_ROUTERS = 512, MOST_LINKS = 5 };

/* Imase and Itoh: x is followed by -(degree x + a) modulo the routers, a = 1 .. degree. With the number of routers
 * of a Kautz graph it is the same graph. Counts pairs by distance over bidirectional links. */
static void count_distances(unsigned routers, unsigned degree, uint32_t *pairs)
{
    static uint8_t distance[MOST_ROUTERS][MOST_ROUTERS];
    memset(distance, UINT8_MAX / 2, sizeof distance);
    for (unsigned x = 0; x < routers; x++) {
        distance[x][x] = 0;
        for (unsigned a = 1; a <= degree; a++) {
            unsigned y = (routers - (degree * x + a) % routers) % routers;
            distance[x][y] = distance[y][x] = 1;
        }
    }
    for (unsigned via = 0; via < routers; via++)
        for (unsigned x = 0; x < routers; x++)
            for (unsigned y = 0; y < routers; y++)
                if (distance[x][via] + distance[via][y] < distance[x][y])
                    distance[x][y] = (uint8_t)(distance[x][via] + distance[via][y]);
    for (unsigned x = 0; x < routers; x++)
        for (unsigned y = 0; y < routers; y++)
            pairs[distance[x][y] < MOST_LINKS ? distance[x][y] : MOST_LINKS - 1]++;
}

static void validate(unsigned degree, unsigned length)
{
    char text[64];
    struct hx_fabric f;
    snprintf(text, sizeof text, "kautz degree=%u length=%u p=1", degree, length);
    fabric_make(&f, text);
    unsigned routers = degree + 1;
    for (unsigned i = 1; i < length; i++)
        routers *= degree;
    assert_int_equal(f.nodes - f.hosts, routers);
    struct fabric_findings found = fabric_validate(&f);
    assert_int_equal(found.diameter, length + 2);
    assert_int_equal(found.missing, 0);
    uint32_t expected[MOST_LINKS] = {0};
    uint32_t pairs[MOST_LINKS] = {0};
    count_distances(routers, degree, expected);
    for (uint32_t a = f.hosts; a < f.nodes; a++)
        for (uint32_t b = f.hosts; b < f.nodes; b++)
            pairs[hx_router_distance(&f, a, b)]++;
    assert_memory_equal(pairs, expected, sizeof pairs);
    hx_fabric_free(&f);
}

static void test_distances_and_routes(void **state)
{
    (void)state;
    for (unsigned degree = 2; degree <= 6; degree++)
        for (unsigned length = 1; length <= 3; length++)
            validate(degree, length);
}

static void test_counts(void **state)
{
    struct hx_fabric f;
    (void)state;
    fabric_make(&f, "kautz degree=4 length=3 p=4");
    assert_int_equal(f.hosts, 320);
    assert_int_equal(f.nodes, 400);
    assert_int_equal(fabric_cables(&f, HX_DAC), 320);
    /* Each of 80 words is followed by 4; the 20 of the form aba form pairs that share one link. */
    assert_int_equal(fabric_cables(&f, HX_AOC), 320 - 10);
    for (uint32_t router = f.hosts; router < f.nodes; router++)
        assert_in_range(hx_fabric_ports(&f, router), 4 + 7, 4 + 8);
    hx_fabric_free(&f);
}

static void test_impossible_arguments_are_refused(void **state)
{
    (void)state;
    fabric_refused("kautz degree=1", "degree");
    fabric_refused("kautz length=4", "length");
    fabric_refused("kautz degree=4 p=57", "p: ");
    fabric_refused("kautz 4x3", "sizes where none is expected");
    fabric_refused("kautz lenght=3", "did you mean 'length'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances_and_routes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_impossible_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
