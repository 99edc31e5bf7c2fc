/* test_parts.c - parts of a fabric by METIS (fabric-emu/virtual/parts.h): deterministic, of like work, and with no more
 * cut links than the closed rule. */
#include "fabric-emu/virtual/model.h"
#include "fabric-emu/virtual/parts.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const fabrics[] = {"torus 8x16", "slim-fly q=5", "dragonfly a=4 p=2 h=2", "fat-tree hosts=64",
                                      "4x4 Hx2Mesh"};
enum { FABRICS = sizeof fabrics / sizeof *fabrics, MOST = 8 };

struct fabric {
    struct hx_spec spec;
    const struct hx_fabric *g;
    struct virtual_timing timing;
    struct layout layout;
};

static void open_fabric(struct fabric *f, const char *name, unsigned workers)
{
    *f = (struct fabric){.layout = {0}};
    struct hx_problem problem;
    static const struct hx_overrides none;
    assert_true(hx_spec_try_load(name, &none, &f->spec, &problem));
    f->g = hx_spec_fabric(&f->spec);
    const struct hx_timing no_changes = {0};
    const struct hx_timing timing = hx_timing_complete(&no_changes);
    const struct virtual_speeds speeds = model_speeds(&timing);
    virtual_timing_init(&f->timing, &speeds, f->g->vcs);
    for (unsigned i = 0; i < f->g->link_classes; i++)
        virtual_timing_class(&f->timing, i, 0,
                             f->g->link_class[i].kind == HX_TRACE ? f->timing.trace : f->timing.cable);
    layout_make(&f->layout, &f->spec, f->g, workers);
}

static void close_fabric(struct fabric *f)
{
    layout_free(&f->layout);
    hx_spec_free(&f->spec);
}

/* Work by ports, of parts by METIS: no worker has a tenth more than its share, but for two nodes. The closed rule keeps
 * groups whole. */
static void check_balance(const struct fabric *f)
{
    uint32_t work[MOST] = {0};
    uint32_t all = 0;
    uint32_t most = 0;
    for (uint32_t node = 0; node < f->g->nodes; node++) {
        unsigned ports = hx_fabric_ports(f->g, node);
        assert_true(f->layout.worker[node] < f->layout.workers);
        work[f->layout.worker[node]] += ports;
        all += ports;
        most = ports > most ? ports : most;
    }
    for (unsigned w = 0; w < f->layout.workers; w++)
        assert_true(work[w] <= all / f->layout.workers * 11 / 10 + 2 * most);
}

static void parts_cut_no_more_than_the_closed_rule(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FABRICS; i++) {
        for (unsigned workers = 1; workers <= MOST; workers++) {
            struct fabric f;
            open_fabric(&f, fabrics[i], workers);
            int64_t before = parts_cut(&f.layout, f.g, &f.timing);
            uint64_t closed = parts_digest(&f.layout, f.g);
            parts_improve(&f.layout, f.g, &f.timing);
            assert_true(parts_cut(&f.layout, f.g, &f.timing) <= before);
            if (parts_digest(&f.layout, f.g) != closed)
                check_balance(&f);
            close_fabric(&f);
        }
    }
}

static void parts_are_the_same_each_time(void **state)
{
    (void)state;
    struct fabric a;
    struct fabric b;
    open_fabric(&a, "slim-fly q=5", 3);
    open_fabric(&b, "slim-fly q=5", 3);
    uint64_t closed = parts_digest(&a.layout, a.g);
    parts_improve(&a.layout, a.g, &a.timing);
    (void)rand();
    parts_improve(&b.layout, b.g, &b.timing);
    assert_memory_equal(a.layout.worker, b.layout.worker, a.g->nodes * sizeof *a.layout.worker);
    assert_true(parts_digest(&a.layout, a.g) == parts_digest(&b.layout, b.g));
    assert_true(parts_digest(&a.layout, a.g) != closed);
    close_fabric(&a);
    close_fabric(&b);
}

/* Traces are not cut where each worker has whole boards, so its window is a cable's. */
static void the_window_is_that_of_links_between_workers(void **state)
{
    (void)state;
    struct fabric f;
    open_fabric(&f, "4x4 Hx2Mesh", 2);
    assert_true(parts_window(&f.layout, f.g, &f.timing) == 40000 + 20000 + 40000 + 2560);
    assert_true(f.timing.window == 40000 + 1000 + 40000 + 2560);
    f.layout.worker[0] = 1 - f.layout.worker[0]; /* away from its board */
    assert_true(parts_window(&f.layout, f.g, &f.timing) == f.timing.window);
    close_fabric(&f);
    open_fabric(&f, "4x4 Hx2Mesh", 1);
    assert_true(parts_window(&f.layout, f.g, &f.timing) == UINT64_MAX);
    close_fabric(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cut_no_more_than_the_closed_rule),
        cmocka_unit_test(parts_are_the_same_each_time),
        cmocka_unit_test(the_window_is_that_of_links_between_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
