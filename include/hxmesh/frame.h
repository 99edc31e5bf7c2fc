/* frame.h - the wire format, version 2. docs/wire-format.md has the same as a table.
 *
 * An address is two numbers of 16 bits, addr_hi and addr_lo, opaque to the wire: gx and gy on a HammingMesh, elsewhere
 * the switch and the host's place on it.
 *
 * Network byte order, fixed offsets, inside an Ethernet frame with a local experimental EtherType (IEEE 802: 88-B5
 * data, 88-B6 control). The header of a data frame is 64 bytes, Ethernet included; the payload follows.
 *
 *   offset size            field            data frame (EtherType 0x88B5)
 *        0    6  dst MAC   02:plane:addr_hi:addr_lo of the destination (16 bits each)
 *        6    6  src MAC   02:plane:addr_hi:addr_lo of the source
 *       12    2  EtherType 0x88B5
 *   -- changed at every hop, outside the CRC --
 *       14    1  version   2
 *       15    1  vc        0 .. 3, below the fabric's number of VCs
 *       16    1  hops      switches passed so far
 *       17    1  credit_vc VC of the piggybacked grant, 0xFF: none
 *       18    2  via       addr_hi + 1 of the intermediate router of a detour (detour.h), 0: none
 *       20    4  credit_limit   absolute grant in blocks for credit_vc (credit.h)
 *       24    4  crc       CRC-32C of bytes 28 .. 63+length
 *   -- end to end, under the CRC --
 *       28    1  kind      1 data, 2 acknowledgement, 3 unreachable, 4 probe, 5 hello
 *       29    1  plane     0 .. 3
 *       30    2  job       job tag
 *       32    2  dst_addr_hi    36 2 src_addr_hi
 *       34    2  dst_addr_lo    38 2 src_addr_lo
 *       40    4  message   number of the message between this source and destination
 *       44    4  offset    data: packet's place in the message (*)
 *       48    4  message_packets  packets of the message
 *       52    2  length    payload bytes, 0 .. 8192
 *       54    2  peer_epoch hx_epoch_check() of the destination's epoch as the source knows it, 0: unknown
 *       56    4  tag       for the receiver (endpoint.h)
 *       60    4  epoch     incarnation of the source (endpoint.h), not 0
 *       64       payload
 *
 * (*) `offset` counts packets of 8,192 B, so a message may have up to 2^32 - 1 packets. Every packet but the last is
 * full; an empty message is one packet without payload. So offset < message_packets.
 *
 * Acknowledgement: `offset` is the number of packets received without a gap, 0 .. message_packets. The payload is a bit
 * map (least significant bit of byte 0 first) of packets received beyond it, empty if there are none. Bit n is packet
 * offset + n, so bit 0 is 0. `tag` is the number of the probe that it answers, 0: none. Unreachable: names the message
 * of the packet without a path, and for data its offset, else 0. The payload is that packet's destination, 2 bytes
 * addr_hi, 2 bytes addr_lo, and its kind, 1 byte. offset < message_packets. Probe: asks for an immediate
 * acknowledgement of a message. `offset` is the probe's number, 1 .. 255; no payload. Hello: asks for the peer's
 * incarnation, or answers. 8 bytes nonce of the source, 0: asks nothing; 8 bytes nonce of the destination that it
 * answers, 0: none. `message` is the number of the next message from the source to the destination; offset and
 * message_packets are 0; tag is 1 if the source knows nothing of what the destination has sent, else 0.
 *
 *   offset size            credit frame (EtherType 0x88B6), 40 + 8 * vcs bytes, for one link only
 *        0    6  dst MAC   03:plane:FF:FF:FF:FF, a local group address: the far end of the link
 *        6    6  src MAC   02:plane:FF:FF:FF:FF, no coordinates
 *       12    2  EtherType 0x88B6
 *       14    1  version   2
 *       15    1  kind      1 credit
 *       16    1  plane
 *       17    1  vcs       of the fabric: 1 .. 4
 *       18    2  reserved  0
 *       20  8 * vcs  vcs times { 4 limit: blocks that the far end may have sent in all
 *                                4 sent:  blocks that this end has sent in all }
 *   and behind them, at n = 20 + 8 * vcs
 *        n    8  nonce      of this end, not 0 (credit.h)
 *    n + 8    8  peer_nonce of the far end, 0: unknown
 *   n + 16    4  crc       CRC-32C of bytes 14 .. n + 15
 *
 *   offset size            notice frame (EtherType 0x88B6), 48 + 16 * count bytes, for one link only
 *        0   15  as of a credit frame
 *       15    1  kind      2 notices of dead links (notice.h)
 *       16    1  plane
 *       17    1  count     notices: 0 .. 4
 *       18    2  reserved  0
 *       20  16 * count  count times { 4 node:     its number in the fabric (geometry.h)
 *                                     4 sequence: its number, not 0
 *                                     8 dead:     ports of the node with a dead link, bit by port }
 *   and behind them, at n = 20 + 16 * count
 *        n    8  digest     of all that this end keeps
 *    n + 8    8  nonce      of this end
 *   n + 16    8  peer_nonce of the far end
 *   n + 24    4  crc        CRC-32C of bytes 14 .. n + 23
 *
 * Pure, reentrant functions. Decoding never reads beyond `bytes` and trusts no field. */
#ifndef HXMESH_FRAME_H
#define HXMESH_FRAME_H

#include "hxmesh/geometry.h"

#include <stddef.h>
#include <stdint.h>

#include "hxmesh/begin.h"

enum {
    HX_ETHERTYPE_DATA = 0x88B5,
    HX_ETHERTYPE_CONTROL = 0x88B6,
    HX_WIRE_VERSION = 2,
    HX_HEADER_BYTES = 64,
    HX_MAX_PAYLOAD = 8192, /* bytes of a packet's payload (table III) */
    HX_MAX_FRAME = HX_HEADER_BYTES + HX_MAX_PAYLOAD,
    HX_CREDIT_FRAME_BYTES = 72,  /* at most: with four VCs */
    HX_BLOCK = 256,              /* bytes: unit of credit */
    HX_PACKET_BLOCKS = 32,       /* blocks of a full packet */
    HX_NOTICES = 4,              /* notices of a frame at most */
    HX_NOTICE_FRAME_BYTES = 112, /* at most */
    HX_REPORT_BYTES = 5,         /* payload of an unreachable report: address and kind of its packet */
    HX_HELLO_BYTES = 16,         /* payload of a hello */
    HX_NO_CREDIT = 0xFF
};

/* Byte offsets of the fields, as in the tables above. */
enum {
    HX_AT_DST_MAC = 0,
    HX_AT_SRC_MAC = 6,
    HX_AT_ETHERTYPE = 12,
    HX_AT_VERSION = 14,
    /* data frame */
    HX_AT_VC = 15,
    HX_AT_HOPS = 16,
    HX_AT_CREDIT_VC = 17,
    HX_AT_VIA = 18,
    HX_AT_CREDIT_LIMIT = 20,
    HX_AT_CRC = 24,
    HX_AT_KIND = 28,
    HX_AT_PLANE = 29,
    HX_AT_JOB = 30,
    HX_AT_DST_ADDR_HI = 32,
    HX_AT_DST_ADDR_LO = 34,
    HX_AT_SRC_ADDR_HI = 36,
    HX_AT_SRC_ADDR_LO = 38,
    HX_AT_MESSAGE = 40,
    HX_AT_OFFSET = 44,
    HX_AT_MESSAGE_PACKETS = 48,
    HX_AT_LENGTH = 52,
    HX_AT_PEER_EPOCH = 54,
    HX_AT_TAG = 56,
    HX_AT_EPOCH = 60,
    /* control frame */
    HX_AT_CONTROL_KIND = 15,
    HX_AT_CONTROL_PLANE = 16,
    HX_AT_CONTROL_ITEMS = 17 /* VCs of a credit frame, notices of a notice frame */,
    HX_AT_CONTROL_RESERVED = 18,
    HX_AT_COUNTERS = 20
};
enum { HX_CRC_FIRST = HX_AT_KIND /* first byte that the data CRC covers */ };

enum hx_kind { HX_DATA = 1, HX_ACK = 2, HX_UNREACHABLE = 3, HX_PROBE = 4, HX_HELLO = 5 };
enum hx_control_kind { HX_CREDIT = 1, HX_NOTICE = 2 };

struct hx_header {
    uint8_t vc, hops, credit_vc;
    uint16_t via;
    uint32_t credit_limit;
    uint32_t crc;
    uint8_t kind, plane;
    uint16_t job;
    uint16_t dst_addr_hi, dst_addr_lo, src_addr_hi, src_addr_lo;
    uint32_t message, offset, message_packets;
    uint16_t length;
    uint16_t peer_epoch;
    uint32_t tag, epoch;
};

struct hx_credit_frame {
    uint8_t plane;
    uint8_t vcs; /* of the fabric: 1 .. HX_VCS */
    uint32_t limit[HX_VCS];
    uint32_t sent[HX_VCS];
    uint64_t nonce, peer_nonce;
};

/* Which links of a node are dead, as it says. */
struct hx_notice {
    uint32_t node, sequence;
    uint64_t dead; /* ports */
};

struct hx_notice_frame {
    uint8_t plane;
    uint8_t count;
    struct hx_notice notice[HX_NOTICES];
    uint64_t digest, nonce, peer_nonce;
};

/* Returns the blocks of buffer and credit that a packet of this payload takes: at least one. */
static inline unsigned hx_blocks(unsigned payload_bytes)
{
    return payload_bytes ? (payload_bytes + HX_BLOCK - 1U) / HX_BLOCK : 1U;
}

/* Returns the bytes of a credit frame of `vcs` VCs. */
static inline unsigned hx_credit_frame_bytes(unsigned vcs)
{
    return HX_CREDIT_FRAME_BYTES - (HX_VCS - vcs) * 8U;
}

/* Returns a 16-bit digest of an epoch for the header; 0 only for 0. */
static inline uint16_t hx_epoch_check(uint32_t epoch)
{
    uint16_t folded = (uint16_t)(epoch ^ epoch >> 16);
    return epoch && folded == 0 ? UINT16_MAX : folded;
}

/* Returns the packets that this payload of a message fills: at least one. */
static inline unsigned hx_packets(unsigned payload_bytes)
{
    return payload_bytes ? (payload_bytes + HX_MAX_PAYLOAD - 1U) / HX_MAX_PAYLOAD : 1U;
}

/* Returns the EtherType; 0: the frame is too short. */
static inline unsigned hx_frame_ethertype(const uint8_t *frame, size_t bytes)
{
    return bytes > HX_AT_ETHERTYPE + 1 ? (unsigned)frame[HX_AT_ETHERTYPE] << 8 | frame[HX_AT_ETHERTYPE + 1] : 0;
}

/* Writes the 64 header bytes. h->crc is copied; see hx_frame_crc. */
void hx_frame_encode(uint8_t *frame, const struct hx_header *h);

/* Returns the CRC-32C over bytes 28 .. 63+length of a complete frame. Ignores its length field. */
uint32_t hx_frame_crc(const uint8_t *frame, unsigned length);

/* Reads and validates a data frame of `bytes` bytes (trailing Ethernet padding is allowed), but not its CRC: see
 * hx_frame_crc. Errors: HX_E_SHORT, HX_E_ETHERTYPE, HX_E_VERSION, HX_E_RESERVED, HX_E_FIELD (VC, plane, kind, length
 * that does not fit the kind or a packet that should be full, credit_vc, offset beyond message_packets, MAC that
 * contradicts the address). On an error *h is undefined. The caller checks addresses against the size of its fabric. */
int hx_frame_decode(struct hx_header *h, const uint8_t *frame, size_t bytes);

/* Writes the CRC field of an encoded frame. */
void hx_frame_set_crc(uint8_t *frame, uint32_t crc);

/* Writes the fields of an encoded frame that change at each hop. */
void hx_frame_set_hop(uint8_t *frame, unsigned vc, unsigned hops, unsigned credit_vc, uint32_t credit_limit);

/* Writes the via field of an encoded frame: addr_hi + 1 of the intermediate router, 0: none. */
void hx_frame_set_via(uint8_t *frame, unsigned via);

/* Reads the destination of a frame, without validation. */
void hx_frame_destination(const uint8_t *frame, uint16_t *addr_hi, uint16_t *addr_lo);

/* Writes a credit frame with its CRC. Returns its bytes. */
unsigned hx_credit_encode(uint8_t frame[HX_CREDIT_FRAME_BYTES], const struct hx_credit_frame *c);
/* Reads and validates a credit frame. Errors as hx_frame_decode, and HX_E_CHECKSUM, which takes precedence over errors
 * in fields under the CRC, except version and vcs, which locate it. On an error *c is untouched. credit.h checks the
 * counts. */
int hx_credit_decode(struct hx_credit_frame *c, const uint8_t *frame, size_t bytes);

/* Returns enum hx_control_kind, or an error as hx_credit_decode(). */
int hx_control_kind_of(const uint8_t *frame, size_t bytes);

/* Returns the bytes of a notice frame. */
static inline unsigned hx_notice_frame_bytes(unsigned count)
{
    return HX_NOTICE_FRAME_BYTES - (HX_NOTICES - count) * 16U;
}

/* The same for notice frames. notice.h checks what they say. */
unsigned hx_notice_encode(uint8_t frame[HX_NOTICE_FRAME_BYTES], const struct hx_notice_frame *n);
int hx_notice_decode(struct hx_notice_frame *n, const uint8_t *frame, size_t bytes);

#include "hxmesh/end.h"

#endif
