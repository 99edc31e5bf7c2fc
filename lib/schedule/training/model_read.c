/* model_read.c - reads models: format "model", files *.model.yaml; `model` is their first key.
 *
 *     model: NAME
 *     values: {NAME: VALUE, ...}             each may use those above it; --set NAME=VALUE replaces one
 *     samples: NUMBER                        of an iteration, of all replicas
 *     tokens: NUMBER                         of a sample (0)
 *     iterations: NUMBER                     (1)
 *     accelerator: {flops: RATE,             operations a second: 312 TFLOPS, 312e12; --flops replaces it
 *                   efficiency: SHARE,       0.5 (1)
 *                   kernels: {efficiency: SHARE, inner: NUMBER, outer: NUMBER},   of products (efficiency alone)
 *                   memory: BYTES, reserved: BYTES, memory_bandwidth: RATE}       2039 GB/s
 *     parallelism: {tensor: NUMBER, context: NUMBER, data: NUMBER, pipeline: NUMBER, expert: NUMBER,    (each 1)
 *                   order: [AXIS, ...]}      tensor, context, data, pipeline: neighbouring ranks first
 *     pipeline: {schedule: gpipe | 1f1b | interleaved,                      (1f1b)
 *                micro_batches: NUMBER, chunks: NUMBER,                     (1, 1)
 *                layers: [NUMBER, ...],      of each virtual stage (balanced)
 *                pairs: BOOLEAN}             (false)
 *     zero: NUMBER                           stage, 0 .. 3 (0)
 *     sequence_parallel: BOOLEAN             (false)
 *     recompute: true | selective | false    (false)
 *     overlap: BOOLEAN                       (true)
 *     gradient_group: BYTES                  (0)
 *     bytes: {activations: NUMBER, gradients: NUMBER, parameters: NUMBER,   of an element (2)
 *             optimizer: NUMBER}                                            of a parameter (12)
 *     update: TIME                           (0)
 *     algorithms: {tensor: ALGORITHM, context: ..., data: ..., expert: ...} (best)
 *     layers: [LAYER | {repeat: NUMBER, layers: [...]}, ...]
 *     LAYER   {name: NAME, parameters: NUMBER, activations: NUMBER, shard: SHARD (whole),
 *              flops: NUMBER, backward_flops: NUMBER (2 x flops)
 *              or forward: TIME, backward: TIME (2 x forward)
 *              or products: [{m: NUMBER, n: NUMBER, k: NUMBER, times: NUMBER (1), divided: m | n | k | times | none,
 *                             recomputed: BOOLEAN (false), efficiency: SHARE}, ...]
 *              saved, saved_whole, recomputed, moved, moved_whole, recomputed_moved: BYTES of a sample (0),
 *              halo: NUMBER with shard space, routed: NUMBER and loads: [NUMBER, ...] with shard experts,
 *              context: NUMBER,
 *              inputs: NUMBER (0), beside: BOOLEAN (false), keeps_all: BOOLEAN (false)}
 *
 * NUMBER, BYTES and TIME are expressions (schedule/expression.h) of the values. */
#include "base/input.h"
#include "base/value.h"
#include "schedule/training/model_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HALF = 1 << 30 /* elements at which a product has half of the efficiency */ };
enum {
    LARGEST_FILE = 1 << 20,
    MOST_ITERATIONS = 1 << 20,
    MOST_CHUNKS = 1 << 16,
    MOST_ELEMENT = 16,
    MOST_OPTIMIZER = 64
};
#define MOST_SAMPLES (INT64_C(1) << 31)

/* ---- parallelism ---- */

/* Axes that are not named come last. */
static bool read_order(struct model_reader *r, const struct hx_yaml_item *list)
{
    struct script *s = &r->script;
    struct training_model *m = r->model;
    bool is_named[TRAINING_AXES] = {false};
    unsigned count = 0;
    if (list && list->shape != HX_YAML_LIST)
        return script_fail(s, list, 0, "a list is expected here: [tensor, context, data, pipeline]");
    for (const struct hx_yaml_item *entry = list ? hx_yaml_first(list) : NULL; entry;
         entry = hx_yaml_next(list, entry)) {
        unsigned axis;
        if (!script_choice(s, entry, training_axis_names, &axis))
            return false;
        if (is_named[axis])
            return script_fail(s, entry, 0, "'%s' is named twice", training_axis_names[axis]);
        is_named[axis] = true;
        m->order[count++] = (enum training_axis)axis;
    }
    for (unsigned axis = 0; axis < TRAINING_AXES; axis++) {
        if (!is_named[axis])
            m->order[count++] = (enum training_axis)axis;
    }
    return true;
}

/* item: where a degree can be mended. */
static bool check_ranks(const struct model_reader *r, const struct hx_yaml_item *item, uint64_t wanted)
{
    const uint32_t *degree = r->model->parallel;
    uint64_t ranks = 1;
    char product[96];
    for (unsigned axis = 0; axis < TRAINING_AXES; axis++)
        ranks = ranks > SCHEDULE_MOST_RANKS ? ranks : ranks * degree[axis];
    (void)snprintf(product, sizeof product,
                   "tensor x context x data x pipeline = %" PRIu32 " x %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                   degree[TRAINING_TENSOR], degree[TRAINING_CONTEXT], degree[TRAINING_DATA], degree[TRAINING_PIPELINE]);
    if (ranks > SCHEDULE_MOST_RANKS)
        return script_fail(&r->script, item, 0, "%s are more than %d ranks", product, SCHEDULE_MOST_RANKS);
    if (!wanted || wanted == ranks)
        return true;
    uint64_t others = ranks / degree[TRAINING_DATA];
    if (wanted % others == 0)
        return script_fail(&r->script, item, 0,
                           "%s are %" PRIu64 " ranks, and --ranks is %" PRIu64 " (for these: data: "
                           "%" PRIu64 ")",
                           product, ranks, wanted, wanted / others);
    return script_fail(&r->script, item, 0, "%s are %" PRIu64 " ranks, and --ranks is %" PRIu64 " (change a degree)",
                       product, ranks, wanted);
}

static bool check_expert(const struct model_reader *r, const struct hx_yaml_item *mapping)
{
    const struct training_model *m = r->model;
    uint32_t context = m->parallel[TRAINING_CONTEXT];
    uint32_t data = m->parallel[TRAINING_DATA];
    uint64_t replicas = (uint64_t)context * data;
    if (replicas % m->expert == 0)
        return true;
    uint64_t divisor = m->expert < replicas ? m->expert : replicas;
    while (replicas % divisor)
        divisor--;
    return script_fail(&r->script, script_key(mapping, "expert"), 0,
                       "expert: %" PRIu32 " is no divisor of context x data = %" PRIu32 " x %" PRIu32 " = %" PRIu64
                       " (for example %" PRIu64 ")",
                       m->expert, context, data, replicas, divisor);
}

static bool read_parallelism(struct model_reader *r, const struct hx_yaml_item *top, uint64_t ranks)
{
    static const char *const words[] = {"tensor", "context", "data", "pipeline", "expert", "order", NULL};
    struct script *s = &r->script;
    struct training_model *m = r->model;
    const struct hx_yaml_item *item;
    if (!model_mapping(s, top, "parallelism", words, &item))
        return false;
    for (unsigned axis = 0; item && axis < TRAINING_AXES; axis++) {
        if (!model_number32(s, item, training_axis_names[axis], 1, SCHEDULE_MOST_RANKS, &m->parallel[axis]))
            return false;
    }
    if (item && !model_number32(s, item, "expert", 1, SCHEDULE_MOST_RANKS, &m->expert))
        return false;
    return read_order(r, item ? script_key(item, "order") : NULL) && check_ranks(r, item ? item : top, ranks) &&
           check_expert(r, item);
}

/* ---- pipeline and batches ---- */

static bool check_pipeline(const struct model_reader *r, const struct hx_yaml_item *item)
{
    const struct training_model *m = r->model;
    uint32_t stages = m->parallel[TRAINING_PIPELINE];
    if (m->chunks > 1 && m->pipeline != TRAINING_INTERLEAVED)
        return script_fail(&r->script, script_key(item, "chunks"), 0, "%" PRIu32 " chunks need 'schedule: interleaved'",
                           m->chunks);
    if (m->pairs && m->pipeline == TRAINING_GPIPE)
        return script_fail(&r->script, script_key(item, "pairs"), 0,
                           "'gpipe' has no forward pass beside a backward pass ('schedule: 1f1b' has)");
    if (m->chunks > 1 && m->micro_batches < stages)
        return script_fail(&r->script, script_key(item, "schedule"), 0,
                           "'interleaved' needs a micro-batch for each of the %" PRIu32 " stages: %" PRIu32
                           " are too few (for example %" PRIu32 ")",
                           stages, m->micro_batches, stages);
    return true;
}

static bool read_pipeline(struct model_reader *r, const struct hx_yaml_item *top)
{
    static const char *const words[] = {"schedule", "micro_batches", "chunks", "layers", "pairs", NULL};
    struct script *s = &r->script;
    struct training_model *m = r->model;
    const struct hx_yaml_item *item;
    unsigned schedule = TRAINING_1F1B;
    if (!model_mapping(s, top, "pipeline", words, &item))
        return false;
    if (item &&
        !(model_choice(s, item, "schedule", training_pipeline_names, &schedule) &&
          model_number32(s, item, "micro_batches", 1, TRAINING_MOST_PASSES, &m->micro_batches) &&
          model_number32(s, item, "chunks", 1, MOST_CHUNKS, &m->chunks) && model_switch(s, item, "pairs", &m->pairs)))
        return false;
    m->pipeline = (enum training_pipeline)schedule;
    return !item || check_pipeline(r, item);
}

static bool read_samples(struct model_reader *r, const struct hx_yaml_item *top)
{
    struct script *s = &r->script;
    struct training_model *m = r->model;
    const struct hx_yaml_item *item = script_need(s, top, "samples");
    if (!item || !model_number(s, top, "samples", 1, MOST_SAMPLES, &m->samples) ||
        !model_number(s, top, "tokens", 0, MOST_SAMPLES, &m->sample_tokens) ||
        !model_number32(s, top, "iterations", 1, MOST_ITERATIONS, &m->iterations))
        return false;
    uint64_t batches = (uint64_t)m->parallel[TRAINING_DATA] * m->micro_batches;
    if (m->samples % batches == 0)
        return true;
    return script_fail(s, item, 0,
                       "%" PRIu64 " samples are no multiple of data x micro-batches = %" PRIu32 " x %" PRIu32
                       " = %" PRIu64 " (for example %" PRIu64 ")",
                       m->samples, m->parallel[TRAINING_DATA], m->micro_batches, batches,
                       (m->samples / batches + 1) * batches);
}

/* Gives layers the stages of a list of their numbers. */
static bool read_stages(struct model_reader *r, const struct hx_yaml_item *list)
{
    struct script *s = &r->script;
    struct training_model *m = r->model;
    uint64_t stages = (uint64_t)m->parallel[TRAINING_PIPELINE] * m->chunks;
    uint64_t layers = 0;
    uint32_t stage = 0;
    if (list->shape != HX_YAML_LIST || list->entries != stages)
        return script_fail(s, list, 0, "a list of %" PRIu64 " numbers of layers is expected here (pipeline x chunks)",
                           stages);
    m->stage_of = hx_allocate(m->layers, sizeof *m->stage_of);
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry), stage++) {
        uint64_t count = 0;
        if (!model_evaluate(s, entry, EXPRESSION_NUMBER, 1, TRAINING_MOST_LAYERS, &count))
            return false;
        for (uint64_t i = 0; i < count && layers + i < m->layers; i++)
            m->stage_of[layers + i] = stage;
        layers += count;
    }
    return layers == m->layers ||
           script_fail(s, list, 0, "stages of %" PRIu64 " layers, but the model has %" PRIu32, layers, m->layers);
}

/* ---- how it is trained ---- */

static bool read_kernels(struct model_reader *r, const struct hx_yaml_item *accelerator)
{
    static const char *const words[] = {"efficiency", "inner", "outer", NULL};
    struct script *s = &r->script;
    struct training_kernels *k = &r->model->kernels;
    const struct hx_yaml_item *item;
    uint64_t inner = 0;
    uint64_t outer = 0;
    if (!model_mapping(s, accelerator, "kernels", words, &item) || !item)
        return !script_key(accelerator, "kernels");
    if (!script_need(s, item, "efficiency") || !model_share(s, item, "efficiency", &k->efficiency) ||
        !model_number(s, item, "inner", 0, MOST_HALF, &inner) || !model_number(s, item, "outer", 0, MOST_HALF, &outer))
        return false;
    k->inner = (double)inner;
    k->outer = (double)outer;
    return true;
}

static bool read_accelerator(struct model_reader *r, const struct hx_yaml_item *top, double flops)
{
    static const char *const words[] = {"flops",    "efficiency",       "kernels", "memory",
                                        "reserved", "memory_bandwidth", NULL};
    struct script *s = &r->script;
    struct training_model *m = r->model;
    const struct hx_yaml_item *item;
    if (!model_mapping(s, top, "accelerator", words, &item))
        return false;
    if (item && !(model_rate(s, item, "flops", &m->flops) && model_share(s, item, "efficiency", &m->efficiency) &&
                  model_number(s, item, "memory", 1, SCRIPT_MOST_NUMBER, &m->memory) &&
                  model_number(s, item, "reserved", 0, SCRIPT_MOST_NUMBER, &m->reserved) &&
                  model_bandwidth(s, item, "memory_bandwidth", &m->memory_bandwidth) && read_kernels(r, item)))
        return false;
    if (flops > 0)
        m->flops = flops;
    return true;
}

static bool read_element_bytes(struct model_reader *r, const struct hx_yaml_item *top)
{
    static const char *const words[] = {"activations", "gradients", "parameters", "optimizer", NULL};
    struct script *s = &r->script;
    struct training_model *m = r->model;
    const struct hx_yaml_item *item;
    return model_mapping(s, top, "bytes", words, &item) &&
           (!item || (model_number32(s, item, "activations", 1, MOST_ELEMENT, &m->activation_bytes) &&
                      model_number32(s, item, "gradients", 1, MOST_ELEMENT, &m->gradient_element_bytes) &&
                      model_number32(s, item, "parameters", 1, MOST_ELEMENT, &m->parameter_bytes) &&
                      model_number32(s, item, "optimizer", 0, MOST_OPTIMIZER, &m->optimizer_bytes)));
}

static bool read_algorithms(struct model_reader *r, const struct hx_yaml_item *top)
{
    static const char *const words[] = {"tensor", "context", "data", "expert", NULL};
    static const unsigned index[] = {TRAINING_TENSOR, TRAINING_CONTEXT, TRAINING_DATA, TRAINING_AXES};
    const struct hx_yaml_item *item;
    if (!model_mapping(&r->script, top, "algorithms", words, &item))
        return false;
    for (unsigned i = 0; item && words[i]; i++) {
        if (!model_choice(&r->script, item, words[i], hx_algorithm_names, &r->model->algorithm[index[i]]))
            return false;
    }
    return true;
}

static bool read_training(struct model_reader *r, const struct hx_yaml_item *top)
{
    struct script *s = &r->script;
    struct training_model *m = r->model;
    return model_number32(s, top, "zero", 0, 3, &m->zero) && model_switch(s, top, "sequence_parallel", &m->sequence) &&
           model_recompute(s, top, "recompute", &m->recompute) && model_switch(s, top, "overlap", &m->overlap) &&
           model_number32(s, top, "prefetch", 0, TRAINING_MOST_PREFETCH, &m->prefetch) &&
           model_number32(s, top, "tensor_splits", 1, TRAINING_MOST_SPLITS, &m->tensor_splits) &&
           model_number(s, top, "gradient_group", 0, (int64_t)TRAINING_MOST_BYTES, &m->gradient_bytes) &&
           model_switch(s, top, "fuse_tables", &m->fuse_tables) && read_element_bytes(r, top) &&
           model_time(s, top, "update", &m->update_ps) && read_algorithms(r, top);
}

/* ---- file ---- */

/* Refuses a degree that no layer uses: the layers say what they send. */
static bool check_use(const struct model_reader *r, const struct hx_yaml_item *top)
{
    const struct training_model *m = r->model;
    bool is_shared = false;
    bool has_context = false;
    bool has_experts = false;
    const struct hx_yaml_item *parallelism = script_key(top, "parallelism");
    for (uint32_t i = 0; i < m->layers; i++) {
        const struct training_layer *l = &m->layer[i];
        is_shared |= l->shard != TRAINING_WHOLE && l->shard != TRAINING_TABLES;
        has_context |= l->context > 0;
        has_experts |= l->shard == TRAINING_EXPERTS;
    }
    const struct {
        const char *word, *key;
        uint32_t degree;
        bool is_used;
    } degrees[] = {
        {"tensor", "shard: columns', 'output', 'space' or 'experts", m->parallel[TRAINING_TENSOR], is_shared},
        {"context", "context", m->parallel[TRAINING_CONTEXT], has_context},
        {"expert", "shard: experts", m->expert, has_experts}};
    for (unsigned i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        if (degrees[i].degree > 1 && !degrees[i].is_used)
            return script_fail(&r->script, script_key(parallelism, degrees[i].word), 0,
                               "%s: %" PRIu32 ", but no layer has '%s'", degrees[i].word, degrees[i].degree,
                               degrees[i].key);
    }
    uint64_t passes = (uint64_t)m->layers * m->micro_batches;
    return passes <= TRAINING_MOST_PASSES ||
           script_fail(&r->script, script_key(script_key(top, "pipeline"), "micro_batches"), 0,
                       "%" PRIu32 " layers x %" PRIu32 " micro-batches exceed %d (fewer micro-batches)", m->layers,
                       m->micro_batches, TRAINING_MOST_PASSES);
}

static bool read_file(struct model_reader *r, const struct schedule_read_options *options)
{
    static const char *const words[] = {
        "model",       "values",      "samples",        "tokens",     "iterations",
        "accelerator", "parallelism", "pipeline",       "zero",       "sequence_parallel",
        "recompute",   "overlap",     "gradient_group", "prefetch",   "tensor_splits",
        "fuse_tables", "bytes",       "update",         "algorithms", "layers",
        NULL};
    struct script *s = &r->script;
    const struct hx_yaml_item *top = s->tree.items;
    const struct hx_yaml_item *stages = NULL;
    const struct hx_yaml_item *layers = NULL;
    if (!script_expect_mapping(s, top, "values") || !script_check_keys(s, top, words) ||
        !model_text(s, top, "model", &r->model->name) ||
        !script_parameters_read(s, script_key(top, "values"), "value", &options->set) || !script_set_parameters(s, 0))
        return false;
    layers = script_need(s, top, "layers");
    if (!layers || !read_accelerator(r, top, options->flops) || !read_parallelism(r, top, options->ranks) ||
        !read_pipeline(r, top) || !read_samples(r, top) || !read_training(r, top) || !model_layers_read(r, layers) ||
        !check_use(r, top))
        return false;
    if (script_key(top, "pipeline"))
        stages = script_key(script_key(top, "pipeline"), "layers");
    return !stages || read_stages(r, stages);
}

static void free_reader(struct model_reader *r)
{
    script_parameters_free(&r->script);
    hx_yaml_free(&r->script.tree);
    free(r->base);
    free(r);
}

struct training_model *training_model_parse(const char *path, const char *text, size_t bytes,
                                            const struct schedule_read_options *options, struct hx_problem *problem)
{
    struct model_reader *r = hx_allocate(1, sizeof *r);
    struct training_model *m = hx_allocate(1, sizeof *m);
    *m = (struct training_model){.path = path,
                                 .iterations = 1,
                                 .parallel = {1, 1, 1, 1},
                                 .expert = 1,
                                 .micro_batches = 1,
                                 .chunks = 1,
                                 .prefetch = 1,
                                 .tensor_splits = 1,
                                 .overlap = true,
                                 .fuse_tables = true,
                                 .activation_bytes = 2,
                                 .gradient_element_bytes = 2,
                                 .parameter_bytes = 2,
                                 .optimizer_bytes = 12,
                                 .efficiency = 1};
    r->model = m;
    r->script.problem = problem;
    r->script.no_rank_yet = true;
    r->script.scope.name = r->script.name;
    if (!hx_yaml_parse(&r->script.tree, path, text, bytes, problem) || !read_file(r, options)) {
        training_model_free(m);
        m = NULL;
    }
    free_reader(r);
    return m;
}

struct training_model *training_model_read(const char *path, const struct schedule_read_options *options,
                                           struct hx_problem *problem)
{
    char *text = NULL;
    size_t bytes = 0;
    if (!hx_input_read(path, LARGEST_FILE, "model", &text, &bytes, problem))
        return NULL;
    struct training_model *m = training_model_parse(path, text, bytes, options, problem);
    free(text);
    return m;
}
