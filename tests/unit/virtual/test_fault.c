/* test_fault.c - effects of a faulty link on each packet and credit (hal/virtual/fault.h), to the picosecond,
 * against the text of that header. The test sets the state of one link of a board and checks its other end. */
#include "hal/virtual/fault.h"
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The link east of the accelerator in the middle of a board of three by three; ps. */
enum { MIDDLE = 4, HALF = HX_FAULT_WHOLE / 2 };
#define PERIOD  UINT64_C(640000)
#define LINK(n) (UINT64_C(5120) * (n))
#define THERE   (40000 + LINK(1) + 1000 + 40000) /* from the crossbar to the earliest routing of the first block */

static struct support_virtual lab;
static struct worker worker;
static struct hx_link_change change[2];
static struct virtual_fault link[3]; /* 1: this end, 2: the other, which loses credits */
static struct hx_fault_cost cost[2];
static struct virtual_faults faults;
static unsigned hits;
static uint64_t now;

static void count_hit(void *of, const uint8_t *frame, size_t fault)
{
    assert_null(of);
    assert_non_null(frame);
    assert_true(fault < 2);
    hits++;
}

static struct hal_switch *middle(void)
{
    return &worker.sim_node[MIDDLE]->node[0].hal;
}

static struct virtual_rx *far_end(void)
{
    return middle()->tx[HX_E].far;
}

static int open_lab(void **state)
{
    static const struct support_virtual_plan plan = {.spec = "1x1 Hx3Mesh"};
    (void)state;
    support_virtual_open_worker(&lab, &plan, &worker);
    faults = (struct virtual_faults){.of = link, .seed = 7, .period = PERIOD, .cost = cost, .hit = count_hit};
    worker.v.faults = &faults;
    middle()->tx[HX_E].fault = 1;
    far_end()->fault = 2;
    return 0;
}

static int close_lab(void **state)
{
    (void)state;
    worker.v.faults = NULL;
    support_virtual_close_worker(&lab, &worker);
    return 0;
}

/* Sets the impairment of the link, long after everything before. */
static void begin(struct hx_impairment impairs)
{
    now += UINT64_C(1000000000);
    memset(cost, 0, sizeof cost);
    hits = 0;
    change[0] = (struct hx_link_change){0, {.impaired = true, .impairs = impairs}, 0};
    for (unsigned end = 1; end < 3; end++)
        link[end] = (struct virtual_fault){.change = change, .changes = 1, .number = end};
}

static void change_at(uint64_t ns, bool down)
{
    change[1] = (struct hx_link_change){ns, {.down = down}, 1};
    link[1].changes = 2;
}

/* Sends a packet of so many blocks at `t` by an idle output. */
static void send_packet(uint64_t t, unsigned blocks)
{
    struct hal_switch *h = middle();
    struct hx_desc d = {.buffer = virtual_pool_get(&worker.v.pool), .length = (uint16_t)(256 * blocks)};
    d.flow = (uint16_t)hx_blocks(d.length);
    memset(virtual_pool_frame(&worker.v.pool, d.buffer), 1, HX_HEADER_BYTES);
    uint16_t position = hx_lane(h->rx[HX_W].head, 0);
    virtual_deliver(&h->rx[HX_W], &d, t, virtual_birth(0, MIDDLE));
    worker.v.now = t;
    hal_transmit(h, HX_E, 0, HX_W, 0, hal_arrival(h, HX_W, 0, position));
    h->rx[HX_W].ready = h->rx[HX_W].tail = h->rx[HX_W].head;
    support_virtual_forget(h->sim_node);
    virtual_post_end(&worker.v);
}

/* Next arrival to be routed. */
static const struct virtual_slot *next(void)
{
    struct virtual_rx *rx = far_end();
    uint16_t at = hx_lane(rx->ready, 0);
    assert_int_not_equal(at, hx_lane(rx->head, 0));
    rx->ready = rx->tail = rx->ready + 1; /* on VC 0, and far from its lane's end */
    if (rx->ready == rx->head)
        support_virtual_forget(virtual_rx_sim_node(rx));
    return virtual_queue_at(&rx->queue[0], at);
}

static void require_no_more(void)
{
    assert_int_equal(far_end()->ready, far_end()->head);
}

static bool is_lost(const struct virtual_slot *slot)
{
    return slot->d.dst_addr_hi == HX_NO_ADDRESS;
}

/* ---- tests ---- */

static void a_random_loss_arrives_without_an_address(void **state)
{
    (void)state;
    begin((struct hx_impairment){.loss = HX_FAULT_WHOLE});
    uint64_t gone = now;
    send_packet(now, 2);
    const struct virtual_slot *slot = next();
    require_no_more();
    assert_true(is_lost(slot) && cost[0].lost == 1 && hits == 1);
    assert_true(virtual_fault_lost(&worker.v, &slot->d, &gone));
    assert_int_equal(gone, now + PERIOD); /* return of its credit */
}

/* A packet has arrived when its first block may be routed: a link that goes down at that time does not lose it. */
static void a_link_that_goes_down_before_an_arrival_loses_the_packet(void **state)
{
    (void)state;
    for (unsigned later = 0; later < 2; later++) {
        begin((struct hx_impairment){.loss = 0});
        uint64_t t = now - THERE % 1000;
        uint64_t there_ns = (t + THERE) / 1000;
        change_at(there_ns - 1 + later, true);
        send_packet(t, 1);
        const struct virtual_slot *first = next();
        require_no_more();
        assert_int_equal(first->ready, there_ns * 1000);
        assert_int_equal(is_lost(first), later == 0);
        assert_int_equal(cost[1].lost, later == 0);
        send_packet(t + 1000000, 1); /* the link is down */
        assert_true(is_lost(next()) && cost[1].lost == 2U - later);
    }
}

static void without_payload_damage_is_in_the_version(void **state)
{
    (void)state;
    begin((struct hx_impairment){.corrupt = HX_FAULT_WHOLE});
    send_packet(now, 1);
    const struct virtual_slot *slot = next();
    require_no_more();
    const uint8_t *frame = virtual_pool_frame(&worker.v.pool, slot->d.buffer);
    assert_true(frame[HX_AT_VERSION] == UINT8_MAX && frame[HX_AT_VERSION + 1] == 1);
    assert_true(!is_lost(slot) && cost[0].corrupted == 1 && hits == 1);
}

static void a_copy_follows_its_packet_if_there_is_credit(void **state)
{
    (void)state;
    struct virtual_tx *tx = &middle()->tx[HX_E];
    begin((struct hx_impairment){.duplicate = HX_FAULT_WHOLE});
    unsigned credit = hx_lane(tx->lanes, 0);
    send_packet(now, 3);
    const struct virtual_slot *first = next();
    const struct virtual_slot *second = next();
    require_no_more();
    assert_int_equal(first->ready, now + THERE);
    assert_int_equal(second->ready, now + THERE + LINK(3));
    assert_int_not_equal(first->d.buffer, second->d.buffer);
    assert_int_equal(hx_lane(tx->lanes, 0), credit - 6);
    assert_int_equal(middle()->tx[HX_E].link_free, now + 40000 + LINK(6));
    assert_true(cost[0].duplicated == 1 && hits == 0);
    uint64_t kept = tx->lanes;
    tx->lanes -= (uint64_t)(hx_lane(kept, 0) - 5); /* for one packet of three blocks, and not for two */
    begin((struct hx_impairment){.duplicate = HX_FAULT_WHOLE});
    send_packet(now, 3);
    (void)next();
    require_no_more();
    assert_int_equal(cost[0].duplicated, 0);
    tx->lanes = kept;
}

/* Later by the time of four full packets, so behind the packets sent in between. */
static void a_reordered_packet_arrives_behind_later_ones(void **state)
{
    (void)state;
    begin((struct hx_impairment){.reorder = HX_FAULT_WHOLE});
    change_at(now / 1000 + 41, false); /* the first alone: it starts 40 ns from here */
    const struct virtual_event_queue *event_queue = &virtual_rx_sim_node(far_end())->event_queue;
    support_virtual_forget(virtual_rx_sim_node(far_end()));
    send_packet(now, 1);
    send_packet(now + 100000, 2);
    assert_int_equal(virtual_event_queue_count(event_queue), 1); /* the item is that of the first arrival */
    assert_int_equal(virtual_event_queue_time(event_queue), now + 100000 + THERE);
    const struct virtual_slot *first = next();
    const struct virtual_slot *second = next();
    require_no_more();
    assert_true(first->d.length == 512 && second->d.length == 256);
    assert_int_equal(first->ready, now + 100000 + THERE);
    assert_int_equal(second->ready, now + THERE + 4 * LINK(32));
    assert_int_equal(cost[0].reordered, 1);
}

static void a_delay_is_added_and_a_rate_occupies_the_link(void **state)
{
    (void)state;
    begin((struct hx_impairment){.delay_ns = 2000, .rate = HX_FAULT_WHOLE / 4});
    send_packet(now, 8);
    const struct virtual_slot *slot = next();
    require_no_more();
    assert_int_equal(slot->ready, now + THERE + 2000000 + 3 * LINK(8)); /* its last byte comes so much later */
    assert_int_equal(middle()->tx[HX_E].link_free, now + 40000 + 4 * LINK(8));
    assert_true(cost[0].lost + cost[0].corrupted + cost[0].duplicated + cost[0].reordered == 0 && hits == 0);
}

/* Lost credit arrives with the next credit frame that is not lost; if all are lost, the 64th arrives. */
static void lost_credit_arrives_with_a_later_frame(void **state)
{
    (void)state;
    enum { CREDITS = 2000 };
    unsigned frames = 0;
    unsigned at_once = 0;
    begin((struct hx_impairment){.credit_loss = HX_FAULT_WHOLE});
    assert_int_equal(virtual_fault_credit_late(&worker.v, far_end(), now), 64 * PERIOD);
    assert_int_equal(cost[0].credits_lost, 64);
    begin((struct hx_impairment){.credit_loss = HALF});
    for (unsigned i = 0; i < CREDITS; i++) {
        uint64_t late = virtual_fault_credit_late(&worker.v, far_end(), now);
        assert_int_equal(late % PERIOD, 0);
        frames += (unsigned)(late / PERIOD);
        at_once += late == 0;
    }
    assert_int_equal(cost[0].credits_lost, frames);
    assert_in_range(at_once, CREDITS * 45 / 100, CREDITS * 55 / 100); /* half of them, */
    assert_in_range(frames, CREDITS * 85 / 100, CREDITS * 115 / 100); /* and 1/2 + 1/4 + ... frames each */
}

/* The link closes as planned at a whole ns, long after everything before. Returns that time. */
static uint64_t begin_closing(void)
{
    begin((struct hx_impairment){.loss = 0});
    uint64_t closing = now + 3000000;
    change[0] = (struct hx_link_change){closing / 1000, {.closed = true}, 0};
    change[1] = (struct hx_link_change){closing / 1000 + 1000, {.closed = false}, 0};
    link[1].changes = 2;
    return closing;
}

static void a_packet_that_began_before_the_planned_closing_arrives(void **state)
{
    (void)state;
    uint64_t closing = begin_closing();
    send_packet(closing - 40001, 32);
    const struct virtual_slot *slot = next();
    assert_false(is_lost(slot));
    assert_int_equal(slot->ready, closing - 1 + THERE - 40000);
    assert_int_equal(middle()->tx[HX_E].link_free, closing - 1 + LINK(32));
    assert_int_equal(middle()->tx[HX_E].opens, closing); /* no other begins before the closing */
    assert_true(cost[0].lost == 0 && hits == 0);
    send_packet(closing + 1000000, 1); /* it has opened */
    slot = next();
    assert_false(is_lost(slot));
    assert_int_equal(slot->ready, closing + 1000000 + THERE);
}

static void an_output_takes_no_packet_that_would_begin_behind_the_planned_closing(void **state)
{
    (void)state;
    uint64_t closing = begin_closing();
    struct virtual_tx *tx = &middle()->tx[HX_E];
    worker.v.now = now;
    assert_int_equal(virtual_fault_takes(&worker.v, tx, closing - 40001), closing - 40001);
    assert_int_equal(virtual_fault_takes(&worker.v, tx, closing - 40000), closing);
    assert_int_equal(virtual_fault_takes(&worker.v, tx, closing + 7), closing + 7);
    assert_int_equal(virtual_fault_takes(&worker.v, tx, VIRTUAL_NEVER), VIRTUAL_NEVER);
    tx->link_free = closing - 1;
    assert_int_equal(virtual_fault_takes(&worker.v, tx, now), now);
    tx->link_free = closing;
    assert_int_equal(virtual_fault_takes(&worker.v, tx, now), closing);
    worker.v.now = closing;
    assert_int_equal(virtual_fault_takes(&worker.v, tx, closing), closing);
    tx->link_free = now;
}

/* An input that is busy with packets for other outputs delays a packet past the closing. It begins just before. */
static void a_late_crossbar_does_not_delay_a_packet_past_the_planned_closing(void **state)
{
    (void)state;
    uint64_t closing = begin_closing();
    middle()->rx[HX_W].crossbar_free = closing + 500000;
    send_packet(closing - 41000, 4);
    const struct virtual_slot *slot = next();
    assert_false(is_lost(slot));
    assert_int_equal(slot->ready, closing - 1 + THERE - 40000);
}

static void a_link_that_goes_down_loses_packets_though_it_is_closed_as_well(void **state)
{
    (void)state;
    uint64_t closing = begin_closing();
    change[1] = (struct hx_link_change){closing / 1000 + 10, {.down = true, .closed = true}, 1};
    send_packet(closing - 40001, 32); /* still on the link */
    assert_true(is_lost(next()));
    assert_true(cost[0].lost == 0 && cost[1].lost == 1);
}

/* Fates of 2,000 packets as a number; *lost: how many were lost. */
static uint64_t fates(unsigned *lost)
{
    uint64_t sum = 0;
    *lost = 0;
    for (unsigned i = 0; i < 2000; i++) {
        send_packet(now + UINT64_C(100000) * i, 1);
        bool is_gone = is_lost(next());
        sum = sum * 31 + is_gone;
        *lost += is_gone;
        middle()->tx[HX_E].lanes++; /* its credit returns */
    }
    return sum;
}

static void random_faults_depend_on_seed_link_and_packet(void **state)
{
    (void)state;
    const struct hx_impairment tenth = {.loss = HX_FAULT_WHOLE / 10};
    unsigned lost;
    begin(tenth);
    uint64_t first = fates(&lost);
    assert_in_range(lost, 150, 250);
    assert_int_equal(cost[0].lost, lost);
    begin(tenth);
    assert_int_equal(fates(&lost), first);
    begin(tenth);
    link[1].number = 12;
    assert_int_not_equal(fates(&lost), first);
    faults.seed++;
    begin(tenth);
    assert_int_not_equal(fates(&lost), first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_loss_arrives_without_an_address),
        cmocka_unit_test(a_link_that_goes_down_before_an_arrival_loses_the_packet),
        cmocka_unit_test(without_payload_damage_is_in_the_version),
        cmocka_unit_test(a_copy_follows_its_packet_if_there_is_credit),
        cmocka_unit_test(a_reordered_packet_arrives_behind_later_ones),
        cmocka_unit_test(a_delay_is_added_and_a_rate_occupies_the_link),
        cmocka_unit_test(lost_credit_arrives_with_a_later_frame),
        cmocka_unit_test(a_packet_that_began_before_the_planned_closing_arrives),
        cmocka_unit_test(an_output_takes_no_packet_that_would_begin_behind_the_planned_closing),
        cmocka_unit_test(a_late_crossbar_does_not_delay_a_packet_past_the_planned_closing),
        cmocka_unit_test(a_link_that_goes_down_loses_packets_though_it_is_closed_as_well),
        cmocka_unit_test(random_faults_depend_on_seed_link_and_packet),
    };
    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
