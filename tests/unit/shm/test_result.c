/* test_result.c - what became of packets that did not arrive: lost, in flight, or taken by a process that was killed. */
#include "fabric-emu/report/result.h"
#include "host/topology/hamming_mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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

static void what_did_not_arrive_is_lost(void **state)
{
    (void)state;
    struct result r =
        finished((struct outcome){0}, (struct hx_endpoint_stats){.packets_sent = 9, .packets_delivered = 7});
    assert_true(r.packets_lost == 2 && r.packets_in_flight == 0);
}

static void what_nobody_waited_for_is_in_flight(void **state)
{
    (void)state;
    struct result r = finished((struct outcome){.interrupted = true},
                               (struct hx_endpoint_stats){.packets_sent = 9, .packets_delivered = 7});
    assert_true(r.packets_lost == 0 && r.packets_in_flight == 2);
}

/* A killed receiver had taken packets and messages that its successor gets again; the sender counts those as repeated. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_did_not_arrive_is_lost),
        cmocka_unit_test(what_nobody_waited_for_is_in_flight),
        cmocka_unit_test(no_more_is_delivered_than_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
