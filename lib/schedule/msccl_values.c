/* msccl_values.c - values of cells, and their comparison with the promise (msccl_values.h). */
#include "schedule/msccl_values.h"
#include "schedule/msccl_promise.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_SUMS (UINT32_C(1) << 30)

void msccl_values_begin(struct msccl_values *v, const struct msccl_plan *plan)
{
    *v = (struct msccl_values){.plan = plan, .inputs = (uint32_t)msccl_inputs(plan)};
    v->variables = v->inputs * plan->gpus;
    v->cell = hx_allocate(plan->cells, sizeof *v->cell);
    for (uint32_t i = 0; i < plan->gpus; i++) {
        for (uint32_t j = 0; j < v->inputs; j++)
            v->cell[plan->gpu[i].cell[MSCCL_INPUT] + j] = 1 + i * v->inputs + j;
    }
}

void msccl_values_free(struct msccl_values *v)
{
    HX_FREE(v->cell, v->sum);
}

bool msccl_values_move(struct msccl_values *v, const struct msccl_move *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t value = v->cell[m->from + i];
        if (m->add != (uint32_t)MSCCL_NO_CELL) {
            if (v->sums == MOST_SUMS)
                return false;
            v->sum = hx_grow(v->sum, v->sums, &v->sums_room, sizeof *v->sum);
            v->sum[v->sums] = (struct msccl_sum){value, v->cell[m->add + i]};
            value = v->variables + 1 + (uint32_t)v->sums++;
        }
        v->cell[m->to + i] = value;
    }
    return true;
}

/* ---- comparing ---- */

enum fault { RIGHT, UNWRITTEN, FOREIGN, TWICE, LACKING };

struct check {
    const struct msccl_values *v;
    uint32_t *proven; /* [sums] input + 1 of which the sum is known to be the whole; 0: not known */
    uint32_t *seen;   /* [gpus] number of the check that met the gpu's variable */
    uint32_t checks;
    uint32_t *stack; /* values to look into */
    size_t depth, room;
    uint32_t gpu, input; /* of the fault */
};

static void push(struct check *c, uint32_t value)
{
    c->stack = hx_grow(c->stack, c->depth, &c->room, sizeof *c->stack);
    c->stack[c->depth++] = value;
}

/* One summand. */
static enum fault check_variable(struct check *c, uint32_t value, const struct msccl_expected *expected)
{
    if (value == 0)
        return UNWRITTEN;
    c->gpu = (value - 1) / c->v->inputs;
    c->input = (value - 1) % c->v->inputs;
    if (c->input != expected->input || (!expected->sum && c->gpu != expected->gpu))
        return FOREIGN;
    if (c->seen[c->gpu] == c->checks)
        return TWICE;
    c->seen[c->gpu] = c->checks;
    return RIGHT;
}

/* Each summand counts once, and as many as there are gpus can be right: a sum of more ends at a fault soon. */
static enum fault check_summands(struct check *c, uint32_t value, const struct msccl_expected *expected)
{
    c->checks++;
    c->depth = 0;
    push(c, value);
    while (c->depth) {
        uint32_t next = c->stack[--c->depth];
        if (next > c->v->variables) {
            push(c, c->v->sum[next - c->v->variables - 1].a);
            push(c, c->v->sum[next - c->v->variables - 1].b);
            continue;
        }
        enum fault fault = check_variable(c, next, expected);
        if (fault != RIGHT)
            return fault;
    }
    return RIGHT;
}

static enum fault check_value(struct check *c, uint32_t value, const struct msccl_expected *expected)
{
    uint32_t *proven = value > c->v->variables ? &c->proven[value - c->v->variables - 1] : NULL;
    if (proven && expected->sum && *proven == expected->input + 1)
        return RIGHT;
    enum fault fault = check_summands(c, value, expected);
    if (fault != RIGHT)
        return fault;
    for (uint32_t i = 0; expected->sum && i < c->v->plan->gpus; i++) {
        if (c->seen[i] != c->checks) {
            c->gpu = i;
            c->input = expected->input;
            return LACKING;
        }
    }
    if (proven && expected->sum)
        *proven = expected->input + 1;
    return RIGHT;
}

static enum fault check_output(struct check *c, uint32_t gpu, uint32_t output, uint32_t root)
{
    const struct msccl_plan *plan = c->v->plan;
    const struct msccl_expected expected = msccl_expected(plan, gpu, output, root);
    return check_value(c, c->v->cell[plan->gpu[gpu].cell[MSCCL_OUTPUT] + output], &expected);
}

static bool fail_output(const struct check *c, enum fault fault, uint32_t gpu, uint32_t output, uint32_t root,
                        struct hx_problem *problem)
{
    const struct msccl_plan *plan = c->v->plan;
    const struct msccl_expected expected = msccl_expected(plan, gpu, output, root);
    char of[64];
    char what[160];
    (void)snprintf(of, sizeof of, "chunk %" PRIu32 " of gpu %" PRIu32, c->input / plan->slices, c->gpu);
    if (fault == UNWRITTEN)
        (void)snprintf(what, sizeof what, "has memory that is never written, not chunk %" PRIu32 " of %s%" PRIu32,
                       expected.input / plan->slices, expected.sum ? "every gpu of " : "gpu ",
                       expected.sum ? plan->gpus : expected.gpu);
    else if (fault == TWICE)
        (void)snprintf(what, sizeof what, "has %s twice", of);
    else if (fault == LACKING)
        (void)snprintf(what, sizeof what, "lacks %s", of);
    else
        (void)snprintf(what, sizeof what, "has %s, which belongs elsewhere", of);
    return hx_fail(problem, HX_EXIT_CONFIG, plan->path,
                   "is no %s: gpu %" PRIu32 ", chunk o%" PRIu32 " %s (mend the algorithm)", msccl_collective(plan), gpu,
                   output / plan->slices, what);
}

static bool check_gpu(struct check *c, uint32_t gpu, uint32_t root, struct hx_problem *problem)
{
    uint32_t outputs = (uint32_t)msccl_outputs(c->v->plan);
    for (uint32_t i = 0; i < outputs; i++) {
        enum fault fault = check_output(c, gpu, i, root);
        if (fault != RIGHT)
            return fail_output(c, fault, gpu, i, root, problem);
    }
    return true;
}

/* The gpu that has some chunk right: the root of a reduce or gather. */
static bool check_root(struct check *c, struct hx_problem *problem)
{
    const struct msccl_plan *plan = c->v->plan;
    for (uint32_t i = 0; i < (uint32_t)msccl_outputs(plan); i++) {
        for (uint32_t gpu = 0; gpu < plan->gpus; gpu++) {
            if (check_output(c, gpu, i, 0) == RIGHT)
                return check_gpu(c, gpu, 0, problem);
        }
    }
    return hx_fail(problem, HX_EXIT_CONFIG, plan->path, "is no %s: no gpu has a right chunk (mend the algorithm)",
                   msccl_collective(plan));
}

/* The gpu that most gpus have in their first chunk: the root of a broadcast or scatter. */
static uint32_t find_source(const struct msccl_values *v)
{
    uint32_t *votes = hx_allocate(v->plan->gpus, sizeof *votes);
    uint32_t best = 0;
    for (uint32_t i = 0; i < v->plan->gpus; i++) {
        uint32_t value = v->cell[v->plan->gpu[i].cell[MSCCL_OUTPUT]];
        if (value && value <= v->variables)
            votes[(value - 1) / v->inputs]++;
    }
    for (uint32_t i = 0; i < v->plan->gpus; i++)
        best = votes[i] > votes[best] ? i : best;
    free(votes);
    return best;
}

static bool check_all(struct check *c, struct hx_problem *problem)
{
    enum msccl_promise promise = c->v->plan->promise;
    uint32_t root = 0;
    if (promise == MSCCL_REDUCE || promise == MSCCL_GATHER)
        return check_root(c, problem);
    if (promise == MSCCL_BROADCAST || promise == MSCCL_SCATTER)
        root = find_source(c->v);
    for (uint32_t i = 0; i < c->v->plan->gpus; i++) {
        if (!check_gpu(c, i, root, problem))
            return false;
    }
    return true;
}

bool msccl_values_check(const struct msccl_values *v, struct hx_problem *problem)
{
    struct check c = {.v = v};
    if (v->plan->promise == MSCCL_PROMISES)
        return true;
    c.proven = hx_allocate(v->sums, sizeof *c.proven);
    c.seen = hx_allocate(v->plan->gpus, sizeof *c.seen);
    bool good = check_all(&c, problem);
    HX_FREE(c.proven, c.seen, c.stack);
    return good;
}
