/* prop_bisection.c - traffic between the halves of random fabrics of every topology: all of it crosses the bisection
 * that `info` reports, so no more is delivered than that carries. HX_SEED chooses other fabrics. */
#include "tests/support/support_effort.h"
#include "tests/support/support_seed.h"
#include "tests/support/support_specs.h"
#include "tests/support/virtual/support_virtual.h"
#include "topology/bisection.h"

#include <stdlib.h>

enum { FABRICS = 60, MOST_HOSTS = 80, MESSAGE = 65536 };

/* Partners are in different halves. Only hosts that the smaller half lacks have none. */
static void validate_partners(const struct support_virtual *s, const char *spec)
{
    uint8_t *half = calloc(s->g->nodes, 1);
    uint32_t of_half[2] = {0, 0};
    uint32_t senders = 0;
    (void)hx_bisection_search(s->g, NULL, half);
    for (uint32_t rank = 0; rank < s->g->hosts; rank++) {
        uint32_t to = s->traffic.partner[rank];
        of_half[half[rank]]++;
        senders += to != TRAFFIC_NOBODY;
        if (to != TRAFFIC_NOBODY && (half[to] == half[rank] || s->traffic.partner[to] != rank))
            fail_msg("%s: %u and %u are no partners across the halves", spec, rank, to);
    }
    assert_int_equal(senders, 2 * (of_half[0] < of_half[1] ? of_half[0] : of_half[1]));
    free(half);
}

static double share_delivered(struct support_virtual *s)
{
    double bytes = 0;
    for (uint32_t rank = 0; rank < s->g->hosts; rank++)
        bytes += s->traffic.partner[rank] == TRAFFIC_NOBODY ? 0 : MESSAGE;
    double gbps = bytes * 8e3 / (double)support_virtual_end(s);
    return gbps / (s->g->hosts * hx_fabric_injection(s->g, HX_LINK_GBPS) * HX_LINK_GBPS);
}

static void compare_with_its_bisection(const char *spec, const struct hx_fabric *f)
{
    struct support_virtual s;
    const struct hx_halves halves = hx_fabric_bisection(f);
    if (halves.links == 0)
        return; /* all hosts are on one router */
    struct support_virtual_plan plan = {
        .spec = spec,
        .settings = {.pattern = HX_BISECTION,
                     .message = MESSAGE,
                     .count = 1,
                     .seed = seeded_run,
                     .given = HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE | HX_GIVEN_COUNT | HX_GIVEN_SEED}};
    support_virtual_open(&s, &plan);
    validate_partners(&s, spec);
    assert_true(support_virtual_run(&s));
    double share = share_delivered(&s);
    if (share > halves.share)
        fail_msg("%s: %.4f is more than the bisection's %.4f", spec, share, halves.share);
    support_virtual_close(&s);
}

static void delivers_no_more_than_the_bisection(void **state)
{
    (void)state;
    specs_each(effort(FABRICS), MOST_HOSTS, compare_with_its_bisection);
}

/* By hand: the fewest links between halves, and what one link for each host of a half would be. */
static void known_ones(void **state)
{
    static const struct {
        const char *spec;
        double most;
    } cases[] = {{"bigraph m=5 n=4", 0.2},
                 {"fat-tree hosts=64 radix=16 taper=3", 0.375},
                 {"torus 4x16", 0.0625},
                 {"torus 16x4", 0.0625}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct support_virtual s;
        struct support_virtual_plan plan = {
            .spec = cases[i].spec,
            .settings = {.pattern = HX_BISECTION,
                         .message = MESSAGE,
                         .count = 1,
                         .given = HX_GIVEN_PATTERN | HX_GIVEN_MESSAGE | HX_GIVEN_COUNT}};
        support_virtual_open(&s, &plan);
        assert_true(support_virtual_run(&s));
        if (share_delivered(&s) > cases[i].most)
            fail_msg("%s: %.4f of %.4f", cases[i].spec, share_delivered(&s), cases[i].most);
        support_virtual_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ones),
        cmocka_unit_test_teardown(delivers_no_more_than_the_bisection, seeded_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
