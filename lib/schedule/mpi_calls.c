/* mpi_calls.c - the calls of an MPI trace (mpi_calls.h). */
#include "schedule/mpi_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TIME (UINT64_C(1) << 56) /* ns */

enum { MOST_COMMUNICATORS = 1 << 24 };

/* A kind of call: reads the rest of its line. */
struct call {
    const char *name;
    bool (*read)(struct mpi_trace *t, const struct call *call);
    bool has_request, has_root;
    uint8_t collective; /* enum hx_collective_kind */
};

/* ---- parts of calls ---- */

static bool take_communicator(struct mpi_trace *t, const struct mpi_communicator **c)
{
    uint64_t number;
    if (!mpi_line_number(&t->line, "a communicator of this rank", t->communicators - 1, ' ', &number))
        return false;
    *c = &t->communicator[number];
    return true;
}

static uint32_t world_rank(const struct mpi_communicator *c, uint64_t rank)
{
    return c->rank ? c->rank[rank] : (uint32_t)rank;
}

static bool take_rank(struct mpi_trace *t, const struct mpi_communicator *c, char end, uint32_t *world)
{
    uint64_t rank;
    if (!mpi_line_number(&t->line, "a rank of the communicator", c->size - 1, end, &rank))
        return false;
    *world = world_rank(c, rank);
    return true;
}

static bool take_tag(struct mpi_trace *t, const struct mpi_communicator *c, char end, uint32_t *tag)
{
    uint64_t own;
    if (!mpi_line_number(&t->line, "a tag", MPI_TAGS_MOST, end, &own))
        return false;
    *tag = mpi_tags_tag(t->all->tags, c->number, (uint32_t)own);
    return true;
}

static bool take_bytes(struct mpi_trace *t, uint64_t *bytes)
{
    return mpi_line_number(&t->line, "a number of bytes", SCHEDULE_MOST_BYTES, ' ', bytes);
}

/* Reads what a receive asked for, each a wildcard or not. What it got counts. */
static bool take_asked(struct mpi_trace *t, const struct mpi_communicator *c)
{
    uint32_t ignored;
    return (mpi_line_skip(&t->line, "*") || take_rank(t, c, ' ', &ignored)) &&
           (mpi_line_skip(&t->line, "*") || take_tag(t, c, ' ', &ignored));
}

/* What a receive got. */
struct got {
    uint32_t from, tag;
    uint64_t bytes;
};

static bool take_got(struct mpi_trace *t, const struct mpi_communicator *c, struct got *got)
{
    return take_rank(t, c, ',', &got->from) && take_tag(t, c, ',', &got->tag) && take_bytes(t, &got->bytes);
}

/* Reads the number of a request that begins. */
static bool take_new_request(struct mpi_trace *t, uint32_t *number)
{
    uint64_t n;
    (void)mpi_line_is_end(&t->line);
    const char *at = t->line.at;
    if (!mpi_line_number(&t->line, "a request", MPI_MOST_REQUESTS - 1, ' ', &n))
        return false;
    *number = (uint32_t)n;
    return !mpi_rank_request(&t->rank, *number)->is_begun ||
           hx_lines_fail(&t->line.lines, at, "request %" PRIu32 " has begun before and not ended", *number);
}

/* Reads the number of a request that ends. */
static bool take_request(struct mpi_trace *t, char end, struct mpi_request **request)
{
    uint64_t n;
    (void)mpi_line_is_end(&t->line);
    const char *at = t->line.at;
    if (!mpi_line_number(&t->line, "a request", MPI_MOST_REQUESTS - 1, end, &n))
        return false;
    *request = mpi_rank_request(&t->rank, (uint32_t)n);
    return (*request)->is_begun || hx_lines_fail(&t->line.lines, at, "request %" PRIu64 " has not begun", n);
}

static void begin_request(struct mpi_trace *t, uint32_t number, struct mpi_request request)
{
    request.is_begun = true;
    *mpi_rank_request(&t->rank, number) = request;
}

/* ---- messages ---- */

static bool read_send(struct mpi_trace *t, const struct call *call)
{
    const struct mpi_communicator *c;
    uint32_t request = 0;
    uint32_t to;
    uint32_t tag;
    uint64_t bytes;
    if ((call->has_request && !take_new_request(t, &request)) || !take_communicator(t, &c) ||
        !take_rank(t, c, ' ', &to) || !take_tag(t, c, ' ', &tag) || !take_bytes(t, &bytes))
        return false;
    mpi_rank_compute(&t->rank);
    uint32_t number = schedule_send(t->all->b, t->rank.rank, to, bytes, tag);
    mpi_rank_order(&t->rank, number, !call->has_request);
    if (call->has_request)
        begin_request(t, request, (struct mpi_request){.first = number, .count = 1});
    return true;
}

static bool read_receive(struct mpi_trace *t, const struct call *call)
{
    const struct mpi_communicator *c;
    uint32_t request = 0;
    struct got got = {0};
    if ((call->has_request && !take_new_request(t, &request)) || !take_communicator(t, &c) || !take_asked(t, c) ||
        (!call->has_request && !take_got(t, c, &got)))
        return false;
    mpi_rank_compute(&t->rank);
    uint32_t number = schedule_receive(t->all->b, t->rank.rank, got.from, got.bytes, got.tag);
    mpi_rank_order(&t->rank, number, !call->has_request);
    if (call->has_request)
        begin_request(
            t, request,
            (struct mpi_request){number, 1, .communicator = (uint32_t)(c - t->communicator), .is_receive = true});
    return true;
}

static bool read_exchange(struct mpi_trace *t, const struct call *call)
{
    const struct mpi_communicator *c;
    uint32_t to;
    uint32_t tag;
    uint64_t bytes;
    struct got got;
    (void)call;
    if (!take_communicator(t, &c) || !take_rank(t, c, ' ', &to) || !take_tag(t, c, ' ', &tag) ||
        !take_bytes(t, &bytes) || !take_communicator(t, &c) || !take_asked(t, c) || !take_got(t, c, &got))
        return false;
    mpi_rank_compute(&t->rank);
    uint32_t number = schedule_send(t->all->b, t->rank.rank, to, bytes, tag);
    mpi_rank_order(&t->rank, number, false);
    mpi_rank_order(&t->rank, schedule_receive(t->all->b, t->rank.rank, got.from, got.bytes, got.tag), false);
    mpi_rank_wait(&t->rank, number, 2);
    return true;
}

/* ---- ends of requests ---- */

/* Reads what a request of a receive got, and completes the operation. */
static bool end_receive(struct mpi_trace *t, const struct mpi_request *request)
{
    const struct mpi_communicator *c = &t->communicator[request->communicator];
    struct got got;
    if (mpi_line_skip(&t->line, "cancelled")) {
        mpi_rank_leave_out(&t->rank, request);
        return true;
    }
    if (!take_got(t, c, &got))
        return false;
    struct schedule_operation *o = schedule_builder_at(t->all->b, t->rank.rank, request->first);
    o->peer = got.from;
    o->tag = got.tag;
    o->amount = got.bytes;
    return true;
}

static bool end_request(struct mpi_trace *t)
{
    struct mpi_request *request;
    const char *behind = t->line.at + strcspn(t->line.at, " \t=");
    if (!take_request(t, *behind == '=' ? '=' : ' ', &request))
        return false;
    if (request->is_receive != (*behind == '='))
        return hx_lines_fail(&t->line.lines, behind,
                             request->is_receive ? "'=' is wanted behind a receive: '=FROM,TAG,BYTES'"
                                                 : "'=' is for receives only");
    if (request->is_receive && !end_receive(t, request))
        return false;
    request->is_begun = false;
    mpi_rank_wait(&t->rank, request->first, request->count);
    return true;
}

static bool read_wait(struct mpi_trace *t, const struct call *call)
{
    (void)call;
    mpi_rank_compute(&t->rank);
    while (!mpi_line_is_end(&t->line)) {
        if (!end_request(t))
            return false;
    }
    return true;
}

static void count_unknown(struct mpi_reading *all, const char *name, uint64_t count)
{
    struct mpi_unknown *u = all->unknown;
    while (u < all->unknown + MPI_MOST_UNKNOWN - 1 && u->count && strncmp(u->name, name, sizeof u->name - 1) != 0)
        u++;
    if (!u->count)
        (void)snprintf(u->name, sizeof u->name, "%s", u < all->unknown + MPI_MOST_UNKNOWN - 1 ? name : "others");
    u->count += count;
}

#define UNENDED "receives without an end"

static bool read_free(struct mpi_trace *t, const struct call *call)
{
    struct mpi_request *request;
    (void)call;
    if (!take_request(t, ' ', &request))
        return false;
    request->is_begun = false;
    if (request->is_receive) {
        mpi_rank_leave_out(&t->rank, request);
        count_unknown(t->all, UNENDED, 1);
    }
    return true;
}

/* ---- collectives ---- */

static bool read_collective(struct mpi_trace *t, const struct call *call)
{
    const struct mpi_communicator *c;
    uint32_t request = 0;
    uint64_t root = 0;
    uint64_t bytes = 0;
    if ((call->has_request && !take_new_request(t, &request)) || !take_communicator(t, &c) ||
        (call->has_root && !mpi_line_number(&t->line, "a rank of the communicator", c->size - 1, ' ', &root)) ||
        (call->collective != HX_BARRIER && !take_bytes(t, &bytes)))
        return false;
    uint32_t number = 0;
    if (c->size > 1) {
        mpi_rank_compute(&t->rank);
        number = schedule_collect(t->all->b, t->rank.rank, call->collective, c->group, bytes, (uint32_t)root);
        mpi_rank_order(&t->rank, number, !call->has_request);
    }
    if (call->has_request)
        begin_request(t, request, (struct mpi_request){.first = number, .count = c->size > 1});
    return true;
}

/* Reads a part, and adds its message; a rank's own part is none. */
static bool read_part(struct mpi_trace *t, const struct mpi_communicator *c)
{
    char direction = *t->line.at++;
    uint32_t tag = mpi_tags_tag(t->all->tags, c->number, MPI_TAGS_PARTS);
    uint32_t own = t->rank.rank;
    uint32_t peer;
    uint64_t bytes;
    if (direction != 's' && direction != 'r')
        return hx_lines_fail(&t->line.lines, t->line.at - 1, "a part is wanted: 'sRANK:BYTES' or 'rRANK:BYTES'");
    if (!take_rank(t, c, ':', &peer) || !take_bytes(t, &bytes))
        return false;
    if (peer == own)
        return true;
    mpi_rank_order(&t->rank,
                   direction == 's' ? schedule_send(t->all->b, own, peer, bytes, tag)
                                    : schedule_receive(t->all->b, own, peer, bytes, tag),
                   false);
    return true;
}

static bool read_parts(struct mpi_trace *t, const struct call *call)
{
    const struct mpi_communicator *c;
    uint32_t request = 0;
    if ((call->has_request && !take_new_request(t, &request)) || !take_communicator(t, &c))
        return false;
    mpi_rank_compute(&t->rank);
    uint32_t first = schedule_builder_count(t->all->b, t->rank.rank);
    while (!mpi_line_is_end(&t->line)) {
        if (!read_part(t, c))
            return false;
    }
    uint32_t count = schedule_builder_count(t->all->b, t->rank.rank) - first;
    if (call->has_request)
        begin_request(t, request, (struct mpi_request){.first = first, .count = count});
    else
        mpi_rank_wait(&t->rank, first, count);
    return true;
}

/* ---- other lines ---- */

static void add_communicator(struct mpi_trace *t, uint32_t *ranks, uint32_t size, uint32_t group)
{
    t->communicator = hx_grow(t->communicator, t->communicators, &t->room, sizeof *t->communicator);
    t->communicator[t->communicators++] =
        (struct mpi_communicator){mpi_tags_communicator(t->all->tags, t->rank.rank, group), group, size, ranks};
}

/* Whether a rank is twice in a list; changes none. */
static bool is_twice(const uint32_t *ranks, size_t count, uint32_t all)
{
    uint8_t *seen = hx_allocate(all, sizeof *seen);
    bool twice = false;
    for (size_t i = 0; i < count; i++)
        twice |= seen[ranks[i]]++ != 0;
    free(seen);
    return twice;
}

static bool read_communicator(struct mpi_trace *t, const struct call *call)
{
    uint64_t number;
    uint64_t rank;
    uint32_t *ranks = NULL;
    size_t count = 0;
    size_t room = 0;
    bool has_own = false;
    (void)call;
    const char *at = t->line.at;
    if (!mpi_line_number(&t->line, "a communicator", MOST_COMMUNICATORS, ' ', &number))
        return false;
    if (number != t->communicators)
        return hx_lines_fail(&t->line.lines, at, "communicator %zu is the next one, not %" PRIu64, t->communicators,
                             number);
    at = t->line.at;
    bool good = true;
    while (good && !mpi_line_is_end(&t->line)) {
        good = mpi_line_number(&t->line, "a rank", t->all->ranks - 1, ' ', &rank);
        ranks = hx_grow(ranks, count, &room, sizeof *ranks);
        ranks[count] = good ? (uint32_t)rank : 0;
        has_own |= ranks[count++] == t->rank.rank;
    }
    if (good && (!has_own || is_twice(ranks, count, t->all->ranks)))
        good = hx_lines_fail(&t->line.lines, at,
                             "the ranks of a communicator are wanted, this one among them, none twice");
    if (good)
        add_communicator(t, ranks, (uint32_t)count, schedule_add_group(t->all->b, ranks, (uint32_t)count));
    else
        free(ranks);
    return good;
}

static bool read_poll(struct mpi_trace *t, const struct call *call)
{
    (void)t;
    (void)call;
    return true;
}

static bool read_unknown(struct mpi_trace *t, const struct call *call)
{
    uint64_t count = 1;
    const char *name = mpi_line_word(&t->line, "the name of a call");
    (void)call;
    if (!name || (!mpi_line_is_end(&t->line) && !mpi_line_number(&t->line, "a number", INT32_MAX, ' ', &count)))
        return false;
    count_unknown(t->all, name, count);
    return true;
}

static bool read_end(struct mpi_trace *t, const struct call *call)
{
    (void)call;
    mpi_rank_compute(&t->rank);
    t->is_complete = true;
    return true;
}

/* ---- lines ---- */

#define COLLECTIVE(name_, iname, reader, root, kind)                                                                   \
    {.name = "MPI_" name_, .read = (reader), .has_root = (root), .collective = (kind)},                                \
    {                                                                                                                  \
        .name = "MPI_" iname, .read = (reader), .has_request = true, .has_root = (root), .collective = (kind)          \
    }

static const struct call calls[] = {
    {.name = "MPI_Isend", .read = read_send, .has_request = true},
    {.name = "MPI_Irecv", .read = read_receive, .has_request = true},
    {.name = "MPI_Wait", .read = read_wait},
    {.name = "MPI_Waitall", .read = read_wait},
    {.name = "MPI_Send", .read = read_send},
    {.name = "MPI_Recv", .read = read_receive},
    {.name = "MPI_Sendrecv", .read = read_exchange},
    {.name = "poll", .read = read_poll},
    COLLECTIVE("Allreduce", "Iallreduce", read_collective, false, HX_ALL_REDUCE),
    COLLECTIVE("Bcast", "Ibcast", read_collective, true, HX_BROADCAST),
    COLLECTIVE("Reduce", "Ireduce", read_collective, true, HX_REDUCE),
    COLLECTIVE("Barrier", "Ibarrier", read_collective, false, HX_BARRIER),
    COLLECTIVE("Allgather", "Iallgather", read_collective, false, HX_ALL_GATHER),
    COLLECTIVE("Allgatherv", "Iallgatherv", read_collective, false, HX_ALL_GATHER),
    COLLECTIVE("Alltoall", "Ialltoall", read_collective, false, HX_COLLECTIVE_ALL_TO_ALL),
    COLLECTIVE("Reduce_scatter", "Ireduce_scatter", read_collective, false, HX_REDUCE_SCATTER),
    COLLECTIVE("Reduce_scatter_block", "Ireduce_scatter_block", read_collective, false, HX_REDUCE_SCATTER),
    COLLECTIVE("Gather", "Igather", read_collective, true, HX_GATHER),
    COLLECTIVE("Scatter", "Iscatter", read_collective, true, HX_SCATTER),
    COLLECTIVE("Alltoallv", "Ialltoallv", read_parts, false, 0),
    COLLECTIVE("Alltoallw", "Ialltoallw", read_parts, false, 0),
    COLLECTIVE("Gatherv", "Igatherv", read_parts, false, 0),
    COLLECTIVE("Scatterv", "Iscatterv", read_parts, false, 0),
    {.name = "MPI_Waitany", .read = read_wait},
    {.name = "MPI_Waitsome", .read = read_wait},
    {.name = "MPI_Test", .read = read_wait},
    {.name = "MPI_Testall", .read = read_wait},
    {.name = "MPI_Testany", .read = read_wait},
    {.name = "MPI_Testsome", .read = read_wait},
    {.name = "MPI_Ssend", .read = read_send},
    {.name = "MPI_Rsend", .read = read_send},
    {.name = "MPI_Bsend", .read = read_send},
    {.name = "MPI_Issend", .read = read_send, .has_request = true},
    {.name = "MPI_Irsend", .read = read_send, .has_request = true},
    {.name = "MPI_Ibsend", .read = read_send, .has_request = true},
    {.name = "MPI_Mrecv", .read = read_receive},
    {.name = "MPI_Imrecv", .read = read_receive, .has_request = true},
    {.name = "MPI_Request_free", .read = read_free},
    {.name = "communicator", .read = read_communicator},
    {.name = "unknown", .read = read_unknown},
    {.name = "MPI_Finalize", .read = read_end},
};

/* Reads when the call began and ended. The time since the last one was computing. */
static bool take_times(struct mpi_trace *t)
{
    uint64_t begin;
    uint64_t end;
    if (!mpi_line_number(&t->line, "a time in ns", MOST_TIME, ' ', &begin))
        return false;
    if (begin < t->time)
        return hx_lines_fail(&t->line.lines, NULL,
                             "the call begins at %" PRIu64 " ns, before the end of the last one, %" PRIu64 " ns", begin,
                             t->time);
    (void)mpi_line_is_end(&t->line);
    const char *at = t->line.at;
    if (!mpi_line_number(&t->line, "a time in ns", MOST_TIME, ' ', &end))
        return false;
    if (end < begin)
        return hx_lines_fail(&t->line.lines, at, "the call ends at %" PRIu64 " ns, before its begin", end);
    t->rank.computing += begin - t->time;
    t->time = end;
    return true;
}

bool mpi_read_call(struct mpi_trace *t)
{
    if (t->is_complete)
        return hx_lines_fail(&t->line.lines, NULL, "no line is behind MPI_Finalize");
    if (!take_times(t))
        return false;
    const char *name = mpi_line_word(&t->line, "a call");
    if (!name)
        return false;
    for (const struct call *c = calls; c < calls + sizeof calls / sizeof *calls; c++) {
        if (strcmp(c->name, name) == 0)
            return c->read(t, c) && (mpi_line_is_end(&t->line) ||
                                     hx_lines_fail(&t->line.lines, t->line.at, "the line goes on behind its end"));
    }
    return hx_lines_fail(&t->line.lines, name, "'%.40s' is no call of a trace", name);
}

void mpi_add_world(struct mpi_trace *t)
{
    add_communicator(t, NULL, t->all->ranks, t->all->world);
}

bool mpi_read_end(struct mpi_trace *t)
{
    uint32_t unended = mpi_rank_end(&t->rank);
    if (unended)
        count_unknown(t->all, UNENDED, unended);
    return t->is_complete || hx_fail(t->all->problem, HX_EXIT_CONFIG, t->line.lines.path,
                                     "has no line of MPI_Finalize (the program was ended before, or the file was cut)");
}
