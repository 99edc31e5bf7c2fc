/* frame.h - decodes a captured frame by docs/wire-format.md, independently of the firmware.
 *
 * A tool that checks firmware must not use its decoder, so fields, checksum and validity rules are written here a
 * second time. Pure. */
#ifndef HXMESH_TOOLS_CAPTURE_FRAME_H
#define HXMESH_TOOLS_CAPTURE_FRAME_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hx_seen_kind {
    HX_SEEN_DATA,    /* EtherType 0x88B5 */
    HX_SEEN_CREDIT,  /* EtherType 0x88B6, but for the next */
    HX_SEEN_NOTICES, /* EtherType 0x88B6, notices of dead links */
    HX_SEEN_FOREIGN, /* another protocol */
    HX_SEEN_CUT      /* too few captured bytes to know */
};
enum hx_seen_crc {
    HX_SEEN_CRC_CUT, /* the captured bytes do not include all that it covers */
    HX_SEEN_CRC_ZERO,
    HX_SEEN_CRC_GOOD,
    HX_SEEN_CRC_BAD
};

enum { HX_KEY_BYTES = 40 };

/* Bytes 24 to 63 of a data frame: checksum and end-to-end header. Constant from source to destination, so they identify
 * a packet. Only repeats on the same plane share them. */
struct hx_key {
    uint8_t bytes[HX_KEY_BYTES];
};

struct hx_seen {
    enum hx_seen_kind kind;
    enum hx_seen_crc crc;
    char wrong[96];                /* the header's error; "": none */
    struct hx_header data;         /* DATA, valid if `wrong` is empty; its crc is the frame's */
    struct hx_credit_frame credit; /* CREDIT, valid if `wrong` is empty; NOTICES: only plane and nonces */
    struct hx_key key;             /* DATA */
};

/* Decodes the first `captured` bytes of a frame of `original` bytes. */
void hx_seen_read(struct hx_seen *s, const uint8_t *bytes, size_t captured, size_t original);

/* "packet", "acknowledgement", ... */
const char *hx_seen_name(const struct hx_header *h);
/* Whether the packet travels in the direction of its message's data. A hello belongs to no message. */
static inline bool hx_seen_is_forward(const struct hx_header *h)
{
    return h->kind == HX_DATA || h->kind == HX_PROBE;
}

struct hx_header hx_key_header(const struct hx_key *key);

uint32_t hx_seen_crc32c(const uint8_t *bytes, size_t length);

#endif
