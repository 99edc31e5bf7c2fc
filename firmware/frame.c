/* frame.c - encodes and decodes data frames (include/hxmesh/frame.h). */
#include "hxmesh/frame.h"
#include "bytes.h"
#include "frame_parts.h"
#include "hxmesh/crc32c.h"

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
    hx_put_mac(frame + HX_AT_DST_MAC, HX_MAC_UNICAST, h->plane, h->dst_addr_hi, h->dst_addr_lo);
    hx_put_mac(frame + HX_AT_SRC_MAC, HX_MAC_UNICAST, h->plane, h->src_addr_hi, h->src_addr_lo);
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
