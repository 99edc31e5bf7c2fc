/* mscclpp.c - reads execution plans of MSCCL++: JSON, as mscclpp's language writes and its executor reads them.
 *
 *     plan  = {"collective": NAME, "inplace": BOOL, ["min_message_size": N, "max_message_size": N,] "gpus": [gpu, ...]}
 *     gpu   = {"id": N, "input_chunks": N, "output_chunks": N, "scratch_chunks": N, "threadblocks": [tb, ...],
 *              "channels": [{"channel_type": TYPE, "connected_to": [GPU, ...]}, ...],
 *              "remote_buffers": [{"rank": GPU, "type": BUFFER}, ...], ["semaphores": [{"init_value": N}, ...]]}
 *     tb    = {"id": N, "ops": [op, ...], "channels": [{"channel_type": TYPE, "channel_ids": [N, ...]}, ...],
 *              ["remote_buffer_refs": [{"access_channel_type": TYPE, "remote_buffer_ids": [N, ...]}, ...]]}
 *     op    = {"name": NAME, ["src_buff": [chunks, ...], "dst_buff": [chunks, ...], "channel_type": TYPE,
 *              "channel_ids": [N, ...], "barrier_id": N, "num_threadblocks": N, "semaphore_ids": [N, ...],
 *              "tbg_info": {"tb_id": N, "tbg_size": N}, "ops": [op, ...]]}
 *     chunks = {"type": BUFFER, "index": N, "size": N} here, {"buffer_id": N, "index": N, "size": N} at another gpu
 *     TYPE  = memory | port (| switch: channels only)    BUFFER = i | o | s
 *
 * Other keys are ignored. gpus[n] has the id n, and thread blocks count from 0. Numbers in an op count in the lists of
 * its thread block, those of a thread block in the lists of its gpu. The n-th channels of a type between two gpus
 * belong together.
 *
 * Memory of other gpus is written and read from one side, so a receive waits for nothing. Each message has a tag of its
 * own.
 *
 *     put pws pwsf          sends; the last two also signal (pwsf: and flush)
 *     signal rlxsignal      send 8 bytes
 *     wait rlxwait          go on when the signal and the puts before it have come
 *     get                   sends 8 bytes, and receives what the other gpu sends for them
 *     copy re               compute, 0 ps
 *     res                   re, and sends the sum
 *     rre rres              gets and re; sends the sum
 *     ppkt rppkt            send packets: twice the bytes; the second first waits for packets that it sends on
 *     cpkt upkt             compute: write packets here; wait for packets and unpack them
 *     repkt respkt recpkt recspkt    wait for packets and sum them; send or store the sum as packets
 *     flush                 goes on when what is sent over port channels is gone
 *     barrier sem_acquire sem_release    compute; order the thread blocks of a gpu
 *     nop                   nothing: it orders the threads within a block
 *     pipeline              its ops once, for all of the chunk
 *
 * A put over a memory channel keeps its thread block until it is gone, one over a port does not. Operations of switches
 * (NVLS: glres, glre, gstore, gstorepkt) are refused. A chunk is the collective's vector (--message) divided by
 * its chunks, rounded up.
 *
 * A file is a schedule only if its sums are right: msccl_verify.h. The proof takes a put over a port as done when it is
 * issued. Two unordered steps that touch one chunk are noted, not refused: plans of MSCCL++'s own tests have some. */
#include "base/input.h"
#include "schedule/msccl_file.h"
#include "schedule/msccl_promise.h"
#include "schedule/msccl_verify.h"
#include "schedule/mscclpp_json.h"
#include "schedule/readers.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- thread blocks and gpus ---- */

/* Lists of the thread block: {TYPE_KEY: type, IDS_KEY: [below high]}. */
static bool take_own(struct mscclpp_reader *r, const json_t *block, const char *key, const char *type_key,
                     const char *ids_key, const size_t *high, struct mscclpp_list *own)
{
    const json_t *array;
    uint32_t type;
    if (!mscclpp_take_array(r, block, key, true, &array))
        return false;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        if (!mscclpp_take_type(r, item, type_key, &type))
            return false;
        size_t before = own[type].count;
        if (!mscclpp_take_list(r, item, ids_key, UINT32_MAX - 1, &own[type]))
            return false;
        for (size_t j = before; j < own[type].count; j++) {
            if (type != MSCCLPP_SWITCH && own[type].at[j] >= high[type])
                return mscclpp_fail(r, "%s: the gpu has %zu of them, not number %" PRIu32, ids_key, high[type],
                                    own[type].at[j]);
        }
    }
    return true;
}

static bool do_block(struct mscclpp_reader *r, const json_t *block)
{
    const size_t remotes[MSCCLPP_CHANNEL_TYPES] = {r->remotes, r->remotes, r->remotes};
    const json_t *array;
    uint32_t id;
    r->op = UINT32_MAX;
    for (unsigned i = 0; i < MSCCLPP_CHANNEL_TYPES; i++)
        r->own_channel[i].count = r->own_remote[i].count = 0;
    if (!mscclpp_take(r, block, "id", UINT32_MAX - 1, &id))
        return false;
    if (id != r->block)
        return mscclpp_fail(r, "id: expected %" PRIu32 " (ids count from 0)", r->block);
    if (!take_own(r, block, "channels", "channel_type", "channel_ids", r->channels, r->own_channel) ||
        !take_own(r, block, "remote_buffer_refs", "access_channel_type", "remote_buffer_ids", remotes, r->own_remote) ||
        !mscclpp_take_array(r, block, "ops", false, &array))
        return false;
    msccl_add_block(&r->file->plan, r->gpu, id);
    for (r->op = 0; r->op < json_array_size(array); r->op++) {
        if (!mscclpp_do_operation(r, json_array_get(array, r->op), false))
            return false;
    }
    return true;
}

static void add_channel(struct mscclpp_reader *r, uint32_t type, uint32_t peer)
{
    struct mscclpp_channel **all = &r->channel[type];
    uint32_t order = 0;
    for (size_t i = 0; i < r->channels[type]; i++)
        order += (*all)[i].peer == peer;
    *all = hx_grow(*all, r->channels[type], &r->channels_room[type], sizeof **all);
    (*all)[r->channels[type]++] = (struct mscclpp_channel){peer, order};
}

static bool take_channels(struct mscclpp_reader *r, const json_t *gpu)
{
    const json_t *array;
    uint32_t type;
    if (!mscclpp_take_array(r, gpu, "channels", true, &array))
        return false;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *channel = json_array_get(array, i);
        struct mscclpp_list peers = {.at = NULL};
        if (!mscclpp_take_type(r, channel, "channel_type", &type))
            return false;
        bool good = mscclpp_take_list(r, channel, "connected_to", r->file->plan.gpus - 1, &peers);
        for (size_t j = 0; good && j < peers.count; j++) {
            if (peers.at[j] == r->gpu)
                good = mscclpp_fail(r, "connected_to: expected another gpu than %" PRIu32, r->gpu);
            else
                add_channel(r, type, peers.at[j]);
        }
        free(peers.at);
        if (!good)
            return false;
    }
    return true;
}

static bool take_remotes(struct mscclpp_reader *r, const json_t *gpu)
{
    const json_t *array;
    if (!mscclpp_take_array(r, gpu, "remote_buffers", true, &array))
        return false;
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct mscclpp_remote remote;
        if (!mscclpp_take(r, json_array_get(array, i), "rank", r->file->plan.gpus - 1, &remote.gpu) ||
            !mscclpp_take_word(r, json_array_get(array, i), "type", mscclpp_buffers, "i, o or s", &remote.buffer))
            return false;
        if (remote.gpu == r->gpu)
            return mscclpp_fail(r, "rank: expected another gpu than %" PRIu32, r->gpu);
        r->remote = hx_grow(r->remote, r->remotes, &r->remotes_room, sizeof *r->remote);
        r->remote[r->remotes++] = remote;
    }
    return true;
}

static bool take_semaphores(struct mscclpp_reader *r, const json_t *gpu)
{
    const json_t *array;
    if (!mscclpp_take_array(r, gpu, "semaphores", true, &array))
        return false;
    uint32_t *initial = hx_allocate(json_array_size(array) + 1, sizeof *initial);
    r->file->initial[r->gpu] = initial;
    initial[0] = (uint32_t)json_array_size(array);
    for (uint32_t i = 0; i < initial[0]; i++) {
        if (!mscclpp_take(r, json_array_get(array, i), "init_value", INT_MAX, &initial[i + 1]))
            return false;
    }
    return true;
}

static bool do_gpu(struct mscclpp_reader *r, const json_t *gpu)
{
    const json_t *array;
    r->block = UINT32_MAX;
    r->remotes = 0;
    memset(r->channels, 0, sizeof r->channels);
    if (!take_channels(r, gpu) || !take_remotes(r, gpu) || !take_semaphores(r, gpu) ||
        !mscclpp_take_array(r, gpu, "threadblocks", false, &array))
        return false;
    for (r->block = 0; r->block < json_array_size(array); r->block++) {
        if (!do_block(r, json_array_get(array, r->block)))
            return false;
    }
    return true;
}

/* ---- the file ---- */

static uint32_t common_multiple(uint32_t a, uint32_t b)
{
    uint32_t multiple = a;
    while (multiple % b)
        multiple += a;
    return multiple;
}

/* Makes plan.slices a multiple of each number of thread blocks that share an operation. */
static bool find_slices(struct mscclpp_reader *r, const json_t *operations_)
{
    struct msccl_plan *plan = &r->file->plan;
    uint32_t size;
    for (size_t i = 0; i < json_array_size(operations_); i++) {
        const json_t *o = json_array_get(operations_, i);
        const json_t *share = json_object_get(o, "tbg_info");
        const json_t *inner = json_object_get(o, "ops");
        if (share) {
            if (!mscclpp_take(r, share, "tbg_size", MSCCL_MOST_SLICES, &size) || size == 0)
                return mscclpp_fail(r, "tbg_size: expected a number from 1 to %d", MSCCL_MOST_SLICES);
            plan->slices = common_multiple(plan->slices, size);
            if (plan->slices > MSCCL_MOST_SLICES)
                return mscclpp_fail(
                    r, "tbg_size: the least common multiple of all sizes exceeds %d (too fine to be proven)",
                    MSCCL_MOST_SLICES);
        }
        for (size_t j = 0; j < json_array_size(inner); j++) {
            if (json_object_get(json_array_get(inner, j), "ops"))
                return mscclpp_fail(r, "pipeline: expected no pipeline in a pipeline");
        }
        if (inner && !find_slices(r, inner))
            return false;
    }
    return true;
}

/* Sizes of a gpu's buffers. */
static bool measure_gpu(struct mscclpp_reader *r, const json_t *gpu)
{
    static const char *const keys[] = {"input_chunks", "output_chunks", "scratch_chunks"};
    const json_t *array;
    uint32_t id;
    r->block = UINT32_MAX;
    if (!mscclpp_take(r, gpu, "id", SCHEDULE_MOST_RANKS, &id))
        return false;
    if (id != r->gpu)
        return mscclpp_fail(r, "id: expected %" PRIu32 " (ids count from 0)", r->gpu);
    for (unsigned i = 0; i < MSCCL_BUFFERS; i++) {
        if (!mscclpp_take(r, gpu, keys[i], MSCCL_MOST_CELLS, &r->file->plan.gpu[r->gpu].chunks[i]))
            return false;
    }
    if (!mscclpp_take_array(r, gpu, "threadblocks", false, &array))
        return false;
    r->op = UINT32_MAX;
    for (r->block = 0; r->block < json_array_size(array); r->block++) {
        if (!find_slices(r, json_object_get(json_array_get(array, r->block), "ops")))
            return false;
    }
    return true;
}

/* Chunks of the vector: the output of a collective that gathers, the input of any other. */
static uint32_t count_chunks(const struct msccl_plan *plan)
{
    uint32_t most[MSCCL_BUFFERS] = {0};
    for (uint32_t i = 0; i < plan->gpus; i++) {
        for (unsigned j = 0; j < MSCCL_BUFFERS; j++)
            most[j] = plan->gpu[i].chunks[j] > most[j] ? plan->gpu[i].chunks[j] : most[j];
    }
    bool gathers = plan->promise == MSCCL_ALL_GATHER || plan->promise == MSCCL_GATHER;
    uint32_t chunks = most[gathers ? MSCCL_OUTPUT : MSCCL_INPUT];
    if (plan->promise == MSCCL_PROMISES && most[MSCCL_OUTPUT] > chunks)
        chunks = most[MSCCL_OUTPUT];
    return chunks ? chunks : 1;
}

static bool do_plan(struct mscclpp_reader *r, const json_t *json)
{
    struct msccl_plan *plan = &r->file->plan;
    const char *collective = json_string_value(json_object_get(json, "collective"));
    const json_t *gpus = json_object_get(json, "gpus");
    if (!collective || json_array_size(gpus) == 0 || json_array_size(gpus) > SCHEDULE_MOST_RANKS)
        return hx_fail(r->problem, HX_EXIT_CONFIG, r->path,
                       "expected a plan with \"collective\": NAME and \"gpus\": [1 or more]");
    (void)msccl_find_promise(collective, &plan->promise);
    plan->in_place = json_is_true(json_object_get(json, "inplace"));
    plan->gpus = (uint32_t)json_array_size(gpus);
    plan->gpu = hx_allocate(plan->gpus, sizeof *plan->gpu);
    r->file->initial = hx_allocate(plan->gpus, sizeof *r->file->initial);
    for (r->gpu = 0; r->gpu < plan->gpus; r->gpu++) {
        if (!measure_gpu(r, json_array_get(gpus, r->gpu)))
            return false;
    }
    plan->chunks = count_chunks(plan);
    if (!msccl_place(plan, r->problem))
        return false;
    for (r->gpu = 0; r->gpu < plan->gpus; r->gpu++) {
        if (!do_gpu(r, json_array_get(gpus, r->gpu)))
            return false;
    }
    struct mscclpp_file *f = r->file;
    f->first_message = hx_grow(f->first_message, plan->steps, &f->first_messages_room, sizeof *f->first_message);
    f->first_message[plan->steps] = (uint32_t)f->messages;
    return true;
}

static json_t *load(const char *path, struct hx_problem *problem)
{
    json_error_t error;
    FILE *in = hx_input_open(path, problem);
    if (!in)
        return NULL;
    /* max_message_size has 64 bits. */
    json_t *json = json_loadf(in, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &error);
    (void)fclose(in);
    if (!json)
        (void)hx_fail_at(problem, path, (unsigned)error.line, (unsigned)error.column, "expected JSON: %s", error.text);
    return json;
}

/* Bytes that the plan is for. */
static uint64_t take_bytes(const json_t *json, const char *key)
{
    double real = json_number_value(json_object_get(json, key));
    return real <= 0 ? 0 : real >= (double)SCHEDULE_MOST_BYTES ? SCHEDULE_MOST_BYTES : (uint64_t)real;
}

static void free_file(struct mscclpp_file *f)
{
    for (uint32_t i = 0; f->initial && i < f->plan.gpus; i++)
        free(f->initial[i]);
    msccl_plan_free(&f->plan);
    HX_FREE(f->first_message, f->name, f->initial, f->message, f->event, f->write, f->read, f->arrival);
}

static uint64_t most_parts(const struct mscclpp_file *f)
{
    uint64_t most = 1;
    for (size_t i = 0; i < f->messages; i++)
        most = f->message[i].parts > most ? f->message[i].parts : most;
    return most;
}

static struct schedule_builder *make(struct mscclpp_reader *r, const json_t *json,
                                     const struct schedule_read_options *options, struct schedule_notes *notes)
{
    struct mscclpp_file *f = r->file;
    const char *collective = json_string_value(json_object_get(json, "collective"));
    if (!do_plan(r, json) || !mscclpp_order(f, r->problem))
        return NULL;
    uint32_t count = (uint32_t)((most_parts(f) + f->plan.slices - 1) / f->plan.slices);
    uint64_t bytes = msccl_chunk_bytes(r->path, options, take_bytes(json, "min_message_size"),
                                       take_bytes(json, "max_message_size"), f->plan.chunks, count, notes, r->problem);
    if (bytes == 0)
        return NULL;
    if (f->plan.promise == MSCCL_PROMISES)
        msccl_note(notes, "collective '%.32s' is unknown, so its output is not proven", collective);
    if (r->pipelines)
        msccl_note(notes, "%" PRIu64 " pipelines run once, for all of a chunk", r->pipelines);
    return msccl_verify(&f->plan, notes, r->problem) ? mscclpp_schedule(f, bytes) : NULL;
}

static struct schedule_builder *read(const char *path, const struct schedule_read_options *options,
                                     struct schedule_notes *notes, struct hx_problem *problem)
{
    struct mscclpp_file file = {.plan = {.path = path, .slices = 1, .may_race = true}};
    struct mscclpp_reader r = {.file = &file, .path = path, .problem = problem};
    json_t *json = load(path, problem);
    struct schedule_builder *b = json ? make(&r, json, options, notes) : NULL;
    json_decref(json);
    for (unsigned i = 0; i < MSCCLPP_CHANNEL_TYPES; i++)
        HX_FREE(r.channel[i], r.own_channel[i].at, r.own_remote[i].at);
    free(r.remote);
    free_file(&file);
    return b;
}

/* An object with the keys of a plan near its beginning. */
static bool is(const uint8_t *begin, size_t bytes)
{
    static const char collective[] = "\"collective\"";
    static const char gpus[] = "\"gpus\"";
    size_t at = 0;
    while (at < bytes && begin[at] && strchr(" \t\r\n", begin[at]))
        at++;
    return at < bytes && begin[at] == '{' && memmem(begin, bytes, collective, sizeof collective - 1) &&
           memmem(begin, bytes, gpus, sizeof gpus - 1);
}

const struct schedule_format schedule_mscclpp = {
    .name = "mscclpp", .what = "MSCCL++ execution plan, JSON; its sums are proven", .is = is, .read = read};
