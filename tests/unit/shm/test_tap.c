/* test_tap.c - taps on a whole fabric in shared memory, run step by step: the records are the frames that crossed its
 * ports.
 *
 * The check reads only records and the bytes of their frames. The counters of links give the expected number of
 * records. */
#include "fabric-emu/capture/memory.h"
#include "fabric-emu/live/taps.h"
#include "tests/support/shm/support_shm.h"
#include "topology/name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MESSAGE = 20000, MOST_RECORDS = 200000 };

struct crossing {
    uint64_t id, dropped, wanted;
    uint32_t interface;
    uint16_t original, captured;
    uint8_t direction, vc, noted;
    struct hx_tap_note note;
    uint8_t frame[HX_HEADER_BYTES];
};

/* A capture of a fabric of one worker. */
struct bench {
    struct support s;
    struct worker w;
    struct capture_ports ports;
    struct capture_memory memory;
    struct hx_tap_consumer in;
    int slot;
    struct crossing *seen;
    unsigned count;
    uint64_t broken;
};

static struct bench b;

/* credits: blocks per link, 0: the default. */
static void open_bench_of(unsigned credits, const char *pattern, const struct capture_wish *wish)
{
    struct hx_problem problem;
    int holder;
    struct hx_option_list patterns = {.item = {pattern}, .count = pattern != NULL};
    struct capture_wish made = *wish;
    b = (struct bench){.seen = calloc(MOST_RECORDS, sizeof *b.seen)};
    support_open(&b.s, &(struct support_plan){"2x2 Hx2Mesh", .workers = 1, .planes = 1, .message = MESSAGE, .count = 1,
                                              .seed = 3, .credits = credits});
    support_start(&b.s, &b.w, 0);
    assert_true(capture_ports_choose(&b.ports, b.s.f.g, &patterns, "-p", &problem));
    made.ports = &b.ports;
    made.rings = 1;
    made.wait_slots = made.wait_slots ? b.s.f.slots : 0;
    made.snaplen = made.snaplen ? made.snaplen : HX_TAP_MOST_SNAPLEN;
    made.ring_bytes = made.ring_bytes ? made.ring_bytes : 8 << 20;
    assert_true(capture_memory_new(&b.memory, &made, &problem));
    b.slot = slot_take(b.s.f.control, b.s.f.arena.fd, 0, SHM_TAPS - 1, b.memory.fd, &holder);
    assert_int_equal(b.slot, 0);
    taps_follow(&b.w);
    struct hx_tap_ring *ring = hx_tap_ring(b.memory.tap, &b.memory.shape, 0);
    assert_int_equal(atomic_load(&ring->attached), 1);
    hx_tap_consumer_init(&b.in, ring, b.memory.shape.ring_bytes);
}

static void open_bench(const char *pattern, const struct capture_wish *wish)
{
    open_bench_of(0, pattern, wish);
}

static void close_bench(void)
{
    struct support_audit audit = support_audit(&b.s);
    assert_int_equal(audit.missing + audit.doubled + audit.foreign, 0);
    slot_release(b.s.f.control, b.s.f.arena.fd, b.slot);
    taps_follow(&b.w);
    for (unsigned i = 0; i < b.w.nodes; i++)
        assert_null(b.w.node[i].hal.tap);
    taps_end(&b.w);
    support_forget(&b.w);
    support_close(&b.s);
    capture_memory_free(&b.memory);
    capture_ports_free(&b.ports);
    free(b.seen);
}

static void take(void)
{
    (void)hx_tap_look(&b.in);
    for (struct hx_tap_record *r; (r = hx_tap_next(&b.in, b.ports.interfaces, &b.broken)); hx_tap_taken(&b.in, r)) {
        assert_true(b.count < MOST_RECORDS);
        struct crossing *s = &b.seen[b.count++];
        *s = (struct crossing){.id = r->id,
                               .dropped = r->dropped,
                               .interface = r->interface,
                               .original = r->original,
                               .captured = r->captured,
                               .direction = r->direction,
                               .vc = r->vc,
                               .noted = r->noted};
        if (r->noted)
            s->note = *hx_tap_note_of(r);
        memcpy(s->frame, hx_tap_bytes_of(r), HX_HEADER_BYTES);
    }
    hx_tap_free(&b.in);
}

static unsigned step_of(struct node *n, bool noted)
{
    if (!n->sw.route.is_router)
        return noted ? shm_noted_accelerator_step(&n->sw) : hx_accelerator_step(&n->sw);
    return noted ? shm_noted_router_step(&n->sw) : hx_router_step(&n->sw);
}

/* Runs until every message is acknowledged. Takes records out after each sweep if `drains`. */
static void run(bool drains, bool noted)
{
    for (unsigned sweeps = 0; !support_is_done(&b.w, true); sweeps++) {
        assert_true(sweeps < 100000);
        for (unsigned step = 0; step < b.w.accelerators; step++)
            (void)support_step(&b.s, &b.w, step, true);
        for (unsigned i = 0; i < b.w.nodes; i++)
            (void)step_of(&b.w.node[i], noted);
        if (drains)
            take();
    }
    take();
    assert_int_equal(b.broken, 0);
    assert_int_equal(b.s.ledger->never_received + b.s.ledger->wrong + b.s.ledger->failed, 0);
}

/* Frames that crossed the port by the links' counters: `out` departures, otherwise arrivals. */
static uint64_t crossed(uint32_t interface, bool out)
{
    const struct capture_port *port = &b.ports.port[interface];
    const struct shm_link *link = out ? fab_link(&b.s.f, port->plane, port->node, port->port)
                                      : fab_incoming(&b.s.f, port->plane, port->node, port->port);
    uint64_t sum = 0; /* heads wrap at 16 bits a VC, and this test sends less */
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        sum += hx_lane(link->heads, vc);
    return sum;
}

static uint64_t count_seen(uint32_t interface, unsigned direction)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < b.count; i++)
        sum += b.seen[i].interface == interface && b.seen[i].direction == direction;
    return sum;
}

static void every_crossing_of_every_port_is_recorded_once(void **state)
{
    (void)state;
    open_bench(NULL, &(struct capture_wish){0});
    run(true, false);
    uint64_t all = 0;
    for (uint32_t i = 0; i < b.ports.interfaces; i++) {
        assert_int_equal(count_seen(i, HX_TAP_IN), crossed(i, false));
        assert_int_equal(count_seen(i, HX_TAP_OUT), crossed(i, true));
        const struct hx_tap_count *count = hx_tap_counts(b.memory.tap, &b.memory.shape) + i;
        assert_int_equal(atomic_load(&count->received), crossed(i, false) + crossed(i, true));
        assert_int_equal(atomic_load(&count->accepted), atomic_load(&count->received));
        assert_int_equal(atomic_load(&count->dropped), 0);
        all += atomic_load(&count->received);
    }
    assert_true(all > 16 * 15 * 4 * 2);
    assert_int_equal(all, b.count);
    close_bench();
}

/* Follows the records of one frame in order: in at local with no hop, then in and out of each switch with one hop
 * more, and out at local in the end. */
static void follow(const struct crossing *s, struct hx_header *h, uint8_t *hops)
{
    assert_int_equal(hx_frame_decode(h, s->frame, s->original), 0);
    assert_int_equal(h->vc, s->vc);
    assert_int_equal(h->credit_vc, HX_NO_CREDIT);
    assert_int_equal(s->original, HX_HEADER_BYTES + h->length);
    const struct capture_port *port = &b.ports.port[s->interface];
    bool local = port->node < b.s.f.g->hosts && port->port == HX_LOCAL;
    if (local && s->direction == HX_TAP_IN) {
        assert_int_equal(h->hops, 0);
        assert_int_equal(port->node, hx_fabric_host(b.s.f.g, h->src_addr_hi, h->src_addr_lo));
    } else {
        assert_int_equal(h->hops, *hops + (s->direction == HX_TAP_OUT));
    }
    if (local && s->direction == HX_TAP_OUT)
        assert_int_equal(port->node, hx_fabric_host(b.s.f.g, h->dst_addr_hi, h->dst_addr_lo));
    *hops = h->hops;
}

static void frames_are_those_of_a_wire_at_every_hop(void **state)
{
    (void)state;
    open_bench(NULL, &(struct capture_wish){0});
    run(true, false);
    unsigned delivered = 0;
    for (unsigned first = 0; first < b.count; first++) {
        struct hx_header h;
        uint8_t hops = 0;
        if (b.seen[first].direction != HX_TAP_IN || b.ports.port[b.seen[first].interface].port != HX_LOCAL ||
            b.ports.port[b.seen[first].interface].node >= b.s.f.g->hosts)
            continue;
        const struct crossing *last = &b.seen[first];
        for (unsigned i = first; i < b.count; i++) {
            if (b.seen[i].id != b.seen[first].id)
                continue;
            follow(&b.seen[i], &h, &hops);
            last = &b.seen[i];
        }
        assert_int_equal(b.ports.port[last->interface].port, HX_LOCAL);
        delivered += last->direction == HX_TAP_OUT;
    }
    assert_true(delivered >= 16 * 15 * 3);
    close_bench();
}

static void one_port_is_recorded_alone_and_cut_to_the_snap_length(void **state)
{
    (void)state;
    open_bench("a1,0/p0/E", &(struct capture_wish){.snaplen = 96});
    run(true, false);
    assert_int_equal(b.ports.interfaces, 1);
    assert_true(b.count > 10);
    assert_int_equal(b.count, crossed(0, true) + crossed(0, false));
    for (unsigned i = 0; i < b.count; i++)
        assert_int_equal(b.seen[i].captured, b.seen[i].original < 96 ? b.seen[i].original : 96);
    unsigned tapped = 0;
    for (unsigned i = 0; i < b.w.nodes; i++)
        tapped += b.w.node[i].hal.tap != NULL;
    assert_int_equal(tapped, 1);
    close_bench();
}

/* The VC changes at every hop: the filter sees the value of the wire. */
static void a_filter_sees_frames_as_on_the_wire(void **state)
{
    (void)state;
    open_bench(NULL, &(struct capture_wish){.filter = "ether[15] = 1 and ether[28] = 1 and ether[8263:1] >= 0"});
    run(true, false);
    uint64_t received = 0;
    uint64_t accepted = 0;
    for (uint32_t i = 0; i < b.ports.interfaces; i++) {
        const struct hx_tap_count *count = hx_tap_counts(b.memory.tap, &b.memory.shape) + i;
        received += atomic_load(&count->received);
        accepted += atomic_load(&count->accepted);
        assert_int_equal(count->received, crossed(i, false) + crossed(i, true));
    }
    assert_int_equal(accepted, 0); /* a full packet has 8,256 bytes: none reaches byte 8,263 */
    assert_true(received > 1000);
    close_bench();

    open_bench(NULL, &(struct capture_wish){.filter = "ether[15] = 1 and ether[28] = 1 and ether[8255:1] >= 0"});
    run(true, false);
    assert_true(b.count > 100);
    for (unsigned i = 0; i < b.count; i++) {
        assert_int_equal(b.seen[i].vc, 1);
        assert_int_equal(b.seen[i].frame[15], 1);
        assert_int_equal(b.seen[i].original, HX_MAX_FRAME);
    }
    uint64_t on_vc1 = 0;
    for (uint32_t i = 0; i < b.ports.interfaces; i++) {
        const struct capture_port *port = &b.ports.port[i];
        on_vc1 += hx_lane(fab_link(&b.s.f, 0, port->node, port->port)->heads, 1);
    }
    assert_true(on_vc1 * 2 > b.count && on_vc1 / 2 < b.count);
    close_bench();
}

static void records_without_room_are_counted_and_the_fabric_continues(void **state)
{
    (void)state;
    open_bench(NULL, &(struct capture_wish){.ring_bytes = HX_TAP_LEAST_RING});
    run(false, false);
    uint64_t accepted = 0;
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < b.ports.interfaces; i++) {
        const struct hx_tap_count *count = hx_tap_counts(b.memory.tap, &b.memory.shape) + i;
        assert_int_equal(atomic_load(&count->received), crossed(i, false) + crossed(i, true));
        accepted += atomic_load(&count->accepted);
        dropped += atomic_load(&count->dropped);
    }
    assert_true(dropped > 1000);
    assert_int_equal(accepted, b.count + dropped);
    close_bench();
}

/* Runs until every message is acknowledged, with switches that wait for room; takes records out now and then.
 * Returns the number of waits. */
static unsigned run_waiting(void)
{
    unsigned waited = 0;
    for (unsigned sweeps = 0; !support_is_done(&b.w, true); sweeps++) {
        assert_true(sweeps < 100000);
        for (unsigned step = 0; step < b.w.accelerators; step++)
            (void)support_step(&b.s, &b.w, step, true);
        for (unsigned i = 0; i < b.w.nodes; i++) {
            if (shm_tap_has_room(&b.w.node[i].hal))
                (void)step_of(&b.w.node[i], false);
            else
                waited++;
        }
        if (sweeps % 8 == 0)
            take();
    }
    take();
    return waited;
}

static void switches_that_wait_for_room_lose_nothing(void **state)
{
    (void)state;
    static const uint32_t snaplens[] = {HX_TAP_LEAST_SNAPLEN, HX_TAP_MOST_SNAPLEN};
    for (unsigned i = 0; i < 2; i++) {
        /* The smallest ring is large enough for a step. */
        open_bench(NULL,
                   &(struct capture_wish){.ring_bytes = HX_TAP_LEAST_RING, .wait_slots = 1, .snaplen = snaplens[i]});
        assert_true(run_waiting() > 100);
        uint64_t all = 0;
        for (uint32_t n = 0; n < b.ports.interfaces; n++) {
            assert_int_equal(atomic_load(&hx_tap_counts(b.memory.tap, &b.memory.shape)[n].dropped), 0);
            all += crossed(n, false) + crossed(n, true);
        }
        assert_int_equal(all, b.count);
        close_bench();
    }
}

/* ---- notes ---- */

/* Buffers that a switch had in its window in a step and did not send: a byte for each node and buffer. */
static struct {
    uint8_t *stood;
    uint32_t buffers;
} waits;

static uint8_t *stood_at(const struct node *n)
{
    return waits.stood + (size_t)(n - b.w.node) * waits.buffers;
}

/* Calls see(stood, buffer) for each packet in the windows of the switch's inputs. */
static void for_each_in_window(const struct node *n, void (*see)(uint8_t *stood, uint32_t buffer))
{
    const struct hal_switch *h = &n->hal;
    for (unsigned input = 0; input < hx_fabric_ports(b.s.f.g, n->id); input++) {
        const struct shm_rx *rx = &h->rx[input];
        for (unsigned vc = 0; rx->link && vc < HX_VCS; vc++) {
            uint16_t tail = hx_lane(rx->tail, vc);
            for (uint16_t at = tail; at != hx_lane(rx->link->heads, vc) && (uint16_t)(at - tail) < HX_WINDOW; at++) {
                if (!(rx->gone[vc] >> at % HX_WINDOW & 1))
                    see(stood_at(n), rx->link->slots[vc * h->size + (at & (h->size - 1))].buffer);
            }
        }
    }
}

enum { SEEN = 1, STOOD = 2 };

static void note_seen(uint8_t *stood, uint32_t buffer)
{
    stood[buffer] |= SEEN;
}

static void note_stood(uint8_t *stood, uint32_t buffer)
{
    if (stood[buffer] & SEEN)
        stood[buffer] |= STOOD;
}

/* Credit of a candidate in the note. */
static unsigned room_of(const struct hx_tap_note *n, unsigned port)
{
    return n->room[__builtin_popcountll(n->candidates & (((uint64_t)1 << port) - 1))];
}

/* The reason by the definitions in hal/tap_ring.h, from the test's own record of windows and the note's candidates
 * and credit. */
static enum hx_tap_reason reason_of(const struct crossing *s, const struct node *node)
{
    const struct hx_tap_note *n = &s->note;
    if (!(n->candidates >> n->output & 1))
        return HX_TAP_UNREACHABLE;
    if (!node->sw.route.is_router && n->output == HX_LOCAL)
        return HX_TAP_ARRIVED;
    if (stood_at(node)[(s->id - 1) % waits.buffers] & STOOD)
        return HX_TAP_WAITED;
    if (__builtin_popcountll(n->candidates) == 1)
        return HX_TAP_ONLY;
    for (unsigned port = 0; port < 64; port++) {
        bool free = (n->candidates & ~n->wanted) >> port & 1;
        if (free && port != n->output && room_of(n, port) >= room_of(n, n->output))
            return HX_TAP_TURN;
    }
    return HX_TAP_MOST_ROOM;
}

/* Steps a switch once, and checks the note of each packet that it sent. */
static void step_and_validate(struct node *n, unsigned of[HX_TAP_REASONS])
{
    unsigned first = b.count;
    for_each_in_window(n, note_seen);
    (void)step_of(n, true);
    take();
    for (unsigned i = first; i < b.count; i++) {
        const struct crossing *s = &b.seen[i];
        assert_int_equal(s->noted, s->direction == HX_TAP_OUT);
        if (!s->noted)
            continue;
        assert_int_equal(s->note.output, b.ports.port[s->interface].port);
        assert_in_range(__builtin_popcountll(s->note.candidates), s->note.reason != HX_TAP_UNREACHABLE, HX_TAP_ROOMS);
        assert_int_equal(s->note.reason, reason_of(s, n));
        of[s->note.reason]++;
        stood_at(n)[(s->id - 1) % waits.buffers] = 0;
    }
    for_each_in_window(n, note_stood);
}

static void validate_notes(unsigned sweeps, unsigned of[HX_TAP_REASONS])
{
    waits.buffers = b.w.shm.workers * b.w.shm.per_home;
    waits.stood = calloc(b.w.nodes, waits.buffers);
    assert_non_null(waits.stood);
    for (unsigned sweep = 0; sweep < sweeps && !support_is_done(&b.w, true); sweep++) {
        for (unsigned step = 0; step < b.w.accelerators; step++)
            (void)support_step(&b.s, &b.w, step, true);
        for (unsigned i = 0; i < b.w.nodes; i++)
            step_and_validate(&b.w.node[i], of);
    }
    free(waits.stood);
    assert_int_equal(b.broken, 0);
}

/* Links of two packets: many wait. */
static void notes_explain_every_choice(void **state)
{
    (void)state;
    unsigned of[HX_TAP_REASONS] = {0};
    open_bench_of(2 * HX_PACKET_BLOCKS, NULL, &(struct capture_wish){.annotate = true});
    validate_notes(UINT32_MAX, of);
    assert_true(support_is_done(&b.w, true));
    for (unsigned reason = HX_TAP_ONLY; reason <= HX_TAP_ARRIVED; reason++)
        assert_true(of[reason] > 0);
    assert_int_equal(of[HX_TAP_UNREACHABLE] + of[HX_TAP_REPLAYED], 0);
    close_bench();
}

/* The first accelerator has no path to the last column: its packets there go to its own endpoint, and the note has
 * the reason. */
static void a_note_reports_a_missing_path(void **state)
{
    (void)state;
    unsigned of[HX_TAP_REASONS] = {0};
    open_bench(NULL, &(struct capture_wish){.annotate = true});
    struct node *first = &b.w.node[0];
    assert_int_equal(first->id, 0);
    uint8_t cut[4];
    memcpy(cut, first->sw.route.x_table, sizeof cut);
    cut[3] = 0;
    first->sw.route.x_table = cut;
    validate_notes(100, of);
    assert_true(of[HX_TAP_UNREACHABLE] > 0);
    for (unsigned i = 0; i < b.count; i++) {
        struct hx_header h;
        if (!b.seen[i].noted || b.seen[i].note.reason != HX_TAP_UNREACHABLE)
            continue;
        assert_int_equal(hx_frame_decode(&h, b.seen[i].frame, b.seen[i].original), 0);
        assert_int_equal(h.dst_addr_hi, 3);
        assert_int_equal(b.seen[i].note.output, HX_LOCAL);
        assert_int_equal(b.ports.port[b.seen[i].interface].node, 0);
    }
    close_bench();
}

static void invalid_memory_is_not_attached(void **state)
{
    (void)state;
    open_bench("a0,0/p0/E", &(struct capture_wish){0});
    struct shm_taps taps = {.worker = &b.w.shm, .clock = &b.s.clock};
    uint32_t ports = fab_ports(&b.s.f);
    assert_int_equal(shm_tap_attach(&taps, 1, b.memory.fd, 0, ports), 0);
    shm_tap_detach(&taps, 1);
    assert_int_not_equal(shm_tap_attach(&taps, 1, b.memory.fd, 0, ports + 1), 0);
    assert_int_not_equal(shm_tap_attach(&taps, 1, b.memory.fd, 1, ports), 0);
    assert_int_not_equal(shm_tap_attach(&taps, 1, b.s.f.arena.fd, 0, ports), 0); /* it could shrink */
    uint32_t ring_bytes = b.memory.tap->shape.ring_bytes;
    b.memory.tap->shape.ring_bytes *= 2;
    assert_int_not_equal(shm_tap_attach(&taps, 1, b.memory.fd, 0, ports), 0);
    b.memory.tap->shape.ring_bytes = ring_bytes;
    b.memory.tap->magic++;
    assert_int_not_equal(shm_tap_attach(&taps, 1, b.memory.fd, 0, ports), 0);
    assert_null(taps.tap[1].memory);
    close_bench();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_crossing_of_every_port_is_recorded_once),
        cmocka_unit_test(frames_are_those_of_a_wire_at_every_hop),
        cmocka_unit_test(one_port_is_recorded_alone_and_cut_to_the_snap_length),
        cmocka_unit_test(a_filter_sees_frames_as_on_the_wire),
        cmocka_unit_test(records_without_room_are_counted_and_the_fabric_continues),
        cmocka_unit_test(switches_that_wait_for_room_lose_nothing),
        cmocka_unit_test(notes_explain_every_choice),
        cmocka_unit_test(a_note_reports_a_missing_path),
        cmocka_unit_test(invalid_memory_is_not_attached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
