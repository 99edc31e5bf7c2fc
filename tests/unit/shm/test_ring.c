/* test_ring.c - the ring of a link between two processes: order, room, departures out of turn, wrap of positions, and
 * impossible indices.
 *
 * One switch sends on port 0, another receives on its port 0; each has its own record and worker. */
#include "hal/shm/hal_port.h"
#include "hxmesh/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_SLOTS = 64 };

struct ends {
    uint8_t *memory; /* in place of the arena */
    struct shm_link *link, *back;
    struct shm_worker from_worker, to_worker;
    struct shm_tx from_tx, to_tx;
    struct shm_rx from_rx, to_rx;
    struct hal_switch from, to;
    uint64_t drops[HX_DROP_COUNT];
    uint64_t stalls[HX_STALL_COUNT];
};

/* Positions of all VCs begin at `start`. */
static void open_ends(struct ends *e, unsigned slots, uint16_t start)
{
    size_t record = (sizeof(struct shm_redo) + 63) & ~(size_t)63;
    size_t link = (shm_link_bytes(HX_VCS, MOST_SLOTS) + 63) & ~(size_t)63;
    *e = (struct ends){.memory = aligned_alloc(64, 2 * record + 2 * link)};
    assert_non_null(e->memory);
    memset(e->memory, 0, 2 * record + 2 * link);
    e->link = (struct shm_link *)(void *)(e->memory + 2 * record);
    e->back = (struct shm_link *)(void *)(e->memory + 2 * record + link);
    uint64_t positions = start * UINT64_C(0x000100010001);
    e->link->heads = e->link->tails = positions;
    e->from_worker = (struct shm_worker){.step = {e->memory, (struct shm_redo *)(void *)e->memory, 0}, .self = 0};
    e->to_worker =
        (struct shm_worker){.step = {e->memory, (struct shm_redo *)(void *)(e->memory + record), 0}, .self = 1};
    e->from_tx = (struct shm_tx){.link = e->link, .head = positions, .peer = 1};
    e->from_rx = (struct shm_rx){.link = e->back, .peer = 1};
    e->to_tx = (struct shm_tx){.link = e->back, .peer = 0};
    e->to_rx = (struct shm_rx){
        .link = e->link, .tail = positions, .seen = positions, .ahead = shm_link_slots(HX_VCS, slots), .peer = 0};
    e->from = (struct hal_switch){.worker = &e->from_worker,
                                  .ports = 1,
                                  .size = slots,
                                  .slots = shm_link_slots(HX_VCS, slots),
                                  .brings = 1,
                                  .up = 1};
    e->to = e->from;
    e->to.worker = &e->to_worker;
    e->from.drops = e->to.drops = e->drops;
    e->from.stalls = e->to.stalls = e->stalls;
    e->from.tx = &e->from_tx;
    e->from.rx = &e->from_rx;
    e->to.tx = &e->to_tx;
    e->to.rx = &e->to_rx;
}

static void close_ends(struct ends *e)
{
    free(e->memory);
}

static void send(struct ends *e, unsigned vc, uint32_t buffer)
{
    const struct hx_desc d = {.buffer = buffer,
                              .length = (uint16_t)(buffer % 8193),
                              .vc = (uint8_t)vc,
                              .hops = 3,
                              .dst_addr_hi = 7,
                              .dst_addr_lo = 9,
                              .job = 11,
                              .flow = 13};
    shm_transmit(&e->from, 0, &d);
}

static unsigned room(struct ends *e, unsigned vc)
{
    return hx_lane(hal_tx_credits(&e->from, 0), vc);
}

static unsigned arrived(struct ends *e, unsigned vc)
{
    return (uint16_t)(hx_lane(hal_arrived(&e->to, 0), vc) - hx_lane(e->to_rx.tail, vc));
}

/* The receiver has taken everything in; the positions of VC 0 in `waiting` (by distance from `start`) stay. */
static void release(struct ends *e, uint16_t start, uint64_t stay, unsigned span)
{
    uint64_t waiting[HX_VCS] = {0};
    uint64_t seen = hal_arrived(&e->to, 0);
    uint64_t tail = seen;
    for (unsigned i = span; i-- > 0;) {
        if (stay >> i & 1) {
            waiting[0] |= (uint64_t)1 << (uint16_t)(start + i) % HX_WINDOW;
            tail = hx_lane_set(tail, 0, (uint16_t)(start + i));
        }
    }
    hal_release(&e->to, 0, tail, seen, waiting);
    hal_commit(&e->to);
}

/* ---- tests ---- */

static void a_step_is_seen_completely_or_not_at_all(void **state)
{
    (void)state;
    struct ends e;
    open_ends(&e, 16, 0);
    assert_int_equal(room(&e, 1), 16);
    send(&e, 1, 100);
    send(&e, 1, 101);
    send(&e, 2, 200);
    assert_int_equal(room(&e, 1), 14); /* the sender knows */
    assert_int_equal(arrived(&e, 1), 0);
    hal_commit(&e.from);
    assert_int_equal(arrived(&e, 0), 0);
    assert_int_equal(arrived(&e, 1), 2);
    assert_int_equal(arrived(&e, 2), 1);
    const struct hx_desc *d = hal_arrival(&e.to, 0, 1, 1);
    const struct hx_desc expected = {
        .buffer = 101, .length = 101, .vc = 1, .hops = 3, .dst_addr_hi = 7, .dst_addr_lo = 9, .job = 11, .flow = 13};
    assert_memory_equal(d, &expected, sizeof expected);
    assert_int_equal(hal_arrival(&e.to, 0, 2, 0)->buffer, 200);
    assert_true(e.from_worker.touched == 2); /* worker 1 needs a wakeup */
    close_ends(&e);
}

/* Many times around the ring, from before the wrap of the 16-bit positions to far beyond it. */
static void packets_arrive_in_order(void **state)
{
    (void)state;
    for (unsigned slots = 1; slots <= MOST_SLOTS; slots *= 2) {
        struct ends e;
        open_ends(&e, slots, 65500);
        uint32_t sent[HX_VCS] = {0};
        uint32_t got[HX_VCS] = {0};
        for (unsigned round = 0; round < 500; round++) {
            for (unsigned vc = 0; vc < HX_VCS; vc++) {
                for (unsigned n = (round + vc) % (slots + 1); n && room(&e, vc); n--)
                    send(&e, vc, sent[vc]++);
            }
            hal_commit(&e.from);
            uint64_t heads = hal_arrived(&e.to, 0);
            for (unsigned vc = 0; vc < HX_VCS; vc++) {
                for (uint16_t at = hx_lane(e.to_rx.tail, vc); at != hx_lane(heads, vc); at++)
                    assert_int_equal(hal_arrival(&e.to, 0, vc, at)->buffer, got[vc]++);
            }
            release(&e, 0, 0, 0);
        }
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            assert_int_equal(got[vc], sent[vc]);
            assert_true(got[vc] > 200);
        }
        close_ends(&e);
    }
}

static void a_full_ring_has_no_room_and_loses_nothing(void **state)
{
    (void)state;
    for (unsigned slots = 1; slots <= MOST_SLOTS; slots *= 2) {
        struct ends e;
        open_ends(&e, slots, 65530);
        for (unsigned n = 0; n < slots; n++)
            send(&e, 0, n);
        assert_int_equal(room(&e, 0), 0);
        assert_int_equal(room(&e, 1), slots); /* another VC's room is its own */
        hal_commit(&e.from);
        assert_int_equal(arrived(&e, 0), slots);
        assert_int_equal(room(&e, 0), 0); /* until the receiver releases */
        release(&e, 0, 0, 0);
        assert_int_equal(room(&e, 0), slots);
        close_ends(&e);
    }
}

/* Any subset of six packets stays, the others leave: the tail is the oldest, the bits name those behind it. */
static void departures_out_of_turn(void **state)
{
    (void)state;
    enum { PACKETS = 6 };
    for (uint16_t start = 60; start < 66; start++) {
        for (uint64_t stay = 0; stay < 1U << PACKETS; stay++) {
            struct ends e;
            open_ends(&e, 16, start);
            for (unsigned n = 0; n < PACKETS; n++)
                send(&e, 0, n);
            hal_commit(&e.from);
            release(&e, start, stay, PACKETS);
            unsigned oldest = stay ? (unsigned)__builtin_ctzll(stay) : PACKETS;
            assert_int_equal(room(&e, 0), 16 - PACKETS + oldest);
            for (unsigned n = oldest; n < PACKETS; n++) {
                unsigned gone = e.link->gone[0] >> (start + n) % HX_WINDOW & 1;
                assert_int_equal(gone, !(stay >> n & 1));
            }
            assert_int_equal(__builtin_popcountll(e.link->gone[0]),
                             PACKETS - oldest - (unsigned)__builtin_popcountll(stay));
            release(&e, start, 0, PACKETS);
            assert_true(e.link->gone[0] == 0);
            assert_int_equal(room(&e, 0), 16);
            close_ends(&e);
        }
    }
}

static void a_port_without_a_link(void **state)
{
    (void)state;
    struct ends e;
    open_ends(&e, 16, 5);
    send(&e, 0, 1);
    hal_commit(&e.from);
    e.from.up = e.to.brings = 0;
    assert_true(hal_tx_credits(&e.from, 0) == 0);
    assert_true(hal_arrived(&e.to, 0) == 0);
    assert_true(hal_consumed(&e.to, 0) == 0);
    close_ends(&e);
}

static void impossible_indices_are_ignored(void **state)
{
    (void)state;
    struct ends e;
    open_ends(&e, 16, 1000);
    for (unsigned n = 0; n < 10; n++)
        send(&e, 0, n);
    hal_commit(&e.from);
    uint64_t heads = e.link->heads;
    static const int wrong_heads[] = {7, 100, 30000, 32768, -11, -1000};
    for (unsigned i = 0; i < sizeof wrong_heads / sizeof *wrong_heads; i++) {
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            if (vc != 0 && wrong_heads[i] == 7)
                continue; /* possible there */
            e.link->heads = hx_lane_add(heads, vc, (unsigned)wrong_heads[i]);
            assert_int_equal(arrived(&e, 0), 0);
            assert_int_equal(arrived(&e, 1), 0);
            assert_int_equal(arrived(&e, 2), 0);
        }
    }
    e.link->heads = heads;
    assert_int_equal(arrived(&e, 0), 10);
    /* Packets that it has taken in and still holds count as well. */
    release(&e, 1000, (1U << 10) - 1, 10);
    e.link->heads = hx_lane_add(heads, 0, 6);
    assert_int_equal(arrived(&e, 0), 16);
    e.link->heads = hx_lane_add(heads, 0, 7);
    assert_int_equal(arrived(&e, 0), 10);
    e.link->heads = heads;
    uint64_t tails = e.link->tails;
    static const int wrong_tails[] = {-7, -100, -30000, -32768, 11, 1000};
    for (unsigned i = 0; i < sizeof wrong_tails / sizeof *wrong_tails; i++) {
        e.link->tails = hx_lane_add(tails, 0, (unsigned)wrong_tails[i]);
        assert_int_equal(room(&e, 0), 0);
    }
    e.link->tails = tails;
    assert_int_equal(room(&e, 0), 6);
    close_ends(&e);
}

static void packets_and_bytes_are_counted(void **state)
{
    (void)state;
    struct ends e;
    open_ends(&e, 64, 0);
    for (unsigned n = 1; n <= 50; n++)
        send(&e, n % HX_VCS, n);
    hal_commit(&e.from);
    struct shm_counts sum = shm_take_counts(&e.from_tx);
    assert_true(sum.packets == 50);
    assert_true(sum.bytes == 50 * HX_HEADER_BYTES + 50 * 51 / 2);
    assert_true(shm_take_counts(&e.from_tx).packets == 0);
    close_ends(&e);
}

/* A router that sends a packet on a detour writes only into its arrival. The final destination is in its frame, if
 * the buffer is valid. */
static void a_packet_is_redirected_in_place(void **state)
{
    (void)state;
    static struct shm_buffer buffers[2];
    struct ends e;
    open_ends(&e, 8, 65535);
    e.to_worker.buffers = buffers;
    e.to_worker.per_home = 2;
    e.to_worker.workers = 1;
    const struct hx_header h = {.credit_vc = HX_NO_CREDIT,
                                .kind = HX_DATA,
                                .dst_addr_hi = 700,
                                .dst_addr_lo = 9,
                                .message_packets = 1,
                                .epoch = 1};
    hx_frame_encode(buffers[1].frame, &h);
    for (uint32_t buffer = 0; buffer < 3; buffer++)
        send(&e, 1, buffer);
    hal_commit(&e.from);
    hal_redirect(&e.to, 0, 1, 0, 300, HX_NO_ADDRESS); /* the second: positions wrap */
    for (uint32_t buffer = 0; buffer < 3; buffer++) {
        const struct hx_desc *d = hal_arrival(&e.to, 0, 1, (uint16_t)(65535 + buffer));
        assert_int_equal(d->dst_addr_hi, buffer == 1 ? 300 : 7);
        assert_int_equal(d->dst_addr_lo, buffer == 1 ? HX_NO_ADDRESS : 9);
        assert_true(d->buffer == buffer && d->length == buffer && d->hops == 3 && d->job == 11 && d->flow == 13);
    }
    uint16_t addr_hi = 0;
    uint16_t addr_lo = 0;
    assert_true(hal_destination(&e.to, hal_arrival(&e.to, 0, 1, 0), &addr_hi, &addr_lo));
    assert_true(addr_hi == 700 && addr_lo == 9);
    assert_false(hal_destination(&e.to, hal_arrival(&e.to, 0, 1, 1), &addr_hi, &addr_lo));
    close_ends(&e);
}

/* Packets that left by an output and have not left the far end, on all VCs. */
static void packets_in_a_link_are_counted(void **state)
{
    (void)state;
    struct ends e;
    open_ends(&e, 8, 65530);
    assert_int_equal(hal_vc_buffer(&e.from), 8);
    assert_int_equal(hal_output_occupancy(&e.from, 0), 0);
    for (uint32_t n = 0; n < 5; n++)
        send(&e, n % 2, n);
    assert_int_equal(hal_output_occupancy(&e.from, 0), 5); /* those of this step, too */
    hal_commit(&e.from);
    assert_int_equal(hal_output_occupancy(&e.from, 0), 5);
    release(&e, 65530, 1U << 1, 3); /* the second of VC 0 stays, and the position behind it has its slot */
    assert_int_equal(hal_output_occupancy(&e.from, 0), 2);
    close_ends(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_seen_completely_or_not_at_all),
        cmocka_unit_test(packets_arrive_in_order),
        cmocka_unit_test(a_full_ring_has_no_room_and_loses_nothing),
        cmocka_unit_test(departures_out_of_turn),
        cmocka_unit_test(a_port_without_a_link),
        cmocka_unit_test(impossible_indices_are_ignored),
        cmocka_unit_test(packets_and_bytes_are_counted),
        cmocka_unit_test(a_packet_is_redirected_in_place),
        cmocka_unit_test(packets_in_a_link_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
