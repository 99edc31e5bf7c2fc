/* frame_parts.h - headers of data frames on the data path, inline: validated and read, or written from a prepared
 * header. */
#ifndef HX_FRAME_PARTS_H
#define HX_FRAME_PARTS_H

#include "bytes.h"
#include "hxmesh/error.h"
#include "hxmesh/frame.h"
#include "hxmesh/memory.h"

#include <stdbool.h>

/* Bytes of a MAC address: type, plane, addr_hi and addr_lo. */
enum {
    HX_MAC_UNICAST = 0x02 /* locally administered */,
    HX_PLANE_IN_MAC = 1,
    HX_ADDR_HI_IN_MAC = 2,
    HX_ADDR_LO_IN_MAC = 4
};

static inline void hx_put_mac(uint8_t *mac, uint8_t type, uint8_t plane, uint16_t addr_hi, uint16_t addr_lo)
{
    mac[0] = type;
    mac[HX_PLANE_IN_MAC] = plane;
    hx_put16(mac + HX_ADDR_HI_IN_MAC, addr_hi);
    hx_put16(mac + HX_ADDR_LO_IN_MAC, addr_lo);
}

/* Validates what both types of frame share. The version is checked before the length, as other versions may have
 * shorter headers. */
static inline int hx_frame_validate_start(const uint8_t *frame, size_t bytes, unsigned ethertype, size_t least)
{
    if (bytes <= HX_AT_VERSION)
        return HX_E_SHORT;
    if (hx_get16(frame + HX_AT_ETHERTYPE) != ethertype)
        return HX_E_ETHERTYPE;
    if (frame[HX_AT_VERSION] != HX_WIRE_VERSION)
        return HX_E_VERSION;
    return bytes < least ? HX_E_SHORT : HX_OK;
}

/* ---- reading ---- */

/* Loads four bytes for comparison. */
static inline uint32_t hx_frame_four(const uint8_t *at)
{
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return four;
}

/* Returns true if the fields with one rule for all kinds are valid: VC, grant, plane, epoch, and MACs that match
 * addresses. */
static inline bool hx_frame_is_sound(const uint8_t *frame)
{
    uint8_t plane = frame[HX_AT_PLANE];
    uint8_t granted = frame[HX_AT_CREDIT_VC];
    uint32_t differ =
        (hx_frame_four(frame + HX_AT_DST_MAC + HX_ADDR_HI_IN_MAC) ^ hx_frame_four(frame + HX_AT_DST_ADDR_HI)) |
        (hx_frame_four(frame + HX_AT_SRC_MAC + HX_ADDR_HI_IN_MAC) ^ hx_frame_four(frame + HX_AT_SRC_ADDR_HI));
    return frame[HX_AT_VC] < HX_VCS && plane < HX_MAX_PLANES && (granted == HX_NO_CREDIT || granted < HX_VCS) &&
           hx_frame_four(frame + HX_AT_EPOCH) != 0 && differ == 0 && frame[HX_AT_DST_MAC] == HX_MAC_UNICAST &&
           frame[HX_AT_SRC_MAC] == HX_MAC_UNICAST && frame[HX_AT_DST_MAC + HX_PLANE_IN_MAC] == plane &&
           frame[HX_AT_SRC_MAC + HX_PLANE_IN_MAC] == plane;
}

static inline struct hx_header hx_frame_fields(const uint8_t *frame)
{
    return (struct hx_header){
        .vc = frame[HX_AT_VC],
        .hops = frame[HX_AT_HOPS],
        .credit_vc = frame[HX_AT_CREDIT_VC],
        .via = hx_get16(frame + HX_AT_VIA),
        .credit_limit = hx_get32(frame + HX_AT_CREDIT_LIMIT),
        .crc = hx_get32(frame + HX_AT_CRC),
        .kind = frame[HX_AT_KIND],
        .plane = frame[HX_AT_PLANE],
        .job = hx_get16(frame + HX_AT_JOB),
        .dst_addr_hi = hx_get16(frame + HX_AT_DST_ADDR_HI),
        .dst_addr_lo = hx_get16(frame + HX_AT_DST_ADDR_LO),
        .src_addr_hi = hx_get16(frame + HX_AT_SRC_ADDR_HI),
        .src_addr_lo = hx_get16(frame + HX_AT_SRC_ADDR_LO),
        .message = hx_get32(frame + HX_AT_MESSAGE),
        .offset = hx_get32(frame + HX_AT_OFFSET),
        .message_packets = hx_get32(frame + HX_AT_MESSAGE_PACKETS),
        .length = hx_get16(frame + HX_AT_LENGTH),
        .peer_epoch = hx_get16(frame + HX_AT_PEER_EPOCH),
        .tag = hx_get32(frame + HX_AT_TAG),
        .epoch = hx_get32(frame + HX_AT_EPOCH),
    };
}

/* Returns true if offset and length of data are consistent, for up to `most` packets (hal_train()). All packets are
 * full but the last one of the message. The first one's number is a multiple of the next power of two. */
static inline bool hx_frame_train_is_valid(const struct hx_header *h, unsigned most)
{
    unsigned packets = hx_packets(h->length);
    return packets <= most && (h->offset & (packets - 1)) == 0 && h->offset < h->message_packets &&
           packets <= h->message_packets - h->offset &&
           (h->length == packets * HX_MAX_PAYLOAD || packets == h->message_packets - h->offset);
}

/* Returns true if kind, length, offset and message_packets are consistent. */
static inline bool hx_frame_extent_is_valid(const struct hx_header *h, unsigned most)
{
    if (h->kind == HX_DATA && most > 1)
        return hx_frame_train_is_valid(h, most);
    if (h->kind == HX_DATA) /* nearly all frames */
        return h->offset < h->message_packets &&
               (h->length == HX_MAX_PAYLOAD || (h->length < HX_MAX_PAYLOAD && h->offset == h->message_packets - 1U));
    switch (h->kind) {
    case HX_ACK:
        return h->message_packets > 0 && h->offset <= h->message_packets && h->length <= HX_MAX_PAYLOAD;
    case HX_UNREACHABLE:
        return h->offset < h->message_packets && h->length == HX_REPORT_BYTES;
    case HX_PROBE:
        return h->message_packets > 0 && h->offset > 0 && h->offset <= UINT8_MAX && h->length == 0;
    case HX_HELLO:
        return (h->offset | h->message_packets) == 0 && h->tag <= 1 && h->length == HX_HELLO_BYTES;
    default:
        return false;
    }
}

/* hx_frame_decode, inline, for frames of up to `most` packets. */
static inline int hx_frame_read(struct hx_header *h, const uint8_t *frame, size_t bytes, unsigned most)
{
    int error = hx_frame_validate_start(frame, bytes, HX_ETHERTYPE_DATA, HX_HEADER_BYTES);
    if (error != HX_OK)
        return error;
    if (!hx_frame_is_sound(frame))
        return HX_E_FIELD;
    *h = hx_frame_fields(frame);
    if (!hx_frame_extent_is_valid(h, most))
        return HX_E_FIELD;
    return bytes < (size_t)HX_HEADER_BYTES + h->length ? HX_E_SHORT : HX_OK;
}

/* ---- writing ---- */

/* Writes the fields that differ between packets of a source: kind, plane, job, destination, and message. */
static inline void hx_frame_put_packet(uint8_t *frame, const struct hx_header *h)
{
    uint32_t to = (uint32_t)h->dst_addr_hi << 16 | h->dst_addr_lo;
    frame[HX_AT_DST_MAC + HX_PLANE_IN_MAC] = h->plane;
    hx_put_whole32(frame + HX_AT_DST_MAC + HX_ADDR_HI_IN_MAC, to);
    frame[HX_AT_SRC_MAC + HX_PLANE_IN_MAC] = h->plane;
    frame[HX_AT_KIND] = h->kind;
    frame[HX_AT_PLANE] = h->plane;
    hx_put_whole16(frame + HX_AT_JOB, h->job);
    hx_put_whole32(frame + HX_AT_DST_ADDR_HI, to);
    hx_put_whole32(frame + HX_AT_MESSAGE, h->message);
    hx_put_whole32(frame + HX_AT_OFFSET, h->offset);
    hx_put_whole32(frame + HX_AT_MESSAGE_PACKETS, h->message_packets);
    hx_put_whole16(frame + HX_AT_LENGTH, h->length);
    hx_put_whole16(frame + HX_AT_PEER_EPOCH, h->peer_epoch);
    hx_put_whole32(frame + HX_AT_TAG, h->tag);
}

/* Like hx_frame_encode, from a header `own` that was encoded with the same VC, hops, via, credit, source and epoch. */
static inline void hx_frame_encode_own(uint8_t *frame, const uint8_t own[HX_HEADER_BYTES], const struct hx_header *h)
{
    memcpy(frame, own, HX_HEADER_BYTES);
    hx_frame_put_packet(frame, h);
}

#endif
