/* test_frame.c - the wire format: examples byte by byte (also those of docs/wire-format.md), every rule of the decoder
 * broken once, random frames judged by the table of the document. */
#include "hxmesh/error.h"
#include "hxmesh/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The examples of docs/wire-format.md, laid out by hand from its tables. */
static const uint8_t data_bytes[77] = {
    0x02, 0x00, 0x00, 0x06, 0x00, 0x03, 0x02, 0x00, 0x00, 0x01, 0x00, 0x02, 0x88, 0xB5, /* Ethernet */
    0x01, 0x01, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x20, 0xBF, 0xFB, 0x2C, 0x7C, /* hop by hop */
    0x01, 0x00, 0x00, 0x07, 0x00, 0x06, 0x00, 0x03, 0x00, 0x01, 0x00, 0x02,             /* kind .. src */
    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03,             /* message */
    0x00, 0x0D, 0x01, 0x04, 0x00, 0x00, 0x00, 0x2A, 0x00, 0x00, 0x00, 0x00,             /* length .. reserved */
    'H',  'e',  'l',  'l',  'o',  ',',  ' ',  'm',  'e',  's',  'h',  '!',  '\n',
};
static const struct hx_header data_header = {
    .vc = 1,
    .hops = 3,
    .credit_vc = 0,
    .credit_limit = 288,
    .crc = 0xBFFB2C7C,
    .kind = HX_DATA,
    .plane = 0,
    .job = 7,
    .dst_gx = 6,
    .dst_gy = 3,
    .src_gx = 1,
    .src_gy = 2,
    .message = 5,
    .offset = 2,
    .message_packets = 3,
    .length = 13,
    .epoch = 1,
    .peer_epoch = 4,
    .tag = 42,
};

static const uint8_t ack_bytes[65] = {
    0x02, 0x01, 0x00, 0x01, 0x00, 0x02, 0x02, 0x01, 0x00, 0x06, 0x00, 0x03, 0x88, 0xB5, /* Ethernet */
    0x01, 0x00, 0x00, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xDE, 0x7F, 0xEC, 0x26, /* hop by hop */
    0x02, 0x01, 0x00, 0x07, 0x00, 0x01, 0x00, 0x02, 0x00, 0x06, 0x00, 0x03,             /* kind .. src */
    0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03,             /* message */
    0x00, 0x01, 0x04, 0x01, 0x00, 0x00, 0x00, 0x2A, 0x00, 0x00, 0x00, 0x00,             /* length .. reserved */
    0x02,
};
static const struct hx_header ack_header = {
    .credit_vc = HX_NO_CREDIT,
    .crc = 0xDE7FEC26,
    .kind = HX_ACK,
    .plane = 1,
    .job = 7,
    .dst_gx = 1,
    .dst_gy = 2,
    .src_gx = 6,
    .src_gy = 3,
    .message = 5,
    .offset = 1,
    .message_packets = 3,
    .length = 1,
    .epoch = 4,
    .peer_epoch = 1,
    .tag = 42,
};

static const uint8_t credit_bytes[64] = {
    0x03, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x02, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0x88, 0xB6, /* Ethernet */
    0x01, 0x01, 0x00, 0x03, 0x00, 0x00,                                                 /* version .. reserved */
    0x00, 0x00, 0x01, 0x20, 0x00, 0x00, 0x00, 0x4E,                                     /* VC 0 */
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x20,                                     /* VC 1 */
    0x00, 0x00, 0x00, 0x50, 0xFF, 0xFF, 0xFF, 0xF0,                                     /* VC 2 */
    0x65, 0x5F, 0x3A, 0x01, 0x00, 0x00, 0x00, 0x07,                                     /* sessions */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x38, 0x80, 0xBE, 0x24,
};
static const struct hx_credit_frame credit_counts = {
    .plane = 0, .limit = {288, 256, 80}, .sent = {78, 32, 0xFFFFFFF0}, .session = 0x655F3A01, .peer_session = 7};

/* The definition of the checksum, bit by bit. */
static uint32_t crc_by_bits(const uint8_t *bytes, size_t count)
{
    uint32_t state = UINT32_MAX;
    for (size_t i = 0; i < count * 8; i++) {
        uint32_t bit = ((uint32_t)bytes[i / 8] >> i % 8 ^ state) & 1U;
        state = state >> 1 ^ (bit ? 0x82F63B78U : 0U);
    }
    return ~state;
}

static void seal_credit(uint8_t *frame)
{
    uint32_t crc = crc_by_bits(frame + 14, 46);
    for (unsigned i = 0; i < 4; i++)
        frame[60 + i] = (uint8_t)(crc >> (24 - 8 * i));
}

/* Decodes from memory of exactly that size, so that a sanitizer sees every byte read beyond it. */
static int decode_data(struct hx_header *h, const uint8_t *frame, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, frame, bytes);
    int error = hx_frame_decode(h, copy, bytes);
    free(copy);
    return error;
}

static int decode_credit(struct hx_credit_frame *c, const uint8_t *frame, size_t bytes)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, frame, bytes);
    int error = hx_credit_decode(c, copy, bytes);
    free(copy);
    return error;
}

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
    assert_int_equal(a->dst_gx, b->dst_gx);
    assert_int_equal(a->dst_gy, b->dst_gy);
    assert_int_equal(a->src_gx, b->src_gx);
    assert_int_equal(a->src_gy, b->src_gy);
    assert_int_equal(a->message, b->message);
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->message_packets, b->message_packets);
    assert_int_equal(a->length, b->length);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->peer_epoch, b->peer_epoch);
    assert_int_equal(a->tag, b->tag);
}

/* Encodes over rubbish: every header byte must be written, none behind it. */
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
    assert_int_equal(decode_data(&back, expected, bytes), HX_OK);
    assert_same_header(&back, h);
}

static void examples_are_written_and_read(void **state)
{
    (void)state;
    check_encoding(&data_header, data_bytes, sizeof data_bytes);
    check_encoding(&ack_header, ack_bytes, sizeof ack_bytes);

    uint8_t frame[64];
    memset(frame, 0xA5, sizeof frame);
    hx_credit_encode(frame, &credit_counts);
    assert_memory_equal(frame, credit_bytes, sizeof frame);
    struct hx_credit_frame back;
    assert_int_equal(decode_credit(&back, credit_bytes, 64), HX_OK);
    assert_int_equal(back.plane, credit_counts.plane);
    assert_memory_equal(back.limit, credit_counts.limit, sizeof back.limit);
    assert_memory_equal(back.sent, credit_counts.sent, sizeof back.sent);
    assert_int_equal(back.session, credit_counts.session);
    assert_int_equal(back.peer_session, credit_counts.peer_session);
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

/* A listing's line: four digits of offset, two blanks, bytes, each followed by one blank, a remark after two. */
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
    check_listing("data", data_bytes, sizeof data_bytes);
    check_listing("acknowledgement", ack_bytes, sizeof ack_bytes);
    check_listing("credit", credit_bytes, sizeof credit_bytes);
}

static void frames_cut_short_are_refused(void **state)
{
    (void)state;
    struct hx_header h;
    struct hx_credit_frame c;
    for (size_t bytes = 0; bytes < sizeof data_bytes; bytes++)
        assert_int_equal(decode_data(&h, data_bytes, bytes), HX_E_SHORT);
    for (size_t bytes = 0; bytes < sizeof credit_bytes; bytes++)
        assert_int_equal(decode_credit(&c, credit_bytes, bytes), HX_E_SHORT);

    uint8_t padded[sizeof data_bytes + 40];
    memset(padded, 0xFF, sizeof padded);
    memcpy(padded, data_bytes, sizeof data_bytes);
    assert_int_equal(decode_data(&h, padded, sizeof padded), HX_OK);
    memset(padded, 0xFF, sizeof padded);
    memcpy(padded, credit_bytes, sizeof credit_bytes);
    assert_int_equal(decode_credit(&c, padded, sizeof padded), HX_OK);
}

/* One field of a good frame, overwritten. */
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
        if (decode_data(&h, frame, sizeof frame) != cases[i].expected)
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
        {14, 1, 2, HX_E_VERSION},
        {15, 1, 2, HX_OK},
        {15, 1, 3, HX_E_FIELD},
        {15, 1, 255, HX_E_FIELD},
        {16, 1, 255, HX_OK},
        {17, 1, 2, HX_OK},
        {17, 1, 3, HX_E_FIELD},
        {17, 1, 254, HX_E_FIELD},
        {17, 1, 255, HX_OK},
        {20, 4, UINT32_MAX, HX_OK},
        {24, 4, 0, HX_OK},
        {28, 1, 0, HX_E_FIELD},
        {28, 1, 2, HX_OK},
        {28, 1, 3, HX_E_FIELD},
        {28, 1, 4, HX_E_FIELD},
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
        {60, 4, 1, HX_E_RESERVED},
    };
    check_overwrites(data_bytes, sizeof data_bytes, data, sizeof data / sizeof *data);

    uint8_t full[sizeof data_bytes];
    memcpy(full, data_bytes, sizeof full);
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
    check_overwrites(ack_bytes, sizeof ack_bytes, ack, sizeof ack / sizeof *ack);

    uint8_t report[sizeof ack_bytes];
    memcpy(report, ack_bytes, sizeof report);
    report[28] = HX_UNREACHABLE;
    report[53] = HX_REPORT_BYTES;
    static const struct overwrite unreachable[] = {
        {52, 2, 4, HX_OK},         {52, 2, 0, HX_E_FIELD}, {52, 2, 3, HX_E_FIELD},
        {52, 2, 8192, HX_E_FIELD}, {44, 4, 2, HX_OK},      {44, 4, 3, HX_E_FIELD},
    };
    check_overwrites(report, sizeof report, unreachable, sizeof unreachable / sizeof *unreachable);
}

static void planes_are_four(void **state)
{
    (void)state;
    for (unsigned plane = 0; plane < 256; plane++) {
        uint8_t frame[sizeof data_bytes];
        struct hx_header h;
        memcpy(frame, data_bytes, sizeof frame);
        frame[1] = frame[7] = frame[29] = (uint8_t)plane;
        assert_int_equal(decode_data(&h, frame, sizeof frame), plane < 4 ? HX_OK : HX_E_FIELD);

        struct hx_credit_frame c;
        memcpy(frame, credit_bytes, sizeof credit_bytes);
        frame[1] = frame[7] = frame[16] = (uint8_t)plane;
        seal_credit(frame);
        assert_int_equal(decode_credit(&c, frame, 64), plane < 4 ? HX_OK : HX_E_FIELD);
    }
}

static void a_mac_must_agree_with_the_coordinates(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 96; bit++) {
        uint8_t frame[sizeof data_bytes];
        struct hx_header h;
        struct hx_credit_frame c;
        memcpy(frame, data_bytes, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(decode_data(&h, frame, sizeof frame), HX_E_FIELD);
        memcpy(frame, credit_bytes, sizeof credit_bytes);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(decode_credit(&c, frame, 64), HX_E_FIELD);
    }
    for (unsigned bit = 32 * 8; bit < 40 * 8; bit++) {
        uint8_t frame[sizeof data_bytes];
        struct hx_header h;
        memcpy(frame, data_bytes, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(decode_data(&h, frame, sizeof frame), HX_E_FIELD);
    }
}

static bool is_reserved(unsigned byte, bool credit)
{
    return byte == 18 || byte == 19 || (credit ? byte >= 52 && byte < 60 : byte >= 60 && byte < 64);
}

static void every_reserved_bit_is_checked(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64 * 8; bit++) {
        uint8_t frame[sizeof data_bytes];
        struct hx_header h;
        struct hx_credit_frame c;
        if (is_reserved(bit / 8, false)) {
            memcpy(frame, data_bytes, sizeof frame);
            frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(decode_data(&h, frame, sizeof frame), HX_E_RESERVED);
        }
        if (is_reserved(bit / 8, true)) {
            memcpy(frame, credit_bytes, sizeof credit_bytes);
            frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(decode_credit(&c, frame, 64), HX_E_CHECKSUM);
            seal_credit(frame);
            assert_int_equal(decode_credit(&c, frame, 64), HX_E_RESERVED);
        }
    }
}

static void no_flipped_bit_of_a_credit_frame_passes(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64 * 8; bit++) {
        uint8_t frame[64];
        struct hx_credit_frame c = {.plane = 77};
        memcpy(frame, credit_bytes, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        unsigned byte = bit / 8;
        int expected = byte < 12 ? HX_E_FIELD : byte < 14 ? HX_E_ETHERTYPE : byte < 15 ? HX_E_VERSION : HX_E_CHECKSUM;
        assert_int_equal(decode_credit(&c, frame, 64), expected);
        assert_int_equal(c.plane, 77);
    }
}

static void a_credit_frame_has_its_ranges(void **state)
{
    (void)state;
    static const struct overwrite cases[] = {
        {15, 1, 0, HX_E_FIELD}, {15, 1, 2, HX_E_FIELD}, {17, 1, 0, HX_E_FIELD}, {17, 1, 2, HX_E_FIELD},
        {17, 1, 4, HX_E_FIELD}, {16, 1, 1, HX_E_FIELD}, {20, 4, 0, HX_OK},      {40, 4, 0, HX_OK},
        {44, 4, 0, HX_E_FIELD}, {44, 4, 1, HX_OK},      {48, 4, 0, HX_OK},      {48, 4, UINT32_MAX, HX_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t frame[64];
        struct hx_credit_frame c;
        memcpy(frame, credit_bytes, sizeof frame);
        overwrite(frame, &cases[i]);
        seal_credit(frame);
        assert_int_equal(decode_credit(&c, frame, 64), cases[i].expected);
    }
}

static void a_hop_changes_only_its_fields(void **state)
{
    (void)state;
    uint8_t frame[sizeof data_bytes], expected[sizeof data_bytes];
    memcpy(frame, data_bytes, sizeof frame);
    memcpy(expected, data_bytes, sizeof frame);
    static const uint8_t hop[] = {0x02, 0x04, 0xFF, 0x00, 0x00, 0x12, 0x34, 0x56, 0x78};
    memcpy(expected + 15, hop, sizeof hop);
    hx_frame_set_hop(frame, 2, 4, HX_NO_CREDIT, 0x12345678);
    assert_memory_equal(frame, expected, sizeof frame);

    static const uint8_t crc[] = {0x9A, 0xBC, 0xDE, 0xF0};
    memcpy(expected + 24, crc, sizeof crc);
    hx_frame_set_crc(frame, 0x9ABCDEF0);
    assert_memory_equal(frame, expected, sizeof frame);
}

static void the_crc_covers_what_goes_end_to_end(void **state)
{
    (void)state;
    assert_int_equal(crc_by_bits(data_bytes + 28, sizeof data_bytes - 28), 0xBFFB2C7C);
    for (unsigned bit = 0; bit < sizeof data_bytes * 8; bit++) {
        uint8_t frame[sizeof data_bytes];
        memcpy(frame, data_bytes, sizeof frame);
        frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
        uint32_t expected = crc_by_bits(frame + 28, sizeof frame - 28);
        assert_int_equal(hx_frame_crc(frame, 13), expected);
        assert_int_equal(expected == 0xBFFB2C7C, bit / 8 < 28);
    }
    static uint8_t longest[HX_MAX_FRAME];
    for (size_t i = 0; i < sizeof longest; i++)
        longest[i] = (uint8_t)(i * i >> 3);
    assert_int_equal(hx_frame_crc(longest, 8192), crc_by_bits(longest + 28, sizeof longest - 28));
    assert_int_equal(hx_frame_crc(longest, 0), crc_by_bits(longest + 28, 36));
}

static void blocks_round_up(void **state)
{
    (void)state;
    static const unsigned cases[][2] = {{0, 1},   {1, 1},   {255, 1},   {256, 1},   {257, 2},
                                        {512, 2}, {513, 3}, {7936, 31}, {7937, 32}, {8192, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(hx_blocks(cases[i][0]), cases[i][1]);
}

/* The document's table of refusals, as one question about the bytes. */
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
    return kind == 3 && in_message && length == 4;
}

static bool is_good(const uint8_t *f, size_t bytes)
{
    return bytes >= 64 && field(f, 12, 2) == 0x88B5 && f[14] == 1 && f[15] <= 2 && (f[17] <= 2 || f[17] == 255) &&
           field(f, 18, 2) == 0 && field(f, 60, 4) == 0 && f[29] <= 3 && f[0] == 2 && f[6] == 2 && f[1] == f[29] &&
           f[7] == f[29] && field(f, 2, 4) == field(f, 32, 4) && field(f, 8, 4) == field(f, 36, 4) && kind_is_good(f) &&
           bytes >= 64 + field(f, 52, 2);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed += 0x9E3779B97F4A7C15U;
    uint64_t z = *seed;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

/* Values that stand at the edges of some field more often than chance would have it. */
static uint8_t random_byte(uint64_t *seed)
{
    static const uint8_t edges[] = {0, 1, 2, 3, 4, 0x1F, 0x20, 0x21, 0xFE, 0xFF};
    uint64_t r = next_random(seed);
    return r & 1 ? edges[(r >> 1) % sizeof edges] : (uint8_t)(r >> 8);
}

static void random_frames_are_judged_by_the_table(void **state)
{
    (void)state;
    uint64_t seed = 1;
    unsigned good = 0;
    for (unsigned run = 0; run < 100000; run++) {
        uint8_t frame[HX_MAX_FRAME + 16] = {0}, again[64];
        const uint8_t *from = run & 1 ? data_bytes : ack_bytes;
        memcpy(frame, from, run & 1 ? sizeof data_bytes : sizeof ack_bytes);
        if (run & 2) {
            frame[28] = HX_UNREACHABLE;
            frame[53] = HX_REPORT_BYTES;
        }
        for (uint64_t changes = next_random(&seed) % 4; changes > 0; changes--)
            frame[next_random(&seed) % 64] = random_byte(&seed);
        if (run % 5 == 0) { /* coordinates and their MAC changed together */
            frame[3] = frame[33] = random_byte(&seed);
            frame[10] = frame[38] = random_byte(&seed);
        }
        if (run % 7 == 0) { /* a full packet */
            frame[52] = 0x20;
            frame[53] = 0;
        }
        size_t bytes = next_random(&seed) % 100 + (run & 4 ? HX_MAX_FRAME - 84 : 0);
        struct hx_header h;
        int error = decode_data(&h, frame, bytes);
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
            frame[i] = (uint8_t)next_random(&seed);
        if (run & 1) {
            frame[12] = 0x88;
            frame[13] = run & 2 ? 0xB5 : 0xB6;
            frame[14] = 1;
        }
        size_t bytes = next_random(&seed) % (sizeof frame + 1);
        assert_int_not_equal(decode_data(&h, frame, bytes), HX_OK);
        assert_int_not_equal(decode_credit(&c, frame, bytes), HX_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_written_and_read),
        cmocka_unit_test(the_document_shows_the_same_bytes),
        cmocka_unit_test(frames_cut_short_are_refused),
        cmocka_unit_test(every_field_has_its_range),
        cmocka_unit_test(planes_are_four),
        cmocka_unit_test(a_mac_must_agree_with_the_coordinates),
        cmocka_unit_test(every_reserved_bit_is_checked),
        cmocka_unit_test(no_flipped_bit_of_a_credit_frame_passes),
        cmocka_unit_test(a_credit_frame_has_its_ranges),
        cmocka_unit_test(a_hop_changes_only_its_fields),
        cmocka_unit_test(the_crc_covers_what_goes_end_to_end),
        cmocka_unit_test(blocks_round_up),
        cmocka_unit_test(random_frames_are_judged_by_the_table),
        cmocka_unit_test(random_bytes_are_never_a_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
