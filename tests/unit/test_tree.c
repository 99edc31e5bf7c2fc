/* test_tree.c - promises of the switch of a row or column network, with inputs and credit that the test sets. */
#include "tests/support/loopback/support_loopback.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PORTS = 64, BLOCKS = 64, ROOMY = 1000, CHOICES = 6400 };

static struct rig rig;

/* gx n: the port n. Tests may write more sets. */
static void start(void)
{
    rig_init(&rig, HX_ROW_SWITCH, PORTS, 0, BLOCKS);
    for (unsigned gx = 0; gx < PORTS; gx++)
        rig.tree[gx] = (uint64_t)1 << gx;
}

static void arrive(unsigned input, unsigned vc, uint32_t id, unsigned gx, unsigned length)
{
    assert_true(rig_arrive(&rig, input, vc, id, gx, length));
}

static void expect(unsigned output, uint32_t id)
{
    rig_expect(&rig, output, id);
}

static void every_port_reaches_every_other(void **state)
{
    (void)state;
    start();
    for (unsigned shift = 1; shift < PORTS; shift++) {
        rig_room_everywhere(&rig, ROOMY);
        for (unsigned input = 0; input < PORTS; input++)
            arrive(input, shift % HX_VCS, input, (input + shift) % PORTS, 900);
        assert_int_equal(rig_step(&rig), PORTS);
        for (unsigned output = 0; output < PORTS; output++) {
            struct rig_packet p;
            assert_true(rig_take(&rig, output, &p));
            assert_int_equal(p.id, (output + PORTS - shift) % PORTS);
            assert_int_equal(p.vc, shift % HX_VCS); /* a network does not change the VC */
            assert_int_equal(p.hops, 4);
            assert_true(p.intact);
        }
        rig_validate_empty(&rig);
    }
}

static void a_column_switch_goes_by_gy(void **state)
{
    (void)state;
    start();
    rig.sw.route.addr_hi_ports = rig.all;
    rig.sw.route.addr_lo_ports = rig.tree;
    rig_room_everywhere(&rig, ROOMY);
    arrive(3, 0, 1, 40, 0); /* the rig's packets go to gy 9 */
    assert_int_equal(rig_step(&rig), 1);
    expect(9, 1);
}

/* A set of one port is no path for a packet from that port, nor is a set of failed links: the packet returns, on its
 * VC. */
static void a_packet_without_a_path_returns(void **state)
{
    (void)state;
    start();
    rig_room_everywhere(&rig, ROOMY);
    rig.tree[100] = 0;
    rig.tree[101] = UINT64_C(1) << 7 | UINT64_C(1) << 8;
    rig_links(&rig, ~(UINT64_C(1) << 8), 0);
    arrive(5, 0, 1, 100, 300);
    arrive(7, 1, 2, 101, 300);
    arrive(9, 2, 3, 8, 300);
    arrive(6, 0, 4, 101, 300);
    arrive(4, 0, 5, 4, 300);
    assert_int_equal(rig_step(&rig), 5);
    struct rig_packet p;
    assert_true(rig_take(&rig, 7, &p));
    bool first = p.id == 2; /* of the packets that leave by 7 */
    assert_int_equal(p.vc, first ? 1 : 0);
    expect(7, first ? 4 : 2);
    expect(5, 1);
    expect(9, 3);
    expect(4, 5);
    assert_int_equal(rig.hal.node.drops[HX_DROP_NO_ROUTE], 0);
    rig_validate_empty(&rig);
}

/* A leaf returns a packet from a spine that it cannot send down; it never sends it up again. */
static void a_packet_from_a_spine_does_not_go_up_again(void **state)
{
    (void)state;
    start();
    rig_links(&rig, ~UINT64_C(0xF), UINT64_MAX << 60);
    rig.tree[100] = UINT64_MAX << 60; /* below another leaf */
    unsigned taken[PORTS] = {0};
    for (unsigned n = 0; n < 560; n++) {
        rig_room_everywhere(&rig, ROOMY);
        arrive(60, 1, n, n % 2 ? 100 : 3, 300);
        assert_int_equal(rig_step(&rig), 1);
        struct rig_packet p;
        for (unsigned port = 0; port < PORTS; port++)
            while (rig_take(&rig, port, &p))
                taken[port]++;
    }
    for (unsigned port = 0; port < PORTS; port++)
        assert_int_equal(taken[port] > 0, port >= 4 && port < 60);
    arrive(20, 1, 1, 100, 300); /* from below it goes up as always */
    assert_int_equal(rig_step(&rig), 1);
    for (unsigned port = 0; port < 60; port++)
        assert_false(rig_take(&rig, port, &(struct rig_packet){0}));
}

/* A returning packet waits for credit like any other. It is dropped and counted only if the link of its arrival is
 * down too. */
static void returning_takes_credit_and_a_link(void **state)
{
    (void)state;
    start();
    rig.tree[100] = 0;
    rig_room(&rig, 5, 1, 1);
    arrive(5, 1, 1, 100, 300);
    assert_int_equal(rig_step(&rig), 0);
    rig_room(&rig, 5, 1, 2);
    assert_int_equal(rig_step(&rig), 1);
    expect(5, 1);
    rig_room(&rig, 5, 1, 9);
    rig_links(&rig, ~(UINT64_C(1) << 5), 0);
    arrive(5, 1, 2, 100, 300);
    assert_int_equal(rig_step(&rig), 0);
    assert_int_equal(rig.hal.node.drops[HX_DROP_NO_ROUTE], 1);
    rig_validate_empty(&rig);
}

static void destinations_outside_are_dropped_as_malformed(void **state)
{
    (void)state;
    start();
    rig.sw.route.columns = PORTS;
    rig.sw.route.rows = 4;
    const struct hx_desc outside[] = {
        {.dst_addr_hi = PORTS}, {.dst_addr_lo = 4}, {.dst_addr_hi = 0xFFFF, .dst_addr_lo = 0xFFFF}};
    for (unsigned i = 0; i < 3; i++)
        rig_arrive_as(&rig, i, i, i, &outside[i]);
    assert_int_equal(rig_step(&rig), 0);
    assert_int_equal(rig.hal.node.drops[HX_DROP_MALFORMED], 3);
    rig_validate_empty(&rig);
}

/* A network carries all jobs. */
static void jobs_are_not_distinguished(void **state)
{
    (void)state;
    start();
    rig_room_everywhere(&rig, ROOMY);
    const struct hx_desc d = {.dst_addr_hi = 3, .dst_addr_lo = 3, .job = RIG_JOB + 1};
    rig_arrive_as(&rig, 0, 0, 1, &d);
    assert_int_equal(rig_step(&rig), 1);
    expect(3, 1);
}

static void the_roomiest_output_is_chosen(void **state)
{
    (void)state;
    start();
    rig.tree[100] = UINT64_MAX << 32;
    for (unsigned best = 32; best < PORTS; best++) {
        for (unsigned port = 0; port < PORTS; port++)
            rig_room(&rig, port, 1, port < 32 ? 5000 : 32 + port % 7);
        rig_room(&rig, best, 1, 39);
        arrive(best % 32, 1, best, 100, 8192);
        assert_int_equal(rig_step(&rig), 1);
        expect(best, best);
    }
}

static void ties_rotate_in_every_set(void **state)
{
    (void)state;
    static const uint64_t sets[] = {
        UINT64_MAX << 32,         0x3,           UINT64_C(3) << 30,     UINT64_C(0x8000000000000001),
        UINT64_MAX << 42,         0x7,           UINT64_C(0x1FF) << 20, UINT64_C(0x8421084210842108),
        UINT64_C(0x1) | 0xFF000U, UINT64_MAX - 1};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        unsigned taken[PORTS] = {0};
        start();
        rig.tree[100] = sets[i];
        for (unsigned choice = 0; choice < CHOICES; choice++) {
            rig_room_everywhere(&rig, ROOMY);
            arrive(0, 0, 1, 100, 0);
            arrive(1, 0, 2, 5 + choice % 3, 0); /* other packets pass in between */
            rig_step(&rig);
            struct rig_packet p;
            for (unsigned port = 0; port < PORTS; port++)
                while (rig_take(&rig, port, &p))
                    taken[port] += p.id == 1;
        }
        uint64_t set = sets[i] & ~UINT64_C(1); /* not back to its input */
        unsigned share = CHOICES / (unsigned)__builtin_popcountll(set);
        for (unsigned port = 0; port < PORTS; port++) {
            if (set >> port & 1)
                assert_in_range(taken[port], share * 6 / 10, share * 14 / 10);
            else
                assert_int_equal(taken[port], 0);
        }
        lab_free(NULL);
    }
}

static void no_packet_leaves_without_room_for_all_of_it(void **state)
{
    (void)state;
    start();
    rig.tree[100] = 0x70;
    for (unsigned blocks = 1; blocks <= 32; blocks++) {
        for (unsigned port = 4; port <= 6; port++)
            rig_room(&rig, port, 0, blocks - 1);
        arrive(1, 0, blocks, 100, blocks * 256);
        assert_int_equal(rig_step(&rig), 0); /* as a new packet */
        assert_int_equal(rig_step(&rig), 0); /* as a waiting packet */
        rig_room(&rig, 4 + blocks % 3, 0, blocks);
        assert_int_equal(rig_step(&rig), 1);
        expect(4 + blocks % 3, blocks);
    }
}

static void a_new_packet_does_not_pass_one_waiting_for_the_same_output(void **state)
{
    (void)state;
    start();
    rig_room(&rig, 9, 0, 31);
    arrive(1, 0, 1, 9, 8192);
    assert_int_equal(rig_step(&rig), 0);
    arrive(2, 0, 2, 9, 0);
    assert_int_equal(rig_step(&rig), 0);
    arrive(2, 1, 3, 9, 0); /* another VC is independent */
    rig_room(&rig, 9, 0, 0);
    rig_room(&rig, 9, 1, 1);
    assert_int_equal(rig_step(&rig), 1);
    expect(9, 3);
}

static void a_blocked_head_lets_others_pass(void **state)
{
    (void)state;
    start();
    rig_room_everywhere(&rig, ROOMY);
    rig_room(&rig, 20, 0, 0);
    for (uint32_t id = 0; id < 10; id++)
        arrive(63, 0, id, id % 2 ? 30 + id : 20, 400);
    assert_int_equal(rig_step(&rig), 5);
    for (uint32_t id = 1; id < 10; id += 2)
        expect(30 + id, id);
    rig_room(&rig, 20, 0, ROOMY);
    assert_int_equal(rig_step(&rig), 5);
    for (uint32_t id = 0; id < 10; id += 2)
        expect(20, id);
    rig_validate_empty(&rig);
}

static void new_routes_return_packets_without_a_path(void **state)
{
    (void)state;
    start();
    for (uint32_t id = 1; id <= 3; id++)
        arrive(1, 0, id, 19 + id, 400);
    arrive(2, 0, 4, 21, 400);
    assert_int_equal(rig_step(&rig), 0);
    rig.tree[20] = UINT64_C(1) << 33;
    rig.tree[21] = 0;
    rig_links(&rig, ~UINT64_C(4), 0);
    hx_switch_reroute(&rig.sw);
    assert_int_equal(rig.hal.node.drops[HX_DROP_NO_ROUTE], 1); /* 4: port 2 is down */
    rig_room_everywhere(&rig, ROOMY);
    assert_int_equal(rig_step(&rig), 3);
    expect(33, 1);
    expect(1, 2);
    expect(22, 3);
    rig_validate_empty(&rig);
}

/* All inputs send to the last port: the turn rotates over 63 of them. */
static void sixty_three_inputs_take_turns(void **state)
{
    (void)state;
    start();
    for (unsigned i = 0; i < 3; i++)
        for (unsigned input = 0; input < PORTS - 1; input++)
            arrive(input, 2, input, PORTS - 1, 0);
    rig_step(&rig);
    unsigned count[PORTS] = {0};
    for (unsigned turn = 0; turn < 3 * (PORTS - 1); turn++) {
        rig_room(&rig, PORTS - 1, 2, 1);
        assert_int_equal(rig_step(&rig), 1);
        struct rig_packet p;
        assert_true(rig_take(&rig, PORTS - 1, &p));
        assert_int_equal(count[p.id]++, turn / (PORTS - 1));
    }
    rig_validate_empty(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_port_reaches_every_other, lab_free),
        cmocka_unit_test_teardown(a_column_switch_goes_by_gy, lab_free),
        cmocka_unit_test_teardown(a_packet_without_a_path_returns, lab_free),
        cmocka_unit_test_teardown(a_packet_from_a_spine_does_not_go_up_again, lab_free),
        cmocka_unit_test_teardown(returning_takes_credit_and_a_link, lab_free),
        cmocka_unit_test_teardown(destinations_outside_are_dropped_as_malformed, lab_free),
        cmocka_unit_test_teardown(jobs_are_not_distinguished, lab_free),
        cmocka_unit_test_teardown(the_roomiest_output_is_chosen, lab_free),
        cmocka_unit_test_teardown(ties_rotate_in_every_set, lab_free),
        cmocka_unit_test_teardown(no_packet_leaves_without_room_for_all_of_it, lab_free),
        cmocka_unit_test_teardown(a_new_packet_does_not_pass_one_waiting_for_the_same_output, lab_free),
        cmocka_unit_test_teardown(a_blocked_head_lets_others_pass, lab_free),
        cmocka_unit_test_teardown(new_routes_return_packets_without_a_path, lab_free),
        cmocka_unit_test_teardown(sixty_three_inputs_take_turns, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
