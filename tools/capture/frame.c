/* frame.c - decodes frames by docs/wire-format.md (tools/capture/frame.h). */
#include "tools/capture/frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- CRC-32C, eight bytes at a time ---- */

enum { SLICES = 8, KEY_FIRST = 24 };
#define POLYNOMIAL 0x82F63B78U

static const uint32_t (*crc_tables(void))[256]
{
    static uint32_t table[SLICES][256];
    static bool made;
    if (made)
        return (const uint32_t(*)[256])table;
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1U ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (unsigned slice = 1; slice < SLICES; slice++)
        for (unsigned byte = 0; byte < 256; byte++)
            table[slice][byte] = table[slice - 1][byte] >> 8 ^ table[0][table[slice - 1][byte] & 0xFFU];
    made = true;
    return (const uint32_t(*)[256])table;
}

uint32_t hx_seen_crc32c(const uint8_t *bytes, size_t length)
{
    const uint32_t(*table)[256] = crc_tables();
    uint32_t crc = UINT32_MAX;
    for (; length >= SLICES; length -= SLICES, bytes += SLICES) {
        uint32_t next = 0;
        for (unsigned i = 0; i < SLICES; i++) {
            unsigned byte = bytes[i] ^ (i < 4 ? crc >> 8 * i & 0xFFU : 0);
            next ^= table[SLICES - 1 - i][byte];
        }
        crc = next;
    }
    for (; length > 0; length--)
        crc = crc >> 8 ^ table[0][(crc ^ *bytes++) & 0xFFU];
    return ~crc;
}

/* ---- fields ---- */

static uint32_t number(const uint8_t *bytes, unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | bytes[i];
    return value;
}

__attribute__((format(printf, 2, 3))) static bool wrong(struct hx_seen *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->wrong, sizeof s->wrong, format, arguments);
    va_end(arguments);
    return false;
}

static bool zero(struct hx_seen *s, const uint8_t *bytes, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        if (bytes[i] != 0)
            return wrong(s, "reserved byte %u is 0x%02x, not 0", i, bytes[i]);
    return true;
}

static bool below(struct hx_seen *s, const char *field, uint32_t value, uint32_t low, uint32_t high)
{
    if (value >= low && value <= high)
        return true;
    return wrong(s, "%s is %u, outside %u .. %u", field, value, low, high);
}

/* ---- data ---- */

struct hx_header hx_key_header(const struct hx_key *key)
{
    const uint8_t *b = key->bytes;
    return (struct hx_header){.crc = number(b, 4),
                              .kind = b[4],
                              .plane = b[5],
                              .job = (uint16_t)number(b + 6, 2),
                              .dst_addr_hi = (uint16_t)number(b + 8, 2),
                              .dst_addr_lo = (uint16_t)number(b + 10, 2),
                              .src_addr_hi = (uint16_t)number(b + 12, 2),
                              .src_addr_lo = (uint16_t)number(b + 14, 2),
                              .message = number(b + 16, 4),
                              .offset = number(b + 20, 4),
                              .message_packets = number(b + 24, 4),
                              .length = (uint16_t)number(b + 28, 2),
                              .peer_epoch = (uint16_t)number(b + 30, 2),
                              .tag = number(b + 32, 4),
                              .epoch = number(b + 36, 4)};
}

const char *hx_seen_name(const struct hx_header *h)
{
    static const char *const names[] = {[HX_DATA] = "packet",
                                        [HX_ACK] = "acknowledgement",
                                        [HX_UNREACHABLE] = "unreachable report",
                                        [HX_PROBE] = "probe",
                                        [HX_HELLO] = "hello"};
    return names[h->kind];
}

static bool mac_is(struct hx_seen *s, const uint8_t *b, const char *which, uint8_t plane, uint16_t gx, uint16_t gy)
{
    const uint8_t mac[6] = {2, plane, (uint8_t)(gx >> 8), (uint8_t)gx, (uint8_t)(gy >> 8), (uint8_t)gy};
    if (memcmp(b, mac, sizeof mac) == 0)
        return true;
    return wrong(s, "%s MAC %02x:%02x:%02x:%02x:%02x:%02x is not that of a%u,%u on plane %u", which, b[0], b[1], b[2],
                 b[3], b[4], b[5], gx, gy, plane);
}

static bool hello_fits(struct hx_seen *s, const struct hx_header *h)
{
    if (h->length != HX_HELLO_BYTES)
        return wrong(s, "a hello of %u bytes, not 16", h->length);
    if (h->offset | h->message_packets)
        return wrong(s, "a hello of a message");
    return h->tag <= 1 || wrong(s, "a hello with tag %u", h->tag);
}

static bool probe_fits(struct hx_seen *s, const struct hx_header *h)
{
    if (!below(s, "number of the probe", h->offset, 1, UINT8_MAX))
        return false;
    return h->length == 0 || wrong(s, "a probe with %u bytes", h->length);
}

static bool length_fits(struct hx_seen *s, const struct hx_header *h)
{
    if (h->kind == HX_HELLO)
        return hello_fits(s, h);
    if (h->message_packets == 0)
        return wrong(s, "a message of 0 packets");
    if (h->kind == HX_PROBE)
        return probe_fits(s, h);
    uint32_t most = h->kind == HX_ACK ? h->message_packets : h->message_packets - 1;
    if (h->offset > most)
        return wrong(s, "offset %u in a message of %u packets", h->offset, h->message_packets);
    if (h->kind == HX_UNREACHABLE)
        return h->length == HX_REPORT_BYTES ||
               wrong(s, "an unreachable report of %u bytes, not %u", h->length, (unsigned)HX_REPORT_BYTES);
    if (h->length > HX_MAX_PAYLOAD)
        return wrong(s, "length %u is more than 8192", h->length);
    if (h->kind == HX_DATA && h->offset + 1 < h->message_packets && h->length != HX_MAX_PAYLOAD)
        return wrong(s, "packet %u of %u has %u bytes, but only the last may be short", h->offset, h->message_packets,
                     h->length);
    return true;
}

static bool data_fits(struct hx_seen *s, const uint8_t *b, size_t original)
{
    const struct hx_header *h = &s->data;
    if (!below(s, "VC", h->vc, 0, HX_VCS - 1) || !below(s, "plane", h->plane, 0, HX_MAX_PLANES - 1) ||
        !below(s, "kind", h->kind, HX_DATA, HX_HELLO))
        return false;
    if (h->credit_vc != HX_NO_CREDIT && !below(s, "credit_vc", h->credit_vc, 0, HX_VCS - 1))
        return false;
    if (!length_fits(s, h) || !mac_is(s, b, "destination", h->plane, h->dst_addr_hi, h->dst_addr_lo) ||
        !mac_is(s, b + 6, "source", h->plane, h->src_addr_hi, h->src_addr_lo))
        return false;
    if (original < (size_t)HX_HEADER_BYTES + h->length)
        return wrong(s, "length %u in a frame of %zu bytes", h->length, original);
    return h->epoch != 0 || wrong(s, "epoch is 0");
}

static void read_data(struct hx_seen *s, const uint8_t *b, size_t captured, size_t original)
{
    memcpy(s->key.bytes, b + KEY_FIRST, HX_KEY_BYTES);
    s->data = hx_key_header(&s->key);
    s->data.vc = b[15];
    s->data.hops = b[16];
    s->data.credit_vc = b[17];
    s->data.via = (uint16_t)number(b + 18, 2);
    s->data.credit_limit = number(b + 20, 4);
    if (!data_fits(s, b, original))
        return;
    size_t covered = HX_HEADER_BYTES + (size_t)s->data.length;
    if (s->data.crc == 0)
        s->crc = HX_SEEN_CRC_ZERO;
    else if (captured < covered)
        s->crc = HX_SEEN_CRC_CUT;
    else if (hx_seen_crc32c(b + HX_CRC_FIRST, covered - HX_CRC_FIRST) == s->data.crc)
        s->crc = HX_SEEN_CRC_GOOD;
    else
        s->crc = HX_SEEN_CRC_BAD;
}

/* ---- control ---- */

/* What all kinds share. */
static bool control_fits(struct hx_seen *s, const uint8_t *b)
{
    const uint8_t dst[6] = {3, b[16], 0xFF, 0xFF, 0xFF, 0xFF};
    const uint8_t src[6] = {2, b[16], 0xFF, 0xFF, 0xFF, 0xFF};
    if (!zero(s, b, 18, 2) || !below(s, "kind", b[15], HX_CREDIT, HX_NOTICE) ||
        !below(s, "plane", b[16], 0, HX_MAX_PLANES - 1))
        return false;
    if (s->credit.nonce == 0)
        return wrong(s, "nonce is 0");
    return (memcmp(b, dst, sizeof dst) == 0 && memcmp(b + 6, src, sizeof src) == 0) ||
           wrong(s, "MAC addresses are not those of a %s frame of plane %u",
                 s->kind == HX_SEEN_NOTICES ? "notice" : "credit", b[16]);
}

/* Reads the nonces and the checksum behind them, at the frame's end. Returns false: the frame ends before. */
static bool read_control_end(struct hx_seen *s, const uint8_t *b, size_t nonces_at, size_t captured, size_t original)
{
    const uint8_t *nonces = b + nonces_at;
    if (original < nonces_at + 20) {
        wrong(s, "a frame of %zu bytes is too short", original);
        return false;
    }
    if (captured < nonces_at + 20) {
        s->kind = HX_SEEN_CUT;
        return false;
    }
    s->credit = (struct hx_credit_frame){.plane = b[16]};
    s->credit.nonce = (uint64_t)number(nonces, 4) << 32 | number(nonces + 4, 4);
    s->credit.peer_nonce = (uint64_t)number(nonces + 8, 4) << 32 | number(nonces + 12, 4);
    s->crc = hx_seen_crc32c(b + 14, nonces_at + 2) == number(nonces + 16, 4) ? HX_SEEN_CRC_GOOD : HX_SEEN_CRC_BAD;
    return control_fits(s, b);
}

static void read_credit(struct hx_seen *s, const uint8_t *b, size_t captured, size_t original)
{
    const uint8_t vcs = b[17];
    if (!below(s, "vcs", vcs, 1, HX_VCS) || !read_control_end(s, b, 20 + 8U * vcs, captured, original))
        return;
    s->credit.vcs = vcs;
    for (unsigned vc = 0; vc < vcs; vc++) {
        s->credit.limit[vc] = number(b + 20 + 8 * vc, 4);
        s->credit.sent[vc] = number(b + 24 + 8 * vc, 4);
    }
}

static void read_notices(struct hx_seen *s, const uint8_t *b, size_t captured, size_t original)
{
    const uint8_t count = b[17];
    s->kind = HX_SEEN_NOTICES;
    if (!below(s, "count", count, 0, HX_NOTICES) || !read_control_end(s, b, 28 + 16U * count, captured, original))
        return;
    for (unsigned i = 0; i < count; i++)
        if (number(b + 24 + 16 * i, 4) == 0)
            wrong(s, "notice %u has sequence 0", i);
}

/* ---- */

/* Whether the addresses are hxmesh's, though the EtherType is not: the EtherType may be damaged. */
static bool has_our_addresses(const uint8_t *b)
{
    return (b[0] == 2 || b[0] == 3) && b[6] == 2 && b[1] == b[7] && b[1] < HX_MAX_PLANES;
}

void hx_seen_read(struct hx_seen *s, const uint8_t *bytes, size_t captured, size_t original)
{
    s->kind = HX_SEEN_CUT;
    s->crc = HX_SEEN_CRC_CUT;
    s->wrong[0] = '\0';
    if (captured < 14) {
        if (original < 14)
            s->kind = HX_SEEN_FOREIGN;
        return;
    }
    uint32_t type = number(bytes + 12, 2);
    if (type != HX_ETHERTYPE_DATA && type != HX_ETHERTYPE_CONTROL) {
        s->kind = HX_SEEN_FOREIGN;
        if (has_our_addresses(bytes))
            wrong(s, "EtherType 0x%04x is neither 0x88b5 nor 0x88b6", type);
        return;
    }
    enum hx_seen_kind kind = type == HX_ETHERTYPE_DATA ? HX_SEEN_DATA : HX_SEEN_CREDIT;
    size_t least = kind == HX_SEEN_DATA ? HX_HEADER_BYTES : HX_AT_COUNTERS;
    if (captured > 14 && bytes[14] != HX_WIRE_VERSION) {
        s->kind = kind;
        wrong(s, "version %u, not %u", bytes[14], (unsigned)HX_WIRE_VERSION);
        if (kind == HX_SEEN_DATA && captured >= HX_HEADER_BYTES) /* damaged, but its key may still be right */
            memcpy(s->key.bytes, bytes + KEY_FIRST, HX_KEY_BYTES);
    } else if (original < least) {
        s->kind = kind;
        wrong(s, "a frame of %zu bytes is too short", original);
    } else if (captured >= least) {
        s->kind = kind;
        if (kind == HX_SEEN_DATA)
            read_data(s, bytes, captured, original);
        else if (bytes[15] == HX_NOTICE)
            read_notices(s, bytes, captured, original);
        else
            read_credit(s, bytes, captured, original);
    }
}
