/* kit.c - packets, and switches operated by hand (kit.h). */
#include "kit.h"
#include "hxmesh/error.h"
#include "hxmesh/lanes.h"

#include <stdarg.h>
#include <stdio.h>

bool kit_expect(struct kit *k, bool good, const char *format, ...)
{
    if (good || kit_shared->broken)
        return good;
    kit_shared->broken = true;
    va_list arguments;
    va_start(arguments, format);
    printf("%s: ", k->check->function);
    vprintf(format, arguments);
    printf(" (hal.h: %s)\n", k->check->clause);
    va_end(arguments);
    (void)fflush(stdout);
    return false;
}

/* ---- packets ---- */

static uint8_t payload_byte(uint32_t number, unsigned at)
{
    return (uint8_t)(number * 131 + at * 7 + at / 256);
}

static struct hx_header header_of(unsigned length, uint32_t number)
{
    return (struct hx_header){.credit_vc = HX_NO_CREDIT,
                              .kind = HX_DATA,
                              .job = KIT_JOB,
                              .dst_addr_hi = 1,
                              .message = number,
                              .message_packets = 1,
                              .length = (uint16_t)length,
                              .epoch = 1,
                              .tag = ~number};
}

static void write_frame(uint8_t *frame, unsigned length, uint32_t number)
{
    struct hx_header h = header_of(length, number);
    for (unsigned i = 0; i < length; i++)
        frame[HX_HEADER_BYTES + i] = payload_byte(number, i);
    hx_frame_encode(frame, &h);
    hx_frame_set_crc(frame, hx_frame_crc(frame, length));
}

bool kit_is_whole(const uint8_t *frame, unsigned length, uint32_t number)
{
    struct hx_header h;
    if (hx_frame_decode(&h, frame, (size_t)HX_HEADER_BYTES + length) != HX_OK)
        return false;
    for (unsigned i = 0; i < length; i++)
        if (frame[HX_HEADER_BYTES + i] != payload_byte(number, i))
            return false;
    return h.length == length && h.message == number && h.tag == (uint32_t)~number && h.job == KIT_JOB &&
           h.dst_addr_hi == 1 && h.dst_addr_lo == 0 && h.crc == hx_frame_crc(frame, length);
}

bool kit_inject(struct kit *k, unsigned length, uint32_t number)
{
    struct hal_endpoint *e = k->w.endpoint[0];
    uint32_t buffer;
    if (hal_inject_room(e, 0) == 0 || !hal_buffer_get(e, &buffer, false))
        return false;
    write_frame(hal_frame(e, buffer), length, number);
    const struct hx_desc d = {.buffer = buffer, .length = (uint16_t)length, .dst_addr_hi = 1, .job = KIT_JOB};
    hal_inject(e, 0, &d);
    return true;
}

bool kit_send(struct kit *k, unsigned length, uint32_t number)
{
    bool injected = kit_inject(k, length, number);
    hal_endpoint_commit(k->w.endpoint[0]);
    kit_advance(k);
    return injected;
}

bool kit_bring(struct kit *k, unsigned vc, unsigned length, uint32_t number)
{
    bool sent = kit_send(k, length, number) && kit_forward(k, 0, HX_LOCAL, 0, HX_E, vc, 1) == 1;
    kit_advance(k);
    return sent;
}

/* ---- a switch operated by hand ---- */

void kit_advance(struct kit *k)
{
    conformance_advance(&k->w, CONFORMANCE_NONE, false);
}

unsigned kit_waiting(struct kit *k, unsigned sw, unsigned input, unsigned vc)
{
    struct hal_switch *s = k->w.sw[sw];
    return (uint16_t)(hx_lane(hal_arrived(s, input), vc) - hx_lane(hal_consumed(s, input), vc));
}

const struct hx_desc *kit_arrival(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned n)
{
    struct hal_switch *s = k->w.sw[sw];
    uint16_t first = hx_lane(hal_consumed(s, input), vc);
    return hal_arrival(s, input, vc, (uint16_t)(first + n));
}

void kit_end_step(struct hal_switch *s, unsigned input, unsigned vc, unsigned left)
{
    static const uint64_t none[HX_VCS];
    uint64_t tail = hx_lane_add(hal_consumed(s, input), vc, left);
    hal_release(s, input, tail, tail, none);
    hal_commit(s);
}

unsigned kit_forward(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned output, unsigned out_vc,
                     unsigned most)
{
    struct hal_switch *s = k->w.sw[sw];
    unsigned there = kit_waiting(k, sw, input, vc);
    unsigned left = 0;
    for (; left < most && left < there; left++) {
        const struct hx_desc *d = kit_arrival(k, sw, input, vc, left);
        if (hx_lane(hal_tx_credits(s, output), out_vc) < hal_packet_credits(d))
            break;
        hal_transmit(s, output, out_vc, input, vc, d);
    }
    kit_end_step(s, input, vc, left);
    return left;
}

void kit_drop(struct kit *k, unsigned sw, unsigned input, unsigned vc, unsigned n)
{
    const struct hx_desc *d = kit_arrival(k, sw, input, vc, n);
    hal_drop(k->w.sw[sw], input, vc, d, HX_DROP_NO_ROUTE);
}

void kit_drop_all(struct kit *k, unsigned sw, unsigned input, unsigned vc)
{
    unsigned there = kit_waiting(k, sw, input, vc);
    for (unsigned i = 0; i < there; i++)
        kit_drop(k, sw, input, vc, i);
    kit_end_step(k->w.sw[sw], input, vc, there);
}

static void take_all(struct kit *k)
{
    for (unsigned i = 0; i < CONFORMANCE_ACCELERATORS; i++) {
        for (unsigned input = 0; input < HX_ACCELERATOR_PORTS; input++)
            for (unsigned vc = 0; vc < HX_VCS; vc++)
                kit_drop_all(k, i, input, vc);
        struct hx_desc d;
        while (hal_ejected(k->w.endpoint[i], 0, &d, 1) == 1)
            hal_buffer_put(k->w.endpoint[i], d.buffer);
        hal_endpoint_commit(k->w.endpoint[i]);
    }
}

static void settle(struct kit *k, bool buffers)
{
    enum { ROUNDS = 8 }; /* packets behind a full window arrive in the next phase */
    if (kit_shared->unsettled)
        return;
    for (unsigned round = 0; round < ROUNDS; round++) {
        take_all(k);
        kit_advance(k);
    }
    uint64_t is_free = conformance_free_buffers(&k->w);
    kit_expect(k, !buffers || is_free == k->free_at_first,
               "of %llu packet buffers %llu are free when every packet is gone", (unsigned long long)k->free_at_first,
               (unsigned long long)is_free);
    for (unsigned vc = 0; vc < HX_VCS; vc++)
        kit_expect(k, hx_lane(hal_tx_credits(k->w.sw[0], HX_E), vc) == hx_lane(k->room_at_first, vc),
                   "room on VC %u is %u when every packet is gone, and was %u at first", vc,
                   hx_lane(hal_tx_credits(k->w.sw[0], HX_E), vc), hx_lane(k->room_at_first, vc));
    kit_shared->unsettled = kit_shared->broken;
}

void kit_settle(struct kit *k)
{
    settle(k, true);
}

void kit_settle_room(struct kit *k)
{
    settle(k, false);
}
