/* prop_link.c - one cable of the example platform, in both directions, with all faults that a wire can have, in
 * thousands of seeded runs.
 *
 *     honest runs    lose data; lose, repeat and delay credit frames. No packet overruns, and no link is suspect
 *     wild runs      also repeat and corrupt data, and restart either end, with or without the content of its buffer
 *
 * In all of them no buffer exceeds its size, a packet arrives twice only if a wire repeated it, and the order within
 * a VC is kept. Once the wires work again, every block of credit returns and packets flow. HX_SEED chooses other
 * runs; a failure names the seed of its run. */
#include "hxmesh/error.h"
#include "tests/support/loopback/support_loopback.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 1200, STEPS = 250, TURN = 100, MOST = 16384, SENDS = 4 };

struct end {
    struct hal_endpoint hal;
    uint32_t sent;         /* packets: their numbers */
    uint8_t seen[MOST];    /* arrivals of packet n of the other end */
    uint32_t next[HX_VCS]; /* least number that may still arrive */
    uint64_t blocks_sent, blocks_taken;
};

struct cable {
    struct end end[2];
    struct loopback_wire wire[2]; /* wire[i] leads from end[i] */
    unsigned blocks;
    bool wild;
    bool repeats[2]; /* the wire repeats data, or did */
    uint64_t now, random;
};

static struct cable cable;

static unsigned below(struct cable *c, unsigned bound)
{
    return seeded_below(&c->random, bound);
}

static void plug(struct cable *c, unsigned which)
{
    loopback_plug(&c->end[which].hal.node, 0, 0, &c->wire[which], &c->wire[1 - which], seeded_next(&c->random));
}

static struct loopback_faults draw_faults(struct cable *c)
{
    struct loopback_faults f = {.random = seeded_next(&c->random)};
    f.lose_data = (uint16_t)(below(c, 2) * below(c, 200));
    f.lose_credit = (uint16_t)(below(c, 2) * below(c, 300));
    f.repeat_credit = (uint16_t)(below(c, 2) * below(c, 300));
    f.delay_credit = (uint16_t)(below(c, 2) * below(c, 300));
    f.delay = below(c, 40000);
    f.repeat_data = (uint16_t)(c->wild ? below(c, 2) * below(c, 50) : 0);
    f.corrupt_data = (uint16_t)(c->wild ? below(c, 2) * below(c, 50) : 0);
    return f;
}

static void start(struct cable *c, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->random = seed;
    c->wild = below(c, 2);
    c->blocks = 32 + below(c, 65);
    for (unsigned i = 0; i < 2; i++) {
        size_t bytes = loopback_node_bytes(1, HX_VCS, c->blocks, SENDS);
        loopback_node_init(&c->end[i].hal.node, 1, HX_VCS, c->blocks, SENDS, lab_memory(bytes));
        loopback_wire_init(&c->wire[i], c->blocks, below(c, 1000), lab_memory(loopback_wire_bytes(c->blocks)));
        c->wire[i].faults = draw_faults(c);
        c->repeats[i] = c->wire[i].faults.repeat_data > 0;
    }
    plug(c, 0);
    plug(c, 1);
}

/* ---- packets: the number stands in the tag, the VC and the length follow from it ---- */

static unsigned length_of(uint32_t number)
{
    uint32_t mixed = number * 2654435761U >> 8;
    return mixed % 3 ? mixed % 257 : mixed % 8193;
}

static unsigned blocks_of(uint32_t number)
{
    unsigned length = length_of(number);
    return length ? (length + 255) / 256 : 1;
}

static void send(struct cable *c, unsigned which)
{
    struct end *e = &c->end[which];
    unsigned vc = e->sent % HX_VCS, length = length_of(e->sent);
    uint32_t buffer;
    if (e->sent == MOST || hx_credit_room(&e->hal.node.port[0].cable.link.tx[vc]) < blocks_of(e->sent) ||
        !hal_buffer_get(&e->hal, &buffer, true))
        return;
    struct hx_header h = {
        .kind = HX_DATA, .message_packets = 1, .length = (uint16_t)length, .epoch = 1, .tag = e->sent};
    uint8_t *frame = hal_frame(&e->hal, buffer);
    hx_frame_encode(frame, &h);
    memset(frame + HX_HEADER_BYTES, (int)(e->sent & 0xFF), length);
    hx_frame_set_crc(frame, hx_frame_crc(frame, length));
    const struct hx_desc d = {.buffer = buffer, .length = (uint16_t)length, .vc = (uint8_t)vc};
    hal_inject(&e->hal, 0, &d);
    hal_endpoint_commit(&e->hal);
    e->blocks_sent += blocks_of(e->sent);
    e->sent++;
}

static void validate_packet(struct cable *c, unsigned which, const struct hx_desc *d, const uint8_t *frame)
{
    struct end *e = &c->end[which];
    struct hx_header h;
    assert_int_equal(hx_frame_decode(&h, frame, (size_t)HX_HEADER_BYTES + d->length), HX_OK);
    if (h.crc != hx_frame_crc(frame, h.length)) {
        assert_true(c->wild);
        return;
    }
    assert_true(h.tag < c->end[1 - which].sent);
    assert_int_equal(h.length, length_of(h.tag));
    assert_true(c->wild || d->vc == h.tag % HX_VCS);
    for (unsigned i = 0; i < h.length; i++)
        assert_int_equal(frame[HX_HEADER_BYTES + i], h.tag & 0xFF);
    unsigned vc = h.tag % HX_VCS;
    e->seen[h.tag]++;
    assert_true(e->seen[h.tag] == 1 || c->repeats[1 - which]);
    if (!c->wild) {
        assert_true(h.tag >= e->next[vc]);
        e->next[vc] = h.tag + 1;
    }
    e->blocks_taken += blocks_of(h.tag);
}

static void take(struct cable *c, unsigned which, unsigned most)
{
    struct end *e = &c->end[which];
    struct hx_desc d;
    for (; most > 0 && hal_ejected(&e->hal, 0, &d, 1); most--) {
        validate_packet(c, which, &d, hal_frame(&e->hal, d.buffer));
        hal_buffer_put(&e->hal, d.buffer);
    }
}

/* ---- the run ---- */

/* Blocks in the buffer of each VC, counted from the descriptors. */
static void validate_buffer(const struct cable *c, const struct end *e)
{
    const struct loopback_port *p = &e->hal.node.port[0];
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        unsigned blocks = 0;
        for (uint16_t at = hx_lane(p->arrivals.tail, vc); at != hx_lane(p->arrivals.arrived, vc); at++) {
            unsigned length = p->slots[vc][at % LOOPBACK_SLOTS].length;
            blocks += length ? (length + 255) / 256 : 1;
        }
        assert_true(blocks <= c->blocks);
        assert_int_equal(p->cable.link.rx[vc].received - p->cable.link.rx[vc].freed, blocks);
    }
}

/* The end restarts; half of the time it loses its memory. */
static void restart(struct cable *c, unsigned which)
{
    struct end *e = &c->end[which];
    if (below(c, 2))
        loopback_node_init(&e->hal.node, 1, HX_VCS, c->blocks, SENDS, e->hal.node.port);
    plug(c, which);
}

static void step(struct cable *c, unsigned busy)
{
    for (unsigned which = 0; which < 2; which++) {
        loopback_poll(&c->end[which].hal.node, c->now);
        for (unsigned packets = below(c, busy + 1); packets > 0; packets--)
            send(c, which);
        take(c, which, below(c, 6));
        validate_buffer(c, &c->end[which]);
        if (c->wild && busy && below(c, 150) == 0)
            restart(c, which);
    }
    c->now += TURN;
}

static void validate_calm(const struct cable *c, unsigned which)
{
    const struct end *e = &c->end[which];
    const struct hx_credit_link *l = &e->hal.node.port[0].cable.link;
    assert_true(l->open);
    assert_int_equal(e->hal.node.free_count, HX_VCS * c->blocks + 1);
    assert_int_equal(e->hal.node.sends_count, SENDS);
    for (unsigned vc = 0; vc < HX_VCS; vc++) {
        assert_int_equal(l->rx[vc].received, l->rx[vc].freed);
        assert_int_equal(hx_credit_room(&l->tx[vc]), c->blocks);
    }
    if (c->wild)
        return;
    uint64_t lost = l->rx[0].lost + l->rx[1].lost + l->rx[2].lost + l->rx[3].lost;
    assert_int_equal(e->blocks_taken + lost, c->end[1 - which].blocks_sent);
    assert_int_equal(l->suspected, 0);
    assert_int_equal(e->hal.node.drops[HX_DROP_OVERRUN], 0);
    assert_int_equal(e->hal.node.drops[HX_DROP_MALFORMED], 0);
}

/* The wires work again. Everything in flight arrives, then each end gets a frame of the other. */
static void calm(struct cable *c)
{
    c->wire[0].faults = c->wire[1].faults = (struct loopback_faults){0};
    for (unsigned n = 0; n < 600; n++)
        step(c, 0);
}

/* Sends as many packets as numbers are left, up to 100 in each direction: all of them arrive. */
static void validate_flow(struct cable *c)
{
    const uint32_t first[2] = {c->end[0].sent, c->end[1].sent};
    for (unsigned n = 0; n < 1500; n++) {
        for (unsigned which = 0; which < 2; which++) {
            if (c->end[which].sent - first[which] < 100)
                send(c, which);
        }
        step(c, 0);
    }
    for (unsigned which = 0; which < 2; which++) {
        assert_true(c->end[which].sent - first[which] == 100 || c->end[which].sent == MOST);
        for (uint32_t number = first[which]; number < c->end[which].sent; number++)
            assert_int_equal(c->end[1 - which].seen[number], 1);
    }
}

static void run(struct cable *c)
{
    for (unsigned n = 0; n < STEPS; n++)
        step(c, 4);
    calm(c);
    validate_calm(c, 0);
    validate_calm(c, 1);
    validate_flow(c);
    validate_calm(c, 0);
    validate_calm(c, 1);
}

static void a_cable_loses_no_credit(void **state)
{
    (void)state;
    uint64_t suspected = 0, lost = 0, refused = 0, sent = 0;
    const uint32_t runs = effort(RUNS);
    for (uint64_t n = 0; n < runs; n++) {
        lab_seed = shapes_seed() + n;
        start(&cable, lab_seed);
        run(&cable);
        for (unsigned which = 0; which < 2; which++) {
            const struct end *e = &cable.end[which];
            suspected += e->hal.node.port[0].cable.link.suspected;
            lost += cable.wire[which].lost;
            refused += e->hal.node.drops[HX_DROP_OVERRUN];
            sent += e->sent;
        }
        lab_free(NULL);
    }
    lab_seed = 0;
    assert_true(suspected > runs / (runs == RUNS ? 10 : 20));
    assert_true(lost > runs);
    assert_true(refused > runs / 10);
    assert_true(sent > 100 * runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_cable_loses_no_credit, lab_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
