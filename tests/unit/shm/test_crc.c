/* test_crc.c - each CRC-32C of this machine's processor against the firmware's portable one: every length around
 * their parts, alignments, and continued CRCs. */
#include "hal/simd/crc32c.h"
#include "hal_port.h"
#include "hxmesh/crc32c.h"
#include "workload/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* One method takes rounds of three parts of 680 bytes, another batches of 256 bytes. */
enum { ROUND = 2040, BATCH = 256, ROUNDS = 4, MOST = ROUNDS * ROUND + 16 };

static uint8_t data[MOST + 8];

static int fill(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)random_of(1, i, 0);
    return 0;
}

static void every_way_is_as_the_portable_one(uint32_t crc, unsigned from, unsigned bytes)
{
    uint32_t ought = hx_crc32c(crc, data + from, bytes);
    assert_int_equal(hal_crc32c(crc, data + from, bytes), ought);
    for (unsigned variant = 0; variant < SIMD_CRC32C_VARIANTS; variant++) {
        if (simd_crc32c_variant(variant))
            assert_int_equal(simd_crc32c_variant(variant)(crc, data + from, bytes), ought);
    }
}

static void every_short_length_and_alignment(void **state)
{
    (void)state;
    for (unsigned from = 0; from < 8; from++) {
        for (unsigned bytes = 0; bytes <= 64; bytes++)
            every_way_is_as_the_portable_one((uint32_t)random_of(2, from, bytes), from, bytes);
    }
}

static void lengths_around_multiples_of(unsigned part, unsigned most)
{
    for (unsigned whole = part; whole <= most; whole += part) {
        for (unsigned bytes = whole - 16; bytes <= whole + 16; bytes++)
            every_way_is_as_the_portable_one((uint32_t)random_of(2, 8, bytes), bytes % 8, bytes);
    }
}

static void lengths_around_each_round(void **state)
{
    (void)state;
    lengths_around_multiples_of(ROUND, ROUNDS * ROUND);
    lengths_around_multiples_of(BATCH, 8 * BATCH);
}

/* Any CRC before a round: every entry of the tables that join its parts is used. */
static void each_byte_of_a_crc_is_shifted(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4096; i++)
        every_way_is_as_the_portable_one((uint32_t)random_of(3, i, 0), 0, ROUND);
}

/* Each bit of a batch alone: every multiplier meets every bit. */
static void each_bit_counts(void **state)
{
    (void)state;
    static uint8_t bits[2 * BATCH];
    for (unsigned bit = 0; bit < sizeof bits * 8; bit++) {
        bits[bit / 8] = (uint8_t)(1U << bit % 8);
        uint32_t ought = hx_crc32c(0, bits, sizeof bits);
        for (unsigned variant = 0; variant < SIMD_CRC32C_VARIANTS; variant++) {
            if (simd_crc32c_variant(variant))
                assert_int_equal(simd_crc32c_variant(variant)(0, bits, sizeof bits), ought);
        }
        bits[bit / 8] = 0;
    }
}

/* A million bytes, which take longer than a tick of any clock. */
static void time_is_counted_on_request(void **state)
{
    (void)state;
    struct shm_clock clock;
    shm_clock_start(&clock);
    for (unsigned n = 0; n < 128; n++)
        (void)hal_crc32c(0, data, sizeof data);
    assert_int_equal(shm_crc.ns, 0);
    shm_crc.clock = &clock;
    uint64_t begin = shm_clock_ns(&clock);
    for (unsigned n = 0; n < 128; n++)
        (void)hal_crc32c(0, data, sizeof data);
    uint64_t all = shm_clock_ns(&clock) - begin;
    shm_crc.clock = NULL;
    assert_true(shm_crc.ns > 0 && shm_crc.ns <= all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_length_and_alignment), cmocka_unit_test(lengths_around_each_round),
        cmocka_unit_test(each_byte_of_a_crc_is_shifted),    cmocka_unit_test(each_bit_counts),
        cmocka_unit_test(time_is_counted_on_request),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
