/* header.h - the few bytes of a frame that every packet's way through the node touches, read and written inline.
 *
 * What is right of a frame is for hx_frame_decode to say. dpdk_read_header only recognises the frames that nearly all
 * are: data packets on whose back a grant comes, in which everything is as it must be. What it does not recognise goes
 * to hx_frame_decode, which may still find it good. What it recognises hx_frame_decode would have found good, with the
 * same values (tests/property/prop_dpdk_header.c). Offsets are those of hxmesh/frame.h.
 *
 * Scalar first; the variant for SSE compares the same bytes in four words of 16 and makes the descriptor of them. */
#ifndef DPDK_HEADER_H
#define DPDK_HEADER_H

#include "hxmesh/frame.h"
#include "hxmesh/switch.h"

#include <stdbool.h>
#include <string.h>

static inline uint16_t dpdk_get16(const uint8_t *at)
{
    uint16_t word;
    memcpy(&word, at, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(word) : word;
}

static inline uint32_t dpdk_get32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(word) : word;
}

/* Whether length, offset and message_packets of a data frame fit together, and the frame holds its payload. */
static inline bool dpdk_extent_is_good(const uint8_t *frame, uint32_t bytes, uint32_t length)
{
    uint32_t offset = dpdk_get32(frame + 44);
    uint32_t packets = dpdk_get32(frame + 48);
    bool last = length < HX_MAX_PAYLOAD && offset + 1 == packets;
    return offset < packets && (length == HX_MAX_PAYLOAD || last) && bytes >= HX_HEADER_BYTES + length;
}

/* `bytes`: of the frame, 64 at least, of which the first 64 are contiguous. Fills *d; `address` is where the frame's
 * mbuf lies. False: not recognised. */
static inline bool dpdk_read_header_scalar(struct hx_desc *d, const uint8_t *frame, uint32_t bytes, unsigned plane,
                                           uint64_t address)
{
    uint32_t wrong = (uint32_t)(dpdk_get16(frame) ^ (0x0200U | plane)) | (dpdk_get16(frame + 6) ^ (0x0200U | plane));
    wrong |= dpdk_get32(frame + 2) ^ dpdk_get32(frame + 32); /* destination, in MAC and fields */
    wrong |= dpdk_get32(frame + 8) ^ dpdk_get32(frame + 36); /* source */
    wrong |= dpdk_get32(frame + 12) >> 8 ^ (uint32_t)(HX_ETHERTYPE_DATA << 8 | HX_WIRE_VERSION);
    wrong |= dpdk_get16(frame + 18) | dpdk_get32(frame + 60); /* reserved */
    wrong |= dpdk_get16(frame + 28) ^ (HX_DATA << 8 | plane);
    d->length = dpdk_get16(frame + 52);
    d->vc = frame[15];
    d->hops = frame[16];
    d->dst_gx = dpdk_get16(frame + 32);
    d->dst_gy = dpdk_get16(frame + 34);
    d->job = dpdk_get16(frame + 30);
    d->buffer = (uint32_t)address;
    d->flow = (uint16_t)(address >> 32);
    return wrong == 0 && d->vc < HX_VCS && frame[17] < HX_VCS && dpdk_extent_is_good(frame, bytes, d->length);
}

#if defined(__SSE4_1__)
#include <smmintrin.h>

enum { DPDK_NONE = -128 /* in a shuffle: a zero byte */ };

/* Bytes of *d, by where they come from: 15 vc, 16 hops, 30 job, 32 dst_gx and dst_gy, 52 length; numbers turned round. */
static inline __m128i dpdk_descriptor(__m128i first, __m128i second, __m128i third, __m128i fourth)
{
    enum { NO = DPDK_NONE };
    const __m128i vc = _mm_setr_epi8(NO, NO, NO, NO, NO, NO, 15, NO, NO, NO, NO, NO, NO, NO, NO, NO);
    const __m128i hops_job = _mm_setr_epi8(NO, NO, NO, NO, NO, NO, NO, 0, NO, NO, NO, NO, 15, 14, NO, NO);
    const __m128i dst = _mm_setr_epi8(NO, NO, NO, NO, NO, NO, NO, NO, 1, 0, 3, 2, NO, NO, NO, NO);
    const __m128i length = _mm_setr_epi8(NO, NO, NO, NO, 5, 4, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO);
    return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(first, vc), _mm_shuffle_epi8(second, hops_job)),
                        _mm_or_si128(_mm_shuffle_epi8(third, dst), _mm_shuffle_epi8(fourth, length)));
}

/* What the frames of a plane have in common; made once a burst. */
struct dpdk_expected {
    __m128i start, kind;
};

static inline struct dpdk_expected dpdk_expect(unsigned plane)
{
    const char p = (char)plane;
    return (struct dpdk_expected){
        _mm_setr_epi8(2, p, 0, 0, 0, 0, 2, p, 0, 0, 0, 0, (char)0x88, (char)0xB5, HX_WIRE_VERSION, 0),
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, HX_DATA, p, 0, 0)};
}

/* *d is written as a whole: parts written one by one could not be read as a whole without a stall. */
static inline __attribute__((always_inline)) bool dpdk_read_header(struct hx_desc *d, const uint8_t *frame,
                                                                   uint32_t bytes, const struct dpdk_expected *expected,
                                                                   uint64_t address)
{
    enum { NO = DPDK_NONE, ALL = -1 };
    const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)frame);
    const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(frame + 16));
    const __m128i third = _mm_loadu_si128((const __m128i *)(const void *)(frame + 32));
    const __m128i fourth = _mm_loadu_si128((const __m128i *)(const void *)(frame + 48));
    const __m128i places = _mm_setr_epi8(NO, NO, 0, 1, 2, 3, NO, NO, 4, 5, 6, 7, NO, NO, NO, NO);
    const __m128i but_vc = _mm_setr_epi8(ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, 0);
    const __m128i fixed = _mm_setr_epi8(0, 0, ALL, ALL, 0, 0, 0, 0, 0, 0, 0, 0, ALL, ALL, 0, 0);
    const __m128i reserved = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ALL, ALL, ALL, ALL);
    __m128i wrong = _mm_xor_si128(first, _mm_or_si128(_mm_shuffle_epi8(third, places), expected->start));
    wrong = _mm_and_si128(wrong, but_vc);
    wrong = _mm_or_si128(wrong, _mm_xor_si128(_mm_and_si128(second, fixed), expected->kind));
    wrong = _mm_or_si128(wrong, _mm_and_si128(fourth, reserved));
    __m128i made = dpdk_descriptor(first, second, third, fourth);
    made = _mm_insert_epi32(made, (int)(uint32_t)address, 0);
    made = _mm_insert_epi16(made, (int)(address >> 32), 7);
    _mm_storeu_si128((__m128i *)(void *)d, made);
    return _mm_testz_si128(wrong, wrong) && frame[15] < HX_VCS && frame[17] < HX_VCS &&
           dpdk_extent_is_good(frame, bytes, (uint16_t)_mm_extract_epi16(made, 2));
}
_Static_assert(HX_ETHERTYPE_DATA == 0x88B5 && offsetof(struct hx_desc, length) == 4 &&
                   offsetof(struct hx_desc, vc) == 6 && offsetof(struct hx_desc, hops) == 7 &&
                   offsetof(struct hx_desc, dst_gx) == 8 && offsetof(struct hx_desc, job) == 12 &&
                   offsetof(struct hx_desc, flow) == 14,
               "what dpdk_read_header lays out");
#else
struct dpdk_expected {
    unsigned plane;
};

static inline struct dpdk_expected dpdk_expect(unsigned plane)
{
    return (struct dpdk_expected){plane};
}

static inline bool dpdk_read_header(struct hx_desc *d, const uint8_t *frame, uint32_t bytes,
                                    const struct dpdk_expected *expected, uint64_t address)
{
    return dpdk_read_header_scalar(d, frame, bytes, expected->plane, address);
}
#endif

/* As hx_frame_set_hop. */
static inline void dpdk_write_hop(uint8_t *frame, unsigned vc, unsigned hops, unsigned credit_vc, uint32_t credit_limit)
{
    uint32_t limit = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(credit_limit) : credit_limit;
    frame[15] = (uint8_t)vc;
    frame[16] = (uint8_t)hops;
    frame[17] = (uint8_t)credit_vc;
    memcpy(frame + 20, &limit, sizeof limit);
}

#endif
