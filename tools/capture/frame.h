/* frame.h - a captured frame taken apart, after docs/wire-format.md and apart from the firmware's decoder.
 *
 * Whoever judges firmware must not ask it what a frame means; so bytes, checksum and the reasons to refuse a frame are
 * written here a second time. Pure. */
#ifndef HXMESH_TOOLS_CAPTURE_FRAME_H
#define HXMESH_TOOLS_CAPTURE_FRAME_H

#include "hxmesh/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hx_seen_kind {
    HX_SEEN_DATA,    /* EtherType 0x88B5 */
    HX_SEEN_CREDIT,  /* EtherType 0x88B6 */
    HX_SEEN_FOREIGN, /* another protocol's */
    HX_SEEN_CUT      /* the capture kept too little to know */
};
enum hx_seen_crc {
    HX_SEEN_CRC_CUT, /* the capture has not kept all that it covers */
    HX_SEEN_CRC_ZERO,
    HX_SEEN_CRC_GOOD,
    HX_SEEN_CRC_BAD
};

enum { HX_KEY_BYTES = 40 };

/* Bytes 24 to 63 of a data frame: checksum and end-to-end header. They do not change on the way, so they tell packets
 * apart; only repeats by the same plane share them. */
struct hx_key {
    uint8_t bytes[HX_KEY_BYTES];
};

struct hx_seen {
    enum hx_seen_kind kind;
    enum hx_seen_crc crc;
    char wrong[96];                /* "" or what is wrong with the header */
    struct hx_header data;         /* DATA; its crc is the one in the frame. Valid where wrong is empty */
    struct hx_credit_frame credit; /* CREDIT, likewise */
    struct hx_key key;             /* DATA */
};

/* captured bytes of a frame that had `original` ones. */
void hx_seen_read(struct hx_seen *s, const uint8_t *bytes, size_t captured, size_t original);

/* "packet", "acknowledgement", ... */
const char *hx_seen_name(const struct hx_header *h);
/* Whether it goes the way of the data of the message that it is about. A hello is about none. */
static inline bool hx_seen_is_forward(const struct hx_header *h)
{
    return h->kind == HX_DATA || h->kind == HX_PROBE;
}

/* The end-to-end header of a packet, from its key. */
struct hx_header hx_key_header(const struct hx_key *key);

/* CRC-32C of `length` bytes. */
uint32_t hx_seen_crc32c(const uint8_t *bytes, size_t length);

#endif
