/* summary.c - counts of a schedule (summary.h). */
#include "schedule/summary.h"
#include "base/compare.h"
#include "schedule/walk.h"

#include <inttypes.h>
#include <stdlib.h>

/* Inserts a pair into the list of those with most bytes; of equals, the earlier one stays first. */
static void insert(struct schedule_pair top[SCHEDULE_TOP], unsigned *count, const struct schedule_pair *pair)
{
    unsigned at = *count;
    while (at > 0 && top[at - 1].bytes < pair->bytes)
        at--;
    if (at == SCHEDULE_TOP)
        return;
    *count += *count < SCHEDULE_TOP;
    for (unsigned i = *count - 1; i > at; i--)
        top[i] = top[i - 1];
    top[at] = *pair;
}

/* Messages of one rank, by destination. */
struct row {
    struct schedule_pair *to; /* [ranks]; zero messages: none */
    uint32_t *used;           /* destinations with messages */
    uint32_t destinations;
};

static void count_send(struct row *row, const struct schedule_walk *w)
{
    struct schedule_pair *pair = &row->to[w->operation->peer];
    if (pair->messages == 0)
        row->used[row->destinations++] = w->operation->peer;
    pair->messages = schedule_add(pair->messages, w->times);
    pair->bytes = schedule_add(pair->bytes, schedule_multiply(w->times, w->operation->amount));
}

static void count_operation(struct schedule_summary *sum, const struct schedule_walk *w, uint64_t *compute)
{
    const struct schedule_operation *o = w->operation;
    uint64_t amount = schedule_multiply(w->times, o->amount);
    sum->written[o->kind]++;
    sum->executed[o->kind] = schedule_add(sum->executed[o->kind], w->times);
    if (o->kind == SCHEDULE_COMPUTE)
        *compute = schedule_add(*compute, amount);
    if (o->kind == SCHEDULE_COLLECTIVE) {
        sum->collectives[o->collective] = schedule_add(sum->collectives[o->collective], w->times);
        sum->collective_bytes[o->collective] = schedule_add(sum->collective_bytes[o->collective], amount);
    }
    if (o->kind == SCHEDULE_SEND && o->amount > sum->longest_message)
        sum->longest_message = o->amount;
}

/* Adds a rank's messages to the summary, writes them, and empties the row. */
static void add_row(struct schedule_summary *sum, uint32_t rank, struct row *row, FILE *pairs)
{
    struct schedule_pair all = {.from = rank};
    qsort(row->used, row->destinations, sizeof *row->used, hx_compare_uint32);
    for (uint32_t i = 0; i < row->destinations; i++) {
        struct schedule_pair *pair = &row->to[row->used[i]];
        pair->from = rank;
        pair->to = row->used[i];
        if (pairs)
            (void)fprintf(pairs, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 "\n", pair->from, pair->to,
                          pair->messages, pair->bytes);
        insert(sum->pair, &sum->top_pairs, pair);
        all.messages = schedule_add(all.messages, pair->messages);
        all.bytes = schedule_add(all.bytes, pair->bytes);
        *pair = (struct schedule_pair){0};
    }
    if (row->destinations)
        insert(sum->sender, &sum->top_senders, &all);
    sum->pairs += row->destinations;
    sum->messages = schedule_add(sum->messages, all.messages);
    sum->bytes = schedule_add(sum->bytes, all.bytes);
    row->destinations = 0;
}

static void count_rank(struct schedule_summary *sum, const struct schedule *s, uint32_t rank, struct row *row)
{
    struct schedule_walk w;
    uint64_t compute = 0;
    schedule_walk_begin(&w, s, rank);
    while (schedule_walk_next(&w)) {
        count_operation(sum, &w, &compute);
        if (w.operation->kind == SCHEDULE_SEND)
            count_send(row, &w);
    }
    schedule_walk_end(&w);
    sum->compute_ps = schedule_add(sum->compute_ps, compute);
    schedule_note_most(&sum->rank_compute, compute, rank);
}

static void count_groups(struct schedule_summary *sum, const struct schedule *s)
{
    sum->groups = s->head->groups;
    for (uint32_t g = 0; g < s->head->groups; g++) {
        uint32_t size = schedule_group_size(s, g);
        if (g == 0 || size < sum->smallest_group)
            sum->smallest_group = size;
        if (size > sum->largest_group)
            sum->largest_group = size;
    }
}

void schedule_summarize(const struct schedule *s, FILE *pairs, struct schedule_summary *summary)
{
    struct row row = {.to = hx_allocate(schedule_ranks(s), sizeof *row.to),
                      .used = hx_allocate(schedule_ranks(s), sizeof *row.used)};
    *summary = (struct schedule_summary){.dependencies = s->head->followers};
    if (pairs)
        (void)fprintf(pairs, "from,to,messages,bytes\n");
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        count_rank(summary, s, rank, &row);
        add_row(summary, rank, &row, pairs);
    }
    HX_FREE(row.to, row.used);
    count_groups(summary, s);
    schedule_measure_depth(s, summary);
}
