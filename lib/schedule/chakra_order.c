/* chakra_order.c - makes operations of the items of a rank, and puts them in order.
 *
 * Operations are numbered by the ids of their nodes: ASTRA-sim issues nodes that are ready in this order. A node that
 * became no operation passes its dependencies on to those that wait for it. */
#include "schedule/chakra.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_PASSED_ON = 1 << 26 /* of a rank */ };

/* ---- ids ---- */

static int by_id(const void *a, const void *b)
{
    const struct chakra_item *x = a;
    const struct chakra_item *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool sort(struct chakra_rank *r)
{
    bool sorted = true;
    for (size_t i = 1; sorted && i < r->items; i++)
        sorted = r->item[i - 1].id < r->item[i].id;
    if (sorted)
        return true;
    qsort(r->item, r->items, sizeof *r->item, by_id);
    for (size_t i = 1; i < r->items; i++) {
        if (r->item[i - 1].id == r->item[i].id)
            return chakra_fail(r, &r->item[i], "%s %" PRIu64 " has a node of the same id", r->place,
                               r->item[i - 1].place);
    }
    return true;
}

/* Returns the index of the item with an id, or CHAKRA_NONE. Ids are mostly consecutive. */
static uint32_t find(const struct chakra_rank *r, uint64_t id)
{
    uint64_t guess = r->items ? id - r->item[0].id : 0;
    size_t low = 0;
    size_t high = r->items;
    if (guess < r->items && r->item[guess].id == id)
        return (uint32_t)guess;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->item[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->items && r->item[low].id == id ? (uint32_t)low : CHAKRA_NONE;
}

/* Replaces ids by indices of items. A missing node is an error on data, and is counted on control. */
static bool find_dependencies(struct chakra_rank *r)
{
    for (size_t i = 0; i < r->items; i++) {
        const struct chakra_item *item = &r->item[i];
        uint64_t *list = r->dependency + item->first;
        for (uint32_t d = 0; d < item->data + item->control; d++) {
            uint64_t id = list[d];
            list[d] = find(r, id);
            if (list[d] != CHAKRA_NONE)
                continue;
            if (d < item->data)
                return chakra_fail(r, item, "waits for node %" PRIu64 ", which the file does not have", id);
            r->trace->counts.lost++;
        }
    }
    return true;
}

/* Drops dependencies on control within a circle: in traces of PyTorch they name the caller, which may wait for what it
 * calls. */
static void open_circles(struct chakra_rank *r)
{
    uint64_t controls = 0;
    for (size_t i = 0; i < r->items; i++)
        controls += r->item[i].control;
    if (controls == 0)
        return;
    uint32_t *component = chakra_components(r);
    for (size_t i = 0; i < r->items; i++) {
        const struct chakra_item *item = &r->item[i];
        uint64_t *list = r->dependency + item->first;
        for (uint32_t d = item->data; d < item->data + item->control; d++) {
            if (list[d] == CHAKRA_NONE || component[list[d]] != component[i])
                continue;
            list[d] = CHAKRA_NONE;
            r->trace->counts.circular++;
        }
    }
    free(component);
}

/* ---- operations ---- */

/* Sets the number of bytes of a collective's vector, and the root's position. */
static bool place_in_group(const struct chakra_rank *r, const struct chakra_item *item, uint64_t *bytes, uint32_t *root,
                           uint32_t *index)
{
    const struct chakra_group *group = chakra_group_of(r, item);
    if (!group)
        return false;
    bool is_of_one_rank = item->collective == HX_ALL_GATHER || item->collective == HX_GATHER;
    *index = group->index;
    *bytes = is_of_one_rank ? item->amount * group->count : item->amount;
    *root = 0;
    if (*bytes > SCHEDULE_MOST_BYTES)
        return chakra_fail(r, item,
                           "gathers %" PRIu64 " bytes from each of %" PRIu32 " ranks, %" PRIu64 " in all are possible",
                           item->amount, group->count, SCHEDULE_MOST_BYTES);
    if (item->tag == CHAKRA_NONE)
        return true;
    while (*root < group->count && group->member[*root] != item->tag)
        ++*root;
    return *root < group->count ||
           chakra_fail(r, item, "its root, rank %" PRIu32 ", is not in group '%.40s'", item->tag, group->name);
}

static bool add_operation(struct chakra_rank *r, struct chakra_item *item)
{
    struct schedule_builder *b = r->trace->builder;
    uint64_t bytes;
    uint32_t root;
    uint32_t group;
    if (item->number == CHAKRA_NONE)
        return true;
    if (item->kind == SCHEDULE_COMPUTE) {
        item->number = schedule_compute(b, r->rank, item->amount, item->stream);
    } else if (item->kind == SCHEDULE_SEND) {
        item->number = schedule_send(b, r->rank, item->peer, item->amount, item->tag);
    } else if (item->kind == SCHEDULE_RECEIVE) {
        item->number = schedule_receive(b, r->rank, item->peer, item->amount, item->tag);
    } else {
        if (!place_in_group(r, item, &bytes, &root, &group))
            return false;
        item->number = schedule_collect(b, r->rank, (enum hx_collective_kind)item->collective, group, bytes, root);
    }
    schedule_set_name(b, r->rank, item->number, r->text + item->name);
    return true;
}

/* ---- nodes that became no operation ---- */

/* Operations that such a node waits for: those at `first` in the list of all. */
struct passed {
    size_t first;
    uint32_t count, next; /* next: dependency that the search looks at */
    enum { NEW, OPEN, DONE } state;
};

struct passing {
    struct chakra_rank *r;
    struct passed *of; /* [items] */
    uint32_t *list;
    uint32_t *stack;
    size_t used, room, depth, stack_room;
    uint64_t given; /* dependencies that operations took over */
};

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Collects what an item waits for, after all nodes without operation that it waits for. */
static void collect(struct passing *p, uint32_t index)
{
    const struct chakra_item *item = &p->r->item[index];
    struct passed *of = &p->of[index];
    of->first = p->used;
    for (uint32_t d = 0; d < item->data + item->control; d++) {
        uint64_t other = p->r->dependency[item->first + d];
        const struct passed *from = other == CHAKRA_NONE ? NULL : &p->of[other];
        bool is_operation = from && p->r->item[other].number != CHAKRA_NONE;
        for (uint32_t i = 0; from && i < (is_operation ? 1 : from->count); i++) {
            uint32_t number = is_operation ? p->r->item[other].number : p->list[from->first + i];
            p->list = hx_grow(p->list, p->used, &p->room, sizeof *p->list);
            p->list[p->used++] = number;
        }
    }
    size_t kept = of->first;
    if (p->used > of->first)
        qsort(p->list + of->first, p->used - of->first, sizeof *p->list, by_number);
    for (size_t i = of->first; i < p->used; i++) {
        if (kept == of->first || p->list[kept - 1] != p->list[i])
            p->list[kept++] = p->list[i];
    }
    p->used = kept;
    of->count = (uint32_t)(kept - of->first);
    of->state = DONE;
}

static void push(struct passing *p, uint32_t index)
{
    p->stack = hx_grow(p->stack, p->depth, &p->stack_room, sizeof *p->stack);
    p->stack[p->depth++] = index;
    p->of[index].state = OPEN;
}

static bool fail_passing(const struct passing *p, const struct chakra_item *item)
{
    return chakra_fail(p->r, item, "nodes without an operation pass on more than %d dependencies", MOST_PASSED_ON);
}

/* Collects for a node without operation, and for those that it waits for. */
static bool pass_on(struct passing *p, uint32_t start)
{
    if (p->of[start].state == DONE)
        return true;
    push(p, start);
    while (p->depth) {
        uint32_t index = p->stack[p->depth - 1];
        const struct chakra_item *item = &p->r->item[index];
        struct passed *of = &p->of[index];
        if (of->next == item->data + item->control) {
            collect(p, index);
            p->depth--;
            if (p->used > MOST_PASSED_ON)
                return fail_passing(p, item);
            continue;
        }
        uint64_t other = p->r->dependency[item->first + of->next++];
        if (other == CHAKRA_NONE || p->r->item[other].number != CHAKRA_NONE || p->of[other].state == DONE)
            continue;
        if (p->of[other].state == OPEN)
            return chakra_fail(p->r, item, "waits for itself, by way of node %" PRIu64, p->r->item[other].id);
        push(p, (uint32_t)other);
    }
    return true;
}

static bool depend(struct passing *p, const struct chakra_item *item, uint64_t other)
{
    struct schedule_builder *b = p->r->trace->builder;
    if (other == CHAKRA_NONE)
        return true;
    if (p->r->item[other].number != CHAKRA_NONE) {
        schedule_after(b, p->r->rank, item->number, p->r->item[other].number);
        return true;
    }
    if (!p->of)
        p->of = hx_allocate(p->r->items, sizeof *p->of);
    if (!pass_on(p, (uint32_t)other))
        return false;
    p->given += p->of[other].count;
    if (p->given > MOST_PASSED_ON)
        return fail_passing(p, item);
    for (uint32_t i = 0; p->list && i < p->of[other].count; i++)
        schedule_after(b, p->r->rank, item->number, p->list[p->of[other].first + i]);
    return true;
}

static bool add_dependencies(struct chakra_rank *r)
{
    struct passing p = {.r = r};
    bool good = true;
    for (size_t i = 0; good && i < r->items; i++) {
        const struct chakra_item *item = &r->item[i];
        for (uint32_t d = 0; good && item->number != CHAKRA_NONE && d < item->data + item->control; d++)
            good = depend(&p, item, r->dependency[item->first + d]);
    }
    HX_FREE(p.of, p.list, p.stack);
    return good;
}

bool chakra_order(struct chakra_rank *r)
{
    if (!sort(r) || !find_dependencies(r))
        return false;
    open_circles(r);
    for (size_t i = 0; i < r->items; i++) {
        if (!add_operation(r, &r->item[i]))
            return false;
    }
    return add_dependencies(r);
}
