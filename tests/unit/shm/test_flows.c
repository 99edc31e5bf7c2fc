/* test_flows.c - traffic from a file: sent as written, or refused with the place of the error. */
#include "tests/support/support_file.h"
#include "workload/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILE_NAME "flows.csv"

static struct hx_spec spec;
static const struct hx_fabric *g;
static struct flows flows;
static struct hx_problem problem;

static bool read_text(const char *fabric, const char *text)
{
    file_write_text(FILE_NAME, text);
    hx_spec_load(fabric, NULL, &spec);
    g = hx_spec_fabric(&spec);
    return flows_read(&flows, file_path(FILE_NAME), &spec, g, HX_MOST_DURATION, &problem);
}

static void done(void)
{
    flows_clear(&flows);
    hx_spec_free(&spec);
}

static void is_message(uint32_t from, uint64_t number, uint32_t to, uint64_t start_ns, uint64_t bytes)
{
    uint64_t at = flows.first[from] + number;
    assert_true(at < flows.first[from + 1]);
    assert_int_equal(flows.to[at], to);
    assert_int_equal(flows.start_ns[at], start_ns);
    assert_int_equal(flows.bytes[at], bytes);
}

/* ---- lists ---- */

static void a_list_is_sorted_by_source_in_its_order(void **state)
{
    (void)state;
    assert_true(read_text("4x4 Hx2Mesh", "\xef\xbb\xbf# what a trace had\r\n"
                                         "Start, source,destination ,bytes\r\n"
                                         "0,0,5,64KiB\r\n"
                                         "\n"
                                         "10us,a1:0,\"a5,3\",1MiB\n"
                                         " 20ns , 1:0 , 63 , 4096 \n"
                                         "1.5ms,0,\"5, 0\",1\n"
                                         "1,0,5,2"));
    assert_int_equal(flows_count(&flows), 5);
    is_message(0, 0, 5, 0, 65536);
    is_message(0, 1, 5, 1500000, 1);
    is_message(0, 2, 5, 1000000000, 2);
    is_message(1, 0, 3 * 8 + 5, 10000, 1 << 20);
    is_message(1, 1, 63, 20, 4096);
    assert_int_equal(flows_of(&flows, 2), 0);
    assert_int_equal(flows.destinations[0], 1);
    assert_int_equal(flows.destinations[1], 2);
    assert_int_equal(flows.peers[5], 1);
    assert_int_equal(flows.peers[1], 2);
    done();
}

static void columns_may_be_in_any_order(void **state)
{
    (void)state;
    assert_true(read_text("2x2 Hx1Mesh", "bytes,destination,start,source\n7,3,2us,0\n"));
    is_message(0, 0, 3, 2000, 7);
    done();
}

static void failed_boards_are_left_out_and_counted(void **state)
{
    (void)state;
    hx_spec_load("2x2 Hx1Mesh", NULL, &spec);
    g = hx_spec_fabric(&spec);
    spec.failed = hx_allocate(4, sizeof *spec.failed);
    spec.failed[2] = true;
    FILE *out = file_create(FILE_NAME);
    fputs("start,source,destination,bytes\n0,0,1,8\n0,2,1,8\n0,1,2,8\n", out);
    assert_int_equal(fclose(out), 0);
    assert_true(flows_read(&flows, file_path(FILE_NAME), &spec, g, HX_MOST_DURATION, &problem));
    assert_int_equal(flows_count(&flows), 1);
    assert_int_equal(flows.left_out, 2);
    done();
}

/* ---- matrices ---- */

static void a_matrix_is_a_message_for_each_pair(void **state)
{
    (void)state;
    assert_true(read_text("2x2 Hx1Mesh", "0,1,2,3\n4KiB,0,0,0\n 0, 0, 0, 0\n5,6,7,0\n"));
    assert_int_equal(flows_count(&flows), 7);
    is_message(0, 0, 1, 0, 1);
    is_message(0, 2, 3, 0, 3);
    is_message(1, 0, 0, 0, 4096);
    is_message(3, 0, 0, 0, 5);
    done();
}

static void a_matrix_may_have_labels(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ",0,1,2,3\n0,0,1,2,3\n1,4KiB,0,0,0\n2,0,0,0,0\n3,5,6,7,0\n",
        "from\\to,\"0,0\",a1:0,\"a0,1\",x\n\"0,0\",0,1,2,3\nme,4KiB,0,0,0\na0:1,0,0,0,0\n3,5,6,7,0\n",
        "\"\",node a,node b,node c,node d\nnode a,0,1,2,3\nnode b,4KiB,0,0,0\nnode c,0,0,0,0\nnode d,5,6,7,0\n"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(read_text("2x2 Hx1Mesh", texts[i]));
        assert_int_equal(flows_count(&flows), 7);
        is_message(1, 0, 0, 0, 4096);
        is_message(3, 0, 0, 0, 5);
        done();
    }
}

/* Rank r begins with rank r + 1, so not all begin with the first. */
static void rows_of_a_matrix_begin_behind_the_diagonal(void **state)
{
    (void)state;
    assert_true(read_text("2x2 Hx1Mesh", "0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n"));
    for (uint32_t from = 0; from < 4; from++)
        for (uint32_t i = 0; i < 3; i++)
            is_message(from, i, (from + 1 + i) % 4, 0, 1);
    done();
}

/* ---- as traffic ---- */

static void the_file_is_the_traffic(void **state)
{
    (void)state;
    assert_true(read_text("2x2 Hx1Mesh", "start,source,destination,bytes\n0,0,1,8\n3us,0,2,9\n4us,0,1,10\n0,3,0,1\n"));
    struct hx_settings s = hx_default_settings;
    s.pattern = HX_FLOWS;
    s.count = 5;           /* not used with a file */
    s.duration_ns = 10000; /* ends it early, but does not extend it */
    struct traffic t;
    traffic_init(&t, &spec, g, &s, &flows);
    assert_int_equal(traffic_messages(&t, 0), 3);
    assert_int_equal(traffic_messages(&t, 1), 0);
    assert_int_equal(traffic_messages(&t, 3), 1);
    assert_int_equal(traffic_destination(&t, 0, 1), 2);
    assert_int_equal(traffic_bytes(&t, 0, 1), 9);
    assert_int_equal(traffic_start_ns(&t, 0, 1), 3000);
    assert_int_equal(traffic_destinations(&t, 0), 2);
    assert_int_equal(traffic_peers(&t, 0), 3);
    assert_int_equal(traffic_peers(&t, 2), 1);
    assert_int_equal(traffic_messages_between(&t, 0, 1), 2);
    assert_true(traffic_bytes_of_all(&t) == 28);
    traffic_free(&t);
    done();
}

/* ---- errors ---- */

#define HEAD "start,source,destination,bytes\n"

static bool read_refused(const char *text, struct hx_problem *p)
{
    bool good = read_text("2x2 Hx1Mesh", text);
    hx_spec_free(&spec);
    *p = problem;
    return good;
}

static void errors_name_their_place(void **state)
{
    (void)state;
    static const struct file_refusal cases[] = {
        {"", "", "holds no traffic (a list of messages begins with the line start,source,destination,bytes)"},
        {HEAD, "", "holds no message"},
        {"time,source,destination,bytes\n", ":1:1",
         "'time' is no column (a list of messages begins with the line start,source,destination,bytes; a matrix has "
         "sizes "
         "only)"},
        {"start,sorce,destination,bytes\n", ":1:7",
         "'sorce' is no column (did you mean 'source'?) (a list of messages begins with the line "
         "start,source,destination,bytes; a matrix has sizes only)"},
        {"start,start,destination,bytes\n", ":1:7", "column 'start' is there twice"},
        {"start,source,bytes\n", ":1:1",
         "column 'destination' is missing (a list of messages begins with the line start,source,destination,bytes)"},
        {HEAD "0,0,1,8\nsoon,0,1,8\n", ":3:1", "'soon' is not a duration (write for example 30s, 500ms or 2m)"},
        {HEAD "0,4,1,8\n", ":2:3", "rank 4 is outside 0 .. 3"},
        {HEAD "0,b1,1,8\n", ":2:3",
         "'b1' is no accelerator (write its rank, 0 .. 3, or its place as 5:3, a5:3 or \"5,3\")"},
        {HEAD "0,0,a2:0,8\n", ":2:5", "a2,0 is outside the 2x2 Hx1Mesh (gx 0 .. 1, gy 0 .. 1)"},
        {HEAD "0,1,1:0,8\n", ":2:5", "a1,0 sends to itself (leave it out: that never crosses the fabric)"},
        {"bytes,start,destination\n", ":1:1",
         "column 'source' is missing (a list of messages begins with the line start,source,destination,bytes)"},
        {HEAD "0,0,1,0\n", ":2:7", "'0' is outside 1 B .. 16 TiB"},
        {HEAD "0,0,1\n", ":2:1",
         "a message has 4 values, as the first line names them (a place of two numbers is written 5:3 or \"5,3\")"},
        {HEAD "0,0,0,1,8\n", ":2:9",
         "a message has 4 values, as the first line names them (a place of two numbers is written 5:3 or \"5,3\")"},
        {"0,1,1,1\n1,0,1\n", ":2:1", "fewer than 4 sizes: a matrix for the 2x2 Hx1Mesh has 4 lines of 4 sizes"},
        {"0,1,1,1,1\n", ":1:9", "more than 4 sizes: a matrix for the 2x2 Hx1Mesh has 4 lines of 4 sizes"},
        {"0,1,1,1\n", ":1:1", "the matrix ends behind 1 lines; for the 2x2 Hx1Mesh it has 4"},
        {"0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n0,0,0,0\n", ":5:1",
         "one line too many: a matrix for the 2x2 Hx1Mesh has 4 lines of 4 sizes"},
        {"9,1,1,1\n", ":1:1", "a0,0 sends to itself (leave it out: that never crosses the fabric)"},
        {",0,1,2\n", ":1:1", "3 labels: a matrix for the 2x2 Hx1Mesh has 4 columns"},
        {",0,2,1,3\n", ":1:4", "'2' stands where rank 1 is expected: a matrix is in the order of ranks"},
        {",a,b,c,d\na1:0,0,1,1,1\n", ":2:1",
         "'a1:0' stands where rank 0 is expected: a matrix is in the order of ranks"},
        {"0,x,1,1\n", ":1:3", "'x' is not a size (write for example 8192, 64KiB, 1MiB or 2GiB)"},
    };
    file_refused(FILE_NAME, cases, sizeof cases / sizeof *cases, read_refused);
}

static void no_traffic_between_jobs(void **state)
{
    (void)state;
    hx_spec_load("2x2 Hx1Mesh", NULL, &spec);
    g = hx_spec_fabric(&spec);
    spec.job = hx_allocate(4, sizeof *spec.job);
    spec.job[0] = 5;
    spec.job[3] = 7;
    FILE *out = file_create(FILE_NAME);
    fputs(HEAD "0,0,3,8\n", out);
    assert_int_equal(fclose(out), 0);
    assert_false(flows_read(&flows, file_path(FILE_NAME), &spec, g, HX_MOST_DURATION, &problem));
    assert_string_equal(problem.what, "a0,0 of job 5 sends to a1,1 of job 7 (only accelerators of one job talk)");
    spec.job[0] = HX_NO_JOB;
    assert_false(flows_read(&flows, file_path(FILE_NAME), &spec, g, HX_MOST_DURATION, &problem));
    assert_string_equal(problem.what, "a0,0 is of no job, and idle where jobs are named");
    hx_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_sorted_by_source_in_its_order),
        cmocka_unit_test(columns_may_be_in_any_order),
        cmocka_unit_test(failed_boards_are_left_out_and_counted),
        cmocka_unit_test(a_matrix_is_a_message_for_each_pair),
        cmocka_unit_test(a_matrix_may_have_labels),
        cmocka_unit_test(rows_of_a_matrix_begin_behind_the_diagonal),
        cmocka_unit_test(the_file_is_the_traffic),
        cmocka_unit_test(errors_name_their_place),
        cmocka_unit_test(no_traffic_between_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
