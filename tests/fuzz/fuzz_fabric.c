/* fuzz_fabric.c - an attacker on the cables of a running fabric forges, changes, repeats and loses frames, and restarts
 * ends of cables, while endpoints send. Afterwards the endpoints finish, each buffer is free and every block of credit
 * is returned. libFuzzer's entry; seeds in corpus/fabric.
 *
 * Two accelerators, a row switch and two column switches, with the example platform. An input is a list of actions,
 * each a byte and its arguments:
 *
 *     0 n                 n % 32 + 1 turns
 *     1 from size         a message to the other accelerator
 *     2 cable n           the next n % 4 + 1 frames are lost
 *     3 cable at value    a byte of the next frame is changed; value 0: it is repeated
 *     4 cable n bytes     these bytes are a frame on it
 *     5 cable at value    as 3, with a right checksum of data
 *     6 cable by counts   a credit frame: of the session, or with unknown nonces
 *     7 cable             its sender restarts
 *
 * An attacker on a cable may forge payload, so payload is not checked. */
#include "tests/support/loopback/support_loopback.h"

#include "hxmesh/error.h"
#include "tests/fuzz/deeds.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEEDS = 200, MESSAGES = 64, LARGEST = 3 * HX_MAX_PAYLOAD, LONG = 4000, LONGEST_RAW = 64 };

/* ---- endpoints that take anything ---- */

static struct fabric fabric;
static unsigned ended[MESSAGES]; /* end events of a message at its sender */

static void fill(void *of, const struct hx_send *send, uint32_t packet, uint8_t *to, unsigned bytes)
{
    (void)of;
    (void)send;
    memset(to, (int)packet, bytes);
}

static volatile uint8_t touched; /* the sanitizer watches these reads */

static void place(void *of, const struct hx_header *h, const uint8_t *payload)
{
    (void)of;
    for (unsigned i = 0; i < h->length; i++)
        touched = payload[i];
}

static void event(void *of, const struct hx_event *e)
{
    (void)of;
    if (e->type != HX_EVENT_RECEIVED) {
        require(e->cookie < fabric.messages.count);
        ended[e->cookie]++;
    }
}

static void start(void)
{
    static const struct fabric_plan plan = {.a = 1,
                                            .b = 1,
                                            .x = 2,
                                            .y = 1,
                                            .planes = 1,
                                            .radix = 64,
                                            .taper = 1,
                                            .blocks = 33,
                                            .seed = 1,
                                            .timeout_ns = 4000,
                                            .retries = 4,
                                            .check = true};
    fabric_init(&fabric, &plan, MESSAGES);
    for (unsigned rank = 0; rank < fabric.g.accelerators; rank++)
        fabric.end[rank].hal.user = (struct hal_user){fill, place, event, &fabric.end[rank]};
    memset(ended, 0, sizeof ended);
    for (unsigned turn = 0; turn < 100; turn++) /* the links open */
        fabric_step(&fabric);
}

/* ---- actions ---- */

/* One direction of a cable. */
static unsigned wire_of(struct input *in)
{
    return next(in) % (2 * fabric.cables);
}

static void put(unsigned wire, const uint8_t *frame, uint32_t bytes)
{
    struct loopback_wire *w = &fabric.cable[wire / 2].wire[wire % 2];
    loopback_wire_put(w, fabric.now, frame, bytes);
    loopback_wire_commit(w);
}

static uint32_t take(unsigned wire, uint8_t *frame)
{
    return loopback_wire_take(&fabric.cable[wire / 2].wire[wire % 2], UINT64_MAX, frame);
}

/* A credit frame with another nonce gets no valid checksum: with one, an attacker keeps two ends apart until they
 * fall silent. */
static void authenticate(uint8_t *frame, uint32_t bytes)
{
    struct hx_header h;
    if (hx_frame_decode(&h, frame, bytes) == HX_OK)
        hx_frame_set_crc(frame, hx_frame_crc(frame, h.length));
}

/* The next frame on a cable: it is repeated or changed. */
static void change(struct input *in, bool authenticated)
{
    static uint8_t frame[HX_MAX_FRAME];
    unsigned wire = wire_of(in);
    unsigned at = next(in);
    uint8_t value = next(in);
    uint32_t bytes = take(wire, frame);
    if (bytes == 0)
        return;
    if (value == 0)
        put(wire, frame, bytes);
    frame[at % bytes] ^= value;
    if (authenticated)
        authenticate(frame, bytes);
    put(wire, frame, bytes);
}

static void lose(struct input *in)
{
    static uint8_t frame[HX_MAX_FRAME];
    unsigned wire = wire_of(in);
    for (unsigned left = next(in) % 4 + 1; left > 0; left--)
        (void)take(wire, frame);
}

static void make_up(struct input *in)
{
    uint8_t frame[LONGEST_RAW + HX_HEADER_BYTES];
    unsigned wire = wire_of(in);
    uint32_t bytes = 1 + next(in) % (uint32_t)sizeof frame;
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = next(in);
    put(wire, frame, bytes);
}

/* A credit frame of the session, with counts near the true ones; or with unknown nonces. */
static void forge_credit(struct input *in)
{
    uint8_t bytes[HX_CREDIT_FRAME_BYTES];
    unsigned wire = wire_of(in);
    unsigned who = next(in);
    struct hx_credit_frame f = hx_credit_link_frame(&fabric.cable[wire / 2].port[wire % 2]->cable.link, 0);
    if (who % 4 == 0)
        f.nonce = 1 + who;
    if (who % 4 <= 1)
        f.peer_nonce = who / 4;
    for (unsigned vc = 0; vc < f.vcs; vc++) {
        f.limit[vc] += next(in) - 128U;
        f.sent[vc] += next(in) - 128U;
    }
    put(wire, bytes, hx_credit_encode(bytes, &f));
}

static void restart(struct input *in)
{
    unsigned wire = wire_of(in);
    struct cable_end *c = &fabric.cable[wire / 2].port[wire % 2]->cable;
    cable_begin(c, c->link.vcs, fabric.plan.blocks, fabric.plan.blocks);
}

static void send(struct input *in)
{
    unsigned from = next(in) % 2;
    uint64_t bytes = (uint64_t)next(in) * LARGEST / UINT8_MAX;
    if (fabric.messages.count < MESSAGES)
        (void)fabric_send(&fabric, from, 1 - from, bytes);
}

static void step(struct input *in)
{
    for (unsigned left = next(in) % 32 + 1; left > 0; left--)
        fabric_step(&fabric);
}

static void do_one(struct input *in)
{
    switch (next(in) % 8) {
    case 0:
        step(in);
        break;
    case 1:
        send(in);
        break;
    case 2:
        lose(in);
        break;
    case 3:
        change(in, false);
        break;
    case 4:
        make_up(in);
        break;
    case 5:
        change(in, true);
        break;
    case 6:
        forge_credit(in);
        break;
    default:
        restart(in);
    }
}

/* ---- the end ---- */

/* Time passes faster, for endpoints that wait. */
static void validate_end(void)
{
    unsigned turns = 0;
    for (; turns < LONG && !fabric_idle(&fabric); turns++) {
        fabric_step(&fabric);
        fabric.now += 100;
    }
    require(fabric_idle(&fabric));
    for (unsigned i = 0; i < fabric.messages.count; i++)
        require(ended[i] == 1);
    fabric_validate_empty(&fabric);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    start();
    for (unsigned deeds = 0; deeds < MOST_DEEDS && in.at < in.end; deeds++)
        do_one(&in);
    validate_end();
    return lab_free(NULL);
}
