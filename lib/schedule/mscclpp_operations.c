/* mscclpp_operations.c - an operation of an MSCCL++ plan as a step, messages and events (mscclpp_json.h). */
#include "schedule/mscclpp_json.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What an operation does with its buffers. */
enum source { NO_SOURCE, EACH, SUM };
enum traits {
    TAKES_PACKETS = 1,  /* of its sources, all but the first, or its only one */
    MAKES_PACKETS = 2,  /* at other gpus, and in dst_buff[1] */
    WRITES_PACKETS = 4, /* into its only destination, here */
    READS_REMOTE = 8,   /* sources behind the first */
    GETS = 16,          /* all sources are at other gpus */
    PUTS = 32,          /* all destinations are */
    SENDS = 64,         /* destinations behind those here are */
    KEEPS_COPY = 128,   /* dst_buff[1] is here, too */
    SIGNALS = 256,
    WAITS = 512,
    IGNORED = 1024,
    REFUSED = 2048
};

static const struct operation {
    const char *name;
    enum source source;
    unsigned traits;
} operations[] = {{"nop", NO_SOURCE, IGNORED},
                  {"put", EACH, PUTS},
                  {"pws", EACH, PUTS | SIGNALS},
                  {"pwsf", EACH, PUTS | SIGNALS},
                  {"get", EACH, GETS},
                  {"copy", EACH, 0},
                  {"signal", NO_SOURCE, SIGNALS},
                  {"rlxsignal", NO_SOURCE, SIGNALS},
                  {"wait", NO_SOURCE, WAITS},
                  {"rlxwait", NO_SOURCE, WAITS},
                  {"flush", NO_SOURCE, 0},
                  {"re", SUM, 0},
                  {"res", SUM, SENDS},
                  {"rre", SUM, READS_REMOTE},
                  {"rres", SUM, READS_REMOTE | SENDS},
                  {"ppkt", EACH, PUTS | MAKES_PACKETS},
                  {"rppkt", SUM, PUTS | MAKES_PACKETS | TAKES_PACKETS},
                  {"cpkt", EACH, WRITES_PACKETS},
                  {"upkt", EACH, TAKES_PACKETS},
                  {"repkt", SUM, TAKES_PACKETS},
                  {"respkt", SUM, TAKES_PACKETS | MAKES_PACKETS | SENDS},
                  {"recpkt", SUM, TAKES_PACKETS | KEEPS_COPY},
                  {"recspkt", SUM, TAKES_PACKETS | MAKES_PACKETS | KEEPS_COPY | SENDS},
                  {"barrier", NO_SOURCE, 0},
                  {"sem_acquire", NO_SOURCE, 0},
                  {"sem_release", NO_SOURCE, 0},
                  {"pipeline", NO_SOURCE, 0},
                  {"glres", NO_SOURCE, REFUSED},
                  {"glre", NO_SOURCE, REFUSED},
                  {"gstore", NO_SOURCE, REFUSED},
                  {"gstorepkt", NO_SOURCE, REFUSED}};

/* Chunks that an operation names. */
struct range {
    uint32_t gpu;
    uint32_t cell, count;
};

static bool begin_step(struct mscclpp_reader *r, const char *name, uint32_t *step)
{
    struct mscclpp_file *f = r->file;
    if (f->plan.steps == MSCCL_MOST_STEPS)
        return mscclpp_fail(r, "expected at most %d operations", MSCCL_MOST_STEPS);
    *step = msccl_add_step(&f->plan, 0);
    f->name = hx_grow(f->name, *step, &f->names_room, sizeof *f->name);
    f->name[*step] = name;
    f->first_message = hx_grow(f->first_message, *step, &f->first_messages_room, sizeof *f->first_message);
    f->first_message[*step] = (uint32_t)f->messages;
    return true;
}

static uint32_t add_message(struct mscclpp_reader *r, struct mscclpp_message message)
{
    struct mscclpp_file *f = r->file;
    f->message = hx_grow(f->message, f->messages, &f->messages_room, sizeof *f->message);
    f->message[f->messages] = message;
    return (uint32_t)f->messages++;
}

static void add_event(struct mscclpp_reader *r, struct mscclpp_event event)
{
    struct mscclpp_file *f = r->file;
    event.block = f->plan.step[event.step].block;
    f->event = hx_grow(f->event, f->events, &f->events_room, sizeof *f->event);
    f->event[f->events++] = event;
}

static void add_write(struct mscclpp_reader *r, struct mscclpp_packets packets)
{
    struct mscclpp_file *f = r->file;
    f->write = hx_grow(f->write, f->writes, &f->writes_room, sizeof *f->write);
    f->write[f->writes++] = packets;
}

static void add_read(struct mscclpp_reader *r, struct mscclpp_packets packets)
{
    struct mscclpp_file *f = r->file;
    f->read = hx_grow(f->read, f->reads, &f->reads_room, sizeof *f->read);
    f->read[f->reads++] = packets;
}

/* An operation that is read. */
struct work {
    const json_t *json;
    const struct operation *operation;
    uint32_t step, type;  /* of its channels */
    uint32_t part, parts; /* of the thread blocks that share it */
    struct range *source, *destination;
    size_t sources, destinations;
};

/* The buffer of chunks: at this gpu, or at the one that a remote buffer names. */
static bool find_buffer(struct mscclpp_reader *r, const struct work *w, const json_t *chunks, bool away, uint32_t *gpu,
                        uint32_t *buffer)
{
    const struct mscclpp_list *own = &r->own_remote[w->type];
    uint32_t id;
    *gpu = r->gpu;
    if (!away)
        return mscclpp_take_word(r, chunks, "type", mscclpp_buffers, "i, o or s", buffer);
    if (!mscclpp_take(r, chunks, "buffer_id", UINT32_MAX - 1, &id))
        return false;
    if (id >= own->count)
        return mscclpp_fail(r, "buffer_id: the thread block has %zu remote buffers over %s channels", own->count,
                            mscclpp_channel_types[w->type]);
    *gpu = r->remote[own->at[id]].gpu;
    *buffer = r->remote[own->at[id]].buffer;
    return true;
}

static bool find_range(struct mscclpp_reader *r, const struct work *w, const json_t *chunks, bool away,
                       struct range *range)
{
    const struct msccl_plan *plan = &r->file->plan;
    uint32_t buffer;
    uint32_t index;
    uint32_t size;
    if (!find_buffer(r, w, chunks, away, &range->gpu, &buffer) ||
        !mscclpp_take(r, chunks, "index", MSCCL_MOST_CELLS, &index) ||
        !mscclpp_take(r, chunks, "size", MSCCL_MOST_CELLS, &size))
        return false;
    if (index + size > plan->gpu[range->gpu].chunks[buffer])
        return mscclpp_fail(r, "chunks %s%" PRIu32 " and %" PRIu32 " more: buffer %s of gpu %" PRIu32 " has %" PRIu32,
                            mscclpp_buffers[buffer], index, size, mscclpp_buffers[buffer], range->gpu,
                            plan->gpu[range->gpu].chunks[buffer]);
    uint32_t part = size * (plan->slices / w->parts);
    range->cell = plan->gpu[range->gpu].cell[buffer] + index * plan->slices + part * w->part;
    range->count = part;
    return true;
}

/* Whether a source or destination is at another gpu. */
static bool is_away(const struct operation *o, bool source, size_t index)
{
    if (source)
        return (o->traits & GETS) || ((o->traits & READS_REMOTE) && index > 0);
    return (o->traits & PUTS) || ((o->traits & SENDS) && index > (o->traits & KEEPS_COPY ? 1 : 0));
}

static bool find_ranges(struct mscclpp_reader *r, const struct work *w, bool source, struct range **ranges,
                        size_t *count)
{
    const json_t *array;
    if (!mscclpp_take_array(r, w->json, source ? "src_buff" : "dst_buff", false, &array))
        return false;
    *count = json_array_size(array);
    *ranges = hx_allocate(*count, sizeof **ranges);
    for (size_t i = 0; i < *count; i++) {
        if (!find_range(r, w, json_array_get(array, i), is_away(w->operation, source, i), &(*ranges)[i]))
            return false;
    }
    return true;
}

static bool check_ranges(struct mscclpp_reader *r, const struct work *w)
{
    size_t least = w->operation->traits & KEEPS_COPY ? 2 : 1;
    if (w->sources == 0 || w->destinations < least)
        return mscclpp_fail(r, "expected 1 or more in src_buff, %zu or more in dst_buff", least);
    if (w->operation->source == EACH && w->sources != w->destinations)
        return mscclpp_fail(r, "expected as many in src_buff as in dst_buff");
    for (size_t i = 0; i < w->sources || i < w->destinations; i++) {
        const struct range *source = &w->source[i < w->sources ? i : 0];
        const struct range *destination = &w->destination[i < w->destinations ? i : 0];
        if (source->count != destination->count)
            return mscclpp_fail(r, "expected as many chunks in src_buff as in dst_buff");
    }
    return true;
}

/* A thread block's puts over a port, except with a flush, do not hold it up. */
static bool is_later(const struct work *w)
{
    return w->type == MSCCLPP_PORT && strcmp(w->operation->name, "pwsf") != 0;
}

static void carry(struct mscclpp_reader *r, const struct work *w)
{
    const unsigned traits = w->operation->traits;
    const uint32_t step = w->step;
    for (size_t i = 0; i < w->sources; i++) {
        const struct range *s = &w->source[i];
        if (is_away(w->operation, true, i))
            (void)add_message(r, (struct mscclpp_message){
                                     .step = step, .from = s->gpu, .to = r->gpu, .parts = s->count, .read = true});
        if ((traits & TAKES_PACKETS) && (i > 0 || w->sources == 1))
            add_read(r, (struct mscclpp_packets){step, s->cell, s->count, UINT32_MAX});
    }
    for (size_t i = 0; i < w->destinations; i++) {
        const struct range *d = &w->destination[i];
        const bool away = is_away(w->operation, false, i);
        const bool packets =
            away ? traits & MAKES_PACKETS : (traits & WRITES_PACKETS) || ((traits & KEEPS_COPY) && i == 1);
        uint32_t message = UINT32_MAX;
        if (away)
            message = add_message(r, (struct mscclpp_message){.step = step,
                                                              .from = r->gpu,
                                                              .to = d->gpu,
                                                              .parts = (uint64_t)d->count << packets,
                                                              .later = is_later(w)});
        if (packets)
            add_write(r, (struct mscclpp_packets){step, d->cell, d->count, message});
    }
}

/* All destinations become the sum of all sources, by way of cells of its own. */
static bool add_sum(struct mscclpp_reader *r, const struct work *w)
{
    struct msccl_plan *plan = &r->file->plan;
    const uint32_t count = w->source[0].count;
    uint32_t sum = w->source[0].cell;
    if (w->sources > 1) {
        sum = msccl_new_cells(plan, count);
        if (sum == (uint32_t)MSCCL_NO_CELL)
            return mscclpp_fail(r, "expected at most %d chunks in all (fewer can be proven)", MSCCL_MOST_CELLS);
    }
    for (size_t i = 1; i < w->sources; i++)
        msccl_add_move(plan, (struct msccl_move){sum, i == 1 ? w->source[0].cell : sum, w->source[i].cell, count});
    for (size_t i = 0; i < w->destinations; i++)
        msccl_add_move(plan, (struct msccl_move){w->destination[i].cell, sum, MSCCL_NO_CELL, count});
    return true;
}

static bool add_moves(struct mscclpp_reader *r, const struct work *w)
{
    if (w->operation->source == SUM)
        return add_sum(r, w);
    for (size_t i = 0; i < w->sources; i++)
        msccl_add_move(&r->file->plan, (struct msccl_move){w->destination[i].cell, w->source[i].cell, MSCCL_NO_CELL,
                                                           w->source[i].count});
    return true;
}

static bool do_buffers(struct mscclpp_reader *r, struct work *w)
{
    bool good = find_ranges(r, w, true, &w->source, &w->sources) &&
                find_ranges(r, w, false, &w->destination, &w->destinations) && check_ranges(r, w);
    if (good) {
        carry(r, w);
        good = add_moves(r, w);
    }
    HX_FREE(w->source, w->destination);
    return good;
}

/* Signals or waits on its channels. */
static bool do_channels(struct mscclpp_reader *r, const struct work *w)
{
    const struct mscclpp_list *own = &r->own_channel[w->type];
    struct mscclpp_list ids = {.at = NULL};
    bool good = mscclpp_take_list(r, w->json, "channel_ids", UINT32_MAX - 1, &ids);
    for (size_t i = 0; good && i < ids.count; i++) {
        if (ids.at[i] >= own->count) {
            good = mscclpp_fail(r, "channel_ids: the thread block has %zu %s channels", own->count,
                                mscclpp_channel_types[w->type]);
            break;
        }
        const struct mscclpp_channel *c = &r->channel[w->type][own->at[ids.at[i]]];
        struct mscclpp_event event = {
            .kind = MSCCLPP_WAIT, .channel_type = (uint8_t)w->type, .from = c->peer, .to = r->gpu, .id = c->order};
        event.step = w->step;
        if (w->operation->traits & SIGNALS) {
            event.kind = MSCCLPP_SIGNAL;
            event.from = r->gpu;
            event.to = c->peer;
            event.message = add_message(
                r, (struct mscclpp_message){.step = w->step, .from = r->gpu, .to = c->peer, .later = is_later(w)});
        }
        add_event(r, event);
    }
    free(ids.at);
    return good;
}

static bool do_semaphores(struct mscclpp_reader *r, const struct work *w, enum mscclpp_event_kind kind)
{
    struct mscclpp_list ids = {.at = NULL};
    const uint32_t semaphores = r->file->initial[r->gpu][0];
    bool good = mscclpp_take_list(r, w->json, "semaphore_ids", UINT32_MAX - 1, &ids);
    for (size_t i = 0; good && i < ids.count; i++) {
        if (ids.at[i] >= semaphores)
            good = mscclpp_fail(r, "semaphore_ids: gpu %" PRIu32 " has %" PRIu32 " semaphores", r->gpu, semaphores);
        else
            add_event(r, (struct mscclpp_event){
                             .kind = (uint8_t)kind, .from = r->gpu, .to = r->gpu, .id = ids.at[i], .step = w->step});
    }
    free(ids.at);
    return good;
}

static bool do_barrier(struct mscclpp_reader *r, const struct work *w)
{
    struct mscclpp_event event = {.kind = MSCCLPP_ARRIVE, .from = r->gpu, .to = r->gpu, .step = w->step};
    if (!mscclpp_take(r, w->json, "barrier_id", UINT32_MAX - 1, &event.id) ||
        !mscclpp_take(r, w->json, "num_threadblocks", INT_MAX, &event.number))
        return false;
    add_event(r, event);
    event.kind = MSCCLPP_LEAVE;
    if (!begin_step(r, w->operation->name, &event.step))
        return false;
    add_event(r, event);
    return true;
}

static bool take_share(struct mscclpp_reader *r, struct work *w)
{
    const json_t *share = json_object_get(w->json, "tbg_info");
    w->parts = 1;
    if (!share)
        return true;
    /* The sizes divide the slices: find_slices(). */
    if (!mscclpp_take(r, share, "tbg_size", MSCCL_MOST_SLICES, &w->parts) ||
        !mscclpp_take(r, share, "tb_id", w->parts - 1, &w->part))
        return false;
    return true;
}

static bool do_step(struct mscclpp_reader *r, struct work *w)
{
    const char *name = w->operation->name;
    if (!begin_step(r, name, &w->step))
        return false;
    if (strcmp(name, "barrier") == 0)
        return do_barrier(r, w);
    if (strcmp(name, "sem_acquire") == 0)
        return do_semaphores(r, w, MSCCLPP_ACQUIRE);
    if (strcmp(name, "sem_release") == 0)
        return do_semaphores(r, w, MSCCLPP_RELEASE);
    if (w->operation->source != NO_SOURCE && !do_buffers(r, w))
        return false;
    return !(w->operation->traits & (SIGNALS | WAITS)) || do_channels(r, w);
}

static const struct operation *find_operation(const char *name)
{
    for (size_t i = 0; name && i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    }
    return NULL;
}

bool mscclpp_do_operation(struct mscclpp_reader *r, const json_t *json, bool within)
{
    struct work w = {.json = json};
    const char *name = json_string_value(json_object_get(json, "name"));
    const json_t *inner;
    w.operation = find_operation(name);
    if (!w.operation)
        return mscclpp_fail(r, "name: '%.40s' is no known operation", name ? name : "");
    if (w.operation->traits & REFUSED)
        return mscclpp_fail(r, "'%s' is done by a switch (NVLS); a schedule has no such operation", name);
    if (w.operation->traits & IGNORED)
        return true;
    if (strcmp(name, "pipeline") == 0) {
        if (within || !mscclpp_take_array(r, json, "ops", false, &inner))
            return mscclpp_fail(r, "pipeline: expected ops, and no pipeline among them");
        r->pipelines++;
        for (size_t i = 0; i < json_array_size(inner); i++) {
            if (!mscclpp_do_operation(r, json_array_get(inner, i), true))
                return false;
        }
        return true;
    }
    if (json_object_get(json, "channel_type") && !mscclpp_take_type(r, json, "channel_type", &w.type))
        return false;
    return take_share(r, &w) && do_step(r, &w);
}
