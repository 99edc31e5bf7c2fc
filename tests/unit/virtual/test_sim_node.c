/* test_sim_node.c - a simulated node in its windows: waiting packets go on without new arrivals. */
#include "tests/support/support_random.h"
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
    static const struct support_flow flow = {0, 1}; /* the node in the middle sends nothing itself */
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

/* A packet on VC 0. */
static void bring(struct virtual_node *n, unsigned input, struct hx_coordinate to, unsigned blocks, uint64_t time)
{
    const struct hx_desc d = {.buffer = virtual_pool_get(&worker.v.pool),
                              .length = 1,
                              .flow = (uint16_t)blocks,
                              .job = n->sw.job,
                              .dst_addr_hi = (uint16_t)to.addr_hi,
                              .dst_addr_lo = (uint16_t)to.addr_lo};
    virtual_deliver(&n->hal.rx[input], &d, time, virtual_birth(0, MIDDLE));
}

/* The first packet waits for credit while all others pass it, until the switch's window is full. When it leaves,
 * more are behind the window that the switch has not seen, and no other packet waits. */
static void goes_on_behind_a_window(unsigned blocks, uint64_t apart)
{
    struct virtual_sim_node *e = worker.sim_node[MIDDLE];
    struct virtual_node *n = &e->node[0];
    unsigned all = hx_lane(n->hal.tx[HX_N].lanes, 0);
    n->hal.tx[HX_N].lanes -= all;
    n->hal.tx[HX_E].lanes += n->hal.tx[HX_E].lanes; /* enough for all */
    bring(n, HX_W, north, blocks, SOONER);
    for (unsigned i = 0; i < HX_WINDOW + 6; i++)
        bring(n, HX_W, east, blocks, SOONER + i * apart);
    virtual_sim_node_visit(e, LATER);
    assert_int_equal(n->hal.tx[HX_N].sum.packets, 0);
    assert_int_equal(n->hal.tx[HX_E].sum.packets, HX_WINDOW - 1);
    virtual_credit(&n->hal.tx[HX_N], virtual_credit_of(LATER, 0, blocks));
    virtual_sim_node_visit(e, 2 * LATER);
    assert_int_equal(n->hal.tx[HX_N].sum.packets, 1);
    assert_int_equal(n->hal.tx[HX_E].sum.packets, HX_WINDOW + 6);
}

static void packets_behind_a_window_go_on_after_the_last_that_waited(void **state)
{
    (void)state;
    goes_on_behind_a_window(1, 0);
}

static void single_arrivals_behind_a_window_wait_there_too(void **state)
{
    (void)state;
    goes_on_behind_a_window(HX_PACKET_BLOCKS, SOONER);
}

/* Full trains wait for credit. A short one leaves when it comes, as it is its input's turn; it does not leave in the
 * turn of a full one. */
static void a_short_packet_leaves_while_long_ones_lack_credit(void **state)
{
    (void)state;
    struct virtual_sim_node *e = worker.sim_node[MIDDLE];
    struct virtual_node *n = &e->node[0];
    const unsigned full = worker.v.timing.full;
    const struct virtual_sent *sent = &n->hal.tx[HX_N].sum;
    n->hal.tx[HX_N].lanes -= hx_lane(n->hal.tx[HX_N].lanes, 0);
    bring(n, HX_W, north, full, SOONER);
    bring(n, HX_W, north, full, SOONER);
    virtual_sim_node_visit(e, LATER);
    assert_true(n->hal.credit_blocked == 1U << HX_N);
    virtual_credit(&n->hal.tx[HX_N], virtual_credit_of(LATER, 0, full + 1));
    virtual_sim_node_visit(e, 2 * LATER);
    assert_int_equal(sent->packets, full / HX_PACKET_BLOCKS);
    assert_true(n->hal.credit_blocked == 1U << HX_N);
    bring(n, HX_S, north, 1, 2 * LATER);
    virtual_sim_node_visit(e, 3 * LATER);
    assert_int_equal(sent->packets, full / HX_PACKET_BLOCKS + 1);
    assert_int_equal(sent->blocks, full + 1);
    assert_int_equal(n->hal.small, 0);
    virtual_credit(&n->hal.tx[HX_N], virtual_credit_of(3 * LATER, 0, 1));
    bring(n, HX_S, north, 1, 3 * LATER + 1);
    virtual_sim_node_visit(e, 4 * LATER);
    assert_int_equal(sent->packets, full / HX_PACKET_BLOCKS + 1);
    assert_int_equal(n->hal.small, 1);
}

/* Packets pass one by one or together. Returns whether the ring of their queue stays. */
static bool ring_stays(unsigned packets, bool together)
{
    static uint64_t time;
    struct virtual_sim_node *e = worker.sim_node[MIDDLE];
    struct virtual_node *n = &e->node[0];
    uint64_t before = n->hal.tx[HX_E].sum.packets;
    for (unsigned i = 0; i < packets; i++) {
        bring(n, HX_N, east, 1, time += SOONER);
        if (!together)
            virtual_sim_node_visit(e, time + 1);
    }
    virtual_sim_node_visit(e, time + 1);
    assert_int_equal(n->hal.tx[HX_E].sum.packets, before + packets);
    return n->hal.rx[HX_N].queue[0].slots != 0;
}

/* A ring for two packets stays if all is handed over at once; longer ones, and others, are returned. */
static void only_a_small_ring_of_an_empty_queue_stays(void **state)
{
    (void)state;
    assert_false(worker.v.outbox.for_own);
    assert_true(ring_stays(5, false));
    assert_true(ring_stays(2, true));
    assert_false(ring_stays(3, true));
    worker.v.outbox.for_own = true;
    assert_false(ring_stays(5, false));
    worker.v.outbox.for_own = false;
}

/* A packet leaves although an earlier one of its input waits for a blocked output. */
static void a_packet_passes_one_for_a_blocked_output(void **state)
{
    (void)state;
    struct virtual_sim_node *e = worker.sim_node[MIDDLE];
    struct virtual_node *n = &e->node[0];
    n->hal.tx[HX_N].opens = LATER;
    bring(n, HX_W, north, 1, SOONER);
    bring(n, HX_W, east, 1, 2 * SOONER);
    virtual_sim_node_visit(e, 3 * SOONER);
    assert_int_equal(n->hal.tx[HX_N].sum.packets, 0);
    assert_int_equal(n->hal.tx[HX_E].sum.packets, 1);
    virtual_sim_node_visit(e, 2 * LATER);
    assert_int_equal(n->hal.tx[HX_N].sum.packets, 1);
}

/* Packets that arrive at one time by one input and VC leave then, though only the first has an item in the event
 * queue. */
static void arrivals_of_one_time_leave_then(void **state)
{
    (void)state;
    struct virtual_sim_node *e = worker.sim_node[MIDDLE];
    struct virtual_node *n = &e->node[0];
    unsigned turn = n->sw.first_input;
    unsigned noted = virtual_event_queue_count(&e->event_queue);
    bring(n, HX_W, north, 1, SOONER);
    bring(n, HX_W, east, 1, SOONER);
    assert_int_equal(virtual_event_queue_count(&e->event_queue), noted + 1);
    virtual_sim_node_visit(e, LATER);
    assert_int_equal(n->hal.tx[HX_N].sum.packets, 1);
    assert_int_equal(n->hal.tx[HX_E].sum.packets, 1);
    assert_int_equal(n->sw.first_input, (turn + 2) % HX_ACCELERATOR_PORTS);
}

/* Outputs of a switch after each of several random arrivals. */
enum { ARRIVALS = 120 /* fewer by each output than there is credit for */, BLOCK_PS = 5120, SEEDS = 12 };
struct story {
    uint64_t link_free[ARRIVALS][4];
    uint64_t tie;
    uint8_t first_input, first_vc;
};

/* `together`: each arrival shares its time with another item, so the switch makes a step for it. */
static void tell_story(struct story *story, uint64_t seed, bool together)
{
    static const struct {
        unsigned input;
        struct hx_coordinate to;
    } arrival[] = {{HX_W, {1, 0}}, {HX_W, {2, 1}}, {HX_W, {2, 2}}, {HX_W, {1, 2}}, {HX_N, {2, 1}}, {HX_N, {2, 2}},
                   {HX_N, {1, 2}}, {HX_E, {0, 1}}, {HX_E, {0, 2}}, {HX_E, {1, 2}}, {HX_S, {1, 0}}};
    (void)open_lab(NULL);
    struct virtual_sim_node *e = worker.sim_node[MIDDLE];
    struct virtual_node *n = &e->node[0];
    uint64_t time = SOONER;
    for (unsigned i = 0; i < ARRIVALS; i++) {
        unsigned which = seeded_below(&seed, sizeof arrival / sizeof *arrival);
        time += 1 + seeded_below(&seed, (uint64_t)16 * BLOCK_PS);
        bring(n, arrival[which].input, arrival[which].to, HX_PACKET_BLOCKS, time);
        if (together)
            virtual_sim_node_note(e, time, VIRTUAL_ITEM_TIMER);
        virtual_sim_node_visit(e, time + 1);
        for (unsigned port = 0; port < 4; port++)
            story->link_free[i][port] = n->hal.tx[port].link_free;
    }
    story->tie = n->sw.tie;
    story->first_input = n->sw.first_input;
    story->first_vc = n->sw.first_vc;
    (void)close_lab(NULL);
}

static void a_single_arrival_passes_as_in_a_step(void **state)
{
    (void)state;
    static struct story alone, in_step;
    const uint64_t first = seeded_by(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        tell_story(&alone, seed, false);
        tell_story(&in_step, seed, true);
        for (unsigned i = 0; i < ARRIVALS; i++) {
            for (unsigned port = 0; port < 4; port++) {
                if (alone.link_free[i][port] != in_step.link_free[i][port])
                    fail_msg("HX_SEED=%llu, packet %u: output %u is free at another time", (unsigned long long)seed, i,
                             port);
            }
        }
        assert_true(alone.tie == in_step.tie && alone.first_input == in_step.first_input &&
                    alone.first_vc == in_step.first_vc);
    }
}

#define PREPARED(test) cmocka_unit_test_setup_teardown(test, open_lab, close_lab)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PREPARED(packets_behind_a_window_go_on_after_the_last_that_waited),
        PREPARED(single_arrivals_behind_a_window_wait_there_too),
        PREPARED(only_a_small_ring_of_an_empty_queue_stays),
        PREPARED(a_short_packet_leaves_while_long_ones_lack_credit),
        PREPARED(a_packet_passes_one_for_a_blocked_output),
        PREPARED(arrivals_of_one_time_leave_then),
        cmocka_unit_test(a_single_arrival_passes_as_in_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
