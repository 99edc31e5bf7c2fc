/* test_notice_frame.c - frames of notices (hxmesh/frame.h): each field, each length, each refusal of
 * docs/wire-format.md, and the digest by the document's formula. */
#include "hxmesh/error.h"
#include "hxmesh/notice.h"
#include "tests/support/support_frame.h"
#include "tests/support/support_random.h"
#include "tests/support/support_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = sizeof example_notice };

static void assert_same(const struct hx_notice_frame *a, const struct hx_notice_frame *b)
{
    assert_int_equal(a->plane, b->plane);
    assert_int_equal(a->count, b->count);
    for (unsigned i = 0; i < b->count; i++) {
        assert_int_equal(a->notice[i].node, b->notice[i].node);
        assert_int_equal(a->notice[i].sequence, b->notice[i].sequence);
        assert_true(a->notice[i].dead == b->notice[i].dead);
    }
    assert_true(a->digest == b->digest && a->nonce == b->nonce && a->peer_nonce == b->peer_nonce);
}

static void the_example_is_written_and_read(void **state)
{
    (void)state;
    uint8_t frame[HX_NOTICE_FRAME_BYTES];
    struct hx_notice_frame back;
    memset(frame, 0xA5, sizeof frame);
    assert_int_equal(hx_notice_encode(frame, &example_notices), BYTES);
    assert_memory_equal(frame, example_notice, BYTES);
    for (unsigned i = BYTES; i < sizeof frame; i++)
        assert_int_equal(frame[i], 0xA5);
    assert_int_equal(support_decode_notice(&back, example_notice, BYTES), HX_OK);
    assert_same(&back, &example_notices);
}

/* As many notices as the frame has room for, with all bits in use: a shorter frame is refused, padding is not. */
static void frames_have_none_to_four_notices(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned count = 0; count <= 4; count++) {
        struct hx_notice_frame written = {.plane = 3, .count = (uint8_t)count, .nonce = seeded_next(&seed) | 1};
        struct hx_notice_frame read = {.count = 77};
        uint8_t frame[HX_NOTICE_FRAME_BYTES + 1] = {0};
        written.digest = seeded_next(&seed);
        written.peer_nonce = seeded_next(&seed);
        for (unsigned i = 0; i < count; i++)
            written.notice[i] =
                (struct hx_notice){(uint32_t)seeded_next(&seed), (uint32_t)seeded_next(&seed), seeded_next(&seed)};
        const unsigned bytes = 48 + 16 * count;
        assert_int_equal(hx_notice_encode(frame, &written), bytes);
        assert_int_equal(hx_notice_frame_bytes(count), bytes);
        assert_int_equal(hx_control_kind_of(frame, bytes), HX_NOTICE);
        for (unsigned cut = 0; cut < bytes; cut++)
            assert_int_equal(support_decode_notice(&read, frame, cut), HX_E_SHORT);
        assert_int_equal(read.count, 77);
        assert_int_equal(support_decode_notice(&read, frame, bytes), HX_OK);
        assert_same(&read, &written);
        assert_int_equal(support_decode_notice(&read, frame, bytes + 1), HX_OK);
    }
}

static void no_flipped_bit_passes(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < BYTES * 8; bit++) {
        uint8_t frame[HX_NOTICE_FRAME_BYTES] = {0}; /* with room for four notices */
        struct hx_notice_frame n = {.plane = 77};
        memcpy(frame, example_notice, BYTES);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        unsigned byte = bit / 8;
        bool unknown = byte == 15 || frame[17] > 4; /* another kind, or the position of the checksum is unknown */
        int expected = byte < 12 || unknown ? HX_E_FIELD
                       : byte < 14          ? HX_E_ETHERTYPE
                       : byte < 15          ? HX_E_VERSION
                                            : HX_E_CHECKSUM;
        assert_int_equal(support_decode_notice(&n, frame, sizeof frame), expected);
        assert_int_equal(n.plane, 77);
    }
}

static void every_field_has_its_range(void **state)
{
    (void)state;
    static const struct {
        unsigned offset, size;
        uint64_t value;
        int expected;
    } cases[] = {
        {15, 1, 0, HX_E_FIELD},     {15, 1, 1, HX_E_FIELD},     {15, 1, 3, HX_E_FIELD},      {17, 1, 0, HX_OK},
        {17, 1, 4, HX_E_FIELD},     {17, 1, 5, HX_E_FIELD},     {17, 1, 255, HX_E_FIELD},    {16, 1, 1, HX_E_FIELD},
        {16, 1, 4, HX_E_FIELD},     {18, 2, 1, HX_E_RESERVED},  {18, 2, 256, HX_E_RESERVED}, {20, 4, UINT32_MAX, HX_OK},
        {24, 4, 0, HX_OK},          {28, 8, UINT64_MAX, HX_OK}, {52, 8, 0, HX_OK},           {60, 8, 0, HX_E_FIELD},
        {60, 8, UINT32_MAX, HX_OK}, {68, 8, 0, HX_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t frame[HX_NOTICE_FRAME_BYTES] = {0};
        struct hx_notice_frame n;
        memcpy(frame, example_notice, BYTES);
        for (unsigned k = 0; k < cases[i].size; k++)
            frame[cases[i].offset + k] = (uint8_t)(cases[i].value >> 8 * (cases[i].size - 1 - k));
        support_set_notice_crc(frame);
        if (support_decode_notice(&n, frame, sizeof frame) != cases[i].expected)
            fail_msg("case %zu gave not %d", i, cases[i].expected);
    }
}

static void a_frame_is_of_one_kind(void **state)
{
    (void)state;
    struct hx_notice_frame n;
    struct hx_credit_frame c;
    assert_int_equal(hx_control_kind_of(example_credit, sizeof example_credit), HX_CREDIT);
    assert_int_equal(support_decode_notice(&n, example_credit, sizeof example_credit), HX_E_FIELD);
    assert_int_equal(support_decode_credit(&c, example_notice, BYTES), HX_E_FIELD);
}

static void planes_are_at_most_four(void **state)
{
    (void)state;
    for (unsigned plane = 0; plane < 256; plane++) {
        uint8_t frame[BYTES];
        struct hx_notice_frame n;
        memcpy(frame, example_notice, BYTES);
        frame[1] = frame[7] = frame[16] = (uint8_t)plane;
        support_set_notice_crc(frame);
        assert_int_equal(support_decode_notice(&n, frame, BYTES), plane < 4 ? HX_OK : HX_E_FIELD);
    }
}

/* The document's formula, in other words: multiplication and shifts of 64 bits. */
static uint64_t mixed(uint64_t x)
{
    static const uint64_t factor[] = {0xBF58476D1CE4E5B9, 0x94D049BB133111EB};
    static const unsigned shift[] = {30, 27};
    for (unsigned i = 0; i < 2; i++)
        x = (x ^ x >> shift[i]) * factor[i];
    return x ^ x >> 31;
}

static void the_digest_is_the_documents(void **state)
{
    (void)state;
    uint64_t expected = 0;
    for (unsigned i = 0; i < example_notices.count; i++) {
        const struct hx_notice *k = &example_notices.notice[i];
        expected ^= mixed(mixed((uint64_t)k->node * 4294967296 + k->sequence) ^ k->dead);
    }
    assert_true(expected == example_notices.digest);

    struct world w;
    struct hx_dead_links dead;
    struct hx_notices n;
    world_init(&w, (struct graph_shape){2, 2, 2, 2, 64, 1}, "notice frame");
    void *links = world_allocate(1, hx_dead_links_bytes(&w.g));
    void *memory = world_allocate(1, hx_notices_bytes(&w.g));
    hx_dead_links_init(&dead, &w.g, links);
    hx_notices_init(&n, &w.g, &dead, memory);
    hx_notices_take(&n, 0, &example_notices, 0);
    assert_true(n.digest == example_notices.digest);
    assert_int_equal(dead.count, 2);
    free(links);
    free(memory);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_is_written_and_read), cmocka_unit_test(frames_have_none_to_four_notices),
        cmocka_unit_test(no_flipped_bit_passes),           cmocka_unit_test(every_field_has_its_range),
        cmocka_unit_test(a_frame_is_of_one_kind),          cmocka_unit_test(planes_are_at_most_four),
        cmocka_unit_test(the_digest_is_the_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
