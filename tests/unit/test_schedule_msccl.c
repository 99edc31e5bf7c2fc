/* test_schedule_msccl.c - MSCCL algorithms: steps as operations, proofs of each collective, and every mistake. */
#include "schedule/formats.h"
#include "schedule/readers.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILE_NAME "algorithm.xml"

/* An all-reduce of two gpus in place: each sends a chunk, sums the other one, and gets the sum of the first. */
#define TWO                                                                                                            \
    "<algo name=\"two\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"allreduce\" inplace=\"1\">\n"          \
    "<gpu id=\"0\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"0\">\n"                                                    \
    "<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"7\">\n" STEP("0", "s", "i", "0", "i", "0")                              \
        STEP("1", "rrcs", "i", "1", "i", "1")                                                                          \
            STEP("2", "r", "i", "0", "i", "0") "</tb>\n</gpu>\n"                                                       \
                                               "<gpu id=\"1\" i_chunks=\"2\" o_chunks=\"0\" s_chunks=\"0\">\n"         \
                                               "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"7\">\n" STEP(                \
                                                   "0", "s", "i", "1", "i", "1") STEP("1", "rrcs", "i", "0", "i", "0") \
                                                   STEP("2", "r", "i", "1", "i", "1") "</tb>\n</gpu>\n</algo>\n"
#define STEP(s, type, from, source, to, destination)                                                                   \
    STEP_AFTER(s, type, from, source, to, destination, "1", "-1", "-1", "0")
#define STEP_AFTER(s, type, from, source, to, destination, count, block, step, signals)                                \
    "<step s=\"" s "\" type=\"" type "\" srcbuf=\"" from "\" srcoff=\"" source "\" dstbuf=\"" to                       \
    "\" dstoff=\"" destination "\" cnt=\"" count "\" depid=\"" block "\" deps=\"" step "\" hasdep=\"" signals "\"/>\n"
#define ALGO(gpus, chunks, name, in_place)                                                                             \
    "<algo ngpus=\"" gpus "\" nchunksperloop=\"" chunks "\" coll=\"" name "\" inplace=\"" in_place "\">\n"
#define GPU(id, input, output, scratch)                                                                                \
    "<gpu id=\"" id "\" i_chunks=\"" input "\" o_chunks=\"" output "\" s_chunks=\"" scratch "\">\n"
#define BLOCK(id, send, receive, channel)                                                                              \
    "<tb id=\"" id "\" send=\"" send "\" recv=\"" receive "\" chan=\"" channel "\">\n"

static struct schedule_notes notes;
static struct hx_problem problem;

static struct schedule *load(const char *text, uint64_t message)
{
    const struct schedule_read_options options = {.message = message};
    return schedule_read(file_write_text(FILE_NAME, text), &options, &notes, &problem);
}

/* Copies a text with the n-th (from 0) occurrence of `from` replaced; free() it. */
static char *replace(const char *text, const char *from, unsigned n, const char *to)
{
    const char *at = strstr(text, from);
    for (; n && at; n--)
        at = strstr(at + 1, from);
    assert_non_null(at);
    char *copy = calloc(1, strlen(text) + strlen(to) + 1);
    (void)sprintf(copy, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return copy;
}

/* where: behind the file's name. */
static void assert_refused(const char *text, const char *where, const char *what)
{
    char wanted[256];
    struct schedule *s = load(text, 0);
    (void)snprintf(wanted, sizeof wanted, "%s%s", file_path(FILE_NAME), where);
    if (s)
        print_error("not refused: %s\n", what);
    assert_null(s);
    assert_string_equal(problem.what, what);
    assert_string_equal(problem.where, wanted);
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
}

static struct schedule *load_good(const char *text, uint64_t message)
{
    struct schedule *s = load(text, message);
    if (!s) {
        print_error("%s: %s\n", problem.where, problem.what);
        abort();
    }
    return s;
}

static void assert_taken(const char *text, const char *annotations)
{
    struct schedule *s = load_good(text, 4096);
    assert_string_equal(notes.annotations, annotations);
    schedule_close(s);
}

/* ---- operations ---- */

static void assert_operation(const struct schedule *s, uint32_t rank, uint32_t number, enum schedule_kind kind,
                             uint64_t amount, uint32_t peer, uint32_t tag)
{
    const struct schedule_operation *o = schedule_at(s, rank, number);
    assert_int_equal(o->kind, kind);
    assert_int_equal(o->amount, amount);
    assert_int_equal(o->peer, peer);
    assert_int_equal(o->tag, tag);
}

static void assert_followers(const struct schedule *s, uint32_t rank, uint32_t number, const char *wanted)
{
    char text[64] = "";
    const uint32_t *list;
    uint32_t count = schedule_followers(s, rank, number, &list);
    for (uint32_t i = 0; i < count; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u%s", i ? " " : "", list[i] >> 1,
                       list[i] & SCHEDULE_AFTER_START ? "s" : "");
    assert_string_equal(text, wanted);
}

static void steps_are_messages_in_order(void **state)
{
    (void)state;
    struct schedule *s = load_good(TWO, 1001);
    assert_int_equal(schedule_ranks(s), 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(schedule_count(s, i), 4);
        assert_operation(s, i, 0, SCHEDULE_SEND, 501, 1 - i, 7);
        assert_operation(s, i, 1, SCHEDULE_RECEIVE, 501, 1 - i, 7);
        assert_operation(s, i, 2, SCHEDULE_SEND, 501, 1 - i, 7);
        assert_operation(s, i, 3, SCHEDULE_RECEIVE, 501, 1 - i, 7);
        assert_followers(s, i, 0, "1");
        assert_followers(s, i, 1, "2");
        assert_followers(s, i, 2, "3");
    }
    assert_string_equal(schedule_name(s, schedule_at(s, 0, 2)), "rrcs");
    assert_string_equal(notes.annotations, "");
    schedule_close(s);
}

/* Thread blocks that wait for each other, local steps, and two chunks in one message. */
#define LOCAL                                                                                                          \
    ALGO("2", "2", "allgather", "0")                                                                                   \
    GPU("0", "1", "2", "2")                                                                                            \
    BLOCK("0", "-1", "1", "0")                                                                                         \
    STEP_AFTER("0", "r", "i", "0", "s", "0", "2", "-1", "-1", "1")                                                     \
    "</tb>\n" BLOCK("1", "1", "-1", "0") STEP_AFTER("0", "s", "i", "0", "i", "0", "1", "-1", "-1", "0")                \
        STEP_AFTER("1", "nop", "i", "-1", "o", "-1", "0", "0", "0", "0")                                               \
            STEP_AFTER("2", "cpy", "s", "0", "o", "1", "1", "-1", "-1", "0")                                           \
                STEP_AFTER("3", "cpy", "i", "0", "o", "0", "1", "0", "0", "0") "</tb>\n</gpu>\n" GPU(                  \
                    "1", "1", "2", "2") "<copy i_off=\"0\" o_off=\"1\"/>\n" BLOCK("0", "0", "0", "0")                  \
                    STEP("0", "cpy", "i", "0", "s", "0") STEP("1", "cpy", "i", "0", "s", "1")                          \
                        STEP_AFTER("2", "s", "s", "0", "s", "0", "2", "-1", "-1", "0")                                 \
                            STEP("3", "r", "i", "0", "o", "0") "</tb>\n</gpu>\n</algo>\n"

static void local_steps_take_no_time(void **state)
{
    (void)state;
    struct schedule *s = load_good(LOCAL, 2000);
    assert_int_equal(schedule_count(s, 0), 5);
    assert_operation(s, 0, 0, SCHEDULE_RECEIVE, 2000, 1, 0);
    assert_operation(s, 0, 1, SCHEDULE_SEND, 1000, 1, 0);
    for (uint32_t i = 2; i < 5; i++)
        assert_operation(s, 0, i, SCHEDULE_COMPUTE, 0, 0, 0);
    assert_followers(s, 0, 0, "2 4");
    assert_followers(s, 0, 1, "2");
    assert_followers(s, 0, 3, "4");
    /* <copy> follows the gpu's last step. */
    assert_int_equal(schedule_count(s, 1), 5);
    assert_operation(s, 1, 4, SCHEDULE_COMPUTE, 0, 0, 0);
    assert_followers(s, 1, 3, "4");
    schedule_close(s);
}

static void the_vector_has_a_default_within_the_files_range(void **state)
{
    (void)state;
    char *text = replace(TWO, "coll=", 0, "minBytes=\"8\" maxBytes=\"4096\" coll=");
    struct schedule *s = load_good(text, 0);
    assert_int_equal(schedule_at(s, 0, 0)->amount, 2048);
    assert_string_equal(notes.annotations, "a vector of 4096 bytes, as --message does not say");
    schedule_close(s);
    s = load_good(text, 5000);
    assert_int_equal(schedule_at(s, 0, 0)->amount, 2500);
    assert_string_equal(notes.annotations, "the file is for 8 to 4096 bytes, not for 5000");
    schedule_close(s);
    free(text);
}

/* LL sends 8 bytes of flags with 8 of data, LL128 8 with 120. */
static void protocols_add_flags(void **state)
{
    static const struct {
        const char *protocol;
        uint64_t vector, sent;
        const char *note;
    } cases[] = {{"Simple", 2400, 1200, ""},
                 {"LL", 2400, 2400, "proto LL: flags add as many bytes to each message"},
                 {"LL", 2402, 2 * 1208, "proto LL: flags add as many bytes to each message"},
                 {"LL128", 2400, 1280, "proto LL128: flags add a fifteenth of its bytes to each message"},
                 {"LL128", 2402, 1408, "proto LL128: flags add a fifteenth of its bytes to each message"}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char with[64];
        (void)snprintf(with, sizeof with, "proto=\"%s\" coll=", cases[i].protocol);
        char *text = replace(TWO, "coll=", 0, with);
        struct schedule *s = load_good(text, cases[i].vector);
        for (uint32_t o = 0; o < 4; o++)
            assert_int_equal(schedule_at(s, 0, o)->amount, cases[i].sent);
        assert_string_equal(notes.annotations, cases[i].note);
        schedule_close(s);
        free(text);
    }
    char *text = replace(TWO, "coll=", 0, "proto=\"LL64\" coll=");
    assert_null(load(text, 0));
    assert_string_equal(problem.what, "proto=\"LL64\": expected Simple, LL or LL128");
    free(text);
}

/* ---- proofs ---- */

static void each_collective_is_proven(void **state)
{
    (void)state;
    static const char *const texts[] = {
        LOCAL,
        /* Broadcast from gpu 1, reduce to gpu 1, gather at gpu 0, scatter from gpu 1. */
        ALGO("2", "1", "broadcast", "1") GPU("0", "1", "0", "0") BLOCK("0", "-1", "1", "0")
            STEP("0", "r", "i", "0", "i", "0") "</tb></gpu>" GPU("1", "1", "0", "0") BLOCK("0", "0", "-1", "0")
                STEP("0", "s", "i", "0", "i", "0") "</tb></gpu></algo>",
        ALGO("2", "1", "reduce", "1") GPU("0", "1", "0", "0") BLOCK("0", "1", "-1", "0")
            STEP("0", "s", "i", "0", "i", "0") "</tb></gpu>" GPU("1", "1", "0", "0") BLOCK("0", "-1", "0", "0")
                STEP("0", "rrc", "i", "0", "i", "0") "</tb></gpu></algo>",
        ALGO("2", "2", "gather", "0") GPU("0", "1", "2", "0") BLOCK("0", "-1", "1", "0")
            STEP("0", "r", "i", "0", "o", "1")
                STEP("1", "cpy", "i", "0", "o", "0") "</tb></gpu>" GPU("1", "1", "0", "0") BLOCK("0", "0", "-1", "0")
                    STEP("0", "s", "i", "0", "o", "1") "</tb></gpu></algo>",
        ALGO("2", "2", "scatter", "1") GPU("0", "0", "1", "0") BLOCK("0", "-1", "1", "0")
            STEP("0", "r", "i", "0", "o", "0") "</tb></gpu>" GPU("1", "2", "1", "0") BLOCK("0", "0", "-1", "0")
                STEP("0", "s", "i", "0", "o", "0") "</tb></gpu></algo>",
        /* In place, gpu 1's output is its second input chunk. */
        ALGO("2", "2", "reduce_scatter", "1") GPU("0", "2", "1", "0") BLOCK("0", "1", "1", "0")
            STEP("0", "s", "i", "1", "o", "0")
                STEP("1", "rrc", "o", "0", "o", "0") "</tb></gpu>" GPU("1", "2", "1", "0") BLOCK("0", "0", "0", "0")
                    STEP("0", "s", "i", "0", "o", "0") STEP("1", "rrc", "i", "1", "i", "1") "</tb></gpu></algo>",
        ALGO("2", "2", "alltoall", "0") GPU("0", "2", "2", "0") BLOCK("0", "1", "1", "0")
            STEP("0", "s", "i", "1", "o", "0") STEP("1", "r", "i", "0", "o", "1")
                STEP("2", "cpy", "i", "0", "o", "0") "</tb></gpu>" GPU("1", "2", "2", "0") BLOCK("0", "0", "0", "0")
                    STEP("0", "s", "i", "0", "o", "1") STEP("1", "r", "i", "1", "o", "0")
                        STEP("2", "cpy", "i", "1", "o", "1") "</tb></gpu></algo>",
        /* A local sum and rcs: gpu 0 sums what gpu 1 sends, and sends it back through gpu 2, which keeps it. */
        ALGO("3", "1", "allreduce", "1") GPU("0", "1", "0", "1") BLOCK("0", "2", "1", "0")
            STEP("0", "r", "i", "0", "s", "0") STEP("1", "re", "s", "0", "i", "0") STEP("2", "s", "i", "0", "i", "0")
                STEP("3", "r", "i", "0", "i", "0") "</tb></gpu>" GPU("1", "1", "0", "0") BLOCK("0", "0", "2", "0")
                    STEP("0", "s", "i", "0", "i", "0")
                        STEP("1", "rcs", "i", "0", "i", "0") "</tb></gpu>" GPU("2", "1", "0", "0")
                            BLOCK("0", "1", "0", "0") STEP("0", "rrcs", "i", "0", "i", "0") "</tb></gpu></algo>"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_taken(texts[i], "");
    char *text = replace(texts[sizeof texts / sizeof *texts - 1], STEP("3", "r", "i", "0", "i", "0"), 0, "");
    assert_refused(text, ":10", "gpu 1, thread block 0, step 1: gpu 0 never receives this message on channel 0");
    free(text);
}

static void an_unknown_collective_is_noted(void **state)
{
    (void)state;
    char *text = replace(TWO, "allreduce", 0, "alltonext");
    assert_taken(text, "collective 'alltonext' is unknown, so its output is not proven");
    free(text);
}

/* A ring all-reduce of `gpus`, without the step `without` of gpu `at`, or with that step's source moved by one. */
enum { RING = 4 };

static void print_step(FILE *out, unsigned number, const char *type, unsigned chunk, unsigned moved)
{
    (void)fprintf(out,
                  "<step s=\"%u\" type=\"%s\" srcbuf=\"i\" srcoff=\"%u\" dstbuf=\"i\" dstoff=\"%u\" cnt=\"1\" "
                  "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
                  number, type, (chunk + moved) % RING, (chunk + moved) % RING);
}

static char *ring(int at, int without, int moved)
{
    FILE *out = file_begin_text();
    (void)fprintf(out, ALGO("4", "4", "allreduce", "1"));
    for (int g = 0; g < RING; g++) {
        unsigned number = 0;
        (void)fprintf(out, "<gpu id=\"%d\" i_chunks=\"4\" o_chunks=\"0\" s_chunks=\"0\">\n", g);
        (void)fprintf(out, "<tb id=\"0\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", (g + 1) % RING, (g + RING - 1) % RING);
        for (int i = 0; i < 2 * RING - 1; i++) {
            const char *type = i == 0             ? "s"
                               : i < RING - 1     ? "rrs"
                               : i == RING - 1    ? "rrcs"
                               : i < 2 * RING - 2 ? "rcs"
                                                  : "r";
            if (g != at || i != without)
                print_step(out, number++, type, (unsigned)(g + 2 * RING - i) % RING, g == at && i == moved);
        }
        (void)fprintf(out, "</tb>\n</gpu>\n");
    }
    (void)fprintf(out, "</algo>\n");
    return file_end_text();
}

static void a_ring_with_any_step_changed_is_refused(void **state)
{
    (void)state;
    char *text = ring(-1, -1, -1);
    assert_taken(text, "");
    free(text);
    for (int g = 0; g < RING; g++) {
        for (int i = 0; i < 2 * RING - 1; i++) {
            text = ring(g, i, -1);
            assert_null(load(text, 4096));
            free(text);
            text = ring(g, -1, i);
            assert_null(load(text, 4096));
            free(text);
        }
    }
}

static void wrong_sums_name_gpu_and_chunk(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        unsigned n;
        const char *what;
    } mistakes[] = {
        {"rrcs", "rcs", 0, "is no allreduce: gpu 0, chunk o1 lacks chunk 1 of gpu 0 (mend the algorithm)"},
        {"srcoff=\"1\"", "srcoff=\"0\"", 0,
         "is no allreduce: gpu 0, chunk o1 has chunk 0 of gpu 0, which belongs elsewhere (mend the algorithm)"},
        {"\"r\"", "\"rrc\"", 0, "is no allreduce: gpu 0, chunk o0 has chunk 0 of gpu 0 twice (mend the algorithm)"},
        {"\"allreduce\" inplace=\"1\"", "\"allreduce\" inplace=\"1\" outofplace=\"1\"", 0,
         "is no allreduce: gpu 0, chunk o0 has memory that is never written, not chunk 0 of every gpu of 2 (mend the "
         "algorithm)"},
        {"\"allreduce\"", "\"broadcast\"", 0,
         "is no broadcast: gpu 0, chunk o0 has chunk 0 of gpu 1, which belongs elsewhere (mend the algorithm)"},
        {"\"allreduce\"", "\"gather\"", 0, "is no gather: no gpu has a right chunk (mend the algorithm)"},
    };
    for (unsigned i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char *text = replace(TWO, mistakes[i].from, mistakes[i].n, mistakes[i].to);
        assert_refused(text, "", mistakes[i].what);
        free(text);
    }
}

/* ---- order ---- */

static void deadlocks_and_races_name_both_steps(void **state)
{
    (void)state;
    /* Both gpus first receive. */
    assert_refused(
        ALGO("2", "1", "x", "0") GPU("0", "1", "1", "0") BLOCK("0", "1", "1", "0") STEP("0", "r", "i", "0", "o", "0")
            STEP("1", "s", "i", "0", "o", "0") "</tb></gpu>" GPU("1", "1", "1", "0") BLOCK("0", "0", "0", "0")
                STEP("0", "r", "i", "0", "o", "0") STEP("1", "s", "i", "0", "o", "0") "</tb></gpu></algo>",
        "",
        "is a deadlock: gpu 0, thread block 0, step 0 (line 4) waits for gpu 1, thread block 0, step 1 "
        "(line 9), which cannot begin before it");
    /* A step waits for a later one of its own thread block. */
    assert_refused(ALGO("1", "1", "x", "0") GPU("0", "1", "1", "0") BLOCK("0", "-1", "-1", "0")
                       STEP_AFTER("0", "nop", "i", "-1", "o", "-1", "0", "0", "1", "1")
                           STEP_AFTER("1", "nop", "i", "-1", "o", "-1", "0", "-1", "-1", "1") "</tb></gpu></algo>",
                   "",
                   "is a deadlock: gpu 0, thread block 0, step 0 (line 4) waits for gpu 0, thread block 0, step 1 "
                   "(line 5), which cannot begin before it");
    /* Two thread blocks write one chunk; with a dependency, they may. */
    static const char two[] = ALGO("1", "1", "x", "0") GPU("0", "1", "1", "0") BLOCK("0", "-1", "-1", "0")
        STEP_AFTER("0", "cpy", "i", "0", "o", "0", "1", "-1", "-1", "1") "</tb>" BLOCK("1", "-1", "-1", "0")
            STEP_AFTER("0", "re", "i", "0", "o", "0", "1", "-1", "-1", "1") "</tb></gpu></algo>";
    assert_refused(two, "",
                   "gpu 0, chunk o0: gpu 0, thread block 1, step 0 (line 6) and gpu 0, thread block 0, step 0 (line 4) "
                   "touch it, and nothing orders them");
    char *ordered = replace(two, "depid=\"-1\" deps=\"-1\"", 1, "depid=\"0\" deps=\"0\"");
    assert_taken(ordered, "collective 'x' is unknown, so its output is not proven");
    free(ordered);
}

/* ---- mistakes ---- */

static void mistakes_are_named_with_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        unsigned n;
        const char *where, *what;
    } mistakes[] = {
        {"ngpus=\"2\"", "ngpus=\"0\"", 0, ":1:1", "ngpus=\"0\": expected a number from 1 to 1048576"},
        {"ngpus=\"2\"", "ngpus=\"3\"", 0, "", "lacks gpu 2 of ngpus=\"3\" (describe every gpu)"},
        {"ngpus=\"2\"", "", 0, ":1:1", "expected the attribute ngpus"},
        {"nchunksperloop=\"2\"", "nchunksperloop=\"2x\"", 0, ":1:1",
         "nchunksperloop=\"2x\": expected a number from 1 to 33554432"},
        {"nchunksperloop=\"2\"", "nchunksperloop=\"99999999999999999999\"", 0, ":1:1",
         "nchunksperloop=\"99999999999999999999\": expected a number from 1 to 33554432"},
        {"nchunksperloop=\"2\"", "nchunksperloop=\"33554432\"", 0, "",
         "has more than 33554432 chunks in the buffers of all gpus (fewer can be proven)"},
        {"coll=\"allreduce\"", "", 0, ":1:1", "expected the attribute coll"},
        {"\"allreduce\"", "\"alltoall\" nchunksperloop=\"3\"", 0, ":1:93", ""},
        {"<gpu id=\"1\"", "<gpu id=\"2\"", 0, ":9:1", "id=\"2\": expected a number from 0 to 1"},
        {"<gpu id=\"1\"", "<gpu id=\"0\"", 0, ":9:1", "gpu 0 is there twice (give each an id of its own)"},
        {"i_chunks=\"2\"", "i_chunks=\"1\"", 0, ":5:1", "chunks i1 to i1: gpu 0 has i_chunks=\"1\""},
        {"<tb id=\"0\"", "<tb id=\"1\"", 0, ":3:1", "id=\"1\": expected thread block 0 (ids count from 0)"},
        {"send=\"1\"", "send=\"0\"", 0, ":3:1",
         "a thread block of gpu 0 sends to it or receives from it (another gpu is wanted)"},
        {"send=\"1\"", "send=\"2\"", 0, ":3:1", "send=\"2\": expected a number from -1 to 1"},
        {"send=\"1\"", "send=\"-1\"", 0, ":4:1", "type=\"s\" sends, but its thread block has send=\"-1\""},
        {"recv=\"1\"", "recv=\"-1\"", 0, ":5:1", "type=\"rrcs\" receives, but its thread block has recv=\"-1\""},
        {"chan=\"7\"", "chan=\"6\"", 0, ":4",
         "gpu 0, thread block 0, step 0: gpu 1 never receives this message on channel 6"},
        {"step s=\"1\"", "step s=\"2\"", 0, ":5:1", "s=\"2\": expected step 1 (steps count from 0)"},
        {"type=\"r\"", "type=\"x\"", 0, ":6:1", "type=\"x\": expected s, r, rcs, rrs, rrc, rrcs, re, cpy or nop"},
        {"srcbuf=\"i\"", "srcbuf=\"x\"", 0, ":4:1", "srcbuf=\"x\": expected i, o or s"},
        {"srcoff=\"0\"", "srcoff=\"-1\"", 0, ":4:1", "offset -1: expected a chunk of buffer i"},
        {"srcoff=\"0\"", "srcoff=\"2\"", 0, ":4:1", "chunks i2 to i2: gpu 0 has i_chunks=\"2\""},
        {"cnt=\"1\"", "cnt=\"0\"", 0, ":4:1", "cnt=\"0\": expected 1 or more chunks"},
        {"cnt=\"1\"", "cnt=\"2\"", 0, ":12",
         "gpu 1, thread block 0, step 1 receives 1 chunks, gpu 0 sends 2 in line 4"},
        {"depid=\"-1\"", "depid=\"0\"", 0, ":4:1", "expected depid and deps to be both -1, or neither"},
        {"depid=\"-1\" deps=\"-1\"", "depid=\"1\" deps=\"0\"", 0, ":4",
         "gpu 0 has no step 0 of thread block 1 (mend depid and deps)"},
        {"depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"3\"", 0, ":4",
         "gpu 0 has no step 3 of thread block 0 (mend depid and deps)"},
        {"depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"0\"", 1, ":5",
         "gpu 0, thread block 0 never signals its step 0 (it or a later step wants hasdep=\"1\")"},
        {"</algo>", "", 0, ":17:1", "no element found: expected XML, whole up to </algo>"},
        {"</gpu>", "</tb>", 0, ":8:3", "mismatched tag: expected XML, whole up to </algo>"},
        {"<algo", "<!DOCTYPE algo [<!ENTITY a \"b\">]><algo", 0, ":1:16",
         "expected no document type (delete <!DOCTYPE ...>)"},
    };
    for (unsigned i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char *text = replace(TWO, mistakes[i].from, mistakes[i].n, mistakes[i].to);
        if (!mistakes[i].what[0]) {
            assert_null(load(text, 0));
            assert_string_equal(problem.what, "duplicate attribute: expected XML, whole up to </algo>");
        } else {
            assert_refused(text, mistakes[i].where, mistakes[i].what);
        }
        free(text);
    }
}

static void chunks_divide_and_channels_have_one_owner(void **state)
{
    (void)state;
    assert_refused(ALGO("2", "3", "alltoall", "0")
                       GPU("0", "3", "3", "0") "</gpu>" GPU("1", "3", "3", "0") "</gpu></algo>",
                   "", "3 chunks of alltoall do not divide among 2 gpus (a multiple is wanted)");
    assert_refused(ALGO("2", "1", "x", "0") GPU("0", "1", "1", "0") BLOCK("0", "1", "-1", "0")
                       STEP("0", "s", "i", "0", "o", "0") "</tb>\n" BLOCK("1", "1", "-1", "0")
                           STEP("0", "s", "i", "0", "o", "0") "</tb></gpu>" GPU("1", "1", "1", "0") "</gpu></algo>",
                   ":6", "gpu 0, thread blocks 0 and 1 both send to gpu 1 on channel 0 (give them different channels)");
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < strlen(TWO) - strlen("</algo>"); i += 7) {
        char *text = calloc(1, i + 1);
        memcpy(text, TWO, i);
        assert_null(load(text, 0));
        assert_true(problem.what[0] && problem.exit_code == HX_EXIT_CONFIG);
        free(text);
    }
}

static void unknown_elements_are_counted(void **state)
{
    (void)state;
    char *text = replace(TWO, "<gpu id=\"1\"", 0, "<x><y/></x><!-- c --><gpu id=\"1\"");
    assert_taken(text, "");
    assert_string_equal(notes.what, "2 unknown elements");
    assert_int_equal(notes.skipped, 2);
    free(text);
}

static void a_message_is_not_too_large(void **state)
{
    (void)state;
    char *text = replace(LOCAL, "nchunksperloop=\"2\"", 0, "nchunksperloop=\"2\"");
    assert_null(load(text, SCHEDULE_MOST_BYTES * 2));
    assert_string_equal(problem.what,
                        "has a message of 2 chunks of 4398046511104 bytes, 4398046511104 bytes are possible");
    free(text);
    text = replace(TWO, "coll=", 0, "proto=\"LL\" coll=");
    assert_null(load(text, SCHEDULE_MOST_BYTES + 16));
    assert_string_equal(problem.what, "has a message of 4398046511120 bytes with its flags (proto LL), 4398046511104 "
                                      "bytes are possible");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_messages_in_order),
        cmocka_unit_test(local_steps_take_no_time),
        cmocka_unit_test(the_vector_has_a_default_within_the_files_range),
        cmocka_unit_test(protocols_add_flags),
        cmocka_unit_test(each_collective_is_proven),
        cmocka_unit_test(an_unknown_collective_is_noted),
        cmocka_unit_test(a_ring_with_any_step_changed_is_refused),
        cmocka_unit_test(wrong_sums_name_gpu_and_chunk),
        cmocka_unit_test(deadlocks_and_races_name_both_steps),
        cmocka_unit_test(mistakes_are_named_with_line_and_column),
        cmocka_unit_test(chunks_divide_and_channels_have_one_owner),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(unknown_elements_are_counted),
        cmocka_unit_test(a_message_is_not_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
