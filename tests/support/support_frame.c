/* support_frame.c - example frames, and a checksum independent of the firmware (support_frame.h). */
#include "tests/support/support_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const uint8_t example_data[77] = {
    0x02, 0x00, 0x00, 0x06, 0x00, 0x03, 0x02, 0x00, 0x00, 0x01, 0x00, 0x02, 0x88, 0xB5, /* Ethernet */
    0x02, 0x01, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x20, 0x90, 0x7B, 0xF5, 0xE4, /* hop by hop */
    0x01, 0x00, 0x00, 0x07, 0x00, 0x06, 0x00, 0x03, 0x00, 0x01, 0x00, 0x02,             /* kind .. src */
    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03,             /* message */
    0x00, 0x0D, 0x40, 0x7B, 0x00, 0x00, 0x00, 0x2A, 0x9C, 0x1E, 0x55, 0x07,             /* length .. epoch */
    'H',  'e',  'l',  'l',  'o',  ',',  ' ',  'm',  'e',  's',  'h',  '!',  '\n',
};
const struct hx_header example_data_header = {
    .vc = 1,
    .hops = 3,
    .credit_vc = 0,
    .credit_limit = 288,
    .crc = 0x907BF5E4,
    .kind = HX_DATA,
    .plane = 0,
    .job = 7,
    .dst_addr_hi = 6,
    .dst_addr_lo = 3,
    .src_addr_hi = 1,
    .src_addr_lo = 2,
    .message = 5,
    .offset = 2,
    .message_packets = 3,
    .length = 13,
    .peer_epoch = 0x407B,
    .tag = 42,
    .epoch = 0x9C1E5507,
};

const uint8_t example_ack[65] = {
    0x02, 0x01, 0x00, 0x01, 0x00, 0x02, 0x02, 0x01, 0x00, 0x06, 0x00, 0x03, 0x88, 0xB5, /* Ethernet */
    0x02, 0x00, 0x00, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5C, 0x37, 0x9C, 0x7A, /* hop by hop */
    0x02, 0x01, 0x00, 0x07, 0x00, 0x01, 0x00, 0x02, 0x00, 0x06, 0x00, 0x03,             /* kind .. src */
    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03,             /* message */
    0x00, 0x01, 0xC9, 0x19, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x02, 0x7A, 0x79,             /* length .. epoch */
    0x02,
};
const struct hx_header example_ack_header = {
    .credit_vc = HX_NO_CREDIT,
    .crc = 0x5C379C7A,
    .kind = HX_ACK,
    .plane = 1,
    .job = 7,
    .dst_addr_hi = 1,
    .dst_addr_lo = 2,
    .src_addr_hi = 6,
    .src_addr_lo = 3,
    .message = 5,
    .offset = 1,
    .message_packets = 3,
    .length = 1,
    .peer_epoch = 0xC919,
    .tag = 0,
    .epoch = 0x3A027A79,
};

const uint8_t example_credit[64] = {
    0x03, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x02, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x88, 0xB6, /* Ethernet */
    0x02, 0x01, 0x00, 0x03, 0x00, 0x00,                                                 /* version .. reserved */
    0x00, 0x00, 0x01, 0x20, 0x00, 0x00, 0x00, 0x4E,                                     /* VC 0 */
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x20,                                     /* VC 1 */
    0x00, 0x00, 0x00, 0x50, 0xFF, 0xFF, 0xFF, 0xF0,                                     /* VC 2 */
    0x65, 0x5F, 0x3A, 0x01, 0x9C, 0x40, 0xE2, 0x17,                                     /* nonce */
    0x0B, 0xD1, 0x73, 0xA8, 0x44, 0x05, 0xFE, 0x62,                                     /* peer_nonce */
    0x59, 0x74, 0x90, 0x38,
};
const struct hx_credit_frame example_credit_counts = {
    .plane = 0,
    .vcs = 3,
    .limit = {288, 256, 80},
    .sent = {78, 32, 0xFFFFFFF0},
    .nonce = 0x655F3A019C40E217,
    .peer_nonce = 0x0BD173A84405FE62,
};

const uint8_t example_notice[80] = {
    0x03, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x02, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x88, 0xB6, /* Ethernet */
    0x02, 0x02, 0x00, 0x02, 0x00, 0x00,                                                 /* version .. reserved */
    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x01, /* notice of node 5 */
    0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x02,                                     /* notice of node 16 */
    0x31, 0x01, 0x58, 0x10, 0x7D, 0x2D, 0x93, 0xF3, /* digest */
    0x65, 0x5F, 0x3A, 0x01, 0x9C, 0x40, 0xE2, 0x17, /* nonce */
    0x0B, 0xD1, 0x73, 0xA8, 0x44, 0x05, 0xFE, 0x62, /* peer_nonce */
    0xDB, 0x60, 0x3B, 0xD9,
};
const struct hx_notice_frame example_notices = {
    .plane = 0,
    .count = 2,
    .notice = {{.node = 5, .sequence = 3, .dead = 1}, {.node = 16, .sequence = 1, .dead = 2}},
    .digest = 0x310158107D2D93F3,
    .nonce = 0x655F3A019C40E217,
    .peer_nonce = 0x0BD173A84405FE62,
};

uint32_t support_crc32c(uint32_t crc, const uint8_t *data, size_t bytes)
{
    uint32_t state = ~crc;
    for (size_t i = 0; i < bytes * 8; i++) {
        uint32_t bit = ((uint32_t)data[i / 8] >> i % 8 ^ state) & 1U;
        state = state >> 1 ^ (bit ? 0x82F63B78U : 0U);
    }
    return ~state;
}

static void set_control_crc(uint8_t *frame, unsigned covered)
{
    uint32_t crc = support_crc32c(0, frame + 14, covered);
    for (unsigned i = 0; i < 4; i++)
        frame[14 + covered + i] = (uint8_t)(crc >> (24 - 8 * i));
}

void support_set_credit_crc(uint8_t *frame)
{
    set_control_crc(frame, 22 + 8U * (frame[17] >= 1 && frame[17] <= 4 ? frame[17] : 3));
}

void support_set_notice_crc(uint8_t *frame)
{
    set_control_crc(frame, 30 + 16U * (frame[17] <= 4 ? frame[17] : 2));
}

int support_decode_data(struct hx_header *h, const uint8_t *frame, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, frame, bytes);
    int error = hx_frame_decode(h, copy, bytes);
    free(copy);
    return error;
}

int support_decode_credit(struct hx_credit_frame *c, const uint8_t *frame, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, frame, bytes);
    int error = hx_credit_decode(c, copy, bytes);
    free(copy);
    return error;
}

int support_decode_notice(struct hx_notice_frame *n, const uint8_t *frame, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, frame, bytes);
    int error = hx_notice_decode(n, copy, bytes);
    free(copy);
    return error;
}
