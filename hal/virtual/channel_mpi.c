/* channel_mpi.c - the channel between ranks of MPI (channel.h): mpirun starts a launcher for each rank, and each forks
 * one worker, which is the rank.
 *
 * The worker joins MPI after the fork, so its launcher stays free to wait, to take signals and to show progress. A
 * message goes from each worker to each neighbour once a window, at the publication: the turn, then the records as they
 * are. So it says both what arrives and that its sender has ended the window. If all workers are neighbours, no other
 * synchronization is needed; else the turns are combined by a reduction that runs along. Messages of a pair of ranks
 * stay in order. All ranks run the same program on the same kind of machine.
 *
 * If a rank dies, mpirun ends the others. */
#include "agree_mpi.h"
#include "base/error.h"
#include "channel.h"
#include "wheel.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TAG = 0,
    LEAST_ROOM = 64 << 10,
    PART_BYTES = 64 << 10 /* of an array: parts of zeros are not sent */
};

/* A message: turn, then records. */
struct packed {
    uint8_t *bytes;
    size_t used, room;
};

struct virtual_channel {
    unsigned workers, self;
    struct packed *out, *in; /* [workers] */
    MPI_Request *request;    /* [workers + 1]: messages; reduction of the turns, unless all meet */
    bool *neighbour;         /* [workers] */
    bool all_meet;           /* all workers are neighbours of all */
    MPI_Datatype turn_type;
    MPI_Op turn_op;
    struct virtual_turn own, both; /* as published, as combined by the reduction */
    unsigned from;                 /* worker of the message being read */
    size_t at;                     /* offset in that message */
};

/* What mpirun tells each process that it starts. */
static unsigned told(const char *name, unsigned otherwise)
{
    const char *value = getenv(name);
    return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

bool virtual_channel_is_of_ranks(void)
{
    return true;
}

void virtual_channel_begin(void)
{
    hx_error_hand_over(agree_that_none_starts);
}

struct virtual_place virtual_channel_place(unsigned asked)
{
    (void)asked;
    struct virtual_place place = {
        .workers = told("OMPI_COMM_WORLD_SIZE", 1), .first = told("OMPI_COMM_WORLD_RANK", 0), .count = 1};
    if (place.workers > VIRTUAL_MOST_WORKERS || place.first >= place.workers)
        hx_die(HX_EXIT_ENVIRONMENT, "mpirun", "starts %u ranks: %u at most (fewer ranks)", place.workers,
               VIRTUAL_MOST_WORKERS);
    return place;
}

struct virtual_channel *virtual_channel_create(unsigned workers)
{
    struct virtual_channel *c = hx_allocate(1, sizeof *c);
    c->workers = workers;
    c->out = hx_allocate(workers, sizeof *c->out);
    c->in = hx_allocate(workers, sizeof *c->in);
    c->request = hx_allocate(workers + 1U, sizeof(MPI_Request));
    c->neighbour = hx_allocate(workers, sizeof *c->neighbour);
    return c;
}

/* ---- messages ---- */

static void make_room(struct packed *p, size_t bytes)
{
    size_t room = p->room ? p->room : LEAST_ROOM;
    while (room < bytes)
        room *= 2;
    if (room == p->room)
        return;
    uint8_t *larger = realloc(p->bytes, room);
    if (!larger || room > INT_MAX)
        hx_die(HX_EXIT_ENVIRONMENT, "memory", "is not enough for what goes from rank to rank at once (more ranks)");
    p->bytes = larger;
    p->room = room;
}

/* Empties the messages for the next window. */
static void open_messages(struct virtual_channel *c)
{
    for (unsigned to = 0; to < c->workers; to++) {
        make_room(&c->out[to], sizeof(struct virtual_turn));
        c->out[to].used = sizeof(struct virtual_turn);
    }
}

/* As MPI calls an operation. */
static void combine_turns(void *in, void *all, int *count, MPI_Datatype *type) /* cppcheck-suppress constParameter */
{
    (void)type;
    for (int n = 0; n < *count; n++)
        virtual_turn_combine((struct virtual_turn *)all + n, (const struct virtual_turn *)in + n);
}

void virtual_channel_join(struct virtual_channel *c, unsigned self, bool own_core)
{
    int rank;
    int ranks;
    (void)own_core;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS)
        hx_die(HX_EXIT_ENVIRONMENT, "MPI", "cannot begin");
    if ((unsigned)rank != self || (unsigned)ranks != c->workers)
        hx_die(HX_EXIT_ENVIRONMENT, "MPI", "is rank %d of %d, mpirun said %u of %u", rank, ranks, self, c->workers);
    int code = agree_to_start(NULL);
    if (code) {
        (void)MPI_Finalize();
        _exit(code);
    }
    c->self = self;
    c->from = c->workers; /* nothing to receive yet */
    (void)MPI_Type_contiguous(sizeof(struct virtual_turn), MPI_BYTE, &c->turn_type);
    (void)MPI_Type_commit(&c->turn_type);
    (void)MPI_Op_create(combine_turns, true, &c->turn_op);
    open_messages(c);
}

void virtual_channel_meet(struct virtual_channel *c, const bool *neighbour)
{
    bool all = true;
    for (unsigned w = 0; w < c->workers; w++) {
        c->neighbour[w] = neighbour[w] && w != c->self;
        all = all && (neighbour[w] || w == c->self);
    }
    (void)MPI_Allreduce(&all, &c->all_meet, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
}

struct virtual_record *virtual_channel_send(struct virtual_channel *c, unsigned worker, uint32_t frame_bytes)
{
    struct packed *out = &c->out[worker];
    size_t bytes = virtual_record_bytes(frame_bytes);
    if (out->used + bytes > out->room)
        make_room(out, out->used + bytes);
    struct virtual_record *r = (struct virtual_record *)(void *)(out->bytes + out->used);
    out->used += bytes;
    r->frame_bytes = frame_bytes;
    return r;
}

void virtual_channel_publish(struct virtual_channel *c, const struct virtual_turn *turn)
{
    c->own = *turn;
    for (unsigned to = 0; to < c->workers; to++) {
        c->request[to] = MPI_REQUEST_NULL;
        if (!c->neighbour[to])
            continue;
        memcpy(c->out[to].bytes, turn, sizeof *turn);
        (void)MPI_Isend(c->out[to].bytes, (int)c->out[to].used, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD,
                        &c->request[to]);
    }
    c->request[c->workers] = MPI_REQUEST_NULL;
    if (!c->all_meet)
        (void)MPI_Iallreduce(&c->own, &c->both, 1, c->turn_type, c->turn_op, MPI_COMM_WORLD, &c->request[c->workers]);
}

/* MPI sends a long message in parts, and each needs a call. */
void virtual_channel_progress(struct virtual_channel *c)
{
    int done;
    (void)MPI_Testall((int)c->workers + 1, c->request, &done, MPI_STATUSES_IGNORE);
}

static void take_message(struct packed *in, unsigned from)
{
    MPI_Message message;
    MPI_Status status;
    int bytes;
    (void)MPI_Mprobe((int)from, TAG, MPI_COMM_WORLD, &message, &status);
    (void)MPI_Get_count(&status, MPI_BYTE, &bytes);
    make_room(in, (size_t)bytes);
    in->used = (size_t)bytes;
    (void)MPI_Mrecv(in->bytes, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

bool virtual_channel_wait(struct virtual_channel *c, struct virtual_turn *turn)
{
    if (c->workers == 1)
        return true;
    *turn = c->own;
    for (unsigned from = 0; from < c->workers; from++) {
        c->in[from].used = 0;
        if (!c->neighbour[from])
            continue;
        struct virtual_turn other;
        take_message(&c->in[from], from);
        memcpy(&other, c->in[from].bytes, sizeof other);
        virtual_turn_combine(turn, &other);
    }
    (void)MPI_Waitall((int)c->workers + 1, c->request, MPI_STATUSES_IGNORE);
    if (!c->all_meet)
        *turn = c->both;
    open_messages(c);
    c->from = 0;
    c->at = sizeof *turn;
    return true;
}

const struct virtual_record *virtual_channel_receive(struct virtual_channel *c)
{
    for (; c->from < c->workers; c->from++, c->at = sizeof(struct virtual_turn)) {
        const struct packed *in = &c->in[c->from];
        if (c->at < in->used) {
            const struct virtual_record *r = (const struct virtual_record *)(const void *)(in->bytes + c->at);
            c->at += virtual_record_bytes(r->frame_bytes);
            return r;
        }
    }
    return NULL;
}

/* ---- the end ---- */

static void collect_part(const struct virtual_channel *c, void *part, int bytes)
{
    bool root = c->self == 0;
    (void)MPI_Reduce(root ? MPI_IN_PLACE : part, root ? part : NULL, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
}

static uint8_t has_any(const uint8_t *part, size_t bytes)
{
    static const uint8_t zeros[PART_BYTES];
    return memcmp(part, zeros, bytes) != 0;
}

void virtual_channel_collect(struct virtual_channel *c, void *array, size_t bytes)
{
    if (c->workers == 1 || bytes == 0)
        return;
    size_t parts = (bytes + PART_BYTES - 1) / PART_BYTES;
    uint8_t *any = hx_allocate(parts, sizeof *any);
    for (size_t n = 0; n < parts; n++) {
        size_t at = n * PART_BYTES;
        any[n] = has_any((const uint8_t *)array + at, bytes - at < PART_BYTES ? bytes - at : PART_BYTES);
    }
    (void)MPI_Allreduce(MPI_IN_PLACE, any, (int)parts, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    for (size_t n = 0; n < parts; n++) {
        size_t at = n * PART_BYTES;
        if (any[n])
            collect_part(c, (uint8_t *)array + at, (int)(bytes - at < PART_BYTES ? bytes - at : PART_BYTES));
    }
    free(any);
}

void virtual_channel_leave(struct virtual_channel *c)
{
    (void)c;
    (void)MPI_Finalize();
}

/* The launcher's end makes mpirun end all ranks. */
void virtual_channel_break(struct virtual_channel *c)
{
    (void)c;
}

void virtual_channel_destroy(struct virtual_channel *c)
{
    HX_FREE(c->out, c->in, c->request, c->neighbour);
    free(c);
}
