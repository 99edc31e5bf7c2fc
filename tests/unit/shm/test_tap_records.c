/* test_tap_records.c - records of single frames: their bytes, identity, time, and losses before them. One switch,
 * with links that the test fills itself; whole fabrics: test_tap.c. */
#include "fabric-emu/capture/memory.h"
#include "fabric-emu/live/taps.h"
#include "tests/support/shm/support_shm.h"
#include "workload/random.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { SLOT = 1 };

/* The first accelerator's switch, and a capture in the second slot. */
static struct {
    struct support s;
    struct worker w;
    struct hal_switch *h;
    struct capture_ports ports;
    struct capture_memory memory;
    struct shm_taps taps;
    struct hx_tap_consumer in;
} b;

static int open_fabric(void **state)
{
    (void)state;
    support_open(&b.s, &(struct support_plan){"2x1 Hx2Mesh", .workers = 1, .planes = 1, .message = 1, .count = 1});
    support_start(&b.s, &b.w, 0);
    b.h = &b.w.node[0].hal;
    return 0;
}

static int close_fabric(void **state)
{
    (void)state;
    support_forget(&b.w);
    support_close(&b.s);
    return 0;
}

static void watch(void)
{
    b.h->tap = shm_tapped_new(&b.taps, b.h, &b.w.node[0].sw, fab_first_port(&b.s.f, 0, 0));
}

static void open_tap(const char *port, const struct capture_wish *wish)
{
    struct hx_problem problem;
    struct hx_option_list patterns = {.item = {port}, .count = 1};
    struct capture_wish made = *wish;
    assert_true(capture_ports_choose(&b.ports, b.s.f.g, &patterns, "-p", &problem));
    made.ports = &b.ports;
    made.rings = 1;
    made.snaplen = made.snaplen ? made.snaplen : HX_TAP_MOST_SNAPLEN;
    made.ring_bytes = made.ring_bytes ? made.ring_bytes : 1 << 18;
    assert_true(capture_memory_new(&b.memory, &made, &problem));
    b.taps = (struct shm_taps){.worker = &b.w.shm, .clock = &b.s.clock};
    assert_int_equal(shm_tap_attach(&b.taps, SLOT, b.memory.fd, 0, fab_ports(&b.s.f)), 0);
    hx_tap_consumer_init(&b.in, hx_tap_ring(b.memory.tap, &b.memory.shape, 0), b.memory.shape.ring_bytes);
    watch();
    assert_non_null(b.h->tap);
}

static void close_tap(void)
{
    free(b.h->tap);
    b.h->tap = NULL;
    shm_tap_detach(&b.taps, SLOT);
    capture_memory_free(&b.memory);
    capture_ports_free(&b.ports);
}

/* A random frame in a random buffer, and its bytes on a wire. */
static struct hx_desc draw_packet(uint8_t *wire, unsigned seed, uint16_t length)
{
    struct hx_desc d = {.buffer = seed % b.w.shm.per_home, .length = length, .vc = 1, .hops = 3};
    uint8_t *frame = b.w.shm.buffers[d.buffer].frame;
    for (int i = 0; i < HX_HEADER_BYTES + length; i++)
        frame[i] = (uint8_t)random_of(seed, (uint64_t)i, 0);
    memcpy(wire, frame, (size_t)HX_HEADER_BYTES + length);
    hx_frame_set_hop(wire, d.vc, d.hops, HX_NO_CREDIT, 0);
    hx_frame_set_via(wire, 0);
    return d;
}

/* A step in which the packet leaves by the port; without the commit. */
static void leave(unsigned port, const struct hx_desc *d)
{
    shm_transmit(b.h, port, d);
    shm_tap_step(b.h);
    b.h->tx[port].head = b.h->tx[port].link->heads;
    b.h->sent = 0;
}

/* A step in which it arrives, with `more` forged arrivals behind it. */
static void come(unsigned port, const struct hx_desc *d, unsigned more)
{
    struct shm_rx *rx = &b.h->rx[port];
    rx->link->slots[d->vc * b.h->size + (hx_lane(rx->seen, d->vc) & (b.h->size - 1))] = *d;
    rx->seen = hx_lane_add(rx->seen, d->vc, 1 + more);
    shm_tap_step(b.h);
}

static struct hx_tap_record *next_record(void)
{
    uint64_t broken = 0;
    (void)hx_tap_look(&b.in);
    struct hx_tap_record *r = hx_tap_next(&b.in, b.ports.interfaces, &broken);
    assert_int_equal(broken, 0);
    return r;
}

static void taken(struct hx_tap_record *r)
{
    hx_tap_taken(&b.in, r);
    hx_tap_free(&b.in);
}

static void expect_record(const uint8_t *wire, const struct hx_desc *d, uint16_t captured,
                          enum hx_tap_direction direction)
{
    struct hx_tap_record *r = next_record();
    assert_non_null(r);
    assert_int_equal(r->original, HX_HEADER_BYTES + d->length);
    assert_int_equal(r->captured, captured);
    assert_int_equal(r->direction, direction);
    assert_int_equal(r->vc, d->vc);
    assert_int_equal(r->noted, 0);
    assert_memory_equal(hx_tap_bytes_of(r), wire, captured);
    taken(r);
    assert_null(next_record());
}

/* Short and long frames are copied by different code, the long ones from any alignment. */
static void every_byte_of_a_frame_is_kept(void **state)
{
    (void)state;
    uint8_t wire[HX_MAX_FRAME];
    open_tap("a0,0/p0/E", &(struct capture_wish){0});
    for (unsigned length = 0; length <= HX_MAX_PAYLOAD; length += length > 600 ? 1013 : 1) {
        struct hx_desc d = draw_packet(wire, length + 1, (uint16_t)length);
        leave(HX_E, &d);
        expect_record(wire, &d, (uint16_t)(HX_HEADER_BYTES + length), HX_TAP_OUT);
        come(HX_E, &d, 0);
        expect_record(wire, &d, (uint16_t)(HX_HEADER_BYTES + length), HX_TAP_IN);
    }
    close_tap();
}

static void no_byte_is_kept_behind_the_snap_length(void **state)
{
    (void)state;
    uint8_t wire[HX_MAX_FRAME];
    static const uint32_t snaplens[] = {HX_TAP_LEAST_SNAPLEN, 511, 512, 513, 1000};
    for (unsigned i = 0; i < sizeof snaplens / sizeof *snaplens; i++) {
        open_tap("a0,0/p0/E", &(struct capture_wish){.snaplen = snaplens[i]});
        struct hx_desc d = draw_packet(wire, i, 4000);
        memset((void *)(uintptr_t)b.in.ring->bytes, 0xA5, 2048);
        leave(HX_E, &d);
        const uint8_t *behind = b.in.ring->bytes + sizeof(struct hx_tap_record) + snaplens[i];
        for (unsigned n = 0; n < 64; n++)
            assert_int_equal(behind[n], 0xA5);
        expect_record(wire, &d, (uint16_t)snaplens[i], HX_TAP_OUT);
        close_tap();
    }
}

/* Injected 5 ns after the start: all records have one number, and every other buffer or time another. */
static void a_frame_is_identified_by_its_injection(void **state)
{
    (void)state;
    uint8_t wire[HX_MAX_FRAME];
    open_tap("a0,0/p0/E", &(struct capture_wish){0});
    uint64_t buffers = (uint64_t)b.w.shm.workers * b.w.shm.per_home;
    b.taps.started_ns = 1000;
    for (uint32_t buffer = 0; buffer < 3; buffer++) {
        struct hx_desc d = draw_packet(wire, buffer, 8);
        b.w.shm.injected_ns[buffer] = 1005;
        uint64_t before = shm_clock_ns(&b.s.clock);
        leave(HX_E, &d);
        struct hx_tap_record *r = next_record();
        assert_true(r->id == 5 * buffers + buffer + 1);
        assert_true(r->time >= before && r->time <= shm_clock_ns(&b.s.clock));
        assert_int_equal(r->interface, 0);
        taken(r);
    }
    close_tap();
}

/* A filter sees no credit, for any credit in the frame on the wire. */
static void a_filter_sees_no_credit(void **state)
{
    (void)state;
    uint8_t wire[HX_MAX_FRAME];
    char filter[64];
    (void)snprintf(filter, sizeof filter, "ether[%d:4] = 0", HX_AT_CREDIT_LIMIT);
    open_tap("a0,0/p0/E", &(struct capture_wish){.filter = filter});
    struct hx_desc d = draw_packet(wire, 1, 100);
    leave(HX_E, &d);
    expect_record(wire, &d, HX_HEADER_BYTES + 100, HX_TAP_OUT);
    close_tap();
}

/* As many as fit, and two more: the next record with room has the count. */
static void a_record_has_the_losses_before_it(void **state)
{
    (void)state;
    uint8_t wire[HX_MAX_FRAME];
    open_tap("a0,0/p0/E", &(struct capture_wish){.ring_bytes = HX_TAP_LEAST_RING});
    struct hx_desc d = draw_packet(wire, 1, HX_MAX_PAYLOAD);
    unsigned fit = HX_TAP_LEAST_RING / hx_tap_record_bytes(HX_MAX_FRAME, false);
    for (unsigned n = 0; n < fit + 2; n++)
        leave(HX_E, &d);
    for (unsigned n = 0; n < fit; n++) {
        struct hx_tap_record *r = next_record();
        assert_non_null(r);
        assert_int_equal(r->dropped, 0);
        taken(r);
    }
    leave(HX_E, &d);
    struct hx_tap_record *r = next_record();
    assert_int_equal(r->dropped, 2);
    taken(r);
    const struct hx_tap_count *count = hx_tap_counts(b.memory.tap, &b.memory.shape);
    assert_int_equal(atomic_load(&count->received), fit + 3);
    assert_int_equal(atomic_load(&count->accepted), fit + 3);
    assert_int_equal(atomic_load(&count->dropped), 2);
    close_tap();
}

/* Impossible descriptors, and more arrivals than a link has slots, are not recorded. */
static void forged_arrivals_are_not_recorded(void **state)
{
    (void)state;
    uint8_t wire[HX_MAX_FRAME];
    open_tap("a0,0/p0/W", &(struct capture_wish){0});
    struct hx_desc d = draw_packet(wire, 1, HX_MAX_PAYLOAD);
    const struct hx_desc good = d;
    d.buffer = b.w.shm.workers * b.w.shm.per_home;
    come(HX_W, &d, 0);
    d = good;
    d.length = HX_MAX_PAYLOAD + 1;
    come(HX_W, &d, 0);
    assert_null(next_record());
    const struct hx_tap_count *count = hx_tap_counts(b.memory.tap, &b.memory.shape);
    assert_int_equal(atomic_load(&count->received), 2);
    come(HX_W, &good, b.h->size);
    assert_null(next_record());
    assert_int_equal(atomic_load(&count->received), 2);
    come(HX_W, &good, 0);
    expect_record(wire, &good, HX_MAX_FRAME, HX_TAP_IN);
    shm_tap_step(b.h);
    assert_null(next_record()); /* once */
    close_tap();
}

/* Arrivals from before the tap was opened are not recorded, at any port. */
static void earlier_arrivals_are_not_recorded(void **state)
{
    (void)state;
    open_tap("a0,0/p0/*", &(struct capture_wish){0});
    free(b.h->tap);
    for (unsigned port = 0; port < b.h->ports; port++)
        b.h->rx[port].seen = hx_lane_add(b.h->rx[port].seen, 0, 1);
    watch();
    shm_tap_step(b.h);
    assert_null(next_record());
    assert_null(b.h->tap->note); /* without a request for notes */
    assert_int_equal(b.h->tap->ports[0], 0);
    assert_int_equal(b.h->tap->ports[SLOT], (1U << HX_ACCELERATOR_PORTS) - 1);
    close_tap();
}

/* A tap that does not wait always has room; one that waits has room while a whole step fits. */
static void only_a_waiting_tap_needs_room(void **state)
{
    (void)state;
    uint8_t wire[HX_MAX_FRAME];
    struct hx_desc d = draw_packet(wire, 1, 0);
    open_tap("a0,0/p0/E", &(struct capture_wish){.ring_bytes = HX_TAP_LEAST_RING, .snaplen = HX_TAP_LEAST_SNAPLEN});
    for (unsigned n = 0; n < HX_TAP_LEAST_RING / HX_TAP_LEAST_SNAPLEN; n++)
        leave(HX_E, &d);
    assert_true(shm_tap_has_room(b.h));
    close_tap();

    open_tap("a0,0/p0/E", &(struct capture_wish){.wait_slots = b.h->size, .snaplen = HX_TAP_LEAST_SNAPLEN});
    uint64_t most = hx_tap_step_bytes(&b.memory.shape, 1, b.h->size);
    uint64_t record = hx_tap_record_bytes(HX_TAP_LEAST_SNAPLEN, false);
    for (uint64_t filled = 0; filled + most <= b.memory.shape.ring_bytes; filled += record) {
        assert_true(shm_tap_has_room(b.h));
        leave(HX_E, &d);
    }
    assert_false(shm_tap_has_room(b.h));
    close_tap();
}

/* ---- notes ---- */

enum { EAST = 1 << HX_E, SOUTH = 1 << HX_S };

/* Routes of the test: one port to 0,0, another to 1,1, and both to 0,1. */
static void take_own_routes(void)
{
    static const uint8_t x_ports[] = {EAST | SOUTH, SOUTH, 0, 0};
    static const uint8_t y_ports[] = {EAST, EAST | SOUTH};
    struct hx_route *r = &b.w.node[0].sw.route;
    r->x_table = x_ports;
    r->y_table = y_ports;
    r->turn_mask[HX_W] = UINT8_MAX;
}

/* A packet on VC 1 is in the link from the west, for the next step. */
static void arrive(uint32_t buffer, uint16_t gx, uint16_t gy)
{
    struct shm_link *link = b.h->rx[HX_W].link;
    const struct hx_desc d = {
        .buffer = buffer, .vc = 1, .dst_addr_hi = gx, .dst_addr_lo = gy, .job = b.w.node[0].sw.job};
    uint64_t heads = link->heads;
    link->slots[d.vc * b.h->size + (hx_lane(heads, d.vc) & (b.h->size - 1))] = d;
    link->heads = hx_lane_add(heads, d.vc, 1);
}

/* A step that sends one packet or none; returns its note. */
static struct hx_tap_note step(unsigned sent)
{
    struct hx_tap_note note = {.reason = HX_TAP_REASONS};
    assert_int_equal(shm_noted_accelerator_step(&b.w.node[0].sw), sent);
    struct hx_tap_record *r = next_record();
    assert_true((r != NULL) == (sent != 0));
    if (r) {
        note = *hx_tap_note_of(r);
        taken(r);
    }
    return note;
}

/* The first waits for the south. Others pass it, one of them in the buffer of one that has passed already. */
static void a_note_names_the_waiting_packets_and_their_outputs(void **state)
{
    (void)state;
    open_tap("a0,0/p0/*", &(struct capture_wish){.annotate = true});
    b.taps.tap[SLOT].interface[fab_first_port(&b.s.f, 0, 0) + HX_W] = 0; /* departures are enough */
    free(b.h->tap);
    watch();
    take_own_routes();
    const uint64_t up = b.h->up;
    b.h->up = up & ~(uint64_t)SOUTH;
    arrive(1, 1, 1);
    (void)step(0);
    for (unsigned n = 0; n < 3; n++) {
        arrive(2, 0, 1);
        struct hx_tap_note note = step(1);
        assert_int_equal(note.output, HX_E);
        assert_int_equal(note.candidates, EAST | SOUTH);
        assert_int_equal(note.wanted, SOUTH);
        assert_int_equal(note.reason, HX_TAP_MOST_ROOM);
        assert_int_equal(note.room[0], b.h->size - n);
        assert_int_equal(note.room[1], 0);
    }
    b.h->up = up;
    struct hx_tap_note note = step(1);
    assert_int_equal(note.output, HX_S);
    assert_int_equal(note.candidates, SOUTH);
    assert_int_equal(note.reason, HX_TAP_WAITED);
    arrive(1, 0, 0);
    assert_int_equal(step(1).reason, HX_TAP_ONLY);
    close_tap();
}

/* As many wait as a link holds: the last of them has waited, too. */
static void the_last_packet_of_a_full_link_has_waited(void **state)
{
    (void)state;
    open_tap("a0,0/p0/E", &(struct capture_wish){.annotate = true});
    take_own_routes();
    const uint64_t up = b.h->up;
    b.h->up = up & ~(uint64_t)(EAST | SOUTH);
    for (unsigned n = 0; n + 1 < b.h->size; n++)
        arrive(n, 1, 1);
    arrive(b.h->size, 0, 0);
    (void)step(0);
    b.h->up |= EAST;
    assert_int_equal(step(1).reason, HX_TAP_WAITED);
    close_tap();
}

/* ---- the memory ---- */

static void only_memory_that_cannot_shrink_has_a_size(void **state)
{
    (void)state;
    int fd = memfd_create("test", MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, 12345), 0);
    assert_int_equal(shm_tap_sealed_size(fd), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
    assert_int_equal(shm_tap_sealed_size(fd), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    assert_int_equal(shm_tap_sealed_size(fd), 12345);
    assert_int_equal(close(fd), 0);
    assert_int_equal(shm_tap_sealed_size(fd), 0);
}

static int attach_again(void)
{
    struct shm_taps taps = {.worker = &b.w.shm};
    int error = shm_tap_attach(&taps, 0, b.memory.fd, 0, fab_ports(&b.s.f));
    assert_true(error == 0 || taps.tap[0].memory == NULL);
    shm_tap_detach(&taps, 0);
    return error;
}

/* Each error alone; and no mapping of a refused tap is left. */
static void a_tap_is_accepted_completely_or_not_at_all(void **state)
{
    (void)state;
    open_tap("a0,0/p0/E", &(struct capture_wish){0});
    b.memory.tap->version++;
    assert_int_equal(attach_again(), -EPROTO);
    b.memory.tap->version--;
    b.memory.tap->shape.snaplen = HX_TAP_LEAST_SNAPLEN - 1;
    assert_int_equal(attach_again(), -EPROTO);
    b.memory.tap->shape.snaplen = HX_TAP_MOST_SNAPLEN;
    b.memory.tap->shape.rings = 0;
    assert_int_equal(attach_again(), -EPROTO);
    b.memory.tap->shape.rings = 1;
    assert_int_equal(attach_again(), 0);
    void *mapped = b.taps.tap[SLOT].memory;
    unsigned char resident;
    assert_int_equal(mincore(mapped, 1, &resident), 0);
    assert_int_equal(atomic_load(&b.in.ring->attached), 0);
    shm_tap_detach(&b.taps, SLOT);
    assert_int_equal(mincore(mapped, 1, &resident), -1);
    assert_int_equal(errno, ENOMEM);
    close_tap();
}

#define PREPARED(test) cmocka_unit_test_setup_teardown(test, open_fabric, close_fabric)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PREPARED(every_byte_of_a_frame_is_kept),
        PREPARED(no_byte_is_kept_behind_the_snap_length),
        PREPARED(a_frame_is_identified_by_its_injection),
        PREPARED(a_filter_sees_no_credit),
        PREPARED(a_record_has_the_losses_before_it),
        PREPARED(forged_arrivals_are_not_recorded),
        PREPARED(earlier_arrivals_are_not_recorded),
        PREPARED(only_a_waiting_tap_needs_room),
        PREPARED(a_note_names_the_waiting_packets_and_their_outputs),
        PREPARED(the_last_packet_of_a_full_link_has_waited),
        cmocka_unit_test(only_memory_that_cannot_shrink_has_a_size),
        PREPARED(a_tap_is_accepted_completely_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
