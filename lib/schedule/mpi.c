/* mpi.c - reads the MPI calls of a program. examples/mpi-trace records them: NAME.0.mpi, NAME.1.mpi, a file for each
 * rank.
 *
 *     file    = "hxmesh-mpi 1 rank" RANK "of" RANKS NL { BEGIN END call NL }
 *     call    = send COMM TO TAG BYTES                    send    = MPI_Send Ssend Rsend Bsend
 *             | isend REQUEST COMM TO TAG BYTES           isend   = MPI_Isend Issend Irsend Ibsend
 *             | recv COMM FROM TAG GOT                    recv    = MPI_Recv Mrecv
 *             | irecv REQUEST COMM FROM TAG               irecv   = MPI_Irecv Imrecv
 *             | "MPI_Sendrecv" COMM TO TAG BYTES COMM FROM TAG GOT
 *             | wait { REQUEST [ "=" ( GOT | "cancelled" ) ] }
 *                                                         wait    = MPI_Wait Waitall Waitany Waitsome, and Test
 *             | "MPI_Request_free" REQUEST
 *             | "MPI_Barrier" COMM
 *             | equal COMM BYTES                          equal   = MPI_Allreduce Allgather Allgatherv Alltoall
 *                                                                   Reduce_scatter Reduce_scatter_block
 *             | rooted COMM ROOT BYTES                    rooted  = MPI_Bcast Reduce Gather Scatter
 *             | parts COMM { ("s" | "r") RANK ":" BYTES } parts   = MPI_Alltoallv Alltoallw Gatherv Scatterv
 *             | "communicator" COMM RANK ...              world ranks, in the order of the communicator
 *             | "poll"                                    a probe, or a test that ended nothing
 *             | "unknown" NAME [ COUNT ]                  a call that communicates and that has no line of its own
 *             | "MPI_Finalize"                            the last line
 *     GOT     = FROM "," TAG "," BYTES                    of the message that the receive matched
 *
 * A collective's nonblocking form (MPI_Ibcast) has REQUEST before COMM. BEGIN and END are ns from MPI_Init. COMM and
 * REQUEST are numbers at this rank. COMM 0 is MPI_COMM_WORLD. A REQUEST is free again after its end. FROM, TO and ROOT
 * are ranks of COMM. FROM and TAG may be "*" (MPI_ANY_SOURCE, MPI_ANY_TAG).
 *
 * The time between calls becomes computing; the time in calls does not. A wildcard receive becomes a receive of the
 * message that it matched, so a replay is deterministic. A collective with parts becomes messages. Collectives of one
 * rank, probes, and the making of communicators are no operations. */
#include "schedule/formats.h"
#include "schedule/mpi_calls.h"
#include "schedule/readers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "hxmesh-mpi "

enum {
    VERSION = 1,
    LONGEST_HEAD = 80, /* bytes of a first line, at most */
    LONGEST_LINE = 1 << 20,
    BYTES_PER_RANK = 64 /* that a line may have beyond these: a part to each rank, and one from each */
};

/* Reads the first line. */
static bool take_head(struct mpi_line *line, uint64_t *rank, uint64_t *ranks)
{
    uint64_t version;
    if (!mpi_line_next(line))
        return line->lines.failed ? false : hx_fail(line->lines.problem, HX_EXIT_CONFIG, line->lines.path, "is empty");
    if (!mpi_line_skip(line, "hxmesh-mpi"))
        return hx_lines_fail(&line->lines, NULL, "'" HEAD "1 rank RANK of RANKS' is wanted as the first line");
    if (!mpi_line_number(line, "a version", UINT32_MAX, ' ', &version))
        return false;
    if (version != VERSION)
        return hx_lines_fail(&line->lines, NULL, "a trace of version %" PRIu64 ", this program reads version %d",
                             version, VERSION);
    if (!mpi_line_skip(line, "rank") || !mpi_line_number(line, "a rank", SCHEDULE_MOST_RANKS - 1, ' ', rank) ||
        !mpi_line_skip(line, "of") || !mpi_line_number(line, "a number of ranks", SCHEDULE_MOST_RANKS, ' ', ranks) ||
        *rank >= *ranks || !mpi_line_is_end(line))
        return hx_lines_fail(&line->lines, NULL, "'" HEAD "1 rank RANK of RANKS' is wanted as the first line");
    return true;
}

/* Reads how many ranks there are from one rank's file. */
static bool find_ranks(const char *path, uint64_t *rank, uint64_t *ranks, struct hx_problem *problem)
{
    struct mpi_line line;
    if (!hx_lines_open_large(&line.lines, path, LONGEST_HEAD, 0, problem))
        return false;
    bool good = take_head(&line, rank, ranks);
    hx_lines_close(&line.lines);
    return good;
}

static bool read_lines(struct mpi_trace *t)
{
    uint64_t rank = 0;
    uint64_t ranks = 0;
    if (!take_head(&t->line, &rank, &ranks))
        return false;
    if (rank != t->rank.rank || ranks != t->all->ranks)
        return hx_lines_fail(&t->line.lines, NULL,
                             "rank %" PRIu64 " of %" PRIu64 " is of another run: rank %" PRIu32 " of %" PRIu32
                             " is wanted",
                             rank, ranks, t->rank.rank, t->all->ranks);
    mpi_add_world(t);
    while (mpi_line_next(&t->line)) {
        if (!mpi_read_call(t))
            return false;
    }
    return !t->line.lines.failed && mpi_read_end(t);
}

static bool read_file(struct mpi_reading *all, const char *path, uint32_t rank)
{
    struct mpi_trace t = {.all = all, .rank = {.b = all->b, .rank = rank}};
    if (!hx_lines_open_large(&t.line.lines, path, LONGEST_LINE + (size_t)BYTES_PER_RANK * all->ranks, 0,
                             all->problem)) {
        char why[sizeof all->problem->what];
        (void)snprintf(why, sizeof why, "%s", all->problem->what);
        return hx_fail(all->problem, all->problem->exit_code, path, "%s (each of the %" PRIu32 " ranks has a file)",
                       why, all->ranks);
    }
    bool good = read_lines(&t);
    for (size_t i = 0; i < t.communicators; i++)
        free(t.communicator[i].rank);
    free(t.communicator);
    mpi_rank_free(&t.rank);
    hx_lines_close(&t.line.lines);
    return good;
}

/* Finds NAME, the bytes before ".RANK.mpi". */
static bool find_name(const char *path, uint64_t rank, size_t *name, struct hx_problem *problem)
{
    char end[40];
    int bytes = snprintf(end, sizeof end, ".%" PRIu64 ".mpi", rank);
    size_t all = strlen(path);
    *name = all - (size_t)bytes;
    return (all > (size_t)bytes && strcmp(path + *name, end) == 0) ||
           hx_fail(problem, HX_EXIT_CONFIG, path,
                   "is the trace of rank %" PRIu64
                   ", but its name does not end with %s, by which those of other ranks are found",
                   rank, end);
}

static void note_unknown(const struct mpi_reading *all, struct schedule_notes *notes)
{
    size_t used = 0;
    for (const struct mpi_unknown *u = all->unknown; u < all->unknown + MPI_MOST_UNKNOWN && u->count; u++) {
        notes->skipped += u->count;
        if (used < sizeof notes->what)
            used += (size_t)snprintf(notes->what + used, sizeof notes->what - used, "%s%" PRIu64 " %s",
                                     used ? ", " : "", u->count, u->name);
    }
}

static bool read_all(struct mpi_reading *all, const char *path, size_t name)
{
    char *sibling = hx_allocate(name + 40, 1);
    uint32_t *world = hx_allocate(all->ranks, sizeof *world);
    bool good = true;
    for (uint32_t i = 0; i < all->ranks; i++)
        world[i] = i;
    all->world = schedule_add_group(all->b, world, all->ranks);
    for (uint32_t i = 0; good && i < all->ranks; i++) {
        (void)snprintf(sibling, name + 40, "%.*s.%" PRIu32 ".mpi", (int)name, path, i);
        good = read_file(all, sibling, i);
    }
    HX_FREE(world, sibling);
    return good;
}

static struct schedule_builder *read_traces(const char *path, const struct schedule_read_options *options,
                                            struct schedule_notes *notes, struct hx_problem *problem)
{
    struct mpi_reading all = {.problem = problem};
    uint64_t rank = 0;
    uint64_t ranks = 0;
    size_t name;
    (void)options;
    if (!find_ranks(path, &rank, &ranks, problem) || !find_name(path, rank, &name, problem))
        return NULL;
    all.ranks = (uint32_t)ranks;
    all.b = schedule_builder_new(all.ranks);
    all.tags = mpi_tags_new();
    bool good = read_all(&all, path, name);
    mpi_tags_free(all.tags);
    note_unknown(&all, notes);
    if (good)
        return all.b;
    schedule_builder_free(all.b);
    return NULL;
}

static bool is_trace(const uint8_t *begin, size_t bytes)
{
    return bytes >= sizeof HEAD - 1 && memcmp(begin, HEAD, sizeof HEAD - 1) == 0;
}

const struct schedule_format schedule_mpi = {
    .name = "mpi",
    .what = "MPI calls of a program, recorded by examples/mpi-trace: NAME.0.mpi, a file for each rank",
    .is = is_trace,
    .read = read_traces};
