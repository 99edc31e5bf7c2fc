/* test_switch.c - promises of an accelerator's switch (switch.h), with inputs and credit that the test sets. */
#include "tests/support/loopback/support_loopback.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { E = 1 << HX_E, W = 1 << HX_W, N = 1 << HX_N, S = 1 << HX_S, LOCAL = 1 << HX_LOCAL };
enum { BLOCKS = 128, ROOMY = 1000 };

static struct rig rig;

/* gx is the set of ports itself; E and S lead off the board. */
static void start(void)
{
    rig_init(&rig, HX_ACCELERATOR, HX_ACCELERATOR_PORTS, E | S, BLOCKS);
    for (unsigned gx = 0; gx < 32; gx++)
        rig.sets[gx] = (uint8_t)gx;
}

static void arrive(unsigned input, unsigned vc, uint32_t id, unsigned set, unsigned length)
{
    assert_true(rig_arrive(&rig, input, vc, id, set, length));
}

static void expect(unsigned output, uint32_t id)
{
    rig_expect(&rig, output, id);
}

static void expect_nothing(unsigned output)
{
    struct rig_packet p;
    assert_false(rig_take(&rig, output, &p));
}

static void a_packet_goes_where_its_route_says(void **state)
{
    (void)state;
    for (unsigned output = 0; output < HX_ACCELERATOR_PORTS; output++) {
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            bool edge = output == HX_E || output == HX_S;
            if (edge && vc == HX_VCS - 1)
                continue; /* never more than two crossings */
            start();
            rig_room_everywhere(&rig, ROOMY);
            arrive(HX_W, vc, 5, 1U << output, 1000);
            assert_int_equal(rig_step(&rig), 1);
            struct rig_packet p;
            assert_true(rig_take(&rig, output, &p));
            assert_int_equal(p.id, 5);
            assert_int_equal(p.hops, 4);
            assert_int_equal(p.vc, vc + edge);
            assert_int_equal(p.length, 1000);
            assert_true(p.intact);
            assert_int_equal(rig_room_left(&rig, output, p.vc), ROOMY - 4);
            for (unsigned other = 0; other < HX_ACCELERATOR_PORTS; other++)
                expect_nothing(other);
            rig_validate_empty(&rig);
            lab_free(NULL);
        }
    }
}

static void the_roomiest_output_is_chosen(void **state)
{
    (void)state;
    static const unsigned rooms[][4] = {{9, 8, 7, 6}, {1, 2, 3, 4}, {0, 500, 499, 0}, {40, 39, 41, 1}, {0, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        for (unsigned set = 1; set < 16; set++) {
            unsigned best = HX_LOCAL, most = 0;
            start();
            for (unsigned port = 0; port < 4; port++) {
                unsigned vc = port == HX_E || port == HX_S ? 2 : 1;
                rig_room(&rig, port, vc, rooms[i][port]);
                rig_room(&rig, port, 3 - vc, 1000 - rooms[i][port]); /* credit of another VC does not count */
                if (set >> port & 1 && rooms[i][port] > most) {
                    best = port;
                    most = rooms[i][port];
                }
            }
            arrive(HX_LOCAL, 1, set, set, 256);
            assert_int_equal(rig_step(&rig), most > 0);
            if (most > 0)
                expect(best, set);
            else
                assert_int_equal(hx_switch_waiting(&rig.sw), 1);
            lab_free(NULL);
        }
    }
}

/* How often each port of the set takes a packet at equal credit; `other` packets for one port go between. */
static void count_choices(unsigned set, unsigned others, unsigned taken[4])
{
    start();
    memset(taken, 0, 4 * sizeof *taken);
    for (unsigned i = 0; i < 3000; i++) {
        rig_room_everywhere(&rig, 400);
        arrive(i % 4, 1, i + 1, set, 100);
        rig_step(&rig);
        for (unsigned other = 0; other < others; other++) {
            arrive(HX_LOCAL, 0, 0, N, 100);
            rig_step(&rig);
        }
        struct rig_packet p;
        for (unsigned port = 0; port < 4; port++)
            while (rig_take(&rig, port, &p))
                taken[port] += p.id > 0;
    }
    lab_free(NULL);
}

/* Of two or four ports with equal credit each takes equally many packets, with any others in between. Of three, none
 * is left out. */
static void ties_rotate(void **state)
{
    (void)state;
    for (unsigned set = 1; set < 16; set++) {
        unsigned ports = (unsigned)__builtin_popcount(set);
        for (unsigned others = 0; others < 4; others++) {
            unsigned taken[4];
            count_choices(set, others, taken);
            for (unsigned port = 0; port < 4; port++) {
                unsigned share = set >> port & 1 ? 3000 / ports : 0;
                unsigned less = ports == 3 ? share / 2 : share * 9 / 10;
                unsigned more = ports == 3 ? share * 2 : share * 11 / 10;
                assert_in_range(taken[port], less, more);
            }
        }
    }
}

static void a_blocked_head_lets_others_pass(void **state)
{
    (void)state;
    start();
    rig_room(&rig, HX_W, 0, ROOMY);
    rig_room(&rig, HX_LOCAL, 0, ROOMY);
    arrive(HX_E, 0, 1, N, 8192);
    arrive(HX_E, 0, 2, W, 300);
    arrive(HX_E, 0, 3, N, 300);
    arrive(HX_E, 0, 4, LOCAL, 300);
    assert_int_equal(rig_step(&rig), 2);
    expect(HX_W, 2);
    expect(HX_LOCAL, 4);
    arrive(HX_E, 0, 5, W, 300);
    assert_int_equal(rig_step(&rig), 1);
    expect(HX_W, 5);
    assert_int_equal(hx_switch_waiting(&rig.sw), 2);
    assert_int_equal(rig_space(&rig, HX_E, 0), BLOCKS - 32 - 2); /* the packets that passed gave their credit back */

    rig_room(&rig, HX_N, 0, ROOMY);
    assert_int_equal(rig_step(&rig), 2);
    expect(HX_N, 1);
    expect(HX_N, 3);
    rig_validate_empty(&rig);
}

/* Far more packets pass the head than a window has slots: only then they wait behind it too. */
static void a_window_bounds_the_passing(void **state)
{
    (void)state;
    start();
    arrive(HX_E, 0, 0, N, 0);
    rig_step(&rig);
    for (uint32_t id = 1; id <= 100; id++) {
        rig_room(&rig, HX_W, 0, ROOMY);
        arrive(HX_E, 0, id, W, 0);
        rig_step(&rig);
        if (id < HX_WINDOW)
            expect(HX_W, id);
        else
            expect_nothing(HX_W);
    }
    rig_room(&rig, HX_N, 0, 1);
    rig_step(&rig); /* the head leaves, the window moves on */
    expect(HX_N, 0);
    rig_step(&rig);
    for (uint32_t id = HX_WINDOW; id <= 100; id++)
        expect(HX_W, id);
    rig_validate_empty(&rig);
}

static void packets_waiting_for_an_output_leave_in_order(void **state)
{
    (void)state;
    start();
    for (uint32_t id = 0; id < 40; id++) {
        arrive(HX_S, 2, id, id % 3 ? W : W | N, 100);
        if (id % 7 == 0)
            rig_step(&rig);
    }
    rig_step(&rig);
    assert_int_equal(hx_switch_waiting(&rig.sw), 40);
    for (uint32_t id = 0; id < 40;) {
        unsigned grants = 1 + id % 5;
        rig_room(&rig, HX_W, 2, grants);
        assert_int_equal(rig_step(&rig), id + grants > 40 ? 40 - id : grants);
        for (; grants > 0 && id < 40; grants--)
            expect(HX_W, id++);
        expect_nothing(HX_W);
    }
    rig_validate_empty(&rig);
}

/* A packet that waits for either of two outputs leaves by the first that gets credit, and only once. */
static void a_waiting_packet_takes_the_first_free_output(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        start();
        arrive(HX_N, 0, 9, E | W, 700);
        rig_step(&rig);
        rig_room(&rig, first ? HX_E : HX_W, first ? 1 : 0, 3);
        assert_int_equal(rig_step(&rig), 1);
        rig_room_everywhere(&rig, ROOMY);
        assert_int_equal(rig_step(&rig), 0);
        expect(first ? HX_E : HX_W, 9);
        expect_nothing(first ? HX_W : HX_E);
        rig_validate_empty(&rig);
        lab_free(NULL);
    }
}

static void no_packet_leaves_without_room_for_all_of_it(void **state)
{
    (void)state;
    static const unsigned lengths[] = {0, 1, 256, 257, 511, 512, 513, 8191, 8192};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned blocks = lengths[i] == 0 ? 1 : (lengths[i] + 255) / 256;
        start();
        rig_room(&rig, HX_N, 0, blocks - 1);
        arrive(HX_S, 0, 1, N, lengths[i]);
        assert_int_equal(rig_step(&rig), 0);
        assert_int_equal(rig_step(&rig), 0);
        rig_room(&rig, HX_N, 0, blocks);
        assert_int_equal(rig_step(&rig), 1);
        expect(HX_N, 1);
        assert_int_equal(rig_room_left(&rig, HX_N, 0), 0);
        lab_free(NULL);
    }
}

/* Credit arrives block by block, and small packets could take each: one of every other input may, no more. */
static void small_packets_do_not_block_a_large_one(void **state)
{
    (void)state;
    start();
    arrive(HX_S, 0, 1, N, 8192);
    rig_step(&rig);
    unsigned passed = 0, blocks = 0;
    for (struct rig_packet p = {0}; p.id != 1; passed++) {
        while (!rig_take(&rig, HX_N, &p)) {
            assert_true(++blocks <= 32 + HX_ACCELERATOR_PORTS);
            for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++)
                arrive(input, 0, 100, N, 10);
            rig_room(&rig, HX_N, 0, rig_room_left(&rig, HX_N, 0) + 1);
            rig_step(&rig);
        }
    }
    assert_true(passed <= HX_ACCELERATOR_PORTS);
}

static void inputs_take_turns(void **state)
{
    (void)state;
    start();
    for (unsigned i = 0; i < 8; i++)
        for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++)
            arrive(input, 1, input * 100 + i, N, 50);
    rig_step(&rig);
    uint32_t last[HX_ACCELERATOR_PORTS] = {0};
    for (unsigned turn = 0; turn < 40; turn++) {
        rig_room(&rig, HX_N, 1, 1);
        assert_int_equal(rig_step(&rig), 1);
        struct rig_packet p;
        assert_true(rig_take(&rig, HX_N, &p));
        assert_int_equal(p.id % 100, turn / HX_ACCELERATOR_PORTS);
        last[p.id / 100]++;
        for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++)
            assert_in_range(last[input], turn / HX_ACCELERATOR_PORTS, turn / HX_ACCELERATOR_PORTS + 1);
    }
    rig_validate_empty(&rig);
}

/* A new packet for the output of an older waiting one waits too, even if it would fit. */
static void a_new_packet_does_not_pass_one_waiting_for_the_same_output(void **state)
{
    (void)state;
    start();
    rig_room(&rig, HX_W, 0, 10);
    arrive(HX_W, 0, 1, W, 8192);
    assert_int_equal(rig_step(&rig), 0);
    arrive(HX_E, 0, 2, W, 10);
    arrive(HX_W, 0, 3, W, 10);
    assert_int_equal(rig_step(&rig), 0);
    expect_nothing(HX_W);
}

static void a_foreign_job_is_dropped_and_counted(void **state)
{
    (void)state;
    start();
    rig_room_everywhere(&rig, ROOMY);
    const struct hx_desc d = {.length = 600, .vc = 1, .dst_addr_hi = W, .dst_addr_lo = 2, .job = RIG_JOB + 1};
    rig_arrive_as(&rig, HX_E, 1, 1, &d);
    arrive(HX_E, 1, 2, W, 600);
    assert_int_equal(rig_step(&rig), 1);
    expect(HX_W, 2);
    expect_nothing(HX_W);
    assert_int_equal(rig.hal.node.drops[HX_DROP_FOREIGN_JOB], 1);
    rig_validate_empty(&rig);
}

static void an_unroutable_packet_goes_to_the_endpoint(void **state)
{
    (void)state;
    start();
    rig_room(&rig, HX_LOCAL, 2, ROOMY);
    arrive(HX_E, 2, 1, 0, 600);
    assert_int_equal(rig_step(&rig), 1);
    expect(HX_LOCAL, 1);
    rig_room(&rig, HX_LOCAL, 2, 0);
    arrive(HX_E, 2, 2, 0, 600);
    assert_int_equal(rig_step(&rig), 0);
    rig_room(&rig, HX_LOCAL, 2, 3);
    assert_int_equal(rig_step(&rig), 1);
    expect(HX_LOCAL, 2);
    rig_validate_empty(&rig);
}

/* The VC of a frame has no checksum. A packet that would need a fifth VC does not wait. */
static void a_packet_with_a_vc_too_high_goes_to_the_endpoint(void **state)
{
    (void)state;
    start();
    rig_room_everywhere(&rig, ROOMY);
    arrive(HX_W, 3, 1, E, 600);
    arrive(HX_W, 3, 2, E | S, 600);
    arrive(HX_W, 3, 3, E | N, 600);
    assert_int_equal(rig_step(&rig), 3);
    expect(HX_LOCAL, 1);
    expect(HX_LOCAL, 2);
    expect(HX_N, 3);
    rig_room_everywhere(&rig, 0);
    arrive(HX_W, 3, 4, E, 600);
    assert_int_equal(rig_step(&rig), 0);
    rig_room_everywhere(&rig, ROOMY);
    assert_int_equal(rig_step(&rig), 1);
    expect(HX_LOCAL, 4);
    rig_validate_empty(&rig);
}

static void destinations_outside_are_dropped_as_malformed(void **state)
{
    (void)state;
    static const uint16_t outside[][2] = {{16, 0}, {0, 8}, {0xFFFF, 0xFFFF}, {15, 0xFFFF}, {0xFFFF, 7}};
    start();
    rig.sw.route.columns = 16;
    rig.sw.route.rows = 8;
    rig_room_everywhere(&rig, ROOMY);
    for (unsigned i = 0; i < sizeof outside / sizeof *outside; i++) {
        const struct hx_desc d = {
            .length = 100, .dst_addr_hi = outside[i][0], .dst_addr_lo = outside[i][1], .job = RIG_JOB};
        rig_arrive_as(&rig, i % HX_ACCELERATOR_PORTS, i % HX_VCS, i, &d);
        assert_int_equal(rig_step(&rig), 0);
        assert_int_equal(rig.hal.node.drops[HX_DROP_MALFORMED], i + 1);
    }
    rig_validate_empty(&rig);
}

static void new_routes_move_waiting_packets(void **state)
{
    (void)state;
    start();
    rig_room(&rig, HX_W, 0, ROOMY);
    rig_room(&rig, HX_LOCAL, 0, ROOMY);
    arrive(HX_S, 0, 1, N, 8192);
    arrive(HX_S, 0, 2, E, 100);
    arrive(HX_S, 0, 3, N | E, 100);
    arrive(HX_E, 0, 4, N, 100);
    assert_int_equal(rig_step(&rig), 0);
    rig.sets[N] = W;
    rig.sets[N | E] = 0;
    hx_switch_reroute(&rig.sw);
    assert_int_equal(hx_switch_waiting(&rig.sw), 4);
    assert_int_equal(rig_step(&rig), 3);
    struct rig_packet p;
    uint32_t seen = 0;
    while (rig_take(&rig, HX_W, &p))
        seen |= 1U << p.id;
    assert_int_equal(seen, 1U << 1 | 1U << 4);
    expect(HX_LOCAL, 3);
    assert_int_equal(hx_switch_waiting(&rig.sw), 1);
    rig_room(&rig, HX_N, 0, ROOMY); /* no packet is for N */
    assert_int_equal(rig_step(&rig), 0);
    rig_room(&rig, HX_E, 1, 1);
    assert_int_equal(rig_step(&rig), 1);
    expect(HX_E, 2);
    rig_validate_empty(&rig);
}

/* Arrivals since the last step survive new routes before the next one. */
static void new_routes_keep_new_arrivals(void **state)
{
    (void)state;
    start();
    arrive(HX_S, 0, 1, N, 100);
    rig_step(&rig);
    arrive(HX_S, 0, 2, W, 100);
    rig.sets[N] = W;
    hx_switch_reroute(&rig.sw);
    assert_int_equal(rig_space(&rig, HX_S, 0), BLOCKS - 2);
    rig_room(&rig, HX_W, 0, 2);
    assert_int_equal(rig_step(&rig), 2);
    expect(HX_W, 1);
    expect(HX_W, 2);
    rig_validate_empty(&rig);
}

static void a_switch_starts_at_the_positions_of_the_platform(void **state)
{
    (void)state;
    start();
    rig_room(&rig, HX_W, 0, ROOMY);
    for (uint32_t id = 0; id < 70000; id++) { /* positions wrap */
        rig_room(&rig, HX_W, 0, ROOMY);
        arrive(HX_S, 0, id, W, 0);
        assert_int_equal(rig_step(&rig), 1);
        expect(HX_W, id);
    }
    void *memory = lab_memory(hx_switch_bytes(HX_ACCELERATOR_PORTS, HX_VCS));
    struct hx_route route = rig.sw.route;
    hx_switch_init(&rig.sw, HX_ACCELERATOR_PORTS, HX_VCS, RIG_JOB, &rig.hal, memory);
    rig.sw.route = route;
    assert_int_equal(rig_step(&rig), 0);
    arrive(HX_S, 0, 5, W, 0);
    assert_int_equal(rig_step(&rig), 1);
    expect(HX_W, 5);
    rig_validate_empty(&rig);
}

/* ---- passing ---- */

static void expect_packets_alike(struct rig *a, struct rig *b, unsigned ports)
{
    for (unsigned port = 0; port < ports; port++) {
        struct rig_packet p;
        struct rig_packet q;
        bool left = rig_take(a, port, &p);
        assert_int_equal(rig_take(b, port, &q), left);
        if (left)
            assert_true(p.id == q.id && p.vc == q.vc && p.hops == q.hops && p.intact && q.intact);
    }
}

static void expect_alike(struct rig *a, struct rig *b, unsigned ports)
{
    expect_packets_alike(a, b, ports);
    assert_int_equal(a->sw.tie, b->sw.tie);
    assert_int_equal(a->sw.first_input, b->sw.first_input);
    assert_int_equal(a->sw.first_vc, b->sw.first_vc);
    assert_memory_equal(a->sw.wanted, b->sw.wanted, sizeof a->sw.wanted);
    assert_memory_equal(a->sw.input, b->sw.input, a->calls->bytes(ports, HX_VCS));
}

/* Makes two equal switches of a platform with random routes; returns their number of ports. */
static unsigned begin_alike(struct rig *a, struct rig *b, unsigned run, uint64_t *random)
{
    const struct switch_calls *calls = switch_platforms[run / 2 % SWITCH_PLATFORMS];
    bool router = run % 2;
    unsigned ports = router ? 3 + seeded_below(random, 12) : HX_ACCELERATOR_PORTS;
    unsigned incrementing = router ? 0 : seeded_below(random, 16);
    rig_init_on(a, calls, router ? HX_ROW_SWITCH : HX_ACCELERATOR, ports, incrementing, BLOCKS);
    rig_init_on(b, calls, router ? HX_ROW_SWITCH : HX_ACCELERATOR, ports, incrementing, BLOCKS);
    for (unsigned gx = 0; gx < 256; gx++) {
        uint64_t set = seeded_next(random) & (((uint64_t)1 << ports) - 1);
        a->tree[gx] = b->tree[gx] = set;
        a->sets[gx] = b->sets[gx] = (uint8_t)(set & LOCAL ? LOCAL : set);
    }
    return ports;
}

/* The same packet arrives at both. */
static void arrive_alike(struct rig *a, struct rig *b, uint32_t id, unsigned input, unsigned vc, uint64_t *random)
{
    unsigned gx = seeded_below(random, 256);
    unsigned length = seeded_below(random, 600);
    assert_true(rig_arrive(a, input, vc, id, gx, length));
    assert_true(rig_arrive(b, input, vc, id, gx, length));
}

/* Packets pass one at a time through two switches: one steps, the other is called for that packet. A packet without
 * credit waits; while one waits, both step. */
static void a_packet_passes_as_in_a_step(void **state)
{
    (void)state;
    static struct rig other;
    uint64_t random = seeded_by(1);
    print_message("HX_SEED=%llu\n", (unsigned long long)random);
    for (unsigned run = 0; run < 24; run++) {
        unsigned ports = begin_alike(&rig, &other, run, &random);
        unsigned passed = 0;
        for (uint32_t id = 1; id <= 200; id++) {
            unsigned input = seeded_below(&random, ports);
            unsigned vc = seeded_below(&random, HX_VCS);
            unsigned room = seeded_below(&random, 3) ? ROOMY : seeded_below(&random, 3);
            bool alone = hx_switch_waiting(&rig.sw) == 0;
            rig_room_everywhere(&rig, room);
            rig_room_everywhere(&other, room);
            arrive_alike(&rig, &other, id, input, vc, &random);
            unsigned left = rig_step(&rig);
            assert_int_equal(alone ? rig_pass(&other, input, vc) : rig_step(&other), left);
            passed += alone;
            expect_alike(&rig, &other, ports);
        }
        assert_true(passed > 20);
        lab_free(NULL);
    }
}

/* A step rotates once, however many packets leave; a grant once for each packet: the steps that are missing. */
static void rotate_steps(struct rig *r, unsigned steps, unsigned ports)
{
    r->sw.first_input = (uint8_t)((r->sw.first_input + steps) % ports);
    r->sw.first_vc = (uint8_t)((r->sw.first_vc + (HX_VCS - steps % HX_VCS)) % HX_VCS);
}

/* One VC of an output after the other gets credit in two switches with waiting packets: one steps, the other is told
 * the output, once for each packet. */
static void an_output_is_granted_as_in_a_step(void **state)
{
    (void)state;
    static struct rig other;
    uint64_t random = seeded_by(1);
    print_message("HX_SEED=%llu\n", (unsigned long long)random);
    for (unsigned run = 0; run < 42; run++) {
        unsigned ports = begin_alike(&rig, &other, run, &random);
        unsigned granted = 0;
        for (uint32_t id = 1; id <= 100; id++) {
            rig_room_everywhere(&rig, 0);
            rig_room_everywhere(&other, 0);
            arrive_alike(&rig, &other, id, seeded_below(&random, ports), seeded_below(&random, HX_VCS), &random);
            assert_int_equal(rig_step(&other), rig_step(&rig)); /* it waits, or is dropped */
            unsigned output = seeded_below(&random, ports);
            unsigned vc = seeded_below(&random, HX_VCS);
            unsigned room = seeded_below(&random, 4);
            rig_room(&rig, output, vc, room);
            rig_room(&other, output, vc, room);
            unsigned granted_before = granted;
            for (unsigned left; (left = rig_step(&rig)); granted += left) {
                for (unsigned n = 0; n < left; n++)
                    assert_true(rig_grant(&other, output) >> output & 1);
                rotate_steps(&rig, left - 1, ports);
            }
            assert_int_equal(rig_grant(&other, output), 0);
            assert_true(granted - granted_before <= room);
            expect_alike(&rig, &other, ports);
        }
        assert_true(granted > 20);
        lab_free(NULL);
    }
}

/* ---- shared rows ---- */

static void share_rows(struct rig *r, unsigned ports, struct hx_rows *rows)
{
    const struct hx_route route = r->sw.route;
    r->calls->init_sharing(&r->sw, ports, HX_VCS, RIG_JOB, &r->hal, rows,
                           lab_memory(r->calls->sharing_bytes(ports, HX_VCS)));
    r->sw.route = route;
}

/* The candidates are the same; an (input, VC) has a row while it has waiting packets. Returns the rows in use. */
static unsigned expect_same_candidates(const struct rig *own, const struct rig *sharing, unsigned ports)
{
    unsigned in_use = 0;
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        for (unsigned input = 0; input < ports; input++) {
            assert_memory_equal(hx_switch_candidates(&own->sw, input, vc),
                                hx_switch_candidates(&sharing->sw, input, vc), ports * sizeof(uint64_t));
            bool has_row = sharing->sw.candidate_row[vc * ports + input] != 0;
            assert_int_equal(has_row, sharing->sw.input[input].waiting[vc] != 0);
            in_use += has_row;
        }
    }
    return in_use;
}

/* Rows that were given back: zero but for the number of the next one. */
static unsigned count_spare_rows(const struct hx_rows *rows, unsigned ports)
{
    unsigned spare = 0;
    for (uint32_t row = rows->spare; row; row = (uint32_t)hx_rows_words(rows)[row * ports], spare++)
        for (unsigned output = 1; output < ports; output++)
            assert_int_equal(hx_rows_words(rows)[row * ports + output], 0);
    return spare;
}

/* Two switches share rows; two others, with the same traffic, have rows of their own. */
static void shared_rows_hold_what_own_rows_hold(void **state)
{
    (void)state;
    static struct rig own[2];
    static struct rig sharing[2];
    uint64_t random = seeded_by(1);
    print_message("HX_SEED=%llu\n", (unsigned long long)random);
    for (unsigned run = 0; run < 20; run++) {
        uint64_t shape = random;
        unsigned ports = begin_alike(&own[0], &sharing[0], run, &random);
        (void)begin_alike(&own[1], &sharing[1], run, &shape);
        struct hx_rows *rows = lab_memory(hx_rows_bytes(ports, HX_VCS, 2));
        share_rows(&sharing[0], ports, rows);
        share_rows(&sharing[1], ports, rows);
        for (uint32_t id = 1; id <= 400; id++) {
            unsigned which = seeded_below(&random, 2);
            struct rig *a = &own[which];
            struct rig *b = &sharing[which];
            unsigned room = seeded_below(&random, 40) ? seeded_below(&random, 3) : ROOMY;
            rig_room_everywhere(a, room);
            rig_room_everywhere(b, room);
            arrive_alike(a, b, id, seeded_below(&random, ports), seeded_below(&random, HX_VCS), &random);
            assert_int_equal(rig_step(a), rig_step(b));
            if (id % 16 == 0) {
                a->calls->reroute(&a->sw);
                b->calls->reroute(&b->sw);
            }
            unsigned in_use = expect_same_candidates(&own[0], &sharing[0], ports) +
                              expect_same_candidates(&own[1], &sharing[1], ports);
            assert_int_equal(in_use + count_spare_rows(rows, ports), rows->used);
            for (unsigned output = 0; output < ports; output++)
                assert_int_equal(hx_rows_words(rows)[output], 0);
            expect_packets_alike(a, b, ports);
        }
        assert_true(rows->used > 2);
        lab_free(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_packet_goes_where_its_route_says, lab_free),
        cmocka_unit_test_teardown(the_roomiest_output_is_chosen, lab_free),
        cmocka_unit_test_teardown(ties_rotate, lab_free),
        cmocka_unit_test_teardown(a_blocked_head_lets_others_pass, lab_free),
        cmocka_unit_test_teardown(a_window_bounds_the_passing, lab_free),
        cmocka_unit_test_teardown(packets_waiting_for_an_output_leave_in_order, lab_free),
        cmocka_unit_test_teardown(a_waiting_packet_takes_the_first_free_output, lab_free),
        cmocka_unit_test_teardown(no_packet_leaves_without_room_for_all_of_it, lab_free),
        cmocka_unit_test_teardown(small_packets_do_not_block_a_large_one, lab_free),
        cmocka_unit_test_teardown(inputs_take_turns, lab_free),
        cmocka_unit_test_teardown(a_new_packet_does_not_pass_one_waiting_for_the_same_output, lab_free),
        cmocka_unit_test_teardown(a_foreign_job_is_dropped_and_counted, lab_free),
        cmocka_unit_test_teardown(an_unroutable_packet_goes_to_the_endpoint, lab_free),
        cmocka_unit_test_teardown(a_packet_with_a_vc_too_high_goes_to_the_endpoint, lab_free),
        cmocka_unit_test_teardown(destinations_outside_are_dropped_as_malformed, lab_free),
        cmocka_unit_test_teardown(new_routes_move_waiting_packets, lab_free),
        cmocka_unit_test_teardown(new_routes_keep_new_arrivals, lab_free),
        cmocka_unit_test_teardown(a_packet_passes_as_in_a_step, lab_free),
        cmocka_unit_test_teardown(an_output_is_granted_as_in_a_step, lab_free),
        cmocka_unit_test_teardown(shared_rows_hold_what_own_rows_hold, lab_free),
        cmocka_unit_test_teardown(a_switch_starts_at_the_positions_of_the_platform, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
