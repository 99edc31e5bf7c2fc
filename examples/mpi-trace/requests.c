/* requests.c - requests in flight, and the calls that end them (trace.h).
 *
 * A request has the number of its place in a table, which is free again after its end. The table is found by MPI's
 * handle. Open MPI gives one handle to all sends that ended at once: among equal handles that of the same variable is
 * taken, or the oldest. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, NONE = -1 };

struct entry {
    struct trace_request what;
    const MPI_Request *variable; /* where the program had the handle */
    uint64_t handle;
    int next;      /* in the bucket, or among the free ones */
    bool is_begun; /* false: a persistent request that waits for its start */
};

static struct {
    struct entry *entry;
    int count, room;
    int unused; /* first free entry */
    int bucket[BUCKETS];
    bool is_open;
} table;

static uint64_t handle_of(MPI_Request request)
{
    uint64_t handle = 0;
    memcpy(&handle, &request, sizeof(MPI_Request));
    return handle;
}

static int *bucket_of(uint64_t handle)
{
    return &table.bucket[(handle * UINT64_C(0x9E3779B97F4A7C15)) >> 52];
}

static void *resize(void *array, size_t bytes)
{
    void *larger = realloc(array, bytes);
    if (!larger)
        PMPI_Abort(MPI_COMM_WORLD, 4);
    return larger;
}

static int new_entry(void)
{
    int number = table.unused;
    if (!table.is_open) {
        for (int i = 0; i < BUCKETS; i++)
            table.bucket[i] = NONE;
        table.is_open = true;
        number = NONE;
    }
    if (number != NONE) {
        table.unused = table.entry[number].next;
        return number;
    }
    table.unused = NONE;
    if (table.count == table.room) {
        table.room = table.room ? 2 * table.room : 256;
        table.entry = resize(table.entry, (size_t)table.room * sizeof *table.entry);
    }
    return table.count++;
}

int trace_add_request(const MPI_Request *request, const struct trace_request *what)
{
    int number = new_entry();
    uint64_t handle = handle_of(*request);
    int *at = bucket_of(handle);
    while (*at != NONE)
        at = &table.entry[*at].next;
    *at = number;
    table.entry[number] = (struct entry){*what, request, handle, NONE, what->call == NULL};
    return number;
}

static int find(uint64_t handle, const MPI_Request *variable)
{
    int oldest = NONE;
    if (!table.is_open)
        return NONE;
    for (int i = *bucket_of(handle); i != NONE; i = table.entry[i].next) {
        if (table.entry[i].handle != handle)
            continue;
        if (table.entry[i].variable == variable)
            return i;
        if (oldest == NONE)
            oldest = i;
    }
    return oldest;
}

static void drop(int number)
{
    int *at = bucket_of(table.entry[number].handle);
    while (*at != number)
        at = &table.entry[*at].next;
    *at = table.entry[number].next;
    table.entry[number].next = table.unused;
    table.unused = number;
}

/* ---- the end of requests ---- */

void trace_received(MPI_Status *status)
{
    MPI_Count bytes = 0;
    int is_cancelled = 0;
    PMPI_Test_cancelled(status, &is_cancelled);
    if (is_cancelled) {
        trace_text("cancelled");
        return;
    }
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    trace_number(status->MPI_SOURCE);
    trace_text(",");
    trace_number(status->MPI_TAG);
    trace_text(",");
    trace_number(bytes);
}

/* Appends a request that ended: " REQUEST", and what a receive got. */
static void put_ended(MPI_Request request, const MPI_Request *variable, MPI_Status *status)
{
    int number = find(handle_of(request), variable);
    struct entry *e = &table.entry[number];
    if (number == NONE || !e->is_begun)
        return;
    if (!e->what.is_null) {
        trace_text(" ");
        trace_number(number);
    }
    if (e->what.is_receive && !e->what.is_null) {
        trace_text("=");
        trace_received(status);
    }
    if (e->what.call)
        e->is_begun = false;
    else
        drop(number);
}

/* Handles from before a call, which sets those of ended requests to MPI_REQUEST_NULL, and statuses for programs that
 * want none. */
static struct {
    MPI_Request *handle;
    MPI_Status *status;
    int room;
} copy;

static MPI_Status *prepare(int count, const MPI_Request *requests, MPI_Status *statuses)
{
    if (count > copy.room) {
        copy.handle = resize(copy.handle, (size_t)count * sizeof(MPI_Request));
        copy.status = resize(copy.status, (size_t)count * sizeof *copy.status);
        copy.room = count;
    }
    if (count > 0)
        memcpy(copy.handle, requests, (size_t)count * sizeof(MPI_Request));
    return statuses == MPI_STATUSES_IGNORE && copy.status ? copy.status : statuses;
}

static void all_ended(uint64_t begin, const char *call, int count, const MPI_Request *requests, MPI_Status *statuses)
{
    if (!trace_line(begin, call))
        return;
    for (int i = 0; i < count; i++)
        put_ended(copy.handle[i], &requests[i], &statuses[i]);
    trace_end_line();
}

static void some_ended(uint64_t begin, const char *call, int count, const int *index, const MPI_Request *requests,
                       MPI_Status *statuses)
{
    if (!trace_line(begin, call))
        return;
    for (int i = 0; i < count; i++)
        put_ended(copy.handle[index[i]], &requests[index[i]], &statuses[i]);
    trace_end_line();
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (!trace_on())
        return PMPI_Wait(request, status);
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    (void)prepare(1, request, got);
    int error = PMPI_Wait(request, got);
    if (error == MPI_SUCCESS)
        all_ended(begin, "MPI_Wait", 1, request, got);
    return error;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    if (!trace_on())
        return PMPI_Waitall(count, requests, statuses);
    uint64_t begin = trace_now();
    MPI_Status *got = prepare(count, requests, statuses);
    int error = PMPI_Waitall(count, requests, got);
    if (error == MPI_SUCCESS)
        all_ended(begin, "MPI_Waitall", count, requests, got);
    return error;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (!trace_on())
        return PMPI_Waitany(count, requests, index, status);
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    (void)prepare(count, requests, got);
    int error = PMPI_Waitany(count, requests, index, got);
    if (error == MPI_SUCCESS)
        some_ended(begin, "MPI_Waitany", *index == MPI_UNDEFINED ? 0 : 1, index, requests, got);
    return error;
}

int MPI_Waitsome(int count, MPI_Request requests[], int *ended, int indices[], MPI_Status *statuses)
{
    if (!trace_on())
        return PMPI_Waitsome(count, requests, ended, indices, statuses);
    uint64_t begin = trace_now();
    MPI_Status *got = prepare(count, requests, statuses);
    int error = PMPI_Waitsome(count, requests, ended, indices, got);
    if (error == MPI_SUCCESS)
        some_ended(begin, "MPI_Waitsome", *ended == MPI_UNDEFINED ? 0 : *ended, indices, requests, got);
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!trace_on())
        return PMPI_Test(request, flag, status);
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    (void)prepare(1, request, got);
    int error = PMPI_Test(request, flag, got);
    if (error == MPI_SUCCESS && *flag)
        all_ended(begin, "MPI_Test", 1, request, got);
    else
        trace_poll(begin);
    return error;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses)
{
    if (!trace_on())
        return PMPI_Testall(count, requests, flag, statuses);
    uint64_t begin = trace_now();
    MPI_Status *got = prepare(count, requests, statuses);
    int error = PMPI_Testall(count, requests, flag, got);
    if (error == MPI_SUCCESS && *flag)
        all_ended(begin, "MPI_Testall", count, requests, got);
    else
        trace_poll(begin);
    return error;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    if (!trace_on())
        return PMPI_Testany(count, requests, index, flag, status);
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    (void)prepare(count, requests, got);
    int error = PMPI_Testany(count, requests, index, flag, got);
    if (error == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED)
        some_ended(begin, "MPI_Testany", 1, index, requests, got);
    else
        trace_poll(begin);
    return error;
}

int MPI_Testsome(int count, MPI_Request requests[], int *ended, int indices[], MPI_Status *statuses)
{
    if (!trace_on())
        return PMPI_Testsome(count, requests, ended, indices, statuses);
    uint64_t begin = trace_now();
    MPI_Status *got = prepare(count, requests, statuses);
    int error = PMPI_Testsome(count, requests, ended, indices, got);
    if (error == MPI_SUCCESS && *ended > 0)
        some_ended(begin, "MPI_Testsome", *ended, indices, requests, got);
    else
        trace_poll(begin);
    return error;
}

int MPI_Request_free(MPI_Request *request)
{
    int number = trace_on() ? find(handle_of(*request), request) : NONE;
    int error = PMPI_Request_free(request);
    if (number == NONE || error != MPI_SUCCESS)
        return error;
    uint64_t now = trace_now();
    const struct entry *e = &table.entry[number];
    if (e->is_begun && !e->what.is_null && trace_line_until(now, now, "MPI_Request_free ")) {
        trace_number(number);
        trace_end_line();
    }
    drop(number);
    return error;
}

/* ---- persistent requests ---- */

static void begun(uint64_t begin, const MPI_Request *request)
{
    int number = find(handle_of(*request), request);
    if (number == NONE)
        return;
    struct entry *e = &table.entry[number];
    e->is_begun = true;
    if (e->what.is_null || !trace_line(begin, e->what.call))
        return;
    trace_text(" ");
    trace_number(number);
    trace_message(e->what.comm, e->what.peer, e->what.tag);
    if (!e->what.is_receive) {
        trace_text(" ");
        trace_number(e->what.bytes);
    }
    trace_end_line();
}

int MPI_Start(MPI_Request *request)
{
    uint64_t begin = trace_now();
    int error = PMPI_Start(request);
    if (error == MPI_SUCCESS && trace_on())
        begun(begin, request);
    return error;
}

int MPI_Startall(int count, MPI_Request requests[])
{
    uint64_t begin = trace_now();
    int error = PMPI_Startall(count, requests);
    for (int i = 0; error == MPI_SUCCESS && trace_on() && i < count; i++) {
        begun(begin, &requests[i]);
        begin = trace_now();
    }
    return error;
}
