/* test_training_model.c - model files: each key reaches its field, what follows from a model is its closed form, and
 * each error names line, column and how to mend it. */
#include "schedule/training/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct training_model *parse(const char *text, const struct schedule_read_options *options)
{
    struct hx_problem p = {.what = ""};
    struct training_model *m = training_model_parse("x.yaml", text, strlen(text), options, &p);
    if (!m)
        fail_msg("%s\n%s: %s", text, p.where, p.what);
    return m;
}

static struct training_model *read_model(const char *text)
{
    const struct schedule_read_options none = {.ranks = 0};
    return parse(text, &none);
}

/* ---- keys ---- */

static void each_key_reaches_its_field(void **state)
{
    (void)state;
    struct training_model *m =
        read_model("model: All of it\n"
                   "values: {hidden: 1024, micro: 4, step: 3 ms}\n"
                   "samples: 2 * 3 * micro * 5\n"
                   "tokens: 2 * hidden\n"
                   "iterations: 7\n"
                   "accelerator: {flops: 312 TFLOPS, efficiency: 0.5, memory: 80GB, reserved: 2 * hidden,\n"
                   "              memory_bandwidth: 2039 GB/s,\n"
                   "              kernels: {efficiency: 0.9, inner: 300, outer: 108 * hidden}}\n"
                   "parallelism: {tensor: 4, context: 2, data: 3, pipeline: 2, expert: 6,\n"
                   "              order: [pipeline, data]}\n"
                   "pipeline: {schedule: interleaved, micro_batches: micro, chunks: 2,\n"
                   "           layers: [1, 1, 2, 3]}\n"
                   "zero: 3\n"
                   "sequence_parallel: true\n"
                   "recompute: selective\n"
                   "overlap: false\n"
                   "fuse_tables: false\n"
                   "gradient_group: 100MB\n"
                   "bytes: {activations: 1, gradients: 4, parameters: 3, optimizer: 8}\n"
                   "update: step / 2\n"
                   "algorithms: {tensor: ring, context: torus, data: tree, expert: pairwise}\n"
                   "layers:\n"
                   "  - {name: one, parameters: 1, activations: 2, flops: 3}\n"
                   "  - {name: two, parameters: hidden, activations: 2, forward: step,\n"
                   "     backward: 5 ms, shard: columns, context: 9}\n"
                   "  - {name: three, parameters: 0, activations: 0, flops: 3,\n"
                   "     backward_flops: 4, shard: space, halo: 8}\n"
                   "  - {name: four, parameters: 5, activations: 6, forward: 1 us,\n"
                   "     shard: experts, routed: 7}\n"
                   "  - {name: five, parameters: 5, activations: 6, flops: 0, shard: tables,\n"
                   "     inputs: 3 * hidden, beside: yes}\n"
                   "  - repeat: 1\n"
                   "    layers:\n"
                   "      - {name: six, parameters: 1, activations: 2, shard: columns, saved: 11,\n"
                   "         saved_whole: 12, recomputed: 13, moved: 14, moved_whole: 15,\n"
                   "         recomputed_moved: 16, products: [{m: 2, n: 3, k: 5},\n"
                   "           {m: 7, n: 11, k: 13, times: 4, divided: times, recomputed: yes,\n"
                   "            efficiency: 0.25}]}\n"
                   "      - {name: seven, parameters: 1, activations: 2, flops: 0, moved: 3,\n"
                   "         backward_moved: 9, keeps_all: yes}\n"
                   "prefetch: 3\n"
                   "tensor_splits: 4\n");
    assert_string_equal(m->name, "All of it");
    assert_int_equal(m->samples, 120);
    assert_int_equal(m->sample_tokens, 2048);
    assert_int_equal(m->iterations, 7);
    assert_true(m->flops == 312e12 && m->efficiency == 0.5 && m->memory_bandwidth == 2039e9);
    assert_true(m->kernels.efficiency == 0.9 && m->kernels.inner == 300 && m->kernels.outer == 108 * 1024);
    assert_int_equal(m->memory, 80000000000);
    assert_int_equal(m->reserved, 2048);
    assert_int_equal(m->optimizer_bytes, 8);
    assert_int_equal(m->parallel[TRAINING_TENSOR], 4);
    assert_int_equal(m->parallel[TRAINING_CONTEXT], 2);
    assert_int_equal(m->parallel[TRAINING_DATA], 3);
    assert_int_equal(m->parallel[TRAINING_PIPELINE], 2);
    assert_int_equal(m->expert, 6);
    static const enum training_axis order[] = {TRAINING_PIPELINE, TRAINING_DATA, TRAINING_TENSOR, TRAINING_CONTEXT};
    assert_memory_equal(m->order, order, sizeof order);
    assert_int_equal(m->pipeline, TRAINING_INTERLEAVED);
    assert_int_equal(m->micro_batches, 4);
    assert_int_equal(m->chunks, 2);
    static const uint32_t stage_of[] = {0, 1, 2, 2, 3, 3, 3};
    assert_memory_equal(m->stage_of, stage_of, sizeof stage_of);
    assert_int_equal(m->zero, 3);
    assert_true(m->prefetch == 3 && m->tensor_splits == 4);
    assert_true(m->sequence && m->recompute == TRAINING_RECOMPUTE_SELECTIVE && !m->overlap && !m->fuse_tables);
    assert_int_equal(m->gradient_bytes, 100000000);
    assert_int_equal(m->activation_bytes, 1);
    assert_int_equal(m->gradient_element_bytes, 4);
    assert_int_equal(m->parameter_bytes, 3);
    assert_int_equal(m->update_ps, 1500000000);
    static const char *const algorithms[] = {"ring", "torus", "tree", "best", "pairwise"};
    for (unsigned i = 0; i <= TRAINING_AXES; i++)
        assert_string_equal(hx_algorithm_names[m->algorithm[i]], algorithms[i]);
    static const struct training_layer layers[] = {
        {.name = "one",
         .parameters = 1,
         .activations = 2,
         .flops = 3,
         .backward_flops = 6,
         .begins_block = true,
         .line = 23},
        {.name = "two",
         .parameters = 1024,
         .activations = 2,
         .forward_ps = 3000000000,
         .backward_ps = 5000000000,
         .shard = TRAINING_COLUMNS,
         .context = 9,
         .begins_block = true,
         .line = 24},
        {.name = "three",
         .flops = 3,
         .backward_flops = 4,
         .shard = TRAINING_SPACE,
         .halo = 8,
         .begins_block = true,
         .line = 26},
        {.name = "four",
         .parameters = 5,
         .activations = 6,
         .forward_ps = 1000000,
         .backward_ps = 2000000,
         .shard = TRAINING_EXPERTS,
         .routed = 7,
         .begins_block = true,
         .line = 28},
        {.name = "five",
         .parameters = 5,
         .activations = 6,
         .inputs = 3072,
         .beside = true,
         .shard = TRAINING_TABLES,
         .begins_block = true,
         .line = 30},
        {.name = "six",
         .parameters = 1,
         .activations = 2,
         .saved = 11,
         .saved_whole = 12,
         .recomputed = 13,
         .moved = 14,
         .backward_moved = 21,
         .moved_whole = 15,
         .recomputed_moved = 16,
         .products = 2,
         .flops = 2 * 3 * 2 * 5 + 2 * 7 * 11 * 13 * 4,
         .backward_flops = 2 * (2 * 3 * 2 * 5 + 2 * 7 * 11 * 13 * 4),
         .shard = TRAINING_COLUMNS,
         .begins_block = true,
         .line = 34},
        {.name = "seven",
         .parameters = 1,
         .activations = 2,
         .moved = 3,
         .backward_moved = 9,
         .keeps_all = true,
         .line = 39},
    };
    assert_int_equal(m->layers, sizeof layers / sizeof *layers);
    for (unsigned i = 0; i < m->layers; i++) {
        struct training_layer l = m->layer[i];
        assert_string_equal(l.name, layers[i].name);
        l.name = layers[i].name;
        assert_memory_equal(&l, &layers[i], sizeof l);
    }
    static const struct training_product products[] = {
        {.m = 2, .n = 3, .k = 5, .times = 1, .divided = TRAINING_COLUMNS_OF},
        {.m = 7, .n = 11, .k = 13, .times = 4, .divided = TRAINING_TIMES, .recomputed = true, .efficiency = 0.25}};
    assert_int_equal(m->products, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct training_product *p = &m->product[i];
        assert_true(p->m == products[i].m && p->n == products[i].n && p->k == products[i].k &&
                    p->times == products[i].times && p->divided == products[i].divided &&
                    p->recomputed == products[i].recomputed && p->efficiency == products[i].efficiency);
    }
    training_model_free(m);
}

#define ONE_LAYER "layers: [{name: x, parameters: 1, activations: 1, flops: 0}]\n"

static void the_last_layer_may_have_parameters_of_the_first(void **state)
{
    (void)state;
    struct training_model *m =
        read_model("model: m\nsamples: 1\nparallelism: {tensor: 2}\nlayers:\n"
                   "  - {name: x, parameters: 9, activations: 1, flops: 0, shard: columns}\n"
                   "  - {name: y, parameters: 8, tied: 7, activations: 1, flops: 0, shard: output}\n");
    assert_int_equal(m->layer[1].tied, 7);
    assert_int_equal(training_untied_parameters(m, &m->layer[1]), 0);
    assert_int_equal(training_tied_parameters(m), 0);
    m->parallel[TRAINING_PIPELINE] = 2;
    assert_int_equal(training_untied_parameters(m, &m->layer[1]), 4);
    assert_int_equal(training_tied_parameters(m), 4);
    training_model_free(m);
}

static void keys_that_are_left_out_have_defaults(void **state)
{
    (void)state;
    struct training_model *m = read_model("model: m\nsamples: 3\n" ONE_LAYER);
    static const enum training_axis order[] = {TRAINING_TENSOR, TRAINING_CONTEXT, TRAINING_DATA, TRAINING_PIPELINE};
    assert_memory_equal(m->order, order, sizeof order);
    assert_int_equal(training_ranks(m), 1);
    assert_int_equal(training_micro_samples(m), 3);
    assert_int_equal(m->sample_tokens, 0);
    assert_int_equal(m->iterations, 1);
    assert_int_equal(m->pipeline, TRAINING_1F1B);
    assert_int_equal(m->micro_batches * m->chunks * m->expert, 1);
    assert_null(m->stage_of);
    assert_int_equal(m->zero + m->gradient_bytes + m->update_ps, 0);
    assert_true(!m->sequence && !m->recompute && m->overlap && m->fuse_tables);
    assert_true(m->prefetch == 1 && m->tensor_splits == 1);
    assert_int_equal(m->activation_bytes, 2);
    assert_int_equal(m->gradient_element_bytes, 2);
    assert_int_equal(m->parameter_bytes, 2);
    assert_true(m->efficiency == 1);
    training_model_free(m);
}

static void repeated_layers_are_numbered_over_the_model(void **state)
{
    (void)state;
#define LAYER(name) "{name: " name ", parameters: 1, activations: 1, flops: 0}"
    struct training_model *m =
        read_model("model: m\nsamples: 1\nvalues: {n: 2}\nlayers:\n"
                   "  - " LAYER("begin") "\n"
                                         "  - " LAYER("a") "\n"
                                                           "  - repeat: n\n"
                                                           "    layers:\n"
                                                           "      - {repeat: n + 1, layers: [" LAYER(
                                                               "a") "]}\n"
                                                                    "      - " LAYER("b") "\n");
    static const char *const names[] = {"begin", "a 1", "a 2", "a 3", "a 4", "b 1", "a 5", "a 6", "a 7", "b 2"};
    assert_int_equal(m->layers, sizeof names / sizeof *names);
    for (unsigned i = 0; i < m->layers; i++)
        assert_string_equal(m->layer[i].name, names[i]);
    assert_int_equal(m->layer[6].line, 9);
    training_model_free(m);
}

static void options_replace_values_and_rate(void **state)
{
    (void)state;
    static const char text[] = "model: m\nvalues: {hidden: 8, width: 2 * hidden}\nsamples: width\n"
                               "accelerator: {flops: 1e12}\nparallelism: {data: 4}\n" ONE_LAYER;
    const struct schedule_read_options set = {.set = {.item = {"hidden=10"}, .count = 1}, .flops = 2e12, .ranks = 4};
    struct training_model *m = parse(text, &set);
    assert_int_equal(m->samples, 20);
    assert_true(m->flops == 2e12);
    training_model_free(m);
    const struct schedule_read_options unknown = {.set = {.item = {"hiden=10"}, .count = 1}};
    struct hx_problem p;
    assert_null(training_model_parse("x.yaml", text, strlen(text), &unknown, &p));
    assert_string_equal(p.what, "the file has no value 'hiden' (did you mean 'hidden'?)");
}

static void a_rate_is_a_number_with_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double flops;
    } cases[] = {{"312 TFLOPS", 312e12}, {"312TFLOPS", 312e12},      {"1.5 pflops", 1.5e15},
                 {"5e9", 5e9},           {"1979e12 FLOPS", 1979e12}, {"2.5e3 GFLOPS", 2.5e12}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "model: m\nsamples: 1\naccelerator: {flops: %s}\n" ONE_LAYER, cases[i].text);
        struct training_model *m = read_model(text);
        if (m->flops != cases[i].flops)
            fail_msg("%s: %g", cases[i].text, m->flops);
        training_model_free(m);
    }
}

/* ---- what follows ---- */

/* Tensor 4, context 2, data 3, experts on 6; micro-batches of 5 samples; 100 operations a second. */
static struct training_model model_of(struct training_layer *l, uint32_t layers)
{
    return (struct training_model){.layer = l,
                                   .layers = layers,
                                   .samples = 60,
                                   .iterations = 1,
                                   .parallel = {4, 2, 3, 2},
                                   .expert = 6,
                                   .micro_batches = 4,
                                   .chunks = 1,
                                   .flops = 200,
                                   .efficiency = 0.5};
}

static void computing_is_shared_by_the_ranks_of_a_sample(void **state)
{
    (void)state;
    static const uint64_t sharers[TRAINING_SHARDS] = {2, 8, 8, 8, 8, 2};
    for (unsigned shard = 0; shard < TRAINING_SHARDS; shard++) {
        struct training_layer l = {.flops = 16, .backward_flops = 24, .shard = (enum training_shard)shard};
        struct training_model m = model_of(&l, 1);
        assert_int_equal(training_micro_samples(&m), 5);
        assert_int_equal(training_forward_ps(&m, &l), 16 * 5 / sharers[shard] * 10000000000);
        assert_int_equal(training_backward_ps(&m, &l), 24 * 5 / sharers[shard] * 10000000000);
        m.recompute = TRAINING_RECOMPUTE_FULL;
        assert_int_equal(training_backward_ps(&m, &l), 40 * 5 / sharers[shard] * 10000000000);
    }
}

static void given_times_are_those_of_a_rank(void **state)
{
    (void)state;
    struct training_layer l = {.forward_ps = 7, .backward_ps = 11, .shard = TRAINING_COLUMNS};
    struct training_model m = model_of(&l, 1);
    assert_int_equal(training_forward_ps(&m, &l), 7);
    assert_int_equal(training_backward_ps(&m, &l), 11);
    m.recompute = TRAINING_RECOMPUTE_FULL;
    assert_int_equal(training_backward_ps(&m, &l), 18);
}

static void parameters_are_divided_and_rounded_up(void **state)
{
    (void)state;
    static const uint64_t own[TRAINING_SHARDS] = {1001, 251, 251, 1001, 42, 167};
    for (unsigned shard = 0; shard < TRAINING_SHARDS; shard++) {
        struct training_layer l = {.parameters = 1001, .shard = (enum training_shard)shard};
        struct training_model m = model_of(&l, 1);
        assert_int_equal(training_own_parameters(&m, &l), own[shard]);
        assert_int_equal(training_ranks(&m), 48);
    }
}

/* ---- errors ---- */

#define HEAD   "model: m\nsamples: 8\n"
#define LAYERS HEAD "layers:\n  - "
#define SIZES  "name: x, parameters: 1, activations: 1"

static void errors_name_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *what;
    } cases[] = {
        {"model: m\nsample: 8\n", "2:1", "unknown key 'sample' (did you mean 'samples'?)"},
        {"model: m\n" ONE_LAYER, "1:1", "key 'samples' is missing"},
        {"model: m\nsamples: 1\n", "1:1", "key 'layers' is missing"},
        {"model: ''\nsamples: 1\n", "1:9", "a name is expected"},
        {HEAD "layers: 3\n", "3:9", "a list of layers is expected here"},
        {HEAD "layers: []\n", "3:9", "a list of layers is expected here"},
        {"model: m\nsamples: 0\n" ONE_LAYER, "2:10", "0 is outside 1 .. 2147483648"},
        {HEAD "values: {a: 2, b: a * c}\n" ONE_LAYER, "3:23", "unknown name 'c'"},
        {HEAD "parallelism: 8\n" ONE_LAYER, "3:14", "a mapping of names to values is expected here"},
        {HEAD "parallelism: {tensr: 8}\n" ONE_LAYER, "3:15", "unknown key 'tensr' (did you mean 'tensor'?)"},
        {HEAD "parallelism: {data: 0}\n" ONE_LAYER, "3:21", "0 is outside 1 .. 1048576"},
        {HEAD "parallelism: {data: 3}\n" ONE_LAYER, "2:10",
         "8 samples are no multiple of data x micro-batches = 3 x 1 = 3 (for example 9)"},
        {HEAD "parallelism: {data: 2}\npipeline: {micro_batches: 8}\n" ONE_LAYER, "2:10",
         "8 samples are no multiple of data x micro-batches = 2 x 8 = 16 (for example 16)"},
        {HEAD "parallelism: {tensor: 4096, pipeline: 4096}\n" ONE_LAYER, "3:14",
         "tensor x context x data x pipeline = 4096 x 1 x 1 x 4096 are more than 1048576 ranks"},
        {HEAD "parallelism: {context: 4, data: 2, expert: 6}\n" ONE_LAYER, "3:44",
         "expert: 6 is no divisor of context x data = 4 x 2 = 8 (for example 4)"},
        {HEAD "parallelism: {data: 2, expert: 6}\n" ONE_LAYER, "3:32",
         "expert: 6 is no divisor of context x data = 1 x 2 = 2 (for example 2)"},
        {HEAD "parallelism: {order: tensor}\n" ONE_LAYER, "3:22",
         "a list is expected here: [tensor, context, data, pipeline]"},
        {HEAD "parallelism: {order: [tensor, dat]}\n" ONE_LAYER, "3:31", "unknown word 'dat' (did you mean 'data'?)"},
        {HEAD "parallelism: {order: [data, data]}\n" ONE_LAYER, "3:29", "'data' is named twice"},
        {HEAD "parallelism: {tensor: 2}\n" ONE_LAYER, "3:23",
         "tensor: 2, but no layer has 'shard: columns', 'output', 'space' or 'experts'"},
        {HEAD "parallelism: {context: 2}\n" ONE_LAYER, "3:24", "context: 2, but no layer has 'context'"},
        {HEAD "parallelism: {data: 2, expert: 2}\n" ONE_LAYER, "3:32", "expert: 2, but no layer has 'shard: experts'"},
        {HEAD "pipeline: {schedule: 1f2b}\n" ONE_LAYER, "3:22", "unknown word '1f2b' (did you mean '1f1b'?)"},
        {HEAD "pipeline: {chunks: 2}\n" ONE_LAYER, "3:20", "2 chunks need 'schedule: interleaved'"},
        {HEAD "parallelism: {pipeline: 3}\npipeline: {schedule: interleaved, micro_batches: 2, chunks: 2}\n" ONE_LAYER,
         "4:22", "'interleaved' needs a micro-batch for each of the 3 stages: 2 are too few (for example 3)"},
        {HEAD "pipeline: {schedule: gpipe, pairs: true}\n" ONE_LAYER, "3:36",
         "'gpipe' has no forward pass beside a backward pass ('schedule: 1f1b' has)"},
        {HEAD "pipeline: {layers: [1, 1]}\n" ONE_LAYER, "3:20",
         "a list of 1 numbers of layers is expected here (pipeline x chunks)"},
        {HEAD "pipeline: {layers: [2]}\n" ONE_LAYER, "3:20", "stages of 2 layers, but the model has 1"},
        {HEAD "zero: 4\n" ONE_LAYER, "3:7", "4 is outside 0 .. 3"},
        {HEAD "recompute: some\n" ONE_LAYER, "3:12", "'some' is none of true, selective, false"},
        {HEAD "accelerator: {memory_bandwidth: fast}\n" ONE_LAYER, "3:33",
         "'fast' is no rate of 1 .. 1e21 bytes a second (write for example 2039 GB/s or 2.039e12)"},
        {HEAD "accelerator: {kernels: {inner: 3}}\n" ONE_LAYER, "3:24", "key 'efficiency' is missing"},
        {LAYERS "{" SIZES ", products: 3}", "4:56",
         "a list of products is expected here: [{m: 2048, n: 4096, k: 1024}]"},
        {LAYERS "{" SIZES ", products: [{m: 1, n: 1}]}", "4:57", "key 'k' is missing"},
        {LAYERS "{" SIZES ", flops: 1, products: [{m: 1, n: 1, k: 1}]}", "4:56",
         "give 'products', 'flops' or 'forward', one of them"},
        {HEAD "overlap: maybe\n" ONE_LAYER, "3:10", "'maybe' is neither true nor false"},
        {HEAD "accelerator: {flops: fast}\n" ONE_LAYER, "3:22",
         "'fast' is no rate of 1 .. 1e21 operations a second (write for example 312 TFLOPS or 312e12)"},
        {HEAD "accelerator: {flops: 312 TB}\n" ONE_LAYER, "3:22",
         "'312 TB' is no rate of 1 .. 1e21 operations a second (write for example 312 TFLOPS or 312e12)"},
        {HEAD "accelerator: {efficiency: 50}\n" ONE_LAYER, "3:27", "50 is outside 0 .. 1"},
        {HEAD "accelerator: {efficiency: 0}\n" ONE_LAYER, "3:27", "a share of 0 (above 0, at most 1)"},
        {HEAD "update: 3\n" ONE_LAYER, "3:9", "a time is expected, with a unit: 15.9 ms, 10us"},
        {HEAD "algorithms: {tensor: rng}\n" ONE_LAYER, "3:22", "unknown word 'rng' (did you mean 'ring'?)"},
        {HEAD "algorithms: {pipeline: ring}\n" ONE_LAYER, "3:14", "unknown key 'pipeline'"},
        {HEAD "bytes: {gradients: 17}\n" ONE_LAYER, "3:20", "17 is outside 1 .. 16"},
        {LAYERS "mlp", "4:5",
         "a layer is expected here, for example {name: x, parameters: 9, activations: 3, flops: 18}"},
        {LAYERS "{parameters: 3}", "4:5", "key 'name' is missing"},
        {LAYERS "{name: mlp, paramters: 3}", "4:17", "unknown key 'paramters' (did you mean 'parameters'?)"},
        {LAYERS "{name: mlp, activations: 2, flops: 1}", "4:5",
         "layer 'mlp' has no size: key 'parameters' is missing (elements, 0 if there are none)"},
        {LAYERS "{name: mlp, parameters: 2, flops: 1}", "4:5",
         "layer 'mlp' has no size: key 'activations' is missing (elements, 0 if there are none)"},
        {LAYERS "{" SIZES ", flops: 0, shard: experts}", "4:5",
         "layer 'x' has no size: key 'routed' is missing (elements, 0 if there are none)"},
        {LAYERS "{" SIZES ", flops: 0, halo: 3}", "4:56", "key 'halo' needs 'shard: space'"},
        {LAYERS "{" SIZES "}", "4:5",
         "layer 'x' does not say what it computes: give 'flops', or the times 'forward' and 'backward'"},
        {LAYERS "{" SIZES ", flops: 0, forward: 1 ms}", "4:56", "give 'flops' or 'forward', not both"},
        {LAYERS "{" SIZES ", flops: 0, backward: 1 ms}", "4:56", "key 'backward' needs 'forward'"},
        {LAYERS "{" SIZES ", forward: 1 ms, backward_flops: 3}", "4:61", "key 'backward_flops' needs 'flops'"},
        {LAYERS "{" SIZES ", flops: 7}", "4:53",
         "operations without a rate: give accelerator: {flops: 312 TFLOPS}, or --flops"},
        {LAYERS "{" SIZES ", forward: 21 s * 3600}", "4:55",
         "'21 s * 3600' is 75600000000000000, outside 0 .. 72057594037927936"},
        {HEAD "accelerator: {flops: 1}\nlayers: [{" SIZES ", flops: 10000}]\n", "4:10",
         "layer 'x' computes for 44.4 hours a pass (at most 20)"},
        {HEAD "parallelism: {tensor: 6}\nlayers: [{" SIZES ", flops: 0, shard: space, halo: 1}]\n", "4:68",
         "'space' needs a tensor degree that is a power of two, not 6"},
        {LAYERS "{name: x, parameters: 1, activations: power(2, 40), flops: 0}", "4:52",
         "unknown key '40)' (quote an expression that has a comma)"},
        {LAYERS "{name: x, parameters: 1, activations: 1048576 * 1048576, flops: 0}", "4:43",
         "a vector of 1.76e+13 bytes at a rank, of a micro-batch of 8 (at most 2.2e+12)"},
        {LAYERS "{" SIZES ", flops: 0, inputs: -1}", "4:64", "'-1' is -1, outside 0 .. 4611686018427387904"},
        {LAYERS "{" SIZES ", flops: 0, inputs: 1048576 * 1048576}", "4:64",
         "a vector of 1.76e+13 bytes at a rank, of a micro-batch of 8 (at most 2.2e+12)"},
        {LAYERS "{" SIZES ", flops: 0, beside: maybe}", "4:64", "'maybe' is neither true nor false"},
        {LAYERS "{" SIZES ", flops: 0, besides: true}", "4:56", "unknown key 'besides' (did you mean 'beside'?)"},
        {LAYERS "{" SIZES ", flops: 0, tied: 1}", "4:56",
         "only the model's last layer has 'tied' parameters, which are the first layer's"},
        {LAYERS "{" SIZES ", flops: 0}\n  - {" SIZES ", flops: 0, tied: 1}\n  - {" SIZES ", flops: 0}", "5:56",
         "only the model's last layer has 'tied' parameters, which are the first layer's"},
        {LAYERS "{" SIZES ", flops: 0}\n  - {repeat: 2, layers: [{" SIZES ", flops: 0, tied: 1}]}", "5:77",
         "only the model's last layer has 'tied' parameters, which are the first layer's"},
        {LAYERS "{" SIZES ", flops: 0}\n  - {name: y, parameters: 3, activations: 1, flops: 0, tied: 2}", "5:62",
         "2 tied parameters, but layer 'x' has 1 and layer 'y' 3"},
        {LAYERS "{" SIZES ", flops: 0, shard: columns}\n  - {" SIZES ", flops: 0, tied: 1}", "5:62",
         "tied parameters need 'shard: whole' of the first and the last layer, or 'columns' or 'output' of both"},
        {LAYERS "{repeat: 2}", "4:5", "key 'layers' is missing"},
        {LAYERS "{repeat: 2, name: x}", "4:17", "unknown key 'name'"},
        {LAYERS "{repeat: 0, layers: [{" SIZES ", flops: 0}]}", "4:14", "0 is outside 1 .. 65536"},
        {LAYERS "{repeat: 300, layers: [{repeat: 300, layers: [{" SIZES ", flops: 0}]}]}", "4:5",
         "more than 65536 layers"},
        {"model: m\nsamples: 1048576\npipeline: {micro_batches: 1048576}\nlayers:\n"
         "  - {repeat: 5, layers: [{" SIZES ", flops: 0}]}",
         "3:27", "5 layers x 1048576 micro-batches exceed 4194304 (fewer micro-batches)"},
    };
    const struct schedule_read_options none = {.ranks = 0};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_problem p = {.what = ""};
        struct training_model *m = training_model_parse("x", cases[i].text, strlen(cases[i].text), &none, &p);
        if (m)
            fail_msg("%s is accepted", cases[i].text);
        if (strcmp(p.where + 2, cases[i].place) != 0 || strcmp(p.what, cases[i].what) != 0)
            fail_msg("%s\n%s: %s", cases[i].text, p.where, p.what);
        assert_int_equal(p.exit_code, HX_EXIT_CONFIG);
    }
}

static void degrees_that_are_not_the_ranks_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t ranks;
        const char *what;
    } cases[] = {{64, "tensor x context x data x pipeline = 1 x 1 x 8 x 2 are 16 ranks, and --ranks is 64 (for these: "
                      "data: 32)"},
                 {9, "tensor x context x data x pipeline = 1 x 1 x 8 x 2 are 16 ranks, and --ranks is 9 (change a "
                     "degree)"}};
    static const char text[] = HEAD "parallelism: {data: 8, pipeline: 2}\n" ONE_LAYER;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct schedule_read_options options = {.ranks = cases[i].ranks};
        struct hx_problem p;
        assert_null(training_model_parse("x", text, strlen(text), &options, &p));
        assert_string_equal(p.where, "x:3:14");
        assert_string_equal(p.what, cases[i].what);
    }
}

/* Parameters as published, in thousands of millions. */
static void the_examples_have_the_published_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t ranks;
        double parameters, within;
    } cases[] = {{"gpt-13b", 128, 13.0, 0.2},
                 {"mixtral-8x7b", 64, 46.7, 0.05},
                 {"transformer-17b", 1024, 17.2, 0.05},
                 {"gpt3-175b", 1024, 174.6, 0.05},
                 {"transformer-1t", 1024, 1008.0, 0.05},
                 {"llama3-70b", 1024, 70.55, 0.05},
                 {"llama3-405b", 4096, 405.85, 0.05},
                 {"llama3-8b", 4096, 8.03, 0.005},
                 {"deepseek-v3", 2048, 671.0 + 11.5, 0.1}, /* with the block that predicts a second token */
                 {"vgg16", 128, 0.138357544, 1e-12},
                 {"resnet50", 128, 0.025557032, 1e-12},
                 {"bert-topoopt", 128, 0.1673, 1e-3},
                 {"candle", 128, 6.443, 1e-3},
                 {"dlrm-topoopt", 128, 82.247, 1e-3},
                 {"ncf", 128, 12.439, 1e-3}};
    const struct schedule_read_options none = {.ranks = 0};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[128];
        struct hx_problem p = {.what = ""};
        double parameters = 0;
        (void)snprintf(path, sizeof path, "examples/models/%s.model.yaml", cases[i].file);
        struct training_model *m = training_model_read(path, &none, &p);
        if (!m) {
            fail_msg("%s: %s", p.where, p.what);
            return;
        }
        for (uint32_t l = 0; l < m->layers; l++)
            parameters += (double)(m->layer[l].parameters - m->layer[l].tied) / 1e9;
        if (fabs(parameters - cases[i].parameters) > cases[i].within)
            fail_msg("%s: %g", path, parameters);
        assert_int_equal(training_ranks(m), cases[i].ranks);
        training_model_free(m);
    }
}

/* Of a forward pass, as published in multiplications with an addition: 3.8e9 of ResNet-50, 15.3e9 of VGG16 (He et al.
 * 2016). */
static void convolutions_have_the_published_operations(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        double pairs, within;
    } cases[] = {{"examples/models/resnet50.model.yaml", 3.8e9, 0.1e9},
                 {"examples/models/vgg16.model.yaml", 15.3e9, 0.2e9}};
    const struct schedule_read_options none = {.ranks = 0};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hx_problem p = {.what = ""};
        double flops = 0;
        struct training_model *m = training_model_read(cases[i].path, &none, &p);
        if (!m) {
            fail_msg("%s: %s", p.where, p.what);
            return;
        }
        for (uint32_t l = 0; l < m->layers; l++)
            flops += m->layer[l].flops;
        if (fabs(flops / 2 - cases[i].pairs) > cases[i].within)
            fail_msg("%s: %g", cases[i].path, flops / 2);
        training_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_reaches_its_field),
        cmocka_unit_test(the_last_layer_may_have_parameters_of_the_first),
        cmocka_unit_test(keys_that_are_left_out_have_defaults),
        cmocka_unit_test(repeated_layers_are_numbered_over_the_model),
        cmocka_unit_test(options_replace_values_and_rate),
        cmocka_unit_test(a_rate_is_a_number_with_a_unit),
        cmocka_unit_test(computing_is_shared_by_the_ranks_of_a_sample),
        cmocka_unit_test(given_times_are_those_of_a_rank),
        cmocka_unit_test(parameters_are_divided_and_rounded_up),
        cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(degrees_that_are_not_the_ranks_are_refused),
        cmocka_unit_test(the_examples_have_the_published_sizes),
        cmocka_unit_test(convolutions_have_the_published_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
