/* schedule.c - lays out, maps and writes schedules (schedule.h). */
#include "schedule/schedule.h"
#include "base/input.h"
#include "base/output.h"
#include "schedule/layout.h" /* circle: where the arrays of a schedule lie */
#include "schedule/shares.h"
#include "schedule/structure.h" /* circle: a mapped file keeps the promises of a built one */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 3 };
static const char magic[8] = {'h', 'x', 's', 'c', 'h', 'e', 'd', '\n'};

const char *const schedule_kind_names[] = {
    [SCHEDULE_COMPUTE] = "compute",       [SCHEDULE_SEND] = "send",     [SCHEDULE_RECEIVE] = "receive",
    [SCHEDULE_COLLECTIVE] = "collective", [SCHEDULE_REPEAT] = "repeat", [SCHEDULE_KINDS] = NULL};

/* ---- layout ---- */

struct schedule_head schedule_head_new(uint32_t ranks)
{
    struct schedule_head head = {.version = VERSION, .ranks = ranks, .iterations = 1};
    memcpy(head.magic, magic, sizeof head.magic);
    return head;
}

/* Returns the offset of an array and moves *end behind it. Counts are below 2^48, so sums fit; groups have numbers of
 * 32 bits. */
static uint64_t take_array(uint64_t *end, uint64_t count, size_t bytes)
{
    uint64_t at = *end;
    *end = (at + count * bytes + 7) & ~UINT64_C(7);
    return at;
}

uint64_t schedule_place(struct schedule *s, const void *base)
{
    const struct schedule_head *h = base;
    const uint8_t *at = base;
    const uint64_t most = UINT64_C(1) << 48;
    uint64_t end = sizeof *h;
    if (h->operations >= most || h->followers >= most || h->groups >= UINT32_MAX || h->members >= most ||
        h->names >= most || h->shares >= UINT32_MAX || h->weights >= most)
        return 0;
    s->head = h;
    s->first = (const void *)(at + take_array(&end, h->ranks + UINT64_C(1), sizeof *s->first));
    s->first_follower = (const void *)(at + take_array(&end, h->ranks + UINT64_C(1), sizeof *s->first_follower));
    s->operation = (const void *)(at + take_array(&end, h->operations, sizeof *s->operation));
    s->follower = (const void *)(at + take_array(&end, h->followers, sizeof *s->follower));
    s->first_member = (const void *)(at + take_array(&end, h->groups + 1, sizeof *s->first_member));
    s->member = (const void *)(at + take_array(&end, h->members, sizeof *s->member));
    s->first_weight = (const void *)(at + take_array(&end, h->shares + 1, sizeof *s->first_weight));
    s->weight = (const void *)(at + take_array(&end, h->weights, sizeof *s->weight));
    s->names = (const void *)(at + take_array(&end, h->names, 1));
    return end;
}

/* ---- checks of a file ---- */

/* The file that is checked, and where to report. */
struct check {
    const struct schedule *s;
    const char *path;
    struct hx_problem *problem;
};

static bool bad(const struct check *c, const char *what)
{
    return hx_fail(c->problem, HX_EXIT_CONFIG, c->path, "is a damaged schedule: %s", what);
}

/* Whether first[0 .. count] ascends from 0 to `end`. */
static bool ascends(const uint64_t *first, uint64_t count, uint64_t end)
{
    if (first[0] != 0 || first[count] != end)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (first[i] > first[i + 1])
            return false;
    }
    return true;
}

static bool is_peer(const struct schedule *s, const struct schedule_operation *o)
{
    return o->peer < s->head->ranks || (o->kind == SCHEDULE_RECEIVE && o->peer == SCHEDULE_ANY);
}

/* Whether a collective has a root in its group, or shares for its members. */
static bool has_root_or_shares(const struct schedule *s, const struct schedule_operation *o)
{
    const uint64_t size = schedule_group_size(s, o->peer);
    if (o->collective != HX_COLLECTIVE_ALL_TO_ALL)
        return o->tag < size;
    return o->tag == 0 ||
           (o->tag <= s->head->shares && s->first_weight[o->tag] - s->first_weight[o->tag - 1] == size * size);
}

/* rest: operations of the rank from this one on. */
static bool operation_is_good(const struct schedule *s, const struct schedule_operation *o, uint64_t rest)
{
    if (o->name >= s->head->names)
        return false;
    switch (o->kind) {
    case SCHEDULE_COMPUTE:
        return o->amount <= SCHEDULE_MOST_TIME;
    case SCHEDULE_SEND:
    case SCHEDULE_RECEIVE:
        return is_peer(s, o) && o->amount <= SCHEDULE_MOST_BYTES &&
               (o->kind == SCHEDULE_RECEIVE || o->tag != SCHEDULE_ANY);
    case SCHEDULE_COLLECTIVE:
        return o->peer < s->head->groups && o->amount <= SCHEDULE_MOST_BYTES && o->collective < HX_COLLECTIVE_KINDS &&
               has_root_or_shares(s, o) && o->algorithm < HX_ALGORITHMS;
    case SCHEDULE_REPEAT:
        return o->amount >= 1 && o->peer < rest;
    default:
        return false;
    }
}

static bool rank_is_good(const struct schedule *s, uint32_t rank)
{
    uint64_t count = s->first[rank + 1] - s->first[rank];
    uint64_t followers = s->first_follower[rank + 1] - s->first_follower[rank];
    const uint32_t *list = s->follower + s->first_follower[rank];
    uint64_t last = 0;
    if (count > SCHEDULE_MOST_OPERATIONS || followers > UINT32_MAX || (count == 0 && followers))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct schedule_operation *o = schedule_at(s, rank, i);
        if (o->follower < last || o->follower > followers || !operation_is_good(s, o, count - i))
            return false;
        last = o->follower;
    }
    for (uint64_t i = 0; i < followers; i++) {
        if (list[i] >> 1 >= count)
            return false;
    }
    return count == 0 || schedule_at(s, rank, 0)->follower == 0;
}

/* Whether no group has a rank twice. */
static bool groups_are_sets(const struct schedule *s)
{
    uint32_t *seen = hx_allocate(schedule_ranks(s), sizeof *seen); /* number of the last group with this rank, plus 1 */
    bool good = true;
    for (uint32_t group = 0; good && group < s->head->groups; group++) {
        for (uint32_t i = 0; good && i < schedule_group_size(s, group); i++) {
            uint32_t rank = schedule_group(s, group)[i];
            good = seen[rank] != group + 1;
            seen[rank] = group + 1;
        }
    }
    free(seen);
    return good;
}

/* Whether each table of shares is a square with a weight. */
static bool shares_hold(const struct schedule *s)
{
    for (uint64_t i = 0; i < s->head->shares; i++) {
        const uint64_t weights = s->first_weight[i + 1] - s->first_weight[i];
        uint32_t members = 0;
        while (members < SHARES_MOST && (uint64_t)members * members < weights)
            members++;
        if ((uint64_t)members * members != weights || !shares_are_good(s->weight + s->first_weight[i], members))
            return false;
    }
    return true;
}

/* Whether purposes have names and the grid has a place for each rank. */
static bool head_holds(const struct schedule_head *h)
{
    uint64_t places = 1;
    unsigned sides = 0;
    for (unsigned i = 0; i < SCHEDULE_MOST_PURPOSES; i++) {
        if (h->purpose[i] >= h->names)
            return false;
    }
    for (; sides < SCHEDULE_MOST_DIMENSIONS && h->dimension[sides]; sides++) {
        places *= h->dimension[sides];
        if (places > h->ranks)
            return false;
    }
    return h->iterations >= 1 && h->in_order <= 1 && h->purpose[SCHEDULE_NO_PURPOSE] == SCHEDULE_NO_NAME &&
           (sides == 0 || places == h->ranks);
}

static bool content_is_good(const struct check *c)
{
    const struct schedule *s = c->s;
    const struct schedule_head *h = s->head;
    if (!ascends(s->first, h->ranks, h->operations))
        return bad(c, "its ranks do not follow each other");
    if (!ascends(s->first_follower, h->ranks, h->followers))
        return bad(c, "its dependencies do not follow each other");
    if (!ascends(s->first_member, h->groups, h->members))
        return bad(c, "its groups do not follow each other");
    if (!ascends(s->first_weight, h->shares, h->weights))
        return bad(c, "its shares do not follow each other");
    if (h->names == 0 || s->names[0] != 0 || s->names[h->names - 1] != 0)
        return bad(c, "its names do not end");
    if (!head_holds(h))
        return bad(c, "its head has a number out of range");
    for (uint64_t i = 0; i < h->members; i++) {
        if (s->member[i] >= h->ranks)
            return bad(c, "a member of a group is no rank");
    }
    if (!groups_are_sets(s))
        return bad(c, "a group has a rank twice");
    if (!shares_hold(s))
        return bad(c, "its shares are no square of weights");
    for (uint32_t rank = 0; rank < h->ranks; rank++) {
        if (!rank_is_good(s, rank))
            return bad(c, "an operation has a number out of range");
    }
    return schedule_check_structure(s, c->path, c->problem);
}

/* ---- files ---- */

bool schedule_is_file(const uint8_t *begin, size_t bytes)
{
    return bytes >= sizeof magic && memcmp(begin, magic, sizeof magic) == 0;
}

static bool head_is_good(const struct schedule_head *h, uint64_t bytes, const char *path, struct hx_problem *problem)
{
    struct schedule s;
    if (bytes < sizeof *h || !schedule_is_file((const uint8_t *)h, bytes))
        return hx_fail(problem, HX_EXIT_CONFIG, path, "is no schedule of hxmesh");
    if (h->version != VERSION)
        return hx_fail(problem, HX_EXIT_CONFIG, path,
                       "is a schedule of version %" PRIu32 ", this program reads version %d (convert its source again)",
                       h->version, VERSION);
    if (h->ranks == 0 || h->ranks > SCHEDULE_MOST_RANKS || schedule_place(&s, h) != bytes)
        return hx_fail(problem, HX_EXIT_CONFIG, path, "is a damaged schedule: its length is not that of its counts");
    return true;
}

static const void *map(int fd, uint64_t bytes)
{
    const void *base = bytes ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    return base == MAP_FAILED ? NULL : base;
}

/* Returns NULL if the file is damaged. */
static struct schedule *open_mapped(const void *base, uint64_t bytes, const char *path, struct hx_problem *problem)
{
    struct schedule *s = hx_allocate(1, sizeof *s);
    if (head_is_good(base, bytes, path, problem)) {
        s->bytes = schedule_place(s, base);
        s->mapped_file = true;
        const struct check c = {s, path, problem};
        if (content_is_good(&c))
            return s;
    }
    free(s);
    return NULL;
}

struct schedule *schedule_open(const char *path, struct hx_problem *problem)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        (void)hx_input_fail(path, errno, problem);
        if (fd >= 0)
            (void)close(fd);
        return NULL;
    }
    uint64_t bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    const void *base = map(fd, bytes);
    (void)close(fd);
    if (!base) {
        (void)hx_fail(problem, HX_EXIT_CONFIG, path, "is no schedule of hxmesh");
        return NULL;
    }
    struct schedule *s = open_mapped(base, bytes, path, problem);
    if (!s)
        (void)munmap((void *)(uintptr_t)base, bytes);
    return s;
}

void schedule_write(const struct schedule *s, const char *path)
{
    FILE *out = hx_output_open(path);
    (void)fwrite(s->head, 1, s->bytes, out);
    hx_output_close(out, path);
}

void schedule_close(struct schedule *s)
{
    if (!s)
        return;
    if (s->mapped_file)
        (void)munmap((void *)(uintptr_t)s->head, s->bytes);
    else
        free((void *)(uintptr_t)s->head);
    free(s);
}
