/* test_crc32c.c - CRC-32C against published values and against bitwise polynomial division. */
#include "hxmesh/crc32c.h"
#include "tests/support/support_frame.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void noise(uint8_t *data, size_t bytes)
{
    uint64_t seed = 12345;
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)seeded_next(&seed);
}

/* RFC 3720, B.4, and the check value of the catalogues. */
static void published_values(void **state)
{
    (void)state;
    static const uint8_t read_command[48] = {
        0x01, 0xC0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0,
        0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0,
    };
    uint8_t data[32] = {0};
    assert_int_equal(hx_crc32c(0, "123456789", 9), 0xE3069283U);
    assert_int_equal(hx_crc32c(0, read_command, 48), 0xD9963A56U);
    assert_int_equal(hx_crc32c(0, data, 32), 0x8A9136AAU);
    memset(data, 0xFF, sizeof data);
    assert_int_equal(hx_crc32c(0, data, 32), 0x62A8AB43U);
    for (unsigned i = 0; i < 32; i++)
        data[i] = (uint8_t)i;
    assert_int_equal(hx_crc32c(0, data, 32), 0x46DD794EU);
    for (unsigned i = 0; i < 32; i++)
        data[i] = (uint8_t)(31 - i);
    assert_int_equal(hx_crc32c(0, data, 32), 0x113FDB5CU);
}

/* A word with one nonzero byte uses one entry of one table; all 256 values. */
static void every_table_entry(void **state)
{
    (void)state;
    for (unsigned place = 0; place < 4; place++) {
        for (unsigned value = 0; value < 256; value++) {
            uint8_t word[4] = {0};
            word[place] = (uint8_t)value;
            assert_int_equal(hx_crc32c(0, word, 4), support_crc32c(0, word, 4));
            assert_int_equal(hx_crc32c(0, word, 1), support_crc32c(0, word, 1));
        }
    }
}

static void every_length_and_alignment(void **state)
{
    (void)state;
    uint8_t data[300 + 8];
    noise(data, sizeof data);
    for (size_t start = 0; start < 8; start++) {
        for (size_t bytes = 0; bytes <= 300; bytes++)
            assert_int_equal(hx_crc32c(0, data + start, bytes), support_crc32c(0, data + start, bytes));
    }
}

static void crcs_of_pieces_continue(void **state)
{
    (void)state;
    static uint8_t data[8192];
    noise(data, sizeof data);
    uint32_t whole = support_crc32c(0, data, sizeof data);
    for (size_t cut = 0; cut <= sizeof data; cut += 61)
        assert_int_equal(hx_crc32c(hx_crc32c(0, data, cut), data + cut, sizeof data - cut), whole);
}

static void nothing_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t crc = 1; crc != 0; crc <<= 1)
        assert_int_equal(hx_crc32c(crc, "", 0), crc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),           cmocka_unit_test(every_table_entry),
        cmocka_unit_test(every_length_and_alignment), cmocka_unit_test(crcs_of_pieces_continue),
        cmocka_unit_test(nothing_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
