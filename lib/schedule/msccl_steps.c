/* msccl_steps.c - an MSCCL file's steps as a plan for the proof, and as a schedule (msccl_file.h). */
#include "base/divisor.h"
#include "schedule/msccl_file.h"
#include "schedule/msccl_promise.h"
#include "schedule/msccl_verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

/* One end of a FIFO: a thread block that sends to `to`, or receives what `from` sends. */
struct end {
    uint32_t from, to, channel, block;
};

static int by_fifo(const void *a, const void *b)
{
    const struct end *x = a;
    const struct end *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->channel < y->channel ? -1 : x->channel > y->channel;
}

static bool has_steps(const struct msccl_file *file, const struct msccl_file_block *block,
                      bool (*which)(enum msccl_type))
{
    for (uint32_t i = 0; i < block->steps; i++) {
        if (which(file->step[block->first + i].type))
            return true;
    }
    return false;
}

/* The ends of all FIFOs, sorted. Returns NULL if two thread blocks share one. */
static struct end *find_ends(const struct msccl_file *file, bool sending, size_t *count, struct hx_problem *problem)
{
    struct end *ends = hx_allocate(file->blocks, sizeof *ends);
    *count = 0;
    for (uint32_t i = 0; i < file->blocks; i++) {
        const struct msccl_file_block *b = &file->block[i];
        if (sending && has_steps(file, b, msccl_sends))
            ends[(*count)++] = (struct end){b->gpu, (uint32_t)b->to, b->channel, i};
        else if (!sending && has_steps(file, b, msccl_receives))
            ends[(*count)++] = (struct end){(uint32_t)b->from, b->gpu, b->channel, i};
    }
    qsort(ends, *count, sizeof *ends, by_fifo);
    for (size_t i = 1; i < *count; i++) {
        if (by_fifo(&ends[i - 1], &ends[i]) != 0)
            continue;
        const struct msccl_file_block *second = &file->block[ends[i].block];
        (void)hx_fail_at(problem, file->path, second->line, 0,
                         "gpu %" PRIu32 ", thread blocks %" PRIu32 " and %" PRIu32 " both %s gpu %" PRIu32
                         " on channel %" PRIu32 " (give them different channels)",
                         second->gpu, file->block[ends[i - 1].block].id, second->id,
                         sending ? "send to" : "receive from", sending ? ends[i].to : ends[i].from, ends[i].channel);
        free(ends);
        return NULL;
    }
    return ends;
}

static uint32_t next_step(const struct msccl_file *file, const struct msccl_file_block *block, uint32_t step,
                          bool (*which)(enum msccl_type))
{
    while (step < block->first + block->steps && !which(file->step[step].type))
        step++;
    return step;
}

/* An end that has a step without a partner. */
static bool fail_unmatched(const struct msccl_file *file, const struct end *end, uint32_t step, bool sending,
                           struct hx_problem *problem)
{
    return hx_fail_at(problem, file->path, file->step[step].line, 0,
                      "gpu %" PRIu32 ", thread block %" PRIu32 ", step %" PRIu32 ": gpu %" PRIu32
                      " %s on channel %" PRIu32,
                      sending ? end->from : end->to, file->block[end->block].id, step - file->block[end->block].first,
                      sending ? end->to : end->from,
                      sending ? "never receives this message" : "never sends this message", end->channel);
}

/* Matches the messages of one FIFO. */
static bool match_fifo(const struct msccl_file *file, const struct end *sender, const struct end *receiver,
                       uint32_t *match, struct hx_problem *problem)
{
    const struct msccl_file_block *from = &file->block[sender->block];
    const struct msccl_file_block *to = &file->block[receiver->block];
    uint32_t send = next_step(file, from, from->first, msccl_sends);
    uint32_t receive = next_step(file, to, to->first, msccl_receives);
    while (send < from->first + from->steps && receive < to->first + to->steps) {
        if (file->step[send].count != file->step[receive].count)
            return hx_fail_at(problem, file->path, file->step[receive].line, 0,
                              "gpu %" PRIu32 ", thread block %" PRIu32 ", step %" PRIu32 " receives %" PRIu32
                              " chunks, gpu %" PRIu32 " sends %" PRIu32 " in line %" PRIu32,
                              to->gpu, to->id, receive - to->first, file->step[receive].count, from->gpu,
                              file->step[send].count, file->step[send].line);
        match[receive] = send;
        send = next_step(file, from, send + 1, msccl_sends);
        receive = next_step(file, to, receive + 1, msccl_receives);
    }
    if (send < from->first + from->steps)
        return fail_unmatched(file, sender, send, true, problem);
    return receive == to->first + to->steps || fail_unmatched(file, receiver, receive, false, problem);
}

static bool match_ends(const struct msccl_file *file, const struct end *sender, size_t senders,
                       const struct end *receiver, size_t receivers, uint32_t *match, struct hx_problem *problem)
{
    size_t s = 0;
    size_t r = 0;
    while (s < senders || r < receivers) {
        int order = s == senders ? 1 : r == receivers ? -1 : by_fifo(&sender[s], &receiver[r]);
        const struct msccl_file_block *block = &file->block[order > 0 ? receiver[r].block : sender[s].block];
        if (order < 0)
            return fail_unmatched(file, &sender[s], next_step(file, block, block->first, msccl_sends), true, problem);
        if (order > 0)
            return fail_unmatched(file, &receiver[r], next_step(file, block, block->first, msccl_receives), false,
                                  problem);
        if (!match_fifo(file, &sender[s++], &receiver[r++], match, problem))
            return false;
    }
    return true;
}

/* Sets match[step] to the send of each receive. */
static bool match_messages(const struct msccl_file *file, uint32_t *match, struct hx_problem *problem)
{
    size_t senders;
    size_t receivers;
    struct end *sender = find_ends(file, true, &senders, problem);
    struct end *receiver = sender ? find_ends(file, false, &receivers, problem) : NULL;
    bool good = receiver && match_ends(file, sender, senders, receiver, receivers, match, problem);
    HX_FREE(sender, receiver);
    return good;
}

/* ---- dependencies ---- */

/* The step that `step` of `block` depends on; UINT32_MAX: none. */
static uint32_t find_dependency(const struct msccl_file *file, const struct msccl_file_block *block, uint32_t step)
{
    const struct msccl_file_step *s = &file->step[step];
    if (s->depend_block < 0)
        return UINT32_MAX;
    return file->block[file->first_block[block->gpu] + (uint32_t)s->depend_block].first + (uint32_t)s->depend_step;
}

static bool check_dependency(const struct msccl_file *file, const struct msccl_file_block *block,
                             const struct msccl_file_step *s, struct hx_problem *problem)
{
    const uint32_t id = (uint32_t)s->depend_block;
    const uint32_t blocks = file->gpu_blocks[block->gpu];
    const struct msccl_file_block *other = &file->block[file->first_block[block->gpu] + (id < blocks ? id : 0)];
    if (id >= blocks || other->copies || (uint32_t)s->depend_step >= other->steps)
        return hx_fail_at(problem, file->path, s->line, 0,
                          "gpu %" PRIu32 " has no step %" PRId32 " of thread block %" PRId32 " (mend depid and deps)",
                          block->gpu, s->depend_step, s->depend_block);
    for (uint32_t i = (uint32_t)s->depend_step; i < other->steps; i++) {
        if (file->step[other->first + i].signals)
            return true;
    }
    return hx_fail_at(problem, file->path, s->line, 0,
                      "gpu %" PRIu32 ", thread block %" PRId32 " never signals its step %" PRId32
                      " (it or a later step wants hasdep=\"1\")",
                      block->gpu, s->depend_block, s->depend_step);
}

static bool check_dependencies(const struct msccl_file *file, struct hx_problem *problem)
{
    for (size_t i = 0; i < file->blocks; i++) {
        const struct msccl_file_block *block = &file->block[i];
        for (uint32_t j = 0; j < block->steps; j++) {
            const struct msccl_file_step *s = &file->step[block->first + j];
            if (s->depend_block >= 0 && !check_dependency(file, block, s, problem))
                return false;
        }
    }
    return true;
}

/* Calls `wait` for each step that the block of copies waits for: the last ones of the gpu's other blocks. */
static void follow_all(const struct msccl_file *file, const struct msccl_file_block *copies,
                       void (*wait)(void *context, uint32_t later, uint32_t earlier), void *context)
{
    for (uint32_t i = 0; i + 1 < file->gpu_blocks[copies->gpu]; i++) {
        const struct msccl_file_block *b = &file->block[file->first_block[copies->gpu] + i];
        if (b->steps)
            wait(context, copies->first, b->first + b->steps - 1);
    }
}

/* ---- the plan ---- */

/* in: cells of the message that the step receives; out: of that which it sends. */
static void add_moves(struct msccl_plan *plan, const struct msccl_file_step *s, const uint32_t *buffer, uint32_t in,
                      uint32_t out)
{
    const uint32_t source = buffer[s->source_buffer] + s->source;
    const uint32_t destination = buffer[s->destination_buffer] + s->destination;
    const uint32_t none = MSCCL_NO_CELL;
    const uint32_t count = s->count;
    switch ((enum msccl_type)s->type) {
    case MSCCL_SEND:
        msccl_add_move(plan, (struct msccl_move){out, source, none, count});
        break;
    case MSCCL_RECEIVE:
        msccl_add_move(plan, (struct msccl_move){destination, in, none, count});
        break;
    case MSCCL_RECEIVE_COPY_SEND:
        msccl_add_move(plan, (struct msccl_move){destination, in, none, count});
        msccl_add_move(plan, (struct msccl_move){out, in, none, count});
        break;
    case MSCCL_RECEIVE_REDUCE_SEND:
        msccl_add_move(plan, (struct msccl_move){out, in, source, count});
        break;
    case MSCCL_RECEIVE_REDUCE_COPY_SEND:
        msccl_add_move(plan, (struct msccl_move){out, in, source, count});
        msccl_add_move(plan, (struct msccl_move){destination, out, none, count});
        break;
    case MSCCL_RECEIVE_REDUCE_COPY:
        msccl_add_move(plan, (struct msccl_move){destination, in, source, count});
        break;
    case MSCCL_LOCAL_REDUCE:
        msccl_add_move(plan, (struct msccl_move){destination, destination, source, count});
        break;
    case MSCCL_LOCAL_COPY:
        msccl_add_move(plan, (struct msccl_move){destination, source, none, count});
        break;
    case MSCCL_NOTHING:
    case MSCCL_TYPES:
        break;
    }
}

static void wait_in_plan(void *context, uint32_t later, uint32_t earlier)
{
    msccl_add_wait(context, later, earlier);
}

static bool find_cells(const struct msccl_file *file, struct msccl_plan *plan, uint32_t *message,
                       struct hx_problem *problem)
{
    for (size_t i = 0; i < file->steps; i++) {
        if (!msccl_sends(file->step[i].type))
            continue;
        message[i] = msccl_new_cells(plan, file->step[i].count);
        if (message[i] == (uint32_t)MSCCL_NO_CELL)
            return hx_fail(problem, HX_EXIT_CONFIG, file->path,
                           "has more than %d chunks in buffers and messages (fewer can be proven)", MSCCL_MOST_CELLS);
    }
    return true;
}

static void fill_plan(const struct msccl_file *file, struct msccl_plan *plan, const uint32_t *match,
                      const uint32_t *message)
{
    for (size_t i = 0; i < file->blocks; i++) {
        const struct msccl_file_block *b = &file->block[i];
        msccl_add_block(plan, b->gpu, b->id);
        if (b->copies)
            follow_all(file, b, wait_in_plan, plan);
        for (uint32_t j = b->first; j < b->first + b->steps; j++) {
            const struct msccl_file_step *s = &file->step[j];
            const bool receives = msccl_receives(s->type);
            uint32_t dependency = find_dependency(file, b, j);
            (void)msccl_add_step(plan, s->line);
            if (dependency != UINT32_MAX)
                msccl_add_wait(plan, j, dependency);
            if (receives)
                msccl_add_wait(plan, j, match[j]);
            add_moves(plan, s, plan->gpu[b->gpu].cell, receives ? message[match[j]] : 0, message[j]);
        }
    }
}

static bool prove(const struct msccl_file *file, bool in_place, const uint32_t *match, struct schedule_notes *notes,
                  struct hx_problem *problem)
{
    struct msccl_plan plan = {.path = file->path,
                              .promise = file->promise,
                              .in_place = in_place,
                              .gpus = file->gpus,
                              .chunks = file->chunks,
                              .slices = 1,
                              .gpu = file->gpu};
    uint32_t *message = hx_allocate(file->steps, sizeof *message);
    bool good = msccl_place(&plan, problem) && find_cells(file, &plan, message, problem);
    if (good) {
        fill_plan(file, &plan, match, message);
        good = msccl_verify(&plan, notes, problem);
    }
    free(message);
    plan.gpu = NULL; /* the file's */
    msccl_plan_free(&plan);
    return good;
}

bool msccl_prove(const struct msccl_file *file, struct schedule_notes *notes, struct hx_problem *problem)
{
    uint32_t *match = hx_allocate(file->steps, sizeof *match);
    bool good = check_dependencies(file, problem) && match_messages(file, match, problem) &&
                (!file->in_place || prove(file, true, match, notes, problem)) &&
                (!file->out_of_place || prove(file, false, match, notes, problem));
    free(match);
    return good;
}

/* ---- the schedule ---- */

/* Operations of steps: first and last differ by one at most. */
struct making {
    const struct msccl_file *file;
    struct schedule_builder *b;
    uint32_t *first; /* [steps] */
    uint32_t rank;
};

static bool has_two(const struct msccl_file_step *s)
{
    return msccl_sends(s->type) && msccl_receives(s->type);
}

static void wait_in_schedule(void *context, uint32_t later, uint32_t earlier)
{
    const struct making *m = context;
    schedule_after(m->b, m->rank, m->first[later], m->first[earlier] + has_two(&m->file->step[earlier]));
}

static void add_operations(struct making *m, const struct msccl_file_block *block, uint32_t step, uint64_t bytes)
{
    const struct msccl_file_step *s = &m->file->step[step];
    const uint64_t amount = msccl_sent((enum msccl_protocol)m->file->protocol, s->count * bytes);
    uint32_t number = 0;
    m->first[step] = schedule_builder_count(m->b, block->gpu);
    if (msccl_receives(s->type))
        number = schedule_receive(m->b, block->gpu, (uint32_t)block->from, amount, block->channel);
    if (msccl_sends(s->type))
        number = schedule_send(m->b, block->gpu, (uint32_t)block->to, amount, block->channel);
    if (has_two(s))
        schedule_after(m->b, block->gpu, number, number - 1);
    else if (!msccl_sends(s->type) && !msccl_receives(s->type))
        number = schedule_compute(m->b, block->gpu, 0, block->id % SCHEDULE_STREAMS);
    for (uint32_t i = m->first[step]; i <= number; i++)
        schedule_set_name(m->b, block->gpu, i, msccl_type_names[s->type]);
}

static void add_dependencies(struct making *m, const struct msccl_file_block *block)
{
    m->rank = block->gpu;
    if (block->copies)
        follow_all(m->file, block, wait_in_schedule, m);
    for (uint32_t i = block->first; i < block->first + block->steps; i++) {
        uint32_t dependency = find_dependency(m->file, block, i);
        if (i > block->first)
            wait_in_schedule(m, i, i - 1);
        if (dependency != UINT32_MAX)
            wait_in_schedule(m, i, dependency);
    }
}

struct schedule_builder *msccl_schedule(const struct msccl_file *file, uint64_t bytes)
{
    struct making m = {.file = file, .b = schedule_builder_new(file->gpus)};
    m.first = hx_allocate(file->steps, sizeof *m.first);
    for (size_t i = 0; i < file->blocks; i++) {
        const struct msccl_file_block *block = &file->block[i];
        for (uint32_t j = 0; j < block->steps; j++)
            add_operations(&m, block, block->first + j, bytes);
    }
    for (size_t i = 0; i < file->blocks; i++)
        add_dependencies(&m, &file->block[i]);
    free(m.first);
    return m.b;
}

uint64_t msccl_chunk_bytes(const char *path, const struct schedule_read_options *options, uint64_t least, uint64_t most,
                           uint32_t chunks, uint32_t count, struct schedule_notes *notes, struct hx_problem *problem)
{
    uint64_t message = options->message ? options->message : UINT64_C(1) << 20;
    if (most == 0 || most > SCHEDULE_MOST_BYTES)
        most = SCHEDULE_MOST_BYTES;
    if (!options->message) {
        message = message < least ? least : message > most ? most : message;
        msccl_note(notes, "a vector of %" PRIu64 " bytes, as --message does not say", message);
    } else if (message < least || message > most) {
        msccl_note(notes, "the file is for %" PRIu64 " to %" PRIu64 " bytes, not for %" PRIu64, least, most, message);
    }
    uint64_t bytes = hx_divide_up(message, chunks);
    if (bytes <= SCHEDULE_MOST_BYTES / count)
        return bytes;
    (void)hx_fail(problem, HX_EXIT_CONFIG, path,
                  "has a message of %" PRIu32 " chunks of %" PRIu64 " bytes, %" PRIu64 " bytes are possible", count,
                  bytes, (uint64_t)SCHEDULE_MOST_BYTES);
    return 0;
}
