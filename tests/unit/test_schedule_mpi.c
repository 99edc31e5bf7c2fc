/* test_schedule_mpi.c - MPI traces: what each call becomes, and every mistake with its place. */
#include "schedule/formats.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- files, and a schedule as text ---- */

static void write_trace(unsigned rank, unsigned ranks, const char *lines)
{
    char name[32];
    (void)snprintf(name, sizeof name, "t.%u.mpi", rank);
    FILE *out = file_create(name);
    fprintf(out, "hxmesh-mpi 1 rank %u of %u\n%s", rank, ranks, lines);
    assert_int_equal(fclose(out), 0);
}

static struct schedule *read_traces(struct schedule_notes *notes, struct hx_problem *problem)
{
    static const struct schedule_read_options options = {.ranks = 0};
    return schedule_read(file_path("t.0.mpi"), &options, notes, problem);
}

static void print_group(const struct schedule *s, uint32_t group, FILE *out)
{
    fprintf(out, " {");
    for (uint32_t i = 0; i < schedule_group_size(s, group); i++)
        fprintf(out, "%s%u", i ? "," : "", schedule_group(s, group)[i]);
    fprintf(out, "}");
}

/* A line for each operation: what it does, and "> NUMBER" for each one that waits for its end, "s" for its start. */
static void print_rank(const struct schedule *s, uint32_t rank, FILE *out)
{
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        const uint32_t *list;
        uint32_t followers = schedule_followers(s, rank, i, &list);
        fprintf(out, "%u ", i);
        if (o->kind == SCHEDULE_COLLECTIVE) {
            fprintf(out, "%s", hx_collective_kind_names[o->collective]);
            print_group(s, o->peer, out);
            fprintf(out, " %u", o->tag);
        } else {
            fprintf(out, "%s", schedule_kind_names[o->kind]);
            if (o->kind != SCHEDULE_COMPUTE)
                fprintf(out, " %u:%u", o->peer, o->tag);
        }
        fprintf(out, " %llu", (unsigned long long)o->amount);
        for (uint32_t f = 0; f < followers; f++)
            fprintf(out, " >%u%s", list[f] >> 1, list[f] & SCHEDULE_AFTER_START ? "s" : "");
        fprintf(out, "\n");
    }
}

/* Asserts the operations of rank 0 when `lines` are its calls among `ranks` ranks; the others only finish. */
static void assert_becomes(unsigned ranks, const char *lines, const char *wanted)
{
    struct schedule_notes notes;
    struct hx_problem problem = {.what = ""};
    for (unsigned i = 1; i < ranks; i++)
        write_trace(i, ranks, "0 0 MPI_Finalize\n");
    write_trace(0, ranks, lines);
    struct schedule *s = read_traces(&notes, &problem);
    assert_string_equal(problem.what, "");
    assert_non_null(s);
    FILE *out = file_begin_text();
    print_rank(s, 0, out);
    char *text = file_end_text();
    assert_string_equal(text, wanted);
    assert_string_equal(notes.what, "");
    free(text);
    schedule_close(s);
}

/* ---- calls ---- */

static void time_between_calls_is_computing(void **state)
{
    (void)state;
    assert_becomes(2,
                   "100 200 MPI_Send 0 1 7 1024\n"
                   "200 250 MPI_Recv 0 1 8 1,8,10\n"
                   "260 270 poll\n"
                   "275 280 communicator 1 0\n"
                   "280 290 MPI_Barrier 1\n"
                   "290 300 unknown x 0\n"
                   "300 400 MPI_Ssend 0 1 7 0\n"
                   "1400 1400 MPI_Finalize\n",
                   "0 compute 100000 >1\n"
                   "1 send 1:7 1024 >2\n"
                   "2 receive 1:8 10 >3\n"
                   "3 compute 15000 >4\n"
                   "4 send 1:7 0 >5\n"
                   "5 compute 1000000\n");
}

static void long_times_are_several_operations(void **state)
{
    (void)state;
    assert_becomes(1, "72057594037928 72057594037928 MPI_Finalize\n",
                   "0 compute 72057594037927000 >1\n1 compute 1000\n");
}

static void requests_end_at_their_wait(void **state)
{
    (void)state;
    assert_becomes(2,
                   "0 0 MPI_Irecv 0 0 * *\n"
                   "0 0 MPI_Irecv 1 0 1 5\n"
                   "0 0 MPI_Isend 2 0 1 5 100\n"
                   "0 0 MPI_Wait 1=1,5,50\n"
                   "10 20 MPI_Waitall 0=1,6,60 2\n"
                   "20 20 MPI_Isend 0 0 1 5 1\n" /* the number is free again */
                   "20 20 MPI_Waitall\n"
                   "25 30 MPI_Test 0\n"
                   "30 30 MPI_Finalize\n",
                   "0 receive 1:6 60 >1s >4\n"
                   "1 receive 1:5 50 >2s >3\n"
                   "2 send 1:5 100 >3s >4\n"
                   "3 compute 10000 >4\n"
                   "4 send 1:5 1 >5s\n"
                   "5 compute 5000\n");
}

static void both_halves_of_an_exchange_go_on_at_once(void **state)
{
    (void)state;
    assert_becomes(3,
                   "0 0 MPI_Sendrecv 0 1 5 100 0 * * 2,6,200\n"
                   "0 0 MPI_Send 0 2 0 1\n"
                   "0 0 MPI_Finalize\n",
                   "0 send 1:5 100 >1s >2\n"
                   "1 receive 2:6 200 >2\n"
                   "2 send 2:0 1\n");
}

static void collectives(void **state)
{
    (void)state;
    assert_becomes(4,
                   "0 0 communicator 1 2 0\n"
                   "0 0 MPI_Barrier 0\n"
                   "0 0 MPI_Bcast 1 0 10\n"
                   "0 0 MPI_Iallreduce 0 0 20\n"
                   "0 0 MPI_Ireduce 1 1 1 30\n"
                   "0 0 MPI_Waitall 0 1\n"
                   "0 0 MPI_Alltoall 0 40\n"
                   "0 0 MPI_Finalize\n",
                   "0 barrier {0,1,2,3} 0 0 >1\n"
                   "1 broadcast {2,0} 0 10 >2\n"
                   "2 all-reduce {0,1,2,3} 0 20 >3s >4\n"
                   "3 reduce {2,0} 1 30 >4\n"
                   "4 all-to-all {0,1,2,3} 0 40\n");
}

static void every_collective_has_its_kind(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        {"MPI_Allgather 0 8", "all-gather {0,1} 0 8"},
        {"MPI_Allgatherv 0 8", "all-gather {0,1} 0 8"},
        {"MPI_Reduce 0 1 8", "reduce {0,1} 1 8"},
        {"MPI_Reduce_scatter 0 8", "reduce-scatter {0,1} 0 8"},
        {"MPI_Gather 0 1 8", "gather {0,1} 1 8"},
        {"MPI_Reduce_scatter_block 0 8", "reduce-scatter {0,1} 0 8"},
        {"MPI_Scatter 0 1 8", "scatter {0,1} 1 8"},
        {"MPI_Iallgather 0 0 8", "all-gather {0,1} 0 8"},
        {"MPI_Allreduce 0 8", "all-reduce {0,1} 0 8"},
        {"MPI_Ibarrier 0 0", "barrier {0,1} 0 0"},
        {"MPI_Ialltoall 0 0 8", "all-to-all {0,1} 0 8"},
        {"MPI_Ibcast 0 0 1 8", "broadcast {0,1} 1 8"},
        {"MPI_Igather 0 0 1 8", "gather {0,1} 1 8"},
        {"MPI_Iscatter 0 0 1 8", "scatter {0,1} 1 8"},
        {"MPI_Ireduce_scatter 0 0 8", "reduce-scatter {0,1} 0 8"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char line[80];
        char wanted[80];
        (void)snprintf(line, sizeof line, "0 0 %s\n0 0 MPI_Finalize\n", all[i][0]);
        (void)snprintf(wanted, sizeof wanted, "0 %s\n", all[i][1]);
        assert_becomes(2, line, wanted);
    }
}

static void unequal_parts_are_messages(void **state)
{
    (void)state;
    assert_becomes(3,
                   "0 0 communicator 1 2 0 1\n"
                   "0 0 MPI_Alltoallv 1 s0:10 s1:11 s2:12 r0:20 r1:21\n"
                   "0 0 MPI_Igatherv 0 1 s2:5\n"
                   "0 0 MPI_Iscatterv 1 0\n"
                   "0 0 MPI_Send 0 1 0 0\n"
                   "0 0 MPI_Waitall 0 1\n"
                   "0 0 MPI_Send 0 1 0 1\n"
                   "0 0 MPI_Finalize\n",
                   "0 send 2:2147483648 10 >1s >3\n"
                   "1 send 1:2147483648 12 >2s >3\n"
                   "2 receive 2:2147483648 20 >3\n"
                   "3 send 1:2147483648 5 >4s >5\n"
                   "4 send 1:0 0 >5\n"
                   "5 send 1:0 1\n");
}

/* Two ranks make the communicators of ranks 0 and 1 in one order, but rank 1 has made another one before. */
static void communicators_agree(void **state)
{
    (void)state;
    struct schedule_notes notes;
    struct hx_problem problem = {.what = ""};
    write_trace(0, 3,
                "0 0 communicator 1 0 1\n"
                "0 0 communicator 2 0 1\n"
                "0 0 MPI_Send 1 1 9 1\n"
                "0 0 MPI_Send 2 1 9 2\n"
                "0 0 MPI_Send 2 1 2000000000 3\n"
                "0 0 MPI_Send 0 1 1048576 4\n"
                "0 0 MPI_Finalize\n");
    write_trace(1, 3,
                "0 0 communicator 1 2 1\n"
                "0 0 communicator 2 0 1\n"
                "0 0 communicator 3 0 1\n"
                "0 0 MPI_Recv 0 0 1048576 0,1048576,4\n"
                "0 0 MPI_Recv 3 0 * 0,2000000000,3\n"
                "0 0 MPI_Recv 3 0 9 0,9,2\n"
                "0 0 MPI_Recv 2 0 9 0,9,1\n"
                "0 0 MPI_Send 1 0 9 5\n"
                "0 0 MPI_Finalize\n");
    write_trace(2, 3, "0 0 MPI_Finalize\n");
    struct schedule *s = read_traces(&notes, &problem);
    assert_non_null(s);
    FILE *out = file_begin_text();
    print_rank(s, 0, out);
    print_rank(s, 1, out);
    char *text = file_end_text();
    assert_string_equal(text, "0 send 1:1048585 1 >1\n"
                              "1 send 1:2097161 2 >2\n"
                              "2 send 1:2147483648 3 >3\n"
                              "3 send 1:2147483649 4\n"
                              "0 receive 0:2147483649 4 >1\n"
                              "1 receive 0:2147483648 3 >2\n"
                              "2 receive 0:2097161 2 >3\n"
                              "3 receive 0:1048585 1 >4\n"
                              "4 send 2:3145737 5\n");
    free(text);
    schedule_close(s);
}

static void a_cancelled_receive_takes_no_time(void **state)
{
    (void)state;
    assert_becomes(1,
                   "0 0 MPI_Irecv 3 0 * 1\n"
                   "0 0 MPI_Wait 3=cancelled\n"
                   "0 0 MPI_Isend 3 0 0 1 1\n"
                   "0 0 MPI_Request_free 3\n"
                   "5 5 MPI_Finalize\n",
                   "0 compute 0 >1\n"
                   "1 send 0:1 1 >2s\n"
                   "2 compute 5000\n");
}

static void what_is_left_out_is_counted(void **state)
{
    (void)state;
    struct schedule_notes notes;
    struct hx_problem problem = {.what = ""};
    write_trace(0, 1,
                "0 0 unknown MPI_Put\n"
                "0 0 unknown MPI_Scan 4\n"
                "0 0 MPI_Irecv 0 0 0 1\n"
                "0 0 MPI_Irecv 1 0 0 1\n"
                "0 0 MPI_Request_free 1\n"
                "0 0 unknown MPI_Put\n"
                "0 0 MPI_Finalize\n");
    struct schedule *s = read_traces(&notes, &problem);
    assert_non_null(s);
    assert_int_equal(notes.skipped, 8);
    assert_string_equal(notes.what, "2 MPI_Put, 4 MPI_Scan, 2 receives without an end");
    schedule_close(s);
}

static void many_unknown_names_are_counted_together(void **state)
{
    (void)state;
    struct schedule_notes notes;
    struct hx_problem problem = {.what = ""};
    char lines[4096] = "";
    for (unsigned i = 0; i < 40; i++)
        (void)snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "0 0 unknown MPI_A_rather_long_name_%u\n",
                       i);
    (void)snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "0 0 MPI_Finalize\n");
    write_trace(0, 1, lines);
    struct schedule *s = read_traces(&notes, &problem);
    assert_non_null(s);
    assert_int_equal(notes.skipped, 40);
    assert_true(strlen(notes.what) < sizeof notes.what);
    schedule_close(s);
}

static void any_file_stands_for_all(void **state)
{
    (void)state;
    static const struct schedule_read_options options = {.ranks = 0};
    struct schedule_notes notes;
    struct hx_problem problem;
    write_trace(0, 2, "0 0 MPI_Send 0 1 1 1\n0 0 MPI_Finalize\n");
    write_trace(1, 2, "0 0 MPI_Finalize\n");
    struct schedule *s = schedule_read(file_path("t.1.mpi"), &options, &notes, &problem);
    assert_non_null(s);
    assert_int_equal(schedule_count(s, 0), 1);
    schedule_close(s);
}

/* ---- mistakes ---- */

/* Asserts the error when rank 0 of two has these lines: "LINE:COLUMN: what", or "what" for the whole file. */
static void assert_refused(const char *lines, const char *wanted)
{
    struct schedule_notes notes;
    struct hx_problem problem = {.what = ""};
    char text[sizeof problem.where + sizeof problem.what + 2];
    write_trace(1, 2, "0 0 MPI_Finalize\n");
    write_trace(0, 2, lines);
    assert_null(read_traces(&notes, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    const char *place = problem.where + strlen(file_path("t.0.mpi"));
    (void)snprintf(text, sizeof text, "%s%s%s", place + (*place == ':'), *place ? ": " : "", problem.what);
    assert_string_equal(text, wanted);
}

static void wrong_lines_have_their_place(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        {"", "has no line of MPI_Finalize (the program was ended before, or the file was cut)"},
        {"0 0 MPI_Send 0 1 1 1\n", "has no line of MPI_Finalize (the program was ended before, or the file was cut)"},
        {"0 0 MPI_Finalize\n0 0 poll\n", "3:1: no line is behind MPI_Finalize"},
        {"x\n", "2:1: 'x' is not a time in ns (0 to 72057594037927936)"},
        {"0\n", "2:2: a time in ns is missing (0 to 72057594037927936)"},
        {"0 1x poll\n", "2:3: '1x' is not a time in ns (0 to 72057594037927936)"},
        {"0 0\n", "2:4: a call is missing"},
        {"0 0 MPI_Nothing 0\n", "2:5: 'MPI_Nothing' is no call of a trace"},
        {"5 4 poll\n", "2:3: the call ends at 4 ns, before its begin"},
        {"5 9 poll\n8 9 poll\n", "3:1: the call begins at 8 ns, before the end of the last one, 9 ns"},
        {"0 0 poll 1\n", "2:10: the line goes on behind its end"},
        {"0 0 MPI_Send 1 1 1 1\n", "2:14: '1' is not a communicator of this rank (0 to 0)"},
        {"0 0 MPI_Send 0 2 1 1\n", "2:16: '2' is not a rank of the communicator (0 to 1)"},
        {"0 0 MPI_Send 0 -1 1 1\n", "2:16: '-1' is not a rank of the communicator (0 to 1)"},
        {"0 0 MPI_Send 0 * 1 1\n", "2:16: '*' is not a rank of the communicator (0 to 1)"},
        {"0 0 MPI_Send 0 1 2147483648 1\n", "2:18: '2147483648' is not a tag (0 to 2147483647)"},
        {"0 0 MPI_Send 0 1 1 4398046511105\n", "2:20: '4398046511105' is not a number of bytes (0 to 4398046511104)"},
        {"0 0 MPI_Send 0 1 1\n", "2:19: a number of bytes is missing (0 to 4398046511104)"},
        {"0 0 MPI_Send 0 1 1 1,2\n", "2:21: a space is wanted behind a number of bytes"},
        {"0 0 MPI_Recv 0 1 1 1 1 1\n", "2:21: ',' is wanted behind a rank of the communicator"},
        {"0 0 MPI_Recv 0 1 1 1,1\n", "2:23: ',' is wanted behind a tag"},
        {"0 0 MPI_Irecv 1048576 0 1 1\n", "2:15: '1048576' is not a request (0 to 1048575)"},
        {"0 0 MPI_Isend 0 0 1 1 1\n0 0 MPI_Isend 0 0 1 1 1\n", "3:15: request 0 has begun before and not ended"},
        {"0 0 MPI_Wait 7\n", "2:14: request 7 has not begun"},
        {"0 0 MPI_Isend 0 0 1 1 1\n0 0 MPI_Wait 0 0\n", "3:16: request 0 has not begun"},
        {"0 0 MPI_Isend 0 0 1 1 1\n0 0 MPI_Wait 0=1,1,1\n", "3:15: '=' is for receives only"},
        {"0 0 MPI_Irecv 0 0 1 1\n0 0 MPI_Wait 0\n", "3:15: '=' is wanted behind a receive: '=FROM,TAG,BYTES'"},
        {"0 0 MPI_Bcast 0 2 1\n", "2:17: '2' is not a rank of the communicator (0 to 1)"},
        {"0 0 MPI_Alltoallv 0 x1:1\n", "2:21: a part is wanted: 'sRANK:BYTES' or 'rRANK:BYTES'"},
        {"0 0 MPI_Alltoallv 0 s1\n", "2:23: ':' is wanted behind a rank of the communicator"},
        {"0 0 communicator 2 0 1\n", "2:18: communicator 1 is the next one, not 2"},
        {"0 0 communicator 1\n", "2:19: the ranks of a communicator are wanted, this one among them, none twice"},
        {"0 0 communicator 1 1\n", "2:20: the ranks of a communicator are wanted, this one among them, none twice"},
        {"0 0 communicator 1 0 1 1\n", "2:20: the ranks of a communicator are wanted, this one among them, none twice"},
        {"0 0 communicator 1 0 2\n", "2:22: '2' is not a rank (0 to 1)"},
        {"0 0 unknown\n", "2:12: the name of a call is missing"},
        {"0 0 unknown x y\n", "2:15: 'y' is not a number (0 to 2147483647)"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_refused(all[i][0], all[i][1]);
}

/* Asserts the error of a file of this name and text. */
static void assert_file_refused(const char *name, const char *text, const char *wanted)
{
    static const struct schedule_read_options options = {.ranks = 0};
    struct schedule_notes notes;
    struct hx_problem problem = {.what = ""};
    char whole[sizeof problem.where + sizeof problem.what + 2];
    assert_null(schedule_read(file_write_text(name, text), &options, &notes, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    (void)snprintf(whole, sizeof whole, "%s: %s", strrchr(problem.where, '/') + 1, problem.what);
    assert_string_equal(whole, wanted);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    static const char head[] = ":1:1: 'hxmesh-mpi 1 rank RANK of RANKS' is wanted as the first line";
    static const char *const heads[] = {"hxmesh-mpi 1",
                                        "hxmesh-mpi 1 rank 0",
                                        "hxmesh-mpi 1 rank 0 of x",
                                        "hxmesh-mpi 1 rank 2 of 2",
                                        "hxmesh-mpi 1 rank 0 of 2 3",
                                        "hxmesh-mpi 1 0 2"};
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted, "w.0.mpi%s", head);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        assert_file_refused("w.0.mpi", heads[i], wanted);
    assert_file_refused("w.0.mpi", "hxmesh-mpi 2 rank 0 of 2\n",
                        "w.0.mpi:1:1: a trace of version 2, this program reads version 1");
    assert_file_refused("w.trace", "hxmesh-mpi 1 rank 0 of 2\n",
                        "w.trace: is the trace of rank 0, but its name does not end with .0.mpi, by which those of "
                        "other ranks are found");
    assert_file_refused("w.1.mpi", "hxmesh-mpi 1 rank 0 of 2\n",
                        "w.1.mpi: is the trace of rank 0, but its name does not end with .0.mpi, by which those of "
                        "other ranks are found");
    (void)unlink(file_path("w.1.mpi"));
    assert_file_refused("w.0.mpi", "hxmesh-mpi 1 rank 0 of 2\n0 0 MPI_Finalize\n",
                        "w.1.mpi: cannot be read: No such file or directory (each of the 2 ranks has a file)");
    (void)file_write_text("w.1.mpi", "hxmesh-mpi 1 rank 1 of 3\n0 0 MPI_Finalize\n");
    assert_file_refused("w.0.mpi", "hxmesh-mpi 1 rank 0 of 2\n0 0 MPI_Finalize\n",
                        "w.1.mpi:1:1: rank 1 of 3 is of another run: rank 1 of 2 is wanted");
    (void)file_write_text("w.1.mpi", "");
    assert_file_refused("w.0.mpi", "hxmesh-mpi 1 rank 0 of 2\n0 0 MPI_Finalize\n", "w.1.mpi: is empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_between_calls_is_computing),
        cmocka_unit_test(long_times_are_several_operations),
        cmocka_unit_test(requests_end_at_their_wait),
        cmocka_unit_test(both_halves_of_an_exchange_go_on_at_once),
        cmocka_unit_test(collectives),
        cmocka_unit_test(every_collective_has_its_kind),
        cmocka_unit_test(unequal_parts_are_messages),
        cmocka_unit_test(communicators_agree),
        cmocka_unit_test(a_cancelled_receive_takes_no_time),
        cmocka_unit_test(what_is_left_out_is_counted),
        cmocka_unit_test(many_unknown_names_are_counted_together),
        cmocka_unit_test(any_file_stands_for_all),
        cmocka_unit_test(wrong_lines_have_their_place),
        cmocka_unit_test(wrong_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
