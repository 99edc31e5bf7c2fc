/* crc32c.c - CRC-32C with the processor's own instructions (crc32c.h).
 *
 *     portable   the firmware's
 *     streams    the CRC instruction of SSE 4.2 or of ARMv8. It takes 8 bytes a cycle with a latency of three, so
 *                three parts of the data run in parallel
 *     folding    carry-less products of AVX-512 (VPCLMULQDQ), 256 bytes an iteration
 *
 * Both join parts by one fact: a CRC is the data, read as a polynomial, modulo P. So a part may be replaced by anything
 * with the same remainder, and n zero bits behind it multiply it by x^n. */
#include "hal/simd/crc32c.h"
#include "hxmesh/crc32c.h"
#include "hxmesh/memory.h"

#include <stdbool.h>

/* In remainders, bit i is the coefficient of x^(31 - i): x shifts towards the low bits. P without its x^32. */
#define REMAINDER_ONE 0x80000000U
#define REMAINDER_P   0x82F63B78U

static uint32_t times_x(uint32_t remainder, unsigned times)
{
    for (unsigned n = 0; n < times; n++)
        remainder = remainder >> 1 ^ (REMAINDER_P & -(remainder & 1U));
    return remainder;
}

/* ---- streams ---- */

#if defined(__x86_64__)
#include <immintrin.h>
#define STREAMS_TARGET      __attribute__((target("sse4.2")))
#define CRC_WORD(crc, word) _mm_crc32_u64((crc), (word))
#define CRC_BYTE(crc, byte) _mm_crc32_u8((crc), (byte))
typedef uint64_t crc_register;

static bool has_streams(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define STREAMS_TARGET      __attribute__((target("+crc")))
#define CRC_WORD(crc, word) __crc32cd((crc), (word))
#define CRC_BYTE(crc, byte) __crc32cb((crc), (byte))
typedef uint32_t crc_register;

static bool has_streams(void)
{
    return getauxval(AT_HWCAP) & HWCAP_CRC32;
}
#endif

#if defined(STREAMS_TARGET)

enum { PART = 680, ROUND = 3 * PART }; /* bytes; four iterations are a full packet except for its header */

/* Maps a part's CRC to that of the part with PART zero bytes behind it: the sum of an entry for each byte. */
struct shift_table {
    uint32_t of[4][256]; /* [byte of the CRC][its value] */
};

static struct shift_table behind_part;

static void shift_table_init(struct shift_table *t)
{
    uint32_t image[32];
    for (unsigned bit = 0; bit < 32; bit++)
        image[bit] = times_x((uint32_t)1 << bit, PART * 8);
    for (unsigned byte = 0; byte < 4; byte++) {
        for (unsigned value = 0; value < 256; value++) {
            uint32_t sum = 0;
            for (unsigned bit = 0; bit < 8; bit++)
                sum ^= value >> bit & 1U ? image[8 * byte + bit] : 0;
            t->of[byte][value] = sum;
        }
    }
}

static uint32_t shift(const struct shift_table *t, uint32_t crc)
{
    return t->of[0][crc & 255] ^ t->of[1][crc >> 8 & 255] ^ t->of[2][crc >> 16 & 255] ^ t->of[3][crc >> 24];
}

static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Take and return CRCs in the instruction's form: not inverted. */
STREAMS_TARGET static uint32_t tail_crc(uint32_t crc, const uint8_t *at, size_t bytes)
{
    crc_register sum = crc;
    for (; bytes >= 8; at += 8, bytes -= 8)
        sum = CRC_WORD(sum, word_at(at));
    uint32_t last = (uint32_t)sum;
    for (; bytes; at++, bytes--)
        last = CRC_BYTE(last, *at);
    return last;
}

STREAMS_TARGET static uint32_t round_crc(uint32_t crc, const uint8_t *at)
{
    crc_register first = crc;
    crc_register second = 0;
    crc_register third = 0;
    for (size_t i = 0; i < PART; i += 8) {
        first = CRC_WORD(first, word_at(at + i));
        second = CRC_WORD(second, word_at(at + PART + i));
        third = CRC_WORD(third, word_at(at + 2 * (size_t)PART + i));
    }
    return shift(&behind_part, shift(&behind_part, (uint32_t)first) ^ (uint32_t)second) ^ (uint32_t)third;
}

STREAMS_TARGET static uint32_t crc_streams(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uint32_t sum = ~crc;
    for (; bytes >= ROUND; at += ROUND, bytes -= ROUND)
        sum = round_crc(sum, at);
    return ~tail_crc(sum, at, bytes);
}

#endif

/* ---- folding ---- */

#if defined(__x86_64__)

#define FOLDING_TARGET __attribute__((target("sse4.2,avx512f,avx512vl,pclmul,vpclmulqdq")))
/* Bytes; a lane is the operand of one product. */
enum { LANE = 16, VECTOR = 4 * LANE, BATCH = 4 * VECTOR, LINE = 64 };
/* Prefetch distance: a page, as hardware prefetch stops there. Prefetches beyond the data are useful: buffers are
 * mostly used in the order of their addresses. */
enum { AHEAD = 4096 };

/* Multipliers of both halves of a lane that move it by a distance. A product of two reflected words has one bit too
 * few, hence one x less in each. */
struct multiplier {
    uint64_t of[2];
};

static struct {
    struct multiplier batch, vector, lane[3]; /* lane[n]: by n + 1 lanes */
} behind;

static struct multiplier multiplier_over(unsigned bytes)
{
    const uint32_t over = times_x(REMAINDER_ONE, bytes * 8 - 1);
    return (struct multiplier){{(uint64_t)times_x(over, 64) << 32, (uint64_t)over << 32}};
}

static void multipliers_init(void)
{
    behind.batch = multiplier_over(BATCH);
    behind.vector = multiplier_over(VECTOR);
    for (unsigned n = 0; n < 3; n++)
        behind.lane[n] = multiplier_over((n + 1) * LANE);
}

FOLDING_TARGET static __m512i in_each_lane(const struct multiplier *by)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)by));
}

/* Moves `sum` by a distance and adds what is there. */
FOLDING_TARGET static __m512i fold(__m512i sum, __m512i by, __m512i onto)
{
    __m512i low = _mm512_clmulepi64_epi128(sum, by, 0x00);
    __m512i high = _mm512_clmulepi64_epi128(sum, by, 0x11);
    return _mm512_ternarylogic_epi64(low, high, onto, 0x96); /* XOR of the three */
}

FOLDING_TARGET static __m128i fold_lane(__m128i sum, const struct multiplier *multiplier, __m128i onto)
{
    __m128i by = _mm_loadu_si128((const __m128i *)(const void *)multiplier);
    return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(sum, by, 0x00), _mm_clmulepi64_si128(sum, by, 0x11)), onto);
}

/* Returns one lane with the same remainder. */
FOLDING_TARGET static __m128i join_lanes(__m512i sum)
{
    __m128i last = _mm512_extracti32x4_epi32(sum, 3);
    last = fold_lane(_mm512_extracti32x4_epi32(sum, 2), &behind.lane[0], last);
    last = fold_lane(_mm512_extracti32x4_epi32(sum, 1), &behind.lane[1], last);
    return fold_lane(_mm512_castsi512_si128(sum), &behind.lane[2], last);
}

FOLDING_TARGET static __m512i vector_at(const uint8_t *at)
{
    return _mm512_loadu_si512(at);
}

/* Whole batches, at least one: four parallel sums, each moved by a batch. */
FOLDING_TARGET static uint32_t batches_crc(uint32_t crc, const uint8_t *at, size_t bytes)
{
    const __m512i over_batch = in_each_lane(&behind.batch);
    const __m512i over_vector = in_each_lane(&behind.vector);
    __m512i a = _mm512_xor_si512(vector_at(at), _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    __m512i b = vector_at(at + VECTOR);
    __m512i c = vector_at(at + 2 * VECTOR);
    __m512i d = vector_at(at + 3 * VECTOR);
    for (size_t i = BATCH; i < bytes; i += BATCH) {
        for (unsigned line = 0; line < BATCH; line += LINE)
            _mm_prefetch((const char *)at + i + AHEAD + line, _MM_HINT_T0);
        a = fold(a, over_batch, vector_at(at + i));
        b = fold(b, over_batch, vector_at(at + i + VECTOR));
        c = fold(c, over_batch, vector_at(at + i + 2 * VECTOR));
        d = fold(d, over_batch, vector_at(at + i + 3 * VECTOR));
    }
    __m128i lane = join_lanes(fold(fold(fold(a, over_vector, b), over_vector, c), over_vector, d));
    uint64_t first = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(lane));
    return (uint32_t)_mm_crc32_u64(first, (uint64_t)_mm_extract_epi64(lane, 1));
}

FOLDING_TARGET static uint32_t crc_folding(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    size_t batches = bytes / BATCH * BATCH;
    uint32_t sum = batches ? batches_crc(~crc, at, batches) : ~crc;
    return ~tail_crc(sum, at + batches, bytes - batches);
}

static bool has_folding(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("pclmul") && has_streams();
}

#endif

/* ---- selection ---- */

/* Written before main, then read-only. */
static uint32_t (*variant_there[SIMD_CRC32C_VARIANTS])(uint32_t, const void *, size_t) = {hx_crc32c};
static uint32_t (*widest)(uint32_t, const void *, size_t) = hx_crc32c;

__attribute__((constructor)) static void prepare(void)
{
#if defined(STREAMS_TARGET)
    shift_table_init(&behind_part);
    if (has_streams())
        widest = variant_there[1] = crc_streams;
#endif
#if defined(FOLDING_TARGET)
    multipliers_init();
    if (has_folding())
        widest = variant_there[2] = crc_folding;
#endif
}

uint32_t (*simd_crc32c_variant(unsigned variant))(uint32_t, const void *, size_t)
{
    return variant < SIMD_CRC32C_VARIANTS ? variant_there[variant] : NULL;
}

uint32_t simd_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return widest(crc, data, bytes);
}
