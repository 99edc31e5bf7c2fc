/* test_schedule_mscclpp.c - MSCCL++ plans: operations as messages, what waits for what, proofs, and every mistake. */
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

#define FILE_NAME "plan.json"

#define PLAN(collective, in_place, gpus)                                                                               \
    "{\"name\": \"x\", \"collective\": \"" collective "\", \"inplace\": " in_place                                     \
    ", \"max_message_size\": 18446744073709551615, \"gpus\": [" gpus "]}\n"
#define GPU(id, input, output, scratch, channels, remotes, blocks)                                                     \
    "{\"id\": " id ", \"input_chunks\": " input ", \"output_chunks\": " output ", \"scratch_chunks\": " scratch        \
    ", \"channels\": [" channels "], \"remote_buffers\": [" remotes                                                    \
    "], \"semaphores\": [{\"init_value\": 0}], \"threadblocks\": [" blocks "]}"
#define CHANNEL(type, peers) "{\"channel_type\": \"" type "\", \"connected_to\": [" peers "]}"
#define REMOTE(gpu, buffer)  "{\"rank\": " gpu ", \"type\": \"" buffer "\"}"
/* A thread block with channel 0 and remote buffer 0. */
#define BLOCK(id, type, ops)                                                                                           \
    "{\"id\": " id ", \"channels\": [{\"channel_type\": \"" type                                                       \
    "\", \"channel_ids\": [0]}], \"remote_buffer_refs\": [{\"access_channel_type\": \"" type                           \
    "\", \"remote_buffer_ids\": [0]}], \"ops\": [" ops "]}"
#define HERE(buffer, index) "{\"type\": \"" buffer "\", \"index\": " index ", \"size\": 1}"
#define AWAY(index)         "{\"buffer_id\": 0, \"index\": " index ", \"size\": 1}"
#define MOVE(name, type, source, destination)                                                                          \
    "{\"name\": \"" name "\", \"channel_type\": \"" type "\", \"channel_ids\": [0], \"src_buff\": [" source            \
    "], \"dst_buff\": [" destination "]}"
#define SYNC(name, type) "{\"name\": \"" name "\", \"channel_type\": \"" type "\", \"channel_ids\": [0]}"
#define LOCAL(name, source, destination)                                                                               \
    "{\"name\": \"" name "\", \"src_buff\": [" source "], \"dst_buff\": [" destination "]}"

/* Each gpu puts its chunk into the other one's output. */
#define GATHER_GPU(id, peer, type, put)                                                                                \
    GPU(id, "1", "2", "0", CHANNEL(type, peer), REMOTE(peer, "o"),                                                     \
        BLOCK("0", type, MOVE(put, type, HERE("i", "0"), AWAY(id)) ", {\"name\": \"nop\"}, " SYNC("wait", type)))
#define GATHER(type, put)                                                                                              \
    PLAN("allgather", "true", GATHER_GPU("0", "1", type, put) ",\n" GATHER_GPU("1", "0", type, put))

/* Each gpu reads a chunk of the other one, sums it, and stores the sum at both. */
#define SUM_GPU(id, peer)                                                                                              \
    GPU(id, "2", "2", "0", CHANNEL("memory", peer), REMOTE(peer, "i"),                                                 \
        BLOCK("0", "memory",                                                                                           \
              SYNC("rlxsignal", "memory") ", " SYNC("rlxwait", "memory") ", " MOVE(                                    \
                  "rres", "memory", HERE("i", id) ", " AWAY(id),                                                       \
                  HERE("i", id) ", " AWAY(id)) ", " SYNC("signal", "memory") ", " SYNC("wait", "memory")))
#define SUM PLAN("allreduce", "true", SUM_GPU("0", "1") ",\n" SUM_GPU("1", "0"))

static struct schedule_notes notes;
static struct hx_problem problem;

static struct schedule *load(const char *text, uint64_t message)
{
    const struct schedule_read_options options = {.message = message};
    return schedule_read(file_write_text(FILE_NAME, text), &options, &notes, &problem);
}

static char *replace(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
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

static struct schedule *load_good(const char *text, const char *annotations)
{
    struct schedule *s = load(text, 4096);
    if (!s) {
        print_error("%s: %s\n", problem.where, problem.what);
        abort();
    }
    assert_string_equal(notes.annotations, annotations);
    return s;
}

/* An operation as "send 2048 to 1 tag 0 > 1 2s": what follows it; s: its start. */
static void assert_operation(const struct schedule *s, uint32_t rank, uint32_t number, const char *wanted)
{
    static const char *const directions[] = {[SCHEDULE_SEND] = "to", [SCHEDULE_RECEIVE] = "from"};
    char text[128];
    const struct schedule_operation *o = schedule_at(s, rank, number);
    const uint32_t *list;
    uint32_t count = schedule_followers(s, rank, number, &list);
    size_t used = (size_t)snprintf(text, sizeof text, "%s", schedule_kind_names[o->kind]);
    if (o->kind != SCHEDULE_COMPUTE)
        used += (size_t)snprintf(text + used, sizeof text - used, " %u %s %u tag %u", (unsigned)o->amount,
                                 directions[o->kind], o->peer, o->tag);
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u%s", i ? " " : " > ", list[i] >> 1,
                                 list[i] & SCHEDULE_AFTER_START ? "s" : "");
    assert_string_equal(text, wanted);
}

static void assert_operations(const struct schedule *s, uint32_t rank, const char *const *wanted, uint32_t count)
{
    assert_int_equal(schedule_count(s, rank), count);
    for (uint32_t i = 0; i < count; i++)
        assert_operation(s, rank, i, wanted[i]);
}
#define ASSERT_OPERATIONS(s, rank, ...)                                                                                \
    assert_operations(s, rank, (const char *const[]){__VA_ARGS__},                                                     \
                      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- operations ---- */

static void a_wait_goes_on_when_signal_and_put_have_come(void **state)
{
    (void)state;
    char *text = replace(GATHER("memory", "put"), "{\"name\": \"nop\"}", SYNC("signal", "memory"));
    char *both = replace(text, "{\"name\": \"nop\"}", SYNC("signal", "memory"));
    struct schedule *s = load_good(both, "");
    ASSERT_OPERATIONS(s, 0, "send 2048 to 1 tag 0 > 1", "send 8 to 1 tag 1 > 2", "compute",
                      "receive 2048 from 1 tag 2 > 2", "receive 8 from 1 tag 3 > 2");
    ASSERT_OPERATIONS(s, 1, "receive 2048 from 0 tag 0 > 4", "receive 8 from 0 tag 1 > 4", "send 2048 to 0 tag 2 > 3",
                      "send 8 to 0 tag 3 > 4", "compute");
    assert_string_equal(schedule_name(s, schedule_at(s, 0, 2)), "wait");
    schedule_close(s);
    free(both);
    free(text);
}

static void a_put_over_a_port_does_not_hold_up(void **state)
{
    (void)state;
    /* Put and signal follow one compute; the next step waits for their start. */
    struct schedule *s = load_good(GATHER("port", "pws"), "");
    ASSERT_OPERATIONS(s, 0, "compute > 1 2", "send 2048 to 1 tag 0 > 3s", "send 8 to 1 tag 1 > 3s", "compute > 4",
                      "compute", "receive 2048 from 1 tag 2 > 4", "receive 8 from 1 tag 3 > 4");
    schedule_close(s);
    /* With a flush, it waits for their ends. */
    s = load_good(GATHER("port", "pwsf"), "");
    ASSERT_OPERATIONS(s, 0, "compute > 1 2", "send 2048 to 1 tag 0 > 3", "send 8 to 1 tag 1 > 3", "compute > 4",
                      "compute", "receive 2048 from 1 tag 2 > 4", "receive 8 from 1 tag 3 > 4");
    schedule_close(s);
    char *text = replace(GATHER("port", "pws"), "{\"name\": \"nop\"}", SYNC("flush", "port"));
    s = load_good(text, "");
    ASSERT_OPERATIONS(s, 0, "compute > 1 2", "send 2048 to 1 tag 0 > 3s 4", "send 8 to 1 tag 1 > 3s 4", "compute > 4",
                      "compute > 5", "compute", "receive 2048 from 1 tag 2 > 5", "receive 8 from 1 tag 3 > 5");
    schedule_close(s);
    free(text);
}

static void a_read_asks_the_other_gpu(void **state)
{
    (void)state;
    struct schedule *s = load_good(SUM, "");
    ASSERT_OPERATIONS(s, 0, "send 8 to 1 tag 0 > 1", "compute > 2 3", "send 8 to 1 tag 1",
                      "receive 2048 from 1 tag 1 > 4", "compute > 5", "send 2048 to 1 tag 2 > 6",
                      "send 8 to 1 tag 3 > 7", "compute", "receive 8 from 1 tag 4 > 1", "receive 8 from 1 tag 5 > 10",
                      "send 2048 to 1 tag 5", "receive 2048 from 1 tag 6 > 7", "receive 8 from 1 tag 7 > 7");
    schedule_close(s);
}

/* Both send a chunk as packets, and sum what they got. */
#define PACKET_GPU(id, peer)                                                                                           \
    GPU(id, "1", "1", "1", "", REMOTE(peer, "s"),                                                                      \
        BLOCK("0", "switch",                                                                                           \
              MOVE("ppkt", "switch", HERE("i", "0"),                                                                   \
                   AWAY("0")) ", " LOCAL("repkt", HERE("i", "0") ", " HERE("s", "0"), HERE("i", "0"))))
#define PACKETS PLAN("allreduce", "true", PACKET_GPU("0", "1") ",\n" PACKET_GPU("1", "0"))

static void packets_are_waited_for_where_they_lie(void **state)
{
    (void)state;
    struct schedule *s = load_good(PACKETS, "");
    ASSERT_OPERATIONS(s, 0, "send 8192 to 1 tag 0 > 1", "compute", "receive 8192 from 1 tag 1 > 1");
    schedule_close(s);
    char *text = replace(PACKETS, "\"ppkt\"", "\"put\"");
    assert_refused(text, "", "gpu 1, thread block 0, step 1 (repkt) waits for ever: there are no packets for it");
    free(text);
    /* A second writer of the same packets. */
    text = replace(PACKETS, "\"ops\": [", "\"ops\": [" MOVE("ppkt", "switch", HERE("i", "0"), AWAY("0")) ", ");
    assert_refused(
        text, "",
        "gpu 0, thread block 0, step 1 (ppkt) writes packets where there are those of gpu 0, thread block 0, "
        "step 0");
    free(text);
}

/* Thread blocks of one gpu, by a barrier, a semaphore, and halves of chunks. */
#define SHARE(part) ", \"tbg_info\": {\"tb_id\": " part ", \"tbg_size\": 2}}"
#define HALF(source, destination, part)                                                                                \
    "{\"name\": \"copy\", \"src_buff\": [" source "], \"dst_buff\": [" destination "]" SHARE(part)
#define BARRIER "{\"name\": \"barrier\", \"barrier_id\": 3, \"num_threadblocks\": 2}"
#define HALVES(between, after)                                                                                         \
    PLAN("broadcast", "false",                                                                                         \
         GPU("0", "1", "1", "1", "", "",                                                                               \
             "{\"id\": 0, \"ops\": [" HALF(HERE("i", "0"), HERE("s", "0"), "0") between                                \
             "]}, {\"id\": 1, \"ops\": [" HALF(HERE("i", "0"), HERE("s", "0"), "1") after                              \
             ", {\"name\": \"pipeline\", \"ops\": [" LOCAL("copy", HERE("s", "0"), HERE("o", "0")) "]}]}"))

static void thread_blocks_of_a_gpu_wait_for_each_other(void **state)
{
    (void)state;
    static const char note[] = "1 pipelines run once, for all of a chunk";
    struct schedule *s = load_good(HALVES(", " BARRIER, ", " BARRIER), note);
    ASSERT_OPERATIONS(s, 0, "compute > 1", "compute > 2", "compute > 5", "compute > 4", "compute > 2 5", "compute > 6",
                      "compute");
    schedule_close(s);
    s = load_good(HALVES(", {\"name\": \"sem_release\", \"semaphore_ids\": [0]}",
                         ", {\"name\": \"sem_acquire\", \"semaphore_ids\": [0]}"),
                  note);
    ASSERT_OPERATIONS(s, 0, "compute > 1", "compute > 3", "compute > 3", "compute > 4", "compute");
    schedule_close(s);
    /* Without either, the copy of the whole may come before the first half; that is noted. */
    s = load_good(HALVES("", ""),
                  "1 pipelines run once, for all of a chunk; output not proven: gpu 0, chunk s0: gpu 0, "
                  "thread block 1, step 1 and gpu 0, thread block 0, step 0 touch it, and nothing "
                  "orders them");
    schedule_close(s);
}

/* ---- mistakes ---- */

static void wrong_sums_and_deadlocks_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *from, *to, *what;
    } mistakes[] = {
        {SUM, "\"dst_buff\": [" HERE("i", "0") ", " AWAY("0"), "\"dst_buff\": [" HERE("i", "0"),
         "is no allreduce: gpu 1, chunk o0 lacks chunk 0 of gpu 0 (mend the algorithm)"},
        {PACKETS, HERE("i", "0") ", " HERE("s", "0"), HERE("s", "0") ", " HERE("s", "0"),
         "is no allreduce: gpu 0, chunk o0 has chunk 0 of gpu 1 twice (mend the algorithm)"},
        {SUM, "\"signal\"", "\"wait\"", "gpu 1, thread block 0, step 4 waits for ever: gpu 0 does not signal so often"},
        {SUM, "\"signal\"", "\"nop\"", "gpu 1, thread block 0, step 4 waits for ever: gpu 0 does not signal so often"},
        {HALVES(", " BARRIER, ", " BARRIER), "\"num_threadblocks\": 2", "\"num_threadblocks\": 3",
         "gpu 0: barrier 3 is for 3 thread blocks, each as often; 2 use it 2 times in all"},
        {HALVES(", " BARRIER, ", " BARRIER ", " BARRIER), "broadcast", "broadcast",
         "gpu 0: barrier 3 is for 2 thread blocks, each as often; 2 use it 3 times in all"},
        {HALVES("", ", {\"name\": \"sem_acquire\", \"semaphore_ids\": [0]}"), "broadcast", "broadcast",
         "gpu 0, thread block 1, step 1 waits for ever: semaphore 0 is not released so often"},
    };
    for (unsigned i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char *text = replace(mistakes[i].text, mistakes[i].from, mistakes[i].to);
        assert_refused(text, "", mistakes[i].what);
        free(text);
    }
}

static void mistakes_are_named_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *where, *what;
    } mistakes[] = {
        {"\"gpus\": [", "\"gpus\": [}", ":1:110", "expected JSON: unexpected token near '}'"},
        {"\"collective\": \"allreduce\"", "\"collective\": 3", "",
         "expected a plan with \"collective\": NAME and \"gpus\": [1 or more]"},
        {"\"id\": 0", "\"id\": 1", "", "gpus[0]: id: expected 0 (ids count from 0)"},
        {"\"input_chunks\": 2", "\"input_chunks\": 1.5", "",
         "gpus[0]: input_chunks: expected a number from 0 to 33554432"},
        {"\"input_chunks\": 2", "\"input_chunks\": 33554432", "",
         "has more than 33554432 chunks in the buffers of all gpus (fewer can be proven)"},
        {"\"threadblocks\": [", "\"threadblocks\": 1, \"x\": [", "", "gpus[0]: threadblocks: expected an array"},
        {"\"connected_to\": [1]", "\"connected_to\": [0]", "", "gpus[0]: connected_to: expected another gpu than 0"},
        {"\"connected_to\": [1]", "\"connected_to\": [2]", "", "gpus[0]: connected_to: expected a number from 0 to 1"},
        {"\"rank\": 1", "\"rank\": -1", "", "gpus[0]: rank: expected a number from 0 to 1"},
        {"\"type\": \"i\"", "\"type\": \"x\"", "", "gpus[0]: type: expected i, o or s"},
        {"\"init_value\": 0", "\"init\": 0", "", "gpus[0]: init_value: expected a number from 0 to 2147483647"},
        {"\"channel_type\": \"memory\", \"connected", "\"channel_type\": \"tin\", \"connected", "",
         "gpus[0]: channel_type: expected memory, port or switch"},
        {"\"threadblocks\": [{\"id\": 0", "\"threadblocks\": [{\"id\": 1", "",
         "gpus[0].threadblocks[0]: id: expected 0 (ids count from 0)"},
        {"\"channel_ids\": [0]}]", "\"channel_ids\": [1]}]", "",
         "gpus[0].threadblocks[0]: channel_ids: the gpu has 1 of them, not number 1"},
        {"\"remote_buffer_ids\": [0]", "\"remote_buffer_ids\": [7]", "",
         "gpus[0].threadblocks[0]: remote_buffer_ids: the gpu has 1 of them, not number 7"},
        {"\"rlxsignal\"", "\"tune\"", "", "gpus[0].threadblocks[0].ops[0]: name: 'tune' is no known operation"},
        {"\"rlxsignal\"", "\"glres\"", "",
         "gpus[0].threadblocks[0].ops[0]: 'glres' is done by a switch (NVLS); a schedule has no such operation"},
        {"\"rlxsignal\", \"channel_type\": \"memory\", \"channel_ids\": [0]",
         "\"rlxsignal\", \"channel_type\": \"memory\", \"channel_ids\": [1]", "",
         "gpus[0].threadblocks[0].ops[0]: channel_ids: the thread block has 1 memory channels"},
        {"\"buffer_id\": 0", "\"buffer_id\": 1", "",
         "gpus[0].threadblocks[0].ops[2]: buffer_id: the thread block has 1 remote buffers over memory channels"},
        {"\"buffer_id\": 0, \"index\": 0, \"size\": 1", "\"buffer_id\": 0, \"index\": 1, \"size\": 2", "",
         "gpus[0].threadblocks[0].ops[2]: chunks i1 and 2 more: buffer i of gpu 1 has 2"},
        {"\"buffer_id\": 0, \"index\": 0, \"size\": 1", "\"buffer_id\": 0, \"index\": 0, \"size\": 2", "",
         "gpus[0].threadblocks[0].ops[2]: expected as many chunks in src_buff as in dst_buff"},
        {"\"src_buff\": [", "\"src_buff\": [], \"x\": [", "",
         "gpus[0].threadblocks[0].ops[2]: expected 1 or more in src_buff, 1 or more in dst_buff"},
        {"{\"name\": \"rlxsignal\"", "{\"tbg_info\": {\"tb_id\": 0, \"tbg_size\": 0}, \"name\": \"rlxsignal\"", "",
         "gpus[0].threadblocks[0]: tbg_size: expected a number from 1 to 64"},
        {"{\"name\": \"rlxsignal\"", "{\"tbg_info\": {\"tb_id\": 2, \"tbg_size\": 2}, \"name\": \"rlxsignal\"", "",
         "gpus[0].threadblocks[0].ops[0]: tb_id: expected a number from 0 to 1"},
        {"{\"name\": \"rlxsignal\"", "{\"name\": \"sem_release\", \"semaphore_ids\": [1]}, {\"name\": \"rlxsignal\"",
         "", "gpus[0].threadblocks[0].ops[0]: semaphore_ids: gpu 0 has 1 semaphores"},
        {"{\"name\": \"rlxsignal\"",
         "{\"name\": \"pipeline\", \"ops\": [{\"name\": \"pipeline\", \"ops\": []}]}, {\"name\": \"rlxsignal\"", "",
         "gpus[0].threadblocks[0]: pipeline: expected no pipeline in a pipeline"},
    };
    for (unsigned i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char *text = replace(SUM, mistakes[i].from, mistakes[i].to);
        assert_refused(text, mistakes[i].where, mistakes[i].what);
        free(text);
    }
}

/* Two thread blocks that signal on one channel: which comes first? */
static void a_channel_has_one_owner(void **state)
{
    (void)state;
    assert_refused(
        PLAN("test", "false",
             GPU("0", "1", "1", "0", CHANNEL("memory", "1"), REMOTE("1", "i"),
                 BLOCK("0", "memory", SYNC("signal", "memory")) ", " BLOCK(
                     "1", "memory", SYNC("signal", "memory"))) ", " GPU("1", "1", "1", "0", "", "", "")),
        "",
        "gpu 0, thread block 0, step 0 (signal) and gpu 0, thread block 1, step 0 (signal) use one channel or "
        "semaphore, and nothing orders them");
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 120; i + 2 < strlen(SUM); i += 11) {
        char *text = calloc(1, i + 1);
        memcpy(text, SUM, i);
        assert_null(load(text, 0));
        assert_true(problem.what[0] && problem.exit_code == HX_EXIT_CONFIG);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_goes_on_when_signal_and_put_have_come),
        cmocka_unit_test(a_put_over_a_port_does_not_hold_up),
        cmocka_unit_test(a_read_asks_the_other_gpu),
        cmocka_unit_test(packets_are_waited_for_where_they_lie),
        cmocka_unit_test(thread_blocks_of_a_gpu_wait_for_each_other),
        cmocka_unit_test(wrong_sums_and_deadlocks_are_refused),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(a_channel_has_one_owner),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
