/* control_frame.c - encodes and decodes control frames: credit and notices (include/hxmesh/frame.h).
 *
 *     14 bytes Ethernet, 6 bytes start, items of a kind's size, a tail that ends with nonces and CRC */
#include "bytes.h"
#include "frame_parts.h"
#include "hxmesh/crc32c.h"

enum {
    ITEMS_AT = HX_AT_COUNTERS,
    PAIR_BYTES = 8,    /* limit and sent of a VC */
    NOTICE_BYTES = 16, /* node, sequence, ports */
    NONCES_BYTES = 16, /* before the CRC */
    DIGEST_BYTES = 8,  /* before the nonces */
    CRC_BYTES = 4,
    MAC_GROUP = 0x03, /* locally administered group address: bridges forward it and learn nothing */
    NO_COORDINATE = 0xFFFF
};

/* ---- what both kinds share ---- */

static uint32_t crc_of(const uint8_t *frame, size_t crc_at)
{
    return hx_crc32c(0, frame + HX_AT_VERSION, crc_at - HX_AT_VERSION);
}

static void put_start(uint8_t *frame, enum hx_control_kind kind, uint8_t plane, uint8_t items)
{
    hx_put_mac(frame + HX_AT_DST_MAC, MAC_GROUP, plane, NO_COORDINATE, NO_COORDINATE);
    hx_put_mac(frame + HX_AT_SRC_MAC, HX_MAC_UNICAST, plane, NO_COORDINATE, NO_COORDINATE);
    hx_put16(frame + HX_AT_ETHERTYPE, HX_ETHERTYPE_CONTROL);
    frame[HX_AT_VERSION] = HX_WIRE_VERSION;
    frame[HX_AT_CONTROL_KIND] = (uint8_t)kind;
    frame[HX_AT_CONTROL_PLANE] = plane;
    frame[HX_AT_CONTROL_ITEMS] = items;
    hx_put16(frame + HX_AT_CONTROL_RESERVED, 0);
}

/* Writes nonces and CRC. Returns the bytes of the frame. */
static unsigned put_end(uint8_t *frame, size_t nonces_at, uint64_t nonce, uint64_t peer_nonce)
{
    hx_put64(frame + nonces_at, nonce);
    hx_put64(frame + nonces_at + 8, peer_nonce);
    hx_put32(frame + nonces_at + NONCES_BYTES, crc_of(frame, nonces_at + NONCES_BYTES));
    return (unsigned)nonces_at + NONCES_BYTES + CRC_BYTES;
}

static bool mac_is(const uint8_t *mac, uint8_t type, uint8_t plane)
{
    return mac[0] == type && mac[HX_PLANE_IN_MAC] == plane && hx_get16(mac + HX_ADDR_HI_IN_MAC) == NO_COORDINATE &&
           hx_get16(mac + HX_ADDR_LO_IN_MAC) == NO_COORDINATE;
}

static bool has_known_kind(const uint8_t *frame)
{
    return frame[HX_AT_CONTROL_KIND] == HX_CREDIT || frame[HX_AT_CONTROL_KIND] == HX_NOTICE;
}

/* Validates a frame with its nonces at `nonces_at`. */
static int validate(const uint8_t *frame, size_t bytes, size_t nonces_at)
{
    const size_t crc_at = nonces_at + NONCES_BYTES;
    const uint8_t plane = frame[HX_AT_CONTROL_PLANE];
    if (bytes < crc_at + CRC_BYTES)
        return HX_E_SHORT;
    if (hx_get32(frame + crc_at) != crc_of(frame, crc_at))
        return HX_E_CHECKSUM;
    if (hx_get16(frame + HX_AT_CONTROL_RESERVED) != 0)
        return HX_E_RESERVED;
    bool good = has_known_kind(frame) && plane < HX_MAX_PLANES && hx_get64(frame + nonces_at) != 0 &&
                mac_is(frame + HX_AT_DST_MAC, MAC_GROUP, plane) && mac_is(frame + HX_AT_SRC_MAC, HX_MAC_UNICAST, plane);
    return good ? HX_OK : HX_E_FIELD;
}

int hx_control_kind_of(const uint8_t *frame, size_t bytes)
{
    int error = hx_frame_validate_start(frame, bytes, HX_ETHERTYPE_CONTROL, HX_AT_COUNTERS);
    return error != HX_OK ? error : has_known_kind(frame) ? frame[HX_AT_CONTROL_KIND] : HX_E_FIELD;
}

/* ---- credit frames ---- */

static size_t credit_nonces_at(unsigned vcs)
{
    return ITEMS_AT + (size_t)PAIR_BYTES * vcs;
}

unsigned hx_credit_encode(uint8_t frame[HX_CREDIT_FRAME_BYTES], const struct hx_credit_frame *c)
{
    put_start(frame, HX_CREDIT, c->plane, c->vcs);
    uint8_t *pair = frame + ITEMS_AT;
    for (unsigned vc = 0; vc < c->vcs; vc++, pair += PAIR_BYTES) {
        hx_put32(pair, c->limit[vc]);
        hx_put32(pair + 4, c->sent[vc]);
    }
    return put_end(frame, credit_nonces_at(c->vcs), c->nonce, c->peer_nonce);
}

static void read_credit(struct hx_credit_frame *c, const uint8_t *frame, unsigned vcs)
{
    const uint8_t *nonces = frame + credit_nonces_at(vcs);
    *c = (struct hx_credit_frame){.plane = frame[HX_AT_CONTROL_PLANE],
                                  .vcs = (uint8_t)vcs,
                                  .nonce = hx_get64(nonces),
                                  .peer_nonce = hx_get64(nonces + 8)};
    const uint8_t *pair = frame + ITEMS_AT;
    for (unsigned vc = 0; vc < vcs; vc++, pair += PAIR_BYTES) {
        c->limit[vc] = hx_get32(pair);
        c->sent[vc] = hx_get32(pair + 4);
    }
}

int hx_credit_decode(struct hx_credit_frame *c, const uint8_t *frame, size_t bytes)
{
    int kind = hx_control_kind_of(frame, bytes);
    if (kind < 0)
        return kind;
    unsigned vcs = frame[HX_AT_CONTROL_ITEMS];
    if (kind != HX_CREDIT || vcs == 0 || vcs > HX_VCS)
        return HX_E_FIELD;
    int error = validate(frame, bytes, credit_nonces_at(vcs));
    if (error == HX_OK)
        read_credit(c, frame, vcs);
    return error;
}

/* ---- notice frames ---- */

static size_t digest_at(unsigned count)
{
    return ITEMS_AT + (size_t)NOTICE_BYTES * count;
}

unsigned hx_notice_encode(uint8_t frame[HX_NOTICE_FRAME_BYTES], const struct hx_notice_frame *n)
{
    put_start(frame, HX_NOTICE, n->plane, n->count);
    uint8_t *item = frame + ITEMS_AT;
    for (unsigned i = 0; i < n->count; i++, item += NOTICE_BYTES) {
        hx_put32(item, n->notice[i].node);
        hx_put32(item + 4, n->notice[i].sequence);
        hx_put64(item + 8, n->notice[i].dead);
    }
    hx_put64(item, n->digest);
    return put_end(frame, digest_at(n->count) + DIGEST_BYTES, n->nonce, n->peer_nonce);
}

static void read_notices(struct hx_notice_frame *n, const uint8_t *frame, unsigned count)
{
    const uint8_t *tail = frame + digest_at(count);
    *n = (struct hx_notice_frame){.plane = frame[HX_AT_CONTROL_PLANE],
                                  .count = (uint8_t)count,
                                  .digest = hx_get64(tail),
                                  .nonce = hx_get64(tail + DIGEST_BYTES),
                                  .peer_nonce = hx_get64(tail + DIGEST_BYTES + 8)};
    const uint8_t *item = frame + ITEMS_AT;
    for (unsigned i = 0; i < count; i++, item += NOTICE_BYTES)
        n->notice[i] = (struct hx_notice){hx_get32(item), hx_get32(item + 4), hx_get64(item + 8)};
}

int hx_notice_decode(struct hx_notice_frame *n, const uint8_t *frame, size_t bytes)
{
    int kind = hx_control_kind_of(frame, bytes);
    if (kind < 0)
        return kind;
    unsigned count = frame[HX_AT_CONTROL_ITEMS];
    if (kind != HX_NOTICE || count > HX_NOTICES)
        return HX_E_FIELD;
    int error = validate(frame, bytes, digest_at(count) + DIGEST_BYTES);
    if (error == HX_OK)
        read_notices(n, frame, count);
    return error;
}
