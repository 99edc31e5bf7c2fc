/* mscclpp_steps.c - the schedule of an MSCCL++ plan (mscclpp_file.h).
 *
 * Operations of a step, at its gpu: for each read, a send of its request and the receive of its data; then the middle,
 * a compute; then its sends; then its end, a compute. The middle is left out if there are no reads and one send; the
 * end, if the middle or a single send is the end. Operations at the other gpu wait for nothing but requests. */
#include "schedule/mscclpp_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Operations of a step: the first `entries` from `first` on wait for what is before the step. */
struct shape {
    uint32_t first, entries, end;
};

struct making {
    const struct mscclpp_file *file;
    struct schedule_builder *b;
    uint64_t bytes;      /* of a chunk */
    uint32_t *receive;   /* [messages] the receive at the gpu that it is for */
    struct shape *shape; /* [steps] */
};

static uint64_t bytes_of(const struct making *m, const struct mscclpp_message *message)
{
    const uint32_t slices = m->file->plan.slices;
    return message->parts ? (message->parts * m->bytes + slices - 1) / slices : MSCCLPP_MARK;
}

static uint32_t gpu_of(const struct making *m, uint32_t step)
{
    const struct msccl_plan *plan = &m->file->plan;
    return plan->block[plan->step[step].block].gpu;
}

static uint32_t add_compute(const struct making *m, uint32_t step)
{
    uint32_t number = schedule_compute(m->b, gpu_of(m, step), 0, 0);
    schedule_set_name(m->b, gpu_of(m, step), number, m->file->name[step]);
    return number;
}

static void add_reads(struct making *m, uint32_t step)
{
    const struct mscclpp_file *f = m->file;
    for (uint32_t i = f->first_message[step]; i < f->first_message[step + 1]; i++) {
        const struct mscclpp_message *message = &f->message[i];
        if (!message->read)
            continue;
        (void)schedule_send(m->b, message->to, message->from, MSCCLPP_MARK, i);
        m->receive[i] = schedule_receive(m->b, message->to, message->from, bytes_of(m, message), i);
        uint32_t request = schedule_receive(m->b, message->from, message->to, MSCCLPP_MARK, i);
        uint32_t data = schedule_send(m->b, message->from, message->to, bytes_of(m, message), i);
        schedule_after(m->b, message->from, data, request);
        schedule_set_name(m->b, message->to, m->receive[i], f->name[step]);
        schedule_set_name(m->b, message->from, data, f->name[step]);
    }
}

static void add_sends(struct making *m, uint32_t step)
{
    const struct mscclpp_file *f = m->file;
    for (uint32_t i = f->first_message[step]; i < f->first_message[step + 1]; i++) {
        const struct mscclpp_message *message = &f->message[i];
        if (message->read)
            continue;
        uint32_t send = schedule_send(m->b, message->from, message->to, bytes_of(m, message), i);
        m->receive[i] = schedule_receive(m->b, message->to, message->from, bytes_of(m, message), i);
        schedule_set_name(m->b, message->from, send, f->name[step]);
    }
}

static void add_step(struct making *m, uint32_t step)
{
    const struct mscclpp_file *f = m->file;
    const struct mscclpp_message *message = &f->message[f->first_message[step]];
    const uint32_t messages = f->first_message[step + 1] - f->first_message[step];
    const uint32_t gpu = gpu_of(m, step);
    struct shape *shape = &m->shape[step];
    uint32_t reads = 0;
    for (uint32_t i = 0; i < messages; i++)
        reads += message[i].read;
    const uint32_t sends = messages - reads;
    shape->first = schedule_builder_count(m->b, gpu);
    shape->entries = reads ? 2 * reads : 1;
    add_reads(m, step);
    uint32_t middle = reads || sends != 1 ? add_compute(m, step) : UINT32_MAX;
    uint32_t first_send = schedule_builder_count(m->b, gpu);
    add_sends(m, step);
    shape->end = sends == 0 ? middle : sends == 1 && !message[messages - 1].later ? first_send : add_compute(m, step);
    for (uint32_t i = 0; i < reads; i++)
        schedule_after(m->b, gpu, middle, shape->first + 2 * i + 1);
    for (uint32_t i = 0; i < sends; i++) {
        if (middle != UINT32_MAX)
            schedule_after(m->b, gpu, first_send + i, middle);
        if (shape->end == first_send)
            continue;
        if (message[messages - 1].later)
            schedule_after_start(m->b, gpu, shape->end, first_send + i);
        else
            schedule_after(m->b, gpu, shape->end, first_send + i);
    }
}

static void wait(const struct making *m, uint32_t step, uint32_t operation)
{
    for (uint32_t i = 0; i < m->shape[step].entries; i++)
        schedule_after(m->b, gpu_of(m, step), m->shape[step].first + i, operation);
}

/* A flush waits for the ends of all sends of its thread block. */
static void flush(const struct making *m, uint32_t step)
{
    const struct mscclpp_file *f = m->file;
    uint32_t first = f->plan.block[f->plan.step[step].block].first;
    for (uint32_t i = first; i < step; i++) {
        const struct shape *s = &m->shape[i];
        const struct mscclpp_message *message = &f->message[f->first_message[i]];
        uint32_t messages = f->first_message[i + 1] - f->first_message[i];
        if (messages == 0 || !message[messages - 1].later)
            continue;
        for (uint32_t j = 0; j < messages; j++)
            wait(m, step, s->end - messages + j);
    }
}

static void add_dependencies(const struct making *m)
{
    const struct mscclpp_file *f = m->file;
    const struct msccl_plan *plan = &f->plan;
    for (uint32_t i = 0; i < plan->steps; i++) {
        if (i > plan->block[plan->step[i].block].first)
            wait(m, i, m->shape[i - 1].end);
        if (strcmp(f->name[i], "flush") == 0)
            flush(m, i);
    }
    for (size_t i = 0; i < plan->waits; i++) {
        const struct msccl_wait *w = &plan->wait[i];
        if (gpu_of(m, w->later) == gpu_of(m, w->earlier))
            wait(m, w->later, m->shape[w->earlier].end);
    }
    for (size_t i = 0; i < f->arrivals; i++)
        wait(m, f->arrival[i].step, m->receive[f->arrival[i].message]);
}

struct schedule_builder *mscclpp_schedule(const struct mscclpp_file *file, uint64_t bytes)
{
    struct making m = {.file = file, .b = schedule_builder_new(file->plan.gpus), .bytes = bytes};
    m.receive = hx_allocate(file->messages, sizeof *m.receive);
    m.shape = hx_allocate(file->plan.steps, sizeof *m.shape);
    for (uint32_t i = 0; i < file->plan.steps; i++)
        add_step(&m, i);
    add_dependencies(&m);
    HX_FREE(m.receive, m.shape);
    return m.b;
}
