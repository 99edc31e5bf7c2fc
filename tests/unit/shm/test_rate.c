/* test_rate.c - traffic at an injection rate: each host offers that share of its own links' bandwidth. */
#include "tests/support/support_file.h"
#include "workload/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MESSAGE = 1000000 };

/* Seconds from a host's first message to its second. */
static double interval(const struct workload_plan *plan, uint32_t rank)
{
    uint64_t begun = 0;
    struct workload_message m;
    void *memory = hx_allocate(workload_bytes(plan, rank), 1);
    struct workload *w = workload_make(plan, rank, &begun, NULL, NULL, memory);
    assert_true(workload_next(w, 0, 0, &m));
    workload_take(w, &m);
    double seconds = (double)w->ops->wake(w) / 1e12;
    workload_close(w);
    free(memory);
    return seconds;
}

/* links[rank]: bandwidth of a host in one plane, in units of HX_LINK_GBPS. */
static void offers(const char *fabric, unsigned planes, const double *links, unsigned hosts)
{
    const struct hx_overrides overrides = {.planes = planes};
    struct hx_settings settings = hx_default_settings;
    struct hx_spec spec;
    struct traffic traffic;
    hx_spec_load(fabric, &overrides, &spec);
    settings.message = MESSAGE;
    settings.count = 2;
    traffic_init(&traffic, &spec, hx_spec_fabric(&spec), &settings, NULL);
    const struct workload_plan plan = {
        .traffic = &traffic, .rate = 0.001, .link_rate = HX_NOMINAL_LINK_RATE / 1e12, .link_gbps = HX_LINK_GBPS};
    for (uint32_t rank = 0; rank < hosts; rank++) {
        double seconds = MESSAGE / (0.001 * links[rank] * planes * HX_NOMINAL_LINK_RATE);
        assert_true(interval(&plan, rank) > seconds * 0.999999 && interval(&plan, rank) < seconds * 1.000001);
    }
    traffic_free(&traffic);
    hx_spec_free(&spec);
}

static void a_host_offers_a_share_of_its_own_links(void **state)
{
    (void)state;
    char graph[FILE_PATH_BYTES + 8];
    file_write_text("list", "forward a\na,s\na,s,800\nb,s,100\nc,s\n");
    (void)snprintf(graph, sizeof graph, "graph %s", file_path("list"));
    offers("2x2 Hx2Mesh", 1, (const double[]){4, 4, 4, 4}, 4);
    offers("2x2 Hx2Mesh", 2, (const double[]){4, 4}, 2);
    offers("fat-tree hosts=16", 1, (const double[]){1, 1, 1}, 3);
    offers("torus 4x4x4", 1, (const double[]){6, 6}, 2);
    offers("Ring(4)_FC(3) gbps=200,100", 1, (const double[]){1.5, 1.5}, 2);
    offers(graph, 1, (const double[]){3, 0.25, 1}, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_offers_a_share_of_its_own_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
