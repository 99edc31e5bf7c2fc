/* chakra_node.c - what a node of a Chakra trace becomes (chakra.h; the meaning of nodes stands in chakra.c). */
#include "schedule/chakra.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_GPU = 0, STREAM_CPU = 1 };
#define PS_PER_MICROSECOND UINT64_C(1000000)

const char *const chakra_number_names[CHAKRA_NUMBERS] = {
    [CHAKRA_OPERATIONS] = "num_ops", [CHAKRA_TENSOR] = "tensor_size", [CHAKRA_KIND] = "comm_type",
    [CHAKRA_SIZE] = "comm_size",     [CHAKRA_SOURCE] = "comm_src",    [CHAKRA_TARGET] = "comm_dst",
    [CHAKRA_TAG] = "comm_tag"};

/* ---- a rank ---- */

/* Appends a text and its zero. Returns its offset. */
static uint32_t keep(struct chakra_rank *r, struct chakra_text text)
{
    size_t length = text.length ? strnlen(text.at, text.length) : 0;
    size_t offset = r->texts;
    if (length == 0 || offset + length >= CHAKRA_NONE)
        return 0;
    while (r->text_room < offset + length + 1)
        r->text = hx_grow(r->text, r->text_room, &r->text_room, 1);
    memcpy(r->text + offset, text.at, length);
    r->text[offset + length] = '\0';
    r->texts = offset + length + 1;
    return (uint32_t)offset;
}

void chakra_rank_begin(struct chakra_rank *r, struct chakra_trace *trace, uint32_t rank, const char *path)
{
    *r = (struct chakra_rank){.trace = trace, .rank = rank, .path = path, .place = "byte"};
    r->dependency = hx_grow(NULL, 0, &r->dependencies_room, sizeof *r->dependency);
    r->text = hx_grow(NULL, 0, &r->text_room, 1);
    r->text[0] = '\0';
    r->texts = 1;
}

void chakra_rank_end(struct chakra_rank *r)
{
    chakra_groups_free(&r->groups);
    HX_FREE(r->item, r->dependency, r->control, r->text);
}

void chakra_depend(struct chakra_rank *r, uint64_t id, bool is_control)
{
    if (is_control) {
        r->control = hx_grow(r->control, r->controls, &r->controls_room, sizeof *r->control);
        r->control[r->controls++] = id;
        return;
    }
    r->dependency = hx_grow(r->dependency, r->dependencies, &r->dependencies_room, sizeof *r->dependency);
    r->dependency[r->dependencies++] = id;
}

bool chakra_fail(const struct chakra_rank *r, const struct chakra_item *item, const char *format, ...)
{
    char what[320];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return hx_fail(r->trace->problem, HX_EXIT_CONFIG, r->path, "%s %" PRIu64 ": node %" PRIu64 " ('%.60s'): %s",
                   r->place, item->place, item->id, r->text + item->name, what);
}

/* ---- computing ---- */

/* Sets *ps to the node's time. Returns false if it is too long. */
static bool find_time(const struct chakra_rank *r, const struct chakra_node *node, uint64_t *ps)
{
    const struct schedule_read_options *o = r->trace->options;
    bool has_work = (node->has & 1U << CHAKRA_OPERATIONS) && node->number[CHAKRA_OPERATIONS] > 0;
    bool has_tensor = (node->has & 1U << CHAKRA_TENSOR) && node->number[CHAKRA_TENSOR] > 0;
    double seconds = 0.0;
    if (o->flops > 0.0 && has_work)
        seconds = (double)node->number[CHAKRA_OPERATIONS] / o->flops;
    if (o->memory_bandwidth > 0.0 && has_tensor)
        seconds = fmax(seconds, (double)node->number[CHAKRA_TENSOR] / o->memory_bandwidth);
    if (seconds > 0.0 && !node->is_cpu) {
        *ps = seconds < 1e6 ? (uint64_t)llround(seconds * 1e12) : UINT64_MAX;
        return *ps <= SCHEDULE_MOST_TIME;
    }
    if (node->micros > SCHEDULE_MOST_TIME / PS_PER_MICROSECOND)
        return false;
    *ps = node->micros * PS_PER_MICROSECOND;
    r->trace->counts.without_duration += *ps == 0 && has_work;
    return true;
}

static bool take_compute(struct chakra_rank *r, const struct chakra_node *node, struct chakra_item *item)
{
    item->kind = SCHEDULE_COMPUTE;
    item->stream = node->is_cpu ? STREAM_CPU : STREAM_GPU;
    return find_time(r, node, &item->amount) ||
           chakra_fail(r, item, "computes for longer than 20 hours (duration_micros is in microseconds)");
}

/* ---- communication ---- */

/* Sets *value to one of the node's numbers, 0 .. below - 1. */
static bool find_number(const struct chakra_rank *r, const struct chakra_node *node, const struct chakra_item *item,
                        enum chakra_number which, uint64_t below, uint32_t *value)
{
    int64_t number = node->number[which];
    if (!(node->has & 1U << which))
        return chakra_fail(r, item, "%s is missing", chakra_number_names[which]);
    if (number < 0 || (uint64_t)number >= below)
        return chakra_fail(r, item, "%s is %" PRId64 ", expected 0 to %" PRIu64 " (the trace has %" PRIu32 " ranks)",
                           chakra_number_names[which], number, below - 1, r->trace->ranks);
    *value = (uint32_t)number;
    return true;
}

/* The other end of a message; the rank itself may be named as well, and must be this one then. */
static bool take_message(struct chakra_rank *r, const struct chakra_node *node, struct chakra_item *item)
{
    bool sends = node->type == CHAKRA_SEND;
    enum chakra_number own = sends ? CHAKRA_SOURCE : CHAKRA_TARGET;
    int64_t tag = node->number[CHAKRA_TAG];
    item->kind = sends ? SCHEDULE_SEND : SCHEDULE_RECEIVE;
    if (!find_number(r, node, item, sends ? CHAKRA_TARGET : CHAKRA_SOURCE, r->trace->ranks, &item->peer))
        return false;
    if ((node->has & 1U << own) && node->number[own] != r->rank)
        return chakra_fail(r, item, "%s is %" PRId64 ", but the file is of rank %" PRIu32, chakra_number_names[own],
                           node->number[own], r->rank);
    if (tag < 0 || tag >= SCHEDULE_ANY)
        return chakra_fail(r, item, "comm_tag is %" PRId64 ", expected 0 to %" PRIu32, tag, SCHEDULE_ANY - 1);
    item->tag = (uint32_t)tag;
    return true;
}

/* Kinds by comm_type, and the attribute that names the root's rank. */
static const struct {
    enum hx_collective_kind kind;
    enum chakra_number root; /* CHAKRA_NUMBERS: has none */
} collectives[] = {{HX_ALL_REDUCE, CHAKRA_NUMBERS},
                   {HX_REDUCE, CHAKRA_TARGET},
                   {HX_ALL_GATHER, CHAKRA_NUMBERS},
                   {HX_GATHER, CHAKRA_TARGET},
                   {HX_SCATTER, CHAKRA_SOURCE},
                   {HX_BROADCAST, CHAKRA_SOURCE},
                   {HX_COLLECTIVE_ALL_TO_ALL, CHAKRA_NUMBERS},
                   {HX_REDUCE_SCATTER, CHAKRA_NUMBERS},
                   {HX_REDUCE_SCATTER, CHAKRA_NUMBERS},
                   {HX_BARRIER, CHAKRA_NUMBERS}};
enum { COLLECTIVES = sizeof collectives / sizeof *collectives, BARRIER = COLLECTIVES - 1 };

static bool take_collective(struct chakra_rank *r, const struct chakra_node *node, struct chakra_item *item)
{
    int64_t type = node->number[CHAKRA_KIND];
    if (type < 0 || type >= COLLECTIVES)
        return chakra_fail(r, item, "comm_type is %" PRId64 ", expected 0 (all-reduce) to 9 (barrier)", type);
    enum chakra_number root = collectives[type].root;
    item->kind = SCHEDULE_COLLECTIVE;
    item->collective = (uint8_t)collectives[type].kind;
    item->tag = CHAKRA_NONE;
    item->group = keep(r, node->group);
    if (type == BARRIER)
        item->amount = 0;
    r->trace->counts.partial += node->is_partial;
    return root == CHAKRA_NUMBERS || !(node->has & 1U << root) ||
           find_number(r, node, item, root, r->trace->ranks, &item->tag);
}

static bool take_communication(struct chakra_rank *r, const struct chakra_node *node, struct chakra_item *item)
{
    bool is_message = node->type != CHAKRA_COLLECTIVE;
    bool has_kind = is_message || (node->has & 1U << CHAKRA_KIND);
    bool is_barrier = !is_message && has_kind && node->number[CHAKRA_KIND] == BARRIER;
    if (!has_kind || !(is_barrier || (node->has & 1U << CHAKRA_SIZE))) {
        if (node->is_cpu)
            return take_compute(r, node, item);
        item->number = CHAKRA_NONE;
        r->trace->counts.without_size++;
        return true;
    }
    int64_t size = node->number[CHAKRA_SIZE];
    if (size < 0 || (uint64_t)size > SCHEDULE_MOST_BYTES)
        return chakra_fail(r, item, "comm_size is %" PRId64 ", expected 0 to %" PRIu64 " bytes", size,
                           SCHEDULE_MOST_BYTES);
    item->amount = (uint64_t)size;
    return is_message ? take_message(r, node, item) : take_collective(r, node, item);
}

/* ---- a node ---- */

/* Moves the dependencies on control behind those on data. */
static void close_dependencies(struct chakra_rank *r, struct chakra_item *item)
{
    item->first =
        r->items ? r->item[r->items - 1].first + r->item[r->items - 1].data + r->item[r->items - 1].control : 0;
    item->data = (uint32_t)(r->dependencies - item->first);
    item->control = (uint32_t)r->controls;
    for (size_t i = 0; i < r->controls; i++)
        chakra_depend(r, r->control[i], false);
    r->controls = 0;
}

bool chakra_take(struct chakra_rank *r, const struct chakra_node *node)
{
    struct chakra_item item = {.place = node->place, .id = node->id, .name = keep(r, node->name)};
    struct chakra_counts *counts = &r->trace->counts;
    bool good = true;
    close_dependencies(r, &item);
    if (node->type < 0 || node->type >= CHAKRA_TYPES)
        return chakra_fail(r, &item, "type is %" PRId64 ", expected 0 to %d", node->type, CHAKRA_TYPES - 1);
    if (node->type < CHAKRA_COMPUTE) {
        item.number = CHAKRA_NONE;
        counts->invalid += node->type == CHAKRA_INVALID;
        counts->memory += node->type == CHAKRA_MEMORY_LOAD || node->type == CHAKRA_MEMORY_STORE;
        if (node->type == CHAKRA_METADATA)
            chakra_groups_learn(r, node->values);
    } else {
        good = node->type == CHAKRA_COMPUTE ? take_compute(r, node, &item) : take_communication(r, node, &item);
    }
    r->item = hx_grow(r->item, r->items, &r->items_room, sizeof *r->item);
    r->item[r->items++] = item;
    return good;
}

/* ---- notes ---- */

/* Appends "COUNT WHAT" to a text of some bytes, unless the count is 0. */
static void describe(char *text, size_t bytes, uint64_t count, const char *one, const char *many)
{
    size_t used = strlen(text);
    if (count)
        (void)snprintf(text + used, bytes - used, "%s%" PRIu64 " %s", used ? ", " : "", count, count == 1 ? one : many);
}

void chakra_describe(const struct chakra_counts *c, struct schedule_notes *notes)
{
    char *what = notes->what;
    char *rest = notes->annotations;
    notes->skipped = c->memory + c->invalid + c->without_size;
    describe(what, sizeof notes->what, c->memory, "memory node", "memory nodes");
    describe(what, sizeof notes->what, c->invalid, "invalid node", "invalid nodes");
    describe(what, sizeof notes->what, c->without_size, "communication node without kind or size",
             "communication nodes without kind or size");
    describe(rest, sizeof notes->annotations, c->lost, "control dependency on a missing node is dropped",
             "control dependencies on missing nodes are dropped");
    describe(rest, sizeof notes->annotations, c->circular, "control dependency in a circle is dropped",
             "control dependencies in circles are dropped");
    describe(rest, sizeof notes->annotations, c->partial, "collective with involved_dim runs over its whole group",
             "collectives with involved_dim run over their whole group");
    describe(rest, sizeof notes->annotations, c->without_duration, "computation has no time (see --flops)",
             "computations have no time (see --flops)");
}
