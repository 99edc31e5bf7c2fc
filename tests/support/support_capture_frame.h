/* support_capture_frame.h - frames of the capture model, byte by byte as in docs/wire-format.md. */
#ifndef HXMESH_TESTS_SUPPORT_CAPTURE_FRAME_H
#define HXMESH_TESTS_SUPPORT_CAPTURE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_FRAME = 64 + 8192 };

struct sim_frame {
    uint8_t vc, hops, credit_vc;
    uint32_t credit_limit;
    uint8_t kind, plane;
    uint16_t job, dst_addr_hi, dst_addr_lo, src_addr_hi, src_addr_lo;
    uint32_t message, offset, message_packets;
    uint16_t length;
    uint16_t peer_epoch;
    uint32_t tag, epoch;
};

void sim_frame_data(uint8_t *frame, const struct sim_frame *f, bool crc);
void sim_frame_credit(uint8_t *frame, uint8_t plane, const uint32_t limit[3], const uint32_t sent[3], uint64_t nonce,
                      uint64_t peer_nonce);
/* Writes the checksum of a changed data frame of that length, or of a credit frame. */
void sim_frame_set_crc(uint8_t *frame);

#endif
