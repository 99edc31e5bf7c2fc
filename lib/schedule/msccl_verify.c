/* msccl_verify.c - executes a plan in a legal order (msccl_verify.h). */
#include "schedule/msccl_verify.h"
#include "schedule/msccl_races.h"
#include "schedule/msccl_values.h"

#include <inttypes.h>

struct run {
    const struct msccl_plan *plan;
    struct schedule_notes *notes;
    struct msccl_races *races;
    bool racing; /* what is computed depends on time */
    struct msccl_values values;
    uint32_t *missing;  /* [steps] what a step still waits for */
    uint32_t *first;    /* [steps + 1] of its followers */
    uint32_t *follower; /* [waits] */
    uint32_t *ready;    /* [steps] a stack */
    uint32_t ready_count;
};

static bool is_first_of_block(const struct msccl_plan *plan, uint32_t step)
{
    return plan->block[plan->step[step].block].first == step;
}

static void find_followers(struct run *r)
{
    const struct msccl_plan *plan = r->plan;
    r->missing = hx_allocate(plan->steps, sizeof *r->missing);
    r->first = hx_allocate(plan->steps + 2, sizeof *r->first);
    r->follower = hx_allocate(plan->waits, sizeof *r->follower);
    r->ready = hx_allocate(plan->steps, sizeof *r->ready);
    uint32_t *next = r->first + 1;
    for (size_t i = 0; i < plan->waits; i++)
        next[plan->wait[i].earlier + 1]++;
    for (size_t i = 0; i < plan->steps; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < plan->waits; i++) {
        r->follower[next[plan->wait[i].earlier]++] = plan->wait[i].later;
        r->missing[plan->wait[i].later]++;
    }
    for (uint32_t i = 0; i < plan->steps; i++) {
        r->missing[i] += !is_first_of_block(plan, i);
        if (r->missing[i] == 0)
            r->ready[r->ready_count++] = i;
    }
}

static void release(struct run *r, uint32_t step)
{
    if (--r->missing[step] == 0)
        r->ready[r->ready_count++] = step;
}

/* Looks for another step that races with this one. */
static bool check_race(struct run *r, uint32_t step, struct hx_problem *problem)
{
    if (msccl_races_step(r->races, step, problem))
        return true;
    if (!r->plan->may_race)
        return false;
    msccl_note(r->notes, "output not proven: %.400s", problem->what);
    msccl_races_free(r->races);
    r->races = NULL;
    r->racing = true;
    return true;
}

static bool execute(struct run *r, uint32_t step, struct hx_problem *problem)
{
    const struct msccl_plan *plan = r->plan;
    uint32_t end = step + 1 < plan->steps ? plan->step[step + 1].move : (uint32_t)plan->moves;
    if (!check_race(r, step, problem))
        return false;
    for (uint32_t i = plan->step[step].move; i < end; i++) {
        if (!msccl_values_move(&r->values, &plan->move[i]))
            return hx_fail(problem, HX_EXIT_CONFIG, plan->path, "has too many sums to be proven");
    }
    for (uint32_t i = r->first[step]; i < r->first[step + 1]; i++) {
        msccl_races_wait(r->races, r->follower[i], step);
        release(r, r->follower[i]);
    }
    if (step + 1 < plan->steps && !is_first_of_block(plan, step + 1))
        release(r, step + 1);
    return true;
}

/* A step that something holds up though its thread block has come to it, and what holds it up. */
static bool fail_deadlock(const struct run *r, struct hx_problem *problem)
{
    const struct msccl_plan *plan = r->plan;
    char later[MSCCL_STEP_TEXT];
    char earlier[MSCCL_STEP_TEXT];
    for (size_t i = 0; i < plan->waits; i++) {
        const struct msccl_wait *w = &plan->wait[i];
        bool reached = is_first_of_block(plan, w->later) || r->missing[w->later - 1] == 0;
        if (reached && r->missing[w->later] && r->missing[w->earlier])
            return hx_fail(problem, HX_EXIT_CONFIG, plan->path,
                           "is a deadlock: %s waits for %s, which cannot begin before it",
                           msccl_step_text(plan, w->later, later), msccl_step_text(plan, w->earlier, earlier));
    }
    return hx_fail(problem, HX_EXIT_CONFIG, plan->path, "is a deadlock: steps wait for each other");
}

static bool execute_all(struct run *r, struct hx_problem *problem)
{
    size_t done = 0;
    for (; r->ready_count; done++) {
        if (!execute(r, r->ready[--r->ready_count], problem))
            return false;
    }
    return done == r->plan->steps || fail_deadlock(r, problem);
}

bool msccl_verify(const struct msccl_plan *plan, struct schedule_notes *notes, struct hx_problem *problem)
{
    struct run r = {.plan = plan, .notes = notes, .races = msccl_races_new(plan)};
    if (!r.races)
        msccl_note(notes, "too large to look for unordered steps");
    msccl_values_begin(&r.values, plan);
    find_followers(&r);
    bool good = execute_all(&r, problem) && (r.racing || msccl_values_check(&r.values, problem));
    msccl_values_free(&r.values);
    msccl_races_free(r.races);
    HX_FREE(r.missing, r.first, r.follower, r.ready);
    return good;
}
