/* fuzz_schedule.c - any bytes as a file of a schedule are refused in one line, or are a schedule that is carried out on
 * an ideal network, or waits for messages that never come. libFuzzer's entry; seeds in corpus/schedule.
 *
 * The work is bounded: no schedule with more than MOST operations, or bytes of collectives, with repeats is carried
 * out. */
#include "tests/fuzz/fuzz_schedule.h"
#include "schedule/choices.h"
#include "schedule/estimate.h"
#include "schedule/walk.h"

enum { LONGEST = 16384, MOST = 20000, MOST_RANKS = 4096, KEPT = 16 };

/* Work of a rank; UINT64_MAX: more than 64 bits hold. */
static uint64_t work_of(const struct schedule *s, uint32_t rank)
{
    struct schedule_walk walk;
    uint64_t sum = 0;
    schedule_walk_begin(&walk, s, rank);
    while (schedule_walk_next(&walk)) {
        const struct schedule_operation *o = walk.operation;
        bool collective = o->kind == SCHEDULE_COLLECTIVE;
        uint64_t work = collective ? schedule_group_size(s, o->peer) + o->amount / 1024 : 1;
        sum = schedule_add(sum, schedule_multiply(work, walk.times));
    }
    schedule_walk_end(&walk);
    return sum;
}

static bool is_small(const struct schedule *s)
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++)
        sum = schedule_add(sum, work_of(s, rank));
    return sum <= MOST && schedule_ranks(s) <= MOST_RANKS;
}

/* Whether every operation of every rank ended. */
static bool all_done(const struct executor_plan *plan)
{
    for (uint32_t rank = 0; rank < schedule_ranks(plan->schedule); rank++) {
        if (!plan->result[rank].done)
            return false;
    }
    return true;
}

static void carry_out(struct executor_plan *plan, uint64_t *first_entry, bool costly)
{
    uint32_t ranks = schedule_ranks(plan->schedule);
    for (uint32_t i = 0; i < ranks; i++)
        first_entry[i + 1] = first_entry[i] + KEPT;
    plan->costs = executor_costs_default;
    if (costly)
        plan->costs = (struct executor_costs){700, 0.5, 64, 1.5};
    const struct estimate_network network = {.latency_ps = costly ? 1000 : 0, .byte_ps = costly ? 10 : 0};
    bool good = schedule_estimate(plan, &network);
    for (uint32_t rank = 0; rank < ranks && good; rank++)
        require(plan->result[rank].done || plan->result[rank].blocked_count);
    require(good || !all_done(plan));
}

static void run(const struct schedule *s, bool costly)
{
    uint32_t ranks = schedule_ranks(s);
    struct schedule_groups groups;
    struct hx_problem problem;
    struct schedule_choices *choices = schedule_choices_make(s, schedule_fill_plain, NULL, &problem);
    if (!choices)
        return;
    schedule_groups_make(&groups, s);
    uint64_t *first_entry = hx_allocate(ranks + (size_t)1, sizeof *first_entry);
    struct executor_plan plan = {.schedule = s,
                                 .window = costly ? EXECUTOR_WINDOW : UINT32_MAX,
                                 .choose = schedule_choose,
                                 .of = choices,
                                 .result = hx_allocate(ranks, sizeof(struct executor_result)),
                                 .entry = hx_allocate(ranks * (size_t)KEPT, sizeof(struct executor_entry)),
                                 .first_entry = first_entry,
                                 .groups = &groups};
    carry_out(&plan, first_entry, costly);
    schedule_groups_free(&groups);
    schedule_choices_free(choices);
    HX_FREE(plan.result, plan.entry, first_entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hx_problem problem = {.what = ""};
    char path[64];
    if (size > LONGEST)
        return 0;
    (void)snprintf(path, sizeof path, "/tmp/hxmesh-fuzz-%d.hxs", (int)getpid());
    FILE *out = fopen(path, "wb");
    require(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    struct schedule *s = schedule_open(path, &problem);
    require(unlink(path) == 0);
    if (!s)
        require(problem.exit_code != 0 && strcmp(problem.where, path) == 0 && problem.what[0] &&
                !strchr(problem.what, '\n'));
    for (unsigned costly = 0; s && costly < 2 && is_small(s); costly++)
        run(s, costly);
    schedule_close(s);
    return 0;
}
