/* test_payload.c - payload that can be checked: every wrong byte is counted, for any destination. */
#include "workload/payload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8192, GUARD = 16 };
static const struct payload_id id = {.seed = 1, .source = 2, .destination = 3, .message = 4, .packet = 5};

static void every_length_is_written_and_nothing_beyond(void **state)
{
    (void)state;
    static uint8_t data[MOST + GUARD];
    static uint8_t longest[MOST];
    payload_write(&id, longest, MOST);
    for (unsigned bytes = 0; bytes <= MOST; bytes += bytes < 70 ? 1 : 1013) {
        memset(data, 0xA5, sizeof data);
        payload_write(&id, data, bytes);
        assert_memory_equal(data, longest, bytes);
        for (unsigned i = bytes; i < bytes + GUARD; i++)
            assert_int_equal(data[i], 0xA5);
        assert_int_equal(payload_wrong_bytes(&id, data, bytes), 0);
    }
}

static void every_wrong_byte_is_counted(void **state)
{
    (void)state;
    uint8_t data[77];
    for (unsigned bytes = 1; bytes <= sizeof data; bytes += 4) {
        payload_write(&id, data, bytes);
        for (unsigned i = 0; i < bytes; i++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                data[i] ^= (uint8_t)(1U << bit);
                assert_int_equal(payload_wrong_bytes(&id, data, bytes), 1);
                data[i] ^= (uint8_t)(1U << bit);
            }
        }
        for (unsigned i = 0; i < bytes; i++) {
            data[i] ^= 0x80;
            assert_int_equal(payload_wrong_bytes(&id, data, bytes), i + 1);
        }
    }
}

static void aligned_or_not(void **state)
{
    (void)state;
    uint8_t data[100 + 8];
    for (unsigned shift = 0; shift < 8; shift++) {
        payload_write(&id, data + shift, 100);
        assert_int_equal(payload_wrong_bytes(&id, data + shift, 100), 0);
    }
}

/* As the payload of another packet, most bytes are wrong. */
static void packets_differ(void **state)
{
    (void)state;
    static uint8_t data[MOST];
    payload_write(&id, data, MOST);
    for (unsigned field = 0; field < 5; field++) {
        for (unsigned bit = 0; bit < 32; bit++) {
            struct payload_id another = id;
            another.seed ^= field == 0 ? (uint64_t)1 << 2 * bit : 0;
            another.source ^= field == 1 ? 1U << bit : 0;
            another.destination ^= field == 2 ? 1U << bit : 0;
            another.message ^= field == 3 ? 1U << bit : 0;
            another.packet ^= field == 4 ? 1U << bit : 0;
            assert_true(payload_wrong_bytes(&another, data, MOST) > MOST / 8 * 7);
        }
    }
    /* Payload shifted by a word, or with its halves swapped, is wrong too. */
    assert_true(payload_wrong_bytes(&id, data + 8, MOST - 8) > MOST / 8 * 7);
    struct payload_id back = id;
    back.source = id.destination;
    back.destination = id.source;
    assert_true(payload_wrong_bytes(&back, data, MOST) > MOST / 8 * 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_is_written_and_nothing_beyond),
        cmocka_unit_test(every_wrong_byte_is_counted),
        cmocka_unit_test(aligned_or_not),
        cmocka_unit_test(packets_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
