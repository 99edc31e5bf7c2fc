/* messages.c - sends, receives and probes (trace.h). */
#include "trace.h"

#include <stdlib.h>

void trace_message(int comm, int peer, int tag)
{
    trace_text(" ");
    trace_number(comm);
    trace_text(" ");
    if (peer == MPI_ANY_SOURCE)
        trace_text("*");
    else
        trace_number(peer);
    trace_text(" ");
    if (tag == MPI_ANY_TAG)
        trace_text("*");
    else
        trace_number(tag);
}

static void put(int64_t number)
{
    trace_text(" ");
    trace_number(number);
}

/* ---- sends ---- */

static void sent(uint64_t begin, const char *call, MPI_Comm comm, int to, int tag, int64_t bytes)
{
    if (to == MPI_PROC_NULL || !trace_on())
        return;
    int number = trace_communicator(begin, comm);
    if (number == TRACE_INTER) {
        trace_unknown(begin, call);
    } else if (trace_line(begin, call)) {
        trace_message(number, to, tag);
        put(bytes);
        trace_end_line();
    }
}

/* Records a message that a request belongs to. A persistent one is recorded when it starts. */
static void begun(uint64_t begin, const char *call, MPI_Comm comm, struct trace_request what,
                  const MPI_Request *request)
{
    if (!trace_on())
        return;
    what.comm = trace_communicator(begin, comm);
    what.is_null = what.peer == MPI_PROC_NULL || what.comm == TRACE_INTER;
    if (what.comm == TRACE_INTER)
        trace_unknown(begin, call);
    int number = trace_add_request(request, &what);
    if (what.is_null || what.call || !trace_line(begin, call))
        return;
    put(number);
    trace_message(what.comm, what.peer, what.tag);
    if (!what.is_receive)
        put(what.bytes);
    trace_end_line();
}

static void received(uint64_t begin, const char *call, int comm, int from, int tag, MPI_Status *status)
{
    if (from == MPI_PROC_NULL || !trace_on())
        return;
    if (comm == TRACE_INTER) {
        trace_unknown(begin, call);
    } else if (trace_line(begin, call)) {
        trace_message(comm, from, tag);
        trace_text(" ");
        trace_received(status);
        trace_end_line();
    }
}

#define SEND(name)                                                                                                     \
    int MPI_##name(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)                     \
    {                                                                                                                  \
        uint64_t begin = trace_now();                                                                                  \
        int error = PMPI_##name(data, count, type, to, tag, comm);                                                     \
        if (error == MPI_SUCCESS)                                                                                      \
            sent(begin, "MPI_" #name, comm, to, tag, trace_bytes(count, type));                                        \
        return error;                                                                                                  \
    }
SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)

/* start: NULL, or the call that the start of a persistent request stands for. */
#define ISEND(name, start)                                                                                             \
    int MPI_##name(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,                     \
                   MPI_Request *request)                                                                               \
    {                                                                                                                  \
        uint64_t begin = trace_now();                                                                                  \
        int error = PMPI_##name(data, count, type, to, tag, comm, request);                                            \
        if (error == MPI_SUCCESS)                                                                                      \
            begun(begin, "MPI_" #name, comm,                                                                           \
                  (struct trace_request){.peer = to, .tag = tag, .bytes = trace_bytes(count, type), .call = (start)},  \
                  request);                                                                                            \
        return error;                                                                                                  \
    }
ISEND(Isend, NULL)
ISEND(Issend, NULL)
ISEND(Irsend, NULL)
ISEND(Ibsend, NULL)
ISEND(Send_init, "MPI_Isend")
ISEND(Ssend_init, "MPI_Issend")
ISEND(Rsend_init, "MPI_Irsend")
ISEND(Bsend_init, "MPI_Ibsend")

/* ---- receives ---- */

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    int error = PMPI_Recv(data, count, type, from, tag, comm, got);
    if (error == MPI_SUCCESS && trace_on())
        received(begin, "MPI_Recv", trace_communicator(begin, comm), from, tag, got);
    return error;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    uint64_t begin = trace_now();
    int error = PMPI_Irecv(data, count, type, from, tag, comm, request);
    if (error == MPI_SUCCESS)
        begun(begin, "MPI_Irecv", comm, (struct trace_request){.is_receive = true, .peer = from, .tag = tag}, request);
    return error;
}

int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    uint64_t begin = trace_now();
    int error = PMPI_Recv_init(data, count, type, from, tag, comm, request);
    if (error == MPI_SUCCESS)
        begun(begin, "MPI_Recv_init", comm,
              (struct trace_request){.is_receive = true, .peer = from, .tag = tag, .call = "MPI_Irecv"}, request);
    return error;
}

/* ---- both ---- */

static void exchanged(uint64_t begin, const char *call, MPI_Comm comm, const struct trace_request *out,
                      const struct trace_request *in, MPI_Status *status)
{
    if (!trace_on())
        return;
    if (in->peer == MPI_PROC_NULL) {
        sent(begin, "MPI_Send", comm, out->peer, out->tag, out->bytes);
        return;
    }
    int number = trace_communicator(begin, comm);
    if (out->peer == MPI_PROC_NULL || number == TRACE_INTER) {
        received(begin, number == TRACE_INTER ? call : "MPI_Recv", number, in->peer, in->tag, status);
    } else if (trace_line(begin, call)) {
        trace_message(number, out->peer, out->tag);
        put(out->bytes);
        trace_message(number, in->peer, in->tag);
        trace_text(" ");
        trace_received(status);
        trace_end_line();
    }
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    int error = PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, got);
    if (error == MPI_SUCCESS)
        exchanged(begin, "MPI_Sendrecv", comm,
                  &(struct trace_request){.peer = to, .tag = out_tag, .bytes = trace_bytes(out_count, out_type)},
                  &(struct trace_request){.peer = from, .tag = in_tag}, got);
    return error;
}

int MPI_Sendrecv_replace(void *data, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                         MPI_Comm comm, MPI_Status *status)
{
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    int error = PMPI_Sendrecv_replace(data, count, type, to, out_tag, from, in_tag, comm, got);
    if (error == MPI_SUCCESS)
        exchanged(begin, "MPI_Sendrecv", comm,
                  &(struct trace_request){.peer = to, .tag = out_tag, .bytes = trace_bytes(count, type)},
                  &(struct trace_request){.peer = from, .tag = in_tag}, got);
    return error;
}

/* ---- probes ---- */

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    uint64_t begin = trace_now();
    int error = PMPI_Probe(from, tag, comm, status);
    trace_poll(begin);
    return error;
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    uint64_t begin = trace_now();
    int error = PMPI_Iprobe(from, tag, comm, flag, status);
    trace_poll(begin);
    return error;
}

/* The communicators of messages that matched probes have taken and that are not yet received. */
static struct probed {
    struct probed *next;
    MPI_Message message;
    int comm;
    int from, tag;
} * probed;

static void remember(MPI_Message message, MPI_Comm comm, uint64_t begin, const MPI_Status *status)
{
    struct probed *p = trace_on() && message != MPI_MESSAGE_NO_PROC ? malloc(sizeof *p) : NULL;
    if (!p)
        return;
    *p = (struct probed){probed, message, trace_communicator(begin, comm), status->MPI_SOURCE, status->MPI_TAG};
    probed = p;
}

/* Removes the message from the list. A message of MPI_PROC_NULL is not in it. */
static struct probed take(MPI_Message message)
{
    struct probed **at = &probed;
    while (*at && (*at)->message != message)
        at = &(*at)->next;
    struct probed *p = *at;
    if (!p)
        return (struct probed){.comm = 0, .from = MPI_PROC_NULL};
    struct probed taken = *p;
    *at = p->next;
    free(p);
    return taken;
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    int error = PMPI_Mprobe(from, tag, comm, message, got);
    trace_poll(begin);
    if (error == MPI_SUCCESS)
        remember(*message, comm, begin, got);
    return error;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    int error = PMPI_Improbe(from, tag, comm, flag, message, got);
    trace_poll(begin);
    if (error == MPI_SUCCESS && *flag)
        remember(*message, comm, begin, got);
    return error;
}

int MPI_Mrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    uint64_t begin = trace_now();
    MPI_Status own = {0};
    MPI_Status *got = status == MPI_STATUS_IGNORE ? &own : status;
    struct probed p = trace_on() ? take(*message) : (struct probed){.from = MPI_PROC_NULL};
    int error = PMPI_Mrecv(data, count, type, message, got);
    if (error == MPI_SUCCESS)
        received(begin, "MPI_Mrecv", p.comm, p.from, p.tag, got);
    return error;
}

int MPI_Imrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    uint64_t begin = trace_now();
    struct probed p = trace_on() ? take(*message) : (struct probed){.from = MPI_PROC_NULL};
    int error = PMPI_Imrecv(data, count, type, message, request);
    if (error != MPI_SUCCESS || !trace_on())
        return error;
    struct trace_request what = {.is_receive = true, .is_null = p.from == MPI_PROC_NULL || p.comm == TRACE_INTER};
    int number = trace_add_request(request, &what);
    if (!what.is_null && trace_line(begin, "MPI_Imrecv")) {
        put(number);
        trace_message(p.comm, p.from, p.tag);
        trace_end_line();
    }
    return error;
}
