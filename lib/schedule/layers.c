/* layers.c - reads workloads of ASTRA-sim 1 and SimAI: a text with a line for each layer.
 *
 *     file   = POLICY { KEY VALUE } NL  NUMBER-OF-LAYERS NL  { layer NL }
 *     layer  = NAME RESERVED  part part part  UPDATE-TIME  [ POLICY ]     the parts: forward, input gradient, weight
 *     part   = COMPUTE-TIME COLLECTIVE BYTES                              gradient; POLICY: of HYBRID_CUSTOMIZED only
 *     COLLECTIVE = NONE | (ALLREDUCE | ALLTOALL | ALLGATHER | REDUCESCATTER | BROADCAST) [ _EP | _DP_EP ]
 *     KEY    = model_parallel_NPU_group: TP | ep: EP | expert_parallel_npu_group: EP | pp: PP | vpp: N | ga: N
 *            | all_gpus: RANKS | pp_comm[:] BYTES
 *            | checkpoints: N LAYER... | checkpoint_initiates: N LAYER...
 *            | [ DLRM_LAST_BOTTOM_LAYER: ] LAYER                          of HYBRID_DLRM
 *     POLICY = MICRO | DATA | MODEL | HYBRID_DATA_MODEL | HYBRID_MODEL_DATA | HYBRID_DLRM | HYBRID_DLRM_ENHANCED
 *            | HYBRID_TRANSFORMER | HYBRID_TRANSFORMER_FWD_IN_BCKWD | HYBRID_CUSTOMIZED | DISTRIBUTED_INFERENCE
 *
 * Blanks and tabs separate. Other words of the first line are skipped, as SimAI does. Times are in ns, or in
 * --time-unit. The number of ranks is --ranks, else all_gpus. TP is --tensor-parallel, else model_parallel_NPU_group.
 *
 * Every rank carries out one iteration over all layers (layers_loop.c). Messages between the stages of a pipeline are
 * left out and counted: the file does not say when they are sent.
 *
 * Bytes are those of the vector that a rank gives, so that an all-gather's vector is n times as long (ASTRA-sim 1,
 * system/collective/Ring.cc). In files of SimAI they are those of the whole vector (SimAI, workload/Layer.cc,
 * compute_time()). These have a key that ASTRA-sim 1 lacks, or a layer with a name that AICB gives. A note says which
 * was taken. The root of a broadcast is the first rank of its group. */
#include "schedule/layers.h"
#include "base/lines.h"
#include "schedule/readers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 16, MOST_LAYERS = 1 << 22, COLUMNS = 12 };
#define PS_PER_NS 1000

static const char *const policies[LAYERS_POLICIES + 1] = {
    "MICRO",
    "DATA",
    "MODEL",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_TRANSFORMER",
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "HYBRID_CUSTOMIZED",
    "DISTRIBUTED_INFERENCE",
    NULL,
};

/* Keys of the first line that SimAI has and ASTRA-sim 1 lacks. */
static const char *const keys_of_simai[] = {
    "ep:", "expert_parallel_npu_group:", "pp:", "vpp:", "ga:", "all_gpus:", "pp_comm", "pp_comm:", NULL,
};

/* Names that AICB gives to layers of SimAI's files, with whatever first line. */
static const char *const names_of_aicb[] = {
    "grad_gather",    "grad_param_comm", "grad_param_compute", "embedding_grads", "moe_grad_norm1",
    "moe_grad_norm2", "embedding_norm",  "cross_entropy1",     "optimizer1",      NULL,
};

static bool is_word_of(const char *word, const char *const *list)
{
    while (*list && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

/* The file, and what its first line has that concerns layers. */
struct reader {
    struct hx_lines lines;
    struct layers *layers;
    const struct schedule_read_options *options;
    uint64_t time_unit; /* ps */
    bool has_expert, has_bottom, has_gather;
    uint64_t transfer; /* bytes between stages */
    uint32_t *mark;    /* layer << 1, plus 1 if it recomputes, else it is a checkpoint */
    size_t marks, marks_room;
};

/* ---- words ---- */

/* Cuts the next word out of a line. Returns NULL at its end. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t\r");
    char *end = word + strcspn(word, " \t\r");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return *word ? word : NULL;
}

/* Reads a number of least .. most. word NULL: the line ends. */
static bool read_number(struct reader *r, const char *word, const char *what, uint64_t least, uint64_t most,
                        uint64_t *value)
{
    const struct hx_lines *l = &r->lines;
    *value = 0;
    if (!word)
        return hx_lines_fail(l, NULL, "expected %s behind the last word", what);
    for (const char *c = word; *c; c++) {
        unsigned digit = (unsigned)(*c - '0');
        if (digit > 9)
            return hx_lines_fail(l, word, "'%.40s': expected %s, a number", word, what);
        if (*value > (most - digit) / 10)
            return hx_lines_fail(l, word, "%.40s: expected %s, at most %" PRIu64, word, what, most);
        *value = *value * 10 + digit;
    }
    return *value >= least || hx_lines_fail(l, word, "%.40s: expected %s, at least %" PRIu64, word, what, least);
}

static bool read_policy(struct reader *r, const char *word, enum layers_policy *policy)
{
    char hint[HX_HINT_TEXT];
    if (!word)
        return hx_lines_fail(&r->lines, NULL, "expected the layer's policy as the 13th word (HYBRID_CUSTOMIZED)");
    for (unsigned i = 0; i < LAYERS_POLICIES; i++) {
        *policy = (enum layers_policy)i;
        if (strcmp(policies[i], word) == 0)
            return true;
    }
    return hx_lines_fail(&r->lines, word, "'%.40s' is no policy%s", word, hx_did_you_mean(hint, word, policies));
}

/* ---- the first line ---- */

/* A list of layers behind its number. */
static bool read_marks(struct reader *r, char **rest, bool recomputes)
{
    uint64_t count;
    if (!read_number(r, next_word(rest), "a number of layers", 0, MOST_LAYERS, &count))
        return false;
    while (count-- > 0) {
        uint64_t layer;
        if (!read_number(r, next_word(rest), "a layer", 0, MOST_LAYERS, &layer))
            return false;
        r->mark = hx_grow(r->mark, r->marks, &r->marks_room, sizeof *r->mark);
        r->mark[r->marks++] = (uint32_t)layer << 1 | recomputes;
    }
    return true;
}

static bool read_degree(struct reader *r, char **rest, uint32_t *degree)
{
    uint64_t value;
    if (!read_number(r, next_word(rest), "a number of ranks", 1, SCHEDULE_MOST_RANKS, &value))
        return false;
    *degree = (uint32_t)value;
    return true;
}

static bool read_bottom(struct reader *r, const char *word)
{
    uint64_t value;
    if (!read_number(r, word, "the last bottom layer", 0, MOST_LAYERS, &value))
        return false;
    r->layers->last_bottom = (uint32_t)value;
    r->has_bottom = true;
    return true;
}

static bool read_key(struct reader *r, const char *key, char **rest)
{
    struct layers *l = r->layers;
    bool is_dlrm = l->policy == LAYERS_DLRM || l->policy == LAYERS_DLRM_ENHANCED;
    if (strcmp(key, "model_parallel_NPU_group:") == 0)
        return read_degree(r, rest, &l->tensor);
    l->is_simai = l->is_simai || is_word_of(key, keys_of_simai);
    if (strcmp(key, "ep:") == 0 || strcmp(key, "expert_parallel_npu_group:") == 0) {
        r->has_expert = true;
        return read_degree(r, rest, &l->expert);
    }
    if (strcmp(key, "pp:") == 0)
        return read_degree(r, rest, &l->pipeline);
    if (strcmp(key, "all_gpus:") == 0)
        return read_degree(r, rest, &l->ranks);
    if (strcmp(key, "pp_comm") == 0 || strcmp(key, "pp_comm:") == 0)
        return read_number(r, next_word(rest), "bytes", 0, SCHEDULE_MOST_BYTES, &r->transfer);
    if (strcmp(key, "checkpoints:") == 0 || strcmp(key, "checkpoint_initiates:") == 0)
        return read_marks(r, rest, key[10] == '_');
    if (strcmp(key, "DLRM_LAST_BOTTOM_LAYER:") == 0)
        return read_bottom(r, next_word(rest));
    return !is_dlrm || r->has_bottom || read_bottom(r, key);
}

/* Checks what the policy needs, and takes options over what the line says. */
static bool check_first_line(struct reader *r)
{
    struct layers *l = r->layers;
    const char *policy = policies[l->policy];
    bool is_dlrm = l->policy == LAYERS_DLRM || l->policy == LAYERS_DLRM_ENHANCED;
    if (r->options->tensor)
        l->tensor = (uint32_t)r->options->tensor;
    if (r->options->ranks)
        l->ranks = (uint32_t)r->options->ranks;
    if (!l->ranks)
        return hx_lines_fail(&r->lines, NULL,
                             "the number of ranks is not given (--ranks N, or all_gpus: N in this line)");
    if (is_dlrm && !r->has_bottom)
        return hx_lines_fail(&r->lines, NULL, "%s needs the last bottom layer behind it", policy);
    if (layers_is_hybrid(l->policy) && !l->tensor)
        return hx_lines_fail(&r->lines, NULL,
                             "%s needs model_parallel_NPU_group: N behind it (or --tensor-parallel N), the ranks that "
                             "share a layer",
                             policy);
    uint64_t product = (uint64_t)(l->tensor ? l->tensor : 1) * l->expert * l->pipeline;
    if (l->ranks % product)
        return hx_lines_fail(&r->lines, NULL,
                             "%" PRIu32 " ranks are no multiple of %" PRIu64 " (tensor x expert x pipeline parallel)",
                             l->ranks, product);
    return true;
}

static bool read_first_lines(struct reader *r)
{
    char *rest;
    uint64_t count;
    if (!hx_lines_next(&r->lines))
        return false;
    rest = r->lines.text;
    if (!read_policy(r, next_word(&rest), &r->layers->policy))
        return false;
    for (const char *key = next_word(&rest); key; key = next_word(&rest)) {
        if (!read_key(r, key, &rest))
            return false;
    }
    if (!check_first_line(r))
        return false;
    if (!hx_lines_next(&r->lines))
        return r->lines.failed ? false : hx_lines_fail(&r->lines, NULL, "expected a line with the number of layers");
    rest = r->lines.text;
    if (!read_number(r, next_word(&rest), "the number of layers", 1, MOST_LAYERS, &count))
        return false;
    r->layers->count = (uint32_t)count;
    return true;
}

/* ---- layers ---- */

static bool read_time(struct reader *r, const char *word, uint64_t *ps)
{
    if (!read_number(r, word, "a time", 0, SCHEDULE_MOST_TIME / r->time_unit, ps))
        return false;
    *ps *= r->time_unit;
    return true;
}

static bool read_collective(struct reader *r, const char *word, struct layers_part *part)
{
    static const struct {
        const char *name;
        enum hx_collective_kind kind;
    } kinds[] = {{"ALLREDUCE", HX_ALL_REDUCE},
                 {"ALLTOALL", HX_COLLECTIVE_ALL_TO_ALL},
                 {"ALLGATHER", HX_ALL_GATHER},
                 {"REDUCESCATTER", HX_REDUCE_SCATTER},
                 {"BROADCAST", HX_BROADCAST}};
    part->has_collective = strcmp(word, "NONE") != 0;
    for (size_t i = 0; part->has_collective && i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        const char *suffix = word + length;
        if (strncmp(word, kinds[i].name, length) != 0)
            continue;
        part->kind = kinds[i].kind;
        part->suffix = strcmp(suffix, "_EP") == 0      ? LAYERS_EP
                       : strcmp(suffix, "_DP_EP") == 0 ? LAYERS_DP_EP
                                                       : LAYERS_PLAIN;
        if (*suffix && part->suffix == LAYERS_PLAIN)
            break;
        return !*suffix || r->has_expert ||
               hx_lines_fail(&r->lines, word, "%.40s needs ep: N in the first line, the ranks that share experts",
                             word);
    }
    return !part->has_collective ||
           hx_lines_fail(&r->lines, word,
                         "'%.40s': expected NONE, ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER or BROADCAST, also "
                         "with _EP or _DP_EP",
                         word);
}

/* Whether the vector of each collective is within bounds. */
static bool check_bytes(struct reader *r, const struct layers_layer *layer, char *const *word)
{
    for (unsigned i = 0; i < LAYERS_PHASES; i++) {
        uint32_t members = layers_group_size(r->layers, layer, (enum layers_phase)i);
        const struct layers_part *part = &layer->part[i];
        if (members && layers_bytes(r->layers, part, members) > SCHEDULE_MOST_BYTES)
            return hx_lines_fail(&r->lines, word[4 + 3 * i],
                                 "%" PRIu64 " bytes of each of %" PRIu32 " ranks: %" PRIu64 " in all are possible",
                                 part->bytes, members, SCHEDULE_MOST_BYTES);
    }
    return true;
}

static bool read_own_policy(struct reader *r, struct layers_layer *layer, char **rest)
{
    char *word = next_word(rest);
    if (!read_policy(r, word, &layer->policy))
        return false;
    if (layer->policy == LAYERS_CUSTOMIZED)
        return hx_lines_fail(&r->lines, word, "a layer's policy is another one than HYBRID_CUSTOMIZED");
    return !layers_is_hybrid(layer->policy) || r->layers->tensor ||
           hx_lines_fail(&r->lines, word,
                         "%s needs model_parallel_NPU_group: N in the first line (or --tensor-parallel N)",
                         policies[layer->policy]);
}

static bool read_layer(struct reader *r, struct layers_layer *layer)
{
    char *rest = r->lines.text;
    char *word[COLUMNS];
    for (unsigned i = 0; i < COLUMNS; i++) {
        word[i] = next_word(&rest);
        if (!word[i])
            return hx_lines_fail(&r->lines, NULL, "has %u words, expected %d for a layer", i, COLUMNS);
    }
    layer->name = strdup(word[0]);
    r->layers->is_simai = r->layers->is_simai || is_word_of(word[0], names_of_aicb);
    layer->policy = r->layers->policy;
    for (unsigned i = 0; i < LAYERS_PHASES; i++) {
        struct layers_part *part = &layer->part[i];
        char *const *of = &word[2 + 3 * i];
        if (!read_time(r, of[0], &part->ps) || !read_collective(r, of[1], part) ||
            !read_number(r, of[2], "bytes", 0, SCHEDULE_MOST_BYTES, &part->bytes))
            return false;
        r->has_gather = r->has_gather || (part->has_collective && part->kind == HX_ALL_GATHER);
    }
    return read_time(r, word[COLUMNS - 1], &layer->update) &&
           (layer->policy != LAYERS_CUSTOMIZED || read_own_policy(r, layer, &rest)) && check_bytes(r, layer, word);
}

static bool read_layers(struct reader *r)
{
    struct layers *l = r->layers;
    uint32_t wanted = l->count;
    size_t room = 0;
    l->count = 0;
    while (l->count < wanted) {
        l->layer = hx_grow(l->layer, l->count, &room, sizeof *l->layer);
        if (!hx_lines_next(&r->lines))
            return r->lines.failed
                       ? false
                       : hx_lines_fail(&r->lines, NULL, "the file ends after %" PRIu32 " of %" PRIu32 " layers",
                                       l->count, wanted);
        l->layer[l->count] = (struct layers_layer){.name = NULL};
        if (!read_layer(r, &l->layer[l->count++]))
            return false;
    }
    if (hx_lines_next(&r->lines))
        return hx_lines_fail(&r->lines, NULL, "a layer more than the %" PRIu32 " of the second line", wanted);
    return !r->lines.failed;
}

/* Sets the checkpoints of the first line. */
static bool place_marks(struct reader *r)
{
    struct layers *l = r->layers;
    uint32_t first = UINT32_MAX;
    for (size_t i = 0; i < r->marks; i++) {
        uint32_t layer = r->mark[i] >> 1;
        if (layer >= l->count)
            return hx_fail_at(r->lines.problem, r->lines.path, 1, 0,
                              "checkpoint layer %" PRIu32 ", expected 0 to %" PRIu32, layer, l->count - 1);
        if (r->mark[i] & 1)
            l->layer[layer].recomputes = true;
        else
            l->layer[layer].is_checkpoint = true;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->layer[i].is_checkpoint && first == UINT32_MAX)
            first = i;
        if (i < first && l->layer[i].recomputes)
            return hx_fail_at(r->lines.problem, r->lines.path, 1, 0,
                              "checkpoint_initiates: layer %" PRIu32 " has no checkpoint before it", i);
    }
    return true;
}

/* ---- the format ---- */

static bool check_bottom(const struct reader *r)
{
    const struct layers *l = r->layers;
    return !r->has_bottom || l->last_bottom < l->count ||
           hx_fail_at(r->lines.problem, r->lines.path, 1, 0,
                      "the last bottom layer is %" PRIu32 ", expected 0 to %" PRIu32, l->last_bottom, l->count - 1);
}

static bool read_file(struct reader *r, const char *path, struct hx_problem *problem)
{
    if (!hx_lines_open_large(&r->lines, path, LONGEST_LINE, 0, problem))
        return false;
    bool good = read_first_lines(r) && read_layers(r) && place_marks(r) && check_bottom(r);
    hx_lines_close(&r->lines);
    free(r->mark);
    return good;
}

static void describe(const struct reader *r, uint64_t left_out, struct schedule_notes *notes)
{
    uint64_t transfers = r->layers->pipeline > 1 ? r->layers->ranks : 0;
    char text[64] = "";
    notes->skipped = left_out + transfers;
    if (left_out)
        (void)snprintf(text, sizeof text, "%" PRIu64 " collectives that the policy does not use", left_out);
    if (transfers)
        (void)snprintf(notes->what, sizeof notes->what,
                       "%s%stransfers of %" PRIu64 " bytes between %" PRIu32 " pipeline stages, of %" PRIu64 " ranks",
                       text, *text ? ", " : "", r->transfer, r->layers->pipeline, transfers);
    else
        (void)snprintf(notes->what, sizeof notes->what, "%s", text);
    if (r->has_gather)
        (void)snprintf(notes->annotations, sizeof notes->annotations, "bytes of ALLGATHER are those %s",
                       r->layers->is_simai ? "of the whole vector (SimAI)" : "that a rank gives (ASTRA-sim 1)");
}

static struct schedule_builder *read_workload(const char *path, const struct schedule_read_options *options,
                                              struct schedule_notes *notes, struct hx_problem *problem)
{
    struct layers l = {.expert = 1, .pipeline = 1};
    struct reader r = {.layers = &l,
                       .options = options,
                       .time_unit = options->time_unit_ns ? options->time_unit_ns * PS_PER_NS : PS_PER_NS};
    struct schedule_builder *b = NULL;
    uint64_t left_out = 0;
    if (read_file(&r, path, problem)) {
        b = schedule_builder_new(l.ranks);
        for (uint32_t rank = 0; rank < l.ranks; rank++)
            left_out += layers_run(&l, b, rank);
        describe(&r, left_out, notes);
    }
    for (uint32_t i = 0; i < l.count && l.layer; i++)
        free(l.layer[i].name);
    free(l.layer);
    return b;
}

/* The first word is a policy, and the second line is a number. */
static bool is_workload(const uint8_t *begin, size_t bytes)
{
    const char *text = (const char *)begin;
    const char *end = memchr(text, '\n', bytes);
    size_t line = end ? (size_t)(end - text) : bytes;
    for (const char *const *p = policies; *p; p++) {
        size_t length = strlen(*p);
        if (line < length || memcmp(text, *p, length) != 0 || (line > length && !strchr(" \t\r", text[length])))
            continue;
        return !end || line + 1 == bytes || strchr("0123456789 \t\r\n", end[1]);
    }
    return false;
}

const struct schedule_format schedule_layers = {
    .name = "layers", .what = "layers of ASTRA-sim 1 and SimAI, a line each", .is = is_workload, .read = read_workload};
