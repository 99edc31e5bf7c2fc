/* test_capture_paths.c - cables and minimal paths that the verifier finds by search agree with the fabric's geometry
 * and closed-form distances, for crossbars and two-level trees. */
#include "tools/capture/fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    unsigned a, b, x, y, planes, radix, taper;
} shapes[] = {{2, 2, 4, 4, 1, 64, 1}, {4, 4, 2, 3, 2, 64, 1}, {1, 1, 5, 3, 1, 64, 1}, {2, 4, 3, 2, 1, 64, 1},
              {2, 2, 8, 4, 1, 8, 1},  {3, 1, 6, 6, 1, 6, 2},  {5, 2, 1, 9, 4, 16, 3}, {1, 4, 12, 1, 1, 10, 1},
              {2, 2, 1, 1, 1, 64, 1}, {1, 1, 16, 2, 1, 8, 1}, {4, 2, 7, 5, 1, 12, 1}};

static void open_shape(struct hx_cap_fabric *f, unsigned i)
{
    struct hx_spec spec = {.a = shapes[i].a,
                           .b = shapes[i].b,
                           .x = shapes[i].x,
                           .y = shapes[i].y,
                           .planes = shapes[i].planes,
                           .radix = shapes[i].radix,
                           .taper = shapes[i].taper,
                           .credits = 512};
    const struct hx_capture_facts facts = {.link = HX_CAPTURE_WIRE};
    struct hx_problem problem;
    assert_true(hx_spec_build(&spec, &problem));
    hx_cap_fabric_init(f, &spec, &facts, true);
}

static void every_cable_has_the_same_two_ends(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct hx_cap_fabric f;
        open_shape(&f, i);
        for (uint32_t node = 0; node < f.g->mesh.nodes; node++) {
            unsigned cabled = 0;
            struct hx_port_at at = {.node = HX_NOWHERE};
            for (unsigned port = 0; port < hx_node_ports(&f.g->mesh, node); port++) {
                char name[HX_NAME_BYTES];
                assert_true(hx_cap_port(&f, hx_port_name(name, f.g, 0, node, port), &at));
                assert_true(at.node == node && at.port == port);
                struct hx_port_at far = hx_cap_far(&f, &at);
                struct hx_end end = hx_far_end(&f.g->mesh, node, port);
                if (far.node != end.node || (end.node != HX_NOWHERE && far.port != end.port))
                    fail_msg("shape %u, %s: node %u port %u, not node %u port %u", i, name, far.node, far.port,
                             end.node, end.port);
                bool local = node < f.g->mesh.accelerators && port == HX_LOCAL;
                cabled += local || end.node != HX_NOWHERE;
            }
            assert_int_equal(hx_cap_cabled(&f, &at), cabled);
        }
        hx_cap_fabric_free(&f);
    }
}

static void distances_are_those_of_the_closed_form(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct hx_cap_fabric f;
        open_shape(&f, i);
        for (unsigned from = 0; from < f.g->mesh.accelerators; from++)
            for (unsigned to = 0; to < f.g->mesh.accelerators; to++) {
                unsigned gx = from % f.g->mesh.columns;
                unsigned gy = from / f.g->mesh.columns;
                struct hx_spot spot = {to % f.g->mesh.columns, to / f.g->mesh.columns};
                struct hx_capture_path path = hx_cap_path(&f, gx, gy, spot);
                if (path.cables != hx_distance(&f.g->mesh, gx, gy, spot.x, spot.y))
                    fail_msg("shape %u: %u,%u to %u,%u: %u cables", i, gx, gy, spot.x, spot.y, path.cables);
                bool other_column = gx / f.g->mesh.a != spot.x / f.g->mesh.a;
                bool other_row = gy / f.g->mesh.b != spot.y / f.g->mesh.b;
                assert_in_range(path.least_crossings, other_column + other_row, 2);
                assert_in_range(path.most_crossings, path.least_crossings, 2);
            }
        hx_cap_fabric_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cable_has_the_same_two_ends),
        cmocka_unit_test(distances_are_those_of_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
