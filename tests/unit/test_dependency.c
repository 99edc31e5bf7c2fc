/* test_dependency.c - channels of a dependency graph and back; a cycle added to an acyclic graph is found. */
#include "tools/paths/explore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct hx_spec spec;
    struct hx_plane plane;
    struct hx_channels channels;
    struct hx_findings found;
};

static void set_up(struct fixture *f, const char *text)
{
    struct hx_problem p;
    struct hx_progress progress = hx_progress_start("", true);
    assert_true(hx_spec_parse(text, &f->spec, &p) && hx_spec_build(&f->spec, &p));
    hx_plane_init(&f->plane, &f->spec);
    hx_channels_init(&f->channels, &f->plane);
    f->found = hx_explore(&f->plane, &f->channels, &progress);
}

static void tear_down(struct fixture *f)
{
    hx_channels_free(&f->channels);
    hx_plane_free(&f->plane);
    hx_spec_free(&f->spec);
}

static void channels_map_back(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, "3x2 H2x4Mesh");
    for (uint32_t node = 0; node < f.plane.g->nodes; node++) {
        for (unsigned port = 0; port < hx_fabric_ports(f.plane.g, node); port++) {
            struct hx_channel c = hx_channel_of(&f.channels, hx_channel_behind(&f.channels, node, HX_LOCAL, 1, port));
            assert_int_equal(c.node, node);
            assert_int_equal(c.port, port);
            assert_int_equal(c.vc, 1 + (hx_plane_route(&f.plane, node)->incrementing >> port & 1));
        }
    }
    tear_down(&f);
}

static void a_cycle_is_found_and_is_one(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t *cycle;
    set_up(&f, "2x2 Hx3Mesh");
    struct hx_channels *c = &f.channels;
    assert_int_equal(hx_channels_cycle(c, &cycle), 0);
    assert_null(cycle);

    /* The westward hop of (1,1) may wait for the eastward one of (0,1): packets may turn back. */
    uint32_t west = hx_channel_behind(c, hx_fabric_host(f.plane.g, 1, 1), HX_LOCAL, 0, HX_W);
    uint32_t east = hx_channel_behind(c, hx_fabric_host(f.plane.g, 0, 1), HX_LOCAL, 0, HX_E);
    c->successors[west] |= 1U << HX_E;
    assert_int_equal(hx_channels_cycle(c, &cycle), 0);
    c->successors[east] |= 1U << HX_W;
    assert_int_equal(hx_channels_cycle(c, &cycle), 2);
    assert_true((cycle[0] == west && cycle[1] == east) || (cycle[0] == east && cycle[1] == west));
    free(cycle);
    tear_down(&f);
}

/* Every channel depends on another, so at least one cycle exists. */
static void a_cycle_of_any_length_is_one(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t *cycle;
    set_up(&f, "3x3 Hx2Mesh");
    struct hx_channels *c = &f.channels;
    for (uint32_t channel = 0; channel < c->count; channel++) {
        c->used[channel] = true;
        if (hx_channel_far(c, channel).node != HX_NOWHERE && c->successors[channel] == 0)
            c->successors[channel] = 1;
    }
    uint32_t length = hx_channels_cycle(c, &cycle);
    assert_int_not_equal(length, 0);
    for (uint32_t i = 0; i < length; i++) {
        struct hx_channel next = hx_channel_of(c, cycle[(i + 1) % length]);
        assert_int_equal(next.node, hx_channel_far(c, cycle[i]).node);
        assert_true(c->successors[cycle[i]] >> next.port & 1);
    }
    free(cycle);
    tear_down(&f);
}

static struct hx_findings explore(struct hx_spec *spec)
{
    struct hx_progress progress = hx_progress_start("", true);
    struct hx_plane plane;
    struct hx_channels channels;
    hx_plane_init(&plane, spec);
    hx_channels_init(&channels, &plane);
    struct hx_findings found = hx_explore(&plane, &channels, &progress);
    hx_channels_free(&channels);
    hx_plane_free(&plane);
    return found;
}

/* 2x2 boards of one accelerator; failed boards, and the job of each board. */
static struct hx_findings explore_four(bool failed[4], uint16_t job[4])
{
    struct hx_spec spec;
    struct hx_problem p;
    assert_true(hx_spec_parse("2x2 Hx1Mesh", &spec, &p) && hx_spec_build(&spec, &p));
    spec.failed = failed;
    spec.job = job;
    struct hx_findings found = explore(&spec);
    spec.failed = NULL; /* owned by the caller */
    spec.job = NULL;
    hx_spec_free(&spec);
    return found;
}

static void jobs_and_failures_are_counted(void **state)
{
    (void)state;
    bool one[4] = {[1] = true};
    struct hx_findings f = explore_four(one, NULL);
    assert_int_equal(f.pairs, 6);
    assert_int_equal(f.unreachable, 0); /* 0 and 3 meet over board 2 */
    assert_int_equal(f.dead_ends, 0);
    assert_int_equal(f.vcs, 3);

    bool both[4] = {[1] = true, [2] = true};
    f = explore_four(both, NULL);
    assert_int_equal(f.pairs, 2);
    assert_int_equal(f.unreachable, 2); /* no path from 0 to 3 is left */

    uint16_t job[4] = {[0] = 5, [1] = 5};
    f = explore_four(NULL, job);
    assert_int_equal(f.pairs, 4);
    assert_int_equal(f.isolated, 8);
    assert_int_equal(f.unreachable, 0);
    assert_int_equal(f.vcs, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_map_back),
        cmocka_unit_test(a_cycle_is_found_and_is_one),
        cmocka_unit_test(a_cycle_of_any_length_is_one),
        cmocka_unit_test(jobs_and_failures_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
