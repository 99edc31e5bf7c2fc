/* test_schedule_layers.c - texts of layers: the loop of each policy, groups, bytes, broken files. */
#include "schedule/formats.h"
#include "tests/support/support_file.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct schedule_read_options options;
static struct schedule_notes notes;
static struct hx_problem problem;

static struct schedule *read_text(const char *text)
{
    struct schedule *s = schedule_read(file_write_text("layers.txt", text), &options, &notes, &problem);
    if (!s)
        fail_msg("%s: %s", problem.where, problem.what);
    return s;
}

/* Prints the operations of rank 0: number, name, ns or bytes, and the numbers of those that it waits for. */
static char *print(const struct schedule *s)
{
    FILE *out = file_begin_text();
    for (uint32_t i = 0; i < schedule_count(s, 0); i++) {
        const struct schedule_operation *o = schedule_at(s, 0, i);
        (void)fprintf(out, "%" PRIu32 " %s %" PRIu64, i, schedule_name(s, o),
                      o->kind == SCHEDULE_COMPUTE ? o->amount / 1000 : o->amount);
        for (uint32_t earlier = 0; earlier < schedule_count(s, 0); earlier++) {
            const uint32_t *list;
            uint32_t count = schedule_followers(s, 0, earlier, &list);
            for (uint32_t f = 0; f < count; f++) {
                if (list[f] == i << 1)
                    (void)fprintf(out, " <%" PRIu32, earlier);
            }
        }
        (void)fprintf(out, "\n");
    }
    return file_end_text();
}

/* Checks the operations of one of four ranks, two of which share a layer. */
static void runs(const char *text, const char *operations, const char *left_out)
{
    options = (struct schedule_read_options){.ranks = 4, .tensor = 2};
    struct schedule *s = read_text(text);
    char *printed = print(s);
    assert_string_equal(printed, operations);
    assert_string_equal(notes.what, left_out);
    free(printed);
    schedule_close(s);
    options = (struct schedule_read_options){.ranks = 0};
}

/* ---- policies ---- */

/* Two layers, with all collectives; times and bytes tell them apart. */
#define TWO_LAYERS                                                                                                     \
    "\n2\na -1 10 ALLREDUCE 11 20 ALLREDUCE 21 30 ALLREDUCE 31 0\nb -1 40 ALLREDUCE 41 50 ALLREDUCE 51 60 ALLREDUCE "  \
    "61 0\n"

static void data(void **state)
{
    (void)state;
    runs("DATA" TWO_LAYERS,
         "0 a forward 10\n"
         "1 b forward 40 <0\n"
         "2 b weight gradient 60 <1\n"
         "3 b weight gradient all-reduce 61 <2\n"
         "4 b input gradient 50 <2\n"
         "5 a weight gradient 30 <4\n"
         "6 a weight gradient all-reduce 31 <5\n",
         "16 collectives that the policy does not use");
}

static void micro(void **state)
{
    (void)state;
    runs("MICRO\r\n2\r\na -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 31 5\r\nb -1 40 NONE 0 50 NONE 0 60 ALLTOALL 61 0\r\n",
         "0 a weight gradient all-reduce 31\n"
         "1 a weight gradient update 5 <0\n"
         "2 b weight gradient all-to-all 61\n",
         "");
}

static void model(void **state)
{
    (void)state;
    runs("MODEL" TWO_LAYERS,
         "0 a forward 10\n"
         "1 a forward all-reduce 11 <0\n"
         "2 b forward 40 <1\n"
         "3 b forward all-reduce 41 <2\n"
         "4 b input gradient 50 <3\n"
         "5 b input gradient all-reduce 51 <4\n"
         "6 b weight gradient 60 <4\n"
         "7 a input gradient 20 <5 <6\n"
         "8 a weight gradient 30 <7\n",
         "12 collectives that the policy does not use");
}

static void hybrid(void **state)
{
    static const char *const policies[] = {"HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s%s", policies[i], TWO_LAYERS);
        runs(text,
             "0 a forward 10\n"
             "1 a forward all-reduce 11 <0\n"
             "2 b forward 40 <1\n"
             "3 b forward all-reduce 41 <2\n"
             "4 b input gradient 50 <3\n"
             "5 b input gradient all-reduce 51 <4\n"
             "6 b weight gradient 60 <4\n"
             "7 b weight gradient all-reduce 61 <6\n"
             "8 a input gradient 20 <5 <6\n"
             "9 a weight gradient 30 <8\n"
             "10 a weight gradient all-reduce 31 <9\n",
             "4 collectives that the policy does not use");
    }
}

static void transformer(void **state)
{
    (void)state;
    runs("HYBRID_TRANSFORMER" TWO_LAYERS,
         "0 a forward 10\n"
         "1 a forward all-reduce 11 <0\n"
         "2 b forward 40 <1\n"
         "3 b forward all-reduce 41 <2\n"
         "4 b input gradient 50 <3\n"
         "5 b input gradient all-reduce 51 <4\n"
         "6 b weight gradient 60 <5\n"
         "7 b weight gradient all-reduce 61 <6\n"
         "8 a input gradient 20 <6\n"
         "9 a input gradient all-reduce 21 <8\n"
         "10 a weight gradient 30 <9\n"
         "11 a weight gradient all-reduce 31 <10\n",
         "");
}

/* Layer c runs a and b again, before its input gradient. */
static void transformer_that_recomputes(void **state)
{
    (void)state;
    runs("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 0 checkpoint_initiates: 1 2\n3\n"
         "a -1 1 NONE 0 2 NONE 0 3 NONE 0 9\n"
         "b -1 4 ALLGATHER 100 5 NONE 0 6 NONE 0 9\n"
         "c -1 7 NONE 0 8 NONE 0 0 NONE 0 9\n",
         "0 a forward 1\n"
         "1 b forward 4 <0\n"
         "2 b forward all-gather 200 <1\n"
         "3 b forward update 9 <2\n"
         "4 c forward 7 <3\n"
         "5 a forward 1 <4\n"
         "6 b forward 4 <5\n"
         "7 b forward all-gather 200 <6\n"
         "8 b forward update 9 <7\n"
         "9 c input gradient 8 <8\n"
         "10 b input gradient 5 <9\n"
         "11 b weight gradient 6 <10\n"
         "12 a input gradient 2 <11\n"
         "13 a weight gradient 3 <12\n",
         "");
}

/* Layer 1 is the last bottom layer, as a bare word and as SimAI has it. */
static void recommendation(void **state)
{
    static const char *const lines[] = {"HYBRID_DLRM\t1", "HYBRID_DLRM_ENHANCED DLRM_LAST_BOTTOM_LAYER: 1"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "%s\n3\ne -1 10 ALLTOALL 11 20 ALLTOALL 21 30 NONE 0 5\nb -1 40 NONE 0 50 NONE 0 60 NONE 0 0\n"
                       "t -1 70 NONE 0 80 NONE 0 90 ALLREDUCE 91 0\n",
                       lines[i]);
        runs(text,
             "0 e forward 10\n"
             "1 e forward all-to-all 11 <0\n"
             "2 e forward update 5 <1\n"
             "3 b forward 40 <0 <2\n"
             "4 t forward 70 <3\n"
             "5 t weight gradient 90 <4\n"
             "6 t weight gradient all-reduce 91 <5\n"
             "7 t input gradient 80 <5\n"
             "8 e input gradient all-to-all 21 <7\n"
             "9 e input gradient update 5 <8\n"
             "10 b weight gradient 60 <7\n"
             "11 b input gradient 50 <10\n"
             "12 e weight gradient 30 <9 <11\n",
             "");
    }
}

static void inference(void **state)
{
    (void)state;
    runs("DISTRIBUTED_INFERENCE" TWO_LAYERS,
         "0 a forward 10\n"
         "1 a forward all-reduce 11 <0\n"
         "2 b forward 40 <1\n"
         "3 b forward all-reduce 41 <2\n",
         "16 collectives that the policy does not use");
}

static void customized(void **state)
{
    (void)state;
    runs("HYBRID_CUSTOMIZED\n1\na -1 10 ALLREDUCE 11 20 NONE 0 30 ALLREDUCE 31 0 DATA\n",
         "0 a forward 10\n"
         "1 a input gradient 20 <0\n"
         "2 a weight gradient 30 <1\n"
         "3 a weight gradient all-reduce 31 <2\n",
         "4 collectives that the policy does not use");
}

/* ---- groups ---- */

/* Checks the group of the only collective of a rank. */
static void is_group(const struct schedule *s, uint32_t rank, const uint32_t *members, uint32_t count)
{
    for (uint32_t i = 0; i < schedule_count(s, rank); i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->kind != SCHEDULE_COLLECTIVE)
            continue;
        assert_int_equal(schedule_group_size(s, o->peer), count);
        assert_memory_equal(schedule_group(s, o->peer), members, count * sizeof *members);
        return;
    }
    fail_msg("rank %u has no collective", (unsigned)rank);
}

/* 32 ranks: 2 share a layer, then 2 share experts, then 4 have other data, then 2 stages. Rank 13 is 1, 0, 3, 0. */
static void groups_of_simai(void **state)
{
    static const struct {
        const char *part;
        uint32_t count, member[8];
    } groups[] = {
        {"1 ALLGATHER 64 0 NONE 0 0 NONE 0", 2, {12, 13}},
        {"0 NONE 0 1 ALLTOALL_EP 64 0 NONE 0", 2, {13, 15}},
        {"0 NONE 0 0 NONE 0 1 REDUCESCATTER 64", 8, {1, 3, 5, 7, 9, 11, 13, 15}},
        {"0 NONE 0 0 NONE 0 1 ALLREDUCE_DP_EP 64", 4, {1, 5, 9, 13}},
    };
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        char text[512];
        (void)snprintf(
            text, sizeof text,
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 1 all_gpus: 32 "
            "checkpoints: 0 checkpoint_initiates: 0 pp_comm 4096\n1\nx -1 %s 1\n",
            groups[i].part);
        struct schedule *s = read_text(text);
        assert_int_equal(schedule_ranks(s), 32);
        is_group(s, 13, groups[i].member, groups[i].count);
        assert_int_equal(notes.skipped, 32);
        assert_string_equal(notes.what, "transfers of 4096 bytes between 2 pipeline stages, of 32 ranks");
        for (uint32_t o = 0; o < schedule_count(s, 13); o++) {
            if (schedule_at(s, 13, o)->kind == SCHEDULE_COLLECTIVE)
                assert_int_equal(schedule_at(s, 13, o)->amount, 64); /* of the whole vector */
        }
        schedule_close(s);
    }
}

static void groups_of_hybrids(void **state)
{
    static const char text[] =
        "HYBRID_CUSTOMIZED model_parallel_NPU_group: 2\n1\nx -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1 ";
    static const struct {
        const char *policy;
        uint32_t count, member[6];
    } groups[] = {{"HYBRID_DATA_MODEL", 2, {2, 3}},
                  {"HYBRID_MODEL_DATA", 2, {0, 3}},
                  {"HYBRID_TRANSFORMER", 2, {2, 3}},
                  {"MODEL", 6, {0, 1, 2, 3, 4, 5}}};
    (void)state;
    options.ranks = 6;
    for (unsigned i = 0; i < 4; i++) {
        char whole[256];
        (void)snprintf(whole, sizeof whole, "%s%s\n", text, groups[i].policy);
        struct schedule *s = read_text(whole);
        is_group(s, 3, groups[i].member, groups[i].count);
        schedule_close(s);
    }
    options.ranks = 0;
}

/* Bytes of an all-gather among four ranks: those that a rank gives, or in files of SimAI and AICB the whole vector. */
static void bytes_of_gathers(void **state)
{
    static const struct {
        const char *first, *name;
        uint64_t bytes;
        const char *note;
    } files[] = {
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4", "x", 4 * 64, "that a rank gives (ASTRA-sim 1)"},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 0 checkpoint_initiates: 0", "x",
         4 * 64, "that a rank gives (ASTRA-sim 1)"},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 0 checkpoint_initiates: 0",
         "grad_gather", 64, "of the whole vector (SimAI)"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 ep: 1", "x", 64, "of the whole vector (SimAI)"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 expert_parallel_npu_group: 1", "x", 64,
         "of the whole vector (SimAI)"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 pp: 1", "x", 64, "of the whole vector (SimAI)"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 vpp: 8", "x", 64, "of the whole vector (SimAI)"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 ga: 2", "x", 64, "of the whole vector (SimAI)"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4 pp_comm 7", "x", 64, "of the whole vector (SimAI)"},
    };
    (void)state;
    options.ranks = 4;
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        char text[256];
        char note[80];
        (void)snprintf(text, sizeof text, "%s\n1\n%s -1 1 ALLGATHER 64 1 NONE 0 1 NONE 0 1\n", files[i].first,
                       files[i].name);
        (void)snprintf(note, sizeof note, "bytes of ALLGATHER are those %s", files[i].note);
        struct schedule *s = read_text(text);
        assert_int_equal(schedule_at(s, 0, 1)->collective, HX_ALL_GATHER);
        assert_int_equal(schedule_at(s, 0, 1)->amount, files[i].bytes);
        assert_string_equal(notes.annotations, note);
        schedule_close(s);
    }
    options.ranks = 0;
}

/* From the first rank of the group to the others. */
static void broadcasts(void **state)
{
    (void)state;
    options.ranks = 4;
    struct schedule *s = read_text("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1\n1\n"
                                   "x -1 1 BROADCAST 64 1 NONE 0 1 BROADCAST_EP 7 1\n");
    const struct schedule_operation *o = schedule_at(s, 3, 1);
    assert_int_equal(o->kind, SCHEDULE_COLLECTIVE);
    assert_int_equal(o->collective, HX_BROADCAST);
    assert_int_equal(o->amount, 64);
    assert_int_equal(o->tag, 0);
    is_group(s, 3, (const uint32_t[]){2, 3}, 2);
    assert_string_equal(notes.annotations, "");
    schedule_close(s);
    options.ranks = 0;
}

static void unit_of_time(void **state)
{
    (void)state;
    options = (struct schedule_read_options){.ranks = 1, .time_unit_ns = 1000};
    struct schedule *s = read_text("DATA\n1\nx -1 7 NONE 0 0 NONE 0 0 NONE 0 0\n");
    assert_int_equal(schedule_count(s, 0), 1);
    assert_int_equal(schedule_at(s, 0, 0)->amount, 7000000);
    schedule_close(s);
    options = (struct schedule_read_options){.ranks = 0};
}

/* ---- broken files ---- */

#define LAYER "x -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"

static void broken_files(void **state)
{
    static const struct {
        const char *text, *place, *message;
    } broken[] = {
        {"DATA\n1\n" LAYER, ":1:1", "the number of ranks is not given (--ranks N, or all_gpus: N in this line)"},
        {"DATA all_gpus: 4\n", ":1:1", "expected a line with the number of layers"},
        {"DATA all_gpus: 4\n0\n", ":2:1", "0: expected the number of layers, at least 1"},
        {"DATA all_gpus: 4\n2\n" LAYER, ":3:1", "the file ends after 1 of 2 layers"},
        {"DATA all_gpus: 4\n1\n" LAYER LAYER, ":4:1", "a layer more than the 1 of the second line"},
        {"DATA all_gpus: x\n1\n" LAYER, ":1:16", "'x': expected a number of ranks, a number"},
        {"DATA all_gpus: 0\n1\n" LAYER, ":1:16", "0: expected a number of ranks, at least 1"},
        {"DATA all_gpus:\n1\n" LAYER, ":1:1", "expected a number of ranks behind the last word"},
        {"DATA all_gpus: 4\n1\nx -1 1 NONE 0 1 NONE 0 1 NONE 0\n", ":3:1", "has 11 words, expected 12 for a layer"},
        {"DATA all_gpus: 4\n1\nx -1 1 SOME 0 1 NONE 0 1 NONE 0 1\n", ":3:8",
         "'SOME': expected NONE, ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER or BROADCAST, also with _EP or _DP_EP"},
        {"DATA all_gpus: 4\n1\nx -1 1 ALLREDUCE_TP 0 1 NONE 0 1 NONE 0 1\n", ":3:8",
         "'ALLREDUCE_TP': expected NONE, ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER or BROADCAST, also with _EP or "
         "_DP_EP"},
        {"DATA all_gpus: 4\n1\nx -1 1 ALLREDUCE_EP 0 1 NONE 0 1 NONE 0 1\n", ":3:8",
         "ALLREDUCE_EP needs ep: N in the first line, the ranks that share experts"},
        {"DATA all_gpus: 4\n1\nx -1 99999999999999999999 NONE 0 1 NONE 0 1 NONE 0 1\n", ":3:6",
         "99999999999999999999: expected a time, at most 72057594037927"},
        {"DATA all_gpus: 4\n1\nx -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 9999999999999 1\n", ":3:36",
         "9999999999999: expected bytes, at most 4398046511104"},
        {"MODEL model_parallel_NPU_group: 4 all_gpus: 6\n1\n" LAYER, ":1:1",
         "6 ranks are no multiple of 4 (tensor x expert x pipeline parallel)"},
        {"HYBRID_DATA_MODEL all_gpus: 4\n1\n" LAYER, ":1:1",
         "HYBRID_DATA_MODEL needs model_parallel_NPU_group: N behind it (or --tensor-parallel N), the ranks that share "
         "a layer"},
        {"HYBRID_DLRM all_gpus: 4\n1\n" LAYER, ":1:1", "HYBRID_DLRM needs the last bottom layer behind it"},
        {"HYBRID_DLRM 1 all_gpus: 4\n1\n" LAYER, ":1", "the last bottom layer is 1, expected 0 to 0"},
        {"HYBRID_CUSTOMIZED all_gpus: 4\n1\n" LAYER, ":3:1",
         "expected the layer's policy as the 13th word (HYBRID_CUSTOMIZED)"},
        {"HYBRID_CUSTOMIZED all_gpus: 4\n1\nx -1 1 NONE 0 1 NONE 0 1 NONE 0 1 MODLE\n", ":3:35",
         "'MODLE' is no policy (did you mean 'MODEL'?)"},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 all_gpus: 4 checkpoints: 1 9 "
         "checkpoint_initiates: 0\n1\n" LAYER,
         ":1", "checkpoint layer 9, expected 0 to 0"},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 all_gpus: 4 checkpoint_initiates: 1 0\n1\n" LAYER,
         ":1", "checkpoint_initiates: layer 0 has no checkpoint before it"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char where[FILE_PATH_BYTES + 16];
        const char *path = file_write_text("broken.txt", broken[i].text);
        assert_null(schedule_read(path, &options, &notes, &problem));
        (void)snprintf(where, sizeof where, "%s%s", path, broken[i].place);
        assert_string_equal(problem.what, broken[i].message);
        assert_string_equal(problem.where, where);
        assert_int_equal(problem.exit_code, HX_EXIT_CONFIG);
    }
    options.ranks = 4;
    assert_null(
        schedule_read(file_write_text("broken.txt", "MODEL\n1\nx -1 1 ALLGATHER 4398046511104 1 NONE 0 1 NONE 0 1\n"),
                      &options, &notes, &problem));
    assert_string_equal(problem.what, "4398046511104 bytes of each of 4 ranks: 4398046511104 in all are possible");
    options.ranks = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data),
        cmocka_unit_test(micro),
        cmocka_unit_test(model),
        cmocka_unit_test(hybrid),
        cmocka_unit_test(transformer),
        cmocka_unit_test(transformer_that_recomputes),
        cmocka_unit_test(recommendation),
        cmocka_unit_test(inference),
        cmocka_unit_test(customized),
        cmocka_unit_test(groups_of_simai),
        cmocka_unit_test(groups_of_hybrids),
        cmocka_unit_test(bytes_of_gathers),
        cmocka_unit_test(broadcasts),
        cmocka_unit_test(unit_of_time),
        cmocka_unit_test(broken_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
