/* support_collective.c - vectors of a collective and their check (support_collective.h). */
#include "tests/support/support_collective.h"
#include "hxmesh/error.h"
#include "tests/support/support_lab.h"
#include "tests/support/support_random.h"
#include "tests/support/support_shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { GUARD = 8 };
static const float guard_value = 12345.678F;

static float *guarded(uint64_t elements)
{
    float *memory = lab_memory((elements + 2 * GUARD) * sizeof *memory);
    for (unsigned i = 0; i < GUARD; i++)
        memory[i] = memory[GUARD + elements + i] = guard_value;
    return memory + GUARD;
}

static void validate_guards(const float *within, uint64_t elements)
{
    for (unsigned i = 0; i < GUARD; i++)
        assert_true(within[-1 - (int)i] == guard_value && within[elements + i] == guard_value);
}

/* A random subset of 0 .. all-1, in random order. */
static uint16_t *choose(uint64_t *random, unsigned count, unsigned all)
{
    uint16_t *list = lab_memory(all * sizeof *list);
    for (unsigned i = 0; i < all; i++)
        list[i] = (uint16_t)i;
    for (unsigned i = 0; i < count; i++) {
        unsigned other = i + seeded_below(random, all - i);
        uint16_t keep = list[i];
        list[i] = list[other];
        list[other] = keep;
    }
    return list;
}

static float draw(uint64_t *random, bool whole)
{
    float number = (float)seeded_below(random, 2001) - 1000;
    return whole ? number : number / 997 * (float)(1 + seeded_below(random, 1000));
}

static void draw_values(const struct ensemble *e, struct player *p, uint64_t *random)
{
    uint64_t elements = e->plan.elements;
    p->vector = guarded(elements);
    p->before = guarded(elements);
    for (uint64_t i = 0; i < elements; i++)
        p->before[i] = draw(random, e->plan.whole);
}

/* All-gather: each player keeps its pieces of one vector; the rest is arbitrary. */
static void keep_pieces(const struct player *p)
{
    for (uint64_t i = 0; i < p->config.bytes / sizeof(float); i++)
        p->vector[i] = NAN;
    uint64_t offset, bytes;
    for (unsigned i = 0; hx_collective_piece(&p->c, i, &offset, &bytes); i++)
        memcpy(p->vector + offset / sizeof(float), p->before + offset / sizeof(float), bytes);
}

static bool start(struct ensemble *e, unsigned index)
{
    struct player *p = &e->player[index];
    const struct ensemble_plan *plan = &e->plan;
    p->config = (struct hx_collective_config){.kind = (uint8_t)plan->kind,
                                              .algorithm = (uint8_t)plan->algorithm,
                                              .bytes = plan->elements * sizeof(float),
                                              .chunk = plan->chunk,
                                              .window = (uint8_t)plan->window,
                                              .columns = (uint16_t)plan->columns,
                                              .rows = (uint16_t)plan->rows,
                                              .column = (uint16_t)(index % plan->columns),
                                              .row = (uint16_t)(index / plan->columns),
                                              .root_column = (uint16_t)(plan->seed % plan->columns),
                                              .root_row = (uint16_t)(plan->seed / 7 % plan->rows),
                                              .gx = e->gx,
                                              .gy = e->gy};
    if (hx_collective_check(&p->config) != HX_OK)
        return false;
    p->staging = guarded(hx_collective_staging(&p->config) / sizeof(float));
    assert_int_equal(
        hx_collective_init(&p->c, &p->config, plan->scheduled ? NULL : p->vector, plan->scheduled ? NULL : p->staging),
        HX_OK);
    return true;
}

bool ensemble_init(struct ensemble *e, const struct ensemble_plan *plan)
{
    uint64_t random = plan->seed;
    *e = (struct ensemble){.plan = *plan, .n = plan->columns * plan->rows};
    e->gx = choose(&random, plan->columns, plan->grid_columns);
    e->gy = choose(&random, plan->rows, plan->grid_rows);
    e->player = lab_memory(e->n * sizeof *e->player);
    for (unsigned i = 0; i < e->n; i++) {
        struct player *p = &e->player[i];
        draw_values(e, p, &random);
        memcpy(p->vector, p->before, plan->elements * sizeof(float));
        if (!start(e, i))
            return false;
    }
    for (unsigned i = 0; i < e->n && plan->kind == HX_ALL_GATHER; i++) {
        memcpy(e->player[i].before, e->player[0].before, plan->elements * sizeof(float));
        keep_pieces(&e->player[i]);
    }
    return true;
}

struct player *ensemble_player(const struct ensemble *e, unsigned gx, unsigned gy)
{
    for (unsigned i = 0; i < e->n; i++) {
        if (e->gx[i % e->plan.columns] == gx && e->gy[i / e->plan.columns] == gy)
            return &e->player[i];
    }
    fail_msg("a message for an accelerator outside of the job: %u,%u", gx, gy);
    return NULL;
}

/* ---- checks ---- */

static float expected(const struct ensemble *e, uint64_t element, double *tolerance)
{
    const struct ensemble_plan *plan = &e->plan;
    unsigned root = (unsigned)(plan->seed / 7 % plan->rows * plan->columns + plan->seed % plan->columns);
    *tolerance = 0;
    if (plan->kind == HX_BROADCAST || plan->kind == HX_ALL_GATHER)
        return e->player[root].before[element];
    double sum = 0, size = 0;
    for (unsigned i = 0; i < e->n; i++) {
        sum += (double)e->player[i].before[element];
        size += fabs((double)e->player[i].before[element]);
    }
    /* n - 1 roundings, each at most half a unit in the last place (2^-24) of the sum of absolute values */
    *tolerance = plan->whole ? 0 : size * e->n / 16777216;
    return (float)sum;
}

static void validate_range(const struct ensemble *e, const struct player *p, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        double tolerance;
        double difference = (double)p->vector[i] - (double)expected(e, i, &tolerance);
        assert_true(fabs(difference) <= tolerance);
    }
}

void ensemble_validate(const struct ensemble *e)
{
    const struct ensemble_plan *plan = &e->plan;
    bool scattered = plan->kind == HX_REDUCE_SCATTER || plan->kind == HX_ALL_GATHER;
    uint8_t *owners = lab_memory(plan->elements + 1);
    for (unsigned n = 0; n < e->n; n++) {
        const struct player *p = &e->player[n];
        uint64_t offset, bytes;
        assert_true(hx_collective_done(&p->c));
        validate_guards(p->vector, plan->elements);
        validate_guards(p->staging, hx_collective_staging(&p->config) / sizeof(float));
        for (unsigned i = 0; hx_collective_piece(&p->c, i, &offset, &bytes); i++) {
            for (uint64_t at = offset / sizeof(float); at < (offset + bytes) / sizeof(float); at++)
                owners[at]++;
            if (plan->kind == HX_REDUCE_SCATTER && !plan->scheduled)
                validate_range(e, p, offset / sizeof(float), bytes / sizeof(float));
        }
        if (plan->kind != HX_REDUCE_SCATTER && !plan->scheduled)
            validate_range(e, p, 0, plan->elements);
    }
    for (uint64_t i = 0; i < plan->elements; i++)
        assert_int_equal(owners[i], scattered ? 1 : (e->n & 0xFF));
}
