/* support_frame.h - examples of the wire format, and decoding from memory of exactly the frame's size. */
#ifndef HXMESH_TESTS_SUPPORT_FRAME_H
#define HXMESH_TESTS_SUPPORT_FRAME_H

#include "hxmesh/frame.h"

#include <stddef.h>
#include <stdint.h>

/* The examples of docs/wire-format.md, built by hand from its tables, and their fields. */
extern const uint8_t example_data[77], example_ack[65], example_credit[64], example_notice[80];
extern const struct hx_header example_data_header, example_ack_header;
extern const struct hx_credit_frame example_credit_counts;
extern const struct hx_notice_frame example_notices;

/* CRC-32C by its definition: a shift register of one bit at a time, with the polynomial. */
uint32_t support_crc32c(uint32_t crc, const uint8_t *data, size_t bytes);

/* Writes the checksum of a changed control frame. */
void support_set_credit_crc(uint8_t *frame);
void support_set_notice_crc(uint8_t *frame);

/* Decode from memory of exactly that size, so a sanitizer sees every read beyond it. */
int support_decode_data(struct hx_header *h, const uint8_t *frame, size_t bytes);
int support_decode_credit(struct hx_credit_frame *c, const uint8_t *frame, size_t bytes);
int support_decode_notice(struct hx_notice_frame *n, const uint8_t *frame, size_t bytes);

#endif
