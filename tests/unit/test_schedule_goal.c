/* test_schedule_goal.c - GOAL text: every form, every mistake with its place, and what is written of it. */
#include "schedule/formats.h"
#include "schedule/goal_tokens.h"
#include "schedule/readers.h"
#include "tests/support/support_schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- reading ---- */

static void assert_operation(const struct schedule *s, uint32_t rank, uint32_t number,
                             const struct schedule_operation *wanted, const char *name)
{
    const struct schedule_operation *o = schedule_at(s, rank, number);
    assert_int_equal(o->kind, wanted->kind);
    assert_int_equal(o->amount, wanted->amount);
    assert_int_equal(o->peer, wanted->peer);
    assert_int_equal(o->tag, wanted->tag);
    assert_int_equal(o->stream, wanted->stream);
    assert_string_equal(schedule_name(s, o), name);
}

static void every_form_of_an_operation(void **state)
{
    (void)state;
    struct schedule *s = schedule_of_text("num_ranks 3\n"
                                          "rank 0 {\n"
                                          "calc 5\n"
                                          "work: calc 72057594037927 cpu 255\n"
                                          "send 0b to 2\n"
                                          "a1_B : send 4398046511104 b to 0 tag 4294967294 cpu 1 nic 255\n"
                                          "b: recv 1b from -1 tag -1 nic 1\n"
                                          "recv 2b from 1 cpu 7\n"
                                          "}\n"
                                          "rank 1 {\n}\n"
                                          "rank 2{}\n");
    assert_int_equal(schedule_ranks(s), 3);
    assert_int_equal(schedule_count(s, 0), 6);
    assert_int_equal(schedule_count(s, 1) + schedule_count(s, 2), 0);
    assert_operation(s, 0, 0, &(struct schedule_operation){.kind = SCHEDULE_COMPUTE, .amount = 5000}, "");
    assert_operation(s, 0, 1,
                     &(struct schedule_operation){.kind = SCHEDULE_COMPUTE, .amount = 72057594037927000, .stream = 255},
                     "work");
    assert_operation(s, 0, 2, &(struct schedule_operation){.kind = SCHEDULE_SEND, .peer = 2}, "");
    assert_operation(s, 0, 3,
                     &(struct schedule_operation){
                         .kind = SCHEDULE_SEND, .amount = SCHEDULE_MOST_BYTES, .tag = UINT32_MAX - 1, .stream = 1},
                     "a1_B");
    assert_operation(
        s, 0, 4,
        &(struct schedule_operation){.kind = SCHEDULE_RECEIVE, .amount = 1, .peer = SCHEDULE_ANY, .tag = SCHEDULE_ANY},
        "b");
    assert_operation(s, 0, 5,
                     &(struct schedule_operation){.kind = SCHEDULE_RECEIVE, .amount = 2, .peer = 1, .stream = 7}, "");
    schedule_close(s);
}

/* Asserts that exactly these operations wait for one: numbers, in order, + 1000 for its start only. */
static void assert_followers(const struct schedule *s, uint32_t rank, uint32_t number, uint32_t count, ...)
{
    const uint32_t *list;
    va_list wanted;
    assert_int_equal(schedule_followers(s, rank, number, &list), count);
    va_start(wanted, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t follower = va_arg(wanted, uint32_t);
        assert_int_equal(list[i], follower % 1000 << 1 | (follower >= 1000));
    }
    va_end(wanted);
}

static void dependencies_of_both_kinds(void **state)
{
    (void)state;
    struct schedule *s = schedule_of_text("num_ranks 1\n"
                                          "rank 0 {\n"
                                          "a: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\n"
                                          "b requires d\n" /* an earlier operation for a later one */
                                          "c irequires a\n"
                                          "d requires a\n"
                                          "b requires a\nb requires a\n"
                                          "c irequires d\nc requires d\n" /* the end includes the start */
                                          "}\n");
    assert_followers(s, 0, 0, 3, 1, 1002, 3);
    assert_followers(s, 0, 1, 0);
    assert_followers(s, 0, 2, 0);
    assert_followers(s, 0, 3, 2, 1, 2);
    assert_int_equal(schedule_at(s, 0, 1)->waits, 2);
    schedule_close(s);
}

static void a_label_names_the_newest_operation_above(void **state)
{
    (void)state;
    struct schedule *s = schedule_of_text("num_ranks 2\n"
                                          "rank 1 {\nx: calc 9\n}\n"
                                          "rank 0 {\n"
                                          "l: calc 1\nx: calc 2\nx requires l\n"
                                          "l: calc 3\nl requires x\n"
                                          "x: calc 4\nx irequires l\n"
                                          "}\n");
    assert_followers(s, 0, 0, 1, 1);
    assert_followers(s, 0, 1, 1, 2);
    assert_followers(s, 0, 2, 1, 1003);
    assert_string_equal(schedule_name(s, schedule_at(s, 0, 2)), "l");
    schedule_close(s);
}

/* Words of the grammar that are labels too, where no keyword is possible. */
static void keywords_as_labels(void **state)
{
    (void)state;
    struct schedule *s = schedule_of_text("num_ranks 1\n"
                                          "rank 0 {\n"
                                          "requires: calc 1\nirequires: calc 2\nnic: calc 3\nsend1: calc 4\n"
                                          "requires requires irequires\nnic irequires send1\n"
                                          "}\n");
    assert_followers(s, 0, 1, 1, 0);
    assert_followers(s, 0, 3, 1, 1002);
    schedule_close(s);
}

static void blanks_and_comments(void **state)
{
    (void)state;
    struct schedule *plain = schedule_of_text("num_ranks 2\nrank 0 {\na: calc 1\nb: send 1b to 1\nb requires a\n}\n"
                                              "rank 1 {\nrecv 1b from 0\n}\n");
    struct schedule *same =
        schedule_of_text("// rank 7 {\r\n\r\n/* num_ranks 9\n ** / */ /**/num_ranks\t2 rank 0{// x\r\n"
                         "\t a:calc /* 7 */ 1 // one\r\n"
                         "b :\tsend 1\tb to 1/**/\n\n\n"
                         "  b requires a//\n} rank 1 { recv 1b from 0 tag 0 cpu 0 nic 0\n}// the end");
    assert_schedules_equal(plain, same);
    schedule_close(plain);
    schedule_close(same);
}

static void wide_tags_fold(void **state)
{
    (void)state;
    static const char text[] = "num_ranks 1\nrank 0 {\nsend 1b to 0 tag 5000001300\nrecv 1b from 0 tag 705033996\n}\n";
    struct schedule_notes notes;
    struct hx_problem problem;
    struct schedule *s = schedule_of(text, sizeof text - 1, &notes, &problem);
    assert_non_null(s);
    assert_int_equal(schedule_at(s, 0, 0)->tag, 5000001300 % (UINT64_C(1) << 32));
    assert_int_equal(notes.skipped, 0);
    assert_string_equal(notes.what, "the bits above the 32nd of 1 tags");
    schedule_close(s);
}

/* ---- mistakes ---- */

#define TWO  "num_ranks 2\n"
#define RANK TWO "rank 0 {\n"

static void mistakes_are_named_with_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *what;
    } cases[] = {
        {"num_ranks", ":1:10", "expected a number of ranks, found the end of the file"},
        {"num_ranks x\n", ":1:11", "expected a number of ranks, found 'x'"},
        {"num_ranks -1\n", ":1:11", "expected a number of ranks, found '-1'"},
        {"num_ranks 0\n", ":1:11", "a schedule has at least one rank"},
        {"num_ranks 1048577\n", ":1:11", "a number of ranks is at most 1048576"},
        {"num_ranks 99999999999999999999999\n", ":1:11", "a number of ranks is at most 1048576"},
        {TWO "rank 0 {\n}\n", ":4:1", "the file ends without rank 1 (num_ranks 2 asks for 2 blocks; one may be empty)"},
        {TWO "calc 5\n", ":2:1", "expected rank, found 'calc' (rank R { ... })"},
        {TWO "rank {\n", ":2:6", "expected a rank, found '{'"},
        {TWO "rank -1 {\n", ":2:6", "expected a rank, found '-1'"},
        {TWO "rank 2 {\n", ":2:6", "the rank is out of range (num_ranks 2 allows 0 to 1)"},
        {TWO "rank 0\n{\n", ":2:7", "expected '{', found the end of the line"},
        {TWO "rank 0 {\n}\nrank 0 {\n", ":4:6", "rank 0 has a block already"},
        {TWO "rank 0 {\n}\nrank 1 {\n}\n}\n", ":6:1", "expected rank, found '}' (rank R { ... })"},
        {RANK, ":3:1", "the file ends within rank 0 ('}' ends a rank)"},
        {RANK "calc 5\nrank 1 {\n", ":4:1", "expected an operation, a label or '}', found 'rank'"},
        {RANK "{\n", ":3:1", "expected an operation, a label or '}', found '{'"},
        {RANK "\xc3\xa4: calc 1\n", ":3:1", "expected an operation, a label or '}', found '\xc3'"},
        {RANK "l1 calc 5\n", ":3:4",
         "expected ':', requires or irequires, found 'calc' (LABEL: send ..., or LABEL requires LABEL)"},
        {RANK "l1: wait 5\n", ":3:5", "expected send, recv or calc, found 'wait'"},
        {RANK "l1:\n", ":3:4", "expected send, recv or calc, found the end of the line"},
        {RANK "calc -5\n", ":3:6", "expected a time in ns, found '-'"},
        {RANK "calc 72057594037928\n", ":3:6", "a time in ns is at most 72057594037927"},
        {RANK "calc 5 cpu 256\n", ":3:12", "a cpu is at most 255"},
        {RANK "calc 5 nic 0\n", ":3:8", "expected cpu or the end of the line, found 'nic'"},
        {RANK "calc 5 }\n", ":3:8", "expected cpu or the end of the line, found '}'"},
        {RANK "send to 1\n", ":3:6", "expected a number of bytes, found 'to'"},
        {RANK "send 4398046511105b to 1\n", ":3:6", "a number of bytes is at most 4398046511104"},
        {RANK "send 5 to 1\n", ":3:8", "expected 'b', found 'to' (send BYTESb to RANK)"},
        {RANK "recv 5b to 1\n", ":3:9", "expected 'from', found 'to' (recv BYTESb from RANK)"},
        {RANK "send 5b to -1\n", ":3:12", "expected a rank, found '-1'"},
        {RANK "send 5b to 2\n", ":3:12", "the rank is out of range (num_ranks 2 allows 0 to 1)"},
        {RANK "recv 5b from 18446744073709551615\n", ":3:14", "the rank is out of range (num_ranks 2 allows 0 to 1)"},
        {RANK "recv 5b from any\n", ":3:14", "expected a rank, or -1 for any, found 'any'"},
        {RANK "send 5b to 1 tag -1\n", ":3:18", "expected a tag, found '-1' (only recv may have -1)"},
        {RANK "send 5b to 1 tag 4294967295\n", ":3:18", "the tag is out of range (its low 32 bits would mean any tag)"},
        {RANK "recv 5b from 1 tag x\n", ":3:20", "expected a tag, or -1 for any, found 'x'"},
        {RANK "send 5b to 1 cpu 1 tag 3\n", ":3:20",
         "expected tag, cpu, nic, in this order, or the end of the line, found 'tag'"},
        {RANK "send 5b to 1 nic 256\n", ":3:18", "a nic is at most 255"},
        {RANK "a: calc 1\na requires\n", ":4:11", "expected a label, found the end of the line"},
        {RANK "a: calc 1\nb: calc 1\nb requires a a\n", ":5:14", "expected the end of the line, found 'a'"},
        {RANK "a: calc 1\n\n/* \n*/ a requires bb\n", ":6:15",
         "'bb' is no operation of rank 0 above this line (a dependency stands below both)"},
        {RANK "a: calc 1\n  b requires a\nb: calc 1\n", ":4:3",
         "'b' is no operation of rank 0 above this line (a dependency stands below both)"},
        {RANK "a: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a\n", ":7:12",
         "'a' is no operation of rank 1 above this line (a dependency stands below both)"},
        {RANK "a: calc 1\n/* calc 2\n}\n", ":4:1", "a comment has no end (it ends with '*/')"},
        {RANK "calc 1 / 2\n", ":3:8", "expected cpu or the end of the line, found '/'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct schedule_notes notes;
        struct hx_problem p;
        assert_null(schedule_of(cases[i].text, strlen(cases[i].text), &notes, &p));
        const char *where = strrchr(p.where, '/');
        assert_non_null(where);
        assert_string_equal(where + strlen("/schedule"), cases[i].where);
        assert_string_equal(p.what, cases[i].what);
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
    }
}

static void words_have_a_longest(void **state)
{
    (void)state;
    char label[GOAL_LONGEST_WORD + 2];
    char text[2048];
    struct schedule_notes notes;
    struct hx_problem p;
    memset(label, 'a', sizeof label);
    label[GOAL_LONGEST_WORD] = '\0';
    (void)snprintf(text, sizeof text, "num_ranks 1\nrank 0 {\n%s: calc 1\n}\n", label);
    struct schedule *s = schedule_of_text(text);
    assert_string_equal(schedule_name(s, schedule_at(s, 0, 0)), label);
    schedule_close(s);
    (void)snprintf(text, sizeof text, "num_ranks 1\nrank 0 {\n a%s: calc 1\n}\n", label);
    assert_null(schedule_of(text, strlen(text), &notes, &p));
    assert_non_null(strstr(p.where, ":3:2"));
    assert_string_equal(p.what, "a word of more than 255 letters");
}

static void circles_are_named(void **state)
{
    (void)state;
    static const char text[] = RANK "a: calc 1\nb: calc 1\nb requires a\na irequires b\n}\nrank 1 {\n}\n";
    struct schedule_notes notes;
    struct hx_problem p;
    assert_null(schedule_of(text, sizeof text - 1, &notes, &p));
    assert_string_equal(p.what, "rank 0: 'a' and 'b' wait for each other");
}

static const char tree[] = "num_ranks 3\n"
                           "\nrank 0 {\nl1: send 8b to 1 tag 0\nl2: send 8b to 2 tag 5 cpu 3\nl2 irequires l1\n}\n"
                           "\nrank 1 {\nl1: recv 8b from 0 tag 0\nl2: calc 70 cpu 1\nl2 requires l1\n}\n"
                           "\nrank 2 {\nl1: recv 8b from -1 tag -1\n}\n";

static void a_file_that_is_cut_anywhere(void **state)
{
    (void)state;
    for (size_t bytes = strlen("num_ranks "); bytes < sizeof tree - 2; bytes++) {
        struct schedule_notes notes;
        struct hx_problem p;
        assert_null(schedule_of(tree, bytes, &notes, &p));
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
        assert_non_null(strstr(p.where, "/schedule:"));
        assert_null(strchr(p.what, '\n'));
    }
}

/* ---- the beginning ---- */

static void found_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool more, is;
    } cases[] = {
        {"num_ranks 3\n", false, true},
        {"num_ranks", true, true},
        {"num_ranks", false, true},
        {"num_ra", true, true},
        {"num_ra", false, false},
        {" \t\r\n// a * /\n/* b\n // c */num_ranks\n", false, true},
        {"num_ranks_of 3", false, false},
        {"num_ranks2 3", false, false},
        {"rank 0 {", false, false},
        {"/* all is a comment", true, true},
        {"// all is a comment", true, true},
        {"/* all is a comment", false, false},
        {"/* */ /", false, false},
        {"", false, false},
        {"\n\n", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *begin = (const uint8_t *)cases[i].text;
        assert_int_equal(goal_begins(begin, strlen(cases[i].text), cases[i].more), cases[i].is);
    }
}

/* ---- writing ---- */

static char *text_of(const struct schedule *s)
{
    size_t bytes;
    return schedule_in_format(s, &schedule_goal, &bytes);
}

static void a_text_is_written_as_it_was_read(void **state)
{
    (void)state;
    struct schedule *s = schedule_of_text(tree);
    char *text = text_of(s);
    assert_string_equal(text, tree);
    free(text);
    schedule_close(s);
}

/* Labels are unique in their rank: txt2bin reads a label that comes again as that of the first operation. */
static void labels_that_are_written(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct schedule_builder *b = schedule_builder_new(2);
    static const char *const names[] = {"a", "a", "l3", "send", "9", "l__1", "", "", "l_x", "x y"};
    const uint32_t count = sizeof names / sizeof *names;
    for (uint32_t i = 0; i < count; i++) {
        (void)schedule_compute(b, 0, 1000, 0);
        schedule_set_name(b, 0, i, names[i]);
    }
    schedule_after(b, 0, 1, 0);
    schedule_after_start(b, 0, 7, 1);
    (void)schedule_compute(b, 1, 1000, 0);
    schedule_set_name(b, 1, 0, "a");
    struct schedule *s = schedule_build(b, "built", &problem);
    assert_non_null(s);
    char *text = text_of(s);
    assert_string_equal(text, "num_ranks 2\n"
                              "\nrank 0 {\n"
                              "a: calc 1\nl___2: calc 1\nl3: calc 1\nl___4: calc 1\nl___5: calc 1\nl__1: calc 1\n"
                              "calc 1\nl___8: calc 1\nl_x: calc 1\nl___10: calc 1\n"
                              "l___2 requires a\nl___8 irequires l___2\n"
                              "}\n"
                              "\nrank 1 {\na: calc 1\n}\n");
    free(text);
    schedule_close(s);
}

static void collectives_are_refused(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {0, 1};
    static const struct schedule_format *const formats[] = {&schedule_goal, &schedule_goal_binary};
    struct hx_problem problem;
    struct schedule_builder *b = schedule_builder_new(2);
    (void)schedule_compute(b, 0, 1000, 0);
    (void)schedule_collect(b, 1, HX_ALL_REDUCE, schedule_add_group(b, ranks, 2), 64, 0);
    struct schedule *s = schedule_build(b, "built", &problem);
    assert_non_null(s);
    for (unsigned i = 0; i < 2; i++) {
        assert_false(formats[i]->write(s, "/nowhere/x", &problem));
        assert_string_equal(problem.where, "/nowhere/x");
        assert_string_equal(problem.what, "GOAL has no collectives, and rank 1 has an all-reduce (without --as, "
                                          "hxmesh's own format is written)");
        assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    }
    schedule_close(s);
}

static void times_are_rounded(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct schedule_builder *b = schedule_builder_new(1);
    (void)schedule_compute(b, 0, 1499, 0);
    (void)schedule_compute(b, 0, 1500, 0);
    struct schedule *s = schedule_build(b, "built", &problem);
    char *text = text_of(s);
    assert_string_equal(text, "num_ranks 1\n\nrank 0 {\ncalc 1\ncalc 2\n}\n");
    free(text);
    schedule_close(s);
}

static void repeats_are_unrolled(void **state)
{
    (void)state;
    struct hx_problem problem;
    struct schedule_builder *b = schedule_builder_new(1);
    (void)schedule_repeat(b, 0, 2);
    (void)schedule_send(b, 0, 0, 4, 1);
    schedule_set_name(b, 0, 1, "s");
    (void)schedule_receive(b, 0, 0, 4, 1);
    schedule_repeat_end(b, 0);
    struct schedule *s = schedule_build(b, "built", &problem);
    assert_non_null(s);
    char *text = text_of(s);
    assert_string_equal(text, "num_ranks 1\n"
                              "\nrank 0 {\n"
                              "l1: calc 0 cpu 1\n"
                              "s: send 4b to 0 tag 1\nl3: recv 4b from 0 tag 1\nl4: calc 0 cpu 1\n"
                              "l5: send 4b to 0 tag 1\nl6: recv 4b from 0 tag 1\nl7: calc 0 cpu 1\n"
                              "s requires l1\nl3 requires l1\nl4 requires s\nl4 requires l3\n"
                              "l5 requires l4\nl6 requires l4\nl7 requires l5\nl7 requires l6\n"
                              "}\n");
    free(text);
    schedule_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_an_operation),
        cmocka_unit_test(dependencies_of_both_kinds),
        cmocka_unit_test(a_label_names_the_newest_operation_above),
        cmocka_unit_test(keywords_as_labels),
        cmocka_unit_test(blanks_and_comments),
        cmocka_unit_test(wide_tags_fold),
        cmocka_unit_test(mistakes_are_named_with_line_and_column),
        cmocka_unit_test(words_have_a_longest),
        cmocka_unit_test(circles_are_named),
        cmocka_unit_test(a_file_that_is_cut_anywhere),
        cmocka_unit_test(found_by_content),
        cmocka_unit_test(a_text_is_written_as_it_was_read),
        cmocka_unit_test(labels_that_are_written),
        cmocka_unit_test(collectives_are_refused),
        cmocka_unit_test(times_are_rounded),
        cmocka_unit_test(repeats_are_unrolled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
