/* test_entity.c - an entity in its windows of time: whatever stands at a switch is looked at again, though nothing new comes. */
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The accelerator in the middle of a board of three by three. */
enum { MIDDLE = 4, SOONER = 1000000, LATER = 100 * SOONER };
static const struct hx_coordinate north = {1, 0}, east = {2, 1};
static struct support_virtual lab;
static struct worker worker;

static int open_lab(void **state)
{
    (void)state;
    static const struct support_flow flow = {0, 1}; /* the middle itself sends nothing */
    static const struct support_virtual_plan plan = {.spec = "1x1 Hx3Mesh", .flow = &flow, .flows = 1};
    support_virtual_open_worker(&lab, &plan, &worker);
    return 0;
}

static int close_lab(void **state)
{
    (void)state;
    support_virtual_close_worker(&lab, &worker);
    return 0;
}

/* A packet of one block on VC 0 from the west. */
static void bring(struct virtual_node *n, struct hx_coordinate to)
{
    const struct hx_desc d = {.buffer = virtual_pool_get(&worker.v.pool),
                              .length = 1,
                              .flow = 1,
                              .job = n->sw.job,
                              .dst_d0 = (uint16_t)to.d0,
                              .dst_d1 = (uint16_t)to.d1};
    virtual_deliver(&n->hal.rx[HX_W], &d, SOONER, virtual_birth(0, MIDDLE));
}

/* The first packet of a window waits for credit while all others pass it, until the window is full. When it goes, more stand behind
 * the window that the switch has not seen, and nobody else waits for anything. */
static void what_stood_behind_a_window_goes_on_after_the_last_that_waited(void **state)
{
    (void)state;
    struct virtual_entity *e = worker.entity[MIDDLE];
    struct virtual_node *n = &e->node[0];
    unsigned all = hx_lane(n->hal.room[HX_N].lanes, 0);
    n->hal.room[HX_N].lanes -= all;
    bring(n, north);
    for (unsigned i = 0; i < HX_WINDOW + 6; i++)
        bring(n, east);
    virtual_entity_visit(e, LATER);
    assert_int_equal(n->hal.tx[HX_N].sum.packets, 0);
    assert_int_equal(n->hal.tx[HX_E].sum.packets, HX_WINDOW - 1);
    virtual_credit(&n->hal.tx[HX_N], virtual_credit_of(LATER, 0, 1));
    virtual_entity_visit(e, 2 * LATER);
    assert_int_equal(n->hal.tx[HX_N].sum.packets, 1);
    assert_int_equal(n->hal.tx[HX_E].sum.packets, HX_WINDOW + 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_stood_behind_a_window_goes_on_after_the_last_that_waited, open_lab,
                                        close_lab),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
