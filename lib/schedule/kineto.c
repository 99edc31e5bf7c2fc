/* kineto.c - reads traces of PyTorch's profiler (Kineto), as export_chrome_trace() writes them, plain or by gzip.
 *
 *     { "schemaVersion": 1, "distributedInfo": { "rank": RANK, "world_size": RANKS, "pg_config": [ GROUP, ... ] },
 *       "traceEvents": [ { "ph": "X", "cat": TEXT, "name": TEXT, "pid": P, "tid": T, "ts": US, "dur": US,
 *                          "args": { ... } }, ... ] }
 *
 * Each rank has a file. Their names differ in the rank's number alone, "NAME.3.json" or "rank-3.pt.trace.json.gz"; any
 * of them names all. A file without distributedInfo is a trace of one rank. If only one file is there and --ranks is
 * its world_size, each rank does what this one does. Clocks of ranks need not agree.
 *
 * If there are kernels of NCCL, computing and communication are those of the GPU, else those of the CPU and gloo.
 * kineto_events.c says which events count, kineto_calls.c what a communication becomes.
 *
 *     computing       all time but that of waiting: also gaps between operators or kernels, in which the program runs
 *                     what the trace does not show, or the GPU waits for the CPU. Operators of several threads, and
 *                     kernels of several streams, are one computing at a time
 *     begin of a      after the computing before its call: for gloo the call "c10d::...", for NCCL the end of the
 *     communication   kernels that were launched before it. And after the communication before it in its stream of the
 *                     GPU, or thread of gloo
 *     waiting         a communication that ends in a gap of the computing, 10 us or more after the gap began: the rest
 *                     of the computing waits for it, and for all that has ended by then. The optimizer's begin waits
 *                     for all that has ended by then, too
 *
 * The last rule infers, for traces do not have the waits of gloo, nor those of the GPU before 2024. A communication
 * that ends while the rank computes may have been waited for later, or not at all: computing waits for it at the next
 * wait or optimizer, so that a bucket of gradients overlaps the backward pass as recorded. A gap in which the program
 * was busy elsewhere may be taken for a wait.
 *
 * Sources: PyTorch, torch/csrc/profiler/util.cpp (saveNcclMeta: the keys of args) and torch/csrc/distributed/c10d
 * (ProcessGroupNCCL.cpp: what each call passes; ProcessGroupGloo.cpp: an event is recorded by the thread that carries
 * it out); Kineto, libkineto/src/output_json.cpp (keys of kernels). */
#include "schedule/kineto.h"
#include "schedule/rank_files.h"
#include "schedule/readers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of files ---- */

enum { ENOUGH_RANKS = 256 };

/* Files of other ranks that are there, among the first. */
static uint32_t count_others(const struct rank_files *names, uint32_t rank, uint32_t ranks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ranks && i < ENOUGH_RANKS; i++)
        count += i != rank && rank_files_have(names, i);
    return count;
}

/* Finds the rank's number in the file's name: of several the one for which most other ranks have a file, else the
 * last. Returns the number of other files. */
static uint32_t find_names(const char *path, uint32_t rank, uint32_t ranks, struct rank_files *names)
{
    char number[16];
    const char *slash = strrchr(path, '/');
    uint32_t most = 0;
    size_t digits = (size_t)snprintf(number, sizeof number, "%" PRIu32, rank);
    *names = (struct rank_files){.path = path};
    for (const char *at = slash ? slash + 1 : path; *at; at += strspn(at, "0123456789")) {
        at += strcspn(at, "0123456789");
        if (strspn(at, "0123456789") != digits || strncmp(at, number, digits) != 0)
            continue;
        const struct rank_files found = {path, (size_t)(at - path), at + digits};
        uint32_t others = count_others(&found, rank, ranks);
        if (others >= most)
            *names = found;
        most = others > most ? others : most;
    }
    return most;
}

/* ---- a file ---- */

static bool read_number(const struct kineto_file *f, const char *key, uint64_t high, uint32_t *number)
{
    const json_t *value = json_object_get(f->distributed, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > high)
        return hx_fail(f->problem, HX_EXIT_CONFIG, f->path, "distributedInfo: %s: expected a number up to %" PRIu64,
                       key, high);
    *number = (uint32_t)json_integer_value(value);
    return true;
}

static bool read_world(struct kineto_file *f)
{
    f->ranks = 1;
    if (!f->distributed)
        return true;
    if (!read_number(f, "world_size", SCHEDULE_MOST_RANKS, &f->ranks) || f->ranks == 0)
        return f->ranks ? false : hx_fail(f->problem, HX_EXIT_CONFIG, f->path, "distributedInfo: world_size is 0");
    return read_number(f, "rank", f->ranks - 1, &f->rank);
}

/* Reads a file. kineto_free() in any case. */
static bool read_file(struct kineto_file *f, const char *path, struct hx_problem *problem)
{
    *f = (struct kineto_file){.path = path, .problem = problem};
    gzFile in = packed_open(path, problem);
    bool good = in && kineto_scan(f, in) && read_world(f) && kineto_settle(f);
    if (in)
        (void)gzclose(in);
    return good;
}

static bool add_rank(struct kineto_trace *t, const struct kineto_file *f, uint32_t rank)
{
    if (f->side == KINETO_GPU)
        t->gloo += f->communication[KINETO_CPU].count;
    return kineto_order(t, f, rank);
}

/* Reads the file of another rank. */
static bool read_other(struct kineto_trace *t, const struct rank_files *names, uint32_t rank)
{
    struct kineto_file f = {.rank = 0};
    char *path = rank_files_path(names, rank);
    bool good =
        rank_files_have(names, rank) ||
        hx_fail(t->problem, HX_EXIT_CONFIG, path, "is missing: each of the %" PRIu32 " ranks has a file", t->ranks);
    good = good && read_file(&f, path, t->problem);
    if (good && (f.rank != rank || f.ranks != t->ranks))
        good = hx_fail(t->problem, HX_EXIT_CONFIG, path,
                       "distributedInfo: is of rank %" PRIu32 " of %" PRIu32 ", expected rank %" PRIu32 " of %" PRIu32,
                       f.rank, f.ranks, rank, t->ranks);
    good = good && add_rank(t, &f, rank);
    kineto_free(&f);
    free(path);
    return good;
}

/* ---- all files ---- */

static bool read_ranks(struct kineto_trace *t, const struct kineto_file *f, const struct rank_files *names)
{
    bool good = true;
    for (uint32_t rank = 0; good && rank < t->ranks; rank++)
        good = t->alike || rank == f->rank ? add_rank(t, f, rank) : read_other(t, names, rank);
    return good;
}

/* Decides where the traces of other ranks come from. */
static bool find_others(struct kineto_trace *t, const struct kineto_file *f,
                        const struct schedule_read_options *options, struct rank_files *names)
{
    uint32_t others = find_names(f->path, f->rank, f->ranks, names);
    t->ranks = f->ranks;
    t->alike = f->ranks > 1 && others == 0 && options->ranks == f->ranks;
    if (options->ranks && options->ranks != f->ranks)
        return hx_fail(t->problem, HX_EXIT_CONFIG, f->path, "is of %" PRIu32 " ranks, --ranks says %" PRIu64, f->ranks,
                       options->ranks);
    if (f->ranks == 1 || t->alike || others)
        return true;
    return hx_fail(
        t->problem, HX_EXIT_CONFIG, f->path,
        "is of rank %" PRIu32 " of %" PRIu32 ", and %s (--ranks %" PRIu32 " lets each rank do what this one does)",
        f->rank, f->ranks,
        names->behind ? "no other rank has a file named so" : "its name lacks the rank, by which the others are found",
        f->ranks);
}

static void describe(const struct kineto_trace *t, const struct kineto_file *f, struct schedule_notes *notes)
{
    size_t used = 0;
    char *to = notes->annotations;
    const size_t room = sizeof notes->annotations;
    notes->skipped = t->unknown + t->gloo;
    if (t->unknown)
        used = (size_t)snprintf(notes->what, sizeof notes->what, "%" PRIu64 " communications, the first is '%s'",
                                t->unknown, t->example);
    if (t->gloo)
        (void)snprintf(notes->what + used, sizeof notes->what - used, "%s%" PRIu64 " of gloo beside NCCL",
                       used ? ", " : "", t->gloo);
    used = (size_t)snprintf(to, room, "times are those of the %s", f->side == KINETO_GPU ? "GPU" : "CPU");
    if (t->alike)
        used += (size_t)snprintf(to + used, room - used, "; each rank does what rank %" PRIu32 " does", f->rank);
    if (t->without_group)
        used += (size_t)snprintf(to + used, room - used, "; %" PRIu64 " collectives name no group: all ranks are taken",
                                 t->without_group);
    if (t->without_root)
        (void)snprintf(to + used, room - used, "; %" PRIu64 " name no root: the first rank is taken", t->without_root);
}

static struct schedule_builder *read_trace(const char *path, const struct schedule_read_options *options,
                                           struct schedule_notes *notes, struct hx_problem *problem)
{
    struct kineto_trace t = {.problem = problem};
    struct kineto_file f;
    struct rank_files names;
    bool good = read_file(&f, path, problem) && find_others(&t, &f, options, &names);
    if (good) {
        t.builder = schedule_builder_new(t.ranks);
        good = read_ranks(&t, &f, &names);
        describe(&t, &f, notes);
        schedule_set_work(t.builder, 0, 0, f.iterations && f.iterations < UINT32_MAX ? (uint32_t)f.iterations : 1);
    }
    kineto_free(&f);
    if (good)
        return t.builder;
    schedule_builder_free(t.builder);
    return NULL;
}

/* ---- the format ---- */

static bool has(const uint8_t *begin, size_t bytes, const char *text)
{
    return memmem(begin, bytes, text, strlen(text)) != NULL;
}

/* Kineto writes schemaVersion and deviceProperties before the events. A list of events is one without Kineto, which the
 * reader refuses with advice. */
static bool is_trace(const uint8_t *begin, size_t bytes)
{
    uint8_t unpacked[SCHEDULE_SNIFF];
    size_t have = packed_begin(begin, bytes, unpacked, sizeof unpacked);
    size_t at = 0;
    while (at < have && isspace(unpacked[at]))
        at++;
    const uint8_t *from = unpacked + at;
    have -= at;
    if (have && *from == '[')
        return has(from, have, "\"ph\"") && has(from, have, "\"ts\"");
    return have && *from == '{' &&
           (has(from, have, "\"traceEvents\"") ||
            (has(from, have, "\"schemaVersion\"") && has(from, have, "\"deviceProperties\"")));
}

const struct schedule_format schedule_kineto = {.name = "kineto",
                                                .what =
                                                    "trace of PyTorch's profiler (Kineto), JSON, a file for each rank",
                                                .is = is_trace,
                                                .read = read_trace};
