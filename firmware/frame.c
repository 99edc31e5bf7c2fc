/* frame.c - encodes and decodes data and credit frames (include/hxmesh/frame.h). */
#include "hxmesh/frame.h"
#include "bytes.h"
#include "frame_parts.h"
#include "hxmesh/crc32c.h"

#include <stdbool.h>

enum {
    PAIR_BYTES = 8,    /* limit and sent of a VC */
    NONCES_BYTES = 16, /* after the pairs */
    CRC_BYTES = 4,
    MAC_GROUP = 0x03, /* locally administered group address: bridges forward it and learn nothing */
    NO_COORDINATE = 0xFFFF
};

static void put_mac(uint8_t *mac, uint8_t type, uint8_t plane, uint16_t addr_hi, uint16_t addr_lo)
{
    mac[0] = type;
    mac[HX_PLANE_IN_MAC] = plane;
    hx_put16(mac + HX_ADDR_HI_IN_MAC, addr_hi);
    hx_put16(mac + HX_ADDR_LO_IN_MAC, addr_lo);
}

static bool mac_is(const uint8_t *mac, uint8_t type, uint8_t plane, uint16_t addr_hi, uint16_t addr_lo)
{
    return mac[0] == type && mac[HX_PLANE_IN_MAC] == plane && hx_get16(mac + HX_ADDR_HI_IN_MAC) == addr_hi &&
           hx_get16(mac + HX_ADDR_LO_IN_MAC) == addr_lo;
}

void hx_frame_set_hop(uint8_t *frame, unsigned vc, unsigned hops, unsigned credit_vc, uint32_t credit_limit)
{
    frame[HX_AT_VC] = (uint8_t)vc;
    frame[HX_AT_HOPS] = (uint8_t)hops;
    frame[HX_AT_CREDIT_VC] = (uint8_t)credit_vc;
    hx_put32(frame + HX_AT_CREDIT_LIMIT, credit_limit);
}

void hx_frame_set_via(uint8_t *frame, unsigned via)
{
    hx_put16(frame + HX_AT_VIA, via);
}

void hx_frame_destination(const uint8_t *frame, uint16_t *addr_hi, uint16_t *addr_lo)
{
    *addr_hi = hx_get16(frame + HX_AT_DST_ADDR_HI);
    *addr_lo = hx_get16(frame + HX_AT_DST_ADDR_LO);
}

void hx_frame_set_crc(uint8_t *frame, uint32_t crc)
{
    hx_put32(frame + HX_AT_CRC, crc);
}

void hx_frame_encode(uint8_t *frame, const struct hx_header *h)
{
    put_mac(frame + HX_AT_DST_MAC, HX_MAC_UNICAST, h->plane, h->dst_addr_hi, h->dst_addr_lo);
    put_mac(frame + HX_AT_SRC_MAC, HX_MAC_UNICAST, h->plane, h->src_addr_hi, h->src_addr_lo);
    hx_put16(frame + HX_AT_ETHERTYPE, HX_ETHERTYPE_DATA);
    frame[HX_AT_VERSION] = HX_WIRE_VERSION;
    hx_frame_set_hop(frame, h->vc, h->hops, h->credit_vc, h->credit_limit);
    hx_frame_set_via(frame, h->via);
    hx_frame_set_crc(frame, h->crc);
    hx_put16(frame + HX_AT_SRC_ADDR_HI, h->src_addr_hi);
    hx_put16(frame + HX_AT_SRC_ADDR_LO, h->src_addr_lo);
    hx_put32(frame + HX_AT_EPOCH, h->epoch);
    hx_frame_put_packet(frame, h);
}

int hx_frame_decode(struct hx_header *h, const uint8_t *frame, size_t bytes)
{
    return hx_frame_read(h, frame, bytes, 1);
}

uint32_t hx_frame_crc(const uint8_t *frame, unsigned length)
{
    return hx_crc32c(0, frame + HX_CRC_FIRST, (size_t)HX_HEADER_BYTES - HX_CRC_FIRST + length);
}

/* ---- credit frames ---- */

/* Return the offsets of nonces and CRC, behind the counts of `vcs` VCs. */
static size_t nonces_at(unsigned vcs)
{
    return HX_AT_COUNTERS + (size_t)PAIR_BYTES * vcs;
}

static size_t credit_crc_at(unsigned vcs)
{
    return nonces_at(vcs) + NONCES_BYTES;
}

static uint32_t credit_crc(const uint8_t *frame, unsigned vcs)
{
    return hx_crc32c(0, frame + HX_AT_VERSION, credit_crc_at(vcs) - HX_AT_VERSION);
}

unsigned hx_credit_encode(uint8_t frame[HX_CREDIT_FRAME_BYTES], const struct hx_credit_frame *c)
{
    uint8_t *nonces = frame + nonces_at(c->vcs);
    put_mac(frame + HX_AT_DST_MAC, MAC_GROUP, c->plane, NO_COORDINATE, NO_COORDINATE);
    put_mac(frame + HX_AT_SRC_MAC, HX_MAC_UNICAST, c->plane, NO_COORDINATE, NO_COORDINATE);
    hx_put16(frame + HX_AT_ETHERTYPE, HX_ETHERTYPE_CONTROL);
    frame[HX_AT_VERSION] = HX_WIRE_VERSION;
    frame[HX_AT_CONTROL_KIND] = HX_CREDIT;
    frame[HX_AT_CONTROL_PLANE] = c->plane;
    frame[HX_AT_CONTROL_VCS] = c->vcs;
    hx_put16(frame + HX_AT_CONTROL_RESERVED, 0);
    uint8_t *pair = frame + HX_AT_COUNTERS;
    for (unsigned vc = 0; vc < c->vcs; vc++, pair += PAIR_BYTES) {
        hx_put32(pair, c->limit[vc]);
        hx_put32(pair + 4, c->sent[vc]);
    }
    hx_put64(nonces, c->nonce);
    hx_put64(nonces + 8, c->peer_nonce);
    hx_put32(nonces + NONCES_BYTES, credit_crc(frame, c->vcs));
    return (unsigned)credit_crc_at(c->vcs) + CRC_BYTES;
}

static void read_credit(struct hx_credit_frame *c, const uint8_t *frame, unsigned vcs)
{
    const uint8_t *nonces = frame + nonces_at(vcs);
    *c = (struct hx_credit_frame){.plane = frame[HX_AT_CONTROL_PLANE],
                                  .vcs = (uint8_t)vcs,
                                  .nonce = hx_get64(nonces),
                                  .peer_nonce = hx_get64(nonces + 8)};
    const uint8_t *pair = frame + HX_AT_COUNTERS;
    for (unsigned vc = 0; vc < vcs; vc++, pair += PAIR_BYTES) {
        c->limit[vc] = hx_get32(pair);
        c->sent[vc] = hx_get32(pair + 4);
    }
}

int hx_credit_decode(struct hx_credit_frame *c, const uint8_t *frame, size_t bytes)
{
    int error = hx_frame_validate_start(frame, bytes, HX_ETHERTYPE_CONTROL, HX_AT_COUNTERS);
    if (error != HX_OK)
        return error;
    unsigned vcs = frame[HX_AT_CONTROL_VCS];
    if (vcs == 0 || vcs > HX_VCS)
        return HX_E_FIELD;
    if (bytes < credit_crc_at(vcs) + CRC_BYTES)
        return HX_E_SHORT;
    if (hx_get32(frame + credit_crc_at(vcs)) != credit_crc(frame, vcs))
        return HX_E_CHECKSUM;
    if (hx_get16(frame + HX_AT_CONTROL_RESERVED) != 0)
        return HX_E_RESERVED;
    uint8_t plane = frame[HX_AT_CONTROL_PLANE];
    if (frame[HX_AT_CONTROL_KIND] != HX_CREDIT || plane >= HX_MAX_PLANES || hx_get64(frame + nonces_at(vcs)) == 0 ||
        !mac_is(frame + HX_AT_DST_MAC, MAC_GROUP, plane, NO_COORDINATE, NO_COORDINATE) ||
        !mac_is(frame + HX_AT_SRC_MAC, HX_MAC_UNICAST, plane, NO_COORDINATE, NO_COORDINATE))
        return HX_E_FIELD;
    read_credit(c, frame, vcs);
    return HX_OK;
}
