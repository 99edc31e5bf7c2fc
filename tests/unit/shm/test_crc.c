/* test_crc.c - the processor's CRC-32C against the firmware's portable one: every length around its parts, alignments, and
 * CRCs continued. */
#include "fabric-emu/random.h"
#include "hal_port.h"
#include "hxmesh/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Three parts of 1,024 bytes make a round: three rounds, words and bytes behind them, and every alignment. */
enum { ROUND = 3072, MOST = 3 * ROUND + 16 };

static uint8_t data[MOST + 8];

static int fill(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)random_of(1, i, 0);
    return 0;
}

static void is_as_the_portable_one(unsigned from, unsigned bytes)
{
    uint32_t crc = (uint32_t)random_of(2, from, bytes);
    assert_int_equal(hal_crc32c(crc, data + from, bytes), hx_crc32c(crc, data + from, bytes));
}

static void every_short_length_and_alignment(void **state)
{
    (void)state;
    for (unsigned from = 0; from < 8; from++) {
        for (unsigned bytes = 0; bytes <= 64; bytes++)
            is_as_the_portable_one(from, bytes);
    }
}

static void lengths_around_each_round(void **state)
{
    (void)state;
    for (unsigned rounds = 1; rounds <= 3; rounds++) {
        for (unsigned bytes = rounds * ROUND - 16; bytes <= rounds * ROUND + 16; bytes++)
            is_as_the_portable_one(bytes % 8, bytes);
    }
}

/* Any CRC before a round: every entry of the tables that join its parts is read. */
static void each_byte_of_a_crc_is_shifted(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4096; i++)
        assert_int_equal(hal_crc32c((uint32_t)random_of(3, i, 0), data, ROUND),
                         hx_crc32c((uint32_t)random_of(3, i, 0), data, ROUND));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_length_and_alignment),
        cmocka_unit_test(lengths_around_each_round),
        cmocka_unit_test(each_byte_of_a_crc_is_shifted),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
