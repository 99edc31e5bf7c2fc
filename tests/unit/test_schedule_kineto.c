/* test_schedule_kineto.c - traces of PyTorch's profiler: computing, waits, sizes, groups, names of files, errors. */
#include "schedule/formats.h"
#include "tests/support/support_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define US UINT64_C(1000000) /* ps */

/* Texts of a file: its begin for a rank of several, and events. Times are in us. */
#define HEAD(rank, ranks)                                                                                              \
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"a } \\\" ]\"}],\n\"distributedInfo\": "     \
    "{\"rank\": " #rank ", \"world_size\": " #ranks "},\n\"traceEvents\": ["
#define END "{\"ph\": \"M\"}], \"traceName\": \"x\"}"
#define EVENT(category, name, thread, begin, us, args)                                                                 \
    "{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name "\", \"pid\": 7, \"tid\": " #thread                 \
    ", \"ts\": " #begin ", \"dur\": " #us ", \"args\": {" args "}},\n"
#define WORK(begin, us)   EVENT("cpu_op", "aten::mm", 1, begin, us, "")
#define CALL(name, begin) EVENT("cpu_op", "c10d::" name, 1, begin, 1, "")
#define GLOO(name, thread, begin, us, n)                                                                               \
    EVENT("user_annotation", "gloo:" name, thread, begin, us, "\"Input Dims\": [[" #n "]], \"Input type\": [\"float\"]")
#define LAUNCH(begin, number)     EVENT("cuda_runtime", "cudaLaunchKernel", 1, begin, 2, "\"correlation\": " #number)
#define KERNEL(begin, us, number) EVENT("kernel", "gemm", 7, begin, us, "\"correlation\": " #number)
#define NCCL(begin, us, number, args)                                                                                  \
    EVENT("kernel", "ncclDevKernel_Generic(x)", 20, begin, us, "\"correlation\": " #number ", " args)
#define SIZES(name, elements)                                                                                          \
    "\"Collective name\": \"" name "\", \"dtype\": \"BFloat16\", \"In msg nelems\": " #elements
#define OF_ALL "\"Process Group Ranks\": \"[0, 1]\""

static struct schedule_read_options options;
static struct schedule_notes notes;
static struct hx_problem problem;

static int reset(void **state)
{
    (void)state;
    options.ranks = 0;
    return 0;
}

static struct schedule *read_file(const char *name)
{
    struct schedule *s = schedule_read(file_path(name), &options, &notes, &problem);
    if (!s)
        fail_msg("%s: %s", problem.where, problem.what);
    return s;
}

/* Reads two ranks that do the same but for their number. */
static struct schedule *read_two(const char *rank0, const char *rank1)
{
    (void)file_write_text("two.0.json", rank0);
    (void)file_write_text("two.1.json", rank1);
    return read_file("two.0.json");
}

static bool waits(const struct schedule *s, uint32_t rank, uint32_t later, uint32_t earlier)
{
    const uint32_t *list;
    uint32_t count = schedule_followers(s, rank, earlier, &list);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == later << 1)
            return true;
    }
    return false;
}

/* Checks an operation of rank 0: its kind, amount, and the operations that it waits for. */
static void holds(const struct schedule *s, uint32_t number, enum schedule_kind kind, uint64_t amount, uint32_t count,
                  const uint32_t *earlier)
{
    const struct schedule_operation *o = schedule_at(s, 0, number);
    assert_int_equal(o->kind, kind);
    assert_int_equal(o->amount, amount);
    assert_int_equal(o->waits, count);
    for (uint32_t i = 0; i < count; i++)
        assert_true(waits(s, 0, number, earlier[i]));
}

#define HOLDS(s, number, kind, amount, ...)                                                                            \
    holds(s, number, SCHEDULE_##kind, amount, sizeof((uint32_t[]){0, __VA_ARGS__}) / sizeof(uint32_t) - 1,             \
          (uint32_t[]){0, __VA_ARGS__} + 1)

/* ---- the CPU ---- */

/* A bucket is reduced from 110 to 310 while the rank computes until 205; then it waits until 310, and computes on. */
/* clang-format off */
#define OVERLAP \
    WORK(0, 100) CALL("allreduce_", 100) WORK(105, 100) GLOO("all_reduce", 2, 110, 200, 1000) \
    WORK(320, 30) END
/* clang-format on */

static void overlap(void **state)
{
    (void)state;
    struct schedule *s = read_two(HEAD(0, 2) OVERLAP, HEAD(1, 2) OVERLAP);
    assert_int_equal(schedule_count(s, 0), 4);
    HOLDS(s, 0, COMPUTE, 100 * US);
    HOLDS(s, 1, COLLECTIVE, 4000, 0);
    HOLDS(s, 2, COMPUTE, 105 * US, 0);
    HOLDS(s, 3, COMPUTE, 40 * US, 1, 2);
    assert_int_equal(schedule_at(s, 0, 1)->collective, HX_ALL_REDUCE);
    assert_string_equal(schedule_name(s, schedule_at(s, 0, 1)), "allreduce");
    assert_string_equal(notes.annotations,
                        "times are those of the CPU; 2 collectives name no group: all ranks are taken");
    schedule_close(s);
}

/* Two calls that block, in one gap: the second begins after the first has ended, by 5 us of computing. */
/* clang-format off */
#define BLOCKING \
    WORK(0, 10) CALL("broadcast_", 10) GLOO("broadcast", 2, 12, 50, 8) \
    CALL("allgather_", 67) GLOO("all_gather", 3, 70, 30, 8) WORK(110, 1) END
/* clang-format on */

static void blocking(void **state)
{
    (void)state;
    struct schedule *s = read_two(HEAD(0, 2) BLOCKING, HEAD(1, 2) BLOCKING);
    assert_int_equal(schedule_count(s, 0), 5);
    HOLDS(s, 0, COMPUTE, 10 * US);
    HOLDS(s, 1, COLLECTIVE, 32, 0);
    HOLDS(s, 2, COMPUTE, 5 * US, 0, 1);
    HOLDS(s, 3, COLLECTIVE, 64, 2);
    HOLDS(s, 4, COMPUTE, 11 * US, 2, 3);
    schedule_close(s);
}

/* A thread of gloo carries out one after the other. Nothing waits for what ends while the rank computes, until the
 * optimizer begins. */
/* clang-format off */
#define BUCKETS \
    WORK(0, 10) CALL("allreduce_", 10) WORK(11, 10) CALL("allreduce_", 21) WORK(21, 200) \
    GLOO("all_reduce", 2, 12, 20, 1) GLOO("all_reduce", 2, 32, 20, 2) \
    EVENT("user_annotation", "Optimizer.step#SGD.step", 1, 230, 9, "") \
    EVENT("user_annotation", "ProfilerStep#3", 1, 0, 240, "") WORK(231, 4) END
/* clang-format on */

static void buckets(void **state)
{
    (void)state;
    struct schedule *s = read_two(HEAD(0, 2) BUCKETS, HEAD(1, 2) BUCKETS);
    assert_int_equal(schedule_count(s, 0), 6);
    HOLDS(s, 1, COLLECTIVE, 4, 0);
    HOLDS(s, 2, COMPUTE, 11 * US, 0);
    HOLDS(s, 3, COLLECTIVE, 8, 1, 2);
    HOLDS(s, 4, COMPUTE, 209 * US, 2);
    HOLDS(s, 5, COMPUTE, 5 * US, 1, 3, 4);
    assert_int_equal(s->head->iterations, 1);
    schedule_close(s);
}

/* ---- the GPU ---- */

/* The all-reduce follows the kernel that was launched before it, not the one that was launched later and ran first. The
 * last kernel begins when the all-reduce has ended. A copy of the CPU's times does not count. */
/* clang-format off */
#define GPU \
    WORK(0, 90) LAUNCH(1, 1) KERNEL(100, 50, 1) LAUNCH(5, 2) LAUNCH(9, 3) KERNEL(150, 40, 3) \
    LAUNCH(14, 4) NCCL(170, 100, 2, SIZES("allreduce", 1000) ", " OF_ALL) KERNEL(275, 10, 4) END
/* clang-format on */

static void gpu(void **state)
{
    (void)state;
    struct schedule *s = read_two(HEAD(0, 2) GPU, HEAD(1, 2) GPU);
    assert_int_equal(schedule_count(s, 0), 4);
    HOLDS(s, 0, COMPUTE, 50 * US);
    HOLDS(s, 1, COLLECTIVE, 2000, 0);
    HOLDS(s, 2, COMPUTE, 40 * US, 0);
    HOLDS(s, 3, COMPUTE, 15 * US, 1, 2);
    assert_string_equal(notes.annotations, "times are those of the GPU");
    schedule_close(s);
}

/* clang-format off */
#define KINDS \
    NCCL(0, 1, 0, SIZES("_allgather_base", 8) ", " OF_ALL) \
    NCCL(1, 1, 0, SIZES("_reduce_scatter_base", 8) ", " OF_ALL) \
    NCCL(2, 1, 0, SIZES("broadcast", 8) ", \"Rank\": 1, " OF_ALL) \
    NCCL(3, 1, 0, SIZES("all_to_all", 8) ", " OF_ALL) \
    NCCL(5, 1, 0, SIZES("coalesced", 8) ", " OF_ALL) \
    NCCL(6, 1, 0, SIZES("gather", 8) ", \"Group size\": 2, \"Global rank start\": 0, \"Global rank stride\": 1") \
    NCCL(7, 1, 0, "\"Collective name\": \"barrier\"")
/* clang-format on */

static void kinds(void **state)
{
    static const struct {
        enum hx_collective_kind kind;
        uint64_t bytes;
        uint32_t root;
    } expected[] = {{HX_ALL_GATHER, 32, 0}, {HX_REDUCE_SCATTER, 16, 0},
                    {HX_BROADCAST, 16, 1},  {HX_COLLECTIVE_ALL_TO_ALL, 16, 0},
                    {HX_GATHER, 32, 0},     {HX_BARRIER, 0, 0}};
    (void)state;
    options.ranks = 2;
    (void)file_write_text("alone.0.json", HEAD(0, 2) KINDS END);
    struct schedule *s = read_file("alone.0.json");
    uint32_t found = 0;
    for (uint32_t i = 0; i < schedule_count(s, 1); i++) {
        const struct schedule_operation *o = schedule_at(s, 1, i);
        if (o->kind != SCHEDULE_COLLECTIVE)
            continue;
        assert_true(found < sizeof expected / sizeof *expected);
        assert_int_equal(o->collective, expected[found].kind);
        assert_int_equal(o->amount, expected[found].bytes);
        assert_int_equal(o->tag, expected[found++].root);
    }
    assert_int_equal(found, sizeof expected / sizeof *expected);
    assert_string_equal(notes.what, "2 communications, the first is 'coalesced'");
    assert_string_equal(notes.annotations, "times are those of the GPU; each rank does what rank 0 does; 2 collectives "
                                           "name no group: all ranks are taken; 2 name no root: the first rank is "
                                           "taken");
    schedule_close(s);
}

/* Rank 0 has 6 rows of 4 bytes: it keeps one and sends 5. Rank 1 sends 2 of its 4 rows. */
#define UNEVEN(in, out, sent, received)                                                                                \
    "\"Collective name\": \"all_to_allv\", \"dtype\": \"Float\", \"In msg nelems\": " #in                              \
    ", \"Out msg nelems\": " #out ", \"In split size\": \"" sent "\", \"Out split size\": \"" received "\", " OF_ALL

static void messages(void **state)
{
    (void)state;
    struct schedule *s = read_two(HEAD(0, 2) NCCL(0, 20, 0, UNEVEN(6, 3, "[1, 5]", "[1, 2]"))
                                      NCCL(30, 20, 0, SIZES("send", 4) ", \"Dst Rank\": 1, " OF_ALL)
                                          NCCL(60, 20, 0, SIZES("allreduce", 4) ", \"Process Group Ranks\": [0]") END,
                                  HEAD(1, 2) NCCL(0, 20, 0, UNEVEN(4, 7, "[2, 2]", "[5, 2]"))
                                      NCCL(30, 20, 0, SIZES("recv", 4) ", \"Src Rank\": \"0\", " OF_ALL) END);
    HOLDS(s, 0, SEND, 20);
    HOLDS(s, 1, RECEIVE, 8);
    HOLDS(s, 2, COMPUTE, 10 * US, 0, 1);
    HOLDS(s, 3, SEND, 8, 0, 1, 2);
    HOLDS(s, 4, COMPUTE, 10 * US, 2, 3); /* the all-reduce of a single rank is no operation */
    assert_int_equal(schedule_count(s, 0), 5);
    assert_int_not_equal(schedule_at(s, 0, 3)->tag, schedule_at(s, 0, 0)->tag);
    assert_int_equal(schedule_at(s, 1, 0)->amount, 8);
    assert_int_equal(schedule_at(s, 1, 1)->amount, 20);
    schedule_close(s);
}

/* Before PyTorch 2.2 kernels have no sizes: the call around the launch has them. */
static void sizes_of_calls(void **state)
{
    static const char text[] = HEAD(0, 2) EVENT("user_annotation", "nccl:_all_gather_base", 1, 0, 50,
                                                "\"Input Dims\": [[3, 5]], \"Input type\": [\"c10::Half\"]")
        LAUNCH(20, 8) NCCL(100, 5, 8, "\"stream\": 20") LAUNCH(60, 9) NCCL(110, 5, 9, "\"stream\": 20") END;
    (void)state;
    options.ranks = 2;
    (void)file_write_text("old.0.json", text);
    struct schedule *s = read_file("old.0.json");
    assert_int_equal(schedule_at(s, 0, 0)->amount, 60);
    assert_string_equal(notes.what, "2 communications, the first is 'ncclDevKernel_Generic(x)'");
    schedule_close(s);
}

/* Groups of two of four ranks: the list of the event is cut, that of the file counts. */
static void groups(void **state)
{
    (void)state;
    for (unsigned rank = 0; rank < 4; rank++) {
        char text[2000] = "";
        char name[32];
        file_add_text(text, sizeof text,
                      "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": %u, \"world_size\": 4, \"pg_config\": "
                      "[{\"pg_name\": \"0\"}, {\"pg_name\": \"5\", \"ranks\": [%u, %u]}]}, \"traceEvents\": [",
                      rank, rank & 1 ? 3 : 2, rank & 1 ? 1 : 0);
        file_add_text(text, sizeof text, "%s",
                      NCCL(3, 1, 0,
                           SIZES("allreduce", 6) ", \"Group size\": 2, \"Process Group Name\": \"5\", "
                                                 "\"Process Group Ranks\": \"[0, ...]\"") END);
        (void)snprintf(name, sizeof name, "rank-%u.step-0.json", rank);
        (void)file_write_text(name, text);
    }
    struct schedule *s = read_file("rank-2.step-0.json");
    assert_int_equal(schedule_ranks(s), 4);
    assert_int_equal(s->head->groups, 2);
    assert_int_equal(schedule_group(s, 0)[0], 2);
    assert_int_equal(schedule_group(s, 1)[1], 1);
    schedule_close(s);
}

/* ---- files ---- */

static void packed(void **state)
{
    (void)state;
    gzFile out = gzopen(file_path("one.json.gz"), "wb");
    assert_true(gzputs(out, "{\"schemaVersion\": 1, \"traceEvents\": [" WORK(1e3, 2.5) END) > 0);
    assert_int_equal(gzclose(out), Z_OK);
    struct schedule *s = read_file("one.json.gz");
    assert_int_equal(schedule_ranks(s), 1);
    HOLDS(s, 0, COMPUTE, 5 * US / 2);
    schedule_close(s);
}

/* Reads a file that is refused: the message. */
static const char *refused(const char *name, const char *text)
{
    (void)file_write_text(name, text);
    assert_null(schedule_read(file_path(name), &options, &notes, &problem));
    assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    return problem.what;
}

#define SINGLE           "{\"schemaVersion\": 1, \"traceEvents\": ["
#define WRONG(text, ...) assert_string_equal(refused("wrong.json", text), __VA_ARGS__)

static void wrong_events(void **state)
{
    (void)state;
    WRONG(SINGLE "{\"ph\": \"X\"", "byte 47: the file ends, expected the rest of a value (is it whole?)");
    WRONG(SINGLE "{\"ph\": \"X", "byte 46: the file ends, expected the rest of a string (is it whole?)");
    WRONG(SINGLE "{}", "byte 39: the file ends, expected ',' or ']' behind an event (is it whole?)");
    WRONG(SINGLE "{\"ph\" \"X\"}]}", "byte 46: is no JSON: ':' expected near '\"X\"'");
    WRONG(SINGLE "3]}", "byte 37: expected an event { ... }");
    WRONG(SINGLE "]", "byte 38: the file ends, expected ',' or '}' behind a value (is it whole?)");
    WRONG("{\"traceEvents\": 3}", "byte 16: expected a list of events");
    WRONG("[{\"ph\": \"X\", \"ts\": 1}]",
          "is a list of events without sizes, as a PyTorch without Kineto writes it (examples/pytorch/kineto.py writes "
          "its profile in full)");
    WRONG(SINGLE "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\"}]}",
          "byte 37: 'aten::mm': ts: expected a time in us");
    WRONG(SINGLE WORK(0, 1) WORK(1e12, 1) END,
          "byte 138: 'aten::mm': ts, dur: expected times within 20 hours of the first event");
    WRONG(SINGLE WORK(0, -1) END, "byte 37: 'aten::mm': ts, dur: expected times within 20 hours of the first event");
}

#define TWO(text) refused("wrong.0.json", HEAD(0, 2) text END)
#define PLACE     "byte 139: "

static void wrong_collectives(void **state)
{
    (void)state;
    options.ranks = 2;
    assert_string_equal(TWO(EVENT("user_annotation", "gloo:all_reduce", 2, 0, 9, "")), PLACE
                        "'gloo:all_reduce': has no sizes (record with record_shapes=True, for NCCL by PyTorch 2.2 "
                        "or later)");
    assert_string_equal(
        TWO(EVENT("user_annotation", "gloo:reduce", 2, 0, 9, "\"Input Dims\": [[1]], \"Input type\": [\"quark\"]")),
        PLACE "'gloo:reduce': 'quark' is no known type of elements");
    assert_string_equal(TWO(GLOO("reduce", 2, 0, 9, 1000000000000000)),
                        PLACE "'gloo:reduce': Input Dims: expected sizes of at most 4 TiB in all");
    assert_string_equal(TWO(NCCL(0, 1, 0, SIZES("allreduce", -1) ", " OF_ALL)),
                        PLACE "'ncclDevKernel_Generic(x)': In msg nelems, dtype: expected a number of elements, and a "
                              "known type");
    assert_string_equal(TWO(NCCL(0, 1, 0, SIZES("allreduce", 1) ", \"Process Group Ranks\": \"[0, 2]\"")),
                        PLACE "'ncclDevKernel_Generic(x)': Process Group Ranks: rank 2 is named twice, or is none of 0 "
                              "to 1");
    assert_string_equal(TWO(NCCL(0, 1, 0, SIZES("allreduce", 1) ", \"Process Group Ranks\": \"[1]\"")),
                        PLACE "'ncclDevKernel_Generic(x)': Process Group Ranks: rank 0 is no member");
    assert_string_equal(TWO(NCCL(0, 1, 0, SIZES("broadcast", 1) ", \"Rank\": 2, " OF_ALL)),
                        PLACE "'ncclDevKernel_Generic(x)': Rank: expected the root, 0 to 1");
    assert_string_equal(TWO(NCCL(0, 1, 0, SIZES("send", 1) ", \"Dst Rank\": 1, " OF_ALL)),
                        PLACE "'ncclDevKernel_Generic(x)': is a message, so one file cannot stand for all ranks");
    assert_string_equal(TWO(EVENT("user_annotation", "nccl:all_reduce", 1, 0, 9, "")),
                        "has calls of NCCL, but no kernels of it (record with ProfilerActivity.CUDA, too)");
}

static void wrong_files(void **state)
{
    (void)state;
    assert_string_equal(refused("nameless.json", HEAD(3, 4) END),
                        "is of rank 3 of 4, and its name lacks the rank, by which the others are found (--ranks 4 lets "
                        "each rank do what this one does)");
    assert_string_equal(
        refused("lone.3.json", HEAD(3, 4) END),
        "is of rank 3 of 4, and no other rank has a file named so (--ranks 4 lets each rank do what this "
        "one does)");
    (void)file_write_text("lone.0.json", HEAD(0, 4) END);
    assert_string_equal(refused("lone.3.json", HEAD(3, 4) END), "is missing: each of the 4 ranks has a file");
    assert_string_equal(problem.where, file_path("lone.1.json"));
    (void)file_write_text("lone.1.json", HEAD(2, 4) END);
    assert_string_equal(refused("lone.3.json", HEAD(3, 4) END),
                        "distributedInfo: is of rank 2 of 4, expected rank 1 of 4");
    assert_string_equal(refused("odd.0.json", HEAD(2, 2) END), "distributedInfo: rank: expected a number up to 1");
    assert_string_equal(refused("odd.0.json", HEAD(0, 0) END), "distributedInfo: world_size is 0");
    options.ranks = 3;
    assert_string_equal(refused("odd.0.json", HEAD(0, 2) END), "is of 2 ranks, --ranks says 3");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test_setup(overlap, reset),
                                              cmocka_unit_test_setup(blocking, reset),
                                              cmocka_unit_test_setup(buckets, reset),
                                              cmocka_unit_test_setup(gpu, reset),
                                              cmocka_unit_test_setup(kinds, reset),
                                              cmocka_unit_test_setup(messages, reset),
                                              cmocka_unit_test_setup(sizes_of_calls, reset),
                                              cmocka_unit_test_setup(groups, reset),
                                              cmocka_unit_test_setup(packed, reset),
                                              cmocka_unit_test_setup(wrong_events, reset),
                                              cmocka_unit_test_setup(wrong_collectives, reset),
                                              cmocka_unit_test_setup(wrong_files, reset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
