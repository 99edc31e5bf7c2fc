/* test_result.c - packets that did not arrive: lost, in flight, or taken by a killed process; and the base of
 * shares. */
#include "fabric-emu/report/result.h"
#include "tests/support/support_fabric.h"
#include "tests/support/support_file.h"
#include "topology/hamming_mesh.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct hx_fabric g;

static struct result finished(struct outcome outcome, struct hx_endpoint_stats sum)
{
    struct hx_geometry mesh;
    assert_int_equal(hx_geometry_init(&mesh, 2, 2, 2, 2, 1, 64, 1), 0);
    hx_fabric_of_mesh(&g, &mesh);
    struct result r = {.g = &g, .outcome = outcome, .sum = sum, .link_rate = 1};
    result_finish(&r);
    hx_fabric_free(&g);
    return r;
}

static void missing_packets_are_lost(void **state)
{
    (void)state;
    struct result r =
        finished((struct outcome){0}, (struct hx_endpoint_stats){.packets_sent = 9, .packets_delivered = 7});
    assert_true(r.packets_lost == 2 && r.packets_in_flight == 0);
}

static void packets_of_an_early_end_are_in_flight(void **state)
{
    (void)state;
    struct result r = finished((struct outcome){.interrupted = true},
                               (struct hx_endpoint_stats){.packets_sent = 9, .packets_delivered = 7});
    assert_true(r.packets_lost == 0 && r.packets_in_flight == 2);
}

/* A killed receiver had taken packets and messages that its successor gets again; the sender counts them as
 * repeated. */
static void no_more_is_delivered_than_sent(void **state)
{
    (void)state;
    struct result r =
        finished((struct outcome){.deaths = 1, .complete = true}, (struct hx_endpoint_stats){.packets_sent = 100,
                                                                                             .packets_repeated = 30,
                                                                                             .packets_delivered = 120,
                                                                                             .messages_sent = 10,
                                                                                             .messages_received = 12});
    assert_true(r.sum.packets_sent == 120 && r.sum.packets_delivered == 120 && r.sum.packets_repeated == 10);
    assert_true(r.packets_lost == 0 && r.sum.messages_received == 10);
}

/* Hosts a, b, c of 1200, 100 and 400 Gb/s. */
static void shares_are_of_each_hosts_injection(void **state)
{
    (void)state;
    char graph[FILE_PATH_BYTES + 8];
    struct hx_fabric f;
    struct jobs jobs = {.count = 2, .tag = (uint16_t[]){1, 2}, .size = (uint32_t[]){1, 2}, .of = (uint32_t[]){0, 1, 1}};
    struct hx_spec spec = {.planes = 1};
    struct result r = {.g = &f, .spec = &spec, .link_rate = 50e9};
    file_write_text("list", "forward a\na,s\na,s,800\nb,s,100\nc,s\n");
    (void)snprintf(graph, sizeof graph, "graph %s", file_path("list"));
    fabric_make(&f, graph);
    result_jobs(&r, &jobs, NULL);
    assert_true(fabs(result_injection(&r) - 1700e9 / 8 / 3) < 1);
    assert_true(fabs(result_host_injection(&r, 1) - 100e9 / 8) < 1);
    assert_true(fabs(r.job[0].injection - 1200e9 / 8) < 1 && fabs(r.job[1].injection - 250e9 / 8) < 1);
    free(r.job);
    hx_fabric_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_packets_are_lost),
        cmocka_unit_test(packets_of_an_early_end_are_in_flight),
        cmocka_unit_test(no_more_is_delivered_than_sent),
        cmocka_unit_test(shares_are_of_each_hosts_injection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
