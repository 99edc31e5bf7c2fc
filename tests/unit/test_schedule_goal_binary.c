/* test_schedule_goal_binary.c - GOAL binary is written of a text and read again; damaged files are refused in one line
 * with their byte. */
#include "schedule/formats.h"
#include "schedule/readers.h"
#include "tests/support/support_schedule.h"

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "num_ranks 3\n"
                           "\nrank 0 {\nl1: send 8b to 1 tag 7\nl2: recv 9b from -1 tag -1 cpu 3\nl2 irequires l1\n}\n"
                           "\nrank 1 {\n}\n"
                           "\nrank 2 {\nl1: calc 70 cpu 1\nl2: calc 1\nl3: calc 2\nl2 requires l1\nl3 requires l1\n}\n";

#define U32(n)               (n) & 255, (n) >> 8 & 255, (n) >> 16 & 255, (n) >> 24 & 255
#define U64(n)               U32(n), 0, 0, 0, 0
#define HEAD(ranks, cpu)     U64(4223), U32(ranks), cpu, 0
#define ENTRY(start, end)    U64(start), U64(end)
#define COUNTS(nodes, roots) U32(nodes), U32(roots)
#define LIST(length, first)  U32(length), U32(first)
#define NODE(waits, type, peer, size, tag, cpu, after_end, after_start)                                                \
    U32(waits), type, U32(peer), U64(size), U32(tag), cpu, 0, after_end, after_start
#define ANY 0xffffffffU

/* The file of this text, as txt2bin of LogGOPSim writes it. */
static const uint8_t binary[] = {
    HEAD(3, 3),                                         /* byte 0 */
    ENTRY(54, 148),                                     /* byte 14: table */
    ENTRY(148, 156),                                    /* byte 30 */
    ENTRY(156, 293),                                    /* byte 46 */
    COUNTS(2, 1),                                       /* byte 62: rank 0 */
    U32(0),                                             /* byte 70: root */
    NODE(0, 1, 1, 8, 7, 0, LIST(0, 0), LIST(1, 0)),     /* byte 74 */
    NODE(1, 2, ANY, 9, ANY, 3, LIST(0, 1), LIST(0, 1)), /* byte 113 */
    U32(1),                                             /* byte 152: list */
    COUNTS(0, 0),                                       /* byte 156: rank 1 */
    COUNTS(3, 1),                                       /* byte 164: rank 2 */
    U32(0),                                             /* byte 172: root */
    NODE(0, 3, 0, 70, 0, 1, LIST(2, 0), LIST(0, 2)),    /* byte 176 */
    NODE(1, 3, 0, 1, 0, 0, LIST(0, 2), LIST(0, 2)),     /* byte 215 */
    NODE(1, 3, 0, 2, 0, 0, LIST(0, 2), LIST(0, 2)),     /* byte 254 */
    U32(1),                                             /* byte 293: list */
    U32(2),                                             /* byte 297 */
};

static void written_byte_for_byte(void **state)
{
    (void)state;
    size_t bytes;
    struct schedule *s = schedule_of_text(text);
    char *file = schedule_in_format(s, &schedule_goal_binary, &bytes);
    assert_int_equal(bytes, sizeof binary);
    assert_memory_equal(file, binary, bytes);
    free(file);
    schedule_close(s);
}

static void from_text_to_binary_to_text(void **state)
{
    (void)state;
    size_t bytes;
    struct schedule_notes notes;
    struct hx_problem problem;
    struct schedule *of_text = schedule_of_text(text);
    struct schedule *of_binary = schedule_of(binary, sizeof binary, &notes, &problem);
    assert_non_null(of_binary);
    assert_schedules_equal(of_text, of_binary);
    char *again = schedule_in_format(of_binary, &schedule_goal, &bytes);
    assert_string_equal(again, text);
    free(again);
    schedule_close(of_text);
    schedule_close(of_binary);
}

static void refused(const void *bytes, size_t count, const char *what)
{
    struct schedule_notes notes;
    struct hx_problem p;
    assert_null(schedule_of(bytes, count, &notes, &p));
    assert_string_equal(p.what, what);
    assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
    assert_non_null(strstr(p.where, "/schedule"));
}

/* Each changes one byte of the file. */
static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
        const char *what;
    } cases[] = {
        {1, 9, "is no schedule in a known format (hxmesh schedule --formats lists them)"},
        {8, 0, "byte 8: 0 ranks (1 to 1048576 are possible)"},
        {11, 1, "byte 8: 16777219 ranks (1 to 1048576 are possible)"},
        {9, 1, "byte 301: the file ends within the table of 259 ranks"},
        {14, 53, "byte 14: rank 0 has the bytes 53 to 148, which the file does not have"},
        {14, 149, "byte 14: rank 0 has the bytes 149 to 148, which the file does not have"},
        {30, 155, "byte 163: rank 1 has a block of 1 bytes, which is too short"},
        {29, 128, "byte 14: rank 0 has the bytes 54 to 9223372036854775956, which the file does not have"},
        {47, 2, "byte 46: rank 2 has the bytes 668 to 293, which the file does not have"},
        {54, 38, "byte 46: rank 2 has the bytes 156 to 294, which the file does not have"},
        {46, 54, "byte 46: rank 2 has bytes that another rank has"},
        {62, 3, "byte 62: rank 0 has 3 operations and 1 roots, which do not fit a block of 94 bytes"},
        {65, 255, "byte 62: rank 0 has 4278190082 operations and 1 roots, which do not fit a block of 94 bytes"},
        {62, 1, "byte 62: rank 0 has 1 operations and 1 roots, which do not fit a block of 94 bytes"},
        {70, 1, "byte 70: operation 1 of rank 0 is not one of those that wait for nothing, each once"},
        {73, 1, "byte 70: operation 16777216 of rank 0 is not one of those that wait for nothing, each once"},
        {78, 4, "byte 78: an operation of kind 4 (1 send, 2 recv, 3 calc)"},
        {79, 3, "byte 79: rank 0 has a peer 3 of 3 ranks"},
        {89, 1, "byte 83: a message of 281474976710664 bytes (2^42 are possible)"},
        {105, 2, "byte 105: a list of dependencies leaves the 1 numbers that rank 0 has"},
        {109, 1, "byte 105: a list of dependencies leaves the 1 numbers that rank 0 has"},
        {97, 1, "byte 105: a list of dependencies leaves the 1 numbers that rank 0 has"},
        {105, 0, "byte 152: rank 0 has 1 numbers that no list of dependencies has"},
        {113, 2, "byte 113: operation 1 of rank 0 says it has 2 dependencies, the lists have 1"},
        {152, 2, "byte 152: operation 2 waits, but rank 0 has 2"},
        {152, 0, "byte 74: operation 0 of rank 0 says it has 0 dependencies, the lists have 1"},
        {191, 1, "byte 185: a computing time of 281474976710726 ns (72057594037927 are possible)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[sizeof binary];
        memcpy(bytes, binary, sizeof bytes);
        bytes[cases[i].at] = cases[i].byte;
        refused(bytes, sizeof bytes, cases[i].what);
    }
}

/* Changes of four bytes. */
static void damaged_words_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        const char *what;
    } cases[] = {
        {0, 2342, "byte 0: a simulation used up this file (convert its text again)"},
        {79, ANY, "byte 79: rank 0 has a peer 4294967295 of 3 ranks"},
        {91, ANY, "byte 91: a send has any tag, which only recv may have"},
        {105, ANY, "byte 105: a list of dependencies leaves the 1 numbers that rank 0 has"},
        {109, ANY, "byte 105: a list of dependencies leaves the 1 numbers that rank 0 has"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[sizeof binary];
        uint32_t little = htole32(cases[i].value);
        memcpy(bytes, binary, sizeof bytes);
        memcpy(bytes + cases[i].at, &little, sizeof little);
        refused(bytes, sizeof bytes, cases[i].what);
    }
}

/* One rank with two operations that wait for each other: no roots. */
static void circles_are_named(void **state)
{
    (void)state;
    static const uint8_t circle[] = {
        HEAD(1, 0),
        ENTRY(22, 116),
        COUNTS(2, 0),
        NODE(1, 3, 0, 5, 0, 0, LIST(1, 0), LIST(0, 0)),
        NODE(1, 3, 0, 5, 0, 0, LIST(0, 0), LIST(1, 1)),
        U32(1),
        U32(0),
    };
    refused(circle, sizeof circle, "rank 0: 'l1' and 'l2' wait for each other");
}

/* The block has the right size, but a root is missing, or comes twice. */
static void roots_are_counted(void **state)
{
    (void)state;
    static const uint8_t few[] = {
        HEAD(1, 0),
        ENTRY(22, 112),
        COUNTS(2, 1),
        U32(0),
        NODE(0, 3, 0, 5, 0, 0, LIST(0, 0), LIST(0, 0)),
        NODE(0, 3, 0, 5, 0, 0, LIST(0, 0), LIST(0, 0)),
    };
    static const uint8_t twice[] = {
        HEAD(1, 0),
        ENTRY(22, 116),
        COUNTS(2, 2),
        U32(1),
        U32(1),
        NODE(0, 3, 0, 5, 0, 0, LIST(0, 0), LIST(0, 0)),
        NODE(0, 3, 0, 5, 0, 0, LIST(0, 0), LIST(0, 0)),
    };
    refused(few, sizeof few, "byte 34: rank 0 has 2 operations that wait for nothing, and says 1");
    refused(twice, sizeof twice, "byte 42: operation 1 of rank 0 is not one of those that wait for nothing, each once");
}

/* An element behind the lists. */
static void lists_fill_the_block(void **state)
{
    (void)state;
    static const uint8_t more[] = {
        HEAD(1, 0), ENTRY(22, 77), COUNTS(1, 1), U32(0), NODE(0, 3, 0, 5, 0, 0, LIST(0, 0), LIST(0, 0)), U32(0),
    };
    refused(more, sizeof more, "byte 81: rank 0 has 1 numbers that no list of dependencies has");
}

static void a_file_that_is_cut_anywhere(void **state)
{
    (void)state;
    for (size_t bytes = 8; bytes < sizeof binary; bytes++) {
        struct schedule_notes notes;
        struct hx_problem p;
        assert_null(schedule_of(binary, bytes, &notes, &p));
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
        assert_int_equal(strncmp(p.what, "byte ", 5), 0);
    }
    refused(binary, 13, "byte 13: the file ends within its head");
    refused(binary, 61, "byte 61: the file ends within the table of 3 ranks");
    refused(binary, 300, "byte 46: rank 2 has the bytes 156 to 293, which the file does not have");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_byte_for_byte),     cmocka_unit_test(from_text_to_binary_to_text),
        cmocka_unit_test(damaged_files_are_refused), cmocka_unit_test(damaged_words_are_refused),
        cmocka_unit_test(circles_are_named),         cmocka_unit_test(roots_are_counted),
        cmocka_unit_test(lists_fill_the_block),      cmocka_unit_test(a_file_that_is_cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
