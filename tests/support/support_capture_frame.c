/* support_capture_frame.c - writes frames for the capture model (support_capture_frame.h). */
#include "tests/support/support_capture_frame.h"

#include <string.h>

static void number(uint8_t *to, uint32_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
}

/* CRC-32C by its definition, with a table of one byte computed bit by bit. */
static uint32_t crc32c(const uint8_t *bytes, unsigned count)
{
    static uint32_t table[256];
    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        uint32_t crc = i;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc & 1U ? crc >> 1 ^ 0x82F63B78U : crc >> 1;
        table[i] = crc;
    }
    uint32_t crc = UINT32_MAX;
    for (unsigned i = 0; i < count; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xFFU];
    return ~crc;
}

static void mac(uint8_t *to, uint8_t plane, uint16_t gx, uint16_t gy)
{
    to[0] = 2;
    to[1] = plane;
    number(to + 2, gx, 2);
    number(to + 4, gy, 2);
}

void sim_frame_set_crc(uint8_t *frame)
{
    if (frame[13] == 0xB6)
        number(frame + 60, crc32c(frame + 14, 46), 4);
    else
        number(frame + 24, crc32c(frame + 28, 36U + ((unsigned)frame[52] << 8 | frame[53])), 4);
}

void sim_frame_data(uint8_t *frame, const struct sim_frame *f, bool crc)
{
    memset(frame, 0, 64);
    mac(frame, f->plane, f->dst_addr_hi, f->dst_addr_lo);
    mac(frame + 6, f->plane, f->src_addr_hi, f->src_addr_lo);
    number(frame + 12, 0x88B5, 2);
    frame[14] = 2;
    frame[15] = f->vc;
    frame[16] = f->hops;
    frame[17] = f->credit_vc;
    number(frame + 20, f->credit_limit, 4);
    frame[28] = f->kind;
    frame[29] = f->plane;
    number(frame + 30, f->job, 2);
    number(frame + 32, f->dst_addr_hi, 2);
    number(frame + 34, f->dst_addr_lo, 2);
    number(frame + 36, f->src_addr_hi, 2);
    number(frame + 38, f->src_addr_lo, 2);
    number(frame + 40, f->message, 4);
    number(frame + 44, f->offset, 4);
    number(frame + 48, f->message_packets, 4);
    number(frame + 52, f->length, 2);
    number(frame + 54, f->peer_epoch, 2);
    number(frame + 56, f->tag, 4);
    number(frame + 60, f->epoch, 4);
    for (unsigned i = 0; i < f->length; i++)
        frame[64 + i] = (uint8_t)(i * 7U + f->message + f->offset);
    if (crc)
        sim_frame_set_crc(frame);
}

void sim_frame_credit(uint8_t *frame, uint8_t plane, const uint32_t limit[3], const uint32_t sent[3], uint64_t nonce,
                      uint64_t peer_nonce)
{
    memset(frame, 0xFF, 12);
    memset(frame + 12, 0, 52);
    frame[0] = 3;
    frame[6] = 2;
    frame[1] = frame[7] = plane;
    number(frame + 12, 0x88B6, 2);
    frame[14] = 2;
    frame[15] = 1;
    frame[16] = plane;
    frame[17] = 3;
    for (unsigned vc = 0; vc < 3; vc++) {
        number(frame + 20 + 8 * vc, limit[vc], 4);
        number(frame + 24 + 8 * vc, sent[vc], 4);
    }
    number(frame + 44, (uint32_t)(nonce >> 32), 4);
    number(frame + 48, (uint32_t)nonce, 4);
    number(frame + 52, (uint32_t)(peer_nonce >> 32), 4);
    number(frame + 56, (uint32_t)peer_nonce, 4);
    sim_frame_set_crc(frame);
}
