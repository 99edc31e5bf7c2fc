/* prop_auth_tag.c - a cable with authentication tags and an attacker that reads it and puts frames on it (hal/cable,
 * hxmesh/auth_tag.h). The attacker replays, changes and reflects frames, or authenticates them with another key; frames
 * are reordered, and ends restart. An end takes only packets that the other one sent to it in this session, and each
 * once.
 *
 * HX_SEED, HX_CASES: other and more runs. */
#include "hal/cable/cable.h"
#include "hxmesh/error.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    ENDS = 2,
    VCS = 3,
    BLOCKS = 64,
    TURNS = 3000,
    PACKETS = 20 * TURNS,
    NUMBERS = 2 * PACKETS,
    QUEUE = 4096,
    RECORDED = 512,
    BYTES = HX_HEADER_BYTES + 64 + HX_AUTH_TAG_BYTES,
    APART = HX_REPLAY_WINDOW / 2 /* frames of possible delay */
};

struct frame {
    unsigned bytes;
    uint8_t data[BYTES];
};

/* Faults besides the attack. */
enum fault { NOTHING = 0, LOSSES = 1, ORDER = 2, RESTARTS = 4, FAULTS = 8 };

/* A sent packet: its destination, its session, and how often it was taken. */
struct packet {
    uint64_t from, to;
    uint8_t receiver;
    uint8_t taken;
};

static struct {
    uint64_t seed;
    unsigned faults;
    struct cable_end end[ENDS];
    struct frame queue[ENDS][QUEUE]; /* in flight to an end */
    unsigned first[ENDS], last[ENDS];
    struct frame recorded[RECORDED]; /* by the attacker */
    struct packet packet[PACKETS];
    bool number_taken[ENDS][NUMBERS];
    uint32_t sent, taken, refused[CABLE_OWN + 1];
    uint64_t now;
} t;

static const uint8_t key_bytes[HX_AUTH_KEY_BYTES] = "sixteen letters";
static struct hx_auth_key key, another_key;

static uint32_t draw(uint64_t below)
{
    return seeded_below(&t.seed, below);
}

/* ---- the wire ---- */

static void put(unsigned to, const struct frame *f)
{
    assert_true(t.last[to] - t.first[to] < QUEUE);
    t.queue[to][t.last[to]++ % QUEUE] = *f;
}

/* Records a sent frame, and may lose it. */
static void send_frame(unsigned to, const struct frame *f)
{
    t.recorded[draw(RECORDED)] = *f;
    if (!(t.faults & LOSSES) || draw(20))
        put(to, f);
}

/* The next frame for an end, or one of those behind it. */
static struct frame take_frame(unsigned to)
{
    unsigned there = t.last[to] - t.first[to];
    unsigned at = t.first[to] + (t.faults & ORDER ? draw(there < APART ? there : APART) : 0);
    struct frame f = t.queue[to][at % QUEUE];
    for (; at > t.first[to]; at--)
        t.queue[to][at % QUEUE] = t.queue[to][(at - 1) % QUEUE];
    t.first[to]++;
    return f;
}

/* ---- the ends ---- */

static void tell_credit(unsigned end)
{
    struct cable_end *c = &t.end[end];
    struct frame f;
    if (!cable_credit_is_due(c, t.now))
        return;
    f.bytes = cable_credit_write(c, f.data);
    cable_credit_sent(c, t.now);
    send_frame(1 - end, &f);
}

static void send_packet(unsigned end)
{
    struct cable_end *c = &t.end[end];
    struct hx_desc d = {.length = (uint16_t)draw(65), .vc = (uint8_t)draw(VCS)};
    if (!c->link.open || hx_credit_room(&c->link.tx[d.vc]) < 1 || t.sent == PACKETS)
        return;
    struct frame f = {.bytes = cable_bytes(c, d.length)};
    const struct hx_header h = {.vc = d.vc,
                                .credit_vc = HX_NO_CREDIT,
                                .kind = HX_DATA,
                                .message = t.sent,
                                .message_packets = 1,
                                .length = d.length,
                                .epoch = 1};
    t.packet[t.sent++] =
        (struct packet){.from = c->link.nonce, .to = c->link.peer_nonce, .receiver = (uint8_t)(1 - end)};
    hx_frame_encode(f.data, &h);
    cable_write_hop(c, f.data, &d);
    cable_authenticate(c, f.data, d.length);
    cable_sent(c, &d);
    send_frame(1 - end, &f);
}

/* The number of its tag, which its sender used once, was not taken before. */
static void validate_number(unsigned end, const struct frame *f)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number = number << 8 | f->data[f->bytes - HX_AUTH_TAG_BYTES + i];
    assert_true(number > 0 && number < NUMBERS && !t.number_taken[end][number]);
    t.number_taken[end][number] = true;
}

static void validate_packet(unsigned end, const struct frame *f, const struct hx_desc *d)
{
    struct cable_end *c = &t.end[end];
    struct hx_header h;
    assert_int_equal(hx_frame_decode(&h, f->data, f->bytes), HX_OK);
    assert_true(h.message < t.sent && f->bytes == cable_bytes(c, d->length));
    struct packet *p = &t.packet[h.message];
    assert_int_equal(p->receiver, end);
    assert_int_equal(p->taken++, 0);
    assert_true(p->from == c->link.peer_nonce && p->to == c->link.nonce);
    hx_credit_leave(&c->link.rx[d->vc], hx_blocks(d->length));
    t.taken++;
}

static void arrive(unsigned end)
{
    struct frame f = take_frame(end);
    struct hx_desc d;
    enum cable_verdict verdict = cable_take(&t.end[end], f.data, f.bytes, &d);
    t.refused[verdict]++;
    if (verdict == CABLE_DATA)
        validate_packet(end, &f, &d);
    if (verdict == CABLE_DATA || verdict == CABLE_PEER)
        validate_number(end, &f);
}

/* ---- the attacker ---- */

static void authenticate_with_another_key(const struct cable_end *c, struct frame *f)
{
    const struct hx_auth_direction direction = {c->link.peer_nonce, c->link.nonce};
    if (f->bytes > HX_AUTH_TAG_BYTES)
        hx_auth_tag_write(&another_key, direction, c->window.newest + 1, f->data, f->bytes - HX_AUTH_TAG_BYTES);
}

static void attack(unsigned end)
{
    struct frame f = t.recorded[draw(RECORDED)];
    switch (draw(6)) {
    case 0: /* unchanged, to its destination or its source */
    case 1:
        break;
    case 2: /* changed */
        f.data[draw(BYTES)] ^= (uint8_t)(1U << draw(8));
        break;
    case 3: /* with a new number */
        if (f.bytes > HX_AUTH_TAG_BYTES)
            f.data[f.bytes - HX_AUTH_TAG_BYTES + 7]++;
        break;
    case 4: /* of an attacker with another key that knows all else */
        authenticate_with_another_key(&t.end[end], &f);
        break;
    default: /* without a tag, or with half of one */
        f.bytes -= f.bytes > HX_AUTH_TAG_BYTES ? 1 + draw(HX_AUTH_TAG_BYTES) : 0;
    }
    put(end, &f);
}

/* ---- runs ---- */

static void restart(unsigned end)
{
    cable_begin(&t.end[end], VCS, BLOCKS, BLOCKS);
}

static void prepare(unsigned faults)
{
    uint64_t seed = t.seed;
    memset(&t, 0, sizeof t);
    t.seed = seed;
    t.faults = faults;
    key = hx_auth_key_of(key_bytes);
    another_key = (struct hx_auth_key){{key.word[0] ^ 1, key.word[1]}};
    for (unsigned end = 0; end < ENDS; end++) {
        t.end[end] = (struct cable_end){.period = 10, .ask_period = 10, .random = seeded_next(&t.seed), .key = &key};
        restart(end);
    }
}

static void turn(bool with_packets)
{
    t.now++;
    for (unsigned end = 0; end < ENDS; end++) {
        if (t.faults & RESTARTS && draw(300) == 0)
            restart(end);
        tell_credit(end);
        for (unsigned n = draw(4); with_packets && n > 0; n--)
            send_packet(end);
        if (t.now > 100)
            attack(end);
        for (unsigned n = draw(7); n > 0 && t.first[end] != t.last[end]; n--)
            arrive(end);
    }
}

static void run(unsigned faults)
{
    prepare(faults);
    for (unsigned n = 0; n < TURNS; n++)
        turn(true);
    for (unsigned n = 0; n < 2 * QUEUE && !(faults & RESTARTS); n++)
        turn(false);
    print_message("faults %u: %u packets, %u taken; forged %u, replayed %u, malformed %u, overrun %u\n", faults, t.sent,
                  t.taken, t.refused[CABLE_FORGED], t.refused[CABLE_REPLAYED], t.refused[CABLE_MALFORMED],
                  t.refused[CABLE_OVERRUN]);
    assert_true(t.sent > TURNS / 2 && t.taken > t.sent / 4);
    assert_true(t.refused[CABLE_FORGED] > TURNS / 10);
    if (faults == NOTHING) { /* then the attack costs nothing */
        assert_int_equal(t.taken, t.sent);
        assert_true(t.refused[CABLE_OVERRUN] == 0 && t.refused[CABLE_REPLAYED] > TURNS / 10);
        for (unsigned end = 0; end < ENDS; end++)
            assert_true(t.end[end].link.open && t.end[end].link.sessions == 1 && t.end[end].link.suspected == 0);
    }
}

static void only_sent_packets_are_taken_and_once(void **state)
{
    const char *cases = getenv("HX_CASES");
    (void)state;
    t.seed = seeded_by(1);
    print_message("seed %llu\n", (unsigned long long)t.seed);
    for (unsigned n = 0; n < (cases ? (unsigned)strtoul(cases, NULL, 10) : 2) * FAULTS; n++)
        run(n % FAULTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_sent_packets_are_taken_and_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
