/* msccl_plan.c - builds a plan, and names its steps (msccl_plan.h). */
#include "schedule/msccl_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint32_t msccl_new_cells(struct msccl_plan *plan, uint64_t cells)
{
    uint32_t first = plan->cells;
    if (cells > MSCCL_MOST_CELLS - plan->cells)
        return MSCCL_NO_CELL;
    plan->cells += (uint32_t)cells;
    return first;
}

void msccl_add_block(struct msccl_plan *plan, uint32_t gpu, uint32_t id)
{
    plan->block = hx_grow(plan->block, plan->blocks, &plan->blocks_room, sizeof *plan->block);
    plan->block[plan->blocks++] = (struct msccl_block){.gpu = gpu, .id = id, .first = (uint32_t)plan->steps};
}

uint32_t msccl_add_step(struct msccl_plan *plan, uint32_t line)
{
    plan->step = hx_grow(plan->step, plan->steps, &plan->steps_room, sizeof *plan->step);
    plan->step[plan->steps] =
        (struct msccl_step){.block = (uint32_t)plan->blocks - 1, .move = (uint32_t)plan->moves, .line = line};
    plan->block[plan->blocks - 1].steps++;
    return (uint32_t)plan->steps++;
}

void msccl_add_move(struct msccl_plan *plan, struct msccl_move move)
{
    plan->move = hx_grow(plan->move, plan->moves, &plan->moves_room, sizeof *plan->move);
    plan->move[plan->moves++] = move;
}

void msccl_add_wait(struct msccl_plan *plan, uint32_t later, uint32_t earlier)
{
    plan->wait = hx_grow(plan->wait, plan->waits, &plan->waits_room, sizeof *plan->wait);
    plan->wait[plan->waits++] = (struct msccl_wait){later, earlier};
}

void msccl_plan_free(struct msccl_plan *plan)
{
    HX_FREE(plan->gpu, plan->block, plan->step, plan->move, plan->wait);
}

const char *msccl_step_text(const struct msccl_plan *plan, uint32_t step, char *text)
{
    const struct msccl_block *block = &plan->block[plan->step[step].block];
    int used = snprintf(text, MSCCL_STEP_TEXT, "gpu %" PRIu32 ", thread block %" PRIu32 ", step %" PRIu32, block->gpu,
                        block->id, step - block->first);
    if (plan->step[step].line)
        (void)snprintf(text + used, MSCCL_STEP_TEXT - (size_t)used, " (line %" PRIu32 ")", plan->step[step].line);
    return text;
}

void msccl_note(struct schedule_notes *notes, const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(notes->annotations);
    if (used)
        used += (size_t)snprintf(notes->annotations + used, sizeof notes->annotations - used, "; ");
    if (used >= sizeof notes->annotations)
        return;
    va_start(arguments, format);
    (void)vsnprintf(notes->annotations + used, sizeof notes->annotations - used, format, arguments);
    va_end(arguments);
}
