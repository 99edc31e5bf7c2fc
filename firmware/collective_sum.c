/* collective_sum.c - types and operations of collectives (collective_parts.h). */
#include "collective_parts.h"
#include "hxmesh/memory.h"

unsigned hx_collective_element(enum hx_collective_type type)
{
    static const uint8_t bytes[HX_COLLECTIVE_TYPES] = {
        [HX_FLOAT32] = 4, [HX_FLOAT64] = 8, [HX_FLOAT16] = 2, [HX_BFLOAT16] = 2, [HX_INT8] = 1,
        [HX_UINT8] = 1,   [HX_INT32] = 4,   [HX_UINT32] = 4,  [HX_INT64] = 8,    [HX_UINT64] = 8};
    return bytes[type];
}

/* ---- 16-bit floats ---- */

static float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Drops `bits` low bits, rounded to nearest even. */
static uint32_t rounded(uint32_t value, unsigned bits)
{
    const uint32_t half = (uint32_t)1 << (bits - 1);
    return (value + half - 1 + (value >> bits & 1U)) >> bits;
}

static float from_bfloat16(uint16_t half)
{
    return of_bits((uint32_t)half << 16);
}

static uint16_t to_bfloat16(float value)
{
    const uint32_t bits = bits_of(value);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40U); /* a quiet NaN */
    return (uint16_t)rounded(bits, 16);
}

/* float16: 1 bit sign, 5 bits exponent (bias 15), 10 bits fraction. */
static float from_float16(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000U) << 16;
    const uint32_t exponent = half >> 10 & 0x1FU;
    const uint32_t fraction = half & 0x3FFU;
    if (exponent == 0x1F)
        return of_bits(sign | 0x7F800000U | fraction << 13);
    if (exponent)
        return of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    const float small = (float)fraction / 16777216; /* 2^-24 */
    return sign ? -small : small;
}

static uint16_t to_float16(float value)
{
    const uint32_t bits = bits_of(value);
    const uint32_t sign = bits >> 16 & 0x8000U;
    const uint32_t size = bits & 0x7FFFFFFFU;
    if (size > 0x7F800000U)
        return (uint16_t)(sign | 0x7E00U | (size >> 13 & 0x3FFU)); /* a quiet NaN */
    if (size >= 0x477FF000U)                                       /* at least 65,520: rounds to infinity */
        return (uint16_t)(sign | 0x7C00U);
    if (size >= 0x38800000U) /* at least 2^-14: normal */
        return (uint16_t)(sign | rounded(size - 0x38000000U, 13));
    if (size < 0x33000000U) /* less than 2^-25: rounds to 0 */
        return (uint16_t)sign;
    const unsigned shift = 126 - (size >> 23);
    return (uint16_t)(sign | rounded((size & 0x7FFFFFU) | 0x800000U, shift));
}

/* ---- operations ---- */

#define COMBINED(operation, a, b)                                                                                      \
    ((operation) == HX_SUM ? (a) + (b) : ((operation) == HX_MAX) == ((a) > (b)) ? (a) : (b))

/* Two elements become one; `load` and `store` convert, sums are of type `type`. */
#define COMBINE(stored, type, load, store)                                                                             \
    for (uint64_t i = 0; i < count; i++) {                                                                             \
        stored a, b;                                                                                                   \
        memcpy(&a, to + i * sizeof a, sizeof a);                                                                       \
        memcpy(&b, from + i * sizeof b, sizeof b);                                                                     \
        const type x = load(a);                                                                                        \
        const type y = load(b);                                                                                        \
        a = store(COMBINED(operation, x, y));                                                                          \
        memcpy(to + i * sizeof a, &a, sizeof a);                                                                       \
    }                                                                                                                  \
    break

#define SAME(value) (value)

/* Sums wrap, so the sign does not matter. */
static void combine_unsigned(unsigned bytes, enum hx_collective_operation operation, uint8_t *to, const uint8_t *from,
                             uint64_t count)
{
    switch (bytes) {
    case sizeof(uint8_t):
        COMBINE(uint8_t, uint32_t, SAME, (uint8_t));
    case sizeof(uint32_t):
        COMBINE(uint32_t, uint32_t, SAME, SAME);
    default:
        COMBINE(uint64_t, uint64_t, SAME, SAME);
    }
}

static void compare_signed(unsigned bytes, enum hx_collective_operation operation, uint8_t *to, const uint8_t *from,
                           uint64_t count)
{
    switch (bytes) {
    case sizeof(int8_t):
        COMBINE(int8_t, int8_t, SAME, (int8_t));
    case sizeof(int32_t):
        COMBINE(int32_t, int32_t, SAME, SAME);
    default:
        COMBINE(int64_t, int64_t, SAME, SAME);
    }
}

static void combine_integers(enum hx_collective_type type, enum hx_collective_operation operation, uint8_t *to,
                             const uint8_t *from, uint64_t count)
{
    bool is_signed = type == HX_INT8 || type == HX_INT32 || type == HX_INT64;
    if (is_signed && operation != HX_SUM)
        compare_signed(hx_collective_element(type), operation, to, from, count);
    else
        combine_unsigned(hx_collective_element(type), operation, to, from, count);
}

void hx_combine(enum hx_collective_type type, enum hx_collective_operation operation, uint8_t *to, const uint8_t *from,
                uint64_t count)
{
    switch (type) {
    case HX_FLOAT32:
        COMBINE(float, float, SAME, SAME);
    case HX_FLOAT64:
        COMBINE(double, double, SAME, SAME);
    case HX_FLOAT16:
        COMBINE(uint16_t, float, from_float16, to_float16);
    case HX_BFLOAT16:
        COMBINE(uint16_t, float, from_bfloat16, to_bfloat16);
    default:
        combine_integers(type, operation, to, from, count);
    }
}
