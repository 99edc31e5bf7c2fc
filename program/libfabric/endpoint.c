/* endpoint.c - an endpoint is a host of a running fabric (provider.h).
 *
 * HXMESH_FABRIC names the fabric (unset: the only one). HXMESH_HOST names the host, by name or number. If it is unset,
 * the host is the rank given by Open MPI or another PMI launcher, else the first free host. */
#include "provider.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening the host ---- */

static const char *asked_host(void)
{
    static const char *const names[] = {"HXMESH_HOST", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

enum { MOST_MISSING = 1024 };

/* Opens the first free host. A failed host is missing (-ENOENT), and later ones may be free. The number of hosts is
 * unknown before one is open, so MOST_MISSING missing ones in a row mean the end. -EBUSY: programs use all hosts. */
static int open_any(struct hx_program **program, const char *fabric)
{
    int found = -ENOENT;
    unsigned missing = 0;
    for (unsigned host = 0; missing < MOST_MISSING; host++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%u", host);
        int error = hx_program_open(program, fabric, name);
        if (error != -EBUSY && error != -ENOENT)
            return error;
        missing = error == -ENOENT ? missing + 1 : 0;
        if (error == -EBUSY)
            found = error;
    }
    return found;
}

static int enable(struct hxfi_endpoint *e)
{
    const char *host = asked_host();
    const char *fabric = getenv("HXMESH_FABRIC");
    if (e->program)
        return 0;
    if (e->domain->endpoint)
        return -FI_EBUSY;
    if (!e->vector)
        return -FI_ENOAV;
    int error = host ? hx_program_open(&e->program, fabric, host) : open_any(&e->program, fabric);
    if (error)
        fprintf(stderr, "hxmesh: error: libfabric provider: host %s of fabric %s cannot be opened: %s\n",
                host ? host : "(any)", fabric ? fabric : "(the only one)", strerror(-error));
    else
        e->domain->endpoint = e;
    return error;
}

static int control(struct fid *fid, int command, void *argument)
{
    (void)argument;
    return command == FI_ENABLE ? enable((struct hxfi_endpoint *)fid) : -FI_ENOSYS;
}

/* ---- bindings ---- */

static int bind_queue(struct hxfi_endpoint *e, struct hxfi_queue *q, uint64_t flags)
{
    bool selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
    if (flags & FI_TRANSMIT) {
        e->sends = q;
        e->sends_selective = selective;
    }
    if (flags & FI_RECV) {
        e->receives = q;
        e->receives_selective = selective;
    }
    return 0;
}

static int bind_one(struct fid *fid, struct fid *other, uint64_t flags)
{
    struct hxfi_endpoint *e = (struct hxfi_endpoint *)fid;
    switch (other->fclass) {
    case FI_CLASS_CQ:
        return bind_queue(e, (struct hxfi_queue *)other, flags);
    case FI_CLASS_AV:
        e->vector = (struct hxfi_vector *)other;
        return 0;
    case FI_CLASS_EQ:
        return 0;
    default:
        return -FI_ENOSYS;
    }
}

static ssize_t cancel(fid_t fid, void *context)
{
    return hxfi_cancel((struct hxfi_endpoint *)fid, context);
}

static int get_option(fid_t fid, int level, int name, void *value, size_t *bytes)
{
    (void)fid, (void)level, (void)name, (void)value, (void)bytes;
    return -FI_ENOPROTOOPT;
}

static int get_name(fid_t fid, void *to, size_t *bytes)
{
    const struct hxfi_endpoint *e = (const struct hxfi_endpoint *)fid;
    size_t room = *bytes;
    *bytes = sizeof(struct hxfi_address);
    if (!e->program)
        return -FI_EOPBADSTATE;
    const struct hxfi_address address = {HXFI_MAGIC, hx_program_self(e->program)};
    if (room)
        memcpy(to, &address, room < sizeof address ? room : sizeof address);
    return room < sizeof address ? -FI_ETOOSMALL : 0;
}

static int close_endpoint(struct fid *fid)
{
    struct hxfi_endpoint *e = (struct hxfi_endpoint *)fid;
    hxfi_forget_unexpected(e);
    if (e->program) {
        hx_program_close(e->program);
        e->domain->endpoint = NULL;
    }
    hxfi_operations_free(e);
    free(e);
    return 0;
}

static struct fi_ops life = HXFI_LIFE(close_endpoint, bind_one, control);
static struct fi_ops_ep ops = {.size = sizeof ops,
                               .cancel = cancel,
                               .getopt = get_option,
                               .setopt = hxfi_no_set_option,
                               .tx_ctx = hxfi_no_send_context,
                               .rx_ctx = hxfi_no_receive_context,
                               .rx_size_left = hxfi_no_room_known,
                               .tx_size_left = hxfi_no_room_known};
static struct fi_ops_cm naming = {.size = sizeof naming,
                                  .setname = hxfi_no_set_name,
                                  .getname = get_name,
                                  .getpeer = hxfi_no_peer,
                                  .connect = hxfi_no_connect,
                                  .accept = hxfi_no_accept,
                                  .shutdown = hxfi_no_shutdown,
                                  .join = hxfi_no_join};

int hxfi_endpoint_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    struct hxfi_endpoint *e = calloc(1, sizeof *e);
    if (!e)
        return -FI_ENOMEM;
    e->fid.fid = (struct fid){.fclass = FI_CLASS_EP, .context = context, .ops = &life};
    e->fid.ops = &ops;
    e->fid.cm = &naming;
    e->fid.msg = &hxfi_msg_ops;
    e->fid.tagged = &hxfi_tagged_ops;
    e->fid.rma = &hxfi_no_rma;
    e->fid.atomic = &hxfi_no_atomic;
    e->fid.collective = &hxfi_no_collectives;
    e->domain = (struct hxfi_domain *)domain;
    e->send_flags = info && info->tx_attr ? info->tx_attr->op_flags : 0;
    e->receive_flags = info && info->rx_attr ? info->rx_attr->op_flags : 0;
    e->directed = !info || info->caps & FI_DIRECTED_RECV;
    e->posted_end = &e->posted;
    e->unexpected_end = &e->unexpected;
    *ep = &e->fid;
    return 0;
}
