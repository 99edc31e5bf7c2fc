/* test_frame.c - the wire format: examples byte by byte (also those of docs/wire-format.md), fields that a hop
 * changes, coverage of the checksum. */
#include "hxmesh/error.h"
#include "tests/support/support_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_same_header(const struct hx_header *a, const struct hx_header *b)
{
    assert_int_equal(a->vc, b->vc);
    assert_int_equal(a->hops, b->hops);
    assert_int_equal(a->credit_vc, b->credit_vc);
    assert_int_equal(a->credit_limit, b->credit_limit);
    assert_int_equal(a->crc, b->crc);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->plane, b->plane);
    assert_int_equal(a->job, b->job);
    assert_int_equal(a->dst_addr_hi, b->dst_addr_hi);
    assert_int_equal(a->dst_addr_lo, b->dst_addr_lo);
    assert_int_equal(a->src_addr_hi, b->src_addr_hi);
    assert_int_equal(a->src_addr_lo, b->src_addr_lo);
    assert_int_equal(a->message, b->message);
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->message_packets, b->message_packets);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->peer_epoch, b->peer_epoch);
    assert_int_equal(a->tag, b->tag);
}

/* Encodes over random bytes: every header byte must be written, none behind it. */
static void check_encoding(const struct hx_header *h, const uint8_t *expected, size_t bytes)
{
    uint8_t frame[128];
    memset(frame, 0xA5, sizeof frame);
    memcpy(frame + 64, expected + 64, bytes - 64);
    hx_frame_encode(frame, h);
    assert_memory_equal(frame, expected, bytes);
    for (size_t i = bytes; i < sizeof frame; i++)
        assert_int_equal(frame[i], 0xA5);
    assert_int_equal(hx_frame_crc(frame, h->length), h->crc);

    struct hx_header back;
    assert_int_equal(support_decode_data(&back, expected, bytes), HX_OK);
    assert_same_header(&back, h);
}

static void examples_are_written_and_read(void **state)
{
    (void)state;
    check_encoding(&example_data_header, example_data, sizeof example_data);
    check_encoding(&example_ack_header, example_ack, sizeof example_ack);

    uint8_t frame[HX_CREDIT_FRAME_BYTES];
    memset(frame, 0xA5, sizeof frame);
    assert_int_equal(hx_credit_encode(frame, &example_credit_counts), 64);
    assert_memory_equal(frame, example_credit, 64);
    for (unsigned i = 64; i < sizeof frame; i++)
        assert_int_equal(frame[i], 0xA5);
    struct hx_credit_frame back;
    assert_int_equal(support_decode_credit(&back, example_credit, 64), HX_OK);
    assert_int_equal(back.plane, example_credit_counts.plane);
    assert_memory_equal(back.limit, example_credit_counts.limit, sizeof back.limit);
    assert_memory_equal(back.sent, example_credit_counts.sent, sizeof back.sent);
    assert_true(back.nonce == example_credit_counts.nonce);
    assert_true(back.peer_nonce == example_credit_counts.peer_nonce);
}

static void credit_frames_name_their_plane(void **state)
{
    (void)state;
    for (unsigned plane = 0; plane < HX_MAX_PLANES; plane++) {
        const struct hx_credit_frame written = {.plane = (uint8_t)plane, .vcs = 1, .nonce = 1};
        struct hx_credit_frame read = {.plane = HX_MAX_PLANES};
        uint8_t frame[HX_CREDIT_FRAME_BYTES];
        hx_credit_encode(frame, &written);
        assert_int_equal(hx_credit_decode(&read, frame, sizeof frame), HX_OK);
        assert_int_equal(read.plane, plane);
    }
}

/* One pair of counts a VC, and no more bytes: a shorter frame is refused, padding is not. */
static void credit_frames_have_counts_for_each_vc(void **state)
{
    (void)state;
    for (unsigned vcs = 1; vcs <= 4; vcs++) {
        struct hx_credit_frame written = {.plane = 2, .vcs = (uint8_t)vcs, .nonce = UINT64_MAX - vcs, .peer_nonce = 7};
        struct hx_credit_frame read = {.vcs = 77};
        uint8_t frame[HX_CREDIT_FRAME_BYTES + 1] = {0};
        for (unsigned vc = 0; vc < vcs; vc++) {
            written.limit[vc] = UINT32_MAX - vc;
            written.sent[vc] = 1000 + vc;
        }
        assert_int_equal(hx_credit_encode(frame, &written), 40 + 8 * vcs);
        assert_int_equal(support_decode_credit(&read, frame, 40 + 8 * vcs - 1), HX_E_SHORT);
        assert_int_equal(read.vcs, 77);
        assert_int_equal(support_decode_credit(&read, frame, 40 + 8 * vcs + 1), HX_OK);
        assert_int_equal(read.plane, 2);
        assert_int_equal(read.vcs, vcs);
        assert_memory_equal(read.limit, written.limit, sizeof read.limit);
        assert_memory_equal(read.sent, written.sent, sizeof read.sent);
        assert_true(read.nonce == written.nonce && read.peer_nonce == 7);
    }
}

/* Opens docs/wire-format.md beside this source file's tests/ folder, at the start of the listing `name`. */
static FILE *open_listing(const char *name)
{
    static const char from_here[] = "/../../docs/wire-format.md";
    char path[4096], line[512], start[64];
    const char *slash = strrchr(__FILE__, '/');
    int folder = slash ? (int)(slash - __FILE__) : 0;
    (void)snprintf(path, sizeof path, "%.*s%s", folder, __FILE__, slash ? from_here : from_here + 1);
    (void)snprintf(start, sizeof start, "```text %s\n", name);
    FILE *doc = fopen(path, "r");
    assert_non_null(doc);
    while (fgets(line, sizeof line, doc)) {
        if (strcmp(line, start) == 0)
            return doc;
    }
    fclose(doc);
    fail_msg("%s has no listing '%s'", path, name);
    return NULL;
}

/* A line of a listing: four digits of offset, two blanks, bytes with a blank behind each, a note after two more. */
static void check_listing(const char *name, const uint8_t *expected, size_t bytes)
{
    FILE *doc = open_listing(name);
    char line[512];
    size_t at = 0;
    while (fgets(line, sizeof line, doc) && strncmp(line, "```", 3) != 0) {
        assert_int_equal(strtoul(line, NULL, 16), at);
        const char *text = line + 6;
        while (text[0] != ' ' && text[0] != '\n') {
            assert_true(at < bytes);
            assert_int_equal(strtoul(text, NULL, 16), expected[at]);
            at++;
            text += text[2] == ' ' ? 3 : 2;
        }
    }
    assert_int_equal(at, bytes);
    fclose(doc);
}

static void the_document_shows_the_same_bytes(void **state)
{
    (void)state;
    check_listing("data", example_data, sizeof example_data);
    check_listing("acknowledgement", example_ack, sizeof example_ack);
    check_listing("credit", example_credit, sizeof example_credit);
    check_listing("notice", example_notice, sizeof example_notice);
}

static void a_hop_changes_only_its_fields(void **state)
{
    (void)state;
    uint8_t frame[sizeof example_data], expected[sizeof example_data];
    memcpy(frame, example_data, sizeof frame);
    memcpy(expected, example_data, sizeof frame);
    static const uint8_t hop[] = {0x02, 0x04, 0xFF, 0x00, 0x00, 0x12, 0x34, 0x56, 0x78};
    memcpy(expected + 15, hop, sizeof hop);
    hx_frame_set_hop(frame, 2, 4, HX_NO_CREDIT, 0x12345678);
    assert_memory_equal(frame, expected, sizeof frame);

    static const uint8_t crc[] = {0x9A, 0xBC, 0xDE, 0xF0};
    memcpy(expected + 24, crc, sizeof crc);
    hx_frame_set_crc(frame, 0x9ABCDEF0);
    assert_memory_equal(frame, expected, sizeof frame);
}

static void the_crc_covers_the_end_to_end_fields(void **state)
{
    (void)state;
    assert_int_equal(support_crc32c(0, example_data + 28, sizeof example_data - 28), 0x907BF5E4);
    for (unsigned bit = 0; bit < sizeof example_data * 8; bit++) {
        uint8_t frame[sizeof example_data];
        memcpy(frame, example_data, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        uint32_t expected = support_crc32c(0, frame + 28, sizeof frame - 28);
        assert_int_equal(hx_frame_crc(frame, 13), expected);
        assert_int_equal(expected == 0x907BF5E4, bit / 8 < 28);
    }
    static uint8_t longest[HX_MAX_FRAME];
    for (size_t i = 0; i < sizeof longest; i++)
        longest[i] = (uint8_t)(i * i >> 3);
    assert_int_equal(hx_frame_crc(longest, 8192), support_crc32c(0, longest + 28, sizeof longest - 28));
    assert_int_equal(hx_frame_crc(longest, 0), support_crc32c(0, longest + 28, 36));
}

static void blocks_round_up(void **state)
{
    (void)state;
    static const unsigned cases[][2] = {{0, 1},   {1, 1},   {255, 1},   {256, 1},   {257, 2},
                                        {512, 2}, {513, 3}, {7936, 31}, {7937, 32}, {8192, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(hx_blocks(cases[i][0]), cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_written_and_read),
        cmocka_unit_test(credit_frames_name_their_plane),
        cmocka_unit_test(credit_frames_have_counts_for_each_vc),
        cmocka_unit_test(the_document_shows_the_same_bytes),
        cmocka_unit_test(a_hop_changes_only_its_fields),
        cmocka_unit_test(the_crc_covers_the_end_to_end_fields),
        cmocka_unit_test(blocks_round_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
