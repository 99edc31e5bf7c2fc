/* layers_loop.c - the operations of one iteration over layers, by the policy.
 *
 * A step waits for the end of the one before it; computing is on stream 0. A blocking collective is a step itself. "on
 * the side": the collective begins after the step, and the next step does not wait for it.
 *
 *     MICRO                  weight gradients' collectives, all at once
 *     DATA                   forward computing, first layer to last; then from the last: weight gradient, its collective
 *                            on the side, input gradient (not of layer 0)
 *     MODEL                  forward computing and its collective, blocking; then from the last: input gradient, its
 *                            collective (not of layer 0) beside the weight gradient; the next layer waits for both
 *     HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_CUSTOMIZED
 *                            as MODEL, and the weight gradient's collective on the side
 *     HYBRID_TRANSFORMER     as HYBRID_DATA_MODEL, with blocking collectives of all input gradients
 *     ..._FWD_IN_BCKWD       also: before the input gradient of a layer of checkpoint_initiates, forward again from the
 *                            last checkpoint at or before it to the layer before it
 *     HYBRID_DLRM, ..._ENHANCED
 *                            as DATA; the all-to-all of layer 0 is on the side, and the last bottom layer waits for it;
 *                            that of its input gradient follows the input gradient of the layer behind the last bottom
 *                            layer, and the weight gradient of layer 0 waits for it
 *     DISTRIBUTED_INFERENCE  the forward half of MODEL
 *
 * Behind each collective the update time passes, on a stream of its phase, and what waits for the collective waits for
 * it (ASTRA-sim 1 and SimAI, workload/Layer.cc, Layer::call()). Steps of no time are left out.
 *
 * Sources: mlcommons/chakra, src/converter/text_converter.py; Workload.cc of ASTRA-sim 1 and SimAI.
 *
 * Groups. A rank is tensor + TP (expert + EP (data + D pipeline)). So ranks that share a layer are neighbours, then
 * those that share experts. With HYBRID_MODEL_DATA, as in ASTRA-sim 1, ranks of other data are neighbours instead.
 *
 *     forward, input gradient    all ranks with MODEL, DISTRIBUTED_INFERENCE and layer 0 of HYBRID_DLRM; else the TP
 *                                ranks that share a layer; _EP: the EP ranks that share experts
 *     weight gradient            all ranks with MICRO, DATA, HYBRID_DLRM; else the ranks of other data, EP x D; _EP as
 *                                above; _DP_EP: the D ranks with the same experts
 *
 * A group of one rank has no collectives. */
#include "schedule/layers.h"

#include <stdlib.h>
#include <string.h>

enum group {
    GROUP_NONE,
    GROUP_ALL,
    GROUP_TENSOR,
    GROUP_DATA,
    GROUP_TENSOR_FAR, /* of HYBRID_MODEL_DATA */
    GROUP_DATA_NEAR,
    GROUP_EXPERT,
    GROUP_EXPERT_DATA,
    GROUPS
};
enum { NONE = UINT32_MAX /* no operation */, STREAM = 0, UPDATE_STREAM = 1 /* and one for each further phase */ };

/* A group of every rank: `count` ranks, `stride` apart. */
struct shape {
    uint32_t count, stride;
};

struct loop {
    const struct layers *l;
    struct schedule_builder *b;
    uint32_t rank;
    uint32_t group[GROUPS]; /* index in the builder */
    uint64_t left_out;
};

/* ---- groups ---- */

static enum group group_of(const struct layers *l, const struct layers_layer *layer, enum layers_phase phase)
{
    const struct layers_part *part = &layer->part[phase];
    bool is_weight = phase == LAYERS_WEIGHT;
    if (part->suffix == LAYERS_EP)
        return GROUP_EXPERT;
    if (part->suffix == LAYERS_DP_EP)
        return GROUP_EXPERT_DATA;
    switch (layer->policy) {
    case LAYERS_MICRO:
    case LAYERS_DATA:
        return is_weight ? GROUP_ALL : GROUP_NONE;
    case LAYERS_DLRM:
    case LAYERS_DLRM_ENHANCED:
        return is_weight || layer == l->layer ? GROUP_ALL : GROUP_NONE;
    case LAYERS_MODEL:
    case LAYERS_INFERENCE:
        return is_weight ? GROUP_NONE : GROUP_ALL;
    case LAYERS_MODEL_DATA:
        return is_weight ? GROUP_DATA_NEAR : GROUP_TENSOR_FAR;
    default:
        return is_weight ? GROUP_DATA : GROUP_TENSOR;
    }
}

static struct shape shape_of(const struct layers *l, enum group group)
{
    uint32_t tensor = l->tensor ? l->tensor : 1;
    uint32_t data = l->ranks / (tensor * l->pipeline);
    switch (group) {
    case GROUP_ALL:
        return (struct shape){l->ranks, 1};
    case GROUP_TENSOR:
        return (struct shape){tensor, 1};
    case GROUP_DATA:
        return (struct shape){data, tensor};
    case GROUP_TENSOR_FAR:
        return (struct shape){tensor, data};
    case GROUP_DATA_NEAR:
        return (struct shape){data, 1};
    case GROUP_EXPERT:
        return (struct shape){l->expert, tensor};
    case GROUP_EXPERT_DATA:
        return (struct shape){data / l->expert, tensor * l->expert};
    default:
        return (struct shape){0, 1};
    }
}

uint32_t layers_group_size(const struct layers *l, const struct layers_layer *layer, enum layers_phase phase)
{
    return layer->part[phase].has_collective ? shape_of(l, group_of(l, layer, phase)).count : 0;
}

/* The rank's group of this shape, added when it is first used. */
static uint32_t find_group(struct loop *loop, enum group group)
{
    const struct shape shape = shape_of(loop->l, group);
    if (loop->group[group] == NONE) {
        uint32_t first = loop->rank - loop->rank / shape.stride % shape.count * shape.stride;
        uint32_t *member = hx_allocate(shape.count, sizeof *member);
        for (uint32_t i = 0; i < shape.count; i++)
            member[i] = first + i * shape.stride;
        loop->group[group] = schedule_add_group(loop->b, member, shape.count);
        free(member);
    }
    return loop->group[group];
}

/* ---- steps ---- */

static const char *const phase_names[LAYERS_PHASES] = {"forward", "input gradient", "weight gradient"};

static void name(struct loop *loop, uint32_t number, const struct layers_layer *layer, enum layers_phase phase,
                 const char *what)
{
    char text[128];
    (void)snprintf(text, sizeof text, "%.80s %s%s%s", layer->name, phase_names[phase], *what ? " " : "", what);
    schedule_set_name(loop->b, loop->rank, number, text);
}

static void after(struct loop *loop, uint32_t later, uint32_t earlier)
{
    if (earlier != NONE)
        schedule_after(loop->b, loop->rank, later, earlier);
}

/* Computes behind two operations, or NONE. Returns the operation that the next step waits for. */
static uint32_t compute(struct loop *loop, const struct layers_layer *layer, enum layers_phase phase, uint32_t first,
                        uint32_t second)
{
    if (layer->part[phase].ps == 0 && (first == NONE || second == NONE || first == second))
        return first == NONE ? second : first;
    uint32_t number = schedule_compute(loop->b, loop->rank, layer->part[phase].ps, STREAM);
    name(loop, number, layer, phase, "");
    after(loop, number, first);
    after(loop, number, second);
    return number;
}

/* The collective and its update behind an operation, or NONE. Returns the operation that the next step waits for. */
static uint32_t talk(struct loop *loop, const struct layers_layer *layer, enum layers_phase phase, uint32_t earlier)
{
    const struct layers_part *part = &layer->part[phase];
    enum group group = group_of(loop->l, layer, phase);
    uint32_t members = layers_group_size(loop->l, layer, phase);
    loop->left_out += part->has_collective && group == GROUP_NONE;
    if (members < 2)
        return earlier;
    uint32_t number = schedule_collect(loop->b, loop->rank, part->kind, find_group(loop, group),
                                       layers_bytes(loop->l, part, members), 0);
    name(loop, number, layer, phase, hx_collective_kind_names[part->kind]);
    after(loop, number, earlier);
    if (layer->update == 0)
        return number;
    uint32_t update = schedule_compute(loop->b, loop->rank, layer->update, UPDATE_STREAM + (unsigned)phase);
    name(loop, update, layer, phase, "update");
    after(loop, update, number);
    return update;
}

/* A collective that the loop of the policy never begins. */
static void leave_out(struct loop *loop, const struct layers_layer *layer, enum layers_phase phase)
{
    loop->left_out += layer->part[phase].has_collective;
}

/* ---- loops ---- */

/* Forward with blocking collectives, from one layer to the one before `end`. Returns the last operation. */
static uint32_t go_forward(struct loop *loop, uint32_t from, uint32_t end, uint32_t last)
{
    for (uint32_t i = from; i < end; i++) {
        const struct layers_layer *layer = &loop->l->layer[i];
        last = talk(loop, layer, LAYERS_FORWARD, compute(loop, layer, LAYERS_FORWARD, last, NONE));
    }
    return last;
}

static void run_micro(struct loop *loop)
{
    for (uint32_t i = 0; i < loop->l->count; i++) {
        (void)talk(loop, &loop->l->layer[i], LAYERS_WEIGHT, NONE);
        leave_out(loop, &loop->l->layer[i], LAYERS_FORWARD);
        leave_out(loop, &loop->l->layer[i], LAYERS_INPUT);
    }
}

/* DATA, and HYBRID_DLRM with its all-to-all of layer 0. */
static void run_data(struct loop *loop)
{
    const struct layers *l = loop->l;
    bool is_dlrm = l->policy != LAYERS_DATA;
    uint32_t last = NONE;
    uint32_t exchange = NONE;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct layers_layer *layer = &l->layer[i];
        bool waits = is_dlrm && i == l->last_bottom && i > 0;
        last = compute(loop, layer, LAYERS_FORWARD, last, waits ? exchange : NONE);
        if (is_dlrm && i == 0 && layer->part[LAYERS_FORWARD].kind == HX_COLLECTIVE_ALL_TO_ALL)
            exchange = talk(loop, layer, LAYERS_FORWARD, last);
        else
            leave_out(loop, layer, LAYERS_FORWARD);
    }
    exchange = NONE;
    for (uint32_t i = l->count; i-- > 0;) {
        const struct layers_layer *layer = &l->layer[i];
        last = compute(loop, layer, LAYERS_WEIGHT, last, i == 0 ? exchange : NONE);
        (void)talk(loop, layer, LAYERS_WEIGHT, last);
        if (i > 0)
            last = compute(loop, layer, LAYERS_INPUT, last, NONE);
        if (is_dlrm && i == l->last_bottom + 1)
            exchange = talk(loop, l->layer, LAYERS_INPUT, last);
        if (!is_dlrm || i > 0 || l->last_bottom + 1 >= l->count)
            leave_out(loop, layer, LAYERS_INPUT);
    }
}

/* MODEL, and all that also exchange weight gradients. */
static void run_model(struct loop *loop)
{
    const struct layers *l = loop->l;
    uint32_t last = go_forward(loop, 0, l->count, NONE);
    uint32_t exchange = NONE;
    for (uint32_t i = l->count; i-- > 0;) {
        const struct layers_layer *layer = &l->layer[i];
        last = compute(loop, layer, LAYERS_INPUT, last, exchange);
        if (i > 0)
            exchange = talk(loop, layer, LAYERS_INPUT, last);
        else
            leave_out(loop, layer, LAYERS_INPUT);
        last = compute(loop, layer, LAYERS_WEIGHT, last, NONE);
        (void)talk(loop, layer, LAYERS_WEIGHT, last);
    }
}

static void run_transformer(struct loop *loop)
{
    const struct layers *l = loop->l;
    uint32_t last = go_forward(loop, 0, l->count, NONE);
    for (uint32_t i = l->count; i-- > 0;) {
        const struct layers_layer *layer = &l->layer[i];
        if (layer->recomputes) {
            uint32_t from = i;
            while (!l->layer[from].is_checkpoint)
                from--;
            last = go_forward(loop, from, i, last);
        }
        last = talk(loop, layer, LAYERS_INPUT, compute(loop, layer, LAYERS_INPUT, last, NONE));
        last = compute(loop, layer, LAYERS_WEIGHT, last, NONE);
        (void)talk(loop, layer, LAYERS_WEIGHT, last);
    }
}

static void run_inference(struct loop *loop)
{
    (void)go_forward(loop, 0, loop->l->count, NONE);
    for (uint32_t i = 0; i < loop->l->count; i++) {
        leave_out(loop, &loop->l->layer[i], LAYERS_INPUT);
        leave_out(loop, &loop->l->layer[i], LAYERS_WEIGHT);
    }
}

uint64_t layers_run(const struct layers *l, struct schedule_builder *b, uint32_t rank)
{
    struct loop loop = {.l = l, .b = b, .rank = rank};
    for (unsigned i = 0; i < GROUPS; i++)
        loop.group[i] = NONE;
    switch (l->policy) {
    case LAYERS_MICRO:
        run_micro(&loop);
        break;
    case LAYERS_DATA:
    case LAYERS_DLRM:
    case LAYERS_DLRM_ENHANCED:
        run_data(&loop);
        break;
    case LAYERS_TRANSFORMER:
    case LAYERS_RECOMPUTING:
        run_transformer(&loop);
        break;
    case LAYERS_INFERENCE:
        run_inference(&loop);
        break;
    default:
        run_model(&loop);
    }
    return loop.left_out;
}
