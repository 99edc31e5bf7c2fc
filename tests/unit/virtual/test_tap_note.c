/* test_tap_note.c - reasons for a packet's output in captures under the virtual clock: each one of hal/tap_ring.h,
 * at the accelerator in the middle of a board of three by three. */
#include "hal/virtual/tap.h"
#include "tests/support/virtual/support_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PLANE = 1, MIDDLE = 4, EAST = 1 << HX_E, SOUTH = 1 << HX_S };
static struct support_virtual lab;
static struct worker worker;
static struct hal_switch *h;
static struct hx_switch *sw;

/* Routes of the test: one port to 2,1 and to 0,2, two to 2,2; 1,1 is this accelerator. */
static const uint8_t x_ports[] = {SOUTH, 1 << HX_LOCAL, EAST | SOUTH};
static const uint8_t y_ports[] = {0, EAST | 1 << HX_LOCAL, EAST | SOUTH};

static int open_lab(void **state)
{
    (void)state;
    static const struct support_virtual_plan plan = {.spec = "1x1 Hx3Mesh", .planes = PLANE + 1};
    support_virtual_open_worker(&lab, &plan, &worker);
    h = &worker.sim_node[MIDDLE]->node[PLANE].hal;
    sw = &worker.sim_node[MIDDLE]->node[PLANE].sw;
    sw->route.last_vc = HX_VCS - 1;
    sw->route.x_table = x_ports;
    sw->route.y_table = y_ports;
    sw->route.turn_mask[HX_W] = UINT8_MAX;
    return 0;
}

static int close_lab(void **state)
{
    (void)state;
    support_virtual_close_worker(&lab, &worker);
    return 0;
}

/* Credit of an output for packets of a VC. */
static void give_room(unsigned output, unsigned vc, uint64_t packets)
{
    h->tx[output].lanes = packets * HX_PACKET_BLOCKS << HX_LANE_BITS * vc;
}

/* A packet from the west; returns its descriptor in place. */
static const struct hx_desc *come(unsigned vc, uint16_t gx, uint16_t gy)
{
    struct virtual_rx *rx = &h->rx[HX_W];
    uint16_t position = hx_lane(rx->head, vc);
    const struct hx_desc d = {
        .buffer = virtual_pool_get(&worker.v.pool), .vc = (uint8_t)vc, .dst_addr_hi = gx, .dst_addr_lo = gy};
    virtual_deliver(rx, &d, 0, 0);
    return hal_arrival(h, HX_W, vc, position);
}

/* Removes all arrivals. */
static void empty(void)
{
    struct virtual_rx *rx = &h->rx[HX_W];
    rx->ready = rx->tail = sw->input[HX_W].seen = rx->head;
}

static struct hx_tap_note note_of(const struct hx_desc *d, unsigned vc, unsigned output)
{
    struct hx_tap_note n;
    virtual_tap_note(&n, h, output, HX_W, vc, d);
    assert_int_equal(n.input, HX_W);
    assert_int_equal(n.input_vc, vc);
    assert_int_equal(n.output, output);
    return n;
}

/* Note about a packet to gx,gy that has just arrived on VC 1 and leaves by `output`. */
static struct hx_tap_note note(uint16_t gx, uint16_t gy, unsigned output)
{
    struct hx_tap_note n = note_of(come(1, gx, gy), 1, output);
    empty();
    return n;
}

static void the_only_candidate(void **state)
{
    (void)state;
    give_room(HX_E, 1, 7);
    struct hx_tap_note n = note(2, 1, HX_E);
    assert_int_equal(n.reason, HX_TAP_ONLY);
    assert_int_equal(n.candidates, EAST);
    assert_int_equal(n.room[0], 7);
    assert_int_equal(n.room[1], 0);
    assert_int_equal(note(0, 2, HX_S).reason, HX_TAP_ONLY);
}

static void the_most_room_or_a_turn(void **state)
{
    (void)state;
    static const unsigned south[] = {4, 5, 6};
    static const enum hx_tap_reason reason[] = {HX_TAP_MOST_ROOM, HX_TAP_TURN, HX_TAP_TURN};
    give_room(HX_E, 1, 5);
    for (unsigned i = 0; i < 3; i++) {
        give_room(HX_S, 1, south[i]);
        struct hx_tap_note n = note(2, 2, HX_E);
        assert_int_equal(n.candidates, EAST | SOUTH);
        assert_int_equal(n.room[0], 5);
        assert_int_equal(n.room[1], south[i]);
        assert_int_equal(n.room[2], 0);
        assert_int_equal(n.wanted, 0);
        assert_int_equal(n.reason, reason[i]);
    }
    assert_int_equal(note(2, 2, HX_S).reason, HX_TAP_MOST_ROOM);
}

/* Outputs that packets of the same VC wait for are not eligible, at any credit. */
static void outputs_that_others_wait_for(void **state)
{
    (void)state;
    give_room(HX_E, 1, 5);
    give_room(HX_S, 1, 6);
    sw->wanted[1] = SOUTH | 1 << HX_N;
    struct hx_tap_note n = note(2, 2, HX_E);
    assert_int_equal(n.wanted, SOUTH);
    assert_int_equal(n.reason, HX_TAP_MOST_ROOM);
    sw->wanted[1] = 0;
    sw->wanted[0] = sw->wanted[2] = SOUTH;
    assert_int_equal(note(2, 2, HX_E).reason, HX_TAP_TURN);
    sw->wanted[0] = sw->wanted[2] = 0;
}

static void arrived_packets_and_packets_without_a_path(void **state)
{
    (void)state;
    assert_int_equal(note(1, 1, HX_LOCAL).reason, HX_TAP_ARRIVED);
    assert_int_equal(note(2, 1, HX_LOCAL).reason, HX_TAP_UNREACHABLE);
    assert_int_equal(note(2, 1, HX_S).reason, HX_TAP_UNREACHABLE);
}

/* A router of many ports; all are paths from port 0 to addr_hi 0. Those from 1 on have credit for `first`, `first` +
 * 1, ... packets. */
enum { PORTS = HX_TAP_ROOMS + 4 };
static struct {
    struct virtual_sim_node sim_node;
    struct virtual_node node;
    struct virtual_rx rx[PORTS];
    struct virtual_tx tx[PORTS];
    struct hx_input input[PORTS];
    uint64_t ports[1], all[1], from[PORTS];
} many;

static void make_many(unsigned first)
{
    many.sim_node = (struct virtual_sim_node){.router = true, .node = &many.node, .worker = &worker.v};
    many.node.hal = (struct hal_switch){.worker = &worker.v, .sim_node = &many.sim_node, .rx = many.rx, .tx = many.tx};
    many.node.sw.input = many.input;
    many.node.sw.route = (struct hx_route){.is_router = true,
                                           .last_vc = HX_VCS - 1,
                                           .addr_hi_ports = many.ports,
                                           .addr_lo_ports = many.all,
                                           .from = many.from,
                                           .columns = 1,
                                           .rows = 1};
    many.ports[0] = ((uint64_t)1 << PORTS) - 2;
    many.all[0] = many.from[0] = UINT64_MAX;
    for (unsigned port = 1; port < PORTS; port++) {
        many.tx[port].lanes = (uint64_t)(first + port - 1) * HX_PACKET_BLOCKS << HX_LANE_BITS;
        virtual_credits_begin(&many.tx[port].back);
    }
}

/* The note has the credit of the first candidates, and no write beyond them. */
static void more_candidates_than_entries(void **state)
{
    (void)state;
    enum { FIRST = 301, BEHIND = offsetof(struct hx_tap_note, room) + sizeof(uint16_t[HX_TAP_ROOMS]) };
    make_many(FIRST);
    _Alignas(struct hx_tap_note) uint8_t memory[sizeof(struct hx_tap_note) + 2 * PORTS] = {0};
    struct hx_tap_note *n = (struct hx_tap_note *)(void *)memory;
    const struct hx_desc d = {0};
    virtual_tap_note(n, &many.node.hal, PORTS - 1, 0, 1, &d);
    assert_true(n->candidates == many.ports[0]);
    assert_int_equal(n->reason, HX_TAP_MOST_ROOM);
    for (unsigned i = 0; i < HX_TAP_ROOMS; i++)
        assert_int_equal(n->room[i], FIRST + i);
    for (size_t at = BEHIND; at < sizeof memory; at++)
        assert_int_equal(memory[at], 0);
    virtual_tap_note(n, &many.node.hal, PORTS - 2, 0, 1, &d);
    assert_int_equal(n->reason, HX_TAP_TURN);
}

/* An earlier step has visited the first two of three; also where positions wrap. */
static void packets_that_have_waited(void **state)
{
    (void)state;
    struct virtual_rx *rx = &h->rx[HX_W];
    static const uint16_t starts[] = {0, 65533, 65534, 65535};
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
        rx->head = hx_lane_add(rx->head, 1, (uint16_t)(starts[i] - hx_lane(rx->head, 1)));
        empty();
        for (unsigned n = 0; n < 3; n++)
            (void)come(1, 2, 1);
        sw->input[HX_W].seen = hx_lane_add(rx->tail, 1, 2);
        for (unsigned n = 0; n < 3; n++) {
            const struct hx_desc *d = hal_arrival(h, HX_W, 1, (uint16_t)(starts[i] + n));
            assert_int_equal(note_of(d, 1, HX_E).reason, n < 2 ? HX_TAP_WAITED : HX_TAP_ONLY);
        }
        empty();
    }
}

/* Behind a port with a VC increment the credit is that of the next VC, and the last VC does not go there. */
static void ports_with_a_vc_increment(void **state)
{
    (void)state;
    sw->route.incrementing = EAST;
    h->tx[HX_E].lanes = (uint64_t)3 * HX_PACKET_BLOCKS << HX_LANE_BITS | (uint64_t)9 * HX_PACKET_BLOCKS
                                                                             << 2 * HX_LANE_BITS;
    assert_int_equal(note(2, 1, HX_E).room[0], 9);
    const struct hx_desc *d = come(HX_VCS - 1, 2, 2);
    assert_int_equal(note_of(d, HX_VCS - 1, HX_S).candidates, SOUTH);
    empty();
    sw->route.incrementing = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_only_candidate),           cmocka_unit_test(the_most_room_or_a_turn),
        cmocka_unit_test(outputs_that_others_wait_for), cmocka_unit_test(arrived_packets_and_packets_without_a_path),
        cmocka_unit_test(more_candidates_than_entries), cmocka_unit_test(packets_that_have_waited),
        cmocka_unit_test(ports_with_a_vc_increment),
    };
    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
