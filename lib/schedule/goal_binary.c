/* goal_binary.c - reads and writes GOAL binary, which LogGOPSim, ATLAHS and HTSIM run. Little endian, without padding:
 *
 *     u64 4223                       2342: a run of LogGOPSim with --save-mem used up the file
 *     base     u32 ranks; u8 largest cpu; u8 largest nic
 *     base+6   ranks x { u64 start; u64 end }        of each rank's block, from base
 *     block    u32 nodes; u32 roots; u32 root[roots]: nodes that wait for nothing
 *              nodes x 39 bytes:
 *                 0 u32 number of waits, of both kinds
 *                 4 u8  1 send, 2 recv, 3 calc
 *                 5 u32 peer; of recv 2^32 - 1: any; calc: 0
 *                 9 u64 bytes, or ns
 *                17 u32 tag; of recv 2^32 - 1: any
 *                21 u8  cpu; u8 nic
 *                23 u32 length and first element, in the rest of the block, of the list of nodes that wait for its end
 *                31 u32 length and first element of the list of nodes that wait for its start
 *              u32[] node numbers: the lists, to the end of the block
 *
 * A node becomes an operation as in GOAL text (goal.c): cpu is the stream, nic is left out. Its name is "l" and its
 * number from 1: the label that most texts have. */
#include "base/input.h"
#include "base/output.h"
#include "schedule/formats.h"
#include "schedule/goal.h"
#include "schedule/readers.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    COOKIE = 4223,
    COOKIE_USED_UP = 2342,
    BASE = 8,   /* bytes of the cookie */
    HEAD = 6,   /* bytes from base to the table */
    TABLE = 16, /* bytes of a rank in it */
    BLOCK = 8,  /* bytes of a block before its roots */
    NODE = 39,  /* bytes */
    NUMBER = 4, /* bytes of a node number */
    AT_TYPE = 4,
    AT_PEER = 5,
    AT_AMOUNT = 9,
    AT_TAG = 17,
    AT_CPU = 21,
    AT_AFTER_END = 23,
    AT_AFTER_START = 31,
    NODE_SEND = 1,
    NODE_RECEIVE = 2,
    NODE_COMPUTE = 3
};

static uint32_t get32(const uint8_t *at)
{
    uint32_t little;
    memcpy(&little, at, sizeof little);
    return le32toh(little);
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t little;
    memcpy(&little, at, sizeof little);
    return le64toh(little);
}

/* ---- reading ---- */

/* A file, and the block that is being read. */
struct reader {
    const char *path;
    struct hx_problem *problem;
    struct schedule_builder *b;
    const uint8_t *file;
    uint64_t bytes;
    uint64_t blocks; /* bytes of all blocks so far */
    uint32_t ranks, rank;

    uint32_t nodes, roots, lists; /* numbers of elements */
    const uint8_t *root, *node, *list;
    uint64_t used;   /* elements of lists so far */
    uint32_t *waits; /* [nodes]: how often it is in a list */
};

/* Fails at a byte of the file. */
__attribute__((format(printf, 3, 4))) static bool fail(const struct reader *r, const uint8_t *at, const char *format,
                                                       ...)
{
    char what[300];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return hx_fail(r->problem, HX_EXIT_CONFIG, r->path, "byte %" PRIu64 ": %s", (uint64_t)(at - r->file), what);
}

static bool read_peer(const struct reader *r, const uint8_t *at, struct schedule_operation *o)
{
    o->peer = get32(at + AT_PEER);
    if (o->peer < r->ranks || (o->peer == SCHEDULE_ANY && o->kind == SCHEDULE_RECEIVE))
        return true;
    return fail(r, at + AT_PEER, "rank %" PRIu32 " has a peer %" PRIu32 " of %" PRIu32 " ranks", r->rank, o->peer,
                r->ranks);
}

static bool read_message(const struct reader *r, const uint8_t *at, struct schedule_operation *o)
{
    o->tag = get32(at + AT_TAG);
    if (o->amount > SCHEDULE_MOST_BYTES)
        return fail(r, at + AT_AMOUNT, "a message of %" PRIu64 " bytes (2^42 are possible)", o->amount);
    if (o->tag == SCHEDULE_ANY && o->kind == SCHEDULE_SEND)
        return fail(r, at + AT_TAG, "a send has any tag, which only recv may have");
    return read_peer(r, at, o);
}

static bool read_compute(const struct reader *r, const uint8_t *at, struct schedule_operation *o)
{
    if (o->amount > GOAL_MOST_TIME)
        return fail(r, at + AT_AMOUNT, "a computing time of %" PRIu64 " ns (%" PRIu64 " are possible)", o->amount,
                    (uint64_t)GOAL_MOST_TIME);
    o->amount *= GOAL_PS;
    return true;
}

static bool read_node(struct reader *r, uint32_t number)
{
    const uint8_t *at = r->node + (uint64_t)number * NODE;
    struct schedule_operation *o =
        schedule_builder_at(r->b, r->rank, schedule_compute(r->b, r->rank, get64(at + AT_AMOUNT), at[AT_CPU]));
    char name[16];
    (void)snprintf(name, sizeof name, "l%" PRIu32, number + 1);
    schedule_set_name(r->b, r->rank, number, name);
    switch (at[AT_TYPE]) {
    case NODE_SEND:
        o->kind = SCHEDULE_SEND;
        return read_message(r, at, o);
    case NODE_RECEIVE:
        o->kind = SCHEDULE_RECEIVE;
        return read_message(r, at, o);
    case NODE_COMPUTE:
        return read_compute(r, at, o);
    default:
        return fail(r, at + AT_TYPE, "an operation of kind %u (1 send, 2 recv, 3 calc)", at[AT_TYPE]);
    }
}

/* Reads the list of nodes that wait for the end, or the start, of a node; its length and begin are at `at`. */
static bool read_list(struct reader *r, const uint8_t *at, uint32_t earlier, bool start)
{
    uint32_t length = get32(at);
    uint32_t first = get32(at + NUMBER);
    if (length == 0)
        return true;
    r->used += length;
    if (first > r->lists || length > r->lists - first || r->used > r->lists)
        return fail(r, at, "a list of dependencies leaves the %" PRIu32 " numbers that rank %" PRIu32 " has", r->lists,
                    r->rank);
    for (uint32_t i = first; i < first + length; i++) {
        const uint8_t *element = r->list + (uint64_t)i * NUMBER;
        uint32_t later = get32(element);
        if (later >= r->nodes)
            return fail(r, element, "operation %" PRIu32 " waits, but rank %" PRIu32 " has %" PRIu32, later, r->rank,
                        r->nodes);
        r->waits[later]++;
        (start ? schedule_after_start : schedule_after)(r->b, r->rank, later, earlier);
    }
    return true;
}

/* Whether each node waits for as many others as it says. */
static bool waits_are_right(const struct reader *r)
{
    for (uint32_t i = 0; i < r->nodes; i++) {
        const uint8_t *at = r->node + (uint64_t)i * NODE;
        if (get32(at) != r->waits[i])
            return fail(r, at,
                        "operation %" PRIu32 " of rank %" PRIu32 " says it has %" PRIu32 " dependencies, the lists "
                        "have %" PRIu32,
                        i, r->rank, get32(at), r->waits[i]);
    }
    return true;
}

/* Whether the roots are the nodes that wait for nothing, each once. Changes r->waits. */
static bool roots_are_right(struct reader *r)
{
    uint32_t roots = 0;
    for (uint32_t i = 0; i < r->nodes; i++)
        roots += r->waits[i] == 0;
    if (roots != r->roots)
        return fail(r, r->root - NUMBER,
                    "rank %" PRIu32 " has %" PRIu32 " operations that wait for nothing, and says %" PRIu32, r->rank,
                    roots, r->roots);
    for (uint32_t i = 0; i < r->roots; i++) {
        const uint8_t *at = r->root + (uint64_t)i * NUMBER;
        uint32_t root = get32(at);
        if (root >= r->nodes || r->waits[root]++)
            return fail(
                r, at, "operation %" PRIu32 " of rank %" PRIu32 " is not one of those that wait for nothing, each once",
                root, r->rank);
    }
    return true;
}

static bool read_nodes(struct reader *r)
{
    for (uint32_t i = 0; i < r->nodes; i++) {
        const uint8_t *at = r->node + (uint64_t)i * NODE;
        if (!read_node(r, i) || !read_list(r, at + AT_AFTER_END, i, false) ||
            !read_list(r, at + AT_AFTER_START, i, true))
            return false;
    }
    if (r->used < r->lists)
        return fail(r, r->list + r->used * NUMBER,
                    "rank %" PRIu32 " has %" PRIu64 " numbers that no list of dependencies has", r->rank,
                    r->lists - r->used);
    return waits_are_right(r) && roots_are_right(r);
}

/* Finds the parts of a block of so many bytes. */
static bool cut_block(struct reader *r, const uint8_t *block, uint64_t bytes)
{
    if (bytes < BLOCK)
        return fail(r, block, "rank %" PRIu32 " has a block of %" PRIu64 " bytes, which is too short", r->rank, bytes);
    r->nodes = get32(block);
    r->roots = get32(block + NUMBER);
    uint64_t fixed = BLOCK + (uint64_t)r->roots * NUMBER + (uint64_t)r->nodes * NODE;
    if (fixed > bytes || (bytes - fixed) % NUMBER || (bytes - fixed) / NUMBER > UINT32_MAX) {
        (void)fail(r, block,
                   "rank %" PRIu32 " has %" PRIu32 " operations and %" PRIu32
                   " roots, which do not fit a block of %" PRIu64 " bytes",
                   r->rank, r->nodes, r->roots, bytes);
        return false;
    }
    r->lists = (uint32_t)((bytes - fixed) / NUMBER);
    r->root = block + BLOCK;
    r->node = r->root + (uint64_t)r->roots * NUMBER;
    r->list = r->node + (uint64_t)r->nodes * NODE;
    r->used = 0;
    return true;
}

/* Reads the rank's block by its place in the table. */
static bool read_rank(struct reader *r)
{
    const uint8_t *entry = r->file + BASE + HEAD + (uint64_t)r->rank * TABLE;
    uint64_t start = get64(entry);
    uint64_t end = get64(entry + 8);
    uint64_t first = HEAD + (uint64_t)r->ranks * TABLE;
    if (start < first || end < start || end > r->bytes - BASE)
        return fail(r, entry, "rank %" PRIu32 " has the bytes %" PRIu64 " to %" PRIu64 ", which the file does not have",
                    r->rank, start, end);
    r->blocks += end - start;
    if (r->blocks > r->bytes)
        return fail(r, entry, "rank %" PRIu32 " has bytes that another rank has", r->rank);
    if (!cut_block(r, r->file + BASE + start, end - start))
        return false;
    r->waits = hx_allocate(r->nodes, sizeof *r->waits);
    bool good = read_nodes(r);
    free(r->waits);
    return good;
}

static bool read_file(struct reader *r)
{
    if (r->bytes < BASE + HEAD)
        return fail(r, r->file + r->bytes, "the file ends within its head");
    if (get64(r->file) == COOKIE_USED_UP)
        return fail(r, r->file, "a simulation used up this file (convert its text again)");
    r->ranks = get32(r->file + BASE);
    if (r->ranks == 0 || r->ranks > SCHEDULE_MOST_RANKS)
        return fail(r, r->file + BASE, "%" PRIu32 " ranks (1 to %d are possible)", r->ranks, SCHEDULE_MOST_RANKS);
    if (r->bytes - BASE - HEAD < (uint64_t)r->ranks * TABLE)
        return fail(r, r->file + r->bytes, "the file ends within the table of %" PRIu32 " ranks", r->ranks);
    r->b = schedule_builder_new(r->ranks);
    schedule_set_in_order(r->b);
    for (; r->rank < r->ranks; r->rank++) {
        if (!read_rank(r))
            return false;
    }
    return true;
}

/* Maps the file. Returns NULL and sets *problem. */
static const uint8_t *map(const char *path, uint64_t *bytes, struct hx_problem *problem)
{
    FILE *in = hx_input_open(path, problem);
    struct stat status;
    if (!in)
        return NULL;
    bool regular = fstat(fileno(in), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    const uint8_t *file =
        regular ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fileno(in), 0) : MAP_FAILED;
    int reason = regular ? errno : EINVAL;
    (void)fclose(in);
    if (file == MAP_FAILED) {
        (void)hx_input_fail(path, reason, problem);
        return NULL;
    }
    *bytes = (uint64_t)status.st_size;
    return file;
}

static struct schedule_builder *read_binary(const char *path, const struct schedule_read_options *options,
                                            struct schedule_notes *notes, struct hx_problem *problem)
{
    struct reader r = {.path = path, .problem = problem};
    (void)options;
    (void)notes;
    r.file = map(path, &r.bytes, problem);
    if (!r.file)
        return NULL;
    bool good = read_file(&r);
    (void)munmap((void *)(uintptr_t)r.file, r.bytes);
    if (good)
        return r.b;
    schedule_builder_free(r.b);
    return NULL;
}

static bool is_binary(const uint8_t *begin, size_t bytes)
{
    return bytes >= BASE && (get64(begin) == COOKIE || get64(begin) == COOKIE_USED_UP);
}

/* ---- writing ---- */

static void put32(uint8_t *at, uint32_t value)
{
    uint32_t little = htole32(value);
    memcpy(at, &little, sizeof little);
}

static void put64(uint8_t *at, uint64_t value)
{
    uint64_t little = htole64(value);
    memcpy(at, &little, sizeof little);
}

static uint32_t count_roots(const struct schedule *s, uint32_t rank)
{
    uint32_t roots = 0;
    for (uint32_t i = 0; i < schedule_count(s, rank); i++)
        roots += schedule_at(s, rank, i)->waits == 0;
    return roots;
}

static uint64_t block_bytes(const struct schedule *s, uint32_t rank)
{
    return BLOCK + (uint64_t)count_roots(s, rank) * NUMBER + (uint64_t)schedule_count(s, rank) * NODE +
           (s->first_follower[rank + 1] - s->first_follower[rank]) * NUMBER;
}

static void write_head(const struct schedule *s, FILE *out)
{
    uint8_t head[BASE + HEAD] = {0};
    uint64_t start = HEAD + (uint64_t)schedule_ranks(s) * TABLE;
    put64(head, COOKIE);
    put32(head + BASE, schedule_ranks(s));
    for (uint64_t i = 0; i < s->head->operations; i++) {
        if (s->operation[i].stream > head[BASE + NUMBER])
            head[BASE + NUMBER] = s->operation[i].stream;
    }
    (void)fwrite(head, 1, sizeof head, out);
    for (uint32_t rank = 0; rank < schedule_ranks(s); rank++) {
        uint8_t entry[TABLE];
        put64(entry, start);
        start += block_bytes(s, rank);
        put64(entry + 8, start);
        (void)fwrite(entry, 1, sizeof entry, out);
    }
}

/* Puts the list of operations that wait for the end, or the start, of one; its length and first element go to `at`.
 * Returns the number of elements with this list. */
static uint32_t put_list(uint8_t *at, uint8_t *lists, uint32_t used, const uint32_t *follower, uint32_t followers,
                         uint32_t kind)
{
    uint32_t first = used;
    for (uint32_t i = 0; i < followers; i++) {
        if ((follower[i] & SCHEDULE_AFTER_START) == kind)
            put32(lists + (uint64_t)used++ * NUMBER, follower[i] >> 1);
    }
    put32(at, used - first);
    put32(at + NUMBER, first);
    return used;
}

static void put_node(uint8_t *at, const struct schedule_operation *o)
{
    bool compute = o->kind == SCHEDULE_COMPUTE;
    put32(at, o->waits);
    at[AT_TYPE] = compute ? NODE_COMPUTE : o->kind == SCHEDULE_SEND ? NODE_SEND : NODE_RECEIVE;
    put32(at + AT_PEER, compute ? 0 : o->peer);
    put64(at + AT_AMOUNT, compute ? schedule_goal_time(o->amount) : o->amount);
    put32(at + AT_TAG, compute ? 0 : o->tag);
    at[AT_CPU] = o->stream;
}

static void write_rank(const struct schedule *s, uint32_t rank, FILE *out)
{
    uint64_t bytes = block_bytes(s, rank);
    uint32_t count = schedule_count(s, rank);
    uint32_t used = 0;
    uint8_t *block = hx_allocate(bytes, 1);
    uint8_t *root = block + BLOCK;
    uint8_t *node = root + (uint64_t)count_roots(s, rank) * NUMBER;
    uint8_t *lists = node + (uint64_t)count * NODE;
    put32(block, count);
    put32(block + NUMBER, count_roots(s, rank));
    for (uint32_t i = 0; i < count; i++, node += NODE) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        const uint32_t *follower;
        uint32_t followers = schedule_followers(s, rank, i, &follower);
        put_node(node, o);
        used = put_list(node + AT_AFTER_END, lists, used, follower, followers, 0);
        used = put_list(node + AT_AFTER_START, lists, used, follower, followers, SCHEDULE_AFTER_START);
        if (o->waits == 0) {
            put32(root, i);
            root += NUMBER;
        }
    }
    (void)fwrite(block, 1, bytes, out);
    free(block);
}

static bool write_binary(const struct schedule *s, const char *path, struct hx_problem *problem)
{
    struct schedule *plain = schedule_goal_plain(s, path, problem);
    if (!plain)
        return false;
    FILE *out = hx_output_open(path);
    write_head(plain, out);
    for (uint32_t rank = 0; rank < schedule_ranks(plain); rank++)
        write_rank(plain, rank, out);
    hx_output_close(out, path);
    if (plain != s)
        schedule_close(plain);
    return true;
}

const struct schedule_format schedule_goal_binary = {
    .name = "goal-binary",
    .what = "GOAL binary of LogGOPSim, ATLAHS and HTSIM",
    .is = is_binary,
    .read = read_binary,
    .write = write_binary,
};
