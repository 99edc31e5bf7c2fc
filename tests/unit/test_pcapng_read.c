/* test_pcapng_read.c - capture files of other programs: both byte orders, all time resolutions, obsolete blocks,
 * classic pcap. Bad files end in a one-line error with the byte offset. The files are built by hand. */
#include "base/pcapng/read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a file, byte by byte ---- */

struct file {
    uint8_t bytes[8192];
    size_t used, block;
    bool big; /* byte order */
};

static struct file file;

static void number(uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        file.bytes[file.used++] = (uint8_t)(value >> 8 * (file.big ? width - 1 - i : i));
}

static void raw(const void *bytes, size_t length)
{
    memcpy(file.bytes + file.used, bytes, length);
    file.used += length;
    while (file.used % 4)
        file.bytes[file.used++] = 0;
}

static void put_at(size_t at, uint32_t value)
{
    size_t used = file.used;
    file.used = at;
    number(value, 4);
    file.used = used;
}

static void open_block(uint32_t type)
{
    file.block = file.used;
    number(type, 4);
    number(0, 4);
}

static void close_block(void)
{
    uint32_t length = (uint32_t)(file.used - file.block + 4);
    number(length, 4);
    put_at(file.block + 4, length);
}

static void option(unsigned code, const void *bytes, unsigned length)
{
    number(code, 2);
    number(length, 2);
    raw(bytes, length);
}

static void section(bool big)
{
    file.big = big;
    open_block(0x0A0D0D0A);
    number(0x1A2B3C4D, 4);
    number(1, 2);
    number(0, 2);
    number(UINT64_MAX, 8);
    close_block();
}

/* resolution 0: without the option. */
static void interface(const char *name, uint8_t resolution, uint64_t offset)
{
    open_block(1);
    number(1, 2);
    number(0, 2);
    number(8, 4);
    if (name)
        option(2, name, (unsigned)strlen(name));
    if (resolution)
        option(9, &resolution, 1);
    if (offset) {
        number(14, 2);
        number(8, 2);
        number(offset, 8);
    }
    option(0x7FFF, "strange", 7);
    option(0, "", 0);
    close_block();
}

static void packet(uint32_t interface, uint64_t stamp, const char *bytes)
{
    open_block(6);
    number(interface, 4);
    number(stamp >> 32, 4);
    number(stamp & UINT32_MAX, 4);
    number(strlen(bytes), 4);
    number(100, 4);
    raw(bytes, strlen(bytes));
    close_block();
}

static void start(void)
{
    memset(&file, 0, sizeof file);
}

/* ---- reading it ---- */

struct hand {
    struct hx_pcapng_reader r;
    struct hx_problem problem;
    FILE *in;
    bool opened;
};

static void open_bytes(struct hand *h, const void *bytes, size_t length)
{
    memset(h, 0, sizeof *h);
    h->in = fmemopen((void *)(uintptr_t)bytes, length, "rb");
    assert_non_null(h->in);
    h->opened = hx_pcapng_open_file(&h->r, h->in, "hand.pcapng", &h->problem);
}

static void open_hand(struct hand *h)
{
    open_bytes(h, file.bytes, file.used);
    if (!h->opened)
        fail_msg("%s", h->problem.what);
}

static void close_hand(struct hand *h)
{
    hx_pcapng_close(&h->r);
    (void)fclose(h->in);
}

static void expect(struct hand *h, enum hx_pcapng_event event)
{
    enum hx_pcapng_event got = hx_pcapng_next(&h->r, &h->problem);
    if (got == HX_PCAPNG_IS_BAD && event != got)
        fail_msg("%s", h->problem.what);
    assert_int_equal(got, event);
}

static void both_byte_orders_may_be_in_one_file(void **state)
{
    (void)state;
    start();
    for (unsigned i = 0; i < 4; i++) {
        section(i % 2 == 1);
        interface("a0,0/p0/E", 9, 0);
        packet(0, 0x0102030405060708, "abcde");
        open_block(0x0BAD);
        raw("unknown block", 13);
        close_block();
    }
    struct hand h;
    open_hand(&h);
    for (unsigned i = 0; i < 4; i++) {
        expect(&h, HX_PCAPNG_IS_SECTION);
        expect(&h, HX_PCAPNG_IS_INTERFACE);
        assert_int_equal(h.r.interface.number, 0);
        assert_int_equal(h.r.interface.link_type, 1);
        assert_memory_equal(h.r.interface.name.bytes, "a0,0/p0/E", 9);
        expect(&h, HX_PCAPNG_IS_PACKET);
        assert_int_equal(h.r.packet.time_ns, 0x0102030405060708);
        assert_int_equal(h.r.packet.frame, i + 1);
        assert_int_equal(h.r.packet.original, 100);
        assert_memory_equal(h.r.packet.bytes, "abcde", 5);
    }
    expect(&h, HX_PCAPNG_IS_END);
    expect(&h, HX_PCAPNG_IS_END);
    close_hand(&h);
}

static void times_of_all_resolutions_become_nanoseconds(void **state)
{
    (void)state;
    static const struct {
        uint8_t resolution;
        uint64_t offset, stamp, ns;
    } times[] = {{0, 0, 1234567, 1234567000}, /* microseconds by default */
                 {3, 0, 5, 5000000},          /* milliseconds */
                 {6, 0, 1795262637123456, 1795262637123456000},
                 {9, 0, 1795262637123456789, 1795262637123456789},
                 {12, 0, 1999, 1}, /* picoseconds */
                 {30, 0, UINT64_MAX, 0},
                 {127, 0, UINT64_MAX, 0},
                 {0x80, 0, 3, 3000000000},         /* 2^0: seconds */
                 {0x80 | 10, 0, 1536, 1500000000}, /* 1/1024 s */
                 {0x80 | 32, 0, 1ULL << 31, 500000000},
                 {0x80 | 127, 0, UINT64_MAX, 0},
                 {9, 10, 5, 10000000005}, /* if_tsoffset */
                 {9, (uint64_t)-1, 2000000000, 1000000000},
                 {9, (uint64_t)-10, 5, 0},        /* before 1970 */
                 {3, 0, UINT64_MAX, UINT64_MAX}}; /* more than 64 bits of nanoseconds */
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        start();
        section(i % 2 == 0);
        interface(NULL, times[i].resolution, times[i].offset);
        packet(0, times[i].stamp, "x");
        struct hand h;
        open_hand(&h);
        expect(&h, HX_PCAPNG_IS_SECTION);
        expect(&h, HX_PCAPNG_IS_INTERFACE);
        expect(&h, HX_PCAPNG_IS_PACKET);
        if (h.r.packet.time_ns != times[i].ns)
            fail_msg("row %u: %llu", i, (unsigned long long)h.r.packet.time_ns);
        close_hand(&h);
    }
}

static void simple_and_old_packet_blocks_are_read(void **state)
{
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        start();
        section(big);
        interface("x", 9, 0); /* snap length 8 */
        open_block(3);
        number(11, 4);
        raw("01234567", 8);
        close_block();
        open_block(3);
        number(3, 4);
        raw("012", 3);
        close_block();
        open_block(2);
        number(0, 2);
        number(7, 2);
        number(1, 4);
        number(2, 4);
        number(4, 4);
        number(9, 4);
        raw("abcd", 4);
        number(2, 2); /* flags: outbound */
        number(4, 2);
        number(2, 4);
        close_block();
        struct hand h;
        open_hand(&h);
        expect(&h, HX_PCAPNG_IS_SECTION);
        expect(&h, HX_PCAPNG_IS_INTERFACE);
        expect(&h, HX_PCAPNG_IS_PACKET);
        assert_true(!h.r.packet.has_time && h.r.packet.captured == 8 && h.r.packet.original == 11);
        expect(&h, HX_PCAPNG_IS_PACKET);
        assert_true(h.r.packet.captured == 3 && h.r.packet.original == 3);
        expect(&h, HX_PCAPNG_IS_PACKET);
        assert_true(h.r.packet.has_time && h.r.packet.time_ns == (1ULL << 32 | 2) && h.r.packet.captured == 4 &&
                    h.r.packet.original == 9);
        assert_true(h.r.packet.has_dropped && h.r.packet.dropped == 7);
        assert_int_equal(h.r.packet.direction, HX_PCAPNG_OUTBOUND);
        expect(&h, HX_PCAPNG_IS_END);
        close_hand(&h);
    }
}

static void classic(bool big, bool nanoseconds)
{
    start();
    file.big = big;
    number(nanoseconds ? 0xA1B23C4D : 0xA1B2C3D4, 4);
    number(2, 2);
    number(4, 2);
    number(0, 8);
    number(65535, 4);
    number(1, 4);
    for (unsigned i = 0; i < 2; i++) {
        number(1795262637 + i, 4);
        number(123456, 4);
        number(4, 4);
        number(60, 4);
        raw("abcd", 4);
    }
}

static void classic_pcap_is_one_interface_without_a_name(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        classic(kind & 1, kind & 2);
        struct hand h;
        open_hand(&h);
        expect(&h, HX_PCAPNG_IS_SECTION);
        assert_int_equal(h.r.section.comments, 0);
        expect(&h, HX_PCAPNG_IS_INTERFACE);
        assert_memory_equal(h.r.interface.name.bytes, "unknown", 7);
        assert_int_equal(h.r.interface.link_type, 1);
        for (unsigned i = 0; i < 2; i++) {
            expect(&h, HX_PCAPNG_IS_PACKET);
            uint64_t ns = (1795262637ULL + i) * 1000000000U + (kind & 2 ? 123456 : 123456000);
            assert_true(h.r.packet.time_ns == ns && h.r.packet.frame == i + 1 && h.r.packet.original == 60);
            assert_memory_equal(h.r.packet.bytes, "abcd", 4);
        }
        expect(&h, HX_PCAPNG_IS_END);
        close_hand(&h);
    }
}

/* ---- bad files ---- */

/* Reads all; returns whether the file is good. */
static bool read_all(const void *bytes, size_t length, struct hx_problem *problem)
{
    struct hand h;
    open_bytes(&h, bytes, length);
    enum hx_pcapng_event event = h.opened ? HX_PCAPNG_IS_SECTION : HX_PCAPNG_IS_BAD;
    while (event > HX_PCAPNG_IS_END)
        event = hx_pcapng_next(&h.r, &h.problem);
    *problem = h.problem;
    close_hand(&h);
    return event == HX_PCAPNG_IS_END;
}

static void require_refused(size_t length, const char *say)
{
    struct hx_problem problem;
    uint8_t *copy = malloc(length); /* so that a sanitizer sees a read beyond the end */
    assert_non_null(copy);
    memcpy(copy, file.bytes, length);
    bool good = read_all(copy, length, &problem);
    free(copy);
    if (good || problem.exit_code != HX_EXIT_CONFIG || strncmp(problem.what, "at byte ", 8) != 0 ||
        strcmp(problem.where, "hand.pcapng") != 0 || (say && !strstr(problem.what, say)))
        fail_msg("%s: expected '%s', got '%s: %s'", good ? "read" : "refused", say ? say : "", problem.where,
                 problem.what);
}

static void whole_file(void)
{
    start();
    section(false);
    interface("a0,0/p0/E", 9, 0);
    packet(0, 5, "abcde");
    section(true);
    interface("a0,0/p0/E", 9, 0);
    packet(0, 5, "abcde");
}

static void a_file_cut_within_a_block_is_refused(void **state)
{
    (void)state;
    whole_file();
    bool boundary[8192] = {false};
    bool big = false;
    for (size_t at = 0; at < file.used;) {
        boundary[at] = true;
        const uint8_t *b = file.bytes + at;
        if (b[0] == 0x0A)
            big = b[8] == 0x1A;
        at += big ? (size_t)b[6] << 8 | b[7] : (size_t)b[5] << 8 | b[4];
    }
    for (size_t length = 1; length < file.used; length++) {
        struct hx_problem problem;
        if (boundary[length])
            assert_true(read_all(file.bytes, length, &problem));
        else
            require_refused(length, length < 4 ? "fewer than 4 bytes" : "the file ends within");
    }
    classic(true, true);
    for (size_t length = 1; length < file.used; length++) {
        struct hx_problem problem;
        if (length == 24 || length == 44)
            assert_true(read_all(file.bytes, length, &problem));
        else
            require_refused(length, length < 4 ? "fewer than 4 bytes" : "the file ends within");
    }
}

/* Checks the error of the file with one word replaced. */
static void require_word(size_t at, uint32_t value, const char *say)
{
    whole_file();
    file.big = false;
    put_at(at, value);
    require_refused(file.used, say);
}

static void corrupt_and_hostile_files_are_refused_with_a_reason(void **state)
{
    (void)state;
    const size_t interface_at = 28;
    whole_file();
    size_t packet_at = interface_at + file.bytes[interface_at + 4];
    static const uint8_t zeros[8];
    whole_file();
    memcpy(file.bytes, zeros, 4);
    require_refused(file.used, "neither pcapng nor pcap");
    memcpy(file.bytes, "\x1f\x8b\x08\x00", 4);
    require_refused(file.used, "compressed");
    memcpy(file.bytes, "\x34\xcd\xb2\xa1", 4);
    require_refused(file.used, "modified pcap");

    require_word(8, 0x11111111, "byte order mark");
    require_word(12, 2, "version 2");
    require_word(4, 0, "not a length");
    require_word(4, 29, "not a length");
    require_word(4, 0xFFFFFFFC, "not a length");
    require_word(4, 16, "at its end");
    require_word(24, 32, "at its end");
    require_word(interface_at + 4, 12, "at its end");
    require_word(interface_at + 16, 2 | 0xFFFFU << 16, "option 2 says 65535 bytes");
    require_word(packet_at + 8, 1, "interface 1, but the section has 1");
    require_word(packet_at + 20, 0xFFFFFFFF, "4294967295 bytes in a block");
    require_word(packet_at + 20, 12, "12 bytes in a block");
    require_word(packet_at + 4, 1 << 20, "the file ends within");
}

static void blocks_that_are_too_short_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        const char *say;
    } blocks[] = {{1, "an interface description of 12 bytes"},
                  {2, "a packet block of 12 bytes"},
                  {3, "a simple packet block of 12 bytes"},
                  {5, "an interface statistics block of 12 bytes"},
                  {6, "a packet block of 12 bytes"}};
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        start();
        section(i & 1);
        open_block(blocks[i].type);
        close_block();
        require_refused(file.used, blocks[i].say);
    }
    start();
    section(false);
    open_block(5);
    number(0, 4);
    number(0, 8);
    close_block();
    require_refused(file.used, "statistics of interface 0, but the section has 0");
    classic(false, false);
    put_at(24 + 8, 0x7FFFFFFF);
    require_refused(file.used, "is too long");
    classic(false, false);
    file.bytes[4] = 3;
    require_refused(file.used, "version 3");
}

static void a_missing_file_is_bad_configuration(void **state)
{
    (void)state;
    struct hx_pcapng_reader r;
    struct hx_problem problem;
    assert_false(hx_pcapng_open(&r, "/nowhere/run.pcapng", &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_non_null(strstr(problem.what, strerror(ENOENT)));
    hx_pcapng_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_byte_orders_may_be_in_one_file),
        cmocka_unit_test(times_of_all_resolutions_become_nanoseconds),
        cmocka_unit_test(simple_and_old_packet_blocks_are_read),
        cmocka_unit_test(classic_pcap_is_one_interface_without_a_name),
        cmocka_unit_test(a_file_cut_within_a_block_is_refused),
        cmocka_unit_test(corrupt_and_hostile_files_are_refused_with_a_reason),
        cmocka_unit_test(blocks_that_are_too_short_are_refused),
        cmocka_unit_test(a_missing_file_is_bad_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
