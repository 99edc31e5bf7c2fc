/* test_changed_descriptor.c - a neighbour changes a packet's descriptor after the switch has read it: the packet
 * leaves or is dropped once, and no table is read beyond its end. */
#include "hal/shm/hal_port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PORTS = 5, SLOTS = 16, DIGITS = 4, BUFFERS = 64, RECORD = 8192 };

/* Ports for a packet to (addr_hi, 0). */
static const unsigned candidates[DIGITS] = {1U << HX_E | 1U << HX_S, 1U << HX_S, 1U << HX_W | 1U << HX_N, 1U << HX_N};

static struct {
    uint8_t *memory; /* in place of the arena */
    uint8_t *window;
    struct shm_worker worker;
    struct shm_pool_ring *pool;
    struct shm_tx tx[PORTS];
    struct shm_rx rx[PORTS];
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
    struct hal_switch hal;
    struct hx_switch sw;
    uint8_t x[DIGITS], y[1];
    uint64_t wide[DIGITS], all[1], from[PORTS], returns[PORTS];
} t;

static void set_route(bool router)
{
    memset(t.y, UINT8_MAX, sizeof t.y);
    t.all[0] = UINT64_MAX;
    for (unsigned addr_hi = 0; addr_hi < DIGITS; addr_hi++)
        t.wide[addr_hi] = t.x[addr_hi] = (uint8_t)candidates[addr_hi];
    for (unsigned input = 0; input < PORTS; input++) {
        t.from[input] = 31U & ~(1U << input);
        t.returns[input] = 1U << input;
    }
    t.sw.route = (struct hx_route){.vcs = HX_MESH_VCS,
                                   .last_vc = HX_MESH_VCS - 1,
                                   .x_table = t.x,
                                   .y_table = t.y,
                                   .addr_hi_ports = t.wide,
                                   .addr_lo_ports = t.all,
                                   .from = t.from,
                                   .returns = t.returns,
                                   .is_router = router,
                                   .columns = DIGITS,
                                   .rows = 1};
    memset(t.sw.route.turn_mask, UINT8_MAX, sizeof t.sw.route.turn_mask);
}

static void open_switch(bool router)
{
    const size_t link = (shm_link_bytes(HX_MESH_VCS, SLOTS) + 63) & ~(size_t)63;
    const size_t pool = (sizeof(struct shm_pool_ring) + BUFFERS * sizeof(uint32_t) + 63) & ~(size_t)63;
    const size_t bytes = RECORD + pool + 2 * PORTS * link;
    memset(&t, 0, sizeof t);
    t.memory = aligned_alloc(64, bytes);
    t.window = aligned_alloc(64, (hx_switch_bytes(PORTS, HX_MESH_VCS) + 63) & ~(size_t)63);
    assert_true(t.memory && t.window);
    memset(t.memory, 0, bytes);
    memset(t.window, 0, hx_switch_bytes(PORTS, HX_MESH_VCS));
    t.pool = (struct shm_pool_ring *)(void *)(t.memory + RECORD);
    t.worker = (struct shm_worker){.step = {t.memory, (struct shm_redo *)(void *)t.memory, 0},
                                   .workers = 1,
                                   .per_home = BUFFERS,
                                   .ring_mask = BUFFERS - 1,
                                   .give[0].ring = t.pool};
    for (unsigned port = 0; port < PORTS; port++) {
        uint8_t *links = t.memory + RECORD + pool + (size_t)2 * port * link;
        t.tx[port].link = (struct shm_link *)(void *)links;
        t.rx[port] = (struct shm_rx){.link = (struct shm_link *)(void *)(links + link),
                                     .ahead = shm_link_slots(HX_MESH_VCS, SLOTS)};
    }
    t.hal = (struct hal_switch){.worker = &t.worker,
                                .ports = PORTS,
                                .size = SLOTS,
                                .slots = shm_link_slots(HX_MESH_VCS, SLOTS),
                                .brings = 31,
                                .up = 31,
                                .drops = t.drops,
                                .stalls = t.stalls,
                                .tx = t.tx,
                                .rx = t.rx};
    hx_switch_init(&t.sw, PORTS, HX_MESH_VCS, 0, &t.hal, t.window);
    set_route(router);
}

static void close_switch(void)
{
    free(t.memory);
    free(t.window);
}

static void step(void)
{
    (void)(t.sw.route.is_router ? hx_router_step(&t.sw) : hx_accelerator_step(&t.sw));
}

/* Outputs have no credit (`full`), or all of it. */
static void fill_outputs(bool full)
{
    for (unsigned port = 0; port < PORTS; port++)
        t.tx[port].link->tails = full ? hx_lanes_sub(t.tx[port].head, t.hal.slots) : t.tx[port].head;
}

static struct hx_desc *slot_of(unsigned n)
{
    return &t.rx[HX_LOCAL].link->slots[n];
}

/* Packets to (0, 0) arrive, and wait. */
static void bring(unsigned packets)
{
    for (unsigned n = 0; n < packets; n++)
        *slot_of(n) = (struct hx_desc){.buffer = n, .length = 100};
    t.rx[HX_LOCAL].link->heads = hx_lane_add(0, 0, packets);
    fill_outputs(true);
    step();
    assert_int_equal(hx_switch_waiting(&t.sw), packets);
}

static unsigned packets_out(void)
{
    unsigned sum = 0;
    for (unsigned port = 0; port < PORTS; port++)
        sum += hx_lanes_sum(t.tx[port].link->heads);
    return sum;
}

/* Every packet has left or was dropped once, and no buffer is left over. */
static void validate(unsigned packets)
{
    for (unsigned n = 0; n < 4 * packets; n++) {
        fill_outputs(false);
        step();
    }
    uint64_t dropped = 0;
    for (unsigned reason = 0; reason < HX_DROP_COUNT; reason++)
        dropped += t.drops[reason];
    assert_int_equal(packets_out() + dropped, packets);
    assert_int_equal(t.pool->head, dropped);
    assert_int_equal(hx_switch_waiting(&t.sw), 0);
    assert_int_equal(hx_lane(t.rx[HX_LOCAL].link->tails, 0), packets);
    for (unsigned output = 0; output < PORTS; output++) {
        assert_int_equal(*(hx_switch_candidates(&t.sw, HX_LOCAL, 0) + output), 0);
        assert_int_equal(t.sw.requests[output], 0);
    }
}

/* The destination changes: to other ports, to fewer, to an invalid address. */
static void a_packet_with_another_destination_leaves_once(void **state)
{
    (void)state;
    static const uint16_t digits[][2] = {{1, 0}, {2, 0}, {3, 0}, {UINT16_MAX, 0}, {0, UINT16_MAX}, {1, HX_NO_ADDRESS}};
    for (unsigned n = 0; n < 2 * sizeof digits / sizeof *digits; n++) {
        for (unsigned reroutes = 0; reroutes < 2; reroutes++) {
            enum { PACKETS = 6 };
            open_switch(n % 2);
            bring(PACKETS);
            for (unsigned packet = 0; packet < PACKETS; packet += 2) {
                slot_of(packet)->dst_addr_hi = digits[n / 2][0];
                slot_of(packet)->dst_addr_lo = digits[n / 2][1];
            }
            if (reroutes)
                hx_switch_reroute(&t.sw);
            validate(PACKETS);
            close_switch();
        }
    }
}

/* All other fields change: only the neighbour's packet suffers. */
static void a_packet_with_any_descriptor_leaves_once(void **state)
{
    (void)state;
    for (unsigned router = 0; router < 2; router++) {
        open_switch(router);
        bring(3);
        memset(slot_of(1), UINT8_MAX, sizeof *slot_of(1));
        validate(3);
        close_switch();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_with_another_destination_leaves_once),
        cmocka_unit_test(a_packet_with_any_descriptor_leaves_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
