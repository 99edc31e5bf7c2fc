/* test_hostfile.c - the machines of a run by ranks, read from a file (fabric-emu/virtual/hostfile.h). */
#include "fabric-emu/virtual/hostfile.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool read_text(const char *text, struct hx_problem *problem)
{
    struct hostfile h;
    bool good = hostfile_read(&h, file_write_text("machines", text), problem);
    if (!good)
        assert_null(h.hosts);
    else
        free(h.hosts);
    return good;
}

/* ---- good files ---- */

static void a_line_is_a_machine_with_its_slots(void **state)
{
    static const struct {
        const char *text, *hosts;
        uint64_t slots;
    } files[] = {
        {"left\n", "left:1", 1},
        {"left slots=4\nright slots=2\n", "left:4,right:2", 6},
        {"left\nright", "left:1,right:1", 2},
        {"left slots=2\nright\nleft slots=3\n", "left:2,right:1,left:3", 6},
        {"# machines\n\n  left\tslots=2  # the first\n\t\nright max_slots=8 slots=1\n", "left:2,right:1", 3},
        {"left max-slots=8\n", "left:1", 1},
        {"left slots=2 slots=3\n", "left:3", 3},
        {"10.77.0.1 slots=65535\nnode-7.lab_2.example\n", "10.77.0.1:65535,node-7.lab_2.example:1", 65536},
        {"left slots=4\r\nright\r\n", "left:4,right:1", 5},
        {"\xEF\xBB\xBFleft\n", "left:1", 1},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        struct hx_problem problem;
        struct hostfile h;
        assert_true(hostfile_read(&h, file_write_text("machines", files[i].text), &problem));
        assert_string_equal(h.hosts, files[i].hosts);
        assert_int_equal(h.slots, files[i].slots);
        free(h.hosts);
    }
}

/* ---- refused files ---- */

static void a_bad_line_has_one_message_with_its_place(void **state)
{
    static const struct file_refusal cases[] = {
        {"", "", "names no machine (a line for each: HOST slots=N)"},
        {"# left\n\n", "", "names no machine (a line for each: HOST slots=N)"},
        {"left\n--mca plm\n", ":2:1", "'--mca' is no name of a machine (HOST slots=N)"},
        {"left,right\n", ":1:1", "'left,right' is no name of a machine (HOST slots=N)"},
        {"left:4\n", ":1:1", "'left:4' is no name of a machine (HOST slots=N)"},
        {"user@left\n", ":1:1", "'user@left' is no name of a machine (HOST slots=N)"},
        {"  .left\n", ":1:3", "'.left' is no name of a machine (HOST slots=N)"},
        {"slots=2\n", ":1:1", "'slots=2' is no name of a machine (HOST slots=N)"},
        {"left\nright 4\n", ":2:7", "'4' is neither slots=N nor max_slots=N"},
        {"left slots 4\n", ":1:6", "'slots' is neither slots=N nor max_slots=N"},
        {"left slots=2 SLOTS=4\n", ":1:14", "'SLOTS=4' is neither slots=N nor max_slots=N"},
        {"left slots=2 right\n", ":1:14", "'right' is neither slots=N nor max_slots=N"},
        {"left slots=x\n", ":1:6", "slots: 'x' is not a number (1 .. 65535)"},
        {"left slots=\n", ":1:6", "slots: '' is not a number (1 .. 65535)"},
        {"left slots=0\n", ":1:6", "slots: 0 is outside 1 .. 65535"},
        {"left slots=65536\n", ":1:6", "slots: 65536 is outside 1 .. 65535"},
        {"left\tslots=-1\n", ":1:6", "slots: -1 is outside 1 .. 65535"},
        {"left max_slots=many\n", ":1:6", "max_slots: 'many' is not a number (1 .. 65535)"},
        {"left slots=1 max-slots=0\n", ":1:14", "max-slots: 0 is outside 1 .. 65535"},
        {"left slots=2 slots=0 more\n", ":1:14", "slots: 0 is outside 1 .. 65535"},
    };
    (void)state;
    file_refused("machines", cases, sizeof cases / sizeof *cases, read_text);
}

static void a_line_that_cannot_be_read_is_refused(void **state)
{
    static const char with_zero[] = "left\nri\0ght\n";
    char line[600] = "left ";
    struct hx_problem problem;
    struct hostfile h;
    (void)state;
    assert_false(hostfile_read(&h, file_write("machines", with_zero, sizeof with_zero - 1), &problem));
    assert_string_equal(problem.what, "a byte 0 in a text file");
    assert_null(h.hosts);
    memset(line + 5, ' ', sizeof line - 6);
    assert_false(read_text(line, &problem));
    assert_string_equal(problem.what, "a line of more than 510 letters");
}

static void a_missing_file_is_refused(void **state)
{
    struct hx_problem problem;
    struct hostfile h;
    (void)state;
    assert_false(hostfile_read(&h, "/nowhere/machines", &problem));
    assert_string_equal(problem.where, "/nowhere/machines");
    assert_string_equal(problem.what, "cannot be read: No such file or directory");
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    assert_null(h.hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_machine_with_its_slots),
        cmocka_unit_test(a_bad_line_has_one_message_with_its_place),
        cmocka_unit_test(a_line_that_cannot_be_read_is_refused),
        cmocka_unit_test(a_missing_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
