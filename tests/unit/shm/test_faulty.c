/* test_faulty.c - effects of a faulty link on packets, one kind of fault at a time; each buffer stays in one place. */
#include "faulty.h"
#include "tests/support/shm/support_shm.h"
#include "tests/support/support_seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { VC = 1, LENGTH = 936, FRAME = HX_HEADER_BYTES + LENGTH, MANY = 4000, BATCH = 8 };

/* A link of a fabric without workers: the test is its sender and its receiver. */
static struct support s;
static struct worker receiver;
static struct shm_faulty link;
static struct hx_fault_cost count;
static struct shm_rx arriving;
static struct hx_input in;
static uint64_t head;         /* of the sender */
static uint16_t packets_sent; /* descriptors carry numbers in `flow` */

static int open_link(void **state)
{
    (void)state;
    support_open(&s, &(struct support_plan){"1x1 Hx2Mesh", .workers = 1, .planes = 1, .message = 1, .count = 1});
    support_start(&s, &receiver, 0);
    receiver.shm.now = 1000;
    count = (struct hx_fault_cost){0};
    head = 0;
    packets_sent = 0;
    arriving = (struct shm_rx){.link = fab_link(&s.f, 0, 0, HX_E), .ahead = shm_link_slots(s.f.g->vcs, s.f.slots)};
    in = (struct hx_input){0};
    link = (struct shm_faulty){.worker = &receiver.shm,
                               .from = arriving.link,
                               .to = fab_faulty(&s.f, fab_first_port(&s.f, 0, 0) + HX_E),
                               .cost = &count,
                               .vcs = s.f.g->vcs,
                               .size = s.f.slots,
                               .checked = true,
                               .dice = seeded_by(1)};
    return 0;
}

static int close_link(void **state)
{
    support_forget(&receiver);
    support_close(&s);
    return seeded_report(state);
}

static void each_buffer_has_one_place(void)
{
    struct support_audit a = support_audit(&s);
    assert_int_equal(a.missing, 0);
    assert_int_equal(a.doubled, 0);
    assert_int_equal(a.foreign, 0);
}

static void send(unsigned packets)
{
    for (; packets; packets--, packets_sent++) {
        struct hx_desc d = {.length = LENGTH, .vc = VC, .flow = packets_sent};
        assert_true(shm_buffer_get(&receiver.shm, &d.buffer, 0));
        memset(s.f.buffers[d.buffer].frame, (int)(packets_sent & 0xFF), FRAME);
        link.from->slots[VC * s.f.slots + (hx_lane(head, VC) & (s.f.slots - 1))] = d;
        head = hx_lane_add(head, VC, 1);
    }
    shm_note(&receiver.shm.step, &link.from->heads, head);
    shm_note_pools(&receiver.shm, false);
    shm_step_commit(&receiver.shm.step);
    shm_commit_pools(&receiver.shm);
}

/* Takes the arrivals; returns their number and descriptors. The buffers go home, and keep their content. */
static unsigned take(struct hx_desc arrived[HX_WINDOW])
{
    unsigned n = 0;
    for (uint16_t at = hx_lane(arriving.tail, VC); at != hx_lane(link.to->heads, VC); at++) {
        arrived[n] = link.to->slots[VC * s.f.slots + (at & (s.f.slots - 1))];
        shm_buffer_put(&receiver.shm, arrived[n++].buffer);
    }
    arriving.tail = arriving.seen = link.to->heads;
    shm_note(&receiver.shm.step, &link.to->tails, arriving.tail);
    shm_note_pools(&receiver.shm, true);
    shm_step_commit(&receiver.shm.step);
    shm_commit_pools(&receiver.shm);
    return n;
}

static void begin(struct shm_condition condition)
{
    shm_faulty_begin(&link, &arriving);
    link.condition = condition;
}

static void without_faults_packets_arrive_in_order_and_credit_returns(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.loss = 0});
    send(BATCH);
    assert_int_equal(shm_faulty_step(&link), BATCH + 1);
    assert_int_equal(take(arrived), BATCH);
    for (unsigned i = 0; i < BATCH; i++)
        assert_int_equal(arrived[i].flow, i);
    assert_int_equal(link.from->tails, head);
    each_buffer_has_one_place();
}

static void a_cut_link_delivers_nothing_and_returns_all_buffers(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.down = 1});
    send(BATCH);
    (void)shm_faulty_step(&link);
    assert_int_equal(take(arrived), 0);
    assert_int_equal(count.lost, BATCH);
    assert_int_equal(link.from->tails, head);
    each_buffer_has_one_place();
    assert_int_equal(support_audit(&s).in_links, 0);
}

/* Five standard deviations of MANY trials at a quarter: 137. */
static void probabilities_are_those_configured(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    struct hx_desc arrived[HX_WINDOW];
    unsigned came = 0;
    begin((struct shm_condition){.loss = HX_FAULT_WHOLE / 4, .duplicate = HX_FAULT_WHOLE / 4});
    for (unsigned i = 0; i < MANY / BATCH; i++) {
        send(BATCH);
        (void)shm_faulty_step(&link);
        came += take(arrived);
    }
    assert_in_range(count.lost, MANY / 4 - 137, MANY / 4 + 137);
    assert_in_range(count.duplicated, (MANY - count.lost) / 4 - 137, (MANY - count.lost) / 4 + 137);
    assert_int_equal(came, MANY - count.lost + count.duplicated);
    each_buffer_has_one_place();
    seeded_run = 0;
}

static void a_repeated_packet_is_equal_in_two_buffers(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.duplicate = HX_FAULT_WHOLE});
    send(1);
    (void)shm_faulty_step(&link);
    assert_int_equal(take(arrived), 2);
    assert_int_not_equal(arrived[0].buffer, arrived[1].buffer);
    assert_memory_equal(s.f.buffers[arrived[0].buffer].frame, s.f.buffers[arrived[1].buffer].frame, FRAME);
    arrived[0].buffer = arrived[1].buffer;
    assert_memory_equal(&arrived[0], &arrived[1], sizeof arrived[0]);
}

static void a_corrupted_packet_has_one_bit_turned_that_its_crc_covers(void **state)
{
    (void)state;
    seeded_run = seeded_by(1);
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.corrupt = HX_FAULT_WHOLE});
    for (unsigned i = 0; i < MANY / BATCH; i++) {
        send(1);
        (void)shm_faulty_step(&link);
        assert_int_equal(take(arrived), 1);
        unsigned turned = 0;
        const uint8_t *frame = s.f.buffers[arrived[0].buffer].frame;
        for (unsigned at = 0; at < FRAME; at++) {
            unsigned differs = frame[at] ^ (arrived[0].flow & 0xFFU);
            turned += (unsigned)__builtin_popcount(differs);
            assert_true(differs == 0 || at >= HX_CRC_FIRST);
        }
        assert_int_equal(turned, 1);
    }
    seeded_run = 0;
}

/* Damaged twice, as by two links in turn. */
static void a_corrupted_packet_without_crc_check_does_not_decode(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.corrupt = HX_FAULT_WHOLE, .duplicate = HX_FAULT_WHOLE});
    link.checked = false;
    for (unsigned times = 1; times <= 2; times++) {
        send(1);
        struct hx_header h = {.length = LENGTH};
        uint32_t buffer = link.from->slots[VC * s.f.slots + ((packets_sent - 1U) & (s.f.slots - 1))].buffer;
        uint8_t *frame = s.f.buffers[buffer].frame;
        hx_frame_encode(frame, &h);
        if (times == 2)
            frame[HX_AT_VERSION] = (uint8_t)~HX_WIRE_VERSION;
        (void)shm_faulty_step(&link);
        assert_int_equal(take(arrived), 2);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(hx_frame_decode(&h, s.f.buffers[arrived[i].buffer].frame, FRAME), HX_E_VERSION);
    }
    assert_int_equal(count.corrupted, 2);
}

static void reordered_packets_all_arrive(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.reorder = HX_FAULT_WHOLE});
    send(4);
    (void)shm_faulty_step(&link);
    assert_int_equal(take(arrived), 4);
    const unsigned order[] = {1, 0, 3, 2};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(arrived[i].flow, order[i]);
    assert_int_equal(count.reordered, 2);
}

static void a_delayed_packet_arrives_after_its_delay(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.delay_ns = 500});
    send(2);
    (void)shm_faulty_step(&link); /* takes them in */
    receiver.shm.now += 499;
    send(1);
    (void)shm_faulty_step(&link);
    assert_int_equal(take(arrived), 0);
    assert_true(shm_faulty_holds(&link));
    receiver.shm.now += 1;
    (void)shm_faulty_step(&link);
    assert_int_equal(take(arrived), 2);
    receiver.shm.now += 499;
    (void)shm_faulty_step(&link);
    assert_int_equal(take(arrived), 1);
    assert_false(shm_faulty_holds(&link));
}

/* 1,000 bytes at a byte a nanosecond. */
static void a_slow_link_carries_one_packet_after_the_other(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.bytes_a_second = 1000000000});
    send(3);
    for (unsigned i = 0; i < 3; i++) {
        (void)shm_faulty_step(&link);
        assert_int_equal(take(arrived), 1);
        receiver.shm.now += FRAME - 1;
        (void)shm_faulty_step(&link);
        assert_int_equal(take(arrived), 0);
        receiver.shm.now += 1;
    }
}

static void the_next_credit_frame_makes_up_for_a_lost_one(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    begin((struct shm_condition){.credit_loss = HX_FAULT_WHOLE});
    send(BATCH);
    (void)shm_faulty_step(&link);
    assert_int_equal(take(arrived), BATCH);
    assert_int_equal(link.from->tails, 0);
    assert_int_equal(link.from->gone[VC], (1U << BATCH) - 1);
    each_buffer_has_one_place();
    link.condition.credit_loss = 0;
    receiver.shm.now += 19999;
    assert_int_equal(shm_faulty_step(&link), 0);
    receiver.shm.now += 1;
    assert_int_equal(shm_faulty_step(&link), 1);
    assert_int_equal(link.from->tails, head);
    assert_int_equal(link.from->gone[VC], 0);
    assert_int_equal(count.credits_lost, 1);
}

/* Of four packets in the window the second has left; two more are on the cable. */
static void a_window_survives_a_fault(void **state)
{
    (void)state;
    struct hx_desc arrived[HX_WINDOW];
    send(4);
    arriving.seen = head;
    arriving.gone[VC] = 2;
    uint32_t left = link.from->slots[VC * s.f.slots + 1].buffer;
    shm_buffer_put(&receiver.shm, left);
    shm_note_pools(&receiver.shm, true);
    shm_note(&receiver.shm.step, &link.from->gone[VC], 2);
    shm_step_commit(&receiver.shm.step);
    shm_commit_pools(&receiver.shm);
    send(2);
    begin((struct shm_condition){.loss = HX_FAULT_WHOLE});
    each_buffer_has_one_place();
    assert_int_equal(hx_lane(link.from->tails, VC), 4);
    assert_int_equal(link.from->gone[VC], 0);
    assert_int_equal(link.to->gone[VC], 2);
    assert_int_equal(hx_lane(link.to->heads, VC), 4);

    (void)shm_faulty_step(&link);
    assert_int_equal(count.lost, 2);
    link.leaving = true;
    assert_false(shm_faulty_end(&link, &arriving, &in));
    arriving.gone[VC] = 0;
    link.to->gone[VC] = 0;
    link.to->slots[VC * s.f.slots + 1].buffer =
        link.to->slots[VC * s.f.slots].buffer; /* the packet that left is not taken again */
    link.to->tails = hx_lane_add(link.to->tails, VC, 1);
    arriving.tail = link.to->tails;
    (void)take(arrived);
    send(1); /* waits on the cable */
    assert_int_equal(shm_faulty_step(&link), 0);
    assert_true(shm_faulty_end(&link, &arriving, &in));
    assert_ptr_equal(arriving.link, link.from);
    assert_int_equal(hx_lane(arriving.seen, VC), 6);
    assert_int_equal(in.seen, arriving.seen);
    each_buffer_has_one_place();
}

int main(void)
{
#define WITH_LINK(test) cmocka_unit_test_setup_teardown(test, open_link, close_link)
    const struct CMUnitTest tests[] = {
        WITH_LINK(without_faults_packets_arrive_in_order_and_credit_returns),
        WITH_LINK(a_cut_link_delivers_nothing_and_returns_all_buffers),
        WITH_LINK(probabilities_are_those_configured),
        WITH_LINK(a_repeated_packet_is_equal_in_two_buffers),
        WITH_LINK(a_corrupted_packet_has_one_bit_turned_that_its_crc_covers),
        WITH_LINK(a_corrupted_packet_without_crc_check_does_not_decode),
        WITH_LINK(reordered_packets_all_arrive),
        WITH_LINK(a_delayed_packet_arrives_after_its_delay),
        WITH_LINK(a_slow_link_carries_one_packet_after_the_other),
        WITH_LINK(the_next_credit_frame_makes_up_for_a_lost_one),
        WITH_LINK(a_window_survives_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
