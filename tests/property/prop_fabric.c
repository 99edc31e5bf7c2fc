/* prop_fabric.c - whole fabrics of the firmware on the example platform, under random traffic. Cables lose, repeat,
 * delay and corrupt frames, boards have failed, and cables are cut.
 *
 * The checks do not use the firmware's own counters:
 *     - messages: each is received once, with every byte placed once and right, and acknowledged (support_messages.h)
 *     - paths: each placed packet passed the fewest possible switches, by a search over a plain graph of the fabric
 *       (support_graph.h), and no frame on any wire has a VC above 2
 *     - credit: a reader of all wires that counts blocks in 64 bits never sees more sent than granted; and no buffer ever
 *       holds more than its size
 *     - the end: no packet waits, every buffer is free and every block of credit is returned
 * HX_SEED chooses other runs; a failure names the seed of its run. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_loopback.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_graph.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONG = 400000 /* turns */, PENDING = 256 };

static const struct fabric_plan shapes[] = {
    {.a = 2, .b = 2, .x = 2, .y = 2, .planes = 1, .radix = 64, .taper = 1}, /* 2x2 Hx2Mesh */
    {.a = 2, .b = 3, .x = 3, .y = 2, .planes = 1, .radix = 64, .taper = 1}, /* 3x2 H2x3Mesh */
    {.a = 4, .b = 4, .x = 1, .y = 1, .planes = 1, .radix = 64, .taper = 1}, /* 1x1 Hx4Mesh */
    {.a = 1, .b = 1, .x = 2, .y = 2, .planes = 2, .radix = 64, .taper = 1}, /* 2x2 Hx1Mesh */
    {.a = 1, .b = 1, .x = 1, .y = 1, .planes = 1, .radix = 64, .taper = 1}, /* one accelerator */
    {.a = 2, .b = 1, .x = 4, .y = 3, .planes = 1, .radix = 4, .taper = 1},  /* rows and columns are trees */
    {.a = 3, .b = 2, .x = 3, .y = 1, .planes = 2, .radix = 5, .taper = 2},  /* rows are tapered trees */
    {.a = 2, .b = 2, .x = 3, .y = 3, .planes = 1, .radix = 64, .taper = 1}, /* 3x3 Hx2Mesh */
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct fabric fabric;
static uint16_t *distances; /* [to][from], cables */

/* ---- paths ---- */

static struct graph_shape shape_of(const struct fabric_plan *p)
{
    return (struct graph_shape){(int)p->a, (int)p->b, (int)p->x, (int)p->y, (int)p->radix, (int)p->taper};
}

static void find_distances(const struct graph *g)
{
    uint16_t *one = lab_memory((size_t)g->nodes * GRAPH_LAYERS * sizeof *one);
    size_t n = (size_t)g->accelerators;
    distances = lab_memory(n * n * sizeof *distances);
    for (size_t to = 0; to < n; to++) {
        graph_distances(g, (int)to, one);
        for (size_t from = 0; from < n; from++)
            distances[to * n + from] = one[from * GRAPH_LAYERS];
    }
}

static void validate_hops(struct fabric *f, const struct hx_header *h)
{
    size_t from = (size_t)h->src_addr_lo * f->g.columns + h->src_addr_hi;
    size_t to = (size_t)h->dst_addr_lo * f->g.columns + h->dst_addr_hi;
    assert_int_equal(h->hops, distances[to * f->g.accelerators + from] + 1);
}

/* ---- credit, as seen on the wires ---- */

struct grant {
    uint64_t due;
    unsigned vc;
    uint64_t limit;
};

/* Blocks sent by one wire, and granted by the opposite one. */
struct book {
    uint32_t read; /* bytes of the wire that were read */
    uint64_t sent[HX_VCS], granted[HX_VCS];
    struct grant pending[PENDING]; /* in flight */
    unsigned first, end;
};

static struct book *books; /* [cables * 2] */
static uint64_t frames_seen, blocks_seen;

static uint32_t field(const uint8_t *frame, unsigned at, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | frame[at + i];
    return value;
}

static void note_grant(struct book *b, uint64_t due, unsigned vc, uint32_t limit)
{
    assert_true(b->end - b->first < PENDING);
    b->pending[b->end++ % PENDING] = (struct grant){due, vc, limit};
}

static void take_grants(struct book *b, uint64_t until)
{
    for (; b->first != b->end && b->pending[b->first % PENDING].due <= until; b->first++) {
        const struct grant *g = &b->pending[b->first % PENDING];
        if (g->limit > b->granted[g->vc])
            b->granted[g->vc] = g->limit;
    }
}

static void read_data(struct book *b, struct book *back, const uint8_t *frame, uint64_t due)
{
    unsigned vc = frame[15], length = field(frame, 52, 2);
    assert_true(vc < 3);
    assert_true(frame[16] <= 64);
    b->sent[vc] += length ? (length + 255) / 256 : 1;
    blocks_seen += length ? (length + 255) / 256 : 1;
    assert_true(b->sent[vc] <= b->granted[vc]);
    assert_true(frame[17] < 3);
    note_grant(back, due, frame[17], field(frame, 20, 4));
}

static void read_credit(struct book *b, struct book *back, const uint8_t *frame, uint64_t due)
{
    assert_int_equal(frame[17], 3);
    for (unsigned vc = 0; vc < 3; vc++) {
        note_grant(back, due, vc, field(frame, 20 + 8 * vc, 4));
        assert_int_equal(field(frame, 24 + 8 * vc, 4), b->sent[vc]);
    }
}

/* Reads the new bytes of a wire; the ring still holds them, since no time passes. */
static void read_wire(const struct loopback_wire *w, struct book *b, struct book *back)
{
    uint8_t bytes[sizeof(struct loopback_record) + HX_HEADER_BYTES];
    while (b->read != w->end) {
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = w->ring[(b->read + i) % w->size];
        struct loopback_record record;
        memcpy(&record, bytes, sizeof record);
        const uint8_t *frame = bytes + sizeof record;
        if (field(frame, 12, 2) == 0x88B5)
            read_data(b, back, frame, record.due);
        else
            read_credit(b, back, frame, record.due);
        b->read += (uint32_t)sizeof record + record.bytes;
        frames_seen++;
    }
}

/* Reads the wires after a step, then applies the grants that arrive before the next one. */
static void read_wires(const struct fabric *f)
{
    for (unsigned i = 0; i < f->cables; i++)
        for (unsigned direction = 0; direction < 2; direction++)
            read_wire(&f->cable[i].wire[direction], &books[2 * i + direction], &books[2 * i + 1 - direction]);
    for (unsigned i = 0; i < 2 * f->cables; i++)
        take_grants(&books[i], f->now);
}

/* Blocks in each buffer, by the descriptors. */
static void validate_buffers(const struct fabric *f)
{
    for (unsigned i = 0; i < 2 * f->cables; i++) {
        const struct loopback_port *p = f->cable[i / 2].port[i % 2];
        for (unsigned vc = 0; vc < HX_VCS; vc++) {
            unsigned blocks = 0;
            for (uint16_t at = hx_lane(p->arrivals.tail, vc); at != hx_lane(p->arrivals.arrived, vc); at++) {
                unsigned length = p->slots[vc][at % LOOPBACK_SLOTS].length;
                bool in_window = (uint16_t)(at - hx_lane(p->arrivals.tail, vc)) < HX_WINDOW;
                bool gone = in_window && p->gone[vc] >> at % HX_WINDOW & 1;
                blocks += gone ? 0 : length ? (length + 255) / 256 : 1;
            }
            assert_true(blocks <= f->plan.blocks);
        }
    }
}

/* ---- traffic ---- */

enum pattern { RANDOM, INCAST, SHIFT, PATTERNS };

struct traffic {
    enum pattern pattern;
    unsigned turns, messages, largest; /* largest: packets */
    bool credit;                       /* credits are checked: no frame is corrupted or repeated */
};

static uint64_t draw_bytes(struct fabric *f, unsigned largest)
{
    uint64_t packets = seeded_below(&f->random, largest + 1);
    unsigned kind = seeded_below(&f->random, 4);
    return kind == 0 ? seeded_below(&f->random, 600) : kind == 1 ? packets * 8192 : packets * 8192 + 1 + kind * 3000;
}

static void send_some(struct fabric *f, const struct traffic *t, unsigned turn)
{
    unsigned n = f->g.accelerators;
    for (unsigned tries = 0; tries < 3 && f->messages.count < t->messages; tries++) {
        unsigned from = seeded_below(&f->random, n);
        unsigned to = t->pattern == INCAST  ? 0
                      : t->pattern == SHIFT ? (from + 1 + turn / 8) % n
                                            : seeded_below(&f->random, n);
        (void)fabric_send(f, from, to, draw_bytes(f, t->largest));
    }
}

static void one_turn(struct fabric *f, const struct traffic *t, unsigned turn)
{
    fabric_step(f);
    if (t->credit)
        read_wires(f);
    if (turn % 16 == 0)
        validate_buffers(f);
}

static void start(const struct fabric_plan *plan, const struct traffic *t)
{
    fabric_init(&fabric, plan, t->messages);
    fabric.placed = validate_hops;
    struct graph g;
    assert_true(graph_build(&g, shape_of(plan)));
    find_distances(&g);
    graph_free(&g);
    books = lab_memory(2 * fabric.cables * sizeof *books);
}

static void run(const struct traffic *t)
{
    unsigned turn = 0;
    for (; turn < t->turns || fabric.messages.count < t->messages; turn++) {
        assert_true(turn < LONG);
        send_some(&fabric, t, turn);
        one_turn(&fabric, t, turn);
    }
    for (; !fabric_idle(&fabric); turn++) {
        assert_true(turn < LONG);
        one_turn(&fabric, t, turn);
    }
    assert_int_equal(messages_open(&fabric.messages), 0);
}

static struct fabric_plan plan_of(uint64_t seed, unsigned shape)
{
    static const unsigned blocks[] = {32, 33, 64, LOOPBACK_MAX_BLOCKS};
    struct fabric_plan plan = shapes[shape];
    plan.seed = seed;
    plan.blocks = blocks[seed % 4];
    plan.timeout_ns = 10 * 1000 * 1000;
    plan.retries = 255;
    return plan;
}

static void validate_the_end(bool lossless)
{
    messages_validate_all_through(&fabric.messages);
    fabric_validate_empty(&fabric);
    for (enum hx_drop reason = 0; lossless && reason < HX_DROP_COUNT; reason++)
        assert_int_equal(fabric_drops(&fabric, reason), 0);
    for (unsigned rank = 0; lossless && rank < fabric.g.accelerators; rank++)
        assert_int_equal(fabric.end[rank].ep.stats.packets_repeated, 0);
    if (lossless)
        assert_int_equal(fabric_suspected(&fabric), 0);
}

/* ---- the properties ---- */

static void traffic_over_good_cables(void **state)
{
    (void)state;
    frames_seen = 0;
    for (unsigned n = 0; n < SHAPES * PATTERNS; n++) {
        lab_seed = shapes_seed() + n;
        struct fabric_plan plan = plan_of(lab_seed, n % SHAPES);
        const struct traffic t = {.pattern = n / SHAPES, .turns = 100, .messages = 100, .largest = 4, .credit = true};
        start(&plan, &t);
        run(&t);
        validate_the_end(true);
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(frames_seen > 10000 * effort(SHAPES) / SHAPES && blocks_seen > 100000 * effort(SHAPES) / SHAPES);
}

/* Each buffer holds one packet a VC, and all hosts send to all at full rate. */
static void tiny_buffers_do_not_deadlock(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(SHAPES); n++) {
        const unsigned shape = effort_case(n, SHAPES);
        lab_seed = shapes_seed() + shape;
        struct fabric_plan plan = plan_of(lab_seed, shape);
        const struct traffic t = {.messages = 500, .largest = 3, .credit = true};
        plan.blocks = HX_PACKET_BLOCKS;
        start(&plan, &t);
        for (unsigned shift = 0; shift < fabric.g.accelerators; shift++) {
            for (unsigned from = 0; from < fabric.g.accelerators && fabric.messages.count < t.messages; from++)
                (void)fabric_send(&fabric, from, (from + shift) % fabric.g.accelerators, 3 * 8192);
        }
        run(&t);
        validate_the_end(true);
        lab_free(NULL);
    }
    lab_seed = 0;
}

/* A tenth of the credit frames is lost, a tenth repeated, a tenth delayed. This only costs time. */
static void credit_frames_may_be_lost_repeated_and_delayed(void **state)
{
    (void)state;
    uint64_t lost = 0;
    for (unsigned n = 0; n < effort(2 * SHAPES); n++) {
        const unsigned shape = effort_case(n, 2 * SHAPES);
        lab_seed = shapes_seed() + shape;
        struct fabric_plan plan = plan_of(lab_seed, shape % SHAPES);
        const struct traffic t = {.turns = 100, .messages = 100, .largest = 3, .credit = true};
        plan.faults =
            (struct loopback_faults){.lose_credit = 100, .repeat_credit = 100, .delay_credit = 100, .delay = 5000};
        start(&plan, &t);
        run(&t);
        validate_the_end(true);
        for (unsigned i = 0; i < 2 * fabric.cables; i++)
            lost += fabric.cable[i / 2].wire[i % 2].lost;
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(lost > 1000 * effort(2 * SHAPES) / (2 * SHAPES));
}

/* Lost data is sent again, and its credit is recovered. */
static void data_frames_may_be_lost(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(SHAPES); n++) {
        const unsigned shape = effort_case(n, SHAPES);
        lab_seed = shapes_seed() + shape;
        struct fabric_plan plan = plan_of(lab_seed, shape);
        const struct traffic t = {.turns = 100, .messages = 80, .largest = 6, .credit = true};
        plan.faults = (struct loopback_faults){.lose_data = 20, .lose_credit = 100};
        plan.timeout_ns = 100 * 1000;
        start(&plan, &t);
        run(&t);
        validate_the_end(false);
        assert_int_equal(fabric_suspected(&fabric), 0);
        assert_int_equal(fabric_drops(&fabric, HX_DROP_OVERRUN), 0);
        uint64_t repeated = 0;
        for (unsigned rank = 0; rank < fabric.g.accelerators; rank++)
            repeated += fabric.end[rank].ep.stats.packets_repeated;
        assert_true(repeated > 0);
        lab_free(NULL);
    }
    lab_seed = 0;
}

/* Bits flip anywhere in a frame, and frames are repeated: links begin new sessions, and messages arrive all the
 * same. */
static void wires_may_have_all_faults(void **state)
{
    (void)state;
    uint64_t suspected = 0;
    for (unsigned n = 0; n < effort(2 * SHAPES); n++) {
        lab_seed = shapes_seed() + n;
        struct fabric_plan plan = plan_of(lab_seed, n % SHAPES);
        const struct traffic t = {.turns = 80, .messages = 50, .largest = 4};
        plan.faults = (struct loopback_faults){.lose_data = 5,
                                               .repeat_data = 5,
                                               .corrupt_data = 10,
                                               .lose_credit = 50,
                                               .repeat_credit = 50,
                                               .delay_credit = 50,
                                               .delay = 3000};
        plan.timeout_ns = 100 * 1000;
        plan.check = true;
        start(&plan, &t);
        fabric.placed = NULL; /* the hop count has no checksum */
        run(&t);
        validate_the_end(false);
        suspected += fabric_suspected(&fabric);
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(suspected > 0);
}

/* ---- boards that failed ---- */

static bool is_blocked(const struct fabric *f, const bool *blocked, unsigned rank)
{
    unsigned gx = rank % f->g.columns, gy = rank / f->g.columns;
    return blocked[gy / f->plan.b * f->plan.x + gx / f->plan.a];
}

/* A message from every accelerator of a good board to every other: those with a path arrive on a shortest one, those
 * without fail. */
static void validate_blocked(unsigned shape, unsigned boards_down)
{
    struct fabric_plan plan = plan_of(lab_seed, shape);
    uint64_t random = lab_seed;
    uint8_t bits[8] = {0};
    bool blocked[64] = {false};
    for (unsigned i = 0; i < boards_down; i++) {
        unsigned board = seeded_below(&random, plan.x * plan.y);
        bits[board / 8] |= (uint8_t)(1U << board % 8);
        blocked[board] = true;
    }
    plan.blocked = bits;
    plan.retries = 1;
    plan.timeout_ns = 200 * 1000;
    const struct traffic t = {.messages = 3000};
    start(&plan, &t);
    struct graph g;
    assert_true(graph_build(&g, shape_of(&plan)));
    uint16_t *distance = lab_memory((size_t)g.nodes * GRAPH_LAYERS * sizeof *distance);
    unsigned n = fabric.g.accelerators;
    bool *reachable = lab_memory((size_t)n * n); /* [from][to] */
    for (unsigned to = 0; to < n; to++) {
        graph_distances(&g, (int)to, distance);
        for (unsigned from = 0; from < n; from++)
            reachable[from * n + to] = graph_can_reach(&g, distance, (int)from, (int)to, blocked);
    }
    graph_free(&g);
    unsigned turn = 0, through = 0;
    for (unsigned shift = 0; shift < n; shift++) {
        for (unsigned from = 0; from < n; from++) {
            unsigned to = (from + shift) % n;
            if (is_blocked(&fabric, blocked, from))
                continue;
            for (; !fabric_send(&fabric, from, to, 100 + 8192 * (shift % 2)); turn++)
                one_turn(&fabric, &t, turn);
        }
    }
    for (; !fabric_idle(&fabric); turn++) {
        assert_true(turn < LONG);
        one_turn(&fabric, &t, turn);
    }
    for (unsigned i = 0; i < fabric.messages.count; i++) {
        const struct message *m = &fabric.messages.list[i];
        bool there = reachable[m->from * n + m->to] && !is_blocked(&fabric, blocked, m->to);
        bool back = reachable[m->to * n + m->from];
        assert_int_equal(m->received, there);
        assert_int_equal(m->sent, there && back);
        assert_int_equal(m->failed, !(there && back));
        through += m->sent;
    }
    assert_true(through > 0);
    assert_true(boards_down == 0 || fabric_drops(&fabric, HX_DROP_UNREACHABLE) > 0);
    fabric_validate_empty(&fabric);
}

static void packets_avoid_failed_boards(void **state)
{
    (void)state;
    static const unsigned with_boards[] = {0, 1, 3, 7};
    for (unsigned n = 0; n < effort(8); n++) {
        lab_seed = shapes_seed() + n;
        validate_blocked(with_boards[n % 4], n / 4 + 1);
        lab_free(NULL);
    }
    lab_seed = 0;
}

/* ---- cables that are cut ---- */

/* A cable of plane 0 is cut during traffic: its packets are lost, and its ends route without it. The other plane is
 * intact, so every message arrives. */
static void cut(struct fabric *f, uint32_t node, unsigned port)
{
    struct hx_end far = hx_far_end(&f->g, node, port);
    const struct hx_end ends[2] = {{node, (uint16_t)port}, far};
    for (unsigned i = 0; i < 2; i++) {
        struct hx_switch *sw = &f->sw[ends[i].node];
        struct loopback_port *p = &f->hal[ends[i].node].node.port[ends[i].port];
        p->in = p->out = NULL;
        for (unsigned vc = 0; vc < HX_VCS; vc++)
            p->cable.link.tx[vc].limit = p->cable.link.tx[vc].sent;
        uint64_t up = 0;
        for (unsigned other = 0; other < hx_node_ports(&f->g, ends[i].node); other++)
            up |= (uint64_t)(f->hal[ends[i].node].node.port[other].out != NULL) << other;
        hx_route_build(&sw->route, &f->g, ends[i].node, (struct hx_blocked_boards){NULL}, up,
                       lab_memory(hx_route_bytes(&f->g, ends[i].node)));
        hx_switch_reroute(sw);
    }
}

static void a_cut_cable_loses_no_message(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(6); n++) {
        lab_seed = shapes_seed() + n;
        struct fabric_plan plan = plan_of(lab_seed, n % 2 ? 6 : 0);
        const struct traffic t = {.messages = 200, .largest = 4};
        plan.planes = 2;
        plan.timeout_ns = 100 * 1000;
        start(&plan, &t);
        fabric.placed = NULL; /* packets that return to a board take more hops */
        unsigned turn = 0;
        for (; fabric.messages.count < t.messages || !fabric_idle(&fabric); turn++) {
            assert_true(turn < LONG);
            send_some(&fabric, &t, turn);
            one_turn(&fabric, &t, turn);
            if (turn == 60 || turn == 120) {
                uint32_t node = seeded_below(&fabric.random, fabric.g.accelerators);
                cut(&fabric, node, seeded_below(&fabric.random, HX_LOCAL));
            }
        }
        messages_validate_all_through(&fabric.messages);
        lab_free(NULL);
    }
    lab_seed = 0;
}

/* An accelerator has only one plane; its cables of the other lead nowhere. A network with failed links to it drops
 * no packet silently: the sender gets a report and sends it again by the working plane. Unreported losses, such as
 * acknowledgements, cost a few timeouts under any traffic. */
static void senders_to_a_missing_plane_get_reports(void **state)
{
    (void)state;
    for (unsigned n = 0; n < effort(2 * SHAPES); n++) {
        lab_seed = shapes_seed() + n;
        struct fabric_plan plan = plan_of(lab_seed, n % SHAPES);
        const struct traffic t = {.messages = 300, .largest = 8};
        plan.planes = 2;
        plan.timeout_ns = 1000 * 1000;
        start(&plan, &t);
        fabric.placed = NULL;
        uint32_t nowhere = seeded_below(&fabric.random, fabric.g.accelerators);
        for (unsigned port = 0; port < HX_LOCAL; port++)
            cut(&fabric, nowhere, port);
        run(&t);
        assert_true(fabric.now < 16 * plan.timeout_ns);
        messages_validate_all_through(&fabric.messages);
        if (plan.radix == 64) /* a leaf may have only the missing board */
            assert_int_equal(fabric_drops(&fabric, HX_DROP_NO_ROUTE), 0);
        lab_free(NULL);
    }
    lab_seed = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(traffic_over_good_cables, lab_free),
        cmocka_unit_test_teardown(tiny_buffers_do_not_deadlock, lab_free),
        cmocka_unit_test_teardown(credit_frames_may_be_lost_repeated_and_delayed, lab_free),
        cmocka_unit_test_teardown(data_frames_may_be_lost, lab_free),
        cmocka_unit_test_teardown(wires_may_have_all_faults, lab_free),
        cmocka_unit_test_teardown(packets_avoid_failed_boards, lab_free),
        cmocka_unit_test_teardown(a_cut_cable_loses_no_message, lab_free),
        cmocka_unit_test_teardown(senders_to_a_missing_plane_get_reports, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
