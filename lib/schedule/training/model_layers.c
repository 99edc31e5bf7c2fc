/* model_layers.c - the layers of a model file (model_parts.h). */
#include "base/powers.h"
#include "schedule/shares.h"
#include "schedule/training/loads.h"
#include "schedule/training/model_parts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZE (INT64_C(1) << 31) /* of a side of a matrix */

/* Keys of a layer that are numbers, and what its field is. */
static const struct number_key {
    const char *word;
    size_t field;
} number_keys[] = {{"parameters", offsetof(struct training_layer, parameters)},
                   {"tied", offsetof(struct training_layer, tied)},
                   {"activations", offsetof(struct training_layer, activations)},
                   {"halo", offsetof(struct training_layer, halo)},
                   {"routed", offsetof(struct training_layer, routed)},
                   {"context", offsetof(struct training_layer, context)},
                   {"inputs", offsetof(struct training_layer, inputs)},
                   {"saved", offsetof(struct training_layer, saved)},
                   {"saved_whole", offsetof(struct training_layer, saved_whole)},
                   {"recomputed", offsetof(struct training_layer, recomputed)},
                   {"moved", offsetof(struct training_layer, moved)},
                   {"moved_whole", offsetof(struct training_layer, moved_whole)},
                   {"recomputed_moved", offsetof(struct training_layer, recomputed_moved)},
                   {NULL, 0}};

static const char *const layer_keys[] = {
    "name",           "parameters",  "activations",    "halo",     "routed",    "context",    "inputs",
    "beside",         "forward",     "backward",       "flops",    "shard",     "saved",      "saved_whole",
    "moved",          "moved_whole", "backward_flops", "products", "keeps_all", "recomputed", "recomputed_moved",
    "backward_moved", "tied",        "loads",          NULL};
static const char *const product_keys[] = {"m", "n", "k", "times", "divided", "recomputed", "efficiency", NULL};
static const char *const repeat_keys[] = {"repeat", "layers", NULL};

/* ---- one layer ---- */

static bool read_numbers(struct script *s, const struct hx_yaml_item *item, struct training_layer *l)
{
    for (const struct number_key *k = number_keys; k->word; k++) {
        uint64_t value = 0;
        if (!model_number(s, item, k->word, 0, SCRIPT_MOST_NUMBER, &value))
            return false;
        memcpy((char *)l + k->field, &value, sizeof value);
    }
    l->backward_moved = l->moved + l->moved / 2;
    return model_number(s, item, "backward_moved", 0, SCRIPT_MOST_NUMBER, &l->backward_moved);
}

/* Refuses a layer that leaves its size or its part in communication open. */
static bool check_size(const struct script *s, const struct hx_yaml_item *item, const struct training_layer *l)
{
    static const struct {
        const char *word;
        bool is_of_shard;
        enum training_shard shard;
    } sizes[] = {{"parameters", false, TRAINING_WHOLE},
                 {"activations", false, TRAINING_WHOLE},
                 {"halo", true, TRAINING_SPACE},
                 {"routed", true, TRAINING_EXPERTS}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct hx_yaml_item *given = script_key(item, sizes[i].word);
        const char *shard = training_shard_names[sizes[i].shard];
        if (given && sizes[i].is_of_shard && l->shard != sizes[i].shard)
            return hx_yaml_fail_key(&s->tree, given, s->problem, "key '%s' needs 'shard: %s'", sizes[i].word, shard);
        if (given || (sizes[i].is_of_shard && l->shard != sizes[i].shard))
            continue;
        return script_fail(s, item, 0, "layer '%.60s' has no size: key '%s' is missing (elements, 0 if there are none)",
                           l->name, sizes[i].word);
    }
    return true;
}

static bool read_product(struct model_reader *r, const struct hx_yaml_item *item, const struct training_layer *l)
{
    struct script *s = &r->script;
    struct training_model *m = r->model;
    struct training_product p = {.times = 1};
    unsigned divided =
        l->shard == TRAINING_WHOLE || l->shard == TRAINING_TABLES ? TRAINING_UNDIVIDED : TRAINING_COLUMNS_OF;
    if (!script_expect_mapping(s, item, "sizes m, n, k") || !script_check_keys(s, item, product_keys) ||
        !script_need(s, item, "m") || !script_need(s, item, "n") || !script_need(s, item, "k") ||
        !model_number(s, item, "m", 1, MOST_SIZE, &p.m) || !model_number(s, item, "n", 1, MOST_SIZE, &p.n) ||
        !model_number(s, item, "k", 1, MOST_SIZE, &p.k) || !model_number(s, item, "times", 1, MOST_SIZE, &p.times) ||
        !model_choice(s, item, "divided", training_divided_names, &divided) ||
        !model_switch(s, item, "recomputed", &p.recomputed) || !model_share(s, item, "efficiency", &p.efficiency))
        return false;
    p.divided = (enum training_divided)divided;
    m->product = hx_grow(m->product, m->products, &r->products_room, sizeof *m->product);
    m->product[m->products++] = p;
    return true;
}

/* Reads the products of a layer; its operations are theirs. */
static bool read_products(struct model_reader *r, const struct hx_yaml_item *list, struct training_layer *l)
{
    struct training_model *m = r->model;
    if (list->shape != HX_YAML_LIST || !list->entries)
        return script_fail(&r->script, list, 0, "a list of products is expected here: [{m: 2048, n: 4096, k: 1024}]");
    l->product = m->products;
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry)) {
        if (!read_product(r, entry, l))
            return false;
        const struct training_product *p = &m->product[m->products - 1];
        l->flops += 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->times;
    }
    l->products = m->products - l->product;
    l->backward_flops = 2 * l->flops;
    return true;
}

/* Backward passes take twice the forward ones unless given. */
static bool read_computing(struct model_reader *r, const struct hx_yaml_item *item, struct training_layer *l)
{
    struct script *s = &r->script;
    const struct hx_yaml_item *flops = script_key(item, "flops");
    const struct hx_yaml_item *forward = script_key(item, "forward");
    const struct hx_yaml_item *products = script_key(item, "products");
    uint64_t operations = 0;
    if (products && (flops || forward))
        return hx_yaml_fail_key(&s->tree, products, s->problem, "give 'products', 'flops' or 'forward', one of them");
    if (products)
        return read_products(r, products, l);
    if (!flops && !forward)
        return script_fail(s, item, 0,
                           "layer '%.60s' does not say what it computes: give 'flops', or the times 'forward' and "
                           "'backward'",
                           l->name);
    for (unsigned i = 0; i < 2; i++) {
        const char *word = i ? "backward_flops" : "backward";
        const struct hx_yaml_item *other = script_key(item, word);
        if (other && !(i ? flops : forward))
            return hx_yaml_fail_key(&s->tree, other, s->problem, "key '%s' needs '%s'", word, i ? "flops" : "forward");
    }
    if (flops && forward)
        return hx_yaml_fail_key(&s->tree, forward, s->problem, "give 'flops' or 'forward', not both");
    if (!model_time(s, item, "forward", &l->forward_ps))
        return false;
    l->backward_ps = 2 * l->forward_ps;
    if (!model_time(s, item, "backward", &l->backward_ps) ||
        !model_number(s, item, "flops", 0, SCRIPT_MOST_NUMBER, &operations))
        return false;
    l->flops = (double)operations;
    operations *= 2;
    if (!model_number(s, item, "backward_flops", 0, SCRIPT_MOST_NUMBER, &operations))
        return false;
    l->backward_flops = (double)operations;
    return true;
}

/* ---- experts ---- */

static bool check_loads(const struct model_reader *r, const struct hx_yaml_item *list, const struct training_layer *l)
{
    const struct training_model *m = r->model;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < l->loads; i++)
        sum += m->load[l->load + i];
    if (sum == 0)
        return script_fail(&r->script, list, 0, "all loads are 0: no expert has a token");
    if (m->expert > SHARES_MOST)
        return script_fail(&r->script, list, 0, "loads need an expert degree of %d at most, not %" PRIu32, SHARES_MOST,
                           m->expert);
    return l->loads % m->expert == 0 ||
           script_fail(&r->script, list, 0,
                       "loads of %" PRIu32 " experts on %" PRIu32 " ranks: all ranks need as many experts", l->loads,
                       m->expert);
}

static bool read_loads(struct model_reader *r, const struct hx_yaml_item *item, struct training_layer *l)
{
    const struct hx_yaml_item *list = script_key(item, "loads");
    struct training_model *m = r->model;
    if (!list)
        return true;
    if (l->shard != TRAINING_EXPERTS)
        return hx_yaml_fail_key(&r->script.tree, list, r->script.problem, "key 'loads' needs 'shard: experts'");
    if (list->shape != HX_YAML_LIST || !list->entries || list->entries > TRAINING_MOST_EXPERTS)
        return script_fail(&r->script, list, 0, "the load of each expert is expected here, of %d at most: [4, 1, 1, 2]",
                           TRAINING_MOST_EXPERTS);
    l->load = m->load_count;
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry)) {
        uint64_t load = 0;
        if (!model_evaluate(&r->script, entry, EXPRESSION_NUMBER, 0, TRAINING_MOST_LOAD, &load))
            return false;
        m->load = hx_grow(m->load, m->load_count, &r->loads_room, sizeof *m->load);
        m->load[m->load_count++] = (uint32_t)load;
        l->loads++;
    }
    return check_loads(r, list, l);
}

/* ---- what a layer needs of the model ---- */

static bool check_shard(const struct model_reader *r, const struct hx_yaml_item *item, const struct training_layer *l)
{
    uint32_t tensor = r->model->parallel[TRAINING_TENSOR];
    return l->shard != TRAINING_SPACE || hx_is_power_of_two(tensor) ||
           script_fail(&r->script, script_key(item, "shard"), 0,
                       "'space' needs a tensor degree that is a power of two, not %" PRIu32, tensor);
}

/* A rank's vectors are at most TRAINING_MOST_BYTES. */
static bool check_bytes(const struct model_reader *r, const struct hx_yaml_item *item, const struct training_layer *l)
{
    const struct training_model *m = r->model;
    unsigned element = m->gradient_element_bytes > m->parameter_bytes ? m->gradient_element_bytes : m->parameter_bytes;
    double context = m->parallel[TRAINING_CONTEXT];
    double tensor = m->parallel[TRAINING_TENSOR];
    double activation = (double)training_micro_samples(m) * m->activation_bytes;
    const struct {
        const char *word;
        double bytes;
    } vectors[] = {{"parameters", (double)training_own_parameters(m, l) * element},
                   {"activations", activation * (double)l->activations / context},
                   {"halo", activation * (double)l->halo / context},
                   {"routed", activation * (double)l->routed / context * training_load(m, l, TRAINING_FULLEST)},
                   {"inputs", activation * (double)l->inputs},
                   {"context", activation * (double)l->context / tensor}};
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        if (vectors[i].bytes > (double)TRAINING_MOST_BYTES)
            return script_fail(&r->script, script_key(item, vectors[i].word), 0,
                               "a vector of %.3g bytes at a rank, of a micro-batch of %" PRIu64 " (at most %.3g)",
                               vectors[i].bytes, training_micro_samples(m), (double)TRAINING_MOST_BYTES);
    }
    return true;
}

static bool check_time(const struct model_reader *r, const struct hx_yaml_item *item, const struct training_layer *l)
{
    const struct training_model *m = r->model;
    if ((l->flops > 0 || l->backward_flops > 0) && m->flops <= 0)
        return script_fail(&r->script, script_key(item, "flops"), 0,
                           "operations without a rate: give accelerator: {flops: 312 TFLOPS}, or --flops");
    uint64_t forward = training_forward_ps(m, l);
    uint64_t backward = training_backward_ps(m, l);
    if (forward <= SCHEDULE_MOST_TIME && backward <= SCHEDULE_MOST_TIME)
        return true;
    return script_fail(&r->script, item, 0, "layer '%.60s' computes for %.3g hours a pass (at most 20)", l->name,
                       (double)(forward > backward ? forward : backward) / 3.6e15);
}

static bool is_divided(const struct training_layer *l)
{
    return l->shard == TRAINING_COLUMNS || l->shard == TRAINING_OUTPUT;
}

/* Tied parameters of the layer that was read last. */
static bool check_tied(const struct model_reader *r, const struct hx_yaml_item *item, bool may_tie)
{
    const struct script *s = &r->script;
    const struct training_layer *first = &r->model->layer[0];
    const struct training_layer *l = &r->model->layer[r->model->layers - 1];
    const struct hx_yaml_item *tied = script_key(item, "tied");
    if (!tied)
        return true;
    if (!may_tie || l == first)
        return hx_yaml_fail_key(&s->tree, tied, s->problem,
                                "only the model's last layer has 'tied' parameters, which are the first layer's");
    if (l->tied > l->parameters || l->tied > first->parameters)
        return script_fail(s, tied, 0,
                           "%" PRIu64 " tied parameters, but layer '%.60s' has %" PRIu64 " and layer '%.60s' %" PRIu64,
                           l->tied, first->name, first->parameters, l->name, l->parameters);
    const bool whole = l->shard == TRAINING_WHOLE && first->shard == TRAINING_WHOLE;
    return whole || (is_divided(l) && is_divided(first)) ||
           script_fail(s, tied, 0,
                       "tied parameters need 'shard: whole' of the first and the last layer, or 'columns' or 'output' "
                       "of both");
}

/* ---- lists ---- */

/* Returns the number of the first layer with this name. */
static uint32_t find_name(const struct model_reader *r, const char *name)
{
    const struct training_model *m = r->model;
    uint32_t i = 0;
    while (i < m->layers && (r->base[i] != i || strcmp(m->layer[i].name, name) != 0))
        i++;
    return i;
}

static bool add_layer(struct model_reader *r, const struct hx_yaml_item *item, struct training_layer l, uint32_t base)
{
    struct training_model *m = r->model;
    if (m->layers == TRAINING_MOST_LAYERS) {
        free(l.name);
        return script_fail(&r->script, item, 0, "more than %d layers", TRAINING_MOST_LAYERS);
    }
    m->layer = hx_grow(m->layer, m->layers, &r->layers_room, sizeof *m->layer);
    r->base = hx_grow(r->base, m->layers, &r->base_room, sizeof *r->base);
    r->base[m->layers] = base;
    m->layer[m->layers++] = l;
    return true;
}

static bool read_layer(struct model_reader *r, const struct hx_yaml_item *item)
{
    struct script *s = &r->script;
    struct training_layer l = {.line = item->line};
    unsigned shard = TRAINING_WHOLE;
    if (item->shape != HX_YAML_MAPPING)
        return script_fail(s, item, 0,
                           "a layer is expected here, for example {name: x, parameters: 9, activations: 3, flops: 18}");
    if (!script_check_keys(s, item, layer_keys) || !model_text(s, item, "name", &l.name))
        return false;
    bool good = model_choice(s, item, "shard", training_shard_names, &shard) && read_numbers(s, item, &l) &&
                model_switch(s, item, "beside", &l.beside) && model_switch(s, item, "keeps_all", &l.keeps_all);
    l.shard = (enum training_shard)shard;
    good = good && check_size(s, item, &l) && read_loads(r, item, &l) && read_computing(r, item, &l) &&
           check_shard(r, item, &l) && check_bytes(r, item, &l) && check_time(r, item, &l);
    if (!good) {
        free(l.name);
        return false;
    }
    return add_layer(r, item, l, find_name(r, l.name));
}

/* outer: not in a repeat. */
static bool read_list(struct model_reader *r, const struct hx_yaml_item *list, bool outer);

/* Reads the layers of a block once, and adds copies. */
static bool read_block(struct model_reader *r, const struct hx_yaml_item *item)
{
    struct training_model *m = r->model;
    uint64_t times = 0;
    uint32_t first = m->layers;
    if (!script_check_keys(&r->script, item, repeat_keys) ||
        !model_number(&r->script, item, "repeat", 1, TRAINING_MOST_LAYERS, &times))
        return false;
    const struct hx_yaml_item *inner = script_need(&r->script, item, "layers");
    if (!inner || !read_list(r, inner, false))
        return false;
    uint32_t end = m->layers;
    for (uint64_t i = 1; i < times; i++) {
        for (uint32_t j = first; j < end; j++) {
            struct training_layer copy = m->layer[j];
            size_t bytes = strlen(copy.name) + 1;
            copy.name = memcpy(hx_allocate(bytes, 1), copy.name, bytes);
            if (!add_layer(r, item, copy, r->base[j]))
                return false;
        }
    }
    return true;
}

static bool read_list(struct model_reader *r, const struct hx_yaml_item *list, bool outer)
{
    bool begins = true;
    if (list->shape != HX_YAML_LIST || !list->entries)
        return script_fail(&r->script, list, 0, "a list of layers is expected here");
    for (const struct hx_yaml_item *entry = hx_yaml_first(list); entry; entry = hx_yaml_next(list, entry)) {
        const bool repeats = script_key(entry, "repeat");
        const bool may_tie = outer && !hx_yaml_next(list, entry);
        if (repeats ? !read_block(r, entry) : !read_layer(r, entry) || !check_tied(r, entry, may_tie))
            return false;
        if (!repeats)
            r->model->layer[r->model->layers - 1].begins_block = begins;
        begins = outer || repeats;
    }
    return true;
}

/* Makes "attention" of several "attention 1", "attention 2", ... */
static void number_names(struct model_reader *r)
{
    struct training_model *m = r->model;
    uint32_t *count = hx_allocate(m->layers, sizeof *count);
    uint32_t *turn = hx_allocate(m->layers, sizeof *turn);
    for (uint32_t i = 0; i < m->layers; i++)
        turn[i] = ++count[r->base[i]];
    for (uint32_t i = 0; i < m->layers; i++) {
        struct training_layer *l = &m->layer[i];
        size_t bytes = strlen(l->name) + 16;
        if (count[r->base[i]] == 1)
            continue;
        char *name = hx_allocate(bytes, 1);
        (void)snprintf(name, bytes, "%s %" PRIu32, l->name, turn[i]);
        free(l->name);
        l->name = name;
    }
    HX_FREE(count, turn);
}

bool model_layers_read(struct model_reader *r, const struct hx_yaml_item *list)
{
    bool good = read_list(r, list, true);
    if (good)
        number_names(r);
    return good;
}
