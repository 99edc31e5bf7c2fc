/* chakra.c - reads execution traces of Chakra (MLCommons), which ASTRA-sim 2 and 3 carry out.
 *
 * A trace is one file a rank, NAME.RANK.et, ranks from 0 without a gap; NAME, or any of the files, names all. A file
 * without such a name is a trace of one rank. It may be packed by gzip. Protocol Buffers, each behind its length:
 *
 *     file      = { varint(bytes of the message) message }    the first is GlobalMetadata, all others are Node
 *     Node      = 1 id, 2 name, 3 type, 4 ctrl_deps (list), 5 data_deps (list), 7 duration_micros,
 *                 8 IOInfo inputs (1 values), 10 Attribute (list)
 *     Attribute = 1 name, then one value: 3 double, 5 float, 7 int32, 9 int64, 11 uint32, 13 uint64, 15 sint32,
 *                 17 sint64, 19 fixed32, 21 fixed64, 23 sfixed32, 25 sfixed64, 27 bool, 28 BoolList (1 values), 29 string
 *
 * Other fields and attributes are skipped. A field that is not there is 0. The JSON form is in chakra_json.c.
 *
 *     type 4 compute       computes duration_micros, on stream 0, or 1 if is_cpu_op. With --flops or --memory-bandwidth:
 *                          max(num_ops / flops, tensor_size / bandwidth), unless is_cpu_op
 *     type 5, 6 message    send to comm_dst, receive from comm_src: comm_size bytes, comm_tag
 *     type 7 collective    comm_type over the group pg_name ("" or "0": all ranks), comm_size bytes. The root is comm_src
 *                          of a broadcast or scatter, comm_dst of a reduce or gather, else the first of the group
 *     type 1 metadata      no operation; may name groups (chakra_groups.c)
 *     type 0, 2, 3         invalid, memory: left out and counted
 *
 * comm_size is the vector that a rank gives. So the vector of an all-gather or gather is comm_size times the ranks of
 * the group, and that of all others is comm_size. Source: ASTRA-sim, astraccl/native_collectives/collective_algorithm/
 * Ring.cc: final_data_size of All_Gather is data_size * nodes_in_ring, msg_size of others data_size / nodes_in_ring.
 *
 * A communication node on the CPU without comm_type or comm_size launches the one on the GPU: it computes. On the GPU
 * such a node is left out and counted.
 *
 * An operation waits for the end of its data_deps and ctrl_deps. ctrl_deps on missing nodes or within a circle are
 * dropped and counted: traces of PyTorch name the caller there. Nodes without operation pass their dependencies on.
 *
 * ASTRA-sim carries out one communication of a GPU at a time, but for receives, in the order of issue
 * (HardwareResource.cc). Here communication is concurrent unless dependencies order it. */
#include "schedule/chakra.h"
#include "schedule/chakra_stream.h"
#include "schedule/rank_files.h"
#include "schedule/readers.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

static bool read_file(struct chakra_rank *r)
{
    struct chakra_stream s;
    uint8_t begin[SCHEDULE_SNIFF];
    if (!chakra_stream_open(&s, r->path, r->trace->problem))
        return false;
    int got = gzread(s.in, begin, sizeof begin);
    bool good = got >= 0 && gzrewind(s.in) == 0;
    if (!good)
        (void)chakra_stream_fail_end(&s, "a Chakra trace");
    else if (chakra_json_is(begin, (size_t)got))
        good = chakra_json_read(r, chakra_stream_give, &s);
    else
        good = chakra_decode(r, &s);
    chakra_stream_close(&s);
    return good;
}

/* Splits the path of a file at the last ".NUMBER." of its name. */
static struct rank_files find_names(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct rank_files names = {.path = path};
    for (const char *dot = strchr(slash ? slash : path, '.'); dot; dot = strchr(dot + 1, '.')) {
        size_t digits = strspn(dot + 1, "0123456789");
        if (digits && dot[digits + 1] == '.') {
            names.before = (size_t)(dot + 1 - path);
            names.behind = dot + 1 + digits;
        }
    }
    return names;
}

bool chakra_first_file(const char *prefix, char *path, size_t bytes)
{
    int length = snprintf(path, bytes, "%s.0.et", prefix);
    return length > 0 && (size_t)length < bytes && access(path, F_OK) == 0;
}

/* Returns the highest rank above `least` that has a file; 0: none has. */
static uint32_t highest_rank(const struct rank_files *names, uint32_t least)
{
    char directory[PATH_MAX];
    const char *slash = memrchr(names->path, '/', names->before);
    const char *begin = slash ? slash + 1 : names->path;
    size_t length = names->before - (size_t)(begin - names->path);
    uint32_t highest = 0;
    (void)snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash + 1 - names->path) : 1,
                   slash ? names->path : ".");
    DIR *d = opendir(directory);
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        char *behind = NULL;
        if (strncmp(entry->d_name, begin, length) != 0 || !isdigit((unsigned char)entry->d_name[length]))
            continue;
        uint64_t rank = strtoull(entry->d_name + length, &behind, 10);
        if (rank > least && rank < SCHEDULE_MOST_RANKS && rank > highest && strcmp(behind, names->behind) == 0)
            highest = (uint32_t)rank;
    }
    if (d)
        (void)closedir(d);
    return highest;
}

/* Refuses a trace that lacks the file of a rank, though another names it or has a higher rank. */
static bool check_whole(const struct rank_files *names, uint32_t ranks, struct hx_problem *problem)
{
    uint64_t named = strtoull(names->path + names->before, NULL, 10);
    uint32_t highest = highest_rank(names, ranks);
    if (named < ranks && !highest)
        return true;
    char *name = rank_files_path(names, ranks);
    if (highest)
        (void)hx_fail(problem, HX_EXIT_CONFIG, name,
                      "is missing: a trace has a file for each rank, and that of rank %" PRIu32 " is there", highest);
    else
        (void)hx_fail(problem, HX_EXIT_CONFIG, name, "is missing: a trace has a file for each rank from 0");
    free(name);
    return false;
}

/* Counts the ranks: files without a gap. */
static bool count_ranks(const struct rank_files *names, const struct schedule_read_options *options, uint32_t *ranks,
                        struct hx_problem *problem)
{
    *ranks = 1;
    if (names->behind) {
        for (*ranks = 0; *ranks < SCHEDULE_MOST_RANKS && rank_files_have(names, *ranks);)
            ++*ranks;
        if (!check_whole(names, *ranks, problem))
            return false;
    }
    if (options->ranks && options->ranks != *ranks)
        return hx_fail(problem, HX_EXIT_CONFIG, names->path,
                       "the trace has files of %" PRIu32 " ranks, --ranks says %" PRIu64, *ranks, options->ranks);
    return true;
}

static bool read_rank(struct chakra_trace *t, const struct rank_files *names, uint32_t rank)
{
    struct chakra_rank r;
    char *path = rank_files_path(names, rank);
    chakra_rank_begin(&r, t, rank, path);
    bool good = read_file(&r) && chakra_order(&r);
    chakra_rank_end(&r);
    free(path);
    return good;
}

static bool read_ranks(struct chakra_trace *t, const struct rank_files *names)
{
    bool good = chakra_groups_begin(t);
    for (uint32_t rank = 0; good && rank < t->ranks; rank++)
        good = read_rank(t, names, rank);
    chakra_groups_free(&t->groups);
    free(t->seen);
    return good;
}

static struct schedule_builder *read_trace(const char *path, const struct schedule_read_options *options,
                                           struct schedule_notes *notes, struct hx_problem *problem)
{
    struct chakra_trace t = {.options = options, .problem = problem};
    const struct rank_files names = find_names(path);
    if (!count_ranks(&names, options, &t.ranks, problem))
        return NULL;
    t.builder = schedule_builder_new(t.ranks);
    if (read_ranks(&t, &names)) {
        chakra_describe(&t.counts, notes);
        return t.builder;
    }
    schedule_builder_free(t.builder);
    return NULL;
}

/* ---- the format ---- */

/* Whether all fields of a message, which may be cut, have keys of the list. */
static bool has_keys(struct protobuf p, const char *keys)
{
    struct protobuf_field f;
    while (p.at < p.end) {
        if (!*p.at || !strchr(keys, (char)*p.at))
            return false;
        if (!protobuf_next(&p, &f))
            return true;
    }
    return true;
}

/* Takes a message of at most the rest off the bytes. Returns false at their end. */
static bool take_message(struct protobuf *p, struct protobuf *message, bool *is_cut)
{
    uint64_t length;
    if (!protobuf_varint(p, &length))
        return false;
    size_t rest = (size_t)(p->end - p->at);
    *is_cut = length > rest;
    *message = protobuf_of(p->at, *is_cut ? rest : (size_t)length);
    p->at = message->end;
    return true;
}

/* Keys of the fields of GlobalMetadata, and of Node. */
#define KEYS_OF_METADATA "\x0a\x12"
#define KEYS_OF_NODE     "\x08\x12\x18\x20\x22\x28\x2a\x30\x38\x42\x4a\x52"

static bool is_protobuf(const uint8_t *begin, size_t bytes, bool is_whole_file)
{
    struct protobuf p = protobuf_of(begin, bytes);
    struct protobuf message;
    struct protobuf_field f;
    bool is_cut;
    if (!take_message(&p, &message, &is_cut) || !has_keys(message, KEYS_OF_METADATA) || (is_cut && is_whole_file))
        return false;
    while (!is_cut && protobuf_next(&message, &f))
        ;
    if (is_cut)
        return true;
    if (message.failed)
        return false;
    if (!take_message(&p, &message, &is_cut))
        return bytes > 1 && is_whole_file;
    return (is_cut || message.at < message.end) && has_keys(message, KEYS_OF_NODE);
}

static bool is_trace(const uint8_t *begin, size_t bytes)
{
    uint8_t unpacked[SCHEDULE_SNIFF];
    size_t have = packed_begin(begin, bytes, unpacked, sizeof unpacked);
    bool is_packed = bytes > 2 && begin[0] == 0x1f && begin[1] == 0x8b;
    return chakra_json_is(unpacked, have) || is_protobuf(unpacked, have, bytes < SCHEDULE_SNIFF && !is_packed);
}

const struct schedule_format schedule_chakra = {.name = "chakra",
                                                .what = "execution trace of Chakra, NAME.RANK.et, as ASTRA-sim has",
                                                .is = is_trace,
                                                .read = read_trace};
