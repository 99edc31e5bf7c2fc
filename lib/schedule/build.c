/* build.c - collects operations, checks them, and lays out the schedule (build.h). */
#include "schedule/build.h"
#include "base/blobs.h"
#include "schedule/layout.h"
#include "schedule/structure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct dependency {
    uint32_t later;
    uint32_t earlier; /* number << 1, plus SCHEDULE_AFTER_START */
};

/* Invariant: body[0 .. bodies - 1] are the open repeats, the innermost last. */
struct rank {
    struct schedule_operation *operation;
    struct dependency *dependency;
    uint32_t *body;
    size_t operations, operations_room, dependencies, dependencies_room, bodies, bodies_room;
};

struct schedule_builder {
    uint32_t ranks;
    struct rank *rank;         /* [ranks] */
    struct hx_blobs names;     /* with their final zeros */
    struct hx_blobs groups;    /* lists of ranks */
    struct hx_blobs shares;    /* tables of weights */
    struct schedule_head head; /* purposes, work and dimensions; the rest is that of schedule_head_new() */
};

struct schedule_builder *schedule_builder_new(uint32_t ranks)
{
    struct schedule_builder *b = hx_allocate(1, sizeof *b);
    b->ranks = ranks;
    b->rank = hx_allocate(ranks, sizeof *b->rank);
    b->head = schedule_head_new(ranks);
    (void)hx_blobs_add(&b->names, "", 1);
    return b;
}

static void free_rank(struct rank *r)
{
    HX_FREE(r->operation, r->dependency, r->body);
    *r = (struct rank){0};
}

void schedule_builder_free(struct schedule_builder *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->ranks; i++)
        free_rank(&b->rank[i]);
    hx_blobs_free(&b->names);
    hx_blobs_free(&b->groups);
    hx_blobs_free(&b->shares);
    HX_FREE(b->rank, b);
}

uint32_t schedule_builder_ranks(const struct schedule_builder *b)
{
    return b->ranks;
}

uint32_t schedule_builder_count(const struct schedule_builder *b, uint32_t rank)
{
    return (uint32_t)b->rank[rank].operations;
}

struct schedule_operation *schedule_builder_at(struct schedule_builder *b, uint32_t rank, uint32_t number)
{
    return &b->rank[rank].operation[number];
}

/* ---- operations ---- */

static uint32_t add(struct schedule_builder *b, uint32_t rank, const struct schedule_operation *o)
{
    struct rank *r = &b->rank[rank];
    r->operation = hx_grow(r->operation, r->operations, &r->operations_room, sizeof *r->operation);
    r->operation[r->operations] = *o;
    return (uint32_t)r->operations++;
}

uint32_t schedule_compute(struct schedule_builder *b, uint32_t rank, uint64_t ps, unsigned stream)
{
    return add(b, rank,
               &(struct schedule_operation){.kind = SCHEDULE_COMPUTE, .amount = ps, .stream = (uint8_t)stream});
}

uint32_t schedule_send(struct schedule_builder *b, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t tag)
{
    return add(b, rank, &(struct schedule_operation){.kind = SCHEDULE_SEND, .amount = bytes, .peer = to, .tag = tag});
}

uint32_t schedule_receive(struct schedule_builder *b, uint32_t rank, uint32_t from, uint64_t bytes, uint32_t tag)
{
    return add(b, rank,
               &(struct schedule_operation){.kind = SCHEDULE_RECEIVE, .amount = bytes, .peer = from, .tag = tag});
}

uint32_t schedule_collect(struct schedule_builder *b, uint32_t rank, enum hx_collective_kind kind, uint32_t group,
                          uint64_t bytes, uint32_t tag)
{
    return add(
        b, rank,
        &(struct schedule_operation){
            .kind = SCHEDULE_COLLECTIVE, .amount = bytes, .peer = group, .tag = tag, .collective = (uint8_t)kind});
}

uint32_t schedule_repeat(struct schedule_builder *b, uint32_t rank, uint64_t times)
{
    struct rank *r = &b->rank[rank];
    uint32_t number = add(b, rank, &(struct schedule_operation){.kind = SCHEDULE_REPEAT, .amount = times});
    r->body = hx_grow(r->body, r->bodies, &r->bodies_room, sizeof *r->body);
    r->body[r->bodies++] = number;
    return number;
}

void schedule_repeat_end(struct schedule_builder *b, uint32_t rank)
{
    struct rank *r = &b->rank[rank];
    uint32_t number = r->body[--r->bodies];
    r->operation[number].peer = (uint32_t)r->operations - number - 1;
}

static void depend(struct schedule_builder *b, uint32_t rank, uint32_t later, uint32_t earlier)
{
    struct rank *r = &b->rank[rank];
    r->dependency = hx_grow(r->dependency, r->dependencies, &r->dependencies_room, sizeof *r->dependency);
    r->dependency[r->dependencies++] = (struct dependency){later, earlier};
}

void schedule_after(struct schedule_builder *b, uint32_t rank, uint32_t later, uint32_t earlier)
{
    depend(b, rank, later, earlier << 1);
}

void schedule_after_start(struct schedule_builder *b, uint32_t rank, uint32_t later, uint32_t earlier)
{
    depend(b, rank, later, earlier << 1 | SCHEDULE_AFTER_START);
}

/* ---- names and groups ---- */

/* Offset of a text in the names; SCHEDULE_NO_NAME: they are full. */
static uint32_t add_name(struct schedule_builder *b, const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (b->names.used + bytes > UINT32_MAX)
        return SCHEDULE_NO_NAME;
    uint32_t name = hx_blobs_add(&b->names, text, bytes);
    return (uint32_t)b->names.blob[name].at;
}

void schedule_set_name(struct schedule_builder *b, uint32_t rank, uint32_t number, const char *text)
{
    b->rank[rank].operation[number].name = add_name(b, text);
}

bool schedule_set_purpose(struct schedule_builder *b, uint32_t rank, uint32_t number, const char *text)
{
    uint32_t name = add_name(b, text);
    unsigned purpose = SCHEDULE_NO_PURPOSE;
    while (purpose < SCHEDULE_MOST_PURPOSES && b->head.purpose[purpose] != name) {
        purpose++;
        if (purpose < SCHEDULE_MOST_PURPOSES && b->head.purpose[purpose] == SCHEDULE_NO_NAME)
            b->head.purpose[purpose] = name;
    }
    if (purpose == SCHEDULE_MOST_PURPOSES)
        return false;
    b->rank[rank].operation[number].purpose = purpose & (SCHEDULE_MOST_PURPOSES - 1);
    return true;
}

void schedule_set_work(struct schedule_builder *b, uint64_t samples, uint64_t tokens, uint32_t iterations)
{
    b->head.samples = samples;
    b->head.tokens = tokens;
    b->head.iterations = iterations;
}

void schedule_set_in_order(struct schedule_builder *b)
{
    b->head.in_order = 1;
}

void schedule_set_dimensions(struct schedule_builder *b, const uint32_t *size, unsigned count)
{
    memcpy(b->head.dimension, size, count * sizeof *size);
}

uint32_t schedule_add_group(struct schedule_builder *b, const uint32_t *ranks, uint32_t count)
{
    return hx_blobs_add(&b->groups, ranks, count * sizeof *ranks);
}

uint32_t schedule_add_shares(struct schedule_builder *b, const uint32_t *weight, uint32_t members)
{
    return 1 + hx_blobs_add(&b->shares, weight, (size_t)members * members * sizeof *weight);
}

/* ---- one rank's layout ---- */

static int by_earlier_and_later(const void *a, const void *b)
{
    const struct dependency *x = a;
    const struct dependency *y = b;
    uint64_t first = (uint64_t)(x->earlier >> 1) << 33 | (uint64_t)x->later << 1 | (x->earlier & 1);
    uint64_t second = (uint64_t)(y->earlier >> 1) << 33 | (uint64_t)y->later << 1 | (y->earlier & 1);
    return (first > second) - (first < second);
}

/* Sorts dependencies by the earlier operation and drops repeated ones. Waiting for the end includes the start. */
static void sort_dependencies(struct rank *r)
{
    size_t kept = 0;
    if (r->dependencies == 0)
        return;
    qsort(r->dependency, r->dependencies, sizeof *r->dependency, by_earlier_and_later);
    for (size_t i = 0; i < r->dependencies; i++) {
        const struct dependency *d = &r->dependency[i];
        const struct dependency *last = kept ? &r->dependency[kept - 1] : NULL;
        if (!last || last->later != d->later || last->earlier >> 1 != d->earlier >> 1)
            r->dependency[kept++] = *d;
    }
    r->dependencies = kept;
}

static void lay_out(const struct rank *r, struct schedule_operation *operation, uint32_t *follower)
{
    size_t next = 0;
    if (r->operations)
        memcpy(operation, r->operation, r->operations * sizeof *operation);
    for (uint32_t i = 0; i < r->operations; i++) {
        operation[i].follower = (uint32_t)next;
        for (; next < r->dependencies && r->dependency[next].earlier >> 1 == i; next++) {
            follower[next] = r->dependency[next].later << 1 | (r->dependency[next].earlier & 1);
            operation[r->dependency[next].later].waits++;
        }
    }
}

/* ---- the whole ---- */

static struct schedule_head counts_of(struct schedule_builder *b)
{
    struct schedule_head head = b->head;
    for (uint32_t i = 0; i < b->ranks; i++) {
        sort_dependencies(&b->rank[i]);
        head.operations += b->rank[i].operations;
        head.followers += b->rank[i].dependencies;
    }
    head.groups = b->groups.count;
    head.members = b->groups.used / sizeof(uint32_t);
    head.shares = b->shares.count;
    head.weights = b->shares.used / sizeof(uint32_t);
    head.names = b->names.used;
    return head;
}

/* The arrays of a schedule that is being made, which are its own. */
static void *own(const void *array)
{
    return (void *)(uintptr_t)array;
}

/* Places lists of numbers, each a blob: where each begins, and the numbers. */
static void place_lists(const struct hx_blobs *lists, const uint64_t *first, const uint32_t *number)
{
    uint64_t *begin = own(first);
    for (size_t i = 0; i < lists->count; i++)
        begin[i] = lists->blob[i].at / sizeof(uint32_t);
    begin[lists->count] = lists->used / sizeof(uint32_t);
    if (lists->used)
        memcpy(own(number), lists->bytes, lists->used);
}

static void place_lists_and_names(const struct schedule_builder *b, const struct schedule *s)
{
    place_lists(&b->groups, s->first_member, s->member);
    place_lists(&b->shares, s->first_weight, s->weight);
    memcpy(own(s->names), b->names.bytes, b->names.used);
}

static bool place_ranks(struct schedule_builder *b, struct schedule *s, const char *where, struct hx_problem *problem)
{
    uint64_t *first = own(s->first);
    uint64_t *first_follower = own(s->first_follower);
    struct schedule_operation *operation = own(s->operation);
    uint32_t *follower = own(s->follower);
    for (uint32_t i = 0; i < b->ranks; i++) {
        struct rank *r = &b->rank[i];
        first[i + 1] = first[i] + r->operations;
        first_follower[i + 1] = first_follower[i] + r->dependencies;
        lay_out(r, operation + first[i], follower + first_follower[i]);
        free_rank(r);
    }
    return schedule_check_structure(s, where, problem);
}

static bool counts_fit(const struct schedule_builder *b, const char *where, struct hx_problem *problem)
{
    for (uint32_t i = 0; i < b->ranks; i++) {
        if (b->rank[i].operations > SCHEDULE_MOST_OPERATIONS)
            return hx_fail(problem, HX_EXIT_CONFIG, where,
                           "rank %" PRIu32 " has %zu operations, %d are possible (repeat a block)", i,
                           b->rank[i].operations, SCHEDULE_MOST_OPERATIONS);
        if (b->rank[i].dependencies > UINT32_MAX)
            return hx_fail(problem, HX_EXIT_CONFIG, where, "rank %" PRIu32 " has %zu dependencies, 2^32 are possible",
                           i, b->rank[i].dependencies);
    }
    return true;
}

struct schedule *schedule_build(struct schedule_builder *b, const char *where, struct hx_problem *problem)
{
    struct schedule sizes;
    if (!counts_fit(b, where, problem)) {
        schedule_builder_free(b);
        return NULL;
    }
    const struct schedule_head head = counts_of(b);
    struct schedule *s = hx_allocate(1, sizeof *s);
    s->bytes = schedule_place(&sizes, &head);
    struct schedule_head *base = hx_allocate(1, s->bytes);
    *base = head;
    (void)schedule_place(s, base);
    place_lists_and_names(b, s);
    bool good = place_ranks(b, s, where, problem);
    schedule_builder_free(b);
    if (good)
        return s;
    schedule_close(s);
    return NULL;
}
