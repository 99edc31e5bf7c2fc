/* header.h - inline access to the bytes of a frame that each transit packet needs.
 *
 * hx_frame_decode() decides whether a frame is valid. dpdk_read_header() only recognises the common case: valid data
 * packets without padding. All other frames go to hx_frame_decode(). It accepts each recognised frame, with the same
 * values (tests/property/dpdk/prop_header.c). Offsets are those of hxmesh/frame.h.
 *
 * The SSE variant compares and extracts fields in words of 16 bytes. */
#ifndef DPDK_HEADER_H
#define DPDK_HEADER_H

#include "firmware/frame_parts.h"
#include "hxmesh/frame.h"
#include "hxmesh/switch.h"

#include <stdbool.h>
#include <string.h>

/* Converts from or to network byte order. */
static inline uint32_t dpdk_network32(uint32_t word)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(word) : word;
}

/* Returns 1 + the VC of a frame's grant; 0: no grant; above the number of VCs: invalid. */
static inline unsigned dpdk_grant_place(const uint8_t *frame)
{
    _Static_assert(HX_NO_CREDIT == UINT8_MAX, "one more is 0 in a byte");
    return (uint8_t)(frame[HX_AT_CREDIT_VC] + 1);
}

/* Job that a port accepts. */
struct dpdk_job {
    uint16_t tag;
    uint16_t bits; /* mask of the tag: all ones, or 0: any job */
};

static inline bool dpdk_is_foreign(const struct dpdk_job *job, uint16_t tag)
{
    return ((job->tag ^ tag) & job->bits) != 0;
}

/* Fills *d from a frame of `bytes` bytes, at least 64, the first 64 contiguous. `address`: of the mbuf. Returns false
 * if the frame is not a common one. */
static inline bool dpdk_read_header_scalar(struct hx_desc *d, const uint8_t *frame, uint32_t bytes, unsigned plane,
                                           unsigned vcs, struct dpdk_job job, uint64_t address)
{
    struct hx_header h;
    if (hx_frame_read(&h, frame, bytes, 1) != HX_OK)
        return false;
    *d = (struct hx_desc){.buffer = (uint32_t)address,
                          .length = h.length,
                          .vc = h.vc,
                          .hops = h.hops,
                          .dst_addr_hi = h.dst_addr_hi,
                          .dst_addr_lo = h.dst_addr_lo,
                          .job = h.job,
                          .flow = (uint16_t)(address >> 32)};
    return h.kind == HX_DATA && h.via == 0 && h.plane == plane && !dpdk_is_foreign(&job, h.job) && h.vc < vcs &&
           dpdk_grant_place(frame) <= vcs && bytes == (uint32_t)HX_HEADER_BYTES + h.length;
}

#if defined(__SSE4_1__)
#include <smmintrin.h>

/* Common values of a plane's frames, made once a burst. vcs: of the fabric. */
struct dpdk_expected {
    __m128i start, most; /* first 16 bytes, and the largest difference of each */
    uint32_t kind, bits; /* kind, plane and job in network byte order, and their mask */
    uint8_t vcs;
};

static inline struct dpdk_expected dpdk_expect(unsigned plane, unsigned vcs, struct dpdk_job job)
{
    const char p = (char)plane;
    const char last = (char)(vcs - 1);
    return (struct dpdk_expected){
        _mm_setr_epi8(2, p, 0, 0, 0, 0, 2, p, 0, 0, 0, 0, (char)0x88, (char)0xB5, HX_WIRE_VERSION, 0),
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last),
        HX_DATA | plane << 8 | (uint32_t)__builtin_bswap16(job.tag) << 16, (uint32_t)job.bits << 16 | UINT16_MAX,
        (uint8_t)vcs};
}

/* True if length, offset and message_packets of a data frame are consistent, and the frame ends with its payload. */
static inline bool dpdk_extent_is_good(const uint8_t *frame, uint32_t bytes, uint32_t length)
{
    uint32_t offset = hx_get32(frame + HX_AT_OFFSET);
    uint32_t packets = hx_get32(frame + HX_AT_MESSAGE_PACKETS);
    bool fits = length == HX_MAX_PAYLOAD || (length < HX_MAX_PAYLOAD && offset + 1 == packets);
    return offset < packets && fits && bytes == HX_HEADER_BYTES + length;
}

/* Two bytes in network order. */
static inline uint32_t dpdk_raw16(const uint8_t *at)
{
    uint16_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The SSE variant. Writes *d with one store: separate stores would stall a load of the whole. */
static inline __attribute__((always_inline)) bool dpdk_read_header(struct hx_desc *d, const uint8_t *frame,
                                                                   uint32_t bytes, const struct dpdk_expected *expected,
                                                                   uint64_t address)
{
    enum { NO = -128 /* in a shuffle: a zero byte */ };
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)frame);
    const __m128i fields = _mm_loadu_si128((const __m128i *)(const void *)(frame + HX_AT_KIND));
    /* Shuffles of the fields from HX_AT_KIND: coordinates to their places in a MAC; job, dst_addr_hi, dst_addr_lo to
     * their places in *d. */
    const __m128i in_mac = _mm_setr_epi8(NO, NO, 4, 5, 6, 7, NO, NO, 8, 9, 10, 11, NO, NO, NO, NO);
    const __m128i in_descriptor = _mm_setr_epi8(NO, NO, NO, NO, NO, NO, NO, NO, 5, 4, 7, 6, 3, 2, NO, NO);
    const __m128i differ = _mm_xor_si128(first, _mm_or_si128(_mm_shuffle_epi8(fields, in_mac), expected->start));
    const __m128i wrong = _mm_subs_epu8(differ, expected->most);
    uint32_t rest =
        dpdk_raw16(frame + HX_AT_VIA) | ((hx_frame_four(frame + HX_AT_KIND) ^ expected->kind) & expected->bits);
    uint16_t length = hx_get16(frame + HX_AT_LENGTH);
    __m128i made = _mm_insert_epi32(_mm_shuffle_epi8(fields, in_descriptor), (int)(uint32_t)address, 0);
    made = _mm_insert_epi16(made, (int)length, 2);
    made = _mm_insert_epi16(made, (int)dpdk_raw16(frame + HX_AT_VC), 3); /* VC and hops */
    made = _mm_insert_epi16(made, (int)(address >> 32), 7);
    _mm_storeu_si128((__m128i *)(void *)d, made);
    return _mm_testz_si128(wrong, wrong) && rest == 0 && hx_frame_four(frame + HX_AT_EPOCH) != 0 &&
           dpdk_grant_place(frame) <= expected->vcs && dpdk_extent_is_good(frame, bytes, length);
}
_Static_assert(HX_AT_JOB == HX_AT_KIND + 2 && HX_AT_DST_ADDR_HI == HX_AT_KIND + 4 &&
                   HX_AT_DST_ADDR_LO == HX_AT_KIND + 6 && HX_AT_SRC_ADDR_HI == HX_AT_KIND + 8 &&
                   HX_AT_SRC_ADDR_LO == HX_AT_KIND + 10 && HX_AT_HOPS == HX_AT_VC + 1 &&
                   HX_AT_PLANE == HX_AT_KIND + 1 && HX_AT_CREDIT_VC == HX_AT_VC + 2,
               "where dpdk_read_header and dpdk_write_hop find fields together");
_Static_assert(HX_ETHERTYPE_DATA == 0x88B5 && offsetof(struct hx_desc, length) == 4 &&
                   offsetof(struct hx_desc, vc) == 6 && offsetof(struct hx_desc, hops) == 7 &&
                   offsetof(struct hx_desc, dst_addr_hi) == 8 && offsetof(struct hx_desc, job) == 12 &&
                   offsetof(struct hx_desc, flow) == 14,
               "what dpdk_read_header lays out");
#else
struct dpdk_expected {
    unsigned plane, vcs;
    struct dpdk_job job;
};

static inline struct dpdk_expected dpdk_expect(unsigned plane, unsigned vcs, struct dpdk_job job)
{
    return (struct dpdk_expected){plane, vcs, job};
}

static inline bool dpdk_read_header(struct hx_desc *d, const uint8_t *frame, uint32_t bytes,
                                    const struct dpdk_expected *expected, uint64_t address)
{
    return dpdk_read_header_scalar(d, frame, bytes, expected->plane, expected->vcs, expected->job, address);
}
#endif

/* Writes the hop fields of an outgoing frame, without a grant; dpdk_write_grant() adds one. The stores have an integer
 * type of their own: a compiler assumes that byte stores alias any object. */
typedef uint32_t dpdk_unaligned32 __attribute__((aligned(1)));

static inline void dpdk_write_hop(uint8_t *frame, unsigned vc, unsigned hops)
{
    uint32_t fields =
        (uint32_t)vc | (uint32_t)hops << 8 | (uint32_t)HX_NO_CREDIT << 16; /* the last byte: reserved, 0 */
    *(dpdk_unaligned32 *)(void *)(frame + HX_AT_VC) =
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? fields : __builtin_bswap32(fields);
}

static inline void dpdk_write_grant(uint8_t *frame, unsigned vc, uint32_t limit)
{
    frame[HX_AT_CREDIT_VC] = (uint8_t)vc;
    *(dpdk_unaligned32 *)(void *)(frame + HX_AT_CREDIT_LIMIT) = dpdk_network32(limit);
}

#endif
