/* msccl_races.c - vector clocks (msccl_races.h).
 *
 * clock[b][x]: how many steps of block x happen before the current step of block b in every legal order. A step waits
 * for the clocks of those that it waits for: they are kept with it until it happens. */
#include "schedule/msccl_races.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORK (UINT64_C(1) << 30) /* steps times blocks */
enum { MOST_BLOCKS = 8192, NO_READ = 0 };

struct read {
    uint32_t step;
    uint32_t next; /* index, or NO_READ */
};

struct msccl_races {
    const struct msccl_plan *plan;
    uint32_t **clock;   /* [blocks] of as many */
    uint32_t **awaited; /* [steps] clock that a step waits for, or NULL */
    uint32_t *writer;   /* [buffer cells] last step + 1 that wrote it; 0: none */
    uint32_t *reader;   /* [buffer cells] steps that read it since: a list */
    struct read *read;  /* element 0 is unused */
    size_t reads, reads_room;
};

struct msccl_races *msccl_races_new(const struct msccl_plan *plan)
{
    if (plan->blocks > MOST_BLOCKS || (uint64_t)plan->steps * plan->blocks > MOST_WORK)
        return NULL;
    struct msccl_races *r = hx_allocate(1, sizeof *r);
    r->plan = plan;
    r->clock = hx_allocate(plan->blocks, sizeof *r->clock);
    for (size_t i = 0; i < plan->blocks; i++)
        r->clock[i] = hx_allocate(plan->blocks, sizeof **r->clock);
    r->awaited = hx_allocate(plan->steps, sizeof *r->awaited);
    r->writer = hx_allocate(plan->buffer_cells, sizeof *r->writer);
    r->reader = hx_allocate(plan->buffer_cells, sizeof *r->reader);
    r->reads = 1;
    r->read = hx_grow(NULL, 0, &r->reads_room, sizeof *r->read);
    return r;
}

void msccl_races_free(struct msccl_races *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->plan->blocks; i++)
        free(r->clock[i]);
    for (size_t i = 0; i < r->plan->steps; i++)
        free(r->awaited[i]);
    HX_FREE(r->clock, r->awaited, r->writer, r->reader, r->read, r);
}

static void take_latest(const struct msccl_races *r, uint32_t *clock, const uint32_t *other)
{
    for (size_t i = 0; i < r->plan->blocks; i++)
        clock[i] = other[i] > clock[i] ? other[i] : clock[i];
}

static bool is_before(const struct msccl_races *r, uint32_t earlier, uint32_t step)
{
    const struct msccl_step *of = r->plan->step;
    uint32_t block = of[earlier].block;
    return block == of[step].block || r->clock[of[step].block][block] > earlier - r->plan->block[block].first;
}

static bool fail_unordered(const struct msccl_races *r, uint32_t earlier, uint32_t step, uint32_t cell,
                           struct hx_problem *problem)
{
    static const char *const names[] = {"i", "o", "s"};
    const struct msccl_plan *plan = r->plan;
    char first[MSCCL_STEP_TEXT];
    char second[MSCCL_STEP_TEXT];
    uint32_t gpu = 0;
    unsigned buffer = 0;
    for (uint32_t i = 0, best = 0; i < plan->gpus * MSCCL_BUFFERS; i++) {
        uint32_t begin = plan->gpu[i / MSCCL_BUFFERS].cell[i % MSCCL_BUFFERS];
        if (begin <= cell && begin >= best) {
            best = begin;
            gpu = i / MSCCL_BUFFERS;
            buffer = i % MSCCL_BUFFERS;
        }
    }
    return hx_fail(problem, HX_EXIT_CONFIG, plan->path,
                   "gpu %" PRIu32 ", chunk %s%" PRIu32 ": %s and %s touch it, and nothing orders them", gpu,
                   names[buffer], (cell - plan->gpu[gpu].cell[buffer]) / plan->slices,
                   msccl_step_text(plan, earlier, first), msccl_step_text(plan, step, second));
}

static bool check_write(const struct msccl_races *r, uint32_t step, uint32_t cell, struct hx_problem *problem)
{
    uint32_t writer = r->writer[cell];
    return writer == 0 || is_before(r, writer - 1, step) || fail_unordered(r, writer - 1, step, cell, problem);
}

static bool touch_read(struct msccl_races *r, uint32_t step, uint32_t cell, struct hx_problem *problem)
{
    if (!check_write(r, step, cell, problem))
        return false;
    r->read = hx_grow(r->read, r->reads, &r->reads_room, sizeof *r->read);
    r->read[r->reads] = (struct read){step, r->reader[cell]};
    r->reader[cell] = (uint32_t)r->reads++;
    return true;
}

static bool touch_write(struct msccl_races *r, uint32_t step, uint32_t cell, struct hx_problem *problem)
{
    if (!check_write(r, step, cell, problem))
        return false;
    for (uint32_t i = r->reader[cell]; i != NO_READ; i = r->read[i].next) {
        if (r->read[i].step != step && !is_before(r, r->read[i].step, step))
            return fail_unordered(r, r->read[i].step, step, cell, problem);
    }
    r->reader[cell] = NO_READ;
    r->writer[cell] = step + 1;
    return true;
}

typedef bool (*touch_fn)(struct msccl_races *r, uint32_t step, uint32_t cell, struct hx_problem *problem);

/* Messages are ordered by their send and receive. */
static bool touch(struct msccl_races *r, touch_fn how, uint32_t step, uint32_t first, uint32_t count,
                  struct hx_problem *problem)
{
    if (first == (uint32_t)MSCCL_NO_CELL || first >= r->plan->buffer_cells)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        if (!how(r, step, first + i, problem))
            return false;
    }
    return true;
}

bool msccl_races_step(struct msccl_races *r, uint32_t step, struct hx_problem *problem)
{
    if (!r)
        return true;
    const struct msccl_plan *plan = r->plan;
    uint32_t block = plan->step[step].block;
    uint32_t end = step + 1 < plan->steps ? plan->step[step + 1].move : (uint32_t)plan->moves;
    if (r->awaited[step]) {
        take_latest(r, r->clock[block], r->awaited[step]);
        free(r->awaited[step]);
        r->awaited[step] = NULL;
    }
    r->clock[block][block] = step - plan->block[block].first + 1;
    for (uint32_t i = plan->step[step].move; i < end; i++) {
        const struct msccl_move *m = &plan->move[i];
        if (!touch(r, touch_read, step, m->from, m->count, problem) ||
            !touch(r, touch_read, step, m->add, m->count, problem) ||
            !touch(r, touch_write, step, m->to, m->count, problem))
            return false;
    }
    return true;
}

void msccl_races_wait(struct msccl_races *r, uint32_t later, uint32_t earlier)
{
    if (!r)
        return;
    const uint32_t *clock = r->clock[r->plan->step[earlier].block];
    if (!r->awaited[later])
        r->awaited[later] = hx_allocate(r->plan->blocks, sizeof *clock);
    take_latest(r, r->awaited[later], clock);
}
