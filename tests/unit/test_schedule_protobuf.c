/* test_schedule_protobuf.c - the wire format of Protocol Buffers: fields, and messages that break it. */
#include "schedule/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Sources of the values: https://protobuf.dev/programming-guides/encoding/ */
static void fields(void **state)
{
    static const uint8_t message[] = {0x08, 0x96, 0x01,                           /* 1: 150 */
                                      0x12, 0x02, 'h',  'i',                      /* 2: "hi" */
                                      0x1d, 1,    2,    3,    4,                  /* 3: fixed32 */
                                      0x21, 1,    0,    0,    0,   0, 0, 0, 0x80, /* 4: fixed64 */
                                      0x32, 0x03, 0x03, 0x8e, 0x02};              /* 6: packed 3, 270 */
    struct protobuf p = protobuf_of(message, sizeof message);
    struct protobuf_field f;
    uint64_t value;
    (void)state;
    assert_true(protobuf_next(&p, &f));
    assert_int_equal(f.number, 1);
    assert_int_equal(f.type, PROTOBUF_VARINT);
    assert_int_equal(f.value, 150);
    assert_true(protobuf_next(&p, &f));
    assert_int_equal(f.length, 2);
    assert_memory_equal(f.bytes, "hi", 2);
    assert_true(protobuf_next(&p, &f));
    assert_int_equal(f.value, 0x04030201);
    assert_true(protobuf_next(&p, &f));
    assert_int_equal(f.value, UINT64_C(0x8000000000000001));
    assert_true(protobuf_next(&p, &f));
    assert_int_equal(f.number, 6);
    struct protobuf packed = protobuf_inside(&f);
    assert_true(protobuf_varint(&packed, &value));
    assert_int_equal(value, 3);
    assert_true(protobuf_varint(&packed, &value));
    assert_int_equal(value, 270);
    assert_false(protobuf_varint(&packed, &value));
    assert_false(packed.failed);
    assert_false(protobuf_next(&p, &f));
    assert_false(p.failed);
    assert_int_equal(protobuf_zigzag(0xfffffffe), 0x7fffffff);
    assert_int_equal(protobuf_zigzag(UINT64_MAX), INT64_MIN);
}

static void broken_messages(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
    } broken[] = {
        {"\x08", 1},                                              /* no value */
        {"\x08\x80", 2},                                          /* a varint that does not end */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},     /* more than 64 bits */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12}, /* more than 10 bytes */
        {"\x12\x03hi", 4},                                        /* bytes beyond the end */
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01hi", 13},   /* a length that wraps around */
        {"\x1d\x01\x02\x03", 4},                                  /* half a fixed32 */
        {"\x21\x01\x02\x03\x04\x05\x06\x07", 8},                  /* half a fixed64 */
        {"\x0b\x0c", 2},                                          /* a group */
        {"\x0f\x01", 2},                                          /* type 7 */
        {"\x00\x01", 2},                                          /* field 0 */
        {"\x80\x80\x80\x80\x10\x01", 6},                          /* field 2^29 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct protobuf p = protobuf_of(broken[i].bytes, broken[i].count);
        struct protobuf_field f;
        assert_false(protobuf_next(&p, &f));
        assert_true(p.failed);
        assert_false(protobuf_next(&p, &f));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields), cmocka_unit_test(broken_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
