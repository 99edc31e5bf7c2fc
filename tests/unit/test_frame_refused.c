/* test_frame_refused.c - invalid frames: every rule of the wire format is broken once, and random frames are checked
 * against the table of the document. */
#include "hxmesh/error.h"
#include "tests/support/support_frame.h"
#include "tests/support/support_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

static void frames_cut_short_are_refused(void **state)
{
    (void)state;
    struct hx_header h;
    struct hx_credit_frame c;
    for (size_t bytes = 0; bytes < sizeof example_data; bytes++)
        assert_int_equal(support_decode_data(&h, example_data, bytes), HX_E_SHORT);
    for (size_t bytes = 0; bytes < sizeof example_credit; bytes++)
        assert_int_equal(support_decode_credit(&c, example_credit, bytes), HX_E_SHORT);

    uint8_t padded[sizeof example_data + 40];
    memset(padded, 0xFF, sizeof padded);
    memcpy(padded, example_data, sizeof example_data);
    assert_int_equal(support_decode_data(&h, padded, sizeof padded), HX_OK);
    memset(padded, 0xFF, sizeof padded);
    memcpy(padded, example_credit, sizeof example_credit);
    assert_int_equal(support_decode_credit(&c, padded, sizeof padded), HX_OK);
}

/* A field of a good frame, overwritten. */
struct overwrite {
    unsigned offset, size;
    uint64_t value;
    int expected;
};

static void overwrite(uint8_t *frame, const struct overwrite *o)
{
    for (unsigned i = 0; i < o->size; i++)
        frame[o->offset + i] = (uint8_t)(o->value >> 8 * (o->size - 1 - i));
}

static void check_overwrites(const uint8_t *good, size_t bytes, const struct overwrite *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t frame[HX_MAX_FRAME] = {0};
        struct hx_header h;
        memcpy(frame, good, bytes);
        overwrite(frame, &cases[i]);
        if (support_decode_data(&h, frame, sizeof frame) != cases[i].expected)
            fail_msg("bytes from %u: %llx gave not %d", cases[i].offset, (unsigned long long)cases[i].value,
                     cases[i].expected);
    }
}

static void every_field_has_its_range(void **state)
{
    (void)state;
    static const struct overwrite data[] = {
        {12, 2, 0x88B6, HX_E_ETHERTYPE},
        {12, 2, 0x0800, HX_E_ETHERTYPE},
        {12, 2, 0xB588, HX_E_ETHERTYPE},
        {14, 1, 0, HX_E_VERSION},
        {14, 1, 1, HX_E_VERSION},
        {14, 1, 3, HX_E_VERSION},
        {15, 1, 3, HX_OK},
        {15, 1, 4, HX_E_FIELD},
        {15, 1, 255, HX_E_FIELD},
        {16, 1, 255, HX_OK},
        {17, 1, 3, HX_OK},
        {17, 1, 4, HX_E_FIELD},
        {17, 1, 254, HX_E_FIELD},
        {17, 1, 255, HX_OK},
        {20, 4, UINT32_MAX, HX_OK},
        {24, 4, 0, HX_OK},
        {28, 1, 0, HX_E_FIELD},
        {28, 1, 2, HX_OK},
        {28, 1, 3, HX_E_FIELD},
        {28, 1, 4, HX_E_FIELD},
        {28, 1, 5, HX_E_FIELD},
        {28, 1, 6, HX_E_FIELD},
        {28, 1, 255, HX_E_FIELD},
        {29, 1, 1, HX_E_FIELD},
        {30, 2, 0xFFFF, HX_OK},
        {40, 4, UINT32_MAX, HX_OK},
        {44, 4, 3, HX_E_FIELD},
        {44, 4, 1, HX_E_FIELD},
        {44, 4, UINT32_MAX, HX_E_FIELD},
        {48, 4, 0, HX_E_FIELD},
        {48, 4, 2, HX_E_FIELD},
        {48, 4, 4, HX_E_FIELD},
        {52, 2, 0, HX_OK},
        {52, 2, 8192, HX_OK},
        {52, 2, 8193, HX_E_FIELD},
        {52, 2, 0xFFFF, HX_E_FIELD},
        {54, 2, 0xFFFF, HX_OK},
        {56, 4, UINT32_MAX, HX_OK},
        {60, 4, 0, HX_E_FIELD},
        {60, 4, UINT32_MAX, HX_OK},
    };
    check_overwrites(example_data, sizeof example_data, data, sizeof data / sizeof *data);

    uint8_t full[sizeof example_data];
    memcpy(full, example_data, sizeof full);
    full[52] = 0x20;
    full[53] = 0x00;
    static const struct overwrite whole[] = {
        {44, 4, 0, HX_OK},
        {44, 4, 2, HX_OK},
        {44, 4, 3, HX_E_FIELD},
        {44, 4, UINT32_MAX, HX_E_FIELD},
    };
    check_overwrites(full, sizeof full, whole, sizeof whole / sizeof *whole);

    static const struct overwrite ack[] = {
        {44, 4, 0, HX_OK},         {44, 4, 3, HX_OK},      {44, 4, 4, HX_E_FIELD},
        {48, 4, 1, HX_OK},         {48, 4, 0, HX_E_FIELD}, {52, 2, 8192, HX_OK},
        {52, 2, 8193, HX_E_FIELD}, {52, 2, 0, HX_OK},      {44, 8, 0, HX_E_FIELD}, /* 0 of 0 packets */
    };
    check_overwrites(example_ack, sizeof example_ack, ack, sizeof ack / sizeof *ack);

    uint8_t report[sizeof example_ack];
    memcpy(report, example_ack, sizeof report);
    report[28] = HX_UNREACHABLE;
    report[53] = HX_REPORT_BYTES;
    static const struct overwrite unreachable[] = {
        {52, 2, 5, HX_OK},         {52, 2, 0, HX_E_FIELD}, {52, 2, 4, HX_E_FIELD}, {52, 2, 6, HX_E_FIELD},
        {52, 2, 8192, HX_E_FIELD}, {44, 4, 2, HX_OK},      {44, 4, 3, HX_E_FIELD},
    };
    check_overwrites(report, sizeof report, unreachable, sizeof unreachable / sizeof *unreachable);

    uint8_t probe[64];
    memcpy(probe, example_ack, sizeof probe);
    probe[28] = HX_PROBE;
    probe[53] = 0;
    static const struct overwrite probes[] = {
        {44, 4, 0, HX_E_FIELD},   {44, 4, 1, HX_OK},      {44, 4, 255, HX_OK},
        {44, 4, 256, HX_E_FIELD}, {48, 4, 0, HX_E_FIELD}, {52, 2, 1, HX_E_FIELD},
    };
    check_overwrites(probe, sizeof probe, probes, sizeof probes / sizeof *probes);

    uint8_t hello[80] = {0};
    memcpy(hello, example_ack, 64);
    memset(hello + 40, 0, 12);
    hello[28] = HX_HELLO;
    hello[53] = HX_HELLO_BYTES;
    static const struct overwrite hellos[] = {
        {40, 4, 1, HX_OK},       {44, 4, 1, HX_E_FIELD}, {48, 4, 1, HX_E_FIELD}, {52, 2, 15, HX_E_FIELD},
        {52, 2, 17, HX_E_FIELD}, {56, 4, 1, HX_OK},      {56, 4, 2, HX_E_FIELD}, {52, 2, 16, HX_OK},
    };
    check_overwrites(hello, sizeof hello, hellos, sizeof hellos / sizeof *hellos);
}

static void planes_are_at_most_four(void **state)
{
    (void)state;
    for (unsigned plane = 0; plane < 256; plane++) {
        uint8_t frame[sizeof example_data];
        struct hx_header h;
        memcpy(frame, example_data, sizeof frame);
        frame[1] = frame[7] = frame[29] = (uint8_t)plane;
        assert_int_equal(support_decode_data(&h, frame, sizeof frame), plane < 4 ? HX_OK : HX_E_FIELD);

        struct hx_credit_frame c;
        memcpy(frame, example_credit, sizeof example_credit);
        frame[1] = frame[7] = frame[16] = (uint8_t)plane;
        support_set_credit_crc(frame);
        assert_int_equal(support_decode_credit(&c, frame, 64), plane < 4 ? HX_OK : HX_E_FIELD);
    }
}

static void a_mac_must_agree_with_the_coordinates(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 96; bit++) {
        uint8_t frame[sizeof example_data];
        struct hx_header h;
        struct hx_credit_frame c;
        memcpy(frame, example_data, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(support_decode_data(&h, frame, sizeof frame), HX_E_FIELD);
        memcpy(frame, example_credit, sizeof example_credit);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(support_decode_credit(&c, frame, 64), HX_E_FIELD);
    }
    for (unsigned bit = 32 * 8; bit < 40 * 8; bit++) {
        uint8_t frame[sizeof example_data];
        struct hx_header h;
        memcpy(frame, example_data, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(support_decode_data(&h, frame, sizeof frame), HX_E_FIELD);
    }
}

static bool is_reserved(unsigned byte)
{
    return byte == 18 || byte == 19;
}

static void every_reserved_bit_of_a_credit_frame_is_checked(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64 * 8; bit++) {
        uint8_t frame[sizeof example_data];
        struct hx_credit_frame c;
        if (is_reserved(bit / 8)) {
            memcpy(frame, example_credit, sizeof example_credit);
            frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(support_decode_credit(&c, frame, 64), HX_E_CHECKSUM);
            support_set_credit_crc(frame);
            assert_int_equal(support_decode_credit(&c, frame, 64), HX_E_RESERVED);
        }
    }
}

static void no_flipped_bit_of_a_credit_frame_passes(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64 * 8; bit++) {
        uint8_t frame[64];
        struct hx_credit_frame c = {.plane = 77};
        memcpy(frame, example_credit, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        unsigned byte = bit / 8;
        /* Another kind, or the position of the checksum is unknown. */
        bool unknown = byte == 15 || frame[17] == 0 || frame[17] > 4;
        int expected = byte < 12 || unknown ? HX_E_FIELD
                       : byte < 14          ? HX_E_ETHERTYPE
                       : byte < 15          ? HX_E_VERSION
                                            : HX_E_CHECKSUM;
        assert_int_equal(support_decode_credit(&c, frame, 64), expected);
        assert_int_equal(c.plane, 77);
    }
}

static void a_credit_frame_has_its_ranges(void **state)
{
    (void)state;
    static const struct overwrite cases[] = {
        {15, 1, 0, HX_E_FIELD}, {15, 1, 2, HX_E_FIELD}, {17, 1, 0, HX_E_FIELD}, {17, 1, 5, HX_E_FIELD},
        {17, 1, 4, HX_E_SHORT}, {16, 1, 1, HX_E_FIELD}, {20, 4, 0, HX_OK},      {40, 4, 0, HX_OK},
        {44, 8, 0, HX_E_FIELD}, {44, 8, 1, HX_OK},      {52, 8, 0, HX_OK},      {52, 8, UINT32_MAX, HX_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t frame[HX_CREDIT_FRAME_BYTES] = {0}; /* with the counts of four VCs */
        struct hx_credit_frame c;
        memcpy(frame, example_credit, 64);
        overwrite(frame, &cases[i]);
        support_set_credit_crc(frame);
        assert_int_equal(support_decode_credit(&c, frame, 64), cases[i].expected);
    }
}

/* The document's table of refusals, as a predicate over the bytes. */
static uint32_t field(const uint8_t *frame, unsigned offset, unsigned size)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value = value * 256 + frame[offset + i];
    return value;
}

static bool kind_is_good(const uint8_t *f)
{
    uint32_t kind = f[28], offset = field(f, 44, 4), packets = field(f, 48, 4), length = field(f, 52, 2);
    bool in_message = offset < packets;
    if (kind == 1)
        return in_message && length <= 8192 && (offset + 1 == packets || length == 8192);
    if (kind == 2)
        return packets != 0 && (in_message || offset == packets) && length <= 8192;
    if (kind == 4)
        return packets != 0 && offset >= 1 && offset <= 255 && length == 0;
    if (kind == 5)
        return offset == 0 && packets == 0 && field(f, 56, 4) <= 1 && length == 16;
    return kind == 3 && in_message && length == 5;
}

static bool is_good(const uint8_t *f, size_t bytes)
{
    return bytes >= 64 && field(f, 12, 2) == 0x88B5 && f[14] == 2 && f[15] <= 3 && (f[17] <= 3 || f[17] == 255) &&
           field(f, 60, 4) != 0 && f[29] <= 3 && f[0] == 2 && f[6] == 2 && f[1] == f[29] && f[7] == f[29] &&
           field(f, 2, 4) == field(f, 32, 4) && field(f, 8, 4) == field(f, 36, 4) && kind_is_good(f) &&
           bytes >= 64 + field(f, 52, 2);
}

/* Edge values of fields are more likely than others. */
static uint8_t random_byte(uint64_t *seed)
{
    static const uint8_t edges[] = {0, 1, 2, 3, 4, 0x1F, 0x20, 0x21, 0xFE, 0xFF};
    uint64_t r = seeded_next(seed);
    return r & 1 ? edges[(r >> 1) % sizeof edges] : (uint8_t)(r >> 8);
}

static void random_frames_agree_with_the_table(void **state)
{
    (void)state;
    uint64_t seed = 1;
    unsigned good = 0;
    for (unsigned run = 0; run < 100000; run++) {
        uint8_t frame[HX_MAX_FRAME + 16] = {0}, again[64];
        const uint8_t *from = run & 1 ? example_data : example_ack;
        memcpy(frame, from, run & 1 ? sizeof example_data : sizeof example_ack);
        static const uint8_t kinds[][2] = {
            {HX_UNREACHABLE, HX_REPORT_BYTES}, {HX_PROBE, 0}, {HX_HELLO, HX_HELLO_BYTES}};
        if (run & 2) {
            const uint8_t *kind = kinds[run / 8 % 3];
            frame[28] = kind[0];
            frame[53] = kind[1];
            memset(frame + 40, 0, kind[0] == HX_HELLO ? 12 : 0);
            memset(frame + 56, 0, kind[0] == HX_HELLO ? 3 : 0);
            frame[59] = (uint8_t)(run / 32 % 3);
        }
        for (uint64_t changes = seeded_next(&seed) % 4; changes > 0; changes--)
            frame[seeded_next(&seed) % 64] = random_byte(&seed);
        if (run % 5 == 0) { /* address and MAC changed together */
            frame[3] = frame[33] = random_byte(&seed);
            frame[10] = frame[38] = random_byte(&seed);
        }
        if (run % 7 == 0) { /* a full packet */
            frame[52] = 0x20;
            frame[53] = 0;
        }
        size_t bytes = seeded_next(&seed) % 100 + (run & 4 ? HX_MAX_FRAME - 84 : 0);
        struct hx_header h;
        int error = support_decode_data(&h, frame, bytes);
        if ((error == HX_OK) != is_good(frame, bytes))
            fail_msg("run %u of seed 1: the decoder says %d", run, error);
        if (error != HX_OK)
            continue;
        good++;
        hx_frame_encode(again, &h);
        assert_memory_equal(again, frame, 64);
    }
    assert_true(good > 10000);
}

static void random_bytes_are_never_a_frame(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (unsigned run = 0; run < 20000; run++) {
        uint8_t frame[128];
        struct hx_header h;
        struct hx_credit_frame c;
        for (size_t i = 0; i < sizeof frame; i++)
            frame[i] = (uint8_t)seeded_next(&seed);
        if (run & 1) {
            frame[12] = 0x88;
            frame[13] = run & 2 ? 0xB5 : 0xB6;
            frame[14] = 2;
        }
        size_t bytes = seeded_next(&seed) % (sizeof frame + 1);
        assert_int_not_equal(support_decode_data(&h, frame, bytes), HX_OK);
        assert_int_not_equal(support_decode_credit(&c, frame, bytes), HX_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_cut_short_are_refused),
        cmocka_unit_test(every_field_has_its_range),
        cmocka_unit_test(planes_are_at_most_four),
        cmocka_unit_test(a_mac_must_agree_with_the_coordinates),
        cmocka_unit_test(every_reserved_bit_of_a_credit_frame_is_checked),
        cmocka_unit_test(no_flipped_bit_of_a_credit_frame_passes),
        cmocka_unit_test(a_credit_frame_has_its_ranges),
        cmocka_unit_test(random_frames_agree_with_the_table),
        cmocka_unit_test(random_bytes_are_never_a_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
