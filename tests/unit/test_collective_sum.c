/* test_collective_sum.c - types and operations of collectives (firmware/collective_sum.c), against their
 * definitions. */
#include "collective_parts.h"
#include "tests/support/support_effort.h"
#include "tests/support/support_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- 16-bit floats by definition ---- */

struct format {
    enum hx_collective_type type;
    int fraction, bias; /* bits of the fraction */
    int greatest;       /* exponent of infinities and NaN */
};
static const struct format formats[] = {{HX_FLOAT16, 10, 15, 31}, {HX_BFLOAT16, 7, 127, 255}};

static double value_of(const struct format *f, uint16_t bits)
{
    const int exponent = (bits & 0x7FFF) >> f->fraction;
    const int fraction = bits & ((1 << f->fraction) - 1);
    double size = exponent == 0 ? ldexp(fraction, 1 - f->bias - f->fraction)
                                : ldexp(fraction + (1 << f->fraction), exponent - f->bias - f->fraction);
    if (exponent == f->greatest)
        size = fraction ? NAN : INFINITY;
    return bits >> 15 ? -size : size;
}

/* The nearest 16-bit float; of two, the even one. Not of NaN. */
static uint16_t nearest(const struct format *f, double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const uint16_t infinity = (uint16_t)(f->greatest << f->fraction);
    int exponent;
    if (isinf(value))
        return sign | infinity;
    (void)frexp(value, &exponent); /* value = 0.5 .. 1 times 2^exponent */
    int unit = exponent - 1 - f->fraction;
    const int least = 1 - f->bias - f->fraction;
    unit = unit < least || value == 0 ? least : unit;
    const int count = (int)nearbyint(ldexp(fabs(value), -unit)); /* of units in the last place */
    const int bits = count + ((unit - least) << f->fraction);    /* a carry raises the exponent */
    return sign | (uint16_t)(bits < infinity ? bits : infinity);
}

static bool is_nan(const struct format *f, uint16_t bits)
{
    return (bits & 0x7FFF) > f->greatest << f->fraction;
}

static uint16_t combined(const struct format *f, enum hx_collective_operation operation, uint16_t a, uint16_t b)
{
    hx_combine(f->type, operation, (uint8_t *)&a, (const uint8_t *)&b, 1);
    return a;
}

/* The maximum of a value and itself is converted to float32 and back. */
static void all_16_bit_floats_survive_conversion(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        for (uint32_t bits = 0; bits < 1 << 16; bits++) {
            const uint16_t got = combined(&formats[i], HX_MAX, (uint16_t)bits, (uint16_t)bits);
            if (is_nan(&formats[i], (uint16_t)bits))
                assert_true(is_nan(&formats[i], got) && got >> 15 == bits >> 15);
            else
                assert_int_equal(got, bits);
        }
    }
}

static void validate_sum(const struct format *f, uint16_t a, uint16_t b)
{
    const double x = value_of(f, a);
    const double y = value_of(f, b);
    const uint16_t got = combined(f, HX_SUM, a, b);
    if (isnan(x + y)) {
        assert_true(is_nan(f, got));
        return;
    }
    assert_int_equal(got, nearest(f, x + y)); /* in double no tie arises or is lost */
    assert_int_equal(combined(f, HX_SUM, b, a), got);
    if (x == y)
        return;
    assert_int_equal(combined(f, HX_MAX, a, b), x > y ? a : b);
    assert_int_equal(combined(f, HX_MIN, a, b), x > y ? b : a);
}

/* Zeros, subnormal numbers, powers of two and their neighbours, infinities, NaN. */
static unsigned notable(const struct format *f, uint16_t *to)
{
    unsigned count = 0;
    for (int exponent = 0; exponent <= f->greatest; exponent++) {
        bool in_the_middle = exponent > 12 && exponent < f->greatest - 12;
        if (in_the_middle && exponent % 7)
            continue;
        for (int i = -2; i <= 2; i++) {
            const uint16_t bits = (uint16_t)((exponent << f->fraction) + i) & 0x7FFF;
            to[count++] = bits;
            to[count++] = bits | 0x8000;
        }
    }
    return count;
}

static void sums_of_16_bit_floats_are_rounded_to_nearest_even(void **state)
{
    (void)state;
    static uint16_t special[4096];
    for (unsigned i = 0; i < 2; i++) {
        const unsigned count = notable(&formats[i], special);
        uint64_t random = seeded_by(1) + i;
        for (unsigned a = 0; a < count; a++)
            for (unsigned b = 0; b < count; b++)
                validate_sum(&formats[i], special[a], special[b]);
        for (uint32_t n = 0; n < effort(1 << 20); n++) {
            const uint64_t drawn = seeded_next(&random);
            const uint16_t a = (uint16_t)drawn;
            validate_sum(&formats[i], a, (uint16_t)(drawn >> 16));
            /* exponents near each other: carries, ties, cancellation */
            const uint64_t near = a + (drawn >> 32) % (16U << formats[i].fraction);
            validate_sum(&formats[i], a, (uint16_t)(near ^ (drawn >> 63 << 15)));
        }
    }
}

/* ---- 32 and 64 bits ---- */

static void sums_of_floats(void **state)
{
    (void)state;
    const float cases[][2] = {{0.1F, 0.2F}, {16777216, 1}, {16777218, 1}, {3e38F, 3e38F}, {1e-45F, 1e-45F}, {-1, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        float a = cases[i][0];
        hx_combine(HX_FLOAT32, HX_SUM, (uint8_t *)&a, (const uint8_t *)&cases[i][1], 1);
        assert_true(a == (float)((double)cases[i][0] + (double)cases[i][1]));
    }
    double a[2] = {0.1, 4503599627370496.0}, b[2] = {0.2, 0.5};
    hx_combine(HX_FLOAT64, HX_SUM, (uint8_t *)a, (const uint8_t *)b, 2);
    assert_true(a[0] == 0.30000000000000004 && a[1] == 4503599627370496.0);
    hx_combine(HX_FLOAT64, HX_MIN, (uint8_t *)a, (const uint8_t *)b, 2);
    assert_true(a[0] == 0.2 && a[1] == 0.5);
    hx_combine(HX_FLOAT64, HX_MAX, (uint8_t *)b, (const uint8_t *)a, 1);
    assert_true(b[0] == 0.2);
}

/* ---- integers ---- */

struct integer {
    enum hx_collective_type type;
    unsigned bits;
    bool is_signed;
};
static const struct integer integers[] = {{HX_INT8, 8, true},     {HX_UINT8, 8, false}, {HX_INT32, 32, true},
                                          {HX_UINT32, 32, false}, {HX_INT64, 64, true}, {HX_UINT64, 64, false}};

/* Order of integers: signed ones with the highest bit inverted. */
static uint64_t rank_of(const struct integer *t, uint64_t value)
{
    return t->is_signed ? value ^ (uint64_t)1 << (t->bits - 1) : value;
}

/* At odd addresses, with guards. */
static uint64_t combined_integers(const struct integer *t, enum hx_collective_operation operation, uint64_t a,
                                  uint64_t b)
{
    const unsigned bytes = t->bits / 8;
    uint8_t to[1 + 2 * 8 + 1], from[1 + 2 * 8];
    uint64_t got[2] = {0, 0};
    memset(to, 0xA5, sizeof to);
    for (unsigned i = 0; i < 2; i++) {
        memcpy(to + 1 + i * bytes, &a, bytes);
        memcpy(from + 1 + i * bytes, &b, bytes);
    }
    hx_combine(t->type, operation, to + 1, from + 1, 2);
    for (unsigned i = 0; i < 2; i++)
        memcpy(&got[i], to + 1 + i * bytes, bytes);
    assert_true(got[0] == got[1] && to[0] == 0xA5 && to[1 + 2 * bytes] == 0xA5);
    return got[0];
}

static void validate_integers(const struct integer *t, uint64_t a, uint64_t b)
{
    const uint64_t mask = UINT64_MAX >> (64 - t->bits);
    a &= mask;
    b &= mask;
    bool greater = rank_of(t, a) > rank_of(t, b);
    assert_true(combined_integers(t, HX_SUM, a, b) == ((a + b) & mask));
    assert_true(combined_integers(t, HX_MAX, a, b) == (greater ? a : b));
    assert_true(combined_integers(t, HX_MIN, a, b) == (greater ? b : a));
}

static void integers_wrap_and_compare(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof integers / sizeof *integers; i++) {
        const struct integer *t = &integers[i];
        uint64_t random = seeded_by(1);
        assert_int_equal(hx_collective_element(t->type), t->bits / 8);
        for (uint32_t n = 0; n < 1 << 16; n++) {
            const uint64_t high = (uint64_t)1 << (t->bits - 1);
            uint64_t a = t->bits == 8 ? n & 0xFF : seeded_next(&random);
            uint64_t b = t->bits == 8 ? n >> 8 : seeded_next(&random);
            if (t->bits > 8 && n < 64) { /* neighbours of 0 and of the highest bit */
                a = (n & 32 ? high : 0) + (n & 3) - 2;
                b = (n & 16 ? high : 0) + (n >> 2 & 3) - 2;
            }
            validate_integers(t, a, b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_16_bit_floats_survive_conversion),
        cmocka_unit_test(sums_of_16_bit_floats_are_rounded_to_nearest_even),
        cmocka_unit_test(sums_of_floats),
        cmocka_unit_test(integers_wrap_and_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
